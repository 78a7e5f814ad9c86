//! Display drivers: what the second word of a Display request means (RISpec 4.1.4).

use std::path::{Path, PathBuf};

/// What is written for a display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Driver {
    /// OpenEXR.
    Exr,
    /// TIFF.
    Tiff,
    /// PNG.
    Png,
    /// Camera-space depth for shadow maps: a float OpenEXR file with the one channel `Z`, whatever its name ends with.
    Depth,
    /// Nothing, on purpose.
    Null,
}

impl Driver {
    /// The file format's name, for messages.
    pub(super) fn format_name(self) -> &'static str {
        match self {
            Self::Exr => "OpenEXR",
            Self::Tiff => "TIFF",
            Self::Png => "PNG",
            Self::Depth => "depth",
            Self::Null => "nothing",
        }
    }
}

/// What a driver's name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// Always this.
    Write(Driver),
    /// By the file name's extension; TIFF when it has none that is known.
    ByExtension,
    /// A window: answered with a file.
    Window,
}

/// Every driver's names. The first of each kind is the one that messages suggest.
const DRIVERS: [(&str, Request); 18] = [
    ("file", Request::ByExtension),
    ("exr", Request::Write(Driver::Exr)),
    ("openexr", Request::Write(Driver::Exr)),
    ("tiff", Request::Write(Driver::Tiff)),
    ("tif", Request::Write(Driver::Tiff)),
    ("png", Request::Write(Driver::Png)),
    ("zfile", Request::Write(Driver::Depth)),
    ("shadow", Request::Write(Driver::Depth)),
    ("shadowmap", Request::Write(Driver::Depth)),
    ("null", Request::Write(Driver::Null)),
    ("framebuffer", Request::Window),
    ("x11", Request::Window),
    ("windows", Request::Window),
    ("it", Request::Window),
    ("idisplay", Request::Window),
    ("i-display", Request::Window),
    ("piqsl", Request::Window),
    ("sdl", Request::Window),
];

/// The driver names that messages list.
const KNOWN: &str = "file, exr (openexr), tiff, png, zfile, shadow, framebuffer, null";

/// File name extensions and the drivers that they choose.
const EXTENSIONS: [(&str, Driver); 4] =
    [("exr", Driver::Exr), ("tif", Driver::Tiff), ("tiff", Driver::Tiff), ("png", Driver::Png)];

/// The driver that a file name's extension chooses.
pub(super) fn by_extension(path: &Path) -> Option<Driver> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    EXTENSIONS.iter().find(|(name, _)| *name == extension).map(|(_, driver)| *driver)
}

/// A driver with the file it writes, and what the user should know about the choice.
#[derive(Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) driver: Driver,
    pub(super) path: PathBuf,
    pub(super) remark: Option<Remark>,
}

/// Why a display does not get exactly what it asked for.
#[derive(Debug, PartialEq)]
pub(super) enum Remark {
    /// No driver of that name; the extension chose.
    Unknown {
        /// The message.
        message: String,
        /// What could be meant.
        hint: String,
    },
    /// There are no windows; the file is written instead.
    Window(String),
}

/// Resolves a display's driver and name.
///
/// `file` goes by the name's extension (TIFF when there is none), and so does an unknown driver, with an error. There are no windows:
/// `framebuffer` and its like write the file that they name, as OpenEXR and with `.exr` added where the name has no picture's
/// extension (such displays are often named after the RIB file, which must not be overwritten).
pub(super) fn choose(driver: &str, name: &str) -> Choice {
    let path = PathBuf::from(name);
    let extension_or_tiff = by_extension(&path).unwrap_or(Driver::Tiff);
    let Some((_, request)) = DRIVERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(driver)) else {
        let message = format!(
            "unknown display driver \"{driver}\" for \"{name}\"; written as {}",
            extension_or_tiff.format_name()
        );
        return Choice {
            driver: extension_or_tiff,
            path,
            remark: Some(Remark::Unknown { message, hint: format!("known drivers are {KNOWN}") }),
        };
    };
    match request {
        Request::Write(driver) => Choice { driver: *driver, path, remark: None },
        Request::ByExtension => Choice { driver: extension_or_tiff, path, remark: None },
        Request::Window => {
            let (written, path) = match by_extension(&path) {
                Some(written) => (written, path),
                None => (Driver::Exr, PathBuf::from(format!("{name}.exr"))),
            };
            let message =
                format!("no window is opened for \"{driver}\"; the picture is written to \"{}\"", path.display());
            Choice { driver: written, path, remark: Some(Remark::Window(message)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_and_extensions_choose() {
        let table = [
            ("file", "a.exr", Driver::Exr, "a.exr"),
            ("file", "a.tif", Driver::Tiff, "a.tif"),
            ("file", "a.PNG", Driver::Png, "a.PNG"),
            ("file", "a", Driver::Tiff, "a"),
            ("file", "a.pic", Driver::Tiff, "a.pic"),
            ("openexr", "a.tif", Driver::Exr, "a.tif"),
            ("TIFF", "a.exr", Driver::Tiff, "a.exr"),
            ("zfile", "shadow.z", Driver::Depth, "shadow.z"),
            ("shadow", "shadow.exr", Driver::Depth, "shadow.exr"),
            ("framebuffer", "scene.rib", Driver::Exr, "scene.rib.exr"),
            ("framebuffer", "scene.tif", Driver::Tiff, "scene.tif"),
            ("it", "untitled", Driver::Exr, "untitled.exr"),
            ("null", "a.exr", Driver::Null, "a.exr"),
            ("cineon", "a.exr", Driver::Exr, "a.exr"),
            ("cineon", "a.cin", Driver::Tiff, "a.cin"),
        ];
        for (driver, name, expected, path) in table {
            let choice = choose(driver, name);
            assert_eq!((choice.driver, choice.path.to_str()), (expected, Some(path)), "{driver} {name}");
        }
    }

    #[test]
    fn an_unknown_driver_is_named_with_the_known_ones() {
        let Some(Remark::Unknown { message, hint }) = choose("cineon", "a.exr").remark else { panic!("no remark") };
        assert_eq!(message, "unknown display driver \"cineon\" for \"a.exr\"; written as OpenEXR");
        assert!(hint.contains("zfile") && hint.contains("tiff"), "{hint}");
        assert!(matches!(choose("framebuffer", "a").remark, Some(Remark::Window(_))));
        assert_eq!(choose("exr", "a").remark, None);
    }
}

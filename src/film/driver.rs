//! Display drivers: the meaning of the second argument of a Display request (RISpec 4.1.4).

use crate::scene::Display;
use std::path::{Path, PathBuf};

/// The kind of file that is written for a display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisplayDriver {
    /// OpenEXR.
    Exr,
    /// TIFF.
    Tiff,
    /// PNG.
    Png,
    /// Camera-space depth for shadow maps: a float OpenEXR file with the single channel `Z`, whatever its extension.
    Depth,
    /// The light that reaches each depth: an OpenEXR file of deep tiles, whatever its extension.
    DeepShadow,
    /// Nothing, intentionally.
    Null,
}

impl DisplayDriver {
    /// Returns the name of the file format, for messages.
    pub(super) fn format_name(self) -> &'static str {
        match self {
            Self::Exr => "OpenEXR",
            Self::Tiff => "TIFF",
            Self::Png => "PNG",
            Self::Depth => "depth",
            Self::DeepShadow => "a deep shadow map",
            Self::Null => "nothing",
        }
    }
}

/// What a driver's name requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DriverRequest {
    /// Always this driver.
    Write(DisplayDriver),
    /// The driver of the file name's extension; TIFF if it has none that is known.
    ByExtension,
    /// A window, for which a file is written instead.
    Window,
}

/// The names of all drivers. The first of each kind is the one that messages suggest.
const DRIVERS: [(&str, DriverRequest); 20] = [
    ("file", DriverRequest::ByExtension),
    ("exr", DriverRequest::Write(DisplayDriver::Exr)),
    ("openexr", DriverRequest::Write(DisplayDriver::Exr)),
    ("tiff", DriverRequest::Write(DisplayDriver::Tiff)),
    ("tif", DriverRequest::Write(DisplayDriver::Tiff)),
    ("png", DriverRequest::Write(DisplayDriver::Png)),
    ("zfile", DriverRequest::Write(DisplayDriver::Depth)),
    ("shadow", DriverRequest::Write(DisplayDriver::Depth)),
    ("shadowmap", DriverRequest::Write(DisplayDriver::Depth)),
    ("deepshad", DriverRequest::Write(DisplayDriver::DeepShadow)),
    ("deepshadow", DriverRequest::Write(DisplayDriver::DeepShadow)),
    ("null", DriverRequest::Write(DisplayDriver::Null)),
    ("framebuffer", DriverRequest::Window),
    ("x11", DriverRequest::Window),
    ("windows", DriverRequest::Window),
    ("it", DriverRequest::Window),
    ("idisplay", DriverRequest::Window),
    ("i-display", DriverRequest::Window),
    ("piqsl", DriverRequest::Window),
    ("sdl", DriverRequest::Window),
];

/// The driver names that messages list.
const KNOWN: &str = "file, exr (openexr), tiff, png, zfile, shadow, deepshad, framebuffer, null";

/// File name extensions and the drivers that they select.
const EXTENSIONS: [(&str, DisplayDriver); 4] = [
    ("exr", DisplayDriver::Exr),
    ("tif", DisplayDriver::Tiff),
    ("tiff", DisplayDriver::Tiff),
    ("png", DisplayDriver::Png),
];

/// Returns the driver that a file name's extension selects.
pub(super) fn by_extension(path: &Path) -> Option<DisplayDriver> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    EXTENSIONS.iter().find(|(name, _)| *name == extension).map(|(_, driver)| *driver)
}

/// A driver with the file that it writes, and a remark for the user about the choice.
#[derive(Debug, PartialEq)]
pub(super) struct DriverChoice {
    pub(super) driver: DisplayDriver,
    pub(super) path: PathBuf,
    pub(super) remark: Option<DriverRemark>,
}

/// Why a display is not written exactly as requested.
#[derive(Debug, PartialEq)]
pub(super) enum DriverRemark {
    /// There is no driver of this name, and the extension selects one.
    Unknown {
        /// The message.
        message: String,
        /// The known drivers.
        hint: String,
    },
    /// There are no windows; the file is written instead.
    Window(String),
}

/// Checks that a driver of this name exists, and returns its name.
///
/// # Errors
/// A clause for the user that lists the drivers.
pub fn check_driver(name: &str) -> Result<String, String> {
    let is_known = DRIVERS.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    if is_known { Ok(name.to_owned()) } else { Err(format!("known drivers are {KNOWN}")) }
}

/// Resolves a display's driver and name.
///
/// For `file`, the name's extension selects the driver (TIFF if there is none), and also for an unknown driver, with an
/// error. There are no windows: `framebuffer` and similar drivers write the file that they name, as OpenEXR with `.exr`
/// added if the name has no extension of a picture (such displays are often named after the RIB file, which must not be
/// overwritten).
pub(super) fn choose(driver: &str, name: &str) -> DriverChoice {
    let path = PathBuf::from(name);
    let extension_or_tiff = by_extension(&path).unwrap_or(DisplayDriver::Tiff);
    let Some((_, request)) = DRIVERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(driver)) else {
        let message = format!(
            "unknown display driver \"{driver}\" for \"{name}\"; written as {}",
            extension_or_tiff.format_name()
        );
        return DriverChoice {
            driver: extension_or_tiff,
            path,
            remark: Some(DriverRemark::Unknown { message, hint: format!("known drivers are {KNOWN}") }),
        };
    };
    match request {
        DriverRequest::Write(driver) => DriverChoice { driver: *driver, path, remark: None },
        DriverRequest::ByExtension => DriverChoice { driver: extension_or_tiff, path, remark: None },
        DriverRequest::Window => {
            let (written, path) = match by_extension(&path) {
                Some(written) => (written, path),
                None => (DisplayDriver::Exr, PathBuf::from(format!("{name}.exr"))),
            };
            let message =
                format!("no window is opened for \"{driver}\"; the picture is written to \"{}\"", path.display());
            DriverChoice { driver: written, path, remark: Some(DriverRemark::Window(message)) }
        }
    }
}

/// Returns the file that a display writes.
pub fn display_path(display: &Display) -> PathBuf {
    choose(&display.driver, &display.name).path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_and_extensions_select_the_format() {
        let table = [
            ("file", "a.exr", DisplayDriver::Exr, "a.exr"),
            ("file", "a.tif", DisplayDriver::Tiff, "a.tif"),
            ("file", "a.PNG", DisplayDriver::Png, "a.PNG"),
            ("file", "a", DisplayDriver::Tiff, "a"),
            ("file", "a.pic", DisplayDriver::Tiff, "a.pic"),
            ("openexr", "a.tif", DisplayDriver::Exr, "a.tif"),
            ("TIFF", "a.exr", DisplayDriver::Tiff, "a.exr"),
            ("zfile", "shadow.z", DisplayDriver::Depth, "shadow.z"),
            ("shadow", "shadow.exr", DisplayDriver::Depth, "shadow.exr"),
            ("framebuffer", "scene.rib", DisplayDriver::Exr, "scene.rib.exr"),
            ("framebuffer", "scene.tif", DisplayDriver::Tiff, "scene.tif"),
            ("it", "untitled", DisplayDriver::Exr, "untitled.exr"),
            ("null", "a.exr", DisplayDriver::Null, "a.exr"),
            ("cineon", "a.exr", DisplayDriver::Exr, "a.exr"),
            ("cineon", "a.cin", DisplayDriver::Tiff, "a.cin"),
        ];
        for (driver, name, expected, path) in table {
            let choice = choose(driver, name);
            assert_eq!((choice.driver, choice.path.to_str()), (expected, Some(path)), "{driver} {name}");
        }
    }

    #[test]
    fn drivers_are_checked_by_name() {
        assert_eq!(check_driver("TIFF"), Ok("TIFF".into()));
        assert!(check_driver("cineon").is_err_and(|clause| clause.contains("zfile")));
    }

    #[test]
    fn an_unknown_driver_is_named_with_the_known_ones() {
        let Some(DriverRemark::Unknown { message, hint }) = choose("cineon", "a.exr").remark else {
            panic!("no remark")
        };
        assert_eq!(message, "unknown display driver \"cineon\" for \"a.exr\"; written as OpenEXR");
        assert!(hint.contains("zfile") && hint.contains("tiff"), "{hint}");
        assert!(matches!(choose("framebuffer", "a").remark, Some(DriverRemark::Window(_))));
        assert_eq!(choose("exr", "a").remark, None);
    }
}

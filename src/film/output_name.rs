//! `-o NAME`: one name for the primary picture of every world.

use super::driver;
use crate::scene::{Display, DisplayMode, Options};
use std::collections::BTreeSet;
use std::path::Path;

/// The name given with `-o`: a picture's file name, in which a run of `#` is replaced by the frame number.
///
/// A run of two or more pads with zeros to its length; a single `#` pads to four digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputName {
    before: String,
    /// The smallest number of digits; `None` if the name has no `#`.
    digits: Option<usize>,
    after: String,
}

/// The number of digits for a single `#`.
const SINGLE_HASH_DIGITS: usize = 4;

impl OutputName {
    /// Parses a name. Its extension must select a driver, and its `#` must be in one run; the error says what is wrong.
    pub fn parse(name: &str) -> Result<Self, String> {
        // A path that ends with a separator still has the extension of its last part.
        if name.ends_with(std::path::is_separator) || driver::by_extension(Path::new(name)).is_none() {
            return Err(format!("\"{name}\" must end with .exr, .tif, .tiff or .png"));
        }
        let Some(start) = name.find('#') else {
            return Ok(Self { before: name.into(), digits: None, after: String::new() });
        };
        let after = name[start..].trim_start_matches('#');
        if after.contains('#') {
            return Err(format!("\"{name}\" has more than one place for the frame number (#)"));
        }
        let hashes = name.len() - start - after.len();
        let digits = if hashes == 1 { SINGLE_HASH_DIGITS } else { hashes };
        Ok(Self { before: name[..start].into(), digits: Some(digits), after: after.into() })
    }

    /// Returns the file name for a frame.
    pub fn for_frame(&self, frame: i32) -> String {
        let Self { before, digits, after } = self;
        match digits {
            // The sign is not a digit.
            Some(digits) if frame < 0 => format!("{before}{frame:0width$}{after}", width = digits + 1),
            Some(digits) => format!("{before}{frame:0digits$}{after}"),
            None => before.clone(),
        }
    }
}

/// Assigns the name of `-o` to worlds, in several calls.
#[derive(Debug)]
pub struct OutputNaming<'a> {
    name: &'a OutputName,
    /// Number of worlds so far.
    worlds: usize,
    /// Number of pictures so far.
    pictures: usize,
    seen: BTreeSet<String>,
}

impl<'a> OutputNaming<'a> {
    /// Starts before the first world.
    pub fn new(name: &'a OutputName) -> Self {
        Self { name, worlds: 0, pictures: 0, seen: BTreeSet::new() }
    }

    /// Renames the primary picture of each of the next worlds that has one. The frame of a world without FrameBegin is
    /// its number among all worlds, from 1.
    ///
    /// Returns a command-line error if several pictures would get the same name. Then no display was changed.
    pub fn apply(&mut self, worlds: &mut [&mut Options]) -> Result<(), String> {
        let mut names: Vec<(usize, String)> = Vec::new();
        for (index, options) in worlds.iter().enumerate().filter(|(_, options)| primary_picture(options).is_some()) {
            let ordinal = i32::try_from(self.worlds + index + 1).unwrap_or(i32::MAX);
            names.push((index, self.name.for_frame(options.frame.unwrap_or(ordinal))));
        }
        self.worlds += worlds.len();
        self.pictures += names.len();
        if self.name.digits.is_none() && self.pictures > 1 {
            let (name, pictures) = (self.name.for_frame(0), self.pictures);
            return Err(format!("-o {name}: the scene has {pictures} pictures; put # where the frame number goes"));
        }
        if let Some((_, name)) = names.iter().find(|(_, name)| !self.seen.insert(name.clone())) {
            return Err(format!("-o: two pictures of one frame would both be \"{name}\""));
        }
        for (index, name) in names {
            if let Some(display) = primary_picture(worlds[index]) {
                redirect(&mut worlds[index].displays[display], name);
            }
        }
        Ok(())
    }
}

/// Gives the primary picture of a world another driver. Parameters that only its own driver knows are dropped.
pub fn set_driver(options: &mut Options, driver: &str) {
    let Some(display) = primary_picture(options).map(|index| &mut options.displays[index]) else { return };
    let [before, after] = [&display.driver, driver].map(|name| driver::choose(name, &display.name).driver);
    if before != after {
        display.params.retain(|name, _| name == "origin");
    }
    display.driver = driver.to_owned();
}

/// Returns the index of the display that `-o` renames: the first, unless it shows only depth.
fn primary_picture(options: &Options) -> Option<usize> {
    let display = options.displays.first()?;
    let is_depth = driver::choose(&display.driver, &display.name).driver == driver::DisplayDriver::Depth
        || matches!(display.mode, DisplayMode::Image { rgb: false, a: false, z: true });
    (!is_depth).then_some(0)
}

/// Gives a display another file. Its parameters are kept if the format is the same; those of another driver would only
/// cause warnings.
fn redirect(display: &mut Display, name: String) {
    let before = driver::choose(&display.driver, &display.name).driver;
    if driver::by_extension(Path::new(&name)) != Some(before) {
        display.params.retain(|name, _| name == "origin");
    }
    display.driver = "file".into();
    display.name = name;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::tests::{RGB, RGBA, Z, display, options};
    use crate::scene::ParamValue;

    #[test]
    fn the_primary_picture_gets_another_driver() {
        let mut world = options(vec![display("a.exr", "exr", RGBA), display("b", "file", RGB)]);
        let float = ParamValue::Strings(vec!["float".into()]);
        world.displays[0].params.insert("exrpixeltype".into(), float);
        set_driver(&mut world, "openexr");
        assert_eq!(world.displays[0].params.len(), 1, "the same driver by another name");
        set_driver(&mut world, "tiff");
        let drivers: Vec<&str> = world.displays.iter().map(|display| &*display.driver).collect();
        assert_eq!((drivers, world.displays[0].params.len()), (vec!["tiff", "file"], 0));
        let mut depth = options(vec![display("z", "zfile", Z)]);
        set_driver(&mut depth, "tiff");
        assert_eq!(depth.displays[0].driver, "zfile");
    }

    #[test]
    fn names_go_on_where_earlier_worlds_left_off() {
        let picture = || world(None, vec![display("a.tif", "tiff", RGB)]);
        let name = OutputName::parse("x.#.exr").expect("a good name");
        let mut naming = OutputNaming::new(&name);
        let names: Vec<String> = (0..3)
            .map(|_| {
                let mut options = picture();
                naming.apply(&mut [&mut options]).expect("different frames");
                options.displays[0].name.clone()
            })
            .collect();
        assert_eq!(names, ["x.0001.exr", "x.0002.exr", "x.0003.exr"]);
        let twice = naming.apply(&mut [&mut world(Some(2), vec![display("a.tif", "tiff", RGB)])]);
        assert_eq!(twice, Err("-o: two pictures of one frame would both be \"x.0002.exr\"".into()));
        let name = OutputName::parse("x.exr").expect("a good name");
        let mut naming = OutputNaming::new(&name);
        naming.apply(&mut [&mut picture()]).expect("one picture");
        assert!(naming.apply(&mut [&mut picture()]).is_err_and(|message| message.contains("has 2 pictures")));
    }

    #[test]
    fn hashes_become_frame_numbers() {
        let table = [
            ("a.exr", 3, "a.exr"),
            ("a.#.exr", 3, "a.0003.exr"),
            ("a##.exr", 3, "a03.exr"),
            ("a##.exr", 123, "a123.exr"),
            ("dir/a_######_b.tif", 42, "dir/a_000042_b.tif"),
            ("a.#.png", -7, "a.-0007.png"),
        ];
        for (name, frame, expected) in table {
            assert_eq!(OutputName::parse(name).map(|parsed| parsed.for_frame(frame)), Ok(expected.into()));
        }
        let ends = |name: &str| Err(format!("\"{name}\" must end with .exr, .tif, .tiff or .png"));
        for name in ["a", "a.jpg", ".exr", "a.exr/", ""] {
            assert_eq!(OutputName::parse(name), ends(name));
        }
        let twice = "\"a#b#.exr\" has more than one place for the frame number (#)";
        assert_eq!(OutputName::parse("a#b#.exr"), Err(twice.into()));
    }

    fn world(frame: Option<i32>, displays: Vec<Display>) -> Options {
        Options { frame, ..options(displays) }
    }

    fn apply(name: &str, worlds: &mut [Options]) -> Result<Vec<String>, String> {
        let name = OutputName::parse(name).expect("a good name");
        OutputNaming::new(&name).apply(&mut worlds.iter_mut().collect::<Vec<_>>())?;
        let names =
            |options: &Options| options.displays.iter().map(|d| format!("{} {}", d.driver, d.name)).collect::<Vec<_>>();
        Ok(worlds.iter().map(|options| names(options).join(", ")).collect())
    }

    #[test]
    fn only_the_primary_picture_is_replaced() {
        let mut worlds = [
            world(None, vec![display("shadow.z", "zfile", Z)]),
            world(None, vec![display("depth.exr", "exr", Z)]),
            world(
                None,
                vec![display("a.tif", "tiff", RGBA), display("b.exr", "exr", RGB), display("z.exr", "zfile", Z)],
            ),
            world(None, vec![]),
        ];
        let expected = ["zfile shadow.z", "exr depth.exr", "file out.exr, exr b.exr, zfile z.exr", ""];
        assert_eq!(apply("out.exr", &mut worlds), Ok(expected.map(String::from).into()));
    }

    #[test]
    fn several_pictures_need_a_place_for_the_frame_number() {
        let picture = |frame| world(frame, vec![display("a.tif", "tiff", RGBA)]);
        let frames = || [picture(Some(7)), picture(Some(8))];
        let error = "-o out.exr: the scene has 2 pictures; put # where the frame number goes";
        assert_eq!(apply("out.exr", &mut frames()), Err(error.into()));
        assert_eq!(apply("o.#.exr", &mut frames()), Ok(vec!["file o.0007.exr".into(), "file o.0008.exr".into()]));
        assert_eq!(
            apply("o.#.exr", &mut [picture(None), picture(None)]),
            Ok(vec!["file o.0001.exr".into(), "file o.0002.exr".into()])
        );
        let error = "-o: two pictures of one frame would both be \"o.0007.exr\"";
        assert_eq!(apply("o.#.exr", &mut [picture(Some(7)), picture(Some(7))]), Err(error.into()));
    }

    #[test]
    fn parameters_stay_with_their_format() {
        let float = ParamValue::Strings(vec!["float".into()]);
        let mut exr = display("a.exr", "openexr", RGB);
        exr.params.insert("exrpixeltype".into(), float.clone());
        let mut worlds = [world(None, vec![exr])];
        apply("b.exr", &mut worlds).expect("one picture");
        assert_eq!(worlds[0].displays[0].params.get("exrpixeltype"), Some(&float));
        apply("b.tif", &mut worlds).expect("one picture");
        assert!(worlds[0].displays[0].params.is_empty());
    }
}

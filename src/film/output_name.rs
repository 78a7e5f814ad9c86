//! `-o NAME`: one name for the primary picture of every world.

use super::driver;
use crate::scene::{Display, DisplayMode, DisplayPart, Options};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

    /// Returns the file name if it is the same for all frames.
    pub fn single(&self) -> Option<&str> {
        self.digits.is_none().then_some(self.before.as_str())
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
    /// Numbers in names so far.
    taken: BTreeSet<i32>,
    /// Pictures that keep their names.
    kept: BTreeSet<PathBuf>,
}

/// A picture whose number in names is not its frame, because an earlier picture has that number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedFrame {
    /// Its index among the worlds of the call.
    pub world: usize,
    /// Its frame.
    pub frame: i32,
    /// Its file.
    pub name: String,
}

impl<'a> OutputNaming<'a> {
    /// Starts before the first world.
    pub fn new(name: &'a OutputName) -> Self {
        Self { name, worlds: 0, pictures: 0, taken: BTreeSet::new(), kept: BTreeSet::new() }
    }

    /// Leaves these pictures of later worlds alone, because textures are made of them.
    pub fn keep(&mut self, pictures: impl IntoIterator<Item = PathBuf>) {
        self.kept.extend(pictures);
    }

    /// Returns the index of the display that is renamed.
    fn primary(&self, options: &Options) -> Option<usize> {
        let is_kept = |display: &Display| self.kept.contains(&driver::choose(&display.driver, &display.name).path);
        primary_picture(options).filter(|&index| !is_kept(&options.displays[index]))
    }

    /// Renames the primary picture of each of the next worlds that has one. The frame of a world without FrameBegin is
    /// its number among all worlds, from 1. Where several pictures have one frame, as when frames of several files
    /// begin with 1, the later ones are numbered on from the greatest number so far; they are returned.
    ///
    /// Returns a command-line error if there are several pictures and no place for a number. Then no display was
    /// changed.
    pub fn apply(&mut self, worlds: &mut [&mut Options]) -> Result<Vec<RepeatedFrame>, String> {
        let mut frames: Vec<(usize, i32)> = Vec::new();
        for (index, options) in worlds.iter().enumerate().filter(|(_, options)| self.primary(options).is_some()) {
            let ordinal = i32::try_from(self.worlds + index + 1).unwrap_or(i32::MAX);
            frames.push((index, options.frame.unwrap_or(ordinal)));
        }
        self.worlds += worlds.len();
        self.pictures += frames.len();
        if self.name.digits.is_none() && self.pictures > 1 {
            let (name, pictures) = (self.name.for_frame(0), self.pictures);
            return Err(format!("-o {name}: the scene has {pictures} pictures; put # where the frame number goes"));
        }
        let mut repeated = Vec::new();
        for (world, frame) in frames {
            let number = self.number_of(frame);
            let name = self.name.for_frame(number);
            if let Some(display) = self.primary(worlds[world]) {
                redirect(&mut worlds[world].displays[display], name.clone());
            }
            if number != frame {
                repeated.push(RepeatedFrame { world, frame, name });
            }
        }
        Ok(repeated)
    }

    /// Takes the frame's own number, or the next one after all others.
    fn number_of(&mut self, frame: i32) -> i32 {
        let last = self.taken.last().copied().unwrap_or(0);
        let free = |number: &i32| !self.taken.contains(number);
        // Below the greatest number there is always a free one, because no scene has that many pictures.
        let number = Some(frame).filter(free).or(last.checked_add(1)).or_else(|| (0..last).rev().find(free));
        let number = number.unwrap_or(frame);
        self.taken.insert(number);
        number
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
        || matches!(
            display.parts[..],
            [DisplayPart { mode: DisplayMode::Image { rgb: false, a: false, z: true }, .. }]
        );
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
        // A frame that repeats a number is numbered on, and so is the frame whose number it took.
        for (frame, name) in [(2, "x.0004.exr"), (4, "x.0005.exr"), (7, "x.0007.exr")] {
            let mut options = world(Some(frame), vec![display("a.tif", "tiff", RGB)]);
            let repeated = naming.apply(&mut [&mut options]).expect("names are numbered on");
            let expected = RepeatedFrame { world: 0, frame, name: name.into() };
            assert_eq!(
                (repeated, options.displays[0].name.as_str()),
                (if frame < 7 { vec![expected] } else { vec![] }, name)
            );
        }
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
    fn pictures_that_textures_are_made_of_keep_their_names() {
        let name = OutputName::parse("out.exr").expect("a good name");
        let mut naming = OutputNaming::new(&name);
        naming.keep(["wood.tif".into(), "screen.exr".into()]);
        let displays =
            [display("wood.tif", "tiff", RGB), display("screen", "framebuffer", RGB), display("a", "tiff", RGB)];
        let mut worlds = displays.map(|display| world(None, vec![display]));
        naming.apply(&mut worlds.iter_mut().collect::<Vec<_>>()).expect("one picture");
        let names = worlds.each_ref().map(|options| options.displays[0].name.as_str());
        assert_eq!(names, ["wood.tif", "screen", "out.exr"]);
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
        let frames = [7, 7, 8, i32::MAX, i32::MAX, -1].map(Some);
        let numbered = apply("o.#.exr", &mut frames.map(picture)).expect("names are numbered on");
        let numbers = ["0007", "0008", "0009", "2147483647", "2147483646", "-0001"];
        assert_eq!(numbered, numbers.map(|number| format!("file o.{number}.exr")));
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

//! The examples of README.md and of the first steps do what the text says, and README.md knows all commands.

use super::{anthill, directory};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What makes a picture of an example small, so that all of them are drawn in seconds.
const SMALL: [&str; 6] = ["--format", "64", "48", "--samples", "2", "2"];

/// A part of a page that is an example's.
#[derive(Debug, PartialEq)]
enum Step<'a> {
    /// A file of this name is saved.
    Save { name: &'a str, text: String },
    /// A command is run.
    Run(Vec<&'a str>),
}

/// The blocks of RIB and RSL, whose name stands in the line above them, and the commands in `sh` blocks, in order.
fn steps(page: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut name = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            // The last word in backticks before a block.
            name = line.rsplit('`').nth(1).or(name);
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match language {
            "rib" | "sl" => {
                let name = name.filter(|name| name.ends_with(&format!(".{language}")));
                let name = name.unwrap_or_else(|| panic!("no name stands above {:?}", block.first()));
                steps.push(Step::Save { name, text: block.join("\n") + "\n" });
            }
            "sh" => steps.extend(block.iter().map(|line| Step::Run(line.split_whitespace().collect()))),
            _ => panic!("a block of {language:?} is neither saved nor run"),
        }
    }
    steps
}

/// The pictures that a command wrote after `begin`.
fn pictures(folder: &Path, begin: SystemTime) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let is_picture = |path: &PathBuf| path.extension().is_some_and(|end| end == "png" || end == "exr");
    let is_new = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).is_ok_and(|time| time >= begin);
    entries.filter(|path| is_picture(path) && is_new(path)).collect()
}

/// Whether a PNG has pixels that differ.
fn shows_something(picture: &Path) -> bool {
    let file = std::io::BufReader::new(fs::File::open(picture).expect("a picture"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
    let frame = reader.next_frame(&mut pixels).expect("pixels");
    let size = pixels.len() / (frame.width * frame.height) as usize;
    pixels.chunks_exact(size).any(|pixel| *pixel != pixels[..size])
}

/// Saves the files of a page and runs its commands, each without a message.
fn follow(page: &str) {
    let directory = directory();
    let folder = directory.path();
    for step in steps(page) {
        let words = match step {
            Step::Save { name, text } => {
                fs::write(folder.join(name), text).expect("writable");
                continue;
            }
            Step::Run(words) => words,
        };
        assert_eq!(words.first(), Some(&"anthill"), "{words:?}");
        let renders = words[1] == "render";
        let small: &[&str] = if renders { &SMALL } else { &[] };
        let begin = SystemTime::now();
        let ran = anthill(folder, &[&words[1..], small].concat());
        assert!(ran.code == Some(0) && ran.messages().is_empty(), "{words:?}: {}", ran.err);
        let written = pictures(folder, begin);
        assert!(!renders || !written.is_empty(), "{words:?} wrote no picture");
        for picture in written.iter().filter(|path| path.extension().is_some_and(|end| end == "png")) {
            assert!(shows_something(picture), "{} shows nothing", picture.display());
        }
    }
}

#[test]
fn the_first_picture_of_the_readme_is_drawn() {
    let readme = include_str!("../../README.md");
    assert_eq!(steps(readme).len(), 3, "a scene, a shader and a command");
    follow(readme);
}

#[test]
fn the_first_steps_work() {
    follow(include_str!("../../docs/first-steps.md"));
    follow(include_str!("../../docs/first-steps/shapes.md"));
    follow(include_str!("../../docs/first-steps/light.md"));
}

#[test]
fn the_steps_with_shaders_work() {
    follow(include_str!("../../docs/first-steps/shaders.md"));
    follow(include_str!("../../docs/first-steps/textures.md"));
    follow(include_str!("../../docs/first-steps/camera.md"));
}

#[test]
fn examples_are_found() {
    let page = "Save `a.rib`:\n\n```rib\nWorldBegin\nWorldEnd\n```\n\n```sh\nanthill render a.rib\n```\n";
    let saved = Step::Save { name: "a.rib", text: "WorldBegin\nWorldEnd\n".to_owned() };
    assert_eq!(steps(page), [saved, Step::Run(vec!["anthill", "render", "a.rib"])]);
}

/// The README lists the commands of `anthill --help`, and those inside of them.
#[test]
fn the_readme_lists_every_command() {
    let commands = |args: &[&str]| -> Vec<String> {
        let help = anthill(directory().path(), &[args, &["--help"]].concat()).out;
        let list = help.split("Commands:\n").nth(1).unwrap_or_default();
        let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
        let names = list.lines().take_while(|line| !line.ends_with(':')).filter(is_name);
        names
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .map(str::to_owned)
            .collect()
    };
    let readme = include_str!("../../README.md");
    let listed: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("    anthill ")).collect();
    let has = |words: &[&str]| {
        listed.iter().any(|line| {
            let mut found = line.split_whitespace();
            words.iter().all(|word| found.next().is_some_and(|names| names.split('|').any(|name| name == *word)))
        })
    };
    let outer = commands(&[]);
    assert!(outer.len() > 8, "{outer:?}");
    for command in &outer {
        assert!(has(&[command]), "README.md lacks `anthill {command}`");
        for inner in commands(&[command]) {
            assert!(has(&[command, &inner]), "README.md lacks `anthill {command} {inner}`");
        }
    }
}

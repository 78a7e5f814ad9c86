//! The scenes of `scenes/tests`: each is read, and what it says about itself in its comments must be so.
//!
//! `# error: CODE text`, `# warning: CODE text` and `# note: CODE text` are above the line that the message names;
//! several may be above one line. `# count: N` is the total number of primitives in the file's worlds.

use super::*;
use crate::diagnostic::Severity;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/tests")
}

/// What a file expects: messages as (line, severity, code, text), and the number of primitives.
type ExpectedMessages = (Vec<(u32, Severity, String, String)>, Option<usize>);

fn expected(text: &str) -> ExpectedMessages {
    let (mut messages, mut count, mut waiting) = (Vec::new(), None, Vec::new());
    for (index, line) in text.lines().enumerate() {
        let kinds = [("# error: ", Severity::Error), ("# warning: ", Severity::Warning), ("# note: ", Severity::Info)];
        let kind = kinds.iter().find_map(|(prefix, severity)| Some((line.trim().strip_prefix(prefix)?, *severity)));
        if let Some((rest, severity)) = kind {
            let (code, text) = rest.split_once(' ').unwrap_or((rest, ""));
            waiting.push((severity, code.to_owned(), text.to_owned()));
            continue;
        }
        if let Some(number) = line.trim().strip_prefix("# count: ") {
            count = Some(number.parse().expect("a number of primitives"));
        }
        messages.extend(waiting.drain(..).map(|(severity, code, text)| (index as u32 + 1, severity, code, text)));
    }
    assert!(waiting.is_empty(), "an expectation is above no line");
    (messages, count)
}

#[test]
fn every_scene_says_what_it_expects() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("scenes/tests")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rib"))
        .collect();
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let (mut wanted, count) = expected(&text);
        let reporter = Reporter::silent();
        let mut primitives = 0;
        read(&Input::File(file.clone()), &Settings::default(), &reporter, &mut |world: World| {
            primitives +=
                world.drawables.iter().map(|drawable| drawable.geometry.shape.first().primitive_count()).sum::<usize>();
            ControlFlow::Continue(())
        });
        for (message, _) in reporter.all() {
            let name = message.location.file.to_string();
            let matches = |(line, severity, code, text): &(u32, Severity, String, String)| {
                (*line, *severity, code.as_str()) == (message.location.line, message.severity, message.code)
                    && message.message.contains(text.as_str())
            };
            let found = wanted.iter().position(|expected| {
                name.ends_with(&*file.file_name().expect("a name").to_string_lossy()) && matches(expected)
            });
            let index = found.unwrap_or_else(|| panic!("{}: unexpected {message}", file.display()));
            wanted.remove(index);
        }
        assert!(wanted.is_empty(), "{}: missing {wanted:?}", file.display());
        let count = count.unwrap_or_else(|| panic!("{}: it has no # count: line", file.display()));
        assert_eq!(primitives, count, "{}", file.display());
    }
}

//! Rules of style that are read off the text.

use super::code::{closing, words};
use super::expect_none;
use super::tree::{File, file, files};

/// A file has one duty; longer ones have two.
const FILE_LINES_MAX: usize = 600;

/// A function reads in one screen, of about 50 lines; tables of cases and lists of match arms may be somewhat longer.
const FUNCTION_LINES_MAX: usize = 80;

/// Pictures that tests compare with are small.
const GOLDEN_BYTES_MAX: u64 = 20 << 10;

fn rust() -> impl Iterator<Item = &'static File> {
    files().iter().filter(|file| file.is_rust())
}

#[test]
fn files_are_short() {
    let is_source = |file: &&File| file.is_rust() || file.is_glsl() || file.path.ends_with(".sl");
    let long = files().iter().filter(is_source).filter(|file| file.text.lines().count() >= FILE_LINES_MAX);
    let found = long.map(|file| format!("{}: {} lines", file.path, file.text.lines().count()));
    expect_none(found, "Files have fewer than 600 lines: move one duty of it to a file of its own.");
}

#[test]
fn functions_fit_a_screen() {
    let mut found = Vec::new();
    for file in rust() {
        for at in words(&file.code, "fn") {
            let rest = &file.code[at..];
            let end = rest.find([';', '{']).filter(|end| rest[*end..].starts_with('{'));
            let lines = end.map_or(0, |open| rest[..open + closing(&rest[open..])].lines().count());
            if lines > FUNCTION_LINES_MAX {
                found.push(format!("{}: {lines} lines", file.at(at)));
            }
        }
    }
    expect_none(found, "A function reads in one screen: give its steps names and functions of their own.");
}

#[test]
fn files_begin_with_what_they_are_for() {
    let found = rust().filter(|file| !file.text.starts_with("//!")).map(|file| file.path.clone());
    // A fuzz target begins with an attribute that must come first; `tests.rs` says its duty by its name.
    let found = found.filter(|path| !path.starts_with("fuzz/") && !path.ends_with("/tests.rs"));
    expect_none(found, "Begin the file with a `//!` line that says its duty.");
}

#[test]
fn nothing_is_left_undone_or_hushed_up() {
    let banned = [
        (".unwrap()", "handle the failure, or say the invariant: .expect(\"...\")"),
        ("todo!", "finish it"),
        ("unimplemented!", "finish it"),
        ("dbg!", "remove it"),
        ("#[ignore", "a known bug asserts today's wrong answer and says so"),
        ("allow(dead_code", "remove what nobody uses"),
        ("allow(unused", "remove what nobody uses"),
    ];
    let mut found = Vec::new();
    for file in rust() {
        for (text, instead) in banned {
            let places = file.code.match_indices(text).map(|(at, _)| format!("{}: {text}: {instead}", file.at(at)));
            found.extend(places);
        }
        let hushed = file.code.match_indices("[allow(").chain(file.code.match_indices("[expect("));
        let unsaid = hushed.map(|(at, _)| at).filter(|at| {
            let end = file.text[*at..].find(']').unwrap_or(0);
            !file.text[*at..at + end].contains("reason = ") && !file.is_in("src/gpu/mod.rs")
        });
        found.extend(unsaid.map(|at| format!("{}: a lint is hushed without a reason", file.at(at))));
    }
    expect_none(found, "Do what the line says instead.");
}

#[test]
fn only_the_command_line_prints() {
    let mut found = Vec::new();
    let silent = |file: &&File| file.is_product() && !file.is_in("src/cli/") && !file.is_in("build.rs");
    for file in rust().filter(silent) {
        for name in ["print", "println", "eprint", "eprintln"] {
            let macros = words(&file.code, name).filter(|at| file.code[at + name.len()..].starts_with('!'));
            found.extend(macros.map(|at| file.at(at)));
        }
    }
    expect_none(found, "Report a Diagnostic, return a value, or tell the Observer; src/cli prints.");
}

#[test]
fn comments_put_nothing_off() {
    let marks = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["HA", "CK"]].map(|halves| halves.concat());
    let mut found = Vec::new();
    for file in files().iter().filter(|file| !file.path.ends_with(".lock")) {
        for (index, line) in file.text.lines().enumerate() {
            if marks.iter().any(|mark| words(line, mark).next().is_some()) {
                found.push(format!("{}:{}", file.path, index + 1));
            }
        }
    }
    expect_none(found, "Do it now, or write the limit down where users look (docs/limits.md).");
}

#[test]
fn names_say_a_duty() {
    let vague = ["Manager", "Helper", "Helpers", "Context", "Util", "Utils"];
    let mut found = Vec::new();
    for file in rust() {
        let stem = file.stem().to_lowercase();
        if ["util", "utils", "helper", "helpers", "common", "misc", "manager", "context"].contains(&&*stem) {
            found.push(file.path.clone());
        }
        for keyword in ["struct ", "enum ", "trait ", "type "] {
            for (at, _) in file.code.match_indices(keyword) {
                let rest = &file.code[at + keyword.len()..];
                let name = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
                if vague.iter().any(|end| name.ends_with(end)) {
                    found.push(format!("{}: {name}", file.at(at)));
                }
            }
        }
    }
    expect_none(found, "The name says that it does something for somebody, not what: name its duty.");
}

/// Paths that every Unix has, the place of the libraries that the build links, and paths in tests that need not exist.
#[test]
fn no_path_belongs_to_one_machine() {
    let fine = [
        "/dev/",
        "/proc/",
        "/sys/kernel/",
        "/usr/",
        "/no/",
        "/nonexistent",
        "/nowhere/",
        "/etc/vulkan",
        "/home/ant",
        "/scenes/",
        "/vulkan/",
    ];
    let mut found = Vec::new();
    for file in files().iter().filter(|file| !file.is_in("tests/tidy/")) {
        for (index, line) in file.text.lines().enumerate() {
            for quote in ["\"/", "'/", "`/", "=/", " /", "(/"] {
                for (at, _) in line.match_indices(quote) {
                    let path = &line[at + 1..];
                    let letters = path[1..].bytes().take_while(u8::is_ascii_lowercase).count();
                    let is_path = letters > 1 && path[1 + letters..].starts_with('/');
                    if is_path && !fine.iter().any(|fine| path.starts_with(fine)) {
                        found.push(format!(
                            "{}:{}: {}",
                            file.path,
                            index + 1,
                            path.split_whitespace().next().unwrap_or("")
                        ));
                    }
                }
            }
        }
    }
    expect_none(
        found,
        "No file may name a place of one machine: use a path from the repository, a temporary folder, or a variable.",
    );
}

#[test]
fn goldens_are_small() {
    let places = ["tests/", "scenes/tests/", "spirv-gen/tests/"];
    let large = files().iter().filter(|file| file.bytes > GOLDEN_BYTES_MAX && file.text.is_empty());
    let found = large.filter(|file| places.iter().any(|place| file.is_in(place))).map(|file| file.path.clone());
    expect_none(found, "A test's picture has at most 20 KiB: make it smaller, or compare with what is computed.");
}

/// Scenes write their files where they are run.
#[test]
fn what_scenes_leave_at_the_root_is_ignored() {
    let ignored: Vec<&str> = file(".gitignore").text.lines().collect();
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut found = Vec::new();
    for scene in files().iter().filter(|file| file.is_in("scenes/") && file.path.ends_with(".rib")) {
        for name in scene.text.split('"') {
            let Some((stem, kind)) = name.trim_start_matches('+').rsplit_once('.') else { continue };
            let is_output = is_word(stem) && is_word(kind) && !["rib", "sl", "so"].contains(&kind);
            if is_output && !ignored.contains(&&*format!("/*.{kind}")) {
                found.push(format!("{}: {name}", scene.path));
            }
        }
    }
    expect_none(found, "Add the kind of file to .gitignore.");
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for manifest in ["Cargo.toml", "osd/Cargo.toml", "spirv-gen/Cargo.toml"] {
        assert!(
            file(manifest).text.contains("[lints]\nworkspace = true"),
            "{manifest}: add `[lints] workspace = true`"
        );
    }
    let lints = &file("Cargo.toml").text;
    for lint in ["missing_docs", "undocumented_unsafe_blocks", "unwrap_used", "unreachable_pub"] {
        assert!(lints.contains(&format!("\n{lint} = \"warn\"")), "Cargo.toml: the lint {lint} must stay on");
    }
    assert!(file(".ci/lint").text.contains("-D warnings"), ".ci/lint: warnings must fail `make lint`");
}

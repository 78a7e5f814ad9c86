//! Names that mean one thing, comments that fit the screen, an ARCHITECTURE.md that is read in ten minutes.

use super::code::{is_name, without_tests};
use super::expect_none;
use super::tree::{File, file, files};
use std::collections::BTreeMap;

/// Words of ARCHITECTURE.md, at most.
const ARCHITECTURE_WORDS_MAX: usize = 1700;

/// Columns of a line with a comment, at most.
const COMMENT_COLUMNS_MAX: usize = 120;

/// Crates, by the folder of their sources, with the type names that stand for several things, and why.
const CRATES: [(&str, &[(&str, &str)]); 2] = [("src/", &[]), ("spirv-gen/src/", &[])];

#[test]
fn architecture_is_read_in_ten_minutes() {
    let words = file("ARCHITECTURE.md").text.split_whitespace().count();
    assert!(
        words <= ARCHITECTURE_WORDS_MAX,
        "ARCHITECTURE.md has {words} words, more than {ARCHITECTURE_WORDS_MAX}: details belong in docs/"
    );
}

#[test]
fn comments_fit_the_screen() {
    let is_long = |line: &str| line.chars().count() > COMMENT_COLUMNS_MAX;
    let mut found = Vec::new();
    for file in files() {
        let codes = file.code.lines().chain(std::iter::repeat(""));
        for (index, (line, code)) in file.text.lines().zip(codes).enumerate() {
            if is_long(line) && has_comment(file, line) && !is_long(code.trim_end()) {
                found.push(format!("{}:{}", file.path, index + 1));
            }
        }
    }
    expect_none(found, &format!("Wrap the comment: it keeps to {COMMENT_COLUMNS_MAX} columns."));
}

/// Whether a line of this file holds a comment, or, in Rust, may hold one.
fn has_comment(file: &File, line: &str) -> bool {
    let line = line.trim_start();
    let is_slashed = [".rs", ".comp", ".glsl", ".sl", ".h"].iter().any(|end| file.path.ends_with(end));
    let is_hashed = [".py", ".toml", "Makefile", "run"].iter().any(|end| file.path.ends_with(end));
    is_slashed && (line.starts_with("//") || line.contains(" // ")) || is_hashed && line.starts_with('#')
}

#[test]
fn type_names_mean_one_thing() {
    let mut found = Vec::new();
    for (folder, exceptions) in CRATES {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in files().iter().filter(|file| file.is_in(folder) && file.is_product()) {
            for (at, name) in defined_types(&without_tests(&file.code)) {
                places.entry(name).or_default().push(file.at(at));
            }
        }
        for (name, reason) in exceptions {
            let times = places.remove(*name).map_or(0, |places| places.len());
            assert!(times > 1, "{folder}: {name} ({reason}) has one meaning now: remove the exception");
        }
        let several = places.into_iter().filter(|(_, places)| places.len() > 1);
        found.extend(several.map(|(name, places)| format!("{name}: {}", places.join(", "))));
    }
    expect_none(found, "A type name has one meaning in a crate: call each of these what it is.");
}

/// The types that code defines, with where; associated types, which are indented, have the meaning that their trait
/// gives them.
fn defined_types(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in code.split_inclusive('\n') {
        let item = line.trim_start();
        let is_indented = item.len() < line.len();
        let item = item.strip_prefix("pub").map_or(item, |rest| {
            let scope = rest.starts_with('(').then(|| rest.find(')')).flatten();
            rest[scope.map_or(0, |end| end + 1)..].trim_start()
        });
        let keywords = ["struct ", "enum ", "union ", "trait ", "type "];
        if let Some(keyword) = keywords.into_iter().find(|keyword| item.starts_with(keyword))
            && !(is_indented && keyword == "type ")
        {
            let rest = &item[keyword.len()..];
            let length = rest.bytes().take_while(|byte| is_name(*byte)).count();
            found.push((start, rest[..length].to_string()));
        }
        start += line.len();
    }
    found
}

#[test]
fn definitions_of_types_are_found() {
    let code = "pub struct A;\nenum B {}\npub(crate) trait C {\n    type Associated;\n}\ntype D<T> = Vec<T>;\nlet structure = 1;\n\
                mod inner {\n    pub(in crate::x) struct E(u8);\n}\n";
    let names: Vec<String> = defined_types(code).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["A", "B", "C", "D", "E"]);
}

//! What the suite says of its own tests is true.

use super::expect_none;
use super::tree::{files, root};
use std::fs;

/// The tests that may take long.
const SLOW: &str = "tests/slow.txt";

#[test]
fn slow_tests_exist_and_have_a_reason() {
    let text = fs::read_to_string(root().join(SLOW)).expect("a readable file");
    let listed = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let exists = |test: &str| {
        let function = format!("fn {}(", test.rsplit("::").next().unwrap_or_default());
        files().iter().any(|file| file.is_rust() && file.code.contains(&function))
    };
    let found = listed.filter(|(test, reason)| reason.trim().is_empty() || !exists(test));
    expect_none(found.map(|(test, _)| test.to_owned()), "tests/slow.txt: there is no such test, or no reason.");
}

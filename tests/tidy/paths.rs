//! Paths of modules in Rust source.

use super::code::{is_name, words};
use std::collections::BTreeSet;

/// Where the code names something by `crate::`, and its path without that.
pub(super) fn uses(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // `pub(in crate::a)` says who may see something.
    let is_use = |at: &usize| !code[..*at].ends_with("pub(in ");
    for at in words(code, "crate").filter(is_use) {
        if let Some(rest) = code[at..].strip_prefix("crate::") {
            let mut paths = Vec::new();
            path(rest, "", &mut paths);
            found.extend(paths.into_iter().map(|path| (at, path)));
        }
    }
    found
}

/// Collects the paths that a tree of them (`a::{b, c::d}`) stands for; returns its length.
fn path(code: &str, prefix: &str, paths: &mut Vec<String>) -> usize {
    let mut at = code.len() - code.trim_start().len();
    if code[at..].starts_with('{') {
        at += 1;
        while at < code.len() && !code[at..].starts_with('}') {
            at += path(&code[at..], prefix, paths).max(1);
            at += code[at..].bytes().take_while(|byte| byte.is_ascii_whitespace() || *byte == b',').count();
        }
        return at + 1;
    }
    let name = code[at..].bytes().take_while(|byte| is_name(*byte)).count();
    let whole = format!("{prefix}{}", &code[at..at + name]);
    at += name;
    if let Some(rest) = code[at..].strip_prefix("::") {
        return at + 2 + path(rest, &format!("{whole}::"), paths);
    }
    paths.push(whole);
    at
}

/// Paths that begin with `super`, or with a module inside `module`, as paths from the crate's root.
pub(super) fn relative_uses(code: &str, module: &str, modules: &BTreeSet<String>) -> Vec<(usize, String)> {
    let parts: Vec<&str> = module.split("::").collect();
    let is_first = |at: &usize| !code[..*at].ends_with("::");
    let mut found = Vec::new();
    let mut add = |at: usize, rest: &str, base: &str| {
        let mut paths = Vec::new();
        let prefix = if base.is_empty() { String::new() } else { format!("{base}::") };
        path(rest, &prefix, &mut paths);
        found.extend(paths.into_iter().map(|path| (at, path)));
    };
    for at in words(code, "super").filter(is_first) {
        let steps = code[at..].split("super::").take_while(|before| before.is_empty()).count();
        let rest = &code[at + steps * "super::".len()..];
        if steps > 0 && steps <= parts.len() {
            add(at, rest, &parts[..parts.len() - steps].join("::"));
        }
    }
    let children = modules.iter().filter_map(|other| other.strip_prefix(module)?.strip_prefix("::"));
    for child in children.filter(|child| child.bytes().all(is_name)) {
        for at in words(code, child).filter(is_first) {
            if code[at + child.len()..].starts_with("::") {
                add(at, &code[at..], module);
            }
        }
    }
    found
}

#[test]
fn trees_of_paths_are_read() {
    let code = "use crate::{scene::World, film::{Film, plan::A}};\nfn f(x: crate::rib::Input) {} pub(crate) fn g() {} pub(in crate::rib) fn h() {}";
    let paths: Vec<String> = uses(code).into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["scene::World", "film::Film", "film::plan::A", "rib::Input"]);
}

#[test]
fn relative_paths_are_read() {
    let modules = ["render", "render::a", "render::a::b"].map(str::to_owned).into();
    let used = |code, module| -> Vec<String> {
        relative_uses(code, module, &modules).into_iter().map(|(_, path)| path).collect()
    };
    assert_eq!(used("pub(super) use super::super::c::D; use b::E;", "render::a"), ["c::D", "render::a::b::E"]);
    assert_eq!(used("super::b::f(super::G)", "render::a::b"), ["render::a::b::f", "render::a::G"]);
}

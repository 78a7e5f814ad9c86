//! Search paths: lists of directories with references to earlier lists.

use crate::scene::SearchPaths;
use std::path::Path;

/// Returns the directories of `text`, a list separated by colons or semicolons. `&` is the current list, `@` the
/// standard one, `%NAME%`, `${NAME}` and `$NAME` are environment variables, `~` is the home directory; the colon of
/// `C:` does not separate.
pub(crate) fn expand(
    text: &str,
    current: &[String],
    standard: &[String],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    for item in split(text) {
        match item {
            "" => {}
            "&" => folders.extend(or_here(current)),
            "@" => folders.extend(or_here(standard)),
            folder => folders.push(substitute(folder, variable)),
        }
    }
    folders
}

/// Returns the list, or the working directory where it was not set.
fn or_here(folders: &[String]) -> Vec<String> {
    if folders.is_empty() { vec![".".to_owned()] } else { folders.to_vec() }
}

/// Returns the directories, each relative one followed by the one of the same name in `beside`, without duplicates.
pub(crate) fn with_beside(folders: Vec<String>, beside: Option<&Path>) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for folder in folders {
        let other = beside.filter(|_| Path::new(&folder).is_relative()).map(|beside| match folder.as_str() {
            "." => beside.display().to_string(),
            folder => beside.join(folder).display().to_string(),
        });
        for one in [Some(folder), other].into_iter().flatten() {
            if !result.contains(&one) {
                result.push(one);
            }
        }
    }
    result
}

/// Returns the paths with `first` searched before and `last` after them. A path that the input has not set is the
/// working directory, except for archives, which are also searched beside the input.
pub(crate) fn with_others(paths: &SearchPaths, first: &SearchPaths, last: &SearchPaths) -> SearchPaths {
    let joined = |path: &[String], first: &[String], last: &[String], default: &[String]| {
        if first.is_empty() && last.is_empty() {
            return path.to_vec();
        }
        let path = if path.is_empty() { default } else { path };
        with_beside([first, path, last].concat(), None)
    };
    let here = [".".to_owned()];
    SearchPaths {
        archive: joined(&paths.archive, &first.archive, &last.archive, &[]),
        shader: joined(&paths.shader, &first.shader, &last.shader, &here),
        texture: joined(&paths.texture, &first.texture, &last.texture, &here),
        procedural: joined(&paths.procedural, &first.procedural, &last.procedural, &here),
        display: joined(&paths.display, &first.display, &last.display, &here),
    }
}

/// Splits a list at its colons and semicolons.
fn split(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let drive = *byte == b':'
            && at == start + 1
            && bytes[start].is_ascii_alphabetic()
            && matches!(bytes.get(at + 1), Some(b'/' | b'\\'));
        if matches!(byte, b':' | b';') && !drive {
            items.push(&text[start..at]);
            start = at + 1;
        }
    }
    items.push(&text[start..]);
    items
}

/// Replaces environment variables and a leading `~`. Unknown variables are left as written.
fn substitute(folder: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let mut result = String::new();
    let mut rest = folder;
    if let Some(behind) = rest.strip_prefix('~')
        && (behind.is_empty() || behind.starts_with('/'))
        && let Some(home) = variable("HOME")
    {
        result.push_str(&home);
        rest = behind;
    }
    while let Some(at) = rest.find(['$', '%']) {
        result.push_str(&rest[..at]);
        let tail = &rest[at..];
        match reference(tail).and_then(|(name, length)| variable(name).map(|value| (value, length))) {
            Some((value, length)) => {
                result.push_str(&value);
                rest = &tail[length..];
            }
            None => {
                result.push_str(&tail[..1]);
                rest = &tail[1..];
            }
        }
    }
    result.push_str(rest);
    result
}

/// Returns the variable that `text` begins with and the length of the reference.
fn reference(text: &str) -> Option<(&str, usize)> {
    if let Some(inside) = text.strip_prefix("${") {
        let end = inside.find('}')?;
        return Some((&inside[..end], end + 3));
    }
    if let Some(inside) = text.strip_prefix('%') {
        let end = inside.find('%')?;
        return Some((&inside[..end], end + 2));
    }
    let inside = text.strip_prefix('$')?;
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
    (end > 0).then(|| (&inside[..end], end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_folders_are_looked_for_beside_the_scene_too() {
        let list = |folders: &[&str]| folders.iter().map(|&folder| folder.to_owned()).collect::<Vec<_>>();
        let wanted = ["shaders", "/no/a/shaders", ".", "/no/a", "/lib"];
        assert_eq!(with_beside(list(&["shaders", ".", "/lib"]), Some(Path::new("/no/a"))), wanted);
        assert_eq!(with_beside(list(&wanted), None), wanted);
        // Directories from `&` are not repeated.
        assert_eq!(with_beside(list(&wanted), Some(Path::new("/no/a"))), wanted);
    }

    #[test]
    fn lists_and_references() {
        let current = ["old".to_owned(), "older".to_owned()];
        let standard = ["std".to_owned()];
        let variable = |name: &str| match name {
            "HOME" => Some("/home/ant".to_owned()),
            "LIB" => Some("lib".to_owned()),
            _ => None,
        };
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            (".:&", &[".", "old", "older"]),
            ("a;b::@", &["a", "b", "std"]),
            ("C:/shaders;D:\\more:x", &["C:/shaders", "D:\\more", "x"]),
            ("~/rib:~other", &["/home/ant/rib", "~other"]),
            ("$LIB/a:${LIB}b:%LIB%:x$LIB", &["lib/a", "libb", "lib", "xlib"]),
            ("$NONE/a:100%:${LIB:$", &["$NONE/a", "100%", "${LIB", "$"]),
        ];
        for (text, wanted) in cases {
            assert_eq!(expand(text, &current, &standard, &variable), *wanted, "{text}");
        }
        // Lists that were not set are the working directory.
        assert_eq!(expand("a:&:b:@", &[], &[], &variable), ["a", ".", "b", "."]);
    }
}

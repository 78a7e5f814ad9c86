//! Checks that the sources agree about macros. To the preprocessor a name that nobody defines is 0, so without these
//! checks a misspelled one would leave code out silently.

use super::variants::Declaration;
use std::collections::{BTreeMap, BTreeSet};

/// Paths and texts.
pub(crate) type Sources = BTreeMap<String, String>;

/// Refuses conditions on macros that no source defines and that no kernel has as an axis, and axes that do not occur in
/// the source of their kernel. Declarations are found by the kernels' paths. Errors begin with file and line.
pub(crate) fn check(sources: &Sources, declarations: &BTreeMap<String, Declaration>) -> Result<(), String> {
    let axes = declarations.values().flat_map(|declaration| &declaration.axes).map(|axis| axis.name.as_str());
    let known: BTreeSet<&str> = sources.values().flat_map(|text| defined(text)).chain(axes).collect();
    for (path, text) in sources {
        let unknown = |(_, name): &(usize, &str)| !known.contains(name);
        if let Some((line, name)) = tested(text).find(unknown) {
            return Err(format!("{path}:{line}: `{name}` is neither a macro of the sources nor an axis of a kernel"));
        }
    }
    for (path, declaration) in declarations {
        let used: BTreeSet<&str> = included(path, sources).into_iter().flat_map(code_words).collect();
        if let Some(axis) = declaration.axes.iter().find(|axis| !used.contains(axis.name.as_str())) {
            return Err(format!("{path}:1: the axis `{}` makes no difference to the source", axis.name));
        }
    }
    Ok(())
}

/// The texts of a source and all that it includes.
fn included<'a>(path: &str, sources: &'a Sources) -> Vec<&'a str> {
    let (mut open, mut found) = (vec![path.to_string()], BTreeMap::new());
    while let Some(path) = open.pop() {
        let Some(text) = sources.get(&path).filter(|_| !found.contains_key(&path)) else { continue };
        let quoted = text.lines().filter_map(|line| line.trim().strip_prefix("#include \"")?.split('"').next());
        open.extend(quoted.map(|name| format!("glsl/{name}")));
        found.insert(path, text.as_str());
    }
    found.into_values().collect()
}

/// The macros that a source defines.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| words(directive(line, "define")?).next())
}

/// The macros in the conditions of a source, with the numbers of their lines.
fn tested(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let conditions = |line| ["if", "ifdef", "ifndef", "elif"].iter().find_map(|name| directive(line, name));
    let names = move |line| conditions(line).into_iter().flat_map(words).filter(|name| *name != "defined");
    (1..).zip(text.lines()).flat_map(move |(number, line)| names(line).map(move |name| (number, name)))
}

/// What follows the directive `name`, if the line is one.
fn directive<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(name)?.strip_prefix(' ')
}

/// All words of a source's code.
fn code_words(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(words)
}

/// The words of a line of code; numbers are none.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

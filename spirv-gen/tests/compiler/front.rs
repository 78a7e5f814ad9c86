//! Case files of the front end: shaders in which comments name the messages that are expected.
//!
//! `// error: 9-14 text` (or `warning:`) expects a message whose text contains `text` at columns 9 to 14 (counted from
//! 1, both ends included; `9` alone for a single column or a place between two) of the next line that is no such
//! comment. All messages of a file must be expected, and all that are expected must come.

use spirv_gen::diagnostic::Severity;
use spirv_gen::syntax::loader::{IncludeFolders, LoadedSource, SourceLoader};
use spirv_gen::syntax::preprocess::Source;
use std::path::Path;

/// A message: line, first and last column, severity, text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    line: u32,
    columns: (u32, u32),
    is_error: bool,
    text: String,
}

/// The messages that the comments of a case file ask for.
fn expected(text: &str) -> Vec<Message> {
    let (mut found, mut waiting) = (Vec::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        let comment = line.trim_start();
        let is_error = comment.starts_with("// error: ");
        let Some(rest) = comment.strip_prefix("// error: ").or_else(|| comment.strip_prefix("// warning: ")) else {
            found.extend(waiting.drain(..).map(|m| Message { line: number, ..m }));
            continue;
        };
        let (columns, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let (from, to) = columns.split_once('-').unwrap_or((columns, columns));
        let column = |c: &str| c.parse().unwrap_or_else(|_| panic!("line {number}: no column `{c}`"));
        waiting.push(Message { line: 0, columns: (column(from), column(to)), is_error, text: text.to_owned() });
    }
    assert!(waiting.is_empty(), "comments at the end expect messages on no line");
    found
}

/// Reads what cases include.
struct CaseIncludes(IncludeFolders);

impl SourceLoader for CaseIncludes {
    fn load(&self, path: &str, angled: bool, from: &str) -> Result<LoadedSource, String> {
        let file = self.0.find(path, angled, from, &|_| Ok(()))?;
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        Ok(LoadedSource { name: file.display().to_string(), text })
    }
}

/// Compares the messages of one case file; what differs, as text.
fn check(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let name = file.display().to_string();
    let loader = CaseIncludes(IncludeFolders::new([file.parent().unwrap_or(file).join("include")]));
    let parsed = spirv_gen::parse_shaders(&Source { name: &name, text: &text, loader: &loader, defines: &[] });
    let mut missing = expected(&text);
    let mut problems = String::new();
    for diagnostic in &parsed.diagnostics {
        let place = &diagnostic.place;
        let last = place.column + diagnostic.width.max(1) - 1;
        let is_error = diagnostic.severity == Severity::Error;
        let fits = |m: &Message| {
            *place.file == *name
                && (m.line, m.columns, m.is_error) == (place.line, (place.column, last), is_error)
                && diagnostic.message.contains(&m.text)
        };
        match missing.iter().position(fits) {
            Some(index) => drop(missing.remove(index)),
            None => problems += &format!("not expected (columns {}-{last}):\n{diagnostic}\n\n", place.column),
        }
    }
    for message in missing {
        problems += &format!("{name}:{}: did not come: {message:?}\n", message.line);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[test]
fn case_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/front");
    let entries = std::fs::read_dir(&folder).expect("the folder of case files");
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "sl"));
    files.sort();
    assert!(files.len() > 5, "case files are there");
    let problems: Vec<_> = files.iter().filter_map(|f| check(f).err()).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

//! Several kernels from one source file.
//!
//! A kernel file may begin with comment lines of the form
//!
//! ```glsl
//! // variants: dice_quadric KIND=0 NORMALS=1; dice_facet KIND=1
//! ```
//!
//! Each variant is a name and macros, separated by blanks; variants are separated by semicolons; several such lines add
//! up. A name is the file's name, or begins with it and `_`. A macro is `NAME` or `NAME=VALUE`. All variants of a file
//! must have the same bindings and push constants: they are forms of one stage, and a dispatch chooses one by the
//! generated `Variant`.

/// One kernel of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    /// The kernel's label.
    pub name: String,
    /// Macros it is compiled with: name and value (empty when none was given).
    pub macros: Vec<(String, String)>,
}

/// The variants that `source` asks for; the one variant `stem` without macros when it asks for none. Errors begin with
/// the line.
pub(crate) fn parse(stem: &str, source: &str) -> Result<Vec<Variant>, String> {
    let mut variants: Vec<Variant> = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let Some(comment) = line.trim().strip_prefix("//") else { break };
        let Some(list) = comment.trim().strip_prefix("variants:") else { continue };
        for text in list.split(';').map(str::trim).filter(|text| !text.is_empty()) {
            let variant = parse_one(stem, text).map_err(|e| format!("{}: {e}", index + 1))?;
            if variants.iter().any(|known| known.name == variant.name) {
                return Err(format!("{}: variant `{}` is named twice", index + 1, variant.name));
            }
            variants.push(variant);
        }
    }
    if variants.is_empty() {
        variants.push(Variant { name: stem.to_string(), macros: Vec::new() });
    }
    Ok(variants)
}

fn parse_one(stem: &str, text: &str) -> Result<Variant, String> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let belongs = name == stem || name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('_') && rest.len() > 1);
    if !belongs || !is_identifier(name) {
        return Err(format!("variant `{name}` must be named `{stem}` or `{stem}_...`"));
    }
    let mut macros = Vec::new();
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        if !is_identifier(key) {
            return Err(format!("`{word}` is not a macro: write NAME or NAME=VALUE"));
        }
        macros.push((key.to_string(), value.to_string()));
    }
    Ok(Variant { name: name.to_string(), macros })
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

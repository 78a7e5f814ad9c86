//! Named constants of the GLSL sources, for Rust: SPIR-V has no names for them, so they are read from the text.
//!
//! A constant is one line that begins in the first column, `const uint NAME = VALUE;` (or `int`, or `float`), in any
//! file of `glsl/` but the library of compiled shaders. What the preprocessor must know is `#define NAME VALUE`
//! instead, a whole number. The value may be computed from numbers and other constants with `+ - * / % << >> & | ^`,
//! brackets and conversions. The comment lines directly above and a comment behind it are its documentation. A name is
//! defined once in all files together.
//!
//! Some constants are the cases of a choice: `KIND_QUADRIC`, `KIND_FACET` and so on. A new one must not be forgotten
//! where the choice is made: a file with a comment line `// cases: FILTER_*` names every constant that begins so
//! outside of its definition, and kernels with the axis `KIND=KIND_*` have variants for all.

use std::collections::BTreeMap;
use std::fmt::Write;

/// What a constant is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// A `uint`, and every macro.
    U32(u32),
    /// An `int`.
    I32(i32),
    /// A `float`.
    F32(f32),
}

impl Value {
    fn number(self) -> f64 {
        match self {
            Self::U32(value) => value.into(),
            Self::I32(value) => value.into(),
            Self::F32(value) => value.into(),
        }
    }
}

/// A constant as it was written.
#[derive(Clone, Debug, PartialEq)]
struct Definition {
    kind: String,
    expression: String,
    doc: String,
    /// File and line.
    at: String,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    /// Its value.
    pub value: Value,
    /// Its comment; empty without one.
    pub doc: String,
    /// Where it is defined: file and line.
    pub at: String,
}

/// Every constant by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Constants(BTreeMap<String, Constant>);

impl Constants {
    /// Reads the constants of all sources, which are paths and texts. Errors begin with file and line.
    pub(crate) fn read(sources: &BTreeMap<String, String>) -> Result<Self, String> {
        let mut definitions = BTreeMap::new();
        for (path, text) in sources {
            read_file(path, text, &mut definitions)?;
        }
        let mut constants = BTreeMap::new();
        for (name, definition) in &definitions {
            let value = value(name, &definitions).map_err(|e| format!("{}: `{name}`: {e}", definition.at))?;
            let (doc, at) = (definition.doc.clone(), definition.at.clone());
            constants.insert(name.clone(), Constant { value, doc, at });
        }
        let constants = Self(constants);
        for (path, text) in sources {
            constants.check_cases(path, text)?;
        }
        Ok(constants)
    }

    /// Every constant with its name.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Constant)> {
        self.0.iter().map(|(name, constant)| (name.as_str(), constant))
    }

    /// Writes the module `constants`.
    pub(crate) fn generate(&self, code: &mut String) {
        code.push_str("/// The named constants of the kernels' sources.\npub mod constants {\n");
        for (name, constant) in &self.0 {
            let file = constant.at.split(':').next().unwrap_or_default();
            let doc = constant.doc.replace('[', "\\[").replace('<', "\\<");
            let doc = if doc.is_empty() { format!("`{name}` of {file}.") } else { format!("{doc}\n\n({file})") };
            for line in doc.lines() {
                let _ = writeln!(code, "    /// {line}");
            }
            let _ = match constant.value {
                Value::U32(value) => writeln!(code, "    pub const {name}: u32 = {value};"),
                Value::I32(value) => writeln!(code, "    pub const {name}: i32 = {value};"),
                Value::F32(value) => writeln!(code, "    pub const {name}: f32 = {value:?};"),
            };
        }
        code.push_str("}\n");
    }

    /// The constants whose names begin with `prefix`, in order of their values.
    pub(crate) fn family(&self, prefix: &str) -> Vec<&str> {
        let mut names: Vec<&str> = self.cases(prefix).map(String::as_str).collect();
        names.sort_by(|a, b| self.0[*a].value.number().total_cmp(&self.0[*b].value.number()));
        names
    }

    /// A constant's comment.
    pub(crate) fn doc(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |constant| &constant.doc)
    }

    /// Refuses a file that announces all cases of a choice and does not name one.
    fn check_cases(&self, path: &str, text: &str) -> Result<(), String> {
        for (index, line) in text.lines().enumerate() {
            let Some(family) = line.trim().strip_prefix("// cases: ") else { continue };
            let at = format!("{path}:{}", index + 1);
            let prefix = family.strip_suffix('*').ok_or(format!("{at}: write `// cases: NAME_*`"))?;
            let cases: Vec<&String> = self.cases(prefix).collect();
            if cases.is_empty() {
                return Err(format!("{at}: no constant begins with `{prefix}`"));
            }
            let named =
                |name: &str| text.lines().any(|line| definition(line).is_none() && words(line).any(|w| w == name));
            if let Some(case) = cases.into_iter().find(|case| !named(case)) {
                return Err(format!("{at}: `{case}` is not named in this file: handle it, or remove the constant"));
            }
        }
        Ok(())
    }

    fn cases<'a>(&'a self, prefix: &str) -> impl Iterator<Item = &'a String> {
        self.0.keys().filter(move |name| name.starts_with(prefix))
    }
}

/// The names of a line, comments included.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// Adds the definitions of a file.
fn read_file(path: &str, text: &str, into: &mut BTreeMap<String, Definition>) -> Result<(), String> {
    let mut above: Vec<&str> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = format!("{path}:{}", index + 1);
        if let Some(comment) = line.strip_prefix("//") {
            let comment = comment.trim();
            if !comment.starts_with("cases: ") {
                above.push(comment);
            }
            continue;
        }
        let Some(found) = definition(line) else {
            above.clear();
            continue;
        };
        let (name, kind, rest) = found.map_err(|e| format!("{at}: {e}"))?;
        let (expression, behind) = rest.split_once("//").unwrap_or((rest, ""));
        let behind = behind.trim();
        let doc: Vec<&str> = above.drain(..).chain((!behind.is_empty()).then_some(behind)).collect();
        let expression = expression.trim().trim_end_matches(';').to_string();
        let definition = Definition { kind: kind.to_string(), expression, doc: doc.join("\n"), at: at.clone() };
        if let Some(known) = into.insert(name.to_string(), definition) {
            return Err(format!("{at}: `{name}` is defined at {} too: define it once and include it", known.at));
        }
    }
    Ok(())
}

/// The name, type and rest of a line that defines a constant.
fn definition(line: &str) -> Option<Result<(&str, &str, &str), String>> {
    if let Some(rest) = line.strip_prefix("const ") {
        let parts = rest.split_once('=').and_then(|(declared, value)| Some((declared.trim().split_once(' ')?, value)));
        return Some(match parts {
            Some(((kind @ ("uint" | "int" | "float"), name), value)) if is_name(name) && value.contains(';') => {
                Ok((name, kind, value))
            }
            _ => Err("a constant is written `const uint NAME = VALUE;` (or int, or float), on one line".to_string()),
        });
    }
    let (name, value) = line.strip_prefix("#define ")?.split_once(' ')?;
    let is_text = !is_name(name) || value.trim_end().ends_with('\\');
    (!is_text).then_some(Ok((name, "macro", value)))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The value of a constant in its type.
fn value(name: &str, definitions: &BTreeMap<String, Definition>) -> Result<Value, String> {
    let number = Reader::evaluate(name, definitions, &[])?;
    match (definitions[name].kind.as_str(), number) {
        ("float", number) => Ok(Value::F32(number.float() as f32)),
        ("int", Number::Whole(whole)) => {
            i32::try_from(whole).map(Value::I32).map_err(|_| format!("{whole} is not an int"))
        }
        (_, Number::Whole(whole)) => u32::try_from(whole).map(Value::U32).map_err(|_| format!("{whole} is not a uint")),
        (_, Number::Float(float)) => Err(format!("{float} is not a whole number")),
    }
}

/// A number while it is computed.
#[derive(Clone, Copy, Debug)]
enum Number {
    Whole(i64),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Whole(whole) => whole as f64,
            Number::Float(float) => float,
        }
    }
}

/// Operators, those that bind least first.
const OPERATORS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

/// Reads an expression.
struct Reader<'a> {
    rest: &'a str,
    definitions: &'a BTreeMap<String, Definition>,
    /// The constants whose values are being computed.
    open: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    fn evaluate(
        name: &'a str,
        definitions: &'a BTreeMap<String, Definition>,
        open: &[&'a str],
    ) -> Result<Number, String> {
        if open.contains(&name) {
            return Err(format!("`{name}` is defined by itself"));
        }
        let definition = definitions.get(name).ok_or(format!("`{name}` is not a constant of the sources"))?;
        let open = open.iter().copied().chain([name]).collect();
        let mut reader = Self { rest: definition.expression.trim(), definitions, open };
        let number = reader.operation(0)?;
        if reader.rest.is_empty() { Ok(number) } else { Err(format!("`{}` cannot be computed", reader.rest)) }
    }

    /// Takes `token` if it comes next.
    fn take(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    /// A chain of operators of one level, from left to right.
    fn operation(&mut self, level: usize) -> Result<Number, String> {
        let Some(operators) = OPERATORS.get(level) else { return self.operand() };
        let mut left = self.operation(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let right = self.operation(level + 1)?;
            left = apply(operator, left, right)?;
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Number, String> {
        if self.take("-") {
            return apply("-", Number::Whole(0), self.operand()?);
        }
        if self.take("(") {
            return self.bracket();
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let mut end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        // The sign of an exponent belongs to the number.
        let is_float = self.rest.starts_with(|c: char| c.is_ascii_digit()) && !self.rest.starts_with("0x");
        if is_float && self.rest[..end].ends_with('e') && self.rest[end..].starts_with(['-', '+']) {
            end += 1 + self.rest[end + 1..].find(|c| !is_part(c)).unwrap_or(self.rest.len() - end - 1);
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if matches!(word, "uint" | "int" | "float") && self.take("(") {
            let number = self.bracket()?;
            return Ok(if word == "float" { Number::Float(number.float()) } else { truncated(number) });
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return literal(word).ok_or(format!("`{word}` is not a number"));
        }
        Self::evaluate(word, self.definitions, &self.open)
    }

    /// What follows an opening bracket, the closing one included.
    fn bracket(&mut self) -> Result<Number, String> {
        let number = self.operation(0)?;
        if self.take(")") { Ok(number) } else { Err("a bracket is not closed".to_string()) }
    }
}

fn truncated(number: Number) -> Number {
    match number {
        Number::Whole(whole) => Number::Whole(whole),
        Number::Float(float) => Number::Whole(float as i64),
    }
}

fn literal(word: &str) -> Option<Number> {
    if let Some(digits) = word.strip_prefix("0x") {
        return i64::from_str_radix(digits.trim_end_matches('u'), 16).ok().map(Number::Whole);
    }
    match word.trim_end_matches('u').parse() {
        Ok(whole) => Some(Number::Whole(whole)),
        Err(_) => word.parse().ok().map(Number::Float),
    }
}

fn apply(operator: &str, left: Number, right: Number) -> Result<Number, String> {
    let (Number::Whole(a), Number::Whole(b)) = (left, right) else {
        let (a, b) = (left.float(), right.float());
        return match operator {
            "+" => Ok(Number::Float(a + b)),
            "-" => Ok(Number::Float(a - b)),
            "*" => Ok(Number::Float(a * b)),
            "/" => Ok(Number::Float(a / b)),
            _ => Err(format!("`{operator}` needs whole numbers")),
        };
    };
    let shift = || u32::try_from(b).ok().filter(|bits| *bits < 32);
    let result = match operator {
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        "<<" => shift().and_then(|bits| a.checked_mul(1 << bits)),
        ">>" => shift().map(|bits| a >> bits),
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    result.map(Number::Whole).ok_or(format!("{a} {operator} {b} cannot be computed"))
}

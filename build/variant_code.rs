//! Rust for variants: a struct with a field an axis, by which kernels are asked for, and the types of such fields.

use crate::constants::Constants;
use crate::generate::field_name;
use crate::variants::{Axis, Declaration, Variant};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Where the generated code finds choices.
const AXES: &str = "crate::pipeline::kernels::axes::";

/// The choices of axes met so far: equal names must mean equal choices in all kernels.
#[derive(Default)]
pub(crate) struct Choices(BTreeMap<String, Vec<Case>>);

/// The name of a value, and what the macro is.
type Case = (String, String);

impl Choices {
    /// Adds the choices of a declaration; one that differs from an earlier one of its name is an error.
    pub(crate) fn add(&mut self, declaration: &Declaration) -> Result<(), String> {
        for axis in &declaration.axes {
            let Some(choice) = &axis.choice else { continue };
            let cases: Vec<Case> = axis.values.iter().map(|value| (value.name.clone(), value.text.clone())).collect();
            if *self.0.entry(choice.clone()).or_insert_with(|| cases.clone()) != cases {
                return Err(format!("the axis `{}` has other values in another kernel", axis.name));
            }
        }
        Ok(())
    }

    /// Writes the module `axes`.
    pub(crate) fn generate(&self, constants: &Constants, code: &mut String) {
        code.push_str("/// The axes of kernels' variants that have more than two values.\npub mod axes {\n");
        for (choice, cases) in &self.0 {
            let name = pascal(choice);
            let _ = writeln!(
                code,
                "/// The axis `{choice}`.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]"
            );
            let _ = writeln!(code, "pub enum {name} {{");
            for (case, text) in cases {
                let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
                let (value, doc) = match is_number {
                    true => (text.clone(), format!("{choice} is {text}.")),
                    false => (format!("super::constants::{text} as isize"), constants.doc(text).replace('\n', " ")),
                };
                let doc = if doc.is_empty() { format!("`{text}`.") } else { doc };
                let _ = writeln!(code, "    /// {doc}\n    {} = {value},", pascal(case));
            }
            let all: Vec<String> = cases.iter().map(|(case, _)| format!("Self::{}", pascal(case))).collect();
            let _ = writeln!(code, "}}\nimpl {name} {{\n    /// Every value, in order of numbers.");
            let _ = writeln!(code, "    pub const ALL: [Self; {}] = [{}];\n}}", all.len(), all.join(", "));
        }
        code.push_str("}\n");
    }
}

/// Writes `Variant`, with a field an axis.
pub(crate) fn variant_struct(declaration: &Declaration, code: &mut String) {
    code.push_str("/// The form of the kernel that is asked for.\n");
    code.push_str("#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\npub struct Variant {\n");
    for axis in &declaration.axes {
        let kind = axis.choice.as_ref().map_or("bool".to_string(), |choice| format!("{AXES}{}", pascal(choice)));
        let states: Vec<&str> = axis.values.iter().map(|value| value.name.as_str()).collect();
        let states = if states[0].is_empty() { String::new() } else { format!(": {}", states.join(", ")) };
        let _ = writeln!(code, "    /// `{}`{states}.\n    pub {}: {kind},", axis.name, field(axis));
    }
    code.push_str("}\nimpl Variant {\n    /// Every form.\n    pub const ALL: &[Self] = &[");
    for variant in &declaration.variants {
        let _ = write!(code, "{}, ", literal(declaration, variant, None));
    }
    code.push_str("];\n}\n");
}

/// Writes the body of a function that returns what `found` names of the variant `variant` of `stem`. A combination that
/// no variant has is a broken invariant.
pub(crate) fn choice(stem: &str, declaration: &Declaration, found: impl Fn(&Variant) -> String, code: &mut String) {
    code.push_str("    match variant {\n");
    for variant in &declaration.variants {
        let pattern = literal(declaration, variant, Some("_"));
        let _ = writeln!(code, "        {pattern} => {},", found(variant));
    }
    let sizes = |chosen: fn(&Option<usize>) -> bool, variant: &Variant| -> usize {
        let axes = declaration.axes.iter().zip(&variant.values).filter(|(_, value)| chosen(value));
        axes.map(|(axis, _)| axis.values.len()).product()
    };
    let answered: usize = declaration.variants.iter().map(|variant| sizes(Option::is_none, variant)).sum();
    if declaration.variants.first().is_some_and(|variant| sizes(|_| true, variant) > answered) {
        let _ = writeln!(code, "        _ => panic!(\"`{stem}` has no {{variant:?}}\"),");
    }
    code.push_str("    }\n");
}

/// A literal, or pattern, of `Variant`. Axes that make no difference have their first value, or are said to be
/// `ignored`.
fn literal(declaration: &Declaration, variant: &Variant, ignored: Option<&str>) -> String {
    let field = |(axis, value): (&Axis, &Option<usize>)| {
        let said = match (value, ignored) {
            (None, Some(ignored)) => ignored.to_string(),
            _ => rust_value(axis, value.unwrap_or_default()),
        };
        format!("{}: {said}", field(axis))
    };
    let fields: Vec<String> = declaration.axes.iter().zip(&variant.values).map(field).collect();
    format!("Variant {{ {} }}", fields.join(", "))
}

fn rust_value(axis: &Axis, value: usize) -> String {
    match &axis.choice {
        Some(choice) => format!("{AXES}{}::{}", pascal(choice), pascal(&axis.values[value].name)),
        None => (value == 1).to_string(),
    }
}

fn field(axis: &Axis) -> String {
    field_name(&axis.name.to_lowercase())
}

/// `SEPARABLE_CATMULL_ROM` as `SeparableCatmullRom`.
fn pascal(name: &str) -> String {
    let part = |part: &str| part[..1].to_uppercase() + &part[1..].to_lowercase();
    name.split('_').filter(|text| !text.is_empty()).map(part).collect()
}

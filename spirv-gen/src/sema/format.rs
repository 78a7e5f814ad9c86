//! Formats of `printf` and `format`.

use super::checker::Checker;
use super::hir::{ExprKind, ShadeopCall, Type};
use crate::diagnostic::Report;
use crate::shadeops::Opcode;

impl Checker<'_> {
    /// Counts and compares the values of `printf` and `format` with their format.
    pub(super) fn check_format(&mut self, call: &ShadeopCall) {
        let Some((format, values)) = call.arguments.split_first() else { return };
        let ExprKind::String(text) = &format.kind else {
            // The format of a text may be a parameter: it is known when a pipeline is composed.
            if call.opcode == Opcode::Format {
                return;
            }
            let report = Report::error(format.span, format!("the format of `{}` must be a literal", call.name));
            return self.error(report);
        };
        let letters = match format_letters(text) {
            Ok(letters) => letters,
            Err(bad) => {
                let report = Report::error(format.span, format!("`%{bad}` is not a format"));
                return self.error(report.hint("known formats are %f %p %c %m %s %d and %%"));
            }
        };
        if letters.len() != values.len() {
            let plural = if letters.len() == 1 { "" } else { "s" };
            let message = format!("the format takes {} value{plural}, got {}", letters.len(), values.len());
            return self.error(Report::error(format.span, message));
        }
        for (letter, value) in letters.into_iter().zip(values) {
            let fits = match letter {
                'p' => value.ty.is_pointlike(),
                'c' => value.ty == Type::Color,
                'm' => value.ty == Type::Matrix,
                's' => value.ty == Type::String,
                _ => value.ty == Type::Float,
            };
            if !fits {
                let report = Report::warning(value.span, format!("`%{letter}` does not match {}", value.describe()));
                self.reports.push(report.hint("the value is printed according to its type"));
            }
        }
    }
}

/// Returns the letters after the `%` of a format, in order, or what follows a `%` that has none.
fn format_letters(format: &str) -> Result<Vec<char>, String> {
    let mut letters = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            rest = behind;
            continue;
        }
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | ' '));
        match digits.chars().next() {
            Some(letter @ ('f' | 'p' | 'c' | 'm' | 's' | 'd' | 'i' | 'g' | 'e')) => letters.push(letter),
            other => return Err(other.map(String::from).unwrap_or_default()),
        }
        rest = &digits[1..];
    }
    Ok(letters)
}

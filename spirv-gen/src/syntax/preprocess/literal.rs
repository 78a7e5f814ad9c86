//! Values of number and string literals.

use crate::diagnostic::{Report, Reports};
use crate::syntax::token::RawToken;

/// Returns the value of a number, or 0, with an error, if it is not written like one. Integers are floats; a suffix `f`
/// is tolerated.
pub(super) fn number(token: &RawToken, reports: &mut Reports) -> f32 {
    let text = token.text.strip_suffix(['f', 'F']).unwrap_or(&token.text);
    let written_well = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    match text.parse::<f32>() {
        Ok(value) if written_well && value.is_finite() => value,
        Ok(_) if written_well => {
            let message = format!("the number `{}` is out of range for a float", token.text);
            reports.push(Report::warning(token.span, message).hint("the largest float, 3.4028235e38, is used instead"));
            f32::MAX
        }
        _ => {
            let message = format!("`{}` is not a number", token.text);
            reports.push(Report::error(token.span, message).hint("numbers look like 1, 0.5, .5 or 1e-3"));
            0.0
        }
    }
}

/// Returns the value of a string literal: `\n \r \t \b \f \\ \"`, `\` with one to three octal digits; any other `\c` is
/// c.
pub(super) fn string(token: &RawToken, reports: &mut Reports) -> String {
    let body = token.text.strip_prefix('"').unwrap_or(&token.text);
    let body = if token.text.len() > 1 && !ends_open(body) { &body[..body.len() - 1] } else { body };
    let (mut value, mut rest) = (String::with_capacity(body.len()), body.chars().peekable());
    while let Some(c) = rest.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('t') => value.push('\t'),
            Some('b') => value.push('\u{8}'),
            Some('f') => value.push('\u{c}'),
            Some(digit @ '0'..='7') => {
                let mut code = digit.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|c| c.to_digit(8)) else { break };
                    code = code * 8 + digit;
                    rest.next();
                }
                value.extend(char::from_u32(code));
            }
            Some(other) => value.push(other),
            None => {}
        }
    }
    if value.contains('\0') {
        reports.push(Report::error(token.span, "a string cannot contain the character `\\0`"));
        value.retain(|c| c != '\0');
    }
    value
}

/// Returns whether the text after the opening quote of a literal has no closing quote.
fn ends_open(body: &str) -> bool {
    let mut escaped = false;
    for (i, c) in body.char_indices() {
        match c {
            '"' if !escaped => return i + 1 != body.len(),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    true
}

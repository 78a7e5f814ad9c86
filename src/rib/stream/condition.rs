//! Expressions of `IfBegin` and `ElseIf`.
//!
//! In the order in which they bind: `!` and parentheses; `*` and `/`; `+` and `-`; `<`, `<=`, `>`, `>=`, `==`, `!=` and
//! `=~` (the text on the left contains a match of the regular expression on the right); `&&`; `||`. Operands are
//! numbers, texts in single or double quotes, `$name` or `${name}`, `defined(name)` and `concat(a, b, ...)`.

use std::cmp::Ordering;
use std::fmt;

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConditionValue {
    Number(f64),
    Text(String),
}

use ConditionValue::{Number, Text};

impl ConditionValue {
    fn of(truth: bool) -> Self {
        Number(f64::from(u8::from(truth)))
    }

    /// Numbers but 0 and texts that are not empty are true.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Number(value) => *value != 0.0,
            Text(text) => !text.is_empty(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Number(value) => Some(*value),
            Text(text) => text.trim().parse().ok(),
        }
    }
}

impl fmt::Display for ConditionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number(value) => write!(f, "{value}"),
            Text(text) => f.write_str(text),
        }
    }
}

/// Finds the value of a name.
pub(crate) type Variables<'v> = dyn FnMut(&str) -> Option<ConditionValue> + 'v;

/// Evaluates an expression; names without a value count as empty texts. Fails with what is wrong, for the user.
pub(crate) fn evaluate(text: &str, variables: &mut Variables<'_>) -> Result<ConditionValue, String> {
    let mut parser = ConditionParser { rest: text, depth: 0, variables };
    let value = parser.binary(0)?;
    match parser.rest.trim_start() {
        "" => Ok(value),
        rest => Err(format!("\"{rest}\" in the condition \"{text}\" was not expected")),
    }
}

/// Operators by how tightly they bind, loosest first. Of two that begin alike, the longer comes first.
const OPERATORS: [&[&str]; 5] = [&["||"], &["&&"], &["<=", ">=", "==", "!=", "=~", "<", ">"], &["+", "-"], &["*", "/"]];

/// How deeply parentheses and `!` may be nested.
const DEPTH_MAX: u32 = 64;

struct ConditionParser<'t, 'v, 'f> {
    rest: &'t str,
    depth: u32,
    variables: &'v mut Variables<'f>,
}

impl<'t> ConditionParser<'t, '_, '_> {
    /// Moves past this token, if it is the next.
    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("{token} is missing before \"{}\"", self.rest.trim_start())) }
    }

    fn binary(&mut self, level: usize) -> Result<ConditionValue, String> {
        let Some(operators) = OPERATORS.get(level) else { return self.operand() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let right = self.binary(level + 1)?;
            left = apply(operator, &left, &right)?;
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<ConditionValue, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("the condition is nested more than {DEPTH_MAX} deep"));
        }
        let value = if self.take("!") {
            ConditionValue::of(!self.operand()?.is_true())
        } else if self.take("-") {
            let value = self.operand()?;
            Number(-value.number().ok_or_else(|| format!("\"{value}\" is not a number"))?)
        } else if self.take("(") {
            let value = self.binary(0)?;
            self.expect(")")?;
            value
        } else if self.take("${") {
            let name = self.name()?;
            self.expect("}")?;
            self.variable(name)
        } else if self.take("$") {
            let name = self.name()?;
            self.variable(name)
        } else {
            self.literal()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn variable(&mut self, name: &str) -> ConditionValue {
        (self.variables)(name).unwrap_or(Text(String::new()))
    }

    /// Moves past a name, such as `user:pass`.
    fn name(&mut self) -> Result<&'t str, String> {
        let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.');
        let text = self.rest.trim_start();
        let end = text.find(|c| !is_inside(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        self.rest = rest;
        if name.is_empty() { Err(format!("a value is missing before \"{rest}\"")) } else { Ok(name) }
    }

    fn literal(&mut self) -> Result<ConditionValue, String> {
        let text = self.rest.trim_start();
        if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) {
            let inside = &text[1..];
            let end = inside.find(quote).ok_or_else(|| format!("the text {text} has no closing quote"))?;
            self.rest = &inside[end + 1..];
            return Ok(Text(inside[..end].to_owned()));
        }
        if let Ok((value, length)) = fast_float2::parse_partial::<f64, _>(text) {
            self.rest = &text[length..];
            return Ok(Number(value));
        }
        match self.name()? {
            "defined" => self.is_defined(),
            "concat" => self.concat(),
            name => Ok(self.variable(name)),
        }
    }

    fn is_defined(&mut self) -> Result<ConditionValue, String> {
        self.expect("(")?;
        self.take("$");
        let name = self.name()?;
        self.expect(")")?;
        Ok(ConditionValue::of((self.variables)(name).is_some()))
    }

    fn concat(&mut self) -> Result<ConditionValue, String> {
        self.expect("(")?;
        let mut text = self.binary(0)?.to_string();
        while self.take(",") {
            text.push_str(&self.binary(0)?.to_string());
        }
        self.expect(")")?;
        Ok(Text(text))
    }
}

fn apply(operator: &str, left: &ConditionValue, right: &ConditionValue) -> Result<ConditionValue, String> {
    let numbers = left.number().zip(right.number());
    let arithmetic = |compute: fn(f64, f64) -> f64| match numbers {
        Some((a, b)) => Ok(Number(compute(a, b))),
        None => Err(format!("{operator} needs numbers, not \"{left}\" and \"{right}\"")),
    };
    let order = match numbers {
        Some((a, b)) => a.partial_cmp(&b),
        None => Some(left.to_string().cmp(&right.to_string())),
    };
    let truth = match operator {
        "+" => return arithmetic(|a, b| a + b),
        "-" => return arithmetic(|a, b| a - b),
        "*" => return arithmetic(|a, b| a * b),
        "/" => return arithmetic(|a, b| a / b),
        "||" => left.is_true() || right.is_true(),
        "&&" => left.is_true() && right.is_true(),
        "=~" => {
            let pattern = right.to_string();
            let pattern = regex_lite::Regex::new(&pattern)
                .map_err(|error| format!("\"{pattern}\" is not a regular expression: {error}"))?;
            pattern.is_match(&left.to_string())
        }
        "==" => order.is_some_and(Ordering::is_eq),
        "!=" => !order.is_some_and(Ordering::is_eq),
        "<" => order.is_some_and(Ordering::is_lt),
        "<=" => order.is_some_and(Ordering::is_le),
        ">" => order.is_some_and(Ordering::is_gt),
        _ => order.is_some_and(Ordering::is_ge),
    };
    Ok(ConditionValue::of(truth))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluated(text: &str) -> Result<ConditionValue, String> {
        evaluate(text, &mut |name| match name {
            "Frame" => Some(Number(7.0)),
            "user:pass" => Some(Text("final".into())),
            "user:zero" => Some(Number(0.0)),
            _ => None,
        })
    }

    #[test]
    fn conditions_that_are_true_and_false() {
        let true_ones = [
            "1",
            "'a'",
            "$user:pass == 'final'",
            "${user:pass} == \"final\"",
            "user:pass != 'beauty'",
            "$Frame > 6 && $Frame <= 7",
            "$Frame / 2 + .5 == 4",
            "1 + 2 * 3 == 7",
            "(1 + 2) * 3 == 9",
            "2 - -3 == 5",
            "!$user:zero",
            "!(1 == 2) || 0",
            "defined(user:pass) && !defined($user:none)",
            "$user:pass =~ '^fin'",
            "concat($user:pass, '.', $Frame) == 'final.7'",
            "$user:none == ''",
            "'10' > 9",
            "'b' > 'a'",
            "0 && 1 || 1",
            " 1e1==10 ",
        ];
        for text in true_ones {
            assert_eq!(evaluated(text).map(|value| value.is_true()), Ok(true), "{text}");
            let negated = format!("!({text})");
            assert_eq!(evaluated(&negated).map(|value| value.is_true()), Ok(false), "{negated}");
        }
    }

    #[test]
    fn conditions_that_cannot_be_read_say_why() {
        for (text, wanted) in [
            ("", "a value is missing"),
            ("1 2", "\"2\" in the condition"),
            ("(1", ") is missing"),
            ("'open", "no closing quote"),
            ("1 +", "a value is missing"),
            ("'a' * 2", "needs numbers"),
            ("'a' =~ '('", "not a regular expression"),
            ("$", "a value is missing"),
            ("défini(é", "\"(é\" in the condition"),
        ] {
            let message = evaluated(text).expect_err(text);
            assert!(message.contains(wanted), "{text}: {message}");
        }
        assert!(evaluated(&"(".repeat(100_000)).is_err());
        assert!(evaluated(&"!".repeat(100_000)).is_err());
    }
}

//! Integer expressions of `#if` and `#elif`: all operators of C on 64-bit integers, and `defined`.

use super::Preprocessor;
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::token::{Punct, RawKind, RawToken};

/// Parentheses and operators inside each other.
const CONDITION_DEPTH_MAX: usize = 100;

impl Preprocessor<'_> {
    /// Returns whether the expression on a directive's line is not 0. Where there is none, reports an error and returns
    /// false.
    pub(super) fn condition(&mut self, line: &[RawToken], directive: Span) -> bool {
        let answered = self.answer_defined(line);
        let tokens = self.expand_apart(answered);
        let end = line.last().map_or(directive, |t| t.span).after();
        let mut expression = ConditionParser { tokens: &tokens, at: 0, end, depth: 0 };
        let value = expression.ternary(true).and_then(|value| match expression.tokens.get(expression.at) {
            None => Ok(value),
            Some(token) => Err((token.span, "expected the end of the condition".to_owned())),
        });
        match value {
            Ok(value) => value != 0,
            Err((span, message)) => {
                self.error(Report::error(span, message));
                false
            }
        }
    }

    /// Replaces `defined X` and `defined(X)` by 1 or 0, before macros expand.
    fn answer_defined(&mut self, line: &[RawToken]) -> Vec<RawToken> {
        let mut result = Vec::with_capacity(line.len());
        let mut rest = line;
        while let [token, behind @ ..] = rest {
            rest = behind;
            if token.kind != RawKind::Ident || &*token.text != "defined" {
                result.push(token.clone());
                continue;
            }
            let (name, behind) = match behind {
                [open, name, close, rest @ ..] if open.is(Punct::OpenParen) && close.is(Punct::CloseParen) => {
                    (Some(name), rest)
                }
                [name, rest @ ..] => (Some(name), rest),
                [] => (None, behind),
            };
            let Some(name) = name.filter(|n| n.kind == RawKind::Ident) else {
                self.error(Report::error(token.span, "`defined` needs the name of a macro"));
                continue;
            };
            rest = behind;
            let text = self.names.intern(if self.macros.contains_key(&name.text) { "1" } else { "0" });
            result.push(RawToken { kind: RawKind::Number, text, ..token.clone() });
        }
        result
    }
}

/// What is wrong, and where.
type ConditionError = (Span, String);

/// A parser that computes as it goes. Parts that C does not evaluate are parsed with `live` false: no fault comes from
/// a division by 0 in them.
struct ConditionParser<'a> {
    tokens: &'a [RawToken],
    at: usize,
    end: Span,
    depth: usize,
}

impl ConditionParser<'_> {
    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |t| t.span)
    }

    fn punct(&self) -> Option<Punct> {
        match self.tokens.get(self.at)?.kind {
            RawKind::Punct(punct) => Some(punct),
            _ => None,
        }
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.punct() == Some(punct);
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self, live: bool) -> Result<i64, ConditionError> {
        self.depth += 1;
        if self.depth > CONDITION_DEPTH_MAX {
            return Err((self.span(), format!("the condition is nested more than {CONDITION_DEPTH_MAX} levels deep")));
        }
        let mut value = self.binary(0, live)?;
        if self.eat(Punct::Question) {
            let holds = value != 0;
            let yes = self.ternary(live && holds)?;
            if !self.eat(Punct::Colon) {
                return Err((self.span(), "expected `:` of `? :`".to_owned()));
            }
            let no = self.ternary(live && !holds)?;
            value = if holds { yes } else { no };
        }
        self.depth -= 1;
        Ok(value)
    }

    /// Evaluates binary operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8, live: bool) -> Result<i64, ConditionError> {
        let mut left = self.unary(live)?;
        while let Some(operator) = self.punct() {
            let Some(binds) = precedence(operator).filter(|&b| b >= level) else { break };
            let span = self.span();
            self.at += 1;
            let needed = match operator {
                Punct::AndAnd => left != 0,
                Punct::OrOr => left == 0,
                _ => true,
            };
            let right = self.binary(binds + 1, live && needed)?;
            left = match apply(operator, left, right) {
                Some(value) => value,
                None if live => return Err((span, "division by 0 in a condition".to_owned())),
                None => 0,
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<i64, ConditionError> {
        let mut operators = Vec::new();
        while let Some(operator @ (Punct::Not | Punct::Tilde | Punct::Minus | Punct::Plus)) = self.punct() {
            operators.push(operator);
            self.at += 1;
        }
        let value = self.primary(live)?;
        Ok(operators.iter().rev().fold(value, |value, operator| match operator {
            Punct::Not => i64::from(value == 0),
            Punct::Tilde => !value,
            Punct::Minus => value.wrapping_neg(),
            _ => value,
        }))
    }

    fn primary(&mut self, live: bool) -> Result<i64, ConditionError> {
        let span = self.span();
        let Some(token) = self.tokens.get(self.at) else {
            return Err((span, "the condition is incomplete".to_owned()));
        };
        self.at += 1;
        match token.kind {
            RawKind::Punct(Punct::OpenParen) => {
                let value = self.ternary(live)?;
                if self.eat(Punct::CloseParen) {
                    return Ok(value);
                }
                Err((self.span(), "expected `)`".to_owned()))
            }
            RawKind::Number => integer(&token.text).ok_or_else(|| {
                (span, format!("`{}` is not an integer; `#if` conditions take integers only", token.text))
            }),
            // A name that is no macro counts as 0.
            RawKind::Ident => Ok(0),
            _ => Err((span, format!("`{}` is not allowed in a condition", token.spelling()))),
        }
    }
}

/// Returns how tightly an operator binds.
fn precedence(operator: Punct) -> Option<u8> {
    Some(match operator {
        Punct::OrOr => 0,
        Punct::AndAnd => 1,
        Punct::Or => 2,
        Punct::Caret => 3,
        Punct::And => 4,
        Punct::Equal | Punct::NotEqual => 5,
        Punct::Less | Punct::LessEqual | Punct::Greater | Punct::GreaterEqual => 6,
        Punct::ShiftLeft | Punct::ShiftRight => 7,
        Punct::Plus | Punct::Minus => 8,
        Punct::Star | Punct::Slash | Punct::Percent => 9,
        _ => return None,
    })
}

/// `None` for a division by 0.
fn apply(operator: Punct, a: i64, b: i64) -> Option<i64> {
    Some(match operator {
        Punct::OrOr => i64::from(a != 0 || b != 0),
        Punct::AndAnd => i64::from(a != 0 && b != 0),
        Punct::Or => a | b,
        Punct::Caret => a ^ b,
        Punct::And => a & b,
        Punct::Equal => i64::from(a == b),
        Punct::NotEqual => i64::from(a != b),
        Punct::Less => i64::from(a < b),
        Punct::LessEqual => i64::from(a <= b),
        Punct::Greater => i64::from(a > b),
        Punct::GreaterEqual => i64::from(a >= b),
        Punct::ShiftLeft => a.wrapping_shl(b as u32),
        Punct::ShiftRight => a.wrapping_shr(b as u32),
        Punct::Plus => a.wrapping_add(b),
        Punct::Minus => a.wrapping_sub(b),
        Punct::Star => a.wrapping_mul(b),
        Punct::Slash if b != 0 => a.wrapping_div(b),
        Punct::Percent if b != 0 => a.wrapping_rem(b),
        _ => return None,
    })
}

/// Reads decimal, octal or hexadecimal digits with C's suffixes.
fn integer(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return i64::from_str_radix(hex, 16).ok();
    }
    match digits.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        Some(octal) => i64::from_str_radix(octal, 8).ok(),
        None => digits.parse().ok(),
    }
}

//! Positional arguments: numbers, alone or in an array, strings and handles.

use super::fault::{Parsed, RequestFault};
use super::lexer::{Lexer, TokenKind, describe};
use super::number::Number;
use crate::files::to_text;
use std::sync::Arc;

impl Lexer<'_> {
    fn wanted(&mut self, what: &str) -> RequestFault {
        let found = self.peek();
        let message = format!("expected {what}, found {}", describe(found));
        let mut fault = RequestFault::error("syntaxerror", self.position(), message);
        fault.lacks_arguments = matches!(found, TokenKind::Word | TokenKind::End);
        fault
    }

    /// Creates the fault of a request that ends after `found` of its numbers.
    fn too_few(&self, wanted: usize, found: usize) -> RequestFault {
        let message = format!("expected {wanted} numbers, found {found}");
        let mut fault = RequestFault::error("syntaxerror", self.position(), message);
        fault.lacks_arguments = true;
        fault
    }

    /// Reads one number.
    fn scalar(&mut self) -> Parsed<f64> {
        match self.peek() {
            TokenKind::Number => Ok(match self.number()? {
                Number::Int(value) => value as f64,
                Number::Float(value) => value,
            }),
            _ => Err(self.wanted("a number")),
        }
    }

    /// Reads exactly `N` numbers, in an array or one after the other. More numbers in an array are an error too,
    /// because it is unclear which were meant.
    pub(crate) fn floats<const N: usize>(&mut self) -> Parsed<[f64; N]> {
        let mut values = [0.0; N];
        if self.peek() != TokenKind::Open {
            for (index, value) in values.iter_mut().enumerate() {
                if index > 0 && matches!(self.peek(), TokenKind::Word | TokenKind::End) {
                    return Err(self.too_few(N, index));
                }
                *value = self.scalar()?;
            }
            return Ok(values);
        }
        let open = self.position();
        self.open();
        let mut count = 0usize;
        while self.peek() == TokenKind::Number {
            let value = self.scalar()?;
            if let Some(slot) = values.get_mut(count) {
                *slot = value;
            }
            count += 1;
        }
        if self.peek() != TokenKind::Close {
            return Err(self.wanted("a number or ]"));
        }
        self.close();
        if count == N {
            Ok(values)
        } else {
            Err(RequestFault::error("badarray", open, format!("the array holds {count} numbers instead of {N}")))
        }
    }

    /// Reads one number, alone or in an array.
    pub(crate) fn one_float(&mut self) -> Parsed<f64> {
        self.floats::<1>().map(|[value]| value)
    }

    /// Reads `N` finite numbers: matrices, camera settings, sizes.
    pub(crate) fn finite<const N: usize>(&mut self) -> Parsed<[f64; N]> {
        self.peek();
        let start = self.position();
        let values = self.floats::<N>()?;
        if values.iter().all(|value| value.is_finite() && value.abs() <= f64::from(f32::MAX)) {
            Ok(values)
        } else {
            Err(RequestFault::error("math", start, "a number here is not finite"))
        }
    }

    /// Reads one integer, alone or in an array.
    pub(crate) fn one_int(&mut self) -> Parsed<i32> {
        match self.peek() {
            TokenKind::Number => self.int(),
            TokenKind::Open => {
                let open = self.position();
                let mut values = Vec::new();
                self.int_array(&mut values)?;
                <[i32; 1]>::try_from(values).map(|[value]| value).map_err(|values| {
                    RequestFault::error("badarray", open, format!("{} integers instead of one", values.len()))
                })
            }
            _ => Err(self.wanted("an integer")),
        }
    }

    /// Reads an array of integers; a single one needs no brackets.
    pub(crate) fn ints(&mut self) -> Parsed<Vec<i32>> {
        let mut values = Vec::new();
        match self.peek() {
            TokenKind::Open => self.int_array(&mut values)?,
            TokenKind::Number => values.push(self.int()?),
            _ => return Err(self.wanted("an array of integers")),
        }
        Ok(values)
    }

    /// Reads an array of numbers, or all numbers up to the next token of another kind.
    pub(crate) fn float_list(&mut self) -> Parsed<Vec<f32>> {
        let mut values = Vec::new();
        match self.peek() {
            TokenKind::Open => self.float_array(&mut values)?,
            TokenKind::Number => {
                while self.peek() == TokenKind::Number {
                    values.push(self.float32()?);
                }
            }
            _ => return Err(self.wanted("an array of numbers")),
        }
        Ok(values)
    }

    /// Reads a string, alone or in an array.
    pub(crate) fn text(&mut self) -> Parsed<Arc<str>> {
        match self.peek() {
            TokenKind::String => self.string().map(|text| to_text(&text)),
            TokenKind::Open => {
                let open = self.position();
                let mut texts = Vec::new();
                self.string_array(&mut |text| texts.push(to_text(&text)))?;
                <[Arc<str>; 1]>::try_from(texts).map(|[text]| text).map_err(|texts| {
                    RequestFault::error("badarray", open, format!("{} strings instead of one", texts.len()))
                })
            }
            _ => Err(self.wanted("a string")),
        }
    }

    /// Reads strings in an array, or a single one.
    pub(crate) fn texts(&mut self) -> Parsed<Vec<Arc<str>>> {
        if self.peek() != TokenKind::Open {
            return self.text().map(|text| vec![text]);
        }
        let mut texts = Vec::new();
        self.string_array(&mut |text| texts.push(to_text(&text)))?;
        Ok(texts)
    }

    /// Reads a handle, which is an integer or a string; `3` and `"3"` are the same.
    pub(crate) fn handle(&mut self) -> Parsed<Arc<str>> {
        match self.peek() {
            TokenKind::Number => self.int().map(|number| number.to_string().into()),
            TokenKind::String => self.text(),
            _ => Err(self.wanted("a handle (an integer or a string)")),
        }
    }
}

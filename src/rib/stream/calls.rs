//! Requests with their arguments as they stand in a stream, without their meaning: for programs that copy and count.

use super::fault::{Parsed, RequestFault};
use super::lexer::{Lexer, LineMark, TokenKind, describe};
use super::number::Number;
use super::source::{Input, Source, Truncated};
use crate::diagnostic::{Reporter, SourceLocation};
use crate::host_memory::HostMemory;
use std::borrow::Cow;
use std::io;
use std::sync::Arc;

/// A number of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallNumber {
    /// An integer.
    Int(i64),
    /// A float: the nearest one of 32 bits, and of 64 bits.
    Float(f32, f64),
}

/// An argument of a request.
#[derive(Debug)]
pub(crate) enum CallArgument<'s> {
    Number(CallNumber),
    Text(Cow<'s, [u8]>),
    Numbers(Vec<CallNumber>),
    Texts(Vec<Cow<'s, [u8]>>),
    /// A lone `-`.
    Dash,
}

/// A request with its arguments.
#[derive(Debug)]
pub(crate) struct RibCall<'s> {
    pub(crate) name: &'s [u8],
    pub(crate) arguments: Vec<CallArgument<'s>>,
    /// Structure comments (`##`) between the request before and this one.
    pub(crate) hints: Vec<&'s [u8]>,
}

/// Reads the requests of inputs one after the other and passes each to `each`. Returns the number of errors, which are
/// reported.
pub(crate) fn each_call(
    inputs: &[Input],
    memory: &Arc<HostMemory>,
    reporter: &Reporter,
    each: &mut dyn FnMut(&RibCall<'_>) -> io::Result<()>,
) -> io::Result<u64> {
    let mut errors = 0;
    for input in inputs {
        let mut report = |location: SourceLocation, fault: RequestFault| {
            errors += 1;
            reporter.report(fault.diagnostic(location));
        };
        let beginning = SourceLocation { file: input.name().into(), line: 0, column: 0 };
        match Source::load(input, memory) {
            Ok(source) => {
                each_call_of(&Arc::new(source), &mut report, each)?;
            }
            Err(error) => report(beginning, RequestFault::error("nofile", 0, format!("cannot read it: {error}"))),
        }
    }
    Ok(errors)
}

fn each_call_of(
    source: &Arc<Source>,
    report: &mut dyn FnMut(SourceLocation, RequestFault),
    each: &mut dyn FnMut(&RibCall<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let start = if source.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut lexer = Lexer::new(source, start..source.bytes.len(), LineMark::START);
    loop {
        let gap = lexer.position();
        let kind = lexer.peek();
        let offset = lexer.position();
        let hints = hints(&source.bytes[gap..offset]);
        match (kind, lexer.word()) {
            (TokenKind::End, _) => break,
            (_, Some(name)) => match arguments(&mut lexer) {
                Ok(arguments) => each(&RibCall { name, arguments, hints })?,
                Err(fault) => {
                    report(lexer.location(fault.offset), fault.hint("the request is left out"));
                    lexer.skip_to_request();
                }
            },
            (kind, None) => {
                let message = if kind == TokenKind::Binary {
                    lexer.binary_problem()
                } else {
                    format!("expected a request, found {}", describe(kind))
                };
                report(lexer.location(offset), RequestFault::error("syntaxerror", offset, message));
                if kind == TokenKind::Binary {
                    lexer.skip_byte();
                }
                lexer.skip_to_request();
            }
        }
    }
    match &source.truncated {
        Some(Truncated::Damaged(problem)) => {
            report(lexer.location(0), RequestFault::error("badfile", 0, problem.clone()));
        }
        Some(Truncated::TooLong(problem)) => {
            report(lexer.location(source.bytes.len()), RequestFault::error("limitcheck", 0, problem.clone()));
        }
        None => {}
    }
    Ok(())
}

/// Returns the structure comments between two requests, before any definition of the binary encoding.
fn hints(gap: &[u8]) -> Vec<&[u8]> {
    let text = gap.split(|byte| !byte.is_ascii()).next().unwrap_or_default();
    text.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| line.starts_with(b"##")).collect()
}

fn arguments<'s>(lexer: &mut Lexer<'s>) -> Parsed<Vec<CallArgument<'s>>> {
    let mut arguments = Vec::new();
    loop {
        let gap = lexer.position();
        let kind = lexer.peek();
        arguments.push(match kind {
            TokenKind::Number => CallArgument::Number(number(lexer)?),
            TokenKind::String => CallArgument::Text(lexer.string()?),
            TokenKind::Open => array(lexer)?,
            TokenKind::Dash => {
                lexer.skip_byte();
                CallArgument::Dash
            }
            TokenKind::Word | TokenKind::End | TokenKind::Binary => {
                // Comments before the next request belong to it.
                lexer.go_back(gap);
                return Ok(arguments);
            }
            TokenKind::Close | TokenKind::Unknown => {
                let message = format!("expected an argument, found {}", describe(kind));
                return Err(RequestFault::error("syntaxerror", lexer.position(), message));
            }
        });
    }
}

fn array<'s>(lexer: &mut Lexer<'s>) -> Parsed<CallArgument<'s>> {
    lexer.open();
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    loop {
        match lexer.peek() {
            TokenKind::Number if texts.is_empty() => numbers.push(number(lexer)?),
            TokenKind::String if numbers.is_empty() => texts.push(lexer.string()?),
            TokenKind::Close => break,
            other => {
                let message = format!("{} in an array", describe(other));
                return Err(RequestFault::error("syntaxerror", lexer.position(), message));
            }
        }
    }
    lexer.close();
    // Among floats, integers are floats.
    if numbers.iter().any(|number| matches!(number, CallNumber::Float(..))) {
        for number in &mut numbers {
            if let CallNumber::Int(value) = *number {
                *number = CallNumber::Float(value as f32, value as f64);
            }
        }
    }
    Ok(if texts.is_empty() { CallArgument::Numbers(numbers) } else { CallArgument::Texts(texts) })
}

fn number(lexer: &mut Lexer<'_>) -> Parsed<CallNumber> {
    let start = lexer.position();
    let is_negative = lexer.source().bytes.get(start) == Some(&b'-');
    Ok(match lexer.number()? {
        Number::Int(0) if is_negative => CallNumber::Float(-0.0, -0.0),
        Number::Int(value) => CallNumber::Int(value),
        Number::Float(value) if f64::from(value as f32) == value => CallNumber::Float(value as f32, value),
        Number::Float(value) if value.is_nan() => CallNumber::Float(f32::NAN, f64::NAN),
        Number::Float(value) => {
            // Parameters are read as 32-bit floats, which two roundings could miss. Packed floats are exact.
            lexer.go_back(start);
            CallNumber::Float(lexer.float32()?, value)
        }
    })
}

//! Writes requests: as text, or in the binary encoding (RISpec C.2).
//!
//! What is written reads back as the same calls. Values of parameters are 32-bit floats, as they are read; other
//! arguments keep the digits that they need as 64-bit floats.

use super::calls::{CallArgument, CallNumber, RibCall, each_call};
use super::fault::RequestFault;
use super::source::Input;
use crate::diagnostic::{Reporter, SourceLocation};
use crate::host_memory::HostMemory;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

/// How requests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RibEncoding {
    /// One line for each request; requests in blocks begin with this many blanks for each block.
    Text {
        /// The blanks.
        indent: usize,
    },
    /// The binary encoding.
    Binary,
}

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// The number of requests of each name.
    pub requests: BTreeMap<String, u64>,
    /// The number of numbers in their arguments.
    pub numbers: u64,
    /// The number of strings in their arguments.
    pub strings: u64,
    /// The number of errors, which were reported.
    pub errors: u64,
}

/// Copies the requests of inputs one after the other to `out`. Archives are not opened, and conditionals not evaluated.
pub fn copy(
    inputs: &[Input],
    encoding: RibEncoding,
    memory: &Arc<HostMemory>,
    reporter: &Reporter,
    out: &mut dyn Write,
) -> io::Result<CopyReport> {
    let mut report = CopyReport::default();
    let mut codes = WriterCodes::default();
    let (mut depth, mut bytes) = (0_usize, Vec::new());
    let mut nameless = 0;
    let errors = each_call(inputs, memory, reporter, &mut |call| {
        let is_word = call.name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if !is_word || !call.name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
            nameless += 1;
            let name = String::from_utf8_lossy(call.name).into_owned();
            let fault = RequestFault::error("unregistered", 0, format!("\"{name}\" is no name of a request"));
            reporter.report(fault.hint("it is left out").diagnostic(SourceLocation::default()));
            return Ok(());
        }
        count(call, &mut report);
        bytes.clear();
        match encoding {
            RibEncoding::Text { indent } => {
                let is_end = call.name.ends_with(b"End") || matches!(call.name, b"Else" | b"ElseIf");
                depth = depth.saturating_sub(usize::from(is_end));
                write_text(call, (depth * indent).min(INDENT_MAX), &mut bytes);
                depth += usize::from(call.name.ends_with(b"Begin") || matches!(call.name, b"Else" | b"ElseIf"));
            }
            RibEncoding::Binary => codes.write(call, &mut bytes),
        }
        out.write_all(&bytes)
    })?;
    out.flush()?;
    report.errors = errors + nameless;
    Ok(report)
}

/// Blanks before a request, at most.
const INDENT_MAX: usize = 64;

/// Bytes after which a line of text is broken in an array.
const LINE_BYTES: usize = 100;

fn count(call: &RibCall<'_>, report: &mut CopyReport) {
    let name = String::from_utf8_lossy(call.name);
    match report.requests.get_mut(&*name) {
        Some(count) => *count += 1,
        None => drop(report.requests.insert(name.into_owned(), 1)),
    }
    for argument in &call.arguments {
        match argument {
            CallArgument::Number(_) => report.numbers += 1,
            CallArgument::Numbers(values) => report.numbers += values.len() as u64,
            CallArgument::Text(_) => report.strings += 1,
            CallArgument::Texts(values) => report.strings += values.len() as u64,
            CallArgument::Dash => {}
        }
    }
}

fn write_hints(call: &RibCall<'_>, out: &mut Vec<u8>) {
    for hint in &call.hints {
        out.extend_from_slice(hint);
        out.push(b'\n');
    }
}

/// Whether the arguments are values of parameters: they follow a string.
fn are_values(call: &RibCall<'_>) -> impl Iterator<Item = bool> {
    let names = call.arguments.iter().map(|argument| matches!(argument, CallArgument::Text(_)));
    std::iter::once(false).chain(names)
}

fn write_text(call: &RibCall<'_>, indent: usize, out: &mut Vec<u8>) {
    write_hints(call, out);
    out.extend(std::iter::repeat_n(b' ', indent));
    out.extend_from_slice(call.name);
    let mut line_start = out.len();
    for (argument, is_value) in call.arguments.iter().zip(are_values(call)) {
        out.push(b' ');
        match argument {
            CallArgument::Number(number) => write_number(*number, is_value, out),
            CallArgument::Text(text) => write_string(text, out),
            CallArgument::Dash => out.push(b'-'),
            CallArgument::Numbers(numbers) => write_array(numbers, &mut line_start, out, |number, out| {
                write_number(*number, is_value, out);
            }),
            CallArgument::Texts(texts) => {
                write_array(texts, &mut line_start, out, |text, out| write_string(text, out));
            }
        }
    }
    out.push(b'\n');
}

fn write_array<T>(values: &[T], line_start: &mut usize, out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            let is_long = out.len() - *line_start > LINE_BYTES;
            out.push(if is_long { b'\n' } else { b' ' });
            *line_start = if is_long { out.len() } else { *line_start };
        }
        write(value, out);
    }
    out.push(b']');
}

fn write_number(number: CallNumber, is_value: bool, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = match number {
        CallNumber::Int(value) => write!(out, "{value}"),
        CallNumber::Float(value, _) if is_value => write!(out, "{value:?}"),
        CallNumber::Float(_, value) => write!(out, "{value:?}"),
    };
}

fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
}

/// The codes of a binary stream that were defined so far.
#[derive(Default)]
struct WriterCodes {
    requests: FxHashMap<Box<[u8]>, u8>,
    strings: FxHashMap<Box<[u8]>, u16>,
}

/// The longest string that gets a code, and the number of codes.
const CODED_BYTES_MAX: usize = 64;
const STRING_CODES_MAX: usize = 1 << 16;

impl WriterCodes {
    fn write(&mut self, call: &RibCall<'_>, out: &mut Vec<u8>) {
        write_hints(call, out);
        self.write_request(call.name, out);
        for (argument, is_value) in call.arguments.iter().zip(are_values(call)) {
            match argument {
                CallArgument::Number(number) => write_binary(*number, is_value, out),
                CallArgument::Text(text) => self.write_string(text, out),
                CallArgument::Dash => out.extend(b" - "),
                CallArgument::Numbers(numbers) => write_binary_array(numbers, is_value, out),
                CallArgument::Texts(texts) => {
                    out.push(b'[');
                    for text in texts {
                        self.write_string(text, out);
                    }
                    out.push(b']');
                }
            }
        }
    }

    fn write_request(&mut self, name: &[u8], out: &mut Vec<u8>) {
        let code = match self.requests.get(name) {
            Some(code) => Some(*code),
            None => u8::try_from(self.requests.len()).ok().inspect(|code| {
                self.requests.insert(name.into(), *code);
                out.extend([0o314, *code]);
                write_plain_string(name, out);
            }),
        };
        match code {
            Some(code) => out.extend([0o246, code]),
            None => {
                out.push(b' ');
                out.extend_from_slice(name);
                out.push(b' ');
            }
        }
    }

    fn write_string(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let next = u16::try_from(self.strings.len()).ok();
        let code = match (self.strings.get(text), next) {
            (Some(code), _) => *code,
            (None, Some(code)) if text.len() <= CODED_BYTES_MAX && self.strings.len() < STRING_CODES_MAX => {
                self.strings.insert(text.into(), code);
                out.push(0o316);
                out.extend(code.to_be_bytes());
                write_plain_string(text, out);
                code
            }
            _ => return write_plain_string(text, out),
        };
        match u8::try_from(code) {
            Ok(code) => out.extend([0o317, code]),
            Err(_) => {
                out.push(0o320);
                out.extend(code.to_be_bytes());
            }
        }
    }
}

/// Writes the first byte of a token, which says how many bytes `value` takes, and these.
fn write_sized(first: u8, value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_be_bytes();
    let skipped = bytes.iter().take_while(|byte| **byte == 0).count().min(7);
    out.push(first + (7 - skipped) as u8);
    out.extend_from_slice(&bytes[skipped..]);
}

fn write_plain_string(text: &[u8], out: &mut Vec<u8>) {
    match text.len() {
        length @ ..16 => out.push(0o220 + length as u8),
        length if u32::try_from(length).is_ok() => write_sized(0o240, length as u64, out),
        // Longer than the binary encoding can say.
        _ => return write_string(text, out),
    }
    out.extend_from_slice(text);
}

fn write_binary(number: CallNumber, is_value: bool, out: &mut Vec<u8>) {
    match number {
        CallNumber::Int(value) => match i32::try_from(value) {
            Ok(value) => {
                // All leading bytes that only repeat the sign are left out.
                let bytes = value.to_be_bytes();
                let is_enough = |count: &usize| value << (8 * (4 - count)) >> (8 * (4 - count)) == value;
                let count = (1..4).find(is_enough).unwrap_or(4);
                out.push(0o200 + (count - 1) as u8);
                out.extend_from_slice(&bytes[4 - count..]);
            }
            Err(_) => out.extend(format!(" {value} ").bytes()),
        },
        CallNumber::Float(single, double) => {
            if is_value || double.is_nan() || f64::from(single) == double {
                out.push(0o244);
                out.extend(single.to_be_bytes());
            } else {
                out.push(0o245);
                out.extend(double.to_be_bytes());
            }
        }
    }
}

/// Writes packed floats, unless all are integers, or 32 bits do not hold them.
fn write_binary_array(numbers: &[CallNumber], is_value: bool, out: &mut Vec<u8>) {
    let single = |number: &CallNumber| match *number {
        CallNumber::Int(value) => (value as f32, false),
        CallNumber::Float(single, double) => (single, is_value || double.is_nan() || f64::from(single) == double),
    };
    let is_packed = !numbers.is_empty() && numbers.iter().all(|number| single(number).1);
    if is_packed {
        write_sized(0o310, numbers.len() as u64, out);
        out.extend(numbers.iter().flat_map(|number| single(number).0.to_be_bytes()));
        return;
    }
    out.push(b'[');
    for number in numbers {
        write_binary(*number, is_value, out);
    }
    out.push(b']');
}

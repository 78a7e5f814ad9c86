//! Skipping parts of a stream token by token, so that what ends them does not count in a string or a comment.

use super::fault::Parsed;
use super::lexer::{Lexer, TokenKind};
use super::messages::Messages;

/// Skips past the first of `stops` that is not inside of a nested block from `begin` to the last of them; returns which
/// it is and where it begins.
pub(crate) fn skip_block<'s>(
    lexer: &mut Lexer<'_>,
    begin: &str,
    stops: &[&'s str],
    messages: &Messages<'_>,
) -> Parsed<(&'s str, usize)> {
    let (mut depth, end) = (1, stops[stops.len() - 1]);
    loop {
        lexer.skip_to_request();
        let kind = lexer.peek();
        let position = lexer.position();
        match lexer.word() {
            Some(word) if word == begin.as_bytes() => depth += 1,
            Some(word) => match stops.iter().find(|stop| word == stop.as_bytes()) {
                Some(stop) if depth == 1 => return Ok((stop, position)),
                Some(&stop) if stop == end => depth -= 1,
                _ => {}
            },
            None if kind == TokenKind::Binary => lexer.skip_byte(),
            None => {
                let fault = messages.error("nesting", format!("{begin} has no {end}"));
                return Err(fault.hint("the rest of the file counts as part of it and is not read"));
            }
        }
    }
}

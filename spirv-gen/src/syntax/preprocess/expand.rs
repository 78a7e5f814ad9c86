//! Macro expansion, after D. Prosser's algorithm: every token carries the set of macros that it may not expand any
//! more.

use super::Preprocessor;
use super::macros::{Macro, Substitution};
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::lexer::Lexer;
use crate::syntax::token::{Name, Punct, RawKind, RawToken};

/// Expansions inside each other: the size of a hide set, and arguments inside arguments.
const EXPANSION_DEPTH_MAX: usize = 200;

/// Bytes of a token that `#` or `##` makes.
const TOKEN_BYTES_MAX: usize = 1 << 16;

impl Preprocessor<'_> {
    /// Puts the expansion of `token` before what comes next, and returns whether it names a macro that may expand here.
    pub(super) fn expand(&mut self, token: &RawToken) -> bool {
        let Some(definition) = self.macros.get(&token.text).cloned() else { return false };
        if self.hide_sets.contains(token.hidden, &token.text) {
            return false;
        }
        if &*token.text == "__LINE__" || &*token.text == "__FILE__" {
            self.expand_place(token);
            return true;
        }
        if self.hide_sets.get(token.hidden).len() >= EXPANSION_DEPTH_MAX || self.isolation >= EXPANSION_DEPTH_MAX {
            let message = format!("macros are nested more than {EXPANSION_DEPTH_MAX} levels deep");
            self.error(Report::error(token.span, message));
            return false;
        }
        let Some(parameters) = &definition.parameters else {
            let hidden = self.hide_sets.with(token.hidden, &token.text);
            self.substitute(&definition, &[], token.span, hidden);
            return true;
        };
        if !self.skip_open_paren() {
            return false;
        }
        let Some((arguments, close)) = self.arguments(&definition, parameters.len(), token) else { return true };
        let common = self.hide_sets.intersection(token.hidden, close.hidden);
        let hidden = self.hide_sets.with(common, &token.text);
        self.substitute(&definition, &arguments, token.span.to(close.span), hidden);
        true
    }

    /// `__LINE__` and `__FILE__`.
    fn expand_place(&mut self, token: &RawToken) {
        let place = self.map.place(token.span);
        let (kind, text) = match &*token.text {
            "__LINE__" => (RawKind::Number, place.line.to_string()),
            _ => (RawKind::String, quoted(&place.file)),
        };
        let text = self.names.intern(&text);
        self.pending.push(RawToken { kind, text, ..token.clone() });
    }

    /// Advances past an opening parenthesis if it is the next token; line ends may precede it.
    fn skip_open_paren(&mut self) -> bool {
        if let Some(next) = self.pending.last() {
            let found = next.is(Punct::OpenParen);
            if found {
                self.pending.pop();
            }
            return found;
        }
        if self.isolation > 0 {
            return false;
        }
        let Some(file) = self.files.last_mut() else { return false };
        let mut ahead = file.lexer.clone();
        loop {
            let token = ahead.next(&mut self.names, None);
            if token.kind == RawKind::Newline {
                continue;
            }
            if token.is(Punct::OpenParen) {
                file.lexer = ahead;
                file.line_start = false;
                return true;
            }
            return false;
        }
    }

    /// Returns the arguments of a macro's use and the closing parenthesis, or `None`, with an error, if they do not
    /// fit.
    fn arguments(
        &mut self,
        definition: &Macro,
        expected: usize,
        name: &RawToken,
    ) -> Option<(Vec<Vec<RawToken>>, RawToken)> {
        let floor = self.files.len().saturating_sub(1);
        let (mut arguments, mut depth) = (vec![Vec::new()], 0usize);
        let close = loop {
            let token = self.next(floor);
            let rest = definition.variadic && arguments.len() == expected;
            match token.kind {
                RawKind::End if self.tokens_left == 0 => return None,
                RawKind::End => {
                    let message = format!("the arguments of the macro `{}` are not closed", definition.name);
                    self.error(Report::error(name.span, message).hint("close them with `)`"));
                    return None;
                }
                RawKind::Punct(Punct::CloseParen) if depth == 0 => break token,
                RawKind::Punct(Punct::Comma) if depth == 0 && !rest => {
                    arguments.push(Vec::new());
                    continue;
                }
                RawKind::Punct(Punct::OpenParen) => depth += 1,
                RawKind::Punct(Punct::CloseParen) => depth -= 1,
                _ => {}
            }
            arguments.last_mut().expect("arguments start with one and only grow").push(token);
        };
        if expected == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if definition.variadic && arguments.len() + 1 == expected {
            arguments.push(Vec::new());
        }
        if arguments.len() == expected {
            return Some((arguments, close));
        }
        let plural = if expected == 1 { "" } else { "s" };
        let message =
            format!("the macro `{}` takes {expected} argument{plural}, not {}", definition.name, arguments.len());
        self.error(Report::error(name.span.to(close.span), message).also(definition.span, "defined here"));
        None
    }

    /// Puts a macro's body, with its arguments in place, before what comes next.
    fn substitute(&mut self, definition: &Macro, arguments: &[Vec<RawToken>], site: Span, hidden: u32) {
        let mut expanded: Vec<Option<Vec<RawToken>>> = vec![None; arguments.len()];
        let mut result: Vec<RawToken> = Vec::new();
        let mut paste = false;
        for part in &definition.body {
            let mut tokens = match part.role {
                Substitution::Plain => vec![self.relocated(&part.token, site, definition)],
                Substitution::Stringified(index) => {
                    let mut token = self.relocated(&part.token, site, definition);
                    token.kind = RawKind::String;
                    token.text = self.stringified(&arguments[index], site);
                    vec![token]
                }
                Substitution::Parameter(index) if paste || part.pasted => arguments[index].clone(),
                Substitution::Parameter(index) => {
                    if expanded[index].is_none() {
                        expanded[index] = Some(self.expand_apart(arguments[index].clone()));
                    }
                    expanded[index].clone().unwrap_or_default()
                }
            };
            if let Some(first) = tokens.first_mut() {
                first.space = part.token.space;
            }
            if !self.spend(tokens.len() as u32) {
                return;
            }
            if paste && !tokens.is_empty() && !result.is_empty() {
                let left = result.pop().expect("just seen not to be empty");
                let right = tokens.remove(0);
                let joined = self.pasted(&left, &right, site);
                result.extend(joined);
            }
            result.extend(tokens);
            paste = part.pasted;
        }
        for token in &mut result {
            token.hidden = self.hide_sets.union(token.hidden, hidden);
        }
        self.pending.extend(result.into_iter().rev());
    }

    /// Returns a token of a body with the place of the macro's use.
    fn relocated(&mut self, token: &RawToken, site: Span, definition: &Macro) -> RawToken {
        let outermost = self.map.expansion(site).map_or_else(|| definition.name.clone(), |e| e.macro_name.clone());
        RawToken { span: self.map.expanded(site, token.span, &outermost), ..token.clone() }
    }

    /// Returns a macro argument, expanded as if nothing followed it.
    pub(super) fn expand_apart(&mut self, mut tokens: Vec<RawToken>) -> Vec<RawToken> {
        tokens.reverse();
        let outer = std::mem::replace(&mut self.pending, tokens);
        self.isolation += 1;
        let mut result = Vec::new();
        loop {
            let token = self.next(0);
            match token.kind {
                RawKind::End => break,
                RawKind::Ident if self.expand(&token) => {}
                _ => result.push(token),
            }
        }
        self.isolation -= 1;
        // After an abort there is nothing left to read.
        self.pending = if self.tokens_left > 0 { outer } else { Vec::new() };
        result
    }

    /// `#parameter`: the argument as written, as a string literal.
    fn stringified(&mut self, argument: &[RawToken], site: Span) -> Name {
        let mut text = String::new();
        for (i, token) in argument.iter().enumerate() {
            if token.space && i > 0 {
                text.push(' ');
            }
            text.push_str(token.spelling());
        }
        if text.len() > TOKEN_BYTES_MAX {
            self.error(Report::error(site, format!("`#` makes a string of more than {TOKEN_BYTES_MAX} bytes")));
            text.clear();
        }
        // Quotes and backslashes inside the argument's own literals become part of the text.
        self.names.intern(&quoted(&text))
    }

    /// `left ## right`: one token of both texts; both, with an error, if that is none.
    fn pasted(&mut self, left: &RawToken, right: &RawToken, site: Span) -> Vec<RawToken> {
        let text = format!("{}{}", left.spelling(), right.spelling());
        let mut lexer = Lexer::new(text.as_str().into(), 0);
        let token = lexer.next(&mut self.names, None);
        let whole = lexer.next(&mut self.names, None).kind == RawKind::End && token.kind != RawKind::End;
        if whole && text.len() <= TOKEN_BYTES_MAX {
            return vec![RawToken { span: left.span, space: left.space, hidden: 0, ..token }];
        }
        let message = if whole {
            format!("`##` makes a token of more than {TOKEN_BYTES_MAX} bytes")
        } else {
            format!("`##` cannot join `{}` and `{}` into one token", left.spelling(), right.spelling())
        };
        self.error(Report::error(site, message));
        vec![left.clone(), right.clone()]
    }
}

/// Returns a string literal of this value.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

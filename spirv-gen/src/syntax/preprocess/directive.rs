//! Directives: what `#` at the beginning of a line asks for.

use super::macros::{BodyToken, Macro, Substitution};
use super::{Condition, Preprocessor};
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::token::{Name, Punct, RawKind, RawToken};
use std::sync::Arc;

impl Preprocessor<'_> {
    /// Obeys the directive whose `#` was just read.
    pub(super) fn directive(&mut self, hash: Span) {
        let name = self.directive_token();
        let span = hash.to(name.span);
        match (name.kind, &*name.text) {
            (RawKind::Newline | RawKind::End, _) => {}
            (RawKind::Number, _) => {
                let mut line = vec![name];
                line.extend(self.directive_line());
                self.line_directive(span, &line);
            }
            (_, "define") => self.define_directive(),
            (_, "undef") => self.undef_directive(),
            (_, "include") => self.include_directive(span),
            (_, "ifdef" | "ifndef") => self.ifdef_directive(span, &*name.text == "ifdef"),
            (_, "if") => {
                let line = self.directive_line();
                let holds = self.condition(&line, span);
                self.open_condition(span, holds);
            }
            (_, "elif" | "else" | "endif") => self.next_branch(span, &name.text),
            (_, "error" | "warning") => self.message_directive(span, &*name.text == "error"),
            (_, "line") => {
                let line = self.directive_line();
                self.line_directive(span, &line);
            }
            (_, "pragma") => self.pragma_directive(),
            _ => {
                let message = format!("unknown directive `#{}`", name.spelling());
                self.error(Report::error(span, message));
                self.directive_line();
            }
        }
        if let Some(file) = self.files.last_mut() {
            file.line_start = true;
        }
    }

    /// Returns the next token on the directive's line. The line end is left to be read.
    fn directive_token(&mut self) -> RawToken {
        let Some(file) = self.files.last_mut() else { return self.end_token() };
        let mut ahead = file.lexer.clone();
        let token = ahead.next(&mut self.names, Some(self.reports));
        if !matches!(token.kind, RawKind::Newline | RawKind::End) {
            file.lexer = ahead;
        }
        self.spend(1);
        token
    }

    /// Returns the rest of the directive's line.
    fn directive_line(&mut self) -> Vec<RawToken> {
        let mut line = Vec::new();
        loop {
            let token = self.directive_token();
            if matches!(token.kind, RawKind::Newline | RawKind::End) {
                return line;
            }
            line.push(token);
        }
    }

    /// Warns of tokens after a directive that takes no more.
    fn expect_line_end(&mut self, directive: &str) {
        if let [first, .., last] | [first @ last] = self.directive_line().as_slice() {
            let message = format!("tokens after `#{directive}` are ignored");
            self.reports.push(Report::warning(first.span.to(last.span), message));
        }
    }

    fn define_directive(&mut self) {
        let name = self.directive_token();
        if name.kind != RawKind::Ident || &*name.text == "defined" {
            self.error(Report::error(name.span, "`#define` needs the name of a macro"));
            self.directive_line();
            return;
        }
        let mut line = self.directive_line();
        let mut variadic = false;
        let parameters = if line.first().is_some_and(|t| t.is(Punct::OpenParen) && !t.space) {
            let Some((parameters, rest, dots)) = self.macro_parameters(&line) else { return };
            line.drain(..rest);
            variadic = dots;
            Some(parameters)
        } else {
            None
        };
        let body = self.macro_body(&line, parameters.as_deref());
        let new = Macro { name: name.text.clone(), span: name.span, parameters, variadic, body };
        if let Some(old) = self.macros.get(&name.text).filter(|old| !old.same_as(&new)) {
            let message = format!("the macro `{}` is redefined differently", name.text);
            let report = Report::warning(name.span, message).also(old.span, "previous definition");
            self.reports.push(report.hint(format!("write `#undef {}` first if this is intended", name.text)));
        }
        self.macros.insert(name.text.clone(), Arc::new(new));
    }

    /// Returns the names in the parentheses at the beginning of `line`, how many tokens they take, and whether `...`
    /// ends them.
    fn macro_parameters(&mut self, line: &[RawToken]) -> Option<(Vec<Name>, usize, bool)> {
        let (mut names, mut variadic) = (Vec::new(), false);
        let mut rest = line.iter().enumerate().skip(1).peekable();
        if let Some((end, _)) = rest.peek().filter(|(_, t)| t.is(Punct::CloseParen)) {
            return Some((names, end + 1, false));
        }
        while let Some((_, token)) = rest.next() {
            match token.kind {
                RawKind::Ident if names.contains(&token.text) => {
                    let message = format!("the parameter `{}` is declared twice", token.text);
                    self.error(Report::error(token.span, message));
                }
                RawKind::Ident => names.push(token.text.clone()),
                RawKind::Punct(Punct::Ellipsis) => {
                    names.push(self.names.intern("__VA_ARGS__"));
                    variadic = true;
                }
                _ => break,
            }
            match rest.next() {
                Some((i, close)) if close.is(Punct::CloseParen) => return Some((names, i + 1, variadic)),
                Some((_, comma)) if comma.is(Punct::Comma) && !variadic => {}
                _ => break,
            }
        }
        let span = line[0].span.to(line[line.len() - 1].span);
        let report = Report::error(span, "the parameters of a macro are names separated by commas, in parentheses");
        self.error(report.hint("put a space between the name of a macro without parameters and `(`"));
        None
    }

    /// Returns the body with `#` and `##` resolved.
    fn macro_body(&mut self, line: &[RawToken], parameters: Option<&[Name]>) -> Vec<BodyToken> {
        let index = |token: &RawToken| {
            parameters.and_then(|names| names.iter().position(|n| token.kind == RawKind::Ident && *n == token.text))
        };
        let mut body: Vec<BodyToken> = Vec::with_capacity(line.len());
        let mut at = 0;
        while let Some(token) = line.get(at) {
            at += 1;
            if token.is(Punct::HashHash) {
                match body.last_mut() {
                    Some(left) if at < line.len() => left.pasted = true,
                    _ => self.error(Report::error(token.span, "`##` must be between two tokens")),
                }
                continue;
            }
            let mut part = BodyToken { token: token.clone(), role: Substitution::Plain, pasted: false };
            if let Some(index) = index(token) {
                part.role = Substitution::Parameter(index);
            } else if token.is(Punct::Hash) && parameters.is_some() {
                match line.get(at).and_then(index) {
                    Some(index) => part.role = Substitution::Stringified(index),
                    None => self.error(Report::error(token.span, "`#` must be followed by a parameter")),
                }
                at += 1;
            }
            body.push(part);
        }
        body
    }

    fn undef_directive(&mut self) {
        let name = self.directive_token();
        if name.kind == RawKind::Ident {
            self.macros.remove(&name.text);
        } else {
            self.error(Report::error(name.span, "`#undef` needs the name of a macro"));
        }
        self.expect_line_end("undef");
    }

    fn include_directive(&mut self, span: Span) {
        let header = self.files.last_mut().and_then(|f| f.lexer.header());
        let header = match header {
            Some(header) => Some(header),
            None => {
                let line = self.directive_line();
                self.expanded_header(line)
            }
        };
        let Some((path, angled, place)) = header else {
            let report = Report::error(span, "`#include` needs a file: `\"name\"` or `<name>`");
            return self.error(report);
        };
        self.expect_line_end("include");
        let from = self.files.last().map_or_else(String::new, |f| f.name.clone());
        match self.loader.load(&path, angled, &from) {
            Ok(source) if self.once.contains(&source.name) => {}
            Ok(source) => self.open_file(&source.name, &source.text, Some(place)),
            Err(why) => {
                self.is_complete = false;
                let message = format!("cannot include `{path}`");
                self.error(Report::error(place, message).hint(why));
            }
        }
    }

    /// Returns the header that the tokens after `#include` expand to.
    fn expanded_header(&mut self, line: Vec<RawToken>) -> Option<(String, bool, Span)> {
        let span = line.first()?.span.to(line.last()?.span);
        let tokens = self.expand_apart(line);
        match tokens.as_slice() {
            [token] if token.kind == RawKind::String => {
                Some((super::literal::string(token, self.reports), false, span))
            }
            [open, inner @ .., close] if open.is(Punct::Less) && close.is(Punct::Greater) => {
                Some((inner.iter().map(RawToken::spelling).collect(), true, span))
            }
            _ => None,
        }
    }

    fn ifdef_directive(&mut self, span: Span, wanted: bool) {
        let name = self.directive_token();
        if name.kind != RawKind::Ident {
            self.error(Report::error(span, "`#ifdef` and `#ifndef` need the name of a macro"));
        }
        let holds = self.macros.contains_key(&name.text) == wanted;
        self.expect_line_end(if wanted { "ifdef" } else { "ifndef" });
        self.open_condition(span, holds);
    }

    fn open_condition(&mut self, span: Span, holds: bool) {
        let Some(file) = self.files.last_mut() else { return };
        file.conditions.push(Condition { span, taken: holds, else_seen: false });
        if !holds {
            self.skip_branch();
        }
    }

    /// `#elif`, `#else` or `#endif` after a branch that was read.
    fn next_branch(&mut self, span: Span, name: &str) {
        let Some(condition) = self.files.last_mut().and_then(|f| f.conditions.last_mut()) else {
            self.directive_line();
            let message = format!("`#{name}` without `#if`");
            return self.error(Report::error(span, message));
        };
        if name == "endif" {
            if let Some(file) = self.files.last_mut() {
                file.conditions.pop();
            }
            return self.expect_line_end(name);
        }
        let late = condition.else_seen;
        condition.else_seen |= name == "else";
        self.directive_line();
        if late {
            self.late_branch(span, name);
        }
        self.skip_branch();
    }

    fn late_branch(&mut self, span: Span, name: &str) {
        self.error(Report::error(span, format!("`#{name}` after `#else`")));
    }

    /// Skips lines up to the branch that is to be read, or to the `#endif`.
    fn skip_branch(&mut self) {
        let (mut depth, mut line_start) = (0usize, true);
        loop {
            let Some(file) = self.files.last_mut() else { return };
            // Whoever asks for the next token finds the end, and `close_file` the open condition.
            let mut ahead = file.lexer.clone();
            let token = ahead.next(&mut self.names, None);
            if token.kind == RawKind::End || !self.spend(1) {
                return;
            }
            let Some(file) = self.files.last_mut() else { return };
            file.lexer = ahead;
            let directive = token.is(Punct::Hash) && line_start;
            line_start = token.kind == RawKind::Newline;
            if !directive {
                continue;
            }
            let name = self.directive_token();
            match &*name.text {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "elif" | "else" | "endif" if depth == 0 && self.skipped_branch(token.span, &name) => return,
                _ => {}
            }
        }
    }

    /// `#elif`, `#else` or `#endif` after a branch that was skipped: true if reading goes on after it.
    fn skipped_branch(&mut self, hash: Span, name: &RawToken) -> bool {
        let Some(condition) = self.files.last_mut().and_then(|f| f.conditions.last_mut()) else { return true };
        if &*name.text == "endif" {
            if let Some(file) = self.files.last_mut() {
                file.conditions.pop();
            }
            self.expect_line_end("endif");
            return true;
        }
        let (taken, late) = (condition.taken, condition.else_seen);
        condition.else_seen |= &*name.text == "else";
        if late {
            self.late_branch(hash.to(name.span), &name.text);
        }
        if taken || late {
            return false;
        }
        let line = self.directive_line();
        let holds = &*name.text == "else" || self.condition(&line, hash.to(name.span));
        if let Some(condition) = self.files.last_mut().and_then(|f| f.conditions.last_mut()) {
            condition.taken = holds;
        }
        holds
    }

    fn message_directive(&mut self, span: Span, is_error: bool) {
        let text = self.files.last_mut().map_or_else(String::new, |f| f.lexer.rest_of_line());
        let word = if is_error { "#error" } else { "#warning" };
        let message = if text.is_empty() { format!("`{word}` without a message") } else { format!("{word}: {text}") };
        if is_error {
            self.error(Report::error(span, message));
        } else {
            self.reports.push(Report::warning(span, message));
        }
    }

    /// `#line 12`, `#line 12 "file"`, and the `# 12 "file" flags` that C preprocessors write.
    fn line_directive(&mut self, span: Span, line: &[RawToken]) {
        let tokens = self.expand_apart(line.to_vec());
        let number = tokens.first().filter(|t| t.kind == RawKind::Number).and_then(|t| t.text.parse::<u32>().ok());
        let name = match tokens.get(1) {
            None => Some(None),
            Some(token) if token.kind == RawKind::String => {
                let name = super::literal::string(token, self.reports);
                Some(Some(self.names.intern(&name)))
            }
            Some(_) => None,
        };
        match (number, name) {
            (Some(number), Some(name)) => self.map.mark_line(span.start, number, name),
            _ => self.error(Report::error(span, "expected `#line number` or `#line number \"file\"`")),
        }
    }

    /// `#pragma once` is obeyed, others are ignored as the language asks.
    fn pragma_directive(&mut self) {
        let line = self.directive_line();
        if let ([token], Some(file)) = (line.as_slice(), self.files.last())
            && &*token.text == "once"
        {
            self.once.insert(file.name.clone());
        }
    }
}

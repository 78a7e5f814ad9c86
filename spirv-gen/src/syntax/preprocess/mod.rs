//! The C preprocessor of RSL: files, directives and macros in, tokens of the language out.
//!
//! Everything that a hostile text could make large or deep has a limit: include depth, files, nesting of expansions and
//! of conditions, and the tokens handled in all. Reaching one is an error at the place where it happens, never a hang.

mod condition;
mod directive;
mod expand;
mod literal;
mod macros;

use crate::diagnostic::{Report, Reports};
use crate::span::{SourceMap, Span};
use crate::syntax::lexer::Lexer;
use crate::syntax::loader::SourceLoader;
use crate::syntax::token::{Name, Names, Punct, RawKind, RawToken, Token, TokenKind};
use macros::{HideSets, Macro};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Files that include each other, one in the other.
const INCLUDE_DEPTH_MAX: usize = 64;

/// Files of a compilation, repeats counted.
const FILES_MAX: usize = 2000;

/// Tokens that the preprocessor handles in a compilation, those of expansions counted.
const TOKENS_MAX: u32 = 2_000_000;

/// Bytes of a string literal, neighbours joined: macros may repeat them.
const LITERAL_BYTES_MAX: usize = 1 << 20;

/// Value of the predefined macro `ANTHILL`: version 1.0.
const ANTHILL_VERSION: u32 = 100;

/// A source and what the preprocessor needs beside it.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The file's name, for messages and for files that it includes.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Finds included files.
    pub loader: &'a dyn SourceLoader,
    /// Macros from the command line: `NAME`, `NAME=value` or `NAME(x)=value`.
    pub defines: &'a [String],
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("defines", &self.defines).finish_non_exhaustive()
    }
}

/// The tokens of a source.
pub(crate) struct Preprocessed {
    /// The last is [`TokenKind::End`].
    pub(crate) tokens: Vec<Token>,
    /// All files were found.
    pub(crate) is_complete: bool,
}

/// Reads `source` with all that it includes.
pub(crate) fn preprocess(source: &Source<'_>, map: &mut SourceMap, reports: &mut Reports) -> Preprocessed {
    let mut preprocessor = Preprocessor {
        loader: source.loader,
        map,
        reports,
        names: Names::default(),
        macros: FxHashMap::default(),
        hide_sets: HideSets::default(),
        files: Vec::new(),
        file_count: 0,
        is_complete: true,
        once: FxHashSet::default(),
        pending: Vec::new(),
        isolation: 0,
        tokens_left: TOKENS_MAX,
        literal: None,
        output: Vec::new(),
    };
    preprocessor.predefine(source.defines);
    preprocessor.open_file(source.name, source.text, None);
    preprocessor.run();
    Preprocessed { tokens: preprocessor.output, is_complete: preprocessor.is_complete }
}

/// The state between two tokens.
struct Preprocessor<'a> {
    loader: &'a dyn SourceLoader,
    map: &'a mut SourceMap,
    reports: &'a mut Reports,
    names: Names,
    macros: FxHashMap<Name, Arc<Macro>>,
    hide_sets: HideSets,
    /// The files being read, the innermost last.
    files: Vec<File>,
    file_count: usize,
    is_complete: bool,
    /// Names of files that said `#pragma once`.
    once: FxHashSet<String>,
    /// Tokens of expansions that are still to be read, the next one last.
    pending: Vec<RawToken>,
    /// How many macro arguments are being expanded, one inside the other: no token comes from a file then.
    isolation: usize,
    tokens_left: u32,
    /// The string literal that the last tokens make together, and its span.
    literal: Option<(String, Span)>,
    output: Vec<Token>,
}

/// A file being read.
struct File {
    name: String,
    lexer: Lexer,
    /// There is nothing but white space on the line so far.
    line_start: bool,
    /// The `#if`s that are open.
    conditions: Vec<Condition>,
}

/// An open `#if`, `#ifdef` or `#ifndef`.
struct Condition {
    /// The directive's name in the source.
    span: Span,
    /// One of its branches was or is read.
    taken: bool,
    /// `#else` has come.
    else_seen: bool,
}

impl Preprocessor<'_> {
    /// Macros that exist before the first line.
    fn predefine(&mut self, defines: &[String]) {
        let mut text = format!("#define ANTHILL {ANTHILL_VERSION}\n#define __FILE__ 0\n#define __LINE__ 0\n");
        for define in defines {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            text += &format!("#define {name} {value}\n", value = value.replace(['\n', '\r'], " "));
        }
        self.open_file("<command line>", &text, None);
        self.run();
    }

    /// Begins to read a text; an error if the limits do not let it.
    fn open_file(&mut self, name: &str, text: &str, included_at: Option<Span>) {
        let site = included_at.unwrap_or_default();
        if self.files.len() >= INCLUDE_DEPTH_MAX || self.file_count >= FILES_MAX {
            let what = if self.files.len() >= INCLUDE_DEPTH_MAX { INCLUDE_DEPTH_MAX } else { FILES_MAX };
            let how = if what == FILES_MAX { "in all" } else { "levels deep" };
            self.error(
                Report::error(site, format!("too many included files: {what} {how}"))
                    .hint("does a file include itself? Guard it with `#ifndef NAME`, `#define NAME` ... `#endif`"),
            );
            return self.abort();
        }
        let text: Arc<str> = text.into();
        let Some(base) = self.map.add(self.names.intern(name), text.clone(), included_at) else {
            let limit = crate::span::SOURCE_BYTES_MAX >> 20;
            self.error(Report::error(site, format!("the source is too large: `{name}` exceeds {limit} MiB")));
            return self.abort();
        };
        self.file_count += 1;
        let lexer = Lexer::new(text, base);
        self.files.push(File { name: name.to_owned(), lexer, line_start: true, conditions: Vec::new() });
    }

    /// Reads until all files are read.
    fn run(&mut self) {
        loop {
            let token = self.next(0);
            if token.kind == RawKind::End {
                return self.emit(&token);
            }
            if token.kind == RawKind::Ident && self.expand(&token) {
                continue;
            }
            self.emit(&token);
        }
    }

    /// Returns the next token, of an expansion or of a file: directives are obeyed, line ends and the ends of included
    /// files skipped. `End` comes when fewer than `floor` + 1 files would be left.
    fn next(&mut self, floor: usize) -> RawToken {
        loop {
            if let Some(token) = self.pending.pop() {
                return if self.spend(1) { token } else { self.end_token() };
            }
            if self.isolation > 0 {
                return self.end_token();
            }
            let Some(file) = self.files.last_mut() else { return self.end_token() };
            let token = file.lexer.next(&mut self.names, Some(self.reports));
            if !self.spend(1) {
                return self.end_token();
            }
            let inner_file = self.files.len() > floor + 1;
            let Some(file) = self.files.last_mut() else { return self.end_token() };
            let line_start = std::mem::replace(&mut file.line_start, token.kind == RawKind::Newline);
            match token.kind {
                RawKind::Newline => {}
                RawKind::End if inner_file => self.close_file(),
                RawKind::End => {
                    if floor == 0 {
                        self.close_file();
                    }
                    return token;
                }
                RawKind::Punct(Punct::Hash) if line_start => self.directive(token.span),
                _ => return token,
            }
        }
    }

    /// Ends the innermost file.
    fn close_file(&mut self) {
        let Some(file) = self.files.pop() else { return };
        for condition in file.conditions {
            self.error(Report::error(condition.span, "this condition has no `#endif`"));
        }
    }

    /// Counts `tokens`; false, with an error the first time, when there were too many.
    fn spend(&mut self, tokens: u32) -> bool {
        if self.tokens_left == 0 {
            return false;
        }
        self.tokens_left = self.tokens_left.saturating_sub(tokens);
        if self.tokens_left == 0 {
            let here = self.files.last().map(|f| f.lexer.here()).unwrap_or_default();
            let message = format!("the source is too large: more than {TOKENS_MAX} tokens after macro expansion");
            self.error(Report::error(here, message));
            self.abort();
        }
        self.tokens_left > 0
    }

    /// Reads nothing more.
    fn abort(&mut self) {
        self.files.clear();
        self.pending.clear();
        self.tokens_left = 0;
    }

    fn error(&mut self, report: Report) {
        self.reports.push(report);
        if self.reports.is_full() {
            self.abort();
        }
    }

    /// Returns an `End` at the present place.
    fn end_token(&mut self) -> RawToken {
        let last = self.output.last().map(|t| t.span.after()).unwrap_or_default();
        let span = self.files.last().map_or(last, |f| f.lexer.here());
        RawToken { kind: RawKind::End, text: self.names.intern(""), span, space: false, hidden: 0 }
    }

    /// Hands a token to the parser.
    fn emit(&mut self, token: &RawToken) {
        let kind = match token.kind {
            RawKind::Ident => TokenKind::Ident(token.text.clone()),
            RawKind::Number => TokenKind::Number(literal::number(token, self.reports)),
            RawKind::String => return self.emit_string(token),
            RawKind::Punct(punct) => TokenKind::Punct(punct),
            RawKind::Other => {
                let message = format!("unexpected character `{}`", token.text.escape_debug());
                return self.error(Report::error(token.span, message));
            }
            RawKind::Newline => return,
            RawKind::End => TokenKind::End,
        };
        self.end_literal();
        // The pseudo-file of predefined macros has an end, but the source comes after it.
        if kind != TokenKind::End || self.file_count > 1 || self.tokens_left == 0 {
            self.output.push(Token { kind, span: token.span });
        }
    }

    /// Neighbouring literals are one.
    fn emit_string(&mut self, token: &RawToken) {
        let text = literal::string(token, self.reports);
        let (before, span) = self.literal.get_or_insert_with(|| (String::new(), token.span));
        before.push_str(&text);
        *span = span.to(token.span);
        if before.len() > LITERAL_BYTES_MAX {
            let message = format!("neighbouring strings are one, and this has more than {LITERAL_BYTES_MAX} bytes");
            let report = Report::error(*span, message);
            self.literal = None;
            self.error(report);
            self.abort();
        }
    }

    /// Hands the string literal to the parser to which the last tokens belong.
    fn end_literal(&mut self) {
        if let Some((text, span)) = self.literal.take() {
            let kind = TokenKind::String(self.names.intern(&text));
            self.output.push(Token { kind, span });
        }
    }
}

#[cfg(test)]
mod tests;

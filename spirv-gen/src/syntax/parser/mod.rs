//! A parser by recursive descent. It never fails: what it cannot read is reported and left out, and reading goes on at
//! the next statement or declaration.

mod declaration;
mod expression;
mod statement;

use crate::diagnostic::{Report, Reports};
use crate::span::Span;
use crate::syntax::ast::{Class, DeclaredKind, Ident, Item, LightStatement, Type, Unit};
use crate::syntax::token::{Name, Punct, Token, TokenKind};

/// Levels of statements and expressions inside each other, and of the tree of one expression.
pub(super) const DEPTH_MAX: u16 = 200;

/// A reported fault: the rest of the statement or declaration means nothing.
struct AlreadyReported;

type SyntaxResult<T> = Result<T, AlreadyReported>;

/// Words that name nothing else.
const RESERVED: [&str; 23] = [
    "float",
    "color",
    "point",
    "vector",
    "normal",
    "matrix",
    "string",
    "void",
    "uniform",
    "varying",
    "output",
    "extern",
    "if",
    "else",
    "while",
    "for",
    "break",
    "continue",
    "return",
    "illuminance",
    "illuminate",
    "solar",
    "gather",
];

/// Builds the tree of `tokens`, whose last is [`TokenKind::End`].
pub(crate) fn parse(tokens: &[Token], reports: &mut Reports) -> Unit {
    let mut parser = Parser { tokens, at: 0, reports, depth: 0, calls: Vec::new() };
    let mut unit = Unit::default();
    if let Some((span, message, hint)) = later_language(tokens) {
        parser.reports.push(Report::error(span, message).hint(hint));
        return unit;
    }
    while !parser.at_end() {
        let before = parser.at;
        parser.calls.clear();
        match parser.item() {
            Ok(Some(item)) => unit.items.push(item),
            Ok(None) => {}
            Err(AlreadyReported) => parser.skip_item(before),
        }
    }
    unit
}

/// Returns where a class or else a structure of RSL 2.0 begins, if there is one, with a message and a hint: of its
/// file little would be understood.
fn later_language(tokens: &[Token]) -> Option<(Span, &'static str, &'static str)> {
    let (mut depth, mut found) = (0usize, None);
    for window in tokens.windows(3) {
        let TokenKind::Ident(word) = &window[0].kind else {
            match window[0].kind {
                TokenKind::Punct(Punct::OpenBrace) => depth += 1,
                TokenKind::Punct(Punct::CloseBrace) => depth = depth.saturating_sub(1),
                _ => {}
            }
            continue;
        };
        let brace = matches!(window[2].kind, TokenKind::Punct(Punct::OpenBrace));
        let opens = brace || matches!(window[2].kind, TokenKind::Punct(Punct::OpenParen));
        if depth > 0 || !matches!(window[1].kind, TokenKind::Ident(_)) {
            continue;
        }
        if &**word == "class" && opens {
            let hint = "this compiler reads the RenderMan Shading Language 3.2: write a method that shades as a shader \
                        of its own, such as `surface name(parameters) { ... }`";
            return Some((window[0].span, "class shaders are not RSL 3.2", hint));
        }
        if &**word == "struct" && brace && found.is_none() {
            let hint = "this compiler reads the RenderMan Shading Language 3.2: make a variable of each member";
            found = Some((window[0].span, "structures are not RSL 3.2", hint));
        }
    }
    found
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    reports: &'a mut Reports,
    depth: u16,
    /// The names that the item being parsed calls.
    calls: Vec<Name>,
}

impl Parser<'_> {
    /// Parses a shader, a function, or nothing but a semicolon.
    fn item(&mut self) -> SyntaxResult<Option<Item>> {
        if self.eat(Punct::Semicolon) {
            return Ok(None);
        }
        let span = self.span();
        let Some(word) = self.word() else {
            return Err(self.expected("a shader or a function"));
        };
        if let Some(kind) = DeclaredKind::from_keyword(&word).filter(|_| self.ident_at(1).is_some()) {
            self.at += 1;
            return Ok(Some(Item::Shader(self.shader(kind)?)));
        }
        match &*word {
            "class" | "struct" | "shader" | "public" | "private" => return Err(self.not_in_rsl_3_2(span, &word)),
            "transformation" => {
                let message = "transformation shaders are not supported";
                self.reports.push(
                    Report::error(span, message)
                        .hint("they were removed from the RenderMan Interface after version 3.1"),
                );
                return Err(AlreadyReported);
            }
            _ => {}
        }
        let has_class = Class::from_keyword(&word).is_some();
        if has_class || Type::from_keyword(&word).is_some() || self.punct_at(1) == Some(Punct::OpenParen) {
            return Ok(Some(Item::Function(self.function()?)));
        }
        let hint = "a shader begins with surface, displacement, light, volume or imager; a function with its type";
        let message = format!("expected a shader or a function, found `{word}`");
        self.reports.push(Report::error(span, message).hint(hint));
        Err(AlreadyReported)
    }

    /// Returns the one message for what later versions of the language have.
    fn not_in_rsl_3_2(&mut self, span: Span, word: &str) -> AlreadyReported {
        let what = match word {
            "class" => "class shaders are",
            "public" | "private" => "members of classes are",
            "struct" => "structures are",
            "shader" => "shaders as values are",
            "->" => "method calls are",
            _ => "this is",
        };
        let hint = "this compiler reads the RenderMan Shading Language 3.2";
        self.reports.push(Report::error(span, format!("{what} not RSL 3.2")).hint(hint));
        AlreadyReported
    }

    /// Advances past the item that began at token `before`: after its braces, or before what looks like the next
    /// item.
    fn skip_item(&mut self, before: usize) {
        self.at = self.at.max(before + 1);
        if self.at_shader() {
            return;
        }
        let depth_so_far = self.tokens[before..self.at].iter().fold(0usize, |depth, token| match token.kind {
            TokenKind::Punct(Punct::OpenBrace) => depth + 1,
            TokenKind::Punct(Punct::CloseBrace) => depth.saturating_sub(1),
            _ => depth,
        });
        let mut depth = depth_so_far;
        while !self.at_end() {
            match self.punct() {
                Some(Punct::OpenBrace) => depth += 1,
                Some(Punct::CloseBrace) if depth <= 1 => {
                    self.at += 1;
                    return;
                }
                Some(Punct::CloseBrace) => depth -= 1,
                _ if depth == 0 && self.at_shader() => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Returns whether what comes next must be the beginning of a shader: `surface name (`.
    fn at_shader(&self) -> bool {
        self.word().is_some_and(|w| DeclaredKind::from_keyword(&w).is_some())
            && self.ident_at(1).is_some()
            && self.punct_at(2) == Some(Punct::OpenParen)
    }

    /// Counts a level of nesting around `parse`.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> SyntaxResult<T>) -> SyntaxResult<T> {
        if self.depth >= DEPTH_MAX {
            return Err(self.too_deep(self.span()));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self, span: Span) -> AlreadyReported {
        self.reports.push(Report::error(span, format!("nested more than {DEPTH_MAX} levels deep")));
        AlreadyReported
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn kind_at(&self, ahead: usize) -> &TokenKind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End || self.reports.is_full()
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// Returns the span of the token before.
    fn last_span(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or_else(|| self.span(), |t| t.span)
    }

    fn punct(&self) -> Option<Punct> {
        self.punct_at(0)
    }

    fn punct_at(&self, ahead: usize) -> Option<Punct> {
        match self.kind_at(ahead) {
            TokenKind::Punct(punct) => Some(*punct),
            _ => None,
        }
    }

    /// Returns the name or keyword here.
    fn word(&self) -> Option<Name> {
        self.word_at(0)
    }

    fn word_at(&self, ahead: usize) -> Option<Name> {
        match self.kind_at(ahead) {
            TokenKind::Ident(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// Returns the word there if it is no keyword.
    fn ident_at(&self, ahead: usize) -> Option<Name> {
        self.word_at(ahead).filter(|w| !RESERVED.contains(&&**w))
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.kind_at(0), TokenKind::Ident(name) if &**name == word)
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.punct() == Some(punct);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, punct: Punct) -> SyntaxResult<()> {
        if self.eat(punct) { Ok(()) } else { Err(self.expected(&format!("`{}`", punct.text()))) }
    }

    fn ident(&mut self, what: &str) -> SyntaxResult<Ident> {
        let Some(name) = self.ident_at(0) else {
            if let Some(word) = self.word() {
                let message = format!("expected {what}, but `{word}` is a reserved word");
                self.reports.push(Report::error(self.span(), message));
                return Err(AlreadyReported);
            }
            return Err(self.expected(what));
        };
        let span = self.span();
        self.at += 1;
        Ok(Ident { name, span })
    }

    /// Reports that something else was found here.
    fn expected(&mut self, what: &str) -> AlreadyReported {
        let found = match self.kind_at(0) {
            TokenKind::Ident(name) => format!("`{name}`"),
            TokenKind::Number(_) => "a number".to_owned(),
            TokenKind::String(_) => "a string".to_owned(),
            TokenKind::Punct(punct) => format!("`{}`", punct.text()),
            TokenKind::End => "the end of the file".to_owned(),
        };
        self.reports.push(Report::error(self.span(), format!("expected {what}, found {found}")));
        AlreadyReported
    }

    /// Returns the semicolon after a statement. A missing one is reported where it should be and taken as written if
    /// the next token begins something new.
    fn semicolon(&mut self) -> SyntaxResult<()> {
        if self.eat(Punct::Semicolon) {
            return Ok(());
        }
        let next_is_new = match self.kind_at(0) {
            TokenKind::Ident(_) | TokenKind::End => true,
            TokenKind::Punct(punct) => matches!(punct, Punct::CloseBrace | Punct::OpenBrace),
            _ => false,
        };
        if !next_is_new {
            return Err(self.expected("`;`"));
        }
        let report = Report::error(self.last_span().after(), "expected `;` here");
        self.reports.push(report);
        Ok(())
    }

    /// Returns whether a word comes next that begins a statement and nothing else.
    fn at_statement_keyword(&self) -> bool {
        self.word().is_some_and(|word| {
            matches!(
                &*word,
                "if" | "while" | "for" | "break" | "continue" | "return" | "else" | "uniform" | "varying" | "extern"
            ) || LightStatement::from_keyword(&word).is_some()
        })
    }
}

#[cfg(test)]
mod tests;

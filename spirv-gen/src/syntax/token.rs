//! Tokens: what the lexer cuts out of a text, and what the parser reads after the preprocessor.

use crate::span::Span;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A name or another short text; equal texts of a compilation share their bytes.
pub type Name = Arc<str>;

/// The texts of a compilation's tokens.
#[derive(Debug, Default)]
pub(crate) struct Names {
    all: FxHashSet<Name>,
    empty: Name,
}

impl Names {
    /// Returns the shared copy of `text`.
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.all.get(text) {
            return name.clone();
        }
        let name: Name = text.into();
        self.all.insert(name.clone());
        name
    }

    /// Returns the shared text of tokens that need none.
    pub(crate) fn empty(&self) -> Name {
        self.empty.clone()
    }
}

/// Operators and marks, those of the preprocessor's expressions included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Punct {
    OpenParen,
    CloseParen,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Semicolon,
    Colon,
    Question,
    Dot,
    Ellipsis,
    Caret,
    Star,
    Slash,
    Percent,
    Plus,
    Minus,
    Assign,
    AddAssign,
    SubAssign,
    MulAssign,
    DivAssign,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    AndAnd,
    OrOr,
    And,
    Or,
    Tilde,
    ShiftLeft,
    ShiftRight,
    Not,
    Hash,
    HashHash,
}

impl Punct {
    /// All of them with their spelling, longer ones before their own beginnings.
    pub(crate) const ALL: [(&'static str, Self); 39] = [
        ("...", Self::Ellipsis),
        ("+=", Self::AddAssign),
        ("-=", Self::SubAssign),
        ("*=", Self::MulAssign),
        ("/=", Self::DivAssign),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::LessEqual),
        (">=", Self::GreaterEqual),
        ("<<", Self::ShiftLeft),
        (">>", Self::ShiftRight),
        ("&&", Self::AndAnd),
        ("||", Self::OrOr),
        ("##", Self::HashHash),
        ("(", Self::OpenParen),
        (")", Self::CloseParen),
        ("{", Self::OpenBrace),
        ("}", Self::CloseBrace),
        ("[", Self::OpenBracket),
        ("]", Self::CloseBracket),
        (",", Self::Comma),
        (";", Self::Semicolon),
        (":", Self::Colon),
        ("?", Self::Question),
        (".", Self::Dot),
        ("^", Self::Caret),
        ("*", Self::Star),
        ("/", Self::Slash),
        ("%", Self::Percent),
        ("+", Self::Plus),
        ("-", Self::Minus),
        ("=", Self::Assign),
        ("<", Self::Less),
        (">", Self::Greater),
        ("&", Self::And),
        ("|", Self::Or),
        ("~", Self::Tilde),
        ("!", Self::Not),
        ("#", Self::Hash),
    ];

    /// Returns it as it is written.
    pub(crate) fn text(self) -> &'static str {
        Self::ALL.iter().find(|(_, p)| *p == self).map_or("", |(text, _)| text)
    }
}

/// What kind of preprocessing token it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawKind {
    Ident,
    /// Anything that begins like a number.
    Number,
    /// A string literal, quotes and escapes as written.
    String,
    Punct(Punct),
    /// A character that RSL has no use for.
    Other,
    /// The end of a line outside comments.
    Newline,
    /// The end of the text.
    End,
}

/// A preprocessing token.
#[derive(Clone, Debug)]
pub(crate) struct RawToken {
    pub(crate) kind: RawKind,
    /// As written, spliced lines joined; empty for punctuation, line ends and the end.
    pub(crate) text: Name,
    pub(crate) span: Span,
    /// White space or a comment precedes it.
    pub(crate) space: bool,
    /// Macros that may not expand here: a set of the preprocessor's hide sets.
    pub(crate) hidden: u32,
}

impl RawToken {
    /// Returns it as written.
    pub(crate) fn spelling(&self) -> &str {
        match self.kind {
            RawKind::Punct(punct) => punct.text(),
            _ => &self.text,
        }
    }

    /// Returns whether it is this operator or mark.
    pub(crate) fn is(&self, punct: Punct) -> bool {
        self.kind == RawKind::Punct(punct)
    }
}

/// What the parser sees.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A name or a keyword.
    Ident(Name),
    /// A number.
    Number(f32),
    /// A string literal, escapes resolved, neighbours joined.
    String(Name),
    /// An operator or mark.
    Punct(Punct),
    /// The end of the source.
    End,
}

/// A token of the language.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mark_hides_a_longer_one() {
        for (i, (text, punct)) in Punct::ALL.iter().enumerate() {
            assert_eq!(punct.text(), *text);
            let hidden = Punct::ALL[i + 1..].iter().find(|(later, _)| later.starts_with(text));
            assert!(hidden.is_none(), "{text} hides {hidden:?}");
        }
    }
}

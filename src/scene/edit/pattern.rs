//! Which objects or lights an edit is about.

use regex_lite::{Regex, RegexBuilder};
use std::fmt;
use std::sync::Arc;

/// The size of the compiled form of a pattern, at most; patterns come from anywhere.
const PATTERN_BYTES_MAX: usize = 1 << 18;

/// A pattern of names: a regular expression that must match a part of the name. `^` and `$` stand for its ends, and the
/// empty pattern matches all names, the empty one too.
#[derive(Clone)]
pub struct NamePattern {
    text: Arc<str>,
    /// None for the empty pattern.
    expression: Option<Regex>,
}

impl NamePattern {
    /// Creates a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        let compile = |text: &str| RegexBuilder::new(text).size_limit(PATTERN_BYTES_MAX).build();
        let expression = (!text.is_empty()).then(|| compile(text)).transpose();
        let expression = expression.map_err(|error| format!("\"{text}\" is not a regular expression: {error}"))?;
        Ok(Self { text: text.into(), expression })
    }

    /// Creates the pattern that matches all names.
    pub fn all() -> Self {
        Self { text: "".into(), expression: None }
    }

    /// Creates the pattern that matches one name only.
    pub fn exactly(name: &str) -> Self {
        let text = format!("^{}$", regex_lite::escape(name));
        // Only a name that is too long makes none, and those match nothing.
        Self::new(&text).unwrap_or_else(|_| Self::new("$^x").expect("a short pattern"))
    }

    /// Returns the pattern as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        self.expression.as_ref().is_none_or(|expression| expression.is_match(name))
    }
}

impl PartialEq for NamePattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

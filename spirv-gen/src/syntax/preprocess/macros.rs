//! Macros, and the sets of macros that tokens may not expand any more.

use crate::span::Span;
use crate::syntax::token::{Name, RawToken};
use rustc_hash::FxHashMap;

/// A macro's definition.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: Name,
    /// The span of the name in its definition.
    pub(super) span: Span,
    /// `None` for a macro without parentheses.
    pub(super) parameters: Option<Vec<Name>>,
    /// The last parameter takes all that is left (`...`).
    pub(super) variadic: bool,
    pub(super) body: Vec<BodyToken>,
}

/// A token of a macro's body.
#[derive(Clone, Debug)]
pub(super) struct BodyToken {
    pub(super) token: RawToken,
    pub(super) role: Substitution,
    /// `##` is between this token and the next.
    pub(super) pasted: bool,
}

/// What a token of a body stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Substitution {
    /// Itself.
    Plain,
    /// The argument of this index.
    Parameter(usize),
    /// The argument of this index as a string literal.
    Stringified(usize),
}

impl Macro {
    /// Returns whether both expand alike.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        let spelled =
            |m: &Self| -> Vec<_> { m.body.iter().map(|b| (b.token.spelling().to_owned(), b.role, b.pasted)).collect() };
        self.parameters == other.parameters && self.variadic == other.variadic && spelled(self) == spelled(other)
    }
}

/// All sets of macros that occur on tokens; set 0 is empty.
#[derive(Default)]
pub(super) struct HideSets {
    sets: Vec<Vec<Name>>,
    numbers: FxHashMap<Vec<Name>, u32>,
    /// Unions that were requested before.
    unions: FxHashMap<(u32, u32), u32>,
    /// Sets with one macro added that were requested before.
    additions: FxHashMap<(u32, Name), u32>,
}

impl HideSets {
    pub(super) fn get(&self, set: u32) -> &[Name] {
        set.checked_sub(1).and_then(|i| self.sets.get(i as usize)).map_or(&[], Vec::as_slice)
    }

    fn number(&mut self, set: Vec<Name>) -> u32 {
        if set.is_empty() {
            return 0;
        }
        if let Some(&number) = self.numbers.get(&set) {
            return number;
        }
        self.sets.push(set.clone());
        let number = self.sets.len() as u32;
        self.numbers.insert(set, number);
        number
    }

    pub(super) fn contains(&self, set: u32, name: &Name) -> bool {
        self.get(set).binary_search(name).is_ok()
    }

    /// `set` and the macro `name`.
    pub(super) fn with(&mut self, set: u32, name: &Name) -> u32 {
        if let Some(&known) = self.additions.get(&(set, name.clone())) {
            return known;
        }
        let mut all = self.get(set).to_vec();
        if let Err(place) = all.binary_search(name) {
            all.insert(place, name.clone());
        }
        let number = self.number(all);
        self.additions.insert((set, name.clone()), number);
        number
    }

    pub(super) fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 || a == b {
            return a.max(b);
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return known;
        }
        let mut all = [self.get(a), self.get(b)].concat();
        all.sort_unstable();
        all.dedup();
        let number = self.number(all);
        self.unions.insert((a, b), number);
        number
    }

    pub(super) fn intersection(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        let both = self.get(a).iter().filter(|name| self.contains(b, name)).cloned().collect();
        self.number(both)
    }
}

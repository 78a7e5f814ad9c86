//! Scopes: the names that are known in a place.

use super::hir::{FuncId, VarId};
use crate::syntax::token::Name;
use rustc_hash::FxHashMap;

/// The names that a block, a function, a shader or the file declares.
pub(super) struct Scope {
    /// `None` for a name whose declaration has a fault.
    pub(super) variables: FxHashMap<Name, Option<VarId>>,
    pub(super) functions: FxHashMap<Name, Vec<FuncId>>,
    /// A function: variables of scopes around it must be declared `extern`.
    pub(super) is_function: bool,
}

impl Scope {
    pub(super) fn block() -> Self {
        Self { variables: FxHashMap::default(), functions: FxHashMap::default(), is_function: false }
    }

    pub(super) fn function() -> Self {
        Self { is_function: true, ..Self::block() }
    }
}

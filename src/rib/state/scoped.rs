//! Names that are valid to the end of the frame or world in which they are defined: handles of lights and objects.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A map whose changes can be undone in order. The cost of leaving a scope depends on the changes in it, not on the
/// size of the map.
pub(crate) struct ScopedMap<V> {
    map: FxHashMap<Arc<str>, V>,
    /// What each insertion replaced.
    log: Vec<(Arc<str>, Option<V>)>,
}

/// A point in a map's history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScopeMark(usize);

impl<V> ScopedMap<V> {
    /// Creates an empty map.
    pub(crate) fn new() -> Self {
        Self { map: FxHashMap::default(), log: Vec::new() }
    }

    /// Returns the value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.map.get(name)
    }

    /// Sets the value of a name.
    pub(crate) fn insert(&mut self, name: Arc<str>, value: V) {
        let replaced = self.map.insert(Arc::clone(&name), value);
        self.log.push((name, replaced));
    }

    /// Returns the current point in the history.
    pub(crate) fn mark(&self) -> ScopeMark {
        ScopeMark(self.log.len())
    }

    /// Undoes all insertions since `mark`.
    pub(crate) fn roll_back_to(&mut self, mark: ScopeMark) {
        for (name, replaced) in self.log.drain(mark.0..).rev() {
            match replaced {
                Some(value) => self.map.insert(name, value),
                None => self.map.remove(&name),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_their_scope() {
        let mut names = ScopedMap::new();
        names.insert("a".into(), 1);
        let mark = names.mark();
        for value in 2..5 {
            names.insert("a".into(), value);
            names.insert("b".into(), value);
        }
        assert_eq!((names.get("a"), names.get("b")), (Some(&4), Some(&4)));
        names.roll_back_to(mark);
        assert_eq!((names.get("a"), names.get("b")), (Some(&1), None));
    }
}

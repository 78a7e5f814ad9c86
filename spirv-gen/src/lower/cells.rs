//! The values of variables during the lowering.

use crate::ir::Value;
use crate::sema::hir::VarId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Something that holds a value: a variable of the shader, or one that the lowering made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cell(u32);

impl Cell {
    /// Returns the variable that it is of a shader with `count` variables, if it is one.
    pub(super) fn variable(self, count: usize) -> Option<VarId> {
        ((self.0 as usize) < count).then_some(VarId(self.0))
    }
}

impl From<VarId> for Cell {
    fn from(id: VarId) -> Self {
        Self(id.0)
    }
}

/// The values of all cells, and a journal of what was assigned. A region of the IR is entered with a [`Cells::mark`];
/// at its end the journal says which cells the region assigned, and everything is as before it.
#[derive(Debug)]
pub(super) struct Cells {
    values: Vec<Option<Value>>,
    journal: Vec<(Cell, Option<Value>)>,
    /// Output arguments of functions, and the variables of the callers that they are.
    aliases: FxHashMap<Cell, Cell>,
    /// What was assigned, by all names, if that is noted.
    assigned: Option<Vec<(Cell, Value)>>,
}

/// A place in the journal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(usize);

impl Cells {
    /// Returns cells for that many variables, without values.
    pub(super) fn new(count: usize) -> Self {
        Self { values: vec![None; count], journal: Vec::new(), aliases: FxHashMap::default(), assigned: None }
    }

    /// Returns the same cells, which note from now on what is assigned.
    pub(super) fn noting(self) -> Self {
        Self { assigned: Some(Vec::new()), ..self }
    }

    /// Returns what was assigned since this was last called, if it is noted.
    pub(super) fn take_assigned(&mut self) -> Vec<(Cell, Value)> {
        self.assigned.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Adds a cell with a value.
    pub(super) fn add(&mut self, value: Value) -> Cell {
        let cell = Cell(self.values.len() as u32);
        self.values.push(None);
        self.set(cell, value);
        cell
    }

    /// Makes `cell` another name of what `variable` is, until [`Cells::part`].
    pub(super) fn alias(&mut self, cell: Cell, variable: Cell) {
        self.aliases.insert(cell, self.named(variable));
    }

    /// Makes a cell itself again, and returns whether it was another's name.
    pub(super) fn part(&mut self, cell: Cell) -> bool {
        self.aliases.remove(&cell).is_some()
    }

    /// Returns the cell of which `cell` is a name: itself, or another.
    pub(super) fn named(&self, cell: Cell) -> Cell {
        self.aliases.get(&cell).copied().unwrap_or(cell)
    }

    /// Returns what a cell holds, or `None` before its variable is declared.
    pub(super) fn get(&self, cell: Cell) -> Option<Value> {
        self.values[self.named(cell).0 as usize]
    }

    pub(super) fn set(&mut self, cell: Cell, value: Value) {
        self.put(cell, Some(value));
    }

    /// Takes the value of a variable that is no longer in scope.
    pub(super) fn clear(&mut self, cell: Cell) {
        if self.get(cell).is_some() {
            self.put(cell, None);
        }
    }

    fn put(&mut self, name: Cell, value: Option<Value>) {
        let cell = self.named(name);
        if let (Some(assigned), Some(value)) = (&mut self.assigned, value) {
            assigned.push((cell, value));
            assigned.extend((name != cell).then_some((name, value)));
        }
        let before = std::mem::replace(&mut self.values[cell.0 as usize], value);
        self.journal.push((cell, before));
    }

    /// Returns the present place.
    pub(super) fn mark(&self) -> Mark {
        Mark(self.journal.len())
    }

    /// Undoes what was assigned since `mark`, and returns the cells that had a value then, with the values that they
    /// lose.
    pub(super) fn undo(&mut self, mark: Mark) -> BTreeMap<Cell, Value> {
        let mut last = BTreeMap::new();
        for &(cell, _) in &self.journal[mark.0..] {
            last.insert(cell, self.values[cell.0 as usize]);
        }
        for (cell, before) in self.journal.drain(mark.0..).rev() {
            self.values[cell.0 as usize] = before;
        }
        // What had no value before was declared inside, and is gone; what lost its value is out of scope.
        let still_there = |(cell, value): (Cell, Option<Value>)| self.get(cell).and(value).map(|v| (cell, v));
        last.into_iter().filter_map(still_there).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_s_assignments_are_told_and_undone() {
        let mut cells = Cells::new(2);
        let (a, b) = (Cell(0), Cell(1));
        cells.set(a, Value(10));
        let mark = cells.mark();
        cells.set(a, Value(11));
        cells.set(a, Value(12));
        cells.set(b, Value(20));
        let c = cells.add(Value(30));
        assert_eq!(cells.undo(mark), BTreeMap::from([(a, Value(12))]));
        assert_eq!((cells.get(a), cells.get(b), cells.get(c)), (Some(Value(10)), None, None));
        let mark = cells.mark();
        cells.clear(a);
        assert_eq!(cells.undo(mark), BTreeMap::new());
        assert_eq!(cells.get(a), Some(Value(10)));
    }
}

//! Notes of what variables are, for debuggers ([`crate::ir::Note`]).

use super::lowerer::Lowerer;
use crate::ir::{FunctionId, Value, VariableId};
use crate::sema::hir::{FuncId, Shape, VarId};

impl Lowerer<'_> {
    /// Returns what places call a function.
    pub(super) fn named_function(&mut self, id: FuncId) -> FunctionId {
        let function = self.function(id);
        let new = || self.builder.place_function(&function.name, function.span);
        *self.named.functions[id.0 as usize].get_or_insert_with(new)
    }

    fn named_variable(&mut self, id: VarId) -> VariableId {
        let owner = self.named.owners[id.0 as usize];
        let function = owner.map_or_else(FunctionId::default, |owner| self.named_function(owner));
        let variable = self.shader.variable(id);
        let new = || self.builder.place_variable(&variable.name, function, variable.span);
        *self.named.variables[id.0 as usize].get_or_insert_with(new)
    }

    /// Notes what a variable is, if notes are made.
    pub(super) fn note(&mut self, id: VarId, value: Value) {
        if self.shader.notes_assignments && self.shader.variable(id).shape == Shape::Single {
            let variable = self.named_variable(id);
            self.builder.note(variable, value);
        }
    }

    /// Notes what was assigned since this was last called.
    pub(super) fn note_assigned(&mut self) {
        for (cell, value) in self.cells.take_assigned() {
            if let Some(id) = cell.variable(self.shader.variables.len()) {
                self.note(id, value);
            }
        }
    }
}

//! What a kernel says to debuggers: where it comes from, and what variables are.

use super::debug_info::DebugMark;
use super::emitter::Emitter;
use crate::ir::{Inst, Note, PlaceId};

impl Emitter<'_> {
    /// Marks that the code of an instruction follows. What comes from nowhere belongs to what is around it.
    pub(super) fn mark_place_of(&mut self, inst: Inst) {
        let place = self.body.place(inst);
        if self.marks && place != PlaceId::NOWHERE {
            self.s.mark(DebugMark::Place(place));
        }
    }

    /// Marks that what follows comes from nowhere.
    pub(super) fn mark_no_place(&mut self) {
        if self.marks {
            self.s.mark(DebugMark::Place(PlaceId::NOWHERE));
        }
    }

    /// Marks what variables are from here on.
    pub(super) fn mark_notes(&mut self, notes: &[Note]) {
        for &Note { variable, value } in notes.iter().filter(|_| self.marks) {
            let word = self.value(value);
            if word != 0 {
                self.s.mark(DebugMark::Value { variable, ty: self.body.ty(value), word });
            }
        }
    }
}

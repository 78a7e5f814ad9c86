//! Notes: which values are assigned to which variables of shaders, and where. They are no part of what a program means,
//! and only what describes a kernel to a debugger reads them.

use super::body::{Body, Inst, Note, Notes, Region, Value};
use rustc_hash::FxHashMap;

impl Notes {
    fn at(&mut self, region: Region, after: Option<Inst>) -> &mut Vec<Note> {
        match after {
            Some(inst) => self.after.entry(inst).or_default(),
            None => self.first.entry(region).or_default(),
        }
    }
}

impl Body {
    /// Adds a note at the end of a region so far.
    pub(crate) fn add_note(&mut self, region: Region, note: Note) {
        let last = self.region(region).insts.last().copied();
        self.notes.at(region, last).push(note);
    }

    /// Returns the notes that follow an instruction.
    pub(crate) fn notes_after(&self, inst: Inst) -> &[Note] {
        self.notes.after.get(&inst).map_or(&[], Vec::as_slice)
    }

    /// Returns the notes at the start of a region.
    pub(crate) fn notes_at_start(&self, region: Region) -> &[Note] {
        self.notes.first.get(&region).map_or(&[], Vec::as_slice)
    }

    /// Moves the notes at the start of a region to the end of another so far, which its instructions are to follow.
    pub(crate) fn move_first_notes(&mut self, from: Region, to: Region) {
        if let Some(notes) = self.notes.first.remove(&from) {
            let last = self.region(to).insts.last().copied();
            self.notes.at(to, last).extend(notes);
        }
    }

    /// Drops instructions of a region; their notes then follow those before.
    pub(crate) fn retain_insts(&mut self, region: Region, is_kept: impl Fn(Inst) -> bool) {
        let insts = std::mem::take(&mut self.region_mut(region).insts);
        let mut kept: Vec<Inst> = Vec::with_capacity(insts.len());
        for inst in insts {
            if is_kept(inst) {
                kept.push(inst);
            } else if let Some(notes) = self.notes.after.remove(&inst) {
                self.notes.at(region, kept.last().copied()).extend(notes);
            }
        }
        self.region_mut(region).insts = kept;
    }

    /// Replaces the values that are noted.
    pub(super) fn substitute_in_notes(&mut self, new: &FxHashMap<Value, Value>) {
        for note in self.notes.after.values_mut().chain(self.notes.first.values_mut()).flatten() {
            note.value = new.get(&note.value).copied().unwrap_or(note.value);
        }
    }
}

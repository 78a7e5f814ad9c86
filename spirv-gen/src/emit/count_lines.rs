//! Where a kernel goes from line to line, for its [`Stopwatch`] if it has one.

use super::emitter::Emitter;
use super::exchange::barrier;
use super::stopwatch::{NO_LINE, Stopwatch};
use crate::ir::{Inst, Region};
use rspirv::spirv::{Op, Word};

impl Emitter<'_> {
    /// Says that the code of an instruction follows.
    pub(super) fn count_line_of(&mut self, inst: Inst) {
        if let Some(watch) = &mut self.stopwatch {
            watch.begin_inst(&mut self.s, self.body, inst);
        }
    }

    /// Returns the number of the line that runs, if lines are counted.
    pub(super) fn counted_line(&self) -> Option<u32> {
        self.stopwatch.as_ref().map(Stopwatch::line)
    }

    /// Adds what has passed to the line that runs, before or after a jump; `line` runs there, or the same.
    pub(super) fn count_jump(&mut self, line: Option<u32>) {
        if let Some(watch) = &mut self.stopwatch {
            let line = line.unwrap_or(watch.line());
            watch.jump(&mut self.s, line);
        }
    }

    /// Says that a trip of a loop ends; `line` runs in the next one, or the same.
    pub(super) fn count_trip_end(&mut self, line: Option<u32>) {
        if let Some(watch) = &mut self.stopwatch {
            let line = line.unwrap_or(watch.line());
            watch.end_trip(&mut self.s, line);
        }
    }

    /// Says that points that have jumped over a region have waited for others until here.
    pub(super) fn count_wait(&mut self, region: Region) {
        if let Some(watch) = &mut self.stopwatch {
            watch.wait(&mut self.s, self.body, region);
        }
    }

    /// Counts a lookup of the texture of a token.
    pub(super) fn count_lookup(&mut self, token: Word) {
        let Some(mut watch) = self.stopwatch.take() else { return };
        let real = self.is_real();
        watch.count_lookup(&mut self.s, token, real);
        self.stopwatch = Some(watch);
    }

    /// Returns whether the invocation is a point of a grid.
    fn is_real(&mut self) -> Word {
        let (bool, occupied) = (self.s.type_bool(), self.occupied());
        self.s.inst(Op::LogicalAnd, bool, &[self.frame.active, occupied])
    }

    /// Says that what follows is from no line.
    pub(super) fn count_no_line(&mut self) {
        self.count_jump(Some(NO_LINE));
    }

    /// Waits for the workgroup, which no line pays for.
    pub(super) fn meet(&mut self) {
        self.count_jump(None);
        barrier(&mut self.s);
        if let Some(watch) = &self.stopwatch {
            watch.restart(&mut self.s);
        }
    }

    /// Leaves what was counted.
    pub(super) fn store_counts(&mut self) {
        if self.stopwatch.is_none() {
            return;
        }
        self.count_no_line();
        let real = self.is_real();
        if let Some(watch) = &self.stopwatch {
            watch.store(&mut self.s, real);
        }
    }
}

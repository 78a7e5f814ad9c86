//! What a program must save so that it can stop in the middle of its loops and go on later.
//!
//! Programs have no effects but on their local arrays, and what is outside of a loop can be computed again. So all that
//! a loop has to save are the values that it carries and the arrays that it writes; a loop around it saves those with
//! which its trip began. A program that goes on runs from its start, and where it comes to a loop that was saved the
//! loop begins with what was saved: with its last values, if it had ended, so that it ends at once.

use super::trips::uncounted_loops;
use crate::ir::{Body, Inst, Op, Region, Slot};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The loops of a program that may be stopped, and where each is saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedLoops {
    loops: FxHashMap<Inst, SavedLoop>,
    count: u32,
    first: u32,
    records: u32,
}

/// A loop that may be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedLoop {
    /// Its number: loops are numbered as they begin.
    pub number: u32,
    /// The numbers of the loops inside it.
    pub inner: Range<u32>,
    /// The first record in which it is saved: the carried values, then the arrays, word after word.
    pub record: u32,
    /// The arrays that it writes.
    pub slots: Vec<Slot>,
    /// Those that its condition writes, which is evaluated again when the loop goes on.
    pub tested: Vec<Slot>,
}

impl SavedLoops {
    /// Finds the loops that count their trips and those around them.
    pub fn of(body: &Body) -> Self {
        let uncounted = uncounted_loops(body);
        Self::those(body, |inst| !uncounted.contains(&inst))
    }

    /// Returns all loops, whether they count their trips or not.
    pub fn all(body: &Body) -> Self {
        Self::those(body, |_| true)
    }

    fn those(body: &Body, is_counted: impl Fn(Inst) -> bool) -> Self {
        let mut this = Self::default();
        let counted = |inst: Inst| body.inst(inst).op == Op::Loop && is_counted(inst);
        this.visit(body, body.root(), &counted);
        let mut ordered: Vec<Inst> = this.loops.keys().copied().collect();
        ordered.sort_by_key(|inst| this.loops[inst].number);
        // First come the marks of the loops that are saved.
        let mut record = this.marks().div_ceil(4);
        for inst in ordered {
            let words = words(body, inst, &this.loops[&inst].slots);
            this.loops.entry(inst).and_modify(|saved| saved.record = record);
            record += words.div_ceil(4);
        }
        this.records = if this.count == 0 { 0 } else { record };
        this
    }

    fn visit(&mut self, body: &Body, region: Region, counted: &impl Fn(Inst) -> bool) {
        for &inst in &body.region(region).insts {
            let data = body.inst(inst);
            let mut found = false;
            body.walk_inst(inst, &mut |inner| found |= counted(inner));
            let number = self.count;
            let is_saved = found && data.op == Op::Loop;
            self.count += u32::from(is_saved);
            for &inner in &data.regions {
                self.visit(body, inner, counted);
            }
            if is_saved {
                let [test, trip] = [data.regions[0], data.regions[1]].map(|region| written_slots(body, region));
                let mut slots = [trip, test.clone()].concat();
                slots.sort_unstable();
                slots.dedup();
                let inner = number + 1..self.count;
                self.loops.insert(inst, SavedLoop { number, inner, record: 0, slots, tested: test });
            }
        }
    }

    /// Returns the same loops saved behind so many records.
    #[must_use]
    pub fn behind(mut self, records: u32) -> Self {
        self.first += records;
        self.loops.values_mut().for_each(|saved| saved.record += records);
        self
    }

    /// Returns the first record in which they are saved.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Returns the loop, if it may be stopped.
    pub fn get(&self, inst: Inst) -> Option<&SavedLoop> {
        self.loops.get(&inst)
    }

    /// Returns whether no loop may be stopped.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the words of marks, a bit for each loop that is saved.
    pub fn marks(&self) -> u32 {
        self.count.div_ceil(32)
    }

    /// Returns the records of four words in which everything is saved.
    pub fn records(&self) -> u32 {
        self.records
    }
}

/// Returns the arrays that are written in a region.
fn written_slots(body: &Body, region: Region) -> Vec<Slot> {
    let mut slots = Vec::new();
    body.walk(region, &mut |inner| {
        if let Op::SlotStore(slot) = body.inst(inner).op {
            slots.push(slot);
        }
    });
    slots.sort_unstable();
    slots.dedup();
    slots
}

fn words(body: &Body, inst: Inst, slots: &[Slot]) -> u32 {
    let carried: u32 = body.inst(inst).results.iter().map(|&value| body.ty(value).words()).sum();
    let arrays: u32 = slots.iter().map(|&slot| body.slot(slot)).map(|data| data.ty.words() * data.len).sum();
    carried + arrays
}

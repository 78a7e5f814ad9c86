//! Regions to blocks.

use super::emitter::{Emitter, TripCounter};
use super::error::EmitError;
use super::ops::is_library_call;
use crate::abi;
use crate::ir::{Inst, Op as IrOp, Region, Value};
use crate::passes::trips::trips_in;
use crate::passes::{Step, lookup_steps};
use rspirv::spirv::{LoopControl, Op, Word};
use rustc_hash::FxHashMap;

impl Emitter<'_> {
    /// Writes a region at the end of the kernel so far, and returns what it yields.
    pub(super) fn region(&mut self, region: Region) -> Result<Vec<Word>, EmitError> {
        let body = self.body;
        self.mark_notes(body.notes_at_start(region));
        for step in lookup_steps(body, &body.region(region).insts) {
            match step {
                Step::One(inst) => {
                    self.count_line_of(inst);
                    self.mark_place_of(inst);
                    let results = self.inst(inst)?;
                    self.set(&body.inst(inst).results, &results);
                    self.mark_place_of(inst);
                    self.mark_notes(body.notes_after(inst));
                }
                Step::Lookups(lookup, insts) => {
                    insts.iter().for_each(|&inst| self.count_line_of(inst));
                    insts.iter().for_each(|&inst| self.mark_place_of(inst));
                    let args: Vec<_> = insts.iter().map(|&inst| self.get(&body.inst(inst).args)).collect();
                    let found = self.lookups(lookup, &args)?;
                    insts.iter().zip(found).for_each(|(&inst, word)| self.set(&body.inst(inst).results, &[word]));
                    insts.iter().for_each(|&inst| self.mark_notes(body.notes_after(inst)));
                }
            }
        }
        Ok(self.get(&body.region(region).results))
    }

    /// Writes a region in a scope of its own, and returns what it yields.
    fn scoped_region(&mut self, region: Region) -> Result<Vec<Word>, EmitError> {
        self.records.push(FxHashMap::default());
        let results = self.region(region);
        self.records.pop();
        results
    }

    fn inst(&mut self, inst: Inst) -> Result<Vec<Word>, EmitError> {
        let data = self.body.inst(inst);
        match &data.op {
            IrOp::If => {
                let (yes, no) = (self.s.id(), self.s.id());
                let merge = self.s.id();
                let cond = self.value(data.args[0]);
                self.count_jump(None);
                self.s.selection_merge(merge);
                self.s.effect(Op::BranchConditional, &[cond, yes, no]);
                self.branches(inst, &[yes, no], merge)
            }
            IrOp::Switch => {
                let labels: Vec<_> = data.regions.iter().map(|_| self.s.id()).collect();
                let merge = self.s.id();
                let selector = self.value(data.args[0]);
                let (default, cases) = labels.split_last().expect("a switch has a default");
                self.count_jump(None);
                self.s.selection_merge(merge);
                self.s.switch(selector, *default, cases);
                self.branches(inst, &labels, merge)
            }
            IrOp::Loop if self.is_cheap(data.regions[0]) => self.rotated_loop(inst),
            IrOp::Loop => self.plain_loop(inst),
            IrOp::Derivatives(items) => {
                self.stop_together();
                Ok(self.derivatives(items, &data.args))
            }
            IrOp::Any => {
                let mut votes: Vec<Word> = data.args.iter().map(|&vote| self.value(vote)).collect();
                match self.limit_vote.take() {
                    Some(trips) if !self.saved.is_empty() => return Ok(vec![self.go_together(trips, votes[0])]),
                    Some(trips) => votes[0] = self.within_budget(trips, votes[0]),
                    None => self.stop_together(),
                }
                Ok(self.any(&votes))
            }
            _ => self.operation(inst),
        }
    }

    /// Writes the regions of a selection under their labels, and joins them.
    fn branches(&mut self, inst: Inst, labels: &[Word], merge: Word) -> Result<Vec<Word>, EmitError> {
        let data = self.body.inst(inst);
        let (mut ends, mut before) = (Vec::new(), None);
        let line = self.counted_line();
        for (&label, &region) in labels.iter().zip(&data.regions) {
            self.s.block(label);
            before.replace(region).into_iter().for_each(|before| self.count_wait(before));
            let results = self.scoped_region(region)?;
            self.count_jump(line);
            ends.push((results, self.s.at()));
            self.s.branch(merge);
        }
        self.s.block(merge);
        let mut joined = Vec::new();
        for (i, &result) in data.results.iter().enumerate() {
            let from: Vec<_> = ends.iter().map(|(results, block)| (results[i], *block)).collect();
            let ty = self.ty(self.body.ty(result));
            joined.push(self.s.phi(ty, &from));
        }
        before.into_iter().for_each(|before| self.count_wait(before));
        Ok(joined)
    }

    /// Returns whether a condition is worth evaluating in two places, before the loop and at its end: CPU drivers run
    /// every iteration of a loop to its end, also the one whose condition is false at the top.
    fn is_cheap(&self, condition: Region) -> bool {
        let insts = &self.body.region(condition).insts;
        insts.len() <= 32 && insts.iter().all(|&i| !self.is_dear(i))
    }

    fn is_dear(&self, inst: Inst) -> bool {
        let op = &self.body.inst(inst).op;
        op.has_regions() || is_library_call(op)
    }

    fn loop_control(&self, inst: Inst) -> LoopControl {
        let mut dear = false;
        for &region in &self.body.inst(inst).regions {
            self.body.walk(region, &mut |i| dear |= is_library_call(&self.body.inst(i).op));
        }
        if dear { LoopControl::DONT_UNROLL } else { LoopControl::NONE }
    }

    /// `if (condition) do { body } while (condition)`
    fn rotated_loop(&mut self, inst: Inst) -> Result<Vec<Word>, EmitError> {
        let body = self.body;
        let data = body.inst(inst);
        let (condition, inner) = (data.regions[0], data.regions[1]);
        let carried = &body.region(condition).params;
        // What the body sees of the condition: its parameters, and what it defined.
        let mut seen = carried.clone();
        let defined = body.region(condition).insts.iter().flat_map(|&i| &body.inst(i).results);
        seen.extend(defined.filter(|v| self.is_used(inner, **v)));

        let line = self.counted_line();
        let (init, stopped) = self.enter_loop(inst, self.get(&data.args));
        self.set(carried, &init);
        let first = self.loop_condition(inst, condition)?;
        let before = self.get(&seen);
        self.count_jump(line);
        let entry = self.s.at();
        let [preheader, header, work, next, exit, merge] = std::array::from_fn(|_| self.s.id());
        self.s.selection_merge(merge);
        self.s.effect(Op::BranchConditional, &[first, preheader, merge]);
        self.s.block(preheader);
        self.s.branch(header);
        self.s.block(header);
        let mut phis = Vec::new();
        for (&value, &word) in seen.iter().zip(&before) {
            let ty = self.ty(body.ty(value));
            phis.push(self.s.phi(ty, &[(word, preheader)]));
        }
        self.set(&seen, &phis);
        let control = self.loop_control(inst);
        self.s.loop_merge(exit, next, control);
        self.s.branch(work);
        self.s.block(work);
        self.records.push(FxHashMap::default());
        self.count_trip(inst)?;
        self.begin_trip(inst);
        let results = self.region(inner)?;
        let results = self.end_trip(inst, &phis[..carried.len()], results);
        self.set(carried, &results);
        let again = self.loop_condition(inst, condition)?;
        self.records.pop();
        self.count_trip_end(line);
        let last = self.s.at();
        self.s.effect(Op::BranchConditional, &[again, next, exit]);
        self.s.block(next);
        self.s.branch(header);
        for (&phi, word) in phis.iter().zip(self.get(&seen)) {
            self.s.extend_phi(phi, word, next);
        }
        self.s.block(exit);
        let ended = self.joined_types(&data.results);
        let from_loop: Vec<_> =
            ended.iter().zip(&results).map(|(&ty, &word)| self.s.phi(ty, &[(word, last)])).collect();
        self.s.branch(merge);
        self.s.block(merge);
        let all = ended.iter().zip(from_loop.iter().zip(&init));
        let ended: Vec<_> =
            all.map(|(&ty, (&looped, &init))| self.s.phi(ty, &[(init, entry), (looped, exit)])).collect();
        self.count_wait(inner);
        self.leave_loop(inst, stopped, &ended);
        Ok(ended)
    }

    fn joined_types(&mut self, values: &[Value]) -> Vec<Word> {
        values.iter().map(|&v| self.ty(self.body.ty(v))).collect()
    }

    /// `loop { if (!condition) break; body }`
    fn plain_loop(&mut self, inst: Inst) -> Result<Vec<Word>, EmitError> {
        let body = self.body;
        let data = body.inst(inst);
        let (condition, inner) = (data.regions[0], data.regions[1]);
        let carried = &body.region(condition).params;
        let (init, stopped) = self.enter_loop(inst, self.get(&data.args));
        let line = self.counted_line();
        self.count_jump(line);
        let entry = self.s.at();
        let [header, test, work, next, merge] = std::array::from_fn(|_| self.s.id());
        self.s.branch(header);
        self.s.block(header);
        let types = self.joined_types(carried);
        let phis: Vec<_> = types.iter().zip(&init).map(|(&ty, &word)| self.s.phi(ty, &[(word, entry)])).collect();
        self.set(carried, &phis);
        let control = self.loop_control(inst);
        self.s.loop_merge(merge, next, control);
        self.s.branch(test);
        self.s.block(test);
        self.records.push(FxHashMap::default());
        self.begin_trip(inst);
        let go = self.loop_condition(inst, condition)?;
        self.count_jump(line);
        self.s.effect(Op::BranchConditional, &[go, work, merge]);
        self.s.block(work);
        self.count_trip(inst)?;
        let results = self.region(inner)?;
        let results = self.end_trip(inst, &phis, results);
        self.records.pop();
        self.count_trip_end(line);
        self.s.branch(next);
        self.s.block(next);
        self.s.branch(header);
        for (&phi, &word) in phis.iter().zip(&results) {
            self.s.extend_phi(phi, word, next);
        }
        self.s.block(merge);
        self.count_wait(inner);
        self.leave_loop(inst, stopped, &phis);
        Ok(phis)
    }

    /// Writes a loop's condition, cut by the budget of trips. Where the condition is a vote, the budget cuts the
    /// ballot, so that the workgroup stays together.
    fn loop_condition(&mut self, inst: Inst, condition: Region) -> Result<Word, EmitError> {
        self.begin_test(inst);
        let trips = self.trips.filter(|_| !self.uncounted.contains(&inst));
        let test = self.body.region(condition).results[0];
        if self.body.def_inst(test).is_some_and(|d| d.op == IrOp::Any) {
            self.limit_vote = trips;
            return Ok(self.region(condition)?[0]);
        }
        let go = self.region(condition)?[0];
        let Some(trips) = trips else { return Ok(go) };
        let go = self.unless_empty(go);
        Ok(self.within_budget(trips, go))
    }

    /// `go`, as long as there are trips left; notes when that is what ends a loop.
    pub(super) fn within_budget(&mut self, trips: TripCounter, go: Word) -> Word {
        let (u32, bool, max) = (self.s.type_u32(), self.s.type_bool(), trips.max);
        let count = self.s.load(u32, trips.count);
        let left = self.s.inst(Op::ULessThan, bool, &[count, max]);
        let none = self.s.inst(Op::LogicalNot, bool, &[left]);
        let cut = self.s.inst(Op::LogicalAnd, bool, &[go, none]);
        let exhausted = self.s.load(bool, trips.exhausted);
        let exhausted = self.s.inst(Op::LogicalOr, bool, &[exhausted, cut]);
        self.s.effect(Op::Store, &[trips.exhausted, exhausted]);
        self.s.inst(Op::LogicalAnd, bool, &[go, left])
    }

    /// Returns whether the slot has a grid.
    pub(super) fn occupied(&mut self) -> Word {
        let (bool, zero) = (self.s.type_bool(), self.s.u32(0));
        self.s.inst(Op::INotEqual, bool, &[self.frame.nu, zero])
    }

    /// Returns a loop's condition without empty slots in a resumable kernel: they would loop for ever.
    pub(super) fn unless_empty(&mut self, go: Word) -> Word {
        if self.saved.is_empty() {
            return go;
        }
        let (bool, occupied) = (self.s.type_bool(), self.occupied());
        self.s.inst(Op::LogicalAnd, bool, &[go, occupied])
    }

    /// Counts a trip that begins, those that lookups in it make in any case, and those that they have made since the
    /// last one was counted.
    fn count_trip(&mut self, inst: Inst) -> Result<(), EmitError> {
        let (Some(trips), false) = (self.trips, self.uncounted.contains(&inst)) else { return Ok(()) };
        let idle = trips_in(self.body, inst, &|op| op.idle_trips().into());
        let idle = u32::try_from(idle).unwrap_or(abi::LOOP_TRIPS_MAX).min(abi::LOOP_TRIPS_MAX);
        let (u32, made) = (self.s.type_u32(), self.s.u32(1 + idle));
        let count = self.s.load(u32, trips.count);
        let mut count = self.s.inst(Op::IAdd, u32, &[count, made]);
        if self.looks_up(inst) {
            let inside = self.call("rsl_take_trips", u32, &[])?;
            count = self.s.inst(Op::IAdd, u32, &[count, inside]);
        }
        self.s.effect(Op::Store, &[trips.count, count]);
        Ok(())
    }

    /// Returns whether an instruction, or one below it, looks something up in loops of its own.
    fn looks_up(&self, inst: Inst) -> bool {
        let mut found = false;
        self.body.walk_inst(inst, &mut |i| found |= self.body.inst(i).op.idle_trips() > 0);
        found
    }

    /// Returns whether a value is used in a region or below.
    fn is_used(&self, region: Region, value: Value) -> bool {
        let data = self.body.region(region);
        data.results.contains(&value)
            || data.insts.iter().any(|&i| {
                let inst = self.body.inst(i);
                inst.args.contains(&value) || inst.regions.iter().any(|&r| self.is_used(r, value))
            })
    }
}

//! The order in which a region is written: lookups that do not depend on each other come together, and share a loop.
//!
//! Drivers inline a lookup wherever it is called, and it is long: a CPU driver took minutes to compile 64 of them.

use crate::ir::{Body, Inst, Lookup, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The fewest lookups that share a loop.
const GATHERED_MIN: usize = 5;

/// A step of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// An instruction.
    One(Inst),
    /// Lookups of one kind that share a loop.
    Lookups(Lookup, Vec<Inst>),
}

/// Returns the steps of instructions that follow each other in a region. Lookups wait for those behind them whose
/// arguments do not depend on them, and what depends on lookups waits for these.
pub(crate) fn lookup_steps(body: &Body, insts: &[Inst]) -> Vec<Step> {
    let mut counts: FxHashMap<Lookup, usize> = FxHashMap::default();
    for &inst in insts {
        if let Op::Lookup(lookup) = body.inst(inst).op {
            *counts.entry(lookup).or_default() += 1;
        }
    }
    let is_frequent = |lookup: &Lookup| counts.get(lookup).is_some_and(|&count| count >= GATHERED_MIN);
    let mut gathering =
        Gathering { body, steps: Vec::new(), groups: Vec::new(), late: Vec::new(), waits: FxHashSet::default() };
    for &inst in insts {
        let op = &body.inst(inst).op;
        match op {
            Op::Lookup(lookup) if is_frequent(lookup) && !gathering.is_waiting(inst) => {
                gathering.gather(*lookup, inst);
            }
            _ if !gathering.is_waiting(inst) => gathering.steps.push(Step::One(inst)),
            _ if keeps_its_place(op) => {
                gathering.flush();
                gathering.steps.push(Step::One(inst));
            }
            _ => gathering.delay(inst),
        }
    }
    gathering.flush();
    gathering.steps
}

/// Returns whether an operation has effects, sees those of others, or must be reached by a workgroup together.
fn keeps_its_place(op: &Op) -> bool {
    let touches = matches!(op, Op::SlotLoad(_) | Op::SlotStore(_)) || op.record().is_some();
    touches || op.has_regions() || matches!(op, Op::Derivatives(_) | Op::Any)
}

/// A region whose lookups are being gathered.
struct Gathering<'a> {
    body: &'a Body,
    steps: Vec<Step>,
    /// Lookups that wait for more of their kind.
    groups: Vec<(Lookup, Vec<Inst>)>,
    /// What depends on them.
    late: Vec<Inst>,
    /// The values of both.
    waits: FxHashSet<Value>,
}

impl Gathering<'_> {
    /// Returns whether an instruction, or one below it, needs a value that is not there yet.
    fn is_waiting(&self, inst: Inst) -> bool {
        let mut found = false;
        if !self.waits.is_empty() {
            self.body.walk_inst(inst, &mut |inner| {
                let data = self.body.inst(inner);
                let yielded = data.regions.iter().flat_map(|&region| &self.body.region(region).results);
                found |= data.args.iter().chain(yielded).any(|value| self.waits.contains(value));
            });
        }
        found
    }

    fn gather(&mut self, lookup: Lookup, inst: Inst) {
        self.waits.extend(&self.body.inst(inst).results);
        match self.groups.iter_mut().find(|(kind, _)| *kind == lookup) {
            Some((_, group)) => group.push(inst),
            None => self.groups.push((lookup, vec![inst])),
        }
    }

    fn delay(&mut self, inst: Inst) {
        self.waits.extend(&self.body.inst(inst).results);
        self.late.push(inst);
    }

    /// Ends the waiting.
    fn flush(&mut self) {
        for (lookup, group) in std::mem::take(&mut self.groups) {
            if group.len() >= GATHERED_MIN {
                self.steps.push(Step::Lookups(lookup, group));
            } else {
                self.steps.extend(group.into_iter().map(Step::One));
            }
        }
        self.waits.clear();
        let late = std::mem::take(&mut self.late);
        if !late.is_empty() {
            self.steps.extend(lookup_steps(self.body, &late));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Binary, Const, LookupKind, MachineType};

    const LOOKUP: Lookup = Lookup { kind: LookupKind::Texture, ty: MachineType::F32 };

    /// Adds an instruction to the root, and gives it and its result.
    fn push(body: &mut Body, op: Op, args: Vec<Value>, results: &[MachineType]) -> (Inst, Option<Value>) {
        let inst = body.add_inst(op, args, Vec::new(), results);
        let root = body.root();
        body.region_mut(root).insts.push(inst);
        (inst, body.inst(inst).results.first().copied())
    }

    /// Looks up so often in a row, and adds what is found to a sum after each lookup.
    fn sum_of_lookups(count: usize) -> (Body, Vec<Inst>) {
        let mut body = Body::default();
        let (_, zero) = push(&mut body, Op::Const(Const::F32(0.0)), Vec::new(), &[MachineType::F32]);
        let (zero, mut sum, mut lookups) = (zero.expect("it has a result"), zero, Vec::new());
        for _ in 0..count {
            let (inst, found) = push(&mut body, Op::Lookup(LOOKUP), vec![zero; 15], &[MachineType::F32]);
            let args = [sum, found].into_iter().flatten().collect();
            sum = push(&mut body, Op::Binary(Binary::Add), args, &[MachineType::F32]).1;
            lookups.push(inst);
        }
        (body, lookups)
    }

    fn steps_of(body: &Body) -> Vec<Step> {
        lookup_steps(body, &body.region(body.root()).insts)
    }

    #[test]
    fn lookups_that_do_not_depend_on_each_other_share_a_loop() {
        let (body, lookups) = sum_of_lookups(64);
        let found = steps_of(&body);
        assert_eq!(found[1], Step::Lookups(LOOKUP, lookups));
        assert_eq!(found.len(), 2 + 64);
        let (body, _) = sum_of_lookups(GATHERED_MIN - 1);
        assert!(steps_of(&body).iter().all(|step| matches!(step, Step::One(_))));
    }

    #[test]
    fn lookups_that_depend_on_others_come_after_them() {
        let (mut body, lookups) = sum_of_lookups(5);
        let sum = body.region(body.root()).insts.last().map(|&inst| body.inst(inst).results[0]).expect("a sum");
        let last = push(&mut body, Op::Lookup(LOOKUP), vec![sum; 15], &[MachineType::F32]).0;
        let found = steps_of(&body);
        assert_eq!(found[1], Step::Lookups(LOOKUP, lookups));
        assert_eq!(found.last(), Some(&Step::One(last)));
    }

    #[test]
    fn effects_keep_their_order() {
        let (mut body, lookups) = sum_of_lookups(5);
        let (first, rest) = body.region(body.root()).insts.split_at(3);
        let (first, rest) = (first.to_vec(), rest.to_vec());
        let sum = body.inst(first[2]).results[0];
        let slot = body.add_slot(MachineType::F32, 2);
        let root = body.root();
        body.region_mut(root).insts = first;
        let store = push(&mut body, Op::SlotStore(slot), vec![sum; 2], &[]).0;
        body.region_mut(root).insts.extend(rest);
        let found = steps_of(&body);
        let at = |wanted: &Step| found.iter().position(|step| step == wanted).expect("it is a step");
        // One lookup before the store, four behind it: too few to share a loop.
        assert!(at(&Step::One(lookups[0])) < at(&Step::One(store)));
        assert!(at(&Step::One(store)) < at(&Step::One(lookups[1])));
    }
}

//! The programs of passes: a program that is cut becomes one for each pass. They run one after the other on the same
//! vertices, and save values for each other in channels.
//!
//! A pass has its own instructions of the root region, in their order, and those that belong to no pass, as far as it
//! needs them. What other instructions define is restored before its first use. A channel is stored to again only
//! after its last reader: a pass never stores where it reads, so that it may be run again. A pass may also answer a
//! call ([`super::calls`]).

use super::calls::CallForms;
use super::channels::Channels;
use super::checked::checked;
use super::dead::remove_dead;
use super::free_values::free_values;
use crate::ir::{Body, Def, Inst, MachineType, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::slice;

/// Where a pass stores a value that its root yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// From this output channel on.
    Output(u32),
    /// For later passes, from this lane of this channel on.
    Saved {
        /// The first channel of the value, among those that passes save values in.
        channel: u32,
        /// The first lane.
        lane: u8,
    },
}

/// What a pass does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassPlan {
    /// It runs these instructions of the root region.
    Run(Vec<Inst>),
    /// It answers this instruction of the root region, a lookup or a branch that has nothing else. The last pass before
    /// it that runs instructions leaves the request.
    Call(Inst),
}

impl PassPlan {
    fn insts(&self) -> &[Inst] {
        match self {
            PassPlan::Run(insts) => insts,
            PassPlan::Call(call) => slice::from_ref(call),
        }
    }

    fn call(&self) -> Option<Inst> {
        match *self {
            PassPlan::Run(_) => None,
            PassPlan::Call(call) => Some(call),
        }
    }
}

/// The program of a pass.
#[derive(Clone, Debug)]
pub struct PassProgram {
    /// The program; [`Op::Restore`] reads what earlier passes have saved.
    pub body: Body,
    /// Where each value that its root yields is stored.
    pub stored: Vec<Stored>,
    /// The channel from which on it counts those that passes save values in.
    pub first_channel: u32,
    /// For a call the number of its form: programs of one form are equal.
    pub form: Option<usize>,
}

/// A program cut into passes.
#[derive(Clone, Debug)]
pub struct CutProgram {
    /// The passes, in the order in which they run.
    pub passes: Vec<PassProgram>,
    /// Channels in which they save values.
    pub channels: u32,
}

impl CutProgram {
    /// Returns a program as its only pass, whose outputs begin at these channels.
    pub fn whole(body: Body, outputs: &[u32]) -> Self {
        let stored = outputs.iter().map(|&channel| Stored::Output(channel)).collect();
        Self { passes: vec![PassProgram { body, stored, first_channel: 0, form: None }], channels: 0 }
    }
}

/// Cuts a program, whose outputs begin at these channels, into passes. An instruction may be in several passes, one
/// with an effect in one; what is in none is computed wherever it is needed. Returns `None` if a pass needs what only
/// itself or a later one could save.
pub fn cut_passes(body: &Body, plans: &[PassPlan], outputs: &[u32]) -> Option<CutProgram> {
    let cut = Cut::new(body, plans)?;
    let (mut channels, mut places) = (Channels::default(), Places::default());
    let mut programs = Vec::new();
    for (pass, plan) in plans.iter().enumerate() {
        if let Some(call) = plan.call() {
            programs.push(cut.call_program(call, &places));
            continue;
        }
        let mut stored = cut.outputs_of(pass, outputs);
        for (value, until) in cut.saved(pass) {
            let (channel, lane) = channels.place(body.ty(value), pass, until);
            places.values.insert(value, (channel, lane));
            stored.push((value, Stored::Saved { channel, lane }));
        }
        for call in cut.calls_after(pass) {
            stored.extend(cut.request(call, &mut channels, &mut places, pass));
        }
        programs.push(cut.program(pass, &stored, &places));
    }
    Some(CutProgram { passes: programs, channels: channels.count() })
}

/// Where values and requests are.
#[derive(Default)]
struct Places {
    /// For each saved value its channel and lane.
    values: FxHashMap<Value, (u32, u8)>,
    /// For each call the first channel of its request.
    requests: FxHashMap<Inst, u32>,
}

/// What passes need of each other.
struct Cut<'a> {
    body: &'a Body,
    plans: &'a [PassPlan],
    calls: CallForms,
    /// For each pass its instructions, with those that belong to no pass.
    own: Vec<FxHashSet<Inst>>,
    /// For each pass the values that it restores.
    restored: Vec<FxHashSet<Value>>,
    /// For each value that is saved the pass that saves it, and the last that restores it.
    spans: FxHashMap<Value, (usize, usize)>,
    /// For each value that the root yields the pass that stores it.
    yields: Vec<usize>,
}

impl<'a> Cut<'a> {
    fn new(body: &'a Body, plans: &'a [PassPlan]) -> Option<Self> {
        let root = body.region(body.root());
        let mut first: FxHashMap<Inst, usize> = FxHashMap::default();
        for (plan, pass) in plans.iter().zip(0..) {
            plan.insts().iter().for_each(|&inst| _ = first.entry(inst).or_insert(pass));
        }
        let computing = |value: Value| definition(body, value).and_then(|inst| first.get(&inst).copied());
        let shared = root.insts.iter().filter(|inst| !first.contains_key(inst));
        let runs = |&pass: &usize| plans[pass].call().is_none();
        let last = (0..plans.len()).rfind(runs)?;
        let yielded = root.results.iter().map(|&value| computing(value).filter(runs).unwrap_or(last));
        let mut cut = Self {
            body,
            plans,
            calls: CallForms::new(body, plans.iter().filter_map(PassPlan::call)),
            own: plans.iter().map(|plan| plan.insts().iter().chain(shared.clone()).copied().collect()).collect(),
            restored: Vec::new(),
            spans: FxHashMap::default(),
            yields: yielded.collect(),
        };
        for pass in 0..plans.len() {
            let restored = if runs(&pass) { cut.needed(pass) } else { FxHashSet::default() };
            for &value in &restored {
                let from = computing(value).filter(|&from| from < pass)?;
                cut.spans.entry(value).or_insert((from, pass)).1 = pass;
            }
            cut.restored.push(restored);
        }
        Some(cut)
    }

    /// Returns the calls that follow a pass before the next one that is none.
    fn calls_after(&self, pass: usize) -> impl Iterator<Item = Inst> + use<'a> {
        self.plans[pass + 1..].iter().map_while(PassPlan::call)
    }

    /// Returns the values that a pass stores beside what it saves.
    fn handed_on(&self, pass: usize) -> Vec<Value> {
        let results = self.body.region(self.body.root()).results.iter().zip(&self.yields);
        let mut values: Vec<Value> = results.filter(|&(_, &at)| at == pass).map(|(&value, _)| value).collect();
        for call in self.calls_after(pass) {
            values.extend(self.calls.form(call).sent(self.body, call).into_iter().map(|(value, ..)| value));
        }
        values
    }

    /// Returns what a pass needs that it does not compute, by its own instructions or through those that belong to no
    /// pass.
    fn needed(&self, pass: usize) -> FxHashSet<Value> {
        let (body, own) = (self.body, &self.own[pass]);
        let (mut seen, mut needed): (FxHashSet<Inst>, FxHashSet<Value>) = Default::default();
        let mut work: Vec<Inst> = self.plans[pass].insts().to_vec();
        let mut need = |value: Value, work: &mut Vec<Inst>| match definition(body, value) {
            Some(from) if own.contains(&from) => work.push(from),
            Some(_) => _ = needed.insert(value),
            None => {}
        };
        self.handed_on(pass).into_iter().for_each(|value| need(value, &mut work));
        while let Some(inst) = work.pop() {
            if seen.insert(inst) {
                free_values(body, inst).into_iter().for_each(|value| need(value, &mut work));
            }
        }
        needed
    }

    /// Returns what a pass saves, each value with the last pass that restores it: the largest first, so that the
    /// smaller ones fill what they leave.
    fn saved(&self, pass: usize) -> Vec<(Value, usize)> {
        let of_pass = self.spans.iter().filter(|(_, (from, _))| *from == pass);
        let mut saved: Vec<(Value, usize)> = of_pass.map(|(&value, &(_, until))| (value, until)).collect();
        saved.sort_by_key(|&(value, until)| (Reverse(self.body.ty(value).words()), until, value));
        saved
    }

    fn outputs_of(&self, pass: usize, outputs: &[u32]) -> Vec<(Value, Stored)> {
        let all = self.body.region(self.body.root()).results.iter().zip(outputs).zip(&self.yields);
        all.filter(|&(_, &at)| at == pass).map(|((&value, &channel), _)| (value, Stored::Output(channel))).collect()
    }

    /// Returns where the pass before a call stores its request, which is there until the answer was read.
    fn request(&self, call: Inst, channels: &mut Channels, places: &mut Places, pass: usize) -> Vec<(Value, Stored)> {
        let (form, data) = (self.calls.form(call), self.body.inst(call));
        let until = self.spans.get(&data.results[0]).map_or(self.plans.len(), |span| span.1);
        let first = channels.block(form.request_channels + 1, pass, until);
        places.requests.insert(call, first);
        places.values.insert(data.results[0], (first + form.request_channels, 0));
        let stored = |(value, channel, lane)| (value, Stored::Saved { channel: first + channel, lane });
        form.sent(self.body, call).into_iter().map(stored).collect()
    }

    fn call_program(&self, call: Inst, places: &Places) -> PassProgram {
        let form = self.calls.form(call);
        PassProgram {
            body: checked(form.program(self.body, call)),
            stored: vec![Stored::Saved { channel: form.request_channels, lane: 0 }],
            first_channel: places.requests[&call],
            form: Some(self.calls.of[&call]),
        }
    }

    fn program(&self, pass: usize, stored: &[(Value, Stored)], places: &Places) -> PassProgram {
        let mut body = self.body.clone();
        let root = body.root();
        let (own, mut left) = (&self.own[pass], self.restored[pass].clone());
        let (mut insts, mut renamed) = (Vec::new(), FxHashMap::default());
        let mut restore = |body: &mut Body, insts: &mut Vec<Inst>, value: Value| {
            let ((channel, lane), ty) = (places.values[&value], body.ty(value));
            definition(body, value).into_iter().for_each(|inst| _ = body.go_to_inst(inst));
            let restore = body.add_inst(Op::Restore { channel, lane, ty }, Vec::new(), Vec::new(), &[ty]);
            renamed.insert(value, body.inst(restore).results[0]);
            insts.push(restore);
        };
        for inst in std::mem::take(&mut body.region_mut(root).insts) {
            if !own.contains(&inst) {
                continue;
            }
            for value in free_values(&body, inst) {
                if left.remove(&value) {
                    restore(&mut body, &mut insts, value);
                }
            }
            insts.push(inst);
        }
        // What is only handed on.
        let mut left: Vec<Value> = left.into_iter().collect();
        left.sort_unstable();
        left.into_iter().for_each(|value| restore(&mut body, &mut insts, value));
        let restored: FxHashSet<Value> = renamed.keys().copied().collect();
        vote_again(&mut body, &mut insts, &restored);
        body.region_mut(root).insts = insts;
        body.region_mut(root).results = stored.iter().map(|&(value, _)| value).collect();
        body.substitute(root, &renamed);
        remove_dead(&mut body);
        let stored = stored.iter().map(|&(_, stored)| stored).collect();
        PassProgram { body: checked(body), stored, first_channel: 0, form: None }
    }
}

/// Has workgroups vote again on conditions that an earlier pass has saved, before branches in which they meet: what a
/// point restores that is no vertex means nothing, and they must agree.
fn vote_again(body: &mut Body, insts: &mut Vec<Inst>, restored: &FxHashSet<Value>) {
    for inst in std::mem::take(insts) {
        let condition = body.inst(inst).args.first().copied().filter(|condition| restored.contains(condition));
        let mut meets = false;
        body.walk_inst(inst, &mut |inner| meets |= matches!(body.inst(inner).op, Op::Derivatives(_) | Op::Any));
        if let Some(condition) = condition.filter(|_| meets && body.inst(inst).op == Op::If) {
            let vote = body.add_inst(Op::Any, vec![condition], Vec::new(), &[MachineType::Bool]);
            insts.push(vote);
            body.inst_mut(inst).args[0] = body.inst(vote).results[0];
        }
        insts.push(inst);
    }
}

/// Returns the instruction that defines a value of the root region.
fn definition(body: &Body, value: Value) -> Option<Inst> {
    match body.value(value).def {
        Def::Inst(inst, _) => Some(inst),
        Def::Param(..) => None,
    }
}

//! The programs of passes: a program that is cut becomes one for each pass. They run one after the other on the same
//! vertices, and save values for each other in channels.
//!
//! A pass has its own instructions of the root region, in their order, and those that belong to no pass, as far as it
//! needs them. What other instructions define is restored before its first use. A channel is stored to again only
//! after its last reader: a pass never stores where it reads, so that it may be run again.

use super::checked;
use super::dead::remove_dead;
use super::free_values::free_values;
use crate::abi::channels;
use crate::ir::{Body, Def, Inst, MachineType, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Words of a channel.
const CHANNEL_WORDS: u32 = 4;

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

/// The program of a pass.
#[derive(Clone, Debug)]
pub struct PassProgram {
    /// The program; [`Op::Restore`] reads what earlier passes have saved.
    pub body: Body,
    /// Where each value that its root yields is stored.
    pub stored: Vec<Stored>,
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
        Self { passes: vec![PassProgram { body, stored }], channels: 0 }
    }
}

/// Cuts a program into passes of these instructions of its root region, whose outputs begin at these channels. An
/// instruction may be in several passes, one with an effect in one; what is in none is computed wherever it is needed.
/// Returns `None` if a pass needs what only itself or a later one could save.
pub fn cut_passes(body: &Body, passes: &[Vec<Inst>], outputs: &[u32]) -> Option<CutProgram> {
    let cut = Cut::new(body, passes)?;
    let mut channels = Channels::default();
    let mut places = FxHashMap::default();
    let programs = (0..passes.len()).map(|pass| {
        let mut saved = cut.saved(pass);
        // The largest first, so that the smaller ones fill what they leave.
        saved.sort_by_key(|&(value, until)| (Reverse(body.ty(value).words()), until, value));
        let mut stored = cut.outputs_of(pass, outputs);
        for (value, until) in saved {
            let (channel, lane) = channels.place(body.ty(value), pass, until);
            places.insert(value, (channel, lane));
            stored.push((value, Stored::Saved { channel, lane }));
        }
        cut.program(pass, &stored, &places)
    });
    let passes = programs.collect();
    Some(CutProgram { passes, channels: channels.free_from.len() as u32 })
}

/// What passes need of each other.
struct Cut<'a> {
    body: &'a Body,
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
    fn new(body: &'a Body, passes: &[Vec<Inst>]) -> Option<Self> {
        let root = body.region(body.root());
        let mut first: FxHashMap<Inst, usize> = FxHashMap::default();
        let placed = passes.iter().zip(0..).flat_map(|(insts, pass)| insts.iter().map(move |&inst| (inst, pass)));
        placed.for_each(|(inst, pass)| _ = first.entry(inst).or_insert(pass));
        let computing = |inst: Inst| first.get(&inst).copied();
        let shared = root.insts.iter().filter(|inst| !first.contains_key(inst));
        let last = passes.len().checked_sub(1)?;
        let yielded = root.results.iter().map(|&value| definition(body, value).and_then(computing).unwrap_or(last));
        let mut cut = Self {
            body,
            own: passes.iter().map(|pass| pass.iter().chain(shared.clone()).copied().collect()).collect(),
            restored: Vec::new(),
            spans: FxHashMap::default(),
            yields: yielded.collect(),
        };
        for (pass, insts) in passes.iter().enumerate() {
            let restored = cut.needed(pass, insts);
            for &value in &restored {
                let from = definition(body, value).and_then(computing).filter(|&from| from < pass)?;
                cut.spans.entry(value).or_insert((from, pass)).1 = pass;
            }
            cut.restored.push(restored);
        }
        Some(cut)
    }

    /// Returns what the instructions of a pass need that it does not compute, by themselves or through those that
    /// belong to no pass.
    fn needed(&self, pass: usize, insts: &[Inst]) -> FxHashSet<Value> {
        let (body, own) = (self.body, &self.own[pass]);
        let mut work: Vec<Inst> = insts.to_vec();
        let results = body.region(body.root()).results.iter().zip(&self.yields).filter(|&(_, &at)| at == pass);
        work.extend(results.filter_map(|(&value, _)| definition(body, value)));
        let (mut seen, mut needed): (FxHashSet<Inst>, FxHashSet<Value>) = Default::default();
        while let Some(inst) = work.pop() {
            if !seen.insert(inst) {
                continue;
            }
            for value in free_values(body, inst) {
                let Some(from) = definition(body, value) else { continue };
                if own.contains(&from) {
                    work.push(from);
                } else {
                    needed.insert(value);
                }
            }
        }
        needed
    }

    /// Returns what a pass saves, each value with the last pass that restores it.
    fn saved(&self, pass: usize) -> Vec<(Value, usize)> {
        let of_pass = self.spans.iter().filter(|(_, (from, _))| *from == pass);
        of_pass.map(|(&value, &(_, until))| (value, until)).collect()
    }

    fn outputs_of(&self, pass: usize, outputs: &[u32]) -> Vec<(Value, Stored)> {
        let all = self.body.region(self.body.root()).results.iter().zip(outputs).zip(&self.yields);
        all.filter(|&(_, &at)| at == pass).map(|((&value, &channel), _)| (value, Stored::Output(channel))).collect()
    }

    fn program(&self, pass: usize, stored: &[(Value, Stored)], places: &FxHashMap<Value, (u32, u8)>) -> PassProgram {
        let mut body = self.body.clone();
        let root = body.root();
        let (own, mut left) = (&self.own[pass], self.restored[pass].clone());
        let (mut insts, mut renamed) = (Vec::new(), FxHashMap::default());
        for inst in std::mem::take(&mut body.region_mut(root).insts) {
            if !own.contains(&inst) {
                continue;
            }
            for value in free_values(&body, inst) {
                if left.remove(&value) {
                    let ((channel, lane), ty) = (places[&value], body.ty(value));
                    let restore = body.add_inst(Op::Restore { channel, lane, ty }, Vec::new(), Vec::new(), &[ty]);
                    renamed.insert(value, body.inst(restore).results[0]);
                    insts.push(restore);
                }
            }
            insts.push(inst);
        }
        body.region_mut(root).insts = insts;
        body.region_mut(root).results = stored.iter().map(|&(value, _)| value).collect();
        body.substitute(root, &renamed);
        remove_dead(&mut body);
        PassProgram { body: checked(body), stored: stored.iter().map(|&(_, stored)| stored).collect() }
    }
}

/// Returns the instruction that defines a value of the root region.
fn definition(body: &Body, value: Value) -> Option<Inst> {
    match body.value(value).def {
        Def::Inst(inst, _) => Some(inst),
        Def::Param(..) => None,
    }
}

/// The channels in which values are saved.
#[derive(Default)]
struct Channels {
    /// For each the first pass that may store there again.
    free_from: Vec<usize>,
    /// The channels that the pass at work stores to, each with the words that are taken.
    open: Vec<(usize, u32)>,
    pass: usize,
}

impl Channels {
    /// Returns the channel and the lane of a value that `pass` saves and no pass after `until` reads.
    fn place(&mut self, ty: MachineType, pass: usize, until: usize) -> (u32, u8) {
        if std::mem::replace(&mut self.pass, pass) != pass {
            self.open.clear();
        }
        let words = ty.words();
        if let Some((channel, taken)) = self.open.iter_mut().find(|(_, taken)| *taken + words <= CHANNEL_WORDS) {
            let lane = std::mem::replace(taken, *taken + words);
            self.free_from[*channel] = self.free_from[*channel].max(until + 1);
            return (*channel as u32, lane as u8);
        }
        let count = channels(ty) as usize;
        let is_free = |first: &usize| self.free_from.iter().skip(*first).take(count).all(|&from| from <= pass);
        let first = (0..=self.free_from.len()).find(is_free).unwrap_or(self.free_from.len());
        self.free_from.resize(self.free_from.len().max(first + count), 0);
        self.free_from[first..first + count].fill(until + 1);
        if count == 1 {
            self.open.push((first, words));
        }
        (first as u32, 0)
    }
}

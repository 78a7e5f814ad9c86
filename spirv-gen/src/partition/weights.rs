//! What instructions weigh: operations of code, and steps (a product and a sum of floats) that it takes to run them.
//!
//! Steps are estimates. Loops whose trips are not known are taken to make a few, and all sides of a branch are run, as
//! they are where neighbouring vertices differ.

use crate::ir::{Binary, Body, Inst, MachineType, Op, Region, Unary};
use crate::passes::{Step, lookup_steps, trip_count};
use rustc_hash::FxHashMap;
use std::ops::AddAssign;

/// Trips of a loop that nothing is known of, and lights of a light loop.
const TRIPS_GUESS: u32 = 4;

/// Steps of an instruction at most: so many of them can be added.
const STEPS_MAX: u32 = 1 << 24;

/// What calls of the helper library weigh in code, as CPU drivers compile it: 0.15 ms for a plain operation, 16 ms for
/// a sine, 36 ms for noise in three dimensions, 220 ms for a lookup.
const FUNCTION_SIZE: u32 = 100;
const NOISE_SIZE: u32 = 240;
pub(super) const LOOKUP_SIZE: u32 = 1500;

/// What an instruction weighs, with all that it owns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    /// Operations of code.
    pub(super) size: u32,
    /// Steps to run it.
    pub(super) steps: u32,
}

impl AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        self.size = self.size.saturating_add(other.size);
        self.steps = self.steps.saturating_add(other.steps).min(STEPS_MAX);
    }
}

/// Lookups that share a loop, each with their number.
pub(super) type SharedLoops = FxHashMap<Inst, u32>;

/// Finds the lookups of a region that share loops.
pub(super) fn shared_loops(body: &Body, region: Region) -> SharedLoops {
    let steps = lookup_steps(body, &body.region(region).insts).into_iter();
    let shared = steps.filter_map(|step| if let Step::Lookups(_, insts) = step { Some(insts) } else { None });
    shared.flat_map(|insts| insts.clone().into_iter().map(move |inst| (inst, insts.len() as u32))).collect()
}

/// Returns the weight of an instruction where a lookup takes `lookup_steps`.
pub(super) fn weight(body: &Body, inst: Inst, shared: &SharedLoops, lookup_steps: u32) -> Weight {
    let data = body.inst(inst);
    let words = data.results.iter().map(|&result| body.ty(result).words()).sum::<u32>();
    let mut inner = Weight::default();
    data.regions.iter().for_each(|&region| inner += region_weight(body, region, lookup_steps));
    let times = match data.op {
        Op::Loop => trip_count(body, inst).map_or(TRIPS_GUESS, |trips| trips.try_into().unwrap_or(STEPS_MAX)),
        Op::LightLoop { .. } | Op::Illuminance { .. } => TRIPS_GUESS,
        _ => 1,
    };
    let mut weight = Weight {
        size: size(&data.op) / shared.get(&inst).unwrap_or(&1),
        steps: steps(&data.op, words, lookup_steps).min(STEPS_MAX),
    };
    weight += Weight { size: inner.size, steps: inner.steps.saturating_mul(times) };
    weight
}

/// Steps of a lookup where nothing else is known of it.
const LOOKUP_STEPS: u32 = 400;

/// Returns the steps of an instruction, without what it owns.
pub(crate) fn steps_of(body: &Body, inst: Inst) -> u32 {
    let data = body.inst(inst);
    let words = data.results.iter().map(|&result| body.ty(result).words()).sum();
    if data.op.has_regions() { 1 } else { steps(&data.op, words, LOOKUP_STEPS).min(STEPS_MAX) }
}

/// Returns the weight of a region.
pub(super) fn region_weight(body: &Body, region: Region, lookup_steps: u32) -> Weight {
    let (mut sum, shared) = (Weight::default(), shared_loops(body, region));
    body.region(region).insts.iter().for_each(|&inst| sum += weight(body, inst, &shared, lookup_steps));
    sum
}

/// Returns the operations of code that an operation is, without what it owns.
fn size(op: &Op) -> u32 {
    use Unary::{Acos, Asin, Atan, Cos, Determinant, Exp, Inverse, Log, Sin, Tan};
    match op {
        Op::Lookup(_) | Op::Points(_) => LOOKUP_SIZE,
        Op::Noise { .. } => NOISE_SIZE,
        Op::Unary(Sin | Cos | Tan | Asin | Acos | Atan | Exp | Log | Inverse | Determinant) => FUNCTION_SIZE,
        Op::Binary(Binary::Pow | Binary::Atan2) | Op::ColorTransform(..) => FUNCTION_SIZE,
        _ => 1,
    }
}

/// Returns the steps of an operation whose results have so many words.
fn steps(op: &Op, words: u32, lookup_steps: u32) -> u32 {
    match op {
        Op::Const(_) | Op::Builtin(_) | Op::Channel { .. } | Op::Restore { .. } | Op::Load { .. } => 0,
        Op::Vec3 | Op::Comp(_) | Op::SetComp(_) | Op::Mat4 | Op::Unary(Unary::Splat | Unary::Bits | Unary::Token) => 0,
        Op::Lookup(_) | Op::Points(_) => lookup_steps,
        Op::Noise { dimension, ty, .. } => (10 << dimension) * ty.words(),
        Op::Random { .. } => 10 * words,
        Op::Spline { .. } | Op::ColorTransform(..) => 20 * words,
        Op::Derivatives(_) | Op::Any => 10 + 4 * words,
        Op::Unary(Unary::Inverse | Unary::Determinant) => 100,
        Op::Unary(Unary::Sin | Unary::Cos | Unary::Tan | Unary::Asin | Unary::Acos | Unary::Atan) => 20,
        Op::Unary(Unary::Exp | Unary::Log) => 20,
        Op::Unary(Unary::Sqrt) => 5 * words,
        Op::Binary(Binary::Pow | Binary::Atan2) => 40,
        Op::Binary(Binary::Div | Binary::Mod) => 5 * words,
        Op::Binary(Binary::Mul) if words == MachineType::Mat4.words() => 64,
        Op::Binary(Binary::XformPoint | Binary::XformVector | Binary::XformNormal) => 12,
        Op::Binary(Binary::Dot) => 3,
        Op::Binary(Binary::Cross) => 6,
        _ => words,
    }
}

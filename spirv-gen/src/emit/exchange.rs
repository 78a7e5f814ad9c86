//! What the points of a workgroup do together: differences between neighbours, and votes.
//!
//! An exchange writes each point's arguments to shared memory, meets at one barrier, and reads the neighbours'. Two
//! halves of the memory are used in turn, so that the next exchange may write while slow points still read this one's
//! half; the one after that writes this half again, but only after a barrier that those points have reached.

use super::kernel::{KernelIds, flag};
use super::spirv::Spirv;
use crate::abi::{self, work};
use crate::ir::{Body, Op as IrOp, Region};
use crate::passes::exchanges::EXCHANGE_FLOATS_MAX;
use rspirv::spirv::{MemorySemantics, Op, Scope, StorageClass, Word};

/// How a derivative is taken at this vertex: `(w1 (f[b] - f[a]) + w2 (f[c] - f[a])) / h`, lanes a, b, c.
///
/// Inside the grid these are the neighbours on both sides, w = (1/2, 0); at its rim with three vertices or more the
/// vertex and the next two, w = (2, -1/2); with two vertices the two.
#[derive(Clone, Copy)]
pub(super) struct Stencil {
    pub(super) lanes: [Word; 3],
    pub(super) weights: [Word; 2],
}

/// Shared memory and stencils.
pub(super) struct Exchange {
    /// Floats exchanged at most; 0 when the program takes no derivatives.
    pub(super) floats: u32,
    pub(super) memory: Word,
    /// Which half comes next: known when all exchanges are in straight-line code, else a variable.
    pub(super) half: ExchangeHalf,
    pub(super) stencils: Option<[Stencil; 2]>,
    pub(super) votes: Option<Votes>,
}

pub(super) enum ExchangeHalf {
    Known(u32),
    Variable(Word),
}

/// Three shared words used in turn: a vote raises one and clears the next.
pub(super) struct Votes {
    pub(super) cells: Word,
    pub(super) turn: Word,
}

#[derive(Default)]
struct ExchangeUses {
    floats: u32,
    in_regions: bool,
    votes: bool,
}

fn uses(body: &Body, region: Region, is_inner: bool, found: &mut ExchangeUses) {
    for &inst in &body.region(region).insts {
        let data = body.inst(inst);
        if let IrOp::Derivatives(_) = data.op {
            let floats = data.args.iter().map(|&a| body.ty(a).words()).sum();
            found.floats = found.floats.max(floats);
            found.in_regions |= is_inner;
        }
        found.votes |= data.op == IrOp::Any;
        for &inner in &data.regions {
            uses(body, inner, true, found);
        }
    }
}

impl Exchange {
    /// Declares the shared memory that a program needs, with votes for a program whose points `stop` together.
    pub(super) fn new(s: &mut Spirv, body: &Body, stop: bool) -> Self {
        let mut found = ExchangeUses::default();
        uses(body, body.root(), false, &mut found);
        found.votes |= stop && found.floats > 0;
        debug_assert!(found.floats <= EXCHANGE_FLOATS_MAX, "exchanges are cut to what shared memory holds");
        let mut memory = 0;
        if found.floats > 0 {
            let f32 = s.type_f32();
            let array = s.type_array(f32, 2 * found.floats * abi::WORKGROUP_SIZE);
            memory = s.variable(StorageClass::Workgroup, array);
        }
        let votes = found.votes.then(|| {
            let u32 = s.type_u32();
            let array = s.type_array(u32, 3);
            Votes { cells: s.variable(StorageClass::Workgroup, array), turn: 0 }
        });
        let half = if found.in_regions { ExchangeHalf::Variable(0) } else { ExchangeHalf::Known(0) };
        Self { floats: found.floats, memory, half, stencils: None, votes }
    }

    /// Returns its variables, for the entry point.
    pub(super) fn variables(&self) -> Vec<Word> {
        let memory = (self.floats > 0).then_some(self.memory);
        memory.into_iter().chain(self.votes.as_ref().map(|v| v.cells)).collect()
    }

    /// Writes what must be at the start of the kernel.
    pub(super) fn begin(&mut self, s: &mut Spirv, frame: &KernelIds) {
        let (u32, zero) = (s.type_u32(), s.u32(0));
        if self.floats > 0 {
            self.stencils = Some(stencils(s, frame));
        }
        if let ExchangeHalf::Variable(variable) = &mut self.half {
            *variable = s.local(u32, Some(zero));
        }
        if let Some(votes) = &mut self.votes {
            votes.turn = s.local(u32, Some(zero));
            let pointer = cell(s, votes.cells, zero);
            let bool = s.type_bool();
            let first = s.inst(Op::IEqual, bool, &[frame.lane, zero]);
            when(s, first, |s| s.effect(Op::Store, &[pointer, zero]));
            barrier(s);
        }
    }
}

pub(super) fn cell(s: &mut Spirv, cells: Word, index: Word) -> Word {
    let u32 = s.type_u32();
    let pointer = s.type_pointer(StorageClass::Workgroup, u32);
    s.inst(Op::AccessChain, pointer, &[cells, index])
}

/// `if (cond) { write }`
pub(super) fn when(s: &mut Spirv, cond: Word, write: impl FnOnce(&mut Spirv)) {
    let (inside, past) = (s.id(), s.id());
    s.selection_merge(past);
    s.effect(Op::BranchConditional, &[cond, inside, past]);
    s.block(inside);
    write(s);
    s.branch(past);
    s.block(past);
}

/// Waits for the workgroup, and for its writes to shared memory.
pub(super) fn barrier(s: &mut Spirv) {
    let semantics = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY;
    let (scope, semantics) = (s.u32(Scope::Workgroup as u32), s.u32(semantics.bits()));
    s.effect(Op::ControlBarrier, &[scope, scope, semantics]);
}

/// Along one axis: this vertex's place, the number of micropolygons.
struct Line {
    at: Word,
    last: Word,
}

fn stencils(s: &mut Spirv, frame: &KernelIds) -> [Stencil; 2] {
    let (u32, f32) = (s.type_u32(), s.type_f32());
    let one = s.u32(1);
    // j = l / (nu + 1) by a float division: integer division is slow on CPU drivers, and this one is exact for 16-bit
    // numbers.
    let width = s.inst(Op::IAdd, u32, &[frame.nu, one]);
    let (half, vertex, columns) = (s.f32(0.5), s.inst(Op::ConvertUToF, f32, &[frame.vertex]), width);
    let columns = s.inst(Op::ConvertUToF, f32, &[columns]);
    let centre = s.inst(Op::FAdd, f32, &[vertex, half]);
    let quotient = s.inst(Op::FDiv, f32, &[centre, columns]);
    let j = s.inst(Op::ConvertFToU, u32, &[quotient]);
    let row = s.inst(Op::IMul, u32, &[j, width]);
    let i = s.inst(Op::ISub, u32, &[frame.vertex, row]);
    let mask = s.inst(Op::Not, u32, &[frame.slot_mask]);
    let base = s.inst(Op::BitwiseAnd, u32, &[frame.lane, mask]);

    let (along_u, along_v) = (Line { at: i, last: frame.nu }, Line { at: j, last: frame.nv });
    // Snapped rows and columns borrow the differences of their neighbours.
    let row = regular(s, frame, &along_v, work::FLAG_SNAPPED_V0, work::FLAG_SNAPPED_V1);
    let column = regular(s, frame, &along_u, work::FLAG_SNAPPED_U0, work::FLAG_SNAPPED_U1);
    let row = s.inst(Op::IMul, u32, &[row, width]);
    let row = s.inst(Op::IAdd, u32, &[base, row]);
    let column = s.inst(Op::IAdd, u32, &[base, column]);
    [stencil(s, &along_u, row, one), stencil(s, &along_v, column, width)]
}

/// Returns the place on a line across which differences are taken: one further inside at a snapped end, if that is not
/// snapped too.
fn regular(s: &mut Spirv, frame: &KernelIds, line: &Line, low: u32, high: u32) -> Word {
    let (u32, bool, zero, one) = (s.type_u32(), s.type_bool(), s.u32(0), s.u32(1));
    let (low, high) = (flag(s, frame.flags, low), flag(s, frame.flags, high));
    let narrow = s.inst(Op::IEqual, bool, &[line.last, one]);
    let trapped = s.inst(Op::LogicalAnd, bool, &[low, high]);
    let trapped = s.inst(Op::LogicalAnd, bool, &[trapped, narrow]);
    let free = s.inst(Op::LogicalNot, bool, &[trapped]);
    let mut at = line.at;
    for (snapped, end, step) in [(low, zero, Op::IAdd), (high, line.last, Op::ISub)] {
        let at_end = s.inst(Op::IEqual, bool, &[line.at, end]);
        let moves = s.inst(Op::LogicalAnd, bool, &[at_end, snapped]);
        let moves = s.inst(Op::LogicalAnd, bool, &[moves, free]);
        let moved = s.inst(step, u32, &[line.at, one]);
        at = s.inst(Op::Select, u32, &[moves, moved, at]);
    }
    at
}

fn stencil(s: &mut Spirv, line: &Line, base: Word, stride: Word) -> Stencil {
    let (u32, bool, f32) = (s.type_u32(), s.type_bool(), s.type_f32());
    let (zero, one) = (s.u32(0), s.u32(1));
    let at_low = s.inst(Op::IEqual, bool, &[line.at, zero]);
    let at_high = s.inst(Op::IEqual, bool, &[line.at, line.last]);
    let rim = s.inst(Op::LogicalOr, bool, &[at_low, at_high]);
    let wide = s.inst(Op::UGreaterThan, bool, &[line.last, one]);
    let second_order = s.inst(Op::LogicalAnd, bool, &[rim, wide]);
    // Steps from the vertex; unsigned arithmetic wraps, so that a step back is an addition too.
    let back = s.inst(Op::SNegate, u32, &[one]);
    let inward = s.inst(Op::Select, u32, &[at_low, one, back]);
    let a = s.inst(Op::Select, u32, &[rim, zero, back]);
    let b = s.inst(Op::Select, u32, &[rim, inward, one]);
    let twice = s.inst(Op::IAdd, u32, &[inward, inward]);
    let c = s.inst(Op::Select, u32, &[second_order, twice, a]);
    let lanes = [a, b, c].map(|step| {
        let at = s.inst(Op::IAdd, u32, &[line.at, step]);
        let distance = s.inst(Op::IMul, u32, &[at, stride]);
        s.inst(Op::IAdd, u32, &[base, distance])
    });
    // Weights for the lower end; the other end's have the other sign.
    let [nothing, half, one, two] = [0.0, 0.5, 1.0, 2.0].map(|x| s.f32(x));
    let w1 = s.inst(Op::Select, f32, &[second_order, two, one]);
    let w1 = s.inst(Op::Select, f32, &[rim, w1, half]);
    let minus_half = s.f32(-0.5);
    let w2 = s.inst(Op::Select, f32, &[second_order, minus_half, nothing]);
    let last = s.inst(Op::LogicalNot, bool, &[at_low]);
    let turned = s.inst(Op::LogicalAnd, bool, &[last, at_high]);
    let weights = [w1, w2].map(|w| {
        let negative = s.inst(Op::FNegate, f32, &[w]);
        s.inst(Op::Select, f32, &[turned, negative, w])
    });
    Stencil { lanes, weights }
}

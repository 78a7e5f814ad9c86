//! What the points of a workgroup do together: derivatives and votes.

use super::emitter::Emitter;
use super::exchange::{ExchangeHalf, cell, when};
use crate::abi;
use crate::ir::{Axis, Builtin, MachineType, Value};
use rspirv::spirv::{Op, StorageClass, Word};

impl Emitter<'_> {
    /// Writes an exchange; the derivatives.
    pub(super) fn derivatives(&mut self, items: &[(u32, Axis)], args: &[Value]) -> Vec<Word> {
        let half = self.turn_half();
        let (u32, f32) = (self.s.type_u32(), self.s.type_f32());
        let lane = self.s.inst(Op::IAdd, u32, &[half, self.frame.lane]);
        let mut first_rows = Vec::new();
        let mut row = 0;
        for &arg in args {
            first_rows.push(row);
            let (word, ty) = (self.value(arg), self.body.ty(arg));
            for i in 0..ty.words() {
                let part = if ty == MachineType::Vec3 { self.s.extract(f32, word, i) } else { word };
                let pointer = self.shared(lane, row + i);
                self.s.effect(Op::Store, &[pointer, part]);
            }
            row += ty.words();
        }
        self.meet();
        let taken = items.iter().map(|&(arg, axis)| {
            let ty = self.body.ty(args[arg as usize]);
            let first = first_rows[arg as usize];
            let parts: Vec<_> = (0..ty.words()).map(|i| self.difference(half, first + i, axis)).collect();
            if parts.len() == 1 {
                return parts[0];
            }
            let ty = self.ty(ty);
            self.s.inst(Op::CompositeConstruct, ty, &parts)
        });
        taken.collect()
    }

    /// Returns the offset of the half of shared memory that comes next.
    fn turn_half(&mut self) -> Word {
        let size = self.exchange.floats * abi::WORKGROUP_SIZE;
        let (u32, offset) = (self.s.type_u32(), self.s.u32(size));
        match &mut self.exchange.half {
            ExchangeHalf::Known(half) => {
                *half ^= 1;
                self.s.u32(size * *half)
            }
            ExchangeHalf::Variable(variable) => {
                let variable = *variable;
                let half = self.s.load(u32, variable);
                let other = self.s.inst(Op::ISub, u32, &[offset, half]);
                self.s.effect(Op::Store, &[variable, other]);
                half
            }
        }
    }

    /// Returns a pointer to a lane's float of a row.
    fn shared(&mut self, lane: Word, row: u32) -> Word {
        let (u32, f32) = (self.s.type_u32(), self.s.type_f32());
        let offset = self.s.u32(row * abi::WORKGROUP_SIZE);
        let at = self.s.inst(Op::IAdd, u32, &[lane, offset]);
        let pointer = self.s.type_pointer(StorageClass::Workgroup, f32);
        self.s.inst(Op::AccessChain, pointer, &[self.exchange.memory, at])
    }

    fn difference(&mut self, half: Word, row: u32, axis: Axis) -> Word {
        let (u32, f32) = (self.s.type_u32(), self.s.type_f32());
        let stencils = self.exchange.stencils.expect("made at the start of a kernel that takes derivatives");
        let (stencil, step) = match axis {
            Axis::U => (stencils[0], Builtin::Du),
            Axis::V => (stencils[1], Builtin::Dv),
        };
        let [a, b, c] = stencil.lanes.map(|lane| {
            let lane = self.s.inst(Op::IAdd, u32, &[half, lane]);
            let pointer = self.shared(lane, row);
            self.s.load(f32, pointer)
        });
        let near = self.s.inst(Op::FSub, f32, &[b, a]);
        let far = self.s.inst(Op::FSub, f32, &[c, a]);
        let near = self.s.inst(Op::FMul, f32, &[near, stencil.weights[0]]);
        let far = self.s.inst(Op::FMul, f32, &[far, stencil.weights[1]]);
        let sum = self.s.inst(Op::FAdd, f32, &[near, far]);
        let step = self.frame.builtin(step);
        self.s.inst(Op::FDiv, f32, &[sum, step])
    }

    /// Writes a vote: which of some conditions hold for any point of the workgroup.
    pub(super) fn any(&mut self, conditions: &[Word]) -> Vec<Word> {
        let (cells, turn) = {
            let votes = self.exchange.votes.as_ref().expect("declared for a program that votes");
            (votes.cells, votes.turn)
        };
        let s = &mut self.s;
        let (u32, bool) = (s.type_u32(), s.type_bool());
        let [zero, one, two] = [0, 1, 2].map(|x| s.u32(x));
        let now = s.load(u32, turn);
        let wraps = s.inst(Op::IEqual, bool, &[now, two]);
        let next = s.inst(Op::IAdd, u32, &[now, one]);
        let next = s.inst(Op::Select, u32, &[wraps, zero, next]);
        s.effect(Op::Store, &[turn, next]);
        let (pointer, cleared) = (cell(s, cells, now), cell(s, cells, next));
        // Relaxed, in the scope of the workgroup: the barrier orders it.
        let mut ballot = zero;
        for (&condition, at) in conditions.iter().zip(0_u32..) {
            let bit = s.u32(1_u32 << at);
            let vote = s.inst(Op::Select, u32, &[condition, bit, zero]);
            ballot = s.inst(Op::BitwiseOr, u32, &[ballot, vote]);
        }
        let votes = s.inst(Op::INotEqual, bool, &[ballot, zero]);
        when(s, votes, |s| {
            s.inst(Op::AtomicOr, u32, &[pointer, two, zero, ballot]);
        });
        let first = s.inst(Op::IEqual, bool, &[self.frame.lane, zero]);
        // The next cell was last read before the barrier of the vote before this one.
        when(s, first, |s| s.effect(Op::Store, &[cleared, zero]));
        self.meet();
        let s = &mut self.s;
        let raised = s.load(u32, pointer);
        let is_raised = |at| {
            let bit = s.u32(1_u32 << at);
            let raised = s.inst(Op::BitwiseAnd, u32, &[raised, bit]);
            s.inst(Op::INotEqual, bool, &[raised, zero])
        };
        (0..conditions.len() as u32).map(is_raised).collect()
    }
}

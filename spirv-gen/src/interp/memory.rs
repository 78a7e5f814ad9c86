//! The interpreter's host for a bound program: everything is read from buffers, as on a device.

use super::grid::Grid;
use super::host::{Column, InterpreterHost, LightRays};
use super::texture::TextureStore;
use crate::abi::{Push, work};
use crate::ir::{Buffer, Builtin, Const, MachineType, Op};
use std::sync::Arc;

/// The buffers of a dispatch, and the slot that is run.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    /// `Params`, as words.
    pub params: &'a [u32],
    /// `Arena`, as words.
    pub arena: &'a [u32],
    /// `Work`, as words.
    pub work: &'a [u32],
    /// Push constants.
    pub push: Push,
    /// The slot.
    pub slot: u32,
    /// Textures by token.
    pub textures: Option<&'a dyn TextureStore>,
    /// Tokens of literals.
    pub tokens: &'a dyn Fn(&str) -> u32,
}

impl Memory<'_> {
    /// Returns a value of a vertex, whose record in channel 0 is `base`.
    fn in_channels(&self, base: u32, channel: u32, lane: u8, ty: MachineType) -> Const {
        let at = |further: u32| base + (channel + further) * self.push.channel_stride;
        if ty != MachineType::Mat4 {
            return value(self.arena, at(0), lane, ty);
        }
        let element = |i: usize| value(self.arena, at(i as u32 / 4), (i % 4) as u8, MachineType::F32).as_f32();
        Const::Mat4(Box::new(std::array::from_fn(|i| element(i).unwrap_or(0.0))))
    }

    fn head(&self, word: u32) -> u32 {
        self.work[((self.push.work_base + self.slot) * 8 + word) as usize]
    }

    /// Returns the grid of the slot.
    pub fn grid(&self) -> Grid {
        let head = self.head(0);
        Grid {
            nu: head & work::SIZE_MASK,
            nv: head >> work::SIZE_BITS & work::SIZE_MASK,
            flags: head >> work::FLAGS_SHIFT,
            seed: self.head(2),
            du: f32::from_bits(self.head(4)),
            dv: f32::from_bits(self.head(5)),
        }
    }
}

/// Returns a value from the words of a buffer, `lane` words into a record.
pub(super) fn value(words: &[u32], record: u32, lane: u8, ty: MachineType) -> Const {
    let first = record as usize * 4 + usize::from(lane);
    let float = |i: usize| f32::from_bits(words[first + i]);
    match ty {
        MachineType::F32 => Const::F32(float(0)),
        MachineType::Vec3 => Const::Vec3([float(0), float(1), float(2)]),
        MachineType::Mat4 => Const::Mat4(Box::new(std::array::from_fn(float))),
        MachineType::Bool => Const::Bool(words[first] != 0),
        MachineType::U32 | MachineType::Str => Const::U32(words[first]),
    }
}

impl InterpreterHost for Memory<'_> {
    fn read(&self, op: &Op, args: &[Const], vertex: usize) -> Vec<Const> {
        let offset = |i: usize| args.get(i).and_then(Const::as_u32).unwrap_or(0);
        let place = (self.slot << self.push.slot_log2) + vertex as u32;
        vec![match op {
            Op::Load { buffer, record, lane, ty } => {
                let words = if *buffer == Buffer::Params { self.params } else { self.arena };
                value(words, offset(0) + record, *lane, *ty)
            }
            Op::Channel { channel, lane, ty } => {
                self.in_channels(self.push.input_base + place, offset(0) + channel, *lane, *ty)
            }
            Op::Restore { channel, lane, ty } => self.in_channels(self.push.state_base + place, *channel, *lane, *ty),
            Op::Builtin(Builtin::Block) => Const::U32(self.head(1)),
            Op::Builtin(Builtin::UniformInputs) => Const::U32(self.head(3)),
            Op::Builtin(Builtin::SpaceTable) => Const::U32(self.push.space_table),
            Op::Builtin(Builtin::Du) => Const::F32(self.grid().du),
            Op::Builtin(Builtin::Dv) => Const::F32(self.grid().dv),
            Op::Builtin(Builtin::Orientation) => Const::F32(self.grid().orientation()),
            op => panic!("{op} is not an operation of a bound program"),
        }]
    }

    fn textures(&self) -> Option<&dyn TextureStore> {
        self.textures
    }

    fn token(&self, text: &str) -> u32 {
        (self.tokens)(text)
    }

    fn text(&self, _: u32) -> String {
        String::new()
    }

    fn lights(&self, _: &Grid, _: &[Const], _: &[(Arc<str>, Column)]) -> Vec<LightRays> {
        Vec::new()
    }
}

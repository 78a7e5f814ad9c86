//! `printf` and `bake3d`: records of what points print and bake, appended to `Status` ([`crate::abi::print`]).

use super::emitter::Emitter;
use super::error::EmitError;
use super::exchange::when;
use crate::abi::print::{self, ValueType};
use crate::ir::{InstData, MachineType, Op as IrOp, Value};
use rspirv::spirv::{Op, Word};

impl Emitter<'_> {
    /// Writes a `printf` or a `bake3d` whose first argument is its number.
    pub(super) fn leave_record(&mut self, text: &str, data: &InstData) -> Result<(), EmitError> {
        let Some((&number, values)) = data.args.split_first() else {
            return Err(EmitError::NotBound(data.op.to_string()));
        };
        let values = &values[..values.len().min(print::VALUES_MAX)];
        let words = self.record_words(text, matches!(data.op, IrOp::Bake(_)), number, values);
        // Other invocations compute a vertex again, or what is not used.
        let (bool, active) = (self.s.type_bool(), self.frame.active);
        let occupied = self.occupied();
        let mut real = self.s.inst(Op::LogicalAnd, bool, &[active, occupied]);
        if let Some(trips) = self.trips {
            let stopped = self.s.load(bool, trips.exhausted);
            let going = self.s.inst(Op::LogicalNot, bool, &[stopped]);
            real = self.s.inst(Op::LogicalAnd, bool, &[real, going]);
        }
        let frame = &self.frame;
        when(&mut self.s, real, |s| frame.append_status(s, &words));
        Ok(())
    }

    /// Returns the words of a record.
    fn record_words(&mut self, text: &str, bakes: bool, number: Value, values: &[Value]) -> Vec<Word> {
        let u32 = self.s.type_u32();
        let types = values.iter().map(|&value| ValueType::of(self.body.ty(value)));
        let types = print::pack_types(types, bakes);
        let number = self.value(number);
        let number = self.s.inst(Op::ConvertFToU, u32, &[number]);
        let text = (self.tokens)(text);
        let (rank, vertex) = (self.frame.grid_rank(&mut self.s), self.frame.vertex_and_columns(&mut self.s));
        let mut words = vec![0, rank, vertex, number];
        words.extend([text, types[0], types[1]].map(|word| self.s.u32(word)));
        for &value in values {
            if self.body.ty(value) != MachineType::Bool {
                self.words_of(self.body.ty(value), self.value(value), &mut words);
            }
        }
        words[0] = self.s.u32(words.len() as u32);
        words
    }
}

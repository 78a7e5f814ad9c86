//! `spline`.

use super::lowerer::{Lowerer, machine};
use crate::ir::{Basis, MachineType, Op, Value};
use crate::sema::hir::{Expr, ExprKind, ShadeopCall, Shape, Type};
use crate::shadeops::{SPLINE_BASES, spline_basis};

impl Lowerer<'_> {
    /// `spline([basis,] x, values...)` or `spline([basis,] x, array)`
    pub(super) fn spline(&mut self, call: &ShadeopCall) -> Value {
        let (basis, rest) = match call.arguments.split_first() {
            Some((first, rest)) if first.ty == Type::String => (Some(first), rest),
            _ => (None, call.arguments.as_slice()),
        };
        let mut arguments = Vec::new();
        for argument in rest {
            match argument.kind {
                ExprKind::Variable(id) if argument.shape != Shape::Single => {
                    let array = self.array(id);
                    for i in 0..array.length {
                        let index = self.builder.f32(i as f32);
                        arguments.push(self.load(array, index));
                    }
                }
                // Only variables are arrays.
                _ => arguments.push(self.value(argument)),
            }
        }
        // An array of open length may turn out to be too short: its last value goes on.
        while arguments.len() < 5 {
            let last = arguments.last().copied();
            let zero = rest.last().map_or(MachineType::F32, |r| machine(r.ty)).zero();
            arguments.push(last.unwrap_or_else(|| self.builder.constant(zero)));
        }
        self.with_basis(basis, &arguments)
    }

    fn with_basis(&mut self, basis: Option<&Expr>, arguments: &[Value]) -> Value {
        let floats = self.builder.ty(arguments[1]) == MachineType::F32;
        let spline = |this: &mut Self, (basis, solve): (Basis, bool)| {
            this.builder.op(Op::Spline { basis, solve: solve && floats }, arguments)
        };
        let default = (Basis::CatmullRom, false);
        let Some(basis) = basis else { return spline(self, default) };
        if let Some(name) = self.literal(basis) {
            return spline(self, spline_basis(&name).unwrap_or(default));
        }
        let name = self.value(basis);
        let choices = SPLINE_BASES.map(|(name, basis)| (name, (basis, false)));
        self.by_name(name, &choices, default, spline)
    }
}

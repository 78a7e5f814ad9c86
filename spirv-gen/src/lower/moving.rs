//! Surfaces that move P, as some authors' do instead of a displacement shader: the surface is hidden where they move it
//! to. Such a shader becomes two: a displacement, which is all that P and N depend on, and a surface that begins where
//! the displacement began: with its P, N, I, Ng, dPdu and dPdv, with the same random numbers and the same lights. So it
//! computes what it would if nothing had been moved before. Only lights see another N (their Ns), that which is left.

use super::lowerer::Lowerer;
use crate::ir::{self, Const, Global, MessageTarget, Op, ParamDefault, Rate, RslType, Value};

/// Outputs of the displacement: what it found.
const FOUND: [(Global, &str, RslType); 6] = [
    (Global::P, "__foundP", RslType::Point),
    (Global::N, "__foundN", RslType::Normal),
    (Global::I, "__foundI", RslType::Vector),
    (Global::Ng, "__foundNg", RslType::Normal),
    (Global::DPdu, "__founddPdu", RslType::Vector),
    (Global::DPdv, "__founddPdv", RslType::Vector),
];

impl Lowerer<'_> {
    /// Declares what the displacement hands to the surface.
    pub(super) fn declare_found(&mut self) {
        for (_, name, ty) in FOUND {
            self.builder.param(ir::Param {
                name: name.into(),
                ty,
                array: None,
                rate: Rate::Varying,
                output: true,
                default: ParamDefault::Values(vec![Const::Vec3([0.0; 3])]),
            });
        }
    }

    /// Returns what the displacement hands to the surface.
    pub(super) fn found(&mut self) -> Vec<(&'static str, Value)> {
        FOUND.iter().map(|&(global, name, _)| (name, self.builder.global(global))).collect()
    }

    /// Returns what the displacement of this surface found, of the variables that differ from those of moved geometry.
    pub(super) fn found_by_displacement(&mut self, global: Global) -> Option<Value> {
        let (_, name, ty) = *FOUND.iter().find(|(found, ..)| *found == global)?;
        let message = Op::Message { target: MessageTarget::Displacement, name: name.into(), ty, count: 1 };
        Some(self.builder.emit(message, &[])[1])
    }
}

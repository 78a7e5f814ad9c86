//! Messages: what a shader asks of another shader of its pipeline by `surface(name, variable)` and its variants.

use crate::ir::{MessageTarget, Op, Param, RslType, Shader, Value, element_name};
use crate::passes::writer::BodyWriter;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A variable of another shader for which a shader asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Message {
    pub(super) name: Arc<str>,
    pub(super) ty: RslType,
    /// Number of elements.
    pub(super) count: u32,
}

impl Message {
    /// Returns what an operation asks of a shader in a place of the pipeline.
    pub(super) fn of(op: &Op, whose: MessageTarget) -> Option<Self> {
        match op {
            Op::Message { target, name, ty, count } if *target == whose => {
                Some(Self { name: name.clone(), ty: *ty, count: *count })
            }
            _ => None,
        }
    }

    /// Returns the name of one of the elements among the outputs of the other shader.
    pub(super) fn element(&self, i: u32) -> Arc<str> {
        element_name(&self.name, self.count, i)
    }

    /// Returns whether a parameter answers.
    pub(super) fn fits(&self, param: &Param) -> bool {
        self.name == param.name && self.ty.machine() == param.ty.machine() && self.count == param.len()
    }
}

/// Returns the variables of another shader of the pipeline for which a shader asks.
pub(super) fn messages_to(shader: &Shader, whose: MessageTarget) -> BTreeSet<Message> {
    let (body, mut found) = (&shader.body, BTreeSet::new());
    body.walk(body.root(), &mut |inst| found.extend(Message::of(&body.inst(inst).op, whose)));
    found
}

/// Returns whether a shader asks for variables of the displacement shader.
pub fn asks_displacement(shader: &Shader) -> bool {
    !messages_to(shader, MessageTarget::Displacement).is_empty()
}

/// Returns the results of a message: whether there is an answer, and its values or zeros.
pub(super) fn answer(out: &mut BodyWriter, message: &Message, values: Option<Vec<Value>>) -> Vec<Value> {
    let found = out.constant(if values.is_some() { 1.0 } else { 0.0 });
    let values = values.unwrap_or_else(|| vec![out.zero(message.ty.machine()); message.count as usize]);
    [&[found], &values[..]].concat()
}

//! Messages: what a shader asks of another shader of its pipeline by `surface(name, variable)` and its variants.

use super::bind::Binder;
use super::reflection::{Input, Role};
use super::request::ShaderUse;
use crate::ir::{MachineType, MessageTarget, Op, Param, ParamId, RslType, Shader, Value, element_name};
use crate::passes::translate::BodyWriter;
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
    /// What an operation asks of a shader in a place of the pipeline.
    pub(super) fn of(op: &Op, whose: MessageTarget) -> Option<Self> {
        match op {
            Op::Message { target, name, ty, count } if *target == whose => {
                Some(Self { name: name.clone(), ty: *ty, count: *count })
            }
            _ => None,
        }
    }

    /// The name of one of the elements among the outputs of the other shader.
    pub(super) fn element(&self, i: u32) -> Arc<str> {
        element_name(&self.name, self.count, i)
    }

    /// Whether a parameter answers.
    pub(super) fn fits(&self, param: &Param) -> bool {
        self.name == param.name && self.ty.machine() == param.ty.machine() && self.count == param.len()
    }
}

/// The variables of another shader of the pipeline for which a shader asks.
pub(super) fn messages_to(shader: &Shader, whose: MessageTarget) -> BTreeSet<Message> {
    let (body, mut found) = (&shader.body, BTreeSet::new());
    body.walk(body.root(), &mut |inst| found.extend(Message::of(&body.inst(inst).op, whose)));
    found
}

/// Whether a shader asks for variables of the displacement shader.
pub fn asks_displacement(shader: &Shader) -> bool {
    !messages_to(shader, MessageTarget::Displacement).is_empty()
}

impl<'r> Binder<'r> {
    /// What another shader of the pipeline answers: outputs of the surface where it is finished, what the displacement
    /// left, or a parameter.
    pub(super) fn values_of_other(
        &mut self,
        out: &mut BodyWriter,
        target: MessageTarget,
        message: &Message,
    ) -> Option<Vec<Value>> {
        let request = self.request;
        let (role, shader) = match target {
            MessageTarget::Surface => (Role::Surface, &request.surface),
            MessageTarget::Displacement => (Role::Displacement, &request.displacement),
            _ => (Role::Atmosphere, &request.atmosphere),
        };
        let param = shader.as_ref().and_then(|s| Some((s, s.shader.param(&message.name)?)));
        if param.is_some_and(|(s, id)| !message.fits(&s.shader.params[id.0 as usize])) {
            return None;
        }
        let ty = message.ty.machine();
        let put_out: Option<Vec<Value>> =
            (0..message.count).map(|i| self.output_of_other(out, role, &message.element(i), ty)).collect();
        put_out.or_else(|| param.map(|(s, id)| self.param_of_other(out, role, s, id)))
    }

    fn output_of_other(&mut self, out: &mut BodyWriter, role: Role, name: &str, ty: MachineType) -> Option<Value> {
        match role {
            Role::Surface => self.surface?.get(name).copied().filter(|&value| out.ty(value) == ty),
            Role::Displacement => {
                let left = self.table.displacement.iter().find(|v| *v.name == *name && v.ty.machine() == ty)?;
                let input = Input::Displacement(left.clone());
                Some(self.channel(out, input, 0, ty))
            }
            Role::Atmosphere | Role::Light(_) => None,
        }
    }

    /// The elements of a parameter of another shader.
    pub(super) fn param_of_other(
        &mut self,
        out: &mut BodyWriter,
        role: Role,
        shader: &'r ShaderUse<'r>,
        param: ParamId,
    ) -> Vec<Value> {
        let (own, lit) = (std::mem::replace(&mut self.role, role), self.lit.take());
        let (own_shader, arrays) = (self.shader.replace(shader), std::mem::take(&mut self.arrays));
        let values = self.param_elements(out, param);
        (self.role, self.lit, self.shader, self.arrays) = (own, lit, own_shader, arrays);
        values
    }
}

/// The results of a message: whether there is an answer, and its values or zeros.
pub(super) fn answer(out: &mut BodyWriter, message: &Message, values: Option<Vec<Value>>) -> Vec<Value> {
    let found = out.constant(if values.is_some() { 1.0 } else { 0.0 });
    let values = values.unwrap_or_else(|| vec![out.zero(message.ty.machine()); message.count as usize]);
    [&[found], &values[..]].concat()
}

//! What the other shaders of a pipeline answer to messages.

use super::bind::Binder;
use super::message::Message;
use super::reflection::{Input, Role};
use super::request::ShaderUse;
use crate::ir::{MachineType, MessageTarget, ParamId, Value};
use crate::passes::writer::BodyWriter;

impl<'r> Binder<'r> {
    /// Returns what another shader of the pipeline answers: outputs of the surface where it is finished, what the
    /// displacement left, or a parameter.
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

    /// Returns the elements of a parameter of another shader.
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

//! What is asked of the compiler: a shading pipeline of one look, for one slice.

use super::message::{Message, messages_to};
use super::reflection::{DisplacementValue, Role};
use crate::abi::{GEOMETRY_CHANNELS, channels};
use crate::ir::{Const, MessageTarget, Param, ParamDefault, RslType, Shader, element_name, sent_name};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which part of a shading pipeline a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slice {
    /// The displacement shader: reads and writes positions and normals.
    Position,
    /// Surface, lights and atmosphere; P and N come displaced. Asked for `Oi` alone, this is the opacity slice.
    Colour,
    /// An imager shader, at pixels.
    Imager,
}

/// How a parameter gets its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// From the instance block (a light's: from the light block).
    Block,
    /// Known when the pipeline is compiled: the elements.
    Fixed(Vec<Const>),
    /// Not given: the default of the shader, evaluated in it.
    Default,
    /// A primitive variable that is the same all over a grid.
    UniformInput,
    /// A primitive variable with a value at each vertex.
    VaryingInput,
}

/// A shader of the pipeline, and how each of its parameters is bound.
#[derive(Clone, Debug)]
pub struct ShaderUse<'a> {
    /// The shader.
    pub shader: &'a Shader,
    /// Parallel to [`Shader::params`].
    pub bindings: Vec<Binding>,
}

impl<'a> ShaderUse<'a> {
    /// Returns a shader all of whose parameters come from its block, but for defaults that it computes itself.
    pub fn new(shader: &'a Shader) -> Self {
        let binding = |p: &Param| match p.default {
            ParamDefault::Values(_) => Binding::Block,
            ParamDefault::Computed(_) => Binding::Default,
        };
        Self { shader, bindings: shader.params.iter().map(binding).collect() }
    }
}

/// A value that the kernel shall store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutputRequest {
    /// `Ci`, `Oi`, `P`, `N`, an output or parameter of a shader, a predefined variable (`z` is the depth of P), or a
    /// primitive variable. What there is not is 0.
    pub name: Arc<str>,
    /// The type that it shall have; a float becomes a triple of three equal ones, a triple its first component.
    pub ty: RslType,
    /// Where it comes from if no shader and nothing predefined has the name: an input, or nowhere
    /// ([`Binding::Default`]).
    pub primvar: Binding,
}

/// A shading pipeline to be compiled.
#[derive(Clone)]
pub struct PipelineRequest<'a> {
    /// Which part.
    pub slice: Slice,
    /// The surface shader ([`Slice::Colour`]) or the imager shader ([`Slice::Imager`]); without one `Ci` is `Cs`, `Oi`
    /// is `Os`.
    pub surface: Option<ShaderUse<'a>>,
    /// The displacement shader. In the colour slice only messages ask for its parameters and outputs.
    pub displacement: Option<ShaderUse<'a>>,
    /// The atmosphere (volume) shader.
    pub atmosphere: Option<ShaderUse<'a>>,
    /// The kinds of lights: each light shader with one way of binding its parameters. They may not be bound to inputs.
    /// In the position slice only those matter that [ask the displacement shader](super::asks_displacement), unless
    /// that [sees lights](super::sees_lights).
    pub lights: Vec<ShaderUse<'a>>,
    /// Where `Cs` comes from: [`Binding::Block`], an input, or fixed.
    pub colour: Binding,
    /// Where `Os` comes from.
    pub opacity: Binding,
    /// What is stored, in this order. The position slice also stores the [values of the displacement
    /// shader](Self::displacement_values) that the others ask for.
    pub outputs: Vec<OutputRequest>,
    /// The geometry was displaced: dPdu and dPdv are differences of P between vertices, not channels.
    pub displaced: bool,
    /// `printf` and `bake3d` leave records ([`crate::abi::print`]); else `printf` prints nothing. Imagers do not bake.
    pub prints: bool,
    /// Textures are looked up ([`crate::abi::textures`]); else lookups find nothing.
    pub textures: bool,
    /// Runs of call sites that differ in constants alone become loops ([`crate::passes::roll`]); off, kernels compute
    /// the same bits, but drivers compile them for longer.
    pub roll: bool,
    /// The token of a string literal. The empty string is 0.
    pub tokens: &'a dyn Fn(&str) -> u32,
}

impl PipelineRequest<'_> {
    /// Returns what the position slice leaves for the colour slice besides P and N: the outputs of the displacement
    /// shader, and parameters that it computes itself, for which surface, atmosphere or lights ask. The requests for
    /// the two slices must name the same shaders.
    pub fn displacement_values(&self) -> Vec<DisplacementValue> {
        let Some(displacement) = self.displacement.as_ref().filter(|_| self.displaced) else { return Vec::new() };
        let others = [&self.surface, &self.atmosphere].into_iter().flatten().chain(&self.lights);
        let asked: BTreeSet<Message> =
            others.flat_map(|other| messages_to(other.shader, MessageTarget::Displacement)).collect();
        let (mut channel, mut values) = (GEOMETRY_CHANNELS, Vec::new());
        for (param, binding) in displacement.shader.params.iter().zip(&displacement.bindings) {
            let computed = *binding == Binding::Default && matches!(param.default, ParamDefault::Computed(_));
            if !(param.output || computed) || !asked.iter().any(|message| message.fits(param)) {
                continue;
            }
            for i in 0..param.len() {
                values.push(DisplacementValue {
                    name: element_name(&param.name, param.len(), i),
                    ty: param.ty,
                    channel,
                });
                channel += channels(param.ty.machine());
            }
        }
        values
    }

    /// Returns the names of the outputs that are stored, or for which others ask, of the shader in a place of the
    /// pipeline.
    pub(super) fn wanted_outputs(&self, role: Role) -> BTreeSet<Arc<str>> {
        let mut wanted: BTreeSet<Arc<str>> = self.stored().into_iter().map(|stored| stored.name).collect();
        if role == Role::Surface {
            wanted.extend(self.atmosphere.iter().flat_map(asked_of_surface));
            wanted.extend(self.shown_to_lights());
        }
        wanted
    }

    /// Returns the names of what lights see of a shader that is lit: outputs for which they ask, and what is sent to
    /// their parameters.
    pub(super) fn shown_to_lights(&self) -> BTreeSet<Arc<str>> {
        let sent = self.lights.iter().flat_map(|light| &light.shader.params).map(|param| sent_name(&param.name));
        self.lights.iter().flat_map(asked_of_surface).chain(sent).collect()
    }

    /// Returns what is stored, in this order.
    pub(super) fn stored(&self) -> Vec<OutputRequest> {
        let mut outputs = self.outputs.clone();
        if self.slice == Slice::Position {
            let output = |v: DisplacementValue| OutputRequest { name: v.name, ty: v.ty, primvar: Binding::Default };
            outputs.extend(self.displacement_values().into_iter().map(output));
        }
        outputs
    }
}

fn asked_of_surface(asking: &ShaderUse<'_>) -> Vec<Arc<str>> {
    let messages = messages_to(asking.shader, MessageTarget::Surface);
    messages.iter().flat_map(|message| (0..message.count).map(|i| message.element(i))).collect()
}

impl std::fmt::Debug for PipelineRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |s: &Option<ShaderUse<'_>>| s.as_ref().map(|s| s.shader.name.clone());
        f.debug_struct("PipelineRequest")
            .field("slice", &self.slice)
            .field("surface", &name(&self.surface))
            .field("displacement", &name(&self.displacement))
            .field("atmosphere", &name(&self.atmosphere))
            .field("lights", &self.lights.iter().map(|l| l.shader.name.clone()).collect::<Vec<_>>())
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

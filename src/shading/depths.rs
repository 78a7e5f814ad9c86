//! What of a drawable's shading can matter to its depths: nothing, where it is opaque and not displaced.

use super::bind::signature;
use super::params::ParamBuffer;
use super::programs::{BoundShader, ProgramTools, Programs, is_opaque};
use super::tokens::Tokens;
use super::{NamedTextures, ShaderLibrary, ShadingBuilder};
use crate::diagnostic::Reporter;
use crate::scene::{Drawable, World};
use spirv_gen::compose::{Binding, sees_lights};
use spirv_gen::ir::{Op, ParamDefault, QuerySource, Shader};

/// What of the shading of a drawable can matter to a picture of depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DepthShading {
    /// Nothing: it is opaque wherever it is.
    None,
    /// Its displacement shader, which asks nothing of other shaders.
    Displacement,
    /// Anything.
    All,
}

impl ShaderLibrary {
    /// Returns what matters of each of some drawables of a world.
    pub fn depth_shading(&mut self, world: &World, drawables: &[&Drawable], reporter: &Reporter) -> Vec<DepthShading> {
        let tools = ProgramTools { helpers: &self.helpers, form: self.form, store: &self.programs };
        let programs = Programs::new(tools, &[], Tokens::default());
        let (params, textures) = (ParamBuffer::new(), NamedTextures::default());
        let mut shader = ShadingBuilder { world, reporter, shaders: &mut self.shaders, programs, params, textures };
        drawables.iter().map(|drawable| shader.depth_shading(drawable)).collect()
    }
}

impl ShadingBuilder<'_> {
    fn depth_shading(&mut self, drawable: &Drawable) -> DepthShading {
        let attributes = &drawable.attributes;
        let parts = self.parts(drawable);
        let set = self.light_set(&attributes.lights);
        let signature = signature(drawable, &parts, &set, self.programs.variables);
        let own = [&signature.surface, &signature.displacement, &signature.atmosphere].into_iter().flatten();
        let shaders = own.chain(signature.lights.iter().map(|light| &light.bound));
        let leaves = |bound: &BoundShader| any(&bound.shader, |op| matches!(op, Op::Printf(_) | Op::Bake(_)));
        let opacity = self.programs.opacity(&signature);
        let opaque = is_opaque(&opacity, attributes.opacity, signature.opacity == Binding::Block);
        if !opaque || shaders.into_iter().any(leaves) {
            return DepthShading::All;
        }
        match &signature.displacement {
            None => DepthShading::None,
            // A surface that moves P is the displacement where there is no displacement shader.
            Some(_) if attributes.displacement.is_none() => DepthShading::All,
            Some(displacement) if asks_others(&displacement.shader) => DepthShading::All,
            Some(_) => DepthShading::Displacement,
        }
    }
}

/// Whether what a displacement shader does depends on other shaders of its drawable.
fn asks_others(shader: &Shader) -> bool {
    let asks = |op: &Op| {
        matches!(
            op,
            Op::Message { .. }
                | Op::Query { source: QuerySource::ShaderName, .. }
                | Op::QueryBy { source: QuerySource::ShaderName, .. }
        )
    };
    sees_lights(shader) || any(shader, asks)
}

/// Whether a shader has an operation, in its body or in what its parameters are by default.
fn any(shader: &Shader, is_sought: impl Fn(&Op) -> bool) -> bool {
    let (body, mut found) = (&shader.body, false);
    let defaults = shader.params.iter().filter_map(|param| match param.default {
        ParamDefault::Computed(region) => Some(region),
        ParamDefault::Values(_) => None,
    });
    for region in defaults.chain([body.root()]) {
        body.walk(region, &mut |inst| found |= is_sought(&body.inst(inst).op));
    }
    found
}

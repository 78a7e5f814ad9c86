//! From the HIR to the IR: functions are put in place of their calls, variables become values, jumps become carried
//! truth values.

mod arrays;
mod bake;
mod call;
mod cast_shadow;
mod cells;
mod default;
mod effects;
mod erf;
mod expression;
mod light;
mod lowerer;
mod moving;
mod moving_part;
mod named;
mod notes;
mod placed;
mod shadeop;
mod space;
mod spline;
mod statement;
mod texture;

pub use cast_shadow::{CastShadow, LightScale, SHARE_PARAM};

use crate::ir::{self, Builder, Global};
use crate::sema::hir::{CheckedShader, DeclaredKind, Predefined};
use effects::Effects;
use lowerer::Lowerer;
use moving_part::MovingPart;

/// Returns the IR of a checked shader.
pub fn lower(shader: &CheckedShader) -> ir::Shader {
    lower_part(shader, None)
}

/// Returns the IR of a light whose colour is also scaled by what its shader does not know of.
pub fn lower_scaled(shader: &CheckedShader, scale: LightScale) -> ir::Shader {
    lower_with(shader, scale, None)
}

/// Returns the number of lights whose sum a light shader is: one for each `illuminate` and `solar`, functions in place
/// of their calls, if it may execute several, else 1. Each is lowered as a [`LightScale::part`], in which the bodies of
/// the others are not executed.
pub fn light_parts(shader: &CheckedShader) -> u32 {
    if shader.adds_lights { lowered(shader, LightScale::default(), None).light_statements } else { 1 }
}

/// The two shaders of a surface that moves P.
#[derive(Clone, Debug)]
pub struct MovingSurface {
    /// Moves P and N.
    pub displacement: ir::Shader,
    /// Computes Ci and Oi, of geometry that the displacement has moved.
    pub surface: ir::Shader,
}

/// Returns the two shaders, or `None` for shaders that are no surfaces or leave P alone.
pub fn lower_moving(shader: &CheckedShader) -> Option<MovingSurface> {
    let moves_p = Effects::of(shader).assigns(Predefined::Global(Global::P));
    (shader.kind == DeclaredKind::Surface && moves_p).then(|| MovingSurface {
        displacement: lower_part(shader, Some(MovingPart::Displacement)),
        surface: lower_part(shader, Some(MovingPart::Surface)),
    })
}

/// Returns the IR of a shader, or of a part of a surface that moves P.
fn lower_part(shader: &CheckedShader, part: Option<MovingPart>) -> ir::Shader {
    lower_with(shader, LightScale::default(), part)
}

fn lower_with(shader: &CheckedShader, scale: LightScale, part: Option<MovingPart>) -> ir::Shader {
    let kind = kind_of(shader, part);
    lowered(shader, scale, part).finish(kind)
}

fn kind_of(shader: &CheckedShader, part: Option<MovingPart>) -> ir::ShaderKind {
    match shader.kind {
        DeclaredKind::Surface if part == Some(MovingPart::Displacement) => ir::ShaderKind::Displacement,
        DeclaredKind::Surface => ir::ShaderKind::Surface,
        DeclaredKind::Displacement => ir::ShaderKind::Displacement,
        DeclaredKind::Light if Effects::of(shader).shines => ir::ShaderKind::Light,
        DeclaredKind::Light => ir::ShaderKind::AmbientLight,
        DeclaredKind::Volume => ir::ShaderKind::Volume,
        DeclaredKind::Imager => ir::ShaderKind::Imager,
    }
}

/// Returns a lowerer that has lowered a shader, but for its end.
fn lowered(shader: &CheckedShader, scale: LightScale, part: Option<MovingPart>) -> Lowerer<'_> {
    let (effects, kind) = (Effects::of(shader), kind_of(shader, part));
    let mut builder = Builder::new(kind, &shader.name);
    if part == Some(MovingPart::Surface) {
        builder.share_random_sites_of_displacement();
    }
    let mut lowerer = Lowerer { part, shining: scale.part, ..Lowerer::new(shader, effects, builder) };
    lowerer.parameters();
    if part == Some(MovingPart::Displacement) {
        lowerer.declare_found();
    }
    let maps = scale.cast.map(|cast| lowerer.shadow_params(cast));
    let share = scale.is_share.then(|| lowerer.share_param());
    lowerer.start();
    lowerer.body(&shader.body);
    if let Some(maps) = maps {
        lowerer.cast_shadow(&maps);
    }
    if let Some(share) = share {
        lowerer.scale_by_share(share);
    }
    lowerer
}

#[cfg(test)]
mod tests;

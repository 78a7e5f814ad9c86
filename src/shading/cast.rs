//! Lights that cast shadows by themselves: where their maps are seen from, and how the maps reach their shaders.

use super::ShaderLibrary;
use super::bind::param_fits;
use super::shaders::{ShaderPurpose, Shaders};
use crate::diagnostic::Reporter;
use crate::scene::{AreaPart, Light, ParamValue, ShaderInstance, ShaderParam, World};
use glam::DVec3;
use spirv_gen::ir::{Const, LookupKind, Op, ParamDefault, Shader, ShaderKind};
use spirv_gen::{CastShadow, SHARE_PARAM};
use std::sync::Arc;

/// The parameters of the standard lights that name maps, where there is one and where there are six.
const OWN_MAP: &[&str] = &["shadowname"];
const OWN_MAPS: &[&str] = &["sfpx", "sfnx", "sfpy", "sfny", "sfpz", "sfnz"];

/// Where the light of a light source comes from, in its shader's space: by its parameters `from`, `to` and `coneangle`,
/// as the standard lights have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LightShape {
    /// From infinitely far away.
    Distant {
        /// Where the light goes.
        axis: DVec3,
    },
    /// From a point into a cone.
    Spot {
        /// The point.
        from: DVec3,
        /// The axis of the cone.
        axis: DVec3,
        /// Half the opening of the cone in radians.
        angle: f64,
    },
    /// From a point in all directions.
    Point {
        /// The point.
        from: DVec3,
    },
}

impl ShaderLibrary {
    /// Returns where a light's maps are to be seen from. `None` if its shader cannot be read, which is reported when it
    /// is used, and for ambient lights, which have no shadows to cast.
    ///
    /// # Errors
    /// Why it cannot cast shadows by itself.
    pub fn light_shape(&mut self, world: &World, light: &Light) -> Option<Result<LightShape, String>> {
        shape_of(&mut self.shaders, world, light)
    }

    /// Returns the same, but does not remember what it read.
    ///
    /// # Errors
    /// Why it cannot cast shadows by itself.
    pub fn light_shape_silently(&self, world: &World, light: &Light) -> Option<Result<LightShape, String>> {
        shape_of(&mut self.shaders.unread(), world, light)
    }
}

fn shape_of(shaders: &mut Shaders, world: &World, light: &Light) -> Option<Result<LightShape, String>> {
    let path = &world.options.search.shader;
    let shader = shaders.fetch(&light.shader, ShaderPurpose::Light, path, &Reporter::silent())?;
    let shader = shader.shader();
    (shader.kind != ShaderKind::AmbientLight).then(|| shape(shader, light))
}

fn shape(shader: &Shader, light: &Light) -> Result<LightShape, String> {
    let instance = &light.shader;
    let has = |name: &str| shader.param(name).is_some();
    if !has("from") && !has("to") {
        // Its space begins at a point of its surface.
        if light.part.is_some() {
            return Ok(LightShape::Point { from: DVec3::ZERO });
        }
        return Err(
            "its shader has no parameters \"from\" and \"to\", which would say where its light comes from".into()
        );
    }
    let point = |name: &str, default: DVec3| match numbers(shader, instance, name)[..] {
        [x, y, z] => DVec3::new(x.into(), y.into(), z.into()),
        _ => default,
    };
    let from = point("from", DVec3::ZERO);
    if !has("to") {
        return Ok(LightShape::Point { from });
    }
    let axis = point("to", DVec3::Z) - from;
    if !(axis.is_finite() && axis.length() > 0.0) {
        return Err("its parameters \"from\" and \"to\" are the same point".into());
    }
    if !has("coneangle") {
        return Ok(LightShape::Distant { axis });
    }
    let angle = numbers(shader, instance, "coneangle").first().copied().unwrap_or(30_f32.to_radians());
    Ok(LightShape::Spot { from, axis, angle: f64::from(angle) })
}

/// Returns the value of a parameter: what the scene gives, or the shader's default where that needs no computing.
fn numbers(shader: &Shader, instance: &ShaderInstance, name: &str) -> Vec<f32> {
    let Some(param) = shader.params.iter().find(|param| &*param.name == name) else { return Vec::new() };
    let given = instance.params.iter().rev().find(|given| &*given.name == name && param_fits(given, param));
    match (given.map(|given| &given.value), &param.default) {
        (Some(ParamValue::Floats(floats)), _) => floats.clone(),
        (Some(ParamValue::Ints(ints)), _) => ints.iter().map(|&int| int as f32).collect(),
        (None, ParamDefault::Values(values)) => match values.first() {
            Some(Const::F32(number)) => vec![*number],
            Some(Const::Vec3(numbers)) => numbers.to_vec(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Whether a light's shader asks for shadows by itself.
pub(super) fn asks_for_shadows(shader: &Shader) -> bool {
    let mut asks = false;
    shader.body.walk(shader.body.root(), &mut |inst| {
        asks |= matches!(&shader.body.inst(inst).op, Op::Lookup(lookup) if lookup.kind == LookupKind::Shadow);
    });
    asks
}

/// Returns how many maps a light has.
pub(super) fn cast_of(maps: &[Arc<str>]) -> Option<CastShadow> {
    match maps.len() {
        1 => Some(CastShadow::Once),
        6 => Some(CastShadow::Around),
        _ => None,
    }
}

/// Returns a light's shader with its maps: in the parameters of the standard shadow lights, unless the scene gives
/// others, or in those of `shader` for light that is scaled by them.
pub(super) fn with_maps(instance: &ShaderInstance, maps: &[Arc<str>], shader: &Shader) -> ShaderInstance {
    let Some(cast) = cast_of(maps) else { return instance.clone() };
    let own = if maps.len() == 1 { OWN_MAP } else { OWN_MAPS };
    let text = |name: &str, map: &Arc<str>| ShaderParam {
        name: name.into(),
        ty: Some(crate::scene::ValueType::String),
        value: ParamValue::Strings(vec![Arc::clone(map)]),
    };
    let is_open = |name: &str| {
        let given = instance.params.iter().rev().find(|given| &*given.name == name);
        shader.param(name).is_some()
            && given.is_none_or(
                |given| matches!(&given.value, ParamValue::Strings(texts) if texts.iter().all(|t| t.is_empty())),
            )
    };
    let scales = shader.param(cast.map_params()[0]).is_some();
    let names = if scales { cast.map_params() } else { own };
    let mut instance = instance.clone();
    let given: Vec<_> =
        names.iter().zip(maps).filter(|(name, _)| is_open(name)).map(|(name, map)| text(name, map)).collect();
    instance.params.extend(given);
    instance
}

/// Returns a light's shader with the share that it has of an area light.
pub(super) fn with_share(mut instance: ShaderInstance, part: Option<AreaPart>) -> ShaderInstance {
    instance.params.extend(part.map(|part| ShaderParam {
        name: SHARE_PARAM.into(),
        ty: Some(crate::scene::ValueType::Float),
        value: ParamValue::Floats(vec![1.0 / part.count as f32]),
    }));
    instance
}

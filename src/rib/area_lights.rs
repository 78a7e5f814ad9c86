//! Area lights (RISpec 4.2): lights spread over the geometry that follows AreaLightSource.

use super::fault::RequestFault;
use super::reader::Reader;
use crate::scene::{
    AreaPart, Emitter, Geometry, Light, Motion, ParamValue, ShaderInstance, Shape, SurfacePoint, spread,
};
use glam::{DMat4, DVec3};
use std::sync::Arc;

/// The lights that an area light is made of, unless Attribute "light" "nsamples" says otherwise, and the most of them.
const LIGHTS_DEFAULT: i32 = 16;
const LIGHTS_MAX: i32 = 256;

const NO_GEOMETRY: &str = "AreaLightSource: no geometry that it could shine from follows in its block; it shines from the origin of its \
    coordinate system";

impl Reader<'_> {
    /// The number of lights that an area light is made of under the current attributes. Warns if they ask for a number
    /// outside of the range.
    pub(super) fn area_light_count(&mut self) -> u32 {
        let asked = match self.state.attributes.other.get("light:nsamples") {
            Some(ParamValue::Ints(counts)) => counts.first().copied().unwrap_or(LIGHTS_DEFAULT),
            _ => LIGHTS_DEFAULT,
        };
        let count = asked.clamp(1, LIGHTS_MAX);
        if count != asked {
            let message = format!(
                "AreaLightSource: Attribute \"light\" \"nsamples\" is from 1 to {LIGHTS_MAX}; {asked} counts as {count}"
            );
            self.warn_once(&format!("nsamples {asked}"), "range", &message);
        }
        count.unsigned_abs()
    }

    /// Lets the current area light shine from this geometry, if there is one.
    pub(super) fn add_emitter(&mut self, geometry: &Arc<Geometry>) {
        let (Some(light), Some(world)) = (self.state.area_light, &self.world) else { return };
        if !Emitter::can_shine(geometry.shape.first()) {
            let kind = kind_name(geometry.shape.first());
            let message = format!("AreaLightSource: area lights do not shine from {kind}, which are drawn only");
            self.warn_once("AreaLightSource", "unimplement", &message);
            return;
        }
        let flipped = self.state.flip_normal(world.mirrored) != world.mirrored;
        let world_from_object = *self.state.transform.first();
        self.emitters.push((light, Emitter { geometry: Arc::clone(geometry), world_from_object, flipped }));
    }

    /// The lights of a finished world: those of area lights are spread over their geometry.
    pub(super) fn placed_lights(&mut self) -> Vec<Arc<Light>> {
        let mut lights = self.lights.clone();
        let emitters = std::mem::take(&mut self.emitters);
        let mut first = 0;
        while let Some(light) = lights.get(first) {
            let Some(AreaPart { count }) = light.part else {
                first += 1;
                continue;
            };
            let own = emitters.iter().filter(|(id, _)| id.0 as usize == first).map(|(_, emitter)| emitter.clone());
            let points = spread(&own.collect::<Vec<_>>(), count as usize);
            if points.is_empty() && self.warned.insert("AreaLightSource without geometry".to_owned()) {
                self.messages
                    .report_at(light.shader.location.clone(), RequestFault::warning("nothing", 0, NO_GEOMETRY));
            }
            for (light, point) in lights[first..].iter_mut().zip(&points) {
                *light = Arc::new(moved(light, point));
            }
            first += count as usize;
        }
        lights
    }
}

/// A light with its space at a point of its surface: the origin there, z along the normal, lengths as in the world.
fn moved(light: &Light, point: &SurfacePoint) -> Light {
    let (x, y) = point.normal.any_orthonormal_pair();
    let axes = [x, y, point.normal].map(|axis: DVec3| axis.extend(0.0));
    let matrix = DMat4::from_cols(axes[0], axes[1], axes[2], point.position.extend(1.0));
    let shader = ShaderInstance { world_from_shader: Arc::new(Motion::still(matrix)), ..light.shader.clone() };
    Light { shader, ..light.clone() }
}

fn kind_name(shape: &Shape) -> &'static str {
    match shape {
        Shape::Curves(_) => "curves",
        Shape::Points(_) => "points",
        Shape::Limit(_) => "subdivision meshes",
        _ => "blobs",
    }
}

//! Area lights (RISpec 4.2): lights spread over the geometry that follows AreaLightSource.

use crate::rib::state::graphics::GraphicsState;
use crate::rib::state::lights::LightSlot;
use crate::rib::state::scoped::ScopedMap;
use crate::rib::stream::fault::RequestFault;
use crate::rib::stream::messages::Messages;
use crate::scene::{
    AreaPart, Attributes, Emitter, Geometry, Light, LightId, Motion, ParamValue, ShaderInstance, Shape, SurfacePoint,
    spread,
};
use glam::{DMat4, DVec3};
use std::sync::Arc;

/// The lights that an area light is made of, unless Attribute "light" "nsamples" says otherwise, and the most of them.
const LIGHTS_DEFAULT: i32 = 16;
const LIGHTS_MAX: i32 = 256;

const NO_GEOMETRY: &str = "AreaLightSource: no geometry that it could shine from follows in its block; it shines from the origin of its \
    coordinate system";

/// The lights of a scene.
pub(crate) struct Lights {
    /// All lights, in the order of their numbers.
    pub(crate) list: Vec<Arc<Light>>,
    /// What handles stand for.
    pub(crate) handles: ScopedMap<LightSlot>,
    /// What the area lights of the open world shine from, each with the first of its lights.
    emitters: Vec<(LightId, Emitter)>,
}

impl Lights {
    /// Creates an empty list.
    pub(crate) fn new() -> Self {
        Self { list: Vec::new(), handles: ScopedMap::new(), emitters: Vec::new() }
    }

    /// Forgets all lights and their handles.
    pub(crate) fn reset(&mut self) {
        (self.list, self.handles) = (Vec::new(), ScopedMap::new());
    }

    /// Lets the current area light shine from this geometry, if there is one. `mirrored` says whether the camera's
    /// transformation changes handedness.
    pub(crate) fn add_emitter(
        &mut self,
        geometry: &Arc<Geometry>,
        state: &GraphicsState,
        mirrored: bool,
        messages: &mut Messages<'_>,
    ) {
        let Some(light) = state.area_light else { return };
        if !Emitter::can_shine(geometry.shape.first()) {
            let kind = kind_name(geometry.shape.first());
            let message = format!("AreaLightSource: area lights do not shine from {kind}, which are drawn only");
            messages.warn_once("AreaLightSource", "unimplement", &message);
            return;
        }
        let flipped = state.flip_normal(mirrored) != mirrored;
        let world_from_object = *state.transform.first();
        self.emitters.push((light, Emitter { geometry: Arc::clone(geometry), world_from_object, flipped }));
    }

    /// Returns the lights of a finished world: those of area lights are spread over their geometry.
    pub(crate) fn placed(&mut self, messages: &mut Messages<'_>) -> Vec<Arc<Light>> {
        let mut lights = self.list.clone();
        let emitters = std::mem::take(&mut self.emitters);
        let mut first = 0;
        while let Some(light) = lights.get(first) {
            let Some(AreaPart { count }) = light.part else {
                first += 1;
                continue;
            };
            let own = emitters.iter().filter(|(id, _)| id.0 as usize == first).map(|(_, emitter)| emitter.clone());
            let points = spread(&own.collect::<Vec<_>>(), count as usize);
            if points.is_empty() && messages.is_first("AreaLightSource without geometry") {
                messages.report_at(light.shader.location.clone(), RequestFault::warning("nothing", 0, NO_GEOMETRY));
            }
            for (light, point) in lights[first..].iter_mut().zip(&points) {
                *light = Arc::new(moved(light, point));
            }
            first += count as usize;
        }
        lights
    }
}

/// Returns the number of lights that an area light is made of under these attributes. Warns if they ask for a number
/// outside of the range.
pub(crate) fn area_light_count(attributes: &Attributes, messages: &mut Messages<'_>) -> u32 {
    let asked = match attributes.other.get("light:nsamples") {
        Some(ParamValue::Ints(counts)) => counts.first().copied().unwrap_or(LIGHTS_DEFAULT),
        _ => LIGHTS_DEFAULT,
    };
    let count = asked.clamp(1, LIGHTS_MAX);
    if count != asked {
        let message = format!(
            "AreaLightSource: Attribute \"light\" \"nsamples\" is from 1 to {LIGHTS_MAX}; {asked} counts as {count}"
        );
        messages.warn_once(&format!("nsamples {asked}"), "range", &message);
    }
    count.unsigned_abs()
}

/// Returns a light with its space at a point of its surface: the origin there, z along the normal, lengths as in the
/// world.
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

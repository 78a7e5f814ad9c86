//! Attributes that are saved under a name and restored later (RenderMan Pro Server's `Resource`).

use super::graphics::GraphicsState;
use std::sync::Arc;

/// The part of the attributes that a resource restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceSubset {
    All,
    Shading,
    Transform,
    GeometryModification,
    GeometryDefinition,
    Hiding,
}

impl ResourceSubset {
    /// Returns the subset of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "all" => Self::All,
            "shading" => Self::Shading,
            "transform" => Self::Transform,
            "geometrymodification" => Self::GeometryModification,
            "geometrydefinition" => Self::GeometryDefinition,
            "hiding" => Self::Hiding,
            _ => return None,
        })
    }
}

/// What a request does with a resource.
#[derive(Clone, Debug)]
pub(crate) enum ResourceStep {
    /// The current attributes are saved.
    Save(Arc<str>),
    /// A part of the saved attributes becomes current.
    Restore(Arc<str>, ResourceSubset),
}

/// Attributes that were saved.
pub(crate) struct SavedResource {
    pub(crate) state: GraphicsState,
    /// Transformations before WorldBegin are not those of the world.
    pub(crate) in_world: bool,
}

/// Makes a part of the saved attributes current.
pub(crate) fn restore(state: &mut GraphicsState, saved: GraphicsState, subset: ResourceSubset) {
    let mut attributes = (*state.attributes).clone();
    let from = (*saved.attributes).clone();
    match subset {
        ResourceSubset::All => {
            *state = GraphicsState { solid: state.solid, ..saved };
            return;
        }
        ResourceSubset::Transform => {
            state.transform = saved.transform;
            return;
        }
        ResourceSubset::Hiding => {
            state.camera_visible = saved.camera_visible;
            attributes.matte = from.matte;
        }
        ResourceSubset::GeometryDefinition => {
            state.basis = saved.basis;
            state.trim = saved.trim;
            state.inside = saved.inside;
            attributes.texture_coordinates = from.texture_coordinates;
        }
        ResourceSubset::GeometryModification => {
            state.detail = saved.detail;
            attributes.displacement = from.displacement;
            attributes.displacement_bound = from.displacement_bound;
        }
        ResourceSubset::Shading => {
            attributes.color = from.color;
            attributes.opacity = from.opacity;
            attributes.surface = from.surface;
            attributes.atmosphere = from.atmosphere;
            attributes.lights = from.lights;
            attributes.shading_rate = from.shading_rate;
            attributes.relative_shading_rate = from.relative_shading_rate;
            attributes.shading_interpolation = from.shading_interpolation;
            attributes.two_sided = from.two_sided;
        }
    }
    state.attributes = Arc::new(attributes);
}

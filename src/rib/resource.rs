//! Resources: attributes that are saved under a name and restored later (RenderMan Pro Server's `Resource`).

use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::reader::Reader;
use super::state::GraphicsState;
use std::sync::Arc;

/// The part of the attributes that a resource restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResourceSubset {
    All,
    Shading,
    Transform,
    GeometryModification,
    GeometryDefinition,
    Hiding,
}

impl ResourceSubset {
    fn named(name: &str) -> Option<Self> {
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

/// What becomes of a resource.
#[derive(Clone, Debug)]
pub(super) enum ResourceStep {
    /// The current attributes are saved.
    Save(Arc<str>),
    /// A part of the saved attributes becomes current.
    Restore(Arc<str>, ResourceSubset),
}

/// Attributes that were saved.
pub(super) struct SavedResource {
    state: GraphicsState,
    /// Transformations before WorldBegin are not those of the world.
    in_world: bool,
}

impl Reader<'_> {
    pub(super) fn resource(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let handle = lexer.handle()?;
        let kind = lexer.text()?;
        self.read_shader_params(lexer)?;
        if *kind != *"attributes" {
            let message = format!("resources of type \"{kind}\" are not supported and have no effect");
            self.warn_once(&format!("Resource {kind}"), "unimplement", &message);
            return Ok(());
        }
        let fault = |message: String| RequestFault::error("badargument", self.current.offset, message);
        let subset = self.params.string("subset").unwrap_or_else(|| "all".into());
        let subset = ResourceSubset::named(&subset).ok_or_else(|| fault(format!("there is no subset \"{subset}\"")))?;
        let step = match self.params.string("operation").as_deref() {
            Some("save") => ResourceStep::Save(handle),
            Some("restore") => ResourceStep::Restore(handle, subset),
            _ => return Err(fault("the \"operation\" of a resource is \"save\" or \"restore\"".to_owned())),
        };
        self.perform(RequestEffect::Resource(step));
        Ok(())
    }

    /// Saves attributes, or restores them.
    pub(super) fn take_resource(&mut self, step: &ResourceStep) {
        match step {
            ResourceStep::Save(handle) => {
                let bytes = (size_of::<GraphicsState>() + handle.len()) as u64;
                if self.take_memory(bytes) {
                    let saved = SavedResource { state: self.state.clone(), in_world: self.world.is_some() };
                    self.resources.insert(Arc::clone(handle), saved);
                }
            }
            ResourceStep::Restore(handle, subset) => {
                let saved = self.resources.get(handle).filter(|saved| saved.in_world == self.world.is_some());
                if let Some(saved) = saved.map(|saved| saved.state.clone()) {
                    restore(&mut self.state, saved, *subset);
                    return;
                }
                let message = format!("there is no resource \"{handle}\"");
                let fault = RequestFault::error("badhandle", self.current.offset, message);
                self.report_here(fault.hint("\"operation\" \"save\" makes it, for the world or for outside of worlds"));
            }
        }
    }
}

fn restore(state: &mut GraphicsState, saved: GraphicsState, subset: ResourceSubset) {
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

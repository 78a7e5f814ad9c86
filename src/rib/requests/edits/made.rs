//! What blocks of edits make of the effects of their requests.

use crate::rib::state::attributes::{AttributeChange, ShaderSlot};
use crate::rib::state::graphics::Orientation;
use crate::rib::state::motion::matrix_step;
use crate::rib::state::shader_call::ShaderCall;
use crate::rib::world::editing::{EditKind, OpenEdit};
use crate::rib::world::effect::RequestEffect;
use crate::rib::world::lights::shadow_request;
use crate::rib::world::scene::SceneBuilder;
use crate::scene::{Edit, FacingEdit, LightChange, MatrixStep, NamePattern, ObjectChange, ShaderEdit, ShaderPlace};
use std::sync::Arc;

/// The name of a shader that stands for the one that there is.
const SAME: &str = "*";

/// Returns the edits of a block of attributes or instances.
pub(super) fn edits_of(scene: &mut SceneBuilder<'_>, open: OpenEdit) -> Vec<Edit> {
    let OpenEdit { kind, names, lights, effects, .. } = open;
    let mut made = MadeEdits { scene, names, lights, steps: Vec::new(), edits: Vec::new(), casts: false, named: false };
    let mut geometry = Vec::new();
    for effect in effects {
        match effect {
            RequestEffect::Transform(steps) => made.steps.push(matrix_step(&steps)),
            RequestEffect::Change(change) => made.change(&change),
            RequestEffect::Light(handle, call, _) => made.light(&handle, &call),
            RequestEffect::Geometry(shape) => geometry.push(shape),
            _ => {}
        }
    }
    if kind == EditKind::Instances && !made.steps.is_empty() {
        let steps = std::mem::take(&mut made.steps);
        made.object(ObjectChange::Place(steps));
    }
    if !geometry.is_empty() {
        made.object(ObjectChange::Geometry(geometry));
    }
    made.finish()
}

/// The edits of a block that is ending.
struct MadeEdits<'s, 'r> {
    scene: &'s mut SceneBuilder<'r>,
    names: NamePattern,
    lights: Option<NamePattern>,
    /// The transformations so far.
    steps: Vec<MatrixStep>,
    edits: Vec<Edit>,
    /// Whether attributes say how lights cast shadows.
    casts: bool,
    /// Whether a light was named.
    named: bool,
}

impl MadeEdits<'_, '_> {
    fn object(&mut self, change: ObjectChange) {
        self.edits.push(Edit::Objects { names: self.names.clone(), change });
    }

    /// Adds the edits of a change of attributes.
    fn change(&mut self, change: &AttributeChange) {
        let is_of_lights = matches!(change, AttributeChange::Other(key, _) if is_of_shadows(key));
        if is_of_lights {
            self.casts = true;
            return;
        }
        if let AttributeChange::Illuminate(span, on) = change {
            if let Some(light) = self.scene.lights.list.get(span.first.0 as usize) {
                let handle = Arc::clone(&light.handle);
                self.object(ObjectChange::Illuminate(handle, *on));
            }
            return;
        }
        let change = object_change(change, &self.steps);
        match change {
            Some(_) if self.lights.is_some() => {
                let message = "attributes of objects have no meaning with \"editlights\"; they are left out";
                let fault = self.scene.messages.error("illstate", message);
                self.scene.messages.report_here(fault.hint("edit them in a block with \"string scopename\""));
            }
            Some(change) => self.object(change),
            None => {}
        }
    }

    /// Adds the edit of a light that is named: a change, or a new light.
    fn light(&mut self, handle: &Arc<str>, call: &ShaderCall) {
        self.named = true;
        let handles = NamePattern::exactly(handle);
        if self.lights.is_none() {
            let light = self.scene.lights.list.iter().rev().find(|light| light.handle == *handle).cloned();
            let names = self.names.clone();
            self.edits.extend(light.map(|light| Edit::AddLight { light, names }));
            return;
        }
        if matches!(&*call.name, "null" | "") {
            self.edits.push(Edit::RemoveLights { handles });
            for light in self.scene.lights.list.iter_mut().filter(|light| light.handle == *handle) {
                Arc::make_mut(light).handle = "".into();
            }
            return;
        }
        let change = LightChange::Shader(shader_edit(call, &self.steps));
        self.edits.push(Edit::Lights { handles, change });
    }

    /// Returns the edits. Transformations without a light move all that the block is about.
    fn finish(mut self) -> Vec<Edit> {
        if let Some(handles) = self.lights.take() {
            if !self.named && !self.steps.is_empty() {
                let change = LightChange::Place(std::mem::take(&mut self.steps));
                self.edits.push(Edit::Lights { handles: handles.clone(), change });
            }
            if self.casts {
                let change = LightChange::Casts(shadow_request(&self.scene.state.attributes));
                self.edits.push(Edit::Lights { handles, change });
            }
        }
        self.edits
    }
}

/// Whether an attribute says how the lights made after it cast shadows.
fn is_of_shadows(key: &str) -> bool {
    key == "light:shadows" || key.starts_with("autoshadows:")
}

fn shader_edit(call: &ShaderCall, steps: &[MatrixStep]) -> ShaderEdit {
    let name = (&*call.name != SAME).then(|| Arc::clone(&call.name));
    ShaderEdit { name, params: call.params.clone(), steps: steps.to_vec(), location: call.location.clone() }
}

/// Returns what a change of attributes does to objects; `None` where it concerns only what is made in the block.
fn object_change(change: &AttributeChange, steps: &[MatrixStep]) -> Option<ObjectChange> {
    Some(match change {
        AttributeChange::Color(color) => ObjectChange::Color(*color),
        AttributeChange::Opacity(opacity) => ObjectChange::Opacity(*opacity),
        AttributeChange::TextureCoordinates(corners) => ObjectChange::TextureCoordinates(*corners),
        AttributeChange::Shader(slot, call) => {
            let place = match slot {
                ShaderSlot::Surface => ShaderPlace::Surface,
                ShaderSlot::Displacement => ShaderPlace::Displacement,
                ShaderSlot::Atmosphere => ShaderPlace::Atmosphere,
            };
            ObjectChange::Shader(place, call.as_ref().map(|call| shader_edit(call, steps)))
        }
        AttributeChange::ShadingRate(rate) => ObjectChange::ShadingRate(*rate),
        AttributeChange::RelativeShadingRate(rate) => ObjectChange::RelativeShadingRate(*rate),
        AttributeChange::Interpolation(interpolation) => ObjectChange::Interpolation(*interpolation),
        AttributeChange::Matte(matte) => ObjectChange::Matte(*matte),
        AttributeChange::TwoSided(two_sided) => ObjectChange::TwoSided(*two_sided),
        AttributeChange::Orientation(orientation) => ObjectChange::Facing(match orientation {
            Orientation::Outside => FacingEdit::Outside,
            Orientation::Inside => FacingEdit::Inside,
            Orientation::LeftHanded => FacingEdit::LeftHanded,
            Orientation::RightHanded => FacingEdit::RightHanded,
        }),
        AttributeChange::ReverseOrientation => ObjectChange::Facing(FacingEdit::Reverse),
        AttributeChange::DisplacementBound { radius, space } => {
            ObjectChange::DisplacementBound { radius: *radius, space: space.clone() }
        }
        AttributeChange::CameraVisibility(visible) => ObjectChange::Visible(*visible),
        AttributeChange::Other(key, value) => ObjectChange::Other(key.clone(), value.clone()),
        AttributeChange::Illuminate(..)
        | AttributeChange::AreaLight(_)
        | AttributeChange::Basis(_)
        | AttributeChange::TrimCurves(_)
        | AttributeChange::TrimSense(_)
        | AttributeChange::DetailRange(_)
        | AttributeChange::DetailBox(_)
        | AttributeChange::ScopedSpace(_)
        | AttributeChange::Name(_) => return None,
    })
}

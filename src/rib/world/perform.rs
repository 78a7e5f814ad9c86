//! Performs the effects of requests.

use super::effect::{BlockScope, Object, RequestEffect};
use super::scene::SceneBuilder;
use crate::rib::geometry::batch::Batch;
use crate::rib::state::attributes::AttributeChange;
use crate::rib::state::graphics::GraphicsState;
use crate::rib::state::motion;
use crate::rib::state::resources::{ResourceStep, SavedResource, restore};
use crate::rib::state::screen::{self, ScreenMove};
use crate::scene::Projection;
use glam::DMat4;
use std::sync::Arc;

impl SceneBuilder<'_> {
    /// Applies the effect of a request, or adds it to the open motion block.
    pub(crate) fn apply(&mut self, effect: RequestEffect) {
        let fits = match &effect {
            RequestEffect::Primitive(batch) => self.take_memory(batch.bytes()),
            _ => true,
        };
        match &mut self.moving {
            Some(block) if fits => block.collect(effect),
            Some(block) => block.mark_inert(),
            None if fits => self.perform(effect),
            None => {}
        }
    }

    /// Performs an effect and keeps it for the object that is being recorded.
    pub(crate) fn perform(&mut self, effect: RequestEffect) {
        match effect {
            RequestEffect::Primitive(batch) => self.join(*batch),
            effect => {
                self.flush();
                if self.keep_edit(&effect) {
                    return;
                }
                self.take(&effect);
                let kept_bytes = effect.bytes() + size_of::<RequestEffect>() as u64;
                let keeps = self.recording.is_some() && self.take_memory(kept_bytes);
                if let Some(recording) = self.recording.as_mut().filter(|_| keeps) {
                    recording.keep(effect);
                }
            }
        }
    }

    /// Appends primitives to the pending ones, if they can form one geometry.
    fn join(&mut self, batch: Batch) {
        let rest = match &mut self.pending {
            Some(pending) => pending.append(batch),
            None => Some(batch),
        };
        if let Some(batch) = rest {
            self.flush();
            self.pending = Some(batch);
        }
    }

    /// Draws the pending primitives as a geometry, before anything changes that they depend on.
    pub(crate) fn flush(&mut self) {
        if let Some(batch) = self.pending.take() {
            let geometry = Arc::new(batch.geometry());
            if let Some(editing) = &mut self.editing {
                editing.keep(RequestEffect::Geometry(geometry));
                return;
            }
            match &mut self.recording {
                Some(recording) => recording.keep(RequestEffect::Geometry(geometry)),
                None => self.draw_geometry(&geometry, true),
            }
        }
    }

    /// Changes the state, or draws. The caller handles blocks.
    fn take(&mut self, effect: &RequestEffect) {
        match effect {
            RequestEffect::Transform(steps) => self.state.move_by(steps, &self.messages),
            RequestEffect::Change(change) => self.take_change(change),
            RequestEffect::Light(handle, call, extent) => self.make_light(handle, call, *extent),
            RequestEffect::Geometry(geometry) if self.recording.is_none() => self.draw_geometry(geometry, false),
            RequestEffect::Instance(object) if self.recording.is_none() => self.draw_object(object),
            RequestEffect::Space(name) => self.state.name_space(name, &mut self.spaces, &self.messages),
            RequestEffect::UseSpace(name) => {
                self.notes.depends_on_view |= **name == *"camera";
                let camera = self.world.as_ref().map(|world| &world.camera);
                self.state.use_space(name, &self.spaces, camera, &self.messages);
            }
            RequestEffect::Resource(step) => self.take_resource(step),
            RequestEffect::Projection(projection) => self.take_projection(*projection),
            RequestEffect::Solid(operation, location) if self.recording.is_none() => {
                self.enter_solid(*operation, location);
            }
            RequestEffect::Geometry(_)
            | RequestEffect::Solid(..)
            | RequestEffect::Instance(_)
            | RequestEffect::Primitive(_)
            | RequestEffect::Begin(_)
            | RequestEffect::End => {}
        }
    }

    /// Applies the effects of an object, whose blocks are balanced.
    fn replay(&mut self, items: &[RequestEffect]) {
        let mut saved = Vec::new();
        for item in items {
            match item {
                RequestEffect::Begin(saves) => saved.push((*saves, self.state.clone())),
                RequestEffect::End => match saved.pop() {
                    Some((BlockScope::Attributes, state)) => self.state = state,
                    Some((BlockScope::Transform, state)) => self.state.transform = state.transform,
                    None => {}
                },
                item => self.take(item),
            }
        }
    }

    fn take_change(&mut self, change: &AttributeChange) {
        match change {
            AttributeChange::DetailBox(bounds) => {
                self.notes.depends_on_view = true;
                self.state.detail.size = self.detail_size(bounds);
            }
            AttributeChange::ScopedSpace(name) => self.state.name_scoped_space(name, &self.messages),
            AttributeChange::Orientation(orientation) => {
                let mirrored_camera = self.world.as_ref().is_some_and(|world| world.mirrored);
                self.state.orient(*orientation, mirrored_camera);
            }
            change => self.state.change(change, &self.messages),
        }
    }

    /// Sets the projection. Earlier transformations move what is projected, later ones the camera (RISpec 4.1.1).
    fn take_projection(&mut self, projection: Projection) {
        self.options.projection = projection;
        let still = Some(self.state.transform.first()).filter(|_| !self.state.transform.moves());
        let (screen_move, roll) = still.and_then(screen::apart).unwrap_or_else(|| {
            if self.messages.is_first("Projection") {
                let message = "transformations before Projection that do not just scale, turn or shift the screen are \
                    ignored";
                let fault = self.messages.warning("unimplement", message);
                self.messages.report_here(fault.hint("those of the camera belong after Projection"));
            }
            (ScreenMove::NONE, DMat4::IDENTITY)
        });
        self.options.screen_move = screen_move;
        self.state.transform = motion::still(roll);
    }

    /// Saves attributes, or restores them.
    fn take_resource(&mut self, step: &ResourceStep) {
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
                let fault = self.messages.error("badhandle", format!("there is no resource \"{handle}\""));
                let hint = "\"operation\" \"save\" makes it, for the world or for outside of worlds";
                self.messages.report_here(fault.hint(hint));
            }
        }
    }

    /// Draws an object under the current state, which is unchanged afterwards.
    fn draw_object(&mut self, object: &Arc<Object>) {
        if self.world.is_none() {
            return;
        }
        // Instances inside the object are counted with it.
        let counted = self.instance_depth > 0;
        let bytes = if counted { 0 } else { object.bytes };
        if !self.take_memory(bytes) {
            return;
        }
        let state = self.state.clone();
        self.instance_depth += 1;
        self.replay(&object.items);
        self.instance_depth -= 1;
        self.state = state;
    }
}

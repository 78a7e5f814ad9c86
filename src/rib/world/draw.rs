//! Adds geometry and solids to the open world.

use super::scene::SceneBuilder;
use crate::diagnostic::SourceLocation;
use crate::host_memory::ChargeKind;
use crate::scene::{
    Attributes, Drawable, EditNotes, Geometry, HiddenDrawable, Solid, SolidOperation, TREE_PRIMITIVES_MAX, World,
};
use std::sync::Arc;

/// The bytes of a drawable besides its geometry: its own record and roughly the pipeline's records of one instance
/// (look, run, instance twice while bins are numbered, origin).
const DRAWABLE_BYTES: usize = 640;

impl SceneBuilder<'_> {
    /// Adds a drawable to the world under the current state. A drawable that `waited` to be joined was read before
    /// memory was used up.
    pub(super) fn draw_geometry(&mut self, geometry: &Arc<Geometry>, waited: bool) {
        let Some(world) = self.world.as_mut().filter(|_| self.state.detail.is_visible()) else { return };
        self.lights.add_emitter(geometry, &self.state, world.mirrored, &mut self.messages);
        let is_hidden = !self.state.camera_visible;
        if is_hidden {
            world.invisible += geometry.shape.first().primitive_count() as u64;
            if !self.settings.expects_edits() {
                return;
            }
        }
        let attributes = &self.state.attributes;
        let attributes =
            if self.state.flip_normal(world.mirrored) { world.flipped(attributes) } else { Arc::clone(attributes) };
        let world_from_object = Arc::clone(&self.state.transform);
        let detail = self.state.detail.samples();
        let solid = self.state.solid.map(|solid| world.solids.primitive(solid));
        let seed = if is_hidden { world.seeds.aside(world.hidden.len()) } else { world.seeds.next() };
        let last = world.drawables.last();
        let mut bytes = DRAWABLE_BYTES;
        if last.is_none_or(|last| !Arc::ptr_eq(&last.attributes, &attributes)) {
            bytes += size_of::<Attributes>() + 64 * attributes.other.len() + 4 * attributes.lights.len();
            bytes += size_of_val(&*attributes.scoped_spaces);
        }
        if last.is_none_or(|last| !Arc::ptr_eq(&last.world_from_object, &world_from_object)) {
            bytes += size_of_val(world_from_object.keyframes());
        }
        let drawable = Drawable { geometry: Arc::clone(geometry), world_from_object, attributes, detail, solid, seed };
        let was_read = waited && self.charge.try_take(ChargeKind::Geometry, bytes as u64);
        if (was_read || self.take_memory(bytes as u64))
            && let Some(world) = &mut self.world
        {
            if is_hidden {
                world.hidden.push(HiddenDrawable { place: world.drawables.len(), drawable });
                return;
            }
            world.outline.note(&drawable);
            world.drawables.push(drawable);
            self.give_outline();
        }
    }

    /// Gives the consumer an outline of the open world, if one is due.
    fn give_outline(&mut self) {
        let Some(world) = &mut self.world else { return };
        let Some(drawables) = world.outline.take_due() else { return };
        self.worlds.foresee(World {
            options: world.options.clone(),
            camera: world.camera.clone(),
            drawables,
            solids: Vec::new(),
            lights: self.lights.list.clone(),
            spaces: self.spaces.clone(),
            location: world.location.clone(),
            notes: EditNotes::default(),
        });
    }

    /// Makes a part of the current solid, or a solid, the current one. What is begun inside of a primitive belongs to
    /// it.
    pub(super) fn enter_solid(&mut self, operation: SolidOperation, location: &SourceLocation) {
        if !self.charge.try_take(ChargeKind::Geometry, size_of::<Solid>() as u64) {
            return;
        }
        let Some(world) = &mut self.world else { return };
        let around = self.state.solid.map(|solid| world.solids.get(solid));
        if let Some(Solid { location: outer, .. }) = around.filter(|solid| solid.operation == SolidOperation::Primitive)
        {
            let message = format!("SolidBegin inside of SolidBegin \"primitive\" at {outer} has no effect");
            let fault = self.messages.error("badsolid", message);
            self.messages
                .report_here(fault.hint("only surfaces make a \"primitive\"; combine solids in another kind of solid"));
            return;
        }
        let is_full = self.state.solid.is_some_and(|solid| !world.solids.has_room(solid));
        if is_full && operation == SolidOperation::Primitive {
            self.state.camera_visible = false;
            let message = format!("a solid has at most {TREE_PRIMITIVES_MAX} primitives: this one is left out");
            self.messages.report_error("limitcheck", message);
            return;
        }
        self.state.solid = Some(world.solids.begin(operation, self.state.solid, location.clone()));
    }
}

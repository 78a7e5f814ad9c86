//! Reading fragments of edits: what requests do in an open block, and what a fragment knows of its world.

use super::editing::{EditBatch, EditBlocks, EditKind, Editing, OpenEdit};
use super::effect::RequestEffect;
use super::scene::SceneBuilder;
use crate::rib::state::edit_scene::EditScene;
use crate::rib::state::graphics::GraphicsState;
use crate::rib::state::lights::{LightSlot, LightSpan};
use crate::rib::stream::declare::Dictionary;
use crate::rib::stream::fault::RequestFault;
use crate::scene::{LightId, World};
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl SceneBuilder<'_> {
    /// Collects the effect of a request in an open block of edits. Returns whether that is all that it does.
    pub(super) fn keep_edit(&mut self, effect: &RequestEffect) -> bool {
        let Some(open) = self.editing.as_mut().and_then(|editing| editing.open.as_mut()) else { return false };
        if open.kind == EditKind::Options {
            return false;
        }
        open.effects.push(effect.clone());
        // An edited light is none of its own.
        open.lights.is_some() && matches!(effect, RequestEffect::Light(..))
    }

    /// Returns what edits of a world need to know that begins here.
    pub(super) fn edit_scene_here(&self) -> EditScene {
        EditScene {
            options: self.options.clone(),
            camera: Arc::clone(&self.state.transform),
            declarations: self.dictionary.declarations(),
            directory: self.directory.clone(),
        }
    }

    /// Begins to read edits of a world.
    pub(crate) fn begin_edits(&mut self, scene: EditScene, world: &World, blocks: EditBlocks, reads_archives: bool) {
        self.dictionary = Dictionary::of(scene.declarations);
        self.options = scene.options;
        self.directory = scene.directory;
        self.lights.list.clone_from(&world.lights);
        let mut index = 0;
        while let Some(light) = world.lights.get(index) {
            let count = light.part.map_or(1, |part| part.count);
            let span = LightSpan { first: LightId(index as u32), count };
            if !light.handle.is_empty() {
                self.lights.handles.insert(Arc::clone(&light.handle), LightSlot::Lights(span));
            }
            index += count.max(1) as usize;
        }
        let (camera, names) = (scene.camera, names_of(world));
        let editing = Editing::of_options(camera);
        self.editing = Some(Editing { blocks, reads_archives, names, ..editing });
    }

    /// Ends to read edits of a world. Returns the blocks, and the scene as the next edits find it.
    pub(crate) fn end_edits(&mut self) -> (Vec<EditBatch>, Option<EditScene>) {
        let Some(editing) = self.editing.take() else { return (Vec::new(), None) };
        self.state.transform = editing.camera;
        (editing.batches, Some(self.edit_scene_here()))
    }

    /// Opens a block of edits.
    pub(crate) fn open_edit(&mut self, mut open: OpenEdit) {
        let fresh = GraphicsState::new(self.settings.overrides.shading_rate.unwrap_or(1.0));
        match open.kind {
            EditKind::Options => {
                open.options = Some(Box::new(self.options.clone()));
                if let Some(editing) = &self.editing {
                    self.state.transform = Arc::clone(&editing.camera);
                }
                let is_counted = self.editing.as_ref().is_some_and(|editing| editing.blocks == EditBlocks::All);
                let frozen = is_counted.then(|| self.frozen_here());
                if let Some(editing) = &mut self.editing {
                    editing.frozen = frozen;
                }
            }
            _ => self.state = fresh,
        }
        if let Some(editing) = &mut self.editing {
            editing.open = Some(open);
        }
    }

    /// Leaves an open block of edits out, and says so.
    pub(crate) fn drop_open_edit(&mut self) {
        let Some(editing) = &mut self.editing else { return };
        let Some(open) = editing.open.take() else { return };
        if let Some(options) = open.options {
            self.options = *options;
        }
        let named = std::mem::take(&mut self.messages.named);
        let message = format!("EditBegin \"{}\" has no EditEnd, so this edit is left out", open.kind.name());
        let fault = RequestFault::error("nesting", 0, message);
        self.messages.report_at(open.location, fault);
        self.messages.named = named;
        self.pending = None;
    }
}

/// Returns the names of the objects of a world, each once.
fn names_of(world: &World) -> Vec<Arc<str>> {
    let (mut states, mut known) = (FxHashSet::default(), FxHashSet::default());
    let states = world.all_drawables().filter(|drawable| states.insert(Arc::as_ptr(&drawable.attributes)));
    let names = states.map(|drawable| Arc::clone(&drawable.attributes.name));
    names.filter(|name| known.insert(Arc::clone(name))).collect()
}

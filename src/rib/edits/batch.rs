//! Edits of worlds before they are passed on: `anthill render --edits`.

use super::{EditReader, EditTrust};
use crate::diagnostic::Reporter;
use crate::host_memory::Charge;
use crate::rib::consumer::{RequestedTexture, WorldConsumer};
use crate::rib::settings::Settings;
use crate::rib::state::edit_scene::EditScene;
use crate::rib::stream::source::Source;
use crate::scene::{Camera, Edit, Options, World};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Makes edits of each world and passes it on. Options are edited at WorldBegin, so that what is read depends on the
/// edited camera; everything else is edited here.
pub(in crate::rib) struct EditingConsumer<'c> {
    pub(in crate::rib) worlds: &'c mut dyn WorldConsumer,
    pub(in crate::rib) settings: &'c Settings,
    pub(in crate::rib) reporter: &'c Reporter,
    pub(in crate::rib) sources: Vec<Arc<Source>>,
    pub(in crate::rib) scene: Option<EditScene>,
}

impl WorldConsumer for EditingConsumer<'_> {
    fn film_bytes(&self, options: &Options, camera: &Camera) -> u64 {
        self.worlds.film_bytes(options, camera)
    }

    fn foresee(&mut self, outline: World) {
        self.worlds.foresee(outline);
    }

    fn editable(&mut self, scene: EditScene) {
        self.scene = Some(scene.clone());
        self.worlds.editable(scene);
    }

    fn take(&mut self, mut world: World, charge: Arc<Charge>) -> ControlFlow<()> {
        if let Some(scene) = self.scene.take() {
            let mut reader = EditReader::of_objects(scene, self.settings);
            for source in &self.sources {
                // Edits of one fragment are found in the world as those before it have left it.
                let batches = reader.read_source(source, &world, self.reporter);
                Edit::apply_all(batches.iter().flat_map(|batch| &batch.edits), &mut world);
            }
        }
        if !self.settings.is_live {
            world.notes.hidden = Vec::new();
        }
        self.worlds.take(world, charge)
    }

    fn make(&mut self, texture: RequestedTexture) -> ControlFlow<()> {
        self.worlds.make(texture)
    }

    fn settle(&mut self) {
        self.worlds.settle();
    }
}

impl EditReader {
    /// Creates a reader of all blocks but those of options.
    fn of_objects(scene: EditScene, settings: &Settings) -> Self {
        Self { skips_options: true, ..Self::new(scene, settings, EditTrust::Own, "") }
    }
}

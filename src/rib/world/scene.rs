//! What requests work on: the graphics state, what has a name, and the world that is being built.

use super::area_lights::Lights;
use super::block::Block;
use super::editing::Editing;
use super::effect::{Object, ObjectRecording};
use super::motion_block::MovingBlock;
use super::world_builder::WorldBuilder;
use crate::diagnostic::Reporter;
use crate::host_memory::Charge;
use crate::rib::consumer::WorldConsumer;
use crate::rib::geometry::batch::Batch;
use crate::rib::settings::Settings;
use crate::rib::state::edit_scene::EditScene;
use crate::rib::state::graphics::GraphicsState;
use crate::rib::state::options::OptionState;
use crate::rib::state::resources::SavedResource;
use crate::rib::state::scoped::ScopedMap;
use crate::rib::stream::declare::Dictionary;
use crate::rib::stream::messages::{ErrorHandling, Messages};
use crate::rib::stream::params::ParamList;
use crate::rib::summary::Summary;
use crate::scene::{NamedSpace, ReadingNotes};
use std::path::PathBuf;
use std::sync::Arc;

/// Builds worlds from the effects of requests.
pub(crate) struct SceneBuilder<'r> {
    pub(crate) settings: &'r Settings,
    pub(crate) messages: Messages<'r>,
    pub(crate) summary: Summary,
    /// The folder of the input, for its archives.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) dictionary: Dictionary,
    /// The parameter list of the current request, reused to save allocations.
    pub(crate) params: ParamList,
    /// Counts what may give the same text another meaning: declarations, archives, objects, lights, conditions.
    pub(crate) definitions: u64,
    pub(crate) options: OptionState,
    pub(crate) state: GraphicsState,
    /// Named coordinate systems, relative to the world, or before WorldBegin to the camera.
    pub(crate) spaces: Vec<NamedSpace>,
    pub(crate) resources: ScopedMap<SavedResource>,
    pub(crate) objects: ScopedMap<Arc<Object>>,
    pub(crate) lights: Lights,
    pub(crate) blocks: Vec<Block>,
    pub(crate) moving: Option<MovingBlock>,
    pub(crate) recording: Option<ObjectRecording>,
    /// Primitives that are not a geometry yet, because the next ones may be joined with them.
    pub(crate) pending: Option<Batch>,
    /// The depth of object instances that are being drawn.
    pub(crate) instance_depth: u32,
    pub(crate) world: Option<WorldBuilder>,
    /// The charge of the innermost frame or world, or of the input outside of both.
    pub(crate) charge: Arc<Charge>,
    pub(crate) worlds: &'r mut dyn WorldConsumer,
    /// What reading has depended on so far.
    pub(crate) notes: ReadingNotes,
    /// What edits of the open world will need to know, if they are expected.
    pub(crate) edit_scene: Option<EditScene>,
    /// Set while a fragment of edits is read.
    pub(crate) editing: Option<Editing>,
    /// Set when the consumer wants no more worlds.
    pub(crate) refused: bool,
}

impl<'r> SceneBuilder<'r> {
    /// Creates a builder in the default state.
    pub(crate) fn new(settings: &'r Settings, reporter: &'r Reporter, worlds: &'r mut dyn WorldConsumer) -> Self {
        Self {
            settings,
            messages: Messages::new(reporter),
            summary: Summary::default(),
            directory: None,
            dictionary: Dictionary::new(),
            params: ParamList::default(),
            definitions: 0,
            options: OptionState::new(&settings.search),
            state: GraphicsState::new(settings.overrides.shading_rate.unwrap_or(1.0)),
            spaces: Vec::new(),
            resources: ScopedMap::new(),
            objects: ScopedMap::new(),
            lights: Lights::new(),
            blocks: Vec::new(),
            moving: None,
            recording: None,
            pending: None,
            instance_depth: 0,
            world: None,
            charge: Arc::new(Charge::new(&settings.memory)),
            worlds,
            notes: ReadingNotes::default(),
            edit_scene: None,
            editing: None,
            refused: false,
        }
    }

    /// Sets the default options and graphics state, and forgets all names.
    pub(crate) fn reset(&mut self) {
        self.dictionary = Dictionary::new();
        self.options = OptionState::new(&self.settings.search);
        self.state = GraphicsState::new(self.settings.overrides.shading_rate.unwrap_or(1.0));
        (self.objects, self.resources) = (ScopedMap::new(), ScopedMap::new());
        self.lights.reset();
        self.spaces = Vec::new();
        self.messages.handling = ErrorHandling::Print;
        self.definitions += 1;
    }

    /// Whether no more requests are to be read.
    pub(crate) fn is_stopped(&self) -> bool {
        self.refused || self.messages.is_aborted() || self.settings.interrupt.is_raised()
    }

    /// Counts the current request as a primitive that is not drawn, if it is one.
    pub(crate) fn note_left_out(&mut self) {
        if self.messages.current.is_primitive {
            self.add_left_out(1);
        }
    }

    /// Counts primitives that are not drawn.
    pub(crate) fn add_left_out(&mut self, count: u64) {
        self.summary.left_out += count;
        if let Some(world) = &mut self.world {
            world.left_out += count;
        }
    }

    /// Marks the open motion block's request as having no effect.
    pub(crate) fn mark_inert(&mut self) {
        if let Some(block) = &mut self.moving {
            block.mark_inert();
        }
    }
}

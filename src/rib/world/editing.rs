//! Fragments of edits while they are read, as data: what an open block collects, instead of drawing anything.

use super::effect::RequestEffect;
use crate::diagnostic::SourceLocation;
use crate::rib::state::options::OptionState;
use crate::scene::{Camera, Edit, Motion, NamePattern, Options};
use glam::DMat4;
use std::sync::Arc;

/// A kind of block of edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditKind {
    /// Options and the camera.
    Options,
    /// Attributes of objects, and lights.
    Attributes,
    /// Places, visibility and geometry of objects.
    Instances,
    /// Files that were saved.
    Files,
}

impl EditKind {
    /// Returns the kind of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "option" => Self::Options,
            "attribute" => Self::Attributes,
            "instance" => Self::Instances,
            "file" => Self::Files,
            _ => return None,
        })
    }

    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Options => "option",
            Self::Attributes => "attribute",
            Self::Instances => "instance",
            Self::Files => "file",
        }
    }
}

/// The edits of one block, from EditBegin to EditEnd.
#[derive(Clone, Debug)]
pub struct EditBatch {
    /// The edits, in their order; none for an empty block.
    pub edits: Vec<Edit>,
    /// The location of EditBegin.
    pub location: SourceLocation,
}

/// Which blocks of a fragment are read; others are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditBlocks {
    /// All.
    All,
    /// Those of options: at WorldBegin, as requests of the scene.
    Options,
    /// All others: at WorldEnd.
    Objects,
}

impl EditBlocks {
    /// Whether blocks of a kind are read.
    pub(crate) fn has(self, kind: EditKind) -> bool {
        match self {
            Self::All => true,
            Self::Options => kind == EditKind::Options,
            Self::Objects => kind != EditKind::Options,
        }
    }
}

/// An open block of edits.
pub(crate) struct OpenEdit {
    pub(crate) kind: EditKind,
    /// The objects that it is about.
    pub(crate) names: NamePattern,
    /// The lights that it is about, if it says so.
    pub(crate) lights: Option<NamePattern>,
    pub(crate) location: SourceLocation,
    /// The effects of its requests.
    pub(crate) effects: Vec<RequestEffect>,
    /// The files that were saved.
    pub(crate) files: Vec<Arc<str>>,
    /// The options before the block, which hold again if it has no end.
    pub(crate) options: Option<Box<OptionState>>,
}

/// A fragment of edits that is being read.
pub(crate) struct Editing {
    /// Which blocks are read.
    pub(crate) blocks: EditBlocks,
    /// Whether archives may be read.
    pub(crate) reads_archives: bool,
    /// The names of the objects of the world.
    pub(crate) names: Vec<Arc<str>>,
    /// The transformation that blocks of options begin with, and leave.
    pub(crate) camera: Arc<Motion<DMat4>>,
    /// The options and the camera before the next block.
    pub(crate) frozen: Option<(Options, Camera)>,
    pub(crate) open: Option<OpenEdit>,
    /// The blocks so far.
    pub(crate) batches: Vec<EditBatch>,
}

impl Editing {
    /// Begins a fragment of which only the options are read.
    pub(crate) fn of_options(camera: Arc<Motion<DMat4>>) -> Self {
        let (names, batches) = (Vec::new(), Vec::new());
        Self { blocks: EditBlocks::Options, reads_archives: true, names, camera, frozen: None, open: None, batches }
    }

    /// Collects an effect.
    pub(super) fn keep(&mut self, effect: RequestEffect) {
        if let Some(open) = &mut self.open {
            open.effects.push(effect);
        }
    }
}

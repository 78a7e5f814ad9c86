//! Blocks: how they nest, and what each saves (RISpec 2.2).

use crate::diagnostic::SourceLocation;
use crate::host_memory::Charge;
use crate::rib::state::graphics::GraphicsState;
use crate::rib::state::options::OptionState;
use crate::rib::state::scoped::ScopeMark;
use crate::scene::{Light, Motion, NamedSpace};
use glam::DMat4;
use std::sync::Arc;

/// A kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Frame,
    World,
    Attribute,
    Transform,
    Solid,
    Object,
    Motion,
    Resource,
    /// What a procedural reads; no request ends it.
    Procedural,
}

impl BlockKind {
    /// Returns the request that begins it.
    pub(super) fn begin(self) -> String {
        if self == Self::Procedural { self.name().to_owned() } else { format!("{}Begin", self.name()) }
    }

    /// Returns what ends it.
    pub(super) fn end(self) -> String {
        if self == Self::Procedural { "the end of what it reads".to_owned() } else { format!("{}End", self.name()) }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Frame => "Frame",
            Self::World => "World",
            Self::Attribute => "Attribute",
            Self::Transform => "Transform",
            Self::Solid => "Solid",
            Self::Object => "Object",
            Self::Motion => "Motion",
            Self::Resource => "Resource",
            Self::Procedural => "Procedural",
        }
    }

    /// Returns how strong it is. A block is closed early only by the end of a block at least as strong: a stray
    /// AttributeEnd does not end the world.
    pub(super) fn strength(self) -> u32 {
        match self {
            Self::Procedural => 4,
            Self::Frame => 3,
            Self::World => 2,
            Self::Object => 1,
            Self::Attribute | Self::Transform | Self::Solid | Self::Motion | Self::Resource => 0,
        }
    }
}

/// An open block.
pub(crate) struct Block {
    /// Its kind.
    pub(crate) kind: BlockKind,
    /// Where it begins.
    pub(super) location: SourceLocation,
    pub(super) saved: SavedState,
}

/// What a block restores at its end.
pub(super) enum SavedState {
    Nothing,
    Transform(Arc<Motion<DMat4>>),
    Resources(ScopeMark),
    State(Box<GraphicsState>),
    Scope(Box<SavedScope>),
}

/// The state that a frame or world saves.
pub(super) struct SavedScope {
    pub(super) state: GraphicsState,
    pub(super) options: OptionState,
    pub(super) lights: Vec<Arc<Light>>,
    pub(super) light_handles: ScopeMark,
    pub(super) spaces: Vec<NamedSpace>,
    pub(super) objects: ScopeMark,
    pub(super) resources: ScopeMark,
    pub(super) charge: Arc<Charge>,
}

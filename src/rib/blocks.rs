//! Blocks: how they nest, what each saves, and what happens when they are not closed in order (RISpec 2.2).

use super::effect::{BlockScope, RequestEffect};
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::options::OptionState;
use super::reader::Reader;
use super::scoped::ScopeMark;
use super::state::GraphicsState;
use crate::diagnostic::SourceLocation;
use crate::host_memory::Charge;
use crate::scene::{Light, Motion, NamedSpace};
use glam::DMat4;
use std::sync::Arc;

/// A kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
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
    /// The request that begins it.
    fn begin(self) -> String {
        if self == Self::Procedural { self.name().to_owned() } else { format!("{}Begin", self.name()) }
    }

    /// What ends it.
    fn end(self) -> String {
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

    /// A block is closed early only by the end of a block at least as strong: a stray AttributeEnd does not end the
    /// world.
    fn strength(self) -> u32 {
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
pub(super) struct Block {
    /// Its kind.
    pub(super) kind: BlockKind,
    /// Where it begins.
    location: SourceLocation,
    saved: SavedState,
}

/// What a block restores at its end.
enum SavedState {
    Nothing,
    Transform(Arc<Motion<DMat4>>),
    Resources(ScopeMark),
    State(Box<GraphicsState>),
    Scope(Box<SavedScope>),
}

/// The state that a frame or world saves.
struct SavedScope {
    state: GraphicsState,
    options: OptionState,
    lights: Vec<Arc<Light>>,
    light_handles: ScopeMark,
    spaces: Vec<NamedSpace>,
    objects: ScopeMark,
    resources: ScopeMark,
    charge: Arc<Charge>,
}

impl Reader<'_> {
    /// Opens a block.
    pub(super) fn open(&mut self, kind: BlockKind) -> Parsed<()> {
        if self.blocks.len() >= self.settings.limits.blocks {
            let message = format!("more than {} blocks are open at once", self.settings.limits.blocks);
            return Err(RequestFault::error("limitcheck", self.current.offset, message));
        }
        let saved = match kind {
            BlockKind::Motion => SavedState::Nothing,
            BlockKind::Resource => SavedState::Resources(self.resources.mark()),
            BlockKind::Transform => SavedState::Transform(Arc::clone(&self.state.transform)),
            BlockKind::Attribute | BlockKind::Solid | BlockKind::Object | BlockKind::Procedural => {
                SavedState::State(Box::new(self.state.clone()))
            }
            BlockKind::Frame | BlockKind::World => SavedState::Scope(Box::new(SavedScope {
                state: self.state.clone(),
                options: self.options.clone(),
                lights: self.lights.clone(),
                light_handles: self.light_handles.mark(),
                spaces: self.spaces.clone(),
                objects: self.objects.mark(),
                resources: self.resources.mark(),
                charge: Arc::clone(&self.charge),
            })),
        };
        match kind {
            BlockKind::Attribute | BlockKind::Solid | BlockKind::Procedural => {
                self.perform(RequestEffect::Begin(BlockScope::Attributes));
            }
            BlockKind::Transform => self.perform(RequestEffect::Begin(BlockScope::Transform)),
            BlockKind::Frame | BlockKind::World => {
                self.flush();
                self.charge = Arc::new(Charge::inside(&self.charge));
            }
            _ => self.flush(),
        }
        self.blocks.push(Block { kind, location: self.current.location.clone(), saved });
        Ok(())
    }

    /// Closes the innermost block of a kind, and reports and closes every block that is still open inside it.
    pub(super) fn close(&mut self, kind: BlockKind) -> Parsed<()> {
        let reachable = self.blocks.iter().rev().take_while(|b| b.kind == kind || b.kind.strength() <= kind.strength());
        let Some(depth) = reachable.map(|block| block.kind).position(|found| found == kind) else {
            let fault =
                RequestFault::error("nesting", self.current.offset, format!("{} without {}", kind.end(), kind.begin()));
            return Err(match self.blocks.last() {
                Some(block) => {
                    fault.hint(format!("the innermost open block is {} at {}", block.kind.begin(), block.location))
                }
                None => fault.hint("no block is open here"),
            });
        };
        for _ in 0..depth {
            if let Some(block) = self.blocks.last() {
                let message = format!("{} at {} is still open at {}", block.kind.begin(), block.location, kind.end());
                let fault = RequestFault::error("nesting", self.current.offset, message).hint("it is closed here");
                self.report_here(fault);
            }
            self.close_innermost();
        }
        self.close_innermost();
        Ok(())
    }

    /// Ends the innermost block and restores what it saved.
    pub(super) fn close_innermost(&mut self) {
        match self.blocks.last().map(|block| block.kind) {
            Some(BlockKind::Attribute | BlockKind::Solid | BlockKind::Transform | BlockKind::Procedural) => {
                self.perform(RequestEffect::End);
            }
            Some(BlockKind::Motion) => self.finish_motion(),
            Some(BlockKind::Object) => self.finish_object(),
            _ => self.flush(),
        }
        let Some(block) = self.blocks.pop() else { return };
        let mut finished = if block.kind == BlockKind::World { self.take_world() } else { None };
        let mut handed = None;
        match block.saved {
            SavedState::Nothing => {}
            SavedState::Transform(transform) => self.state.transform = transform,
            SavedState::Resources(mark) => self.resources.roll_back_to(mark),
            SavedState::State(state) => self.state = *state,
            SavedState::Scope(everything) => {
                self.state = everything.state;
                self.options = everything.options;
                self.lights = everything.lights;
                self.light_handles.roll_back_to(everything.light_handles);
                self.spaces = everything.spaces;
                self.objects.roll_back_to(everything.objects);
                self.resources.roll_back_to(everything.resources);
                let charge = std::mem::replace(&mut self.charge, everything.charge);
                handed = finished.take().map(|world| (world, charge));
            }
        }
        if let Some((world, charge)) = handed {
            self.hand_over(world, charge);
        }
    }

    /// Closes all blocks that are open at the end of the input and reports them, unless the input was cut off, which is
    /// reported elsewhere.
    pub(super) fn close_all(&mut self, end: SourceLocation, cut: bool) {
        while let Some(block) = self.blocks.last() {
            self.summary.incomplete = true;
            if !cut {
                let message = format!("{} has no {}", block.kind.begin(), block.kind.end());
                let fault =
                    RequestFault::error("nesting", 0, message).hint("the file ends early; what was read is drawn");
                self.messages.report_at(block.location.clone(), fault);
            }
            self.current.location = end.clone();
            self.close_innermost();
            if self.is_stopped() {
                return;
            }
        }
    }

    pub(super) fn frame_begin(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let number = lexer.one_int()?;
        if self.blocks.iter().any(|block| block.kind == BlockKind::Frame) {
            return Err(RequestFault::error("nesting", self.current.offset, "frames cannot be nested"));
        }
        self.open(BlockKind::Frame)?;
        self.options.frame = Some(number);
        Ok(())
    }

    pub(super) fn frame_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.close(BlockKind::Frame)
    }

    pub(super) fn world_begin(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.open(BlockKind::World)?;
        self.begin_world();
        Ok(())
    }

    pub(super) fn world_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.close(BlockKind::World)
    }

    pub(super) fn attribute_begin(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.open(BlockKind::Attribute)
    }

    pub(super) fn attribute_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.close(BlockKind::Attribute)
    }

    pub(super) fn transform_begin(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.open(BlockKind::Transform)
    }

    pub(super) fn transform_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.close(BlockKind::Transform)
    }

    pub(super) fn resource_begin(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.open(BlockKind::Resource)
    }

    pub(super) fn resource_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.close(BlockKind::Resource)
    }
}

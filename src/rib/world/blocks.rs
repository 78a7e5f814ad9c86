//! What blocks do, and what happens when they are not closed in order (RISpec 2.2).

use super::block::{Block, BlockKind, SavedScope, SavedState};
use super::effect::{BlockScope, RequestEffect};
use super::scene::SceneBuilder;
use crate::diagnostic::SourceLocation;
use crate::host_memory::Charge;
use crate::rib::stream::fault::{Parsed, RequestFault};
use std::sync::Arc;

impl SceneBuilder<'_> {
    /// Opens a block.
    pub(crate) fn open(&mut self, kind: BlockKind) -> Parsed<()> {
        if self.blocks.len() >= self.settings.limits.blocks {
            let message = format!("more than {} blocks are open at once", self.settings.limits.blocks);
            return Err(self.messages.error("limitcheck", message));
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
                lights: self.lights.list.clone(),
                light_handles: self.lights.handles.mark(),
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
        self.blocks.push(Block { kind, location: self.messages.current.location.clone(), saved });
        Ok(())
    }

    /// Closes the innermost block of a kind, and reports and closes every block that is still open inside it.
    pub(crate) fn close(&mut self, kind: BlockKind) -> Parsed<()> {
        let reachable = self.blocks.iter().rev().take_while(|b| b.kind == kind || b.kind.strength() <= kind.strength());
        let Some(depth) = reachable.map(|block| block.kind).position(|found| found == kind) else {
            let fault = self.messages.error("nesting", format!("{} without {}", kind.end(), kind.begin()));
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
                let fault = self.messages.error("nesting", message).hint("it is closed here");
                self.messages.report_here(fault);
            }
            self.close_innermost();
        }
        self.close_innermost();
        Ok(())
    }

    /// Ends the innermost block and restores what it saved.
    pub(crate) fn close_innermost(&mut self) {
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
                self.lights.list = everything.lights;
                self.lights.handles.roll_back_to(everything.light_handles);
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
    pub(crate) fn close_all(&mut self, end: SourceLocation, cut: bool) {
        while let Some(block) = self.blocks.last() {
            self.summary.incomplete = true;
            if !cut {
                let message = format!("{} has no {}", block.kind.begin(), block.kind.end());
                let fault =
                    RequestFault::error("nesting", 0, message).hint("the file ends early; what was read is drawn");
                self.messages.report_at(block.location.clone(), fault);
            }
            self.messages.current.location = end.clone();
            self.close_innermost();
            if self.is_stopped() {
                return;
            }
        }
    }
}

//! Motion blocks: one request, given once for each time (RISpec 6.3).

use super::effect::RequestEffect;
use crate::diagnostic::SourceLocation;

/// An open motion block.
pub(crate) struct MovingBlock {
    pub(super) times: Vec<f32>,
    /// The request that it contains, once there is one.
    pub(super) request: Option<&'static str>,
    /// The number of these requests that were begun.
    pub(super) begun: usize,
    pub(super) items: Vec<RequestEffect>,
    pub(super) location: SourceLocation,
    /// Set when its request is known to have no effect, and a warning was given.
    pub(super) inert: bool,
}

impl MovingBlock {
    /// Begins a block at these times, which increase.
    pub(crate) fn new(times: Vec<f32>, location: SourceLocation) -> Self {
        Self { times, request: None, begun: 0, items: Vec::new(), location, inert: false }
    }

    /// Returns where it begins.
    pub(crate) fn location(&self) -> &SourceLocation {
        &self.location
    }

    /// Begins one of its requests; fails, with the name of its first request, if that is another one.
    pub(crate) fn begin(&mut self, request: &'static str) -> Result<(), &'static str> {
        match self.request {
            Some(first) if first != request => Err(first),
            _ => {
                self.request = Some(request);
                self.begun += 1;
                Ok(())
            }
        }
    }

    /// Collects the effect of one of its requests.
    pub(crate) fn collect(&mut self, effect: RequestEffect) {
        self.items.push(effect);
    }

    /// Marks its request as having no effect.
    pub(crate) fn mark_inert(&mut self) {
        self.inert = true;
    }
}

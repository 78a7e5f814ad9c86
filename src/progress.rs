//! How a render is watched and stopped: the renderer notifies an [`Observer`] of events and asks it whether to go on.

/// An event of a render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Rendering of a world begins.
    WorldBegin {
        /// The number given to FrameBegin, if any.
        frame: Option<i32>,
        /// The number of its pixels inside the crop window.
        pixels: u64,
    },
    /// Pixels of the current world are finished.
    Pixels {
        /// The total number of finished pixels.
        finished: u64,
    },
    /// The displays of the current world have been written.
    WorldEnd,
}

/// Watches a render. It is called from any thread, between regions, so its methods must return quickly.
pub trait Observer: Sync {
    /// Receives an event.
    fn notify(&self, event: Event);

    /// Whether the user wants to stop. Once true it stays true; regions in progress are then finished, and finished
    /// pixels written.
    fn is_cancelled(&self) -> bool;
}

/// An observer that ignores events and never stops the render.
impl Observer for () {
    fn notify(&self, _: Event) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}

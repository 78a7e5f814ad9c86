//! How a render is watched and stopped: the renderer tells an [`Observer`] what happens and asks it whether to go on.

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A world begins to be drawn.
    WorldBegin {
        /// The number of FrameBegin, if any.
        frame: Option<i32>,
        /// How many pixels it has, inside its crop window.
        pixels: u64,
    },
    /// Pixels of the current world were finished.
    Pixels {
        /// How many are finished now, in all.
        finished: u64,
    },
    /// The current world's displays are written.
    WorldEnd,
}

/// Someone who watches a render. Called from any thread, between regions: answers must come at once.
pub trait Observer: Sync {
    /// Something happened.
    fn notice(&self, event: Event);

    /// Whether the user wants to stop. Once true it stays true: finish what is begun, write what is finished.
    fn is_cancelled(&self) -> bool;
}

/// Nobody watches, nobody stops.
impl Observer for () {
    fn notice(&self, _: Event) {}

    fn is_cancelled(&self) -> bool {
        false
    }
}

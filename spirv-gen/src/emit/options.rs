//! What a kernel does beside running its program.

use crate::passes::{SavedLoops, Stored};

/// What a kernel does beside running its program.
#[derive(Clone, Debug, Default)]
pub struct EmitOptions {
    /// The first output channels, as many as this, take over lane 3 of the input channels of the same numbers. The
    /// others then follow the channels of the geometry.
    pub carried: u32,
    /// The loops that stop when the trips of a dispatch are used up and go on in the next one.
    pub saved: SavedLoops,
    /// Where each value that the root yields is stored; by default they fill the output channels in order.
    pub stored: Option<Vec<Stored>>,
    /// For a pass, where passes leave for each other that a vertex has stopped.
    pub stop: Option<StopRecord>,
    /// Whether it is a pass of a program that looks textures up, and stores nothing if an earlier pass missed tiles.
    pub waits_for_tiles: bool,
    /// What lines of shaders cost, if that is counted.
    pub lines: Option<LineCounters>,
    /// Whether there is also a form of it that says to debuggers where it comes from.
    pub debug: bool,
}

/// What is counted of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineCost {
    /// Clocks of the device, which must have `shaderSubgroupClock` of `VK_KHR_shader_clock`.
    Clocks,
    /// Steps of the operations that are run: an estimate.
    Steps,
}

/// A kernel counts what lines of shaders cost ([`crate::abi::COUNTERS_PUSH_WORD`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCounters {
    /// What is counted.
    pub cost: LineCost,
    /// The binding of the counters.
    pub binding: u32,
}

/// The channel in which passes leave for later ones how many loop trips a vertex has made, and whether it has stopped:
/// then what comes later is worthless, and its loops end at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopRecord {
    /// Among those that passes save values in.
    pub channel: u32,
    /// Whether an earlier pass has left something there.
    pub reads: bool,
    /// Whether something is left for later passes.
    pub writes: bool,
    /// Whether points that exchange values stop together, as in resumable kernels.
    pub together: bool,
}

impl StopRecord {
    /// Returns whether points may begin as stopped, and have to stop others.
    pub(super) fn stops_here(self) -> bool {
        self.reads && self.together
    }
}

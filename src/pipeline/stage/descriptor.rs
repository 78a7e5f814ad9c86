//! The descriptor of a process.

use super::super::variants::{KernelList, KernelVariants};
use super::load::LoadStage;
use super::process::{AssignBin, PipelineStage, Process, Repeat};
use super::task::Task;
use super::traits::{DisplayDemands, Feature, WorldTraits};

/// All that is to be known of a process to plan it, prepare it, and run it.
#[derive(Clone, Copy, Debug)]
pub struct StageDescriptor {
    /// The stage that it belongs to: its row in the statistics, and the name of the stage's file and kernel tests.
    pub stage: &'static str,
    /// What must have come before it in a pipeline.
    pub needs: &'static [Need],
    /// Other processes that it is as good as, where those are needed.
    pub stands_for: &'static [Process],
    /// The bins that its work can be cut into.
    pub bins: Bins,
    /// Whether it makes sense in slabs or rounds only.
    pub repeats: Repeats,
    /// What a picture must have, or the process is left out; also left out is whatever runs in slabs of a picture
    /// without [`Feature::Translucency`].
    pub only_with: Option<Feature>,
    /// The kernels of `glsl/` that it runs, in the order in which it runs them first.
    pub kernels: fn(&KernelDemand<'_>) -> KernelList,
    /// How it is run.
    pub run: Execution,
    /// What the host reads when it is done.
    pub finding: Option<Finding>,
}

/// A process that must have come before.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The process.
    pub process: Process,
    /// When it is needed.
    pub when: When,
}

/// When another process is needed.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// In any pipeline.
    Always,
    /// Where work is cut into loads by depth.
    ByDepth,
    /// Where work is cut into loads of translucent grids by depth.
    ByDepthTranslucent,
    /// Where work is cut into loads by shading pipeline.
    ByShading,
    /// Where the stage is repeated in this way.
    Repeated(Repeat),
    /// Where the pipeline has this process at all.
    With(Process),
}

impl Need {
    /// One that is always needed.
    pub const fn always(process: Process) -> Self {
        Self { process, when: When::Always }
    }

    /// One that is needed at times.
    pub const fn when(when: When, process: Process) -> Self {
        Self { process, when }
    }
}

/// The bins that work can be cut into.
#[derive(Clone, Copy, Debug)]
pub enum Bins {
    /// None: it cannot be cut.
    Whole,
    /// These, or [`AssignBin::Whole`].
    Items(AssignBin),
    /// These loads.
    Loads(AssignBin),
    /// Loads of any kind.
    AnyLoads,
}

/// Whether a process makes sense in slabs or rounds only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// It does not matter.
    Free,
    /// In a repetition only.
    Inside,
    /// In a repetition only, and the first of this one.
    First(Repeat),
    /// In a repetition only, and the last of this one.
    Last(Repeat),
}

/// How a process is run.
#[derive(Clone, Copy, Debug)]
pub enum Execution {
    /// Item by item, as many at once as a submission should have.
    Task(Task),
    /// Load by load.
    Load(LoadStage),
}

/// What the host reads when a process is done, by which it decides what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// How many grids are selected, in which depth batches and bins: whether they fit, and how they go into loads.
    Selection,
    /// What was culled.
    Culled,
    /// How many entries a slab has: whether they fit.
    Entries,
    /// How many micropolygons are visible: in a slab, whether their colours fit.
    Visible,
    /// Whether more of a slab is to be composited.
    Unfinished,
}

/// What decides which variants of kernels a process runs.
#[derive(Clone, Copy, Debug)]
pub struct KernelDemand<'a> {
    /// The stage of the pipeline.
    pub stage: &'a PipelineStage,
    /// What of the world decides it.
    pub traits: &'a WorldTraits,
    /// Which variants suit the device.
    pub variants: KernelVariants,
    /// What the displays want.
    pub displays: &'a DisplayDemands,
}

/// No kernels: buffers are filled only.
pub fn no_kernels(_: &KernelDemand<'_>) -> KernelList {
    Vec::new()
}

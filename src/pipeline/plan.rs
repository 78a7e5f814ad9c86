//! Pipelines as data (Piko): each stage's bins, schedule and kernel, and the choices between pipelines.
//!
//! What a stage computes (Piko's *Process*) is its kernel. How its work is assigned to bins (*AssignBin*) and in which order bins run
//! (*Schedule*) is said by [`STAGES`] and by a [`Pipeline`]. Other pipelines are other values of it, so that they can be measured
//! against each other with the same kernels; none of them changes a pixel.

use super::kernels::constants::BATCHES;

/// How a stage's work is assigned to bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignBin {
    /// All work in one bin.
    Whole,
    /// By depth: batches of about equal numbers of vertices, nearest first; inside a batch by page, primitive kind, displacement kernel.
    DepthBatch,
    /// By page, primitive kind, displacement and shading kernel: a sublist per shading pipeline (RenderAnts, section 4).
    ShadingPipeline,
    /// By pixel, subpixel or 4x4-pixel block.
    Screen,
}

/// In which order a stage's bins run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// All at once.
    Concurrent,
    /// One after the other, and only after the stage before has ended.
    Ordered,
    /// One after the other, fused with the stage before: a bin's data goes straight on.
    Fused,
}

/// One stage as Piko declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Its name: of its kernel, its file, its statistics row.
    pub name: &'static str,
    /// Its bins.
    pub assign_bin: AssignBin,
    /// Their order.
    pub schedule: Schedule,
}

const fn stage(name: &'static str, assign_bin: AssignBin, schedule: Schedule) -> Stage {
    Stage { name, assign_bin, schedule }
}

/// The stages in the order in which a region passes through them.
pub const STAGES: [Stage; 9] = [
    stage("bound_split", AssignBin::Whole, Schedule::Ordered),
    stage("select", AssignBin::Screen, Schedule::Concurrent),
    stage("dice", AssignBin::DepthBatch, Schedule::Ordered),
    stage("displace", AssignBin::DepthBatch, Schedule::Fused),
    stage("hide", AssignBin::DepthBatch, Schedule::Fused),
    stage("sample", AssignBin::DepthBatch, Schedule::Fused),
    stage("shade", AssignBin::ShadingPipeline, Schedule::Ordered),
    stage("composite", AssignBin::Screen, Schedule::Concurrent),
    stage("filter", AssignBin::Screen, Schedule::Concurrent),
];

/// A pipeline: the choices that may be made without changing a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Depth batches of a region, at most [`BATCHES`]; after each the depth of every 4x4-pixel block is known and what
    /// lies behind it is dropped undiced. 1: unbinned.
    pub batches: u32,
    /// Whether hidden grids are dropped before they are diced.
    pub cull: bool,
    /// Whether only micropolygons that a sample sees are shaded, or all (as RenderAnts does).
    pub shade_visible_only: bool,
}

impl Pipeline {
    /// Hide first, nearest first, shade what is seen.
    pub const ANTHILL: Self = Self { batches: BATCHES, cull: true, shade_visible_only: true };
    /// Everything in one batch.
    pub const UNBINNED: Self = Self { batches: 1, cull: false, ..Self::ANTHILL };
    /// Everything is shaded, seen or not (RenderAnts).
    pub const SHADE_FIRST: Self = Self { shade_visible_only: false, ..Self::UNBINNED };
}

impl Default for Pipeline {
    fn default() -> Self {
        Self::ANTHILL
    }
}

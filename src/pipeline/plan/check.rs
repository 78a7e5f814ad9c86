//! Which pipelines are valid: each stage comes after what it needs, its bins are those that its kernels can go by, and
//! it is scheduled as far as the host's decisions permit.

use crate::pipeline::kernels::constants::BATCHES;
use crate::pipeline::stage::{
    AssignBin, Bins, Execution, Grids, Need, PipelineStage, Process, Repeat, Repeats, Schedule, When,
};
use std::fmt;

/// Why stages do not make a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPipeline {
    /// The stage, counted from 0, that cannot be where it is.
    pub stage: usize,
    /// What it computes, if there is such a stage.
    pub process: Option<Process>,
    /// What it requires.
    pub requirement: Requirement,
}

/// What a stage requires of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Between 1 and [`BATCHES`] depth batches.
    Batches,
    /// That the first stage begins a submission.
    First,
    /// Another process before it, in the same repetition or before that.
    After(Process),
    /// Bins that its kernels can go by.
    Bins,
    /// Stages of a repetition in one piece, from the first process of it to the last.
    Repetition,
    /// A submission of its own, because the host must first read what the stages before found.
    Begin,
    /// To be fused with the dicing of the same load, whose vertices are gone afterwards.
    Load,
}

impl Requirement {
    /// The requirement in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Batches => "a pipeline has between 1 and 32 depth batches",
            Self::First => "the first stage begins a submission",
            Self::After(_) => "a stage comes before another one that it needs",
            Self::Bins => "its kernels cannot go by these bins",
            Self::Repetition => {
                "the stages of slabs, and those of rounds, follow each other without others between; slabs go from ClearEntries to \
                 CompositeSlab, rounds from SortForShading to CompositeOpaque"
            }
            Self::Begin => "it must begin a submission, because the host first reads what the stages before it found",
            Self::Load => {
                "it must be fused with the Dice of the same bins, because a load's vertices are gone when the next load begins"
            }
        }
    }
}

impl fmt::Display for InvalidPipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(process) = self.process {
            write!(f, "stage {} of the pipeline, {process:?}: ", self.stage)?;
        }
        match self.requirement {
            Requirement::After(needed) => write!(f, "it needs {needed:?} before it"),
            requirement => f.write_str(requirement.text()),
        }
    }
}

impl std::error::Error for InvalidPipeline {}

/// Whether a process is among them at all.
const fn has(stages: &[PipelineStage], process: Process) -> bool {
    let mut at = 0;
    while at < stages.len() {
        if stages[at].process as u8 == process as u8 {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether a stage of a pipeline has this need.
const fn applies(stages: &[PipelineStage], stage: &PipelineStage, need: &Need) -> bool {
    match need.when {
        When::Always => true,
        When::ByDepth => matches!(stage.assign_bin, AssignBin::Depth(_)),
        When::ByDepthTranslucent => matches!(stage.assign_bin, AssignBin::Depth(Grids::Translucent)),
        When::ByShading => matches!(stage.assign_bin, AssignBin::Shading),
        When::Repeated(repeat) => stage.repeat as u8 == repeat as u8,
        When::With(process) => has(stages, process),
    }
}

/// Whether a process counts where another one is needed.
const fn is_as_good_as(process: Process, needed: Process) -> bool {
    let others = process.descriptor().stands_for;
    let mut next = 0;
    while next < others.len() {
        if others[next] as u8 == needed as u8 {
            return true;
        }
        next += 1;
    }
    process as u8 == needed as u8
}

/// Whether `process` comes before stage `at` and counts for it: what is done in a slab counts only there, apart from
/// its last stage.
const fn comes_before(stages: &[PipelineStage], at: usize, process: Process) -> bool {
    let in_slabs = matches!(stages[at].repeat, Repeat::Slabs);
    let ends_slabs = matches!(process.descriptor().repeats, Repeats::Last(Repeat::Slabs));
    let mut before = 0;
    while before < at {
        let other = &stages[before];
        let counts = in_slabs || !matches!(other.repeat, Repeat::Slabs) || ends_slabs;
        if is_as_good_as(other.process, process) && counts {
            return true;
        }
        before += 1;
    }
    false
}

/// The first process that stage `at` needs and that does not come before it.
const fn lacks(stages: &[PipelineStage], at: usize) -> Option<Process> {
    let needs = stages[at].process.descriptor().needs;
    let mut next = 0;
    while next < needs.len() {
        let need = &needs[next];
        if applies(stages, &stages[at], need) && !comes_before(stages, at, need.process) {
            return Some(need.process);
        }
        next += 1;
    }
    None
}

const fn same_bins(one: AssignBin, other: AssignBin) -> bool {
    matches!(
        (one, other),
        (AssignBin::Whole, AssignBin::Whole)
            | (AssignBin::Clusters, AssignBin::Clusters)
            | (AssignBin::Pixels, AssignBin::Pixels)
            | (AssignBin::Delivered, AssignBin::Delivered)
            | (AssignBin::Subpixels, AssignBin::Subpixels)
            | (AssignBin::Cells, AssignBin::Cells)
            | (AssignBin::Entries, AssignBin::Entries)
            | (AssignBin::Shading, AssignBin::Shading)
            | (AssignBin::Depth(Grids::Opaque), AssignBin::Depth(Grids::Opaque))
            | (AssignBin::Depth(Grids::Translucent), AssignBin::Depth(Grids::Translucent))
            | (AssignBin::Depth(Grids::Displaced), AssignBin::Depth(Grids::Displaced))
    )
}

const fn bins_fit(stage: &PipelineStage) -> bool {
    let in_slabs = matches!(stage.repeat, Repeat::Slabs);
    match stage.process.descriptor().bins {
        Bins::AnyLoads => match stage.assign_bin {
            AssignBin::Depth(Grids::Translucent) => in_slabs,
            AssignBin::Depth(_) => !in_slabs,
            bins => bins.is_loads(),
        },
        Bins::Loads(loads) => same_bins(stage.assign_bin, loads),
        Bins::Items(items) => matches!(stage.assign_bin, AssignBin::Whole) || same_bins(stage.assign_bin, items),
        Bins::Whole => matches!(stage.assign_bin, AssignBin::Whole),
    }
}

const fn same_repeat(one: Repeat, other: Repeat) -> bool {
    one as u8 == other as u8
}

/// Whether a stage is inside of a repetition where it must be, and begins or ends it exactly where it must.
const fn repetition_fits(stages: &[PipelineStage], at: usize) -> bool {
    let (stage, last) = (&stages[at], at + 1 == stages.len());
    let repeats = stage.process.descriptor().repeats;
    if matches!(stage.repeat, Repeat::Once) {
        return matches!(repeats, Repeats::Free);
    }
    let begins = at == 0 || !same_repeat(stages[at - 1].repeat, stage.repeat);
    let ends = last || !same_repeat(stages[at + 1].repeat, stage.repeat);
    let must_begin = matches!(repeats, Repeats::First(repeat) if same_repeat(repeat, stage.repeat));
    let must_end = matches!(repeats, Repeats::Last(repeat) if same_repeat(repeat, stage.repeat));
    begins == must_begin && ends == must_end
}

/// What the schedule of a stage lacks.
const fn schedule_lacks(stages: &[PipelineStage], at: usize) -> Option<Requirement> {
    let stage = &stages[at];
    let fused = matches!(stage.schedule, Schedule::Fused);
    if at == 0 {
        return if fused { Some(Requirement::First) } else { None };
    }
    let before = &stages[at - 1];
    if stage.assign_bin.is_loads() {
        let begins = matches!(&stage.process.descriptor().run, Execution::Load(load) if load.begins);
        return match (begins, fused) {
            // The host plans loads by what the sorting found; those of a slab it knows already.
            (true, true) if !matches!(stage.assign_bin, AssignBin::Depth(Grids::Translucent)) => {
                Some(Requirement::Begin)
            }
            (true, true) if before.assign_bin.is_loads() => Some(Requirement::Begin),
            (false, false) => Some(Requirement::Load),
            (false, true) if !same_bins(before.assign_bin, stage.assign_bin) => Some(Requirement::Load),
            _ => None,
        };
    }
    // How many submissions loads take is not known when they begin, and the host decides whether a slab is done.
    let ends_slab = matches!(before.process.descriptor().repeats, Repeats::Last(Repeat::Slabs));
    let waits = before.assign_bin.is_loads() || ends_slab;
    if waits && fused { Some(Requirement::Begin) } else { None }
}

/// Whether stages make a pipeline.
pub(super) const fn check(batches: u32, stages: &[PipelineStage]) -> Result<(), InvalidPipeline> {
    if batches == 0 || batches > BATCHES {
        return Err(InvalidPipeline { stage: 0, process: None, requirement: Requirement::Batches });
    }
    let mut at = 0;
    while at < stages.len() {
        let process = Some(stages[at].process);
        if let Some(needed) = lacks(stages, at) {
            return Err(InvalidPipeline { stage: at, process, requirement: Requirement::After(needed) });
        }
        if !bins_fit(&stages[at]) {
            return Err(InvalidPipeline { stage: at, process, requirement: Requirement::Bins });
        }
        if !repetition_fits(stages, at) {
            return Err(InvalidPipeline { stage: at, process, requirement: Requirement::Repetition });
        }
        if let Some(requirement) = schedule_lacks(stages, at) {
            return Err(InvalidPipeline { stage: at, process, requirement });
        }
        at += 1;
    }
    Ok(())
}

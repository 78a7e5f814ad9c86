//! Which pipelines are valid: each stage comes after what it needs, its bins are those that its kernels can go by, and
//! it is scheduled as far as the host's decisions permit.

use super::process::{AssignBin, Grids, PipelineStage, Process, Repeat, Schedule};
use crate::pipeline::kernels::constants::BATCHES;
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

/// The processes that must have come before stage `at`.
const fn needs(stages: &[PipelineStage], at: usize) -> &'static [Process] {
    use Process::*;
    let stage = &stages[at];
    match stage.process {
        ClearSelection | ClearResolved | BlurSamples => &[],
        Choose => &[ClearSelection],
        Rank => &[Choose],
        Gather => &[Rank],
        SortForHiding => &[Gather],
        Dice => match stage.assign_bin {
            AssignBin::Depth(Grids::Translucent) => &[SortForHiding, Hide, ClearEntries],
            AssignBin::Shading => &[SortForShading],
            _ => &[SortForHiding],
        },
        Displace | Shade => &[Dice],
        Hide | Sample => &[BlurSamples, Dice],
        RenewBlocks => &[Hide],
        ClearEntries => &[SortForHiding],
        CarrySolids => &[ClearEntries],
        ListEntries => &[Sample],
        ScatterEntries => &[ListEntries],
        SortEntries => &[ScatterEntries],
        CutSolids => &[CarrySolids, SortEntries],
        KeepSolids => &[CutSolids],
        PlaceEntries => &[NumberVisible],
        ListLayers => &[SortEntries, PlaceEntries, Shade],
        CompositeSlab => &[ListLayers, ClearResolved, SortEntries, PlaceEntries, Shade],
        // Slabs use the same marks and the same colour store before. Without them nothing translucent is drawn.
        Mark | MarkAll if !has(stages, CompositeSlab) => &[Hide],
        Mark | MarkAll => &[Hide, CompositeSlab],
        MarkUnseen => &[Mark],
        NumberVisible if matches!(stage.repeat, Repeat::Slabs) => &[Sample],
        NumberVisible => &[Mark],
        SortForShading => &[NumberVisible],
        CompositeOpaque => &[Shade],
        Filter => &[CompositeOpaque],
        // Filtering keeps sums in the memory of depths.
        FilterDepth if !has(stages, Filter) => &[Hide],
        FilterDepth => &[Hide, CompositeOpaque, Filter],
    }
}

/// Whether `process` comes before stage `at` and counts for it: what is done in a slab counts only there, apart from
/// its compositing. [`Process::MarkAll`] is as good as [`Process::Mark`].
const fn comes_before(stages: &[PipelineStage], at: usize, process: Process) -> bool {
    let in_slabs = matches!(stages[at].repeat, Repeat::Slabs);
    let mut before = 0;
    while before < at {
        let other = &stages[before];
        let counts = in_slabs || !matches!(other.repeat, Repeat::Slabs) || matches!(process, Process::CompositeSlab);
        let marks = matches!((process, other.process), (Process::Mark, Process::MarkAll));
        if (marks || other.process as u8 == process as u8) && counts {
            return true;
        }
        before += 1;
    }
    false
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
    match (stage.process, stage.process.finest_bins()) {
        (Process::Dice | Process::Displace, _) => match stage.assign_bin {
            AssignBin::Depth(Grids::Translucent) => in_slabs,
            AssignBin::Depth(_) => !in_slabs,
            bins => bins.is_loads(),
        },
        (_, Some(finest)) if finest.is_loads() => same_bins(stage.assign_bin, finest),
        (_, Some(finest)) => matches!(stage.assign_bin, AssignBin::Whole) || same_bins(stage.assign_bin, finest),
        (_, None) => matches!(stage.assign_bin, AssignBin::Whole),
    }
}

/// Whether a process makes sense in slabs or rounds only.
const fn is_repeated(process: Process) -> bool {
    use Process::*;
    matches!(process, ClearEntries | Sample | ListEntries | ScatterEntries | SortEntries | PlaceEntries | CompositeSlab)
        || matches!(
            process,
            ListLayers | CarrySolids | CutSolids | KeepSolids | SortForShading | Shade | CompositeOpaque
        )
}

const fn repetition_fits(stages: &[PipelineStage], at: usize) -> bool {
    let (stage, last) = (&stages[at], at + 1 == stages.len());
    let begins = at == 0 || stages[at - 1].repeat as u8 != stage.repeat as u8;
    let ends = last || stages[at + 1].repeat as u8 != stage.repeat as u8;
    let (first_process, last_process) = match stage.repeat {
        Repeat::Once => return !is_repeated(stage.process),
        Repeat::Slabs => (Process::ClearEntries, Process::CompositeSlab),
        Repeat::Rounds => (Process::SortForShading, Process::CompositeOpaque),
    };
    begins == (stage.process as u8 == first_process as u8) && ends == (stage.process as u8 == last_process as u8)
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
        let dices = matches!(stage.process, Process::Dice);
        return match (dices, fused) {
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
    let waits = before.assign_bin.is_loads() || matches!(before.process, Process::CompositeSlab);
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
        let needed = needs(stages, at);
        let mut next = 0;
        while next < needed.len() {
            if !comes_before(stages, at, needed[next]) {
                let requirement = Requirement::After(needed[next]);
                return Err(InvalidPipeline { stage: at, process, requirement });
            }
            next += 1;
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

//! Lists of stages made from other lists.

use crate::pipeline::stage::{AssignBin, Grids, PipelineStage, Process, Schedule};

/// `stages` without the one `process`.
///
/// # Panics
/// When `M` is not one less than `N`, or `process` does not occur once.
pub(super) const fn without<const N: usize, const M: usize>(
    stages: [PipelineStage; N],
    process: Process,
) -> [PipelineStage; M] {
    let mut kept = [stages[0]; M];
    let (mut from, mut to) = (0, 0);
    while from < N {
        if stages[from].process as u8 != process as u8 {
            kept[to] = stages[from];
            to += 1;
        }
        from += 1;
    }
    assert!(to == M && M + 1 == N, "one stage is left out");
    kept
}

/// `stages` with `stage` in the place of `process`.
pub(super) const fn with<const N: usize>(
    mut stages: [PipelineStage; N],
    process: Process,
    stage: PipelineStage,
) -> [PipelineStage; N] {
    let mut at = 0;
    while at < N {
        if stages[at].process as u8 == process as u8 {
            stages[at] = stage;
        }
        at += 1;
    }
    stages
}

/// `stages` without those that hide what is opaque, and with the recall of what samples see in place of the first one,
/// the clearing.
pub(super) const fn recalling<const N: usize>(stages: [PipelineStage; N]) -> [PipelineStage; 35] {
    let recall = PipelineStage::once(Process::RecallVisible, AssignBin::Whole, Schedule::Begin("recall"));
    let mut kept = [recall; 35];
    let (mut from, mut to) = (1, 1);
    while from < N {
        let hides = matches!(stages[from].assign_bin, AssignBin::Depth(Grids::Opaque));
        if !hides && !matches!(stages[from].process, Process::KeepVisible) {
            kept[to] = stages[from];
            to += 1;
        }
        from += 1;
    }
    assert!(
        to == 35 && matches!(stages[0].process, Process::ClearSelection),
        "the first clears, and five are left out"
    );
    kept
}

/// Those of `stages` that come before what is translucent, then the filtering of depths.
pub(super) const fn depths<const N: usize>(stages: [PipelineStage; N]) -> [PipelineStage; 11] {
    let mut kept = [PipelineStage::once(Process::FilterDepth, AssignBin::Delivered, Schedule::Begin("filter")); 11];
    let mut at = 0;
    while !matches!(stages[at].process, Process::ClearResolved) {
        kept[at] = stages[at];
        at += 1;
    }
    assert!(at == 10, "one is left for depths");
    kept
}

/// The selection of `stages`, then the dicing and displacing of what is displaced.
pub(super) const fn displacement<const N: usize>(stages: [PipelineStage; N]) -> [PipelineStage; 7] {
    let displaced = AssignBin::Depth(Grids::Displaced);
    let dice = PipelineStage::once(Process::Dice, displaced, Schedule::Begin("hide"));
    let displace = PipelineStage::once(Process::Displace, displaced, Schedule::Fused);
    [stages[0], stages[1], stages[2], stages[3], stages[4], dice, displace]
}

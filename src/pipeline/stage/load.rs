//! Loads: portions of sorted grids that fit the vertex arena at once, and what the stages are given that loads go
//! through.

use super::super::buffers::{ActiveRegion, FrameSlices, GeometrySources, StageMemory};
use super::super::hidden::HidingForm;
use super::super::layout::{HideLayout, ShadeLayout};
use super::super::look::{HideSublist, ShadeSublist, ShadingKernel};
use super::super::piece::{Piece, RegionPiece};
use super::super::program::{KeptLoops, LoopRun, LoopState, ProgramKind};
use super::super::recording::Recording;
use super::super::slab::Slab;
use super::super::world::DrawnWorld;
use std::ops::Range;

/// How a stage is run that loads go through.
#[derive(Clone, Copy, Debug)]
pub struct LoadStage {
    /// Whether a load begins with it, which makes the load's slots.
    pub begins: bool,
    /// The program that it runs.
    pub program: Option<ProgramKind>,
    /// Whether it finds nothing to do in a load.
    pub is_idle: fn(&LoadInput<'_>) -> bool,
    /// How it is recorded.
    pub record: fn(&mut Recording, &LoadInput<'_>),
}

/// A load, and all that its stages are given.
#[derive(Clone, Debug)]
pub struct LoadInput<'a> {
    /// What is drawn.
    pub world: &'a DrawnWorld,
    /// The compiled programs.
    pub programs: WorldPrograms<'a>,
    /// What the device keeps for the frame.
    pub frame: &'a FrameSlices,
    /// The region.
    pub region: &'a ActiveRegion,
    /// How pieces are hidden.
    pub form: HidingForm,
    /// Whether grids that are hidden get no slot.
    pub culls: bool,
    /// Whether it goes by sublists of shading; else it goes by sublists of hiding.
    pub shades: bool,
    /// The part of the stage that runs.
    pub part: StagePart,
    /// The first grid in sorted order.
    pub first: u32,
    /// The depths that take part.
    pub slab: Slab,
    /// The places of the colour store that the round fills.
    pub places: Range<u32>,
    /// Whether it is the last of its depth batch.
    pub ends_batch: bool,
    /// Its pieces.
    pub pieces: &'a [LoadedPiece<'a>],
    /// Where the last run is made again because tiles were missed, the first passes of the pieces' programs that missed
    /// any: programs go on from there, those of further pieces from the start.
    pub missed_passes: Option<&'a [u32]>,
}

/// A piece of a load, whose page is resident.
#[derive(Clone, Copy, Debug)]
pub struct LoadedPiece<'a> {
    /// Its sublist, of hiding or of shading.
    pub sublist: usize,
    /// Its slots.
    pub piece: Piece,
    /// What its primitives are evaluated from.
    pub sources: GeometrySources<'a>,
}

impl LoadInput<'_> {
    /// What the stage works in.
    pub(in crate::pipeline) fn memory(&self) -> StageMemory<'_> {
        StageMemory { frame: self.frame, region: self.region }
    }

    /// How the loops of a piece's program run; what its passes and its loops save begins at `base`.
    pub(in crate::pipeline) fn loop_run(
        &self,
        piece: &Piece,
        number: Option<usize>,
        base: u32,
        loops: ProgramLoops,
    ) -> LoopRun {
        let missed_pass = self.missed_passes.map(|all| all.get(piece.number as usize).copied().unwrap_or(0));
        LoopRun { missed_pass, ..self.programs.loop_run(number, base, piece.vertices(), loops) }
    }

    /// A piece, and what kernels that go through it read and write.
    pub(in crate::pipeline) fn in_region<'b>(&'b self, piece: &LoadedPiece<'b>) -> RegionPiece<'b> {
        RegionPiece { region: self.region, sources: piece.sources, piece: piece.piece }
    }

    /// The sublist of a piece that is hidden or sampled, its displacement program, and where its data is.
    pub(in crate::pipeline) fn hidden(
        &self,
        piece: &LoadedPiece<'_>,
    ) -> (&HideSublist, Option<&ShadingKernel>, HideLayout) {
        let sublist = &self.world.hide_sublists[piece.sublist];
        let displace = self.programs.get(sublist.displace);
        (sublist, displace, HideLayout::new(&piece.piece, displace, sublist))
    }

    /// The sublist of a piece that is shaded, its displacement and colour programs, and where its data is.
    pub(in crate::pipeline) fn shaded(
        &self,
        piece: &LoadedPiece<'_>,
    ) -> (&ShadeSublist, [Option<&ShadingKernel>; 2], ShadeLayout) {
        let sublist = &self.world.shade_sublists[piece.sublist];
        let [displace, shade] = [sublist.displace, sublist.shade].map(|number| self.programs.get(number));
        (sublist, [displace, shade], ShadeLayout::new(&piece.piece, displace, shade, sublist))
    }
}

/// A part of a stage of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePart {
    /// All of it.
    Whole,
    /// Its program, whose loops make a limited number of trips, or go on: from where they were, or from where the last
    /// run began.
    Program {
        /// Trips of an invocation, at most.
        trips: u32,
        /// Whether loops go on.
        resume: bool,
        /// Whether they go on from where the last run began.
        restore: bool,
    },
    /// The demand slice of its program, which names the tiles of its textures.
    Names,
    /// What is done with the program's results.
    Results,
}

/// How the loops of a program run, see [`StagePart::Program`], and whether it only names tiles.
#[derive(Clone, Copy, Debug)]
pub struct ProgramLoops {
    trips: u32,
    resume: bool,
    restore: bool,
    names_only: bool,
}

impl StagePart {
    /// Loop trips of a program whose loops are not known to be long. More than nearly all shaders make, and few enough
    /// for a submission of as many vertices as the first ones have.
    pub const FIRST_TRIPS: u32 = 4096;

    /// How the program's loops run, if the program runs.
    pub(in crate::pipeline) fn program(self) -> Option<ProgramLoops> {
        let first = ProgramLoops { trips: Self::FIRST_TRIPS, resume: false, restore: false, names_only: false };
        match self {
            Self::Whole => Some(first),
            Self::Names => Some(ProgramLoops { names_only: true, ..first }),
            Self::Program { trips, resume, restore } => {
                Some(ProgramLoops { trips, resume, restore, names_only: false })
            }
            Self::Results => None,
        }
    }

    /// Whether what comes after the program is done.
    pub(in crate::pipeline) fn has_results(self) -> bool {
        matches!(self, Self::Whole | Self::Results)
    }
}

/// What is known of the loops of a sublist's programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoopKind {
    /// They have few trips.
    #[default]
    Short,
    /// They count their trips, and may turn out to be long.
    Counted,
    /// They turned out to be long: loads have one piece, and save their loops.
    Long,
}

/// The compiled programs of a world, by number, and what is known of their loops.
#[derive(Clone, Copy, Debug)]
pub struct WorldPrograms<'a> {
    /// The programs.
    pub kernels: &'a [ShadingKernel],
    /// Which of them turned out to have long loops.
    pub long_loops: &'a [bool],
}

impl<'a> WorldPrograms<'a> {
    /// The program of a number.
    pub fn get(self, number: Option<usize>) -> Option<&'a ShadingKernel> {
        number.map(|number| &self.kernels[number])
    }

    /// What is known of a program's loops.
    pub fn loops(self, number: Option<usize>) -> LoopKind {
        let Some(number) = number else { return LoopKind::Short };
        let kernel = &self.kernels[number];
        match (kernel.resumable.is_some(), self.long_loops[number]) {
            (true, true) => LoopKind::Long,
            (true, false) => LoopKind::Counted,
            _ if kernel.uses_textures => LoopKind::Counted,
            _ => LoopKind::Short,
        }
    }

    /// Channels in which a program's passes save values, and its loops once they have turned out to be long.
    pub fn state_channels(self, number: Option<usize>) -> u32 {
        let Some(kernel) = self.get(number) else { return 0 };
        if number.is_some_and(|number| self.long_loops[number]) {
            kernel.saved_channels()
        } else {
            kernel.pass_channels
        }
    }

    /// Returns how the loops of a program run for `vertices` vertices; what its passes and its loops save begins at
    /// `base`.
    fn loop_run(self, number: Option<usize>, base: u32, vertices: u32, loops: ProgramLoops) -> LoopRun {
        let ProgramLoops { trips, resume, restore, names_only } = loops;
        let long = self.loops(number) == LoopKind::Long && !names_only;
        let state = |kernel: &ShadingKernel| {
            let records = kernel.resumable.as_ref().map_or(0, |resumable| resumable.state_channels) * vertices;
            let kept = kernel.uses_textures.then_some(KeptLoops { base: base + records, records, restore });
            LoopState { resume, kept }
        };
        LoopRun { trips, base, saved: self.get(number).filter(|_| long).map(state), names_only, missed_pass: None }
    }
}

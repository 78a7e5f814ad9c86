//! Runs of compiled programs: their inputs, their loops, and what they are bound to.

use super::buffers::{GeometrySources, Vec4};
use super::geometry::PrimitiveKind;
use super::kernels::{primvar, velocity, work};
use super::look::{ShadingKernel, ShadingPass};
use super::piece::{Per, RegionPiece};
use super::recording::{Dispatch, Items, Recording, Slice};
use super::textures::{TextureSlices, pass_word};
use super::variants::KernelList;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which of a drawable's programs runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// The displacement program.
    Displacement,
    /// The colour program.
    Colour,
}

impl ProgramKind {
    fn work_variant(self) -> work::Variant {
        work::Variant { shade: self == Self::Colour }
    }
}

/// The first record of a program's data in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPlaces {
    /// Input channel 0.
    pub input_base: u32,
    /// P at shutter open before displacement; input channel 0 where nothing is displaced before.
    pub undisplaced_base: u32,
    /// Output channel 0.
    pub output_base: u32,
    /// Uniform inputs.
    pub uniform_base: u32,
}

/// How the loops of a program run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopRun {
    /// Loop trips that an invocation makes at most.
    pub trips: u32,
    /// The first record of what passes and loops save.
    pub base: u32,
    /// For resumable kernels: how loops are saved.
    pub saved: Option<LoopState>,
    /// Whether the program only names the tiles of its textures; nothing is recorded for one that cannot.
    pub names_only: bool,
    /// Where the last run is made again because tiles were missed, the first pass that missed any: then it is noted
    /// which pass does now.
    pub missed_pass: Option<u32>,
}

/// The channels in which a resumable kernel saves its loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopState {
    /// Whether there are loops saved, which go on. The program's other inputs are still there too.
    pub resume: bool,
    /// What saved loops are kept in besides, where a run that goes on may have to be made again.
    pub kept: Option<KeptLoops>,
}

/// A copy of saved loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptLoops {
    /// The records that are kept: as many, from here on.
    pub base: u32,
    /// How many.
    pub records: u32,
    /// Whether the loops are taken from there, because the last run is made again.
    pub restore: bool,
}

impl LoopRun {
    /// Returns loops that stop for good after `trips` trips, in a program that is not cut into passes.
    pub fn plain(trips: u32) -> Self {
        Self { trips, base: 0, saved: None, names_only: false, missed_pass: None }
    }

    /// The push constants `trips` and `state_base` of spirv-gen's abi.rs.
    pub(super) fn push(&self) -> [u32; 2] {
        const RESUME: u32 = 1 << 31;
        let resume = self.saved.is_some_and(|saved| saved.resume);
        [self.trips | if resume { RESUME } else { 0 }, self.base]
    }
}

/// One run of a compiled program over a piece.
#[derive(Clone, Copy, Debug)]
pub struct ProgramRun<'a> {
    /// Which program of the drawables it is.
    pub kind: ProgramKind,
    /// The compiled program.
    pub kernel: &'a ShadingKernel,
    /// The kind of the piece's primitives.
    pub primitives: PrimitiveKind,
    /// Whether any drawable of the sublist has primvars that it reads.
    pub primvars: bool,
    /// Where its data is.
    pub places: ProgramPlaces,
    /// How its loops run.
    pub loops: LoopRun,
}

/// Appends one run of a compiled program over a piece whose geometry channels are diced: its work records, the primvars
/// that it reads (if any drawable of the sublist has such), then the program itself.
pub fn record(recording: &mut Recording, of: &RegionPiece<'_>, run: &ProgramRun<'_>) {
    let RegionPiece { region, sources, piece } = of;
    let slices = &region.slices;
    let resumable = run.kernel.resumable.as_ref().filter(|_| run.loops.saved.is_some());
    let passes = match (run.loops.names_only, &run.kernel.demand) {
        (true, Some(demand)) => &[Arc::clone(demand).into()],
        (true, None) => return,
        (false, _) => resumable.map_or(&run.kernel.passes[..], |resumable| &resumable.passes),
    };
    let first = run.kernel.first_pass_again(run.loops.missed_pass.unwrap_or(0));
    if first as usize >= passes.len() {
        return;
    }
    if !run.loops.saved.is_some_and(|saved| saved.resume) {
        record_inputs(recording, of, run);
    }
    record_kept_loops(recording, slices.arena, &run.loops);
    let [trips, state_base] = run.loops.push();
    let params = sources.frame.params.range();
    let textures = sources.frame.textures.as_ref().filter(|_| run.kernel.uses_textures);
    for (ShadingPass { kernel, first_channel, counters }, pass) in passes.iter().zip(0..).skip(first as usize) {
        // The push constants of spirv-gen's abi.rs. Work records of this piece begin at 0.
        let mut push = vec![
            0,
            piece.slot_log2,
            piece.slot_count,
            run.places.input_base,
            run.places.output_base,
            piece.vertices(),
            sources.frame.space_table,
            trips,
            state_base + first_channel * piece.vertices(),
            pass,
            run.loops.missed_pass.map_or(0, |_| pass_word(piece.number)),
        ];
        push.extend(counters.map(|first| [first, sources.frame.lookup_counters]).into_iter().flatten());
        let counters = counters.and(sources.frame.counters).map(Slice::range);
        recording.dispatch(Dispatch {
            kernel: Arc::clone(kernel),
            constants: textures.map_or_else(Vec::new, TextureSlices::constants),
            groups: of.groups(Per::Vertex).groups,
            items: Some(Items { count: piece.vertices().into(), unit: "vertices" }),
            bindings: [slices.work.range(), slices.arena.range(), params, slices.status.range(), slices.arena.range()]
                .into_iter()
                .chain(textures.into_iter().flat_map(|textures| textures.bindings(slices.misses)))
                .chain(counters)
                .collect(),
            push: bytemuck::cast_slice(&push).to_vec(),
        });
    }
}

/// Appends the keeping of saved loops that go on, or their restoring.
pub(super) fn record_kept_loops(recording: &mut Recording, arena: Slice<Vec4>, loops: &LoopRun) {
    let Some(LoopState { resume: true, kept: Some(kept) }) = loops.saved else { return };
    let [work, copy] = [loops.base, kept.base].map(|base| {
        let first = u64::from(base);
        arena.part(first..first + u64::from(kept.records))
    });
    let (from, to) = if kept.restore { (copy, work) } else { (work, copy) };
    recording.copy(from, to);
}

fn record_inputs(recording: &mut Recording, of: &RegionPiece<'_>, run: &ProgramRun<'_>) {
    let RegionPiece { region, sources: GeometrySources { frame, page }, piece } = of;
    let slices = &region.slices;
    let (uniform_base, uniform_count) = (run.places.uniform_base, run.kernel.uniform_records);
    recording.concurrent(|recording| {
        let bindings = work::Bindings {
            instances: frame.instances,
            primitives: page.primitives,
            grids: slices.grids.grids,
            slots: slices.slots,
            work: slices.work,
            pieces: slices.pieces,
        };
        let push = work::Push { slot_base: piece.slot_base, piece: piece.number, uniform_base, uniform_count };
        recording.dispatch(work::dispatch(run.kind.work_variant(), of.groups(Per::Slot), &bindings, &push));
        if !run.primvars {
            return;
        }
        let bindings = primvar::Bindings {
            instances: frame.instances,
            primitives: page.primitives,
            values: page.data.cast(),
            grids: slices.grids.grids,
            slots: slices.slots,
            primvar_bindings: frame.primvar_bindings,
            arena: slices.arena,
            pieces: slices.pieces,
        };
        let push = primvar::Push {
            slot_base: piece.slot_base,
            piece: piece.number,
            vertex_base: run.places.input_base,
            channel_stride: piece.vertices(),
            uniform_base,
            uniform_count,
            displace: u32::from(run.kind == ProgramKind::Displacement),
        };
        let variant = primvar::Variant { kind: run.primitives };
        recording.dispatch(primvar::dispatch(variant, of.groups(Per::Vertex), &bindings, &push));
    });
    if let Some(channel) = run.kernel.velocity_channel {
        record_velocity(recording, of, &run.places, channel);
    }
}

/// Appends the making of dPdtime, of which P at the motion's second keyframe is diced.
fn record_velocity(recording: &mut Recording, of: &RegionPiece<'_>, places: &ProgramPlaces, channel: u32) {
    let RegionPiece { region, sources: GeometrySources { frame, .. }, piece } = of;
    let slices = &region.slices;
    let bindings = velocity::Bindings {
        slots: slices.slots,
        pieces: slices.pieces,
        instances: frame.instances,
        motion: frame.motion,
        arena: slices.arena,
    };
    let velocity_base = places.input_base + channel * piece.vertices();
    let push = velocity::Push {
        slot_base: piece.slot_base,
        piece: piece.number,
        from_base: places.undisplaced_base,
        to_base: places.input_base,
        next_base: velocity_base + piece.vertices(),
        velocity_base,
    };
    recording.dispatch(velocity::dispatch(of.groups(Per::Vertex), &bindings, &push));
}

/// The kernels that write the inputs of a compiled program; `primvars` are the kinds of primitives with primvars that
/// such programs read.
pub(super) fn kernels(kind: ProgramKind, primvars: &BTreeSet<PrimitiveKind>) -> KernelList {
    let primvars = primvars.iter().map(|&kind| primvar::kernel(primvar::Variant { kind }));
    [work::kernel(kind.work_variant())].into_iter().chain(primvars).collect()
}

/// The kernels that make dPdtime.
pub(super) fn velocity_kernels() -> KernelList {
    vec![velocity::kernel()]
}

//! Dispatches of a region's steps, as docs/cost.md counts them.

use super::bound_split::{self, Chunk, FullKinds, KindMotion, ListLength, SplitRound};
use super::buffers::{
    ActiveRegion, CountSlices, FrameSlices, GeometrySources, GridPageSlices, PageSlices, RegionCapacity, RegionSlices,
    StageMemory,
};
use super::dice::{self, DiceOutput};
use super::displace::{self, DisplacedPositions};
use super::geometry::PrimitiveKind;
use super::hidden::{DicedKind, HidingForm, KeyframedPositions};
use super::kept::KeptSlices;
use super::kernels::constants::{BATCHES, CHANNEL_POSITION};
use super::kernels::test::facing;
use super::layout::ShadeLayout;
use super::look::{Interpolation, ShadeSublist, ShadingKernel};
use super::piece::{ListRecords, Piece, RegionPiece};
use super::pixels::RegionPixels;
use super::plan::{AssignBin, Division, Grids, Pipeline, PipelineStage, Process, Repeat, Schedule};
use super::program::{self, LoopRun, ProgramKind, ProgramPlaces, ProgramRun};
use super::recording::{Buffer, BufferRange, Command, Recording};
use super::select::{self, BatchLimits, HidingOrder, PageClusters};
use super::shade::PieceColours;
use super::slab::Slab;
use super::slots::{self, SlotSource};
use super::stage::{Composition, DepthBuckets, FilteredRecord};
use super::{ALL, KernelVariants, composite, filter, hide, sample, shade, visibility};
use crate::scene::{DepthFilter, Filter, FilterKind};
use crate::schedule::Region;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A region of 16x16 pixels with an apron of 1 at 4x4 samples, in memory that is only a name.
struct Fixture {
    frame: FrameSlices,
    grids: GridPageSlices,
    region: ActiveRegion,
}

const SAMPLES: u32 = 16;
const FILTER: Filter = Filter { kind: FilterKind::Box, width: [2.0, 2.0] };

impl Fixture {
    fn new(entries: u64, variables: u64) -> Self {
        let capacity = RegionCapacity {
            frame_grids: 1000,
            grids: 1000,
            subpixels: 18 * 18 * u64::from(SAMPLES),
            pixel_samples: u64::from(SAMPLES),
            arena: 1 << 14,
            slots: 1 << 10,
            colours: 1 << 10,
            entries,
            variables,
            filtered: 1 + variables,
            sublists: 3,
            interpolation: Interpolation::Constant,
            behind: false,
            blurred: false,
            solids: false,
            deep: false,
            prints: 0,
            texture_slots: 0,
        };
        let buffer = Buffer::new("frame", 0, 0, 0, 1 << 20);
        let frame = FrameSlices {
            frame: buffer.slice_at(0, 1),
            instances: buffer.slice_at(4096, 4),
            params: buffer.slice_at(8192, 4),
            primvar_bindings: buffer.slice_at(12_288, 4),
            displaced_by: buffer.slice_at(16_384, 4),
            clip_planes: buffer.slice_at(20_480, 0),
            solid_primitives: buffer.slice_at(20_480, 0),
            solid_steps: buffer.slice_at(20_480, 0),
            motion: buffer.slice_at(24_576, 4),
            lens: buffer.slice_at(28_672, 0),
            space_table: 0,
            textures: None,
            counters: None,
            lookup_counters: 0,
        };
        let buffer = Buffer::new("grids", 0, 1, 0, GridPageSlices::bytes(1000));
        let grids = GridPageSlices::cut(buffer, 1000).expect("made for it");
        let slices =
            RegionSlices::cut(Buffer::new("region", 0, 2, 0, capacity.bytes()), &capacity).expect("made for it");
        let pixels = RegionPixels::new(Region::new([0, 0, 16, 16]).expect("not empty"), &FILTER);
        Self { frame, grids, region: ActiveRegion { pixels, slices, capacity } }
    }

    fn sources(&self) -> GeometrySources<'_> {
        let buffer = Buffer::new("page", 0, 3, 0, 4096);
        let page = PageSlices { primitives: buffer.slice_at(0, 1), data: buffer.slice_at(1024, 64) };
        GeometrySources { frame: &self.frame, page }
    }

    fn memory(&self) -> StageMemory<'_> {
        StageMemory { frame: &self.frame, region: &self.region }
    }

    fn piece(&self, piece: Piece) -> RegionPiece<'_> {
        RegionPiece { region: &self.region, sources: self.sources(), piece }
    }
}

const SERIAL: KernelVariants = KernelVariants { serial: true };

fn dispatches(record: impl FnOnce(&mut Recording)) -> usize {
    let mut recording = Recording::new("counted");
    record(&mut recording);
    recording.dispatches().count()
}

fn pieces(count: u32) -> Vec<Piece> {
    let piece = |number| Piece { number, slot_base: number, slot_log2: 4, slot_count: 1, lists: 0, base: 256 * number };
    (0..count).map(piece).collect()
}

/// The making of slots of a load: what hiding and shading begin with.
fn record_slots(fixture: &Fixture, recording: &mut Recording, pieces: &[Piece]) {
    let slices = &fixture.region.slices;
    slots::record_pieces(recording, slices, pieces);
    for piece in pieces {
        let sorted = slices.sorted_hide;
        let source = SlotSource { sorted, first: piece.slot_base, cull: true, slab: Slab::WHOLE };
        slots::record_cull(recording, fixture.memory(), piece, &source);
    }
    slots::record_arm(recording, slices, pieces.len());
}

#[test]
fn select_is_eleven_and_two_for_each_further_page_of_grids() {
    let r = Fixture::new(0, 0);
    for variants in [SERIAL, KernelVariants { serial: false }] {
        let (depth, clusters) = (DepthBuckets::new(1.0, 10.0), PageClusters { page: &r.grids, some: &ALL });
        let select = |pages: usize| {
            dispatches(|recording| {
                hide::record_clear(recording, &r.region);
                select::record_clear(recording, &r.region);
                for _ in 0..pages {
                    select::record_choice(recording, variants, &r.region, clusters);
                }
                select::record_ranks(recording, variants, &r.region);
                for _ in 0..pages {
                    select::record_gather(recording, variants, &r.region, depth, clusters);
                }
                let order = HidingOrder { batches: BatchLimits::new(BATCHES, variants), depth };
                select::record_batches(recording, variants, r.memory(), order, 500);
            })
        };
        assert_eq!([1, 2, 5].map(select), [11, 13, 19]);
    }
}

#[test]
fn what_is_seen_is_ten_and_a_round_s_sort_five() {
    let r = Fixture::new(0, 0);
    let order = |recording: &mut Recording| {
        shade::record_order(recording, SERIAL, r.memory(), 500, 0..1024);
    };
    let marked = dispatches(|recording| {
        shade::record_mark(recording, &r.region, &ALL);
        shade::record_places(recording, SERIAL, &r.region, 500);
        order(recording);
    });
    assert_eq!((marked, dispatches(order)), (10, 5));
}

#[test]
fn a_load_to_hide_or_to_sample() {
    for count in [1, 2, 7] {
        let pieces = pieces(count);
        let r = Fixture::new(100, 0);
        let load = |sampled: bool, keyframes: u32, division: Division| {
            dispatches(|recording| {
                record_slots(&r, recording, &pieces);
                for &piece in &pieces {
                    let (of, base) = (r.piece(piece), piece.base);
                    let kind = DicedKind { kind: PrimitiveKind::Patch, full: false };
                    dice::record(recording, &of, kind, DiceOutput { base, channels: CHANNEL_POSITION, keyframe: None });
                    let positions = KeyframedPositions { base, keyframes, trimmed: false };
                    if sampled {
                        sample::record_piece(recording, &of, positions, Slab::WHOLE, division);
                    } else {
                        hide::record_piece(recording, &of, positions, HidingForm { division, variants: SERIAL });
                    }
                }
            })
        };
        for (keyframes, division) in
            [1, 3].into_iter().flat_map(|keyframes| Division::ALL.map(|division| (keyframes, division)))
        {
            let all = 4 * count as usize + 1;
            assert_eq!([load(false, keyframes, division), load(true, keyframes, division)], [all; 2]);
        }
        assert_eq!(dispatches(|recording| hide::record_blocks(recording, &r.region)), 1);
    }
}

#[test]
fn expanded_kernels_share_out_what_is_trimmed_too() {
    let r = Fixture::new(100, 0);
    let kernels = |keyframes: u32, trimmed: bool| {
        let mut recording = Recording::new("expanded");
        let piece = pieces(1)[0];
        let positions = KeyframedPositions { base: piece.base, keyframes, trimmed };
        let (division, of) = (Division::Expanded, r.piece(piece));
        hide::record_piece(&mut recording, &of, positions, HidingForm { division, variants: SERIAL });
        sample::record_piece(&mut recording, &of, positions, Slab::WHOLE, division);
        let labels: Vec<String> = recording.dispatches().map(|dispatch| dispatch.kernel.label().to_string()).collect();
        labels.into_iter().filter(|label| label.contains("expanded")).collect::<Vec<_>>()
    };
    assert_eq!(kernels(1, false), ["hide_expanded", "sample_expanded"]);
    assert_eq!(kernels(1, true), ["hide_expanded_trimmed", "sample_expanded_trimmed"]);
    assert_eq!(kernels(3, true), ["hide_blurred_expanded_trimmed", "sample_blurred_expanded_trimmed"]);
}

#[test]
fn pieces_are_listed_in_bins_if_they_are_large_and_stand_still() {
    let r = Fixture::new(0, 0);
    let hidden = |slot_count: u32, keyframes: u32| {
        dispatches(|recording| {
            let piece = Piece { slot_count, ..pieces(1)[0] };
            let positions = KeyframedPositions { base: piece.base, keyframes, trimmed: false };
            let form = HidingForm { division: Division::Binned, variants: SERIAL };
            hide::record_piece(recording, &r.piece(piece), positions, form);
        })
    };
    // Two passes over the micropolygons, a scan and the bins, in place of one pass; and the rest.
    assert_eq!([hidden(1, 1), hidden(100, 1), hidden(100, 3)], [2, 7, 2]);
}

#[test]
fn bins_with_whole_blocks_are_hidden_by_the_kernel_that_finds_their_farthest_depths() {
    let hidden_by = |division: Division, pixel_samples: u64| {
        let mut r = Fixture::new(0, 0);
        r.region.capacity.pixel_samples = pixel_samples;
        let mut recording = Recording::new("bins");
        let piece = Piece { slot_count: 100, ..pieces(1)[0] };
        let positions = KeyframedPositions { base: piece.base, keyframes: 1, trimmed: false };
        let form = HidingForm { division, variants: SERIAL };
        hide::record_piece(&mut recording, &r.piece(piece), positions, form);
        let labels: Vec<&str> = recording.dispatches().map(|dispatch| dispatch.kernel.label()).collect();
        labels.into_iter().filter(|label| label.starts_with("hide_binned")).map(str::to_string).collect::<Vec<_>>()
    };
    // Bins of at most 1,024 samples: 8x8 pixels, 4x4 and 2x2.
    for (pixel_samples, fused) in [(16, "hide_binned_blocks"), (64, "hide_binned_blocks"), (65, "hide_binned_keys")] {
        assert_eq!(hidden_by(Division::Binned, pixel_samples), ["hide_binned_keys"]);
        assert_eq!(hidden_by(Division::BinnedFused, pixel_samples), [fused]);
    }
}

/// A program that colours what is seen by how it faces the eye.
pub(crate) fn program() -> ShadingKernel {
    ShadingKernel {
        passes: vec![Arc::clone(facing::kernel()).into()],
        pass_channels: 0,
        geometry_channels: 3,
        velocity_channel: None,
        input_channels: 4,
        uniform_records: 0,
        output_channels: 2,
        opacity_channel: Some(1),
        variable_channels: Vec::new(),
        print_words: 0,
        bakes: false,
        uses_textures: false,
        demand: None,
        resumable: None,
    }
}

#[test]
fn a_load_to_shade_and_what_programs_add() {
    let (r, program) = (Fixture::new(0, 0), program());
    let places = ProgramPlaces { input_base: 0, undisplaced_base: 0, output_base: 64, uniform_base: 96 };
    let run = |recording: &mut Recording, piece: Piece, primvars: bool| {
        let (kind, primitives, loops) = (ProgramKind::Colour, PrimitiveKind::Curve, LoopRun::plain(1));
        let run = ProgramRun { kind, kernel: &program, primitives, primvars, places, loops };
        program::record(recording, &r.piece(piece), &run);
    };
    for count in [1, 3] {
        let pieces = pieces(count);
        let load = |primvars: bool| {
            dispatches(|recording| {
                record_slots(&r, recording, &pieces);
                for &piece in &pieces {
                    let kind = DicedKind { kind: PrimitiveKind::Curve, full: false };
                    let output = DiceOutput { base: piece.base, channels: 3, keyframe: None };
                    dice::record(recording, &r.piece(piece), kind, output);
                    run(recording, piece, primvars);
                    let kernel = Some(&program);
                    let colours = PieceColours {
                        kernel,
                        position_base: 0,
                        position_keyframes: 0,
                        output_base: 64,
                        coverage_base: None,
                        places: 0..1024,
                    };
                    shade::record_pack(recording, r.memory(), &piece, &colours);
                }
            })
        };
        let count = count as usize;
        assert_eq!([load(false), load(true)], [5 * count + 1, 6 * count + 1]);
    }
    let piece = pieces(1)[0];
    let displaced = dispatches(|recording| {
        run(recording, piece, false);
        displace::record_measure(recording, &r.piece(piece), DisplacedPositions { from_base: 0, to_base: 64 });
    });
    assert_eq!(displaced, 3, "more for a displaced piece that is hidden");
}

/// The colour inputs hold what the displacement program stores, even where the colour program reads less.
#[test]
fn all_that_a_displacement_stores_has_its_place() {
    let piece = pieces(1)[0];
    let stores = |output_channels| ShadingKernel { output_channels, ..program() };
    let cases = [(2, Some(program()), false), (9, Some(program()), true), (9, None, false)];
    for (displace, shade, thin) in cases {
        let (displace, shade) = (stores(displace), shade.as_ref());
        let sublist = ShadeSublist {
            page: 0,
            kind: PrimitiveKind::Curve,
            displace: Some(0),
            displace_primvars: false,
            shade: shade.map(|_| 1),
            shade_primvars: false,
            thin,
            keyframes: 3,
        };
        let layout = ShadeLayout::new(&piece, Some(&displace), shade, &sublist);
        let (vertex, slot) = ShadeLayout::cost(Some(&displace), shade, &sublist);
        let outputs = shade.map_or(0, |kernel| kernel.output_channels) + u32::from(thin);
        assert!(layout.keyframes >= layout.output + outputs * piece.vertices());
        assert!(layout.displace_uniform >= layout.keyframes + 3 * piece.vertices());
        assert!(layout.output >= layout.input + displace.output_channels * piece.vertices());
        assert_eq!(layout.records, vertex * piece.vertices() + slot * piece.slot_count);
    }
}

/// With what hiding has lost of samples, so that a warning about it comes again.
#[test]
fn what_is_kept_is_what_is_recalled() {
    for behind in [false, true] {
        let mut r = Fixture::new(0, 0);
        r.region.capacity.behind = behind;
        r.region.slices =
            RegionSlices::cut(Buffer::new("region", 0, 2, 0, r.region.capacity.bytes()), &r.region.capacity)
                .expect("made for it");
        let keys = KeptSlices::keys_of(r.region.subpixels());
        let buffer = Buffer::new("visibility", 0, 4, 0, KeptSlices::bytes(keys, behind));
        let kept = KeptSlices::cut(buffer, keys, behind).expect("made for it");
        let copies = |record: fn(&mut Recording, &ActiveRegion, &KeptSlices)| -> Vec<[BufferRange; 2]> {
            let mut recording = Recording::new("copies");
            record(&mut recording, &r.region, &kept);
            let ranges = recording.commands().iter().filter_map(|command| match command {
                Command::Copy { from, to } => Some([*from, *to]),
                _ => None,
            });
            ranges.collect()
        };
        let (keeps, recalls) = (copies(visibility::record_keep), copies(visibility::record_recall));
        assert_eq!(recalls, keeps.iter().map(|[from, to]| [*to, *from]).collect::<Vec<_>>());
        let from: Vec<BufferRange> = keeps.iter().map(|[from, _]| *from).collect();
        let (slices, subpixels) = (&r.region.slices, r.region.subpixels());
        let mut expected = vec![slices.keys.part(0..subpixels).range(), slices.rest.range()];
        expected.extend(behind.then(|| slices.behind.part(0..subpixels).range()));
        assert_eq!(from, expected);
    }
}

#[test]
fn the_end_of_a_region() {
    for variables in [0, 2] {
        let r = Fixture::new(0, variables);
        let count = dispatches(|recording| {
            composite::record(recording, r.memory(), &Composition::BY_OPACITY, 0..1024, &ALL);
            filter::record(recording, r.memory(), &FilteredRecord::all(variables, FILTER), &ALL);
            filter::record_depth(recording, &r.region, DepthFilter::Min, &ALL);
        });
        // What filters weigh samples by is found once.
        assert_eq!(count, 1 + 1 + (1 + variables as usize) + 1);
    }
}

#[test]
fn a_slab_is_sixteen_and_its_compositing() {
    let r = Fixture::new(5000, 0);
    assert_eq!(dispatches(|recording| composite::record_clear(recording, &r.region, &ALL)), 1);
    assert_eq!(dispatches(|recording| sample::record_clear(recording, &r.region, 500)), 1);
    let order = dispatches(|recording| {
        sample::record_lists(recording, SERIAL, &r.region);
        sample::record_scatter(recording, &r.region.slices, 700, &ALL);
        sample::record_sort(recording, &r.region, &ALL);
        shade::record_places(recording, SERIAL, &r.region, 500);
        composite::record_places(recording, &r.region.slices, 700, &ALL);
        shade::record_order(recording, SERIAL, r.memory(), 500, 0..1024);
    });
    assert_eq!(order, 15);
    for again in [false, true] {
        let slab = dispatches(|recording| {
            composite::record_slab(recording, r.memory(), &Composition::BY_OPACITY, again, &ALL);
        });
        assert_eq!(slab, 1);
    }
}

/// Stages in the place of those of [`Pipeline::ANTHILL`], and what is said of the first that cannot be there.
fn refused(change: impl FnOnce(&mut Vec<PipelineStage>)) -> String {
    let mut stages = Pipeline::ANTHILL.stages().to_vec();
    change(&mut stages);
    Pipeline::new(BATCHES, stages.leak()).expect_err("it is invalid").to_string()
}

fn find(stages: &[PipelineStage], process: Process) -> usize {
    stages.iter().rposition(|stage| stage.process == process).expect("it is there")
}

#[test]
fn a_pipeline_in_an_impossible_order_is_refused() {
    let swapped = |one, other| {
        refused(|stages| {
            let (one, other) = (find(stages, one), find(stages, other));
            stages.swap(one, other);
        })
    };
    assert_eq!(swapped(Process::Rank, Process::Gather), "stage 2 of the pipeline, Gather: it needs Rank before it");
    // Filtering keeps sums where depths will be.
    let depths = swapped(Process::Filter, Process::FilterDepth);
    assert_eq!(depths, "stage 38 of the pipeline, FilterDepth: it needs Filter before it");
    let unhidden = refused(|stages| stages.retain(|stage| stage.process != Process::Hide));
    assert_eq!(unhidden, "stage 8 of the pipeline, RenewBlocks: it needs Hide before it");
    let unmarked = refused(|stages| stages.retain(|stage| stage.process != Process::Mark));
    assert_eq!(unmarked, "stage 30 of the pipeline, MarkUnseen: it needs Mark before it");
    // Slabs hide what is behind them.
    let kept_late = refused(|stages| {
        let keep = stages.remove(find(stages, Process::KeepVisible));
        stages.insert(find(stages, Process::Mark), keep);
    });
    assert!(kept_late.ends_with("CompositeSlab: it needs KeepVisible before it"), "{kept_late}");
    let translucent = refused(|stages| {
        stages.retain(|stage| stage.process != Process::ClearResolved);
        let entries = find(stages, Process::ClearEntries);
        stages[entries].schedule = Schedule::Begin("sample");
    });
    assert!(translucent.ends_with("CompositeSlab: it needs ClearResolved before it"), "{translucent}");
}

/// What shades again selects and shades as the others do, hides nothing opaque, and begins with what was kept.
#[test]
fn what_recalls_has_the_other_stages_of_what_keeps() {
    let recalls = Pipeline::UNBINNED.reshading().expect("it keeps");
    assert_eq!((recalls.batches(), Pipeline::SHADE_FIRST.reshading(), Pipeline::DEPTHS.reshading()), (1, None, None));
    let others = |pipeline: Pipeline| -> Vec<PipelineStage> {
        let is_other = |stage: &&PipelineStage| {
            let ends = [Process::ClearSelection, Process::KeepVisible, Process::RecallVisible].contains(&stage.process);
            !ends && stage.assign_bin != AssignBin::Depth(Grids::Opaque)
        };
        pipeline.stages().iter().filter(is_other).copied().collect()
    };
    assert_eq!(others(recalls), others(Pipeline::UNBINNED));
    assert_eq!(recalls.stages()[0].process, Process::RecallVisible);
    assert!(!recalls.has(Process::Hide) && recalls.stages().len() == Pipeline::UNBINNED.stages().len() - 4);
}

#[test]
fn a_pipeline_with_impossible_bins_or_schedules_is_refused() {
    let bins = refused(|stages| stages[2].assign_bin = AssignBin::Pixels);
    assert_eq!(bins, "stage 2 of the pipeline, Rank: its kernels cannot go by these bins");
    let begin = refused(|stages| stages[6].schedule = Schedule::Fused);
    assert!(begin.starts_with("stage 6 of the pipeline, Dice: it must begin a submission"), "{begin}");
    let load = refused(|stages| stages[7].schedule = Schedule::Begin("displace"));
    assert!(load.starts_with("stage 7 of the pipeline, Displace: it must be fused with the Dice"), "{load}");
    let rounds = refused(|stages| {
        let filter = find(stages, Process::Filter);
        stages[filter].repeat = Repeat::Rounds;
    });
    assert!(rounds.contains("rounds from SortForShading to CompositeOpaque"), "{rounds}");
    let none = Pipeline::new(0, Pipeline::ANTHILL.stages()).expect_err("no batches");
    assert_eq!(none.to_string(), "a pipeline has between 1 and 32 depth batches");
}

/// Counting runs what is prepared for it, on devices of both sorts.
#[test]
fn counting_runs_the_kernels_that_it_lists() {
    let fixture = Fixture::new(0, 0);
    let buffer = Buffer::new("count", 0, 4, 0, CountSlices::bytes(1, 64));
    let slices = CountSlices::cut(buffer, 1, 64).expect("made for it");
    let full = FullKinds { curves: true, blobs: true };
    let of_motion = |(moves, loose)| {
        PrimitiveKind::ALL.map(|kind| KindMotion { kind, moves, loose, full: moves && full.has(kind) })
    };
    let kinds = [(true, true), (true, false), (false, false)].into_iter().flat_map(of_motion);
    for (serial, kind) in kinds.flat_map(|kind| [(true, kind), (false, kind)]) {
        let variants = KernelVariants { serial };
        let mut recording = Recording::new("counted");
        let chunk = Chunk { drawable_base: 0, drawable_count: 1, first: 0, count: 9 };
        bound_split::record_seed(&mut recording, &slices, chunk);
        let round = SplitRound { kinds: &[kind], from: 0, length: ListLength { count: 9, open: 9 } };
        bound_split::record_round(&mut recording, variants, fixture.sources(), &slices, round);
        let run: BTreeSet<&str> = recording.dispatches().map(|dispatch| dispatch.kernel.label()).collect();
        let listed = bound_split::kernels([kind], variants);
        assert_eq!(run, listed.iter().map(|kernel| kernel.label()).collect(), "{kind:?}, {variants:?}");
    }
}

#[test]
fn lists_have_room_for_all_rows_and_micropolygons_of_a_slot() {
    for (nu, nv) in (1..=15_u32).flat_map(|nu| (1..=15_u32).map(move |nv| (nu, nv))) {
        let slot_log2 = ((nu + 1) * (nv + 1)).next_power_of_two().ilog2();
        let ListRecords { rows, micropolygons } = ListRecords::of(slot_log2);
        assert!((nv + 1).div_ceil(2) <= 4 * rows && (nu * nv).div_ceil(2) <= 4 * micropolygons, "{nu} x {nv}");
    }
}

//! Pipelines are data: other values of them give other recordings, the same pixels, and the kernels that are prepared.

use super::*;
use crate::pipeline::plan::{AssignBin, Grids, PipelineStage, Process, Repeat, Schedule};
use crate::pipeline::recording::Command;

/// Returns a pipeline in another order: translucent surfaces are cleared with the selection, the order of shading is
/// made before colours are looked up, blocks are not renewed, and filtering has a submission of its own and is not cut.
pub(super) fn reordered() -> Pipeline {
    let mut stages = Pipeline::ANTHILL.stages().to_vec();
    stages.retain(|stage| !matches!(stage.process, Process::RenewBlocks | Process::ClearResolved));
    stages.insert(1, PipelineStage::once(Process::ClearResolved, AssignBin::Subpixels, Schedule::Fused));
    let find = |stages: &[PipelineStage], process: Process, repeat: Repeat| {
        stages.iter().position(|stage| (stage.process, stage.repeat) == (process, repeat)).expect("it is there")
    };
    let clear = find(&stages, Process::ClearEntries, Repeat::Slabs);
    stages[clear].schedule = Schedule::Begin("sample");
    let place = find(&stages, Process::PlaceEntries, Repeat::Slabs);
    stages.swap(place, place + 1);
    let filter = find(&stages, Process::Filter, Repeat::Once);
    stages[filter] = PipelineStage::once(Process::Filter, AssignBin::Whole, Schedule::Begin("filter"));
    Pipeline::new(32, stages.leak()).unwrap_or_else(|invalid| panic!("{invalid}"))
}

fn ball(z: f64, opacity: f32) -> Thing {
    thing(sphere(1.0), placed(0.0, 0.0, z, 0.0), [0.9; 3], opacity)
}

/// Returns the submissions of a region: the name of each, and its stages with the kernels that they run, repeats apart,
/// as on a CPU.
fn chain(recordings: &[Recording]) -> String {
    let mut text = String::new();
    for recording in recordings {
        let label = recording.label();
        text += &label[..label.find(" [").expect("it names its pixels")];
        let mut last = "";
        for command in recording.commands() {
            match command {
                Command::BeginStage(stage) => {
                    text += &format!("\n  {stage}:");
                    last = "";
                }
                Command::Dispatch(dispatch) if dispatch.kernel.label() != last => {
                    last = dispatch.kernel.label();
                    text += &format!(" {last}");
                }
                _ => {}
            }
        }
        text += "\n";
    }
    text.replace("_parallel", "_serial")
}

fn has_kernels_for_gpus(recording: &Recording) -> bool {
    recording.dispatches().any(|dispatch| dispatch.kernel.label().contains("_parallel"))
}

/// Returns the same chain where a batch takes all that CPU drivers sample in two: GPUs have larger batches.
fn in_one_batch(chain: &str) -> String {
    let [dice, sample] = ["\n  dice: cull arm dice_quadric", "\n  sample: sample_first sample_rest"];
    let twice = [dice, sample, dice, sample].concat();
    chain.replace(&twice, &[dice, sample, sample.trim_start_matches("\n  sample:")].concat())
}

#[test]
fn other_values_are_other_pipelines() {
    let anthill = draw(vec![ball(5.0, 1.0), ball(4.0, 0.5)], [24, 24], &Setup::default());
    let pipelines = [
        (Pipeline::ANTHILL, ANTHILL),
        (Pipeline::UNBINNED, UNBINNED),
        (Pipeline::SHADE_FIRST, SHADE_FIRST),
        (reordered(), REORDERED),
    ];
    for (pipeline, expected) in pipelines {
        for parallel in [false, true] {
            let setup = Setup { pipeline, parallel, ..Setup::default() };
            let drawn = draw(vec![ball(5.0, 1.0), ball(4.0, 0.5)], [24, 24], &setup);
            let for_gpu = drawn.recordings.iter().any(has_kernels_for_gpus);
            let expected = if for_gpu { in_one_batch(expected) } else { expected.to_string() };
            assert_eq!(chain(&drawn.recordings), expected);
            assert!(drawn.pixels == anthill.pixels && drawn.depths == anthill.depths, "{pipeline:?}");
        }
    }
}

/// Returns a plain rasteriser of the same stages: everything is hidden at once, then what `marks` says is shaded. It
/// draws nothing translucent and culls nothing.
fn rasteriser(marks: PipelineStage) -> Pipeline {
    use PipelineStage as S;
    let (opaque, begin) = (AssignBin::Depth(Grids::Opaque), Schedule::Begin);
    let stages = vec![
        S::once(Process::ClearSelection, AssignBin::Whole, begin("select")),
        S::once(Process::Choose, AssignBin::Clusters, Schedule::Fused),
        S::once(Process::Rank, AssignBin::Whole, Schedule::Fused),
        S::once(Process::Gather, AssignBin::Clusters, Schedule::Fused),
        S::once(Process::SortForHiding, AssignBin::Whole, Schedule::Fused),
        S::once(Process::BlurSamples, AssignBin::Pixels, Schedule::Fused),
        S::once(Process::Dice, opaque, begin("rasterise")),
        S::once(Process::Hide, opaque, Schedule::Fused),
        marks,
        S::once(Process::NumberVisible, AssignBin::Whole, Schedule::Fused),
        S::in_rounds(Process::SortForShading, AssignBin::Whole, Schedule::Fused),
        S::in_rounds(Process::Dice, AssignBin::Shading, begin("shade")),
        S::in_rounds(Process::Shade, AssignBin::Shading, Schedule::Fused),
        S::in_rounds(Process::CompositeOpaque, AssignBin::Pixels, begin("composite")),
        S::once(Process::Filter, AssignBin::Delivered, Schedule::Fused),
    ];
    Pipeline::new(1, stages.leak()).unwrap_or_else(|invalid| panic!("{invalid}"))
}

/// Returns a triangle that faces the eye at a depth.
fn triangle(corners: [[f32; 2]; 3], z: f64, colour: [f32; 3]) -> Thing {
    let shape = Shape::Facets(Facets {
        positions: corners.map(|[x, y]| [x, y, 0.0]).into(),
        face_corners: vec![[0, 1, 2, 2]].into(),
        face: vec![0].into(),
        corners: vec![[0, 1, 2, 2]].into(),
        polygon: false,
        face_normals: [].into(),
        uv_range: [].into(),
    });
    thing(shape, placed(0.0, 0.0, z, 0.0), colour, 1.0)
}

/// A rasteriser of triangles and a deferred shader, against the area of the triangles and the nearer one's colour.
#[test]
fn a_plain_rasteriser_and_deferred_shading_are_pipelines_of_the_same_stages() {
    let (near, far) = ([[-0.9, -0.7], [1.1, -0.5], [0.1, 1.0]], [[-0.6, -0.4], [0.7, -0.3], [0.1, 0.6]]);
    let world = || vec![triangle(far, 7.0, [0.1, 0.2, 0.9]), triangle(near, 5.0, [0.9, 0.6, 0.3])];
    let forward = rasteriser(PipelineStage::once(Process::MarkAll, AssignBin::Whole, Schedule::Begin("shade all")));
    let deferred = rasteriser(PipelineStage::once(Process::Mark, AssignBin::Pixels, Schedule::Begin("mark")));
    let [forward, deferred] =
        [forward, deferred].map(|pipeline| draw(world(), SIZE, &Setup { pipeline, ..Setup::default() }));
    // The far triangle is behind the near one whole.
    let [a, b, c] = near.map(|corner| corner.map(f64::from));
    let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs();
    let expected = area * (60.0 / f64::tan(20_f64.to_radians()) / 5.0).powi(2);
    let alpha: f64 = forward.pixels.iter().map(|pixel| f64::from(pixel[3])).sum();
    assert!((alpha / expected - 1.0).abs() < 0.005, "{alpha} for {expected}");
    let [red, green, blue, alpha] = forward.pixels[60 * 160 + 80];
    assert_eq!(alpha, 1.0);
    assert!((green / red - 2.0 / 3.0).abs() < 1e-5 && (blue / red - 1.0 / 3.0).abs() < 1e-5, "{red} {green} {blue}");
    assert!(deferred.pixels == forward.pixels);
    assert!(draw(world(), SIZE, &Setup::default()).pixels == forward.pixels);
    // What only one of them runs: the marking of what samples see.
    let runs = |drawn: &DrawnPixels, stage: &str| chain(&drawn.recordings).lines().any(|line| line.contains(stage));
    assert_eq!([runs(&forward, "shade: mark"), runs(&deferred, "shade: mark")], [false, true]);
}

/// A wall of many micropolygons a bin hides grids behind it, by the farthest depths that each pipeline finds.
#[test]
fn fused_kernels_cull_as_much() {
    let scene = || {
        let wall = thing(patches(6), placed(0.0, 0.0, 2.0, 0.0), [0.5, 0.6, 0.5], 1.0);
        vec![wall, ball(5.0, 1.0), ball(7.0, 1.0), thing(patches(40), placed(0.0, 0.0, 9.0, 0.0), [0.9; 3], 1.0)]
    };
    let drawn = ["batches", "batches-binned", "batches-binned-fused"].map(|name| {
        let pipeline = NamedPipeline::find(name).expect("it is there").colours;
        draw(scene(), SIZE, &Setup { pipeline, rate: 0.05, ..Setup::default() })
    });
    let runs = |drawn: &DrawnPixels, kernel: &str| chain(&drawn.recordings).contains(kernel);
    assert_eq!(drawn.each_ref().map(|drawn| runs(drawn, " hide_binned_blocks")), [false, false, true]);
    let [batches, others @ ..] = &drawn;
    assert!(batches.culled_grids > 1000, "{}", batches.log);
    for other in others {
        assert_eq!(other.culled_grids, batches.culled_grids);
        same(other, batches, "binned");
    }
}

/// Returns where a thing is: it stands still, or moves along x.
pub(super) fn path(at: DMat4, moves: bool) -> Motion<DMat4> {
    let keyframe = |time: f32| (time, DMat4::from_translation(DVec3::X * f64::from(time)) * at);
    Motion::new(if moves { vec![keyframe(0.0), keyframe(1.0)] } else { vec![keyframe(0.0)] }).expect("times increase")
}

/// What a region dispatches is among what was prepared.
fn runs_what_was_prepared(things: Vec<Thing>, setup: &Setup, name: &str) {
    let drawn = draw(things, [24, 24], setup);
    let dispatched = |recording: &Recording| -> Vec<String> {
        recording.dispatches().map(|dispatch| dispatch.kernel.label().to_string()).collect()
    };
    let run: BTreeSet<String> = drawn.recordings.iter().flat_map(dispatched).collect();
    let unprepared: Vec<&String> = run.difference(&drawn.prepared).collect();
    assert!(unprepared.is_empty(), "{name}: {unprepared:?}");
}

#[test]
fn drawing_compiles_nothing_that_was_not_prepared() {
    let of_kind: [fn() -> Shape; 5] = [|| sphere(1.0), || facets(3), || patches(2), || curves(20), || points(20)];
    for (kind, shape) in of_kind.iter().enumerate() {
        let (clipped, smooth, displaced) = (kind % 2 == 0, kind != 1, kind == 2);
        let depth_filter = [DepthFilter::Min, DepthFilter::Midpoint][usize::from(kind < 3)];
        let samples = if kind == 4 { [1, 1] } else { [4, 4] };
        for moving in [false, true] {
            let setup = || Setup {
                clipped,
                smooth,
                moving,
                displaced,
                depth_filter,
                samples,
                parallel: kind > 2,
                ..Setup::default()
            };
            let opaque = || thing(shape(), placed(0.0, 0.0, 5.0, 0.3), [0.9; 3], 1.0);
            let glass = thing(shape(), placed(0.1, 0.0, 4.0, 0.2), [0.9; 3], 0.5);
            let name = format!("kind {kind}, moving: {moving}");
            runs_what_was_prepared(vec![opaque()], &setup(), &name);
            runs_what_was_prepared(vec![opaque(), glass], &setup(), &format!("{name}, translucent too"));
        }
    }
    for pipeline in CATALOGUE.map(|one| one.colours).into_iter().chain([reordered()]) {
        for clipped in [true, false] {
            let setup = Setup { pipeline, smooth: true, clipped, ..Setup::default() };
            runs_what_was_prepared(vec![ball(5.0, 1.0), ball(4.0, 0.5)], &setup, &format!("{clipped}, {pipeline:?}"));
        }
    }
}

const ANTHILL: &str = "\
select
  select:
  select: select_serial
  select: scan_reduce_serial_bits scan_sums_serial scan_apply_serial_bits
  select: gather_serial
  select: plan_batches sort_count_hide scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
hide
  dice: cull arm dice_quadric
  hide: hide_first hide_rest
  hide: block_nearest
sample
  composite: composite_clear
  sample: nearest_keys
sample
  dice: cull arm dice_quadric
  sample: sample_first sample_rest
  dice: cull arm dice_quadric
  sample: sample_first sample_rest
sample
  sample: scan_reduce_serial scan_sums_serial scan_apply_serial
  sample: scatter_entries
  sample: sort_entries
  shade: needed scan_reduce_serial scan_sums_serial scan_apply_serial
  sample: place_entries
  shade: sort_count_shade scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
shade
  dice: cull arm dice_quadric
  shade: work_shade facing pack_constant work_shade facing pack_constant
composite
  composite: composite_slab_plain
mark
  shade: mark
  shade: needed scan_reduce_serial scan_sums_serial scan_apply_serial
  shade: sort_count_shade scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
shade
  dice: cull arm dice_quadric
  shade: work_shade facing pack_constant
composite
  composite: composite_close
  filter: taps_gaussian filter_taps
  filter: depth
";

const UNBINNED: &str = "\
select
  select:
  select: select_serial
  select: scan_reduce_serial_bits scan_sums_serial scan_apply_serial_bits
  select: gather_serial
  select: plan_batches sort_count_hide scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
hide
  dice: cull arm dice_quadric
  hide: hide_first hide_rest
sample
  composite: composite_clear
  sample: nearest_keys
sample
  dice: cull arm dice_quadric
  sample: sample_first sample_rest sample_first sample_rest
sample
  sample: scan_reduce_serial scan_sums_serial scan_apply_serial
  sample: scatter_entries
  sample: sort_entries
  shade: needed scan_reduce_serial scan_sums_serial scan_apply_serial
  sample: place_entries
  shade: sort_count_shade scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
shade
  dice: cull arm dice_quadric
  shade: work_shade facing pack_constant work_shade facing pack_constant
composite
  composite: composite_slab_plain
mark
  shade: mark
  shade: needed scan_reduce_serial scan_sums_serial scan_apply_serial
  shade: sort_count_shade scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
shade
  dice: cull arm dice_quadric
  shade: work_shade facing pack_constant
composite
  composite: composite_close
  filter: taps_gaussian filter_taps
  filter: depth
";

const SHADE_FIRST: &str = "\
select
  select:
  select: select_serial
  select: scan_reduce_serial_bits scan_sums_serial scan_apply_serial_bits
  select: gather_serial
  select: plan_batches sort_count_hide scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
hide
  dice: cull arm dice_quadric
  hide: hide_first hide_rest
sample
  composite: composite_clear
  sample: nearest_keys
sample
  dice: cull arm dice_quadric
  sample: sample_first sample_rest sample_first sample_rest
sample
  sample: scan_reduce_serial scan_sums_serial scan_apply_serial
  sample: scatter_entries
  sample: sort_entries
  shade: needed scan_reduce_serial scan_sums_serial scan_apply_serial
  sample: place_entries
  shade: sort_count_shade scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
shade
  dice: cull arm dice_quadric
  shade: work_shade facing pack_constant work_shade facing pack_constant
composite
  composite: composite_slab_plain
mark
  shade:
  shade: needed scan_reduce_serial scan_sums_serial scan_apply_serial
  shade: sort_count_shade scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
shade
  dice: cull arm dice_quadric
  shade: work_shade facing pack_constant work_shade facing pack_constant
composite
  composite: composite_close
  filter: taps_gaussian filter_taps
  filter: depth
";

const REORDERED: &str = "\
select
  select:
  composite: composite_clear
  select: select_serial
  select: scan_reduce_serial_bits scan_sums_serial scan_apply_serial_bits
  select: gather_serial
  select: plan_batches sort_count_hide scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
hide
  dice: cull arm dice_quadric
  hide: hide_first hide_rest
sample
  sample: nearest_keys
sample
  dice: cull arm dice_quadric
  sample: sample_first sample_rest
  dice: cull arm dice_quadric
  sample: sample_first sample_rest
sample
  sample: scan_reduce_serial scan_sums_serial scan_apply_serial
  sample: scatter_entries
  sample: sort_entries
  shade: needed scan_reduce_serial scan_sums_serial scan_apply_serial
  shade: sort_count_shade scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
  sample: place_entries
shade
  dice: cull arm dice_quadric
  shade: work_shade facing pack_constant work_shade facing pack_constant
composite
  composite: composite_slab_plain
mark
  shade: mark
  shade: needed scan_reduce_serial scan_sums_serial scan_apply_serial
  shade: sort_count_shade scan_reduce_serial scan_sums_serial scan_apply_serial sort_scatter
shade
  dice: cull arm dice_quadric
  shade: work_shade facing pack_constant
composite
  composite: composite_close
filter
  filter: taps_gaussian filter_taps
  filter: depth
";

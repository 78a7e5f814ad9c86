//! Worlds made by hand, shaded by the test kernel `facing`, on one device, without RIB, RSL and scheduler.

use super::device::bound_split::cut_into_shares;
use super::device::memory::GridResidency;
use super::device::picture::{DevicePipelines, Keeps, Picture};
use super::device::regions_in_flight::RegionPoll;
use super::device::renderer::DeviceRenderer;
use super::device::tracks::DeviceTracks;
use super::grids::list::GridStore;
use super::grids::order::{SortedRun, merge_runs};
use super::grids::picture_grids::{GridSums, PictureGrids};
use super::{region::recorded, resident::picture_textures::PictureTextures};
use crate::diagnostic::{Reporter, Severity, SourceLocation};
use crate::gpu::{AsGpu, CompileLog, CompiledKernel, Device, KeptDevices, OpenOptions};
use crate::host_memory::HostMemory;
use crate::pipeline::look::{Look, Program, Verdict};
use crate::pipeline::plan::{CATALOGUE, NamedPipeline, Pipeline};
use crate::pipeline::recording::{Kernel, Recording};
use crate::pipeline::stage::{Composition, FilteredRecord};
use crate::pipeline::tests::program;
use crate::pipeline::world::DrawnWorld;
use crate::pipeline::{KernelVariants, kernels_of};
use crate::progress::Interrupt;
use crate::render::region::bakes::BakeMemory;
use crate::render::region::region_result::RegionResult;
use crate::render::resident::visibility_store::KeepVisibility;
use crate::scene::*;
use crate::schedule::{Axis, Region};
use glam::{DMat4, DVec3};
use parking_lot::Mutex;
use shapes::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

mod layers;
mod pipelines;
mod shapes;
mod visibility;

struct Thing {
    shape: Shape,
    at: DMat4,
    colour: [f32; 3],
    opacity: f32,
}

pub(crate) fn camera(resolution: [u32; 2]) -> Camera {
    let aspect = f64::from(resolution[0]) / f64::from(resolution[1]);
    Camera {
        camera_from_world: Motion::still(DMat4::IDENTITY),
        projection: Projection::Perspective { fov_degrees: 40.0 },
        resolution,
        pixel_aspect: 1.0,
        screen_window: if aspect >= 1.0 {
            [-aspect, aspect, -1.0, 1.0]
        } else {
            [-1.0, 1.0, -1.0 / aspect, 1.0 / aspect]
        },
        crop_window: FORMAT_WINDOW,
        whole_window: FORMAT_WINDOW,
        clip: [0.1, 1000.0],
        clip_planes: Vec::new(),
        depth_of_field: None,
        shutter: [0.0, 0.0],
    }
}

pub(crate) fn options() -> Options {
    Options { pixel_samples: [4, 4], ..Options::default() }
}

fn attributes(thing: &Thing, rate: f32) -> Attributes {
    Attributes {
        color: thing.colour,
        opacity: [thing.opacity; 3],
        texture_coordinates: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
        surface: None,
        displacement: None,
        atmosphere: None,
        lights: Arc::new([]),
        shading_rate: rate,
        relative_shading_rate: 1.0,
        shading_interpolation: ShadingInterpolation::Constant,
        matte: false,
        two_sided: true,
        flip_normal: false,
        displacement_bound: None,
        name: "thing".into(),
        scoped_spaces: Arc::new([]),
        other: BTreeMap::new(),
    }
}

struct Setup {
    pipeline: Pipeline,
    page_bytes: u64,
    pages_bytes_max: u64,
    grid_residency: Option<GridResidency>,
    /// Bytes of the host's memory that lists of grids may take.
    list_bytes: u64,
    /// Whether another device draws than the one that counted.
    counts_elsewhere: bool,
    memory_bytes: u64,
    cuts: u32,
    rate: f32,
    samples: [u32; 2],
    perturb: Option<u64>,
    /// Whether a clipping plane cuts the world.
    clipped: bool,
    /// Whether colours are interpolated.
    smooth: bool,
    /// Whether everything moves while the shutter is open.
    moving: bool,
    /// What becomes of the depths of samples.
    depth_filter: DepthFilter,
    /// Whether everything is displaced, to wherever `facing` takes it.
    displaced: bool,
    /// Whether regions are drawn with the variants of kernels for GPUs.
    parallel: bool,
    /// How what samples see is kept for another drawing.
    visibility: Option<KeepVisibility>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            pipeline: Pipeline::ANTHILL,
            page_bytes: 64 << 20,
            pages_bytes_max: u64::MAX,
            grid_residency: None,
            list_bytes: u64::MAX,
            counts_elsewhere: false,
            memory_bytes: 512 << 20,
            cuts: 1,
            rate: 1.0,
            samples: [4, 4],
            perturb: None,
            clipped: false,
            smooth: false,
            moving: false,
            depth_filter: DepthFilter::Min,
            displaced: false,
            parallel: false,
            visibility: None,
        }
    }
}

fn picture(things: Vec<Thing>, resolution: [u32; 2], setup: &Setup) -> Picture {
    let mut params = Vec::new();
    let (mut drawables, mut looks) = (Vec::new(), Vec::new());
    for (seed, thing) in (0..).zip(things) {
        let block = params.len() as u32;
        params.push([thing.colour[0], thing.colour[1], thing.colour[2], 0.0]);
        params.push([thing.opacity; 4]);
        let program = Program { kernel: 0, block, inputs: Arc::new([]) };
        let verdict = if thing.opacity < 1.0 { Verdict::Translucent } else { Verdict::Opaque };
        let displace = setup.displaced.then(|| program.clone());
        looks.push(Arc::new(Look { verdict, displace, shade: Some(program), thin: false, bakes: false }));
        drawables.push(Drawable {
            attributes: Arc::new(Attributes {
                shading_interpolation: match setup.smooth {
                    true => ShadingInterpolation::Smooth,
                    false => ShadingInterpolation::Constant,
                },
                ..attributes(&thing, setup.rate)
            }),
            geometry: Arc::new(Geometry {
                shape: Motion::still(thing.shape),
                primvars: Vec::new(),
                location: Default::default(),
            }),
            world_from_object: Arc::new(pipelines::path(thing.at, setup.moving)),
            detail: [0, DETAIL_STEPS],
            solid: None,
            seed,
        });
    }
    let world = World {
        options: Options { pixel_samples: setup.samples, ..options() },
        camera: Camera {
            shutter: if setup.moving { [0.0, 1.0] } else { [0.0, 0.0] },
            clip_planes: if setup.clipped { vec![([0.0, 0.0, 9.0], [0.0, 0.0, 1.0])] } else { Vec::new() },
            ..camera(resolution)
        },
        drawables,
        lights: Vec::new(),
        solids: Vec::new(),
        spaces: Vec::new(),
        location: SourceLocation::default(),
        notes: Default::default(),
    };
    Picture {
        location: SourceLocation::default(),
        world: Arc::new(DrawnWorld::new(&world, &looks, setup.page_bytes)),
        kernels: vec![program()].into(),
        params: params.into(),
        inputs: None,
        space_table: 0,
        counters: Arc::default(),
        lookup_counters: 0,
        line_profile: None,
        widest_filter: world.options.filter,
        filtered: FilteredRecord::all(0, world.options.filter).into(),
        film_records: [0].into(),
        textures: PictureTextures::of(Default::default()),
        depth_filter: Some(setup.depth_filter),
        deep: None,
        bake_memory: Arc::new(BakeMemory::new(&HostMemory::new(u64::MAX))),
        variables: 0,
        composition: Composition::BY_OPACITY,
        pipelines: DevicePipelines::Fixed(setup.pipeline),
        in_flight: Some(2),
        keeps: Keeps::Nothing,
        is_last: false,
        reserve_bytes: 0,
        pages_bytes_max: setup.pages_bytes_max,
        grid_residency: setup.grid_residency,
        visibility: setup.visibility,
        perturb: setup.perturb,
        interrupt: Interrupt::default(),
        tally: Arc::default(),
    }
}

/// The device that draws.
const DEVICE: &str = "0";

/// Devices of earlier drawings, so that kernels are compiled once: those that draw as CPUs do, and those that draw as
/// GPUs.
static KEPT_DEVICES: LazyLock<[KeptDevices; 2]> = LazyLock::new(Default::default);

fn open_options(setup: &Setup) -> OpenOptions {
    let (memory_bytes, as_gpu) = (Some(setup.memory_bytes), AsGpu::from_environment().expect("known"));
    OpenOptions { validate: true, memory_bytes, as_gpu, ..OpenOptions::new(Arc::new(Reporter::silent())) }
}

struct DrawnPixels {
    pixels: Vec<[f32; 4]>,
    depths: Vec<f32>,
    grids: Arc<PictureGrids>,
    /// The most slabs of any region.
    slabs: u64,
    submissions: u64,
    culled_grids: u64,
    recalled_regions: u64,
    log: String,
    /// What regions submitted.
    recordings: Vec<Recording>,
    /// The labels of the kernels that were prepared.
    prepared: BTreeSet<String>,
}

/// A picture that has begun on a device.
struct BegunPicture {
    renderer: DeviceRenderer,
    picture: Arc<Picture>,
    grids: Arc<PictureGrids>,
    resolution: [u32; 2],
    open_options: OpenOptions,
}

/// Validation layers of 2023 keep devices in a table that no lock guards: no device is opened while another is at work.
static ALONE: Mutex<()> = Mutex::new(());

fn draw(things: Vec<Thing>, resolution: [u32; 2], setup: &Setup) -> DrawnPixels {
    let _alone = ALONE.lock();
    let mut begun = begin(things, resolution, setup);
    let mut film = draw_regions(&mut begun, setup, |_| {});
    let BegunPicture { renderer, picture, open_options, .. } = &begun;
    let variants = KernelVariants { serial: renderer.device().prefers_serial_kernels() && !setup.parallel };
    let displays = picture.displays();
    let mut prepared = kernels_of(&picture.world, &picture.kernels, &setup.pipeline, variants, &displays);
    prepared.extend(picture.kernels.iter().flat_map(|kernel| &kernel.passes).map(|pass| Arc::clone(&pass.kernel)));
    film.prepared = prepared.iter().map(|kernel| kernel.label().to_string()).collect();
    if !setup.parallel {
        nothing_else_was_compiled(renderer.device(), &open_options.compile_log, &prepared);
    }
    film.log += &format!("{:?}", renderer.device().stage_seconds());
    end(begun, setup);
    film
}

/// Counts the grids of a picture, and begins it.
fn begin(things: Vec<Thing>, resolution: [u32; 2], setup: &Setup) -> BegunPicture {
    let (open_options, kept) = (open_options(setup), &KEPT_DEVICES[usize::from(setup.parallel)]);
    let opening = kept.open_each(DEVICE, &open_options).expect("a device").remove(0);
    let picture = Arc::new(picture(things, resolution, setup));
    let mut renderer =
        DeviceRenderer::new(opening.device.expect("it opens"), Arc::clone(&picture), DeviceTracks::off())
            .expect("fits");
    let store = GridStore::new(&HostMemory::new(u64::MAX), setup.list_bytes);
    let mut runs = Vec::new();
    let shares = cut_into_shares(&picture.world.runs, 50_000);
    let mut left = shares.iter().enumerate();
    let mut keep = |_, grids, _| runs.push(SortedRun::of(grids, &store).expect("kept"));
    renderer.count(&mut || left.next(), &mut keep).expect("counted");
    if setup.counts_elsewhere {
        renderer = DeviceRenderer::new(renderer.finish(), Arc::clone(&picture), DeviceTracks::off()).expect("fits");
    }
    let (list, lost) = merge_runs(&runs, &store).expect("merged");
    let mut sums = GridSums::new(picture.world.frame.sampled_px, &picture.widest_filter);
    sums.add(&list).expect("read");
    let grids = Arc::new(PictureGrids { list, totals: sums.finish(), lost, ..PictureGrids::default() });
    renderer.begin_picture(&grids).expect("fits");
    if setup.parallel {
        renderer.use_variants(KernelVariants { serial: false });
    }
    BegunPicture { renderer, picture, grids, resolution, open_options }
}

/// Draws all regions of a picture that has begun. `meanwhile` is called before each step.
fn draw_regions(
    begun: &mut BegunPicture,
    setup: &Setup,
    mut meanwhile: impl FnMut(&mut DeviceRenderer),
) -> DrawnPixels {
    let ([width, height], renderer) = (begun.resolution, &mut begun.renderer);
    let mut film = DrawnPixels {
        pixels: vec![[f32::NAN; 4]; (width * height) as usize],
        depths: vec![f32::NAN; (width * height) as usize],
        grids: Arc::clone(&begun.grids),
        slabs: 0,
        submissions: 0,
        culled_grids: 0,
        recalled_regions: 0,
        log: String::new(),
        recordings: Vec::new(),
        prepared: BTreeSet::new(),
    };
    drop(recorded::take());
    let side = |n: u32, i: u32| i * n / setup.cuts;
    let mut todo: Vec<Region> = (0..setup.cuts * setup.cuts)
        .map(|i| (i % setup.cuts, i / setup.cuts))
        .map(|(i, j)| [side(width, i), side(height, j), side(width, i + 1), side(height, j + 1)])
        .filter_map(|px| Region::new(px.map(u32::cast_signed)))
        .collect();
    let mut flying = 0;
    while flying > 0 || !todo.is_empty() {
        while flying < 2
            && let Some(region) = todo.pop()
        {
            let samples = renderer.region_pixels(region).count() * 16;
            if samples > renderer.region_capacity().expect("begun").subpixels {
                let (start, end) = region.span(Axis::X);
                todo.extend(region.cut(Axis::X, (start + end) / 2).expect("a column fits"));
                continue;
            }
            renderer.begin(region).expect("begun");
            flying += 1;
        }
        meanwhile(renderer);
        match renderer.poll(Duration::from_secs(60)).expect("polled") {
            RegionPoll::Finished(region, result) => {
                flying -= 1;
                film.add(width, region, &result);
            }
            RegionPoll::TooLarge(region) => panic!("{region} too large"),
            RegionPoll::Advanced => {}
            RegionPoll::Waiting => panic!("hangs"),
        }
    }
    film.recordings = recorded::take();
    let empty: Vec<&Recording> = film.recordings.iter().filter(|recording| recording.work_count() == 0).collect();
    assert!(empty.is_empty(), "submissions that do nothing: {empty:?}");
    film
}

impl DrawnPixels {
    fn add(&mut self, width: u32, region: Region, result: &RegionResult) {
        let counts = &result.counts;
        self.log += &format!("{region} {counts:?}\n");
        self.slabs = self.slabs.max(counts.slabs);
        self.submissions += counts.submissions;
        self.culled_grids += counts.culled_grids;
        self.recalled_regions += counts.recalled_regions;
        let places = region.rows().flat_map(|y| region.columns().map(move |x| (x, y)));
        for (from, (x, y)) in places.enumerate() {
            let place = y as usize * width as usize + x as usize;
            self.pixels[place] = result.pixels[from];
            self.depths[place] = result.depths[from];
        }
    }
}

/// Keeps the device for the next picture.
fn end(BegunPicture { renderer, open_options, .. }: BegunPicture, setup: &Setup) {
    KEPT_DEVICES[usize::from(setup.parallel)].keep(DEVICE, &open_options, vec![renderer.finish()]);
    let messages: Vec<String> = open_options
        .reporter
        .all()
        .iter()
        .filter(|(d, _)| d.severity >= Severity::Warning)
        .map(|(d, _)| d.to_string())
        .collect();
    assert!(messages.is_empty(), "{messages:#?}");
}

/// Drawing compiled no kernel that was not prepared.
fn nothing_else_was_compiled(device: &Device, log: &CompileLog, prepared: &[Arc<Kernel>]) {
    let is_ready = |kernel: &Arc<Kernel>| device.is_ready(kernel, &[]).expect("it can be compiled");
    while !prepared.iter().all(is_ready) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let is_prepared = |compiled: &CompiledKernel| prepared.iter().any(|kernel| kernel.label() == compiled.kernel);
    let unprepared: Vec<CompiledKernel> = log.take().0.into_iter().filter(|compiled| !is_prepared(compiled)).collect();
    assert!(unprepared.is_empty(), "{unprepared:?}");
}

fn save(drawn: &DrawnPixels, [width, height]: [u32; 2], name: &str) {
    let Ok(folder) = std::env::var("ANTHILL_TEST_PICTURES") else { return };
    let file = std::fs::File::create(format!("{folder}/{name}.png")).expect("a file");
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("a header");
    let byte = |v: f32| (v.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0) as u8;
    let bytes: Vec<u8> = drawn.pixels.iter().flat_map(|p| [byte(p[0]), byte(p[1]), byte(p[2])]).collect();
    writer.write_image_data(&bytes).expect("written");
}

fn thing(shape: Shape, at: DMat4, colour: [f32; 3], opacity: f32) -> Thing {
    Thing { shape, at, colour, opacity }
}

fn placed(x: f64, y: f64, z: f64, turn: f64) -> DMat4 {
    DMat4::from_translation(DVec3::new(x, y, z)) * DMat4::from_rotation_x(turn) * DMat4::from_rotation_z(0.3 * turn)
}

/// Returns something of every kind, opaque and translucent.
fn menagerie() -> Vec<Thing> {
    vec![
        thing(patches(3), placed(0.0, -0.6, 6.0, -1.1) * DMat4::from_scale(DVec3::splat(2.5)), [0.5, 0.6, 0.5], 1.0),
        thing(sphere(0.7), placed(-1.6, 0.6, 6.0, 0.5), [1.0, 0.5, 0.2], 1.0),
        thing(
            quadric(
                QuadricShape::Torus { major: 0.6, minor: 0.25, phi_min: 0.0, phi_max: std::f32::consts::TAU },
                300.0,
            ),
            placed(0.0, 0.9, 6.0, 0.9),
            [0.3, 0.5, 1.0],
            1.0,
        ),
        thing(
            quadric(QuadricShape::Cone { height: 1.3, radius: 0.5 }, 360.0),
            placed(1.6, 0.2, 6.0, -1.4),
            [0.9, 0.9, 0.3],
            1.0,
        ),
        thing(
            quadric(QuadricShape::Hyperboloid { p1: [0.6, 0.0, -0.6], p2: [0.0, 0.6, 0.6] }, 360.0),
            placed(-0.9, -0.5, 5.0, 1.2),
            [0.8, 0.3, 0.8],
            1.0,
        ),
        thing(
            quadric(QuadricShape::Paraboloid { rmax: 0.5, zmin: 0.0, zmax: 0.8 }, 360.0),
            placed(0.9, -0.5, 5.0, -2.0),
            [0.3, 0.9, 0.8],
            1.0,
        ),
        thing(facets(5), placed(1.5, 1.2, 7.0, 0.4) * DMat4::from_scale(DVec3::splat(0.8)), [0.9, 0.7, 0.5], 1.0),
        thing(curves(60), placed(0.0, -0.9, 4.5, 0.0), [0.4, 0.9, 0.3], 1.0),
        thing(points(40), placed(-1.4, -0.9, 4.5, 0.0) * DMat4::from_scale(DVec3::splat(0.5)), [1.0, 0.4, 0.6], 1.0),
        thing(facets(1), placed(-0.8, 0.3, 4.0, 0.3), [0.2, 0.9, 0.9], 0.4),
        thing(sphere(0.5), placed(0.6, 0.3, 4.0, 0.0), [0.9, 0.2, 0.2], 0.5),
        thing(curves(40), placed(0.5, 0.4, 3.5, 0.2) * DMat4::from_scale(DVec3::splat(0.7)), [0.9, 0.9, 0.9], 0.3),
    ]
}

const SIZE: [u32; 2] = [160, 120];

#[test]
fn a_sphere_covers_its_silhouette() {
    let things = vec![thing(sphere(1.0), DMat4::from_translation(DVec3::new(0.0, 0.0, 5.0)), [1.0, 0.6, 0.3], 1.0)];
    let drawn = draw(things, SIZE, &Setup::default());
    save(&drawn, SIZE, "sphere");
    // The silhouette of a sphere of radius r at distance d is a circle of tan(asin(r/d)) = r / sqrt(d^2 - r^2) on the
    // screen plane.
    let radius_px = 60.0 / f64::tan(20_f64.to_radians()) / 24_f64.sqrt();
    let expected = std::f64::consts::PI * radius_px * radius_px;
    let alpha: f64 = drawn.pixels.iter().map(|p| f64::from(p[3])).sum();
    assert!((alpha / expected - 1.0).abs() < 0.005, "{alpha} for {expected}");
    let centre = drawn.depths[60 * 160 + 80];
    assert!((centre - 4.0).abs() < 0.005, "{centre}");
    // No cracks: every pixel well inside is covered to the last sample.
    let inside = |i: usize| {
        let (x, y) = ((i % 160) as f64 + 0.5 - 80.0, (i / 160) as f64 + 0.5 - 60.0);
        x.hypot(y) < radius_px - 3.0
    };
    let open: Vec<usize> = (0..drawn.pixels.len()).filter(|&i| inside(i) && drawn.pixels[i][3] != 1.0).collect();
    assert!(open.is_empty(), "pixels {open:?}");
}

fn paged(page_grids: u64, pages: u64) -> Option<GridResidency> {
    Some(GridResidency { page_grids, pages })
}

#[test]
fn the_picture_is_the_same_however_it_is_cut() {
    let reference = draw(menagerie(), SIZE, &Setup::default());
    save(&reference, SIZE, "menagerie");
    eprintln!("{} grids\n{}", reference.grids.list.len(), reference.log);
    let setups = [
        ("5x5 regions", Setup { cuts: 5, ..Setup::default() }),
        ("small pages", Setup { page_bytes: 4096, ..Setup::default() }),
        ("two small pages at a time", Setup { page_bytes: 4096, pages_bytes_max: 2 * 4096, ..Setup::default() }),
        ("one small page at a time", Setup { page_bytes: 4096, pages_bytes_max: 0, ..Setup::default() }),
        ("little memory", Setup { memory_bytes: 48 << 20, ..Setup::default() }),
        ("pages of 50 grids, three at a time", Setup { grid_residency: paged(50, 3), cuts: 3, ..Setup::default() }),
        ("one page of 7 grids at a time", Setup { grid_residency: paged(7, 1), ..Setup::default() }),
        ("a list in a file", Setup { grid_residency: paged(50, 3), list_bytes: 0, ..Setup::default() }),
        ("tiny submissions", Setup { perturb: Some(1), ..Setup::default() }),
        ("other tiny submissions, small regions", Setup { perturb: Some(2), cuts: 3, ..Setup::default() }),
        ("reordered", Setup { pipeline: pipelines::reordered(), ..Setup::default() }),
        (
            "reordered, tiny submissions",
            Setup { pipeline: pipelines::reordered(), perturb: Some(3), ..Setup::default() },
        ),
    ];
    let named = |one: &NamedPipeline| (one.name, Setup { pipeline: one.colours, ..Setup::default() });
    for (name, setup) in setups.into_iter().chain(CATALOGUE.iter().map(named)) {
        let drawn = draw(menagerie(), SIZE, &setup);
        same(&drawn, &reference, name);
        let cut = drawn.submissions > reference.submissions * u64::from(setup.cuts * setup.cuts);
        assert!(cut || setup.perturb.is_none(), "{name}: {} submissions", drawn.submissions);
    }
}

/// The formula of docs/cost.md, for one page of grids, one load to hide, to sample and to shade, one slab and one
/// round.
#[test]
fn a_small_region_takes_as_many_submissions_as_the_formula_says() {
    let ball = |z: f64, opacity: f32| thing(sphere(1.0), placed(0.0, 0.0, z, 0.0), [0.9; 3], opacity);
    for (things, submissions) in [(vec![ball(5.0, 1.0)], 5), (vec![ball(5.0, 1.0), ball(4.0, 0.5)], 10)] {
        let drawn = draw(things, [24, 24], &Setup::default());
        assert_eq!(drawn.submissions, submissions, "{}", drawn.log);
    }
}

/// Another device may have counted, so geometry is uploaded after regions got their memory: some must be left for it.
#[test]
fn regions_leave_room_for_geometry_that_is_uploaded_late() {
    let mesh = || vec![thing(patches(60), placed(0.0, 0.0, 6.0, 0.1), [0.5, 0.6, 0.5], 1.0)];
    let reference = draw(mesh(), SIZE, &Setup::default());
    // The list fills the block that small things are in.
    let setup = |mib: u64| Setup {
        memory_bytes: mib << 20,
        grid_residency: paged(68_000, 1),
        counts_elsewhere: true,
        ..Setup::default()
    };
    for mib in [20, 25, 30] {
        same(&draw(mesh(), SIZE, &setup(mib)), &reference, &format!("{mib} MiB"));
    }
}

fn same(drawn: &DrawnPixels, reference: &DrawnPixels, name: &str) {
    let differs = |i: &usize| drawn.pixels[*i].map(f32::to_bits) != reference.pixels[*i].map(f32::to_bits);
    let wrong: Vec<usize> = (0..drawn.pixels.len()).filter(differs).collect();
    wrong.first().inspect(|_| save(drawn, SIZE, "differs"));
    assert!(wrong.is_empty(), "{name}: {} pixels differ, first {:?}\n{}", wrong.len(), wrong[0], drawn.log);
    assert!(drawn.depths == reference.depths, "{name}: depths differ");
}

/// Grids are shaded in another order than they are sampled in: the second slab must not use the order of the first.
#[test]
fn slabs_do_not_show_among_opaque_and_translucent_things() {
    let cloud = || {
        let large = DMat4::from_scale(DVec3::splat(2.0));
        vec![
            thing(points(150), placed(0.1, 0.0, 5.0, 0.7) * large, [0.9, 0.9, 0.5], 1.0),
            thing(points(3000), placed(0.0, 0.0, 5.0, 0.2) * large, [0.9, 0.3, 0.6], 0.1),
            thing(curves(300), placed(0.0, 0.0, 5.0, 0.4) * large, [0.3, 0.6, 0.9], 0.2),
            thing(patches(3), placed(0.0, 0.0, 6.0, 0.1) * large, [0.5, 0.6, 0.5], 1.0),
        ]
    };
    let reference = draw(cloud(), SIZE, &Setup { memory_bytes: 1 << 30, ..Setup::default() });
    save(&reference, SIZE, "cloud");
    let drawn = draw(cloud(), SIZE, &Setup { memory_bytes: 16 << 20, ..Setup::default() });
    assert!(reference.slabs == 1 && drawn.slabs > 1, "slabs: {} and {}", reference.slabs, drawn.slabs);
    same(&drawn, &reference, "many slabs");
}

//! Primitive variables of every class and kind on diced grids, and the work records of compiled programs.

use super::grids::{Split, arm, dims, region_for, split};
use super::lab::Lab;
use super::random::Random;
use super::scene::{Loaded, Scene, Thing};
use super::zoo;
use crate::reference::edge;
use crate::reference::primvar::value;
use anthill::pipeline::buffers::{GeometrySources, Vec4};
use anthill::pipeline::geometry::PrimitiveKind;
use anthill::pipeline::kernels::constants::{
    SLOT_FLAGS_SHIFT, SLOT_NV_SHIFT, WORK_SNAPPED_U0, WORK_SNAPPED_U1, WORK_SNAPPED_V0, WORK_SNAPPED_V1,
};
use anthill::pipeline::kernels::records::{Slot, Subpatch};
use anthill::pipeline::kernels::test::facing;
use anthill::pipeline::look::{InputBinding, Program, ShadingKernel};
use anthill::pipeline::piece::{ListRecords, Piece, RegionPiece};
use anthill::pipeline::program::{self, LoopRun, ProgramKind, ProgramPlaces, ProgramRun};
use anthill::scene::{Class, Primvar, PrimvarData, Shape, ValueType};
use std::collections::HashMap;
use std::sync::Arc;

/// How many values of a class a shape has.
fn value_count(shape: &Shape, class: Class) -> usize {
    let highest = |indices: &mut dyn Iterator<Item = u32>| indices.max().map_or(0, |i| i as usize + 1);
    match (class, shape) {
        (Class::Constant, _) => 1,
        (Class::Uniform, Shape::Facets(facets)) => highest(&mut facets.face.iter().copied()),
        (Class::Uniform, Shape::Patches(patches)) => highest(&mut patches.face.iter().copied()),
        (Class::Uniform, Shape::Curves(curves)) => highest(&mut curves.face.iter().copied()),
        (Class::Uniform, Shape::Limit(patches)) => highest(&mut patches.face.iter().copied()),
        (Class::Uniform, _) => 1,
        (_, Shape::Quadric(_)) => 4,
        (_, Shape::Points(points)) => points.positions.len(),
        (_, Shape::Blobs(blobs)) => blobs.positions.len(),
        (Class::FaceVarying, Shape::Facets(facets)) => highest(&mut facets.face_corners.iter().flatten().copied()),
        (_, Shape::Facets(facets)) => facets.positions.len(),
        (Class::Vertex, Shape::Patches(patches)) => patches.control.len(),
        (Class::Vertex, Shape::Limit(patches)) => patches.control.len(),
        (_, Shape::Limit(patches)) => patches.corner_count() * patches.face.len(),
        (_, Shape::Patches(patches)) => highest(&mut patches.corners.iter().flatten().copied()),
        (Class::Vertex, Shape::Curves(curves)) if curves.cubic => curves.control.len(),
        (_, Shape::Curves(curves)) => highest(&mut curves.ends.iter().flatten().copied()),
    }
}

const CLASSES: [Class; 5] = [Class::Constant, Class::Uniform, Class::Varying, Class::Vertex, Class::FaceVarying];

/// A primvar of every class, of different types; one is an array.
fn primvars(shape: &Shape, seed: u64) -> Vec<Primvar> {
    let mut random = Random::new(seed);
    let types = [ValueType::Float, ValueType::Color, ValueType::Point, ValueType::Vector, ValueType::Normal];
    let primvar = |(i, class): (usize, Class)| {
        let ty = types[(i + seed as usize) % types.len()];
        let array_len = if ty == ValueType::Float { 3 } else { 1 };
        let count = value_count(shape, class) * ty.floats() * array_len;
        let data = PrimvarData::Floats((0..count).map(|_| random.float(-2.0, 2.0)).collect());
        Primvar { name: format!("p{i}").into(), class, ty, array_len: array_len as u32, data }
    };
    CLASSES.into_iter().enumerate().map(primvar).collect()
}

/// Where the inputs of the program are: primvar `i` (all its floats, at most 3) in channel 4 + i; its second float also
/// in the last component of channel 9, and that of the constant and uniform ones in uniform inputs 0 and 1.
fn inputs(primvars: &[Primvar]) -> Vec<InputBinding> {
    let input = |i: u32, floats: u32, first: u32, channel: u32, component: u32, uniform: bool| InputBinding {
        primvar: format!("p{i}").into(),
        uniform,
        channel,
        component,
        first,
        floats,
        // Parts of points and the like are numbers.
        meaning: if floats == 3 { primvars[i as usize].ty } else { ValueType::Float },
    };
    let mut inputs: Vec<InputBinding> = (0..5).map(|i| input(i, 3, 0, 4 + i, 0, false)).collect();
    inputs.push(input(2, 1, 1, 9, 3, false));
    inputs.push(input(3, 1, 2, 9, 0, false));
    inputs.extend((0..2).map(|i| input(i, 3, 0, i, 0, true)));
    inputs
}

const CHANNELS: u32 = 10;
const UNIFORMS: u32 = 2;

fn program_kernel() -> ShadingKernel {
    ShadingKernel {
        passes: vec![Arc::clone(facing::kernel()).into()],
        pass_channels: 0,
        geometry_channels: 0,
        velocity_channel: None,
        input_channels: CHANNELS,
        uniform_records: UNIFORMS,
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

fn scene(displaced: bool) -> Scene {
    let mut things = zoo::everything();
    for (i, thing) in (0..).zip(&mut things) {
        // Array elements go one by one: nothing is a point there.
        thing.primvars = primvars(&thing.shape, i);
        let inputs = inputs(&thing.primvars).into();
        let program = Some(Program { kernel: 0, block: 7 + i as u32, inputs });
        if displaced { thing.look.displace = program } else { thing.look.shade = program }
    }
    zoo::scene(things, true)
}

/// What a program over some grids found: its slots of 256 vertices, one after the other in each channel.
struct ProgramOutput {
    arena: Vec<Vec4>,
    work: Vec<[u32; 4]>,
    piece: Piece,
    uniform_base: u32,
}

fn run(
    lab: &mut Lab,
    loaded: &Loaded,
    split: &Split,
    chunk: &[usize],
    kinds: (ProgramKind, PrimitiveKind),
) -> ProgramOutput {
    let (kind, primitives) = kinds;
    let region = region_for(lab, &split.grids, 4 * chunk.len() as u64);
    let slices = region.slices;
    let slot = |&grid: &usize| {
        let (nu, nv) = dims(&split.grids[grid]);
        let instance = split.grids[grid].instance;
        Slot { dims: nu | nv << SLOT_NV_SHIFT, rank: grid as u32, instance, ..Slot::default() }
    };
    let slots: Vec<Slot> = chunk.iter().map(slot).collect();
    lab.write(slices.slots.part(0..slots.len() as u64), &slots);
    let lists = region.capacity.arena as u32 - ListRecords::of(8).all() * chunk.len() as u32;
    let piece = Piece { number: 0, slot_base: 0, slot_log2: 8, slot_count: chunk.len() as u32, lists, base: 0 };
    arm(lab, &slices, &piece, &chunk.iter().map(|&grid| split.grids[grid].micropolygons()).collect::<Vec<_>>());
    let vertices = piece.vertices();
    let places = ProgramPlaces {
        input_base: 0,
        undisplaced_base: 0,
        output_base: CHANNELS * vertices,
        uniform_base: (CHANNELS + 2) * vertices,
    };
    let mut frame = loaded.frame;
    frame.params = lab.upload("params", &[[1.0_f32; 4]; 64]);
    let program = program_kernel();
    lab.run(|recording| {
        recording.fill(slices.arena, f32::NAN.to_bits());
        recording.fill(slices.work, 0xcdcd_cdcd);
        let sources = GeometrySources { frame: &frame, page: loaded.page };
        let loops = LoopRun::plain(1);
        let run = ProgramRun { kind, kernel: &program, primitives, primvars: true, places, loops };
        program::record(recording, &RegionPiece { region: &region, sources, piece }, &run);
    });
    ProgramOutput {
        arena: lab.read(slices.arena),
        work: lab.read(slices.work),
        piece,
        uniform_base: places.uniform_base,
    }
}

impl ProgramOutput {
    fn input(&self, slot: usize, vertex: usize, channel: u32) -> Vec4 {
        self.arena[((channel * self.piece.slot_count) as usize + slot) * 256 + vertex]
    }

    fn uniform(&self, slot: usize, number: u32) -> Vec4 {
        self.arena[(self.uniform_base + slot as u32 * UNIFORMS + number) as usize]
    }
}

fn near(found: &[f32], expected: &[f64]) -> bool {
    found.iter().zip(expected).all(|(a, b)| (f64::from(*a) - b).abs() < 2e-5 * (1.0 + b.abs()))
}

#[test]
fn every_class_spreads_over_every_kind_as_defined() {
    for displaced in [false, true] {
        let mut lab = Lab::new();
        let scene = scene(displaced);
        let loaded = scene.load(&mut lab);
        let split = split(&mut lab, &scene, &loaded);
        let kind = if displaced { ProgramKind::Displacement } else { ProgramKind::Colour };
        for (primitives, grids) in scene.by_kind(&split.grids) {
            let some: Vec<usize> = grids.into_iter().step_by(3).collect();
            for chunk in some.chunks(256) {
                let run = run(&mut lab, &loaded, &split, chunk, (kind, primitives));
                for (slot, &grid) in chunk.iter().enumerate() {
                    check_grid(&run, slot, &scene.things, &scene, &split.grids[grid]);
                }
            }
        }
    }
}

fn check_grid(run: &ProgramOutput, slot: usize, things: &[Thing], scene: &Scene, grid: &Subpatch) {
    let thing = &things[scene.thing(grid.instance).0];
    let primitive = scene.surface(grid).primitive;
    let (nu, nv) = dims(grid);
    for (j, i) in (0..=nv).flat_map(|j| (0..=nu).map(move |i| (j, i))) {
        let vertex = (j * (nu + 1) + i) as usize;
        let uv = edge::vertex(grid, i, j).map(edge::number);
        let of = |n: usize| value(&thing.shape, &thing.primvars[n], thing.camera_from_object, primitive, uv);
        for n in 0..5 {
            let (found, expected) = (run.input(slot, vertex, 4 + n as u32), of(n));
            assert!(near(&found[..3], &expected), "{:?} at {uv:?}: {found:?} for {expected:?}", thing.primvars[n]);
        }
        // Parts of points and the like are taken as they are, not transformed: only whole values have a space.
        let parts = run.input(slot, vertex, 9);
        for (component, n, first) in [(3, 2, 1), (0, 3, 2)] {
            if matches!(thing.primvars[n].ty, ValueType::Float | ValueType::Color) {
                assert!(near(&parts[component..], &of(n)[first..=first]), "{parts:?}");
            }
        }
        assert!(parts[1].is_nan() && parts[2].is_nan(), "{parts:?}: nothing goes there");
    }
    for n in 0..2 {
        let expected = value(&thing.shape, &thing.primvars[n], thing.camera_from_object, primitive, [0.0; 2]);
        let found = run.uniform(slot, n as u32);
        assert!(near(&found[..3], &expected), "uniform {n}: {found:?} for {expected:?}");
    }
}

#[test]
fn work_records_say_what_a_program_must_know_of_its_grid() {
    let mut lab = Lab::new();
    let scene = scene(false);
    let loaded = scene.load(&mut lab);
    let split = split(&mut lab, &scene, &loaded);
    let grids = scene.by_kind(&split.grids);
    let mut seeds = HashMap::new();
    for (primitives, chunk) in grids.iter().flat_map(|(kind, grids)| grids.chunks(256).map(|chunk| (*kind, chunk))) {
        let run = run(&mut lab, &loaded, &split, chunk, (ProgramKind::Colour, primitives));
        for (slot, &grid) in chunk.iter().enumerate() {
            let grid = &split.grids[grid];
            check_work(&run, slot, &scene, grid);
            if let Some(other) = seeds.insert(run.work[2 * slot][2], *grid) {
                panic!("{grid:?} and {other:?} have the same seed");
            }
        }
    }
}

fn check_work(run: &ProgramOutput, slot: usize, scene: &Scene, grid: &Subpatch) {
    let [first, second] = [run.work[2 * slot], run.work[2 * slot + 1]];
    let (nu, nv) = dims(grid);
    assert_eq!((first[0] & 0xff, (first[0] >> SLOT_NV_SHIFT) & 0xff), (nu, nv));
    assert_eq!(
        (first[1], first[3]),
        (7 + scene.thing(grid.instance).0 as u32, run.uniform_base + UNIFORMS * slot as u32)
    );
    let [u0, v0, u1, v1] = edge::rectangle(grid).map(edge::number);
    let [ru0, rv0, ru1, rv1] = scene.drawn.pages[0].primitives[grid.primitive as usize].uv_range.map(f64::from);
    let steps = [(u1 - u0) * (ru1 - ru0) / f64::from(nu), (v1 - v0) * (rv1 - rv0) / f64::from(nv)];
    assert!(near(&[f32::from_bits(second[0]), f32::from_bits(second[1])], &steps), "{second:?} for {steps:?}");
    // Flags of borders (v0, v1, u0, u1): set wherever vertices are not regular.
    let regular_u = |j| {
        (0..=nu).all(|i| {
            (edge::number(edge::vertex(grid, i, j)[0]) - u0 - (u1 - u0) * f64::from(i) / f64::from(nu)).abs() < 1e-12
        })
    };
    let regular_v = |i| {
        (0..=nv).all(|j| {
            (edge::number(edge::vertex(grid, i, j)[1]) - v0 - (v1 - v0) * f64::from(j) / f64::from(nv)).abs() < 1e-12
        })
    };
    let flags = [WORK_SNAPPED_V0, WORK_SNAPPED_V1, WORK_SNAPPED_U0, WORK_SNAPPED_U1];
    for (flag, regular) in [regular_u(0), regular_u(nv), regular_v(0), regular_v(nu)].into_iter().enumerate() {
        let set = first[0] >> SLOT_FLAGS_SHIFT & flags[flag] != 0;
        assert!(set || regular, "border {flag} of {grid:?}");
        let part_of_leaf = edge::edges(grid)[flag].leaf_level != edge::levels(grid)[flag / 2];
        assert!(!set || !regular || part_of_leaf, "border {flag} of {grid:?} is regular");
    }
}

//! Whole pipelines: random surfaces under random lights, composed, bound and run on the device, against the interpreter
//! on the shaders as they were. What has no library functions in it must agree to the bit.

use crate::generate::{Features, Random, grid, program, scene};
use crate::pack::ShadedGrid;
use crate::test_pipeline::{RunMode, TestPipeline};
use spirv_gen::abi::LOOP_TRIPS_MAX;
use spirv_gen::compose::{Binding, ShaderUse};
use spirv_gen::interp::shade;
use spirv_gen::ir::{Const, RslType, Shader, ShaderKind, print, print_region};
use spirv_gen::partition::ForcedCut;

const EXACT: Features =
    Features { derivatives: true, lights: true, loops: true, arrays: true, noise: true, library: false };

pub(crate) fn close(a: &Const, b: &Const, tolerance: f32) -> bool {
    let floats = |c: &Const| match c {
        Const::F32(x) => vec![*x],
        Const::Vec3(x) => x.to_vec(),
        _ => Vec::new(),
    };
    let near = |(x, y): (f32, f32)| {
        x.to_bits() == y.to_bits()
            || (x.is_nan() && y.is_nan())
            || (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1e-3)
    };
    floats(a).into_iter().zip(floats(b)).all(near)
}

struct Case {
    surface: Shader,
    lights: Vec<Shader>,
    seed: u64,
}

/// What running a case came to.
struct Differences {
    /// The share of values that differ by more than the tolerance.
    share: f64,
    dispatches: u32,
    passes: usize,
}

impl Case {
    fn new(seed: u64, features: Features) -> Self {
        let mut random = Random::new(seed);
        let light_features = Features { lights: false, derivatives: seed.is_multiple_of(4), ..features };
        let kinds = [ShaderKind::Light, ShaderKind::AmbientLight, ShaderKind::Light];
        let count = random.below(kinds.len() + 1);
        let lights = kinds[..count].iter().map(|&kind| program(&mut random, kind, 10, light_features)).collect();
        let size = 10 + random.below(50);
        let surface = program(&mut random, ShaderKind::Surface, size, features);
        Self { surface, lights, seed }
    }

    /// Runs everything; the share of values that differ by more than the tolerance.
    fn differences(&self, tolerance: f32) -> f64 {
        self.differences_of(tolerance, None, None).share
    }

    /// The same where loops stop after `trips` trips in a dispatch, and the program is cut into passes.
    fn differences_of(&self, tolerance: f32, trips: Option<u32>, cut: Option<ForcedCut>) -> Differences {
        let mut random = Random::new(self.seed ^ 0xabcd);
        let count = 1 + random.below(4);
        let shaded: Vec<ShadedGrid<'_>> = (0..count)
            .map(|_| {
                let grid = grid(&mut random);
                let scene = scene(&mut random, &grid, &self.lights);
                ShadedGrid { grid, scene, others: Vec::new() }
            })
            .collect();
        let names = [("Ci", RslType::Color), ("Oi", RslType::Color), ("extra", RslType::Float)];
        let mut pipeline = TestPipeline::surface(&self.surface, &self.lights, &names);
        let k = [Binding::Block, Binding::UniformInput][random.below(2)].clone();
        pipeline.surface = Some(ShaderUse { shader: &self.surface, bindings: vec![k, Binding::VaryingInput] });
        let (resume, trips) = (trips.is_some(), trips.unwrap_or(LOOP_TRIPS_MAX));
        let ran = pipeline.run_as(&shaded, RunMode { trips, resume, interpret: true, cut });
        let (mut wrong, mut all) = (0, 0);
        for (slot, shaded) in shaded.iter().enumerate() {
            let named = shade(&self.surface, &shaded.scene, &shaded.grid).0;
            for (i, (name, a)) in named.iter().enumerate() {
                let (b, c) = (&ran.bound[slot][i], &ran.on_device[slot][i]);
                for vertex in 0..shaded.grid.vertices() {
                    let (a, b, c) = (&a[vertex], &b[vertex], &c[vertex]);
                    all += 1;
                    let same = close(a, b, tolerance) && close(b, c, tolerance);
                    wrong += usize::from(!same);
                    let body = &ran.composed.body;
                    assert!(
                        same || tolerance > 0.0,
                        "seed {}: {name} at slot {slot} vertex {vertex} of {:?}: shader {a}, bound {b}, device {c}\n{}\n->\n{}",
                        self.seed,
                        shaded.grid,
                        self.what(),
                        print_region(body, body.root())
                    );
                }
            }
        }
        Differences { share: wrong as f64 / all as f64, dispatches: ran.dispatches, passes: ran.passes }
    }

    fn what(&self) -> String {
        self.lights.iter().chain([&self.surface]).map(print).collect()
    }
}

#[test]
fn random_pipelines_agree_to_the_bit() {
    for seed in 0..60 {
        Case::new(seed, EXACT).differences(0.0);
    }
}

#[test]
fn random_pipelines_agree_to_the_bit_however_often_their_loops_stop() {
    let mut dispatches = 0;
    for seed in 0..150 {
        dispatches +=
            Case::new(seed, EXACT).differences_of(0.0, Some([4, 5, 6, 9][seed as usize % 4]), None).dispatches;
    }
    assert!(dispatches > 170, "{dispatches} dispatches of 150 programs");
}

#[test]
fn random_pipelines_cut_into_passes_agree_to_the_bit() {
    for passes in [2, 5] {
        let cut = (0..40)
            .map(|seed| Case::new(seed, EXACT).differences_of(0.0, None, Some(ForcedCut::Passes(passes))).passes);
        let counts: Vec<usize> = cut.collect();
        let as_asked = counts.iter().filter(|&&count| count >= passes as usize).count();
        assert!(as_asked > 20, "cut into {passes}: {counts:?}");
    }
}

#[test]
fn random_pipelines_cut_into_passes_agree_to_the_bit_however_often_their_loops_stop() {
    let (mut dispatches, mut most) = (0, 0);
    for seed in 0..60 {
        let trips = [4, 5, 6, 9][seed as usize % 4];
        let found =
            Case::new(seed, EXACT).differences_of(0.0, Some(trips), Some(ForcedCut::Passes([2, 5][seed as usize % 2])));
        dispatches += found.dispatches;
        most = most.max(found.passes);
    }
    assert!(dispatches > 72 && most >= 5, "{dispatches} dispatches of 60 programs, {most} passes");
}

#[test]
fn random_pipelines_with_library_functions_agree_closely() {
    let features = Features { library: true, ..EXACT };
    let mut worst = (0.0f64, 0);
    for seed in 100..130 {
        let share = Case::new(seed, features).differences(1e-3);
        if share > worst.0 {
            worst = (share, seed);
        }
    }
    // A last place may decide a comparison; that must stay rare.
    assert!(worst.0 < 0.02, "{} of the values differ, seed {}", worst.0, worst.1);
}

//! Whole pipelines: random surfaces under random lights, composed, bound and run on the device, against the interpreter
//! on the shaders as they were. What has no library functions in it must agree to the bit.

use crate::generate::{Features, Random, grid, program, scene};
use crate::generate_text;
use crate::pack::ShadedGrid;
use crate::test_pipeline::{RunMode, TestPipeline};
use crate::textures::{NAMES, TestTextures};
use spirv_gen::abi::LOOP_TRIPS_MAX;
use spirv_gen::compose::{Binding, ShaderUse};
use spirv_gen::diagnostic::Severity;
use spirv_gen::interp::{Column, shade};
use spirv_gen::ir::{Const, RslType, Shader, ShaderKind, print, print_region, verify};
use spirv_gen::partition::ForcedCut;
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shaders};
use std::ops::Range;

/// What the pipelines compute.
const OUTPUTS: [(&str, RslType); 3] = [("Ci", RslType::Color), ("Oi", RslType::Color), ("extra", RslType::Float)];

const EXACT: Features = Features {
    derivatives: true,
    lights: true,
    loops: true,
    arrays: true,
    noise: true,
    library: false,
    repeats: false,
    modes: false,
};

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

/// Returns the shader of a text, or what is wrong with it.
fn written(text: &str) -> Result<Shader, String> {
    let parsed = parse_shaders(&Source { name: "generated.sl", text, loader: &NoIncludes, defines: &[] });
    let errors = parsed.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    let shader = parsed.shaders.first().ok_or_else(|| errors.map(ToString::to_string).collect::<String>())?;
    let shader = lower(shader);
    verify(&shader).map_err(|error| format!("{error}\n{}", print(&shader)))?;
    Ok(shader)
}

/// The lights and the surface that belong to a seed.
fn generated_texts(seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let count = random.below(4);
    let mut texts: Vec<_> = (0..count).map(|i| generate_text::light(&mut random, i != 1)).collect();
    texts.push(generate_text::surface(&mut random));
    texts
}

/// Returns the seeds that the environment names as `ANTHILL_RANDOM_SEEDS=from..to`, or else these.
fn seeds(few: Range<u64>) -> Range<u64> {
    let Ok(named) = std::env::var("ANTHILL_RANDOM_SEEDS") else { return few };
    let range = named.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.unwrap_or_else(|| panic!("`{named}` is no range of seeds"))
}

struct Case {
    surface: Shader,
    lights: Vec<Shader>,
    seed: u64,
    looks_up: bool,
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
        Self { surface, lights, seed, looks_up: false }
    }

    /// Shaders that are written as text, lights first.
    fn of_texts(texts: &[String], seed: u64) -> Result<Self, String> {
        let mut lights: Vec<Shader> = texts.iter().map(|text| written(text)).collect::<Result<_, _>>()?;
        let surface = lights.pop().ok_or("a surface")?;
        Ok(Self { surface, lights, seed, looks_up: true })
    }

    fn of_text(seed: u64) -> Self {
        let texts = generated_texts(seed);
        Self::of_texts(&texts, seed).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{}", texts.concat()))
    }

    /// Runs everything; the share of values that differ by more than the tolerance.
    fn differences(&self, tolerance: f32) -> f64 {
        self.differences_of(tolerance, None, None).share
    }

    /// The same where loops stop after `trips` trips in a dispatch, and the program is cut into passes.
    fn differences_of(&self, tolerance: f32, trips: Option<u32>, cut: Option<ForcedCut>) -> Differences {
        let mut random = Random::new(self.seed ^ 0xabcd);
        let textures = self.looks_up.then(TestTextures::new);
        let shaded = self.shaded(&mut random, textures.as_ref());
        let k = [Binding::Block, Binding::UniformInput][random.below(2)].clone();
        let pipeline = self.pipeline(k, textures.as_ref());
        let (resume, trips) = (trips.is_some(), trips.unwrap_or(LOOP_TRIPS_MAX));
        let ran = pipeline.run_as(&shaded, RunMode { trips, resume, interpret: true, cut, decides: false });
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

    /// Returns the pipeline, with the surface's parameter `k` bound like this.
    fn pipeline<'c>(&'c self, k: Binding, textures: Option<&'c TestTextures>) -> TestPipeline<'c> {
        let surface = ShaderUse { shader: &self.surface, bindings: vec![k, Binding::VaryingInput] };
        let pipeline = TestPipeline::surface(&self.surface, &self.lights, &OUTPUTS);
        TestPipeline { textures, surface: Some(surface), ..pipeline }
    }

    /// Returns some grids.
    fn shaded<'c>(&'c self, random: &mut Random, textures: Option<&'c TestTextures>) -> Vec<ShadedGrid<'c>> {
        let count = 1 + random.below(4);
        let shaded = |_| {
            let grid = grid(random);
            let mut scene = scene(random, &grid, &self.lights);
            // The language leaves the order of lights open; a kernel has them kind by kind.
            scene.lights.sort_by_key(|light| self.lights.iter().position(|kind| std::ptr::eq(kind, light.shader)));
            if let Some(textures) = textures {
                scene.textures = Some(textures);
                NAMES.iter().for_each(|name| _ = scene.intern(name));
            }
            ShadedGrid { grid, scene, others: Vec::new() }
        };
        (0..count).map(shaded).collect()
    }

    /// Checks that the program for what some grids agree on leaves the same bits as the one for all, and returns the
    /// number of conditions that this decided.
    fn check_decided(&self, trips: Option<u32>) -> usize {
        let mut random = Random::new(self.seed ^ 0xabcd);
        let textures = self.looks_up.then(TestTextures::new);
        let shaded = self.shaded(&mut random, textures.as_ref());
        let pipeline = self.pipeline(Binding::Block, textures.as_ref());
        let (resume, trips) = (trips.is_some(), trips.unwrap_or(LOOP_TRIPS_MAX));
        let run = |decides| pipeline.run_as(&shaded, RunMode { trips, resume, interpret: false, cut: None, decides });
        let [all, decided] = [false, true].map(run);
        let bits = |columns: &[Vec<Column>]| format!("{columns:?}");
        assert!(
            bits(&all.on_device) == bits(&decided.on_device),
            "seed {}: a program for {} decisions computes something else\n{}",
            self.seed,
            decided.decided,
            self.what()
        );
        decided.decided
    }

    fn what(&self) -> String {
        self.lights.iter().chain([&self.surface]).map(print).collect()
    }
}

#[test]
fn random_pipelines_agree_to_the_bit() {
    for seed in seeds(0..60) {
        Case::new(seed, EXACT).differences(0.0);
    }
}

/// Calls that differ in constants alone are rolled into loops, also where these stop.
#[test]
fn repeated_calls_agree_to_the_bit() {
    let features = Features { repeats: true, ..EXACT };
    for seed in seeds(500..560) {
        let features = Features { derivatives: seed % 2 == 0, lights: seed % 3 == 0, ..features };
        Case::new(seed, features).differences_of(0.0, if seed % 5 == 0 { Some(9) } else { None }, None);
    }
}

#[test]
fn random_texts_agree_to_the_bit() {
    for seed in seeds(0..10) {
        Case::of_text(seed).differences(0.0);
    }
}

#[test]
fn random_texts_agree_to_the_bit_however_often_their_loops_stop() {
    for seed in seeds(0..5) {
        Case::of_text(seed).differences_of(0.0, Some([20, 25, 30, 45][seed as usize % 4]), None);
    }
}

/// Lookups count as many trips, and so do loops around: a dispatch makes at least one trip all the same.
#[test]
fn loops_get_on_however_few_trips_a_dispatch_has() {
    let surface = "surface stops(uniform float k = 1; varying color tint = 1; output varying float extra = 0;) {
        float a, b;
        for (a = 0; a < 2 + u; a += 1) {
            extra += shadow(\"depth.tx\", P, \"samples\", 4);
            for (b = 0; b < 3 * v; b += 1) extra += 0.25 * shadow(\"depth.tx\", P + b, \"samples\", 4);
            if (u > 0.5) extra += Du(extra * t);
        }
        Ci = extra; Oi = 1;
    }";
    let case = Case::of_texts(&[surface.to_owned()], 1).unwrap_or_else(|why| panic!("{why}"));
    assert!(case.differences_of(0.0, Some(1), None).dispatches > 9);
}

#[test]
fn random_pipelines_agree_to_the_bit_however_often_their_loops_stop() {
    let mut dispatches = 0;
    for seed in seeds(0..150) {
        dispatches +=
            Case::new(seed, EXACT).differences_of(0.0, Some([4, 5, 6, 9][seed as usize % 4]), None).dispatches;
    }
    assert!(dispatches > 170, "{dispatches} dispatches of 150 programs");
}

#[test]
fn random_pipelines_cut_into_passes_agree_to_the_bit() {
    for passes in [2, 5] {
        let cut = seeds(0..40)
            .map(|seed| Case::new(seed, EXACT).differences_of(0.0, None, Some(ForcedCut::Passes(passes))).passes);
        let counts: Vec<usize> = cut.collect();
        let as_asked = counts.iter().filter(|&&count| count >= passes as usize).count();
        assert!(as_asked > 20, "cut into {passes}: {counts:?}");
    }
}

#[test]
fn random_pipelines_cut_into_passes_agree_to_the_bit_however_often_their_loops_stop() {
    let (mut dispatches, mut most) = (0, 0);
    for seed in seeds(0..60) {
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
    for seed in seeds(100..130) {
        let share = Case::new(seed, features).differences(1e-3);
        if share > worst.0 {
            worst = (share, seed);
        }
    }
    // A last place may decide a comparison; that must stay rare.
    assert!(worst.0 < 0.02, "{} of the values differ, seed {}", worst.0, worst.1);
}

#[test]
fn random_pipelines_for_what_grids_agree_on_compute_the_same_bits() {
    let features = Features { modes: true, library: true, ..EXACT };
    let decided: usize = seeds(0..20)
        .map(|seed| Case::new(seed, features).check_decided(if seed % 5 == 0 { Some(9) } else { None }))
        .sum();
    assert!(decided > 10, "{decided} decisions in 20 programs");
    seeds(0..2).for_each(|seed| _ = Case::of_text(seed).check_decided(None));
}

//! Whole pipelines: random surfaces under random lights, composed, bound and run on the device, against the interpreter on the shaders
//! as they were. What has no library functions in it must agree to the bit.

use crate::device::{self, device};
use crate::generate::{Features, Random, grid, program, scene};
use crate::library::{library, validate};
use crate::pack::{Dispatch, Pipeline, Shaded, outputs};
use spirv_gen::compose::{Binding, OutputRequest, PipelineRequest, ShaderUse, Slice, compose};
use spirv_gen::emit::emit;
use spirv_gen::interp::{Column, Memory, run, shade};
use spirv_gen::ir::{Const, Global, RslType, Shader, ShaderKind, Type, print, print_region};

const EXACT: Features =
    Features { derivatives: true, lights: true, loops: true, arrays: true, noise: true, library: false };

fn close(a: &Const, b: &Const, tolerance: f32) -> bool {
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

impl Case {
    fn new(seed: u64, features: Features) -> Self {
        let mut random = Random::new(seed);
        let light_features = Features { lights: false, derivatives: seed % 4 == 0, ..features };
        let kinds = [ShaderKind::Light, ShaderKind::AmbientLight, ShaderKind::Light];
        let count = random.below(kinds.len() + 1);
        let lights = kinds[..count].iter().map(|&kind| program(&mut random, kind, 10, light_features)).collect();
        let size = 10 + random.below(50);
        let surface = program(&mut random, ShaderKind::Surface, size, features);
        Self { surface, lights, seed }
    }

    /// Runs everything; the share of values that differ by more than the tolerance.
    fn differences(&self, tolerance: f32) -> f64 {
        let mut random = Random::new(self.seed ^ 0xabcd);
        let log2 = 1 + random.below(4);
        let shaded: Vec<Shaded<'_>> = (0..log2)
            .map(|_| {
                let grid = grid(&mut random);
                let scene = scene(&mut random, &grid, &self.lights);
                Shaded { grid, scene }
            })
            .collect();
        let mut bindings = ShaderUse::new(&self.surface);
        bindings.bindings =
            vec![[Binding::Block, Binding::UniformInput][random.below(2)].clone(), Binding::VaryingInput];
        let names = [("Ci", RslType::Color), ("Oi", RslType::Color), ("extra", RslType::Float)];
        let request = PipelineRequest {
            library: library(),
            slice: Slice::Colour,
            surface: Some(bindings),
            displacement: None,
            atmosphere: None,
            lights: self.lights.iter().map(ShaderUse::new).collect(),
            colour: Binding::VaryingInput,
            opacity: Binding::VaryingInput,
            outputs: names.map(|(name, ty)| OutputRequest { name: name.into(), ty }).to_vec(),
            displaced: false,
            tokens: &|_| 0,
        };
        let composed = compose(&request);
        let words = emit(&composed.body, library(), &|_| 0).unwrap_or_else(|e| panic!("{e}: {}", self.what()));
        validate(&words);
        let pipeline = Pipeline { surface: &self.surface, lights: self.lights.iter().collect() };
        let dispatch = Dispatch::new(&composed.reflection, &pipeline, &shaded);
        let arena = run_on_device(&words, &dispatch);
        let (mut wrong, mut all) = (0, 0);
        for (slot, shaded) in (0..).zip(&shaded) {
            let on_device = outputs(&dispatch, &arena, slot, &shaded.grid, &[Type::Vec3, Type::Vec3, Type::F32]);
            let memory = Memory {
                params: &dispatch.params,
                arena: &dispatch.arena,
                work: &dispatch.work,
                push: dispatch.push,
                slot,
                tokens: &|_| 0,
            };
            let bound = run(&composed.body, composed.body.root(), &memory.grid(), &memory).results;
            let named: Vec<Column> =
                shade(&self.surface, &shaded.scene, &shaded.grid).0.into_iter().map(|o| o.1).collect();
            for (name, ((a, b), c)) in names.iter().zip(named.iter().zip(&bound).zip(&on_device)) {
                for vertex in 0..shaded.grid.vertices() {
                    all += 1;
                    let places = format!("{} at slot {slot} vertex {vertex} of {:?}", name.0, shaded.grid);
                    let same = close(&a[vertex], &b[vertex], tolerance) && close(&b[vertex], &c[vertex], tolerance);
                    wrong += usize::from(!same);
                    assert!(
                        same || tolerance > 0.0,
                        "seed {}: {places}: shader {}, bound {}, device {}\n{}\n->\n{}",
                        self.seed,
                        a[vertex],
                        b[vertex],
                        c[vertex],
                        self.what(),
                        print_region(&composed.body, composed.body.root())
                    );
                }
            }
        }
        wrong as f64 / all as f64
    }

    fn what(&self) -> String {
        self.lights.iter().chain([&self.surface]).map(print).collect()
    }
}

fn run_on_device(words: &[u32], dispatch: &Dispatch) -> Vec<u32> {
    let device = device();
    let kernel = device.kernel(words);
    let p = dispatch.push;
    let push = [
        p.work_base,
        p.slot_log2,
        p.slot_count,
        p.input_base,
        p.output_base,
        p.channel_stride,
        p.space_table,
        p.reserved,
    ];
    let mut buffers = [dispatch.work.clone(), dispatch.arena.clone(), dispatch.params.clone(), vec![0; 4]];
    let groups = (dispatch.slots << p.slot_log2).div_ceil(256);
    device.run(&kernel, &mut buffers, device::Dispatch { push: &push, groups, repeat: 1 });
    device.free(&kernel);
    let [_, arena, ..] = buffers;
    arena
}

#[test]
fn random_pipelines_agree_to_the_bit() {
    for seed in 0..60 {
        Case::new(seed, EXACT).differences(0.0);
    }
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

#[test]
fn what_is_not_asked_for_is_not_read() {
    let case = Case::new(3, EXACT);
    let request = PipelineRequest {
        library: library(),
        slice: Slice::Colour,
        surface: None,
        displacement: None,
        atmosphere: None,
        lights: case.lights.iter().map(ShaderUse::new).collect(),
        colour: Binding::Block,
        opacity: Binding::Block,
        outputs: vec![OutputRequest { name: "Oi".into(), ty: RslType::Color }],
        displaced: false,
        tokens: &|_| 0,
    };
    let reflection = compose(&request).reflection;
    assert_eq!(reflection.opacity, spirv_gen::compose::Opacity::FromOs);
    assert_eq!((reflection.slots.len(), reflection.inputs.len()), (1, 0));
    let _ = Global::P;
}

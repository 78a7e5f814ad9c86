//! Everything that a program may read, through the buffers of a dispatch: the shader as it is, the bound program, and
//! the device must agree.

use crate::generate::{Random, grid, scene};
use crate::pack::{Params, ShadedGrid};
use crate::pipelines::close;
use crate::test_pipeline::TestPipeline;
use spirv_gen::compose::{Binding, Content, Opacity, Pattern, Role, ShaderUse, Shortfall, Slice};
use spirv_gen::interp::{Column, Scene, shade};
use spirv_gen::ir::{Const, Global, QuerySource, RslType, Shader, parse, verify};

fn read(text: &str) -> Shader {
    let shader = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&shader).unwrap_or_else(|e| panic!("{e}\n{text}"));
    shader
}

/// A surface with parameters and code; it must define %90 and %91, triples, as Ci and Oi.
fn surface(params: &str, code: &str) -> Shader {
    read(&format!("shader surface \"s\"\n{params}\ncode {{\n{code}\nyield %90 %91\n}}\noutput \"Ci\" \"Oi\"\n"))
}

const COLOURS: [(&str, RslType); 2] = [("Ci", RslType::Color), ("Oi", RslType::Color)];

fn shaded<'a>(seed: u64, lights: &'a [Shader], change: impl Fn(&mut Scene<'a>)) -> ShadedGrid<'a> {
    let mut random = Random::new(seed);
    let grid = grid(&mut random);
    let mut scene = scene(&mut random, &grid, lights);
    scene.params = Vec::new();
    change(&mut scene);
    ShadedGrid { grid, scene, others: Vec::new() }
}

/// Compares the outputs of a surface with what the interpreter makes of the shader.
fn agree(pipeline: &TestPipeline<'_>, shaded: &[ShadedGrid<'_>], tolerance: f32) {
    let ran = pipeline.run(shaded);
    let shader = pipeline.surface.as_ref().expect("a surface").shader;
    for (slot, shaded) in shaded.iter().enumerate() {
        let named = shade(shader, &shaded.scene, &shaded.grid).0;
        for (i, (name, _)) in pipeline.outputs.iter().enumerate() {
            let column = &named.iter().find(|o| &*o.0 == *name).expect("an output").1;
            same_columns(name, column, &ran.bound[slot][i], tolerance);
            same_columns(name, column, &ran.on_device[slot][i], tolerance);
        }
    }
}

fn same_columns(name: &str, a: &Column, b: &Column, tolerance: f32) {
    for (vertex, (a, b)) in a.iter().zip(b).enumerate() {
        assert!(close(a, b, tolerance), "{name} at vertex {vertex}: {a}, not {b}");
    }
}

/// Element 1, an element that depends on the place, and the whole of a parameter of every kind.
const PARAMETERS: (&str, &str) = (
    "param uniform float \"a\" [3] = 1.0, 2.0, 3.0
param uniform color \"c\" [2] = 0.1 0.2 0.3, 0.4 0.5 0.6
param uniform matrix \"m\" = 1.0 0.0 0.0 0.0 0.0 2.0 0.0 0.0 0.0 0.0 3.0 0.0 4.0 5.0 6.0 1.0
param uniform point \"p\" {
  %70: vec3 = const 1.0 2.0 3.0
  %71: mat4 = space \"shader\" camera_from_space
  %72: vec3 = xform_point(%71, %70)
  yield %72
}
param uniform float \"f\" [2] {
  %73: f32 = global time
  %74: f32 = add(%73, %73)
  yield %73 %74
}
param uniform string \"n\" = \"key\"",
    "%0: f32 = global s
%1: f32 = const 1.0
%2: f32 = param_element 0(%1)
%3: f32 = param_element 0(%0)
%4: vec3 = param_element 1(%1)
%5: vec3 = param_element 1(%0)
%6: mat4 = param 2
%7: vec3 = global P
%8: vec3 = xform_point(%6, %7)
%9: vec3 = param 3
%10: f32 = param_element 4(%1)
%11: f32 = param_element 4(%0)
%12: str = param 5
%13: str = const \"key\"
%14: bool = eq(%12, %13)
%15: f32 = select(%14, %2, %3)
%16: f32 = add(%10, %11)
%17: vec3 = splat(%15)
%18: vec3 = splat(%16)
%19: vec3 = add(%4, %5)
%20: vec3 = add(%8, %9)
%21: vec3 = add(%17, %18)
%90: vec3 = add(%19, %20)
%91: vec3 = add(%90, %21)",
);

fn given() -> Params {
    let uniform = |c: Const| vec![c];
    let mut matrix = [0.0; 16];
    for (i, x) in matrix.iter_mut().enumerate() {
        *x = if i % 5 == 0 { 1.5 } else { 0.125 * i as f32 };
    }
    vec![
        Some([5.0, 6.0, 7.0].map(|x| uniform(Const::F32(x))).to_vec()),
        Some([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].map(|x| uniform(Const::Vec3(x))).to_vec()),
        Some(vec![uniform(Const::Mat4(Box::new(matrix)))]),
        Some(vec![uniform(Const::Vec3([7.0, 8.0, 9.0]))]),
        Some([0.5, 0.25].map(|x| uniform(Const::F32(x))).to_vec()),
        Some(vec![uniform(Const::Str("other".into()))]),
    ]
}

#[test]
fn parameters_bound_in_every_way() {
    let shader = surface(PARAMETERS.0, PARAMETERS.1);
    let fixed: Vec<Binding> = given()
        .into_iter()
        .map(|p| Binding::Fixed(p.expect("given").into_iter().map(|c| c[0].clone()).collect()))
        .collect();
    let time = |scene: &mut Scene<'_>| {
        scene.globals.insert(Global::Time, vec![Const::F32(0.75)]);
    };
    for (bindings, params) in [
        (vec![Binding::Block; 6], given()),
        (vec![Binding::UniformInput; 6], given()),
        (vec![Binding::VaryingInput; 6], given()),
        (fixed, given()),
        (vec![Binding::Default; 6], Vec::new()),
    ] {
        let mut pipeline = TestPipeline::surface(&shader, &[], &COLOURS);
        pipeline.surface = Some(ShaderUse { shader: &shader, bindings });
        let slots: Vec<_> = (0..3)
            .map(|seed| {
                shaded(seed, &[], |scene| {
                    time(scene);
                    scene.params = params.clone();
                })
            })
            .collect();
        agree(&pipeline, &slots, 0.0);
    }
}

#[test]
fn spaces_by_computed_name() {
    let shader = surface(
        "param uniform string \"name\" = \"world\"",
        "%0: str = param 0
%1: mat4 = space_of space_from_camera(%0)
%2: mat4 = space_of camera_from_space(%0)
%3: vec3 = global P
%90: vec3 = xform_point(%1, %3)
%91: vec3 = xform_vector(%2, %3)",
    );
    for name in ["world", "shader", "unheard of"] {
        let pipeline = TestPipeline::surface(&shader, &[], &COLOURS);
        let slot = shaded(4, &[], |scene| {
            scene.params = vec![Some(vec![vec![Const::Str(name.into())]])];
            scene.intern(name);
        });
        agree(&pipeline, &[slot], 0.0);
    }
}

#[test]
fn queries_and_times() {
    let shader = surface(
        "",
        "%0: f32, %1: f32, %2: f32, %3: f32 = query option \"Format\" float 3
%4: f32, %5: vec3 = query attribute \"user:tint\" color 1
%6: vec3 = vec3(%1, %2, %3)
%7: vec3 = splat(%0)
%8: vec3 = splat(%4)
%9: vec3 = add(%6, %7)
%90: vec3 = add(%5, %8)
%10: f32 = global dtime
%11: f32 = global yon
%12: f32 = mul(%10, %11)
%13: vec3 = splat(%12)
%91: vec3 = add(%9, %13)",
    );
    let slot = shaded(5, &[], |scene| {
        let format = [640.0, 480.0, 1.0].map(Const::F32).to_vec();
        scene.queries.insert((QuerySource::Option, "Format".into()), format);
        scene.globals.insert(Global::DTime, vec![Const::F32(0.5)]);
        scene.globals.insert(Global::Yon, vec![Const::F32(1000.0)]);
    });
    agree(&TestPipeline::surface(&shader, &[], &COLOURS), &[slot], 0.0);
}

#[test]
fn splines_of_every_basis() {
    for (basis, count) in [
        ("catmull-rom", 5),
        ("bezier", 7),
        ("bspline", 14),
        ("hermite", 8),
        ("linear", 16),
        ("power", 8),
        ("bezier", 4),
    ] {
        let values: String =
            (0..count).map(|i| format!("%{}: f32 = const {}\n", 10 + i, (i * i) as f32 * 0.13)).collect();
        let args: String = (0..count).map(|i| format!(", %{}", 10 + i)).collect();
        let code = format!(
            "{values}%0: f32 = global s\n%1: vec3 = global P\n%2: f32 = spline {basis}(%0{args})\n%90: vec3 = splat(%2)\n\
             %91: vec3 = spline {basis}(%0, %1, %90, %1, %90, %1)"
        );
        let shader = surface("", &code);
        let code = format!(
            "{values}%0: f32 = global s\n%2: f32 = spline {basis} solve(%0{args})\n%90: vec3 = splat(%2)\n%91: vec3 = splat(%0)"
        );
        let slot = || shaded(6, &[], |_| {});
        agree(&TestPipeline::surface(&shader, &[], &COLOURS), &[slot()], 1e-4);
        if matches!(basis, "catmull-rom" | "bezier" | "bspline" | "linear") {
            let shader = surface("", &code);
            agree(&TestPipeline::surface(&shader, &[], &COLOURS), &[slot()], 1e-3);
        }
    }
}

const FOG: &str = "shader volume \"fog\"
param uniform float \"density\" = 0.25
code {
  %0: vec3 = global Ci
  %1: vec3 = global Oi
  %2: f32 = param 0
  %3: vec3 = splat(%2)
  %4: f32, %5: f32 = message surface \"k\" float
  %6: vec3 = splat(%5)
  %7: vec3 = mul(%0, %3)
  %8: vec3 = add(%7, %6)
  yield %8 %1
}
output \"Ci\" \"Oi\"
";

#[test]
fn an_atmosphere_sees_what_the_surface_left() {
    let shader = surface(
        "param uniform float \"k\" = 2.0",
        "%0: f32 = param 0\n%1: vec3 = splat(%0)\n%2: vec3 = global P\n%90: vec3 = mul(%1, %2)\n%91: vec3 = global Os",
    );
    let fog = read(FOG);
    let mut pipeline = TestPipeline::surface(&shader, &[], &COLOURS);
    pipeline.atmosphere = Some(ShaderUse::new(&fog));
    let mut slot = shaded(7, &[], |scene| scene.params = vec![Some(vec![vec![Const::F32(3.0)]])]);
    slot.others.push((Role::Atmosphere, vec![Some(vec![vec![Const::F32(0.5)]])]));
    let p = slot.scene.globals[&Global::P].clone();
    let ran = pipeline.run(&[slot]);
    assert_eq!(ran.composed.reflection.opacity, Opacity::FromOs);
    for (vertex, p) in p.iter().enumerate() {
        let expected = p.as_vec3().expect("a point").map(|x| 3.0 * x * 0.5 + 3.0);
        assert!(close(&Const::Vec3(expected), &ran.on_device[0][0][vertex], 1e-6));
    }
}

const PUSH: &str = "shader displacement \"push\"
param uniform float \"k\" = 0.5
code {
  %0: vec3 = global P
  %1: vec3 = global N
  %2: f32 = param 0
  %3: vec3 = splat(%2)
  %4: vec3 = mul(%1, %3)
  %5: vec3 = add(%0, %4)
  %6: vec3 = derivative u(%5)
  %7: vec3 = derivative v(%5)
  %8: vec3 = cross(%6, %7)
  %9: f32 = global orientation
  %10: vec3 = splat(%9)
  %11: vec3 = mul(%8, %10)
  yield %5 %11
}
output \"P\" \"N\"
";

#[test]
fn the_position_slice_runs_the_displacement() {
    let push = read(PUSH);
    let pipeline = TestPipeline {
        slice: Slice::Position,
        surface: None,
        displacement: Some(ShaderUse::new(&push)),
        atmosphere: None,
        lights: &[],
        displaced: true,
        outputs: &[("P", RslType::Point), ("N", RslType::Normal)],
        textures: None,
    };
    let slots: Vec<_> = (8..12)
        .map(|seed| {
            let mut slot = shaded(seed, &[], |_| {});
            slot.others.push((Role::Displacement, vec![Some(vec![vec![Const::F32(0.25)]])]));
            slot
        })
        .collect();
    let ran = pipeline.run(&slots);
    assert!(ran.composed.reflection.takes_derivatives);
    for (i, slot) in slots.iter().enumerate() {
        let scene = Scene { params: slot.others[0].1.clone(), ..slot.scene.clone() };
        let named = shade(&push, &scene, &slot.grid).0;
        for (output, (name, column)) in named.iter().enumerate() {
            same_columns(name, column, &ran.on_device[i][output], 0.0);
        }
    }
}

#[test]
fn tangents_of_displaced_geometry_are_differences() {
    let shader = surface("", "%90: vec3 = global dPdu\n%91: vec3 = global Ng");
    let mut pipeline = TestPipeline::surface(&shader, &[], &COLOURS);
    pipeline.displaced = true;
    let mut random = Random::new(1);
    let mut grid = grid(&mut random);
    grid.flags = 0;
    let mut scene = scene(&mut random, &grid, &[]);
    // P = (2u, 3v, uv): differences of it are exact up to rounding.
    let at = |v: u32| ((v % (grid.nu + 1)) as f32 * grid.du, (v / (grid.nu + 1)) as f32 * grid.dv);
    let places: Vec<_> = (0..grid.vertices() as u32).map(at).collect();
    let p = places.iter().map(|&(u, v)| Const::Vec3([2.0 * u, 3.0 * v, u * v])).collect();
    scene.globals.insert(Global::P, p);
    let ran = pipeline.run(&[ShadedGrid { grid, scene, others: Vec::new() }]);
    assert!(ran.composed.reflection.takes_derivatives);
    for (vertex, &(u, v)) in places.iter().enumerate() {
        assert!(close(&Const::Vec3([2.0, 0.0, v]), &ran.on_device[0][0][vertex], 1e-4));
        assert!(close(&Const::Vec3([-3.0 * v, -2.0 * u, 6.0]), &ran.on_device[0][1][vertex], 1e-4));
    }
}

#[test]
fn an_imager_works_on_pixels() {
    let imager = read(
        "shader imager \"grey\"\ncode {\n%0: vec3 = global Ci\n%1: vec3 = global Oi\n%2: f32 = global alpha\n%3: vec3 = splat(%2)\n\
         %4: vec3 = mul(%0, %3)\nyield %4 %1 %2\n}\noutput \"Ci\" \"Oi\" \"alpha\"\n",
    );
    let pipeline = TestPipeline {
        slice: Slice::Imager,
        surface: Some(ShaderUse::new(&imager)),
        displacement: None,
        atmosphere: None,
        lights: &[],
        displaced: false,
        outputs: &[("Ci", RslType::Color), ("Oi", RslType::Color), ("alpha", RslType::Float)],
        textures: None,
    };
    let slot = shaded(9, &[], |scene| {
        scene.globals.insert(Global::Ci, vec![Const::Vec3([0.5, 0.25, 0.125])]);
        scene.globals.insert(Global::Oi, vec![Const::Vec3([1.0, 0.5, 0.25])]);
        scene.globals.insert(Global::Alpha, vec![Const::F32(0.5)]);
    });
    agree(&pipeline, &[slot], 0.0);
}

#[test]
fn what_is_not_asked_for_is_not_read() {
    let shader = surface(
        "param uniform float \"k\" = 2.0",
        "%0: f32 = param 0\n%1: vec3 = splat(%0)\n%2: vec3 = global P\n%3: vec3 = derivative u(%2)\n%90: vec3 = mul(%1, %3)\n\
         %91: vec3 = global Os",
    );
    let pipeline = TestPipeline::surface(&shader, &[], &[("Oi", RslType::Color)]);
    let reflection = pipeline.compose().reflection;
    assert_eq!(reflection.opacity, Opacity::FromOs);
    assert_eq!((reflection.block.slots.len(), reflection.inputs.len(), reflection.takes_derivatives), (0, 1, false));
}

#[test]
fn variables_asked_for_by_name() {
    let shader = surface(
        "param output varying float \"mask\" = 0.5\nparam uniform color \"tint\" = 0.5 0.25 1.0",
        "%90: vec3 = global Cs\n%91: vec3 = const 1.0 1.0 1.0",
    );
    let outputs = [
        ("Oi", RslType::Color),
        ("tint", RslType::Color),
        ("z", RslType::Float),
        ("N", RslType::Normal),
        ("mask", RslType::Color),
        ("nothing", RslType::Float),
        ("P", RslType::Float),
    ];
    let pipeline = TestPipeline::surface(&shader, &[], &outputs);
    let slot = shaded(10, &[], |_| {});
    let global = |g| slot.scene.globals[&g].clone();
    let (p, n) = (global(Global::P), global(Global::N));
    let ran = pipeline.run(&[slot]);
    assert_eq!(ran.composed.reflection.opacity, Opacity::Constant([1.0; 3]));
    for vertex in 0..p.len() {
        let got: Vec<&Const> = ran.on_device[0].iter().map(|c| &c[vertex]).collect();
        let p = p[vertex].as_vec3().expect("a point");
        assert_eq!(*got[1], Const::Vec3([0.5, 0.25, 1.0]));
        assert_eq!(*got[2], Const::F32(p[2]));
        assert_eq!(*got[3], n[vertex]);
        assert_eq!(*got[4], Const::Vec3([0.5; 3]), "a parameter that is read as it came, spread to a colour");
        assert_eq!((got[5], got[6]), (&Const::F32(0.0), &Const::F32(p[0])));
    }
}

const LAMP: &str = "shader light \"lamp\"
code {
  %0: vec3 = global Ps
  %1: vec3 = const 1.0 2.0 4.0
  %2: bool = const true
  yield %0 %1 %1 %2
}
output \"L\" \"Cl\" \"Ol\" \"active\"
";

#[test]
fn categories_given_by_a_parameter() {
    let lights = [read(LAMP)];
    let shader = surface(
        "param uniform string \"which\" = \"diffuse\"",
        "%0: vec3 = global P\n%1: str = param 0\n%2: vec3 = const 0.0 0.0 0.0\n\
         %90: vec3 = illuminance(%0, %1, %2) |%3: vec3, %4: vec3, %5: vec3, %6: vec3| {\n%7: vec3 = add(%6, %4)\nyield %7\n}\n\
         %91: vec3 = global Os",
    );
    let pipeline = TestPipeline::surface(&shader, &lights, &COLOURS);
    let patterns: Vec<_> = pipeline.compose().reflection.block.slots.into_iter().map(|s| s.content).collect();
    assert!(patterns.contains(&Content::LightsTaken(Pattern::Param(Role::Surface, "which".into()))));
    for pattern in ["diffuse", "-diffuse", "key,diffuse", "diffuse&-key", "key&diffuse", "nobody", ""] {
        let slots: Vec<_> = (20..26)
            .map(|seed| {
                shaded(seed, &lights, |scene| scene.params = vec![Some(vec![vec![Const::Str(pattern.into())]])])
            })
            .collect();
        agree(&pipeline, &slots, 0.0);
    }
}

#[test]
fn lookups_are_reported() {
    let shader = surface(
        "",
        "%0: f32 = global s\n%1: str = const \"a.tex\"\n%2: f32 = derivative u(%0)\n\
         %3: f32 = const 0.0\n%90: vec3 = lookup texture vec3(%1, %3, %0, %0, %2, %2, %2, %2, %3, %3, %3, %3, %3, %3, %3)\n%91: vec3 = global Os",
    );
    let reflection = TestPipeline::surface(&shader, &[], &COLOURS).compose().reflection;
    let shortfalls: Vec<&Shortfall> = reflection.shortfalls.iter().map(|placed| &placed.shortfall).collect();
    assert_eq!(shortfalls, [&Shortfall::Lookup("texture", Some(Pattern::Literal("a.tex".into())))]);
    assert!(!reflection.takes_derivatives, "nothing is left of the lookup's arguments");
}

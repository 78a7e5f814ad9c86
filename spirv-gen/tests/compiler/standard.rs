//! The standard shaders under the standard lights, on the device and on the interpreter.

use crate::generate::{Random, grid, scene};
use crate::pack::ShadedGrid;
use crate::pipelines::close;
use crate::test_pipeline::TestPipeline;
use spirv_gen::compose::{ShaderUse, Slice};
use spirv_gen::interp::{LightInstance, shade};
use spirv_gen::ir::{Const, Direction, Global, Op, Param, RslType, Shader, ShaderKind, Unary};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shader, standard};

fn shader(name: &str) -> Shader {
    let text = standard::source(name).expect("a standard shader");
    let (shader, diagnostics) = parse_shader(&Source { name, text, loader: &NoIncludes, defines: &[] });
    lower(&shader.unwrap_or_else(|| panic!("{diagnostics:?}")))
}

fn shaded<'a>(seed: u64, lights: &'a [Shader]) -> ShadedGrid<'a> {
    let mut random = Random::new(seed);
    let grid = grid(&mut random);
    let mut scene = scene(&mut random, &grid, &[]);
    scene.params = Vec::new();
    // In front of the camera, so that nothing divides by what is nearly 0.
    if let Some(p) = scene.globals.get_mut(&Global::P) {
        p.iter_mut().for_each(|p| *p = Const::Vec3(p.as_vec3().expect("a point").map(|x| 0.2 * x + 3.0)));
    }
    for (k, shader) in (1..).zip(lights) {
        let at =
            |s: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, s * k as f32, s * 2.0, s * 0.5, 1.0];
        let space =
            [(Direction::CameraFromSpace, at(1.0)), (Direction::SpaceFromCamera, at(-1.0))].into_iter().collect();
        let params = vec![None; shader.params.len()];
        scene.lights.push(LightInstance { shader, params, space, category: String::new() });
    }
    ShadedGrid { grid, scene, others: Vec::new() }
}

#[test]
fn standard_shaders_agree_with_the_interpreter() {
    let lights = ["ambientlight", "distantlight", "pointlight", "spotlight"];
    let shadowing = ["shadowdistant", "shadowpoint", "shadowspot"];
    let lights = [&lights[..], &shadowing].concat().into_iter().map(shader).collect::<Vec<_>>();
    for name in standard::names() {
        let shader = shader(name);
        let (slice, outputs): (_, &[_]) = match shader.kind {
            ShaderKind::Light | ShaderKind::AmbientLight => continue,
            ShaderKind::Displacement => (Slice::Position, &[("P", RslType::Point), ("N", RslType::Normal)]),
            ShaderKind::Surface => (Slice::Colour, &[("Ci", RslType::Color), ("Oi", RslType::Color)]),
            ShaderKind::Volume | ShaderKind::Imager => {
                (Slice::Imager, &[("Ci", RslType::Color), ("Oi", RslType::Color)])
            }
        };
        let mut pipeline = TestPipeline::surface(&shader, &lights, outputs);
        pipeline.slice = slice;
        if slice == Slice::Position {
            (pipeline.surface, pipeline.displacement) = (None, Some(ShaderUse::new(&shader)));
        }
        let slots: Vec<_> = (0..3).map(|seed| shaded(seed, &lights)).collect();
        let ran = pipeline.run(&slots);
        for (i, slot) in slots.iter().enumerate() {
            let named = shade(&shader, &slot.scene, &slot.grid).0;
            for (output, (what, column)) in named.iter().take(2).enumerate() {
                for (vertex, (a, b)) in column.iter().zip(&ran.on_device[i][output]).enumerate() {
                    assert!(close(a, b, 1e-4), "{name}: {what} at vertex {vertex} of grid {i} is {b}, not {a}");
                }
            }
        }
    }
}

/// N and I are normalised once each, the direction of the light on the host; a hemisphere needs no lengths. Constants
/// are no operations.
#[test]
fn plastic_is_at_most_88_operations() {
    let (plastic, lights) = (shader("plastic"), ["ambientlight", "distantlight"].map(shader));
    let body = TestPipeline::surface(&plastic, &lights, &[("Ci", RslType::Color)]).compose().body;
    let (mut operations, mut normalised) = (0, 0);
    body.walk(body.root(), &mut |i| {
        operations += usize::from(!matches!(body.inst(i).op, Op::Const(_)));
        normalised += usize::from(body.inst(i).op == Op::Unary(Unary::Normalize));
    });
    assert!(operations <= 88 && normalised == 2, "{operations} operations, {normalised} of which normalise");
}

/// What a shader gives where a parameter has this value in all components: of a light, the light of a matte surface.
fn shaded_with(name: &str, values: &[(&str, f32)]) -> Vec<[f32; 3]> {
    let (shader, matte) = (shader(name), shader("matte"));
    let is_light = matches!(shader.kind, ShaderKind::Light | ShaderKind::AmbientLight);
    let lights = if is_light { vec![shader.clone()] } else { vec![self::shader("distantlight")] };
    let mut slot = shaded(5, &lights);
    slot.scene.globals.extend([(Global::Hither, vec![Const::F32(1.0)]), (Global::Yon, vec![Const::F32(5.0)])]);
    let value = |name: &str| values.iter().find(|(of, _)| *of == name).map(|&(_, x)| x);
    let param = |p: &Param| {
        let x = value(&p.name)?;
        let column = match p.ty {
            RslType::Float => Const::F32(x),
            RslType::String => return None,
            _ => Const::Vec3([x; 3]),
        };
        Some(vec![vec![column]])
    };
    let params = shader.params.iter().map(param).collect();
    let shown = if is_light { &matte } else { &shader };
    if is_light {
        slot.scene.lights[0].params = params;
    } else {
        slot.scene.params = params;
    }
    let outputs = shade(shown, &slot.scene, &slot.grid).0;
    outputs.iter().take(2).flat_map(|(_, column)| column).filter_map(Const::as_vec3).collect()
}

#[test]
fn parameters_at_their_ends_give_what_their_neighbours_approach() {
    for (name, end, equal) in [
        ("plastic", ("roughness", 0.0), ("Ks", 0.0)),
        ("paintedplastic", ("roughness", 0.0), ("Ks", 0.0)),
        ("metal", ("roughness", 0.0), ("Ks", 0.0)),
        ("shinymetal", ("roughness", 0.0), ("Ks", 0.0)),
        ("glass", ("roughness", 0.0), ("Ks", 0.0)),
        ("fog", ("distance", 0.0), ("distance", 1e-6)),
        ("spotlight", ("coneangle", 0.0), ("intensity", 0.0)),
        ("spotlight", ("conedeltaangle", 0.0), ("conedeltaangle", 1e-6)),
    ] {
        assert_eq!(shaded_with(name, &[end]), shaded_with(name, &[equal]), "{name}: {end:?}");
    }
    let edge = shaded_with("depthcue", &[("mindistance", 0.5), ("maxdistance", 0.5)]);
    assert_eq!(edge, shaded_with("depthcue", &[("mindistance", 0.5), ("maxdistance", 0.500_001)]));
}

#[test]
fn no_parameter_makes_a_standard_shader_infinite() {
    for name in standard::names() {
        for param in shader(name).params.iter().filter(|p| p.ty != RslType::String) {
            for x in [0.0, -0.0, 1e-30, -1.0, 1e6] {
                let shaded = shaded_with(name, &[(&param.name, x)]);
                assert!(shaded.iter().flatten().all(|x| x.is_finite()), "{name}: {} = {x}: {shaded:?}", param.name);
            }
        }
    }
}

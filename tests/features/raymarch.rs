//! An atmosphere that marches thousands of steps through turbulent fog and asks all lights at each: many times the
//! trips that an invocation makes in a dispatch. The picture against the interpreter of shaders.

use super::draw_with;
use spirv_gen::interp::{Grid, LightInstance, Scene, shade};
use spirv_gen::ir::{Const, Direction, Global, Shader};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shader};

const VOLUME: &str = "float snoise(point p) { return 2 * noise(p) - 1; }
float density(point p; float octaves) {
    float sum = 0, f = 1, i;
    for (i = 0; i < octaves; i += 1) { sum += abs(snoise(p * f)) / f; f *= 2; }
    return smoothstep(0.2, 0.9, sum);
}
volume raymarch(float step_size = 0.004, octaves = 6, opacity = 0.3, scatter = 0.5;) {
    extern point P; extern vector I; extern color Ci, Oi;
    float len = length(I), t = 0;
    vector dir = normalize(I);
    point from = P - I;
    color Cv = 0, Ov = 0;
    while (t < len) {
        point at = from + t * dir;
        float d = density(transform(\"world\", at), octaves) * step_size;
        color li = 0;
        illuminance(at, vector(0, 0, 1), PI) { li += Cl; }
        Cv += (1 - Ov) * li * d * scatter;
        Ov += (1 - Ov) * (1 - exp(-d * opacity));
        t += step_size;
    }
    Ci = Cv + (1 - Ov) * Ci;
    Oi = Ov + (1 - Ov) * Oi;
}";

const BEAM: &str = "light beam(point from = point \"shader\" (0, 0, 0); vector axis = vector(0, 0, 1);) {
    illuminate(from, axis, 0.5) {
        float c = (L . normalize(axis)) / length(L);
        Cl = 20 * smoothstep(cos(0.5), cos(0.4), c) / (L . L) * (1 + 0.5 * noise(4 * transform(\"shader\", Ps)));
    }
}";

/// The eye is this far in front of the origin of the world.
const DISTANCE: f32 = 8.0;
/// Five pixels by four of 480 by 360, which see the floor.
const FIRST: [usize; 2] = [180, 260];
const SIZE: [usize; 2] = [5, 4];

fn compiled(name: &str, text: &str) -> Shader {
    let (shader, diagnostics) = parse_shader(&Source { name, text, loader: &NoIncludes, defines: &[] });
    lower(&shader.unwrap_or_else(|| panic!("{diagnostics:?}")))
}

/// What camera space sees of the floor at y = -2 at the centre of a pixel.
fn floor_at(x: usize, y: usize) -> [f32; 3] {
    let scale = 20.0_f32.to_radians().tan();
    let across = ((x as f32 + 0.5) / 240.0 - 1.0) * scale * 4.0 / 3.0;
    let up = (1.0 - (y as f32 + 0.5) / 180.0) * scale;
    let z = -2.0 / up;
    [across * z, -2.0, z]
}

fn translation(z: f32) -> [f32; 16] {
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, z, 1.0]
}

/// The colour at the 20 pixels, by the interpreter: a white constant surface behind the fog.
fn interpreted(volume: &Shader, beam: &Shader) -> Vec<[f32; 3]> {
    let grid = Grid { nu: 4, nv: 3, du: 0.25, dv: 1.0 / 3.0, flags: 0, seed: 1 };
    let points = (0..20).map(|vertex| Const::Vec3(floor_at(FIRST[0] + vertex % 5, FIRST[1] + vertex / 5)));
    let points: Vec<Const> = points.collect();
    let mut scene = Scene::default();
    scene.globals.extend([Global::P, Global::I].map(|global| (global, points.clone())));
    scene.globals.extend([Global::Ci, Global::Oi].map(|global| (global, vec![Const::Vec3([1.0; 3])])));
    let there = (Direction::CameraFromSpace, translation(DISTANCE));
    let ways = [there, (Direction::SpaceFromCamera, translation(-DISTANCE))];
    scene.spaces.extend(ways.map(|(way, matrix)| (("world".into(), way), matrix)));
    for side in [-3.0, 3.0] {
        let given = |name: &str| match name {
            "from" => Some(vec![vec![Const::Vec3([side, 4.0, DISTANCE - 2.0])]]),
            "axis" => Some(vec![vec![Const::Vec3([-side, -4.0, 4.0])]]),
            _ => None,
        };
        let params = beam.params.iter().map(|param| given(&param.name)).collect();
        let space = ways.into_iter().collect();
        scene.lights.push(LightInstance { shader: beam, params, space, category: String::new() });
    }
    let (outputs, outcome) = shade(volume, &scene, &grid);
    assert_eq!(outcome.exhausted, 0);
    let colours = outputs.iter().find(|output| &*output.0 == "Ci").map(|output| &output.1);
    colours.expect("a colour").iter().map(|colour| colour.as_vec3().expect("a colour")).collect()
}

#[test]
fn a_marched_atmosphere_is_what_the_interpreter_computes_at_20_pixels() {
    // The first pixel is the one that follows the border.
    let window = |axis: usize, pixels: f32| {
        let [low, high] = [FIRST[axis], FIRST[axis] + SIZE[axis]].map(|at| (at as f32 - 0.5) / pixels);
        format!("{low} {high}")
    };
    let scene = draw_with(
        &[("raymarch.sl", VOLUME), ("beam.sl", BEAM)],
        &format!(
            "Format 480 360 1\nCropWindow {} {}\nPixelSamples 1 1\nPixelFilter \"box\" 1 1\nHider \"hidden\" \"jitter\" 0\n\
             Display \"$DIR/a.exr\" \"exr\" \"rgba\" \"string exrpixeltype\" \"float\"\n\
             Projection \"perspective\" \"fov\" 40\nTranslate 0 0 {DISTANCE}\nWorldBegin\n\
             LightSource \"beam\" 1 \"from\" [-3 4 -2] \"axis\" [3 -4 4]\nLightSource \"beam\" 2 \"from\" [3 4 -2] \"axis\" [-3 -4 4]\n\
             Atmosphere \"raymarch\"\nSurface \"constant\"\nShadingInterpolation \"smooth\"\n\
             Polygon \"P\" [-6 -2 -6  6 -2 -6  6 -2 6  -6 -2 6]\nWorldEnd\n",
            window(0, 480.0),
            window(1, 360.0)
        ),
    );
    let picture = scene.clean("a.exr");
    let (volume, beam) = (compiled("raymarch.sl", VOLUME), compiled("beam.sl", BEAM));
    let wanted = interpreted(&volume, &beam);
    for (number, wanted) in wanted.iter().enumerate() {
        let got = picture.rgb(number % 5, number / 5);
        let near = got.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 4e-3 * b);
        assert!(near && *wanted != [1.0; 3], "pixel {number}: {got:?}, not {wanted:?}");
    }
}

//! Messages between the shaders of a pipeline, which the interpreter of single shaders does not know.

use crate::generate::{Random, grid, scene};
use crate::pack::ShadedGrid;
use crate::pipelines::close;
use crate::test_pipeline::TestPipeline;
use spirv_gen::compose::{Input, ShaderUse, Slice};
use spirv_gen::interp::{Column, shade};
use spirv_gen::ir::{Const, Global, Op, RslType, Shader};
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;

pub(crate) fn shader(text: &str) -> Shader {
    let source = Source { name: "a.sl", text, loader: &NoIncludes, defines: &[] };
    let parsed = spirv_gen::parse_shaders(&source);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    spirv_gen::lower(&parsed.shaders[0])
}

pub(crate) fn shaded<'a>(seed: u64, lights: &'a [Shader]) -> ShadedGrid<'a> {
    let mut random = Random::new(seed);
    let grid = grid(&mut random);
    let mut scene = scene(&mut random, &grid, lights);
    scene.params = Vec::new();
    scene.lights.iter_mut().for_each(|light| light.params = Vec::new());
    ShadedGrid { grid, scene, others: Vec::new() }
}

fn float(column: &Column, vertex: usize) -> f32 {
    column[if column.len() == 1 { 0 } else { vertex }].as_f32().expect("a float")
}

const COLOURS: [(&str, RslType); 2] = [("Ci", RslType::Color), ("Oi", RslType::Color)];

const BUMP: &str = "displacement bump(
    output varying float h = 7; output varying color unasked = 0; output varying matrix m = 1;
    varying float twice = 2 * s; output varying color c = 1; float given = 3;)
{
    h = 2 * s + u;
    m = translate(m, vector (h, s, t));
    c = color (t, s, h);
    P += 0.1 * h * normalize(N);
}";

const LOOK: &str = "surface look(output varying float a = 0, b = 0, light = 0; varying color k = 0.5;)
{
    float h = 9, left = 9, twice = 0, given = 0, found;
    color c = 0;
    matrix m = 1;
    found = displacement(\"h\", h) + displacement(\"m\", m) + displacement(\"c\", c) + displacement(\"twice\", twice)
        + displacement(\"given\", given);
    a = found + 10 * displacement(\"left\", left) + 100 * displacement(\"h\", c) + given + left;
    b = twice;
    Ci = color (h, comp(m, 3, 0), comp(c, 2)) + 0 * k;
    illuminance (P) light += comp(Cl, 0);
}";

const LAMP: &str = "light lamp() { float h = 0; solar (vector (0, 0, 1), 0) Cl = displacement(\"h\", h) * h; }";

#[test]
fn what_others_ask_of_the_displacement_is_stored_behind_the_geometry() {
    let (bump, look, lights) = (shader(BUMP), shader(LOOK), [shader(LAMP)]);
    let outputs = [("P", RslType::Point), ("N", RslType::Normal)];
    let position = TestPipeline {
        slice: Slice::Position,
        surface: Some(ShaderUse::new(&look)),
        displacement: Some(ShaderUse::new(&bump)),
        atmosphere: None,
        lights: &lights,
        displaced: true,
        outputs: &outputs,
        textures: None,
    };
    let slots: Vec<_> = (20..24).map(|seed| shaded(seed, &[])).collect();
    let ran = position.run(&slots);
    let places = |o: &spirv_gen::compose::OutputChannel| (o.name.to_string(), o.channel);
    let stored: Vec<_> = ran.composed.reflection.outputs.iter().map(places).collect();
    let wanted = [("P", 0), ("N", 1), ("h", 4), ("m", 5), ("twice", 9), ("c", 10)].map(|(n, c)| (n.to_owned(), c));
    assert_eq!(stored, wanted);
    assert_eq!(ran.composed.reflection.output_channels, 11);
    for (i, slot) in slots.iter().enumerate() {
        let named = shade(&bump, &slot.scene, &slot.grid).0;
        for (output, (name, _)) in wanted.iter().enumerate() {
            let Some((_, column)) = named.iter().find(|o| *o.0 == **name) else { continue };
            for (vertex, value) in column.iter().enumerate() {
                let got = &ran.on_device[i][output][vertex];
                let same =
                    if let (Const::Mat4(a), Const::Mat4(b)) = (value, got) { a == b } else { close(value, got, 0.0) };
                assert!(same, "{name} at vertex {vertex}: {got}, not {value}");
            }
        }
        let s = &slot.scene.globals[&Global::S];
        let twice = |v: usize| Const::F32(2.0 * float(s, v));
        assert!((0..slot.grid.vertices()).all(|v| close(&twice(v), &ran.on_device[i][4][v], 0.0)));
    }
}

#[test]
fn surface_and_lights_read_what_the_displacement_left() {
    let (bump, look, lights) = (shader(BUMP), shader(LOOK), [shader(LAMP)]);
    let outputs = [("Ci", RslType::Color), ("a", RslType::Float), ("light", RslType::Float)];
    let mut pipeline = TestPipeline::surface(&look, &lights, &outputs);
    pipeline.displacement = Some(ShaderUse::new(&bump));
    pipeline.displaced = true;
    let slots: Vec<_> = (30..34).map(|seed| shaded(seed, &lights)).collect();
    let ran = pipeline.run(&slots);
    let inputs = ran.composed.reflection.inputs.iter().filter_map(|i| match &i.input {
        Input::Displacement(value) => Some((&*value.name, i.channel, i.count)),
        _ => None,
    });
    assert_eq!(inputs.collect::<Vec<_>>(), [("h", 4, 1), ("m", 5, 4), ("c", 10, 1)]);
    assert_eq!(ran.composed.reflection.input_channels, 11, "the place of what is not read is kept");
    for (i, slot) in slots.iter().enumerate() {
        let named = shade(&bump, &slot.scene, &slot.grid).0;
        let h = &named.iter().find(|o| &*o.0 == "h").expect("an output").1;
        for vertex in 0..slot.grid.vertices() {
            let h = float(h, vertex);
            let expected = [Const::Vec3([h; 3]), Const::F32(17.0), Const::F32(h * slot.scene.lights.len() as f32)];
            for (output, expected) in expected.iter().enumerate() {
                let (bound, device) = (&ran.bound[i][output][vertex], &ran.on_device[i][output][vertex]);
                assert!(close(expected, bound, 1e-5) && close(bound, device, 0.0), "{expected}: {bound}, {device}");
            }
        }
    }
}

#[test]
fn without_messages_nothing_is_stored_for_others() {
    let (bump, plain) = (shader(BUMP), shader("surface plain() { Ci = Cs; }"));
    let mut pipeline = TestPipeline::surface(&plain, &[], &COLOURS);
    pipeline.displacement = Some(ShaderUse::new(&bump));
    pipeline.displaced = true;
    let colour = pipeline.compose().reflection;
    assert!(colour.inputs.iter().all(|i| !matches!(i.input, Input::Displacement(_))));
    pipeline.slice = Slice::Position;
    pipeline.outputs = &[("P", RslType::Point), ("N", RslType::Normal)];
    assert_eq!(pipeline.compose().reflection.output_channels, 2);
}

/// An array that the displacement fills, one that the surface fills, and a parameter.
#[test]
fn arrays_are_answered_by_displacement_and_surface() {
    let bump = shader(
        "displacement bump(output varying float a[3] = {1, 2, 3}; varying color b[2] = {s, t};)
        { a[1] = 4 * s; P += N; }",
    );
    let look = shader(
        "surface look(output varying float k[2] = {5, 6}; uniform color p[2] = {1, 2};)
        {
            float a[3] = {0, 0, 0};
            color b[2] = {0, 0};
            float found = displacement(\"a\", a) + displacement(\"b\", b);
            k[1] = a[1];
            Ci = color (a[0], a[2], found);
            Oi = mix(b[0], b[1], 0.5);
        }",
    );
    let air = shader(
        "volume air(output varying color seen = 0;)
        {
            float k[2] = {0, 0};
            color p[2] = {0, 0};
            if (surface(\"k\", k) + surface(\"p\", p) == 2) seen = color (k[0], k[1], comp(p[1], 2));
        }",
    );
    let outputs =
        [COLOURS[0], COLOURS[1], ("seen", RslType::Color), ("k[1]", RslType::Float), ("p[1]", RslType::Color)];
    let mut pipeline = TestPipeline::surface(&look, &[], &outputs);
    pipeline.displacement = Some(ShaderUse::new(&bump));
    pipeline.atmosphere = Some(ShaderUse::new(&air));
    pipeline.displaced = true;
    pipeline.slice = Slice::Position;
    pipeline.outputs = &[("P", RslType::Point), ("N", RslType::Normal)];
    let slots = [shaded(40, &[])];
    let stored = pipeline.run(&slots);
    let reflection = &stored.composed.reflection;
    let names: Vec<_> = reflection.outputs.iter().map(|o| (&*o.name, o.channel)).collect();
    assert_eq!(names[2..], [("a[0]", 4), ("a[1]", 5), ("a[2]", 6), ("b[0]", 7), ("b[1]", 8)]);
    pipeline.slice = Slice::Colour;
    pipeline.outputs = &outputs;
    let ran = pipeline.compose().reflection;
    assert_eq!(ran.input_channels, 9);

    // The test's packer knows outputs only: without the parameter.
    let look = shader(
        "surface look(output varying float k[2] = {5, 6}; uniform color p[2] = {1, 2};)
        {
            float a[3] = {0, 0, 0};
            float found = displacement(\"a\", a);
            k[1] = a[1];
            Ci = color (a[0], a[2], found);
        }",
    );
    pipeline.surface = Some(ShaderUse::new(&look));
    let ran = pipeline.run(&slots);
    let s = &slots[0].scene.globals[&Global::S];
    for vertex in 0..slots[0].grid.vertices() {
        let four = 4.0 * float(s, vertex);
        assert!(close(&Const::F32(four), &stored.on_device[0][3][vertex], 0.0));
        let expected = [
            Const::Vec3([1.0, 3.0, 1.0]),
            slots[0].scene.globals[&Global::Os][vertex].clone(),
            Const::Vec3([5.0, four, 2.0]),
            Const::F32(four),
            Const::Vec3([2.0; 3]),
        ];
        for (output, expected) in expected.iter().enumerate() {
            let (bound, device) = (&ran.bound[0][output][vertex], &ran.on_device[0][output][vertex]);
            assert!(close(expected, bound, 0.0) && close(bound, device, 0.0), "{expected}: {bound}, {device}");
        }
    }
}

const ASKING: &str = "light asking()
{
    float k = 0, p = 0, q = 0, w[2] = {0, 0}, few[3] = {0, 0, 0}, found;
    color c = 0;
    found = surface(\"k\", k) + surface(\"p\", p) + surface(\"q\", q) + surface(\"w\", w)
        + 10 * (surface(\"w\", few) + surface(\"k\", c) + surface(\"Ci\", c));
    solar (vector (0, 0, 1), 0) Cl = color (k, p + q + w[1], found);
}";

const ASKED: &str =
    "surface asked(output varying float k = 1; output float w[2] = {0, 0}; float p = 4; varying float q = 2 * s;
    output varying color first = 0, second = 0, third = 0;)
{
    k = s;
    illuminance (P) first += Cl;
    illuminance (P, N, PI) second += Cl;
    k = t;
    w[1] = 3;
    illuminance (P) third += Cl;
    k = u;
}";

fn loops(pipeline: &TestPipeline<'_>) -> usize {
    let (body, mut count) = (pipeline.compose().body, 0);
    body.walk(body.root(), &mut |i| count += usize::from(body.inst(i).op == Op::Loop));
    count
}

/// A light sees what the surface has at its loop; loops between which nothing changed are still one.
#[test]
fn lights_see_the_surface_as_it_is_at_their_loop() {
    let (asked, lights) = (shader(ASKED), [shader(ASKING)]);
    let outputs = ["first", "second", "third"].map(|name| (name, RslType::Color));
    let pipeline = TestPipeline::surface(&asked, &lights, &outputs);
    let slots: Vec<_> = (50..54).map(|seed| shaded(seed, &lights)).collect();
    let ran = pipeline.run(&slots);
    for (i, slot) in slots.iter().enumerate() {
        let count = slot.scene.lights.len() as f32;
        let [s, t] = [Global::S, Global::T].map(|global| &slot.scene.globals[&global]);
        for vertex in 0..slot.grid.vertices() {
            let (s, t) = (float(s, vertex), float(t, vertex));
            let early = Const::Vec3([s, 4.0 + 2.0 * s, 4.0].map(|x| x * count));
            let late = Const::Vec3([t, 7.0 + 2.0 * s, 4.0].map(|x| x * count));
            for (output, expected) in [&early, &early, &late].into_iter().enumerate() {
                let (bound, device) = (&ran.bound[i][output][vertex], &ran.on_device[i][output][vertex]);
                assert!(close(expected, bound, 1e-5) && close(bound, device, 0.0), "{expected}: {bound}, {device}");
            }
        }
    }
    let plain = [shader("light plain() { solar (vector (0, 0, 1), 0) Cl = 1; }")];
    assert_eq!(loops(&pipeline), 2);
    assert_eq!(loops(&TestPipeline::surface(&asked, &plain, &outputs)), 1, "nobody asks");
}

/// `ambient()`, and the light loops of the atmosphere, which see the surface when it is finished.
#[test]
fn ambient_lights_and_those_of_the_atmosphere_see_the_surface_too() {
    let surface = shader(
        "surface asked(output varying float k = 1; output varying color seen = 0;) { k = s; seen = ambient(); k = t; }",
    );
    let air = shader("volume air(output varying color through = 0;) { illuminance (P) through += Cl; }");
    let lights = [
        shader("light glow() { float k = 0; Cl = surface(\"k\", k) + k; }"),
        shader("light lamp() { float k = 0; solar (vector (0, 0, 1), 0) Cl = surface(\"k\", k) + k; }"),
    ];
    let outputs = ["seen", "through"].map(|name| (name, RslType::Color));
    let mut pipeline = TestPipeline::surface(&surface, &lights, &outputs);
    pipeline.atmosphere = Some(ShaderUse::new(&air));
    let slots: Vec<_> = (60..64).map(|seed| shaded(seed, &lights)).collect();
    let ran = pipeline.run(&slots);
    for (i, slot) in slots.iter().enumerate() {
        let count = |kind: &Shader| slot.scene.lights.iter().filter(|l| std::ptr::eq(l.shader, kind)).count() as f32;
        let [s, t] = [Global::S, Global::T].map(|global| &slot.scene.globals[&global]);
        for vertex in 0..slot.grid.vertices() {
            let expected = [(s, &lights[0]), (t, &lights[1])].map(|(x, kind)| (1.0 + float(x, vertex)) * count(kind));
            for (output, expected) in expected.into_iter().enumerate() {
                let (bound, device) = (&ran.bound[i][output][vertex], &ran.on_device[i][output][vertex]);
                let expected = Const::Vec3([expected; 3]);
                assert!(close(&expected, bound, 1e-5) && close(bound, device, 0.0), "{expected}: {bound}, {device}");
            }
        }
    }
}

/// A light's array whose elements it computes, read by an index that it computes: filled where the light is known.
#[test]
fn arrays_that_a_light_computes_belong_to_that_light() {
    let lights = [shader(
        "light lp(float n = 2; point p[2] = {point \"shader\" (1, 0, 0), point \"shader\" (0, 0, 1)};)
        {
            float i;
            color sum = 0;
            for (i = 0; i < n; i += 1) sum += color (vtransform(\"shader\", p[i] - point \"shader\" (0, 0, 0)));
            solar (vector (0, 0, 1), 0) Cl = sum;
        }",
    )];
    let asking = shader("surface asking(output varying color sum = 0;) { illuminance (P) sum += Cl; }");
    let outputs = [("sum", RslType::Color)];
    let slots: Vec<_> = (70..73).map(|seed| shaded(seed, &lights)).collect();
    let ran = TestPipeline::surface(&asking, &lights, &outputs).run(&slots);
    for (i, slot) in slots.iter().enumerate() {
        let count = slot.scene.lights.len() as f32;
        let expected = Const::Vec3([count, 0.0, count].map(|x| x + 1.0));
        for vertex in 0..slot.grid.vertices() {
            let (bound, device) = (&ran.bound[i][0][vertex], &ran.on_device[i][0][vertex]);
            let more = |c: &Const| Const::Vec3(c.as_vec3().expect("a triple").map(|x| x + 1.0));
            assert!(close(&expected, &more(bound), 1e-4) && close(bound, device, 0.0), "{expected}: {bound}, {device}");
        }
    }
}

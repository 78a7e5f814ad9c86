//! Lookups of textures on the device: what the interpreter finds, whatever tiles are there at first.

use crate::generate::Random;
use crate::pack::ShadedGrid;
use crate::pipelines::close;
use crate::test_pipeline::{RunMode, TestPipeline};
use rustc_hash::FxHashMap;
use spirv_gen::abi::LOOP_TRIPS_MAX;
use spirv_gen::abi::textures::{
    CLAIMS, ENTRIES, MARKS, NAME_KEY, NO_PASS, PASSES, SLOT_WORDS, TABLE_RECORDS, TILE_BUFFERS, TILE_SIZE, hash,
};
use spirv_gen::interp::texture::{FoundTexture, TextureShape, TextureStore};
use spirv_gen::interp::{Grid, LightInstance, Scene, shade};
use spirv_gen::ir::{Const, Direction, Global, RslType, Shader};
use spirv_gen::partition::ForcedCut;
use spirv_gen::syntax::loader::NoIncludes;
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shader};
use std::cell::{Cell, RefCell};

/// Texture `n` has token `n + 1`.
pub(crate) const NAMES: [&str; 4] = ["plain.tx", "wide.tx", "sky.tx", "depth.tx"];
const HASH_BITS: u32 = 12;
const ENTRIES_MAX: u32 = 64;

/// The textures of a test, and which tiles of them are there.
#[derive(Debug)]
pub(crate) struct TestTextures {
    shapes: Vec<TextureShape>,
    tiles: FxHashMap<[u32; 2], Vec<u32>>,
    /// Slots in order.
    resident: RefCell<Vec<[u32; 2]>>,
    /// Names that have been asked for.
    opened: RefCell<Vec<u32>>,
    pub(crate) rounds: Cell<u32>,
    /// The most keys of a round.
    most: Cell<u32>,
}

impl TestTextures {
    pub(crate) fn new() -> Self {
        let mut random = Random::new(5);
        let shape = |size: [u32; 2], channels, format, kind| TextureShape {
            size,
            levels: 32 - size[0].max(size[1]).leading_zeros(),
            channels,
            format,
            kind,
            wrap: [2, 3],
            matrices: (kind == 3).then_some([MAP_CAMERA, MAP_PICTURE]),
            fov: 90.0,
        };
        let shapes = vec![
            shape([300, 200], 3, 0, 0),
            shape([130, 70], 5, 3, 0),
            shape([256, 128], 3, 2, 1),
            shape([150, 150], 1, 3, 3),
        ];
        let mut tiles = FxHashMap::default();
        for (texture, shape) in (0..).zip(&shapes) {
            for level in 0..shape.levels {
                let [across, down] = shape.size.map(|n| (n >> level).max(1).div_ceil(TILE_SIZE));
                for plane in 0..shape.channels.div_ceil([4, 2, 2, 1][shape.format as usize]) {
                    for (x, y) in (0..down).flat_map(|y| (0..across).map(move |x| (x, y))) {
                        let word = |_| match shape.format {
                            3 => random.float(0.0, 8.0).to_bits(),
                            _ => random.bits() & 0x3bff_3bff,
                        };
                        tiles.insert(key(texture, level, plane, [x, y]), (0..SLOT_WORDS).map(word).collect());
                    }
                }
            }
        }
        let (resident, opened) = (RefCell::default(), RefCell::default());
        Self { shapes, tiles, resident, opened, rounds: Cell::new(0), most: Cell::new(0) }
    }

    /// The buffers of bindings 5 to 14 for what is there.
    pub(crate) fn buffers(&self) -> Vec<Vec<u32>> {
        let (resident, opened) = (self.resident.borrow(), self.opened.borrow());
        let (table, matrices, entries) = (10, 10 + TABLE_RECORDS * NAMES.len() as u32, 60);
        let mut records = vec![[2, table, entries, HASH_BITS], [4 * (table - 2), NAMES.len() as u32, 0, 0]];
        let directory = |token: u32| match token {
            token if !opened.contains(&token) => 0,
            1..5 => token + 1,
            _ => 1,
        };
        records.extend((2..table).map(|record| std::array::from_fn(|i| directory(4 * (record - 2) + i as u32))));
        for shape in &self.shapes {
            let what = shape.levels | shape.channels << 8 | shape.format << 16 | shape.kind << 20;
            let first = if shape.matrices.is_some() { matrices } else { 0 };
            records.push([shape.size[0], shape.size[1], what, shape.wrap[0] | shape.wrap[1] << 4]);
            records.extend([[first, shape.fov.to_bits(), 0, 0], [0; 4], [0; 4]]);
        }
        records.extend([MAP_CAMERA, MAP_PICTURE].iter().flatten().map(|column| column.map(f32::to_bits)));
        records.resize(entries as usize + (1 << HASH_BITS), [0; 4]);
        for (slot, &key) in (1..).zip(&*resident) {
            let places =
                (0..).map(|i| entries as usize + (hash(key).wrapping_add(i) as usize & ((1 << HASH_BITS) - 1)));
            let place = places.into_iter().find(|&place| records[place][2] == 0).expect("room");
            records[place] = [key[0], key[1], slot, 0];
        }
        let mut misses = vec![0; MARKS as usize + resident.len()];
        misses[1] = ENTRIES_MAX;
        misses[PASSES as usize..CLAIMS as usize].fill(NO_PASS);
        let tiles = resident.iter().flat_map(|key| &self.tiles[key]).copied().collect();
        let others = (1..TILE_BUFFERS).map(|_| vec![0; 4]);
        [records.into_iter().flatten().collect(), misses, tiles].into_iter().chain(others).collect()
    }

    /// Loads what a dispatch missed, and returns whether it missed anything.
    pub(crate) fn load(&self, misses: &[u32]) -> bool {
        self.rounds.set(self.rounds.get() + 1);
        let keys = misses[ENTRIES as usize..].chunks(2).take(misses[0].min(ENTRIES_MAX) as usize);
        self.most.set(self.most.get().max(misses[0]));
        for key in keys {
            let key = [key[0], key[1]];
            if key[0] == NAME_KEY {
                assert!(!self.opened.borrow().contains(&key[1]), "a name is asked for once");
                self.opened.borrow_mut().push(key[1]);
            } else {
                assert!(self.tiles.contains_key(&key), "{key:x?} is a tile");
                assert!(!self.resident.borrow().contains(&key), "{key:x?} is asked for once");
                self.resident.borrow_mut().push(key);
            }
        }
        misses[0] > 0
    }

    /// Forgets all tiles and names.
    fn forget(&self) {
        self.resident.borrow_mut().clear();
        self.opened.borrow_mut().clear();
        self.rounds.set(0);
        self.most.set(0);
    }
}

fn key(texture: u32, level: u32, plane: u32, [x, y]: [u32; 2]) -> [u32; 2] {
    [texture | level << 20 | plane << 25, x | y << 16]
}

impl TextureStore for TestTextures {
    fn texture(&self, token: u32) -> FoundTexture {
        if (1..5).contains(&token) { FoundTexture::Number(token - 1) } else { FoundTexture::Missing }
    }

    fn shape(&self, texture: u32) -> TextureShape {
        self.shapes[texture as usize].clone()
    }

    fn word(&self, texture: u32, level: u32, plane: u32, at: [u32; 2]) -> u32 {
        let tile = &self.tiles[&key(texture, level, plane, at.map(|x| x / TILE_SIZE))];
        tile[(at[1] % TILE_SIZE * TILE_SIZE + at[0] % TILE_SIZE) as usize]
    }
}

/// The map's camera is the picture's; its picture shows x and y from -z / 2 to z / 2.
const MAP_CAMERA: [[f32; 4]; 4] =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
const MAP_PICTURE: [[f32; 4]; 4] =
    [[1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]];

fn compiled(name: &str, text: &str) -> Shader {
    let (shader, diagnostics) = parse_shader(&Source { name, text, loader: &NoIncludes, defines: &[] });
    lower(&shader.unwrap_or_else(|| panic!("{diagnostics:?}")))
}

/// A square of 10 x 6 vertices two units wide at z = 4, which looks along (s, t).
fn square(lights: &[Shader]) -> ShadedGrid<'_> {
    let grid = Grid { nu: 9, nv: 5, du: 1.0 / 9.0, dv: 0.2, flags: 0, seed: 3 };
    let column = |f: &dyn Fn(f32, f32) -> Const| -> Vec<Const> {
        (0..60).map(|vertex| f((vertex % 10) as f32 / 9.0, (vertex / 10) as f32 / 5.0)).collect()
    };
    let mut scene = Scene::default();
    NAMES.iter().for_each(|name| {
        scene.intern(name);
    });
    scene.globals.insert(Global::S, column(&|s, _| Const::F32(1.7 * s - 0.3)));
    scene.globals.insert(Global::T, column(&|s, t| Const::F32(t + 0.2 * s)));
    scene.globals.insert(Global::P, column(&|s, t| Const::Vec3([2.0 * s - 1.0, 2.0 * t - 1.0, 4.0])));
    scene.globals.insert(Global::N, column(&|s, t| Const::Vec3([s - 0.5, t - 0.4, -1.0])));
    let space: FxHashMap<_, _> = [Direction::CameraFromSpace, Direction::SpaceFromCamera]
        .into_iter()
        .map(|d| (d, std::array::from_fn(|i| if i % 5 == 0 { 1.0 } else { 0.0 })))
        .collect();
    let light = |shader| LightInstance { shader, params: Vec::new(), space: space.clone(), category: String::new() };
    scene.lights = lights.iter().map(light).collect();
    ShadedGrid { grid, scene, others: Vec::new() }
}

const LOOK: &str = "surface look(string extra = \"wide.tx\", form = \"box\"; uniform float wide = 1.5;
    output varying color a = 0; output varying color b = 0; output varying color c = 0;
    output varying color d = 0; output varying color e = 0;) {
    float size[2]; string type; matrix m;
    a = texture(\"plain.tx\", \"width\", wide, \"blur\", 0.01);
    b = color(texture(extra[3], 3 * t, s, \"filter\", form), texture(\"plain.tx\"[1], s, t, s + 0.1, t, s, t + 0.1, s + 0.1,
        t + 0.1, \"lerp\", 0), texture(\"plain.tx\"[9], s, t, \"fill\", 0.25));
    c = environment(\"sky.tx\", N, \"blur\", 0.1);
    float found = textureinfo(extra, \"resolution\", size);
    found += 10 * textureinfo(\"depth.tx\", \"type\", type) + 100 * textureinfo(\"none.tx\", \"exists\", size[0]);
    if (type == \"shadow\") found += 1000;
    d = color(found, size[0], size[1]);
    textureinfo(\"depth.tx\", \"projectionmatrix\", m);
    e = color(comp(m, 2, 0), comp(m, 1, 1), texture(\"none.tx\")) + color texture(\"none.tx\") + diffuse(N);
    Ci = a;
}";

const LAMP: &str = "light lamp(float bias = 0.02) {
    solar(vector(0, 0, 1), 0) { Cl = 1 - shadow(\"depth.tx\", Ps, \"samples\", 9, \"blur\", 0.05, \"bias\", bias); }
}";

const OUTPUTS: [(&str, RslType); 6] = [
    ("Ci", RslType::Color),
    ("a", RslType::Color),
    ("b", RslType::Color),
    ("c", RslType::Color),
    ("d", RslType::Color),
    ("e", RslType::Color),
];

#[test]
fn lookups_find_what_the_interpreter_finds_whatever_was_there_at_first() {
    let textures = TestTextures::new();
    let (surface, lamp) = (compiled("look.sl", LOOK), [compiled("lamp.sl", LAMP), compiled("lamp.sl", LAMP)]);
    let pipeline = TestPipeline { textures: Some(&textures), ..TestPipeline::surface(&surface, &lamp, &OUTPUTS) };
    let mut shaded = square(&lamp);
    shaded.scene.textures = Some(&textures);
    let ran = pipeline.run(std::slice::from_ref(&shaded));
    assert!(ran.composed.reflection.uses_textures && ran.composed.reflection.shortfalls.is_empty());
    let rounds = textures.rounds.get();
    assert!((3..30).contains(&rounds), "names, then tiles, then all is there: {rounds} rounds");
    assert!(textures.most.get() > 4, "tiles are asked for together");
    let (named, _) = shade(&surface, &shaded.scene, &shaded.grid);
    for (output, (name, _)) in OUTPUTS.iter().enumerate() {
        let wanted = &named.iter().find(|(n, _)| **n == **name).expect("an output").1;
        // An arc tangent of the device's own is in the environment's.
        let tolerance = if *name == "c" { 3e-3 } else { 0.0 };
        for vertex in 0..60 {
            let (got, wanted) = (&ran.on_device[0][output][vertex], &wanted[vertex]);
            assert!(close(got, wanted, tolerance), "{name} at {vertex}: {got}, not {wanted}");
            assert!(close(&ran.bound[0][output][vertex], wanted, 0.0), "{name} at {vertex}, bound");
        }
        let differ = (0..60).any(|v| wanted[v] != wanted[0]);
        assert!(differ || *name == "d", "{name} is the same everywhere");
    }
    // The same with everything there, at once.
    textures.rounds.set(0);
    let again = pipeline.run(&[shaded]);
    assert_eq!((again.on_device, textures.rounds.get()), (ran.on_device, 1));
    textures.forget();
}

#[test]
fn a_round_without_room_for_all_its_keys_counts_them() {
    let textures = TestTextures::new();
    let code = "surface wide() { float i, sum = 0; for (i = 0; i < 40; i += 1)
        sum += texture(\"plain.tx\", s * i, t * i, \"width\", 0) + texture(\"wide.tx\"[i / 8], s * i, t, \"width\", i);
        Ci = sum; }";
    let surface = compiled("wide.sl", code);
    let outputs = [("Ci", RslType::Color)];
    let pipeline = TestPipeline { textures: Some(&textures), ..TestPipeline::surface(&surface, &[], &outputs) };
    let mut shaded = square(&[]);
    shaded.scene.textures = Some(&textures);
    let ran = pipeline.run(std::slice::from_ref(&shaded));
    assert!(textures.rounds.get() > 2, "{} rounds", textures.rounds.get());
    let wanted = &shade(&surface, &shaded.scene, &shaded.grid).0;
    let wanted = &wanted.iter().find(|(name, _)| &**name == "Ci").expect("an output").1;
    assert_eq!(&ran.on_device[0][0], wanted);
}

/// Six lookups that depend on nothing, two that depend on one of them, and an array between them.
const MANY: &str = "surface many(output varying color a = 0; output varying color b = 0;) {
    float kept[2];
    color sum = 0;
    sum += texture(\"plain.tx\", s, t) + 2 * color texture(\"plain.tx\", 2 * s, t);
    kept[0] = comp(sum, 0);
    color one = texture(\"wide.tx\", t, s, \"blur\", 0.02) * color texture(\"plain.tx\", s + t, t);
    sum += one + color texture(\"wide.tx\", s, kept[0]) + color texture(\"plain.tx\", s, 3 * t, \"width\", 2);
    color two = texture(\"plain.tx\", comp(one, 1), t);
    kept[1] = s;
    a = sum * color texture(\"none.tx\", s, t) + color texture(\"plain.tx\", kept[1], 0.3);
    b = two + color texture(\"plain.tx\", t, 0.5 * s);
    Ci = a;
}";

#[test]
fn lookups_that_share_a_loop_find_what_the_interpreter_finds() {
    let textures = TestTextures::new();
    let surface = compiled("many.sl", MANY);
    let outputs = [("a", RslType::Color), ("b", RslType::Color)];
    let pipeline = TestPipeline { textures: Some(&textures), ..TestPipeline::surface(&surface, &[], &outputs) };
    let mut shaded = square(&[]);
    shaded.scene.textures = Some(&textures);
    let ran = pipeline.run(std::slice::from_ref(&shaded));
    let (named, _) = shade(&surface, &shaded.scene, &shaded.grid);
    for (output, (name, _)) in outputs.iter().enumerate() {
        let wanted = &named.iter().find(|(n, _)| **n == **name).expect("an output").1;
        for (vertex, wanted) in wanted.iter().enumerate().take(60) {
            let got = &ran.on_device[0][output][vertex];
            assert!(close(got, wanted, 0.0), "{name} at {vertex}: {got}, not {wanted}");
        }
    }
}

/// Each of the first three needs the one before it; the others need none.
const CHAIN: &str =
    "surface chain(output varying color a = 0; output varying float b = 0; output varying float d = 0;) {
    color one = texture(\"plain.tx\", s, t);
    float two = texture(\"wide.tx\"[1], comp(one, 0), t, \"blur\", 0.1 * s);
    color three = texture(\"plain.tx\", two, comp(one, 2), \"filter\", \"box\");
    float deep = shadow(\"depth.tx\", P + 0.1 * vector(two, 0, 0));
    if (two > 0.4) a = color texture(\"plain.tx\", two, 2 * t);
    color six = 0; float i;
    for (i = 0; i < 6; i += 1) six += color texture(\"plain.tx\", s + i * two, t);
    a += three + six + color texture(\"plain.tx\", s + 0.5, t) + color texture(\"wide.tx\", t, s);
    b = deep + float texture(\"wide.tx\", deep, two);
    d = texture(\"plain.tx\"[2], s, s);
    Ci = a;
}";

/// Lookups in branches of all forms: one that needs noise in its branch, one behind another branch and after a lookup,
/// those of both sides, one that derivatives go with in a branch that is the same for a grid, one of a local array,
/// which stays.
const BRANCHED: &str =
    "surface branched(float mode = 1; output varying color a = 0; output varying float b = 0; output varying float d = 0;) {
    float kept[2];
    color one = texture(\"plain.tx\", s, t);
    if (comp(one, 0) > 0.5) {
        float place = float noise(7 * P) + s;
        a = color texture(\"wide.tx\", place, t, \"blur\", 0.1 * float noise(9 * P));
        if (t > 0.5) a += 0.5 * color texture(\"plain.tx\", comp(a, 1), place);
        else a -= comp(a, 0);
    } else {
        a = 2 * color texture(\"plain.tx\", 1 - s, comp(one, 1));
    }
    if (mode == 1) {
        float stretched = s * s + 0.3 * comp(a, 2);
        b = float texture(\"wide.tx\", stretched, t) + shadow(\"depth.tx\", P + 0.1 * vector(b, stretched, 0));
    }
    if (mode == 2) b = float texture(\"plain.tx\", b, b);
    if (s > 0.3) {
        kept[1] = t;
        d = float texture(\"plain.tx\", kept[floor(1 + s)], b, s, t, s, t, s, t);
        kept[0] = d;
    }
    if (t < 0.7) d += kept[0] * float texture(\"wide.tx\", 0.25, 0.5, \"width\", 0);
    Ci = a;
}";

#[test]
fn lookups_that_are_called_find_what_the_interpreter_finds() {
    // Nine calls, and at least four passes around them.
    finds_what_the_interpreter_finds("chain.sl", CHAIN, 13);
}

#[test]
fn lookups_that_are_called_in_branches_find_what_the_interpreter_finds() {
    // All but the one of an array.
    finds_what_the_interpreter_finds("branched.sl", BRANCHED, 8 + 4);
}

/// Shades a surface with outputs `a`, `b`, `d` cut into passes, `calls` at least where its lookups are called.
fn finds_what_the_interpreter_finds(name: &str, text: &str, calls: usize) {
    let textures = TestTextures::new();
    let surface = compiled(name, text);
    let outputs = [("a", RslType::Color), ("b", RslType::Float), ("d", RslType::Float)];
    let pipeline = TestPipeline { textures: Some(&textures), ..TestPipeline::surface(&surface, &[], &outputs) };
    let mut shaded = square(&[]);
    shaded.scene.textures = Some(&textures);
    let (named, _) = shade(&surface, &shaded.scene, &shaded.grid);
    for cut in [ForcedCut::Calls, ForcedCut::Passes(3)] {
        let mode = RunMode { trips: LOOP_TRIPS_MAX, resume: false, interpret: true, cut: Some(cut), decides: false };
        let ran = pipeline.run_as(std::slice::from_ref(&shaded), mode);
        assert!(ran.passes >= if cut == ForcedCut::Calls { calls } else { 3 }, "{cut:?}: {} passes", ran.passes);
        for (output, (name, _)) in outputs.iter().enumerate() {
            let wanted = &named.iter().find(|(n, _)| **n == **name).expect("an output").1;
            for (vertex, wanted) in wanted.iter().enumerate().take(60) {
                let [got, bound] = [&ran.on_device, &ran.bound].map(|all| &all[0][output][vertex]);
                assert!(close(got, wanted, 0.0), "{cut:?}: {name} at {vertex}: {got}, not {wanted}");
                assert!(close(bound, wanted, 0.0), "{cut:?}: {name} at {vertex}, bound: {bound}, not {wanted}");
            }
        }
    }
}

//! Texture, environment, shadow and occlusion lookups of the shader library against the interpreter's.

use super::lab::Lab;
use super::random::Random;
use anthill::pipeline::kernels::constants::{LOOKUP_HEADER_WORDS, LOOKUP_SLOTS_FROM};
use anthill::pipeline::kernels::records::LookupQuery;
use anthill::pipeline::kernels::test::lookup;
use anthill::pipeline::recording::Groups;
use anthill::texture::{OCCLUSION_VIEW_WORDS, OCCLUSION_VIEWS_MAX};
use spirv_gen::abi::occlusion as occlusion_map;
use spirv_gen::interp::texture::{
    FilterForm, FoundTexture, LookupFilter, ShadowSampling, TextureShape, TextureStore, WantedChannels, environment,
    occlusion, shadow, texture, textureinfo,
};
use spirv_gen::ir::LookupKind;

const HEADER: usize = LOOKUP_HEADER_WORDS as usize;
const SLOTS: usize = LOOKUP_SLOTS_FROM as usize;
const FORMS: [FilterForm; 5] =
    [FilterForm::Gaussian, FilterForm::Box, FilterForm::RadialBspline, FilterForm::Disk, FilterForm::Lanczos];

/// Textures as the test kernel reads them: tokens from 1 on.
#[derive(Debug)]
struct Tiles {
    shapes: Vec<TextureShape>,
    words: Vec<u32>,
}

impl Tiles {
    /// Textures of every format, kind and wrap, full of random texels.
    fn new(random: &mut Random) -> Self {
        let mut tiles = Self { shapes: Vec::new(), words: vec![0; SLOTS] };
        let sizes = [[200, 130], [64, 64], [1, 1], [37, 300], [128, 64], [192, 128], [96, 96], [130, 70]];
        for (i, size) in (0..).zip(sizes) {
            let levels = 32 - u32::leading_zeros(size[0].max(size[1]));
            let kind = [0, 0, 0, 0, 1, 2, 3, 0][i as usize];
            let shape = TextureShape {
                size,
                levels,
                channels: [3, 4, 1, 5, 3, 3, 1, 3][i as usize],
                format: [0, 1, 2, 3, 2, 0, 3, 1][i as usize],
                kind,
                wrap: [i % 4, (i / 2 + 1) % 4],
                matrices: (kind == 3).then(|| [0; 2].map(|_| [0; 4].map(|_| [0; 4].map(|_| random.float(-1.0, 1.0))))),
                fov: 90.0,
            };
            tiles.add(&shape, random);
        }
        tiles.add_occlusion([40, 70], 5, random);
        tiles
    }

    /// An occlusion map of `views` maps of a size, seen from anywhere.
    fn add_occlusion(&mut self, size: [u32; 2], views: u32, random: &mut Random) {
        let first = self.words.len();
        let rows = 64 * (1 + views * size[1].div_ceil(64));
        let shape = TextureShape {
            size: [64, rows],
            levels: 1,
            channels: 1,
            format: 3,
            kind: 6,
            wrap: [1; 2],
            // The space of worlds, from that of pictures.
            matrices: Some([0; 2].map(|_| [0; 4].map(|_| [0; 4].map(|_| random.float(-1.0, 1.0))))),
            fov: 90.0,
        };
        self.add(&shape, random);
        let head = [views, size[0], size[1]].map(|number| (number as f32).to_bits());
        self.words[first..first + 3].copy_from_slice(&head);
        let matrices = &mut self.words[first + 32..][..32 * views as usize];
        matrices.fill_with(|| random.float(-1.0, 1.0).to_bits());
    }

    fn add(&mut self, shape: &TextureShape, random: &mut Random) {
        let number = self.shapes.len() + 1;
        let first = (self.words.len() - SLOTS) / 4096;
        let planes = shape.channels.div_ceil([4, 2, 2, 1][shape.format as usize]);
        let header = number * HEADER;
        let matrices = shape.matrices.map_or(0, |_| (header + 16) as u32 / 4);
        let fields = [shape.size[0], shape.size[1], shape.levels, shape.channels, shape.format, shape.kind];
        self.words[header..header + 6].copy_from_slice(&fields);
        let rest = [shape.wrap[0], shape.wrap[1], matrices, shape.fov.to_bits(), first as u32, planes];
        self.words[header + 6..header + 12].copy_from_slice(&rest);
        let numbers = shape.matrices.iter().flatten().flatten().flatten().map(|x| x.to_bits());
        self.words[header + 16..].iter_mut().zip(numbers).for_each(|(word, bits)| *word = bits);
        for level in 0..shape.levels {
            let tiles = shape.size.map(|n| (n >> level).max(1).div_ceil(64));
            for _ in 0..tiles[0] * tiles[1] * planes * 4096 {
                let bits = random.bits() as u32;
                self.words.push(if shape.format == 3 { random.float(0.0, 2.0).to_bits() } else { bits & 0x7bff_7bff });
            }
        }
        self.shapes.push(shape.clone());
    }
}

impl TextureStore for Tiles {
    fn texture(&self, token: u32) -> FoundTexture {
        if (1..=self.shapes.len() as u32).contains(&token) {
            FoundTexture::Number(token)
        } else {
            FoundTexture::Missing
        }
    }

    fn shape(&self, number: u32) -> TextureShape {
        self.shapes[number as usize - 1].clone()
    }

    fn word(&self, number: u32, level: u32, plane: u32, [x, y]: [u32; 2]) -> u32 {
        let header = number as usize * HEADER;
        let shape = &self.shapes[number as usize - 1];
        let tiles = |l: u32| shape.size.map(|n| (n >> l).max(1).div_ceil(64));
        let before: u32 = (0..level).map(|l| tiles(l)[0] * tiles(l)[1] * self.words[header + 11]).sum();
        let [across, down] = tiles(level);
        let slot = self.words[header + 10] + before + (plane * down + y / 64) * across + x / 64;
        self.words[SLOTS + slot as usize * 4096 + (y % 64 * 64 + x % 64) as usize]
    }
}

/// Numbers of all sizes, and some that are none.
fn wild(random: &mut Random, scale: f32) -> f32 {
    match random.below(60) {
        0 => [f32::NAN, f32::INFINITY, -1e30, 1e30, 3e38, 1e-38][random.below(6) as usize],
        1..5 => 0.0,
        _ => random.float(-1.0, 1.0) * scale,
    }
}

/// The number of a filter, plain or not.
fn filter_number(random: &mut Random) -> u32 {
    let number = random.below(10);
    number % 5 + number / 5 * u32::from(LookupKind::PLAIN)
}

fn query(random: &mut Random) -> LookupQuery {
    let what = [0, 1, 2, 3, 5][random.below(5) as usize];
    let size = [0.0005, 0.01, 0.2, 3.0][random.below(4) as usize];
    let mut wilds = |scale| [0; 4].map(|_| wild(random, scale));
    let [middle, along_x, along_y] = [wilds(3.0), wilds(size), wilds(size)];
    let narrow = wilds(0.05);
    let width = [wild(random, 2.0), wild(random, 2.0)];
    LookupQuery {
        what,
        token: [1 + random.below(9), 5 + random.below(2), 7 + 2 * random.below(2), 1 + random.below(10), 0, 9]
            [what as usize],
        channel: random.below(4) as f32,
        wanted: if what == 3 { random.below(8) } else { 1 + 2 * random.below(2) },
        form: filter_number(random),
        seed: if what == 3 { random.below(18) } else { random.bits() as u32 },
        fill: 0.25,
        between: random.below(2) as f32,
        middle,
        along_x,
        along_y,
        width_blur: [width[0], width[1], narrow[0].abs(), narrow[1].abs()],
        samples_bias: [random.below(80) as f32, narrow[2], narrow[3], 0.0],
    }
}

fn answer(tiles: &Tiles, q: &LookupQuery) -> [f32; 3] {
    let [middle, x, y, w, s] = [q.middle, q.along_x, q.along_y, q.width_blur, q.samples_bias];
    let filter = LookupFilter {
        width: [w[0], w[1]],
        blur: [w[2], w[3]],
        form: FORMS[(q.form % u32::from(LookupKind::PLAIN)) as usize],
        is_plain: q.form >= LookupKind::PLAIN.into(),
        fill: q.fill,
        lerp: q.between,
    };
    let wanted = WantedChannels { first: q.channel, count: q.wanted };
    let flat = [middle, x, y].map(|v| [v[0], v[1]]);
    let solid = [middle, x, y].map(|v| [v[0], v[1], v[2]]);
    let sampling =
        ShadowSampling { width: filter.width, blur: filter.blur, samples: s[0], bias: [s[1], s[2]], seed: q.seed };
    match q.what {
        0 => texture(tiles, q.token, wanted, flat, &filter),
        1 => environment(tiles, q.token, wanted, solid, &filter),
        5 => {
            let area = [solid[0], solid[1], solid[2], [middle[3], x[3], y[3]]];
            [occlusion(tiles, q.token, area, &sampling), 0.0, 0.0]
        }
        2 => [shadow(tiles, q.token, q.channel, solid, &sampling), 0.0, 0.0],
        _ => [textureinfo(tiles, q.token, q.wanted, q.seed as usize), 0.0, 0.0],
    }
}

/// What makes occlusion maps and what looks them up know them alike.
#[test]
fn occlusion_maps_have_as_many_maps_and_words_for_the_maker_and_the_library() {
    let library = [occlusion_map::VIEWS_MAX, occlusion_map::VIEW_WORDS].map(|number| number as usize);
    assert_eq!([OCCLUSION_VIEWS_MAX, OCCLUSION_VIEW_WORDS], library);
}

#[test]
fn lookups_give_what_the_interpreter_gives() {
    let mut random = Random::new(7);
    let tiles = Tiles::new(&mut random);
    let queries: Vec<LookupQuery> = (0..30_000).map(|_| query(&mut random)).collect();
    let mut lab = Lab::new();
    let bindings = lookup::Bindings {
        store: lab.upload("store", &tiles.words),
        queries: lab.upload("queries", &queries),
        results: lab.space("results", queries.len() as u64),
    };
    let push = lookup::Push { count: queries.len() as u32 };
    let groups = Groups::covering(queries.len() as u64, lookup::LOCAL_SIZE);
    lab.run(|recording| recording.dispatch(lookup::dispatch(groups, &bindings, &push)));
    let results = lab.read(bindings.results);
    let (mut shadows, mut occlusions, mut of_several) = (0, 0, 0);
    for (q, result) in queries.iter().zip(results) {
        let (found, expected) = (result, answer(&tiles, q));
        for (found, expected) in found.into_iter().zip(expected) {
            // Directions go through arc tangents, which agree to 2 ulp: a texel's difference is 1e-4 of it.
            let largest = if q.what == 1 { 3e-3 * expected.abs().max(1.0) } else { 0.0 };
            let same = found == expected || (found - expected).abs() <= largest;
            assert!(same, "{found} instead of {expected}: {q:?}");
        }
        shadows += u32::from(q.what == 2 && q.token == 7 && found[0] > 0.0);
        of_several += u32::from(q.what == 2 && q.token == 9 && found[0] > 0.0 && found[0] < 1.0);
        occlusions += u32::from(q.what == 5 && found[0] > 0.0 && found[0] < 1.0);
    }
    assert!(occlusions > 50, "{occlusions} points are partly hidden");
    assert!(shadows > 50, "{shadows} points are in shadow");
    assert!(of_several > 50, "{of_several} points are partly in the shadow that several maps see");
}

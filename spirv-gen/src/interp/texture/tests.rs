//! Lookups of pictures whose filtered values are known.

use super::cube::tests::direction;
use super::{
    FilterForm, FoundTexture, LookupFilter, ShadowSampling, TextureShape, TextureStore, WantedChannels, environment,
    occlusion, shadow, texture, textureinfo,
};
use std::f32::consts::PI;

mod quality;

const FORMS: [FilterForm; 5] =
    [FilterForm::Gaussian, FilterForm::Box, FilterForm::RadialBspline, FilterForm::Disk, FilterForm::Lanczos];
const BLACK: u32 = 0;
const CLAMP: u32 = 1;
const PERIODIC: u32 = 2;
const MIRROR: u32 = 3;

/// One picture of three float channels and its levels, token 1.
#[derive(Debug)]
struct Picture {
    shape: TextureShape,
    levels: Vec<Vec<[f32; 3]>>,
}

impl Picture {
    /// Of a function of the texel, levels by the mean of four.
    fn new(size: [u32; 2], wrap: u32, value: impl Fn(u32, u32) -> [f32; 3]) -> Self {
        let mut levels: Vec<Vec<_>> = vec![(0..size[0] * size[1]).map(|i| value(i % size[0], i / size[0])).collect()];
        let mut last = size;
        while last != [1, 1] {
            let next = last.map(|n| (n / 2).max(1));
            let finer = levels.last().expect("one at least").clone();
            let coarse = |i: u32| {
                let corner = |j: u32| {
                    let x = (i % next[0] * 2 + j % 2).min(last[0] - 1);
                    finer[((i / next[0] * 2 + j / 2).min(last[1] - 1) * last[0] + x) as usize]
                };
                std::array::from_fn(|c| (0..4).map(|j| corner(j)[c]).sum::<f32>() / 4.0)
            };
            levels.push((0..next[0] * next[1]).map(coarse).collect());
            last = next;
        }
        let shape = TextureShape {
            size,
            levels: levels.len() as u32,
            channels: 3,
            format: 3,
            kind: 0,
            wrap: [wrap; 2],
            matrices: None,
            fov: 90.0,
        };
        Self { shape, levels }
    }

    fn grey(size: [u32; 2], wrap: u32, value: impl Fn(u32, u32) -> f32) -> Self {
        Self::new(size, wrap, |x, y| [value(x, y); 3])
    }

    fn look(&self, area: [[f32; 2]; 3], filter: &LookupFilter) -> f32 {
        texture(self, 1, WantedChannels { first: 0.0, count: 3 }, area, filter)[0]
    }

    fn towards(&self, r: [f32; 3], dx: [f32; 3], dy: [f32; 3]) -> [f32; 3] {
        environment(self, 1, WantedChannels { first: 0.0, count: 3 }, [r, dx, dy], &LookupFilter::default())
    }
}

impl TextureStore for Picture {
    fn texture(&self, token: u32) -> FoundTexture {
        if token == 1 { FoundTexture::Number(0) } else { FoundTexture::Missing }
    }

    fn shape(&self, _: u32) -> TextureShape {
        self.shape.clone()
    }

    fn word(&self, _: u32, level: u32, plane: u32, [x, y]: [u32; 2]) -> u32 {
        let width = (self.shape.size[0] >> level).max(1);
        assert!(x < width && y < (self.shape.size[1] >> level).max(1), "({x}, {y}) is no texel of level {level}");
        self.levels[level as usize][(y * width + x) as usize][plane as usize].to_bits()
    }
}

fn with(form: FilterForm) -> LookupFilter {
    LookupFilter { form, ..LookupFilter::default() }
}

fn point(st: [f32; 2]) -> [[f32; 2]; 3] {
    [st, [0.0; 2], [0.0; 2]]
}

fn near(found: f32, expected: f32, within: f32, what: &str) {
    assert!((found - expected).abs() <= within, "{what}: {found} instead of {expected}");
}

#[test]
fn a_constant_stays_constant_under_every_filter_and_footprint() {
    for wrap in [CLAMP, PERIODIC, MIRROR] {
        let picture = Picture::grey([100, 37], wrap, |_, _| 0.7);
        for form in FORMS {
            for scale in [0.0, 1e-4, 0.01, 0.3, 5.0, 1e6, 1e30, f32::INFINITY, f32::NAN] {
                for (x, y) in [([1.0, 0.0], [0.0, 1.0]), ([0.3, 0.9], [-0.01, 0.004]), ([1.0, 1.0], [1.0, 1.0])] {
                    let area = [[0.98, -3.1], x.map(|v| v * scale), y.map(|v| v * scale)];
                    for blur in [0.0, 0.1] {
                        let filter = LookupFilter { blur: [blur; 2], ..with(form) };
                        near(picture.look(area, &filter), 0.7, 2e-6, &format!("{form:?} {scale} {wrap}"));
                    }
                }
            }
        }
    }
}

#[test]
fn a_ramp_gives_the_ramp() {
    let picture = Picture::grey([256, 256], CLAMP, |x, y| (x as f32 + 0.5) / 256.0 + 2.0 * ((y as f32 + 0.5) / 256.0));
    for form in FORMS {
        for (x, y) in [([0.01, 0.0], [0.0, 0.01]), ([0.1, 0.04], [0.0, 0.002]), ([0.002, 0.0], [0.0, 0.0])] {
            near(picture.look([[0.45, 0.52], x, y], &with(form)), 0.45 + 2.0 * 0.52, 1e-4, &format!("{form:?}"));
        }
    }
}

#[test]
fn a_point_is_sampled_between_the_centres_of_texels() {
    let picture = Picture::grey([4, 4], CLAMP, |x, _| x as f32);
    for (s, expected) in [(0.0, 0.0), (0.125, 0.0), (0.25, 0.5), (0.375, 1.0), (0.5, 1.5), (1.0, 3.0)] {
        near(picture.look(point([s, 0.5]), &LookupFilter::default()), expected, 1e-6, &s.to_string());
    }
    let wide = LookupFilter { width: [0.0; 2], ..LookupFilter::default() };
    near(picture.look([[0.25, 0.5], [0.7, 0.0], [0.0, 0.7]], &wide), 0.5, 1e-6, "width 0");
}

#[test]
fn wraps_act_at_edges_at_all_levels() {
    let at = |wrap, s| {
        Picture::grey([4, 4], wrap, |x, _| [1.0, 2.0, 3.0, 8.0][x as usize])
            .look(point([s, 0.4]), &LookupFilter::default())
    };
    for (wrap, left, beyond) in [(BLACK, 0.5, 0.0), (CLAMP, 1.0, 1.0), (PERIODIC, 4.5, 8.0), (MIRROR, 1.0, 1.0)] {
        near(at(wrap, 0.0), left, 1e-6, &format!("edge, {wrap}"));
        near(at(wrap, -0.125), beyond, 1e-6, &format!("beyond, {wrap}"));
    }
    near(at(MIRROR, -0.375), 2.0, 1e-6, "mirror");
    for s in [1e30, -1e30, 3e8] {
        assert!((0.0..=8.0).contains(&at(PERIODIC, s)) && (0.0..=8.0).contains(&at(MIRROR, s)), "{s}");
        near(at(BLACK, s), 0.0, 0.0, "black");
        near(at(CLAMP, s), if s > 0.0 { 8.0 } else { 1.0 }, 1e-6, "clamp");
    }
    assert_eq!(at(CLAMP, f32::NAN), 0.0);
    // At a coarse level half of a footprint on the edge is black.
    let white = Picture::grey([64, 64], BLACK, |_, _| 1.0);
    near(white.look([[0.0, 0.5], [0.1, 0.0], [0.0, 0.1]], &LookupFilter::default()), 0.5, 1e-4, "half black");
}

#[test]
fn a_period_changes_nothing() {
    let picture = Picture::grey([50, 30], PERIODIC, |x, y| ((x * 7 + y * 13) % 11) as f32);
    for form in FORMS {
        let at = |s, t| picture.look([[s, t], [0.11, 0.03], [0.01, 0.02]], &with(form));
        near(at(3.25, -1.5), at(0.25, 0.5), 2e-5, &format!("{form:?}"));
    }
}

#[test]
fn a_footprint_of_everything_gives_the_mean() {
    let picture = Picture::grey([64, 64], PERIODIC, |x, y| if (x / 8 + y / 8) % 2 == 0 { 1.0 } else { 0.0 });
    for form in FORMS {
        for scale in [2.0, 100.0, 1e20] {
            let area = [[0.3, 0.6], [scale, 0.0], [0.0, scale]];
            near(picture.look(area, &with(form)), 0.5, 1e-4, &format!("{form:?} {scale}"));
        }
    }
}

#[test]
fn a_checkerboard_to_the_horizon_tends_to_its_mean() {
    let picture = Picture::grey([256, 256], PERIODIC, |x, y| if (x / 16 + y / 16) % 2 == 0 { 1.0 } else { 0.0 });
    // A plane one below the eye: s = x / y, t = 1 / y for a row at y below the horizon; 16 squares a unit.
    let pixel = 1.0 / 256.0;
    for row in 0..6 {
        let y = (row as f32 + 0.5) * pixel;
        let contrast = (0..64).map(|column| {
            let x = (column as f32 - 31.5) * pixel;
            let area = [[x / y, 1.0 / y], [pixel / y, 0.0], [-x / (y * y) * pixel, -pixel / (y * y)]];
            (picture.look(area, &LookupFilter::default()) - 0.5).abs()
        });
        let worst = contrast.fold(0.0, f32::max);
        assert!(worst < [0.01, 0.01, 0.02, 0.1, 0.3, 0.4][row], "row {row}: {worst}");
    }
}

/// Returns how much of a grating's contrast a row of micropolygons keeps, each the mean of lookups at its corners: the
/// grating has `period` micropolygons of `width` texels and goes from `middle - half` to `middle + half`.
fn contrast_of_grating(period: f32, width: f32, [middle, half]: [f32; 2], filter: &LookupFilter) -> f32 {
    let texels = 512;
    let picture = Picture::grey([texels, 8], CLAMP, |x, _| {
        middle + half * (2.0 * PI * (x as f32 + 0.5) / (period * width)).sin()
    });
    let step = width / texels as f32;
    let look = |i: usize| picture.look([[0.1 + i as f32 * step, 0.5], [step, 0.0], [0.0, width / 8.0]], filter);
    // Whole waves, far from the edges.
    let waves = (0.4 * texels as f32 / (period * width)).floor() * 2.0;
    let count = (period * waves) as usize;
    let mut sums = [0.0; 2];
    for i in 0..count {
        let turn = 2.0 * PI * (i as f32 + 0.5) / period;
        let value = 0.5 * (look(i) + look(i + 1));
        sums = [sums[0] + value * turn.sin(), sums[1] + value * turn.cos()];
    }
    sums[0].hypot(sums[1]) * 2.0 / (count as f32 * half)
}

#[test]
fn micropolygons_keep_the_contrast_of_what_they_can_show() {
    let sharp = LookupFilter::default();
    // Levels are made with the box. One colour a micropolygon leaves 0.94 of 5, which is not counted here.
    for (period, least, most) in
        [(2.5, 0.0, 0.5), (5.0, 0.85, 1.15), (6.0, 0.9, 1.15), (8.0, 0.95, 1.12), (16.0, 0.98, 1.05)]
    {
        for width in [2.0, 2.5, 3.0, 4.0, 6.0] {
            let found = contrast_of_grating(period, width, [0.5, 0.25], &sharp);
            assert!((least..most).contains(&found), "{period} micropolygons of {width} texels: {found}");
        }
    }
    // What is blurred or wide on purpose is not sharpened, and neither is what has no level to take away.
    for (filter, what) in [
        (LookupFilter { blur: [0.03; 2], ..sharp }, "blur"),
        (LookupFilter { width: [3.0; 2], ..sharp }, "width"),
        (LookupFilter { lerp: 0.0, ..sharp }, "lerp"),
        (LookupFilter { is_plain: true, ..sharp }, "plain"),
    ] {
        let found = contrast_of_grating(12.0, 4.0, [0.5, 0.25], &filter);
        assert!(found < 0.97, "{what}: {found}");
    }
}

/// As at edges, where levels weighed below 0 would take lookups beyond what there is.
#[test]
fn lookups_stay_within_what_the_texels_are() {
    for (low, high, range) in
        [(0.0, 1.0, 0.0..=1.0), (0.3, 0.6, 0.0..=1.0), (0.5, 900.0, 0.25..=900.0), (-1.0, 2.0, -1.0..=2.0)]
    {
        let picture = Picture::grey([256, 256], CLAMP, |x, y| if x + y / 3 < 140 { low } else { high });
        let mut beyond = 0;
        for (form, i) in FORMS.into_iter().flat_map(|form| (0..300).map(move |i| (form, i))) {
            let step = 0.001 + 0.0002 * i as f32;
            let found = picture.look([[0.3 + 0.001 * i as f32, 0.4], [step, 0.3 * step], [0.0, step]], &with(form));
            let is_inside = range.contains(&(found + 1e-6)) || range.contains(&(found - 1e-6));
            assert!(is_inside, "{form:?} {low} to {high}, {i}: {found}");
            beyond += u32::from(found < low || found > high);
        }
        assert!(beyond > 0 || low != 0.3, "what is between 0 and 1 may get sharper");
    }
}

#[test]
fn channels_that_are_missing_are_filled() {
    let picture = Picture::new([8, 8], CLAMP, |_, _| [0.1, 0.2, 0.3]);
    let filter = LookupFilter { fill: 0.9, ..LookupFilter::default() };
    let look = |first, count| texture(&picture, 1, WantedChannels { first, count }, point([0.5, 0.5]), &filter);
    assert_eq!(look(1.0, 3), [0.2, 0.3, 0.9]);
    assert_eq!(look(2.0, 1)[0], 0.3);
    for first in [3.0, -1.0, 1e30, f32::NAN] {
        assert_eq!(look(first, 1)[0], 0.9, "{first}");
    }
    let missing = |count| texture(&picture, 7, WantedChannels { first: 0.0, count }, point([0.5, 0.5]), &filter);
    assert_eq!((missing(3), missing(1)[0]), ([1.0; 3], 0.0));
    let info = |what, index| textureinfo(&picture, 1, what, index);
    assert_eq!(
        [info(0, 0), info(1, 0), info(1, 1), info(2, 0), info(3, 0), info(4, 0), info(6, 0), info(7, 0)],
        [1.0, 8.0, 8.0, 3.0, 0.0, 0.0, 32.0, 0.0]
    );
    assert_eq!(textureinfo(&picture, 7, 0, 0), 0.0);
}

/// Returns a direction as a colour.
fn colour(d: [f32; 3]) -> [f32; 3] {
    let length = d.iter().map(|x| x * x).sum::<f32>().sqrt();
    d.map(|x| x / length)
}

/// Directions to everywhere, with some on seams and poles.
fn directions() -> Vec<[f32; 3]> {
    let mut found = vec![[0.0, 0.0, 1.0], [0.0, 0.0, -2.0], [-1.0, 1e-6, 0.1], [-1.0, -1e-6, 0.1], [1.0, 0.0, 0.0]];
    found.extend([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.01, 0.02, 3.0], [-1e-4, 1e-5, -1.0]]);
    found.extend((0..200).map(|i| {
        let (z, a) = ((i as f32 + 0.5) / 100.0 - 1.0, i as f32 * 2.4);
        [a.cos() * (1.0 - z * z).sqrt(), a.sin() * (1.0 - z * z).sqrt(), z].map(|x| x * 7.0)
    }));
    found
}

#[track_caller]
fn gives_directions(picture: &Picture, pole: f32) {
    for d in directions() {
        for size in [0.0, 0.002, 0.05] {
            let footprint = size * d.iter().map(|x| x * x).sum::<f32>().sqrt();
            let found = picture.towards(d, [footprint, 0.0, 0.0], [0.0, footprint * 0.5, footprint * 0.5]);
            let expected = colour(d);
            let error = (0..3).map(|i| (found[i] - expected[i]).abs()).fold(0.0, f32::max);
            let within = if expected[2].abs() > 0.95 { pole } else { 0.03 };
            assert!(error < within, "{d:?}, {size}: {found:?} instead of {expected:?}");
        }
    }
}

#[test]
fn a_lat_long_map_of_directions_gives_directions() {
    let mut picture = Picture::new([256, 128], CLAMP, |x, y| {
        let (a, t) = (((x as f32 + 0.5) / 256.0 - 0.5) * 2.0 * PI, (y as f32 + 0.5) / 128.0 * PI);
        [a.cos() * t.sin(), a.sin() * t.sin(), t.cos()]
    });
    picture.shape.kind = 1;
    gives_directions(&picture, 0.1);
    assert_eq!(textureinfo(&picture, 1, 3, 0), 1.0);
    for d in [[0.0; 3], [f32::NAN, 0.0, 1.0], [f32::INFINITY, 0.0, 0.0]] {
        assert_eq!(picture.towards(d, [0.0; 3], [0.0; 3]), [0.0; 3]);
    }
    assert!(picture.towards([1e-25, 0.0, 0.0], [0.0; 3], [0.0; 3])[0] > 0.99);
    assert!(picture.towards([3e38, 0.0, 0.0], [0.0; 3], [0.0; 3])[0] > 0.99);
}

#[test]
fn a_cube_of_directions_gives_directions() {
    let size = 128;
    let mut picture = Picture::new([3 * size, 2 * size], BLACK, |x, y| colour(direction([x, y], size)));
    picture.shape.kind = 2;
    gives_directions(&picture, 0.03);
}

/// Beside an edge or a corner of a cube each face shows what its neighbours show.
#[test]
fn faces_of_a_cube_mix_at_their_edges() {
    let colours =
        [[0.9, 0.1, 0.2], [0.1, 0.8, 0.3], [0.2, 0.3, 0.9], [0.9, 0.9, 0.1], [0.0, 0.5, 0.5], [1.0, 0.0, 0.7]];
    let mut picture = Picture::new([48, 32], BLACK, |x, y| colours[(x / 16 + 3 * (y / 16)) as usize]);
    picture.shape.kind = 2;
    let look = |d: [f32; 3], blur: f32| {
        let filter = LookupFilter { blur: [blur; 2], ..LookupFilter::default() };
        environment(&picture, 1, WantedChannels { first: 0.0, count: 3 }, [d, [0.0; 3], [0.0; 3]], &filter)
    };
    for (i, blur) in (0..600).flat_map(|i| [0.0, 0.1, 0.5, 1.0].map(|blur| (i, blur))) {
        let (axis, along) = (i % 3, (i / 3) as f32 / 100.0 - 1.0);
        // An edge goes along an axis; some places are beside corners.
        let mut d = [1.0_f32; 3];
        (d[axis], d[(axis + 1) % 3]) = (along, if i % 2 == 0 { 1.0 } else { -1.0 });
        let (mut a, mut b) = (d, d);
        a[(axis + 1) % 3] *= 1.001;
        b[(axis + 2) % 3] *= 1.001;
        let [a, b] = [a, b].map(|d| look(d, blur));
        let step = (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
        assert!(step < 0.02, "{d:?}, blur {blur}: {a:?} beside {b:?}");
    }
    // Where faces overlap they are looked up alone.
    picture.shape.fov = 100.0;
    let alone = picture.towards([1.0, 0.999, 0.1], [0.0; 3], [0.0; 3]);
    (0..3).for_each(|c| near(alone[c], colours[0][c], 1e-6, "one face"));
}

/// Returns an occlusion map of two maps of 40 x 70 depths, seen along z and along -x: the first hides what is behind z
/// = 2, the second nothing.
fn two_views() -> Picture {
    let mut words = [0.0; 4096];
    words[..3].copy_from_slice(&[2.0, 40.0, 70.0]);
    // Orthographic, 4 units wide and high.
    let along_z = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let along_x = [[0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 9.0, 1.0]];
    let picture = [[0.25, 0.0, 0.0, 0.0], [0.0, -0.25, 0.0, 0.0], [0.0; 4], [0.5, 0.5, 0.0, 1.0]];
    for (i, matrix) in [along_z, picture, along_x, picture].iter().enumerate() {
        words[32 + 16 * i..][..16].copy_from_slice(matrix.as_flattened());
    }
    let mut picture = Picture::grey([64, 64 * 5], BLACK, |x, y| match y {
        0..64 => words[(64 * y + x) as usize],
        64..192 if x < 40 && y - 64 < 70 => 2.0,
        _ => 1e38,
    });
    picture.shape.kind = 6;
    picture
}

#[test]
fn an_occlusion_is_the_mean_over_the_maps_that_a_point_faces() {
    let map = two_views();
    let look = |p, n: [f32; 3], samples| {
        occlusion(&map, 1, [p, [0.0; 3], [0.0; 3], n], &ShadowSampling { samples, ..SAMPLING })
    };
    for samples in [0.0, 1.0, 64.0] {
        let at = |z, n| look([0.0, 0.0, z], n, samples);
        assert_eq!(at(4.0, [0.0, 0.0, -1.0]), 1.0, "hidden from the only map that it faces");
        assert_eq!(at(1.5, [0.0, 0.0, -1.0]), 0.0, "before what the map sees");
        assert_eq!(at(4.0, [1.0, 0.0, 0.0]), 0.0, "the other map sees nothing");
        assert_eq!(at(4.0, [0.0, 0.0, 1.0]), 0.0, "faces none");
        assert_eq!(at(4.0, [0.0; 3]), 0.0, "no normal");
        // The longer the normal the same: the cosines are 3 / 5 and 4 / 5.
        near(at(4.0, [4.0, 0.0, -3.0]), 3.0 / 7.0, 1e-5, "both");
    }
    assert_eq!(look([f32::NAN, 0.0, 4.0], [0.0, 0.0, -1.0], 4.0), 0.0);
    assert_eq!(look([9.0, 0.0, 4.0], [0.0, 0.0, -1.0], 4.0), 0.0, "beside the map");
    assert_eq!((textureinfo(&map, 1, 0, 0), textureinfo(&map, 1, 1, 0)), (1.0, 0.0));
    let [shaded, occluded] = [depth_map(|_, _| 0.0), map].map(|map| {
        let p = [0.0, 0.0, 4.0];
        (shadow(&map, 1, 0.0, [p; 3], &SAMPLING), occlusion(&map, 1, [p, p, p, [0.0, 0.0, -1.0]], &SAMPLING))
    });
    assert_eq!((shaded.1, occluded.0), (0.0, 0.0), "each kind is looked up by its own function");
}

/// `shadow()` of several maps: what one of them sees behind something is dark, whatever the others see.
#[test]
fn a_shadow_in_several_maps_is_what_any_of_them_casts() {
    let mut map = two_views();
    let one = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    // Current space is 1 to the right of world space.
    let mut moved = one;
    moved[3][0] = 1.0;
    map.shape.matrices = Some([moved, one]);
    let look = |x: f32, z: f32, side: f32, samples: f32| {
        let area = [[x - 1.0, 0.0, z], [side, 0.0, 0.0], [0.0, side, 0.0]];
        shadow(&map, 1, 0.0, area, &ShadowSampling { samples, ..SAMPLING })
    };
    for samples in [0.0, 1.0, 64.0, 100.0] {
        assert_eq!(look(0.0, 4.0, 0.1, samples), 1.0, "one map has it in shadow, the other lit");
        assert_eq!(look(0.0, 1.5, 0.1, samples), 0.0, "both have it lit");
        assert_eq!(look(9.5, 4.0, 0.1, samples), 0.0, "no map sees it");
    }
    near(look(2.0, 4.0, 1.0, 256.0), 0.5, 0.02, "half of it is beside the map that has it in shadow");
    assert_eq!(shadow(&map, 1, 0.0, [[f32::NAN; 3]; 3], &SAMPLING), 0.0);
}

/// Returns a shadow map whose camera is the current space, that sees -1..1 at z = 1 (perspective).
fn depth_map(depth: impl Fn(u32, u32) -> f32) -> Picture {
    let mut picture = Picture::grey([256, 256], BLACK, depth);
    let one = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let picture_space = [[0.5, 0.0, 0.0, 0.0], [0.0, -0.5, 0.0, 0.0], [0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]];
    picture.shape.kind = 3;
    picture.shape.matrices = Some([one, picture_space]);
    picture
}

const SAMPLING: ShadowSampling =
    ShadowSampling { width: [1.0; 2], blur: [0.0; 2], samples: 16.0, bias: [0.0; 2], seed: 5 };

#[test]
fn a_shadow_is_the_fraction_that_lies_behind() {
    let map = depth_map(|x, _| if x < 128 { 2.0 } else { 1e38 });
    let look = |p, size: f32, how: &ShadowSampling| shadow(&map, 1, 0.0, [p, [size, 0.0, 0.0], [0.0, size, 0.0]], how);
    assert_eq!(look([-1.0, 0.0, 4.0], 0.1, &SAMPLING), 1.0);
    assert_eq!(look([1.0, 0.0, 4.0], 0.1, &SAMPLING), 0.0);
    assert_eq!(look([-0.5, 0.0, 1.5], 0.1, &SAMPLING), 0.0, "in front");
    assert_eq!(look([-0.5, 0.0, -3.0], 0.1, &SAMPLING), 0.0, "behind the map");
    assert_eq!(look([-9.0, 0.0, 4.0], 0.1, &SAMPLING), 0.0, "outside");
    assert_eq!(look([f32::NAN, 0.0, 4.0], 0.1, &SAMPLING), 0.0);
    for samples in [16.0, 64.0, 256.0] {
        for x in [0.0, 0.5, -0.5, 0.9] {
            // An area of a quarter of the map and a texel, x / 8 beyond the edge.
            let fraction = 0.5 - x / 8.0 / (0.25 + 1.0 / 256.0);
            let how = ShadowSampling { samples, ..SAMPLING };
            near(look([x, 0.0, 4.0], 2.0, &how), fraction, 1.5 / samples, &format!("{samples} samples at {x}"));
            let blurred = ShadowSampling { blur: [0.25; 2], ..how };
            near(look([x, 0.0, 4.0], 0.0, &blurred), fraction, 1.5 / samples, "blur");
        }
    }
}

#[test]
fn bias_moves_points_towards_the_light() {
    let map = depth_map(|_, _| 3.0);
    let at = |z, bias| {
        shadow(&map, 1, 0.0, [[0.0, 0.0, z], [0.0; 3], [0.0; 3]], &ShadowSampling { bias, samples: 64.0, ..SAMPLING })
    };
    assert_eq!((at(3.1, [0.0, 0.0]), at(3.1, [0.2, 0.2]), at(3.3, [0.2, 0.2])), (1.0, 0.0, 1.0));
    near(at(3.1, [0.0, 0.2]), 0.5, 0.15, "between");
    // A receiver seen at a slant does not shadow itself: samples follow its plane.
    let slanted = depth_map(|x, _| 4.0 / (1.0 + ((x as f32 + 0.5) / 128.0 - 1.0)));
    let p = [-0.5, 0.0, 4.5];
    let own = shadow(
        &slanted,
        1,
        0.0,
        [p, [0.4, 0.0, -0.4], [0.0, 0.4, 0.0]],
        &ShadowSampling { bias: [0.6; 2], ..SAMPLING },
    );
    assert_eq!(own, 0.0);
    assert_eq!(shadow(&Picture::grey([4, 4], CLAMP, |_, _| 0.0), 1, 0.0, [p; 3], &SAMPLING), 0.0, "no shadow map");
    assert_eq!(textureinfo(&map, 1, 3, 0), 2.0);
    assert_eq!((textureinfo(&map, 1, 4, 15), textureinfo(&map, 1, 5, 5)), (1.0, -0.5));
}

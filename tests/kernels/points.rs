//! Lookups of point clouds: the shader library against the interpreter, and that against sums over all points.

use super::lab::Lab;
use super::random::Random;
use anthill::pipeline::kernels::constants::{LOOKUP_HEADER_WORDS, LOOKUP_SLOTS_FROM};
use anthill::pipeline::kernels::records::LookupQuery;
use anthill::pipeline::kernels::test::lookup;
use anthill::pipeline::recording::Groups;
use anthill::points::{ChannelKind, PointChannel, PointCloud};
use anthill::texture::{TILE_WORDS, TextureFile};
use spirv_gen::abi::points::channel_hash;
use spirv_gen::interp::texture::{FoundTexture, TextureShape, TextureStore, points};

/// A cloud in tiles, token 1.
#[derive(Debug)]
struct Tiles {
    shape: TextureShape,
    words: Vec<u32>,
}

impl Tiles {
    fn new(cloud: &PointCloud) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.ply");
        cloud.write(&path).expect("a cloud is written");
        let file = TextureFile::open_points(&path).expect("a cloud is read");
        let header = file.header();
        let [across, down] = header.level_tiles(0);
        assert_eq!(across, 1);
        let mut words = Vec::new();
        for y in 0..down {
            let mut tile = [0; TILE_WORDS];
            file.read_tile(0, 0, 0, y, &mut tile).expect("a tile");
            words.extend(tile);
        }
        let shape = TextureShape {
            size: [header.width, header.height],
            levels: 1,
            channels: 0,
            format: 3,
            kind: header.kind as u32,
            wrap: [0; 2],
            matrices: None,
            fov: 0.0,
        };
        Self { shape, words }
    }

    /// What the test kernel reads.
    fn store(&self) -> Vec<u32> {
        let mut store = vec![0; LOOKUP_SLOTS_FROM as usize];
        let [width, height] = self.shape.size;
        let header = [width, height, 1, 0, 3, self.shape.kind, 0, 0, 0, 0, 0, 1];
        store[LOOKUP_HEADER_WORDS as usize..][..header.len()].copy_from_slice(&header);
        store.extend(&self.words);
        store
    }

    /// The channel `name` at `p`, facing `n`.
    fn look(&self, name: &str, p: [f32; 3], n: [f32; 3], reach: [f32; 2]) -> Option<[f32; 3]> {
        points(self, 1, [p, n], reach, channel_hash(name))
    }
}

impl TextureStore for Tiles {
    fn texture(&self, token: u32) -> FoundTexture {
        if token == 1 { FoundTexture::Number(1) } else { FoundTexture::Missing }
    }

    fn shape(&self, _: u32) -> TextureShape {
        self.shape.clone()
    }

    fn word(&self, _: u32, _: u32, _: u32, [x, y]: [u32; 2]) -> u32 {
        self.words[(y * 64 + x) as usize]
    }
}

const OWN: [f32; 2] = [0.0, 1.0];
const NO_NORMAL: [f32; 3] = [0.0; 3];

/// Points with the channels `_k` (float) and `_c` (color).
fn cloud(points: impl Iterator<Item = ([f32; 3], [f32; 3], f32, [f32; 4])>) -> PointCloud {
    let channel = |name: &str, kind| PointChannel { name: name.into(), kind };
    let mut cloud = PointCloud {
        channels: vec![channel("_k", ChannelKind::Float), channel("_c", ChannelKind::Color)],
        ..PointCloud::default()
    };
    for (position, normal, radius, values) in points {
        cloud.positions.push(position);
        cloud.normals.push(normal);
        cloud.radii.push(radius);
        cloud.values.extend(values);
    }
    cloud
}

/// A wall of 40 x 40 points at z = 0 from -1 to 1, which looks along z.
fn wall(radius: f32, value: impl Fn([f32; 3]) -> [f32; 4]) -> PointCloud {
    cloud((0..1600).map(|i| {
        let p = [(i % 40) as f32 / 20.0 - 0.975, (i / 40) as f32 / 20.0 - 0.975, 0.0];
        (p, [0.0, 0.0, 2.0], radius, value(p))
    }))
}

/// 10,000 points in a cube, whose radii are from 0.001 to 1.
fn crowd(random: &mut Random) -> PointCloud {
    let mut point = || {
        let radius = 10_f32.powf(random.float(-3.0, 0.0));
        let normal = if random.one_in(10) { NO_NORMAL } else { random.triple(-1.0, 1.0) };
        let p = random.triple(-1.0, 1.0);
        (p, normal, radius, [p[0] - p[1] * p[2], random.float(-5.0, 5.0), random.unit(), random.unit()])
    };
    let points: Vec<_> = (0..10_000).map(|_| point()).collect();
    cloud(points.into_iter())
}

/// The sum over all points.
fn plain(cloud: &PointCloud, p: [f32; 3], n: [f32; 3], [given, scale]: [f32; 2]) -> Option<[f64; 4]> {
    let dot = |a: [f32; 3], b: [f32; 3]| (0..3).map(|i| f64::from(a[i]) * f64::from(b[i])).sum::<f64>();
    let (mut sum, mut total) = ([0.0; 4], 0.0);
    for (i, &position) in cloud.positions.iter().enumerate() {
        let square: f64 = (0..3).map(|k| (f64::from(p[k]) - f64::from(position[k])).powi(2)).sum();
        let radius = f64::from(if given > 0.0 { given } else { cloud.radii[i] * scale });
        let normal = cloud.normals[i];
        let away = dot(n, n) > 0.0 && dot(normal, normal) > 0.0 && dot(n, normal) <= 0.0;
        if square < radius * radius && !away {
            let weight = (1.0 - square / (radius * radius)).powi(3);
            (0..4).for_each(|k| sum[k] += weight * f64::from(cloud.values[4 * i + k]));
            total += weight;
        }
    }
    (total > 0.0).then(|| sum.map(|x| x / total))
}

#[test]
fn a_constant_comes_out_as_it_is() {
    let tiles = Tiles::new(&wall(0.2, |_| [0.7, 0.1, 0.2, 0.3]));
    for (i, reach) in [OWN, [0.0, 2.5], [0.9, 1.0], [50.0, 1.0]].into_iter().enumerate() {
        let p = [0.1 * i as f32 + 0.03, -0.31, 0.01];
        assert_eq!(tiles.look("_k", p, NO_NORMAL, reach), Some([0.7; 3]), "{reach:?}");
        assert_eq!(tiles.look("_c", p, [0.0, 0.0, 1.0], reach), Some([0.1, 0.2, 0.3]), "{reach:?}");
    }
}

#[test]
fn a_ramp_is_averaged_to_its_value_in_the_middle() {
    let tiles = Tiles::new(&wall(0.2, |p| [p[0], p[0], p[1], 3.0 * p[0] - p[1]]));
    for (x, y) in [(0.0, 0.0), (0.3, 0.41), (-0.52, 0.117)] {
        let found = tiles.look("_c", [x, y, 0.0], [0.0, 0.0, 1.0], OWN).expect("there are points");
        for (found, wanted) in found.into_iter().zip([x, y, 3.0 * x - y]) {
            assert!((found - wanted).abs() < 2e-3, "{found} is not {wanted}");
        }
    }
}

#[test]
fn points_count_within_their_radius_and_on_their_side() {
    let tiles = Tiles::new(&wall(0.1, |_| [1.0; 4]));
    let k = |z: f32, n: [f32; 3], reach| tiles.look("_k", [0.025, 0.025, z], n, reach).map(|[value, ..]| value);
    let up = [0.1, 0.0, 0.5];
    assert_eq!([0.0, 0.099, 0.101].map(|z| k(z, up, OWN)), [Some(1.0), Some(1.0), None]);
    assert_eq!([0.199, 0.201].map(|z| k(z, up, [0.0, 2.0])), [Some(1.0), None]);
    assert_eq!([0.299, 0.301].map(|z| k(z, up, [0.3, 2.0])), [Some(1.0), None]);
    assert_eq!([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], NO_NORMAL].map(|n| k(0.0, n, OWN)), [None, None, Some(1.0)]);
    // An unknown channel is 0 where points are.
    assert_eq!(tiles.look("_none", [0.0; 3], up, OWN), Some([0.0; 3]));
    assert_eq!(tiles.look("_none", [3.0; 3], up, OWN), None);
}

/// Such a lookup averages over more points than it visits.
#[test]
fn a_lookup_of_a_whole_wall_is_near_the_mean_of_all_points() {
    let wall = wall(0.1, |p| [p[0] * p[0], p[1], p[0], 1.0]);
    let tiles = Tiles::new(&wall);
    for p in [[0.0, 0.0, 0.5], [1.0, 0.3, 0.1], [0.7, -0.7, 0.0]] {
        let wanted = plain(&wall, p, NO_NORMAL, [2.0, 1.0]).expect("there are points")[0];
        let found = f64::from(tiles.look("_k", p, NO_NORMAL, [2.0, 1.0]).expect("there are points")[0]);
        assert!((found - wanted).abs() < 0.01, "{found} is not {wanted}");
    }
}

#[test]
fn a_crowd_is_averaged_as_by_a_sum_over_all_points() {
    let random = &mut Random::new(3);
    let crowd = crowd(random);
    let tiles = Tiles::new(&crowd);
    let mut largest = [0.0_f64; 2];
    for i in 0..300 {
        let n = if i % 2 == 0 { NO_NORMAL } else { random.triple(-1.0, 1.0) };
        let (p, reach) = (random.triple(-1.2, 1.2), [OWN, [0.0, 0.5], [0.1, 1.0]][i % 3]);
        let (found, wanted) = (tiles.look("_k", p, n, reach), plain(&crowd, p, n, reach));
        assert_eq!(found.is_some(), wanted.is_some(), "{p:?}");
        if let (Some([k, ..]), Some([wanted, ..])) = (found, wanted) {
            let error = (f64::from(k) - wanted).abs();
            largest = [largest[0].max(error), largest[1] + error / 300.0];
        }
    }
    // Points that count as one are at most a sixteenth of a radius from where they count.
    assert!(largest[0] < 0.02 && largest[1] < 1e-3, "{largest:?}");
}

/// Numbers of all sizes, and some that are none.
fn wild(random: &mut Random, scale: f32) -> f32 {
    match random.below(60) {
        0 => [f32::NAN, f32::INFINITY, -1e30, 1e30, 3e38, 1e-38][random.below(6) as usize],
        1..4 => 0.0,
        _ => random.float(-1.0, 1.0) * scale,
    }
}

#[test]
fn a_device_finds_what_the_interpreter_finds() {
    let random = &mut Random::new(11);
    for cloud in [crowd(random), wall(0.15, |p| [p[0], p[1], 1.0, p[0] * p[1]]), cloud(std::iter::empty())] {
        let tiles = Tiles::new(&cloud);
        let query = |random: &mut Random| {
            let mut wilds = |scale| [0; 4].map(|_| wild(random, scale));
            let [middle, along_x] = [wilds(1.1), wilds(1.0)];
            let reach = [OWN, [0.0, 3.0], [0.2, 1.0], [30.0, 0.0], wilds(1.0)[..2].try_into().expect("two")];
            let reach = reach[random.below(5) as usize];
            let [wanted, seed] = channel_hash(["_k", "_c", "_none"][random.below(3) as usize]);
            let token = if random.one_in(20) { 2 } else { 1 };
            let along_x = if random.one_in(3) { [0.0; 4] } else { along_x };
            let width_blur = [reach[0], reach[1], 0.0, 0.0];
            LookupQuery { what: 4, token, wanted, seed, middle, along_x, width_blur, ..LookupQuery::default() }
        };
        let queries: Vec<LookupQuery> = (0..3000).map(|_| query(random)).collect();
        let hits = hits_of_both(&tiles, &queries);
        assert!(hits > 500 || cloud.positions.is_empty(), "{hits} lookups find something");
    }
}

/// Compares what a device finds with what the interpreter finds, and counts the lookups that find something.
fn hits_of_both(tiles: &Tiles, queries: &[LookupQuery]) -> usize {
    let mut lab = Lab::new();
    let bindings = lookup::Bindings {
        store: lab.upload("store", &tiles.store()),
        queries: lab.upload("queries", queries),
        results: lab.space("results", queries.len() as u64),
    };
    let push = lookup::Push { count: queries.len() as u32 };
    let groups = Groups::covering(queries.len() as u64, lookup::LOCAL_SIZE);
    lab.run(|recording| recording.dispatch(lookup::dispatch(groups, &bindings, &push)));
    let found = lab.read(bindings.results);
    for (q, found) in queries.iter().zip(&found) {
        let [p, n] = [q.middle, q.along_x].map(|v| [v[0], v[1], v[2]]);
        let wanted = points(tiles, q.token, [p, n], [q.width_blur[0], q.width_blur[1]], [q.wanted, q.seed]);
        assert_eq!(*found, wanted.map_or([0.0; 4], |[x, y, z]| [x, y, z, 1.0]), "{q:?}");
    }
    found.iter().filter(|found| found[3] > 0.0).count()
}

/// As a damaged brick map may have them: the first node follows itself, and so all that are the last below another.
#[test]
fn nodes_in_a_circle_are_left() {
    let mut tiles = Tiles::new(&wall(0.1, |p| [p[0], p[1], 1.0, 0.5]));
    let first = tiles.words[0];
    tiles.words[first as usize] = first;
    let [wanted, seed] = channel_hash("_k");
    let width_blur = [0.0, 1.0, 0.0, 0.0];
    let query = |x: f32| {
        let middle = [x, 0.2, 0.0, 0.0];
        LookupQuery { what: 4, token: 1, wanted, seed, middle, width_blur, ..LookupQuery::default() }
    };
    assert_eq!(hits_of_both(&tiles, &[0.1, -0.7, 0.5, 5.0].map(query)), 3);
}

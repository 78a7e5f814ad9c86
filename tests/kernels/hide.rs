//! Hiding against the double loop over samples and micropolygons: equal keys, bit for bit.

use super::random::Random;
use super::region::{Mesh, Region, candidates, flat_frame, pattern, region};
use crate::reference::hide::{self as reference, EMPTY, behind, blocks, samples};
use anthill::pipeline::hide;
use anthill::pipeline::kernels::constants::{FRAME_JITTER, FRAME_PERSPECTIVE, NUMBER_MP_BITS};
use anthill::pipeline::kernels::records::Frame;
use anthill::pipeline::pixels::RegionPixels;
use anthill::pipeline::plan::Division;

/// Hides grids on the device, with each division, and by the reference; returns the keys.
fn check(frame: Frame, pixels: RegionPixels, meshes: &[Mesh]) -> Vec<u64> {
    let expected = reference::hide(&pixels, pattern(&frame), &candidates(&frame, meshes));
    for division in Division::ALL {
        check_keys(frame, pixels, meshes, division, &expected);
    }
    expected
}

fn check_keys(frame: Frame, pixels: RegionPixels, meshes: &[Mesh], division: Division, expected: &[u64]) {
    check_with(frame, pixels, meshes, division, 4096, expected);
}

fn check_with(frame: Frame, pixels: RegionPixels, meshes: &[Mesh], division: Division, colours: u64, expected: &[u64]) {
    let mut device = Region { division, ..Region::new(frame, pixels, |room| room.colours = colours) };
    device.clear();
    device.hide(meshes);
    let found = device.keys();
    let wrong: Vec<usize> = (0..found.len()).filter(|&i| found[i] != expected[i]).collect();
    if let Some(&first) = wrong.first() {
        let (pixel, at) = samples(&pixels, pattern(&frame)).nth(first).expect("a sample");
        panic!(
            "{division:?}: {} of {} samples differ; the first is {first} of pixel {pixel:?} at {at:?}: {:x} for {:x}",
            wrong.len(),
            found.len(),
            found[first],
            expected[first]
        );
    }
}

const SAMPLES: [[u32; 2]; 5] = [[1, 1], [2, 2], [4, 4], [3, 5], [13, 13]];

/// Any micropolygon: usual ones, slivers, folded, degenerate, behind everything, wild.
fn any_quad(random: &mut Random, size: f32) -> Mesh {
    let middle = [random.float(-2.0, 14.0), random.float(-2.0, 12.0)];
    let z = random.float(1.0, 9.0);
    let size = if random.one_in(8) { 4.0 * size } else { size };
    let mut corners = [0; 4].map(|_| {
        [
            middle[0] + random.float(-size, size),
            middle[1] + random.float(-size, size),
            z + random.float(-0.5, 0.5) * random.unit(),
        ]
    });
    match random.below(12) {
        0 => corners[3] = corners[0],
        1 => corners[2] = corners[1],
        2 => corners[1] = corners[0],
        3 => (0..4).for_each(|i| corners[i][1] = corners[0][1] + i as f32 * 0.002), // sliver
        4 => (0..4).for_each(|i| corners[i][2] = 5.0),                              // many at equal depth
        5 => corners = [corners[0]; 4],
        6 => (0..4).for_each(|i| corners[i] = corners[i].map(f32::round)), // on pixel corners
        7 => corners[random.below(4) as usize][2] = [0.2, f32::NAN, 2e6, -1.0][random.below(4) as usize],
        _ => {}
    }
    let mut mesh = Mesh::quad(corners);
    if random.one_in(4) {
        mesh.one_sided = Some(random.one_in(2));
    }
    if random.one_in(6) {
        mesh.bound_px = [random.int(-1..5), random.int(-1..5), random.int(5..12), random.int(5..12)];
        mesh.bound_z = [z - 0.1, z + 0.1];
    }
    mesh
}

#[test]
fn random_micropolygons() {
    for (seed, samples) in (0..).zip(SAMPLES) {
        let mut random = Random::new(seed);
        let meshes: Vec<Mesh> = (0..150).map(|_| any_quad(&mut random, 1.2)).collect();
        for jitter in [true, false] {
            check(flat_frame(samples, jitter), region(0, 0, 11, 9), &meshes);
        }
    }
}

/// A frame with perspective, its axis in the middle of a region of 12 x 10 pixels.
fn perspective_frame(samples: [u32; 2]) -> Frame {
    Frame {
        raster_scale: [1024.0 * 12.3, -1024.0 * 12.3],
        raster_offset: [1024.0 * 6.1, 1024.0 * 5.2],
        flags: FRAME_PERSPECTIVE | FRAME_JITTER,
        ..flat_frame(samples, true)
    }
}

#[test]
fn what_finds_no_place_in_the_lists_of_bins_is_hidden_all_the_same() {
    let mut random = Random::new(31);
    let meshes: Vec<Mesh> = (0..400).map(|_| any_quad(&mut random, 1.2)).collect();
    let (frame, pixels) = (flat_frame([4, 4], true), region(0, 0, 11, 9));
    let expected = reference::hide(&pixels, pattern(&frame), &candidates(&frame, &meshes));
    // 4 bins, whose counts, offsets and total take 192 words: no lists, some full lists, and room for all.
    for colours in [40, 49, 60, 100, 4096] {
        check_with(frame, pixels, &meshes, Division::Binned, colours, &expected);
    }
}

#[test]
fn bins_with_more_micropolygons_than_a_list_holds() {
    let mut random = Random::new(32);
    let quad = |_| {
        let [x, y] = [random.float(0.0, 3.0), random.float(0.0, 3.0)];
        let corner = |dx: f32, dy: f32| [x + dx, y + dy, 3.0 + x * y];
        Mesh::quad([corner(0.0, 0.0), corner(0.4, 0.1), corner(0.1, 0.5), corner(0.5, 0.6)])
    };
    let meshes: Vec<Mesh> = (0..2500).map(quad).collect();
    check(flat_frame([2, 2], true), region(0, 0, 3, 3), &meshes);
}

/// As many loop trips as one invocation may come to: thin, high, and whole workgroups of them.
#[test]
fn thin_micropolygons_of_thousands_of_samples() {
    let mut random = Random::new(33);
    let quad = |_| {
        let (x, y, z) = (random.float(0.1, 0.6), random.float(0.0, 0.3), random.float(2.0, 9.0));
        Mesh::quad([[x, y, z], [x + 0.3, y, z], [x, y + 15.6, z], [x + 0.3, y + 15.6, z]])
    };
    let meshes: Vec<Mesh> = (0..300).map(quad).collect();
    check(flat_frame([1, 256], true), region(0, 0, 1, 16), &meshes);
}

#[test]
fn random_micropolygons_in_perspective() {
    for (seed, samples) in (10..).zip(SAMPLES) {
        let mut random = Random::new(seed);
        let in_view = |mut mesh: Mesh| {
            mesh.p.iter_mut().for_each(|p| {
                (p[0], p[1]) = ((p[0] - 6.0) / 12.0 * p[2], (p[1] - 5.0) / 12.0 * p[2]);
            });
            mesh
        };
        let meshes: Vec<Mesh> = (0..150).map(|_| in_view(any_quad(&mut random, 1.5))).collect();
        check(perspective_frame(samples), region(-1, 0, 12, 10), &meshes);
    }
}

#[test]
fn the_largest_grid_and_the_smallest() {
    let mut random = Random::new(77);
    let mut meshes = Vec::new();
    for (nu, nv) in [(15, 15), (1, 1), (15, 1), (1, 15), (7, 3), (4, 2), (3, 3), (10, 10), (15, 7)] {
        let vertex = |k: u32| {
            let (i, j) = (k % (nu + 1), k / (nu + 1));
            let wobble = random.triple(-0.2, 0.2);
            [i as f32 * 0.8 + wobble[0], j as f32 * 0.7 + wobble[1], 5.0 + wobble[2] + 0.1 * i as f32]
        };
        meshes.push(Mesh::new(nu, nv, (0..(nu + 1) * (nv + 1)).map(vertex).collect()));
    }
    check(flat_frame([4, 4], true), region(0, 0, 12, 11), &meshes);
}

#[test]
fn regions_at_negative_pixels_and_away_from_the_origin() {
    let mut random = Random::new(5);
    let meshes: Vec<Mesh> = (0..100).map(|_| any_quad(&mut random, 2.0)).collect();
    let whole = check(flat_frame([3, 2], true), region(-2, -2, 14, 12), &meshes);
    // The same samples in parts show the same.
    for part in [region(-2, -2, 5, 3), region(5, -2, 14, 3), region(-2, 3, 14, 12), region(7, 6, 8, 7)] {
        let keys = check(flat_frame([3, 2], true), part, &meshes);
        let [x0, y0, ..] = part.sampled;
        let [width, _] = part.size();
        for (i, key) in keys.iter().enumerate() {
            let (pixel, s) = (i as u32 / 6, i % 6);
            let (x, y) = (x0 + 2 + (pixel % width).cast_signed(), y0 + 2 + (pixel / width).cast_signed());
            assert_eq!(*key, whole[(y * 16 + x) as usize * 6 + s]);
        }
    }
}

#[test]
fn micropolygons_wider_than_32_bit_arithmetic_holds() {
    let mut random = Random::new(9);
    let mut meshes: Vec<Mesh> = (0..20).map(|_| any_quad(&mut random, 40.0)).collect();
    // Corners as far out as they may be.
    let far = [1e9, -1e9, 3e5, -2e5];
    for _ in 0..10 {
        let mut corner = || [far[random.below(4) as usize], far[random.below(4) as usize], random.float(2.0, 4.0)];
        meshes.push(Mesh::quad([corner(), corner(), corner(), corner()]));
    }
    // Just inside and just beyond the border between the two kinds of arithmetic.
    for extent in [16_383.0, 16_384.0] {
        let e = extent / 1024.0;
        meshes.push(Mesh::quad([
            [-3.0, -2.0, 6.0],
            [e - 3.0, -2.0, 6.0],
            [-3.0, e - 2.0, 6.5],
            [e - 3.0, e - 2.0, 6.6],
        ]));
    }
    check(flat_frame([4, 4], true), region(0, 0, 13, 11), &meshes);
}

#[test]
fn micropolygons_of_thousands_of_samples_are_finished_by_the_rest_pass() {
    let quad = |x: f32, y: f32, size: f32, z: f32| {
        Mesh::quad([[x, y, z], [x + size, y + 3.0, z], [x - 2.0, y + size, z + 1.0], [x + size, y + size, z]])
    };
    let meshes = [
        quad(1.0, 1.0, 80.0, 5.0),
        quad(30.0, 2.0, 33.0, 4.0),
        quad(-40.0, -40.0, 300.0, 7.0),
        quad(9.5, 9.5, 1.0, 2.0),
    ];
    let keys = check(flat_frame([4, 4], true), region(0, 0, 60, 50), &meshes);
    assert!(!keys.contains(&EMPTY), "the largest covers everything");
    // One narrow enough for 32 bits, with more than 8192 samples.
    check(flat_frame([13, 13], true), region(0, 0, 17, 17), &[quad(2.0, 1.0, 12.5, 3.0), quad(1.0, 1.0, 9.0, 4.0)]);
}

#[test]
fn a_micropolygon_covers_a_large_region_to_the_last_sample() {
    let mut device = Region::new(flat_frame([4, 4], true), region(0, 0, 256, 256), |_| ());
    device.clear();
    device.hide(&[Mesh::quad([[-9.0, -9.0, 5.0], [999.0, -9.0, 5.0], [-9.0, 999.0, 6.0], [999.0, 999.0, 6.0]])]);
    let open = device.keys().iter().filter(|key| **key == EMPTY).count();
    assert_eq!((open, device.lab.read(device.slices.rest)[0].rest_lost), (0, 0));
}

#[test]
fn at_equal_depth_the_lower_number_wins() {
    let card = |z: f32| Mesh::quad([[0.0, 0.0, z], [4.0, 0.0, z], [0.0, 4.0, z], [4.0, 4.0, z]]);
    let keys = check(flat_frame([2, 2], true), region(0, 0, 4, 4), &[card(3.0), card(2.0), card(2.0)]);
    assert!(keys.iter().all(|key| *key == u64::from(2.0_f32.to_bits()) << 32 | 1 << NUMBER_MP_BITS));
}

#[test]
fn a_fan_covers_every_sample_once() {
    // Around a point on a sample, out to beyond the region: sectors of all slopes, along the axes and the diagonals
    // too.
    let centre = [5.5, 4.5];
    let turn = std::f32::consts::TAU;
    let rim: Vec<[f32; 2]> =
        (0..24).map(|i| (turn * i as f32 / 24.0).sin_cos()).map(|(s, c)| [20.0 * c, 20.0 * s]).collect();
    let corner = |[x, y]: [f32; 2]| [centre[0] + x, centre[1] + y, 3.0];
    let sectors: Vec<Mesh> = (0..24)
        .map(|i| {
            let [a, b] = [corner(rim[i]), corner(rim[(i + 1) % 24])];
            // In turn a triangle by a repeated corner, and the two orientations.
            let middle = corner([0.0, 0.0]);
            Mesh::quad([[middle, a, middle, b], [middle, middle, a, b], [b, middle, a, middle]][i % 3])
        })
        .collect();
    for jitter in [true, false] {
        let frame = flat_frame([1, 1], jitter);
        let pixels = region(0, 0, 11, 9);
        let mut times = vec![0; 99];
        for (rank, sector) in sectors.iter().enumerate() {
            let mut device = Region::new(frame, pixels, |_| ());
            device.clear();
            device.hide(std::slice::from_ref(sector));
            let keys = device.keys();
            assert!(keys.iter().all(|key| *key == EMPTY || *key as u32 == 0), "sector {rank}");
            keys.iter().zip(&mut times).for_each(|(key, times)| *times += u32::from(*key != EMPTY));
        }
        assert!(times.iter().all(|times| *times == 1), "{times:?}");
    }
}

#[test]
fn samples_are_where_the_reference_says() {
    // Two cards whose depth is one more than x, and y: it tells where the sample is, to the last 1/1024 pixel.
    let card = |along: usize| {
        let z = |x: f32, y: f32| 1.0 + [x, y][along];
        let corner = |x, y| [x, y, z(x, y)];
        Mesh::quad([corner(0.0, 0.0), corner(8.0, 0.0), corner(0.0, 8.0), corner(8.0, 8.0)])
    };
    for samples_xy in SAMPLES {
        for jitter in [true, false] {
            let frame = flat_frame(samples_xy, jitter);
            let pixels = region(0, 0, 8, 8);
            for along in 0..2 {
                let keys = check(frame, pixels, &[card(along)]);
                for ((_, at), key) in samples(&pixels, pattern(&frame)).zip(keys) {
                    let z = f64::from(f32::from_bits((key >> 32) as u32));
                    assert_eq!(((z - 1.0) * 1024.0).round() as i64, at[along], "{samples_xy:?}");
                }
            }
        }
    }
}

#[test]
fn blocks_know_the_farthest_depth_that_their_samples_show() {
    let mut random = Random::new(21);
    let frame = flat_frame([2, 3], true);
    let pixels = region(-1, 0, 13, 11);
    let mut device = Region::new(frame, pixels, |_| ());
    device.clear();
    let mut far = Mesh::quad([[-5.0, -5.0, 8.0], [9.7, -5.0, 8.0], [-5.0, 30.0, 9.0], [9.7, 30.0, 8.5]]);
    far.bound_px = [-1, 0, 12, 9];
    for round in 0..4 {
        let mut meshes: Vec<Mesh> = (0..20).map(|_| any_quad(&mut random, 1.5)).collect();
        if round == 1 {
            meshes.push(far.clone());
        }
        device.hide(&meshes);
        let (slices, context) = (device.slices, device.context());
        device.lab.run(|recording| hide::record_blocks(recording, &context));
        let keys = device.keys();
        let found = device.lab.read(slices.blocks.part(0..pixels.blocks()));
        assert_eq!(found, blocks(&pixels, 6, &keys), "round {round}");
        assert!(device.lab.read(slices.dirty.part(0..pixels.blocks())).iter().all(|dirty| *dirty == 0));
    }
}

#[test]
fn what_lies_behind_all_that_its_blocks_show_is_passed_over() {
    let pixels = region(0, 0, 16, 8);
    let quad = |[x0, y0, x1, y1]: [f32; 4], z: f32| Mesh::quad([[x0, y0, z], [x1, y0, z], [x0, y1, z], [x1, y1, z]]);
    let [one, four, unknown] = [[0.0, 0.0, 3.9, 3.9], [2.0, 2.0, 6.0, 6.0], [6.0, 2.0, 10.0, 6.0]];
    // Where, how far, and whether it is seen: all blocks but those from pixel 8 on show depths up to 3.
    let cases = [(one, 3.5, false), (one, 3.0, true), (one, 2.5, true), (four, 3.5, false), (unknown, 3.5, true)];
    let known: Vec<u32> = (0..8).map(|block| if block % 4 < 2 { 3.0_f32.to_bits() } else { u32::MAX }).collect();
    for (division, behind) in
        [(Division::Micropolygons, false), (Division::Expanded, false), (Division::Expanded, true)]
    {
        for (at, z, seen) in cases {
            let region = Region::new(flat_frame([2, 2], true), pixels, |room| room.behind = behind);
            let mut device = Region { division, ..region };
            device.clear();
            device.lab.write(device.slices.blocks.part(0..8), &known);
            device.hide(&[quad(at, z)]);
            assert_eq!(device.keys().iter().any(|&key| key != EMPTY), seen, "{division:?}, {behind}, {at:?} at {z}");
        }
    }
}

#[test]
fn what_comes_after_blocks_are_renewed_is_seen_all_the_same() {
    let mut random = Random::new(23);
    let (frame, pixels) = (flat_frame([2, 3], true), region(-1, 0, 13, 11));
    let meshes: Vec<Mesh> = (0..600).map(|_| any_quad(&mut random, 1.5)).collect();
    let expected = reference::hide(&pixels, pattern(&frame), &candidates(&frame, &meshes));
    for division in Division::ALL {
        let mut device = Region { division, ..Region::new(frame, pixels, |_| ()) };
        device.clear();
        // More of them each time: some again, the others in front of what is seen already or behind it.
        for count in [150, 300, 450, 600] {
            device.hide(&meshes[..count]);
            let context = device.context();
            device.lab.run(|recording| hide::record_blocks(recording, &context));
        }
        assert!(device.keys() == expected, "{division:?}");
    }
}

/// Regions whose width and height are no multiples of bins or blocks, in bins of 32, 8, 4 and 2 pixels.
#[test]
fn bins_find_the_farthest_depth_of_their_blocks() {
    let mut random = Random::new(22);
    for (samples, has_blocks) in [([1, 1], true), ([2, 3], true), ([8, 8], true), ([13, 13], false)] {
        let pixels = region(-1, 0, 13, 11);
        let mut device = Region::new(flat_frame(samples, true), pixels, |_| ());
        // So many and large that all bins have lists.
        let meshes: Vec<Mesh> = (0..2000).map(|_| any_quad(&mut random, 1.5)).collect();
        for division in [Division::Binned, Division::BinnedFused] {
            device.division = division;
            device.clear();
            device.hide(&meshes);
            let (keys, slices, context) = (device.keys(), device.slices, device.context());
            let expected = blocks(&pixels, samples[0] * samples[1], &keys);
            assert!(expected.iter().any(|&depth| depth != u32::MAX), "{samples:?}");
            let found = device.lab.read(slices.blocks.part(0..pixels.blocks()));
            let dirty = device.lab.read(slices.dirty.part(0..pixels.blocks()));
            let is_found = [found == expected, dirty.iter().all(|dirty| *dirty == 0)];
            assert_eq!(is_found, [has_blocks && division == Division::BinnedFused; 2], "{samples:?} {division:?}");
            // What is hidden without lists afterwards is left to block.comp.
            device.hide(&[Mesh::quad([[0.0, 0.0, 0.5], [9.0, 0.0, 0.5], [0.0, 9.0, 0.5], [9.0, 9.0, 0.5]])]);
            device.lab.run(|recording| hide::record_blocks(recording, &context));
            let expected = blocks(&pixels, samples[0] * samples[1], &device.keys());
            assert_eq!(device.lab.read(slices.blocks.part(0..pixels.blocks())), expected, "{samples:?} {division:?}");
        }
    }
}

#[test]
fn behind_what_a_sample_sees_is_the_next_surface() {
    for (seed, samples) in (31..).zip(SAMPLES) {
        let mut random = Random::new(seed);
        let meshes: Vec<Mesh> = (0..150).map(|_| any_quad(&mut random, 1.5)).collect();
        let (frame, pixels) = (flat_frame(samples, true), region(0, 0, 11, 9));
        let mut device = Region::new(frame, pixels, |capacity| capacity.behind = true);
        let expected = behind(&pixels, pattern(&frame), &candidates(&frame, &meshes));
        assert!(expected.iter().any(|&z| z != u32::MAX), "{samples:?}");
        let keys = reference::hide(&pixels, pattern(&frame), &candidates(&frame, &meshes));
        for division in [Division::Micropolygons, Division::Expanded] {
            device.division = division;
            device.clear();
            device.hide(&meshes);
            assert!(device.keys() == keys && device.behind() == expected, "{samples:?} {division:?}");
        }
        // What comes again does not lie behind itself.
        device.hide(&meshes[..20]);
        let found = device.behind();
        assert!(device.keys() == keys && found == expected, "{samples:?}");
        let (slices, context) = (device.slices, device.context());
        device.lab.run(|recording| hide::record_blocks(recording, &context));
        let farthest = device.lab.read(slices.blocks.part(0..pixels.blocks()));
        let depths: Vec<u64> = found.iter().map(|&z| u64::from(z) << 32).collect();
        assert_eq!(farthest, blocks(&pixels, samples[0] * samples[1], &depths));
    }
}

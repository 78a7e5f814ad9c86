//! Hiding and sampling of what moves or is out of focus, against the double loop over samples and micropolygons: equal
//! keys, bit for bit.

use super::lab::Lab;
use super::random::Random;
use super::region::{Mesh, Region, flat_frame, in_halves, pattern, region};
use crate::reference::blur::{Blurring, Path, with_aperture, with_ramps};
use crate::reference::hide::{Candidate, EMPTY};
use anthill::pipeline::hidden::{HidingForm, KeyframedPositions};
use anthill::pipeline::hide;
use anthill::pipeline::kernels::constants::{FRAME_JITTER, FRAME_LENS, FRAME_PERSPECTIVE, NUMBER_MP_BITS};
use anthill::pipeline::kernels::records::{Entry, Frame, Keyframe};
use anthill::pipeline::kernels::test::parts;
use anthill::pipeline::pixels::RegionPixels;
use anthill::pipeline::plan::Division;
use anthill::pipeline::recording::Groups;
use anthill::pipeline::sample;
use anthill::pipeline::slab::Slab;
use anthill::scene::Aperture;
use bytemuck::Zeroable;
use std::collections::BTreeSet;

/// Micropolygons with the same times: corners at each of them, and what their grids say of them.
struct Scene {
    frame: Frame,
    pixels: RegionPixels,
    times: Vec<f32>,
    quads: Vec<(Vec<[[f32; 3]; 4]>, Mesh)>,
}

/// The ways to share out what moves or is out of focus.
const DIVISIONS: [Division; 2] = [Division::Micropolygons, Division::Expanded];

impl Scene {
    fn paths(&self) -> Vec<Path> {
        let path = |(corners, _): &(Vec<[[f32; 3]; 4]>, Mesh)| Path {
            keyframes: self.times.iter().copied().zip(corners.iter().copied()).collect(),
        };
        self.quads.iter().map(path).collect()
    }

    fn blurring(&self) -> Blurring {
        Blurring { frame: self.frame, pattern: pattern(&self.frame), cells: with_aperture(self.frame, &APERTURE).1 }
    }

    /// Every key that covers each sample, nearest first.
    fn lists(&self) -> Vec<Vec<u64>> {
        let (paths, blurring, pattern) = (self.paths(), self.blurring(), pattern(&self.frame));
        let [x0, y0, x1, y1] = self.pixels.sampled;
        let pixels = (y0..y1).flat_map(|y| (x0..x1).map(move |x| [x, y]));
        let of_pixel = |pixel| (0..).zip(blurring.pixel(pixel)).map(move |(s, blur)| (pixel, s, blur));
        let list = |(pixel, s, blur): ([i32; 2], u32, (f32, [f32; 2]))| {
            let at = pattern.sample(pixel, s);
            let key = |(rank, (path, (_, mesh))): (u32, (&Path, &(_, Mesh)))| {
                let micropolygon = path.at(&self.frame, blur)?;
                let number = rank << NUMBER_MP_BITS;
                let (bound_px, bound_z, one_sided) = (mesh.bound_px, mesh.bound_z, mesh.one_sided);
                let candidate = Candidate { micropolygon, number, bound_px, bound_z, one_sided };
                if candidate.covers(pixel, at) { candidate.key(micropolygon.depth(at)) } else { None }
            };
            let mut keys: Vec<u64> = (0..).zip(paths.iter().zip(&self.quads)).filter_map(key).collect();
            keys.sort_unstable();
            keys
        };
        pixels.flat_map(of_pixel).map(list).collect()
    }

    /// A region with the motion and the lens, and the piece with all quads.
    fn region(&self, entries: u64, behind: bool) -> (Region, Vec<anthill::pipeline::piece::Piece>) {
        let mut region = Region::new(self.frame, self.pixels, |room| {
            room.entries = entries;
            room.blurred = true;
            room.behind = behind;
        });
        let keyframe = |(k, &time): (usize, &f32)| Keyframe {
            time,
            inverse_span: self.times.get(k + 1).map_or(0.0, |next| 1.0 / (next - time)),
            ..Keyframe::zeroed()
        };
        let motion: Vec<Keyframe> = self.times.iter().enumerate().map(keyframe).collect();
        region.frame.motion = region.lab.upload("motion", &motion);
        if self.frame.flags & FRAME_LENS != 0 {
            region.frame.lens = region.lab.upload("lens", &with_aperture(self.frame, &APERTURE).1);
        }
        region.clear();
        let given = region.given();
        region.lab.run(|recording| {
            in_halves(self.pixels.count(), |some| hide::record_blur_samples(recording, given.memory(), some));
        });
        let meshes: Vec<Mesh> = self.quads.iter().map(|(_, mesh)| mesh.clone()).collect();
        let pieces = region.lay(&meshes, 0, self.times.len() as u32, |mesh, vertex, keyframe| {
            let [x, y, z] = self.quads[mesh].0[keyframe as usize][vertex];
            [x, y, z, 0.0]
        });
        (region, pieces)
    }

    fn positions(&self, base: u32) -> KeyframedPositions {
        KeyframedPositions { base, keyframes: self.times.len() as u32, trimmed: false }
    }

    fn check(&self) -> Vec<u64> {
        let lists = self.lists();
        let [found, _] = DIVISIONS.map(|division| {
            let found = self.check_divided(&lists, division, false);
            assert!(self.check_divided(&lists, division, true) == found);
            found
        });
        found
    }

    fn check_divided(&self, lists: &[Vec<u64>], division: Division, behind: bool) -> Vec<u64> {
        let (mut device, pieces) = self.region(0, behind);
        let given = device.given();
        let form = HidingForm { division, variants: device.lab.variants() };
        device.lab.run(|recording| {
            for piece in &pieces {
                hide::record_piece(recording, &given.piece(piece), self.positions(piece.base), form);
            }
        });
        let found = device.keys();
        let expected: Vec<u64> = lists.iter().map(|list| list.first().copied().unwrap_or(EMPTY)).collect();
        let exactly = device.lab.divides_exactly();
        let wrong: Vec<usize> = (0..found.len()).filter(|&i| !is_same_key(found[i], expected[i], exactly)).collect();
        if let Some(&i) = wrong.first() {
            panic!(
                "{} of {} samples differ, first {i}: {:x} for {:x}",
                wrong.len(),
                found.len(),
                found[i],
                expected[i]
            );
        }
        assert_eq!(device.lab.read(device.slices.rest)[0].rest_lost, 0);
        if behind {
            let next = |list: &Vec<u64>| list.get(1).copied().unwrap_or(EMPTY);
            let is_same = |(&depth, list)| is_same_key(u64::from(depth) << 32, next(list) & !0xffff_ffff, exactly);
            let wrong = device.behind().iter().zip(lists).position(|both| !is_same(both));
            assert_eq!(wrong, None, "the depth behind a sample");
        }
        found
    }

    /// Entries of the same micropolygons, taken as translucent: one for each sample and micropolygon.
    fn check_entries(&self) {
        let lists = self.lists();
        DIVISIONS.iter().for_each(|division| self.check_divided_entries(&lists, *division));
    }

    fn check_divided_entries(&self, lists: &[Vec<u64>], division: Division) {
        let (mut device, pieces) = self.region(1 << 17, false);
        let (given, context) = (device.given(), device.context());
        device.lab.run(|recording| {
            sample::record_clear(recording, &context, self.quads.len() as u64);
            for piece in &pieces {
                let positions = self.positions(piece.base);
                sample::record_piece(recording, &given.piece(piece), positions, Slab::WHOLE, division);
            }
        });
        let count = device.lab.read(context.slices.appended)[0].appended;
        let entries: Vec<Entry> = device.lab.read(context.slices.entries.part(0..u64::from(count)));
        let (samples, cells) = (device.pixel_samples(), context.capacity.cells() as u32);
        let place = |entry: &Entry| {
            assert_eq!(entry.mask.count_ones(), 1);
            let s = (entry.cell % cells) * 32 + entry.mask.trailing_zeros();
            ((entry.cell / cells) * samples + s, u64::from(entry.zmin.to_bits()) << 32 | u64::from(entry.number))
        };
        let found: BTreeSet<(u32, u64)> = entries.iter().map(place).collect();
        let expected: BTreeSet<(u32, u64)> =
            (0..).zip(lists).flat_map(|(i, list)| list.iter().map(move |key| (i, *key))).collect();
        assert_eq!(found.len(), entries.len(), "an entry is there twice");
        assert!(found == expected, "{} entries for {}", found.len(), expected.len());
    }
}

/// Whether a sample sees the same micropolygon at the same depth. Positions that move are plain quotients: a device
/// that divides inexactly has other last bits in the depth.
fn is_same_key(found: u64, expected: u64, exactly: bool) -> bool {
    let [near, far] = [found, expected].map(|key| f64::from(f32::from_bits((key >> 32) as u32)));
    found == expected || !exactly && found as u32 == expected as u32 && (near - far).abs() <= 1e-5 * far
}

const APERTURE: Aperture = Aperture { sides: 5, angle_degrees: 20.0, roundness: 0.25, density: -0.5 };

fn lens_frame(samples: [u32; 2]) -> Frame {
    let frame = Frame {
        raster_scale: [1024.0 * 12.3, -1024.0 * 12.3],
        raster_offset: [1024.0 * 6.1, 1024.0 * 5.2],
        flags: FRAME_PERSPECTIVE | FRAME_JITTER | FRAME_LENS,
        lens_far: [1024.0 * 1.5, -1024.0 * 1.5],
        lens_near: [1024.0 * 6.0, -1024.0 * 6.0],
        ..flat_frame(samples, true)
    };
    with_aperture(frame, &APERTURE).0
}

/// Micropolygons on their way: some stand still, some fast, some through the eye.
fn quads(random: &mut Random, keyframes: usize, count: usize, perspective: bool) -> Vec<(Vec<[[f32; 3]; 4]>, Mesh)> {
    let quad = |_| {
        let size = if random.one_in(8) { 5.0 } else { 0.9 };
        let shape = [0; 4].map(|_| random.triple(-size, size));
        let reach = if random.one_in(4) { 0.0 } else { random.float(0.2, 9.0) };
        let start = [random.float(-2.0, 13.0), random.float(-2.0, 12.0), random.float(2.0, 8.0)];
        let through = perspective && random.one_in(9);
        let corners: Vec<[[f32; 3]; 4]> = (0..keyframes)
            .map(|_| {
                let step = random.triple(-reach, reach);
                let z = (start[2] + 0.2 * step[2]).max(1.0) - if through && random.one_in(2) { 6.0 } else { 0.0 };
                shape.map(|[x, y, dz]| {
                    let p = [start[0] + step[0] + x, start[1] + step[1] + y, z + 0.1 * dz];
                    if perspective { [(p[0] - 6.0) / 12.0 * p[2], (p[1] - 5.0) / 12.0 * p[2], p[2]] } else { p }
                })
            })
            .collect();
        let mut mesh = Mesh::quad(corners[0]);
        if random.one_in(4) {
            mesh.one_sided = Some(random.one_in(2));
        }
        if random.one_in(6) {
            mesh.bound_px = [random.int(-1..5), random.int(-1..5), random.int(5..12), random.int(5..12)];
            mesh.bound_z = [start[2] - 0.3, start[2] + 0.3];
        }
        (corners, mesh)
    };
    (0..count).map(quad).collect()
}

const TIMES: [&[f32]; 3] = [&[0.0, 1.0], &[0.0, 0.3, 1.0], &[0.0, 0.05, 0.1, 0.5, 0.52, 0.9, 1.0]];

#[test]
fn moving_micropolygons() {
    for (seed, samples) in (0..).zip([[1, 1], [4, 4], [3, 5], [13, 13]]) {
        for times in if samples[0] > 4 { &TIMES[1..2] } else { &TIMES[..] } {
            let mut random = Random::new(seed);
            let frame = flat_frame(samples, seed % 2 == 0);
            let quads = quads(&mut random, times.len(), 40, false);
            Scene { frame, pixels: region(-1, 0, 11, 9), times: times.to_vec(), quads }.check();
        }
    }
}

#[test]
fn a_subpixel_knows_its_part_of_the_shutter() {
    const SIDE: u32 = 9;
    for samples in [[1, 1], [2, 2], [4, 4], [3, 5], [5, 2], [6, 6], [1, 7], [7, 1], [13, 13], [256, 1], [1, 256]] {
        for frame in [flat_frame(samples, true), lens_frame(samples)] {
            let (mut lab, count) = (Lab::new(), samples[0] * samples[1]);
            let all = u64::from(SIDE * SIDE * count);
            let bindings = parts::Bindings {
                frame_buffer: lab.upload("frame", bytemuck::cast_slice(&[frame])),
                parts: lab.space("parts", all),
            };
            let groups = Groups::covering(all, parts::LOCAL_SIZE);
            lab.run(|recording| {
                recording.dispatch(parts::dispatch(groups, &bindings, &parts::Push { side: SIDE }));
            });
            for pixel in lab.read(bindings.parts).chunks(count as usize) {
                let subpixels: BTreeSet<u32> = pixel.iter().map(|[subpixel, _]| *subpixel).collect();
                assert!(subpixels.into_iter().eq(0..count), "each subpixel has one part");
                assert!(pixel.iter().map(|[_, part]| *part).eq(0..count), "{samples:?}: {pixel:?}");
            }
        }
    }
}

#[test]
fn a_shutter_that_takes_time_to_open_and_close() {
    for (seed, opening) in (60..).zip([[0.5, 0.5], [0.25, 0.75], [0.0, 0.5], [1.0, 1.0]]) {
        let mut random = Random::new(seed);
        let perspective = seed % 2 == 0;
        let frame = if perspective { lens_frame([3, 2]) } else { flat_frame([4, 4], true) };
        let quads = quads(&mut random, 3, 40, perspective);
        let frame = with_ramps(frame, opening);
        Scene { frame, pixels: region(-1, 0, 11, 9), times: TIMES[1].to_vec(), quads }.check();
    }
}

#[test]
fn micropolygons_out_of_focus_that_stand_still_or_move() {
    for (seed, samples) in (20..).zip([[1, 1], [2, 2], [3, 5], [6, 6], [8, 8]]) {
        for times in [&[0.0][..], TIMES[0], TIMES[2]] {
            let mut random = Random::new(seed);
            let quads = quads(&mut random, times.len(), 60, true);
            let scene =
                Scene { frame: lens_frame(samples), pixels: region(-1, 0, 12, 10), times: times.to_vec(), quads };
            scene.check();
        }
    }
}

#[test]
fn what_is_fast_or_wide_is_finished_by_the_second_pass() {
    let mut random = Random::new(5);
    let mut quads = quads(&mut random, 2, 6, false);
    let card =
        |x: f32, y: f32, size: f32, z: f32| [[x, y, z], [x + size, y, z], [x, y + size, z], [x + size, y + size, z]];
    for (from, to) in [
        (card(-300.0, -20.0, 200.0, 5.0), card(100.0, -20.0, 200.0, 5.0)),
        (card(-30.0, 3.0, 1.0, 4.0), card(90.0, 50.0, 1.0, 4.0)),
        (card(1.0, 1.0, 16.5, 6.0), card(1.0, 30.0, 16.5, 6.0)),
        (card(-430.0, 3.0, 15.0, 4.0), card(460.0, 20.0, 15.0, 4.0)),
        (card(40.0, -700.0, 15.0, 3.0), card(10.0, 690.0, 15.0, 3.0)),
    ] {
        quads.push((vec![from, to], Mesh::quad(from)));
    }
    for samples in [[1, 1], [4, 4]] {
        let quads = quads.clone();
        let frame = flat_frame(samples, true);
        Scene { frame, pixels: region(0, 0, 70, 60), times: vec![0.0, 1.0], quads }.check();
    }
}

#[test]
fn regions_of_the_same_picture_show_the_same() {
    let mut random = Random::new(8);
    let quads = quads(&mut random, 3, 50, true);
    let scene = |pixels| Scene { frame: lens_frame([3, 2]), pixels, times: vec![0.0, 0.4, 1.0], quads: quads.clone() };
    let whole = scene(region(-2, -2, 14, 12)).check();
    for part in [region(-2, -2, 5, 3), region(5, -2, 14, 3), region(7, 6, 8, 7)] {
        let keys = scene(part).check();
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
fn translucent_ones_leave_an_entry_for_each_sample_that_they_cover() {
    for (seed, times) in (40..).zip([&[0.0][..], TIMES[0], TIMES[1]]) {
        let mut random = Random::new(seed);
        let quads = quads(&mut random, times.len(), 40, true);
        let pixels = region(0, 0, 10, 9);
        for samples in [[2, 2], [6, 6]] {
            let quads = quads.clone();
            Scene { frame: lens_frame(samples), pixels, times: times.to_vec(), quads }.check_entries();
        }
        let frame = flat_frame([4, 4], true);
        if times.len() > 1 {
            Scene { frame, pixels, times: times.to_vec(), quads }.check_entries();
        }
    }
}

//! What is shaded and where colours go: mark, needed, pack, and the compositing of opaque surfaces, in one round and in
//! many.

use super::random::Random;
use super::region::{Mesh, Region, flat_frame, in_halves, region};
use crate::reference::hide::EMPTY;
use crate::reference::shade::{bits, place, visible};
use anthill::pipeline::buffers::Vec4;
use anthill::pipeline::composite;
use anthill::pipeline::kernels::constants::{INSTANCE_BAKES_UNSEEN, INSTANCE_SMOOTH, NUMBER_MP_BITS};
use anthill::pipeline::kernels::records::{Instance, Subpatch, Total};
use anthill::pipeline::kernels::test::facing;
use anthill::pipeline::look::ShadingKernel;
use anthill::pipeline::piece::Piece;
use anthill::pipeline::shade::{self, PieceColours};
use anthill::pipeline::stage::Composition;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Grids of all sizes; what they hold does not matter here.
fn meshes(count: u32, random: &mut Random) -> Vec<Mesh> {
    let mesh = |_| {
        let [nu, nv] = if random.one_in(5) { [15, 15] } else { [0; 2].map(|_| 1 + random.below(15)) };
        Mesh { matte: random.one_in(6), ..Mesh::new(nu, nv, vec![[0.0; 3]; ((nu + 1) * (nv + 1)) as usize]) }
    };
    (0..count).map(mesh).collect()
}

/// Keys that see some micropolygons, many of them again and again, or nothing.
fn random_keys(meshes: &[Mesh], count: u64, random: &mut Random) -> Vec<u64> {
    let mut last = EMPTY;
    let key = |_| {
        if !random.one_in(3) {
            return last;
        }
        let rank = random.below(meshes.len() as u32);
        let local = random.below(meshes[rank as usize].nu * meshes[rank as usize].nv);
        last = if random.one_in(5) { EMPTY } else { 0x4000_0000_0000_0000 | u64::from(rank << NUMBER_MP_BITS | local) };
        last
    };
    (0..count).map(key).collect()
}

/// A region whose keys see `meshes`, marked.
fn marked(meshes: &[Mesh], keys: &[u64], translucent: bool, colours: u64, variables: u64) -> Region {
    let mut device = Region::new(flat_frame([2, 3], true), region(0, 0, 13, 9), |room| {
        (room.colours, room.variables, room.entries) = (colours, variables, u64::from(translucent));
    });
    let slices = device.slices;
    device.lab.write(slices.keys, keys);
    device.lab.write(slices.selected_count, &[Total { total: meshes.len() as u32 }]);
    let (pixels, context, variants) = (device.pixels, device.context(), device.lab.variants());
    device.lab.run(|recording| {
        in_halves(pixels.count(), |some| shade::record_mark(recording, &context, some));
        shade::record_places(recording, variants, &context, meshes.len() as u64 + 3);
    });
    device
}

const SUBPIXELS: u64 = 13 * 9 * 6;

#[test]
fn what_samples_see_is_marked_counted_and_placed() {
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let meshes = meshes(40, &mut random);
        let keys = random_keys(&meshes, SUBPIXELS, &mut random);
        let mut device = marked(&meshes, &keys, false, 4096, 0);
        let expected = visible(&keys);
        let (lab, slices) = (&mut device.lab, device.slices);
        assert_eq!(lab.read(slices.visible.part(0..8 * 40)), bits(&expected, 40));
        let of = |rank: u32| expected.range(rank << NUMBER_MP_BITS..(rank + 1) << NUMBER_MP_BITS).count();
        let needed: Vec<u32> = (0..43).map(|rank| of(rank) as u32).collect();
        assert_eq!(lab.read(slices.needed.part(0..43)), needed, "none behind the last grid");
        let base: Vec<u32> = (0..43).map(|rank| place(&expected, rank << NUMBER_MP_BITS) as u32).collect();
        assert_eq!(lab.read(slices.colour_base.part(0..43)), base);
        assert_eq!(lab.read(slices.visible_count)[0].total as usize, expected.len());
        check_before(&expected, &lab.read(slices.visible_before.part(0..80)));
    }
}

/// A byte for each word of a grid: the visible ones in the words before it.
fn check_before(visible: &BTreeSet<u32>, before: &[u32]) {
    for word in 0..40 * 8 {
        let (rank, n) = (word / 8, word % 8);
        let count = visible.range(rank << NUMBER_MP_BITS..(rank << NUMBER_MP_BITS) + 32 * n).count() as u32;
        assert_eq!((before[(2 * rank + n / 4) as usize] >> (8 * (n % 4))) & 255, count, "word {n} of grid {rank}");
    }
}

#[test]
fn a_grid_of_which_everything_is_marked_counts_its_words_too() {
    // Pipelines that shade everything mark all 256 bits.
    let meshes = meshes(3, &mut Random::new(1));
    let mut device = marked(&meshes, &vec![EMPTY; SUBPIXELS as usize], false, 16, 0);
    let (slices, context, variants) = (device.slices, device.context(), device.lab.variants());
    device.lab.run(|recording| {
        recording.fill(slices.visible, u32::MAX);
        shade::record_places(recording, variants, &context, 3);
    });
    assert_eq!(device.lab.read(slices.needed.part(0..3)), [256; 3]);
    assert_eq!(device.lab.read(slices.visible_before.part(4..6)), [0x6040_2000, 0xe0c0_a080]);
}

#[test]
fn a_grid_that_bakes_unseen_has_one_mark_more_if_it_had_none() {
    let mut random = Random::new(5);
    let meshes = meshes(40, &mut random);
    let keys: Vec<u64> = random_keys(&meshes[..20], SUBPIXELS, &mut random);
    let mut device = marked(&meshes, &keys, false, 4096, 0);
    let flags = [INSTANCE_SMOOTH, INSTANCE_BAKES_UNSEEN, INSTANCE_BAKES_UNSEEN | INSTANCE_SMOOTH];
    let instances = flags.map(|flags| Instance { flags, ..Instance::default() });
    let grid = |rank: u32| Subpatch { instance: rank % 3, ..Subpatch::default() };
    device.frame.instances = device.lab.upload("instances", &instances);
    let (slices, given) = (device.slices, device.given());
    device.lab.write(slices.grids.grids.part(0..43), &(0..43).map(grid).collect::<Vec<_>>());
    device.lab.run(|recording| shade::record_mark_unseen(recording, given.memory(), 43));
    let mut expected = visible(&keys);
    for rank in (0..40).filter(|rank| rank % 3 != 0) {
        let first = rank << NUMBER_MP_BITS;
        if expected.range(first..first + (1 << NUMBER_MP_BITS)).next().is_none() {
            expected.insert(first);
        }
    }
    assert_eq!(device.lab.read(slices.visible.part(0..8 * 43)), bits(&expected, 43), "none behind the last grid");
}

/// Output `channel` of a shader at a vertex: channel 0 is colour, 1 opacity, then two variables.
fn output(mesh: usize, vertex: usize, channel: u32) -> Vec4 {
    let mut random = Random::new((mesh as u64) << 32 | (vertex as u64) << 8 | u64::from(channel));
    [0; 4].map(|_| random.float(-1.0, 2.0))
}

/// The mean over a micropolygon's corners, as it is added up: diagonals first.
fn mean(meshes: &[Mesh], number: u32, channel: u32) -> Vec4 {
    let (rank, local) = ((number >> NUMBER_MP_BITS) as usize, number & ((1 << NUMBER_MP_BITS) - 1));
    let nu = meshes[rank].nu;
    let first = ((local / nu) * (nu + 1) + local % nu) as usize;
    let row = nu as usize + 1;
    let [a, b, c, d] = [first, first + 1, first + row, first + row + 1].map(|vertex| output(rank, vertex, channel));
    [0, 1, 2, 3].map(|i| 0.25 * ((a[i] + d[i]) + (b[i] + c[i])))
}

/// The records of a place: (Ci, 1), (Oi, 0) where anything is translucent, the variables. Matte ones are empty.
fn records(meshes: &[Mesh], number: u32, translucent: bool, opaque_program: bool, coloured: bool) -> Vec<Vec4> {
    let opacity = if opaque_program { [1.0; 4] } else { mean(meshes, number, 1) };
    let matte = !coloured || meshes[(number >> NUMBER_MP_BITS) as usize].matte;
    let [r, g, b, _] = mean(meshes, number, 0);
    let mut records = vec![if matte { [0.0; 4] } else { [r, g, b, 1.0] }];
    if translucent {
        records.push([opacity[0], opacity[1], opacity[2], 0.0]);
    }
    records.extend([2, 3].map(|channel| if matte { [0.0; 4] } else { mean(meshes, number, channel) }));
    records
}

fn shading_kernel(opaque_program: bool) -> ShadingKernel {
    ShadingKernel {
        passes: vec![Arc::clone(facing::kernel()).into()],
        pass_channels: 0,
        geometry_channels: 0,
        velocity_channel: None,
        input_channels: 4,
        uniform_records: 0,
        output_channels: 4,
        opacity_channel: (!opaque_program).then_some(1),
        variable_channels: vec![2, 3],
        print_words: 0,
        bakes: false,
        uses_textures: false,
        demand: None,
        resumable: None,
    }
}

/// Packs the colours of a round of places.
fn pack(device: &mut Region, pieces: &[Piece], kernel: Option<&ShadingKernel>, places: std::ops::Range<u32>) {
    let given = device.given();
    device.lab.run(|recording| {
        for piece in pieces {
            let (output_base, places) = (piece.base, places.clone());
            let colours = PieceColours {
                kernel,
                position_base: 0,
                position_keyframes: 0,
                output_base,
                coverage_base: None,
                places,
            };
            shade::record_pack(recording, given.memory(), piece, &colours);
        }
    });
}

#[test]
fn visible_colours_are_the_means_of_their_corners_at_their_places() {
    for (seed, (translucent, opaque_program, coloured)) in
        (0..).zip([(false, true, true), (true, false, true), (true, true, true), (false, false, false)])
    {
        let mut random = Random::new(seed);
        let meshes = meshes(30, &mut random);
        let keys = random_keys(&meshes, SUBPIXELS, &mut random);
        let mut device = marked(&meshes, &keys, translucent, 4096, 2);
        let pieces = device.lay(&meshes, 0, 4, output);
        let kernel = shading_kernel(opaque_program);
        pack(&mut device, &pieces, coloured.then_some(&kernel), 0..4096);
        let of = |&number: &u32| records(&meshes, number, translucent, opaque_program, coloured);
        let expected: Vec<Vec4> = visible(&keys).iter().flat_map(of).collect();
        let found = device.lab.read(device.slices.colours.part(0..expected.len() as u64));
        assert!(found == expected, "translucent {translucent}, coloured {coloured}");
    }
}

/// Resolved samples of opaque surfaces, with a colour store of so many places.
fn resolved(meshes: &[Mesh], keys: &[u64], translucent: bool, colours: u64) -> Vec<Vec4> {
    let mut device = marked(meshes, keys, translucent, colours, 2);
    let pieces = device.lay(meshes, 0, 4, output);
    let (given, slices, context) = (device.given(), device.slices, device.context());
    let places = device.lab.read(slices.visible_count)[0].total;
    device.lab.run(|recording| match translucent {
        true => in_halves(SUBPIXELS, |some| composite::record_clear(recording, &context, some)),
        false => recording.fill(slices.resolved, 0x4242_4242),
    });
    for first in (0..places.max(1)).step_by(colours as usize) {
        let round = first..first + colours as u32;
        pack(&mut device, &pieces, Some(&shading_kernel(true)), round.clone());
        device.lab.run(|recording| {
            in_halves(context.pixels.count(), |some| {
                composite::record(recording, given.memory(), &Composition::BY_OPACITY, round.clone(), some);
            });
        });
    }
    device.lab.read(slices.resolved.part(0..SUBPIXELS * context.capacity.resolved_records()))
}

#[test]
fn samples_show_the_colour_of_what_they_see_in_however_many_rounds() {
    for (seed, translucent) in [(3, false), (4, true)] {
        let mut random = Random::new(seed);
        let meshes = meshes(30, &mut random);
        let keys = random_keys(&meshes, SUBPIXELS, &mut random);
        let expected = keys.iter().flat_map(|&key| {
            let nothing = vec![[0.0; 4]; 3 + usize::from(translucent)];
            let mut records =
                if key == EMPTY { nothing } else { records(&meshes, key as u32, translucent, true, true) };
            if translucent {
                records[1] = [1.0, 1.0, 1.0, 0.0]; // nothing lies before it
            }
            records
        });
        let expected: Vec<Vec4> = expected.collect();
        for colours in [4096, 100, 37, 7] {
            let found = resolved(&meshes, &keys, translucent, colours);
            assert!(found == expected, "{colours} places, translucent {translucent}");
        }
    }
    let nothing = resolved(&meshes(1, &mut Random::new(0)), &vec![EMPTY; SUBPIXELS as usize], false, 16);
    assert!(nothing.iter().flatten().all(|x| *x == 0.0), "a region that sees nothing is empty");
}

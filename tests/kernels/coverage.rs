//! What sampling passes over: pixels of a micropolygon's box that it cannot cover, and no others.

use super::lab::Lab;
use super::random::Random;
use super::region::flat_frame;
use anthill::pipeline::buffers::Vec4;
use anthill::pipeline::kernels::test::touched::{self, Variant};
use anthill::pipeline::recording::Groups;

/// Pixels of a row, and rows.
const SIDE: u32 = 24;

/// Micropolygons of the first pass, and of the second.
const NARROW: Variant = Variant { rest: false };
const WIDE: Variant = Variant { rest: true };

/// For each micropolygon and pixel: bit 0 whether it may be covered, bit 1 whether it is.
fn touched(quads: &[[Vec4; 4]], variant: Variant) -> Vec<u32> {
    let mut lab = Lab::new();
    let count = quads.len() as u32;
    let bindings = touched::Bindings {
        frame_buffer: lab.upload("frame", bytemuck::cast_slice(&[flat_frame([2, 2], true)])),
        arena: lab.upload("arena", quads.as_flattened()),
        touched: lab.space("touched", u64::from(count * SIDE * SIDE)),
    };
    let groups = Groups::covering(u64::from(count * SIDE * SIDE), touched::LOCAL_SIZE);
    let push = touched::Push { count, side: SIDE };
    lab.run(|recording| recording.dispatch(touched::dispatch(variant, groups, &bindings, &push)));
    lab.read(bindings.touched)
}

#[test]
fn only_pixels_that_cannot_be_covered_are_passed_over() {
    let mut random = Random::new(3);
    for (variant, size) in [(NARROW, 7.0), (WIDE, 7.0), (WIDE, 60.0)] {
        let mut corner = || [random.float(12.0 - size, 12.0 + size), random.float(12.0 - size, 12.0 + size), 3.0, 0.0];
        let quads: Vec<[Vec4; 4]> = (0..60).map(|_| [corner(), corner(), corner(), corner()]).collect();
        let bits = touched(&quads, variant);
        assert!(bits.iter().filter(|&&bits| bits == 3).count() > 500);
        assert!(!bits.contains(&2), "a covered pixel is passed over");
    }
}

#[test]
fn most_of_the_box_of_a_thin_micropolygon_is_passed_over() {
    let mut random = Random::new(4);
    for (variant, wide) in [(NARROW, 0.0), (WIDE, 4.0)] {
        // From the lower left to the upper right, a tenth of a pixel across.
        let mut thin = || {
            let (x, y) = (random.float(1.0, 4.0), random.float(1.0, 4.0));
            let [u, v] = [x + 13.5 + wide, y + 13.5 + wide];
            [[x, y], [u, v], [x + 0.1, y - 0.1], [u + 0.1, v - 0.1]].map(|[x, y]| [x, y, 3.0, 0.0])
        };
        let quads: Vec<[Vec4; 4]> = (0..40).map(|_| thin()).collect();
        let bits = touched(&quads, variant);
        assert!(!bits.contains(&2), "a covered pixel is passed over");
        let [may, covered] = [1, 2].map(|bit| bits.iter().filter(|&&bits| bits & bit != 0).count());
        assert!(covered > 40 * 14 && may < 2 * covered && may < 40 * 14 * 14 / 4, "{may} for {covered}");
    }
}

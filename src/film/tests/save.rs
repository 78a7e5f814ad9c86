//! Films that are saved before they are finished and restored.

use super::*;

const SIZE: [u32; 2] = [37, 20];

fn cropped() -> World {
    let mut world = world(SIZE, vec![display("a.exr", "exr", RGBA)]);
    world.camera.crop_window = [0.1, 0.9, 0.2, 1.0];
    world
}

#[test]
fn what_is_saved_is_restored_bit_by_bit() {
    let world = cropped();
    let reporter = Reporter::silent();
    let (half, again) = (film(&world, &reporter), film(&world, &reporter));
    let [x0, y0, x1, y1] = half.crop();
    deposit(&half, [x0, y0, x0 + 9, y1]);
    // A signed zero, a signalling NaN: bits, not numbers.
    let odd: Vec<f32> = [0x8000_0000, 0x7fa0_0001, 0xff80_0000, 1].map(f32::from_bits).into();
    half.deposit([x1 - 1, y0 + 2, x1, y0 + 3], &odd);
    let mut saved = Vec::new();
    half.save(&mut saved).expect("memory is writable");
    again.restore(&mut saved.as_slice()).expect("what was saved");
    let bits = |film: &Film| film.pixels.lock().values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&half), bits(&again));
    assert_eq!(half.progress(), again.progress());
    assert_eq!(half.missing_rectangles(), again.missing_rectangles());
    let mut saved_again = Vec::new();
    again.save(&mut saved_again).expect("memory is writable");
    assert_eq!(saved, saved_again);

    let longer = [saved.as_slice(), &[0]].concat();
    for bad in [&saved[..saved.len() - 1], &saved[..3], &[], &longer] {
        assert!(film(&world, &reporter).restore(&mut { bad }).is_err(), "{} bytes", bad.len());
    }
}

#[test]
fn the_missing_rectangles_are_disjoint_and_exactly_what_is_missing() {
    let film = film(&cropped(), &Reporter::silent());
    let [x0, y0, x1, y1] = film.crop();
    assert_eq!(film.missing_rectangles(), [film.crop()]);
    for region in [[x0, y0, x0 + 4, y0 + 5], [x0 + 8, y0 + 3, x0 + 12, y0 + 9], [x1 - 1, y1 - 1, x1, y1]] {
        deposit(&film, region);
    }
    // Depositing panics on overlaps.
    film.missing_rectangles().into_iter().for_each(|rectangle| deposit(&film, rectangle));
    let (finished, count) = film.progress();
    assert_eq!(finished, count);
    assert!(film.missing_rectangles().is_empty());
}

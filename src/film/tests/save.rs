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
    let [x0, y0, x1, y1] = half.crop().to_array();
    deposit(&half, region([x0, y0, x0 + 9, y1]));
    // A signed zero, a signalling NaN: bits, not numbers.
    let odd: Vec<f32> = [0x8000_0000, 0x7fa0_0001, 0xff80_0000, 1].map(f32::from_bits).into();
    half.deposit(region([x1 - 1, y0 + 2, x1, y0 + 3]), &odd);
    let mut parts = Vec::new();
    let none = SavedPixels::default();
    let some = half.save(&none, &mut parts).expect("memory is writable");
    // What comes later is saved alone, and in front of other pixels of its rows too.
    deposit(&half, region([x0 + 12, y0, x1 - 1, y0 + 2]));
    deposit(&half, region([x0 + 9, y0 + 1, x0 + 12, y0 + 5]));
    let before = parts.len();
    let more = half.save(&some, &mut parts).expect("memory is writable");
    let (run, pixel) = (size_of::<u64>() + size_of::<u32>(), half.layout().floats() * size_of::<f32>());
    let later = [(1, x1 - x0 - 13), (1, x1 - x0 - 10), (3, 3)];
    let bytes: usize = later.iter().map(|&(runs, pixels)| runs * (run + pixels as usize * pixel)).sum();
    assert_eq!(parts.len() - before, bytes);
    assert_eq!(half.save(&more, &mut Vec::new()).expect("memory is writable"), more);
    again.restore(&parts).expect("what was saved");
    let bits = |film: &Film| film.pixels.lock().values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&half), bits(&again));
    assert_eq!(half.progress(), again.progress());
    assert_eq!(half.missing_regions(), again.missing_regions());
    let mut whole = Vec::new();
    assert_eq!(again.save(&none, &mut whole).expect("memory is writable"), more);
    assert!(again.restore(&whole).is_err(), "pixels are deposited once");

    let longer = [parts.as_slice(), &[0]].concat();
    let beyond = [&u64::MAX.to_le_bytes()[..], &1_u32.to_le_bytes(), &[0; 16]].concat();
    for bad in [&parts[..parts.len() - 1], &parts[..3], &longer, &beyond] {
        assert!(film(&world, &reporter).restore(bad).is_err(), "{} bytes", bad.len());
    }
}

#[test]
fn the_missing_regions_are_disjoint_and_exactly_what_is_missing() {
    let film = film(&cropped(), &Reporter::silent());
    let [x0, y0, x1, y1] = film.crop().to_array();
    assert_eq!(film.missing_regions(), [film.crop()]);
    for corners in [[x0, y0, x0 + 4, y0 + 5], [x0 + 8, y0 + 3, x0 + 12, y0 + 9], [x1 - 1, y1 - 1, x1, y1]] {
        deposit(&film, region(corners));
    }
    // Depositing panics on overlaps.
    film.missing_regions().into_iter().for_each(|missing| deposit(&film, missing));
    let (finished, count) = film.progress();
    assert_eq!(finished, count);
    assert!(film.missing_regions().is_empty());
}

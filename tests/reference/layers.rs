//! Layers: how much of the light that falls on a pixel is lost at each depth, for deep shadow maps. Light counts in
//! whole numbers of 2^-40 in each channel of each sample.

use super::hide::EMPTY;

/// The layers of a pixel in the order of depth, float bits: what all samples together lose up to behind each.
pub(crate) type PixelLayers = Vec<(u32, u64)>;

fn whole(light: [f32; 3]) -> u64 {
    light.iter().map(|light| (f64::from(*light) * f64::from(1_u32 << 20) * f64::from(1_u32 << 20)) as u64).sum()
}

/// What a sample loses at each of its layers, given as keys from front to back, up to where nothing is left or to the
/// opaque surface with the key `opaque`.
fn lost_by_sample(keys: &[u64], opaque: u64, opacity: impl Fn(u32) -> [f32; 3], threshold: f32) -> Vec<(u32, u64)> {
    let (mut through, mut lost) = ([1.0_f32; 3], Vec::new());
    for &key in keys {
        let before = whole(through);
        let opacity = opacity(key as u32);
        (0..3).for_each(|i| through[i] *= 1.0 - opacity[i].clamp(0.0, 1.0));
        if through.iter().all(|through| *through <= 1.0 - threshold) {
            through = [0.0; 3];
        }
        lost.push(((key >> 32) as u32, before - whole(through)));
        if through == [0.0; 3] {
            return lost;
        }
    }
    if opaque != EMPTY {
        lost.push(((opaque >> 32) as u32, whole(through)));
    }
    lost
}

/// Adds up what samples, each a list of keys and the key of an opaque surface, lose.
pub(crate) fn layers(samples: &[(Vec<u64>, u64)], opacity: impl Fn(u32) -> [f32; 3], threshold: f32) -> PixelLayers {
    let lost = |(keys, opaque): &(Vec<u64>, u64)| lost_by_sample(keys, *opaque, &opacity, threshold);
    let mut layers: PixelLayers = samples.iter().flat_map(lost).collect();
    layers.sort_by_key(|(depth, _)| *depth); // those of one depth stay in the order of samples
    let mut sum = 0;
    for (_, lost) in &mut layers {
        sum += *lost;
        *lost = sum;
    }
    layers
}

#[test]
fn two_half_opaque_cards_take_three_quarters() {
    let key = |z: f32| u64::from(z.to_bits()) << 32;
    let [near, far, wall] = [2.0, 3.0, 5.0].map(key);
    let whole = 3_u64 << 40;
    let depth = |z: f32| z.to_bits();
    assert_eq!(
        layers(&[(vec![near, far], EMPTY)], |_| [0.5; 3], 0.996),
        [(depth(2.0), whole / 2), (depth(3.0), whole * 3 / 4)]
    );
    assert_eq!(
        layers(&[(vec![near], wall), (vec![far], EMPTY)], |_| [0.5; 3], 0.996),
        [(depth(2.0), whole / 2), (depth(3.0), whole), (depth(5.0), whole * 3 / 2)]
    );
    assert_eq!(layers(&[(vec![near, far], wall)], |_| [1.0; 3], 0.996), [(depth(2.0), whole)]);
}

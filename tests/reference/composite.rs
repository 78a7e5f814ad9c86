//! Compositing, in double precision: C += T Ci, T *= 1 - Oi from front to back, then the opaque surface through what is
//! left.

use super::hide::EMPTY;

/// What a micropolygon looks like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Look {
    /// Colour, already multiplied by opacity; and 1, or 0 when it is matte and leaves no alpha.
    pub colour: [f32; 4],
    /// Opacity of each channel.
    pub opacity: [f32; 3],
    /// Further outputs.
    pub variables: Vec<[f32; 4]>,
}

/// What a sample has gathered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Colour and alpha.
    pub colour: [f64; 4],
    /// What shines through, per channel.
    pub through: [f64; 3],
    /// Further outputs: how much of each is seen, like colours of objects with these colours.
    pub variables: Vec<[f64; 4]>,
    /// Key of what opacity ended at.
    pub stopped: Option<u64>,
}

/// Weights of colour and alpha.
fn weights([r, g, b]: [f64; 3]) -> [f64; 4] {
    [r, g, b, (r + g + b) / 3.0]
}

fn add(sum: &mut [f64; 4], weights: [f64; 4], value: [f32; 4]) {
    (0..4).for_each(|i| sum[i] += weights[i] * f64::from(value[i]));
}

/// Composites the keys of a sample, nearest first, in front of the opaque `key`. Where nothing shines through any more
/// but one part in 1 - `threshold`, what is behind is left out.
pub(crate) fn composite(
    list: &[u64],
    opaque: u64,
    look: impl Fn(u32) -> Look,
    outputs: usize,
    threshold: f64,
) -> Sample {
    let mut sample = Sample { colour: [0.0; 4], through: [1.0; 3], variables: vec![[0.0; 4]; outputs], stopped: None };
    for &key in list {
        let Look { colour, opacity, variables } = look(key as u32);
        let opacity = opacity.map(|o| f64::from(o).clamp(0.0, 1.0));
        // Colours come multiplied by opacity; alpha is what no longer shines through.
        let seen = [0, 1, 2].map(|i| sample.through[i] * opacity[i]);
        let [r, g, b] = sample.through;
        add(&mut sample.colour, [r, g, b, weights(seen)[3]], colour);
        sample.variables.iter_mut().zip(variables).for_each(|(sum, value)| add(sum, weights(seen), value));
        (0..3).for_each(|i| sample.through[i] *= 1.0 - opacity[i]);
        if sample.through.iter().all(|t| *t <= 1.0 - threshold) {
            sample.stopped = Some(key);
            return sample;
        }
    }
    if opaque != EMPTY {
        let Look { colour, variables, .. } = look(opaque as u32);
        add(&mut sample.colour, weights(sample.through), colour);
        sample.variables.iter_mut().zip(variables).for_each(|(sum, v)| add(sum, weights(sample.through), v));
    }
    sample
}

#[test]
fn two_half_opaque_cards_give_three_quarters() {
    let half = |_| Look { colour: [0.5, 0.5, 0.5, 1.0], opacity: [0.5; 3], variables: Vec::new() };
    let sample = composite(&[1, 2], EMPTY, half, 0, 0.996);
    assert_eq!((sample.colour, sample.through, sample.stopped), ([0.75; 4], [0.25; 3], None));
    let full = |_| Look { colour: [1.0; 4], opacity: [1.0; 3], variables: vec![[2.0; 4]] };
    let sample = composite(&[1, 2], 7, full, 1, 0.996);
    assert_eq!((sample.colour, sample.variables, sample.stopped), ([1.0; 4], vec![[2.0; 4]], Some(1)));
}

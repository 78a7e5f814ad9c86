//! What shading is for: the micropolygons that samples see, and where their colours are kept.

use super::hide::EMPTY;
use std::collections::BTreeSet;

/// The numbers of the micropolygons behind depth keys.
pub(crate) fn visible(keys: &[u64]) -> BTreeSet<u32> {
    keys.iter().filter(|key| **key != EMPTY).map(|key| *key as u32).collect()
}

/// Places of colours: in order of numbers, without gaps. The place of `number`.
pub(crate) fn place(visible: &BTreeSet<u32>, number: u32) -> usize {
    visible.range(..number).count()
}

/// 256 bits a grid: those of its visible micropolygons.
pub(crate) fn bits(visible: &BTreeSet<u32>, grids: usize) -> Vec<u32> {
    let mut words = vec![0; 8 * grids];
    visible.iter().for_each(|number| words[(number / 32) as usize] |= 1 << (number % 32));
    words
}

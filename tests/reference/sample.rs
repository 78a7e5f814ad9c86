//! Sampling of translucent surfaces: every sample lists all that covers it.

use super::hide::{Candidate, samples};
use super::sampling::Pattern;
use anthill::pipeline::kernels::constants::CELL_SAMPLES;
use anthill::pipeline::pixels::RegionPixels;
use anthill::pipeline::slab::Slab;
use std::collections::{BTreeMap, BTreeSet};

/// For each sample the keys (depth, number) in front of what is opaque there, inside a slab; nearest first.
pub(crate) fn lists(
    region: &RegionPixels,
    pattern: Pattern,
    candidates: &[Candidate],
    opaque: &[u64],
    slab: Slab,
) -> Vec<Vec<u64>> {
    let list = |((pixel, at), behind): (([i32; 2], [i64; 2]), &u64)| {
        let key = |c: &Candidate| c.key(c.micropolygon.depth_in_pixel(pixel, at));
        let keys = candidates.iter().filter(|c| c.covers(pixel, at)).filter_map(key);
        let mut keys: Vec<u64> = keys.filter(|key| key < behind && (slab.low..slab.high).contains(key)).collect();
        keys.sort_unstable();
        keys
    };
    samples(region, pattern).zip(opaque).map(list).collect()
}

/// The same as entries: the mask of samples by cell and number.
pub(crate) fn entries(lists: &[Vec<u64>], pattern: Pattern) -> BTreeMap<(u32, u32), u32> {
    let pixel_samples = pattern.pixel_samples();
    let mut masks = BTreeMap::new();
    for (i, list) in (0..).zip(lists) {
        let (pixel, s) = (i / pixel_samples, i % pixel_samples);
        let cell = pixel * pixel_samples.div_ceil(CELL_SAMPLES) + s / CELL_SAMPLES;
        for key in list {
            *masks.entry((cell, *key as u32)).or_insert(0) |= 1 << (s % CELL_SAMPLES);
        }
    }
    masks
}

/// The numbers of the micropolygons that some sample lists.
pub(crate) fn numbers(lists: &[Vec<u64>]) -> BTreeSet<u32> {
    lists.iter().flatten().map(|key| *key as u32).collect()
}

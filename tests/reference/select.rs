//! Selection: which grids a region needs, in which order they are hidden and shaded.

use anthill::pipeline::kernels::constants::DEPTH_BUCKETS;
use anthill::pipeline::kernels::records::{GridBound, Subpatch};
use anthill::pipeline::pixels::{RegionPixels, unpacked_range};
use anthill::pipeline::stage::DepthBuckets;

/// Micropolygons of a grid along u and v.
fn dims(grid: &Subpatch) -> [u32; 2] {
    grid.micropolygons()
}

/// log2 of the vertices of a grid's slot: a power of two from 4 on.
pub(crate) fn slot_log2(grid: &Subpatch) -> u32 {
    let [nu, nv] = dims(grid);
    ((nu + 1) * (nv + 1)).next_power_of_two().max(4).ilog2()
}

/// Size class: slots by size.
pub(crate) fn size_class(grid: &Subpatch) -> u32 {
    slot_log2(grid) - 2
}

/// Pixels of a bound, inclusive: x0, y0, x1, y1.
fn pixels(bound: &GridBound) -> [i32; 4] {
    let ([x0, x1], [y0, y1]) = (unpacked_range(bound.x), unpacked_range(bound.y));
    [x0, y0, x1, y1]
}

/// The grids whose bounds meet a region's sampled pixels, in order.
pub(crate) fn selected(bounds: &[GridBound], region: &RegionPixels) -> Vec<u32> {
    let [rx0, ry0, rx1, ry1] = region.sampled;
    let meets = |bound: &GridBound| {
        let [x0, y0, x1, y1] = pixels(bound);
        x0 < rx1 && x1 >= rx0 && y0 < ry1 && y1 >= ry0
    };
    (0..).zip(bounds).filter(|(_, bound)| meets(bound)).map(|(grid, _)| grid).collect()
}

/// The depth bucket of a grid: by the bits of its nearest depth, which grow as their number does.
pub(crate) fn bucket(bound: &GridBound, depth: DepthBuckets) -> u32 {
    let bits = bound.zmin.max(0.0).to_bits();
    (bits.saturating_sub(depth.base) >> depth.shift).min(DEPTH_BUCKETS - 1)
}

/// The batch of each bucket: batches of equal work, nearest first, as far as whole buckets allow. Exact, with its
/// remainder: how far each batch is from the next, 0 to 1.
pub(crate) fn batches(histogram: &[u32], count: u32) -> Vec<(u32, f64)> {
    let total = histogram.iter().map(|&work| u64::from(work)).sum::<u64>().max(1);
    let mut before = 0;
    let mut batches = Vec::new();
    for work in histogram {
        let at = before * u64::from(count);
        batches.push((((at / total) as u32).min(count - 1), (at % total) as f64 / total as f64));
        before += u64::from(*work);
    }
    batches
}

/// Whether a grid may be left out: every 4x4-pixel block of the region that it may touch already shows something nearer
/// at each sample. `blocks` are the farthest depths (bits).
pub(crate) fn is_hidden(bound: &GridBound, region: &RegionPixels, blocks: &[u32]) -> bool {
    let [x0, y0, ..] = region.sampled;
    let [width, _] = region.size();
    let [bx0, by0, bx1, by1] = pixels(bound);
    (0..).zip(blocks).all(|(i, farthest)| {
        let (i, pitch) = (i, width.div_ceil(4));
        let (x, y) = (x0 + 4 * (i % pitch).cast_signed(), y0 + 4 * (i / pitch).cast_signed());
        let apart = bx0 > x + 3 || bx1 < x || by0 > y + 3 || by1 < y;
        apart || bound.zmin.max(0.0).to_bits() > *farthest
    })
}

#[test]
fn batches_of_even_work_are_even() {
    assert_eq!(batches(&[1, 1, 1, 1], 2).iter().map(|b| b.0).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!(batches(&[0, 9, 0, 1], 3).iter().map(|b| b.0).collect::<Vec<_>>(), [0, 0, 2, 2]);
    assert_eq!(batches(&[0, 0], 3)[1].0, 0);
}

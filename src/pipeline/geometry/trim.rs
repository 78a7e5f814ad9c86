//! Trim loops as kernels read them (`glsl/lib/sampling/trim.glsl`).

use super::Page;
use crate::pipeline::kernels::constants::{CELL_SAMPLES, TRIM_SEARCHES, TRIM_STEPS, TRIPS_MAX};
use crate::scene::TrimLoops;

/// The most parts (of 32 samples, cells) that an invocation is given at once.
const PARTS_AT_ONCE: usize = 256;

/// Records of the loops, in all.
pub(super) fn records(trim: &TrimLoops) -> usize {
    let lists: usize = trim.strips.iter().map(|strip| 1 + strip.len().div_ceil(4)).sum();
    let pieces = trim.pieces.iter().map(|piece| if piece.control.is_empty() { 1 } else { 2 + piece.control.len() });
    1 + lists + pieces.sum::<usize>()
}

/// Appends the records of the loops. Record numbers are floats, which are exact up to 2^24; a page has fewer.
pub(super) fn append(trim: &TrimLoops, page: &mut Page) {
    let base = page.data.len();
    page.data.push([trim.strips.len() as f32, parts(trim) as f32, f32::from(u8::from(trim.draws_outside)), 0.0]);
    let lists: usize = trim.strips.iter().map(|strip| strip.len().div_ceil(4)).sum();
    let (mut list, mut place) = (1 + trim.strips.len(), 1 + trim.strips.len() + lists);
    for strip in trim.strips.iter() {
        page.data.push([list as f32, strip.len() as f32, 0.0, 0.0]);
        list += strip.len().div_ceil(4);
    }
    let mut places = Vec::with_capacity(trim.pieces.len());
    for piece in trim.pieces.iter() {
        let curved = !piece.control.is_empty();
        places.push(if curved { -(place as f32) } else { place as f32 });
        place += if curved { 2 + piece.control.len() } else { 1 };
    }
    for four in trim.strips.iter().flat_map(|strip| strip.chunks(4)) {
        page.data.push(std::array::from_fn(|i| four.get(i).map_or(0.0, |&piece| places[piece as usize])));
    }
    for piece in trim.pieces.iter() {
        let [[u0, v0], [u1, v1]] = piece.ends;
        page.data.push([u0, v0, u1, v1]);
        if !piece.control.is_empty() {
            page.data.push([(piece.control.len() - 1) as f32, 0.0, 0.0, 0.0]);
            page.data.extend(piece.control.iter().map(|[u, v, w]| [*u, *v, *w, 0.0]));
        }
    }
    debug_assert_eq!(page.data.len() - base, records(trim));
}

/// How many parts of [`CELL_SAMPLES`] samples an invocation may do: its loops make at most [`TRIPS_MAX`] trips.
fn parts(trim: &TrimLoops) -> usize {
    let (crossings, degree) = trim.most();
    let search = TRIM_SEARCHES as usize * TRIM_STEPS as usize * (degree + 1);
    let sample = 8 + crossings + search;
    (TRIPS_MAX as usize / (CELL_SAMPLES as usize * sample)).clamp(1, PARTS_AT_ONCE)
}

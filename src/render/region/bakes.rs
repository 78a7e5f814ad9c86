//! What shaders bake. The records come as those of `printf` do (see [`super::prints`]), but all are kept: a point is
//! known by its grid, its vertex and the number of the call there, and counts once however often it was shaded.

use crate::host_memory::{Charge, ChargeKind, HostMemory};
use crate::shading::bakes::{BakeCall, vertex_and_columns, with_vertex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A point's grid, its vertex with the grid's columns, and the number of the call there.
pub(crate) type BakePlace = [u32; 3];

/// The points of a picture, or of a region of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BakedPoints {
    pub calls: BTreeMap<BakeCall, BakedCalls>,
    /// Words for which a submission had no room: points are missing.
    pub lost_words: u64,
}

/// The host's memory for what a picture's shaders bake, on all devices. Once there is too little, nothing more is kept.
#[derive(Debug)]
pub(crate) struct BakeMemory {
    memory: Arc<HostMemory>,
    is_short: AtomicBool,
}

impl BakeMemory {
    pub(crate) fn new(memory: &Arc<HostMemory>) -> Self {
        Self { memory: Arc::clone(memory), is_short: AtomicBool::new(false) }
    }

    /// Returns an empty charge.
    pub(crate) fn charge(&self) -> Charge {
        Charge::new(&self.memory)
    }

    /// Charges memory for points that take `bytes` bytes, and for what is made of them; `false` if there is too little.
    pub(crate) fn take(&self, charge: &Charge, bytes: u64) -> bool {
        let fits = !self.is_short() && charge.try_take(ChargeKind::Points, COPIES * bytes);
        self.is_short.fetch_or(!fits, Ordering::Relaxed);
        fits
    }

    /// Whether there was too little.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short.load(Ordering::Relaxed)
    }
}

/// Memory for a point, as a multiple of its own: it is sorted, perhaps interpolated, and copied for its file. Lists of
/// points may have grown to twice what is in them.
const COPIES: u64 = 4;

/// Bytes of a point besides its floats.
const PLACE_BYTES: u64 = size_of::<BakePlace>() as u64;

/// Returns the bytes of a point with this many floats.
pub(super) fn point_bytes(floats: usize) -> u64 {
    PLACE_BYTES + (floats * size_of::<f32>()) as u64
}

/// The points of calls that have file and channels in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BakedCalls {
    pub places: Vec<BakePlace>,
    /// As many for each point.
    pub floats: Vec<f32>,
}

impl BakedCalls {
    /// Floats of a point.
    pub(crate) fn width(&self) -> usize {
        self.floats.len() / self.places.len().max(1)
    }

    /// The same points in order, each once, with other places.
    fn sorted(&self, place: impl Fn(BakePlace) -> BakePlace) -> Self {
        let width = self.width();
        let mut order: Vec<(BakePlace, usize)> = self.places.iter().map(|&old| place(old)).zip(0..).collect();
        order.sort_unstable();
        order.dedup_by_key(|(place, _)| *place);
        let floats = order.iter().flat_map(|&(_, at)| &self.floats[at * width..(at + 1) * width]);
        Self { floats: floats.copied().collect(), places: order.iter().map(|(place, _)| *place).collect() }
    }

    /// Points in order, with those whose float `flag` is not 0 replaced by the means of four at the corners of a
    /// micropolygon, in the place of the first. Where a grid has one row or column they stay.
    pub(crate) fn centred(&self, flag: usize) -> Self {
        let (width, mut found) = (self.width(), Self::default());
        let floats = |at: usize| &self.floats[at * width..(at + 1) * width];
        for (at, &place) in self.places.iter().enumerate() {
            let [grid, word, call] = place;
            let (vertex, columns) = vertex_and_columns(word);
            let of_vertex = |vertex: u32| [grid, with_vertex(word, vertex), call];
            let second_row = self.places.partition_point(|&other| other < [grid, with_vertex(word, columns + 1), 0]);
            let has_middles = columns > 0 && self.places.get(second_row).is_some_and(|other| other[0] == grid);
            if !has_middles || floats(at)[flag] == 0.0 {
                found.places.push(place);
                found.floats.extend(floats(at));
                continue;
            }
            if vertex % (columns + 1) == columns {
                continue;
            }
            let corners =
                [0, 1, columns + 1, columns + 2].map(|step| self.places.binary_search(&of_vertex(vertex + step)));
            if let [Ok(a), Ok(b), Ok(c), Ok(d)] = corners {
                let [a, b, c, d] = [a, b, c, d].map(floats);
                found.places.push(place);
                found.floats.extend((0..width).map(|i| ((a[i] + b[i]) + (c[i] + d[i])) * 0.25));
            }
        }
        found
    }
}

impl BakedPoints {
    pub(super) fn insert(&mut self, place: BakePlace, call: BakeCall, floats: &[f32]) {
        let points = self.calls.entry(call).or_default();
        points.places.push(place);
        points.floats.extend(floats);
    }

    /// Adds those of another region.
    pub(crate) fn add(&mut self, other: Self) {
        self.lost_words += other.lost_words;
        for (call, other) in other.calls {
            let points = self.calls.entry(call).or_default();
            points.places.extend(other.places);
            points.floats.extend(other.floats);
        }
    }

    /// The same points in order, each once, with other places.
    pub(crate) fn sorted(&self, place: impl Fn(BakePlace) -> BakePlace) -> Self {
        let calls = self.calls.iter().map(|(call, points)| (*call, points.sorted(&place))).collect();
        Self { calls, lost_words: self.lost_words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_count_once_in_whatever_order_regions_end() {
        let points = |places: &[u32]| BakedCalls {
            places: places.iter().map(|&grid| [grid, 1, 0]).collect(),
            floats: places.iter().flat_map(|&grid| [grid as f32, 0.5]).collect(),
        };
        let whole = points(&[0, 2, 5, 7]);
        for order in [&[0, 2, 5, 7, 2, 2][..], &[7, 5, 2, 0], &[5, 5, 5, 7, 0, 2]] {
            assert_eq!(points(order).sorted(|place| place), whole);
        }
        assert_eq!(points(&[1, 2]).sorted(|[grid, ..]| [3 - grid, 1, 0]).floats, [2.0, 0.5, 1.0, 0.5]);
        assert_eq!(BakedCalls::default().sorted(|place| place), BakedCalls::default());
    }

    #[test]
    fn points_between_four_vertices_stand_for_micropolygons() {
        // Grids of 2 x 1 micropolygons, of which the last lacks a vertex, and of one row.
        let vertices =
            |grid: u32, columns: u32, all: std::ops::Range<u32>| all.map(move |v| [grid, columns << 16 | v, 0]);
        let places: Vec<_> = vertices(0, 2, 0..6).chain(vertices(1, 2, 0..5)).chain(vertices(2, 3, 0..4)).collect();
        let points = |flag: f32| BakedCalls {
            places: places.clone(),
            floats: places.iter().flat_map(|&[grid, word, _]| [(10 * grid + (word & 0xffff)) as f32, flag]).collect(),
        };
        assert_eq!(points(0.0).centred(1), points(0.0));
        let found = points(1.0).centred(1);
        let values: Vec<f32> = found.floats.chunks(2).map(|point| point[0]).collect();
        assert_eq!(values, [2.0, 3.0, 12.0, 20.0, 21.0, 22.0, 23.0]);
        assert_eq!(found.places[..3], [[0, 2 << 16, 0], [0, 2 << 16 | 1, 0], [1, 2 << 16, 0]]);
    }
}

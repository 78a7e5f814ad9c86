//! How a device's share of memory is divided, in closed form.
//!
//! ```text
//! limit = reserve C + frame (instances, parameters) + pages + grids + regions in flight * region
//! ```
//! Pages get what they need up to a third of what is left after the frame. The list of grids gets up to half of the rest, or a quarter for
//! some of its pages (`grid_pages`); regions share what remains in equal fixed parts. A region's
//! part goes first to the lists of the grids that some pixel needs, because a pixel cannot be cut, then to subpixels: depth keys,
//! resolved samples, visible colours. What a small picture leaves over goes to stores that make work come in larger portions.

mod grid_residency;
pub(super) mod needs;

pub(crate) use grid_residency::GridResidency;

use crate::pipeline::buffers::RegionCapacity;

/// The least arena: a slot of 256 vertices with 64 channels.
const ARENA_RECORDS_MIN: u64 = 256 * 64;
/// More vertices in a load do not make a device faster.
const ARENA_RECORDS_MAX: u64 = 1 << 20;
/// The least region: a tile of 16 pixels and its apron still works.
const SUBPIXELS_MIN: u64 = 1 << 12;
/// Stores for the work of so many subpixels are worth their memory even where there are fewer.
const WORK_SUBPIXELS: u64 = 1 << 20;
/// Grids of one region at most: their rank is part of a key.
const GRIDS_MAX: u64 = 1 << 24;
/// Bytes of a region's lists for each grid.
const GRID_BYTES: u64 = 112;
/// The most subpixels that keep a region's parts bindable (`BINDING_BYTES_MAX`).
const SUBPIXELS_MAX: u64 = 1 << 24;

/// What a world asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    /// Grids of the frame.
    pub frame_grids: u64,
    /// Grids of a page of them.
    pub page_grids: u64,
    /// The most grids that any pixel's samples need.
    pub pixel_grids_max: u64,
    /// Samples of a pixel.
    pub pixel_samples: u64,
    /// Subpixels of the whole picture, aprons included.
    pub picture_subpixels: u64,
    /// Outputs besides colour, alpha, depth.
    pub variables: u64,
    /// Bins of hiding or shading, whichever are more.
    pub bins: u64,
    /// Whether anything is translucent.
    pub translucent: bool,
    /// Whether colours are interpolated across some micropolygons.
    pub smooth: bool,
    /// Records that the largest slot of any bin takes up in the arena.
    pub slot_records_max: u64,
}

impl Demand {
    /// Grids that a region has lists for, where `wanted` would be nice: all of the frame, or at least what any pixel needs.
    fn grids(&self, wanted: u64) -> u64 {
        self.frame_grids.clamp(1, wanted.max(1 << 10).max(self.pixel_grids_max)).min(GRIDS_MAX)
    }
}

/// The capacity of one region's part with `subpixels` subpixels, and stores for the work of `work` subpixels.
fn capacity(demand: &Demand, subpixels: u64, work: u64, grids: u64) -> RegionCapacity {
    let arena = (work / 8).clamp(ARENA_RECORDS_MIN, ARENA_RECORDS_MAX).max(demand.slot_records_max);
    RegionCapacity {
        frame_grids: demand.frame_grids,
        grids,
        subpixels,
        pixel_samples: demand.pixel_samples,
        arena,
        slots: arena / 16,
        // A micropolygon of the usual shading rates is seen by several samples; where more are seen, colours go in rounds.
        colours: (work / 4).max(1 << 10),
        entries: if demand.translucent { work } else { 0 },
        variables: demand.variables,
        bins: demand.bins,
        smooth: demand.smooth,
    }
}

/// The largest region that fits `bytes`; `None` when not even the smallest does.
pub(crate) fn solve(demand: &Demand, bytes: u64) -> Option<RegionCapacity> {
    let fits = |c: &RegionCapacity| c.bytes() <= bytes && c.bindable();
    // Grids that a region selects: all of them while they take up no more than a quarter of its memory.
    // Where variables or bins take most, fewer grids at once still work.
    let choices = [demand.grids(bytes / 4 / GRID_BYTES), demand.grids(0)];
    let most = demand.picture_subpixels.clamp(SUBPIXELS_MIN, SUBPIXELS_MAX);
    let (mut low, mut high) = (SUBPIXELS_MIN, most);
    let grids = choices.into_iter().find(|&grids| fits(&capacity(demand, low, low, grids)))?;
    while low < high {
        let middle = low.midpoint(high + 1);
        if fits(&capacity(demand, middle, middle, grids)) { low = middle } else { high = middle - 1 }
    }
    let works = (0..).map(|halvings| WORK_SUBPIXELS >> halvings).take_while(|work| *work > low);
    let larger = works.map(|work| capacity(demand, low, work, grids)).find(fits);
    Some(larger.unwrap_or_else(|| capacity(demand, low, low, grids)))
}

/// Bytes that [`solve`] needs at least.
pub(crate) fn least_bytes(demand: &Demand) -> u64 {
    capacity(demand, SUBPIXELS_MIN, SUBPIXELS_MIN, demand.grids(0)).bytes() + (1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand() -> Demand {
        Demand {
            frame_grids: 300_000,
            page_grids: 300_000,
            pixel_grids_max: 400,
            pixel_samples: 16,
            picture_subpixels: 642 * 482 * 16,
            variables: 0,
            bins: 10,
            translucent: true,
            smooth: false,
            slot_records_max: 256 * 20,
        }
    }

    #[test]
    fn more_memory_is_larger_regions_up_to_the_picture() {
        let mut last = 0;
        for mib in [24, 48, 96, 192, 384, 4096] {
            let solved = solve(&demand(), mib << 20).expect("enough memory");
            assert!(solved.bytes() <= mib << 20 && solved.bindable());
            assert!(solved.subpixels >= last, "{mib} MiB");
            last = solved.subpixels;
        }
        let all = solve(&Demand { translucent: false, ..demand() }, 4 << 30).expect("plenty");
        assert_eq!(all.subpixels, demand().picture_subpixels);
    }

    /// The formula of ARCHITECTURE.md, "Cost of a region".
    fn documented_bytes(c: &RegionCapacity) -> u64 {
        let (f, s, u, a, e) = (c.frame_grids.div_ceil(32), c.grids, c.subpixels, c.arena, c.entries);
        let (p, v, b) = (u.div_ceil(c.pixel_samples), c.variables, 320 * c.bins);
        let k = 1 + v + u64::from(e > 0);
        let per_place = if c.smooth { 4 * k + 2 } else { k };
        let cells = if e > 0 { c.pixel_samples.div_ceil(32) * p } else { 0 };
        let opaque =
            8 * f + 112 * s + (8 + 16 * k) * u + (28 + 16 * v) * p + 20 * a + 16 * per_place * c.colours + 8 * b;
        let translucent = if e > 0 { 8 * u + 36 * e + 12 * cells } else { 0 };
        opaque + translucent + 4 * f.max(s).max(b).max(cells).div_ceil(1024) + 42_176
    }

    #[test]
    fn bytes_are_those_of_the_documented_formula() {
        for (translucent, smooth, variables, pixel_samples) in
            [(false, false, 0, 16), (true, false, 2, 16), (true, true, 1, 64), (false, true, 3, 1)]
        {
            let demand = Demand { translucent, smooth, variables, pixel_samples, ..demand() };
            for mib in [64, 300, 4096] {
                let c = solve(&demand, mib << 20).expect("enough memory");
                let (bytes, documented) = (c.bytes(), documented_bytes(&c));
                assert!(
                    (documented..=documented + 42 * 255).contains(&bytes),
                    "{bytes}, documented {documented}: {c:?}"
                );
            }
        }
    }

    #[test]
    fn a_subpixel_takes_what_is_documented() {
        let each = |translucent| {
            let demand = Demand { translucent, ..demand() };
            let [less, more] =
                [1 << 18, 1 << 20].map(|subpixels| capacity(&demand, subpixels, subpixels, 1000).bytes());
            (more - less) as f64 / f64::from((1 << 20) - (1 << 18))
        };
        assert!((each(false) - 32.25).abs() < 0.01, "{}", each(false));
        assert!((each(true) - 97.0).abs() < 0.01, "{}", each(true));
    }

    #[test]
    fn a_pixel_that_needs_all_grids_has_room_for_them() {
        let deep = Demand { frame_grids: 1_000_000, pixel_grids_max: 900_000, picture_subpixels: 1296, ..demand() };
        assert!(solve(&deep, 80 << 20).is_none());
        assert!(solve(&deep, 128 << 20).is_some_and(|solved| solved.grids >= 900_000 && solved.bytes() <= 128 << 20));
    }

    #[test]
    fn small_pictures_work_in_large_portions_where_memory_allows() {
        let small = Demand { picture_subpixels: 1296, ..demand() };
        let [tight, roomy] = [32, 256].map(|mib| solve(&small, mib << 20).expect("enough memory"));
        assert!(tight.entries < roomy.entries && roomy.entries == WORK_SUBPIXELS && roomy.arena > tight.arena);
        assert_eq!(tight.subpixels, roomy.subpixels);
    }

    #[test]
    fn the_least_is_enough_and_less_is_refused() {
        let many_variables = Demand { variables: 300, ..demand() };
        for demand in [demand(), many_variables, Demand { bins: 60_000, ..demand() }] {
            assert!(solve(&demand, least_bytes(&demand)).is_some(), "{demand:?}");
        }
        assert_eq!(solve(&demand(), 1 << 19), None);
    }
}

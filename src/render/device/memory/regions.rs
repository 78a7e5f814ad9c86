//! What a region in flight gets of the device's memory: the largest capacity that fits a number of bytes, in closed
//! form.
//!
//! The bytes go first to the lists of the grids that some pixel needs, because a pixel cannot be cut, then to
//! subpixels: depth keys, resolved samples, visible colours. What a small picture leaves over goes to stores that let
//! work come in larger portions.

use crate::gpu::fitting_bytes;
use crate::pipeline::buffers::RegionCapacity;
use crate::pipeline::filter::TAPS_OF_A_PART;
use crate::pipeline::kept::KeptSlices;
use crate::pipeline::look::Interpolation;
use std::iter;

/// Records of the smallest vertex arena: a slot of 256 vertices with 64 channels.
const ARENA_RECORDS_MIN: u64 = 256 * 64;
const _: () = assert!(TAPS_OF_A_PART as u64 <= 2 * ARENA_RECORDS_MIN, "two taps of a filter to a record");
/// Records of the largest vertex arena: more vertices in a load do not make a device faster.
const ARENA_RECORDS_MAX: u64 = 1 << 20;
/// Subpixels of the smallest region: a square of 16 pixels and its apron still works.
const SUBPIXELS_MIN: u64 = 1 << 12;
/// Subpixels of the largest region: more would make parts of it too large to bind (`BINDING_BYTES_MAX`).
const SUBPIXELS_MAX: u64 = 1 << 24;
/// The most where the host keeps a function of depth of each pixel.
const DEEP_SUBPIXELS_MAX: u64 = 1 << 21;
/// Stores for the work of this many subpixels are worth their memory even where the picture has fewer.
const WORK_SUBPIXELS: u64 = 1 << 20;
/// As many for translucent pictures, whose slabs are diced, sampled and shaded again where entries or colours do not
/// fit.
const TRANSLUCENT_WORK: u64 = 1 << 22;
/// Grids of a region, at most: their rank is part of a key.
const GRIDS_MAX: u64 = 1 << 24;
/// Grids that a region has lists for, at least, where the picture has that many.
const GRIDS_MIN: u64 = 1 << 10;
/// Bytes of a region's lists for each grid.
const REGION_GRID_BYTES: u64 = 112;
/// The part of a region's memory that lists of grids may take, unless a pixel needs more: 1 / this.
const REGION_LISTS_PART: u64 = 4;
/// Where buffers of regions do not fit, they are tried again smaller by this part of their size: 1 / this.
const SHRINK_PART: u64 = 8;

/// What the samples of regions see is kept for this part more of the picture's subpixels: 1 / this. Regions have aprons
/// of their own.
const VISIBILITY_APRONS_PART: u64 = 4;
/// The part of the memory left that what samples see may take: 1 / this.
const VISIBILITY_PART: u64 = 2;

/// Records of what shaders print in a submission, where they print: some 20,000 calls.
const PRINT_RECORDS: u64 = 1 << 16;

/// What a picture asks of the memory of its regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    /// Grids of the whole picture.
    pub frame_grids: u64,
    /// Grids of a page of the list.
    pub page_grids: u64,
    /// The most grids that any pixel's samples need.
    pub pixel_grids_max: u64,
    /// Samples of a pixel.
    pub pixel_samples: u64,
    /// Subpixels of the whole picture, aprons included.
    pub picture_subpixels: u64,
    /// Outputs besides colour, alpha, depth.
    pub variables: u64,
    /// Records of a finished pixel.
    pub filtered: u64,
    /// Sublists of hiding or shading, whichever are more.
    pub sublists: u64,
    /// Whether anything is translucent.
    pub translucent: bool,
    /// What is kept of the colours of a micropolygon.
    pub interpolation: Interpolation,
    /// Whether the depth of the surface behind the nearest one is kept.
    pub behind: bool,
    /// Whether anything moves or is out of focus.
    pub blurred: bool,
    /// Whether there are solids.
    pub solids: bool,
    /// Whether the light at each depth is asked for.
    pub deep: bool,
    /// Whether shaders print.
    pub prints: bool,
    /// Slots for tiles of textures.
    pub texture_slots: u64,
    /// Records that the largest slot of any sublist takes up in the arena.
    pub slot_records_max: u64,
}

impl Demand {
    /// Returns the number of grids that a region has lists for: all of the picture's, up to `wanted` or what any pixel
    /// needs, whichever is more.
    fn grids(&self, wanted: u64) -> u64 {
        self.frame_grids.clamp(1, wanted.max(GRIDS_MIN).max(self.pixel_grids_max)).min(GRIDS_MAX)
    }
}

/// Places that the colour store has at least.
const COLOURS_MIN: u64 = 1 << 10;

/// Returns the capacity of a region with `subpixels` subpixels, `grids` grids, and stores for the work of `work`
/// subpixels.
fn capacity(demand: &Demand, subpixels: u64, work: u64, grids: u64) -> RegionCapacity {
    let arena = (work / 8).clamp(ARENA_RECORDS_MIN, ARENA_RECORDS_MAX).max(demand.slot_records_max);
    let capacity = RegionCapacity {
        frame_grids: demand.frame_grids,
        grids,
        subpixels,
        pixel_samples: demand.pixel_samples,
        arena,
        slots: arena / 16,
        // A micropolygon of the usual shading rates is seen by several samples; where more are seen, colours go in
        // rounds.
        colours: (work / 4).max(COLOURS_MIN),
        entries: if demand.translucent || demand.deep { work } else { 0 },
        variables: demand.variables,
        filtered: demand.filtered,
        sublists: demand.sublists,
        interpolation: demand.interpolation,
        behind: demand.behind,
        blurred: demand.blurred,
        solids: demand.solids,
        deep: demand.deep,
        prints: if demand.prints { PRINT_RECORDS } else { 0 },
        texture_slots: demand.texture_slots,
    };
    // Positions at many keyframes take no more bytes than positions in the picture would: there are more rounds
    // instead.
    let usual = RegionCapacity { interpolation: Interpolation::Smooth, ..capacity };
    let of_usual_bytes = capacity.colours * usual.colour_records() / capacity.colour_records();
    RegionCapacity { colours: capacity.colours.min(of_usual_bytes).max(COLOURS_MIN), ..capacity }
}

/// Returns the capacity of the largest region that fits `bytes`; `None` when not even the smallest does.
fn largest_region(demand: &Demand, bytes: u64) -> Option<RegionCapacity> {
    let fits = |c: &RegionCapacity| c.bytes() <= bytes && c.bindable();
    // Lists take up to a quarter of the memory; where variables or sublists take most of it, fewer grids at once still
    // work.
    let choices = [demand.grids(bytes / REGION_LISTS_PART / REGION_GRID_BYTES), demand.grids(0)];
    let most = if demand.deep { DEEP_SUBPIXELS_MAX } else { SUBPIXELS_MAX };
    let most = demand.picture_subpixels.clamp(SUBPIXELS_MIN, most);
    let (mut low, mut high) = (SUBPIXELS_MIN, most);
    let grids = choices.into_iter().find(|&grids| fits(&capacity(demand, low, low, grids)))?;
    while low < high {
        let middle = low.midpoint(high + 1);
        if fits(&capacity(demand, middle, middle, grids)) { low = middle } else { high = middle - 1 }
    }
    let most_work = if demand.translucent { TRANSLUCENT_WORK } else { WORK_SUBPIXELS };
    let works = (0..).map(|halvings| most_work >> halvings).take_while(|work| *work > low);
    let larger = works.map(|work| capacity(demand, low, work, grids)).find(fits);
    Some(larger.unwrap_or_else(|| capacity(demand, low, low, grids)))
}

/// Returns the bytes with which [`largest_region`] always finds a capacity.
pub(crate) fn smallest_region_bytes(demand: &Demand) -> u64 {
    capacity(demand, SUBPIXELS_MIN, SUBPIXELS_MIN, demand.grids(0)).bytes() + (1 << 20)
}

/// Returns the bytes for what the samples of a picture see, where `free` bytes are left when its regions have theirs.
pub(crate) fn visibility_bytes(demand: &Demand, free: u64) -> u64 {
    let keys = demand.picture_subpixels + demand.picture_subpixels / VISIBILITY_APRONS_PART;
    KeptSlices::bytes(keys, demand.behind).min(free / VISIBILITY_PART)
}

/// Capacities to try for each of `in_flight` regions on a device with `free` bytes, the largest first. Buffers that
/// share blocks leave gaps, so that fewer bytes may fit than are free; the smallest region may still fit into a gap.
pub(crate) fn region_choices(
    demand: &Demand,
    in_flight: usize,
    free: u64,
    allocation_bytes_max: u64,
) -> impl Iterator<Item = RegionCapacity> {
    let least = smallest_region_bytes(demand);
    let most = fitting_bytes((free / in_flight as u64).min(allocation_bytes_max));
    let smaller = move |bytes: &u64| Some(bytes - bytes / SHRINK_PART).filter(|bytes| *bytes > least);
    let shares = iter::successors(Some(most), smaller).chain([least]);
    shares.filter_map(|bytes| largest_region(demand, bytes))
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
            filtered: 1,
            sublists: 10,
            translucent: true,
            interpolation: Interpolation::Constant,
            behind: false,
            blurred: false,
            solids: false,
            deep: false,
            prints: false,
            texture_slots: 0,
            slot_records_max: 256 * 20,
        }
    }

    #[test]
    fn more_memory_is_larger_regions_up_to_the_picture() {
        let mut last = 0;
        for mib in [24, 48, 96, 192, 384, 4096] {
            let solved = largest_region(&demand(), mib << 20).expect("enough memory");
            assert!(solved.bytes() <= mib << 20 && solved.bindable());
            assert!(solved.subpixels >= last, "{mib} MiB");
            last = solved.subpixels;
        }
        let all = largest_region(&Demand { translucent: false, ..demand() }, 4 << 30).expect("plenty");
        assert_eq!(all.subpixels, demand().picture_subpixels);
    }

    /// Returns the bytes by the formula of docs/memory.md, "A region in flight".
    fn documented_bytes(c: &RegionCapacity) -> u64 {
        let (f, s, u, a, e) = (c.frame_grids.div_ceil(32), c.grids, c.subpixels, c.arena, c.entries);
        let (p, w, b) = (u.div_ceil(c.pixel_samples), c.filtered, 224 * c.sublists);
        let k = 1 + c.variables + u64::from(e > 0);
        let per_place = match c.interpolation {
            Interpolation::Constant => k,
            Interpolation::Smooth => 4 * k + 2,
            Interpolation::Blurred(keyframes) => 4 * k + 1 + 3 * u64::from(keyframes),
        };
        let cells = if e > 0 { c.pixel_samples.div_ceil(32) * p } else { 0 };
        let solids = if c.solids { 36 * e } else { 0 };
        let blurred = if c.blurred { 16 * (u + c.pixel_samples - 1) } else { 0 };
        let opaque = 8 * f
            + 112 * s
            + (8 + 16 * k) * u
            + (12 + 16 * w) * p
            + 20 * a
            + a / 4
            + 16 * per_place * c.colours
            + 8 * b;
        let translucent = if e > 0 { 8 * u + 36 * e + 12 * cells } else { 0 };
        opaque + translucent + solids + blurred + 4 * f.max(s).max(b).max(cells).div_ceil(1024) + 53_464
    }

    #[test]
    fn bytes_are_those_of_the_documented_formula() {
        let (constant, smooth) = (Interpolation::Constant, Interpolation::Smooth);
        for (translucent, interpolation, solids, blurred, variables, pixel_samples) in [
            (false, constant, false, true, 0, 16),
            (true, constant, true, false, 2, 16),
            (true, Interpolation::Blurred(5), false, true, 1, 64),
            (false, smooth, false, false, 3, 1),
        ] {
            let demand = Demand {
                translucent,
                interpolation,
                solids,
                blurred,
                variables,
                filtered: 1 + variables,
                pixel_samples,
                ..demand()
            };
            for mib in [64, 300, 4096] {
                let c = largest_region(&demand, mib << 20).expect("enough memory");
                let (bytes, documented) = (c.bytes(), documented_bytes(&c));
                assert!(
                    (documented..=documented + 53 * 511).contains(&bytes),
                    "{bytes}, documented {documented}: {c:?}"
                );
            }
        }
    }

    #[test]
    fn many_keyframes_of_smooth_colours_do_not_make_regions_smaller() {
        let subpixels = |interpolation| {
            let large = Demand { interpolation, picture_subpixels: 1 << 24, translucent: false, ..demand() };
            largest_region(&large, 1 << 30).expect("enough memory").subpixels
        };
        let usual = subpixels(Interpolation::Smooth);
        for keyframes in [1, 2, 49, 256] {
            assert!(subpixels(Interpolation::Blurred(keyframes)) >= usual, "{keyframes} keyframes");
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
        assert!((each(false) - 32.28).abs() < 0.01, "{}", each(false));
        assert!((each(true) - 97.03).abs() < 0.01, "{}", each(true));
    }

    #[test]
    fn a_pixel_that_needs_all_grids_has_room_for_them() {
        let deep = Demand { frame_grids: 1_000_000, pixel_grids_max: 900_000, picture_subpixels: 1296, ..demand() };
        assert!(largest_region(&deep, 80 << 20).is_none());
        assert!(
            largest_region(&deep, 128 << 20)
                .is_some_and(|solved| solved.grids >= 900_000 && solved.bytes() <= 128 << 20)
        );
    }

    #[test]
    fn small_pictures_work_in_large_portions_where_memory_allows() {
        let small = Demand { picture_subpixels: 1296, ..demand() };
        let [tight, roomy] = [32, 256].map(|mib| largest_region(&small, mib << 20).expect("enough memory"));
        assert!(tight.entries < roomy.entries && roomy.entries == TRANSLUCENT_WORK && roomy.arena > tight.arena);
        assert_eq!(tight.subpixels, roomy.subpixels);
    }

    #[test]
    fn the_least_is_enough_and_less_is_refused() {
        let many_variables = Demand { variables: 300, filtered: 301, ..demand() };
        for demand in [demand(), many_variables, Demand { sublists: 60_000, ..demand() }] {
            assert!(largest_region(&demand, smallest_region_bytes(&demand)).is_some(), "{demand:?}");
        }
        assert_eq!(largest_region(&demand(), 1 << 19), None);
    }
}

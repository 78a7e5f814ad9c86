//! Whether a region fits: a pure function of the region, the summed-area table, and the memory that the device reserves
//! for one region in flight.
//!
//! RenderAnts compares the memory that a region's micropolygons need with the free memory less a constant C (section
//! 4). In anthill grids stream through a fixed arena, so micropolygons never split a region; only its subpixels and its
//! lists must stay resident. The user's limit is divided once, in closed form, and every region in flight owns one part
//! while it runs:
//!
//! ```text
//! part = (limit - reserve C - shared) / regions in flight
//! shared = primitive pages + textures + kernels + scene constants
//! need = fixed + subpixels * bytes_per_subpixel + pixels * bytes_per_pixel + grids * bytes_per_grid
//! subpixels = (width + 2 apron) (height + 2 apron) samples,   at most the largest binding holds
//! ```

use super::region::{Axis, Region};
use super::summed_area::SummedArea;

/// Whether a device can render a region in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// By the estimate, the device can.
    Fits,
    /// The region must be cut.
    Cut {
        /// The resource that is too small.
        of: Resource,
        /// How much of it the region needs.
        needed: u64,
        /// How much of it is available.
        available: u64,
    },
}

/// A resource of which a region can need too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The subpixels that fit in one binding.
    Subpixels,
    /// The bytes of the memory limit that a region in flight owns.
    Bytes,
}

/// What a device reserves for one region in flight, and how much of it a region takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Samples per pixel in x and y.
    pub samples: [u32; 2],
    /// Pixels that are sampled beyond each border for the filter: ceil(width / 2 - 1/2).
    pub apron_px: [u32; 2],
    /// Largest number of subpixels in one region, apron included: what one binding holds.
    pub subpixel_count_max: u64,
    /// Bytes that one region in flight owns; see [`part_bytes`].
    pub part_bytes: u64,
    /// Bytes that every region takes, whatever its size: grid arena, batches, translucent slabs, status blocks.
    pub fixed_bytes: u64,
    /// Bytes per subpixel, apron included: depth, keys, colour.
    pub bytes_per_subpixel: u64,
    /// Bytes per pixel without apron: filtered channels and their read-back copy.
    pub bytes_per_pixel: u64,
    /// Bytes per grid of the region's lists.
    pub bytes_per_grid: u64,
}

/// Returns the bytes of a device's memory limit that each of `in_flight` regions owns, after shared memory and the
/// reserve (the constant C) are subtracted.
pub fn part_bytes(limit_bytes: u64, shared_bytes: u64, reserve_bytes: u64, in_flight: u64) -> u64 {
    limit_bytes.saturating_sub(shared_bytes).saturating_sub(reserve_bytes) / in_flight.max(1)
}

impl Capacity {
    /// Returns the capacity of a device that is limited by the number of a region's subpixels and grids; everything
    /// else is proportional to those.
    pub fn of_lists([samples, apron_px]: [[u32; 2]; 2], subpixel_count_max: u64, grid_count_max: u64) -> Self {
        Self {
            samples,
            apron_px,
            subpixel_count_max,
            part_bytes: grid_count_max,
            fixed_bytes: 0,
            bytes_per_subpixel: 0,
            bytes_per_pixel: 0,
            bytes_per_grid: 1,
        }
    }

    /// Returns the number of subpixels of `region`, apron included.
    pub fn subpixel_count(&self, region: Region) -> u64 {
        let along = |axis, i: usize| {
            let pixels = u64::from(region.length(axis)) + 2 * u64::from(self.apron_px[i]);
            pixels.saturating_mul(u64::from(self.samples[i]))
        };
        along(Axis::X, 0).saturating_mul(along(Axis::Y, 1))
    }

    /// Returns the bytes that `region` needs by the table's estimate.
    pub fn bytes(&self, table: &SummedArea, region: Region) -> u64 {
        let grids = table.grids(region.grown(self.apron_px)).ceil() as u64;
        [
            self.subpixel_count(region).saturating_mul(self.bytes_per_subpixel),
            region.pixel_count().saturating_mul(self.bytes_per_pixel),
            grids.saturating_mul(self.bytes_per_grid),
        ]
        .into_iter()
        .fold(self.fixed_bytes, u64::saturating_add)
    }

    /// Whether `region` fits, and if not, which resource it exceeds.
    pub fn fit(&self, table: &SummedArea, region: Region) -> Fit {
        let subpixels = self.subpixel_count(region);
        if subpixels > self.subpixel_count_max {
            return Fit::Cut { of: Resource::Subpixels, needed: subpixels, available: self.subpixel_count_max };
        }
        let bytes = self.bytes(table, region);
        if bytes > self.part_bytes {
            return Fit::Cut { of: Resource::Bytes, needed: bytes, available: self.part_bytes };
        }
        Fit::Fits
    }
}

#[cfg(test)]
mod tests {
    use super::super::summed_area::{Rates, SquareCounts, SquareGrids};
    use super::*;

    const CAPACITY: Capacity = Capacity {
        samples: [4, 4],
        apron_px: [1, 2],
        subpixel_count_max: 10_000,
        part_bytes: 200_000,
        fixed_bytes: 1_000,
        bytes_per_subpixel: 16,
        bytes_per_pixel: 32,
        bytes_per_grid: 100,
    };

    fn table(grids: u64) -> SummedArea {
        let picture = Region::new([0, 0, 16, 16]).expect("not empty");
        SummedArea::new(
            picture,
            &[SquareCounts { grids: SquareGrids::inside(grids), ..SquareCounts::default() }],
            Rates::default(),
        )
    }

    #[test]
    fn need_is_the_documented_sum() {
        let whole = Region::new([0, 0, 16, 16]).expect("not empty");
        assert_eq!(CAPACITY.subpixel_count(whole), 18 * 4 * 20 * 4);
        assert_eq!(CAPACITY.bytes(&table(30), whole), 1_000 + 5_760 * 16 + 256 * 32 + 3_000);
        assert_eq!(CAPACITY.fit(&table(30), whole), Fit::Fits);
    }

    #[test]
    fn each_limit_is_named() {
        let whole = Region::new([0, 0, 16, 16]).expect("not empty");
        let few = Capacity { subpixel_count_max: 5_759, ..CAPACITY };
        assert_eq!(few.fit(&table(0), whole), Fit::Cut { of: Resource::Subpixels, needed: 5_760, available: 5_759 });
        let needed = CAPACITY.bytes(&table(2_000), whole);
        assert_eq!(CAPACITY.fit(&table(2_000), whole), Fit::Cut { of: Resource::Bytes, needed, available: 200_000 });
        let exact = Capacity { part_bytes: needed, ..CAPACITY };
        assert_eq!(exact.fit(&table(2_000), whole), Fit::Fits);
    }

    #[test]
    fn nothing_overflows() {
        let largest = Region::new([i32::MIN, i32::MIN, i32::MAX, i32::MAX]).expect("not empty");
        let many = Capacity { samples: [u32::MAX; 2], ..CAPACITY };
        assert_eq!(many.subpixel_count(largest), u64::MAX);
        assert!(matches!(many.fit(&table(0), largest), Fit::Cut { .. }));
    }

    #[test]
    fn parts_of_the_limit() {
        assert_eq!(part_bytes(512, 100, 32, 2), 190);
        assert_eq!(part_bytes(100, 90, 32, 2), 0);
        assert_eq!(part_bytes(100, 0, 0, 0), 100);
    }
}

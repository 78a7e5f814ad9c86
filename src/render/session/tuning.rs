//! The numbers that a render goes by. Production values are the default; test aids override some of them.

use crate::render::device::memory::{GridResidency, geometry_page_bytes, host_list_bytes};
use crate::render::resident::visibility_store::KeepVisibility;
use crate::schedule::Region;
use crate::shading::ProgramAids;

/// The numbers that a render goes by.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    /// Bytes of a page of geometry; `None` for a fraction of the smallest device's limit.
    pub page_bytes: Option<u64>,
    /// Bytes of all pages of geometry that are resident on a device at once, at most.
    pub resident_pages_bytes_max: u64,
    /// How much of the list of grids is resident on a device; `None` for as much as its memory suggests.
    pub grid_residency: Option<GridResidency>,
    /// Bytes of a list of grids that stay in host memory; `None` for a fraction of the devices' limits.
    pub list_bytes: Option<u64>,
    /// Regions in flight on each device, at most; `None` for as many as suit its kind.
    pub in_flight: Option<usize>,
    /// The seed by which regions are split, delayed and stolen at random, if they are.
    pub perturb: Option<u64>,
    /// The side of the squares that pictures are cut into; regions are then not cut for balance.
    pub bucket_px: Option<u32>,
    /// How what samples see is kept for another drawing, if it is.
    pub visibility: Option<KeepVisibility>,
    /// How shading programs are compiled.
    pub programs: ProgramAids,
    /// Devices that are slowed down, by their position in the list of opened devices, each with how many times.
    pub slow_devices: Vec<(usize, f64)>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            page_bytes: None,
            resident_pages_bytes_max: u64::MAX,
            grid_residency: None,
            list_bytes: None,
            in_flight: None,
            perturb: None,
            bucket_px: None,
            visibility: None,
            programs: ProgramAids::default(),
            slow_devices: Vec::new(),
        }
    }
}

impl Tuning {
    /// Returns how many times slower a device is to be, by its position in the list of opened devices.
    pub(super) fn slowness(&self, device: usize) -> f64 {
        self.slow_devices.iter().find(|(slow, _)| *slow == device).map_or(1.0, |(_, times)| *times)
    }

    /// Returns the region, or the buckets that it is cut into.
    pub(super) fn buckets(&self, region: Region) -> Vec<Region> {
        let Some(px) = self.bucket_px else { return vec![region] };
        let [x0, y0, x1, y1] = region.to_array();
        let starts = |low, high| (low..high).step_by(px as usize);
        let end = |at: i32, last: i32| at.saturating_add_unsigned(px).min(last);
        let buckets = starts(y0, y1).flat_map(|y| starts(x0, x1).map(move |x| [x, y, end(x, x1), end(y, y1)]));
        buckets.filter_map(Region::new).collect()
    }

    /// Returns the bytes of a page of geometry, at most, where the smallest limit of any device is `limit_bytes`.
    pub(super) fn page_bytes(&self, limit_bytes: u64) -> u64 {
        self.page_bytes.unwrap_or_else(|| geometry_page_bytes(limit_bytes))
    }

    /// Returns the bytes of a list of grids that stay in host memory, where the limits of all devices add up to
    /// `limits_bytes`.
    pub(super) fn list_bytes(&self, limits_bytes: u64) -> u64 {
        self.list_bytes.unwrap_or_else(|| host_list_bytes(limits_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_a_region_once_and_none_is_larger() {
        let region = Region::new([5, 7, 60, 41]).expect("not empty");
        assert_eq!(Tuning::default().buckets(region), [region]);
        let buckets = Tuning { bucket_px: Some(16), ..Tuning::default() }.buckets(region);
        assert_eq!(buckets.len(), 4 * 3);
        assert_eq!(buckets.iter().map(|bucket| bucket.pixel_count()).sum::<u64>(), region.pixel_count());
        let apart = |(i, a): (usize, &Region)| buckets[..i].iter().all(|b| a.intersection(*b).is_none());
        assert!(buckets.iter().enumerate().all(apart));
        assert!(buckets.iter().all(|bucket| bucket.width() <= 16 && bucket.height() <= 16));
    }

    #[test]
    fn devices_that_are_not_named_are_not_slow() {
        let tuning = Tuning { slow_devices: vec![(1, 3.0)], ..Tuning::default() };
        assert_eq!([0, 1, 2].map(|device| tuning.slowness(device)), [1.0, 3.0, 1.0]);
    }
}

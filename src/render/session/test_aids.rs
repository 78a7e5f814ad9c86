//! Test aids, from the environment (ARCHITECTURE.md, "Test aids").

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::gpu::{Fault, Faults};
use crate::render::device::memory::{GEOMETRY_PAGE_BYTES, GridResidency, REGIONS_IN_FLIGHT, host_list_bytes};
use crate::render::grids::list::LISTED_GRID_BYTES;
use crate::schedule::Region;
use crate::schedule::perturb::IN_FLIGHT_MAX;
use std::sync::Arc;

/// Where `ANTHILL_PAGE_KIB` makes them small, so many are resident at once.
const SMALL_PAGES: u64 = 4;
/// And so many pages of grids.
const SMALL_GRID_PAGES: u64 = 2;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aids {
    /// `ANTHILL_PERTURB`: splits, delays and steals by this seed.
    pub perturb: Option<u64>,
    /// `ANTHILL_PAGE_KIB`: size of pages, of geometry and of grids.
    small_page_bytes: Option<u64>,
    /// `ANTHILL_CAPTURE`: the region of each device that RenderDoc is told to capture.
    pub captured_region: Option<u64>,
    /// `ANTHILL_BUCKET`: regions are squares of so many pixels, and are not cut for balance.
    pub bucket_px: Option<u32>,
    /// `ANTHILL_THROTTLE`: how many times slower each device is than it could be.
    throttle: Vec<(usize, f64)>,
    /// `ANTHILL_FAULT`: failures of devices.
    pub faults: Option<Arc<Faults>>,
}

impl Aids {
    /// Reads them; a value that means nothing is an error.
    pub(crate) fn from_environment() -> Result<Self, String> {
        let number = |name: &str| match std::env::var(name) {
            Err(_) => Ok(None),
            Ok(text) => text.parse::<u64>().map(Some).map_err(|_| format!("{name}={text}: a whole number is expected")),
        };
        let positive = |name: &str| match number(name)? {
            Some(0) => Err(format!("{name}=0: a whole number from 1 on is expected")),
            some => Ok(some),
        };
        let page_kib = positive("ANTHILL_PAGE_KIB")?;
        Ok(Self {
            perturb: number("ANTHILL_PERTURB")?,
            small_page_bytes: page_kib.map(|kib| kib << 10),
            captured_region: number("ANTHILL_CAPTURE")?,
            bucket_px: positive("ANTHILL_BUCKET")?.map(|px| px.min(1 << 16) as u32),
            throttle: throttle()?,
            faults: faults()?,
        })
    }

    /// Whether all failures that were asked for have happened; tells of those that have not.
    pub(crate) fn check_faults(&self, reporter: &Reporter) -> bool {
        let pending = self.faults.as_ref().map(|faults| faults.pending()).unwrap_or_default();
        for (fault, reached) in &pending {
            let message = format!("{FAULT}: {fault} never happened: the device {reached}");
            reporter.report(Diagnostic::new(Severity::Error, "usage", SourceLocation::default(), message));
        }
        pending.is_empty()
    }

    /// How many times slower a device is to be, by its position in the list of opened devices.
    pub(crate) fn slowness(&self, device: usize) -> f64 {
        self.throttle.iter().find(|(slow, _)| *slow == device).map_or(1.0, |(_, times)| *times)
    }

    /// What the scheduler begins with: a region, or the buckets that it is cut into.
    pub(crate) fn buckets(&self, region: Region) -> Vec<Region> {
        let Some(px) = self.bucket_px else { return vec![region] };
        let [x0, y0, x1, y1] = region.to_array();
        let starts = |low, high| (low..high).step_by(px as usize);
        let buckets =
            starts(y0, y1).flat_map(|y| starts(x0, x1).map(move |x| [x, y, (x + px).min(x1), (y + px).min(y1)]));
        buckets.filter_map(Region::new).collect()
    }

    /// Bytes of a geometry page.
    pub(crate) fn page_bytes(&self) -> u64 {
        self.small_page_bytes.unwrap_or(GEOMETRY_PAGE_BYTES)
    }

    /// Bytes of all pages that are resident at once, at most.
    pub(crate) fn pages_bytes_max(&self) -> u64 {
        self.small_page_bytes.map_or(u64::MAX, |bytes| bytes.saturating_mul(SMALL_PAGES))
    }

    /// How much of the list of grids is on a device.
    pub(crate) fn grid_residency(&self) -> Option<GridResidency> {
        let page =
            |bytes: u64| GridResidency { page_grids: (bytes / LISTED_GRID_BYTES).max(1), pages: SMALL_GRID_PAGES };
        self.small_page_bytes.map(page)
    }

    /// Bytes of a list of grids that stay in the host's memory, where devices may take `limits_bytes`; half of the seeds want a file.
    pub(crate) fn list_bytes(&self, limits_bytes: u64) -> u64 {
        if self.perturb.is_some_and(|seed| seed % 2 == 1) {
            return 0;
        }
        self.small_page_bytes.unwrap_or(host_list_bytes(limits_bytes))
    }

    /// Regions in flight on each device, at most.
    pub(crate) fn in_flight(&self) -> usize {
        match (self.captured_region, self.perturb) {
            (Some(_), _) => 1,
            (None, Some(_)) => IN_FLIGHT_MAX,
            (None, None) => REGIONS_IN_FLIGHT,
        }
    }
}

/// The variable that slows devices down: DEVICE:TIMES[,...].
const THROTTLE: &str = "ANTHILL_THROTTLE";

fn throttle() -> Result<Vec<(usize, f64)>, String> {
    let Ok(text) = std::env::var(THROTTLE) else { return Ok(Vec::new()) };
    let one = |text: &str| {
        let (device, times) = text.split_once(':')?;
        let times: f64 = times.parse().ok()?;
        (1.0..=1000.0).contains(&times).then_some((device.parse().ok()?, times))
    };
    let all: Option<Vec<_>> = text.split(',').map(one).collect();
    all.ok_or_else(|| format!("{THROTTLE}={text}: DEVICE:TIMES[,...] is expected, with TIMES from 1 to 1000"))
}

/// The variable that asks for failures.
const FAULT: &str = "ANTHILL_FAULT";

fn faults() -> Result<Option<Arc<Faults>>, String> {
    let Ok(text) = std::env::var(FAULT) else { return Ok(None) };
    let faults: Result<Vec<Fault>, String> = text.split(',').map(str::parse).collect();
    let faults = faults.map_err(|message| format!("{FAULT}={text}: {message}"))?;
    Ok(Some(Arc::new(Faults::new(faults))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_a_region_once_and_none_is_larger() {
        let region = Region::new([5, 7, 60, 41]).expect("not empty");
        assert_eq!(Aids::default().buckets(region), [region]);
        let buckets = Aids { bucket_px: Some(16), ..Aids::default() }.buckets(region);
        assert_eq!(buckets.len(), 4 * 3);
        assert_eq!(buckets.iter().map(|bucket| bucket.pixel_count()).sum::<u64>(), region.pixel_count());
        let apart = |(i, a): (usize, &Region)| buckets[..i].iter().all(|b| a.intersection(*b).is_none());
        assert!(buckets.iter().enumerate().all(apart));
        assert!(buckets.iter().all(|bucket| bucket.width() <= 16 && bucket.height() <= 16));
    }

    #[test]
    fn devices_that_are_not_named_are_not_slow() {
        let aids = Aids { throttle: vec![(1, 3.0)], ..Aids::default() };
        assert_eq!([0, 1, 2].map(|device| aids.slowness(device)), [1.0, 3.0, 1.0]);
    }
}

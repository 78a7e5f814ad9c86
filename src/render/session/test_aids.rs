//! Test aids, from the environment (docs/test-aids.md).

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::gpu::{AsGpu, Fault, Faults};
use crate::render::device::memory::GridResidency;
use crate::render::grids::list::LISTED_GRID_BYTES;
use crate::render::resident::visibility_store::{KeepVisibility, VisibilityKey};
use crate::render::session::tuning::Tuning;
use crate::schedule::perturb::IN_FLIGHT_MAX;
use crate::shading::{ForcedCut, ProgramAids};
use std::sync::Arc;

/// Pages of geometry that are resident at once where `ANTHILL_PAGE_KIB` makes them small.
const SMALL_PAGES: u64 = 4;
/// Pages of grids that are resident at once where `ANTHILL_PAGE_KIB` makes them small.
const SMALL_GRID_PAGES: u64 = 2;

/// What the environment asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct TestAids {
    /// `ANTHILL_PERTURB`: the seed by which regions are split, delayed and stolen at random.
    perturb: Option<u64>,
    /// `ANTHILL_PAGE_KIB`: the size of pages, of geometry and of grids.
    small_page_bytes: Option<u64>,
    /// `ANTHILL_BUCKET`: the side in pixels of the squares that are regions, which are not cut for balance.
    bucket_px: Option<u32>,
    /// `ANTHILL_RECALL`: the KiB in which a device keeps what samples see; regions that fit are drawn twice.
    recall_kib: Option<u64>,
    /// `ANTHILL_PASSES`: how shading programs are cut into passes.
    passes: Option<ForcedCut>,
    /// `ANTHILL_UNROLLED`: unless it is 0, call sites of shaders do not become loops.
    unrolled: Option<u64>,
    /// `ANTHILL_UNDECIDED`: unless it is 0, kernels are not made for what drawables decide about branches.
    undecided: Option<u64>,
    /// `ANTHILL_THROTTLE`: devices that are slowed down, each with how many times.
    throttle: Vec<(usize, f64)>,
    /// `ANTHILL_FAULT`: the failures of devices to simulate.
    pub faults: Option<Arc<Faults>>,
    /// `ANTHILL_AS_GPU`: how devices are used as GPUs.
    pub as_gpu: AsGpu,
}

impl TestAids {
    /// Reads them; `None` if a value means nothing, which is reported.
    pub(super) fn or_report(reporter: &Reporter) -> Option<Self> {
        let read = Self::from_environment().map_err(|message| {
            reporter.report(Diagnostic::new(Severity::Severe, "usage", SourceLocation::default(), message));
        });
        read.ok()
    }

    /// Reads them.
    ///
    /// # Errors
    /// A message about a value that means nothing.
    fn from_environment() -> Result<Self, String> {
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
            bucket_px: positive("ANTHILL_BUCKET")?.map(|px| px.min(1 << 16) as u32),
            recall_kib: positive("ANTHILL_RECALL")?,
            passes: passes()?,
            unrolled: number("ANTHILL_UNROLLED")?,
            undecided: number("ANTHILL_UNDECIDED")?,
            throttle: throttle()?,
            faults: faults()?,
            as_gpu: AsGpu::from_environment()?,
        })
    }

    /// Whether all requested failures have happened; reports those that have not.
    pub(super) fn check_faults(&self, reporter: &Reporter) -> bool {
        let pending = self.faults.as_ref().map(|faults| faults.pending()).unwrap_or_default();
        for (fault, reached) in &pending {
            let message = format!("{FAULT}: {fault} never happened: the device {reached}");
            reporter.report(Diagnostic::new(Severity::Error, "usage", SourceLocation::default(), message));
        }
        pending.is_empty()
    }

    /// Returns the numbers that a render goes by: production values, except those that a test aid overrides.
    pub(super) fn tuning(&self) -> Tuning {
        let mut tuning = Tuning {
            perturb: self.perturb,
            bucket_px: self.bucket_px,
            visibility: self.recall_kib.map(|kib| KeepVisibility {
                key: VisibilityKey(0),
                bytes_max: kib.saturating_mul(1 << 10),
                again: true,
            }),
            programs: ProgramAids {
                passes: self.passes,
                rolls: self.unrolled.unwrap_or(0) == 0,
                decides: self.undecided.unwrap_or(0) == 0,
            },
            slow_devices: self.throttle.clone(),
            ..Tuning::default()
        };
        if let Some(bytes) = self.small_page_bytes {
            tuning.page_bytes = Some(bytes);
            tuning.resident_pages_bytes_max = bytes.saturating_mul(SMALL_PAGES);
            let page_grids = (bytes / LISTED_GRID_BYTES).max(1);
            tuning.grid_residency = Some(GridResidency { page_grids, pages: SMALL_GRID_PAGES });
            tuning.list_bytes = Some(bytes);
        }
        if let Some(seed) = self.perturb {
            tuning.in_flight = Some(IN_FLIGHT_MAX);
            // Half of the seeds put the list of grids into a file.
            if seed % 2 == 1 {
                tuning.list_bytes = Some(0);
            }
        }
        tuning
    }
}

/// The variable that says how programs are cut: a number of passes, or `calls`.
const PASSES: &str = "ANTHILL_PASSES";

fn passes() -> Result<Option<ForcedCut>, String> {
    let Ok(text) = std::env::var(PASSES) else { return Ok(None) };
    match text.parse() {
        Ok(count @ 1..) => Ok(Some(ForcedCut::Passes(count))),
        _ if text == "calls" => Ok(Some(ForcedCut::Calls)),
        _ => Err(format!("{PASSES}={text}: a whole number from 1 on or \"calls\" is expected")),
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
    fn aids_override_only_their_numbers() {
        let production = TestAids::default().tuning();
        assert_eq!((production.in_flight, production.list_bytes(1600)), (None, 100));
        assert_eq!([0, 64 << 20, 8 << 30].map(|limit| production.page_bytes(limit)), [1 << 18, 4 << 20, 64 << 20]);
        let small = TestAids { small_page_bytes: Some(1024), ..TestAids::default() };
        let tuning = small.tuning();
        assert_eq!(
            (tuning.page_bytes(0), tuning.resident_pages_bytes_max, tuning.list_bytes(1600)),
            (1024, 4096, 1024)
        );
        assert_eq!(tuning.in_flight, production.in_flight);
        let perturbed = |seed| TestAids { perturb: Some(seed), ..small.clone() }.tuning();
        assert_eq!([2, 3].map(|seed| perturbed(seed).list_bytes(1600)), [1024, 0]);
        assert_eq!(perturbed(2).in_flight, Some(IN_FLIGHT_MAX));
    }
}

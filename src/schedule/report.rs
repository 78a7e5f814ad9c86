//! What the scheduler tells: events as they happen, statistics and failures at the end.

use super::capacity::Resource;
use super::region::Region;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// Why a device stopped working.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The device is lost (VK_ERROR_DEVICE_LOST and its like).
    #[error("device lost: {0}")]
    Lost(String),
    /// It made no progress.
    #[error("no progress for {:.1} s, waiting for {waiting_for}", waited.as_secs_f64())]
    Hang {
        /// What was waited for.
        waiting_for: String,
        /// For how long.
        waited: Duration,
    },
    /// It has no memory left for what every region needs.
    #[error("out of device memory: {0}")]
    OutOfMemory(String),
    /// It cannot do what is asked.
    #[error("cannot be used: {0}")]
    Unusable(String),
    /// It could not be opened; whoever opens devices has told why.
    #[error("cannot be opened: {0}")]
    Unopened(String),
}

/// Something that happened, for the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleEvent {
    /// Time since the start of the render.
    pub at: Duration,
    /// The device, as an index into the list that was given.
    pub device: usize,
    /// What happened.
    pub kind: ScheduleEventKind,
}

/// Hears every event as it happens, on any thread; it must not call back into the scheduler.
pub type Hook = Arc<dyn Fn(&ScheduleEvent) + Send + Sync>;

/// What happened to a device or a region, with the numbers that led to it.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduleEventKind {
    /// The device is ready; regions that it can have in flight.
    Opened {
        /// Regions in flight.
        depth: usize,
    },
    /// It set_scheduling_time a region from another device.
    Stolen {
        /// The region.
        region: Region,
        /// The other device.
        from: usize,
    },
    /// It set_scheduling_time a region that was nobody's: one to begin with, or one that a failed device had held.
    Adopted {
        /// The region.
        region: Region,
    },
    /// A region was cut in two.
    Cut {
        /// The region.
        region: Region,
        /// The side that its device goes on with.
        kept: Region,
        /// The side that was put on the device's deque.
        left: Region,
        /// Why.
        why: CutReason,
    },
    /// A region was begun.
    Begun {
        /// The region.
        region: Region,
        /// Its estimated work in micropolygons.
        work: u64,
        /// The device's regions in flight, this one included.
        in_flight: usize,
        /// What decided against cutting it.
        balance: Balance,
    },
    /// A region is finished; its pixels go to the sink.
    Finished {
        /// The region.
        region: Region,
    },
    /// A region was put where only other devices take it (perturbation).
    HandedOver {
        /// The region.
        region: Region,
    },
    /// A region that cannot be cut is too large for the device; others may try.
    Refused {
        /// The region.
        region: Region,
    },
    /// The device failed; its regions in flight go back.
    Failed {
        /// How.
        failure: Failure,
        /// The regions that it had in flight.
        returned: Vec<Region>,
        /// Whether it is opened once more.
        reopening: bool,
    },
}

/// Why a region was cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutReason {
    /// It does not fit, by the estimate.
    Memory {
        /// What there is not enough of.
        of: Resource,
        /// How much it needs.
        needed: u64,
        /// How much there is.
        available: u64,
    },
    /// It did not fit, as the device found.
    TooLarge,
    /// It fits, but others have nothing to do or soon will not.
    Balance(Balance),
    /// The perturbation wanted it.
    Forced,
}

/// The numbers behind a decision for or against a cut for balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Balance {
    /// The region's work in micropolygons.
    pub work: u64,
    /// Work that nobody has begun, this region's included.
    pub unbegun: u64,
    /// The part of it, and of what is in flight, that would be this device's, so that all end together; little of it before the device has
    /// shown a speed.
    pub share: u64,
    /// What the device has begun and should not have finished.
    pub ahead: u64,
    /// The device's speed against the mean of those that are known, in thousandths: assumed before it has shown one.
    pub speed_permille: u64,
    /// Devices that have not failed.
    pub devices: usize,
    /// Other devices that wait for work or are being opened.
    pub waiting_devices: usize,
    /// Regions that they could steal.
    pub queued: usize,
}

/// What one device did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeviceReport {
    /// Regions finished.
    pub regions: u64,
    /// Regions taken from other devices.
    pub stolen: u64,
    /// Cuts made.
    pub splits: u64,
    /// Regions that the device found too large and gave back.
    pub retries: u64,
    /// Time with regions in flight.
    pub busy: Duration,
    /// Time without, from the start to the device's end, opening included.
    pub idle: Duration,
    /// What its thread spent on scheduling: taking, cutting, stealing and handing in regions.
    pub scheduling: Duration,
    /// What went wrong, in order.
    pub failures: Vec<Failure>,
    /// Whether it was given up.
    pub dropped: bool,
    /// Whether a driver call had not returned when the render ended; the thread was left behind.
    pub stuck: bool,
}

/// What the whole render did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Report {
    /// Each device, in the order given.
    pub devices: Vec<DeviceReport>,
}

/// Why pixels are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingReason {
    /// The user cancelled; regions in flight were finished.
    Cancelled,
    /// Every device failed.
    DevicesFailed,
    /// The regions are too large for every device that is left, and cannot be cut.
    TooLarge,
}

/// Some regions were not rendered. All others were handed to the sink and stand.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Incomplete {
    /// Why.
    pub reason: MissingReason,
    /// What is missing: disjoint regions, sorted.
    pub missing: Vec<Region>,
    /// What the devices did.
    pub report: Report,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pixels: u64 = self.missing.iter().map(|region| region.pixel_count()).sum();
        let why = match self.reason {
            MissingReason::Cancelled => "the render was cancelled",
            MissingReason::DevicesFailed => "every device failed",
            MissingReason::TooLarge => "one pixel needs more memory than any device has for a region",
        };
        let (regions, are) = if self.missing.len() == 1 { ("region", "is") } else { ("regions", "are") };
        write!(f, "{} {regions} ({pixels} pixels) {are} missing: {why}", self.missing.len())?;
        for (index, device) in self.report.devices.iter().enumerate() {
            if let Some(failure) = device.failures.last() {
                write!(f, "; device {index}: {failure}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_names_pixels_and_devices() {
        let region = |array| Region::new(array).expect("not empty");
        let hang = Failure::Hang { waiting_for: "hide of [0, 8) x [0, 8)".into(), waited: Duration::from_millis(2500) };
        let lost = DeviceReport { failures: vec![Failure::Lost("no".into()), hang], ..DeviceReport::default() };
        let error = Incomplete {
            reason: MissingReason::DevicesFailed,
            missing: vec![region([0, 0, 8, 8]), region([8, 0, 9, 1])],
            report: Report { devices: vec![DeviceReport::default(), lost] },
        };
        assert_eq!(
            error.to_string(),
            "2 regions (65 pixels) are missing: every device failed; \
             device 1: no progress for 2.5 s, waiting for hide of [0, 8) x [0, 8)"
        );
    }
}

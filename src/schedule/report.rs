//! What the scheduler reports: events as they happen, statistics and failures at the end.

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
    /// The device made no progress.
    #[error("no progress for {:.1} s, waiting for {waiting_for}", waited.as_secs_f64())]
    Hang {
        /// What was waited for.
        waiting_for: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The device has no memory left for what every region needs.
    #[error("out of device memory: {0}")]
    OutOfMemory(String),
    /// The device cannot do what is required.
    #[error("cannot be used: {0}")]
    Unusable(String),
    /// The device could not be opened; the opener has reported why.
    #[error("cannot be opened: {0}")]
    Unopened(String),
}

/// An event of a device or a region, for logs and traces.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleEvent {
    /// Time since the start of the render.
    pub at: Duration,
    /// The device, as an index into the list that was given.
    pub device: usize,
    /// What happened.
    pub kind: ScheduleEventKind,
}

/// Is called for every event as it happens, on any thread; it must not call back into the scheduler.
pub type Hook = Arc<dyn Fn(&ScheduleEvent) + Send + Sync>;

/// The kind of an event, with the numbers that led to it.
#[derive(Clone, Debug, PartialEq)]
pub enum ScheduleEventKind {
    /// The device is ready.
    Opened {
        /// Number of regions that it can have in flight.
        depth: usize,
    },
    /// The device took a region from another device.
    Stolen {
        /// The region.
        region: Region,
        /// The other device.
        from: usize,
    },
    /// The device took a region from no device's deque: one that the render began with, or that a failed device had
    /// held.
    Adopted {
        /// The region.
        region: Region,
    },
    /// A region was cut in two.
    Cut {
        /// The region.
        region: Region,
        /// The side that the device keeps.
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
        /// How it failed.
        failure: Failure,
        /// The regions that it had in flight.
        returned: Vec<Region>,
        /// Whether it is opened again.
        reopening: bool,
    },
}

/// Why a region was cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutReason {
    /// By the estimate, the region does not fit.
    Memory {
        /// The resource that is too small.
        of: Resource,
        /// How much of it the region needs.
        needed: u64,
        /// How much of it is available.
        available: u64,
    },
    /// The device found that the region does not fit.
    TooLarge,
    /// The region fits, but other devices have nothing to do or soon will not.
    Balance(Balance),
    /// The device would need too long for the region, of which nothing is saved before it is finished.
    Time {
        /// The work that the device should begin at most.
        work_max: u64,
    },
    /// The perturbation forced the cut.
    Forced,
}

/// The numbers behind a decision for or against a cut for balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Balance {
    /// The region's work in micropolygons.
    pub work: u64,
    /// Work that has not begun, this region's included.
    pub unbegun: u64,
    /// This device's share of that and of what is in flight, with which all devices end together; small while the
    /// device's speed is unknown.
    pub share: u64,
    /// Work that the device has begun and should not have finished yet.
    pub ahead: u64,
    /// The device's speed relative to the mean of the known speeds, in thousandths; assumed while it is unknown.
    pub speed_permille: u64,
    /// Number of devices that have not failed.
    pub devices: usize,
    /// Number of other devices that wait for work or are being opened.
    pub waiting_devices: usize,
    /// Number of regions that they could steal.
    pub queued: usize,
}

/// What one device did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeviceReport {
    /// Number of regions finished.
    pub regions: u64,
    /// Number of regions taken from other devices.
    pub stolen: u64,
    /// Number of cuts made.
    pub splits: u64,
    /// Number of regions that the device found too large and gave back.
    pub retries: u64,
    /// Time with regions in flight.
    pub busy: Duration,
    /// Time without regions in flight, from the start to the device's end, opening included.
    pub idle: Duration,
    /// Time that its thread spent on scheduling: taking, cutting, stealing and delivering regions.
    pub scheduling: Duration,
    /// The failures of the device, in order.
    pub failures: Vec<Failure>,
    /// Whether the device was given up.
    pub dropped: bool,
    /// Whether a driver call had not returned when the render ended, so that the thread was left behind.
    pub stuck: bool,
}

/// What the whole render did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Report {
    /// The report of each device, in the order given.
    pub devices: Vec<DeviceReport>,
}

/// Why pixels are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingReason {
    /// The user cancelled; regions in flight were finished.
    Cancelled,
    /// Every device failed.
    DevicesFailed,
    /// The regions are too large for every remaining device, and cannot be cut.
    TooLarge,
}

/// Some regions were not rendered. All others were handed to the sink and are valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Incomplete {
    /// Why regions are missing.
    pub reason: MissingReason,
    /// The missing regions: disjoint and sorted.
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

//! A driver as the scheduler sees it.

use crate::gpu::{Device, GpuError};
use crate::render::device::regions_in_flight::RegionPoll;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::region::chain::RegionResult;
use crate::render::session::devices::Record;
use crate::schedule::{Capacity, Failure, Fit, Poll, Region, RegionRenderer, SummedArea};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a worker leaves its device when it ends, for the next world; empty when the device failed.
pub(crate) type Garage = Arc<Mutex<Option<DeviceRenderer>>>;

/// One device at work for the scheduler.
pub(crate) struct Worker {
    driver: Option<DeviceRenderer>,
    garage: Garage,
    capacity: Capacity,
    throttle: Throttle,
    /// Whether the device failed: then it is closed, not kept.
    failed: bool,
}

impl Worker {
    /// A worker around a driver whose picture has begun, and which is to be so many times slower than it could be.
    pub(crate) fn new(driver: DeviceRenderer, garage: Garage, apron_px: [u32; 2], slowness: f64) -> Self {
        let throttle = Throttle { slowness, worked_s: driver.worked_s(), rests_until: Instant::now() };
        let region = driver.region_capacity().expect("its picture has begun");
        let capacity = Capacity::of_lists([driver.samples(), apron_px], region.subpixels, region.grids);
        Self { driver: Some(driver), garage, capacity, throttle, failed: false }
    }

    fn driver(&mut self) -> &mut DeviceRenderer {
        self.driver.as_mut().expect("a worker has a driver until it is dropped")
    }

    fn failure(&mut self, error: &GpuError) -> Failure {
        self.failed = true;
        failure(error)
    }
}

/// Slows a device down, as a test aid: after each step it rests for as many times as long as it worked.
struct Throttle {
    /// 1 for a device that works as fast as it can.
    slowness: f64,
    /// The device's time at work up to the last step.
    worked_s: f64,
    rests_until: Instant,
}

impl Throttle {
    /// Takes note of the device's time at work.
    fn worked(&mut self, worked_s: f64) {
        let rest_s = (worked_s - self.worked_s).max(0.0) * (self.slowness - 1.0);
        self.worked_s = worked_s;
        self.rests_until = self.rests_until.max(Instant::now()) + Duration::from_secs_f64(rest_s);
    }

    /// Whether the device rests; waits for its end, at most `timeout`.
    fn rests(&self, timeout: Duration) -> bool {
        let left = self.rests_until.saturating_duration_since(Instant::now());
        if self.slowness <= 1.0 || left.is_zero() {
            return false;
        }
        std::thread::sleep(left.min(timeout));
        true
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let Some(driver) = self.driver.take() else { return };
        if self.failed {
            drop(driver.finish());
        } else if driver.is_idle() {
            *self.garage.lock() = Some(driver);
        } else {
            // Whoever leaves in the middle of a region was judged to hang.
            driver.finish().abandon();
        }
    }
}

/// How the scheduler is told of a device's trouble.
fn failure(error: &GpuError) -> Failure {
    match error {
        GpuError::Timeout { waited_for, timeout, .. } => {
            Failure::Hang { waiting_for: waited_for.clone(), waited: *timeout }
        }
        GpuError::OutOfMemory { .. } | GpuError::DriverOutOfMemory { .. } => Failure::OutOfMemory(error.to_string()),
        GpuError::Lost { .. } | GpuError::Vulkan { .. } => Failure::Lost(error.to_string()),
        _ => Failure::Unusable(error.to_string()),
    }
}

impl RegionRenderer for Worker {
    type Payload = Box<RegionResult>;

    fn in_flight_max(&self) -> usize {
        self.driver.as_ref().map_or(1, DeviceRenderer::in_flight_max)
    }

    fn fit(&self, table: &SummedArea, region: Region) -> Fit {
        self.capacity.fit(table, region)
    }

    fn begin(&mut self, region: Region) -> Result<(), Failure> {
        self.driver().begin(region.to_array()).map_err(|error| self.failure(&error))
    }

    fn poll(&mut self, timeout: Duration) -> Result<Poll<Box<RegionResult>>, Failure> {
        if self.throttle.rests(timeout) {
            return Ok(Poll::Waiting("a device slowed down by ANTHILL_THROTTLE".to_owned()));
        }
        let region = |rect| Region::new(rect).expect("a region that was begun has pixels");
        let polled = self.driver().poll(timeout).map_err(|error| self.failure(&error))?;
        let worked_s = self.driver().worked_s();
        self.throttle.worked(worked_s);
        Ok(match polled {
            RegionPoll::Finished(rect, result) => Poll::Finished(region(rect), result),
            RegionPoll::TooLarge(rect) => Poll::TooLarge(region(rect)),
            RegionPoll::Advanced => Poll::Advanced,
            RegionPoll::Waiting => Poll::Waiting(self.driver().waiting_for()),
        })
    }
}

/// Subpixels and grids that a region of the device in a garage could have had; `None` where there is none, or it had too little memory.
pub(crate) fn region_room(garage: &Garage) -> Option<[u64; 2]> {
    garage.lock().as_ref()?.region_capacity().map(|capacity| [capacity.subpixels, capacity.grids])
}

/// What is left when a world is drawn: the device, unless it failed, and how far it saw displacement move each instance.
pub(crate) fn take_back(garage: &Garage, record: &Record) -> Option<(Device, Vec<f32>)> {
    let mut driver = garage.lock().take()?;
    match driver.displaced() {
        Ok(moved) => Some((driver.finish(), moved)),
        // It has drawn all the same: only warnings about displacement bounds are lost.
        Err(error) => {
            drop(driver.finish());
            record.failed_when_done(&error);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_device_rests_in_proportion_and_a_fast_one_never() {
        let start = Instant::now();
        let mut slow = Throttle { slowness: 3.0, worked_s: 5.0, rests_until: start };
        slow.worked(5.5);
        assert!(slow.rests_until >= start + Duration::from_secs(1), "half a second of work, twice as much rest");
        assert!(slow.rests(Duration::ZERO));
        let mut fast = Throttle { slowness: 1.0, ..slow };
        fast.worked(9.0);
        assert!(!fast.rests(Duration::ZERO));
    }
}

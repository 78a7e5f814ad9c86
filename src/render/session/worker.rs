//! A device as the scheduler sees it: opened, given regions, and left idle when the picture is drawn.

use crate::gpu::{Device, GpuError};
use crate::pipeline::frame::filter_apron;
use crate::progress::ProgressTally;
use crate::render::device::kept::KeptOnDevice;
use crate::render::device::picture::Picture;
use crate::render::device::regions_in_flight::RegionPoll;
use crate::render::device::renderer::DeviceRenderer;
use crate::render::region::region_result::RegionResult;
use crate::render::session::counting_pass::CountedDevice;
use crate::render::session::devices::DeviceReopener;
use crate::render::session::failures::FailureLog;
use crate::schedule::{Capacity, Failure, Fit, Opener, Poll, Region, RegionRenderer, SummedArea};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a worker leaves its renderer when it ends, for the next world; empty if the device failed.
pub(super) type IdleRenderer = Arc<Mutex<Option<DeviceRenderer>>>;

/// One device at work for the scheduler.
pub(super) struct Worker {
    renderer: Option<DeviceRenderer>,
    idle: IdleRenderer,
    capacity: Capacity,
    throttle: Throttle,
    /// Whether the device failed: then it is closed, not kept.
    failed: bool,
    tally: Arc<ProgressTally>,
}

/// How long a device that was interrupted waits before it is asked again.
const INTERRUPTED_POLL: Duration = Duration::from_millis(5);

/// The longest wait for a submission of a region that is given up.
const ABANDON: Duration = Duration::from_millis(700);

impl Worker {
    /// Creates a worker around a renderer whose picture has begun. `slowness` is how many times the device is slowed
    /// down.
    pub(super) fn new(renderer: DeviceRenderer, idle: IdleRenderer, picture: &Picture, slowness: f64) -> Self {
        let throttle = Throttle { slowness, worked_s: renderer.worked_s(), rests_until: Instant::now() };
        let capacity = capacity_of(&renderer, picture);
        let tally = Arc::clone(&picture.tally);
        Self { renderer: Some(renderer), idle, capacity, throttle, failed: false, tally }
    }

    fn renderer(&mut self) -> &mut DeviceRenderer {
        self.renderer.as_mut().expect("a worker has a renderer until it is dropped")
    }

    fn failure(&mut self, error: &GpuError) -> Failure {
        self.failed = true;
        failure(error)
    }
}

/// Returns what a region in flight may have on a device whose picture has begun.
pub(super) fn capacity_of(renderer: &DeviceRenderer, picture: &Picture) -> Capacity {
    let region = renderer.region_capacity().expect("its picture has begun");
    let lists = [renderer.samples(), filter_apron(&picture.widest_filter)];
    Capacity::of_lists(lists, region.subpixels, region.grids)
}

/// Slows a device down, as a test aid: after each step it rests in proportion to the time it worked.
struct Throttle {
    /// 1 for a device that works as fast as it can.
    slowness: f64,
    /// The device's time at work up to the last step.
    worked_s: f64,
    rests_until: Instant,
}

impl Throttle {
    /// Notes the device's time at work.
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
        let Some(renderer) = self.renderer.take() else { return };
        if self.failed {
            drop(renderer.finish());
        } else if renderer.is_idle() {
            *self.idle.lock() = Some(renderer);
        } else {
            // A worker that ends in the middle of a region was judged to hang.
            renderer.finish().abandon();
        }
    }
}

/// Returns a device's error as the scheduler knows it.
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
        self.renderer.as_ref().map_or(1, DeviceRenderer::in_flight_max)
    }

    fn fit(&self, table: &SummedArea, region: Region) -> Fit {
        self.capacity.fit(table, region)
    }

    fn begin(&mut self, region: Region) -> Result<(), Failure> {
        match self.renderer().begin(region) {
            // The scheduler is about to be stopped.
            Err(error) if error.is_interruption() => Ok(()),
            begun => begun.map_err(|error| self.failure(&error)),
        }
    }

    fn poll(&mut self, timeout: Duration) -> Result<Poll<Box<RegionResult>>, Failure> {
        if self.throttle.rests(timeout) {
            return Ok(Poll::Waiting("a device slowed down by ANTHILL_THROTTLE".to_owned()));
        }
        let polled = match self.renderer().poll(timeout) {
            Err(error) if error.is_interruption() => {
                std::thread::sleep(timeout.min(INTERRUPTED_POLL));
                return Ok(Poll::Waiting("the scheduler to stop".to_owned()));
            }
            polled => polled.map_err(|error| self.failure(&error))?,
        };
        if let Some(renderer) = &self.renderer {
            renderer.fractions().for_each(|(region, fraction)| self.tally.advance_region(region, fraction));
        }
        let worked_s = self.renderer().worked_s();
        self.throttle.worked(worked_s);
        Ok(match polled {
            RegionPoll::Finished(region, result) => Poll::Finished(region, result),
            RegionPoll::TooLarge(region) => Poll::TooLarge(region),
            RegionPoll::Advanced => Poll::Advanced,
            RegionPoll::Waiting => Poll::Waiting(self.renderer().waiting_for()),
        })
    }

    fn abandon(&mut self) {
        let abandoned = self.renderer().abandon_regions(ABANDON);
        // A device that does not end its submission in time is abandoned itself.
        self.failed |= abandoned.is_err_and(|error| !matches!(error, GpuError::Timeout { .. }));
    }
}

/// Opens a device for the scheduler: the first time with the renderer that counted, after a failure again. Reports what
/// fails here.
pub(super) fn opener(
    counted: Option<CountedDevice>,
    reopener: DeviceReopener,
    picture: &Arc<Picture>,
    idle: &IdleRenderer,
    slowness: f64,
) -> Opener<Worker> {
    let (picture, idle) = (Arc::clone(picture), Arc::clone(idle));
    let (mut first, grids) = counted.map(|counted| (counted.renderer, counted.grids)).unzip();
    let unopened = || Failure::Unopened("it failed before".into());
    Box::new(move |attempt| {
        let renderer = if attempt == 0 { first.take() } else { None };
        let again = || {
            // What failed before must not hold memory any longer.
            let failed = idle.lock().take();
            drop(failed.map(DeviceRenderer::finish));
            reopener.failures.take_promise().then(|| reopener.reopen()).flatten()
        };
        let mut renderer = renderer.or_else(again).ok_or_else(unopened)?;
        let grids = grids.as_ref().ok_or_else(unopened)?;
        while let Err(error) = renderer.begin_picture(grids) {
            if !error.ends_device() {
                reopener.failures.report(&error);
                // The next world may need less.
                *idle.lock() = Some(renderer);
                return Err(Failure::Unopened(error.to_string()));
            }
            drop(renderer.finish());
            renderer = reopener.reopen_after(&error).ok_or_else(|| Failure::Unopened(error.to_string()))?;
        }
        Ok(Worker::new(renderer, Arc::clone(&idle), &picture, slowness))
    })
}

/// Returns the number of regions that could be in flight on an idle device, and the subpixels and grids that each could
/// have had; `None` if the device failed or had too little memory.
pub(super) fn region_memory(idle: &IdleRenderer) -> Option<(usize, [u64; 2])> {
    let idle = idle.lock();
    let renderer = idle.as_ref()?;
    renderer.region_capacity().map(|capacity| (renderer.in_flight_max(), [capacity.subpixels, capacity.grids]))
}

/// Returns the device after a world, unless it failed, and how far it saw displacement move each instance.
pub(super) fn take_back(idle: &IdleRenderer, failures: &FailureLog) -> Option<((Device, KeptOnDevice), Vec<f32>)> {
    let mut renderer = idle.lock().take()?;
    match renderer.displaced() {
        Ok(displaced_by) => Some((renderer.rest(), displaced_by)),
        // Its regions are drawn all the same; only warnings about displacement bounds are missing.
        Err(error) => {
            drop(renderer.finish());
            failures.report_when_done(&error);
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

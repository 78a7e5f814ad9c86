//! The threads: one for each device, and the caller's, which hands finished regions to the sink and monitors the
//! others.

use super::capacity::Fit;
use super::device_scheduler::{DeviceScheduler, NextAction};
use super::policy::Policy;
use super::region::Region;
use super::report::{Failure, Hook, Incomplete, Report};
use super::scheduler::Scheduler;
use super::summed_area::SummedArea;
use crossbeam::channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often the caller's thread checks the cancel flag and the devices.
const TICK: Duration = Duration::from_millis(20);

/// The largest step of the watchdog clock: a process that was stopped for a minute has not hung.
const WATCHDOG_STEP_MAX: Duration = Duration::from_secs(1);

/// Time that the thread of a device that was given up has to end when there is nothing left to do, and any thread when
/// the render is cancelled.
const STUCK_GRACE: Duration = Duration::from_secs(1);

/// The longest wait for room in the channel to the sink before the thread checks whether there is still a receiver.
const DELIVER_TIMEOUT: Duration = Duration::from_secs(1);

/// Renders regions on a device. It stays on its own thread, from [`Opener`] until it fails or the render ends.
pub trait RegionRenderer {
    /// The pixels of a finished region.
    type Payload: Send + 'static;

    /// Returns the number of regions that the device has memory for at a time; at least 1.
    fn in_flight_max(&self) -> usize;

    /// Whether `region` fits: a pure function, see [`Capacity`](super::Capacity). A region that cannot be cut is begun
    /// anyway.
    fn fit(&self, table: &SummedArea, region: Region) -> Fit;

    /// Begins a region; at most [`in_flight_max`](Self::in_flight_max) are in flight at a time. Should not wait for the
    /// device.
    ///
    /// # Errors
    /// If the device failed. A region that does not fit is not an error: [`Poll::TooLarge`] reports it later.
    fn begin(&mut self, region: Region) -> Result<(), Failure>;

    /// Advances the regions in flight by a short step, and waits at most `timeout` for something to happen.
    ///
    /// # Errors
    /// If the device failed. Then the renderer is dropped, and all its regions go to others.
    fn poll(&mut self, timeout: Duration) -> Result<Poll<Self::Payload>, Failure>;

    /// Gives up the regions in flight, because the render is stopped. Waits at most until a short step of each ends.
    fn abandon(&mut self);
}

impl<R: RegionRenderer + ?Sized> RegionRenderer for Box<R> {
    type Payload = R::Payload;

    fn in_flight_max(&self) -> usize {
        (**self).in_flight_max()
    }

    fn fit(&self, table: &SummedArea, region: Region) -> Fit {
        (**self).fit(table, region)
    }

    fn begin(&mut self, region: Region) -> Result<(), Failure> {
        (**self).begin(region)
    }

    fn poll(&mut self, timeout: Duration) -> Result<Poll<R::Payload>, Failure> {
        (**self).poll(timeout)
    }

    fn abandon(&mut self) {
        (**self).abandon();
    }
}

/// The result of a [`RegionRenderer::poll`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Poll<P> {
    /// A region is finished and no longer in flight.
    Finished(Region, P),
    /// The device found that a region does not fit; it is no longer in flight and has left nothing behind.
    TooLarge(Region),
    /// A step is done.
    Advanced,
    /// Nothing happened within the time-out. The text says what is waited for, for the message if it never happens.
    Waiting(String),
}

/// Opens a device on the device's own thread. Its argument is the attempt: 0 at first, and 1 after a failure.
pub type Opener<R> = Box<dyn FnMut(u32) -> Result<R, Failure> + Send>;

/// A render for the scheduler: what to render, and how.
pub struct RenderJob {
    /// Counts of the picture.
    pub table: Arc<SummedArea>,
    /// The regions to render: disjoint, each inside the picture. The whole picture, or what a checkpoint lacks.
    pub regions: Vec<Region>,
    /// Scheduling parameters.
    pub policy: Policy,
    /// Is called for every event, on the thread on which it happens.
    pub hook: Hook,
    /// Whether a device, an index into the list that is given, can do nothing because a kernel is being compiled. That
    /// counts as progress, and ends by a time-out of its own.
    pub compiles: Box<dyn Fn(usize) -> bool>,
}

/// Renders all regions of the job on all devices, and passes each pixel to `sink` exactly once, on the calling thread.
///
/// When `cancel` is set, regions in flight are given up and no more are begun. Devices that open late join late. A
/// thread whose driver does not return when everything else is done, or a second after `cancel` was set, is left behind
/// ([`DeviceReport::stuck`](super::DeviceReport::stuck)).
///
/// # Errors
/// If regions are missing at the end. All others were passed to the sink and are valid.
///
/// # Panics
/// If regions overlap; and if a renderer or the sink panics, after the other devices have given up what they had in
/// flight.
pub fn render<R: RegionRenderer + 'static>(
    job: RenderJob,
    devices: Vec<Opener<R>>,
    sink: &mut dyn FnMut(Region, R::Payload),
    cancel: &AtomicBool,
) -> Result<Report, Incomplete> {
    check_disjoint(&job.regions);
    let (scheduler, device_schedulers) = Scheduler::new(job.table, job.policy, &job.regions, devices.len(), job.hook);
    let _stop = StopAtEnd(&scheduler);
    let start = Instant::now();
    let (sender, receiver) = bounded(2 * devices.len().max(1));
    for (device_scheduler, open) in device_schedulers.into_iter().zip(devices) {
        spawn_device_thread(
            DeviceThread {
                device_scheduler,
                scheduler: scheduler.clone(),
                sender: sender.clone(),
                start,
                scheduling: Duration::ZERO,
            },
            open,
        );
    }
    drop(sender);
    let running = (0..scheduler.device_count()).collect();
    let (scheduler, compiles) = (&*scheduler, &*job.compiles);
    let mut coordinator = Coordinator { scheduler, compiles, start, receiver, running, delivered: 0, panic: None };
    coordinator.run(sink, cancel);
    coordinator.conclude()
}

/// The caller's side of a render.
struct Coordinator<'a, P> {
    scheduler: &'a Scheduler,
    compiles: &'a dyn Fn(usize) -> bool,
    start: Instant,
    receiver: Receiver<ThreadMessage<P>>,
    /// Devices whose threads have not ended.
    running: Vec<usize>,
    delivered: u64,
    panic: Option<Box<dyn Any + Send>>,
}

/// What the devices' threads send.
enum ThreadMessage<P> {
    Finished(Region, P),
    Left(usize, Option<Box<dyn Any + Send>>),
}

impl<P> Coordinator<'_, P> {
    /// Serves the sink until all threads have ended, or the remaining ones are stuck.
    fn run(&mut self, sink: &mut dyn FnMut(Region, P), cancel: &AtomicBool) {
        let (mut seen, mut cancelled_at) = (self.start, None);
        let mut over_since = None;
        while !self.running.is_empty() {
            match self.receiver.recv_timeout(TICK) {
                Ok(ThreadMessage::Finished(region, payload)) => {
                    sink(region, payload);
                    self.delivered += 1;
                }
                Ok(ThreadMessage::Left(device, panic)) => self.thread_ended(device, panic),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            let now = Instant::now();
            if cancel.load(Ordering::Relaxed) && cancelled_at.is_none() {
                cancelled_at = Some(now);
                self.scheduler.stop();
            }
            self.scheduler.watch((now - seen).min(WATCHDOG_STEP_MAX), now - self.start, self.compiles);
            seen = now;
            let over = self.scheduler.is_over() && self.delivered == self.scheduler.finished_count();
            over_since = over.then(|| over_since.unwrap_or(now));
            let late = |since: Option<Instant>, grace| since.is_some_and(|since| now - since > grace);
            if late(over_since, self.grace()) || late(cancelled_at, STUCK_GRACE) {
                break;
            }
        }
    }

    /// Returns the time that threads have to end when there is nothing left to do.
    fn grace(&self) -> Duration {
        let given_up = |device: &usize| self.scheduler.is_given_up(*device);
        if self.running.iter().all(given_up) { STUCK_GRACE } else { self.scheduler.policy.hang_timeout }
    }

    fn thread_ended(&mut self, device: usize, panic: Option<Box<dyn Any + Send>>) {
        self.running.retain(|other| *other != device);
        if panic.is_some() {
            self.panic = panic;
            self.scheduler.stop();
        }
    }

    fn conclude(self) -> Result<Report, Incomplete> {
        if let Some(panic) = self.panic {
            resume_unwind(panic);
        }
        let (missing, mut devices) = self.scheduler.conclude();
        for device in self.running {
            devices[device].stuck = true;
        }
        let report = Report { devices };
        match missing {
            None => Ok(report),
            Some((reason, missing)) => Err(Incomplete { reason, missing, report }),
        }
    }
}

/// Lets the devices' threads end even if the sink panics.
struct StopAtEnd<'a>(&'a Scheduler);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// A device's thread.
struct DeviceThread<P> {
    device_scheduler: DeviceScheduler,
    scheduler: Arc<Scheduler>,
    sender: Sender<ThreadMessage<P>>,
    start: Instant,
    /// Time spent on scheduling so far.
    scheduling: Duration,
}

/// Starts a device's thread. If the system cannot create one, the device has failed.
fn spawn_device_thread<R: RegionRenderer + 'static>(device_thread: DeviceThread<R::Payload>, open: Opener<R>) {
    let (device, start, sender) =
        (device_thread.device_scheduler.device(), device_thread.start, device_thread.sender.clone());
    let scheduler = device_thread.scheduler.clone();
    let give_up = move |failure| scheduler.give_up(device, failure, start.elapsed());
    let report = give_up.clone();
    let work = move || {
        let panic = catch_unwind(AssertUnwindSafe(|| device_thread.serve(open))).err();
        if panic.is_some() {
            give_up(Failure::Lost("its thread panicked".to_owned()));
        }
        deliver(&sender, ThreadMessage::Left(device, panic));
    };
    if let Err(error) = thread::Builder::new().name(format!("device {device}")).spawn(work) {
        report(Failure::Unusable(format!("no thread could be created for it: {error}")));
    }
}

impl<P: Send + 'static> DeviceThread<P> {
    /// Opens the device and drives it; again, once, if it fails.
    fn serve<R: RegionRenderer<Payload = P>>(mut self, mut open: Opener<R>) {
        for attempt in 0.. {
            let again = match open(attempt) {
                Err(failure) => self.device_scheduler.failed(failure, self.start.elapsed()),
                Ok(mut renderer) => {
                    self.device_scheduler.opened(renderer.in_flight_max(), self.start.elapsed());
                    let outcome = self.drive(&mut renderer);
                    // Its regions go back before the renderer is dropped, which can take long on a failing device.
                    outcome.is_err_and(|failure| self.device_scheduler.failed(failure, self.start.elapsed()))
                }
            };
            if !again {
                break;
            }
        }
        self.device_scheduler.set_scheduling_time(self.scheduling);
        self.device_scheduler.leave(self.start.elapsed());
    }

    /// Does what the device scheduler says until there is nothing left to do.
    fn drive<R: RegionRenderer<Payload = P>>(&mut self, renderer: &mut R) -> Result<(), Failure> {
        let poll_timeout = self.scheduler.policy.poll_timeout;
        loop {
            let now = self.start.elapsed();
            let next = self.device_scheduler.next(&|region| renderer.fit(&self.scheduler.table, region), now);
            self.scheduling += self.start.elapsed() - now;
            match next {
                NextAction::Leave => {
                    if self.scheduler.is_stopping() {
                        renderer.abandon();
                    }
                    return Ok(());
                }
                NextAction::Park { life, epoch } => self.scheduler.park(life, epoch, poll_timeout),
                NextAction::Begin { region, delay } => {
                    if !delay.is_zero() {
                        thread::sleep(delay);
                    }
                    renderer.begin(region)?;
                    self.device_scheduler.progressed();
                }
                NextAction::Poll => {
                    let poll = renderer.poll(poll_timeout)?;
                    let now = self.start.elapsed();
                    let message = self.handle_poll(poll, now)?;
                    self.scheduling += self.start.elapsed() - now;
                    if let Some(message) = message {
                        deliver(&self.sender, message);
                        self.device_scheduler.delivered();
                    }
                }
            }
        }
    }

    /// Reports the result of a poll to the device scheduler, and returns the message to deliver, if any.
    fn handle_poll(&mut self, poll: Poll<P>, now: Duration) -> Result<Option<ThreadMessage<P>>, Failure> {
        match poll {
            Poll::Advanced => self.device_scheduler.progressed(),
            Poll::Waiting(waiting_for) => return self.device_scheduler.stalled(&waiting_for).map_or(Ok(None), Err),
            Poll::TooLarge(region) => self.device_scheduler.too_large(region, now),
            Poll::Finished(region, payload) => {
                return Ok(self
                    .device_scheduler
                    .finished(region, now)
                    .then_some(ThreadMessage::Finished(region, payload)));
            }
        }
        Ok(None)
    }
}

/// Sends a message, however long the sink takes; drops it if there is no longer a receiver.
fn deliver<P>(sender: &Sender<ThreadMessage<P>>, mut message: ThreadMessage<P>) {
    while let Err(SendTimeoutError::Timeout(back)) = sender.send_timeout(message, DELIVER_TIMEOUT) {
        message = back;
    }
}

fn check_disjoint(regions: &[Region]) {
    for (index, region) in regions.iter().enumerate() {
        let overlap = regions[..index].iter().find(|other| region.intersection(**other).is_some());
        assert_eq!(overlap, None, "{region} overlaps another region of the job");
    }
}

#[cfg(test)]
mod tests;

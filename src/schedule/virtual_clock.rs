//! The scheduler on a virtual clock: the same board, scheduler and deques as with real threads, driven by virtual
//! devices that only say how long things take. What happens next comes from an agenda ordered by time, so nothing
//! depends on real time or on the order of threads.
//!
//! The simulator of the tests runs it with devices that fail, and `crate::forecast` with devices that follow a cost
//! model. A device that parks is woken by announcements only, never by a time-out, so that a lost wake-up shows as a
//! render that never ends.

use super::board::Life;
use super::capacity::Fit;
use super::device_scheduler::{DeviceScheduler, NextAction};
use super::policy::Policy;
use super::region::Region;
use super::render::Poll;
use super::report::{DeviceReport, Failure, Hook, MissingReason};
use super::scheduler::Scheduler;
use super::summed_area::SummedArea;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

/// How often the caller's thread checks the devices.
const TICK: Duration = Duration::from_millis(50);

/// A device that only says how long things take.
pub(crate) trait VirtualDevice {
    /// Returns how long the device takes to open, or to open again; `None` if opening never returns.
    fn opens_after(&self) -> Option<Duration>;

    /// Opens the device, and returns how many regions it has memory for at a time.
    ///
    /// # Errors
    /// If the device cannot be opened.
    fn open(&mut self) -> Result<usize, Failure>;

    /// Is called when the device has failed and is about to be opened again.
    fn reopen(&mut self);

    /// Whether a region fits on the device.
    fn fit(&self, table: &SummedArea, region: Region) -> Fit;

    /// Begins a region.
    ///
    /// # Errors
    /// If the device fails.
    fn begin(&mut self, table: &SummedArea, region: Region, now: Duration) -> Result<(), Failure>;

    /// Returns when a poll that begins now and waits at most `timeout` returns, and what it returns.
    fn poll(&mut self, now: Duration, timeout: Duration) -> (Duration, Result<Poll<()>, Failure>);

    /// Whether the device can do nothing because a kernel is being compiled.
    fn compiles(&self, _now: Duration) -> bool {
        false
    }

    /// Returns the time between an announcement and the device's next look for work.
    fn wakes_after(&mut self) -> Duration;
}

/// Observes a render on the virtual clock.
pub(crate) trait VirtualObserver {
    /// Is called when the next action on the agenda is about to happen.
    fn before_action(&mut self, _at: Duration) {}

    /// Is called when a device has finished a region; `counts` is whether its pixels are used.
    fn finished(&mut self, region: Region, at: Duration, counts: bool);
}

/// A render on the virtual clock.
pub(crate) struct VirtualRender<D> {
    pub(crate) table: Arc<SummedArea>,
    pub(crate) policy: Policy,
    pub(crate) hook: Hook,
    pub(crate) devices: Vec<D>,
    /// Whether devices that make no progress are given up.
    pub(crate) watched: bool,
    pub(crate) cancel_at: Option<Duration>,
}

/// The outcome of a render on the virtual clock.
pub(crate) struct VirtualOutcome {
    pub(crate) missing: Option<(MissingReason, Vec<Region>)>,
    pub(crate) reports: Vec<DeviceReport>,
    /// The time at which the last thread ended.
    pub(crate) at: Duration,
}

/// An action on the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Open(usize),
    Step(usize),
    Polled(usize),
    Wake(usize),
    Tick,
    Cancel,
}

/// A device together with the state of its thread.
struct VirtualThread<D> {
    device: D,
    device_scheduler: DeviceScheduler,
    /// The result of the poll that has not returned yet.
    polled: Option<Result<Poll<()>, Failure>>,
    /// The life and the epoch with which the device parked.
    parked: Option<(Life, u64)>,
    waking: bool,
}

struct Simulation<'a, D> {
    scheduler: Arc<Scheduler>,
    threads: Vec<VirtualThread<D>>,
    observer: &'a mut dyn VirtualObserver,
    running_threads: usize,
    agenda: BinaryHeap<Reverse<(Duration, u64, Action)>>,
    planned: u64,
    now: Duration,
}

impl<D: VirtualDevice> VirtualRender<D> {
    /// Renders the whole picture.
    pub(crate) fn run(self, observer: &mut dyn VirtualObserver) -> VirtualOutcome {
        let (count, picture) = (self.devices.len(), self.table.picture());
        let (scheduler, device_schedulers) = Scheduler::new(self.table, self.policy, &[picture], count, self.hook);
        let thread = |(device, device_scheduler)| VirtualThread {
            device,
            device_scheduler,
            polled: None,
            parked: None,
            waking: false,
        };
        let mut simulation = Simulation {
            scheduler,
            threads: self.devices.into_iter().zip(device_schedulers).map(thread).collect(),
            observer,
            running_threads: count,
            agenda: BinaryHeap::new(),
            planned: 0,
            now: Duration::ZERO,
        };
        if self.watched {
            simulation.plan(TICK, Action::Tick);
        }
        if let Some(at) = self.cancel_at {
            simulation.plan(at, Action::Cancel);
        }
        simulation.run();
        let (missing, reports) = simulation.scheduler.conclude();
        VirtualOutcome { missing, reports, at: simulation.now }
    }
}

impl<D: VirtualDevice> Simulation<'_, D> {
    /// Runs until every thread has ended that can end.
    fn run(&mut self) {
        for device in 0..self.threads.len() {
            self.plan_opening(device);
        }
        while (self.running_threads > 0 || !self.scheduler.is_over())
            && let Some(Reverse((at, _, act))) = self.agenda.pop()
        {
            self.observer.before_action(at);
            self.now = at;
            self.act(act);
            self.wake_announced();
        }
    }

    fn plan(&mut self, at: Duration, act: Action) {
        self.planned += 1;
        self.agenda.push(Reverse((at, self.planned, act)));
    }

    fn plan_opening(&mut self, device: usize) {
        match self.threads[device].device.opens_after() {
            Some(after) => self.plan(self.now + after, Action::Open(device)),
            // The thread never returns.
            None => self.running_threads -= 1,
        }
    }

    fn act(&mut self, act: Action) {
        match act {
            Action::Open(device) => self.open(device),
            Action::Step(device) => self.step(device),
            Action::Polled(device) => self.polled(device),
            Action::Wake(device) => {
                let thread = &mut self.threads[device];
                let (life, _) = thread.parked.take().expect("only parked devices are woken");
                thread.waking = false;
                self.scheduler.with_board(|board| board.unpark(life));
                self.step(device);
            }
            Action::Tick => {
                let (threads, now) = (&self.threads, self.now);
                self.scheduler.watch(TICK, now, |device| threads[device].device.compiles(now));
                self.plan(self.now + TICK, Action::Tick);
            }
            Action::Cancel => self.scheduler.stop(),
        }
    }

    fn open(&mut self, device: usize) {
        let thread = &mut self.threads[device];
        match thread.device.open() {
            Ok(in_flight_max) => {
                thread.device_scheduler.opened(in_flight_max, self.now);
                self.step(device);
            }
            Err(failure) => self.fail(device, failure),
        }
    }

    fn step(&mut self, device: usize) {
        let (now, scheduler) = (self.now, &self.scheduler);
        let VirtualThread { device: own, device_scheduler, polled, parked, .. } = &mut self.threads[device];
        let next = device_scheduler.next(&|region| own.fit(&scheduler.table, region), now);
        match next {
            NextAction::Leave => self.leave(device),
            NextAction::Park { life, epoch } => {
                if scheduler.with_board(|board| board.park(life, epoch)) {
                    *parked = Some((life, epoch));
                } else {
                    self.plan(now, Action::Step(device));
                }
            }
            NextAction::Begin { region, delay } => match own.begin(&scheduler.table, region, now + delay) {
                Ok(()) => {
                    device_scheduler.progressed();
                    self.plan(now + delay, Action::Step(device));
                }
                Err(failure) => self.fail(device, failure),
            },
            NextAction::Poll => {
                let (at, outcome) = own.poll(now, scheduler.policy.poll_timeout);
                *polled = Some(outcome);
                self.plan(at, Action::Polled(device));
            }
        }
    }

    fn polled(&mut self, device: usize) {
        let VirtualThread { device_scheduler, polled, .. } = &mut self.threads[device];
        let outcome = polled.take().expect("a poll was begun");
        let failure = match outcome {
            Err(failure) => Some(failure),
            Ok(Poll::Waiting(waiting_for)) => device_scheduler.stalled(&waiting_for),
            Ok(Poll::Advanced) => {
                device_scheduler.progressed();
                None
            }
            Ok(Poll::TooLarge(region)) => {
                device_scheduler.too_large(region, self.now);
                None
            }
            Ok(Poll::Finished(region, ())) => {
                let counts = device_scheduler.finished(region, self.now);
                self.observer.finished(region, self.now, counts);
                if counts {
                    device_scheduler.delivered();
                }
                None
            }
        };
        match failure {
            Some(failure) => self.fail(device, failure),
            None => self.step(device),
        }
    }

    fn fail(&mut self, device: usize, failure: Failure) {
        let thread = &mut self.threads[device];
        if thread.device_scheduler.failed(failure, self.now) {
            thread.device.reopen();
            self.plan_opening(device);
        } else {
            self.leave(device);
        }
    }

    fn leave(&mut self, device: usize) {
        self.threads[device].device_scheduler.leave(self.now);
        self.running_threads -= 1;
    }

    /// Wakes parked devices after an announcement, with a delay; checks that all others have nothing to take.
    fn wake_announced(&mut self) {
        for device in 0..self.threads.len() {
            let thread = &mut self.threads[device];
            let Some((life, epoch)) = thread.parked else { continue };
            if thread.waking {
                continue;
            }
            if self.scheduler.with_board(|board| board.is_current(epoch)) {
                let nothing_to_take =
                    self.scheduler.queued() == 0 && self.scheduler.with_board(|board| !board.has_set_aside_for(life));
                assert!(nothing_to_take, "device {device} is idle while something can be stolen");
            } else {
                thread.waking = true;
                let at = self.now + thread.device.wakes_after();
                self.plan(at, Action::Wake(device));
            }
        }
    }
}

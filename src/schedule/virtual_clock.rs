//! The scheduler on a virtual clock: the same board, scheduler, seats and deques as under the threads, driven by devices that only say
//! how long things take. What happens next is on an agenda ordered by time, so nothing depends on real time or on the order of threads.
//!
//! The simulator of the tests runs it with devices in trouble, [`predict`](super::predict()) with devices that keep to a cost model. A
//! device that parks is woken by announcements only, never by a time-out, so that a lost wake-up shows as a render that never ends.

use super::board::Life;
use super::capacity::Fit;
use super::policy::Policy;
use super::region::Region;
use super::render::Poll;
use super::report::{DeviceReport, Failure, Hook, MissingReason};
use super::scheduler::Scheduler;
use super::seat::{Next, Seat};
use super::summed_area::SummedArea;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

/// How often the caller's thread looks at the devices.
const TICK: Duration = Duration::from_millis(50);

/// A device that only says how long things take.
pub(super) trait VirtualDevice {
    /// How long it takes to open, or to open once more; `None` if it never comes back.
    fn opens_after(&self) -> Option<Duration>;

    /// Opens, with memory for so many regions at a time.
    ///
    /// # Errors
    /// If it cannot.
    fn open(&mut self) -> Result<usize, Failure>;

    /// It has failed and is about to be opened once more.
    fn reopen(&mut self);

    /// Whether a region fits.
    fn fit(&self, table: &SummedArea, region: Region) -> Fit;

    /// Takes a region in.
    ///
    /// # Errors
    /// If it fails.
    fn begin(&mut self, table: &SummedArea, region: Region, now: Duration) -> Result<(), Failure>;

    /// When a poll that begins now and waits at most `timeout` comes back, and with what.
    fn poll(&mut self, now: Duration, timeout: Duration) -> (Duration, Result<Poll<()>, Failure>);

    /// The time between an announcement and the device's looking around.
    fn wakes_after(&mut self) -> Duration;
}

/// Who is told what happens.
pub(super) trait Audience {
    /// Something is about to happen.
    fn act(&mut self, _at: Duration) {}

    /// A device has finished a region; whether its pixels count.
    fn finished(&mut self, region: Region, at: Duration, counts: bool);
}

/// A render on the virtual clock.
pub(super) struct Play<D> {
    pub(super) table: Arc<SummedArea>,
    pub(super) policy: Policy,
    pub(super) hook: Hook,
    pub(super) devices: Vec<D>,
    /// Whether devices that make no progress are given up.
    pub(super) watched: bool,
    pub(super) cancel_at: Option<Duration>,
}

/// How it ended.
pub(super) struct Ending {
    pub(super) missing: Option<(MissingReason, Vec<Region>)>,
    pub(super) reports: Vec<DeviceReport>,
    /// When the last thread had ended.
    pub(super) at: Duration,
}

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Open(usize),
    Step(usize),
    Polled(usize),
    Wake(usize),
    Tick,
    Cancel,
}

/// A device with what its thread would know.
struct Actor<D> {
    device: D,
    seat: Seat,
    /// What the poll brings from which it has yet to come back.
    polled: Option<Result<Poll<()>, Failure>>,
    /// Since which epoch it waits.
    parked: Option<(Life, u64)>,
    waking: bool,
}

struct Course<'a, D> {
    scheduler: Arc<Scheduler>,
    actors: Vec<Actor<D>>,
    audience: &'a mut dyn Audience,
    at_work: usize,
    agenda: BinaryHeap<Reverse<(Duration, u64, Act)>>,
    planned: u64,
    now: Duration,
}

impl<D: VirtualDevice> Play<D> {
    /// Renders the whole picture.
    pub(super) fn run(self, audience: &mut dyn Audience) -> Ending {
        let (count, picture) = (self.devices.len(), self.table.picture());
        let (scheduler, seats) = Scheduler::new(self.table, self.policy, &[picture], count, self.hook);
        let actor = |(device, seat)| Actor { device, seat, polled: None, parked: None, waking: false };
        let mut course = Course {
            scheduler,
            actors: self.devices.into_iter().zip(seats).map(actor).collect(),
            audience,
            at_work: count,
            agenda: BinaryHeap::new(),
            planned: 0,
            now: Duration::ZERO,
        };
        if self.watched {
            course.plan(TICK, Act::Tick);
        }
        if let Some(at) = self.cancel_at {
            course.plan(at, Act::Cancel);
        }
        course.run();
        let (missing, reports) = course.scheduler.conclude();
        Ending { missing, reports, at: course.now }
    }
}

impl<D: VirtualDevice> Course<'_, D> {
    /// Acts until all threads have ended that ever will.
    fn run(&mut self) {
        for device in 0..self.actors.len() {
            self.plan_opening(device);
        }
        while (self.at_work > 0 || !self.scheduler.is_over())
            && let Some(Reverse((at, _, act))) = self.agenda.pop()
        {
            self.audience.act(at);
            self.now = at;
            self.act(act);
            self.wake_those_called();
        }
    }

    fn plan(&mut self, at: Duration, act: Act) {
        self.planned += 1;
        self.agenda.push(Reverse((at, self.planned, act)));
    }

    fn plan_opening(&mut self, device: usize) {
        match self.actors[device].device.opens_after() {
            Some(after) => self.plan(self.now + after, Act::Open(device)),
            // A thread that never comes back.
            None => self.at_work -= 1,
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Open(device) => self.open(device),
            Act::Step(device) => self.step(device),
            Act::Polled(device) => self.polled(device),
            Act::Wake(device) => {
                let actor = &mut self.actors[device];
                let (life, _) = actor.parked.take().expect("only parked devices are woken");
                actor.waking = false;
                self.scheduler.with(|board| board.unpark(life));
                self.step(device);
            }
            Act::Tick => {
                self.scheduler.watch(TICK, self.now);
                self.plan(self.now + TICK, Act::Tick);
            }
            Act::Cancel => self.scheduler.stop(),
        }
    }

    fn open(&mut self, device: usize) {
        let actor = &mut self.actors[device];
        match actor.device.open() {
            Ok(in_flight_max) => {
                actor.seat.opened(in_flight_max, self.now);
                self.step(device);
            }
            Err(failure) => self.fail(device, failure),
        }
    }

    fn step(&mut self, device: usize) {
        let (now, scheduler) = (self.now, &self.scheduler);
        let Actor { device: own, seat, polled, parked, .. } = &mut self.actors[device];
        let next = seat.next(&|region| own.fit(&scheduler.table, region), now);
        match next {
            Next::Leave => self.leave(device),
            Next::Park { life, epoch } => {
                if scheduler.with(|board| board.park(life, epoch)) {
                    *parked = Some((life, epoch));
                } else {
                    self.plan(now, Act::Step(device));
                }
            }
            Next::Begin { region, delay } => match own.begin(&scheduler.table, region, now + delay) {
                Ok(()) => {
                    seat.progressed();
                    self.plan(now + delay, Act::Step(device));
                }
                Err(failure) => self.fail(device, failure),
            },
            Next::Poll => {
                let (at, outcome) = own.poll(now, scheduler.policy.poll_timeout);
                *polled = Some(outcome);
                self.plan(at, Act::Polled(device));
            }
        }
    }

    fn polled(&mut self, device: usize) {
        let Actor { seat, polled, .. } = &mut self.actors[device];
        let outcome = polled.take().expect("a poll was begun");
        let failure = match outcome {
            Err(failure) => Some(failure),
            Ok(Poll::Waiting(waiting_for)) => seat.stalled(&waiting_for),
            Ok(Poll::Advanced) => {
                seat.progressed();
                None
            }
            Ok(Poll::TooLarge(region)) => {
                seat.too_large(region, self.now);
                None
            }
            Ok(Poll::Finished(region, ())) => {
                let counts = seat.finished(region, self.now);
                self.audience.finished(region, self.now, counts);
                if counts {
                    seat.delivered();
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
        let actor = &mut self.actors[device];
        if actor.seat.failed(failure, self.now) {
            actor.device.reopen();
            self.plan_opening(device);
        } else {
            self.leave(device);
        }
    }

    fn leave(&mut self, device: usize) {
        self.actors[device].seat.leave(self.now);
        self.at_work -= 1;
    }

    /// Wakes parked devices for which something was announced, some time later; all others must wait rightly.
    fn wake_those_called(&mut self) {
        for device in 0..self.actors.len() {
            let actor = &mut self.actors[device];
            let Some((life, epoch)) = actor.parked else { continue };
            if actor.waking {
                continue;
            }
            if self.scheduler.with(|board| board.is_current(epoch)) {
                let idle_rightly = self.scheduler.queued() == 0 && self.scheduler.with(|board| !board.offers(life));
                assert!(idle_rightly, "device {device} is idle while something can be stolen");
            } else {
                actor.waking = true;
                let at = self.now + actor.device.wakes_after();
                self.plan(at, Act::Wake(device));
            }
        }
    }
}

//! The seeded simulator: the same scheduler, seats and deques as under the threads, driven on a virtual clock by fake devices that are
//! slow, small, late, lost, hung or stuck. Nothing in it depends on real time or on the order of threads, so a seed tells everything.
//!
//! A device that parks is woken by announcements only, never by a time-out, so that a lost wake-up shows as a render that never ends.

mod cases;
mod device;
mod seeds;

use super::board::Life;
use super::capacity::Fit;
use super::perturb::Random;
use super::policy::Policy;
use super::region::Region;
use super::report::{DeviceReport, Event, Failure, MissingReason};
use super::scheduler::Scheduler;
use super::seat::{Next, Seat};
use super::summed_area::SummedArea;
use device::{Fake, Outcome, Setup, Trouble};
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(50);

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

/// A render to simulate.
#[derive(Clone)]
struct Scenario {
    table: Arc<SummedArea>,
    policy: Policy,
    devices: Vec<Setup>,
    cancel_at: Option<Duration>,
    seed: u64,
}

/// What came out.
struct Ending {
    delivered: Vec<Region>,
    missing: Option<(MissingReason, Vec<Region>)>,
    reports: Vec<DeviceReport>,
    events: Vec<Event>,
    /// Pixels that came too late to count.
    void: usize,
    makespan: Duration,
    /// When the last thread had ended.
    ended_at: Duration,
    steps: u64,
}

struct Simulation {
    scheduler: Arc<Scheduler>,
    seats: Vec<Seat>,
    fakes: Vec<Fake>,
    outcomes: Vec<Outcome>,
    /// Since which epoch a device waits.
    parked: Vec<Option<(Life, u64)>>,
    waking: Vec<bool>,
    at_work: usize,
    agenda: BinaryHeap<Reverse<(Duration, u64, Act)>>,
    planned: u64,
    now: Duration,
    random: Random,
    delivered: Vec<Region>,
    void: usize,
    last_delivery: Duration,
}

impl Scenario {
    fn run(self) -> Ending {
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = events.clone();
        let hook = Arc::new(move |event: &Event| heard.lock().push(event.clone()));
        let count = self.devices.len();
        let picture = self.table.picture();
        let (scheduler, seats) = Scheduler::new(self.table, self.policy, &[picture], count, hook);
        let mut random = Random::new(self.seed);
        let fakes = self.devices.into_iter().map(|setup| Fake::new(setup, Random::new(random.next()))).collect();
        let mut simulation = Simulation {
            scheduler,
            seats,
            fakes,
            outcomes: vec![Outcome::Nothing; count],
            parked: vec![None; count],
            waking: vec![false; count],
            at_work: count,
            agenda: BinaryHeap::new(),
            planned: 0,
            now: Duration::ZERO,
            random,
            delivered: Vec::new(),
            void: 0,
            last_delivery: Duration::ZERO,
        };
        let steps = simulation.run(self.cancel_at);
        let (missing, reports) = simulation.scheduler.conclude();
        let Simulation { delivered, void, last_delivery, now: ended_at, .. } = simulation;
        let events = std::mem::take(&mut *events.lock());
        Ending { delivered, missing, reports, events, void, makespan: last_delivery, ended_at, steps }
    }
}

impl Simulation {
    /// Acts until all threads have ended that ever will; the number of acts.
    fn run(&mut self, cancel_at: Option<Duration>) -> u64 {
        for device in 0..self.fakes.len() {
            self.plan_opening(device);
        }
        self.plan(TICK, Act::Tick);
        if let Some(at) = cancel_at {
            self.plan(at, Act::Cancel);
        }
        let mut steps = 0;
        while (self.at_work > 0 || !self.scheduler.is_over())
            && let Some(Reverse((at, _, act))) = self.agenda.pop()
        {
            steps += 1;
            assert!(steps < 200_000, "the render does not end");
            self.now = at;
            self.act(act);
            self.wake_those_called();
        }
        steps
    }

    fn plan(&mut self, at: Duration, act: Act) {
        self.planned += 1;
        self.agenda.push(Reverse((at, self.planned, act)));
    }

    fn plan_opening(&mut self, device: usize) {
        let after = self.fakes[device].setup.opens_after;
        if self.fakes[device].trouble() == Trouble::NeverOpens {
            // A thread that never comes back.
            self.at_work -= 1;
        } else {
            self.plan(self.now + after, Act::Open(device));
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Open(device) => self.open(device),
            Act::Step(device) => self.step(device),
            Act::Polled(device) => self.polled(device),
            Act::Wake(device) => {
                let (life, _) = self.parked[device].take().expect("only parked devices are woken");
                self.waking[device] = false;
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
        if self.fakes[device].trouble() == Trouble::Unusable {
            self.fail(device, Failure::Unusable("simulated".into()));
            return;
        }
        self.seats[device].opened(self.fakes[device].setup.depth, self.now);
        self.step(device);
    }

    fn step(&mut self, device: usize) {
        let fit = |region| -> Fit { self.fakes[device].fit(&self.scheduler.table, region) };
        let next = self.seats[device].next(&fit, self.now);
        match next {
            Next::Leave => self.leave(device),
            Next::Park { life, epoch } => {
                if self.scheduler.with(|board| board.park(life, epoch)) {
                    self.parked[device] = Some((life, epoch));
                } else {
                    self.plan(self.now, Act::Step(device));
                }
            }
            Next::Begin { region, delay } => {
                let begun = self.fakes[device].begin(&self.scheduler.table, region, self.now + delay);
                if begun {
                    self.seats[device].progressed();
                    self.plan(self.now + delay, Act::Step(device));
                } else {
                    self.fail(device, Failure::OutOfMemory("simulated".into()));
                }
            }
            Next::Poll => {
                let timeout = self.scheduler.policy.poll_timeout;
                let (at, outcome) = self.fakes[device].poll(self.now, timeout);
                self.outcomes[device] = outcome;
                self.plan(at, Act::Polled(device));
            }
        }
    }

    fn polled(&mut self, device: usize) {
        match self.outcomes[device] {
            Outcome::Lost => return self.fail(device, Failure::Lost("simulated".into())),
            Outcome::Advanced => self.seats[device].progressed(),
            Outcome::Nothing => {
                if let Some(failure) = self.seats[device].stalled("nothing") {
                    return self.fail(device, failure);
                }
            }
            Outcome::Done => {
                let flight = self.fakes[device].flights.pop_front().expect("polls are for regions in flight");
                if flight.too_large {
                    self.seats[device].too_large(flight.region, self.now);
                } else if self.seats[device].finished(flight.region, self.now) {
                    self.delivered.push(flight.region);
                    self.last_delivery = self.now;
                    self.seats[device].delivered();
                } else {
                    self.void += 1;
                }
            }
        }
        self.step(device);
    }

    fn fail(&mut self, device: usize, failure: Failure) {
        if self.seats[device].failed(failure, self.now) {
            self.fakes[device].reborn();
            self.plan_opening(device);
        } else {
            self.leave(device);
        }
    }

    fn leave(&mut self, device: usize) {
        self.seats[device].leave(self.now);
        self.at_work -= 1;
    }

    /// Wakes parked devices for which something was announced, some time later; all others must wait rightly.
    fn wake_those_called(&mut self) {
        for device in 0..self.parked.len() {
            let Some((life, epoch)) = self.parked[device] else { continue };
            if self.waking[device] {
                continue;
            }
            if self.scheduler.with(|board| board.is_current(epoch)) {
                let idle_rightly = self.scheduler.queued() == 0 && self.scheduler.with(|board| !board.offers(life));
                assert!(idle_rightly, "device {device} is idle while something can be stolen");
            } else {
                self.waking[device] = true;
                let latency = Duration::from_micros(self.random.below(500));
                self.plan(self.now + latency, Act::Wake(device));
            }
        }
    }
}

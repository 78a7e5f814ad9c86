//! The seeded simulator: the scheduler on its [virtual clock](super::virtual_clock), with fake devices that are slow,
//! small, late, lost, hung or stuck. A seed determines everything.

mod cases;
mod device;
mod seeds;

use super::perturb::Random;
use super::policy::Policy;
use super::region::Region;
use super::report::{DeviceReport, MissingReason, ScheduleEvent};
use super::summed_area::SummedArea;
use super::virtual_clock::{VirtualObserver, VirtualRender};
use device::{FakeDevice, FakeDeviceSetup};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// A render to simulate.
#[derive(Clone)]
struct Scenario {
    table: Arc<SummedArea>,
    policy: Policy,
    devices: Vec<FakeDeviceSetup>,
    cancel_at: Option<Duration>,
    seed: u64,
}

/// The result of a simulated render.
struct SimulationResult {
    delivered: Vec<Region>,
    missing: Option<(MissingReason, Vec<Region>)>,
    reports: Vec<DeviceReport>,
    events: Vec<ScheduleEvent>,
    /// Number of regions that were delivered too late to count.
    void: usize,
    makespan: Duration,
    /// The time at which the last thread ended.
    ended_at: Duration,
    steps: u64,
}

/// Records deliveries and counts steps.
#[derive(Default)]
struct DeliveryLog {
    delivered: Vec<Region>,
    void: usize,
    last_delivery: Duration,
    steps: u64,
}

impl VirtualObserver for DeliveryLog {
    fn before_action(&mut self, _: Duration) {
        self.steps += 1;
        assert!(self.steps < 200_000, "the render does not end");
    }

    fn finished(&mut self, region: Region, at: Duration, counts: bool) {
        if counts {
            self.delivered.push(region);
            self.last_delivery = at;
        } else {
            self.void += 1;
        }
    }
}

impl Scenario {
    fn run(self) -> SimulationResult {
        let events = Arc::new(Mutex::new(Vec::new()));
        let recorded = events.clone();
        let hook = Arc::new(move |event: &ScheduleEvent| recorded.lock().push(event.clone()));
        let mut random = Random::new(self.seed);
        let devices =
            self.devices.into_iter().map(|setup| FakeDevice::new(setup, Random::new(random.next()))).collect();
        let (table, policy, cancel_at) = (self.table, self.policy, self.cancel_at);
        let mut log = DeliveryLog::default();
        let ending = VirtualRender { table, policy, hook, devices, watched: true, cancel_at }.run(&mut log);
        let DeliveryLog { delivered, void, last_delivery: makespan, steps } = log;
        let events = std::mem::take(&mut *events.lock());
        let (missing, reports, ended_at) = (ending.missing, ending.reports, ending.at);
        SimulationResult { delivered, missing, reports, events, void, makespan, ended_at, steps }
    }
}

//! The board: every fact about a render, behind one lock. Plain data and arithmetic; no thread, no clock, no deque.
//!
//! The regions that are neither finished nor given up are the *leaves* of the cut picture. They are disjoint and, with
//! the finished ones, cover what was asked for; each is held by one device or by none. Deques only carry the names of
//! leaves that nobody holds.

mod balance;

use super::policy::AHEAD_PARTS;
use super::region::Region;
use super::report::{DeviceReport, Failure, MissingReason};
use super::speed::Speedometer;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// A device between one opening and its failure; reports of an earlier life are void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) device: usize,
    number: u32,
}

/// A region that is not finished.
#[derive(Clone, Debug, Default)]
struct Leaf {
    work: u64,
    holder: Option<Life>,
    begun: bool,
    /// A device failed while this region was in flight. It is taken last, by a device that does nothing else, so that a
    /// region that makes devices fail costs no other region.
    suspect: bool,
    /// Devices for which the region is too large.
    too_large_for: Vec<usize>,
    /// The device that left the region for others to steal (perturbation), until one does.
    handed_over_by: Option<usize>,
    was_handed_over: bool,
}

impl Leaf {
    fn open_to(&self, device: usize) -> bool {
        !self.too_large_for.contains(&device) && self.handed_over_by != Some(device)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DevicePhase {
    Opening,
    Open,
    /// It waits for work.
    Parked,
    /// It was given up, or is done.
    Gone,
}

/// The board's entry of a device.
#[derive(Clone, Debug)]
struct DeviceEntry {
    life: Life,
    phase: DevicePhase,
    depth: usize,
    in_flight: usize,
    /// Whether it waits for the sink, which does not count as a hang.
    delivering: bool,
    /// When it last made progress, on the watchdog clock.
    progress: Duration,
    /// The time up to which busy and idle time are accounted for.
    since: Duration,
    meter: Speedometer,
    report: DeviceReport,
}

impl DeviceEntry {
    fn account(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.since);
        *(if self.in_flight > 0 { &mut self.report.busy } else { &mut self.report.idle }) += passed;
        self.since = now;
    }
}

/// Whether a device goes on, and whether it may begin a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceStatus {
    /// It was given up, or there will never be anything left for it to do.
    Done,
    /// It goes on. `may_begin` says whether it may take a region: it has memory for one, and not much in flight
    /// compared with its share of the remaining work.
    Working { in_flight: usize, may_begin: bool, epoch: u64 },
}

/// The consequences of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailureOutcome {
    /// All regions that the device held.
    pub(crate) returned: Vec<Region>,
    /// Whether the device is opened again.
    pub(crate) reopening: bool,
}

#[derive(Debug)]
pub(crate) struct Board {
    leaves: FxHashMap<Region, Leaf>,
    entries: Vec<DeviceEntry>,
    /// Free leaves that only some devices may take, or not yet.
    set_aside: Vec<Region>,
    /// Regions that were given up because they are too large for every device.
    refused: Vec<Region>,
    /// Divisor of an equal share for a device whose speed is not known yet.
    unknown_share_parts: u64,
    /// See [`Policy::in_flight_time_max`](super::policy::Policy::in_flight_time_max).
    in_flight_time_max: Option<Duration>,
    /// Total work of the leaves that are not begun.
    unbegun: u64,
    /// Counts announcements, which waiting devices might act upon.
    epoch: u64,
    /// The watchdog clock, by which hangs are detected; it does not advance while the process is stopped.
    watchdog_time: Duration,
    stopping: bool,
    handed_over: u64,
    finished: u64,
}

impl Board {
    /// Creates a board with free leaves, which must be disjoint, and their work; all devices are being opened. See
    /// [`Policy`](super::policy::Policy) for `unknown_share_parts`.
    pub(crate) fn new(
        leaves: impl IntoIterator<Item = (Region, u64)>,
        device_count: usize,
        unknown_share_parts: u64,
    ) -> Self {
        let leaves: FxHashMap<_, _> =
            leaves.into_iter().map(|(region, work)| (region, Leaf { work, ..Leaf::default() })).collect();
        let entry = |device| DeviceEntry {
            life: Life { device, number: 0 },
            phase: DevicePhase::Opening,
            depth: 1,
            in_flight: 0,
            delivering: false,
            progress: Duration::ZERO,
            since: Duration::ZERO,
            meter: Speedometer::default(),
            report: DeviceReport::default(),
        };
        Self {
            unbegun: leaves.values().fold(0, |sum: u64, leaf| sum.saturating_add(leaf.work)),
            leaves,
            entries: (0..device_count).map(entry).collect(),
            set_aside: Vec::new(),
            unknown_share_parts,
            in_flight_time_max: None,
            refused: Vec::new(),
            epoch: 0,
            watchdog_time: Duration::ZERO,
            stopping: false,
            handed_over: 0,
            finished: 0,
        }
    }

    /// Bounds the time that a device should need for what it has in flight.
    #[must_use]
    pub(crate) fn with_in_flight_time(self, in_flight_time_max: Option<Duration>) -> Self {
        Self { in_flight_time_max, ..self }
    }

    /// Makes every waiting device look again.
    pub(crate) fn advance_epoch(&mut self) {
        self.epoch += 1;
    }

    /// Begins no more regions; those in flight are given up.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
    }

    /// Whether the render is being stopped.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Returns the number of regions finished so far.
    pub(crate) fn finished_count(&self) -> u64 {
        self.finished
    }

    /// Whether no device can still change anything.
    pub(crate) fn is_over(&self) -> bool {
        self.leaves.is_empty()
            || self
                .entries
                .iter()
                .all(|entry| entry.phase == DevicePhase::Gone || (self.stopping && entry.in_flight == 0))
    }

    /// Starts the life of a device that has opened with memory for `depth` regions; `None` if it was given up
    /// meanwhile.
    pub(crate) fn open(&mut self, device: usize, depth: usize, now: Duration) -> Option<Life> {
        let watchdog_time = self.watchdog_time;
        let entry = &mut self.entries[device];
        if entry.phase != DevicePhase::Opening {
            return None;
        }
        entry.account(now);
        (entry.phase, entry.depth, entry.progress) = (DevicePhase::Open, depth.max(1), watchdog_time);
        Some(entry.life)
    }

    pub(crate) fn status(&self, life: Life, now: Duration) -> DeviceStatus {
        let entry = &self.entries[life.device];
        if !self.is_active(life) || self.leaves.is_empty() || self.stopping {
            return DeviceStatus::Done;
        }
        let devices = self.live_devices().count();
        let little = || entry.meter.begun_work().saturating_mul(AHEAD_PARTS) <= self.share(life, now).0;
        let ahead = || devices == 1 || (entry.meter.speed().is_some() && little());
        let may_begin =
            entry.in_flight < entry.depth && (entry.in_flight == 0 || (ahead() && self.is_timely(life, now)));
        DeviceStatus::Working { in_flight: entry.in_flight, may_begin, epoch: self.epoch }
    }

    /// Has the device take a free leaf from a deque. Returns `false` if the device was given up: then it does not hold
    /// the region.
    pub(crate) fn hold(&mut self, life: Life, region: Region, stolen: bool, now: Duration) -> bool {
        let active = self.is_active(life);
        let leaf = self.leaves.get_mut(&region).expect("regions in deques are leaves");
        assert_eq!(leaf.holder, None, "regions in deques are not held");
        if active {
            leaf.holder = Some(life);
            let entry = &mut self.entries[life.device];
            entry.account(now);
            if entry.in_flight == 0 {
                entry.progress = self.watchdog_time;
            }
            entry.in_flight += 1;
            entry.report.stolen += u64::from(stolen);
        }
        active
    }

    /// Has the device take a leaf that was set aside: a suspect if `suspect`, otherwise any other that is open to it.
    /// Returns the region, and the device that had handed it over, if any.
    pub(crate) fn hold_aside(&mut self, life: Life, suspect: bool, now: Duration) -> Option<(Region, Option<usize>)> {
        let eligible = |region: &Region| {
            let leaf = &self.leaves[region];
            leaf.suspect == suspect && leaf.open_to(life.device)
        };
        let index = self.set_aside.iter().position(eligible).filter(|_| self.is_active(life))?;
        let region = self.set_aside.remove(index);
        let from = self.leaves.get_mut(&region).and_then(|leaf| leaf.handed_over_by.take());
        self.hold(life, region, from.is_some(), now);
        Some((region, from))
    }

    /// Replaces a held region by two leaves with their work: the first stays held, the second is free.
    pub(crate) fn cut(&mut self, life: Life, region: Region, [kept, left]: [(Region, u64); 2]) -> bool {
        if !self.remove(life, region) {
            return false;
        }
        self.add(kept, Some(life));
        self.add(left, None);
        self.entries[life.device].report.splits += 1;
        true
    }

    /// Marks a held region as begun. Returns `false` if the device was given up.
    pub(crate) fn begin(&mut self, life: Life, region: Region, now: Duration) -> bool {
        let held = self.holds(life, region);
        if held && let Some(leaf) = self.leaves.get_mut(&region) {
            leaf.begun = true;
            self.unbegun = self.unbegun.saturating_sub(leaf.work);
            self.entries[life.device].meter.begin(region, leaf.work, now);
        }
        held
    }

    /// Leaves a held region to other devices only (perturbation): the first one, or any if `chosen`; each at most once.
    pub(crate) fn hand_over(&mut self, life: Life, region: Region, chosen: bool, now: Duration) -> bool {
        let others = self.live_devices().any(|device| device != life.device);
        let fresh = self.leaves.get(&region).is_some_and(|leaf| !leaf.was_handed_over && leaf.too_large_for.is_empty());
        if !others || !fresh || !(chosen || self.handed_over == 0) || !self.release(life, region, now) {
            return false;
        }
        let leaf = self.leaves.get_mut(&region).expect("released just now");
        (leaf.handed_over_by, leaf.was_handed_over) = (Some(life.device), true);
        self.handed_over += 1;
        self.set_aside.push(region);
        true
    }

    /// Notes that the device made progress: a step of a region is done.
    pub(crate) fn progress(&mut self, life: Life) {
        if self.is_active(life) {
            self.entries[life.device].progress = self.watchdog_time;
        }
    }

    /// Returns how long the device has made no progress, if it has regions in flight.
    pub(crate) fn stalled(&self, life: Life) -> Duration {
        let entry = &self.entries[life.device];
        if self.is_active(life) && entry.in_flight > 0 { self.watchdog_time - entry.progress } else { Duration::ZERO }
    }

    /// Notes that the device has finished a region. Returns `false` if it no longer holds the region: then its pixels
    /// are void.
    pub(crate) fn finish(&mut self, life: Life, region: Region, now: Duration) -> bool {
        if !self.holds(life, region) {
            return false;
        }
        self.leaves.remove(&region);
        self.end_in_flight(life, region, true, now);
        self.finished += 1;
        let entry = &mut self.entries[life.device];
        entry.report.regions += 1;
        entry.delivering = true;
        true
    }

    /// Notes that the sink has taken the pixels of a finished region.
    pub(crate) fn delivered(&mut self, life: Life) {
        if self.is_active(life) {
            self.entries[life.device].delivering = false;
            self.progress(life);
        }
    }

    /// Replaces a held region that the device found too large by two free leaves.
    pub(crate) fn halve(&mut self, life: Life, region: Region, halves: [(Region, u64); 2], now: Duration) -> bool {
        if !self.remove(life, region) {
            return false;
        }
        for half in halves {
            self.add(half, None);
        }
        self.end_in_flight(life, region, false, now);
        let report = &mut self.entries[life.device].report;
        report.splits += 1;
        report.retries += 1;
        true
    }

    /// Leaves a held region that is too large for the device and cannot be cut to other devices.
    pub(crate) fn refuse(&mut self, life: Life, region: Region, now: Duration) -> bool {
        if !self.release(life, region, now) {
            return false;
        }
        self.leaves.get_mut(&region).expect("released just now").too_large_for.push(life.device);
        self.set_aside.push(region);
        self.entries[life.device].report.retries += 1;
        self.review_set_aside();
        true
    }

    /// Frees everything that the device held, which has failed in the given life. Returns `None` if that life was over
    /// already.
    pub(crate) fn fail(
        &mut self,
        life: Life,
        failure: Failure,
        may_reopen: bool,
        now: Duration,
    ) -> Option<FailureOutcome> {
        if self.entries[life.device].life != life || self.entries[life.device].phase == DevicePhase::Gone {
            return None;
        }
        let mut returned: Vec<_> =
            self.leaves.iter().filter(|(_, leaf)| leaf.holder == Some(life)).map(|(r, _)| *r).collect();
        returned.sort_unstable();
        for region in &returned {
            self.set_aside_after_failure(*region);
        }
        let reopening = may_reopen
            && life.number == 0
            && self.entries[life.device].phase != DevicePhase::Opening
            && !self.leaves.is_empty()
            && !self.stopping;
        let watchdog_time = self.watchdog_time;
        let entry = &mut self.entries[life.device];
        entry.account(now);
        entry.life.number += 1;
        entry.report.failures.push(failure);
        (entry.in_flight, entry.delivering, entry.progress) = (0, false, watchdog_time);
        entry.meter.clear();
        (entry.phase, entry.report.dropped) =
            if reopening { (DevicePhase::Opening, false) } else { (DevicePhase::Gone, true) };
        self.review_set_aside();
        Some(FailureOutcome { returned, reopening })
    }

    /// Advances the watchdog clock, and returns the devices whose driver does not return. To compile is progress.
    pub(crate) fn overdue(
        &mut self,
        passed: Duration,
        [hang, open]: [Duration; 2],
        compiles: impl Fn(usize) -> bool,
    ) -> Vec<(Life, Failure)> {
        self.watchdog_time += passed;
        for entry in self.entries.iter_mut().filter(|entry| compiles(entry.life.device)) {
            entry.progress = self.watchdog_time;
        }
        let overdue = |entry: &DeviceEntry| {
            let waited = self.watchdog_time - entry.progress;
            let (limit, waiting_for) = match entry.phase {
                DevicePhase::Opening => (open, "the device to open"),
                DevicePhase::Open if entry.in_flight > 0 && !entry.delivering => {
                    (2 * hang, "a call of the driver to return")
                }
                _ => return None,
            };
            let failure = Failure::Hang { waiting_for: waiting_for.to_owned(), waited };
            (waited > limit).then_some((entry.life, failure))
        };
        self.entries.iter().filter_map(overdue).collect()
    }

    /// Returns the current life of a device, for a failure before it opened.
    pub(crate) fn life(&self, device: usize) -> Life {
        self.entries[device].life
    }

    /// Whether a device failed for good.
    pub(crate) fn is_given_up(&self, device: usize) -> bool {
        self.entries[device].report.dropped
    }

    /// Has the device wait for work, and returns `false` if something has happened since `epoch`: then it does not
    /// wait.
    pub(crate) fn park(&mut self, life: Life, epoch: u64) -> bool {
        let parks = self.is_active(life) && self.epoch == epoch;
        if parks {
            self.entries[life.device].phase = DevicePhase::Parked;
        }
        parks
    }

    pub(crate) fn unpark(&mut self, life: Life) {
        if self.is_active(life) {
            self.entries[life.device].phase = DevicePhase::Open;
        }
    }

    /// Notes that the device is done.
    pub(crate) fn leave(&mut self, device: usize, now: Duration) {
        let entry = &mut self.entries[device];
        if entry.phase != DevicePhase::Gone {
            entry.account(now);
            entry.phase = DevicePhase::Gone;
        }
    }

    /// Records the total time that a device's thread has spent on scheduling.
    pub(crate) fn set_scheduling_time(&mut self, device: usize, scheduling: Duration) {
        self.entries[device].report.scheduling = scheduling;
    }

    /// Returns the regions that were not finished, and why; `None` if none is missing.
    pub(crate) fn missing(&self) -> Option<(MissingReason, Vec<Region>)> {
        let mut missing: Vec<_> = self.leaves.keys().chain(&self.refused).copied().collect();
        missing.sort_unstable();
        let reason = match (self.leaves.is_empty(), self.stopping) {
            (true, _) => MissingReason::TooLarge,
            (false, true) => MissingReason::Cancelled,
            (false, false) => MissingReason::DevicesFailed,
        };
        (!missing.is_empty()).then_some((reason, missing))
    }

    /// Returns the report of each device so far.
    pub(crate) fn reports(&self) -> Vec<DeviceReport> {
        self.entries.iter().map(|entry| entry.report.clone()).collect()
    }

    /// Whether there was no announcement since `epoch`.
    pub(crate) fn is_current(&self, epoch: u64) -> bool {
        self.epoch == epoch
    }

    /// Whether a region is set aside that the device could take.
    pub(crate) fn has_set_aside_for(&self, life: Life) -> bool {
        self.set_aside.iter().any(|region| self.leaves[region].open_to(life.device))
    }

    fn is_active(&self, life: Life) -> bool {
        let entry = &self.entries[life.device];
        entry.life == life && matches!(entry.phase, DevicePhase::Open | DevicePhase::Parked)
    }

    fn live_devices(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().filter(|entry| entry.phase != DevicePhase::Gone).map(|entry| entry.life.device)
    }

    fn waiting_devices(&self, except: usize) -> usize {
        let waiting_devices = |entry: &&DeviceEntry| {
            matches!(entry.phase, DevicePhase::Opening | DevicePhase::Parked) && entry.life.device != except
        };
        self.entries.iter().filter(waiting_devices).count()
    }

    /// Whether a report of the device about a region counts.
    fn holds(&self, life: Life, region: Region) -> bool {
        let active = self.is_active(life);
        let holder = self.leaves.get(&region).and_then(|leaf| leaf.holder);
        assert!(!active || holder == Some(life), "a device reports only on regions that it holds, not on {region}");
        active
    }

    fn add(&mut self, (region, work): (Region, u64), holder: Option<Life>) {
        self.unbegun = self.unbegun.saturating_add(work);
        self.leaves.insert(region, Leaf { work, holder, ..Leaf::default() });
    }

    /// Removes a held leaf and its work from the board.
    fn remove(&mut self, life: Life, region: Region) -> bool {
        let held = self.holds(life, region);
        if held
            && let Some(leaf) = self.leaves.remove(&region)
            && !leaf.begun
        {
            self.unbegun = self.unbegun.saturating_sub(leaf.work);
        }
        held
    }

    /// Notes that a held region is no longer in flight: it was finished or given back.
    fn end_in_flight(&mut self, life: Life, region: Region, finished: bool, now: Duration) {
        let watchdog_time = self.watchdog_time;
        let entry = &mut self.entries[life.device];
        entry.account(now);
        entry.in_flight -= 1;
        entry.meter.end(region, finished, now);
        entry.progress = watchdog_time;
    }

    /// Frees a held leaf, and returns whether it was held.
    fn release(&mut self, life: Life, region: Region, now: Duration) -> bool {
        let held = self.holds(life, region);
        if held {
            self.end_in_flight(life, region, false, now);
            self.free(region);
        }
        held
    }

    fn free(&mut self, region: Region) {
        let leaf = self.leaves.get_mut(&region).expect("only leaves are freed");
        leaf.holder = None;
        if std::mem::take(&mut leaf.begun) {
            self.unbegun = self.unbegun.saturating_add(leaf.work);
        }
    }

    /// Sets aside a leaf whose device failed.
    fn set_aside_after_failure(&mut self, region: Region) {
        let begun = self.leaves[&region].begun;
        self.free(region);
        self.leaves.get_mut(&region).expect("freed just now").suspect |= begun;
        self.set_aside.push(region);
    }

    /// Gives up regions that are too large for every remaining device, and takes back what was handed over if no other
    /// device is left.
    fn review_set_aside(&mut self) {
        let live_devices: Vec<_> = self.live_devices().collect();
        // When a render is cancelled, devices leave that could have taken a region.
        if live_devices.is_empty() || self.stopping {
            return;
        }
        let (leaves, refused, unbegun) = (&mut self.leaves, &mut self.refused, &mut self.unbegun);
        self.set_aside.retain(|region| {
            let leaf = leaves.get_mut(region).expect("regions set aside are leaves");
            if !live_devices.iter().any(|&device| leaf.open_to(device)) {
                leaf.handed_over_by = None;
            }
            let possible = live_devices.iter().any(|&device| leaf.open_to(device));
            if !possible {
                *unbegun = unbegun.saturating_sub(leaf.work);
                leaves.remove(region);
                refused.push(*region);
            }
            possible
        });
    }
}

#[cfg(test)]
mod tests;

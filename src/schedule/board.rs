//! The board: every fact about a render, behind one lock. Plain data and arithmetic; no thread, no clock, no deque.
//!
//! The regions that are neither finished nor given up are the *leaves* of the cut picture. They are disjoint and, with the finished
//! ones, cover what was asked for; each is held by one device or by none. Deques only carry the names of leaves that nobody holds.

use super::policy::AHEAD_PARTS;
use super::region::Region;
use super::report::{Balance, DeviceReport, Failure, MissingReason};
use super::shares::{Runner, end_s};
use super::speed::Speedometer;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// A device between one opening and its failure; whatever an earlier life reports is void.
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
    /// A device failed while it was in flight. It is taken last and by a device that does nothing else, so that a region that brings
    /// devices down takes no others with it.
    suspect: bool,
    /// Devices for which it is too large.
    barred: Vec<usize>,
    /// The device that left it for others to steal (perturbation), until one does.
    handed_by: Option<usize>,
    was_handed: bool,
}

impl Leaf {
    fn open_to(&self, device: usize) -> bool {
        !self.barred.contains(&device) && self.handed_by != Some(device)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Opening,
    Open,
    /// Waits for work.
    Parked,
    /// Given up, or done.
    Gone,
}

/// A device as the board sees it.
#[derive(Clone, Debug)]
struct Chair {
    life: Life,
    phase: Phase,
    depth: usize,
    in_flight: usize,
    /// Waits for the sink, which is no fault of its own.
    delivering: bool,
    /// When it last came forward, on the board's patience clock.
    progress: Duration,
    /// Until when busy and idle time are accounted for.
    since: Duration,
    meter: Speedometer,
    report: DeviceReport,
}

impl Chair {
    fn account(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.since);
        *(if self.in_flight > 0 { &mut self.report.busy } else { &mut self.report.idle }) += passed;
        self.since = now;
    }
}

/// What a device may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// It was given up, or there is nothing left to do, ever.
    Leave,
    /// It may take a region if it has room: memory, and not much in flight beside its share of what is left for all.
    Stay { in_flight: usize, room: bool, epoch: u64 },
}

/// What follows from a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fallout {
    /// All regions that the device held.
    pub(crate) returned: Vec<Region>,
    /// Whether the device is opened once more.
    pub(crate) reopening: bool,
}

#[derive(Debug)]
pub(crate) struct Board {
    leaves: FxHashMap<Region, Leaf>,
    chairs: Vec<Chair>,
    /// Free leaves that not everybody may take, or not yet.
    aside: Vec<Region>,
    /// Given up: too large for every device.
    refused: Vec<Region>,
    /// A device that has shown no speed yet has one in so many parts of an equal share.
    unknown_share_parts: u64,
    /// Work of all leaves that are not begun.
    unbegun: u64,
    /// Counts everything that a waiting device might act upon.
    epoch: u64,
    /// Time by which devices are judged: it stands still while the process is stopped.
    patience: Duration,
    stopping: bool,
    handed_over: u64,
    finished: u64,
}

impl Board {
    /// A board with free leaves, which must be disjoint, and their work; all devices are being opened. A device whose speed is not
    /// known yet has one in `unknown_share_parts` parts of an equal share.
    pub(crate) fn new(
        leaves: impl IntoIterator<Item = (Region, u64)>,
        device_count: usize,
        unknown_share_parts: u64,
    ) -> Self {
        let leaves: FxHashMap<_, _> =
            leaves.into_iter().map(|(region, work)| (region, Leaf { work, ..Leaf::default() })).collect();
        let chair = |device| Chair {
            life: Life { device, number: 0 },
            phase: Phase::Opening,
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
            chairs: (0..device_count).map(chair).collect(),
            aside: Vec::new(),
            unknown_share_parts,
            refused: Vec::new(),
            epoch: 0,
            patience: Duration::ZERO,
            stopping: false,
            handed_over: 0,
            finished: 0,
        }
    }

    /// Makes every waiting device look again.
    pub(crate) fn bump(&mut self) {
        self.epoch += 1;
    }

    /// Finish what is in flight, begin nothing.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
    }

    /// Regions finished so far.
    pub(crate) fn finished_count(&self) -> u64 {
        self.finished
    }

    /// Whether nobody can change anything any more.
    pub(crate) fn is_over(&self) -> bool {
        self.leaves.is_empty()
            || self.chairs.iter().all(|chair| chair.phase == Phase::Gone || (self.stopping && chair.in_flight == 0))
    }

    /// The life of a device that has opened with room for `depth` regions; `None` if it was given up meanwhile.
    pub(crate) fn open(&mut self, device: usize, depth: usize, now: Duration) -> Option<Life> {
        let patience = self.patience;
        let chair = &mut self.chairs[device];
        if chair.phase != Phase::Opening {
            return None;
        }
        chair.account(now);
        (chair.phase, chair.depth, chair.progress) = (Phase::Open, depth.max(1), patience);
        Some(chair.life)
    }

    pub(crate) fn outlook(&self, life: Life, now: Duration) -> Outlook {
        let chair = &self.chairs[life.device];
        if !self.lives(life) || self.leaves.is_empty() || (self.stopping && chair.in_flight == 0) {
            return Outlook::Leave;
        }
        let devices = self.live().count();
        let little = || chair.meter.begun_work().saturating_mul(AHEAD_PARTS) <= self.share(life, now).0;
        let ahead = || devices == 1 || (chair.meter.speed().is_some() && little());
        let room = !self.stopping && chair.in_flight < chair.depth && (chair.in_flight == 0 || ahead());
        Outlook::Stay { in_flight: chair.in_flight, room, epoch: self.epoch }
    }

    /// What decides about a cut for balance, except how many regions are queued in deques.
    pub(crate) fn balance(&self, life: Life, region: Region, now: Duration) -> Balance {
        let (share, ahead) = self.share(life, now);
        Balance {
            work: self.leaves.get(&region).map_or(0, |leaf| leaf.work),
            unbegun: self.unbegun,
            share,
            ahead,
            speed_permille: self.speed_permille(life),
            devices: self.live().count(),
            hungry: self.hungry(life.device),
            queued: self.aside.len(),
        }
    }

    /// The device's fair part of all that is yet to be done, with which it ends when all others do, by their speeds and by what they have
    /// begun; and what it has begun itself and should not have done yet. A device that has shown no speed yet counts as average in the shares of the
    /// others, and has little itself, so that it can be as slow as it likes.
    fn share(&self, life: Life, now: Duration) -> (u64, u64) {
        let Some((own, mean)) = self.chairs[life.device].meter.speed().zip(self.mean_speed()) else {
            return (self.unbegun / (self.live().count() as u64).saturating_mul(self.unknown_share_parts).max(1), 0);
        };
        let runner = |device: usize| {
            let meter = &self.chairs[device].meter;
            let speed = meter.likely_speed(mean, now);
            Runner { speed, ahead: meter.ahead(speed, now) }
        };
        let end = end_s(self.live().map(runner).collect(), self.unbegun as f64);
        ((own * end) as u64, self.chairs[life.device].meter.ahead(own, now) as u64)
    }

    /// The device's speed against the mean of those that are known, in thousandths, at least one; a device that has shown none yet may be
    /// slow.
    fn speed_permille(&self, life: Life) -> u64 {
        let permille = match self.chairs[life.device].meter.speed().zip(self.mean_speed()) {
            Some((own, mean)) => (1000.0 * own / mean) as u64,
            None => 1000 / self.unknown_share_parts.max(1),
        };
        permille.max(1)
    }

    /// The mean of the speeds that are known.
    fn mean_speed(&self) -> Option<f64> {
        let (sum, count) = self
            .live()
            .filter_map(|device| self.chairs[device].meter.speed())
            .fold((0.0, 0_u32), |(sum, count), speed| (sum + speed, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The device takes a free leaf that came out of a deque. False if the device was given up: then the region is not its own.
    pub(crate) fn hold(&mut self, life: Life, region: Region, stolen: bool, now: Duration) -> bool {
        let lives = self.lives(life);
        let leaf = self.leaves.get_mut(&region).expect("what a deque carries is a leaf");
        assert_eq!(leaf.holder, None, "what a deque carries is held by nobody");
        if lives {
            leaf.holder = Some(life);
            let chair = &mut self.chairs[life.device];
            chair.account(now);
            if chair.in_flight == 0 {
                chair.progress = self.patience;
            }
            chair.in_flight += 1;
            chair.report.stolen += u64::from(stolen);
        }
        lives
    }

    /// The device takes a leaf from those set aside, with the device that had handed it over, if one had: a suspect if it asks for
    /// one, any other that is open to it if not.
    pub(crate) fn hold_aside(&mut self, life: Life, suspect: bool, now: Duration) -> Option<(Region, Option<usize>)> {
        let eligible = |region: &Region| {
            let leaf = &self.leaves[region];
            leaf.suspect == suspect && leaf.open_to(life.device)
        };
        let index = self.aside.iter().position(eligible).filter(|_| self.lives(life))?;
        let region = self.aside.remove(index);
        let from = self.leaves.get_mut(&region).and_then(|leaf| leaf.handed_by.take());
        self.hold(life, region, from.is_some(), now);
        Some((region, from))
    }

    /// A held region becomes two leaves with their work: the first stays held, the second is free.
    pub(crate) fn cut(&mut self, life: Life, region: Region, [kept, left]: [(Region, u64); 2]) -> bool {
        if !self.remove(life, region) {
            return false;
        }
        self.add(kept, Some(life));
        self.add(left, None);
        self.chairs[life.device].report.splits += 1;
        true
    }

    /// A held region is begun. False if the device was given up.
    pub(crate) fn begin(&mut self, life: Life, region: Region, now: Duration) -> bool {
        let held = self.holds(life, region);
        if held && let Some(leaf) = self.leaves.get_mut(&region) {
            leaf.begun = true;
            self.unbegun = self.unbegun.saturating_sub(leaf.work);
            self.chairs[life.device].meter.begin(region, leaf.work, now);
        }
        held
    }

    /// Leaves a held region to other devices only (perturbation): the first one, or any if `throw`; each once.
    pub(crate) fn hand_over(&mut self, life: Life, region: Region, throw: bool, now: Duration) -> bool {
        let others = self.live().any(|device| device != life.device);
        let fresh = self.leaves.get(&region).is_some_and(|leaf| !leaf.was_handed && leaf.barred.is_empty());
        if !others || !fresh || !(throw || self.handed_over == 0) || !self.release(life, region, now) {
            return false;
        }
        let leaf = self.leaves.get_mut(&region).expect("released just now");
        (leaf.handed_by, leaf.was_handed) = (Some(life.device), true);
        self.handed_over += 1;
        self.aside.push(region);
        true
    }

    /// The device came forward: a step of a region is done.
    pub(crate) fn progress(&mut self, life: Life) {
        if self.lives(life) {
            self.chairs[life.device].progress = self.patience;
        }
    }

    /// How long the device has not come forward, if it has something to do.
    pub(crate) fn stalled(&self, life: Life) -> Duration {
        let chair = &self.chairs[life.device];
        if self.lives(life) && chair.in_flight > 0 { self.patience - chair.progress } else { Duration::ZERO }
    }

    /// The device has finished a region. False if it no longer holds it: then its pixels are void.
    pub(crate) fn finish(&mut self, life: Life, region: Region, now: Duration) -> bool {
        if !self.holds(life, region) {
            return false;
        }
        self.leaves.remove(&region);
        self.drop_from(life, region, true, now);
        self.finished += 1;
        let chair = &mut self.chairs[life.device];
        chair.report.regions += 1;
        chair.delivering = true;
        true
    }

    /// The sink has taken the pixels of a finished region.
    pub(crate) fn delivered(&mut self, life: Life) {
        if self.lives(life) {
            self.chairs[life.device].delivering = false;
            self.progress(life);
        }
    }

    /// The device found a held region too large: it becomes two free leaves.
    pub(crate) fn halve(&mut self, life: Life, region: Region, halves: [(Region, u64); 2], now: Duration) -> bool {
        if !self.remove(life, region) {
            return false;
        }
        for half in halves {
            self.add(half, None);
        }
        self.drop_from(life, region, false, now);
        let report = &mut self.chairs[life.device].report;
        report.splits += 1;
        report.retries += 1;
        true
    }

    /// The device found a held region too large that cannot be cut: others may try.
    pub(crate) fn refuse(&mut self, life: Life, region: Region, now: Duration) -> bool {
        if !self.release(life, region, now) {
            return false;
        }
        self.leaves.get_mut(&region).expect("released just now").barred.push(life.device);
        self.aside.push(region);
        self.chairs[life.device].report.retries += 1;
        self.settle_aside();
        true
    }

    /// The device has failed in the given life: everything it held is free again. `None` if that life was over already.
    pub(crate) fn fail(&mut self, life: Life, failure: Failure, may_reopen: bool, now: Duration) -> Option<Fallout> {
        if self.chairs[life.device].life != life || self.chairs[life.device].phase == Phase::Gone {
            return None;
        }
        let mut returned: Vec<_> =
            self.leaves.iter().filter(|(_, leaf)| leaf.holder == Some(life)).map(|(r, _)| *r).collect();
        returned.sort_unstable();
        for region in &returned {
            self.strike(*region);
        }
        let reopening = may_reopen
            && life.number == 0
            && self.chairs[life.device].phase != Phase::Opening
            && !self.leaves.is_empty()
            && !self.stopping;
        let patience = self.patience;
        let chair = &mut self.chairs[life.device];
        chair.account(now);
        chair.life.number += 1;
        chair.report.failures.push(failure);
        (chair.in_flight, chair.delivering, chair.progress) = (0, false, patience);
        chair.meter.clear();
        (chair.phase, chair.report.dropped) = if reopening { (Phase::Opening, false) } else { (Phase::Gone, true) };
        self.settle_aside();
        Some(Fallout { returned, reopening })
    }

    /// Lets time pass on the clock by which devices are judged, and names those whose driver does not return.
    pub(crate) fn overdue(&mut self, passed: Duration, hang: Duration, open: Duration) -> Vec<(Life, Failure)> {
        self.patience += passed;
        let judge = |chair: &Chair| {
            let waited = self.patience - chair.progress;
            let (limit, waiting_for) = match chair.phase {
                Phase::Opening => (open, "the device to open"),
                Phase::Open if chair.in_flight > 0 && !chair.delivering => (2 * hang, "a call of the driver to return"),
                _ => return None,
            };
            let failure = Failure::Hang { waiting_for: waiting_for.to_owned(), waited };
            (waited > limit).then_some((chair.life, failure))
        };
        self.chairs.iter().filter_map(judge).collect()
    }

    /// The current life of a device, for a failure before it opened.
    pub(crate) fn life(&self, device: usize) -> Life {
        self.chairs[device].life
    }

    /// Whether a device failed for good.
    pub(crate) fn is_given_up(&self, device: usize) -> bool {
        self.chairs[device].report.dropped
    }

    /// The device waits for work, unless something has happened since `epoch`.
    pub(crate) fn park(&mut self, life: Life, epoch: u64) -> bool {
        let parks = self.lives(life) && self.epoch == epoch;
        if parks {
            self.chairs[life.device].phase = Phase::Parked;
        }
        parks
    }

    pub(crate) fn unpark(&mut self, life: Life) {
        if self.lives(life) {
            self.chairs[life.device].phase = Phase::Open;
        }
    }

    /// The device is done.
    pub(crate) fn leave(&mut self, device: usize, now: Duration) {
        let chair = &mut self.chairs[device];
        if chair.phase != Phase::Gone {
            chair.account(now);
            chair.phase = Phase::Gone;
        }
    }

    /// What a device's thread has spent on scheduling in all.
    pub(crate) fn took(&mut self, device: usize, scheduling: Duration) {
        self.chairs[device].report.scheduling = scheduling;
    }

    /// What was never finished, and why; `None` if nothing is missing.
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

    /// What each device did, so far.
    pub(crate) fn reports(&self) -> Vec<DeviceReport> {
        self.chairs.iter().map(|chair| chair.report.clone()).collect()
    }

    /// Whether nothing was announced since `epoch`.
    pub(crate) fn is_current(&self, epoch: u64) -> bool {
        self.epoch == epoch
    }

    /// Whether something is set aside that the device could take.
    pub(crate) fn offers(&self, life: Life) -> bool {
        self.aside.iter().any(|region| self.leaves[region].open_to(life.device))
    }

    fn lives(&self, life: Life) -> bool {
        let chair = &self.chairs[life.device];
        chair.life == life && matches!(chair.phase, Phase::Open | Phase::Parked)
    }

    fn live(&self) -> impl Iterator<Item = usize> + '_ {
        self.chairs.iter().filter(|chair| chair.phase != Phase::Gone).map(|chair| chair.life.device)
    }

    fn hungry(&self, except: usize) -> usize {
        let hungry =
            |chair: &&Chair| matches!(chair.phase, Phase::Opening | Phase::Parked) && chair.life.device != except;
        self.chairs.iter().filter(hungry).count()
    }

    /// Whether the device's word about a region counts.
    fn holds(&self, life: Life, region: Region) -> bool {
        let lives = self.lives(life);
        let holder = self.leaves.get(&region).and_then(|leaf| leaf.holder);
        assert!(!lives || holder == Some(life), "a device speaks only of regions that it holds, not of {region}");
        lives
    }

    fn add(&mut self, (region, work): (Region, u64), holder: Option<Life>) {
        self.unbegun = self.unbegun.saturating_add(work);
        self.leaves.insert(region, Leaf { work, holder, ..Leaf::default() });
    }

    /// Takes a held leaf off the board, its work with it.
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

    /// A held region is in flight no more: finished, or given back.
    fn drop_from(&mut self, life: Life, region: Region, finished: bool, now: Duration) {
        let patience = self.patience;
        let chair = &mut self.chairs[life.device];
        chair.account(now);
        chair.in_flight -= 1;
        chair.meter.end(region, finished, now);
        chair.progress = patience;
    }

    /// A held leaf is free again.
    fn release(&mut self, life: Life, region: Region, now: Duration) -> bool {
        let held = self.holds(life, region);
        if held {
            self.drop_from(life, region, false, now);
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

    /// Sets a leaf aside whose device failed.
    fn strike(&mut self, region: Region) {
        let begun = self.leaves[&region].begun;
        self.free(region);
        self.leaves.get_mut(&region).expect("freed just now").suspect |= begun;
        self.aside.push(region);
    }

    /// Gives up what is too large for every device left, and takes back what was handed over when no other device is left.
    fn settle_aside(&mut self) {
        let live: Vec<_> = self.live().collect();
        // Of a cancelled render devices leave that could have taken a region.
        if live.is_empty() || self.stopping {
            return;
        }
        let (leaves, refused, unbegun) = (&mut self.leaves, &mut self.refused, &mut self.unbegun);
        self.aside.retain(|region| {
            let leaf = leaves.get_mut(region).expect("what is set aside is a leaf");
            if !live.iter().any(|&device| leaf.open_to(device)) {
                leaf.handed_by = None;
            }
            let possible = live.iter().any(|&device| leaf.open_to(device));
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

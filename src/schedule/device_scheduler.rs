//! One device's side of the scheduler: what the device does next, and what its reports mean. The same code runs with
//! real threads, in the simulator and under the model checker; it never waits, and takes the time as an argument.

use super::scheduler::Scheduler;
use super::sync::Deque;
use crate::schedule::board::{Board, DeviceStatus, Life};
use crate::schedule::capacity::Fit;
use crate::schedule::cut::Cut;
use crate::schedule::perturb::Perturbation;
use crate::schedule::policy::{BalanceCut, TIMED_SIDE_MIN_PX};
use crate::schedule::region::Region;
use crate::schedule::report::{Balance, CutReason, Failure, ScheduleEventKind};
use std::sync::Arc;
use std::time::Duration;

/// What a device's thread has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextAction {
    /// Begin this region, after a delay (perturbation).
    Begin { region: Region, delay: Duration },
    /// Advance what is in flight.
    Poll,
    /// Wait for something to happen after `epoch`: [`Scheduler::park`].
    Park { life: Life, epoch: u64 },
    /// End: there is nothing more to do.
    Leave,
}

enum CutDecision {
    Begin(Balance),
    Cut(Cut, CutReason),
}

/// Returns the work of half of the parts into which a region is cut so that each has `most` work: parts that are halved
/// again and again are nearly square and alike, so that fewer grids are drawn twice than where parts are cut off one by
/// one.
fn half_of_parts(work: u64, most: u64) -> u64 {
    let parts = work.div_ceil(most.max(1)).max(2);
    work / parts * (parts / 2)
}

/// The scheduler of one device, which owns the device's deque.
pub(crate) struct DeviceScheduler {
    device: usize,
    life: Option<Life>,
    deque: Deque<Region>,
    perturbation: Option<Perturbation>,
    scheduler: Arc<Scheduler>,
}

impl DeviceScheduler {
    pub(super) fn new(device: usize, deque: Deque<Region>, scheduler: Arc<Scheduler>) -> Self {
        let perturbation = scheduler.policy.perturb.map(|seed| Perturbation::new(seed, device));
        Self { device, life: None, deque, perturbation, scheduler }
    }

    pub(crate) fn device(&self) -> usize {
        self.device
    }

    /// Notes that the device is open, with memory for `in_flight_max` regions at a time.
    pub(crate) fn opened(&mut self, in_flight_max: usize, now: Duration) {
        let depth =
            self.perturbation.as_mut().map_or(in_flight_max, |perturbation| perturbation.depth().min(in_flight_max));
        self.life = self.scheduler.with_board(|board| board.open(self.device, depth, now));
        if self.life.is_some() {
            self.scheduler.emit(now, self.device, ScheduleEventKind::Opened { depth });
        }
    }

    /// Returns what to do next. `fit` returns whether a region fits the device.
    pub(crate) fn next(&mut self, fit: &dyn Fn(Region) -> Fit, now: Duration) -> NextAction {
        let Some(life) = self.life else { return NextAction::Leave };
        loop {
            let status = self.scheduler.with_board(|board| board.status(life, now));
            let DeviceStatus::Working { in_flight, may_begin, epoch } = status else { return NextAction::Leave };
            if may_begin && let Some(region) = self.take(life, in_flight == 0, now) {
                match self.cut_and_begin(life, region, fit, now) {
                    Some(next) => return next,
                    None => continue,
                }
            }
            return if in_flight > 0 { NextAction::Poll } else { NextAction::Park { life, epoch } };
        }
    }

    /// Takes a region and holds it: one that was set aside, the newest of its own deque, an orphan, a stolen one,
    /// or a suspect, in this order.
    fn take(&mut self, life: Life, idle: bool, now: Duration) -> Option<Region> {
        if let Some(region) = self.take_aside(life, false, now) {
            return Some(region);
        }
        let (region, from) = match self.deque.pop().map(|region| (region, Some(self.device))) {
            Some(own) => own,
            None => match self.scheduler.take_orphan() {
                Some(region) => (region, None),
                None if idle => match self.steal() {
                    Some((region, victim)) => (region, Some(victim)),
                    None => return self.take_aside(life, true, now),
                },
                None => return None,
            },
        };
        let stolen = from.is_some_and(|device| device != self.device);
        if !self.scheduler.with_board(|board| board.hold(life, region, stolen, now)) {
            self.scheduler.give_back(region);
            return None;
        }
        if from != Some(self.device) {
            self.scheduler.emit(now, self.device, taken_event(region, from));
        }
        Some(region)
    }

    fn take_aside(&self, life: Life, suspect: bool, now: Duration) -> Option<Region> {
        let (region, from) = self.scheduler.with_board(|board| board.hold_aside(life, suspect, now))?;
        self.scheduler.emit(now, self.device, taken_event(region, from));
        Some(region)
    }

    /// Steals the oldest region of the first victim that has one.
    fn steal(&mut self) -> Option<(Region, usize)> {
        let count = self.scheduler.device_count();
        let first = self.perturbation.as_mut().map_or(self.device + 1, |perturbation| perturbation.first_victim(count));
        let victims = (first..first + count).map(|victim| victim % count).filter(|victim| *victim != self.device);
        victims.filter_map(|victim| Some((self.scheduler.steal(victim)?, victim))).next()
    }

    /// Cuts a held region until it has the right size, and begins it. `None` if it went to other devices.
    fn cut_and_begin(
        &mut self,
        life: Life,
        region: Region,
        fit: &dyn Fn(Region) -> Fit,
        now: Duration,
    ) -> Option<NextAction> {
        let mut region = region;
        loop {
            match self.decide(life, region, fit, now) {
                CutDecision::Cut(cut, why) => {
                    self.cut(life, region, &cut, why, now)?;
                    region = cut.kept;
                }
                CutDecision::Begin(balance) => {
                    if self.hand_over(life, region, now)
                        || !self.scheduler.with_board(|board| board.begin(life, region, now))
                    {
                        return None;
                    }
                    let in_flight = match self.scheduler.with_board(|board| board.status(life, now)) {
                        DeviceStatus::Working { in_flight, .. } => in_flight,
                        DeviceStatus::Done => return None,
                    };
                    let what = ScheduleEventKind::Begun { region, work: balance.work, in_flight, balance };
                    self.scheduler.emit(now, self.device, what);
                    let delay = self.perturbation.as_mut().map_or(Duration::ZERO, Perturbation::delay);
                    return Some(NextAction::Begin { region, delay });
                }
            }
        }
    }

    /// RenderAnts, listings 1 and 4 and section 6: what does not fit is cut; what fits is cut while others lack work.
    fn decide(&mut self, life: Life, region: Region, fit: &dyn Fn(Region) -> Fit, now: Duration) -> CutDecision {
        let scheduler = &self.scheduler;
        let mut balance = scheduler.with_board(|board| board.balance(life, region, now));
        balance.queued += scheduler.queued();
        if let Fit::Cut { of, needed, available } = fit(region)
            && let Some(cut) = scheduler.table.balanced_cut(region, 1)
        {
            return CutDecision::Cut(cut, CutReason::Memory { of, needed, available });
        }
        if let Some(perturbation) = &mut self.perturbation
            && let Some(cut) = perturbation.forced_cut(&scheduler.table, region)
        {
            return CutDecision::Cut(cut, CutReason::Forced);
        }
        if let Some(most) = scheduler.with_board(|board| board.timed_work(life, now))
            && balance.work > most.saturating_add(most / 8)
            && let Some(cut) = scheduler.table.cut_off(region, half_of_parts(balance.work, most), TIMED_SIDE_MIN_PX)
        {
            return CutDecision::Cut(cut, CutReason::Time { work_max: most });
        }
        let side_min_px = scheduler.policy.balance_side_min_px;
        let cut = match scheduler.policy.balance_cut(&balance) {
            BalanceCut::Keep => None,
            BalanceCut::Halve => scheduler.table.balanced_cut(region, side_min_px),
            BalanceCut::CutOff(work) => scheduler.table.cut_off(region, work, side_min_px),
        };
        cut.map_or(CutDecision::Begin(balance), |cut| CutDecision::Cut(cut, CutReason::Balance(balance)))
    }

    /// One side stays held, the other goes on the deque. `None` if the device was given up meanwhile.
    fn cut(&self, life: Life, region: Region, cut: &Cut, why: CutReason, now: Duration) -> Option<()> {
        let [kept, left] = [cut.kept, cut.left];
        let halves = [kept, left].map(|half| (half, self.scheduler.table.work(half)));
        if !self.scheduler.with_board(|board| board.cut(life, region, halves)) {
            return None;
        }
        self.deque.push(left);
        self.scheduler.announce();
        self.scheduler.emit(now, self.device, ScheduleEventKind::Cut { region, kept, left, why });
        Some(())
    }

    fn hand_over(&mut self, life: Life, region: Region, now: Duration) -> bool {
        let Some(perturbation) = &mut self.perturbation else { return false };
        let chosen = perturbation.hands_over();
        let handed = self.scheduler.with_board(|board| board.hand_over(life, region, chosen, now));
        if handed {
            self.scheduler.announce();
            self.scheduler.emit(now, self.device, ScheduleEventKind::HandedOver { region });
        }
        handed
    }

    /// Notes that a step of a region is done.
    pub(crate) fn progressed(&self) {
        if let Some(life) = self.life {
            self.scheduler.with_board(|board| board.progress(life));
        }
    }

    /// Notes that a poll that waited for `waiting_for` timed out. Returns a failure if the device hangs.
    pub(crate) fn stalled(&self, waiting_for: &str) -> Option<Failure> {
        let life = self.life?;
        let waited = self.scheduler.with_board(|board| board.stalled(life));
        let hangs = waited > self.scheduler.policy.hang_timeout;
        hangs.then(|| Failure::Hang { waiting_for: waiting_for.to_owned(), waited })
    }

    /// Notes that the device has finished a region, and returns whether its pixels count: then
    /// [`DeviceScheduler::delivered`] follows once the sink has them.
    pub(crate) fn finished(&self, region: Region, now: Duration) -> bool {
        let Some(life) = self.life else { return false };
        let (counts, over) = self.scheduler.with_board(|board| (board.finish(life, region, now), board.is_over()));
        if over {
            // Wakes all waiting devices, which then end.
            self.scheduler.announce();
        }
        if counts {
            self.scheduler.emit(now, self.device, ScheduleEventKind::Finished { region });
        }
        counts
    }

    /// Notes that the sink has the pixels of a finished region.
    pub(crate) fn delivered(&self) {
        if let Some(life) = self.life {
            self.scheduler.with_board(|board| board.delivered(life));
        }
    }

    /// Puts a region that the device found too large back on the deque in halves, or leaves it to other devices if it
    /// cannot be cut.
    pub(crate) fn too_large(&self, region: Region, now: Duration) {
        let Some(life) = self.life else { return };
        let Some(cut) = self.scheduler.table.balanced_cut(region, 1) else {
            if self.scheduler.with_board(|board| board.refuse(life, region, now)) {
                self.scheduler.announce();
                self.scheduler.emit(now, self.device, ScheduleEventKind::Refused { region });
            }
            return;
        };
        let halves = [cut.kept, cut.left].map(|half| (half, self.scheduler.table.work(half)));
        if self.scheduler.with_board(|board| board.halve(life, region, halves, now)) {
            self.deque.push(cut.left);
            self.deque.push(cut.kept);
            self.scheduler.announce();
            let (kept, left) = (cut.kept, cut.left);
            self.scheduler.emit(
                now,
                self.device,
                ScheduleEventKind::Cut { region, kept, left, why: CutReason::TooLarge },
            );
        }
    }

    /// Notes that the device has failed, or could not be opened. Returns whether it is to be opened again.
    pub(crate) fn failed(&mut self, failure: Failure, now: Duration) -> bool {
        let device = self.device;
        let life = self.life.take().unwrap_or_else(|| self.scheduler.with_board(|board| Board::life(board, device)));
        self.scheduler.fail(life, failure, true, now)
    }

    /// Records the total time that the device's thread has spent on scheduling.
    pub(crate) fn set_scheduling_time(&self, scheduling: Duration) {
        self.scheduler.with_board(|board| board.set_scheduling_time(self.device, scheduling));
    }

    /// Notes that the device is done.
    pub(crate) fn leave(&mut self, now: Duration) {
        self.life = None;
        self.scheduler.with_board(|board| board.leave(self.device, now));
    }
}

fn taken_event(region: Region, from: Option<usize>) -> ScheduleEventKind {
    from.map_or(ScheduleEventKind::Adopted { region }, |from| ScheduleEventKind::Stolen { region, from })
}

//! One device's side of the scheduler: what it does next, and what its reports mean. The same code runs under the threads, the
//! simulator and the model checker; it never waits, and gets the time from outside.

use super::scheduler::Scheduler;
use super::sync::Worker;
use crate::schedule::board::{Board, Life, Outlook};
use crate::schedule::capacity::Fit;
use crate::schedule::cut::Cut;
use crate::schedule::perturb::Perturbation;
use crate::schedule::policy::Wish;
use crate::schedule::region::Region;
use crate::schedule::report::{Balance, CutReason, Failure, Happening};
use std::sync::Arc;
use std::time::Duration;

/// What a device's driver has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Begin this region, after a delay (perturbation).
    Begin { region: Region, delay: Duration },
    /// Advance what is in flight.
    Poll,
    /// Wait for something to happen after `epoch`: [`Scheduler::park`].
    Park { life: Life, epoch: u64 },
    /// Nothing more, ever.
    Leave,
}

enum Verdict {
    Begin(Balance),
    Cut(Cut, CutReason),
}

/// A device's place at the scheduler: it owns the device's deque.
pub(crate) struct Seat {
    device: usize,
    life: Option<Life>,
    deque: Worker<Region>,
    throws: Option<Perturbation>,
    scheduler: Arc<Scheduler>,
}

impl Seat {
    pub(super) fn new(device: usize, deque: Worker<Region>, scheduler: Arc<Scheduler>) -> Self {
        let throws = scheduler.policy.perturb.map(|seed| Perturbation::new(seed, device));
        Self { device, life: None, deque, throws, scheduler }
    }

    pub(crate) fn device(&self) -> usize {
        self.device
    }

    /// The device is open, with memory for `in_flight_max` regions at a time.
    pub(crate) fn opened(&mut self, in_flight_max: usize, now: Duration) {
        let depth = self.throws.as_mut().map_or(in_flight_max, |throws| throws.depth().min(in_flight_max));
        self.life = self.scheduler.with(|board| board.open(self.device, depth, now));
        if self.life.is_some() {
            self.scheduler.tell(now, self.device, Happening::Opened { depth });
        }
    }

    /// What to do next. `fit` says whether a region fits the device.
    pub(crate) fn next(&mut self, fit: &dyn Fn(Region) -> Fit, now: Duration) -> Next {
        let Some(life) = self.life else { return Next::Leave };
        loop {
            let outlook = self.scheduler.with(|board| board.outlook(life, now));
            let Outlook::Stay { in_flight, room, epoch } = outlook else { return Next::Leave };
            if room && let Some(region) = self.take(life, in_flight == 0, now) {
                match self.settle_on(life, region, fit, now) {
                    Some(next) => return next,
                    None => continue,
                }
            }
            return if in_flight > 0 { Next::Poll } else { Next::Park { life, epoch } };
        }
    }

    /// A held region: left by another device, the newest of its own, given back, or stolen, in this order.
    fn take(&mut self, life: Life, idle: bool, now: Duration) -> Option<Region> {
        if let Some(region) = self.take_aside(life, false, now) {
            return Some(region);
        }
        let (region, from) = match self.deque.pop().map(|region| (region, Some(self.device))) {
            Some(own) => own,
            None => match self.scheduler.adopt() {
                Some(region) => (region, None),
                None if idle => match self.steal() {
                    Some((region, victim)) => (region, Some(victim)),
                    None => return self.take_aside(life, true, now),
                },
                None => return None,
            },
        };
        let stolen = from.is_some_and(|device| device != self.device);
        if !self.scheduler.with(|board| board.hold(life, region, stolen, now)) {
            self.scheduler.give_back(region);
            return None;
        }
        if from != Some(self.device) {
            self.scheduler.tell(now, self.device, taken(region, from));
        }
        Some(region)
    }

    fn take_aside(&self, life: Life, suspect: bool, now: Duration) -> Option<Region> {
        let (region, from) = self.scheduler.with(|board| board.hold_aside(life, suspect, now))?;
        self.scheduler.tell(now, self.device, taken(region, from));
        Some(region)
    }

    /// The oldest region of the first victim that has one.
    fn steal(&mut self) -> Option<(Region, usize)> {
        let count = self.scheduler.device_count();
        let first = self.throws.as_mut().map_or(self.device + 1, |throws| throws.first_victim(count));
        let victims = (first..first + count).map(|victim| victim % count).filter(|victim| *victim != self.device);
        victims.filter_map(|victim| Some((self.scheduler.steal(victim)?, victim))).next()
    }

    /// Cuts a held region until what is left is right, and begins it. `None` if it went to others.
    fn settle_on(&mut self, life: Life, region: Region, fit: &dyn Fn(Region) -> Fit, now: Duration) -> Option<Next> {
        let mut region = region;
        loop {
            match self.verdict(life, region, fit, now) {
                Verdict::Cut(cut, why) => {
                    self.cut(life, region, &cut, why, now)?;
                    region = cut.kept;
                }
                Verdict::Begin(balance) => {
                    if self.hand_over(life, region, now) || !self.scheduler.with(|board| board.begin(life, region, now))
                    {
                        return None;
                    }
                    let in_flight = match self.scheduler.with(|board| board.outlook(life, now)) {
                        Outlook::Stay { in_flight, .. } => in_flight,
                        Outlook::Leave => return None,
                    };
                    let what = Happening::Begun { region, work: balance.work, in_flight, balance };
                    self.scheduler.tell(now, self.device, what);
                    let delay = self.throws.as_mut().map_or(Duration::ZERO, Perturbation::delay);
                    return Some(Next::Begin { region, delay });
                }
            }
        }
    }

    /// RenderAnts, listings 1 and 4 and section 6: what does not fit is cut; what fits is cut while others lack work.
    fn verdict(&mut self, life: Life, region: Region, fit: &dyn Fn(Region) -> Fit, now: Duration) -> Verdict {
        let scheduler = &self.scheduler;
        let mut balance = scheduler.with(|board| board.balance(life, region, now));
        balance.queued += scheduler.queued();
        if let Fit::Cut { of, needed, available } = fit(region)
            && let Some(cut) = scheduler.table.balanced_cut(region, 1)
        {
            return Verdict::Cut(cut, CutReason::Memory { of, needed, available });
        }
        if let Some(throws) = &mut self.throws
            && let Some(cut) = throws.forced_cut(&scheduler.table, region)
        {
            return Verdict::Cut(cut, CutReason::Forced);
        }
        let side_min_px = scheduler.policy.balance_side_min_px;
        let cut = match scheduler.policy.wish(&balance) {
            Wish::Whole => None,
            Wish::Half => scheduler.table.balanced_cut(region, side_min_px),
            Wish::Part(work) => scheduler.table.cut_off(region, work, side_min_px),
        };
        cut.map_or(Verdict::Begin(balance), |cut| Verdict::Cut(cut, CutReason::Balance(balance)))
    }

    /// One side stays held, the other goes on the deque. `None` if the device was given up meanwhile.
    fn cut(&self, life: Life, region: Region, cut: &Cut, why: CutReason, now: Duration) -> Option<()> {
        let [kept, left] = [cut.kept, cut.left];
        let halves = [kept, left].map(|half| (half, self.scheduler.table.work(half)));
        if !self.scheduler.with(|board| board.cut(life, region, halves)) {
            return None;
        }
        self.deque.push(left);
        self.scheduler.announce();
        self.scheduler.tell(now, self.device, Happening::Cut { region, kept, left, why });
        Some(())
    }

    fn hand_over(&mut self, life: Life, region: Region, now: Duration) -> bool {
        let Some(throws) = &mut self.throws else { return false };
        let throw = throws.hands_over();
        let handed = self.scheduler.with(|board| board.hand_over(life, region, throw, now));
        if handed {
            self.scheduler.announce();
            self.scheduler.tell(now, self.device, Happening::HandedOver { region });
        }
        handed
    }

    /// A step of a region is done.
    pub(crate) fn progressed(&self) {
        if let Some(life) = self.life {
            self.scheduler.with(|board| board.progress(life));
        }
    }

    /// Nothing has happened in a poll that waited for `waiting_for`: whether that makes it a hang.
    pub(crate) fn stalled(&self, waiting_for: &str) -> Option<Failure> {
        let life = self.life?;
        let waited = self.scheduler.with(|board| board.stalled(life));
        let hangs = waited > self.scheduler.policy.hang_timeout;
        hangs.then(|| Failure::Hang { waiting_for: waiting_for.to_owned(), waited })
    }

    /// The device has finished a region. True if its pixels count: then [`Seat::delivered`] follows once the sink has them.
    pub(crate) fn finished(&self, region: Region, now: Duration) -> bool {
        let Some(life) = self.life else { return false };
        let (counts, over) = self.scheduler.with(|board| (board.finish(life, region, now), board.is_over()));
        if over {
            // Sends everybody home.
            self.scheduler.announce();
        }
        if counts {
            self.scheduler.tell(now, self.device, Happening::Finished { region });
        }
        counts
    }

    /// The sink has the pixels of a finished region.
    pub(crate) fn delivered(&self) {
        if let Some(life) = self.life {
            self.scheduler.with(|board| board.delivered(life));
        }
    }

    /// The device found a region too large: it goes back in halves, or, where it cannot be cut, to others.
    pub(crate) fn too_large(&self, region: Region, now: Duration) {
        let Some(life) = self.life else { return };
        let Some(cut) = self.scheduler.table.balanced_cut(region, 1) else {
            if self.scheduler.with(|board| board.refuse(life, region, now)) {
                self.scheduler.announce();
                self.scheduler.tell(now, self.device, Happening::Refused { region });
            }
            return;
        };
        let halves = [cut.kept, cut.left].map(|half| (half, self.scheduler.table.work(half)));
        if self.scheduler.with(|board| board.halve(life, region, halves, now)) {
            self.deque.push(cut.left);
            self.deque.push(cut.kept);
            self.scheduler.announce();
            let (kept, left) = (cut.kept, cut.left);
            self.scheduler.tell(now, self.device, Happening::Cut { region, kept, left, why: CutReason::TooLarge });
        }
    }

    /// The device has failed, or could not be opened. True if it is to be opened once more.
    pub(crate) fn failed(&mut self, failure: Failure, now: Duration) -> bool {
        let device = self.device;
        let life = self.life.take().unwrap_or_else(|| self.scheduler.with(|board| Board::life(board, device)));
        self.scheduler.fail(life, failure, true, now)
    }

    /// What the device's thread has spent on the seat in all, for the report.
    pub(crate) fn took(&self, scheduling: Duration) {
        self.scheduler.with(|board| board.took(self.device, scheduling));
    }

    /// The device is done.
    pub(crate) fn leave(&mut self, now: Duration) {
        self.life = None;
        self.scheduler.with(|board| board.leave(self.device, now));
    }
}

fn taken(region: Region, from: Option<usize>) -> Happening {
    from.map_or(Happening::Adopted { region }, |from| Happening::Stolen { region, from })
}

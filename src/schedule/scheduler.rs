//! What the devices' threads share: the board, the stealing ends of the deques, and the condition variable that wakes
//! them. See the protocol in the module's description.

use super::device_scheduler::DeviceScheduler;
use super::sync::{Condvar, Deque, Injector, Mutex, Steal, Stealer, wait_for};
use crate::schedule::board::{Board, FailureOutcome, Life};
use crate::schedule::policy::Policy;
use crate::schedule::region::Region;
use crate::schedule::report::{DeviceReport, Failure, Hook, MissingReason, ScheduleEvent, ScheduleEventKind};
use crate::schedule::summed_area::SummedArea;
use std::sync::Arc;
use std::time::Duration;

/// The shared side of a render; each device has its own [`DeviceScheduler`].
pub(crate) struct Scheduler {
    pub(crate) table: Arc<SummedArea>,
    pub(crate) policy: Policy,
    board: Mutex<Board>,
    wake: Condvar,
    stealers: Vec<Stealer<Region>>,
    /// Regions that are on no device's deque: those to begin with, and what a device had just taken when it was given
    /// up.
    orphans: Injector<Region>,
    hook: Hook,
}

impl Scheduler {
    /// Creates a scheduler for disjoint `regions`, and the device schedulers of `device_count` devices, none of which
    /// is open yet.
    pub(crate) fn new(
        table: Arc<SummedArea>,
        policy: Policy,
        regions: &[Region],
        device_count: usize,
        hook: Hook,
    ) -> (Arc<Self>, Vec<DeviceScheduler>) {
        let deques: Vec<_> = (0..device_count).map(|_| Deque::new_lifo()).collect();
        let orphans = Injector::new();
        for region in regions {
            orphans.push(*region);
        }
        let leaves = regions.iter().map(|region| (*region, table.work(*region)));
        let board = Board::new(leaves, device_count, policy.unknown_share_parts);
        let board = board.with_in_flight_time(policy.in_flight_time_max);
        let scheduler = Arc::new(Self {
            table,
            policy,
            board: Mutex::new(board),
            wake: Condvar::new(),
            stealers: deques.iter().map(Deque::stealer).collect(),
            orphans,
            hook,
        });
        let device_scheduler = |(device, deque)| DeviceScheduler::new(device, deque, scheduler.clone());
        let device_schedulers = deques.into_iter().enumerate().map(device_scheduler).collect();
        (scheduler, device_schedulers)
    }

    /// Accesses the board under the lock.
    pub(super) fn with_board<T>(&self, act: impl FnOnce(&mut Board) -> T) -> T {
        act(&mut self.board.lock())
    }

    /// Wakes all waiting devices. Called after a region has become available, and after anything else they might act
    /// upon.
    pub(super) fn announce(&self) {
        self.with_board(Board::advance_epoch);
        self.wake.notify_all();
    }

    pub(super) fn emit(&self, at: Duration, device: usize, kind: ScheduleEventKind) {
        (self.hook)(&ScheduleEvent { at, device, kind });
    }

    /// Makes a free region available to every device.
    pub(super) fn give_back(&self, region: Region) {
        self.orphans.push(region);
        self.announce();
    }

    /// Takes the oldest region that is on no device's deque.
    pub(super) fn take_orphan(&self) -> Option<Region> {
        retry_steal(|| self.orphans.steal())
    }

    /// Takes the oldest region of `victim`, which mostly is its largest.
    pub(super) fn steal(&self, victim: usize) -> Option<Region> {
        retry_steal(|| self.stealers[victim].steal())
    }

    pub(crate) fn device_count(&self) -> usize {
        self.stealers.len()
    }

    /// Returns the number of regions that a device without work could take from deques.
    pub(super) fn queued(&self) -> usize {
        self.orphans.len() + self.stealers.iter().map(Stealer::len).sum::<usize>()
    }

    /// Waits until something has happened since `epoch`, at most `timeout`.
    pub(crate) fn park(&self, life: Life, epoch: u64, timeout: Duration) {
        let mut board = self.board.lock();
        if board.park(life, epoch) {
            board = wait_for(&self.wake, board, timeout);
            board.unpark(life);
        }
    }

    /// Frees the regions of a device that has failed. Returns whether it is to be opened again.
    pub(super) fn fail(&self, life: Life, failure: Failure, may_reopen: bool, now: Duration) -> bool {
        let outcome = self.with_board(|board| board.fail(life, failure.clone(), may_reopen, now));
        let Some(FailureOutcome { returned, reopening }) = outcome else { return false };
        self.announce();
        self.emit(now, life.device, ScheduleEventKind::Failed { failure, returned, reopening });
        reopening
    }

    /// Gives up a device from outside its own thread, or before it has a renderer.
    pub(crate) fn give_up(&self, device: usize, failure: Failure, now: Duration) {
        let life = self.with_board(|board| board.life(device));
        self.fail(life, failure, false, now);
    }

    /// Whether a device failed for good.
    pub(crate) fn is_given_up(&self, device: usize) -> bool {
        self.with_board(|board| board.is_given_up(device))
    }

    /// Advances the watchdog clock by `passed`, and gives up devices whose driver does not return, but none that
    /// compiles.
    pub(crate) fn watch(&self, passed: Duration, now: Duration, compiles: impl Fn(usize) -> bool) {
        let limits = [self.policy.hang_timeout, self.policy.open_timeout];
        for (life, failure) in self.with_board(|board| board.overdue(passed, limits, compiles)) {
            self.fail(life, failure, false, now);
        }
    }

    /// Whether the render is being stopped.
    pub(crate) fn is_stopping(&self) -> bool {
        self.with_board(|board| board.is_stopping())
    }

    /// Lets devices give up what is in flight and begin nothing more.
    pub(crate) fn stop(&self) {
        self.with_board(Board::stop);
        self.announce();
    }

    /// Whether no device has anything left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.with_board(|board| board.is_over())
    }

    /// Returns the number of regions finished so far.
    pub(crate) fn finished_count(&self) -> u64 {
        self.with_board(|board| board.finished_count())
    }

    /// Returns the missing regions and why they are missing, and the report of each device.
    pub(crate) fn conclude(&self) -> (Option<(MissingReason, Vec<Region>)>, Vec<DeviceReport>) {
        self.with_board(|board| (board.missing(), board.reports()))
    }
}

/// Retries a steal until it succeeds or there is nothing to steal; it is only retried if another thief was faster.
fn retry_steal(steal: impl Fn() -> Steal<Region>) -> Option<Region> {
    loop {
        match steal() {
            Steal::Success(region) => return Some(region),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

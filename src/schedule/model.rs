//! The protocol between threads under a model checker (loom): every order of the steps of two devices, up to two or
//! three preemptions (`LOOM_MAX_PREEMPTIONS` sets another number; each takes five to ten times as long).
//!
//! This compiles `scheduler.rs` and `device_scheduler.rs` a second time, on loom's locks instead of the real ones. The
//! deques are modelled by what they promise: each push, pop and steal happens at one moment. Waits have no time-out
//! here, so a lost wake-up is a deadlock, which loom reports.

#![expect(clippy::duplicate_mod, reason = "the same protocol, on other locks")]

#[path = "device_scheduler.rs"]
mod device_scheduler;
#[path = "scheduler.rs"]
mod scheduler;

mod sync {
    use std::collections::VecDeque;
    use std::sync::Arc;
    use std::time::Duration;

    pub(super) use loom::sync::{Condvar, MutexGuard};

    pub(super) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(super) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(super) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("loom ends the run at the first panic")
        }
    }

    pub(super) fn wait_for<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>, _: Duration) -> MutexGuard<'a, T> {
        condvar.wait(guard).expect("loom ends the run at the first panic")
    }

    pub(super) enum Steal<T> {
        Success(T),
        Empty,
        #[expect(dead_code, reason = "a modelled steal is decided at once")]
        Retry,
    }

    type SharedDeque<T> = Arc<Mutex<VecDeque<T>>>;

    pub(super) struct Deque<T>(SharedDeque<T>);
    pub(super) struct Stealer<T>(SharedDeque<T>);
    pub(super) struct Injector<T>(Mutex<VecDeque<T>>);

    impl<T> Deque<T> {
        pub(super) fn new_lifo() -> Self {
            Self(Arc::new(Mutex::new(VecDeque::new())))
        }

        pub(super) fn stealer(&self) -> Stealer<T> {
            Stealer(self.0.clone())
        }

        pub(super) fn push(&self, task: T) {
            self.0.lock().push_back(task);
        }

        pub(super) fn pop(&self) -> Option<T> {
            self.0.lock().pop_back()
        }
    }

    impl<T> Stealer<T> {
        pub(super) fn steal(&self) -> Steal<T> {
            self.0.lock().pop_front().map_or(Steal::Empty, Steal::Success)
        }

        pub(super) fn len(&self) -> usize {
            self.0.lock().len()
        }
    }

    impl<T> Injector<T> {
        pub(super) fn new() -> Self {
            Self(Mutex::new(VecDeque::new()))
        }

        pub(super) fn push(&self, task: T) {
            self.0.lock().push_back(task);
        }

        pub(super) fn steal(&self) -> Steal<T> {
            self.0.lock().pop_front().map_or(Steal::Empty, Steal::Success)
        }

        pub(super) fn len(&self) -> usize {
            self.0.lock().len()
        }
    }
}

mod tests {
    use super::device_scheduler::{DeviceScheduler, NextAction};
    use super::scheduler::Scheduler;
    use crate::schedule::{Failure, Fit, MissingReason, Policy, Rates, Region, SquareCounts, SquareGrid, SummedArea};
    use loom::thread;
    use std::sync::Arc;
    use std::time::Duration;

    const NOW: Duration = Duration::ZERO;

    /// What a device does with the regions that it begins.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Habit {
        /// Finishes each at once.
        Sound,
        /// Is lost at the first one, and does not open again.
        Lost,
        /// Finds the first too large.
        TooLarge,
    }

    /// Runs a device's thread, and returns the regions whose pixels count.
    fn serve(mut device_scheduler: DeviceScheduler, scheduler: &Scheduler, mut habit: Habit) -> (usize, Vec<Region>) {
        device_scheduler.opened(1, NOW);
        let (mut begun, mut delivered) = (None, Vec::new());
        loop {
            match device_scheduler.next(&|_| Fit::Fits, NOW) {
                NextAction::Leave => break,
                NextAction::Park { life, epoch } => scheduler.park(life, epoch, NOW),
                NextAction::Begin { region, .. } => begun = Some(region),
                NextAction::Poll => {
                    device_scheduler.progressed();
                    let region = begun.take().expect("polls are for regions in flight");
                    match std::mem::replace(&mut habit, Habit::Sound) {
                        Habit::Sound if device_scheduler.finished(region, NOW) => {
                            delivered.push(region);
                            device_scheduler.delivered();
                        }
                        Habit::Sound => {}
                        Habit::TooLarge => device_scheduler.too_large(region, NOW),
                        Habit::Lost => {
                            let failure = device_scheduler.stalled("steps").unwrap_or(Failure::Lost("modelled".into()));
                            let again = device_scheduler.failed(failure, NOW)
                                && device_scheduler.failed(Failure::Unusable("modelled".into()), NOW);
                            assert!(!again, "opened once more, not twice");
                            break;
                        }
                    }
                }
            }
        }
        device_scheduler.set_scheduling_time(Duration::ZERO);
        device_scheduler.leave(NOW);
        (device_scheduler.device(), delivered)
    }

    type Missing = Option<(MissingReason, Vec<Region>)>;

    struct ModelCase {
        habits: [Habit; 2],
        size: [u32; 2],
        perturb: Option<u64>,
        /// How often a thread is interrupted that could go on, at most.
        preemptions: usize,
        /// What the caller's thread does meanwhile.
        meanwhile: fn(&Scheduler),
    }

    impl ModelCase {
        /// Every order: what each device delivered, and what is missing, go to `check`.
        fn check(self, check: fn(&SummedArea, &[Region], Missing)) {
            let mut model = loom::model::Builder::new();
            model.preemption_bound = model.preemption_bound.or(Some(self.preemptions));
            let picture = Region::new([0, 0, self.size[0], self.size[1]].map(u32::cast_signed)).expect("not empty");
            let squares = vec![SquareCounts::default(); SquareGrid::of(picture).square_count()];
            let table = Arc::new(SummedArea::new(picture, &squares, Rates::default()));
            model.check(move || {
                let policy = Policy {
                    balance_work_min: 100,
                    balance_side_min_px: 16,
                    perturb: self.perturb,
                    ..Policy::new(0, 2)
                };
                let (scheduler, device_schedulers) =
                    Scheduler::new(table.clone(), policy, &[picture], 2, Arc::new(|_| ()));
                let threads: Vec<_> = device_schedulers
                    .into_iter()
                    .zip(self.habits)
                    .map(|(device_scheduler, habit)| {
                        let scheduler = scheduler.clone();
                        thread::spawn(move || serve(device_scheduler, &scheduler, habit))
                    })
                    .collect();
                (self.meanwhile)(&scheduler);
                let mut delivered = Vec::new();
                for (index, thread) in threads.into_iter().enumerate() {
                    let (device, regions) = thread.join().expect("no panic");
                    assert_eq!(device, index);
                    delivered.extend(regions);
                }
                assert!(scheduler.is_over());
                assert_eq!(scheduler.finished_count(), delivered.len() as u64);
                let (missing, reports) = scheduler.conclude();
                assert!(
                    reports.iter().enumerate().all(|(device, report)| report.dropped == scheduler.is_given_up(device))
                );
                check(&table, &delivered, missing);
            });
        }
    }

    fn assert_once(table: &SummedArea, delivered: &[Region], missing: &[Region]) {
        let all: Vec<_> = delivered.iter().chain(missing).collect();
        let pixels: u64 = all.iter().map(|region| region.pixel_count()).sum();
        assert_eq!(pixels, table.picture().pixel_count());
        for (index, region) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other.intersection(**region).is_none()));
        }
    }

    fn whole(table: &SummedArea, delivered: &[Region], missing: Missing) {
        assert_eq!(missing, None);
        assert_once(table, delivered, &[]);
    }

    #[test]
    fn sound_devices_finish_and_leave() {
        ModelCase { habits: [Habit::Sound; 2], size: [32, 16], perturb: None, preemptions: 2, meanwhile: |_| () }
            .check(whole);
    }

    #[test]
    fn lost_device_leaves_its_region_to_the_other() {
        ModelCase {
            habits: [Habit::Lost, Habit::Sound],
            size: [32, 16],
            perturb: None,
            preemptions: 2,
            meanwhile: |_| (),
        }
        .check(whole);
    }

    #[test]
    fn all_lost_ends() {
        ModelCase { habits: [Habit::Lost; 2], size: [32, 16], perturb: None, preemptions: 2, meanwhile: |_| () }.check(
            |table, delivered, missing| {
                let (reason, missing) = missing.expect("both are lost");
                assert_eq!(reason, MissingReason::DevicesFailed);
                assert_once(table, delivered, &missing);
            },
        );
    }

    #[test]
    fn halves_are_found() {
        ModelCase {
            habits: [Habit::TooLarge, Habit::Sound],
            size: [2, 1],
            perturb: None,
            preemptions: 2,
            meanwhile: |_| (),
        }
        .check(whole);
    }

    #[test]
    fn refused_pixel_goes_to_the_other() {
        ModelCase {
            habits: [Habit::TooLarge, Habit::Sound],
            size: [1, 1],
            perturb: None,
            preemptions: 3,
            meanwhile: |_| (),
        }
        .check(|_, delivered, missing| {
            assert_eq!(missing, None);
            assert_eq!(delivered.len(), 1);
        });
    }

    #[test]
    fn handed_over_region_is_stolen() {
        ModelCase { habits: [Habit::Sound; 2], size: [16, 16], perturb: Some(1), preemptions: 3, meanwhile: |_| () }
            .check(whole);
    }

    #[test]
    fn cancelled_devices_leave() {
        let stop = |scheduler: &Scheduler| {
            scheduler.stop();
            assert!(scheduler.is_stopping());
        };
        ModelCase { habits: [Habit::Sound; 2], size: [32, 16], perturb: None, preemptions: 3, meanwhile: stop }.check(
            |table, delivered, missing| {
                let missing = missing.map_or_else(Vec::new, |(reason, missing)| {
                    assert_eq!(reason, MissingReason::Cancelled);
                    missing
                });
                assert_once(table, delivered, &missing);
            },
        );
    }

    #[test]
    fn pixels_of_a_device_given_up_are_void() {
        // The caller gives a device up at any moment; what it then still finishes must not count twice.
        let give_up = |scheduler: &Scheduler| scheduler.give_up(0, Failure::Lost("modelled".into()), NOW);
        ModelCase { habits: [Habit::Sound; 2], size: [32, 16], perturb: None, preemptions: 3, meanwhile: give_up }
            .check(whole);
    }

    #[test]
    fn overdue_devices_are_given_up_at_any_moment() {
        let watch = |scheduler: &Scheduler| scheduler.watch(Duration::from_secs(3600), NOW, |_| false);
        ModelCase {
            habits: [Habit::Sound, Habit::Lost],
            size: [16, 16],
            perturb: None,
            preemptions: 3,
            meanwhile: watch,
        }
        .check(|table, delivered, missing| {
            let missing = missing.map_or_else(Vec::new, |(reason, missing)| {
                assert_eq!(reason, MissingReason::DevicesFailed);
                missing
            });
            assert_once(table, delivered, &missing);
        });
    }
}

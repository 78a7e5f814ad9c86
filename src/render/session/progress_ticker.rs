//! Notifies the observer, several times a second, of what the threads of a render have reported.

use crate::gpu::{CompileLog, Compiling};
use crate::progress::{Activity, Event, Interrupt, Observer, Progress, ProgressTally};
use crate::render::session::limits::RenderLimits;
use crossbeam::channel::{RecvTimeoutError, bounded};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// The time between two notifications.
const TICK: Duration = Duration::from_millis(100);

/// Keeps the observer up to date.
pub(super) struct ProgressTicker<'a> {
    observer: &'a dyn Observer,
    pub tally: Arc<ProgressTally>,
    pub compile_log: Arc<CompileLog>,
    pub interrupt: Interrupt,
    pub limits: RenderLimits,
    /// Keeps events in order.
    order: Mutex<()>,
}

impl<'a> ProgressTicker<'a> {
    pub(super) fn new(observer: &'a dyn Observer, limits: RenderLimits) -> Self {
        Self {
            observer,
            tally: Arc::default(),
            compile_log: Arc::default(),
            interrupt: observer.interrupt(),
            limits,
            order: Mutex::new(()),
        }
    }

    /// Notifies the observer while `act` runs, and raises the interrupt when the time is over.
    pub(super) fn tick_while<T>(&self, act: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            let (stop, stopped) = bounded::<()>(0);
            scope.spawn(move || {
                while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    self.limits.check_time(&self.interrupt);
                    let _order = self.order.lock();
                    let progress = self.progress();
                    let is_stuck = self.limits.is_overdue() && progress.activity != Activity::Writing;
                    self.observer.notify(Event::Progress(progress));
                    if is_stuck {
                        self.observer.notify(Event::Overdue);
                    }
                }
            });
            let done = act();
            drop(stop);
            done
        })
    }

    fn progress(&self) -> Progress {
        let progress = self.tally.now();
        match self.compile_log.awaited() {
            Some(Compiling { kernel, waited, ready, all }) => {
                Progress { activity: Activity::Compiling { kernel, waited, ready, all }, ..progress }
            }
            None => progress,
        }
    }

    /// A world begins.
    pub(super) fn begin_world(&self, frame: Option<i32>) {
        let _order = self.order.lock();
        self.tally.begin_world();
        self.observer.notify(Event::WorldBegin { frame });
    }

    /// The displays of a world are written.
    pub(super) fn end_world(&self) {
        let _order = self.order.lock();
        self.observer.notify(Event::Progress(self.progress()));
        self.observer.notify(Event::WorldEnd);
        self.tally.begin(Activity::Reading);
    }
}

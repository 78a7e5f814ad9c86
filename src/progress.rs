//! How a render is watched and stopped: the renderer notifies an [`Observer`] of what it does, several times a second,
//! and stops when the observer's [`Interrupt`] is raised.

use crate::schedule::Region;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A limit that the user has set for a render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedLimit {
    /// Its time.
    Time,
    /// The bytes of its files.
    Output,
}

/// Stops a render once it is raised. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    /// What raised it, if not the user.
    limit: Arc<OnceLock<ReachedLimit>>,
}

impl Interrupt {
    /// Asks the render to stop: it gives up what it is doing, and writes what is finished.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Asks the render to stop because a limit is reached, unless it was asked to stop before.
    pub fn raise_at(&self, limit: ReachedLimit) {
        if !self.is_raised() {
            self.limit.get_or_init(|| limit);
            self.raise();
        }
    }

    /// Whether the render is to stop.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// Lets what was asked to stop, and has stopped, begin again. A limit that was reached stays.
    pub(crate) fn rearm(&self) {
        if self.limit.get().is_none() {
            self.raised.store(false, Ordering::Relaxed);
        }
    }

    /// Returns the limit that was reached, if it was that.
    pub fn limit(&self) -> Option<ReachedLimit> {
        self.limit.get().copied()
    }

    /// Returns the flag, which becomes true when the interrupt is raised.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.raised
    }
}

impl From<Arc<AtomicBool>> for Interrupt {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { raised: flag, limit: Arc::default() }
    }
}

/// An event of a render.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Rendering of a world begins.
    WorldBegin {
        /// The number given to FrameBegin, if any.
        frame: Option<i32>,
    },
    /// What the render is doing. Sent several times a second.
    Progress(Progress),
    /// The displays of the current world have been written.
    WorldEnd,
    /// The time of the render is over for long, and it neither ends nor writes. Sent several times a second.
    Overdue,
}

/// How far a render is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// What it is doing.
    pub activity: Activity,
    /// The fraction of the current world's picture that is drawn, by estimated work: from 0 to 1, and 1 only if every
    /// pixel is finished. It falls where a region in progress is given up.
    pub drawn: f64,
}

/// What a render is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Activity {
    /// It reads scenes, and no world is complete yet.
    #[default]
    Reading,
    /// It compiles the world's shaders, and lays out its geometry.
    Preparing,
    /// A device waits for a kernel that is being compiled.
    Compiling {
        /// The kernel.
        kernel: String,
        /// How long it has been waited for.
        waited: Duration,
        /// Kernels that are compiled.
        ready: u32,
        /// All kernels that are needed so far.
        all: u32,
    },
    /// Primitives are split and counted.
    Counting {
        /// The fraction that is counted, from 0 to 1.
        fraction: f64,
        /// Grids found so far.
        grids: u64,
    },
    /// Regions are drawn.
    Drawing,
    /// The picture is written.
    Writing,
    /// A texture is made that the scene requests.
    MakingTexture {
        /// Its file.
        name: String,
        /// The fraction that is made, from 0 to 1.
        fraction: f64,
    },
}

/// Watches a render. It is called from any thread, so its methods must return quickly.
pub trait Observer: Sync {
    /// Receives an event.
    fn notify(&self, event: Event);

    /// Returns what stops the render.
    fn interrupt(&self) -> Interrupt;
}

/// An observer that ignores events and never stops the render.
impl Observer for () {
    fn notify(&self, _: Event) {}

    fn interrupt(&self) -> Interrupt {
        Interrupt::default()
    }
}

/// How far a render is, as its threads report it.
#[derive(Debug, Default)]
pub(crate) struct ProgressTally {
    state: Mutex<TallyState>,
}

#[derive(Debug, Default)]
struct TallyState {
    activity: Activity,
    /// Counting: parts done and grids found.
    counted: f64,
    count_parts: f64,
    grids: u64,
    /// Estimated work of the whole picture, and of its finished pixels.
    work: f64,
    finished: f64,
    /// The work of each region in flight, and the fraction of it that is done.
    in_flight: FxHashMap<Region, (f64, f64)>,
    whole: bool,
}

/// The most that a picture shows as drawn while pixels are missing.
const NEARLY: f64 = 0.9999;

impl ProgressTally {
    /// Notes that another activity begins.
    pub(crate) fn begin(&self, activity: Activity) {
        self.state.lock().activity = activity;
    }

    /// Notes that a world begins: nothing is counted or drawn.
    pub(crate) fn begin_world(&self) {
        *self.state.lock() = TallyState { activity: Activity::Preparing, ..TallyState::default() };
    }

    /// Notes that counting begins, and that it has this many parts.
    pub(crate) fn begin_counting(&self, parts: f64) {
        let mut state = self.state.lock();
        let activity = Activity::Counting { fraction: 0.0, grids: 0 };
        (state.activity, state.counted, state.count_parts, state.grids) = (activity, 0.0, parts, 0);
    }

    /// Notes that some more parts were counted, and grids were found.
    pub(crate) fn count(&self, parts: f64, grids: u64) {
        let mut state = self.state.lock();
        state.counted += parts;
        state.grids += grids;
    }

    /// Notes that a picture with this much estimated work, some of which was finished before, begins to be drawn.
    pub(crate) fn begin_drawing(&self, work: f64, finished: f64) {
        let mut state = self.state.lock();
        (state.activity, state.work, state.finished) = (Activity::Drawing, work, finished);
    }

    /// Notes that a region begins.
    pub(crate) fn begin_region(&self, region: Region, work: f64) {
        self.state.lock().in_flight.insert(region, (work, 0.0));
    }

    /// Notes that a fraction of a region in flight is done. A region that goes over something again does not fall back.
    pub(crate) fn advance_region(&self, region: Region, fraction: f64) {
        if let Some((_, done)) = self.state.lock().in_flight.get_mut(&region) {
            *done = done.max(fraction.min(1.0));
        }
    }

    /// Notes that a region is no longer in flight: it was finished or given up.
    pub(crate) fn end_region(&self, region: Region, finished: bool) {
        let mut state = self.state.lock();
        if let Some((work, _)) = state.in_flight.remove(&region)
            && finished
        {
            state.finished += work;
        }
    }

    /// Notes that every pixel is finished.
    pub(crate) fn finish_picture(&self) {
        self.state.lock().whole = true;
    }

    /// Returns how far the render is.
    pub(crate) fn now(&self) -> Progress {
        let state = self.state.lock();
        let ratio = |of: f64, by: f64| if by > 0.0 { (of / by).clamp(0.0, NEARLY) } else { 0.0 };
        let activity = match &state.activity {
            Activity::Counting { .. } => {
                Activity::Counting { fraction: ratio(state.counted, state.count_parts), grids: state.grids }
            }
            other => other.clone(),
        };
        let begun: f64 = state.in_flight.values().map(|(work, fraction)| work * fraction).sum();
        Progress { activity, drawn: if state.whole { 1.0 } else { ratio(state.finished + begun, state.work) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_drawn_by_finished_work_and_by_fractions_of_regions() {
        let tally = ProgressTally::default();
        tally.begin_world();
        tally.begin_counting(4.0);
        tally.count(0.5, 7);
        tally.count(0.5, 3);
        assert_eq!(tally.now().activity, Activity::Counting { fraction: 0.25, grids: 10 });
        tally.begin_drawing(100.0, 20.0);
        let [first, second] = [[0, 0, 4, 4], [4, 0, 8, 4]].map(|array| Region::new(array).expect("not empty"));
        tally.begin_region(first, 60.0);
        tally.begin_region(second, 20.0);
        tally.advance_region(first, 0.5);
        tally.advance_region(first, 0.25);
        assert_eq!(tally.now(), Progress { activity: Activity::Drawing, drawn: 0.5 });
        tally.end_region(first, true);
        tally.advance_region(second, 0.5);
        assert_eq!(tally.now().drawn, 0.9);
        tally.end_region(second, false);
        assert_eq!(tally.now().drawn, 0.8);
        tally.begin_region(second, 20.0);
        tally.end_region(second, true);
        assert_eq!(tally.now().drawn, NEARLY, "not every pixel is in the film");
        tally.finish_picture();
        assert_eq!(tally.now().drawn, 1.0);
        tally.begin_world();
        assert_eq!(tally.now(), Progress { activity: Activity::Preparing, drawn: 0.0 });
    }
}

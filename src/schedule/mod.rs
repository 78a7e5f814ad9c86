//! The dicing scheduler: which device renders which part of the picture, and when.
//!
//! It is the multi-GPU scheduler of RenderAnts (Zhou et al. 2009: section 4 with listing 1, section 6, appendix B with
//! listing 4), which is work stealing (Blumofe et al. 1995) on a depth-first walk over the subregions of a picture. It
//! knows no GPU, no scene and no pipeline: a device is something that can [render a region](RegionRenderer), and the
//! picture is a [`SummedArea`] table of counts. [`render()`] is the whole interface. Nothing here can change a pixel:
//! which regions exist, which device renders them and in which order may differ from run to run, but the picture must
//! not.
//!
//! # The protocol
//!
//! **Regions.** The unit of work is a rectangle of pixels, and nothing else moves between devices: the device that
//! takes a region produces its grids from the scene. Regions that are neither finished nor given up are the *leaves* of
//! the cut picture. They are disjoint, and with the finished ones they cover what was asked for.
//!
//! **Board and deques.** All facts are on one board behind one lock: which leaves exist, which device holds each, which
//! devices live. It is accessed a few times for each region, which lasts tens of milliseconds. The name of a leaf that
//! no device holds is in exactly one place: on the deque of the device that cut it; among the *orphans*, where a render
//! begins; or *set aside* on the board, if not every device may take it, or not yet. Deques only carry names. A leaf is
//! on the board before its name is on a deque, and its name is off the deque before the board knows the holder; in
//! between only the thread that took it knows of it, and that thread either holds it or gives it back.
//!
//! **A device's thread** repeats: take a leaf; cut it until it is right; begin it; advance what is in flight. It takes,
//! in this order, a leaf that is set aside for it, the newest leaf of its own deque, an orphan, and, if it has nothing
//! in flight, the oldest leaf of another's deque, which is usually the largest, and finally a suspect (below). Up to
//! [`in_flight_max`](RegionRenderer::in_flight_max) regions are in flight, two on a GPU, so that it does not wait for
//! the host; but a second one is only begun while there are enough leaves for the other devices, because
//! regions in flight cannot be stolen.
//!
//! **Cuts.** A leaf that does not fit the device's memory is cut. One that fits is cut while it holds more than n_min
//! and either another device waits and finds nothing to steal (RenderAnts, section 6), or it holds more than most of
//! its device's share of the remaining work ([`Policy`]). In the first two cases the cut is where it balances
//! micropolygons ([`SummedArea::balanced_cut`]; the paper's section 8 names this as future work), and the device keeps
//! the smaller side; in the last, a part of the right size is cut off and kept ([`SummedArea::cut_off`]). The other
//! side goes on the device's own deque. A region that the device itself finds too large, when it has begun, comes back
//! as two leaves on its deque.
//!
//! Where what is finished is saved at intervals ([`Policy::in_flight_time_max`]), a region is also cut so that its
//! device should need no longer than that for all that it has in flight, by its measured speed.
//!
//! **Waiting.** A device with nothing in flight that finds nothing parks. It reads the board's epoch before it looks
//! for leaves, and parks only if the epoch is still the same under the lock; a thread that makes a leaf available does
//! so first, then raises the epoch under the lock and wakes all parked threads. So either the search saw the leaf, or
//! the park sees the new epoch: no wake-up is lost. Every wait has a time-out nevertheless, after which the thread
//! looks for work again.
//!
//! **The end.** A thread leaves when no leaf is left. While there is one, even in flight on another device, all stay:
//! that device may fail.
//!
//! **Failure.** A device is lost, out of memory, or hangs: it makes no progress for the time-out, which its own thread
//! detects and reports. Everything it held is free again, other devices can still steal from its deque, and it is
//! opened again; the second failure is final. If a call of the driver does not return, the caller's thread gives the
//! device up after twice the time, without opening it again, and at the end leaves the thread behind. Each opening is a
//! *life* with a number of its own; reports of a past life are void, so a device that comes back late cannot deliver a
//! pixel twice. Time-outs use a watchdog clock, which the caller's thread advances in small steps, so that a process
//! that was stopped and continued does not count as hung. A region that was in flight during a failure is a *suspect*:
//! it is taken only by a device that holds nothing else and finds nothing else, so that a region that makes every
//! device fail costs no other region. When the last device has failed, the leaves are the missing regions of the
//! [`Incomplete`] error; the others are valid.
//!
//! **Too large for one device.** A region that cannot be cut and is still too large for a device is set aside for the
//! others; if it is too large for all remaining devices, it is given up and the rest is rendered.
//!
//! **Cancelling.** No further region is begun, regions in flight are given up, and the remaining leaves are reported
//! as missing.
//!
//! **Pixels.** A device's thread asks the board whether a finished region counts, and only then sends its pixels to the
//! caller's thread, which alone calls the sink. The channel to it is bounded: devices wait for a slow sink, which does
//! not count as a hang.
//!
//! # How it is tested
//!
//! The protocol is in `board` (facts, no threads), `scheduler` and `device_scheduler` (moves, no waiting, no clock);
//! `render` adds threads and time. The `virtual_clock` runs the same files, deques included, with devices that only say
//! how long things take. The *simulator* gives it fake devices with random speeds, sizes, failures; a seed determines
//! everything (`ANTHILL_SIMULATE=COUNT` runs another number of seeds). `crate::forecast` gives it devices that follow a
//! measured cost model. The *model* compiles `scheduler` and `device_scheduler` on the locks of a model checker, which
//! tries all orders of steps of two devices. [`perturb`] randomizes the schedule of real renders.

mod board;
mod capacity;
mod cut;
mod device_scheduler;
#[cfg(test)]
mod model;
pub mod perturb;
mod policy;
mod region;
mod render;
mod report;
mod scheduler;
mod shares;
#[cfg(test)]
mod simulator;
mod speed;
mod summed_area;
mod sync;
pub(crate) mod virtual_clock;

pub use capacity::{Capacity, Fit, Resource, part_bytes};
pub use cut::Cut;
pub use policy::{
    ALIKE_SHARE_PARTS, BALANCE_SIDE_MIN_PX, BALANCE_WORK_MIN, Policy, SHARE_PERCENT, UNLIKE_SHARE_PARTS,
    balance_work_min,
};
pub use region::{Axis, Region, SQUARE_PX, square_from, square_of, square_start};
pub use render::{Opener, Poll, RegionRenderer, RenderJob, render};
pub use report::{
    Balance, CutReason, DeviceReport, Failure, Hook, Incomplete, MissingReason, Report, ScheduleEvent,
    ScheduleEventKind,
};
pub use summed_area::{Estimate, Rates, SquareCounts, SquareGrid, SquareGrids, SummedArea};

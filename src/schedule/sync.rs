//! What threads share, under the names that the protocol uses. The model checker runs the same protocol on its own kinds of these.

pub(super) use crossbeam::deque::{Injector, Steal, Stealer, Worker};
pub(super) use parking_lot::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Waits until `condvar` is notified or the time is over.
pub(super) fn wait_for<'a, T>(condvar: &Condvar, mut guard: MutexGuard<'a, T>, timeout: Duration) -> MutexGuard<'a, T> {
    condvar.wait_for(&mut guard, timeout);
    guard
}

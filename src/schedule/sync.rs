//! The synchronization types of the protocol, under the names that it uses. The model checker replaces them by its own.

pub(super) use crossbeam::deque::{Injector, Steal, Stealer, Worker as Deque};
pub(super) use parking_lot::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Waits until `condvar` is notified or the time is over.
pub(super) fn wait_for<'a, T>(condvar: &Condvar, mut guard: MutexGuard<'a, T>, timeout: Duration) -> MutexGuard<'a, T> {
    condvar.wait_for(&mut guard, timeout);
    guard
}

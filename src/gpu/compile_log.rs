//! What devices compile: how many kernels, how long each took, and which of them a device waits for.

use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A kernel that was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledKernel {
    /// The number of the device.
    pub device: u32,
    /// The kernel's label.
    pub kernel: String,
    /// The shading program that it was compiled from, if it is of one.
    pub program: Option<Arc<str>>,
    /// The thread that compiled it.
    pub thread: String,
    /// When compiling began.
    pub begin: Instant,
    /// The time that it took.
    pub took: Duration,
    /// Whether it was in anthill's cache of compiled kernels.
    pub from_cache: bool,
}

/// The kernels that devices opened with the same options compile.
#[derive(Debug, Default)]
pub struct CompileLog {
    state: Mutex<CompileLogState>,
}

#[derive(Debug, Default)]
struct CompileLogState {
    asked: u32,
    ended: u32,
    /// The kernels that devices wait for.
    awaited: Vec<AwaitedKernel>,
    waited: Duration,
    /// Devices in whose queues drivers compile.
    queues: Vec<u32>,
    compiled: Vec<CompiledKernel>,
}

/// A kernel that a device waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AwaitedKernel {
    device: u32,
    kernel: String,
    begin: Instant,
}

/// What a device waits for, and what is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiling {
    /// The kernel that was waited for first.
    pub kernel: String,
    /// How long it has been waited for.
    pub waited: Duration,
    /// The number of kernels that are compiled.
    pub ready: u32,
    /// The number of all kernels that are needed so far.
    pub all: u32,
}

/// A device's wait for a kernel, which ends when this is dropped.
pub(super) struct KernelWait<'a> {
    log: &'a CompileLog,
    awaited: AwaitedKernel,
}

/// The time in which a driver compiles in a device's queue, which ends when this is dropped.
pub(super) struct BusyQueue<'a> {
    log: &'a CompileLog,
    device: u32,
}

impl CompileLog {
    /// Notes that a kernel is to be compiled.
    pub(super) fn asked(&self) {
        self.state.lock().asked += 1;
    }

    /// Notes that a kernel was compiled, or with `None` that it could not be.
    pub(super) fn ended(&self, compiled: Option<CompiledKernel>) {
        let mut state = self.state.lock();
        state.ended += 1;
        state.compiled.extend(compiled);
    }

    /// Notes that a device begins to wait for a kernel.
    pub(super) fn wait(&self, device: u32, kernel: &str) -> KernelWait<'_> {
        let awaited = AwaitedKernel { device, kernel: kernel.to_owned(), begin: Instant::now() };
        self.state.lock().awaited.push(awaited.clone());
        KernelWait { log: self, awaited }
    }

    /// Notes that a driver begins to compile in a device's queue, where submissions wait meanwhile.
    pub(super) fn occupy_queue(&self, device: u32) -> BusyQueue<'_> {
        self.state.lock().queues.push(device);
        BusyQueue { log: self, device }
    }

    /// Whether a driver compiles in a device's queue.
    pub(super) fn is_queue_busy(&self, device: u32) -> bool {
        self.state.lock().queues.contains(&device)
    }

    /// Whether a device cannot go on because a kernel is being compiled. Each kernel has a time-out of its own.
    pub fn holds_up(&self, device: u32) -> bool {
        let state = self.state.lock();
        state.awaited.iter().any(|awaited| awaited.device == device) || state.queues.contains(&device)
    }

    /// Returns what is compiled, if a device waits for a kernel.
    pub fn awaited(&self) -> Option<Compiling> {
        let state = self.state.lock();
        let AwaitedKernel { kernel, begin, .. } = state.awaited.first()?.clone();
        Some(Compiling { kernel, waited: begin.elapsed(), ready: state.ended, all: state.asked })
    }

    /// Returns the kernels that were compiled since this was last called, and the time that devices waited for kernels.
    pub fn take(&self) -> (Vec<CompiledKernel>, Duration) {
        let mut state = self.state.lock();
        (std::mem::take(&mut state.compiled), std::mem::take(&mut state.waited))
    }
}

impl Drop for KernelWait<'_> {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        if let Some(place) = state.awaited.iter().position(|awaited| *awaited == self.awaited) {
            state.awaited.remove(place);
        }
        state.waited += self.awaited.begin.elapsed();
    }
}

impl Drop for BusyQueue<'_> {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        if let Some(place) = state.queues.iter().position(|device| *device == self.device) {
            state.queues.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_kernel_waited_for_is_named_until_its_wait_ends() {
        let log = CompileLog::default();
        (0..3).for_each(|_| log.asked());
        let awaited = || log.awaited().map(|Compiling { kernel, ready, all, .. }| (kernel, ready, all));
        assert_eq!(awaited(), None);
        let waits = [log.wait(0, "dice"), log.wait(1, "hide")];
        log.ended(None);
        assert_eq!(awaited(), Some(("dice".into(), 1, 3)));
        assert_eq!([0, 1, 2].map(|device| log.holds_up(device)), [true, true, false]);
        let [dice, hide] = waits;
        drop(dice);
        assert_eq!(awaited(), Some(("hide".into(), 1, 3)));
        assert_eq!([0, 1].map(|device| log.holds_up(device)), [false, true]);
        drop(hide);
        assert_eq!(awaited(), None);
        let compiled = CompiledKernel {
            device: 0,
            kernel: "dice".into(),
            program: None,
            thread: "compile 0".into(),
            begin: Instant::now(),
            took: Duration::from_millis(5),
            from_cache: false,
        };
        log.ended(Some(compiled.clone()));
        let (kernels, waited) = log.take();
        assert_eq!(kernels, [compiled]);
        assert!(waited > Duration::ZERO && log.take() == (Vec::new(), Duration::ZERO));
    }

    #[test]
    fn a_driver_that_compiles_in_the_queue_holds_its_device_up() {
        let log = CompileLog::default();
        let first = [log.occupy_queue(1), log.occupy_queue(1)];
        assert_eq!([0, 1].map(|device| log.holds_up(device)), [false, true]);
        assert!(log.awaited().is_none() && log.is_queue_busy(1));
        let [one, other] = first;
        drop(one);
        assert!(log.holds_up(1), "by the other");
        drop(other);
        assert!(!log.holds_up(1));
    }
}

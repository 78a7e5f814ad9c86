//! What devices compile: how many kernels, how long each took, and which of them a device waits for.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// A kernel that was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledKernel {
    /// The number of the device.
    pub device: u32,
    /// The kernel's label.
    pub kernel: String,
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
    /// Labels of the kernels that devices wait for.
    awaited: Vec<String>,
    waited: Duration,
    compiled: Vec<CompiledKernel>,
}

/// A device's wait for a kernel, which ends when this is dropped.
pub(super) struct KernelWait<'a> {
    log: &'a CompileLog,
    kernel: String,
    begin: Instant,
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
    pub(super) fn wait(&self, kernel: &str) -> KernelWait<'_> {
        self.state.lock().awaited.push(kernel.to_owned());
        KernelWait { log: self, kernel: kernel.to_owned(), begin: Instant::now() }
    }

    /// Returns the kernel that was waited for first, if a device waits, with the numbers of kernels that are compiled
    /// and of all that are needed so far.
    pub fn awaited(&self) -> Option<(String, u32, u32)> {
        let state = self.state.lock();
        Some((state.awaited.first()?.clone(), state.ended, state.asked))
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
        if let Some(place) = state.awaited.iter().position(|label| *label == self.kernel) {
            state.awaited.remove(place);
        }
        state.waited += self.begin.elapsed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_kernel_waited_for_is_named_until_its_wait_ends() {
        let log = CompileLog::default();
        (0..3).for_each(|_| log.asked());
        assert_eq!(log.awaited(), None);
        let waits = [log.wait("dice"), log.wait("hide")];
        log.ended(None);
        assert_eq!(log.awaited(), Some(("dice".into(), 1, 3)));
        let [dice, hide] = waits;
        drop(dice);
        assert_eq!(log.awaited(), Some(("hide".into(), 1, 3)));
        drop(hide);
        assert_eq!(log.awaited(), None);
        let compiled = CompiledKernel {
            device: 0,
            kernel: "dice".into(),
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
}

//! The threads of CPU drivers: how many there are, and devices that compute on one thread each, which model several
//! devices on one machine.

use super::error::GpuError;
use std::{env, fs, thread};

/// Mesa's variable; 0 lets each device compute in the thread that takes its submissions.
const VARIABLE: &str = "LP_NUM_THREADS";

/// The most threads that llvmpipe starts for a device.
const DRIVER_THREADS_MAX: u32 = 16;

/// Makes CPU drivers open devices that compute on one thread each, unless `LP_NUM_THREADS` is set. This applies to
/// every device that the process opens afterwards; a program that starts threads before it opens devices must call it
/// first.
///
/// # Errors
/// [`GpuError::ThreadsAlreadyRun`] if other threads are running.
pub fn single_threaded_cpu_devices() -> Result<(), GpuError> {
    if env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    if !is_single_threaded() {
        return Err(GpuError::ThreadsAlreadyRun);
    }
    // SAFETY: no other thread can read the environment meanwhile: /proc/self/task, read just above, listed one thread,
    // and only this thread could have started another since.
    unsafe { env::set_var(VARIABLE, "0") };
    Ok(())
}

/// Threads among which CPU drivers divide the workgroups of a dispatch, as far as is known: as many as the processor
/// runs, or as `LP_NUM_THREADS` says, at most [`DRIVER_THREADS_MAX`].
pub(super) fn cpu_driver_threads() -> u32 {
    let set = env::var(VARIABLE).ok().and_then(|threads| threads.parse().ok());
    let threads = set.unwrap_or_else(|| thread::available_parallelism().map_or(1, |threads| threads.get() as u32));
    threads.clamp(1, DRIVER_THREADS_MAX)
}

/// Whether the process is known to have one thread, which only Linux reports.
pub(super) fn is_single_threaded() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

//! CPU devices that compute on one thread each, which model several devices on one machine.

use super::error::GpuError;
use std::{env, fs};

/// Mesa's variable; 0 lets each device compute in the thread that takes its submissions.
const VARIABLE: &str = "LP_NUM_THREADS";

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

/// Whether the process is known to have one thread, which only Linux reports.
pub(super) fn is_single_threaded() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

//! CPU devices that compute on one thread each: how several devices are modelled on one machine.

use super::error::GpuError;
use std::{env, fs};

/// Mesa's variable; 0 lets each device compute in the thread that takes its submissions.
const VARIABLE: &str = "LP_NUM_THREADS";

/// Asks CPU drivers for devices that compute on one thread each, unless `LP_NUM_THREADS` is set. Holds for every device that this
/// process opens afterwards; a program that starts threads before it opens devices calls this first.
///
/// # Errors
/// [`GpuError::ThreadsAlreadyRun`] when it is too late.
pub fn single_threaded_cpu_devices() -> Result<(), GpuError> {
    if env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    if !is_single_threaded() {
        return Err(GpuError::ThreadsAlreadyRun);
    }
    // SAFETY: no other thread can read the environment meanwhile: /proc/self/task, read just above, listed one thread, and only
    // this thread could have started another since.
    unsafe { env::set_var(VARIABLE, "0") };
    Ok(())
}

/// Whether the process has one thread, as far as can be told: only Linux tells.
fn is_single_threaded() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

//! Restricts child processes to some cores. On Linux a child inherits the cores of the thread that starts it.

use std::io;

/// The number of cores that this process may use.
///
/// # Errors
/// On systems that cannot restrict a process to some cores.
#[cfg(target_os = "linux")]
pub fn available_cpus() -> io::Result<usize> {
    Ok(rustix::thread::sched_getaffinity(None)?.count() as usize)
}

/// Calls `start` while this thread is restricted to the first `count` of its cores, then lifts the restriction.
#[cfg(target_os = "linux")]
pub(super) fn restrict_to_cpus<T>(count: usize, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let all = sched_getaffinity(None)?;
    let mut few = CpuSet::new();
    (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)).take(count).for_each(|cpu| few.set(cpu));
    sched_setaffinity(None, &few)?;
    let started = start();
    sched_setaffinity(None, &all)?;
    started
}

/// The number of cores that this process may use.
///
/// # Errors
/// On systems that cannot restrict a process to some cores.
#[cfg(not(target_os = "linux"))]
pub fn available_cpus() -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// This system cannot restrict a process to some cores; [`available_cpus`] has reported that.
#[cfg(not(target_os = "linux"))]
pub(super) fn restrict_to_cpus<T>(_: usize, _: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn children_use_as_many_cores_as_they_are_given() {
        let before = available_cpus().expect("this system can restrict processes");
        let count = |cores| {
            let child = || std::process::Command::new("nproc").output();
            let out = restrict_to_cpus(cores, child).expect("nproc is part of every Linux").stdout;
            String::from_utf8_lossy(&out).trim().parse::<usize>()
        };
        assert_eq!(count(1), Ok(1));
        assert_eq!(count(before), Ok(before));
        assert_eq!(available_cpus().ok(), Some(before));
    }
}

//! Restricts this process or its children to some cores. On Linux, threads and children inherit the cores of the thread
//! that starts them.

use std::io;

/// Returns the number of cores that this process may use.
///
/// # Errors
/// On systems that cannot restrict a process to some cores.
#[cfg(target_os = "linux")]
pub fn available_cpus() -> io::Result<usize> {
    Ok(rustix::thread::sched_getaffinity(None)?.count() as usize)
}

/// Restricts this thread, and all that it starts from now on, to `count` of its cores. The core that it runs on comes
/// first, so that several processes that do this at the same time use different cores.
///
/// # Errors
/// On systems that cannot restrict a process to some cores.
#[cfg(target_os = "linux")]
pub fn keep_to_cpus(count: usize) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    let all = sched_getaffinity(None)?;
    let here = sched_getcpu();
    let mut few = CpuSet::new();
    let from_here = (here..CpuSet::MAX_CPU).chain(0..here);
    from_here.filter(|&cpu| all.is_set(cpu)).take(count).for_each(|cpu| few.set(cpu));
    Ok(sched_setaffinity(None, &few)?)
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

/// Returns the number of cores that this process may use.
///
/// # Errors
/// On systems that cannot restrict a process to some cores.
#[cfg(not(target_os = "linux"))]
pub fn available_cpus() -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Restricts this process to some of its cores.
///
/// # Errors
/// On systems that cannot do that.
#[cfg(not(target_os = "linux"))]
pub fn keep_to_cpus(_: usize) -> io::Result<()> {
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
    #[test]
    fn a_thread_and_what_it_starts_keep_to_some_cores() {
        let counts = || [available_cpus(), std::thread::spawn(available_cpus).join().expect("a thread")];
        let before = available_cpus().expect("this system can restrict processes");
        let kept = std::thread::spawn(move || keep_to_cpus(1).map(|()| counts())).join().expect("a thread");
        assert_eq!(kept.expect("this system can").map(Result::ok), [Some(1), Some(1)]);
        assert_eq!(available_cpus().ok(), Some(before), "other threads are not restricted");
    }
}

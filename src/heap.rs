//! Settings of the system's heap (glibc's malloc), from which CPU devices take their memory like the rest of the
//! process.

#![allow(unsafe_code, reason = "glibc's malloc can only be configured by foreign functions")]

/// Blocks of at least this size are returned to the system as soon as they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BLOCK_BYTES: std::ffi::c_int = 1 << 20;
/// Free memory at the top of a thread's arena that is kept for its next allocations.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: std::ffi::c_int = 8 << 20;

/// Makes the heap return large blocks to the system when they are freed: those of CPU devices, scene texts and
/// geometry.
///
/// By default glibc raises its threshold when the first large block is freed, and the process stays a tenth to a third
/// larger than what it uses. A fixed threshold turns that off, but the default one of 128 KiB would also return memory
/// after every dispatch of a CPU device, and faulting its pages in again stops the threads of all other devices
/// meanwhile. So the threshold is larger, and a few MiB are kept for each thread.
///
/// Call this when the program starts: it applies to the whole process. On systems without glibc it does nothing.
pub fn return_large_blocks_when_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt locks the main arena itself, so threads that allocate meanwhile are no hazard; both parameters
    // are integers that it copies, and it rejects a bad value without any effect.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}

/// Also returns free memory between smaller blocks to the system, after many of them have been freed at once.
pub(crate) fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim is thread-safe (it locks each arena) and releases only pages that hold no live allocation, so
    // no pointer of this program is affected.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Returns the page faults of this thread so far.
    fn faults() -> i64 {
        // SAFETY: a rusage consists of integers, for which all zeros are valid, and getrusage writes to the local
        // variable that it is given.
        unsafe {
            let mut usage = std::mem::zeroed::<libc::rusage>();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage.ru_minflt
        }
    }

    /// Measures in a process of its own (which `--exact` shows): beside other tests a thread may get an arena with free
    /// memory that another thread left there, and a large block then comes from it.
    #[test]
    fn blocks_of_dispatches_keep_their_pages_and_large_ones_return_them() {
        if std::env::args().any(|argument| argument == "--exact") {
            return measure_blocks();
        }
        let name = "heap::tests::blocks_of_dispatches_keep_their_pages_and_large_ones_return_them";
        let measured = std::process::Command::new(std::env::current_exe().expect("the test program has a path"))
            .args(["--exact", name])
            .output()
            .expect("the test program starts again");
        let printed = String::from_utf8_lossy(&measured.stdout);
        assert!(measured.status.success() && printed.contains("1 passed"), "{printed}");
    }

    fn measure_blocks() {
        return_large_blocks_when_freed();
        let pages_of = |bytes: usize| {
            let rounds = move || {
                let block = || std::hint::black_box(vec![1_u8; bytes]);
                block();
                let before = faults();
                (0..64).for_each(|_| drop(block()));
                faults() - before
            };
            std::thread::spawn(rounds).join().expect("the thread allocates its blocks")
        };
        let small = pages_of(LARGE_BLOCK_BYTES as usize / 2);
        assert!(small < 128, "{small} page faults in 64 rounds");
        let large = pages_of(2 * LARGE_BLOCK_BYTES as usize);
        assert!(large >= 64, "{large} page faults in 64 rounds");
    }
}

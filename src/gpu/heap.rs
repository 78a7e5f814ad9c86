//! The system's heap, which memory of CPU devices comes from, like all of the host's.

/// Blocks at least as large go back to the system as soon as they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BLOCK_BYTES: std::ffi::c_int = 1 << 20;
/// What is free at the end of a thread's smaller blocks stays, up to this.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BYTES: std::ffi::c_int = 8 << 20;

/// Makes the heap give back large blocks that are freed: those of a CPU device, a scene's texts and geometry. Left alone, glibc learns
/// from the first large block that is freed to keep larger ones, and the process stays by a tenth to a third larger than what it uses.
/// Told so, it would give back whatever comes to 128 KiB, too: with every dispatch of a CPU device, whose pages then come anew and stop the
/// threads of all other devices meanwhile. A few MiB a thread are kept.
///
/// For a program's beginning; it holds for the whole process. Other systems' heaps need no telling.
pub fn return_freed_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt may be called at any time, takes plain numbers, and fails without any effect.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}

/// Gives back what is free between smaller blocks, too: for when many of them have been freed at once.
pub(crate) fn trim_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim may be called at any time; it touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Pages that came to this thread anew.
    fn faults() -> i64 {
        // SAFETY: a rusage is plain numbers, and is written whole where it is said to be.
        unsafe {
            let mut usage = std::mem::zeroed::<libc::rusage>();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage.ru_minflt
        }
    }

    #[test]
    fn a_block_of_every_dispatch_keeps_its_pages_and_a_large_one_gives_them_back() {
        return_freed_blocks();
        let pages_of = |bytes: usize| {
            let rounds = move || {
                let block = || std::hint::black_box(vec![1_u8; bytes]);
                block();
                let before = faults();
                (0..64).for_each(|_| drop(block()));
                faults() - before
            };
            std::thread::spawn(rounds).join().expect("blocks are to be had")
        };
        let small = pages_of(LARGE_BLOCK_BYTES as usize / 2);
        assert!(small < 128, "{small} pages came in 64 rounds");
        let large = pages_of(2 * LARGE_BLOCK_BYTES as usize);
        assert!(large >= 64, "{large} pages came in 64 rounds");
    }
}

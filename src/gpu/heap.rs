//! The system's heap, which memory of CPU devices comes from, like all of the host's.

/// Blocks at least as large go back to the system as soon as they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BLOCK_BYTES: std::ffi::c_int = 1 << 20;

/// Makes the heap give back large blocks that are freed: those of a CPU device, a scene's texts and geometry. Left alone, glibc learns
/// from the first large block that is freed to keep larger ones, and the process stays by a tenth to a third larger than what it uses.
///
/// For a program's beginning; it holds for the whole process. Other systems' heaps need no telling.
pub fn return_freed_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt may be called at any time, takes plain numbers, and fails without any effect.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
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

//! Settings of the system's heap (glibc's malloc), from which CPU devices take their memory like the rest of the
//! process, and an allocator that asks for huge pages.

#![allow(unsafe_code, reason = "glibc's malloc can only be configured by foreign functions")]

use std::alloc::{GlobalAlloc, Layout, System};

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

/// The system's heap, which asks for huge pages for blocks of at least 4 MiB: texts, geometry, pages, films.
///
/// To fault in and clear the pages of such blocks one by one was a third of the time in which a scene was read. Where
/// huge pages are off (`/sys/kernel/mm/transparent_hugepage/enabled`) it does nothing else than the system's.
#[derive(Debug)]
pub struct HugePageHeap;

/// The size from which blocks get huge pages: two of them, so that one is whole wherever the block begins.
const HUGE_BLOCK_BYTES: usize = 4 << 20;

impl HugePageHeap {
    /// Asks for huge pages for a block that was just made or has grown.
    fn advise(block: *mut u8, bytes: usize) {
        #[cfg(target_os = "linux")]
        if bytes >= HUGE_BLOCK_BYTES && !block.is_null() {
            // The least page of Linux; where pages are larger, the call fails for blocks that begin inside of one.
            const PAGE_BYTES: usize = 4 << 10;
            let before = block.addr() % PAGE_BYTES;
            // SAFETY: this advice changes only how the kernel backs addresses, never what is in them, so it may cover
            // what is in front of the block in its first page. The kernel refuses addresses that it cannot advise.
            unsafe {
                libc::madvise(block.wrapping_sub(before).cast(), bytes + before, libc::MADV_HUGEPAGE);
            }
        }
    }
}

// SAFETY: all blocks are those of `System`, made, changed and freed by it with the arguments given; `advise` changes
// nothing that a program can observe but its speed.
unsafe impl GlobalAlloc for HugePageHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `GlobalAlloc`, which are those of `System`.
        let block = unsafe { System.alloc(layout) };
        Self::advise(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let block = unsafe { System.alloc_zeroed(layout) };
        Self::advise(block, layout.size());
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let block = unsafe { System.realloc(block, layout, new_size) };
        if new_size > layout.size() {
            Self::advise(block, new_size);
        }
        block
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

    /// Whether huge pages are on, and how often the system had none.
    fn huge_pages() -> (bool, Option<String>) {
        let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
        let counters = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
        let missing = counters.lines().find(|line| line.starts_with("thp_fault_fallback ")).map(str::to_owned);
        (setting.contains("[always]") || setting.contains("[madvise]"), missing)
    }

    #[test]
    fn large_blocks_have_fewer_page_faults_where_huge_pages_are_on() {
        const BYTES: usize = 16 * HUGE_BLOCK_BYTES;
        let layout = Layout::from_size_align(BYTES, 16).expect("a layout");
        let (huge_before, before) = (huge_pages(), faults());
        // SAFETY: the block is as large as its layout says, all of it is written before it is read, and it is freed
        // once, with the layout of its last size.
        unsafe {
            let block = HugePageHeap.alloc_zeroed(layout);
            assert!(!block.is_null() && *block.add(BYTES - 1) == 0);
            block.write_bytes(7, BYTES);
            let block = HugePageHeap.realloc(block, layout, 2 * BYTES);
            assert!(!block.is_null() && *block.add(BYTES - 1) == 7);
            block.add(BYTES).write_bytes(8, BYTES);
            HugePageHeap.dealloc(block, Layout::from_size_align(2 * BYTES, 16).expect("a layout"));
        }
        let faults = faults() - before;
        let is_asked = huge_before.0 && huge_before == huge_pages();
        // A fault for every 16 KiB would be a quarter of those of small pages.
        assert!(!is_asked || faults < (2 * BYTES as i64) >> 14, "{faults} page faults");
    }
}

//! The threads that compile kernels while the host does something else.

use super::cache::{Cache, CacheKey};
use crossbeam::channel::{Sender, unbounded};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

/// Something to compile. Runs once, also when the device that wants it is closing (it then ends at once).
type Job = Box<dyn FnOnce() + Send>;

/// Shared by all devices that are opened together: one thread a core, and the cache. Threads end when the last device is gone.
///
/// A kernel that an equal device is compiling already waits until that is done and then finds it in the cache (or in the driver's own,
/// which is where CPU drivers keep theirs): equal devices compile once.
pub(super) struct Compilers {
    pub(super) cache: Cache,
    jobs: Sender<Job>,
    /// Jobs that wait for another device to have compiled the same kernel; a key without jobs is being compiled.
    waiting: Mutex<FxHashMap<CacheKey, Vec<Job>>>,
}

impl Compilers {
    /// Starts the threads.
    pub(super) fn new(cache_folder: Option<PathBuf>) -> io::Result<Arc<Self>> {
        let (jobs, queue) = unbounded::<Job>();
        let count = thread::available_parallelism().map_or(1, usize::from);
        for number in 0..count {
            let queue = queue.clone();
            let builder = thread::Builder::new().name(format!("compile {number}"));
            builder.spawn(move || queue.iter().for_each(|job| job()))?;
        }
        Ok(Arc::new(Self { cache: Cache::new(cache_folder), jobs, waiting: Mutex::default() }))
    }

    /// Runs a job when a thread is free and no other job of its key runs first.
    pub(super) fn run(self: &Arc<Self>, key: CacheKey, job: impl FnOnce() + Send + 'static) {
        let mut waiting = self.waiting.lock();
        if let Some(later) = waiting.get_mut(&key) {
            later.push(Box::new(job));
            return;
        }
        waiting.insert(key.clone(), Vec::new());
        let compilers = Arc::clone(self);
        self.send(Box::new(move || {
            job();
            // All at once: whoever waited finds the kernel in a cache now.
            let later = compilers.waiting.lock().remove(&key).unwrap_or_default();
            later.into_iter().for_each(|job| compilers.send(job));
        }));
    }

    fn send(&self, job: Job) {
        // Threads end only when every sender is gone, and one is here.
        self.jobs.send(job).expect("the compiling threads live as long as their sender");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::time::Duration;

    #[test]
    fn jobs_of_one_key_wait_for_the_first() {
        let compilers = Compilers::new(None).expect("threads can be started");
        let key = |n| CacheKey::new(&"device".into(), n, &[]);
        let (done, results) = unbounded();
        let first_done = Arc::new(AtomicBool::new(false));
        let count = Arc::new(AtomicU32::new(0));
        for number in 0..5 {
            let (done, first_done, count) = (done.clone(), Arc::clone(&first_done), Arc::clone(&count));
            compilers.run(key(1), move || {
                if count.fetch_add(1, Ordering::SeqCst) == 0 {
                    thread::sleep(Duration::from_millis(30));
                    first_done.store(true, Ordering::SeqCst);
                }
                done.send((number, first_done.load(Ordering::SeqCst))).expect("the test listens");
            });
        }
        for _ in 0..5 {
            let (number, after_first) = results.recv_timeout(Duration::from_secs(10)).expect("every job runs");
            assert!(after_first, "job {number} ran beside the first");
        }
    }
}

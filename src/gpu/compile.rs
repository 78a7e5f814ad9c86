//! The threads that compile kernels while the host does something else.

use super::cache::{Cache, CacheKey};
use super::instance::Instance;
use crossbeam::channel::{Sender, unbounded};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// A kernel to compile. Runs once, even if its device is closing (it then ends at once).
type CompileJob = Box<dyn FnOnce() + Send>;

/// The compile threads of devices that are opened together, one per core. They end when the last device is destroyed,
/// and only then are the devices' instances destroyed: drivers keep data for each thread that has called them, and
/// clean up when it ends, by code that must still be loaded.
pub(super) struct CompileThreads {
    compilers: Arc<Compilers>,
    threads: Vec<JoinHandle<()>>,
    /// Instances of devices that were destroyed.
    retired: Mutex<Vec<Instance>>,
}

impl CompileThreads {
    /// Starts the threads.
    pub(super) fn new(cache_folder: Option<PathBuf>) -> io::Result<Self> {
        let (jobs, queue) = unbounded::<Option<CompileJob>>();
        let count = thread::available_parallelism().map_or(1, usize::from);
        let start = |number| {
            let queue = queue.clone();
            let builder = thread::Builder::new().name(format!("compile {number}"));
            builder.spawn(move || queue.iter().map_while(|job| job).for_each(|job| job()))
        };
        let threads = (0..count).map(start).collect::<io::Result<_>>()?;
        let compilers = Arc::new(Compilers { cache: Cache::new(cache_folder), jobs, waiting: Mutex::default() });
        Ok(Self { compilers, threads, retired: Mutex::default() })
    }

    /// The queue and the cache that the devices share.
    pub(super) fn compilers(&self) -> &Arc<Compilers> {
        &self.compilers
    }

    /// Takes over the instance of a device that was destroyed.
    pub(super) fn retire(&self, instance: Instance) {
        self.retired.lock().push(instance);
    }
}

impl Drop for CompileThreads {
    fn drop(&mut self) {
        for _ in &self.threads {
            self.compilers.send(None);
        }
        for thread in self.threads.drain(..) {
            // A panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

/// What all devices that are opened together share: the queue of compile jobs, and the cache.
///
/// If an equal device is already compiling a kernel, the job waits and then finds the kernel in the cache (or in the
/// driver's own cache, which CPU drivers use), so equal devices compile once.
pub(super) struct Compilers {
    pub(super) cache: Cache,
    /// `None` ends the thread that takes it.
    jobs: Sender<Option<CompileJob>>,
    /// Jobs that wait until another device has compiled the same kernel; a key without jobs is being compiled.
    waiting: Mutex<FxHashMap<CacheKey, Vec<CompileJob>>>,
}

impl Compilers {
    /// Runs a job when a thread is free and no earlier job with the same key is running.
    pub(super) fn run(self: &Arc<Self>, key: CacheKey, job: impl FnOnce() + Send + 'static) {
        let mut waiting = self.waiting.lock();
        if let Some(later) = waiting.get_mut(&key) {
            later.push(Box::new(job));
            return;
        }
        waiting.insert(key.clone(), Vec::new());
        let compilers = Arc::clone(self);
        self.send(Some(Box::new(move || {
            job();
            // All at once: the waiting jobs now find the kernel in a cache.
            let later = compilers.waiting.lock().remove(&key).unwrap_or_default();
            later.into_iter().for_each(|job| compilers.send(Some(job)));
        })));
    }

    fn send(&self, job: Option<CompileJob>) {
        // If the threads have ended, no device waits for the job.
        let _ = self.jobs.send(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::time::Duration;

    #[test]
    fn jobs_of_one_key_wait_for_the_first() {
        let threads = CompileThreads::new(None).expect("threads can be started");
        let compilers = threads.compilers();
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

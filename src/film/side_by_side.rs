//! Files that are encoded side by side.

use std::thread;

/// Files that are written side by side, at most: each may need the memory of a whole picture.
pub(super) const FILES_AT_ONCE: usize = 4;

/// Encodes each on a thread of its own.
pub(super) fn encode_all<T: Send>(numbers: &[usize], encode: &(impl Fn(&usize) -> T + Sync)) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = numbers.iter().map(|number| scope.spawn(|| encode(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("encoding does not panic")).collect()
    })
}

//! Work on all cores of the host.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread;

/// Returns the number of cores that this process may use. The system is asked once, because it answers from files.
pub(crate) fn cores() -> usize {
    static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));
    *CORES
}

/// Does something with each item, on all cores; the results are in the order of the items.
pub(crate) fn in_parallel<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = cores().min(items.len());
    if threads <= 1 {
        return items.into_iter().map(work).collect();
    }
    let share = items.len().div_ceil(threads);
    let (mut items, work) = (items.into_iter(), &work);
    thread::scope(|scope| {
        let shares: Vec<Vec<T>> = (0..threads).map(|_| items.by_ref().take(share).collect()).collect();
        let running: Vec<_> = shares
            .into_iter()
            .map(|share| scope.spawn(move || share.into_iter().map(work).collect::<Vec<R>>()))
            .collect();
        running.into_iter().flat_map(|thread| thread.join().expect("the work does not panic")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::in_parallel;

    #[test]
    fn results_keep_the_order_of_items() {
        assert_eq!(
            in_parallel((0..100).collect(), |item: i32| item * 2),
            (0..100).map(|item| item * 2).collect::<Vec<_>>()
        );
        assert!(in_parallel(Vec::new(), |item: i32| item).is_empty());
    }
}

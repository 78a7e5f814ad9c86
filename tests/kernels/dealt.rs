//! How workgroups are dealt out to the threads of a CPU driver.

use super::lab::Lab;
use anthill::pipeline::kernels::test::dealt;

/// What workgroups do of a dispatch of `count` on a driver of `threads` threads.
fn parts(lab: &mut Lab, count: u32, threads: u32) -> Vec<u32> {
    let parts = lab.upload("parts", &vec![u32::MAX; count as usize]);
    let push = dealt::Push { count, threads };
    lab.run(|recording| recording.dispatch(dealt::dispatch(count.div_ceil(64), &dealt::Bindings { parts }, &push)));
    lab.read(parts)
}

#[test]
fn each_thread_takes_every_part_in_turn() {
    let mut lab = Lab::new();
    for (count, threads) in [(1, 2), (7, 2), (8, 2), (500, 2), (500, 3), (501, 16), (15, 16), (64, 1)] {
        let run = count / threads;
        let thread = |at: u32| (0..run).map(move |turn| turn * threads + at);
        let expected: Vec<u32> = (0..threads).flat_map(thread).chain(run * threads..count).collect();
        assert_eq!(parts(&mut lab, count, threads), expected, "{count} workgroups, {threads} threads");
    }
}

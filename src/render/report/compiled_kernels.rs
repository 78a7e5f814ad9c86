//! Which kernels were compiled, and how long that took: for the statistics and the trace.

use crate::gpu::CompileLog;
use crate::stats::{KernelStats, Stats};
use crate::trace::{Trace, Track};
use std::collections::BTreeMap;

/// Adds the kernels that were compiled since this was last called: to the statistics, the slowest first, and to the
/// trace, in a row for each thread.
pub(crate) fn add(stats: &mut Stats, trace: &Trace, log: &CompileLog) {
    let (kernels, waited) = log.take();
    stats.kernels_wait += waited;
    let mut tracks: BTreeMap<&str, Track> = BTreeMap::new();
    for kernel in &kernels {
        let track =
            tracks.entry(&kernel.thread).or_insert_with(|| trace.track(&format!("{} (kernels)", kernel.thread)));
        let numbers = [("device", f64::from(kernel.device)), ("from cache", f64::from(u8::from(kernel.from_cache)))];
        track.slice(&kernel.kernel, kernel.begin, kernel.begin + kernel.took, &numbers);
    }
    stats.kernels.extend(kernels.iter().map(|kernel| KernelStats {
        device: kernel.device,
        kernel: kernel.kernel.clone(),
        pipeline: kernel.program.as_deref().map(str::to_owned),
        compile_s: kernel.took.as_secs_f64(),
        from_cache: kernel.from_cache,
    }));
    stats.kernels.sort_by(|a, b| b.compile_s.total_cmp(&a.compile_s));
}

//! What to try. Each rule says when it applies, and what was measured; where none applies, nothing is said.

use crate::stats::Stats;

/// Textures: submissions that lacked tiles took more than this part of all drawing.
const TEXTURE_LOSS_PART: f64 = 0.05;
/// Textures: more than this part of the tiles read had been read before, so there was no room to keep them.
const READ_AGAIN_PART: f64 = 0.1;
/// Kernels: devices waited for them for more than this part of all drawing.
const KERNEL_WAIT_PART: f64 = 0.25;

/// Returns the advice of all rules that apply.
pub(super) fn advice(stats: &Stats) -> Vec<String> {
    texture_memory(stats).into_iter().chain(compile_times(stats)).collect()
}

/// Tiles were evicted and read again, and that cost time: textures need more memory.
fn texture_memory(stats: &Stats) -> Option<String> {
    let (texture, loss) = (&stats.texture, &stats.texture_loss);
    let lost_s = (loss.discarded + loss.naming + loss.loading).as_secs_f64();
    let render_s = stats.render.as_secs_f64();
    let again = texture.redundant_reads as f64 / texture.tiles_read.max(1) as f64;
    (lost_s > TEXTURE_LOSS_PART * render_s && again > READ_AGAIN_PART).then(|| {
        format!(
            "{} of {} tiles of textures had been read before and were evicted, and submissions that lacked tiles took \
             {lost_s:.2} s of {render_s:.2} s of drawing: give textures more memory with --texture-memory",
            texture.redundant_reads, texture.tiles_read
        )
    })
}

/// A pipeline took longer to compile than to run, and devices waited for kernels.
fn compile_times(stats: &Stats) -> Option<String> {
    let waited_s = stats.kernels_wait.as_secs_f64();
    let waits = waited_s > KERNEL_WAIT_PART * stats.render.as_secs_f64();
    let slowest = stats.pipeline_times().into_iter().filter(|time| time.from_cache < time.kernels);
    let slowest = slowest.max_by(|a, b| a.compile_s.total_cmp(&b.compile_s))?;
    (waits && slowest.compile_s > slowest.device_s).then(|| {
        format!(
            "pipeline \"{}\" was compiled for {:.2} s and ran for {:.2} s, and devices waited {waited_s:.2} s for kernels: \
             draw once more, and they come from the cache",
            slowest.pipeline, slowest.compile_s, slowest.device_s
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{CommandStats, CommandTimeStats, DeviceStats, KernelStats, TextureLossStats, TextureStats};
    use std::time::Duration;

    fn drawn(render_ms: u64) -> Stats {
        Stats { render: Duration::from_millis(render_ms), ..Stats::default() }
    }

    #[test]
    fn textures_need_memory_where_evicted_tiles_cost_time() {
        let with = |loading_ms, redundant_reads| Stats {
            texture: TextureStats { tiles_read: 100, redundant_reads, ..TextureStats::default() },
            texture_loss: TextureLossStats {
                loading: Duration::from_millis(loading_ms),
                ..TextureLossStats::default()
            },
            ..drawn(1000)
        };
        let advised = |stats: Stats| advice(&stats).iter().any(|line| line.contains("--texture-memory"));
        assert!(advised(with(60, 11)));
        assert!(!advised(with(40, 11)), "it cost little");
        assert!(!advised(with(60, 9)), "each tile was read once: more memory would not help");
    }

    #[test]
    fn kernels_are_worth_a_word_where_devices_waited_for_them() {
        let with = |compile_s, from_cache, waited_ms| {
            let command = CommandStats {
                pipeline: Some("shade glaze".into()),
                kernel: "shade glaze".into(),
                device_s: 0.5,
                ..CommandStats::default()
            };
            let times = CommandTimeStats { commands: vec![command], ..CommandTimeStats::default() };
            let kernel =
                KernelStats { pipeline: Some("shade glaze".into()), compile_s, from_cache, ..KernelStats::default() };
            let devices = vec![DeviceStats { command_times: Some(times), ..DeviceStats::default() }];
            Stats { devices, kernels: vec![kernel], kernels_wait: Duration::from_millis(waited_ms), ..drawn(1000) }
        };
        let line = advice(&with(2.0, false, 300));
        assert!(
            line.len() == 1 && line[0].contains("\"shade glaze\" was compiled for 2.00 s and ran for 0.50 s"),
            "{line:?}"
        );
        for (compile_s, from_cache, waited_ms) in [(0.4, false, 300), (2.0, true, 300), (2.0, false, 200)] {
            assert_eq!(advice(&with(compile_s, from_cache, waited_ms)), Vec::<String>::new());
        }
    }
}

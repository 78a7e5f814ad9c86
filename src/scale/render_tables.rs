//! Tables of a render's page that are only there: shading pipelines, kernels, textures.

use super::heat_map::short;
use super::render_page::ROWS_MAX;
use super::tables::{StudyTable, percent, seconds};
use crate::stats::{KernelStats, PipelineTime, Stats, TextureFileStats, human_bytes};

/// Returns the time of shading pipelines, where kernels were timed.
pub(super) fn pipelines(stats: &Stats) -> StudyTable {
    let header = ["pipeline", "device", "time, s", "share", "ns a vertex", "vertices", "calls", "compiled in, s"];
    let all = stats.pipeline_times();
    let sum: f64 = all.iter().map(|time| time.device_s).sum();
    let row = |time: &PipelineTime| {
        let each = if time.vertices > 0 { short(time.device_s * 1e9 / time.vertices as f64) } else { String::new() };
        vec![
            time.pipeline.clone(),
            format!("#{}", time.device + 1),
            seconds(time.device_s),
            percent(time.device_s / sum.max(1e-9)),
            each,
            short(time.vertices as f64),
            time.calls.to_string(),
            seconds(time.compile_s),
        ]
    };
    let rows_of: Vec<Vec<String>> = all.iter().take(ROWS_MAX).map(row).collect();
    let note = format!(
        "{} of {} pipelines, each a surface with its displacement, atmosphere and lights, those that took longest by their \
         devices' clocks. Counting by line is in the times, unless anthill profile was run with --no-lines.",
        rows_of.len(),
        all.len()
    );
    StudyTable { title: "Shading pipelines", note, header: header.map(String::from).into(), rows: rows_of }
}

/// Returns the kernels that took longest to compile.
pub(super) fn shaders(stats: &Stats) -> StudyTable {
    let header = ["kernel", "device", "compiled in, s", "from cache"];
    let row = |kernel: &KernelStats| {
        let cached = if kernel.from_cache { "yes" } else { "no" };
        vec![kernel.kernel.clone(), format!("#{}", kernel.device + 1), seconds(kernel.compile_s), cached.to_string()]
    };
    let rows_of: Vec<Vec<String>> = stats.kernels.iter().take(ROWS_MAX).map(row).collect();
    let note = format!(
        "{} of {} kernels, those that took longest to compile; devices waited {} s for kernels.{}",
        rows_of.len(),
        stats.kernels.len(),
        seconds(stats.kernels_wait.as_secs_f64()),
        if stats.is_timed() { "" } else { " How long they ran is measured by anthill profile SCENE --report FILE." }
    );
    StudyTable { title: "Shaders and kernels", note, header: header.map(String::from).into(), rows: rows_of }
}

/// Returns what was read of textures.
pub(super) fn textures(stats: &Stats) -> StudyTable {
    let header = ["texture", "lookups", "tiles used", "missed", "tiles read", "read"];
    let mut order: Vec<&TextureFileStats> = stats.textures.iter().collect();
    order.sort_by_key(|texture| std::cmp::Reverse(texture.reads.misses));
    let row = |texture: &&TextureFileStats| {
        let reads = &texture.reads;
        let lookups = reads.lookups.map_or_else(|| "not counted".into(), |lookups| short(lookups as f64));
        let mut row = vec![texture.file.clone(), lookups];
        row.extend([reads.requests, reads.misses, reads.tiles_read].map(|count| short(count as f64)));
        row.push(human_bytes(reads.bytes_read));
        row
    };
    let rows_of: Vec<Vec<String>> = order.iter().take(ROWS_MAX).map(row).collect();
    let loss = &stats.texture_loss;
    let note = format!(
        "{} of {} textures, those with most misses. {} submissions lacked tiles, which lost {} s; loading took {} s.",
        rows_of.len(),
        stats.textures.len(),
        loss.submissions,
        seconds((loss.discarded + loss.naming).as_secs_f64()),
        seconds(loss.loading.as_secs_f64())
    );
    StudyTable { title: "Textures", note, header: header.map(String::from).into(), rows: rows_of }
}

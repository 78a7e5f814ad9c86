//! The time of shading pipelines and of kernels.

use super::phases::device_s;
use super::section::{Section, TableValue};
use crate::stats::{CommandStats, PipelineTime, Stats};

/// Shading pipelines.
pub(super) fn pipelines(stats: &Stats) -> Section {
    let columns = [
        ("device", "device"),
        ("pipeline", "pipeline"),
        ("device_s", "time"),
        ("share", "of the device"),
        ("calls", "calls"),
        ("vertices", "vertices"),
        ("device_s_each", "a vertex"),
        ("compile_s", "compiling"),
        ("kernels", "kernels"),
        ("from_cache", "of them cached"),
    ];
    let note = "A pipeline is a surface with its displacement, atmosphere and all its lights in one program. Vertices \
                include those that fill grids up to a power of two, and those of submissions that were repeated. Kernels \
                are compiled in all forms that may be needed, several at once.";
    let mut section = Section::new("pipelines", "Shading pipelines", note, &columns);
    section.rows = stats.pipeline_times().into_iter().map(|time| pipeline_row(stats, time)).collect();
    section.without_constant("device")
}

fn pipeline_row(stats: &Stats, time: PipelineTime) -> Vec<TableValue> {
    let whole = device_s(&stats.devices[time.device]).max(f64::MIN_POSITIVE);
    vec![
        TableValue::Count(time.device as u64),
        TableValue::Text(time.pipeline),
        TableValue::Seconds(time.device_s),
        TableValue::Share(time.device_s / whole),
        TableValue::Count(time.calls),
        TableValue::Count(time.vertices),
        each(time.device_s, time.vertices),
        TableValue::Seconds(time.compile_s),
        TableValue::Count(time.kernels),
        TableValue::Count(time.from_cache),
    ]
}

/// Returns the seconds for each of some things.
fn each(seconds: f64, count: u64) -> TableValue {
    if count == 0 { TableValue::Nothing } else { TableValue::SecondsEach(seconds / count as f64) }
}

/// Kernels of text, at most.
const KERNELS_SHOWN: usize = 24;

/// Kernels and other commands, those of shading pipelines too.
pub(super) fn kernels(stats: &Stats) -> Section {
    let columns = [
        ("device", "device"),
        ("stage", "stage"),
        ("kernel", "kernel"),
        ("device_s", "time"),
        ("share", "of the device"),
        ("calls", "calls"),
        ("items", "over"),
        ("unit", ""),
        ("device_s_each", "each"),
    ];
    let note = "Grids are counted before hidden ones are culled. Kernels without a number go through what only the device \
                knows.";
    let mut section = Section::new("kernels", "Kernels", note, &columns);
    let mut rows: Vec<(usize, &CommandStats)> = Vec::new();
    for (device, known) in stats.devices.iter().enumerate() {
        rows.extend(known.command_times.iter().flat_map(|times| &times.commands).map(|command| (device, command)));
    }
    rows.sort_by(|a, b| b.1.device_s.total_cmp(&a.1.device_s));
    section.rows = rows.into_iter().map(|(device, command)| kernel_row(stats, device, command)).collect();
    section.shown = KERNELS_SHOWN;
    section.without_constant("device")
}

fn kernel_row(stats: &Stats, device: usize, command: &CommandStats) -> Vec<TableValue> {
    let whole = device_s(&stats.devices[device]).max(f64::MIN_POSITIVE);
    let known = !command.unit.is_empty();
    vec![
        TableValue::Count(device as u64),
        TableValue::Text(command.stage.into()),
        TableValue::Text(command.kernel.clone()),
        TableValue::Seconds(command.device_s),
        TableValue::Share(command.device_s / whole),
        TableValue::Count(command.calls),
        if known { TableValue::Count(command.items) } else { TableValue::Nothing },
        if known { TableValue::Text(command.unit.into()) } else { TableValue::Nothing },
        each(command.device_s, command.items),
    ]
}

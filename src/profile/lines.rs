//! What shading costs by part of a pipeline and by line of RSL, as its kernels counted it.

use super::section::{Section, TableValue};
use crate::line_profile::{LineRow, LineUnit, parts};
use crate::stats::{PipelineTime, Stats};
use std::collections::BTreeMap;

/// Rows of text, at most.
const LINES_SHOWN: usize = 20;

/// The row of what an ordinary kernel does without.
const COUNTING: &str = "counting itself";

/// Surfaces, displacements, lights and atmospheres.
pub(super) fn by_part(stats: &Stats, rows: &[LineRow]) -> Section {
    let note = "The time of a pipeline, shared out by what its kernels counted of each shader. Lights of one kind are \
                together. \"inputs and outputs\" belong to no line. \"counting itself\" is what an ordinary render does \
                without, and no part of the shares.";
    let mut section = section("parts", "Parts of shading pipelines", note, stats, &parts(rows));
    section.rows.extend(counting(stats, rows));
    section
}

/// Lines of shaders.
pub(super) fn by_line(stats: &Stats, rows: &[LineRow]) -> Section {
    let note = "The time of a pipeline, shared out by what its kernels counted of each line. Lookups count for the line \
                that makes them, functions for their own lines.";
    let of_lines: Vec<LineRow> = rows.iter().filter(|row| row.key.line > 0).cloned().collect();
    let mut section = section("lines", "Lines of RSL", note, stats, &of_lines);
    section.shown = LINES_SHOWN;
    section
}

fn section(key: &'static str, title: &str, note: &str, stats: &Stats, rows: &[LineRow]) -> Section {
    let columns = [
        ("pipeline", "pipeline"),
        ("part", "part"),
        ("place", "line"),
        ("seconds", "time"),
        ("share", "of the pipeline"),
        ("amount", "counted"),
        ("unit", ""),
    ];
    let mut section = Section::new(key, title, note, &columns);
    let times = stats.pipeline_times();
    let mut timed: Vec<(Option<f64>, &LineRow)> = rows.iter().map(|row| (seconds(&times, row), row)).collect();
    let key = |seconds: &Option<f64>| seconds.unwrap_or(0.0);
    timed.sort_by(|(a, row), (b, other)| key(b).total_cmp(&key(a)).then(other.share.total_cmp(&row.share)));
    section.rows = timed.into_iter().map(|(seconds, row)| row_of(seconds, row)).collect();
    section.without_constant("place").without_empty("seconds")
}

/// Returns the time of a row: its share of the time of its pipeline on all devices without counting, or that of the
/// host; `None` where no device has timed the pipeline.
fn seconds(times: &[PipelineTime], row: &LineRow) -> Option<f64> {
    match row.key.unit {
        LineUnit::HostNs => Some(row.amount as f64 * 1e-9),
        _ => pipeline_s(times, row).map(|whole| row.share * (1.0 - row.counting) * whole),
    }
}

/// Returns the time of a row's pipeline on all devices, if any has timed it.
fn pipeline_s(times: &[PipelineTime], row: &LineRow) -> Option<f64> {
    let own = times.iter().filter(|time| *time.pipeline == *row.key.pipeline);
    own.map(|time| time.device_s).reduce(|a, b| a + b)
}

/// Returns a row for each pipeline that says what counting took.
fn counting(stats: &Stats, rows: &[LineRow]) -> Vec<Vec<TableValue>> {
    let times = stats.pipeline_times();
    let mut first: BTreeMap<&str, &LineRow> = BTreeMap::new();
    rows.iter().filter(|row| row.counting > 0.0).for_each(|row| _ = first.entry(&row.key.pipeline).or_insert(row));
    let mut rows: Vec<(f64, &LineRow)> =
        first.into_values().filter_map(|row| Some((row.counting * pipeline_s(&times, row)?, row))).collect();
    rows.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let row = |(seconds, row): (f64, &LineRow)| {
        vec![
            TableValue::Text(row.key.pipeline.to_string()),
            TableValue::Text(COUNTING.into()),
            TableValue::Seconds(seconds),
            TableValue::Nothing,
            TableValue::Nothing,
            TableValue::Nothing,
        ]
    };
    rows.into_iter().map(row).collect()
}

/// Returns what is to be known about the measuring of lines.
pub(super) fn remarks(rows: &[LineRow]) -> Option<String> {
    let estimated = rows.iter().any(|row| row.key.unit == LineUnit::Steps);
    estimated.then(|| {
        "parts and lines are estimated, from the operations that kernels ran: a device has no clock for kernels \
         (VK_KHR_shader_clock)"
            .to_string()
    })
}

fn row_of(seconds: Option<f64>, row: &LineRow) -> Vec<TableValue> {
    let key = &row.key;
    let unit = match key.unit {
        LineUnit::Clocks => "clocks",
        LineUnit::Steps => "operations, an estimate",
        LineUnit::HostNs => "ns on the host",
    };
    vec![
        TableValue::Text(key.pipeline.to_string()),
        TableValue::Text(key.part.to_string()),
        if key.line > 0 { TableValue::Text(format!("{}:{}", key.file, key.line)) } else { TableValue::Nothing },
        seconds.map_or(TableValue::Nothing, TableValue::Seconds),
        if key.unit == LineUnit::HostNs { TableValue::Nothing } else { TableValue::Share(row.share) },
        TableValue::Count(row.amount),
        TableValue::Text(unit.into()),
    ]
}

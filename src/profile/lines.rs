//! What shading costs by part of a pipeline and by line of RSL, as its kernels counted it.

use super::commands::pipeline_times;
use super::section::{Section, TableValue};
use crate::line_profile::{LineRow, LineUnit, parts};
use crate::stats::Stats;

/// Rows of text, at most.
const LINES_SHOWN: usize = 20;

/// Surfaces, displacements, lights and atmospheres.
pub(super) fn by_part(stats: &Stats, rows: &[LineRow]) -> Section {
    let note = "The time of a pipeline, shared out by what its kernels counted of each shader. Lights of one kind are \
                together. \"inputs and outputs\" belong to no line.";
    section("parts", "Parts of shading pipelines", note, stats, &parts(rows))
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
    let times = pipeline_times(stats);
    let mut timed: Vec<(f64, &LineRow)> = rows.iter().map(|row| (seconds(&times, row), row)).collect();
    timed.sort_by(|(a, row), (b, other)| b.total_cmp(a).then(other.amount.cmp(&row.amount)));
    section.rows = timed.into_iter().map(|(seconds, row)| row_of(seconds, row)).collect();
    section.without_constant("place")
}

/// Returns the time of a row: its share of the time of its pipeline on all devices, or that of the host.
fn seconds(times: &[super::commands::PipelineTime], row: &LineRow) -> f64 {
    match row.key.unit {
        LineUnit::HostNs => row.amount as f64 * 1e-9,
        _ => {
            let own = times.iter().filter(|time| *time.pipeline == *row.key.pipeline);
            row.share * own.map(|time| time.device_s).sum::<f64>()
        }
    }
}

fn row_of(seconds: f64, row: &LineRow) -> Vec<TableValue> {
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
        TableValue::Seconds(seconds),
        if key.unit == LineUnit::HostNs { TableValue::Nothing } else { TableValue::Share(row.share) },
        TableValue::Count(row.amount),
        TableValue::Text(unit.into()),
    ]
}

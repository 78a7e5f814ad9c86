//! The tables of a study, each made once and shown as text, Markdown, HTML and CSV.

use super::outlook::{Outlook, PredictedConfiguration, PredictedCount, PredictedTimes};
use super::study::{Clock, PHASE_TITLES, PHASES, Series, Spread, Study};
use crate::stats::{MeasuredDevice, Stage, human_bytes};

/// A table for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: &'static str,
    /// How to read it.
    pub note: String,
    /// Names of columns.
    pub header: Vec<String>,
    /// Cells, row by row, as many as there are columns. The first column names its row; the others are numbers.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table in Markdown, padded so that it reads as plain text.
    pub fn to_markdown(&self) -> String {
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let width = |column: usize| lines().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let line = |cells: &Vec<String>| {
            let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!(" {cell:<width$} |"),
                _ => format!(" {cell:>width$} |"),
            });
            format!("|{}\n", padded.collect::<String>())
        };
        let rule: String = widths.iter().enumerate().map(|(column, &width)| rule(column, width)).collect();
        let mut text = line(&self.header) + "|" + &rule + "\n";
        text.extend(self.rows.iter().map(line));
        text
    }
}

/// Numbers are aligned to the right.
fn rule(column: usize, width: usize) -> String {
    let dashes = "-".repeat(width + 1);
    if column == 0 { format!("{dashes}-|") } else { format!("{dashes}:|") }
}

/// The value of a cell for programs, with the name of its column.
type Value = (String, String);

/// One line for each configuration, for programs: names of columns, then rows. Times are in seconds.
pub fn summary(study: &Study) -> Vec<Vec<Value>> {
    study.series.iter().enumerate().map(|series| summary_row(study, series)).collect()
}

/// The names are there without predictions as well: then the values are empty.
fn predicted_values(predicted: Option<&PredictedConfiguration>) -> Vec<Value> {
    let names = [
        "predicted_render_s",
        "predicted_render_speed_up",
        "predicted_render_of_measured",
        "predicted_process_s",
        "predicted_process_speed_up",
        "predicted_process_of_measured",
    ];
    let values = |one: &PredictedConfiguration| {
        let PredictedTimes { render_s, render_speed_up, process_s, process_speed_up } = one.times;
        let [render, process] = [one.render_of_measured, one.process_of_measured];
        [render_s, render_speed_up, render, process_s, process_speed_up, process].map(|value| value.to_string())
    };
    names.map(String::from).into_iter().zip(predicted.map(values).unwrap_or_default()).collect()
}

fn summary_row(study: &Study, (place, series): (usize, &Series)) -> Vec<Value> {
    let mut row = vec![
        ("devices".to_string(), series.configuration.selection.clone()),
        ("device_count".into(), series.device_count().to_string()),
        ("runs".into(), series.runs.len().to_string()),
    ];
    for (name, clock, time) in
        [("render", Clock::Render, series.render()), ("process", Clock::Process, series.process())]
    {
        let speed_up = study.speed_up(series, clock);
        for (what, spread) in [(format!("{name}_s"), time), (format!("{name}_speed_up"), speed_up)] {
            row.push((what.clone(), spread.median.to_string()));
            row.push((format!("{what}_min"), spread.min.to_string()));
            row.push((format!("{what}_max"), spread.max.to_string()));
        }
        row.push((format!("{name}_efficiency"), study.efficiency(series, clock).to_string()));
    }
    row.extend(predicted_values(predicted(study, place)));
    let typical = series.typical();
    let phases = PHASES.iter().zip(typical.phases());
    row.extend(phases.map(|(name, seconds)| (format!("{name}_s"), seconds.to_string())));
    let sum = |of: fn(&MeasuredDevice) -> u64| typical.stats.devices.iter().map(of).sum::<u64>();
    row.push(("busy_share".into(), typical.stats.busy_share().to_string()));
    row.push(("regions".into(), sum(|device| device.regions).to_string()));
    row.push(("stolen".into(), sum(|device| device.stolen).to_string()));
    row
}

/// One line for each run, for programs.
pub fn runs(study: &Study) -> Vec<Vec<Value>> {
    let rows = study.series.iter().flat_map(|series| {
        series.runs.iter().zip(1..).map(|(run, round)| {
            let mut row = vec![
                ("devices".to_string(), series.configuration.selection.clone()),
                ("device_count".into(), series.device_count().to_string()),
                ("round".into(), round.to_string()),
                ("process_s".into(), run.process_s.to_string()),
                ("render_s".into(), run.stats.render_s.to_string()),
            ];
            let phases = PHASES.iter().zip(run.phases());
            row.extend(phases.map(|(name, seconds)| (format!("{name}_s"), seconds.to_string())));
            row
        })
    });
    rows.collect()
}

/// What is predicted for the configuration at a place of the study.
fn predicted(study: &Study, place: usize) -> Option<&PredictedConfiguration> {
    study.outlook.predictions()?.configurations.get(place)
}

/// Speed-up and efficiency, the study's result, beside what was predicted.
pub fn speed_up(study: &Study) -> Table {
    let mut header = vec!["devices", "count", "render, s", "speed-up", "efficiency"];
    if study.outlook.predictions().is_some() {
        header.extend(["predicted, s", "predicted speed-up", "predicted / measured"]);
    }
    header.extend(["process, s", "process speed-up", "process efficiency"]);
    let row = |(place, series): (usize, &Series)| {
        let measured = |clock, time| {
            let speed_up = study.speed_up(series, clock);
            [seconds_between(time), times_between(speed_up), percent(study.efficiency(series, clock))]
        };
        let mut row = vec![series.configuration.selection.clone(), series.device_count().to_string()];
        row.extend(measured(Clock::Render, series.render()));
        row.extend(predicted(study, place).into_iter().flat_map(|one| {
            [seconds(one.times.render_s), times(one.times.render_speed_up), percent(one.render_of_measured)]
        }));
        row.extend(measured(Clock::Process, series.process()));
        row
    };
    let note = format!(
        "Medians of {} runs each, with the smallest and the largest. \"Render\" is from the first submission to the last pixel, \
         \"process\" from the program's start to its exit. Speed-up is against --devices {}, round by round; efficiency is \
         speed-up for each device. {}",
        study.rounds(),
        study.one().configuration.selection,
        outlook_note(study)
    );
    let rows = study.series.iter().enumerate().map(row).collect();
    let header = header.into_iter().map(String::from).collect();
    Table { title: "Speed-up and efficiency", note, header, rows }
}

/// What predictions are made from, or why there are none.
fn outlook_note(study: &Study) -> String {
    let one = &study.one().configuration.selection;
    let predictions = match &study.outlook {
        Outlook::Refused { refused } => return format!("Nothing is predicted: {refused}."),
        Outlook::Predicted(predictions) => predictions,
    };
    let (regions, off) = predictions.fit();
    let runs = if predictions.runs == 1 { "a run".into() } else { format!("{} runs", predictions.runs) };
    let mut note = format!(
        "\"Predicted\" is the render by the scheduler on a virtual clock, with rates of {runs} on --devices {one} in {regions} \
         regions, which are off by {} of a region's time; \"predicted / measured\" is of times.",
        percent(off)
    );
    let is_uneven = |one: &PredictedConfiguration| one.speeds.iter().any(|speed| *speed != 1.0);
    if predictions.configurations.iter().any(is_uneven) {
        note += &format!(" A device is as much faster or slower than that of --devices {one} as it was alone.");
    }
    let assumed = predictions.assumed();
    if !assumed.is_empty() {
        let list: Vec<String> = assumed.iter().map(usize::to_string).collect();
        note += &format!(
            " Not run alone, nor any device like it, and taken to be as fast as that of --devices {one}: device {}.",
            list.join(", device ")
        );
    }
    note
}

/// What is predicted for powers of two of devices; `None` if nothing is.
pub fn outlook(study: &Study) -> Option<Table> {
    let predictions = study.outlook.predictions()?;
    let header =
        ["devices", "render, s", "speed-up", "efficiency", "process, s", "process speed-up", "process efficiency"];
    let row = |predicted: &PredictedCount| {
        let times_of =
            |time: f64, speed_up: f64| [seconds(time), times(speed_up), percent(speed_up / predicted.count as f64)];
        let PredictedTimes { render_s, render_speed_up, process_s, process_speed_up } = predicted.times;
        let mut row = vec![predicted.count.to_string()];
        row.extend(times_of(render_s, render_speed_up));
        row.extend(times_of(process_s, process_speed_up));
        row
    };
    let powers = predictions.counts.iter().filter(|predicted| predicted.count.is_power_of_two());
    let note = format!(
        "So many devices like that of --devices {}, each with all of its memory to itself and none slowing another down. Speed-up is \
         against one of them, as predicted.",
        study.one().configuration.selection
    );
    let rows = powers.map(row).collect();
    Some(Table { title: "Predicted for more devices", note, header: header.map(String::from).into(), rows })
}

/// What the processes' time is made of, and how much of it more devices cannot shorten.
pub fn phases(study: &Study) -> Table {
    let mut header = vec!["devices".to_string()];
    header.extend(PHASES.iter().map(|name| format!("{name}, s")));
    header.extend(["whole, s".into(), "not drawing".into()]);
    let row = |series: &Series| {
        let run = series.typical();
        let mut row = vec![series.configuration.selection.clone()];
        row.extend(run.phases().map(seconds));
        row.push(seconds(run.process_s));
        row.push(percent(run.fixed_s() / run.process_s));
        row
    };
    let meanings = PHASES.iter().zip(PHASE_TITLES).map(|(name, title)| format!("\"{name}\": {title}"));
    let note = format!(
        "Of the run with the median render time. {}. All but \"draw\" is serial, or shared by the devices (counting), or repeated by \
         each (uploads).",
        meanings.collect::<Vec<_>>().join("; ")
    );
    Table { title: "Phases of the whole process", note, header, rows: study.series.iter().map(row).collect() }
}

/// Time that devices spent in each stage, added up.
pub fn stages(study: &Study) -> Table {
    let shown: Vec<Stage> = DEVICE_STAGES.into_iter().filter(|&stage| takes_time(study, stage)).collect();
    let mut header = vec!["devices".to_string()];
    header.extend(shown.iter().map(|stage| format!("{}, s", stage.name())));
    header.push("sum, s".into());
    let row = |series: &Series| {
        let times: Vec<f64> = shown.iter().map(|&stage| device_seconds(series, stage)).collect();
        let mut row = vec![series.configuration.selection.clone()];
        row.extend(times.iter().copied().map(seconds));
        row.push(seconds(times.iter().sum()));
        row
    };
    let note = "Of the run with the median render time, by the devices' own clocks, all devices added up: where a sum grows with \
         the number of devices, they do work again, or slow one another down."
        .into();
    Table { title: "Stages on the devices", note, header, rows: study.series.iter().map(row).collect() }
}

/// Stages that run on devices, in order.
pub const DEVICE_STAGES: [Stage; 10] = [
    Stage::Upload,
    Stage::BoundSplit,
    Stage::Select,
    Stage::Dice,
    Stage::Displace,
    Stage::Hide,
    Stage::Shade,
    Stage::Sample,
    Stage::Composite,
    Stage::Filter,
];

/// Time that all devices of the typical run spent in a stage.
pub fn device_seconds(series: &Series, stage: Stage) -> f64 {
    series.typical().stats.devices.iter().filter_map(|device| device.stages_s.get(stage.name())).sum()
}

/// Whether any device of the study spent time in a stage.
pub fn takes_time(study: &Study, stage: Stage) -> bool {
    study.series.iter().any(|series| device_seconds(series, stage) > 0.0)
}

/// What each device did in a configuration's typical run.
pub fn devices(series: &Series) -> Table {
    let header = ["device", "busy, s", "idle, s", "busy", "regions", "stolen", "cut", "memory, peak"];
    let stats = &series.typical().stats;
    let row = |(place, device): (usize, &MeasuredDevice)| {
        let all = device.busy_s + device.idle_s;
        vec![
            title(place, device),
            seconds(device.busy_s),
            seconds(device.idle_s),
            if all > 0.0 { percent(device.busy_s / all) } else { "-".into() },
            device.regions.to_string(),
            device.stolen.to_string(),
            device.splits.to_string(),
            human_bytes(device.peak_bytes),
        ]
    };
    let note = "Busy is with regions in flight, idle without, while regions were drawn. Stolen regions were taken from other devices; \
         cut ones divided in two."
        .into();
    let rows = stats.devices.iter().enumerate().map(row).collect();
    Table { title: "What each device did", note, header: header.map(String::from).into(), rows }
}

/// A device of a run: its place among the opened ones, and its index in `anthill devices`.
pub(super) fn title(place: usize, device: &MeasuredDevice) -> String {
    format!("#{}: device {}", place + 1, device.index)
}

/// Seconds with three digits that count: 0.0123, 1.23, 12.3, 123.
pub(super) fn seconds(value: f64) -> String {
    let digits = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        value if value >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

fn seconds_between(spread: Spread) -> String {
    between(spread, seconds)
}

fn times_between(spread: Spread) -> String {
    between(spread, times)
}

fn times(value: f64) -> String {
    format!("{value:.2}")
}

/// The median; where values differ, with the range.
fn between(spread: Spread, show: impl Fn(f64) -> String) -> String {
    let [median, min, max] = [spread.median, spread.min, spread.max].map(show);
    if min == max { median } else { format!("{median} ({min}–{max})") }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

//! The tables of a study, each made once and shown as text, Markdown, HTML and CSV.

use super::predictions::{PredictedConfiguration, PredictedCount, PredictedTimes, StudyForecast};
use super::spread::{COVERAGE, Spread};
use super::study::{MeasuredSpan, PHASE_TITLES, PHASES, Series, Study, coverage_of};
use super::study_set::StudySet;
use super::work::Scaling;
use crate::stats::{MeasuredDevice, MeasuredWorld, Stage, human_bytes};

/// A table for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyTable {
    /// Its title.
    pub title: &'static str,
    /// A note on how to read it.
    pub note: String,
    /// The names of its columns.
    pub header: Vec<String>,
    /// Its rows, with a cell for each column. The first column names the row; the others are numbers.
    pub rows: Vec<Vec<String>>,
}

impl StudyTable {
    /// Returns the table as Markdown, padded so that it can be read as plain text.
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

/// Returns the rule below the header, which aligns numbers to the right.
fn rule(column: usize, width: usize) -> String {
    let dashes = "-".repeat(width + 1);
    if column == 0 { format!("{dashes}-|") } else { format!("{dashes}:|") }
}

/// A value for programs, after the name of its column.
type NamedValue = (String, String);

/// Returns one row of values for each configuration, for programs. Times are in seconds.
pub fn summary(study: &Study) -> Vec<Vec<NamedValue>> {
    study.series.iter().enumerate().map(|series| summary_row(study, series)).collect()
}

/// Returns the predicted values of a configuration. Without predictions the names are the same and the values are
/// empty.
fn predicted_values(predicted: Option<&PredictedConfiguration>) -> Vec<NamedValue> {
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

fn summary_row(study: &Study, (place, series): (usize, &Series)) -> Vec<NamedValue> {
    let mut row = vec![
        ("devices".to_string(), series.configuration.selection.clone()),
        ("device_count".into(), series.device_count().to_string()),
        ("runs".into(), series.runs.len().to_string()),
    ];
    for (name, span, time) in
        [("render", MeasuredSpan::Render, series.render()), ("process", MeasuredSpan::Process, series.process())]
    {
        let speed_up = study.speed_up(series, span);
        for (what, spread) in [(format!("{name}_s"), time), (format!("{name}_speed_up"), speed_up)] {
            row.push((what.clone(), spread.median.to_string()));
            row.push((format!("{what}_min"), spread.min.to_string()));
            row.push((format!("{what}_max"), spread.max.to_string()));
        }
        row.push((format!("{name}_efficiency"), study.efficiency(series, span).median.to_string()));
    }
    row.extend(predicted_values(predicted(study, place)));
    let typical = series.typical();
    let phases = PHASES.iter().zip(typical.phases());
    row.extend(phases.map(|(name, seconds)| (format!("{name}_s"), seconds.to_string())));
    let sum = |of: fn(&MeasuredDevice) -> u64| typical.stats.devices.iter().map(of).sum::<u64>();
    row.push(("busy_share".into(), typical.stats.busy_share().to_string()));
    row.push(("regions".into(), sum(|device| device.regions).to_string()));
    row.push(("stolen".into(), sum(|device| device.stolen).to_string()));
    for (name, spread) in [
        ("render_s", series.render()),
        ("render_speed_up", study.speed_up(series, MeasuredSpan::Render)),
        ("process_s", series.process()),
        ("process_speed_up", study.speed_up(series, MeasuredSpan::Process)),
    ] {
        row.push((format!("{name}_low"), spread.low.to_string()));
        row.push((format!("{name}_high"), spread.high.to_string()));
    }
    row.push(("interval_coverage".into(), series.render().coverage.to_string()));
    row.extend(work_values(study, series));
    row
}

/// Returns what was drawn, as the last columns of files for programs.
fn work_values(study: &Study, series: &Series) -> Vec<NamedValue> {
    let scaling = if study.work.scaling == Scaling::Weak { "weak" } else { "strong" };
    let size = series.typical().stats.worlds.first().map(MeasuredWorld::size_px);
    let side = |side: usize| size.map_or_else(String::new, |size| size[side].to_string());
    vec![
        ("scene".into(), study.work.scene.display().to_string()),
        ("scaling".into(), scaling.into()),
        ("width".into(), side(0)),
        ("height".into(), side(1)),
    ]
}

/// Returns one row of values for each run, for programs.
pub fn runs(study: &Study) -> Vec<Vec<NamedValue>> {
    let rows = study.series.iter().flat_map(|series| {
        let of_work = work_values(study, series);
        series.runs.iter().zip(1..).map(move |(run, round)| {
            let mut row = vec![
                ("devices".to_string(), series.configuration.selection.clone()),
                ("device_count".into(), series.device_count().to_string()),
                ("round".into(), round.to_string()),
                ("process_s".into(), run.process_s.to_string()),
                ("render_s".into(), run.stats.render_s.to_string()),
            ];
            let phases = PHASES.iter().zip(run.phases());
            row.extend(phases.map(|(name, seconds)| (format!("{name}_s"), seconds.to_string())));
            row.push(("others_share".into(), run.others_share.map_or_else(String::new, |share| share.to_string())));
            row.extend(of_work.clone());
            row
        })
    });
    rows.collect()
}

/// Returns the prediction for a configuration, by its index in the study.
fn predicted(study: &Study, place: usize) -> Option<&PredictedConfiguration> {
    study.forecast.predictions()?.configurations.get(place)
}

/// Returns the speed-up and efficiency, which are the study's result, next to the predictions.
pub fn speed_up(study: &Study) -> StudyTable {
    let mut header = vec!["devices", "count", "render, s", "speed-up", "efficiency"];
    if study.forecast.predictions().is_some() {
        header.extend(["predicted, s", "predicted speed-up", "predicted / measured"]);
    }
    header.extend(["process, s", "process speed-up", "process efficiency"]);
    let row = |(place, series): (usize, &Series)| {
        let measured = |span, time| {
            let speed_up = study.speed_up(series, span);
            [seconds_between(time), times_between(speed_up), percent(study.efficiency(series, span).median)]
        };
        let mut row = vec![series.configuration.selection.clone(), series.device_count().to_string()];
        row.extend(measured(MeasuredSpan::Render, series.render()));
        row.extend(predicted(study, place).into_iter().flat_map(|one| {
            [seconds(one.times.render_s), times(one.times.render_speed_up), percent(one.render_of_measured)]
        }));
        row.extend(measured(MeasuredSpan::Process, series.process()));
        row
    };
    let note = format!(
        "{} \"Render\" is the time from the first submission to the last pixel, \"process\" the time from the program's start to its \
         exit. Speed-up is relative to --devices {}, computed for each round{}; efficiency is speed-up divided by the number of \
         devices. {}",
        medians_note(study),
        study.one().configuration.selection,
        if study.work.scaling == Scaling::Weak { ", and counts the pixels, which grow with the devices" } else { "" },
        predictions_note(study)
    );
    let rows = study.series.iter().enumerate().map(row).collect();
    let header = header.into_iter().map(String::from).collect();
    StudyTable { title: "Speed-up and efficiency", note, header, rows }
}

/// Returns a note on how sure the medians are.
fn medians_note(study: &Study) -> String {
    let coverage = study.one().render().coverage;
    let note = match study.rounds() {
        0 | 1 => return "From one run each, so nothing is known about the spread.".into(),
        rounds => format!("Medians of {rounds} runs each, with intervals by order statistics"),
    };
    let reached = format!("which contain the true median with a probability of {}", coverage_of(&study.one().render()));
    if coverage >= COVERAGE {
        format!("{note}, {reached}.")
    } else {
        format!("{note}, {reached} only: 6 runs are needed for 95%.")
    }
}

/// Returns the speed-up of all works, for a study of several.
pub fn overview(set: &StudySet) -> StudyTable {
    let header = ["scene", "devices", "render, s", "speed-up", "efficiency", "spread", "coverage"];
    let row = |study: &Study, series: &Series| {
        let speed_up = study.speed_up(series, MeasuredSpan::Render);
        vec![
            study.name.clone(),
            series.configuration.selection.clone(),
            seconds_between(series.render()),
            times_between(speed_up),
            percent(study.efficiency(series, MeasuredSpan::Render).median),
            percent(series.render().relative()),
            coverage_of(&series.render()),
        ]
    };
    let rows = set.studies.iter().flat_map(|study| study.series.iter().map(move |series| row(study, series)));
    let note = "Medians of the render's time, with intervals by order statistics in brackets; \"coverage\" is the probability that they \
                contain the true median. \"Spread\" is the distance from the least to the largest time, divided by the median."
        .into();
    StudyTable { title: "All scenes", note, header: header.map(String::from).into(), rows: rows.collect() }
}

/// Returns a note on what predictions are made from, or why there are none.
fn predictions_note(study: &Study) -> String {
    let one = &study.one().configuration.selection;
    let predictions = match &study.forecast {
        StudyForecast::Refused { refused } => return format!("Nothing is predicted: {refused}."),
        StudyForecast::Predicted(predictions) => predictions,
    };
    let (regions, off) = predictions.fit();
    let runs = if predictions.runs == 1 { "a run".into() } else { format!("{} runs", predictions.runs) };
    let mut note = format!(
        "\"Predicted\" is the time of the render when the scheduler runs on a virtual clock, with rates fitted to {runs} on --devices {one} \
         with {regions} regions; the fitted time of a region is off by {}. \"Predicted / measured\" is the ratio of the times.",
        percent(off)
    );
    let is_uneven = |one: &PredictedConfiguration| one.speeds.iter().any(|speed| *speed != 1.0);
    if predictions.configurations.iter().any(is_uneven) {
        note += &format!(
            " Each device is taken to be as fast, relative to that of --devices {one}, as it was when it ran alone."
        );
    }
    let assumed = predictions.assumed();
    if !assumed.is_empty() {
        let list: Vec<String> = assumed.iter().map(usize::to_string).collect();
        note += &format!(
            " These did not run alone, nor did any device like them, and are taken to be as fast as that of --devices {one}: device {}.",
            list.join(", device ")
        );
    }
    note
}

/// Predictions for powers of two of devices; `None` if there are none.
pub fn more_devices(study: &Study) -> Option<StudyTable> {
    let predictions = study.forecast.predictions()?;
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
        "Times for this many devices like that of --devices {}, if each has all of its memory to itself and none slows another down. \
         Speed-up is relative to the predicted time of one device.",
        study.one().configuration.selection
    );
    let rows = powers.map(row).collect();
    Some(StudyTable { title: "Predicted for more devices", note, header: header.map(String::from).into(), rows })
}

/// Returns the phases of the process, and how much of its time more devices cannot shorten.
pub fn phases(study: &Study) -> StudyTable {
    let mut header = vec!["devices".to_string()];
    header.extend(PHASES.iter().map(|name| format!("{name}, s")));
    header.extend(["whole, s".into(), "not rendering".into()]);
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
        "From the run with the median render time. {}. Everything but \"draw\" is serial, or shared by the devices (counting), or \
         repeated by each of them (uploads).",
        meanings.collect::<Vec<_>>().join("; ")
    );
    StudyTable { title: "Phases of the whole process", note, header, rows: study.series.iter().map(row).collect() }
}

/// Returns the time that all devices together spent in each stage.
pub fn stages(study: &Study) -> StudyTable {
    let shown: Vec<Stage> = DEVICE_STAGES.into_iter().filter(|&stage| takes_time(study, stage)).collect();
    let mut header = vec!["devices".to_string()];
    header.extend(shown.iter().map(|stage| format!("{}, s", stage.name())));
    header.push("sum, s".into());
    let loses = study.series.iter().any(|series| texture_loss_s(series) > 0.0);
    header.extend(loses.then(|| "lost to textures, s".into()));
    let row = |series: &Series| {
        let times: Vec<f64> = shown.iter().map(|&stage| device_seconds(series, stage)).collect();
        let mut row = vec![series.configuration.selection.clone()];
        row.extend(times.iter().copied().map(seconds));
        row.push(seconds(times.iter().sum()));
        row.extend(loses.then(|| seconds(texture_loss_s(series))));
        row
    };
    let mut note =
        "From the run with the median render time, by the devices' own clocks, all devices added up. Where a sum grows with the \
         number of devices, they repeat work or slow one another down."
            .to_string();
    if loses {
        note += " Lost to textures: submissions that missed tiles and were made again, or only named tiles, which are also in the \
                 sum, and the loading of those tiles, which is not.";
    }
    StudyTable { title: "Stages on the devices", note, header, rows: study.series.iter().map(row).collect() }
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

/// Returns the time that all devices of the typical run together spent in a stage, in seconds.
pub fn device_seconds(series: &Series, stage: Stage) -> f64 {
    series.typical().stats.devices.iter().filter_map(|device| device.stages_s.get(stage.name())).sum()
}

/// Returns the time that the typical run lost because devices lacked tiles of textures, in seconds.
fn texture_loss_s(series: &Series) -> f64 {
    let loss = &series.typical().stats.texture_loss;
    loss.discarded_s + loss.naming_s + loss.loading_s
}

/// Whether any device of the study spent time in a stage.
pub fn takes_time(study: &Study, stage: Stage) -> bool {
    study.series.iter().any(|series| device_seconds(series, stage) > 0.0)
}

/// Returns what one device takes with each pipeline: times, and the stages that differ.
pub fn pipelines(series: &[Series]) -> StudyTable {
    let stages: Vec<Stage> = DEVICE_STAGES
        .into_iter()
        .filter(|&stage| series.iter().any(|one| device_seconds(one, stage) >= 0.01))
        .collect();
    let mut header: Vec<String> =
        ["pipeline", "render, s", "of the fastest", "whole process, s"].map(String::from).into();
    header.extend(stages.iter().map(|stage| format!("{}, s", stage.name())));
    let fastest = series.iter().map(|one| one.render().median).fold(f64::INFINITY, f64::min);
    let row = |one: &Series| {
        let name = one.configuration.pipeline.unwrap_or_default().to_string();
        let mut row = vec![name, seconds_between(one.render()), times(one.render().median / fastest)];
        row.push(seconds_between(one.process()));
        row.extend(stages.iter().map(|&stage| seconds(device_seconds(one, stage))));
        row
    };
    let note = "Stages from the run with the median render time, by the device's own clock.".into();
    StudyTable { title: "Pipelines", note, header, rows: series.iter().map(row).collect() }
}

/// Returns the work of each device in a configuration's typical run.
pub fn devices(series: &Series) -> StudyTable {
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
    let note = "While regions were rendered, a device is busy if it has regions in flight, and idle otherwise. Stolen regions were taken from \
         other devices; cut regions were divided in two."
        .into();
    let rows = stats.devices.iter().enumerate().map(row).collect();
    StudyTable { title: "Work of each device", note, header: header.map(String::from).into(), rows }
}

/// Returns the title of a device of a run: its position among the opened ones, and its index in `anthill devices`.
pub(super) fn title(place: usize, device: &MeasuredDevice) -> String {
    format!("#{}: device {}", place + 1, device.index)
}

/// Returns the seconds with about three significant digits: 0.012, 1.23, 12.3, 123.
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

/// Returns the median, followed by its interval if values differ.
fn between(spread: Spread, show: impl Fn(f64) -> String) -> String {
    let [median, low, high] = [spread.median, spread.low, spread.high].map(show);
    if low == high { median } else { format!("{median} ({low}–{high})") }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

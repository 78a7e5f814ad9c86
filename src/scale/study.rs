//! The measurements of a study and what is computed from them: medians, spreads, speed-up, efficiency, phases.

use super::machine::Machine;
use super::plan::Configuration;
use super::predictions::StudyForecast;
use super::run::REGIONS_FOR_RATES;
use crate::stats::{Measured, MeasuredWorld};
use serde::Serialize;

/// A whole study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// Version of the program.
    pub version: String,
    /// The scene, as typed.
    pub scene: String,
    /// The command line of the study.
    pub command: String,
    /// The flags of `anthill render` that all runs have in common.
    pub flags: String,
    /// The machine that it ran on.
    pub machine: Machine,
    /// Whether each run was restricted to as many cores as it had devices.
    pub pinned: bool,
    /// Each configuration with its runs, in the order given; at least one.
    pub series: Vec<Series>,
    /// The index in `series` of the one-device configuration that the others are compared with.
    pub baseline: usize,
    /// What other numbers of devices should take, or why that cannot be predicted.
    #[serde(rename = "outlook")]
    pub forecast: StudyForecast,
    /// Runs whose pictures differ from those of the first run on the same models. It must be empty.
    pub differing: Vec<Differing>,
}

/// A run whose picture differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// Its devices, as typed; ` for rates` is appended for a run that rates are fitted to.
    pub selection: String,
    /// Its round, from 1.
    pub round: u32,
    /// The file that differs.
    pub file: String,
}

/// All runs of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The configuration.
    pub configuration: Configuration,
    /// One run for each round, in order; at least one.
    pub runs: Vec<StudyRun>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyRun {
    /// Seconds from the start of the process to its exit, measured by its parent.
    pub process_s: f64,
    /// The statistics that it wrote.
    pub stats: Measured,
}

/// The median of some values, and their range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Spread {
    /// Returns the spread of some values; all zeros if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let [Some(&min), Some(&max)] = [values.first(), values.last()] else { return Self::default() };
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) };
        Self { median, min, max }
    }
}

/// The efficiency above which a measurement is doubted. A little more than 1 comes from noise, and from memory that
/// several devices have more of.
const EFFICIENCY_MAX: f64 = 1.05;

/// The phases of a process, in order. They add up to [`StudyRun::process_s`].
pub const PHASES: [&str; 6] = ["start", "parse", "prepare", "count", "draw", "write"];

/// A description of each of [`PHASES`].
pub const PHASE_TITLES: [&str; 6] = [
    "start and exit of the process, devices opened",
    "scene read",
    "shaders compiled, geometry lowered (host)",
    "geometry uploaded to every device, primitives split and counted",
    "regions rendered",
    "files written",
];

impl StudyRun {
    /// Returns the seconds of each of [`PHASES`].
    pub fn phases(&self) -> [f64; 6] {
        let sum = |of: fn(&MeasuredWorld) -> f64| -> f64 { self.stats.worlds.iter().map(of).sum() };
        let parse = self.stats.stages_s.get("parse").copied().unwrap_or(0.0);
        let rest = [
            parse,
            sum(|world| world.prepare_s),
            sum(|world| world.count_s),
            sum(|world| world.draw_s),
            sum(|world| world.write_s),
        ];
        // With several worlds, one is read while another is rendered, so the rest could be negative.
        let start = (self.process_s - rest.iter().sum::<f64>()).max(0.0);
        [start, rest[0], rest[1], rest[2], rest[3], rest[4]]
    }

    /// Returns the seconds in which no region is rendered. More devices do not shorten this time, and repeat parts of
    /// it.
    pub fn fixed_s(&self) -> f64 {
        let [start, parse, prepare, count, _, write] = self.phases();
        start + parse + prepare + count + write
    }
}

impl Series {
    /// Returns the number of devices.
    pub fn device_count(&self) -> usize {
        self.configuration.indices.len()
    }

    /// Returns the spread of times from the first submission to the last pixel.
    pub fn render(&self) -> Spread {
        Spread::of(self.runs.iter().map(|run| run.stats.render_s))
    }

    /// Returns the spread of times of the whole process.
    pub fn process(&self) -> Spread {
        Spread::of(self.runs.iter().map(|run| run.process_s))
    }

    /// Returns the speed-up over the series `one`. It is computed for each round, since a busy machine slows all runs
    /// of a round alike.
    pub fn speed_up(&self, one: &Self, span: MeasuredSpan) -> Spread {
        let pairs = one.runs.iter().zip(&self.runs);
        Spread::of(pairs.map(|(one, run)| ratio(span.of(one), span.of(run))))
    }

    /// Returns the run whose render time is the median (the faster of two in the middle), for figures that cannot be
    /// averaged.
    pub fn typical(&self) -> &StudyRun {
        let mut order: Vec<&StudyRun> = self.runs.iter().collect();
        order.sort_by(|a, b| a.stats.render_s.total_cmp(&b.stats.render_s));
        order[(order.len() - 1) / 2]
    }
}

/// A span of time that speed-up is computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredSpan {
    /// The render, from the first submission to the last pixel.
    Render,
    /// The process, from its start to its exit.
    Process,
}

impl MeasuredSpan {
    fn of(self, run: &StudyRun) -> f64 {
        match self {
            Self::Render => run.stats.render_s,
            Self::Process => run.process_s,
        }
    }
}

impl Study {
    /// Returns the one-device configuration.
    pub fn one(&self) -> &Series {
        &self.series[self.baseline]
    }

    /// Returns the speed-up over the baseline.
    pub fn speed_up(&self, series: &Series, span: MeasuredSpan) -> Spread {
        series.speed_up(self.one(), span)
    }

    /// Returns the speed-up divided by the number of devices: 1 is perfect.
    pub fn efficiency(&self, series: &Series, span: MeasuredSpan) -> f64 {
        ratio(self.speed_up(series, span).median, series.device_count() as f64)
    }

    /// Returns the number of rounds that include every configuration.
    pub fn rounds(&self) -> usize {
        self.series.iter().map(|series| series.runs.len()).min().unwrap_or(0)
    }
}

/// Returns `of / by`, or 0 if `by` is not positive.
pub(super) fn ratio(of: f64, by: f64) -> f64 {
    if by > 0.0 { of / by } else { 0.0 }
}

impl Study {
    /// Returns the result of the study in a sentence: the speed-up of the configuration with the most devices.
    pub fn finding(&self) -> String {
        // `max_by_key` returns the last of equal ones, and the first is wanted.
        let places = self.series.iter().enumerate().rev();
        let Some((place, most)) = places.max_by_key(|(_, series)| series.device_count()) else {
            return String::new();
        };
        let predicted = self.forecast.predictions().and_then(|predictions| predictions.configurations.get(place));
        let predicted = predicted.map_or_else(String::new, |predicted| {
            let times = predicted.times;
            format!(" Predicted: {:.2} and {:.2} times.", times.render_speed_up, times.process_speed_up)
        });
        let speed_up = self.speed_up(most, MeasuredSpan::Render).median;
        let efficiency = self.efficiency(most, MeasuredSpan::Render) * 100.0;
        let process = self.speed_up(most, MeasuredSpan::Process).median;
        match most.device_count() {
            1 => "Only one device was measured, so there is no speed-up.".into(),
            count => format!(
                "{count} devices render {speed_up:.2} times as fast as one, with an efficiency of {efficiency:.0}%; \
                 the whole process is {process:.2} times as fast.{predicted}"
            ),
        }
    }

    /// Returns a sentence for each configuration that is faster than can be: its baseline was slowed down by something
    /// else.
    pub fn doubts(&self) -> Vec<String> {
        let doubt = |series: &Series| {
            let efficiency = self.efficiency(series, MeasuredSpan::Render);
            (efficiency > EFFICIENCY_MAX).then(|| {
                format!(
                    "--devices {}: an efficiency of {:.0}% is not possible; something slowed --devices {} down (other programs, \
                     cold caches, too little memory), so measure again",
                    series.configuration.selection,
                    efficiency * 100.0,
                    self.one().configuration.selection
                )
            })
        };
        self.series.iter().filter_map(doubt).collect()
    }

    /// Returns a sentence that says whether all pictures are identical.
    pub fn verdict(&self) -> String {
        let runs: usize = self.series.iter().map(|series| series.runs.len()).sum();
        let mut models: Vec<&[usize]> = self.series.iter().map(|series| &*series.configuration.models).collect();
        models.sort_unstable();
        models.dedup();
        match &self.differing[..] {
            [] if models.len() == 1 => format!("The pictures of all {runs} runs are identical, bit for bit."),
            [] => format!(
                "The pictures of all {runs} runs are identical, bit for bit, among configurations of the same device models and drivers."
            ),
            some => {
                let files: Vec<&str> = some.iter().map(|differing| &*differing.file).collect();
                let differ = if some.len() == 1 { "picture DIFFERS" } else { "pictures DIFFER" };
                format!("{} {differ} from the first run's: {}.", some.len(), files.join(", "))
            }
        }
    }

    /// Returns the command of each configuration's runs, and of the runs that predictions are made from.
    pub fn commands(&self) -> Vec<String> {
        let flags = if self.flags.is_empty() { String::new() } else { format!(" {}", self.flags) };
        let command = |series: &Series| {
            format!(
                "anthill render {}{flags} --devices {}",
                quoted(&self.scene),
                quoted(&series.configuration.selection)
            )
        };
        let for_rates = format!("{} {}", command(self.one()), REGIONS_FOR_RATES.join(" "));
        self.series.iter().map(command).chain([for_rates]).collect()
    }

    /// Returns what was rendered, by which program, on which machine.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("program", format!("anthill {}", self.version)), ("command", self.command.clone())];
        if !self.flags.is_empty() {
            facts.push(("flags of each run", self.flags.clone()));
        }
        let stats = &self.one().typical().stats;
        for world in &stats.worlds {
            let [width, height] = world.size_px();
            let frame = world.frame.map_or(String::new(), |frame| format!("frame {frame}: "));
            facts.push(("picture", format!("{frame}{width} x {height} pixels")));
        }
        let millions = |count: u64| format!("{:.2} million", count as f64 / 1e6);
        facts.push(("micropolygons", millions(stats.micropolygons)));
        facts.push(("sample points", millions(stats.sample_points)));
        facts.push(("processor", format!("{}, up to {} cores used", self.machine.processor, self.machine.cores)));
        facts.push(("system", self.machine.system.clone()));
        for device in &self.machine.devices {
            facts.push(("device", format!("{}: {}, {}", device.index, device.name, device.driver)));
        }
        for (name, value) in &self.machine.environment {
            facts.push(("environment", format!("{name}={value}")));
        }
        if self.pinned {
            facts.push(("cores", "each run restricted to as many cores as it had devices (--cpus)".into()));
        }
        facts
    }
}

/// Quotes a word for a shell, if needed.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=+:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

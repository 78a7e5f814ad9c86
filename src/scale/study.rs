//! What was measured, and the arithmetic on it: medians, spreads, speed-up, efficiency, phases.

use super::machine::Machine;
use super::outlook::Outlook;
use super::plan::Configuration;
use super::run::REGIONS_FOR_RATES;
use crate::stats::{Measured, MeasuredWorld};
use serde::Serialize;

/// A whole study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// Version of the program.
    pub version: String,
    /// The scene, as named.
    pub scene: String,
    /// The command line of the study.
    pub command: String,
    /// Flags of `anthill render` that every run had.
    pub flags: String,
    /// What it ran on.
    pub machine: Machine,
    /// Whether each run had as many cores as devices.
    pub pinned: bool,
    /// Each configuration with its runs, in the order given; at least one.
    pub series: Vec<Series>,
    /// The place of the one-device configuration that others are compared with.
    pub baseline: usize,
    /// What other numbers of devices should take, or why that cannot be told.
    pub outlook: Outlook,
    /// Runs whose pictures are not those of their models' first run. Empty is as it must be.
    pub differing: Vec<Differing>,
}

/// A run whose picture is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// Its configuration; a run for rates says that it is one.
    pub selection: String,
    /// Its round, from 1.
    pub round: u32,
    /// The file that differs.
    pub file: String,
}

/// All runs of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The devices.
    pub configuration: Configuration,
    /// One run a round, in order; at least one.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// The whole process in seconds: from its start to its exit, as its parent sees it.
    pub process_s: f64,
    /// What it said of itself.
    pub stats: Measured,
}

/// The median of some values, and how far they lie apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value; of an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of no values it is 0.
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

/// What a process's time is made of, in the order in which it passes. They add up to [`Run::process_s`].
pub const PHASES: [&str; 6] = ["start", "parse", "prepare", "count", "draw", "write"];

/// What each of [`PHASES`] is, for people.
pub const PHASE_TITLES: [&str; 6] = [
    "start and exit of the process, devices opened",
    "scene read",
    "shaders compiled, geometry lowered (host)",
    "geometry brought to every device, primitives split and counted",
    "regions drawn",
    "files written",
];

impl Run {
    /// Seconds of each of [`PHASES`].
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
        // With several worlds, one is read while another is drawn: nothing may become negative.
        let start = (self.process_s - rest.iter().sum::<f64>()).max(0.0);
        [start, rest[0], rest[1], rest[2], rest[3], rest[4]]
    }

    /// Seconds without any region being drawn: what more devices do not shorten, or even repeat.
    pub fn fixed_s(&self) -> f64 {
        let [start, parse, prepare, count, _, write] = self.phases();
        start + parse + prepare + count + write
    }
}

impl Series {
    /// The number of devices.
    pub fn device_count(&self) -> usize {
        self.configuration.indices.len()
    }

    /// Time from the first submission to the last pixel.
    pub fn render(&self) -> Spread {
        Spread::of(self.runs.iter().map(|run| run.stats.render_s))
    }

    /// Time of the whole process.
    pub fn process(&self) -> Spread {
        Spread::of(self.runs.iter().map(|run| run.process_s))
    }

    /// How many times as fast as one device: round by round, since a busy machine slows the runs of one round alike, then the median.
    pub fn speed_up(&self, one: &Self, clock: Clock) -> Spread {
        let pairs = one.runs.iter().zip(&self.runs);
        Spread::of(pairs.map(|(one, run)| ratio(clock.of(one), clock.of(run))))
    }

    /// The run whose render time is the median (the quicker of two in the middle), for what cannot be averaged.
    pub fn typical(&self) -> &Run {
        let mut order: Vec<&Run> = self.runs.iter().collect();
        order.sort_by(|a, b| a.stats.render_s.total_cmp(&b.stats.render_s));
        order[(order.len() - 1) / 2]
    }
}

/// A time that speed-up is computed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// From the first submission to the last pixel.
    Render,
    /// From the process's start to its exit.
    Process,
}

impl Clock {
    fn of(self, run: &Run) -> f64 {
        match self {
            Self::Render => run.stats.render_s,
            Self::Process => run.process_s,
        }
    }
}

impl Study {
    /// The one-device configuration.
    pub fn one(&self) -> &Series {
        &self.series[self.baseline]
    }

    /// How many times as fast as the baseline.
    pub fn speed_up(&self, series: &Series, clock: Clock) -> Spread {
        series.speed_up(self.one(), clock)
    }

    /// Speed-up for each device: 1 is perfect.
    pub fn efficiency(&self, series: &Series, clock: Clock) -> f64 {
        ratio(self.speed_up(series, clock).median, series.device_count() as f64)
    }

    /// The rounds that all configurations were run in.
    pub fn rounds(&self) -> usize {
        self.series.iter().map(|series| series.runs.len()).min().unwrap_or(0)
    }
}

/// 0 where there is nothing to divide by.
pub(super) fn ratio(of: f64, by: f64) -> f64 {
    if by > 0.0 { of / by } else { 0.0 }
}

impl Study {
    /// The study in a sentence: the configuration with the most devices.
    pub fn finding(&self) -> String {
        // Of equal ones the first: `max_by_key` takes the last.
        let places = self.series.iter().enumerate().rev();
        let Some((place, most)) = places.max_by_key(|(_, series)| series.device_count()) else {
            return String::new();
        };
        let predicted = self.outlook.predictions().and_then(|predictions| predictions.configurations.get(place));
        let predicted = predicted.map_or_else(String::new, |predicted| {
            let times = predicted.times;
            format!(" Predicted: {:.2} and {:.2} times.", times.render_speed_up, times.process_speed_up)
        });
        let speed_up = self.speed_up(most, Clock::Render).median;
        let efficiency = self.efficiency(most, Clock::Render) * 100.0;
        let process = self.speed_up(most, Clock::Process).median;
        match most.device_count() {
            1 => "One device was measured, and nothing to compare it with.".into(),
            count => format!(
                "{count} devices render {speed_up:.2} times as fast as one, with an efficiency of {efficiency:.0}%; \
                 the whole process is {process:.2} times as fast.{predicted}"
            ),
        }
    }

    /// Whether all pictures are the same.
    pub fn verdict(&self) -> String {
        let runs: usize = self.series.iter().map(|series| series.runs.len()).sum();
        let mut models: Vec<&[usize]> = self.series.iter().map(|series| &*series.configuration.models).collect();
        models.sort_unstable();
        models.dedup();
        match &self.differing[..] {
            [] if models.len() == 1 => format!("The pictures of all {runs} runs are the same, bit for bit."),
            [] => format!(
                "The pictures of all {runs} runs are the same, bit for bit, among configurations of the same device models and drivers."
            ),
            some => {
                let files: Vec<&str> = some.iter().map(|differing| &*differing.file).collect();
                let differ = if some.len() == 1 { "picture DIFFERS" } else { "pictures DIFFER" };
                format!("{} {differ} from the first run's: {}.", some.len(), files.join(", "))
            }
        }
    }

    /// The command of each configuration's runs, and of those that the prediction is made from.
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

    /// What was drawn, by what, on what.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("program", format!("anthill {}", self.version)), ("command", self.command.clone())];
        if !self.flags.is_empty() {
            facts.push(("flags of each run", self.flags.clone()));
        }
        let stats = &self.one().typical().stats;
        for world in &stats.worlds {
            let [x0, y0, x1, y1] = world.crop_px;
            let frame = world.frame.map_or(String::new(), |frame| format!("frame {frame}: "));
            facts.push(("picture", format!("{frame}{} x {} pixels", x1 - x0, y1 - y0)));
        }
        let millions = |count: u64| format!("{:.2} million", count as f64 / 1e6);
        facts.push(("micropolygons", millions(stats.micropolygons)));
        facts.push(("sample points", millions(stats.sample_points)));
        facts.push(("processor", format!("{}, {} cores used at most", self.machine.processor, self.machine.cores)));
        facts.push(("system", self.machine.system.clone()));
        for device in &self.machine.devices {
            facts.push(("device", format!("{}: {}, {}", device.index, device.name, device.driver)));
        }
        for (name, value) in &self.machine.environment {
            facts.push(("environment", format!("{name}={value}")));
        }
        if self.pinned {
            facts.push(("cores", "each run kept to as many cores as it had devices (--cpus)".into()));
        }
        facts
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=+:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

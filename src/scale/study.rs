//! The measurements of a study and what is computed from them: medians, spreads, speed-up, efficiency, phases.

use super::plan::Configuration;
use super::predictions::StudyForecast;
use super::run::REGIONS_FOR_RATES;
use super::spread::Spread;
use super::work::{Scaling, StudyWork};
use crate::stats::{Measured, MeasuredWorld};
use serde::Serialize;

/// The study of one work: a scene at one size on several lists of devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// A short name of what was drawn.
    pub name: String,
    /// What was drawn.
    #[serde(flatten)]
    pub work: StudyWork,
    /// The flags of `anthill render` that all runs have in common.
    pub flags: String,
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
    /// Configurations that a run failed on, and were not run again.
    pub failed: Vec<Failing>,
}

/// A configuration that a run failed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failing {
    /// Its devices, as typed.
    pub selection: String,
    /// The round of the run that failed, from 1; 0 for one that fills caches.
    pub round: u32,
    /// Why it failed, with what it wrote to standard error.
    pub message: String,
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
    /// The pixels of its picture in multiples of that on one device: 1 in strong scaling.
    pub amount: f64,
    /// One run for each round, in order; at least one in a study.
    pub runs: Vec<StudyRun>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyRun {
    /// Seconds from the start of the process to its exit, measured by its parent.
    pub process_s: f64,
    /// The share of the machine's cores that other programs kept busy meanwhile, from 0 to 1, if known.
    pub others_share: Option<f64>,
    /// The statistics that it wrote.
    pub stats: Measured,
}

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

    /// Returns the speed-up over the series `one`: how many times as fast pixels are drawn. It is computed for each
    /// round, since a busy machine slows all runs of a round alike.
    pub fn speed_up(&self, one: &Self, span: MeasuredSpan) -> Spread {
        let pairs = one.runs.iter().zip(&self.runs);
        let amount = self.amount / one.amount;
        Spread::of(pairs.map(|(one, run)| ratio(span.of(one), span.of(run)) * amount))
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
    pub fn efficiency(&self, series: &Series, span: MeasuredSpan) -> Spread {
        let count = series.device_count().max(1) as f64;
        self.speed_up(series, span).map(|speed_up| speed_up / count)
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
    /// Returns the configuration with the most devices, with its index: the first of several.
    pub fn most(&self) -> Option<(usize, &Series)> {
        // `max_by_key` returns the last of equal ones, and the first is wanted.
        self.series.iter().enumerate().rev().max_by_key(|(_, series)| series.device_count())
    }

    /// Returns the result of the study in a sentence: the speed-up of the configuration with the most devices. What is
    /// `in_doubt` is not called a finding.
    pub fn finding(&self, in_doubt: bool) -> String {
        let Some((place, most)) = self.most() else { return String::new() };
        let predicted = self.forecast.predictions().and_then(|predictions| predictions.configurations.get(place));
        let predicted = predicted.map_or_else(String::new, |predicted| {
            let times = predicted.times;
            format!(" Predicted: {:.2} and {:.2} times.", times.render_speed_up, times.process_speed_up)
        });
        let count = most.device_count();
        if count == 1 {
            return "Only one device was measured, so there is no speed-up.".into();
        }
        let speed_up = self.speed_up(most, MeasuredSpan::Render);
        let efficiency = self.efficiency(most, MeasuredSpan::Render).median * 100.0;
        let process = self.speed_up(most, MeasuredSpan::Process).median;
        let begin = if in_doubt { "Not a finding, because it is in doubt: " } else { "" };
        let what = match self.work.scaling {
            Scaling::Strong => format!("{count} devices render {:.2} times as fast as one", speed_up.median),
            Scaling::Weak => format!(
                "{count} devices render a picture of {:.2} times the pixels {:.2} times as fast as one would",
                most.amount, speed_up.median
            ),
        };
        format!(
            "{begin}{what} ({}), with an efficiency of {efficiency:.0}%; the whole process is {process:.2} times as fast.{predicted}",
            interval_of(&speed_up)
        )
    }

    /// Returns a sentence that says whether all pictures are identical.
    pub fn verdict(&self) -> String {
        let runs: usize = self.series.iter().map(|series| series.runs.len()).sum();
        let mut models: Vec<&[usize]> = self.series.iter().map(|series| &*series.configuration.models).collect();
        models.sort_unstable();
        models.dedup();
        match &self.differing[..] {
            [] if self.work.scaling == Scaling::Weak => format!(
                "The pictures of all {runs} runs are identical, bit for bit, among configurations of the same size, device models and drivers."
            ),
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
        let scene = self.work.scene.display().to_string();
        let command = |series: &Series| {
            let size = self.work.size_for(series.device_count());
            let size = size.map_or_else(String::new, |[width, height]| format!(" --format {width} {height}"));
            let devices = quoted(&series.configuration.selection);
            format!("anthill render {}{flags}{size} --devices {devices}", quoted(&scene))
        };
        let for_rates = format!("{} {}", command(self.one()), REGIONS_FOR_RATES.join(" "));
        self.series.iter().map(command).chain([for_rates]).collect()
    }

    /// Returns what was rendered.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("scene", self.work.scene.display().to_string())];
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
        facts
    }
}

/// Returns the interval of a median in words.
pub fn interval_of(spread: &Spread) -> String {
    if spread.coverage <= 0.0 {
        return "one run: nothing is known about its spread".into();
    }
    format!("{} interval {:.2} to {:.2}", coverage_of(spread), spread.low, spread.high)
}

/// Returns the probability that an interval contains the true median.
pub fn coverage_of(spread: &Spread) -> String {
    format!("{:.1}%", spread.coverage * 100.0)
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

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_for_shells() {
        let table = [("a.rib", "a.rib"), ("0,1", "0,1"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''")];
        for (word, expected) in table {
            assert_eq!(quoted(word), expected);
        }
    }
}

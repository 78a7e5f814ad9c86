//! Why a study may be wrong: rules that its measurements are held against, so that noise is not printed as a finding.

use super::predictions::PredictedConfiguration;
use super::study::{MeasuredSpan, Series, Study, ratio};
use super::study_set::StudySet;
use serde::Serialize;

/// The efficiency above which a measurement is doubted. A little more than 1 comes from noise, and from memory that
/// several devices have more of.
const EFFICIENCY_MAX: f64 = 1.05;

/// The distance from the least to the largest value, as a fraction of their median, above which they are doubted.
const SPREAD_MAX: f64 = 0.2;

/// The ratio of predicted and measured time, either way, above which one of them is doubted.
const PREDICTION_OFF_MAX: f64 = 1.4;

/// The share of the machine's cores that other programs may keep busy.
const OTHERS_MAX: f64 = 0.1;

/// The load of the system for each core before the study, above which it is doubted.
const LOAD_MAX: f64 = 0.5;

/// What to do about doubts.
pub const DOUBT_ADVICE: &str =
    "end other programs, draw larger pictures, and measure again with 6 runs or more (--repeat)";

/// What a doubt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DoubtKind {
    /// Other programs kept the machine busy.
    Load,
    /// Runs of one configuration differ too much.
    Spread,
    /// There was only one run.
    SingleRun,
    /// Prediction and measurement differ too much.
    Prediction,
    /// More was gained than is possible.
    Efficiency,
    /// Devices share the cores of one processor.
    SharedCores,
}

/// A reason not to believe a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubt {
    /// What it is about.
    pub kind: DoubtKind,
    /// The name of the work; `None` if it concerns all.
    pub study: Option<String>,
    /// The devices, as typed; `None` if it concerns all.
    pub devices: Option<String>,
    /// What was measured.
    pub value: f64,
    /// What it may be at most.
    pub limit: f64,
    /// A sentence for people.
    pub text: String,
}

impl StudySet {
    /// Returns every reason not to believe the study.
    pub fn doubts(&self) -> Vec<Doubt> {
        let several = self.studies.len() > 1;
        let named = |study: &Study| {
            let mut doubts = study.doubts();
            if several {
                doubts.iter_mut().for_each(|doubt| doubt.text = format!("{}: {}", study.name, doubt.text));
            }
            doubts
        };
        self.load_doubt().into_iter().chain(self.studies.iter().flat_map(named)).collect()
    }

    fn load_doubt(&self) -> Option<Doubt> {
        let load = self.conditions.load_before?.minute;
        let (cores, value) = (self.machine.cores.max(1), load / self.machine.cores.max(1) as f64);
        let text = format!("the machine was busy when the study began: its load was {load:.2} on {cores} cores");
        let doubt = Doubt { kind: DoubtKind::Load, study: None, devices: None, value, limit: LOAD_MAX, text };
        (value > LOAD_MAX).then_some(doubt)
    }
}

impl Study {
    /// Returns every reason not to believe the study of this work.
    fn doubts(&self) -> Vec<Doubt> {
        let of_series = |(place, series): (usize, &Series)| {
            let found = [
                others(series),
                spread(series),
                single_run(series),
                self.prediction_off(place, series),
                self.too_efficient(series),
                self.shared_cores(series),
            ];
            let devices = series.configuration.selection.clone();
            let doubt = move |(kind, value, limit, text): Found| Doubt {
                kind,
                study: Some(self.name.clone()),
                text: format!("--devices {devices}: {text}"),
                devices: Some(devices.clone()),
                value,
                limit,
            };
            found.into_iter().flatten().map(doubt).collect::<Vec<_>>()
        };
        self.series.iter().enumerate().flat_map(of_series).collect()
    }

    fn prediction_off(&self, place: usize, series: &Series) -> Option<Found> {
        let predicted: &PredictedConfiguration = self.forecast.predictions()?.configurations.get(place)?;
        let (measured, value) = (series.render().median, predicted.render_of_measured);
        let off = value.max(ratio(1.0, value));
        let text = format!(
            "it took {measured:.3} s and was predicted to take {:.3} s, {off:.2} times off",
            predicted.times.render_s
        );
        (off > PREDICTION_OFF_MAX).then_some((DoubtKind::Prediction, off, PREDICTION_OFF_MAX, text))
    }

    fn too_efficient(&self, series: &Series) -> Option<Found> {
        let efficiency = self.efficiency(series, MeasuredSpan::Render).median;
        let text = format!(
            "an efficiency of {:.0}% is not possible: something slowed --devices {} down, such as cold caches or too little memory",
            efficiency * 100.0,
            self.one().configuration.selection
        );
        let alone = series.device_count() == 1;
        (!alone && efficiency > EFFICIENCY_MAX).then_some((DoubtKind::Efficiency, efficiency, EFFICIENCY_MAX, text))
    }

    fn shared_cores(&self, series: &Series) -> Option<Found> {
        let count = series.configuration.on_processor;
        let text = format!(
            "{count} of its devices are the processor and share its cores; --cpus with LP_NUM_THREADS=0 gives each a core"
        );
        (count > 1 && !self.pinned).then_some((DoubtKind::SharedCores, count as f64, 1.0, text))
    }
}

/// What is doubted of a configuration: the kind, what was measured, its limit, a sentence.
type Found = (DoubtKind, f64, f64, String);

fn others(series: &Series) -> Option<Found> {
    let shares: Vec<f64> = series.runs.iter().filter_map(|run| run.others_share).collect();
    let mean = ratio(shares.iter().sum(), shares.len() as f64);
    let text = format!("other programs kept {:.0}% of the machine's cores busy", mean * 100.0);
    (mean > OTHERS_MAX).then_some((DoubtKind::Load, mean, OTHERS_MAX, text))
}

fn spread(series: &Series) -> Option<Found> {
    let times = series.render();
    let value = times.relative();
    let text = format!(
        "its times spread by {:.0}% of their median, from {:.3} to {:.3} s",
        value * 100.0,
        times.min,
        times.max
    );
    (value > SPREAD_MAX).then_some((DoubtKind::Spread, value, SPREAD_MAX, text))
}

fn single_run(series: &Series) -> Option<Found> {
    let text = "it was run once, so nothing is known about its spread".into();
    (series.runs.len() == 1).then_some((DoubtKind::SingleRun, 1.0, 2.0, text))
}

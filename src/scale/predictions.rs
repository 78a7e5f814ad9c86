//! Predicts how long the devices of a study should take, and how long more devices than were measured should.
//!
//! A [`Forecast`] is fitted to runs on the baseline's device that are cut into enough regions. A device is taken to be
//! as fast as it was when it ran alone. A device that did not run alone is taken to be as fast as one like it, or else
//! as the baseline's.

use super::machine::StudyDevice;
use super::plan::Configuration;
use super::study::{MeasuredSpan, Series, StudyRun, ratio};
use crate::forecast::{Forecast, ForecastError, Prediction, WorldRates};
use crate::stats::Measured;
use serde::Serialize;

/// The most devices that are predicted for.
pub const DEVICES_MAX: usize = 64;

/// The predictions of a study, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StudyForecast {
    /// There are predictions.
    Predicted(Predictions),
    /// Nothing can be predicted.
    Refused {
        /// The reason, as a sentence without its full stop.
        refused: String,
    },
}

/// All predictions of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Predictions {
    /// The number of runs that rates were fitted to.
    pub runs: usize,
    /// The fitted rates of each world.
    pub worlds: Vec<WorldRates>,
    /// The prediction for each configuration, in the study's order.
    pub configurations: Vec<PredictedConfiguration>,
    /// The predictions for 1 to [`DEVICES_MAX`] devices like the baseline's, in ascending order: for powers of two, and
    /// for every number up to twice the most that were measured.
    pub counts: Vec<PredictedCount>,
}

/// Predicted times of some devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PredictedTimes {
    /// Seconds from the first submission to the last pixel.
    pub render_s: f64,
    /// The speed-up of the render over the prediction for the baseline's device.
    pub render_speed_up: f64,
    /// Seconds from the process's start to its exit.
    pub process_s: f64,
    /// The speed-up of the process over the prediction for the baseline's device.
    pub process_speed_up: f64,
}

/// The prediction for a configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PredictedConfiguration {
    /// Its devices, as typed.
    pub selection: String,
    /// The speed of each device in multiples of the baseline's.
    pub speeds: Vec<f64>,
    /// Devices for which the baseline's speed is assumed, because neither they nor any like them ran alone.
    pub assumed: Vec<usize>,
    /// The predicted times.
    #[serde(flatten)]
    pub times: PredictedTimes,
    /// Predicted time of the render divided by the measured median.
    pub render_of_measured: f64,
    /// Predicted time of the process divided by the measured median.
    pub process_of_measured: f64,
}

/// The prediction for a number of equal devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PredictedCount {
    /// The number of devices.
    pub count: usize,
    /// The predicted times.
    #[serde(flatten)]
    pub times: PredictedTimes,
}

impl StudyForecast {
    /// Predicts for the configurations of a study. `fitted` are the runs on the baseline's device that rates are fitted
    /// to, or the reason why there are none. `devices` are all that took part.
    pub fn new(
        series: &[Series],
        baseline: usize,
        devices: &[StudyDevice],
        fitted: &Result<Vec<StudyRun>, String>,
    ) -> Self {
        let predictions = fitted.as_ref().map_err(String::clone).and_then(|runs| {
            Predictions::new(series, &series[baseline], devices, runs).map_err(|error| reason(&error))
        });
        predictions.map_or_else(|refused| Self::Refused { refused }, Self::Predicted)
    }

    /// Returns the predictions, if there are any.
    pub fn predictions(&self) -> Option<&Predictions> {
        match self {
            Self::Predicted(predictions) => Some(predictions),
            Self::Refused { .. } => None,
        }
    }
}

/// Returns why nothing is predicted, with what a study can do about it.
fn reason(error: &ForecastError) -> String {
    match error {
        ForecastError::Rates { .. } => format!("{error}; use a larger picture, or one that takes longer to render"),
        _ => error.to_string(),
    }
}

impl Predictions {
    fn new(series: &[Series], one: &Series, devices: &[StudyDevice], runs: &[StudyRun]) -> Result<Self, ForecastError> {
        // A user waits from before the program starts its own clock until after it stops.
        let whole = |run: &StudyRun| Measured { wall_s: run.process_s, ..run.stats.clone() };
        let forecast = Forecast::new(&runs.iter().map(whole).collect::<Vec<_>>())?;
        let speeds = DeviceSpeeds::of(series, one, devices);
        let configuration = |series: &Series| {
            let (speeds, assumed) = speeds.each(&series.configuration);
            let times = PredictedTimes::from(&forecast.predict(&speeds)?);
            Ok(PredictedConfiguration {
                selection: series.configuration.selection.clone(),
                speeds,
                assumed,
                times,
                render_of_measured: ratio(times.render_s, series.render().median),
                process_of_measured: ratio(times.process_s, series.process().median),
            })
        };
        let count = |count: usize| {
            let times = PredictedTimes::from(&forecast.predict(&vec![1.0; count])?);
            Ok(PredictedCount { count, times })
        };
        Ok(Self {
            runs: runs.len(),
            worlds: forecast.rates(),
            configurations: series.iter().map(configuration).collect::<Result<_, ForecastError>>()?,
            counts: counts(series).map(count).collect::<Result<_, ForecastError>>()?,
        })
    }

    /// Returns the number of regions that rates were fitted to, and the relative error of a region's time in the world
    /// where it is largest.
    pub fn fit(&self) -> (usize, f64) {
        let regions = self.worlds.iter().map(|world| world.fitted.regions).sum();
        (regions, self.worlds.iter().map(|world| world.fitted.relative_error).fold(0.0, f64::max))
    }

    /// Devices whose speed is not known, in ascending order.
    pub fn assumed(&self) -> Vec<usize> {
        let mut assumed: Vec<usize> = self.configurations.iter().flat_map(|one| one.assumed.iter().copied()).collect();
        assumed.sort_unstable();
        assumed.dedup();
        assumed
    }
}

impl From<&Prediction> for PredictedTimes {
    fn from(prediction: &Prediction) -> Self {
        Self {
            render_s: prediction.render_s,
            render_speed_up: prediction.render_speed_up,
            process_s: prediction.total_s,
            process_speed_up: prediction.speed_up,
        }
    }
}

/// Returns the numbers of devices to predict for, in ascending order.
fn counts(series: &[Series]) -> impl Iterator<Item = usize> {
    let near = 2 * series.iter().map(Series::device_count).max().unwrap_or(1);
    (1..=DEVICES_MAX).filter(move |count| count.is_power_of_two() || *count <= near)
}

/// The speeds of the devices that ran alone, in multiples of the baseline's.
struct DeviceSpeeds<'a> {
    alone: Vec<(usize, f64)>,
    devices: &'a [StudyDevice],
}

impl<'a> DeviceSpeeds<'a> {
    fn of(series: &[Series], one: &Series, devices: &'a [StudyDevice]) -> Self {
        let speed = |series: &Series| match series.configuration.indices[..] {
            [index] => {
                Some((index, series.speed_up(one, MeasuredSpan::Render).median)).filter(|(_, speed)| *speed > 0.0)
            }
            _ => None,
        };
        Self { alone: series.iter().filter_map(speed).collect(), devices }
    }

    /// Returns the speed of each device of a configuration, and the devices for which the baseline's speed is assumed.
    fn each(&self, configuration: &Configuration) -> (Vec<f64>, Vec<usize>) {
        let known: Vec<Option<f64>> = configuration.indices.iter().map(|&index| self.known(index)).collect();
        let unknown = configuration.indices.iter().zip(&known).filter(|(_, speed)| speed.is_none());
        let mut assumed: Vec<usize> = unknown.map(|(&index, _)| index).collect();
        assumed.dedup();
        (known.into_iter().map(|speed| speed.unwrap_or(1.0)).collect(), assumed)
    }

    /// Returns the speed of a device, or of one like it, if known.
    fn known(&self, index: usize) -> Option<f64> {
        let title = |index| self.devices.iter().find(|device| device.index == index);
        let is_like = |other: usize| {
            let alike = title(index).zip(title(other));
            alike.is_some_and(|(a, b)| (&a.name, &a.driver) == (&b.name, &b.driver))
        };
        let own = self.alone.iter().find(|(alone, _)| *alone == index);
        own.or_else(|| self.alone.iter().find(|(alone, _)| is_like(*alone))).map(|(_, speed)| *speed)
    }
}

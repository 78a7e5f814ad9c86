//! What a study's devices should take, told by rates: predictions beside what was measured, and for more devices than were measured.
//!
//! Runs on the baseline's device, cut into regions enough to tell rates from, are what a [`Forecast`] is fitted to. A device is as
//! fast as its run alone says; one that was not run alone is as fast as one like it, or else as the baseline's.

use super::machine::DeviceTitle;
use super::plan::Configuration;
use super::study::{Clock, Run, Series, ratio};
use crate::forecast::{Forecast, ForecastError, Prediction, WorldRates};
use crate::stats::Measured;
use serde::Serialize;

/// The most devices that are predicted for.
pub const DEVICES_MAX: usize = 64;

/// What a study predicts, or why it predicts nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Outlook {
    /// The predictions.
    Predicted(Predictions),
    /// None can be told.
    Refused {
        /// Why.
        refused: String,
    },
}

/// All predictions of a study.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Predictions {
    /// Runs that rates were fitted to.
    pub runs: usize,
    /// What was told from them of each world.
    pub worlds: Vec<WorldRates>,
    /// Each configuration, in the study's order.
    pub configurations: Vec<PredictedConfiguration>,
    /// Numbers of devices like the baseline's, rising from 1 to [`DEVICES_MAX`]: powers of two, and all up to twice the most that
    /// were measured.
    pub counts: Vec<PredictedCount>,
}

/// What some devices should take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PredictedTimes {
    /// From the first submission to the last pixel.
    pub render_s: f64,
    /// How many times as fast as the baseline's device is predicted.
    pub render_speed_up: f64,
    /// From the process's start to its exit.
    pub process_s: f64,
    /// How many times as fast as the baseline's device is predicted.
    pub process_speed_up: f64,
}

/// What the devices of a configuration should take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PredictedConfiguration {
    /// Its devices.
    pub selection: String,
    /// Each device's speed in multiples of the baseline's.
    pub speeds: Vec<f64>,
    /// Devices that were not run alone, nor any like them: they are taken to be as fast as the baseline's.
    pub assumed: Vec<usize>,
    /// What it should take.
    #[serde(flatten)]
    pub times: PredictedTimes,
    /// Predicted over measured time of the render; the median was measured.
    pub render_of_measured: f64,
    /// Predicted over measured time of the process, likewise.
    pub process_of_measured: f64,
}

/// What a number of equal devices should take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PredictedCount {
    /// The number of devices.
    pub count: usize,
    /// What they should take.
    #[serde(flatten)]
    pub times: PredictedTimes,
}

impl Outlook {
    /// Predicts for the configurations of a study. `fitted` are runs on the baseline's device that rates can be fitted to, or why
    /// there are none; `devices` are all that took part.
    pub fn new(series: &[Series], baseline: usize, devices: &[DeviceTitle], fitted: &Result<Vec<Run>, String>) -> Self {
        let predictions = fitted.as_ref().map_err(String::clone).and_then(|runs| {
            Predictions::new(series, &series[baseline], devices, runs).map_err(|error| reason(&error))
        });
        predictions.map_or_else(|refused| Self::Refused { refused }, Self::Predicted)
    }

    /// The predictions, if there are any.
    pub fn predictions(&self) -> Option<&Predictions> {
        match self {
            Self::Predicted(predictions) => Some(predictions),
            Self::Refused { .. } => None,
        }
    }
}

/// Why nothing is predicted, in words of a study.
fn reason(error: &ForecastError) -> String {
    match error {
        ForecastError::Rates { .. } => format!("{error}; a picture that is larger, or takes longer, would do"),
        _ => error.to_string(),
    }
}

impl Predictions {
    fn new(series: &[Series], one: &Series, devices: &[DeviceTitle], runs: &[Run]) -> Result<Self, ForecastError> {
        // What a user waits for begins before the program's own clock, and ends after it.
        let whole = |run: &Run| Measured { wall_s: run.process_s, ..run.stats.clone() };
        let forecast = Forecast::new(&runs.iter().map(whole).collect::<Vec<_>>())?;
        let speeds = Speeds::of(series, one, devices);
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

    /// Regions that rates were fitted to, and how far off the rates are of a region's time: of the world where they are farthest.
    pub fn fit(&self) -> (usize, f64) {
        let regions = self.worlds.iter().map(|world| world.fitted.regions).sum();
        (regions, self.worlds.iter().map(|world| world.fitted.relative_error).fold(0.0, f64::max))
    }

    /// Devices whose speed is not known, rising.
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

/// The numbers of devices to predict for, rising.
fn counts(series: &[Series]) -> impl Iterator<Item = usize> {
    let near = 2 * series.iter().map(Series::device_count).max().unwrap_or(1);
    (1..=DEVICES_MAX).filter(move |count| count.is_power_of_two() || *count <= near)
}

/// The speeds of the devices that were run alone, in multiples of the baseline's.
struct Speeds<'a> {
    alone: Vec<(usize, f64)>,
    devices: &'a [DeviceTitle],
}

impl<'a> Speeds<'a> {
    fn of(series: &[Series], one: &Series, devices: &'a [DeviceTitle]) -> Self {
        let speed = |series: &Series| match series.configuration.indices[..] {
            [index] => Some((index, series.speed_up(one, Clock::Render).median)).filter(|(_, speed)| *speed > 0.0),
            _ => None,
        };
        Self { alone: series.iter().filter_map(speed).collect(), devices }
    }

    /// The speed of each device of a configuration, and those of its devices for which the baseline's stands in.
    fn each(&self, configuration: &Configuration) -> (Vec<f64>, Vec<usize>) {
        let known: Vec<Option<f64>> = configuration.indices.iter().map(|&index| self.known(index)).collect();
        let unknown = configuration.indices.iter().zip(&known).filter(|(_, speed)| speed.is_none());
        let mut assumed: Vec<usize> = unknown.map(|(&index, _)| index).collect();
        assumed.dedup();
        (known.into_iter().map(|speed| speed.unwrap_or(1.0)).collect(), assumed)
    }

    /// Its own speed, or that of a device like it.
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

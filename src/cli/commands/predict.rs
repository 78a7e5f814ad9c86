//! `anthill predict`: predicts how long a measured render would take on other devices.

use crate::cli::console::Console;
use crate::cli::flags::predict::PredictFlags;
use anthill::forecast::{Forecast, ForecastError, Prediction};
use anthill::outcome::exit_code::{DONE, INCOMPLETE, WRONG_USAGE};
use anthill::stats::Measured;
use serde::Serialize;
use std::path::Path;

/// Runs the command and returns the exit code.
pub(crate) fn run(flags: &PredictFlags, console: &mut Console) -> u8 {
    let runs: Result<Vec<_>, String> = flags.stats.iter().map(|path| read(path)).collect();
    let runs = match runs {
        Ok(runs) => runs,
        Err(message) => {
            console.err.error(&message);
            return WRONG_USAGE;
        }
    };
    let device_sets = device_sets(flags);
    let forecast = Forecast::new(&runs);
    let rows = forecast.as_ref().map_err(ForecastError::clone).and_then(|forecast| {
        let row = |speeds: &Vec<f64>| Ok((speeds.clone(), forecast.predict(speeds)?));
        device_sets.iter().map(row).collect::<Result<Vec<_>, ForecastError>>()
    });
    match (forecast, rows) {
        (Ok(forecast), Ok(rows)) => {
            console.print(&if flags.json { json(&forecast, &rows) } else { table(&forecast, &rows) });
            DONE
        }
        (Err(error), _) | (_, Err(error)) => {
            console.err.error(&error.to_string());
            if !error.hint().is_empty() {
                console.err.line(&format!("  help: {}", error.hint()));
            }
            INCOMPLETE
        }
    }
}

fn read(path: &Path) -> Result<Measured, String> {
    let unreadable = |why: String| format!("cannot read \"{}\": {why}", path.display());
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| unreadable(format!("it is not a file that `render --stats` wrote: {error}")))
}

/// Returns the speeds of each set of devices to predict for: the given ones, or powers of two of equal devices.
fn device_sets(flags: &PredictFlags) -> Vec<Vec<f64>> {
    match &flags.speeds {
        Some(speeds) => vec![speeds.0.clone()],
        None => {
            let most = flags.devices_max as usize;
            let powers =
                std::iter::successors(Some(1_usize), |count| Some(2 * count)).take_while(|count| *count < most);
            powers.chain([most]).map(|count| vec![1.0; count]).collect()
        }
    }
}

type Row = (Vec<f64>, Prediction);

/// A prediction in the JSON.
#[derive(Serialize)]
struct JsonRow<'a> {
    speeds: &'a [f64],
    #[serde(flatten)]
    prediction: &'a Prediction,
}

fn json(forecast: &Forecast, rows: &[Row]) -> String {
    let rows: Vec<_> = rows.iter().map(|(speeds, prediction)| JsonRow { speeds, prediction }).collect();
    let text = serde_json::to_string_pretty(&serde_json::json!({ "worlds": forecast.rates(), "predictions": rows }));
    text.expect("predictions have string keys") + "\n"
}

fn table(forecast: &Forecast, rows: &[Row]) -> String {
    let mut text = String::new();
    for (world, place) in forecast.worlds.iter().zip(1..) {
        let (rates, serial) = (&world.model.rates, &world.model.serial);
        text += &format!(
            "world {place}: rates fitted to {} regions; the fitted time of a region is off by {:.1}%\n\
             \x20 per region {:.3} ms, micropolygon {:.1} ns, subpixel {:.2} ns, shaded vertex {:.1} ns, translucent entry {:.1} ns\n\
             \x20 host before {:.3} s, per device {:.3} s + {:.3} s of its own, counting {:.3} s, host after {:.3} s\n",
            world.fitted.regions,
            100.0 * world.fitted.relative_error,
            1e3 * rates.region_s,
            1e9 * rates.micropolygon_s,
            1e9 * rates.subpixel_s,
            1e9 * rates.shaded_vertex_s,
            1e9 * rates.entry_s,
            serial.before_s + serial.table_s,
            serial.open_s + serial.set_up_s,
            world.device.start_s,
            serial.counting_s,
            serial.after_s,
        );
    }
    text += "\ndevices  total s  drawing s  speed-up  (drawing)  efficiency  busy  regions  stolen\n";
    for (speeds, prediction) in rows {
        let busy: f64 = prediction.devices.iter().map(|device| device.busy_s).sum();
        let all: f64 = prediction.devices.iter().map(|device| device.busy_s + device.idle_s).sum();
        text += &format!(
            "{:>7}{:>9.3}{:>11.3}{:>10.2}{:>11.2}{:>11.0}%{:>5.0}%{:>9}{:>8}\n",
            speeds.len(),
            prediction.total_s,
            prediction.drawing_s,
            prediction.speed_up,
            prediction.drawing_speed_up,
            100.0 * prediction.efficiency,
            100.0 * busy / all,
            prediction.regions,
            prediction.stolen,
        );
    }
    text
}

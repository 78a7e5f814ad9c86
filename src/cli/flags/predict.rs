//! The flags of `anthill predict`.

use super::values::{SpeedList, parse_speeds};
use clap::Args;
use std::path::PathBuf;

/// Predict how long a render takes on other devices
#[derive(Debug, Args)]
#[command(after_help = PREDICT_HELP)]
pub(crate) struct PredictFlags {
    /// Statistics of a render on one device. Of several equal renders, medians are taken
    #[arg(required = true, value_name = "STATS.json")]
    pub(crate) stats: Vec<PathBuf>,

    /// Predict for 1, 2, 4 and so on up to N devices like the measured one
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) devices_max: u16,

    /// Predict for devices of these speeds instead, in multiples of the measured one's: 1,3
    #[arg(long, value_name = "LIST", value_parser = parse_speeds, conflicts_with = "devices_max")]
    pub(crate) speeds: Option<SpeedList>,

    /// Print JSON, with the work of each device
    #[arg(long)]
    pub(crate) json: bool,
}

const PREDICT_HELP: &str = "\
A cost model is fitted to the regions of the render, and the real scheduler runs with it on a virtual clock. A render \
on one device usually has too few regions to fit a model to: `--regions 40` gives it enough. Exits with 1 if nothing \
can be predicted.

Example:
  anthill render scene.rib --devices 0 --regions 40 --stats one.json
  anthill predict one.json";

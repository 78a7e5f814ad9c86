//! The flags of `anthill scale`.

use super::work::WorkFlags;
use clap::Args;
use std::path::PathBuf;

/// Measure the speed-up of several devices
#[derive(Debug, Args)]
#[command(after_help = SCALE_HELP)]
pub(crate) struct ScaleFlags {
    /// RIB file, plain or gzipped
    #[arg(value_name = "SCENE.rib")]
    pub(crate) scene: PathBuf,

    /// Devices that render together, as in `anthill render`; given once for each configuration. All are compared with
    /// the first one that names a single device
    #[arg(long, value_name = "WHICH", required = true)]
    pub(crate) devices: Vec<String>,

    /// How often to run each configuration
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: u32,

    /// Folder for the page, tables and pictures; created if it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    /// Restrict each run to as many cores as it has devices (Linux only), for CPU devices with one thread each
    /// (LP_NUM_THREADS=0)
    #[arg(long)]
    pub(crate) cpus: bool,

    #[command(flatten)]
    pub(crate) work: WorkFlags,
}

const SCALE_HELP: &str = "\
Each run is a separate `anthill render` process with the same flags and environment. Configurations take turns, round \
by round, so that a busy machine slows all of them alike. Before the first round, the drivers' caches of compiled \
kernels are filled; with --cpus for each number of cores, because drivers compile for the cores that they have.

In each of the first three rounds the single device runs once more with --regions 40. From these runs the study \
predicts, as `anthill predict` does, how long each configuration and up to 64 devices should take. Where it cannot, it \
says why.

Speed-up and efficiency go to standard output. DIR gets scale.html (one page with everything), scale.md, scale.json, \
scale.csv, runs.csv, the picture of world N as picture.N.exr, and which device rendered what in configuration N as \
drew.N.png.

Exits with 1 if a run fails, or if pictures differ that should be identical.

Examples:
  anthill scale shot.rib --devices 0 --devices 0,1 --devices 0,1,2,3 -o study
  LP_NUM_THREADS=0 anthill scale teapot.rib --devices 0 --devices 0,0 --cpus --repeat 9 -o study";

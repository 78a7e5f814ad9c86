//! The flags of `anthill scale`.

use super::values::parse_size;
use super::work::WorkFlags;
use anthill::scale::Scaling;
use anthill::scale::spread::RUNS_MIN;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Measure the speed-up of several devices
#[derive(Debug, Args)]
#[command(after_help = SCALE_HELP)]
pub(crate) struct ScaleFlags {
    /// RIB files, plain or gzipped; each is drawn by itself
    #[arg(required = true, value_name = "SCENE.rib")]
    pub(crate) scenes: Vec<PathBuf>,

    /// Devices that render together, as in `anthill render`; given once for each configuration. All are compared with
    /// the first one that names a single device
    #[arg(long, value_name = "WHICH", required = true)]
    pub(crate) devices: Vec<String>,

    /// Draw each scene at each of these sizes in pixels: 640x480,1280x960
    #[arg(long, value_name = "WxH,...", value_delimiter = ',', value_parser = parse_size, conflicts_with = "format")]
    pub(crate) sizes: Vec<[u32; 2]>,

    /// How the work depends on the number of devices
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ScalingMode::Strong)]
    pub(crate) scaling: ScalingMode,

    /// How often to run each configuration; 6 runs or more have an interval that contains the true median with a
    /// probability of 95%
    #[arg(long, value_name = "N", default_value_t = RUNS_MIN, value_parser = clap::value_parser!(u32).range(1..=1000))]
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

/// What `--scaling` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScalingMode {
    /// All numbers of devices draw the same picture
    Strong,
    /// N devices draw N times the pixels of --sizes
    Weak,
    /// Both, one after the other in each round
    Both,
}

impl ScalingMode {
    /// Returns the kinds of scaling that it stands for.
    pub(crate) fn list(self) -> &'static [Scaling] {
        match self {
            Self::Strong => &[Scaling::Strong],
            Self::Weak => &[Scaling::Weak],
            Self::Both => &[Scaling::Strong, Scaling::Weak],
        }
    }
}

const SCALE_HELP: &str = "\
Each run is a separate `anthill render` process with the same flags and environment. Scenes, sizes and configurations \
take turns, round by round, so that a busy machine slows all of them alike. Before the first round, the drivers' caches \
of compiled kernels are filled; with --cpus for each number of cores, because drivers compile for the cores that they \
have.

In each of the first three rounds the single device runs once more with --regions 40. From these runs the study \
predicts, as `anthill predict` does, how long each configuration and up to 64 devices should take. Where it cannot, it \
says why.

Medians come with intervals by order statistics. Figures that are in doubt are not called findings, and the reasons are \
listed: other programs kept the machine busy, times spread by more than 20%, prediction and measurement differ by more \
than 1.4 times, an efficiency exceeds 105%, devices share the cores of one processor, or there was a single run.

Speed-up and efficiency go to standard output. DIR gets scale.html (one page with everything), scale.md, scale.json, \
scale.csv, runs.csv, figure-*.svg, table.tex and figure-speed-up.tex for papers, the picture of world N as picture.N.exr, \
and which device rendered what in configuration N as drew.N.png (with several scenes picture.M.N.exr and drew.M.N.png).

A configuration of which a run fails is not run again with that scene; the others go on. After Ctrl-C, what was measured \
is written. Exits with 1 if a run failed, or if pictures differ that should be identical, and with 130 after Ctrl-C.

Examples:
  anthill scale shot.rib --devices 0 --devices 0,1 --devices 0,1,2,3 -o study
  anthill scale a.rib b.rib --sizes 640x480,1920x1080 --scaling both --devices 0 --devices 0,1 -o study
  LP_NUM_THREADS=0 anthill scale teapot.rib --devices 0 --devices 0,0 --cpus --repeat 9 -o study";

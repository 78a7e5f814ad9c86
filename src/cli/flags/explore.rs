//! The flags of `anthill explore`.

use super::values::pipelines;
use super::work::WorkFlags;
use anthill::pipeline::plan::NamedPipeline;
use clap::Args;
use std::path::PathBuf;

/// Measure the pipelines that can draw a scene, on each device, and keep the fastest
#[derive(Debug, Args)]
#[command(after_help = EXPLORE_HELP)]
pub(crate) struct ExploreFlags {
    /// RIB file, plain or gzipped. [default: a small scene of the program's own]
    #[arg(value_name = "SCENE.rib")]
    pub(crate) scene: Option<PathBuf>,

    /// Devices to measure, one after the other, as in `anthill render`. [default: one of each model that renders use]
    #[arg(long, value_name = "WHICH")]
    pub(crate) devices: Option<String>,

    /// Measure only these pipelines
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = pipelines())]
    pub(crate) pipelines: Vec<&'static NamedPipeline>,

    /// How often to run each pipeline
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: u32,

    /// Keep the fastest pipeline of each device for later renders on its model and driver, in
    /// $XDG_CACHE_HOME/anthill/pipelines.json. Those with buckets are not kept, because they cut the picture for all
    /// devices
    #[arg(long)]
    pub(crate) keep: bool,

    #[command(flatten)]
    pub(crate) work: WorkFlags,
}

const EXPLORE_HELP: &str = "\
Each run is a separate `anthill render` process with --pipeline NAME. Pipelines take turns, round by round, after a run \
of each that fills the drivers' caches. The pictures must be the same, bit for bit.

The program's own scene has opaque layers, translucent blades and something that moves. --format and --samples make \
it larger, for devices that draw it in an instant.

Exits with 1 if a run fails, or if pictures differ.

Examples:
  anthill explore --keep
  anthill explore shot.rib
  anthill explore teapot.rib --devices 0 --pipelines batches,batches-expanded --repeat 9 --keep";

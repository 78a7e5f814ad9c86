//! The flags of `anthill rib`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Copy, check and count the requests of scenes
#[derive(Debug, Subcommand)]
pub(crate) enum RibCommand {
    Cat(RibCatFlags),
    /// Read each scene with its archives, print what is wrong with it, and draw nothing
    Check(RibFiles),
    /// Count the requests of each scene; archives are not opened
    Stats(RibFiles),
    /// Print what is supported, as the RI's Renderer Resource File
    Capabilities,
}

/// Write the requests of scenes as text or in the binary encoding
///
/// What is written reads back as the same requests. Archives are not opened, and conditionals stay. Of comments, only
/// those that begin with ## and stand between requests are kept.
#[derive(Debug, Args)]
#[command(after_help = RIB_CAT_HELP)]
pub(crate) struct RibCatFlags {
    #[command(flatten)]
    pub(crate) scenes: RibFiles,

    /// Write to this file. [default: standard output]
    #[arg(short, long, value_name = "OUT.rib")]
    pub(crate) output: Option<PathBuf>,

    /// Write the binary encoding
    #[arg(short, long, conflicts_with = "indent")]
    pub(crate) binary: bool,

    /// Compress with gzip
    #[arg(short = 'z', long)]
    pub(crate) gzip: bool,

    /// Begin requests in blocks with N blanks for each block
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) indent: u8,
}

const RIB_CAT_HELP: &str = "\
Exits with 1 if something was left out, or the output cannot be written.

Examples:
  anthill rib cat --indent 4 scene.rib
  anthill rib cat --binary --gzip scene.rib -o scene.rib.gz";

/// Scenes to read.
#[derive(Debug, Args)]
pub(crate) struct RibFiles {
    /// RIB files, plain or gzipped; - is standard input
    #[arg(required = true, value_name = "SCENE.rib")]
    pub(crate) files: Vec<PathBuf>,
}

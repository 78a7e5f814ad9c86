//! The flags of `anthill man`.

use clap::Args;
use std::path::PathBuf;

/// Print the manual page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct ManFlags {
    /// Write anthill.1, anthill-render.1 and so on to this existing folder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

const MAN_HELP: &str = "\
Examples:
  anthill man | man -l -
  anthill man -o /usr/local/share/man/man1";

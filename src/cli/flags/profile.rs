//! The flags of `anthill profile`.

use super::render::RenderFlags;
use clap::Args;
use std::path::PathBuf;

/// Render scenes and show where the time went
#[derive(Debug, Args)]
#[command(about = "Render scenes and show where the time went", after_help = PROFILE_HELP)]
pub(crate) struct ProfileFlags {
    #[command(flatten)]
    pub(crate) render: RenderFlags,

    /// Print JSON instead of tables, with all rows
    #[arg(long)]
    pub(crate) json: bool,

    /// Do not count what parts of shading pipelines and lines of RSL cost: counting makes their kernels slower
    #[arg(long)]
    pub(crate) no_lines: bool,

    /// Write the profile as a page that needs no other file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) page: Option<PathBuf>,
}

const PROFILE_HELP: &str = "\
Takes all flags of `anthill render` and draws the same picture, with a pair of the device's timestamps around each \
kernel. Kernels that could run at once run one after another meanwhile. What measuring takes is printed too. A device \
without timestamps draws as usual, and the profile has no times of its kernels.

Examples:
  anthill profile scene.rib
  anthill profile scene.rib --devices 0 --page profile.html --trace trace.json
  anthill profile scene.rib -q --json > profile.json";

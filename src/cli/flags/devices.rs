//! The flags of `anthill devices`.

use clap::Args;

/// List every Vulkan device, and what it lacks
#[derive(Debug, Args)]
#[command(after_help = "Exits with 3 if no device can render.")]
pub(crate) struct DevicesFlags {
    /// Print JSON, with every feature and limit that is checked
    #[arg(long)]
    pub(crate) json: bool,
}

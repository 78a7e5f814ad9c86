//! The flags of `anthill preview`.

use super::values::parse_gain;
use clap::Args;
use std::path::PathBuf;

/// Convert an OpenEXR picture to an 8-bit sRGB PNG
#[derive(Debug, Args)]
#[command(
    after_help = "Pictures without colour become grey. A single channel is stretched from its smallest to its largest value.\n\
    \nExample:\n  anthill preview teapot.exr teapot.png --gain 2"
)]
pub(crate) struct PreviewFlags {
    /// Picture to read
    #[arg(value_name = "IN.exr")]
    pub(crate) input: PathBuf,
    /// Picture to write
    #[arg(value_name = "OUT.png")]
    pub(crate) output: PathBuf,
    /// Multiply colours by this
    #[arg(long, value_name = "GAIN", default_value = "1", value_parser = parse_gain, allow_negative_numbers = true)]
    pub(crate) gain: f32,
}

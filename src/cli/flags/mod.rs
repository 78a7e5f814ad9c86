//! The flags of all commands as data: names, values, help. The commands decide what they mean.

pub(crate) mod completions;
pub(crate) mod devices;
pub(crate) mod explore;
pub(crate) mod man;
pub(crate) mod predict;
pub(crate) mod preview;
pub(crate) mod profile;
pub(crate) mod render;
pub(crate) mod rib;
pub(crate) mod scale;
pub(crate) mod shader;
pub(crate) mod texture;
pub(crate) mod values;
pub(crate) mod work;

use clap::{Parser, Subcommand};
use completions::CompletionsFlags;
use devices::DevicesFlags;
use explore::ExploreFlags;
use man::ManFlags;
use predict::PredictFlags;
use preview::PreviewFlags;
use profile::ProfileFlags;
use render::RenderFlags;
use rib::RibCommand;
use scale::ScaleFlags;
use shader::ShaderCommand;
use texture::TextureCommand;

/// Renders RenderMan scenes (RIB and RSL) on every Vulkan device of the machine.
#[derive(Debug, Parser)]
#[command(
    name = "anthill",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    next_line_help = true,
    after_help = EXIT_CODES
)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    every display was written whole
  1    a display is missing or partial, or a scene could not be read whole
  2    wrong usage, or one file has two roles
  3    no usable device
  4    a limit of --max-time or --max-output was reached; finished pixels were written
  130  interrupted; finished pixels were written";

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Render(Box<RenderFlags>),
    Devices(DevicesFlags),
    #[command(subcommand)]
    Shader(ShaderCommand),
    #[command(subcommand)]
    Texture(TextureCommand),
    #[command(subcommand)]
    Rib(RibCommand),
    Scale(ScaleFlags),
    Explore(ExploreFlags),
    Predict(PredictFlags),
    Profile(Box<ProfileFlags>),
    Preview(PreviewFlags),
    Completions(CompletionsFlags),
    Man(ManFlags),
}

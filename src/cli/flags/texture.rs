//! The flags of `anthill texture`.

use super::values::ProgressMode;
use anthill::texture::{MakeFilter, WrapMode};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Make, describe, check and show textures
#[derive(Debug, Subcommand)]
pub(crate) enum TextureCommand {
    Make(TextureMakeFlags),
    /// Describe textures by their headers
    Info(TextureFiles),
    /// Read every tile of textures, and report what is damaged
    Check(TextureFiles),
    Convert(TextureConvertFlags),
}

/// Make a tiled texture with levels, an environment map, a shadow map or an occlusion map from pictures, or a brick map
/// from points
///
/// Pictures are TIFF, OpenEXR, PNG, JPEG, Radiance HDR or Targa. The texture is TIFF if it holds 8 or 16 bits, and
/// OpenEXR if it holds halves or floats, whatever its name.
#[derive(Debug, Args)]
pub(crate) struct TextureMakeFlags {
    /// Pictures: one, for a cube six (px nx py ny pz nz), for an occlusion map any number of depth files; or for a
    /// brick map files of points
    #[arg(required = true, value_name = "PICTURE")]
    pub(crate) pictures: Vec<PathBuf>,

    /// The texture to write
    #[arg(short, long, value_name = "TEXTURE")]
    pub(crate) output: PathBuf,

    /// What to make: plain, latlong, cube, shadow (from a depth file), occlusion (from depth files) or brickmap (from
    /// files of points)
    #[arg(long, value_name = "KIND", default_value = "plain")]
    pub(crate) kind: TextureKindFlag,

    /// What is seen outside of the texture: black, clamp, periodic or mirror; or one along s and one along t, as in
    /// periodic,clamp
    #[arg(long, value_name = "MODES", default_value = "black", value_parser = parse_wraps)]
    pub(crate) wrap: [WrapMode; 2],

    /// How smaller levels are filtered: box, triangle, gaussian, catmull-rom, b-spline, mitchell, sinc or lanczos.
    /// Otherwise lanczos where all values are from 0 to 1, or else box
    #[arg(long, value_name = "NAME", value_parser = parse_make_filter)]
    pub(crate) filter: Option<MakeFilter>,

    /// Width of the filter in texels of the smaller level, if not its own
    #[arg(long, value_name = "TEXELS", value_parser = parse_filter_width)]
    pub(crate) filter_width: Option<f32>,

    /// What channels are stored as: 8, 16, half or float. Otherwise as in the picture
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<TexelFlag>,

    /// Resize to powers of two: none, up or down. Faces of cubes always are
    #[arg(long, value_name = "MODE", default_value = "none")]
    pub(crate) resize: ResizeFlag,

    /// Make colours of 8 bits linear, as they are sRGB; they are stored with 16 bits unless --format says otherwise
    #[arg(long)]
    pub(crate) srgb: bool,

    /// Keep colours as they are where alpha is separate, as in PNG, instead of multiplying them with it
    #[arg(long)]
    pub(crate) keep_alpha: bool,

    /// Leave a texture alone that is newer than its pictures and of the same kind, wrap and --format
    #[arg(short, long)]
    pub(crate) update: bool,

    /// How to show progress on standard error
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ProgressMode::Auto)]
    pub(crate) progress: ProgressMode,
}

/// Write a level of a texture as a plain picture: OpenEXR, or PNG of 8 or 16 bits
#[derive(Debug, Args)]
pub(crate) struct TextureConvertFlags {
    /// The texture
    #[arg(value_name = "TEXTURE")]
    pub(crate) texture: PathBuf,

    /// The picture to write (.exr or .png)
    #[arg(value_name = "PICTURE")]
    pub(crate) picture: PathBuf,

    /// Which level: 0 is the largest
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) level: u32,
}

/// The textures of a command.
#[derive(Debug, Args)]
pub(crate) struct TextureFiles {
    /// Textures
    #[arg(required = true, value_name = "TEXTURE")]
    pub(crate) files: Vec<PathBuf>,
}

/// What `anthill texture make` makes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TextureKindFlag {
    Plain,
    Latlong,
    Cube,
    Shadow,
    Occlusion,
    Brickmap,
}

/// What the channels of a texture are stored as.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TexelFlag {
    #[value(name = "8")]
    U8,
    #[value(name = "16")]
    U16,
    Half,
    Float,
}

/// How a picture is resized to powers of two.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ResizeFlag {
    None,
    Up,
    Down,
}

/// Modes along s and t; one counts for both.
fn parse_wraps(text: &str) -> Result<[WrapMode; 2], String> {
    let modes: Option<Vec<_>> = text.split(',').map(WrapMode::named).collect();
    match modes.as_deref() {
        Some(&[both]) => Ok([both; 2]),
        Some(&[s, t]) => Ok([s, t]),
        _ => Err("it is not black, clamp, periodic or mirror, nor two of these as in periodic,clamp".into()),
    }
}

fn parse_make_filter(name: &str) -> Result<MakeFilter, String> {
    let known = || MakeFilter::names().collect::<Vec<_>>().join(", ");
    MakeFilter::named(name).ok_or_else(|| format!("there is no such filter; there are {}", known()))
}

fn parse_filter_width(text: &str) -> Result<f32, String> {
    let width = text.parse().ok().filter(|width| (0.1..=64.0).contains(width));
    width.ok_or_else(|| "it is not a number from 0.1 to 64".into())
}

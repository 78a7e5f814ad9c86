//! The flags of all commands as data: names, values, help. The commands decide what they mean.

use super::explore_flags::ExploreFlags;
use super::rib_flags::RibCommand;
use super::texture_flags::TextureCommand;
use super::units::{
    CalibrateAfter, CoreCount, SpeedList, parse_bytes, parse_calibrate_after, parse_cores, parse_count, parse_frames,
    parse_gain, parse_number, parse_seconds, parse_speeds, pipelines,
};
use anthill::film::{OutputName, check_driver};
use anthill::options::Frames;
use anthill::pipeline::plan::NamedPipeline;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// After how much drawing pipelines are measured automatically; what builds for debugging would measure is no guide.
const CALIBRATE_AFTER: &str = if cfg!(debug_assertions) { "never" } else { "15m" };

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
pub(super) struct Flags {
    #[command(subcommand)]
    pub(super) command: CliCommand,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    every display was written whole
  1    a display is missing or partial, or a scene could not be read whole
  2    wrong usage, or one file has two roles
  3    no usable device
  130  interrupted; finished pixels were written";

#[derive(Debug, Subcommand)]
pub(super) enum CliCommand {
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
    Preview(PreviewFlags),
    Completions(CompletionsFlags),
    Man(ManFlags),
}

/// Render scenes
#[derive(Debug, Args)]
#[command(after_help = RENDER_EXAMPLES)]
pub(super) struct RenderFlags {
    /// RIB files, plain or gzipped, read one after the other as one stream, in which one that begins with `version`
    /// starts from the defaults; - is standard input
    #[arg(required = true, value_name = "SCENE.rib")]
    pub(super) scenes: Vec<PathBuf>,

    /// Write the primary picture of each world to this file; .exr, .tif, .tiff or .png chooses the format. # becomes
    /// the frame number: one # means four digits, several mean that many
    #[arg(short, long, value_name = "OUT", value_parser = OutputName::parse)]
    pub(super) output: Option<OutputName>,

    /// Write the primary picture of each world with this display driver, whatever the scene's Display says: exr, tiff,
    /// png, zfile, framebuffer, null. The file's name stays
    #[arg(short, long, value_name = "TYPE", value_parser = check_driver)]
    pub(super) display_type: Option<String>,

    /// RIB requests to read before each scene, such as Options. A scene's own requests come later and win. May be given
    /// several times
    #[arg(long, value_name = "TEXT")]
    pub(super) option: Vec<String>,

    #[command(flatten)]
    pub(super) folders: FolderFlags,

    /// Devices to use: all, alike (the largest group of identical ones), or a list of indices and parts of names from
    /// `anthill devices`, as in 0,1,0 or nvidia
    #[arg(long, value_name = "WHICH", default_value = "all")]
    pub(super) devices: String,

    /// Use at most N cores of the processor, for CPU devices and everything else (Linux only). 0 is all of them, -1 all
    /// but one
    #[arg(short, long, value_name = "N", value_parser = parse_cores, allow_hyphen_values = true)]
    pub(super) threads: Option<CoreCount>,

    #[command(flatten)]
    pub(super) work: WorkFlags,

    /// Print only errors and warnings: no progress, no notes, no summary
    #[arg(short, long, conflicts_with = "verbose")]
    pub(super) quiet: bool,

    /// Print also which devices are used and what each did, and every message that occurred more than once
    #[arg(short, long)]
    pub(super) verbose: bool,

    /// How to show progress on standard error
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ProgressMode::Auto)]
    pub(super) progress: ProgressMode,

    /// Write times and counts as JSON
    #[arg(long, value_name = "FILE.json")]
    pub(super) stats: Option<PathBuf>,

    /// Write a timeline of all devices, regions and stages, which opens in ui.perfetto.dev
    #[arg(long, value_name = "FILE.json")]
    pub(super) trace: Option<PathBuf>,

    /// Read the scene, compile its shaders and test its outputs, but render nothing; needs no device
    #[arg(long)]
    pub(super) check: bool,

    /// Exit with 1 if any error was survived or geometry was left out, even if every display is whole
    #[arg(long)]
    pub(super) strict: bool,

    /// Save finished pixels to this file while rendering. It is removed when every display has been written whole
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(super) checkpoint: Option<PathBuf>,

    /// Save finished pixels this often, in regions cut to match: 30, 90s, 5m. Less than a few seconds cuts the picture
    /// into small regions, which costs time
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, default_value = "30s", requires = "checkpoint")]
    pub(super) checkpoint_interval: Duration,

    /// Render only what is missing from the checkpoint; the picture has the same bits. Refused if scene, flags, devices
    /// or program have changed
    #[arg(long, requires = "checkpoint")]
    pub(super) resume: bool,

    /// Begin with about N regions of different sizes (40 is enough), for `anthill predict`; the picture is the same
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(super) regions: Option<NonZeroUsize>,

    /// How pictures are drawn, see `anthill explore`; the picture is the same. [default: what that kept for the device,
    /// or else batches]
    #[arg(long, value_name = "NAME", value_parser = pipelines())]
    pub(super) pipeline: Option<&'static NamedPipeline>,

    /// When devices have drawn for this long in all without a pipeline kept for them, measure after the render which
    /// one is the fastest, once, and keep it, see `anthill explore`: 90s, 15m, never
    #[arg(long, value_name = "TIME", value_parser = parse_calibrate_after, default_value = CALIBRATE_AFTER)]
    pub(super) calibrate_after: CalibrateAfter,

    /// Run the programs that scenes name: those of Procedural "RunProgram", and of archives whose name begins with |.
    /// Only for scenes that you trust
    #[arg(long, conflicts_with = "confine")]
    pub(super) allow_programs: bool,

    /// Give up a program that needs longer than this for an answer: 30, 90s, 5m
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, default_value = "60s", requires = "allow_programs")]
    pub(super) program_timeout: Duration,

    /// Read and write files only in this folder, wherever links lead; for scenes from others
    #[arg(long, value_name = "DIR")]
    pub(super) confine: Option<PathBuf>,

    /// Run under Vulkan's validation layers and report what they find
    #[arg(long)]
    pub(super) validate: bool,

    /// Give up a device that makes no progress, or a texture's file that does not answer, for this long: 30, 90s, 5m. A
    /// device's work goes to the others. [default: 60s, and 10m for compiling one kernel, which shows no progress]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    pub(super) timeout: Option<Duration>,
}

/// Folders in which files are searched.
#[derive(Debug, Args)]
pub(super) struct FolderFlags {
    /// Folders to search for shaders before those of the scene, separated by colons. Those in ANTHILL_SHADERS are
    /// searched last
    #[arg(long, value_name = "PATH")]
    pub(super) shaders: Option<String>,

    /// Folders to search for textures, as for shaders; also ANTHILL_TEXTURES
    #[arg(long, value_name = "PATH")]
    pub(super) textures: Option<String>,

    /// Folders to search for RIB archives, as for shaders; also ANTHILL_ARCHIVES
    #[arg(long, value_name = "PATH")]
    pub(super) archives: Option<String>,

    /// Folders to search for display drivers, as for shaders; also ANTHILL_DISPLAYS. All drivers are built in: this has
    /// no effect yet
    #[arg(long, value_name = "PATH")]
    pub(super) displays: Option<String>,

    /// Folders to search for the programs of procedurals, as for shaders; also ANTHILL_PROCEDURALS
    #[arg(long, value_name = "PATH")]
    pub(super) procedurals: Option<String>,
}

const RENDER_EXAMPLES: &str = "\
Examples:
  anthill render teapot.rib
  anthill render teapot.rib -o teapot.png --format 1920 1080 --samples 8 8
  anthill render teapot.rib -d tiff -t 2 -q --option 'PixelFilter \"box\" 1 1'
  anthill render shot.rib --frames 1-24 -o 'shot.####.exr' --progress percent
  anthill render long.rib --checkpoint long.ckpt --resume
  anthill render scene.rib --crop 0.4 0.6 0.4 0.6 --stats stats.json --trace trace.json
  gunzip -c scene.rib.gz | anthill render - --devices 0,1 --memory 2G";

/// What is rendered of a scene, and how much memory it may take.
#[derive(Debug, Args)]
pub(super) struct WorkFlags {
    /// Device memory that each opened device may take: 512M, 2G, 1.5GiB. [default: three quarters of what it has]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(super) memory: Option<u64>,

    /// Device memory for tiles of textures of each opened device, from 4M to 1G, instead of the scene's Option "limits"
    /// "texturememory". [default: a quarter of its memory, at most 256M]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(super) texture_memory: Option<u64>,

    /// Host memory that scenes may take: their text (at most half of it), their geometry (as read and as devices need
    /// it) and films. What does not fit is left out with an error, and what came before it is rendered. [default: half
    /// of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(super) host_memory: Option<u64>,

    /// Render only these frames: 1-10,12
    #[arg(long, value_name = "LIST", value_parser = parse_frames, allow_hyphen_values = true)]
    pub(super) frames: Option<Frames>,

    /// Picture size in pixels
    #[arg(long, num_args = 2, value_names = ["W", "H"], value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) format: Option<Vec<u32>>,

    /// Part of the picture to render, from 0 to 1: left and right, top and bottom
    #[arg(long, num_args = 4, value_names = ["X0", "X1", "Y0", "Y1"], value_parser = parse_number, allow_negative_numbers = true)]
    pub(super) crop: Option<Vec<f64>>,

    /// Samples per pixel in x and y
    #[arg(long, num_args = 2, value_names = ["X", "Y"], value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) samples: Option<Vec<u32>>,

    /// Area of a micropolygon in pixels, for every primitive
    #[arg(long, value_name = "R", value_parser = parse_number, allow_negative_numbers = true)]
    pub(super) shading_rate: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProgressMode {
    /// A bar if standard error is a terminal
    Auto,
    /// A bar, on a terminal
    Bar,
    /// Lines like `R90000   45%`, for render farms
    Percent,
    /// No progress
    Off,
}

/// List every Vulkan device, and what it lacks
#[derive(Debug, Args)]
#[command(after_help = "Exits with 3 if no device can render.")]
pub(super) struct DevicesFlags {
    /// Print JSON, with every feature and limit that is checked
    #[arg(long)]
    pub(super) json: bool,
}

/// Compile and describe RSL shaders
#[derive(Debug, Subcommand)]
pub(super) enum ShaderCommand {
    Compile(ShaderCompileFlags),
    Info(ShaderInfoFlags),
}

/// Compile RSL to SPIR-V, one stand-alone kernel for each shader
#[derive(Debug, Args)]
#[command(after_help = SHADER_COMPILE_HELP)]
pub(super) struct ShaderCompileFlags {
    #[command(flatten)]
    pub(super) sources: ShaderSources,

    /// File for a single shader, or an existing folder. [default: SHADER.spv in the current folder]
    #[arg(short, long, value_name = "OUT.spv")]
    pub(super) output: Option<PathBuf>,

    /// Print the optimised program as text instead of writing files
    #[arg(long, conflicts_with = "output")]
    pub(super) ir: bool,
}

const SHADER_COMPILE_HELP: &str = "\
Parameters come from the kernel's parameter block. A surface is lit by the standard lights \"ambientlight\" and \
\"distantlight\"; a light illuminates the standard surface \"matte\". `anthill render` compiles .sl files itself; use \
this command to inspect the result, or to check for errors.

Exits with 1 if a shader has errors or cannot be written.

Examples:
  anthill shader compile wood.sl
  anthill shader compile wood.sl brick.sl -o kernels/
  anthill shader compile plastic --ir";

/// Show the kinds of shaders and their parameters, with types and defaults
#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 1 if a shader has errors.\n\nExamples:\n  anthill shader info wood.sl\n  anthill shader info \
    plastic --json"
)]
pub(super) struct ShaderInfoFlags {
    #[command(flatten)]
    pub(super) sources: ShaderSources,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The sources of shaders.
#[derive(Debug, Args)]
pub(super) struct ShaderSources {
    /// Shader sources (- is standard input), or names of standard shaders
    #[arg(required = true, value_name = "FILE.sl|NAME")]
    pub(super) files: Vec<PathBuf>,

    /// Search this folder for #include files too
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    pub(super) includes: Vec<PathBuf>,

    /// Define a macro: NAME or NAME=VALUE
    #[arg(short = 'D', long = "define", value_name = "MACRO")]
    pub(super) defines: Vec<String>,
}

/// Measure the speed-up of several devices
#[derive(Debug, Args)]
#[command(after_help = SCALE_HELP)]
pub(super) struct ScaleFlags {
    /// RIB file, plain or gzipped
    #[arg(value_name = "SCENE.rib")]
    pub(super) scene: PathBuf,

    /// Devices that render together, as in `anthill render`; given once for each configuration. All are compared with
    /// the first one that names a single device
    #[arg(long, value_name = "WHICH", required = true)]
    pub(super) devices: Vec<String>,

    /// How often to run each configuration
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) repeat: u32,

    /// Folder for the page, tables and pictures; created if it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: PathBuf,

    /// Restrict each run to as many cores as it has devices (Linux only), for CPU devices with one thread each
    /// (LP_NUM_THREADS=0)
    #[arg(long)]
    pub(super) cpus: bool,

    #[command(flatten)]
    pub(super) work: WorkFlags,
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

/// Predict how long a render takes on other devices
#[derive(Debug, Args)]
#[command(after_help = PREDICT_HELP)]
pub(super) struct PredictFlags {
    /// Statistics of a render on one device. Of several equal renders, medians are taken
    #[arg(required = true, value_name = "STATS.json")]
    pub(super) stats: Vec<PathBuf>,

    /// Predict for 1, 2, 4 and so on up to N devices like the measured one
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) devices_max: u16,

    /// Predict for devices of these speeds instead, in multiples of the measured one's: 1,3
    #[arg(long, value_name = "LIST", value_parser = parse_speeds, conflicts_with = "devices_max")]
    pub(super) speeds: Option<SpeedList>,

    /// Print JSON, with the work of each device
    #[arg(long)]
    pub(super) json: bool,
}

const PREDICT_HELP: &str = "\
A cost model is fitted to the regions of the render, and the real scheduler runs with it on a virtual clock. A render \
on one device usually has too few regions to fit a model to: `--regions 40` gives it enough. Exits with 1 if nothing \
can be predicted.

Example:
  anthill render scene.rib --devices 0 --regions 40 --stats one.json
  anthill predict one.json";

/// Convert an OpenEXR picture to an 8-bit sRGB PNG
#[derive(Debug, Args)]
#[command(
    after_help = "Pictures without colour become grey. A single channel is stretched from its smallest to its largest value.\n\
    \nExample:\n  anthill preview teapot.exr teapot.png --gain 2"
)]
pub(super) struct PreviewFlags {
    /// Picture to read
    #[arg(value_name = "IN.exr")]
    pub(super) input: PathBuf,
    /// Picture to write
    #[arg(value_name = "OUT.png")]
    pub(super) output: PathBuf,
    /// Multiply colours by this
    #[arg(long, value_name = "GAIN", default_value = "1", value_parser = parse_gain, allow_negative_numbers = true)]
    pub(super) gain: f32,
}

/// Print a script that completes commands and flags in a shell
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(super) struct CompletionsFlags {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(super) shell: Shell,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  anthill completions bash > ~/.local/share/bash-completion/completions/anthill
  anthill completions zsh > ~/.zfunc/_anthill
  anthill completions fish > ~/.config/fish/completions/anthill.fish";

/// Print the manual page, or write those of all commands
#[derive(Debug, Args)]
#[command(after_help = MAN_HELP)]
pub(super) struct ManFlags {
    /// Write anthill.1, anthill-render.1 and so on to this existing folder
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
}

const MAN_HELP: &str = "\
Examples:
  anthill man | man -l -
  anthill man -o /usr/local/share/man/man1";

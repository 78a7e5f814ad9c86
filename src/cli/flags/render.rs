//! The flags of `anthill render`.

use super::values::{
    BreadcrumbMode, CalibrateAfter, CoreCount, ProgressMode, parse_bytes, parse_calibrate_after, parse_capture_region,
    parse_cores, parse_count, parse_seconds, pipelines,
};
use super::work::WorkFlags;
use anthill::film::{OutputName, check_driver};
use anthill::options::CaptureRegion;
use anthill::pipeline::plan::NamedPipeline;
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Render scenes
#[derive(Debug, Args)]
#[command(after_help = RENDER_EXAMPLES)]
pub(crate) struct RenderFlags {
    /// RIB files, plain or gzipped, read one after the other as one stream, in which one that begins with `version`
    /// starts from the defaults; - is standard input
    #[arg(required = true, value_name = "SCENE.rib")]
    pub(crate) scenes: Vec<PathBuf>,

    /// Write the primary picture of each world to this file; .exr, .tif, .tiff or .png chooses the format. # becomes
    /// the frame number: one # means four digits, several mean that many
    #[arg(short, long, value_name = "OUT", value_parser = OutputName::parse)]
    pub(crate) output: Option<OutputName>,

    /// Write the primary picture of each world with this display driver, whatever the scene's Display says: exr, tiff,
    /// png, zfile, framebuffer, null. The file's name stays
    #[arg(short, long, value_name = "TYPE", value_parser = check_driver)]
    pub(crate) display_type: Option<String>,

    /// RIB requests to read before each scene, such as Options. A scene's own requests come later and win. May be given
    /// several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) option: Vec<String>,

    /// Edits to make of each world: RIB with EditBegin and EditEnd around what they change. May be given several times,
    /// in order
    #[arg(long, value_name = "FILE.rib")]
    pub(crate) edits: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderFlags,

    /// Devices to use: all, alike (the largest group of identical ones), or a list of indices and parts of names from
    /// `anthill devices`, as in 0,1,0 or nvidia
    #[arg(long, value_name = "WHICH", default_value = "all")]
    pub(crate) devices: String,

    /// Use at most N cores of the processor, for CPU devices and everything else (Linux only). 0 is all of them, -1 all
    /// but one
    #[arg(short, long, value_name = "N", value_parser = parse_cores, allow_hyphen_values = true)]
    pub(crate) threads: Option<CoreCount>,

    #[command(flatten)]
    pub(crate) work: WorkFlags,

    /// Print only errors and warnings: no progress, no notes, no summary
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print also which devices are used and what each did, and every message that occurred more than once
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// How to show progress on standard error
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ProgressMode::Auto)]
    pub(crate) progress: ProgressMode,

    /// Write times and counts as JSON
    #[arg(long, value_name = "FILE.json")]
    pub(crate) stats: Option<PathBuf>,

    /// Write a timeline of all devices, regions and stages, which opens in ui.perfetto.dev
    #[arg(long, value_name = "FILE.json")]
    pub(crate) trace: Option<PathBuf>,

    /// After the first picture, draw one of its regions again for RenderDoc, and write what its device does to this
    /// file. It holds the contents of device memory, of which it uses 64M unless --memory is given
    #[arg(long, value_name = "OUT.rdc", conflicts_with_all = ["check", "validate"])]
    pub(crate) capture: Option<PathBuf>,

    /// The region for --capture: slowest, its number from 0 as --stats lists them, or a pixel X,Y that it holds
    #[arg(long, value_name = "WHICH", value_parser = parse_capture_region, default_value = "slowest", requires = "capture")]
    #[arg(allow_hyphen_values = true)]
    pub(crate) capture_region: CaptureRegion,

    /// When devices note after each kernel that it is done, so that messages about lost and hanging devices name the
    /// kernel that they were in. Kernels that could run at once then run one after another
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = BreadcrumbMode::Auto)]
    pub(crate) breadcrumbs: BreadcrumbMode,

    /// Write a page that shows the picture, which device drew what, maps of time, micropolygons and texture misses,
    /// stages, memory and warnings
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// Read the scene, compile its shaders and test its outputs, but render nothing; needs no device
    #[arg(long)]
    pub(crate) check: bool,

    /// Exit with 1 if any error was survived or geometry was left out, even if every display is whole
    #[arg(long)]
    pub(crate) strict: bool,

    /// Save finished pixels to this file while rendering. It is removed when every display has been written whole
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Save finished pixels this often, in regions cut to match: 30, 90s, 5m. Less than a few seconds cuts the picture
    /// into small regions, which costs time
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, default_value = "30s", requires = "checkpoint")]
    pub(crate) checkpoint_interval: Duration,

    /// Render only what is missing from the checkpoint; the picture has the same bits. Refused if scene, flags, devices
    /// or program have changed
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,

    /// End after this long, whatever the scene takes: what is finished is written, the checkpoint stays, and the exit
    /// code is 4: 90s, 30m
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    pub(crate) max_time: Option<Duration>,

    /// End once pictures and textures take this much on disk: a file that would exceed it is not written, the
    /// checkpoint stays, and the exit code is 4: 500M, 20G
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) max_output: Option<u64>,

    /// Begin with about N regions of different sizes (40 is enough), for `anthill predict`; the picture is the same
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) regions: Option<NonZeroUsize>,

    /// How pictures are drawn, see `anthill explore`; the picture is the same. [default: what that kept for the device,
    /// or else batches, and on GPUs batches-expanded]
    #[arg(long, value_name = "NAME", value_parser = pipelines())]
    pub(crate) pipeline: Option<&'static NamedPipeline>,

    /// When devices have drawn for this long in all without a pipeline kept for them, measure after the render which
    /// one is the fastest, and keep it, see `anthill explore`: 90s, 15m, never. It takes no longer than the
    /// render did, and at most 10 s. [default: 15m on a terminal, or else never]
    #[arg(long, value_name = "TIME", value_parser = parse_calibrate_after)]
    pub(crate) calibrate_after: Option<CalibrateAfter>,

    /// Run the programs that scenes name: those of Procedural "RunProgram", and of archives whose name begins with |.
    /// Only for scenes that you trust
    #[arg(long, conflicts_with = "confine")]
    pub(crate) allow_programs: bool,

    /// Give up a program that needs longer than this for an answer: 30, 90s, 5m
    #[arg(long, value_name = "TIME", value_parser = parse_seconds, default_value = "60s", requires = "allow_programs")]
    pub(crate) program_timeout: Duration,

    /// Read and write files only in this folder, wherever links lead; for scenes from others
    #[arg(long, value_name = "DIR")]
    pub(crate) confine: Option<PathBuf>,

    /// Run under Vulkan's validation layers and report what they find
    #[arg(long)]
    pub(crate) validate: bool,

    /// Give up a device that makes no progress, or a texture's file that does not answer, for this long: 30, 90s, 5m. A
    /// device's work goes to the others. Compiling one kernel may take ten times as long [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_seconds)]
    pub(crate) timeout: Option<Duration>,
}

/// Folders in which files are searched.
#[derive(Debug, Args)]
pub(crate) struct FolderFlags {
    /// Folders to search for shaders before those of the scene, separated by colons. Those in ANTHILL_SHADERS are
    /// searched last
    #[arg(long, value_name = "PATH")]
    pub(crate) shaders: Option<String>,

    /// Folders to search for textures, as for shaders; also ANTHILL_TEXTURES
    #[arg(long, value_name = "PATH")]
    pub(crate) textures: Option<String>,

    /// Folders to search for RIB archives, as for shaders; also ANTHILL_ARCHIVES
    #[arg(long, value_name = "PATH")]
    pub(crate) archives: Option<String>,

    /// Folders to search for display drivers, as for shaders; also ANTHILL_DISPLAYS. All drivers are built in: this has
    /// no effect yet
    #[arg(long, value_name = "PATH")]
    pub(crate) displays: Option<String>,

    /// Folders to search for the programs of procedurals, as for shaders; also ANTHILL_PROCEDURALS
    #[arg(long, value_name = "PATH")]
    pub(crate) procedurals: Option<String>,
}

const RENDER_EXAMPLES: &str = "\
Examples:
  anthill render teapot.rib
  anthill render teapot.rib -o teapot.png --format 1920 1080 --samples 8 8
  anthill render teapot.rib -d tiff -t 2 -q --option 'PixelFilter \"box\" 1 1'
  anthill render shot.rib --frames 1-24 -o 'shot.####.exr' --progress percent
  anthill render long.rib --checkpoint long.ckpt --resume
  anthill render scene.rib --crop 0.4 0.6 0.4 0.6 --stats stats.json --trace trace.json
  anthill render scene.rib --regions 40 --report report.html
  gunzip -c scene.rib.gz | anthill render - --devices 0,1 --memory 2G";

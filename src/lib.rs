//! A renderer for RenderMan scenes (RIB with RSL shaders): the Reyes algorithm, every stage a Vulkan compute kernel, on
//! every device of the machine at once.
//!
//! # Rendering a scene
//!
//! [`render()`] takes [`RenderOptions`], which hold the meaning of each flag of the command line. It reports problems
//! to a [`Reporter`], notifies an [`Observer`] of its progress and asks it whether to stop, writes the displays of the
//! scene, and returns an [`Outcome`]. It prints nothing.
//!
//! ```no_run
//! use anthill::diagnostic::Reporter;
//! use anthill::options::{Overrides, RenderOptions};
//! use std::sync::Arc;
//!
//! let reporter = Arc::new(Reporter::new(|message| eprintln!("{message}")));
//! let options = RenderOptions {
//!     scenes: vec!["scene.rib".into()],
//!     devices: "all".to_owned(),
//!     overrides: Overrides { format: Some([320, 240]), ..Overrides::default() },
//!     ..RenderOptions::default()
//! };
//! // An observer that ignores everything and never stops the render.
//! let outcome = anthill::render(&options, &reporter, &());
//! for display in &outcome.displays {
//!     println!("{}: {:?}", display.path.display(), display.state);
//! }
//! ```
//!
//! # The parts
//!
//! A world goes through these modules, and [`render()`] connects them:
//!
//! ```text
//! RIB bytes --rib--> scene: primitives + attribute states + options, fixed at WorldBegin
//! RSL text --spirv-gen--> SPIR-V --shading--> programs, one for each combination of shaders; a look for each drawable
//!
//! once a world    bound_split: every device counts a share of the primitives --> grids, micropolygons per 16x16 pixels
//! once a region   select -> [ dice -> displace -> hide ], nearest first
//!                 -> [ sample -> shade -> composite ] translucent grids
//!                 -> shade visible grids -> composite -> filter
//!                 pipeline records what runs, schedule decides which device renders which region, gpu runs it
//!
//! finished regions --film--> exposed, imaged, quantized: EXR, TIFF, PNG, depth files
//! ```
//!
//! Some are of use by themselves: [`rib`] reads, checks and writes scenes, [`texture`] makes and reads textures,
//! [`points`] files of points, [`deep`] deep shadow maps, [`gpu`] lists devices, and [`forecast`] predicts the speed-up
//! of several devices. The repository's ARCHITECTURE.md has a map of the code.

#![deny(unsafe_code)]

pub mod deep;
pub mod diagnostic;
mod exr_blocks;
pub mod files;
pub mod film;
pub mod forecast;
pub mod gpu;
pub mod heap;
pub mod host_memory;
pub mod line_profile;
pub mod options;
pub mod outcome;
mod parallel;
pub mod pipeline;
pub mod pipeline_choice;
pub mod points;
pub mod profile;
pub mod progress;
pub mod render;
pub mod rib;
pub mod scale;
pub mod scene;
pub mod schedule;
pub mod shading;
pub mod stats;
pub mod texture;
pub mod trace;

pub use render::live;

use diagnostic::Reporter;
use gpu::KeptDevices;
use options::RenderOptions;
use outcome::Outcome;
use progress::Observer;
use std::sync::Arc;

/// Renders every world of the scenes and writes its displays.
///
/// Bad input is reported and survived. `observer` is notified of every world, and of progress several times a second,
/// from any thread. When its interrupt is raised, regions in progress are given up, and finished pixels are written as
/// partial pictures. The caller fills in the statistics that concern the whole program: version, scene, wall time,
/// outputs and warnings.
pub fn render(options: &RenderOptions, reporter: &Arc<Reporter>, observer: &dyn Observer) -> Outcome {
    render::run(options, reporter, observer, None)
}

/// Renders as [`render()`], on devices that an earlier render of this process left in `kept`, if there are such, and
/// leaves its own there, so that later renders compile no kernel again.
pub fn render_on_kept(
    options: &RenderOptions,
    reporter: &Arc<Reporter>,
    observer: &dyn Observer,
    kept: &KeptDevices,
) -> Outcome {
    render::run(options, reporter, observer, Some(kept))
}

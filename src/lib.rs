//! anthill renders RenderMan scenes with the Reyes algorithm, every stage in Vulkan compute kernels, on every device of
//! the machine.
//!
//! The path of the data:
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
//! [`render()`] connects the parts. It takes [`RenderOptions`], reports problems to a [`Reporter`], notifies an
//! [`Observer`] of progress and asks it whether to stop, and returns an [`Outcome`]. It prints nothing; the command
//! line does.

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
pub mod options;
pub mod outcome;
mod parallel;
pub mod pipeline;
pub mod pipeline_choice;
pub mod points;
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

use diagnostic::Reporter;
use options::RenderOptions;
use outcome::Outcome;
use progress::Observer;
use std::sync::Arc;

/// Renders every world of the scenes and writes its displays.
///
/// Bad input is reported and survived. `observer` is notified of every world and of finished pixels, from any thread.
/// When it cancels, regions in progress are finished and partial pictures are written. The caller fills in the
/// statistics that concern the whole program: version, scene, wall time, outputs and warnings.
pub fn render(options: &RenderOptions, reporter: &Arc<Reporter>, observer: &dyn Observer) -> Outcome {
    render::run(options, reporter, observer)
}

//! anthill renders RenderMan scenes with the Reyes algorithm, every stage in Vulkan compute kernels, on every device of the machine.
//!
//! The way of the data:
//!
//! ```text
//! RIB bytes --rib--> scene: primitives + attribute states + options, frozen at WorldBegin
//! RSL text --spirv-gen--> SPIR-V --shading--> programs, one for each combination of shaders, and a look for each drawable
//!
//! once a world    bound_split: every device counts a share of the primitives  -->  grids, micropolygons per 16x16 pixels
//! once a region   select -> [ dice -> displace -> hide ] nearest first -> [ sample -> shade -> composite ] what is translucent
//!                 -> shade what is seen -> composite -> filter
//!                 pipeline says what runs, schedule says which device draws which region, gpu makes it run
//!
//! finished regions --film--> exposed, imaged, quantized: EXR, TIFF, PNG, depth files
//! ```
//!
//! [`render()`] plugs the parts together. It takes typed [`RenderOptions`], tells a
//! [`Reporter`] what is wrong, tells an [`Observer`] how far it is and asks it whether to stop, and
//! returns an [`Outcome`]. It prints nothing: that is the command line's part.

#![deny(unsafe_code)]

pub mod diagnostic;
pub mod film;
pub mod forecast;
pub mod gpu;
pub mod heap;
pub mod host_memory;
pub mod options;
pub mod outcome;
pub mod pipeline;
pub mod progress;
pub mod render;
pub mod rib;
pub mod scale;
pub mod scene;
pub mod schedule;
pub mod shading;
pub mod stats;
pub mod trace;

use diagnostic::Reporter;
use options::RenderOptions;
use outcome::Outcome;
use progress::Observer;
use std::sync::Arc;

/// Renders every world of the scenes and writes its displays.
///
/// Bad input is reported and survived. `observer` is told of every world and of finished pixels, from any thread; when it cancels,
/// regions that are begun are finished and partial pictures are written. The caller fills in the parts of the statistics that concern
/// the whole program: version, scene, wall time, outputs and warnings.
pub fn render(options: &RenderOptions, reporter: &Arc<Reporter>, observer: &dyn Observer) -> Outcome {
    render::run(options, reporter, observer)
}

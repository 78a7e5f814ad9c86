//! Every kernel of `glsl/`: a module a source file with its `Bindings`, `Push` and `dispatch`, written by `build.rs`;
//! the structs of their buffers in [`records`], the named constants of their sources in [`constants`]. Small kernels
//! with known results for tests are in [`mod@test`].

use constants::{SHAPE_NU, SHAPE_NV, SHAPE_RATE_MASK};

impl records::Subpatch {
    /// Micropolygons along u and v of a subpatch that is a grid.
    pub fn micropolygons(&self) -> [u32; 2] {
        [(self.shape >> SHAPE_NU) & SHAPE_RATE_MASK, (self.shape >> SHAPE_NV) & SHAPE_RATE_MASK]
    }
}

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

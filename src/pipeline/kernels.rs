//! Every kernel of `glsl/`: a module a source file with its `Bindings`, `Push` and `dispatch`, written by `build.rs`; the structs of
//! their buffers in [`records`]. Small kernels with known results for tests are in [`test`].

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

//! Every integration test in one binary: it links once.

mod as_gpu;
mod checkpoint;
mod cli;
mod determinism;
mod failure;
mod features;
mod frames;
mod gpu;
mod hostile;
mod kernels;
mod live;
mod reference;
mod support;
mod tidy;

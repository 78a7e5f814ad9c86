//! Every integration test in one binary: it links once.

mod cli;
mod features;
mod gpu;
mod kernels;
mod reference;
mod tidy;

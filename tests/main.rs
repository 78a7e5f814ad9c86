//! Every integration test in one binary: it links once.

mod cli;
mod gpu;

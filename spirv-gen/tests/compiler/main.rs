//! Tests of the compiler on a device.

mod device;
mod generate;
mod library;
mod math;
mod noise;
mod operations;
mod pack;
mod passes;
mod pipelines;
mod run;

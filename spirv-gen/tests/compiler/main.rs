//! Tests of the compiler, most of them on a device.

mod binding;
mod cases;
mod chains;
mod device;
mod faults;
mod front;
mod generate;
mod kernels;
mod library;
mod light_loops;
mod long_loops;
mod math;
mod messages;
mod noise;
mod opacity;
mod operations;
mod pack;
mod partition;
mod passes;
mod pipelines;
mod run;
mod standard;
mod test_pipeline;
mod textures;
mod uniform;
mod votes;

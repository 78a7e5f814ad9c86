//! Tests of the compiler on a device.

mod device;
mod library;
mod math;
mod run;

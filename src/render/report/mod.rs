//! What a render reports: messages about the picture, its statistics, its trace. Observes, and decides nothing.

pub(super) mod advice;
pub(super) mod compiled_kernels;
pub(super) mod region_log;
pub(super) mod schedule_trace;
pub(super) mod world_cost;
pub(super) mod world_statistics;

//! Partitioners: on the bowling pin of the paper, on random graphs, and on real shaders.

#[path = "../../../../bench/partition/configurations.rs"]
mod configurations;
#[path = "../../../../bench/partition/programs.rs"]
mod programs;
#[path = "../../../../bench/partition/random.rs"]
mod random;
#[path = "../../../../bench/partition/shaders.rs"]
mod shaders;

mod graphs;
mod pin;
mod programs_cut;
mod rules;

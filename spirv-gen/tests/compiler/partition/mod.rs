//! Partitioners: on the bowling pin of the paper and on random graphs.

#[path = "../../../../bench/partition/configurations.rs"]
mod configurations;
#[path = "../../../../bench/partition/random.rs"]
mod random;
#[path = "../../../../bench/partition/shaders.rs"]
mod shaders;

mod graphs;
mod pin;

//! Every stage's kernels against its scalar reference (`tests/reference`), on random and on named inputs, under
//! validation.

mod blur;
mod bound_split;
mod composite;
mod coverage;
mod dealt;
mod dice;
mod displace;
mod filter;
mod grids;
mod hide;
mod lab;
mod layers;
mod lookup;
mod merge_layers;
mod micropolygon_size;
mod points;
mod primvar;
mod random;
pub(crate) mod region;
mod sample;
mod scan;
pub(crate) mod scene;
mod select;
mod shade;
mod tiles;
mod zoo;

//! Every stage's kernels against its scalar reference (`tests/reference`), on random and on named inputs, under validation.

mod bound_split;
mod dice;
mod grids;
mod lab;
mod random;
mod scan;
pub(crate) mod scene;
mod zoo;

//! Every stage's kernels against its scalar reference (`tests/reference`), on random and on named inputs, under validation.

mod dice;
mod grids;
mod lab;
mod random;
mod scan;
mod scene;
mod zoo;

//! Scalar references: what each stage computes, as plainly as it can be said, from its specification.

pub(crate) mod blob;
pub(crate) mod blur;
pub(crate) mod bound_split;
pub(crate) mod camera;
pub(crate) mod composite;
pub(crate) mod edge;
pub(crate) mod filter;
pub(crate) mod hide;
pub(crate) mod layers;
pub(crate) mod limit;
pub(crate) mod micropolygon;
pub(crate) mod primvar;
pub(crate) mod sample;
pub(crate) mod sampling;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod shade;
pub(crate) mod surface;

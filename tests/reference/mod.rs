//! Scalar references: what each stage computes, as plainly as it can be said, from its specification.

pub(crate) mod bound_split;
pub(crate) mod camera;
pub(crate) mod edge;
pub(crate) mod scan;
pub(crate) mod surface;

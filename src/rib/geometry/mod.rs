//! Converts primitive requests to the shapes of the scene, by way of a [`Batch`](batch::Batch).

pub(crate) mod batch;
mod blob_mesh;
pub(crate) mod blob_motion;
pub(crate) mod blobby;
mod column;
mod curves;
mod nurbs;
pub(crate) mod patches;
pub(crate) mod points;
pub(crate) mod polygons;
pub(crate) mod primvars;
pub(crate) mod quadrics;
pub(crate) mod spline;
mod standard;
pub(crate) mod subdivision;
mod triangulate;
pub(crate) mod trim;

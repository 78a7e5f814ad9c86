//! Deep shadow maps (Lokovic and Veach 2000): for each pixel, how much light reaches each depth. What is drawn becomes
//! a [`Visibility`], and a file of them is an OpenEXR file of deep tiles.

mod container;
mod visibility;

pub use container::{DeepError, DeepHeader, DeepReader, DeepTile, DeepWriter, TILE_SIDE};
pub use visibility::{KNOTS_MAX, Knot, Visibility, VisibilityBuilder, WHOLE_LIGHT};

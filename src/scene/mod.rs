//! The resolved, immutable scene: what a RIB file means once every default, stack and declaration is gone.
//!
//! No RIB words and no Vulkan words live here. A [`World`] is everything between WorldBegin and WorldEnd, with the options that were
//! frozen at WorldBegin. Everything that can move is a [`Motion`]: a list of (time, value) with one or more entries.
//! Angles are in radians, lengths in the space named, matrices act on column vectors and say `target_from_source`
//! (a RIB matrix, row-major for row vectors, is the column-major array of the same matrix for column vectors).

mod attributes;
mod geometry;
mod options;
mod shutter;

pub use attributes::{
    Attributes, DisplacementBound, Light, LightId, ParamValue, ShaderInstance, ShaderParam, ShadingInterpolation,
};
pub use geometry::{
    Basis, Class, CurveSegments, Facets, Geometry, Patches, Points, Primvar, PrimvarData, Quadric, QuadricShape, Shape,
    ValueType,
};
pub use options::{
    Camera, Display, DisplayMode, Filter, FilterKind, Hider, Options, Projection, Quantize, SearchPaths,
};

use crate::diagnostic::SourceLocation;
use glam::DMat4;
use std::sync::Arc;

/// A value at one or more shutter times, in increasing order of time; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion<T> {
    keys: Vec<(f32, T)>,
}

impl<T> Motion<T> {
    /// A value that does not move.
    pub fn still(value: T) -> Self {
        Self { keys: vec![(0.0, value)] }
    }

    /// Keys in increasing order of time; `None` when there are none or a time repeats or goes back.
    pub fn new(keys: Vec<(f32, T)>) -> Option<Self> {
        let ordered = keys.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (!keys.is_empty() && ordered).then_some(Self { keys })
    }

    /// All keys.
    pub fn keys(&self) -> &[(f32, T)] {
        &self.keys
    }

    /// The value of the first key.
    pub fn first(&self) -> &T {
        &self.keys[0].1
    }

    /// Whether there is more than one key.
    pub fn moves(&self) -> bool {
        self.keys.len() > 1
    }
}

/// An object in the world: shared geometry, where it stands, and how it looks. An instance costs a matrix.
#[derive(Clone, Debug)]
pub struct Drawable {
    /// Object-space geometry, shared between instances.
    pub geometry: Arc<Geometry>,
    /// World space from object space.
    pub world_from_object: Arc<Motion<DMat4>>,
    /// Attribute state, shared between drawables that were made under the same state.
    pub attributes: Arc<Attributes>,
}

/// A named coordinate system: `CoordinateSystem "name"`, seen from the world.
#[derive(Clone, Debug)]
pub struct NamedSpace {
    /// The name shaders use.
    pub name: Arc<str>,
    /// World space from the named space.
    pub world_from_space: Arc<Motion<DMat4>>,
}

/// Everything needed to draw one picture: WorldBegin to WorldEnd.
#[derive(Clone, Debug)]
pub struct World {
    /// The options frozen at WorldBegin.
    pub options: Options,
    /// The camera frozen at WorldBegin.
    pub camera: Camera,
    /// All drawables in the order in which they were authored: the stable numbering of primitives begins with it.
    pub drawables: Vec<Drawable>,
    /// All lights; attribute states name them by [`LightId`].
    pub lights: Vec<Arc<Light>>,
    /// Named coordinate systems, latest last.
    pub spaces: Vec<NamedSpace>,
    /// Where WorldBegin stands.
    pub location: SourceLocation,
}

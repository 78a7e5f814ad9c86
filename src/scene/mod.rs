//! The resolved, immutable scene: the meaning of a RIB file after all defaults, stacks and declarations are resolved.
//!
//! This module has no terms of RIB's syntax and none of Vulkan. A [`World`] is everything between WorldBegin and
//! WorldEnd, with the options that were frozen at WorldBegin. Everything that can move is a [`Motion`]: a list of
//! (time, value) with one or more entries. Angles are in radians, lengths in the named space. Matrices act on column
//! vectors and are named `target_from_source` (a RIB matrix, row-major for row vectors, is the column-major array of
//! the same matrix for column vectors).

mod arcs;
mod array;
mod attributes;
mod blob;
mod bounds;
mod content;
mod edit;
mod emitter;
mod geometry;
mod level;
mod motion;
mod options;
mod shutter;
mod solid;
mod trim;

pub use array::ShapeArray;
pub use attributes::{
    AreaPart, Attributes, DisplacementBound, Light, LightId, ParamValue, ShaderInstance, ShaderParam,
    ShadingInterpolation, ShadowRequest,
};
pub use blob::{BlobStep, Blobs, Repeller};
pub use bounds::SpaceBox;
pub use content::ContentHasher;
pub use edit::{
    Edit, EditNotes, FacingEdit, HiddenDrawable, LightChange, MatrixStep, NamePattern, ObjectChange, PictureEdit,
    PictureLimits, ReadingNotes, ShaderEdit, ShaderPlace, Touched,
};
pub use emitter::{Emitter, SurfacePoint, spread};
pub use geometry::{
    Basis, Borders, Class, CurveSegments, Facets, Geometry, LimitPatches, PATCH_DEGREE_MAX, Patches, PointForm, Points,
    Primvar, PrimvarData, Quadric, QuadricShape, Shape, ValueFit, ValueType,
};
pub(crate) use motion::{KEYFRAMES_MAX, inverse, is_invertible, product};
pub use options::{
    Aperture, Camera, DepthFilter, Display, DisplayMode, DisplayPart, EYE_SPLITS_MAX, FILTER_WIDTH_MAX, FORMAT_WINDOW,
    Filter, FilterKind, Hider, OVERSCAN_BEFORE_MAX, Options, PAINT, Projection, Quantize, RESOLUTION_MAX, SearchPaths,
};
pub use shutter::CutGeometries;
pub use solid::{Solid, SolidId, SolidOperation, TREE_PRIMITIVES_MAX};
pub use trim::{TrimLoops, TrimPiece};

use crate::diagnostic::SourceLocation;
use glam::DMat4;
use std::sync::Arc;

/// A value at one or more shutter times, in increasing order of time; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion<T> {
    keyframes: Vec<(f32, T)>,
}

impl<T> Motion<T> {
    /// Creates a value that does not move.
    pub fn still(value: T) -> Self {
        Self { keyframes: vec![(0.0, value)] }
    }

    /// Creates a value from keyframes in increasing order of time; `None` if there are none or the times do not
    /// increase.
    pub fn new(keyframes: Vec<(f32, T)>) -> Option<Self> {
        let ordered = keyframes.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (!keyframes.is_empty() && ordered).then_some(Self { keyframes })
    }

    /// Returns all keyframes.
    pub fn keyframes(&self) -> &[(f32, T)] {
        &self.keyframes
    }

    /// Returns the value of the first keyframe.
    pub fn first(&self) -> &T {
        &self.keyframes[0].1
    }

    /// Whether there is more than one keyframe.
    pub fn moves(&self) -> bool {
        self.keyframes.len() > 1
    }
}

/// The numbers that distinguish samples in transitions between levels of detail.
pub const DETAIL_STEPS: u32 = 1 << 16;

/// An object in the world: shared geometry, its transformation and its attributes. An instance costs only a matrix.
#[derive(Clone, Debug)]
pub struct Drawable {
    /// Object-space geometry, shared between instances.
    pub geometry: Arc<Geometry>,
    /// World space from object space.
    pub world_from_object: Arc<Motion<DMat4>>,
    /// Attribute state, shared between drawables that were made under the same state.
    pub attributes: Arc<Attributes>,
    /// The samples that see it, of a level of detail: those whose number is from the first to the second one,
    /// exclusive, of [`DETAIL_STEPS`].
    pub detail: [u32; 2],
    /// The primitive solid that it bounds a part of, if any.
    pub solid: Option<SolidId>,
    /// What tells its `random()` from that of others: its place among all that is authored, whatever the picture shows.
    pub seed: u32,
}

/// A named coordinate system: `CoordinateSystem "name"`, relative to the world.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSpace {
    /// The name that shaders use.
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
    /// All solids; drawables refer to them by [`SolidId`].
    pub solids: Vec<Solid>,
    /// All lights; attribute states refer to them by [`LightId`].
    pub lights: Vec<Arc<Light>>,
    /// Named coordinate systems, latest last.
    pub spaces: Vec<NamedSpace>,
    /// The location of WorldBegin.
    pub location: SourceLocation,
    /// What edits need to know besides.
    pub notes: EditNotes,
}

//! A world that is being read.

use super::effect::Object;
use super::outline::Outline;
use super::seeds::Seeds;
use super::solids::Solids;
use crate::diagnostic::SourceLocation;
use crate::rib::state::trim::TrimState;
use crate::scene::{Attributes, Basis, Camera, Drawable, HiddenDrawable, Options};
use rustc_hash::FxHashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The name of an archive and the folder of the text that asks for it.
pub(crate) type ArchiveRequest = (Arc<str>, Option<PathBuf>);

/// An archive that a procedural has read in this world.
pub(crate) struct ReadBefore {
    /// What its text depends on: the definitions so far, the bases and the trim curves.
    pub(crate) definitions: u64,
    pub(crate) basis: [Basis; 2],
    pub(crate) trim: TrimState,
    /// What it does, once it was read twice.
    pub(crate) object: Option<Arc<Object>>,
    /// The primitives in it that are left out.
    pub(crate) left_out: u64,
}

/// A world that is being read.
pub(crate) struct WorldBuilder {
    /// The options as they were frozen.
    pub(crate) options: Options,
    /// The camera.
    pub(crate) camera: Camera,
    /// The drawables so far.
    pub(crate) drawables: Vec<Drawable>,
    /// The objects so far that the camera does not see, if edits may show them.
    pub(crate) hidden: Vec<HiddenDrawable>,
    /// The numbers of the next ones.
    pub(crate) seeds: Seeds,
    /// The sorts of drawables so far.
    pub(crate) outline: Outline,
    /// The solids so far.
    pub(crate) solids: Solids,
    /// Primitives that are not supported or not valid.
    pub(crate) left_out: u64,
    /// Primitives that the camera does not see.
    pub(crate) invisible: u64,
    pub(crate) location: SourceLocation,
    /// Whether the camera's transformation changes handedness.
    pub(crate) mirrored: bool,
    /// Attribute states with the normal flipped, by the address of the original state (which the entry keeps alive).
    flipped: FxHashMap<usize, [Arc<Attributes>; 2]>,
    /// Geometry "teapot", once it was read.
    pub(crate) teapot: Option<Arc<Object>>,
    /// The archives that procedurals have read.
    pub(crate) read_before: FxHashMap<ArchiveRequest, ReadBefore>,
}

impl WorldBuilder {
    /// Begins a world at this place.
    pub(crate) fn new(options: Options, camera: Camera, mirrored: bool, location: SourceLocation) -> Self {
        Self {
            options,
            camera,
            drawables: Vec::new(),
            hidden: Vec::new(),
            seeds: Seeds::default(),
            outline: Outline::default(),
            solids: Solids::default(),
            left_out: 0,
            invisible: 0,
            location,
            mirrored,
            flipped: FxHashMap::default(),
            teapot: None,
            read_before: FxHashMap::default(),
        }
    }

    /// Returns these attributes with the normal flipped; equal pointers give the same result.
    pub(crate) fn flipped(&mut self, attributes: &Arc<Attributes>) -> Arc<Attributes> {
        let pair = self.flipped.entry(Arc::as_ptr(attributes).addr()).or_insert_with(|| {
            let flipped = Attributes { flip_normal: true, ..Attributes::clone(attributes) };
            [Arc::clone(attributes), Arc::new(flipped)]
        });
        Arc::clone(&pair[1])
    }
}

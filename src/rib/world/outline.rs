//! Outlines of worlds that are being read: what a renderer can prepare for before all of a large world is known.

use crate::scene::{Drawable, Shape};
use rustc_hash::FxHashSet;
use std::mem::Discriminant;
use std::sync::Arc;

/// The primitives that a world has before its first outline is given; smaller worlds are read too fast for one to help.
/// After each outline, as many primitives as were read so far pass before the next one.
const FIRST_PRIMITIVES: usize = 1 << 12;

/// The most drawables in an outline.
const DRAWABLES_MAX: usize = 64;

/// The most primitives of all drawables in an outline together: preparing for one must take less time than it saves.
const OUTLINE_PRIMITIVES_MAX: usize = 1 << 17;

/// What decides what a renderer prepares for a drawable: the kind of primitive, whether it moves, the names of its
/// surface and displacement shaders, and whether it is opaque.
type Sort = (Discriminant<Shape>, bool, [Option<Arc<str>>; 2], bool);

fn sort(drawable: &Drawable) -> Sort {
    let (shape, attributes) = (&drawable.geometry.shape, &drawable.attributes);
    let shaders = [&attributes.surface, &attributes.displacement];
    let names = shaders.map(|shader| shader.as_ref().map(|shader| Arc::clone(&shader.name)));
    let moves = shape.moves() || drawable.world_from_object.moves();
    (std::mem::discriminant(shape.first()), moves, names, attributes.opacity == [1.0; 3])
}

/// The first drawable of each sort in a world that is being read.
pub(crate) struct Outline {
    sorts: FxHashSet<Sort>,
    drawables: Vec<Drawable>,
    /// Primitives of those drawables.
    outlined: usize,
    /// Primitives read so far.
    primitives: usize,
    /// The primitives from which on a new sort is worth another outline.
    due: usize,
    /// Whether there are sorts that were in no outline yet.
    is_new: bool,
}

impl Default for Outline {
    fn default() -> Self {
        let (sorts, drawables) = (FxHashSet::default(), Vec::new());
        Self { sorts, drawables, outlined: 0, primitives: 0, due: FIRST_PRIMITIVES, is_new: false }
    }
}

impl Outline {
    /// Notes a drawable.
    pub(crate) fn note(&mut self, drawable: &Drawable) {
        let count = drawable.geometry.shape.first().primitive_count();
        self.primitives += count;
        let has_room = self.drawables.len() < DRAWABLES_MAX && self.outlined + count <= OUTLINE_PRIMITIVES_MAX;
        if has_room && self.sorts.insert(sort(drawable)) {
            self.outlined += count;
            self.drawables.push(Drawable { solid: None, ..drawable.clone() });
            self.is_new = true;
        }
    }

    /// Returns the drawables for an outline, if one is due.
    pub(crate) fn take_due(&mut self) -> Option<Vec<Drawable>> {
        if !self.is_new || self.primitives < self.due {
            return None;
        }
        self.is_new = false;
        self.due = 2 * self.primitives;
        Some(self.drawables.clone())
    }
}

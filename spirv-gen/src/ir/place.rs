//! Places: where in the sources of shaders instructions come from. They are no part of what a program means.

use crate::span::{SourceMap, SourcePosition, Span};
use std::iter;
use std::sync::Arc;

/// A place in a [`PlaceTable`], or nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(u32);

/// A shader's place in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// The surface (or imager) shader.
    Surface,
    /// The displacement shader.
    Displacement,
    /// The atmosphere shader.
    Atmosphere,
    /// A kind of light: index in [`crate::Reflection::lights`].
    Light(u32),
}

/// A place: part of the text of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// The shader, by number.
    source: u32,
    /// The part of its text.
    span: Span,
    /// Where the code is put in: the call of the function that it is in, or the loop over lights that runs the shader.
    inlined_at: PlaceId,
}

/// A shader whose code is in a program.
#[derive(Clone, Debug)]
pub struct PlacedShader {
    /// Its name.
    pub name: Arc<str>,
    /// What it is in the pipeline, once it is composed.
    pub role: Option<Role>,
    /// Its texts.
    pub texts: Arc<SourceMap>,
}

/// The places of a program.
#[derive(Clone, Debug, Default)]
pub struct PlaceTable {
    shaders: Vec<PlacedShader>,
    places: Vec<Place>,
}

/// What the places of a program become in another, of which its code is a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceShift {
    before: u32,
    outer: PlaceId,
}

impl PlaceId {
    /// The place of what is in no source.
    pub const NOWHERE: Self = Self(0);

    fn index(self) -> Option<usize> {
        self.0.checked_sub(1).map(|index| index as usize)
    }
}

impl PlaceShift {
    /// Places stay what they are.
    pub(crate) const NONE: Self = Self { before: 0, outer: PlaceId::NOWHERE };

    /// Returns what a place becomes.
    pub(crate) fn of(self, place: PlaceId) -> PlaceId {
        if place == PlaceId::NOWHERE { self.outer } else { PlaceId(place.0 + self.before) }
    }
}

impl PlaceTable {
    /// Returns a table for a shader of these texts.
    pub(super) fn of_shader(name: Arc<str>, texts: Arc<SourceMap>) -> Self {
        Self { shaders: vec![PlacedShader { name, role: None, texts }], places: Vec::new() }
    }

    /// Adds a place in the text of the only shader.
    pub(super) fn add(&mut self, span: Span, inlined_at: PlaceId) -> PlaceId {
        self.places.push(Place { source: 0, span, inlined_at });
        PlaceId(self.places.len() as u32)
    }

    /// Adds all places of another table, as those of a shader of this role whose code is put in at `outer`.
    pub(crate) fn append(&mut self, other: &Self, role: Role, outer: PlaceId) -> PlaceShift {
        let shift = PlaceShift { before: self.places.len() as u32, outer };
        let first = self.shaders.len() as u32;
        self.shaders.extend(other.shaders.iter().map(|shader| PlacedShader { role: Some(role), ..shader.clone() }));
        self.places.extend(other.places.iter().map(|place| Place {
            source: first + place.source,
            span: place.span,
            inlined_at: shift.of(place.inlined_at),
        }));
        shift
    }

    fn get(&self, place: PlaceId) -> Option<&Place> {
        self.places.get(place.index()?)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.shaders.is_empty() && self.places.is_empty()
    }

    /// Returns the shader in whose text a place is.
    pub fn shader(&self, place: PlaceId) -> Option<&PlacedShader> {
        self.shaders.get(self.get(place)?.source as usize)
    }

    /// Returns file, line and column of a place.
    pub fn position(&self, place: PlaceId) -> Option<SourcePosition> {
        Some(self.shader(place)?.texts.place(self.get(place)?.span))
    }

    /// Returns a place, then the one where its code is put in, and so on.
    pub fn stack(&self, place: PlaceId) -> impl Iterator<Item = PlaceId> {
        let outer = |place: &PlaceId| self.get(*place).map(|place| place.inlined_at);
        iter::successors(Some(place), outer).take_while(|place| *place != PlaceId::NOWHERE)
    }
}

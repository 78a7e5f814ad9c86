//! Primitive variables that can still grow.

use crate::rib::stream::declare::Declaration;
use crate::scene::{Class, Primvar, PrimvarData};
use std::sync::Arc;

/// The values of a primitive variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PrimvarValues {
    /// Numbers.
    Floats(Vec<f32>),
    /// Strings.
    Strings(Vec<Arc<str>>),
}

impl PrimvarValues {
    /// Appends other values of the same type.
    pub(super) fn extend(&mut self, other: Self) {
        match (self, other) {
            (Self::Floats(mine), Self::Floats(theirs)) => mine.extend_from_slice(&theirs),
            (Self::Strings(mine), Self::Strings(theirs)) => mine.extend(theirs),
            (Self::Floats(_), Self::Strings(_)) | (Self::Strings(_), Self::Floats(_)) => {}
        }
    }

    /// Returns roughly how many bytes they need.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Floats(values) => values.len() * 4,
            Self::Strings(values) => values.iter().map(|text| 24 + text.len()).sum(),
        }
    }
}

/// A primitive variable that can still grow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// Everything but the values.
    pub(crate) declaration: Declaration,
    /// The values.
    pub(crate) values: PrimvarValues,
}

impl Column {
    /// Converts it to a variable of the scene.
    pub(super) fn primvar(self) -> Primvar {
        let declaration = self.declaration;
        Primvar {
            name: declaration.name,
            class: declaration.class,
            ty: declaration.ty,
            array_len: declaration.array_len,
            data: match self.values {
                PrimvarValues::Floats(values) => PrimvarData::Floats(values.into()),
                PrimvarValues::Strings(values) => PrimvarData::Strings(Arc::from(values)),
            },
        }
    }

    /// Whether there is one value for the whole geometry.
    pub(super) fn is_single(&self, points: bool) -> bool {
        self.declaration.class == Class::Constant || (points && self.declaration.class == Class::Uniform)
    }

    /// Keeps the values of these elements only; there is one for each.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        let width = self.declaration.width() as usize;
        match &mut self.values {
            PrimvarValues::Floats(values) => {
                *values = kept.iter().flat_map(|element| &values[element * width..][..width]).copied().collect();
            }
            PrimvarValues::Strings(texts) => {
                *texts = kept.iter().flat_map(|element| &texts[element * width..][..width]).cloned().collect();
            }
        }
    }

    /// Whether another column can be appended to this one. A geometry has one text of each string, its first
    /// ([`crate::shading`]).
    pub(super) fn fits(&self, other: &Self, points: bool) -> bool {
        let same = match (&self.values, &other.values) {
            (PrimvarValues::Strings(a), PrimvarValues::Strings(b)) if !self.is_single(points) => a.first() == b.first(),
            (a, b) => !self.is_single(points) || a == b,
        };
        self.declaration == other.declaration && same
    }
}

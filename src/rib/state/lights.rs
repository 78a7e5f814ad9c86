//! Lights as the graphics state names them.

use crate::scene::LightId;

/// What a light's handle refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LightSlot {
    /// A light, or the lights that an area light is made of.
    Lights(LightSpan),
    /// An area light of the shader "null"; switching it has no effect.
    Null,
}

/// Lights that are next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LightSpan {
    /// The first.
    pub(crate) first: LightId,
    /// How many they are.
    pub(crate) count: u32,
}

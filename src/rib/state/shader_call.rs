//! Shaders as requests name them.

use crate::diagnostic::SourceLocation;
use crate::scene::{Motion, ParamValue, ShaderInstance, ShaderParam};
use glam::DMat4;
use std::sync::Arc;

/// A shader as a request names it, before the transformation that it is placed by is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShaderCall {
    /// Its name.
    pub(crate) name: Arc<str>,
    /// Its parameters.
    pub(crate) params: Vec<ShaderParam>,
    /// Where it is named.
    pub(crate) location: SourceLocation,
}

impl ShaderCall {
    /// Creates the instance under the current transformation `transform`.
    pub(crate) fn instance(&self, transform: &Arc<Motion<DMat4>>) -> ShaderInstance {
        ShaderInstance {
            name: Arc::clone(&self.name),
            params: self.params.clone(),
            world_from_shader: Arc::clone(transform),
            location: self.location.clone(),
        }
    }

    /// Returns roughly how many bytes an instance needs.
    pub(crate) fn bytes(&self) -> usize {
        let params = self.params.iter().map(|param| size_of::<ShaderParam>() + value_bytes(&param.value));
        size_of::<ShaderInstance>() + params.sum::<usize>()
    }

    /// Whether it names the same shader with the same parameters.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.name == other.name && self.params == other.params
    }

    /// Interpolates the numbers of two calls of the same shader; returns `self` where they do not match.
    pub(crate) fn blend(&self, other: &Self, weight: f32) -> Self {
        let mut result = self.clone();
        if self.name != other.name {
            return result;
        }
        for param in &mut result.params {
            let partner = other.params.iter().find(|p| p.name == param.name && p.ty == param.ty);
            if let (ParamValue::Floats(a), Some(ParamValue::Floats(b))) = (&mut param.value, partner.map(|p| &p.value))
            {
                for (a, b) in a.iter_mut().zip(b) {
                    *a = mix(*a, *b, weight);
                }
            }
        }
        result
    }
}

/// Returns roughly how many bytes a value needs.
pub(crate) fn value_bytes(value: &ParamValue) -> usize {
    match value {
        ParamValue::Floats(values) => values.len() * 4,
        ParamValue::Ints(values) => values.len() * 4,
        ParamValue::Strings(values) => values.len() * size_of::<Arc<str>>(),
    }
}

/// Interpolates between two numbers: `weight` 0 is the first, 1 the second.
pub(super) fn mix(a: f32, b: f32, weight: f32) -> f32 {
    a + (b - a) * weight
}

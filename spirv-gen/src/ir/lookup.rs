//! Texture lookups.

use super::op::LookupKind;
use super::types::{Const, MachineType};
use std::sync::Arc;

/// A texture lookup. The arguments are those of [`LookupKind::arguments`], then one for each option in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lookup {
    /// Which function.
    pub kind: LookupKind,
    /// `f32` or `vec3`.
    pub ty: MachineType,
    /// Names of the optional parameters that were given (`"blur"`, `"swidth"`, ...), values of type f32 or str.
    pub options: Vec<Arc<str>>,
}

impl Lookup {
    /// What a lookup finds in a texture that is missing: white where a texture's colour is wanted, so that what it
    /// multiplies stays visible, else 0.
    pub fn missing(&self) -> Const {
        match (self.kind, self.ty) {
            (LookupKind::Texture, MachineType::Vec3) => Const::Vec3([1.0; 3]),
            (_, ty) => ty.zero(),
        }
    }
}

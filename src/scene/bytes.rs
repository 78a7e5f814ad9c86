//! How much host memory a world takes.

use super::{Drawable, Geometry, PrimvarData, Shape, World};
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl World {
    /// Bytes of its geometry, shared parts counted once; attribute states and lights are small beside it.
    pub fn bytes(&self) -> u64 {
        let mut seen = FxHashSet::default();
        let mut bytes = size_of_val(self.drawables.as_slice());
        for Drawable { geometry, .. } in &self.drawables {
            if seen.insert(Arc::as_ptr(geometry)) {
                bytes += geometry.bytes();
            }
        }
        bytes as u64
    }
}

impl Geometry {
    fn bytes(&self) -> usize {
        let primvars = self.primvars.iter().map(|primvar| match &primvar.data {
            PrimvarData::Floats(values) => size_of_val(&values[..]),
            PrimvarData::Strings(texts) => texts.iter().map(|text| size_of_val(text) + text.len()).sum(),
        });
        let keys = self.shape.keys.iter().map(|(_, shape)| shape.bytes());
        size_of::<Self>() + primvars.sum::<usize>() + keys.sum::<usize>()
    }
}

impl Shape {
    fn bytes(&self) -> usize {
        match self {
            Self::Quadric(quadric) => size_of_val(quadric),
            Self::Facets(f) => {
                let corners = size_of_val(&f.corners[..]) + size_of_val(&f.face_corners[..]);
                let faces = size_of_val(&f.face[..]) + size_of_val(&f.face_normals[..]);
                size_of_val(&f.positions[..]) + corners + faces + size_of_val(&f.uv_range[..])
            }
            Self::Patches(p) => {
                let corners = size_of_val(&p.corners[..]) + size_of_val(&p.face_corners[..]);
                size_of_val(&p.control[..]) + corners + size_of_val(&p.face[..]) + size_of_val(&p.uv_range[..])
            }
            Self::Curves(c) => {
                let ends = size_of_val(&c.ends[..]) + size_of_val(&c.widths[..]) + size_of_val(&c.normals[..]);
                size_of_val(&c.control[..]) + ends + size_of_val(&c.face[..]) + size_of_val(&c.v_range[..])
            }
            Self::Points(p) => size_of_val(&p.positions[..]) + size_of_val(&p.widths[..]),
        }
    }
}

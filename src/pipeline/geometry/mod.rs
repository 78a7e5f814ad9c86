//! Geometry as devices hold it: primitives and their control data in self-contained pages.
//!
//! A page is one buffer: [`Primitive`] records, then control points and primvar values as floats. A geometry that does
//! not fit what is left of a page is cut into *runs* of consecutive primitives; a run carries all values that its
//! primitives name, renumbered, so that a page can be drawn with nothing but itself. Geometry is lowered once, however
//! many drawables share it.

mod blob;
mod curvature;
mod lower;
mod run;
mod trim;

pub use run::{PrimitiveRun, RunPrimvar};

pub use super::kernels::axes::Kind as PrimitiveKind;
use super::kernels::records::Primitive;
use crate::scene::{Geometry, Shape};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl PrimitiveKind {
    /// Its number in primitive records.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The kind of a shape's primitives from `first` on, and where the next kind begins.
    fn of(shape: &Shape, first: usize) -> (Self, usize) {
        if let Shape::Limit(patches) = shape
            && first < patches.plain_count
        {
            return (Self::Patch, patches.plain_count);
        }
        (Self::of_last(shape), shape.primitive_count())
    }

    /// The kind of a shape's last primitive.
    fn of_last(shape: &Shape) -> Self {
        match shape {
            Shape::Quadric(_) => Self::Quadric,
            Shape::Facets(_) => Self::Facet,
            Shape::Patches(patches) => {
                if patches.is_plain_bicubic() {
                    Self::Patch
                } else {
                    Self::Rational
                }
            }
            Shape::Limit(patches) if patches.triangles => Self::Triangle,
            Shape::Limit(patches) if patches.seams.is_empty() => Self::Patch,
            Shape::Limit(_) => Self::Gregory,
            Shape::Curves(_) => Self::Curve,
            Shape::Points(_) => Self::Point,
            Shape::Blobs(_) => Self::Blob,
        }
    }
}

/// One page: the content of one buffer of a device.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The primitives; indices into them are page-relative.
    pub primitives: Vec<Primitive>,
    /// Control points and primvar values: records of four floats, addressed by record (control data) or by float
    /// (primvars).
    pub data: Vec<[f32; 4]>,
}

impl Page {
    /// Bytes of both parts.
    pub fn bytes(&self) -> u64 {
        (size_of_val(self.primitives.as_slice()) + size_of_val(self.data.as_slice())) as u64
    }
}

/// Fills pages with geometry.
#[derive(Debug)]
pub struct Pages {
    pages: Vec<Page>,
    page_bytes: u64,
    lowered: FxHashMap<*const Geometry, Arc<[PrimitiveRun]>>,
}

impl Pages {
    /// No pages yet; each will hold at most `page_bytes` (and at least one primitive).
    pub fn new(page_bytes: u64) -> Self {
        Self { pages: vec![Page::default()], page_bytes, lowered: FxHashMap::default() }
    }

    /// The runs of a geometry, lowering it the first time it is seen (by address: the caller keeps it alive).
    pub fn runs(&mut self, geometry: &Arc<Geometry>) -> Arc<[PrimitiveRun]> {
        let key = Arc::as_ptr(geometry);
        if let Some(runs) = self.lowered.get(&key) {
            return Arc::clone(runs);
        }
        let runs: Arc<[PrimitiveRun]> = self.lower(geometry).into();
        self.lowered.insert(key, Arc::clone(&runs));
        runs
    }

    /// The pages.
    pub fn finish(self) -> Vec<Page> {
        self.pages
    }

    fn lower(&mut self, geometry: &Geometry) -> Vec<PrimitiveRun> {
        let count = geometry.shape.first().primitive_count();
        let bytes_each = lower::primitive_bytes_max(geometry);
        let each_run = 16 * lower::trim_records(geometry.shape.first()) as u64;
        let mut runs = Vec::new();
        let mut first = 0;
        while first < count {
            let left = self.page_bytes.saturating_sub(self.last_page().bytes());
            let whole = lower::whole_bytes(geometry);
            let for_primitives = left.saturating_sub(each_run);
            let some = usize::try_from(for_primitives / bytes_each).unwrap_or(0);
            let fit = if first == 0 && whole <= left { count } else { some };
            let empty = self.last_page().primitives.is_empty();
            if fit == 0 && !empty {
                self.pages.push(Page::default());
                continue;
            }
            let (_, end) = PrimitiveKind::of(geometry.shape.first(), first);
            let take = fit.clamp(1, end - first);
            let number = self.pages.len() - 1;
            runs.push(run::lower_run(geometry, first..first + take, number, self.last_page()));
            first += take;
        }
        runs
    }

    fn last_page(&mut self) -> &mut Page {
        if self.pages.is_empty() {
            self.pages.push(Page::default());
        }
        let last = self.pages.len() - 1;
        &mut self.pages[last]
    }
}

#[cfg(test)]
mod tests;

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
use crate::scene::{Geometry, Shape, SpaceBox};
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

/// Fills pages with geometry, and knows what is in them: pages may go on growing from one picture to the next, and what
/// a picture was given stays as it was.
#[derive(Debug)]
pub struct Pages {
    pages: Vec<Arc<Page>>,
    page_bytes: u64,
    known: FxHashMap<*const Geometry, PagedGeometry>,
    keyframed: FxHashMap<(*const Geometry, Vec<u32>), KeyframedGeometry>,
    /// Counts pictures.
    picture: u64,
}

/// A geometry that pictures have shown. Geometry is known by its address, so it is kept alive.
#[derive(Debug)]
struct PagedGeometry {
    _geometry: Arc<Geometry>,
    /// The box of its shapes, once somebody asked.
    bound: Option<SpaceBox>,
    /// Where it is, once it is in pages.
    lowered: Option<LoweredGeometry>,
    /// The last picture that asked for it.
    last_use: u64,
}

/// Where a geometry is.
#[derive(Debug)]
struct LoweredGeometry {
    runs: Arc<[PrimitiveRun]>,
    bytes: u64,
}

/// A geometry with a shape for each of some times, made of one with other times.
#[derive(Debug)]
struct KeyframedGeometry {
    _made_of: Arc<Geometry>,
    geometry: Arc<Geometry>,
    last_use: u64,
}

/// What geometry that pictures no longer show may take in pages, before all pages are made again.
const UNUSED_BYTES_MAX: u64 = 16 << 20;
/// What none of so many pictures has shown is unused: an edited world is drawn at several levels, and in shadow maps.
const USED_PICTURES: u64 = 16;
/// A page that pictures were given is copied when more is added to it; larger ones stay as they are.
const COPIED_PAGE_BYTES_MAX: u64 = 1 << 20;

impl Pages {
    /// No pages yet; each will hold at most `page_bytes` (and at least one primitive).
    pub fn new(page_bytes: u64) -> Self {
        Self {
            pages: vec![Arc::default()],
            page_bytes,
            known: FxHashMap::default(),
            keyframed: FxHashMap::default(),
            picture: 0,
        }
    }

    /// The bytes that each page holds, at most.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Begins another picture. Where pages hold too much that the last one did not show, they begin again, empty.
    pub fn begin_picture(&mut self) {
        let picture = self.picture;
        let is_used = |last_use: u64| last_use + USED_PICTURES > picture;
        let bytes = |used: bool| -> u64 {
            let known = self.known.values().filter(|known| is_used(known.last_use) == used);
            known.filter_map(|known| known.lowered.as_ref()).map(|lowered| lowered.bytes).sum()
        };
        if bytes(false) > UNUSED_BYTES_MAX.max(bytes(true)) {
            *self = Self { picture, ..Self::new(self.page_bytes) };
        }
        self.known.retain(|_, known| known.lowered.is_some() || is_used(known.last_use));
        self.keyframed.retain(|_, keyframed| is_used(keyframed.last_use));
        self.picture += 1;
    }

    fn known(&mut self, geometry: &Arc<Geometry>) -> &mut PagedGeometry {
        let new = || PagedGeometry { _geometry: Arc::clone(geometry), bound: None, lowered: None, last_use: 0 };
        let known = self.known.entry(Arc::as_ptr(geometry)).or_insert_with(new);
        known.last_use = self.picture;
        known
    }

    /// The box of all shapes of a geometry.
    pub(super) fn bound(&mut self, geometry: &Arc<Geometry>) -> SpaceBox {
        let shapes = geometry.shape.keyframes();
        let all = || shapes.iter().map(|(_, shape)| shape.bound()).fold(SpaceBox::EMPTY, SpaceBox::with);
        *self.known(geometry).bound.get_or_insert_with(all)
    }

    /// The geometry that `make` makes of another one for some times, made the first time that it is asked for.
    pub(super) fn keyframed(
        &mut self,
        geometry: &Arc<Geometry>,
        times: Vec<u32>,
        make: impl FnOnce() -> Arc<Geometry>,
    ) -> Arc<Geometry> {
        let new = || KeyframedGeometry { _made_of: Arc::clone(geometry), geometry: make(), last_use: 0 };
        let keyframed = self.keyframed.entry((Arc::as_ptr(geometry), times)).or_insert_with(new);
        keyframed.last_use = self.picture;
        Arc::clone(&keyframed.geometry)
    }

    /// The runs of a geometry, which is lowered the first time that it is seen.
    pub fn runs(&mut self, geometry: &Arc<Geometry>) -> Arc<[PrimitiveRun]> {
        if let Some(lowered) = &self.known(geometry).lowered {
            return Arc::clone(&lowered.runs);
        }
        let before = self.bytes();
        let runs: Arc<[PrimitiveRun]> = self.lower(geometry).into();
        let bytes = self.bytes() - before;
        self.known(geometry).lowered = Some(LoweredGeometry { runs: Arc::clone(&runs), bytes });
        runs
    }

    /// The pages as they are now.
    pub fn pages(&self) -> Arc<[Arc<Page>]> {
        self.pages.iter().cloned().collect()
    }

    fn bytes(&self) -> u64 {
        self.pages.iter().map(|page| page.bytes()).sum()
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
                self.pages.push(Arc::default());
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

    /// The page that is filled. A large one that pictures were given is full.
    fn last_page(&mut self) -> &mut Page {
        let last = self.pages.last().expect("there is always a page");
        if Arc::strong_count(last) > 1 && last.bytes() > COPIED_PAGE_BYTES_MAX {
            self.pages.push(Arc::default());
        }
        Arc::make_mut(self.pages.last_mut().expect("there is always a page"))
    }
}

#[cfg(test)]
mod tests;

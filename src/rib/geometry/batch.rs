//! Primitives of requests in growable form.
//!
//! A request becomes a [`Batch`]: growable arrays with the values of all its primitives. Consecutive batches of one
//! kind under the same state are joined ([`Batch::append`]), so that a file of single patches is as efficient as one
//! patch mesh. A finished batch becomes an immutable [`Geometry`].

use super::blob_mesh::{BlobMesh, Field};
use super::column::Column;
use crate::diagnostic::SourceLocation;
use crate::scene::{
    Blobs, CurveSegments, Facets, Geometry, LimitPatches, Motion, Patches, PointForm, Points, Quadric, Shape, TrimLoops,
};
use std::sync::Arc;

/// The largest number of primitives that are joined into one geometry; a warning about a joined geometry names the
/// first request, which should not be too far from the mistake.
const JOINED_MAX: usize = 1 << 16;

/// Bilinear facets that can still grow; see [`Facets`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FacetBatch {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) corners: Vec<[u32; 4]>,
    pub(super) face_corners: Vec<[u32; 4]>,
    pub(super) face: Vec<u32>,
    pub(super) polygon: bool,
    pub(super) face_normals: Vec<[f32; 3]>,
    pub(super) uv_range: Vec<[f32; 4]>,
    /// Number of facevarying values.
    pub(super) face_varying_count: u32,
    /// Number of faces or patches.
    pub(super) face_count: u32,
    /// Equal for polygons with equal lists of faces.
    pub(super) signature: u64,
}

/// All of Bezier patches but their control points; see [`Patches`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BezierLayout {
    pub(super) degrees: [u32; 2],
    pub(super) corners: Vec<[u32; 4]>,
    pub(super) uv_range: Vec<[f32; 4]>,
    /// Number of varying values.
    pub(super) varying_count: u32,
}

/// Bezier patches that can still grow; see [`Patches`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PatchBatch {
    pub(super) layout: BezierLayout,
    pub(super) control: Vec<[f32; 3]>,
    pub(super) weights: Vec<f32>,
    pub(super) trim: Option<Arc<TrimLoops>>,
}

/// Curve segments that can still grow; see [`CurveSegments`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CurveBatch {
    pub(super) control: Vec<[f32; 3]>,
    pub(super) weights: Vec<[f32; 4]>,
    pub(super) cubic: bool,
    pub(super) ends: Vec<[u32; 2]>,
    pub(super) widths: Vec<[f32; 4]>,
    pub(super) normals: Vec<[[f32; 3]; 2]>,
    pub(super) face: Vec<u32>,
    pub(super) v_range: Vec<[f32; 2]>,
    /// Number of varying values.
    pub(super) varying_count: u32,
    /// Number of curves.
    pub(super) curve_count: u32,
}

/// Points that can still grow; see [`Points`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PointBatch {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) widths: Vec<f32>,
    pub(super) form: PointForm,
}

/// An implicit surface as it was read, and the mesh around it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlobBatch {
    pub(super) blobs: Blobs,
    pub(super) field: Field,
    pub(super) mesh: BlobMesh,
}

/// The primitives of a batch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BatchShape {
    /// One quadric.
    Quadric(Quadric),
    /// Polygons or bilinear patches.
    Facets(FacetBatch),
    /// Bezier patches.
    Patches(PatchBatch),
    /// A subdivision mesh.
    Limit(LimitPatches),
    /// Curves.
    Curves(CurveBatch),
    /// Points.
    Points(PointBatch),
    /// An implicit surface.
    Blobs(Box<BlobBatch>),
}

/// The result of one primitive request, or of several that were joined.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batch {
    /// The primitives.
    pub(crate) form: BatchShape,
    /// Their variables other than P and widths.
    pub(crate) columns: Vec<Column>,
    /// The location of the first request.
    pub(crate) location: SourceLocation,
}

impl BatchShape {
    /// Returns the number of primitives.
    fn primitive_count(&self) -> usize {
        match self {
            Self::Quadric(_) => 1,
            Self::Facets(facets) => facets.corners.len(),
            Self::Patches(patches) => patches.layout.corners.len(),
            Self::Limit(patches) => patches.face.len(),
            Self::Curves(curves) => curves.ends.len(),
            Self::Points(points) => points.positions.len(),
            Self::Blobs(blob) => blob.blobs.corners.len(),
        }
    }

    fn shape(self) -> Shape {
        match self {
            Self::Quadric(quadric) => Shape::Quadric(quadric),
            Self::Facets(facets) => Shape::Facets(Facets {
                positions: facets.positions.into(),
                corners: facets.corners.into(),
                face_corners: facets.face_corners.into(),
                face: facets.face.into(),
                polygon: facets.polygon,
                face_normals: facets.face_normals.into(),
                uv_range: facets.uv_range.into(),
            }),
            Self::Patches(patches) => {
                let count = patches.layout.corners.len() as u32;
                Shape::Patches(Patches {
                    degrees: patches.layout.degrees,
                    control: patches.control.into(),
                    weights: patches.weights.into(),
                    corners: patches.layout.corners.into(),
                    face_corners: (0..count).map(|patch| std::array::from_fn(|i| 4 * patch + i as u32)).collect(),
                    face: (0..count).collect(),
                    uv_range: patches.layout.uv_range.into(),
                    trim: patches.trim,
                })
            }
            Self::Limit(patches) => Shape::Limit(patches),
            Self::Curves(curves) => Shape::Curves(CurveSegments {
                control: curves.control.into(),
                weights: curves.weights.into(),
                cubic: curves.cubic,
                ends: curves.ends.into(),
                widths: curves.widths.into(),
                normals: curves.normals.into(),
                face: curves.face.into(),
                v_range: curves.v_range.into(),
            }),
            Self::Points(PointBatch { positions, widths, form }) => {
                Shape::Points(Points { positions: positions.into(), widths: widths.into(), form })
            }
            Self::Blobs(blob) => Shape::Blobs(blob.blobs),
        }
    }

    /// Whether another shape can be appended to this one: it is of the same kind and has the same optional parts.
    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Facets(a), Self::Facets(b)) => {
                a.polygon == b.polygon && a.uv_range.is_empty() == b.uv_range.is_empty()
            }
            (Self::Curves(a), Self::Curves(b)) => {
                let parts = |curves: &CurveBatch| (curves.cubic, curves.normals.is_empty(), curves.weights.is_empty());
                parts(a) == parts(b)
            }
            (Self::Patches(a), Self::Patches(b)) => {
                let is_trimmed = a.trim.is_some() || b.trim.is_some();
                a.layout.degrees == b.layout.degrees && a.weights.is_empty() == b.weights.is_empty() && !is_trimmed
            }
            (Self::Points(a), Self::Points(b)) => a.form == b.form,
            _ => false,
        }
    }

    /// Cuts polygons into the same facets as those of the first keyframe: a quadrilateral may be flat at one time and
    /// bent at another.
    fn cut_as(&mut self, first: &Self) {
        if let (Self::Facets(facets), Self::Facets(first)) = (self, first)
            && facets.polygon
        {
            facets.corners.clone_from(&first.corners);
            facets.face_corners.clone_from(&first.face_corners);
            facets.face.clone_from(&first.face);
        }
    }

    /// Gives patches and curves their weights, which are 1, if those at another time have some.
    fn weigh_as(&mut self, other: &Self) {
        match (self, other) {
            (Self::Patches(patches), Self::Patches(other))
                if patches.weights.is_empty() && !other.weights.is_empty() =>
            {
                patches.weights = vec![1.0; patches.control.len()];
            }
            (Self::Curves(curves), Self::Curves(other)) if curves.weights.is_empty() && !other.weights.is_empty() => {
                curves.weights = vec![[1.0; 4]; curves.ends.len()];
            }
            _ => {}
        }
    }

    /// Appends another shape of the same kind.
    fn extend(&mut self, other: Self) {
        match (self, other) {
            (Self::Facets(a), Self::Facets(b)) => a.extend(&b),
            (Self::Patches(a), Self::Patches(b)) => a.extend(&b),
            (Self::Curves(a), Self::Curves(b)) => a.extend(&b),
            (Self::Points(a), Self::Points(b)) => {
                a.positions.extend_from_slice(&b.positions);
                a.widths.extend_from_slice(&b.widths);
            }
            _ => {}
        }
    }
}

impl FacetBatch {
    fn extend(&mut self, other: &Self) {
        let vertex = self.positions.len() as u32;
        self.corners.extend(other.corners.iter().map(|corners| corners.map(|index| index + vertex)));
        self.face_corners.extend(other.face_corners.iter().map(|corners| corners.map(|i| i + self.face_varying_count)));
        self.face.extend(other.face.iter().map(|face| face + self.face_count));
        self.positions.extend_from_slice(&other.positions);
        self.face_normals.extend_from_slice(&other.face_normals);
        self.uv_range.extend_from_slice(&other.uv_range);
        self.face_varying_count += other.face_varying_count;
        self.face_count += other.face_count;
    }
}

impl PatchBatch {
    fn extend(&mut self, other: &Self) {
        let first = self.layout.varying_count;
        self.layout.corners.extend(other.layout.corners.iter().map(|corners| corners.map(|index| index + first)));
        self.layout.uv_range.extend_from_slice(&other.layout.uv_range);
        self.layout.varying_count += other.layout.varying_count;
        self.control.extend_from_slice(&other.control);
        self.weights.extend_from_slice(&other.weights);
    }
}

impl CurveBatch {
    fn extend(&mut self, other: &Self) {
        self.ends.extend(other.ends.iter().map(|ends| ends.map(|index| index + self.varying_count)));
        self.face.extend(other.face.iter().map(|face| face + self.curve_count));
        self.control.extend_from_slice(&other.control);
        self.weights.extend_from_slice(&other.weights);
        self.widths.extend_from_slice(&other.widths);
        self.normals.extend_from_slice(&other.normals);
        self.v_range.extend_from_slice(&other.v_range);
        self.varying_count += other.varying_count;
        self.curve_count += other.curve_count;
    }
}

impl Batch {
    /// Appends another batch, or returns it if the two cannot form one geometry.
    pub(crate) fn append(&mut self, other: Self) -> Option<Self> {
        let small = self.form.primitive_count() + other.form.primitive_count() <= JOINED_MAX;
        let points = matches!(self.form, BatchShape::Points(_));
        let columns = self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(|(a, b)| a.fits(b, points));
        if !small || !columns || !self.form.fits(&other.form) {
            return Some(other);
        }
        for (mine, theirs) in self.columns.iter_mut().zip(other.columns) {
            if !mine.is_single(points) {
                mine.values.extend(theirs.values);
            }
        }
        self.form.extend(other.form);
        None
    }

    /// Converts a batch that does not move to a geometry.
    pub(crate) fn geometry(self) -> Geometry {
        Self::moving_geometry(vec![(0.0, self)]).expect("a single keyframe is a motion")
    }

    /// Converts batches of the same topology at increasing times to a geometry. The primitive variables are those of
    /// the first.
    pub(crate) fn moving_geometry(mut keyframes: Vec<(f32, Self)>) -> Option<Geometry> {
        if let Some(((_, first), later)) = keyframes.split_first_mut() {
            for (_, batch) in later.iter_mut() {
                batch.form.cut_as(&first.form);
                first.form.weigh_as(&batch.form);
            }
            for (_, batch) in later {
                batch.form.weigh_as(&first.form);
            }
        }
        let mut first = None;
        let mut shapes = Vec::with_capacity(keyframes.len());
        for (time, batch) in keyframes {
            first.get_or_insert((batch.columns, batch.location));
            shapes.push((time, batch.form.shape()));
        }
        let (columns, location) = first?;
        let primvars = columns.into_iter().map(Column::primvar).collect();
        Some(Geometry { shape: Motion::new(shapes)?.along_arcs(), primvars, location })
    }

    /// Whether two batches can be keyframes of one moving geometry.
    pub(crate) fn same_topology(&self, other: &Self) -> bool {
        match (&self.form, &other.form) {
            (BatchShape::Quadric(a), BatchShape::Quadric(b)) => {
                std::mem::discriminant(&a.shape) == std::mem::discriminant(&b.shape)
            }
            (BatchShape::Facets(a), BatchShape::Facets(b)) => {
                a.polygon == b.polygon
                    && a.signature == b.signature
                    && a.positions.len() == b.positions.len()
                    && a.face_count == b.face_count
                    && (a.polygon || a.corners == b.corners)
            }
            (BatchShape::Patches(a), BatchShape::Patches(b)) => {
                a.layout.degrees == b.layout.degrees && a.layout.corners == b.layout.corners
            }
            (BatchShape::Limit(a), BatchShape::Limit(b)) => {
                (a.triangles, a.plain_count) == (b.triangles, b.plain_count)
                    && a.face == b.face
                    && a.seams == b.seams
                    && a.uv_range == b.uv_range
            }
            (BatchShape::Curves(a), BatchShape::Curves(b)) => {
                a.cubic == b.cubic && a.ends == b.ends && a.face == b.face && a.normals.len() == b.normals.len()
            }
            (BatchShape::Points(a), BatchShape::Points(b)) => {
                a.positions.len() == b.positions.len() && a.form == b.form
            }
            (BatchShape::Blobs(a), BatchShape::Blobs(b)) => a.field.has_instructions_of(&b.field),
            _ => false,
        }
    }

    /// Returns roughly how many bytes the geometry needs: as it is read, and again in the form that devices take, where
    /// each primitive has its own record and positions have four floats.
    pub(crate) fn bytes(&self) -> u64 {
        const POSITION: usize = 12 + 16;
        const RECORD: usize = 64;
        let (form, primitives) = match &self.form {
            BatchShape::Quadric(_) => (64, 1),
            BatchShape::Facets(f) => {
                ((f.positions.len() + f.face_normals.len()) * POSITION + f.corners.len() * 52, f.corners.len())
            }
            BatchShape::Patches(p) => {
                let count = p.layout.corners.len();
                let trim = p.trim.as_ref().map_or(0, |trim| trim.bytes());
                (p.control.len() * POSITION + p.weights.len() * 4 + count * (52 + 96) + trim, count)
            }
            BatchShape::Limit(p) => {
                let count = p.face.len();
                ((p.control.len() + p.seam_points.len()) * POSITION + p.seams.len() * 16 + count * 20, count)
            }
            BatchShape::Curves(c) => (c.control.len() * POSITION + c.ends.len() * 52, c.ends.len()),
            BatchShape::Points(p) => (p.positions.len() * (POSITION + 4), p.positions.len()),
            BatchShape::Blobs(b) => (2 * b.blobs.bytes(), b.blobs.corners.len()),
        };
        let columns: usize = self.columns.iter().map(|column| 64 + 2 * column.values.bytes()).sum();
        (256 + form + RECORD * primitives + columns) as u64
    }
}

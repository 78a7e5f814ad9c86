//! Geometry: object-space shapes and primitive variables, reduced to the few kinds that the dice kernels support.
//!
//! A [`Geometry`] holds many *primitives*. Each is a map from (u,v) in the unit square to object space, of one fixed
//! kind: quadric, bilinear facet, Bezier or Gregory patch, curve segment, point or blob. The RIB reader cuts up
//! polygons, converts every basis to Bezier, cuts NURBS into Bezier patches, refines subdivision meshes, lays meshes
//! around implicit surfaces and numbers the values of every primvar class, so that later stages do not depend on how a
//! shape was authored.

use super::{Blobs, Motion, ShapeArray, TrimLoops};
use crate::diagnostic::SourceLocation;
use std::sync::Arc;

/// RSL value types of primvars and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ValueType {
    /// One float.
    Float,
    /// One integer.
    Int,
    /// A string.
    String,
    /// Three floats, not transformed.
    Color,
    /// A position.
    Point,
    /// A direction.
    Vector,
    /// A normal.
    Normal,
    /// A homogeneous position, four floats.
    HPoint,
    /// Sixteen floats.
    Matrix,
    /// A matrix for each leaf of an implicit surface, of which each point of the surface makes a position; it is one
    /// from reading on.
    MPoint,
}

/// How given numbers become a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFit {
    /// There are as many as it has.
    Equal,
    /// One number is each component of a colour.
    Spread,
}

impl ValueType {
    /// Returns the number of floats of one value; 1 for strings.
    pub fn floats(self) -> usize {
        match self {
            Self::Float | Self::Int | Self::String => 1,
            Self::Color | Self::Point | Self::Vector | Self::Normal => 3,
            Self::HPoint => 4,
            Self::Matrix | Self::MPoint => 16,
        }
    }

    /// Returns how `given` numbers (or strings) become `array_len` elements of this type; `None` if they cannot.
    pub fn fit(self, array_len: u32, given: usize) -> Option<ValueFit> {
        if given == self.floats() * array_len as usize {
            return Some(ValueFit::Equal);
        }
        (self == Self::Color && array_len == 1 && given == 1).then_some(ValueFit::Spread)
    }

    /// Returns its name in declarations, with the number of elements if it is an array.
    pub fn described(self, array_len: u32) -> String {
        let name = match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::String => "string",
            Self::Color => "color",
            Self::Point => "point",
            Self::Vector => "vector",
            Self::Normal => "normal",
            Self::HPoint => "hpoint",
            Self::Matrix => "matrix",
            Self::MPoint => "mpoint",
        };
        if array_len > 1 { format!("{name}[{array_len}]") } else { name.to_owned() }
    }
}

/// Storage class of a primitive variable: the number of values and how they are interpolated (RISpec 5, table 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// One value for the whole geometry.
    Constant,
    /// One value for each face (see [`Facets::face`] and similar fields).
    Uniform,
    /// A value at each parametric corner, bilinear in between.
    Varying,
    /// A value at each control vertex, interpolated like P.
    Vertex,
    /// A value at each corner of each face, bilinear in between.
    FaceVarying,
}

/// The values of a primitive variable.
#[derive(Clone, Debug, PartialEq)]
pub enum PrimvarData {
    /// `count * array_len * ty.floats()` floats.
    Floats(ShapeArray<f32>),
    /// `count * array_len` strings.
    Strings(Arc<[Arc<str>]>),
}

/// A primitive variable other than P.
#[derive(Clone, Debug, PartialEq)]
pub struct Primvar {
    /// The name that shaders use.
    pub name: Arc<str>,
    /// Storage class.
    pub class: Class,
    /// Type of one element.
    pub ty: ValueType,
    /// Number of elements of an array; 1 for plain values.
    pub array_len: u32,
    /// The values, numbered by the shape's indices of that class.
    pub data: PrimvarData,
}

/// The seven quadrics (RISpec 5.3); sweeps in radians, u runs along the sweep, v along the profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuadricShape {
    /// A sphere, given by radius, zmin and zmax (clamped to the radius).
    Sphere {
        /// Radius; negative turns it inside out.
        radius: f32,
        /// Lower cut.
        zmin: f32,
        /// Upper cut.
        zmax: f32,
    },
    /// A cone, given by its height and the radius of the base at z = 0.
    Cone {
        /// Height of the tip.
        height: f32,
        /// Radius at z = 0.
        radius: f32,
    },
    /// A cylinder, given by radius, zmin and zmax.
    Cylinder {
        /// Radius.
        radius: f32,
        /// Lower end.
        zmin: f32,
        /// Upper end.
        zmax: f32,
    },
    /// The segment from p1 (v = 0) to p2 (v = 1), rotated about z.
    Hyperboloid {
        /// Start of the generating segment.
        p1: [f32; 3],
        /// End of the generating segment.
        p2: [f32; 3],
    },
    /// A paraboloid, given by the radius at zmax, zmin and zmax.
    Paraboloid {
        /// Radius at zmax.
        rmax: f32,
        /// Lower cut.
        zmin: f32,
        /// Upper end.
        zmax: f32,
    },
    /// A disk, given by height and radius; v is 0 at the rim and 1 in the centre.
    Disk {
        /// z of the plane.
        height: f32,
        /// Radius.
        radius: f32,
    },
    /// A torus, given by its major and minor radius and the range of the minor angle in radians.
    Torus {
        /// Distance of the tube's centre from the axis.
        major: f32,
        /// Radius of the tube.
        minor: f32,
        /// Start of the minor angle.
        phi_min: f32,
        /// End of the minor angle.
        phi_max: f32,
    },
}

/// One quadric: exactly one primitive. Uniform index 0; varying and vertex and facevarying indices 0..4 at
/// (u,v) = (0,0) (1,0) (0,1) (1,1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quadric {
    /// The kind of quadric and its sizes.
    pub shape: QuadricShape,
    /// Sweep angle in degrees, as authored (exact multiples of a turn matter); in [-360, 360].
    pub sweep_degrees: f32,
}

/// Bilinear facets: polygons (triangulated, convex quadrilaterals kept whole) and bilinear patches.
///
/// A facet has four corners at (u,v) = (0,0) (1,0) (0,1) (1,1); a triangle repeats its last corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Facets {
    /// Positions of the vertices.
    pub positions: ShapeArray<[f32; 3]>,
    /// Vertex (and varying) indices of the corners of each facet.
    pub corners: ShapeArray<[u32; 4]>,
    /// Facevarying indices of the corners of each facet.
    pub face_corners: ShapeArray<[u32; 4]>,
    /// The face (uniform index) that each facet belongs to.
    pub face: ShapeArray<u32>,
    /// Whether the facets are polygons. For polygons, u, v and the default s, t are the object-space x, y, and a face
    /// is flat, with the face normal of the authored polygon. For bilinear patches, u, v are parametric.
    pub polygon: bool,
    /// The authored polygons' unit normals in object space, one for each face, in the direction of dP/du x dP/dv of its
    /// facets (Newell's sum over the outer loop in authored order); empty for bilinear patches.
    pub face_normals: ShapeArray<[f32; 3]>,
    /// For patches only: the part of the mesh's (u,v) square that each facet covers, u0, v0, u1, v1; empty if each
    /// covers the whole square.
    pub uv_range: ShapeArray<[f32; 4]>,
}

/// The highest degree of a patch.
pub const PATCH_DEGREE_MAX: u32 = 23;

/// Patches in the Bezier basis, all of the same degrees; most are bicubic.
#[derive(Clone, Debug, PartialEq)]
pub struct Patches {
    /// Degrees in u and v, from 1 to [`PATCH_DEGREE_MAX`].
    pub degrees: [u32; 2],
    /// The control points of each patch ([`Patches::control_count`]), u fastest; points that neighbours share are
    /// bit-identical. Where there are weights, a point is multiplied by its weight.
    pub control: ShapeArray<[f32; 3]>,
    /// The positive weights of the control points of rational patches; empty if all are 1.
    pub weights: ShapeArray<f32>,
    /// Varying indices of the corners of each patch.
    pub corners: ShapeArray<[u32; 4]>,
    /// Facevarying indices of the corners of each patch.
    pub face_corners: ShapeArray<[u32; 4]>,
    /// Uniform index of each patch.
    pub face: ShapeArray<u32>,
    /// The part of the mesh's (u,v) square that each patch covers, u0, v0, u1, v1.
    pub uv_range: ShapeArray<[f32; 4]>,
    /// Which part of the mesh's (u,v) square is drawn; all of it without.
    pub trim: Option<Arc<TrimLoops>>,
}

impl Patches {
    /// Returns the number of control points of one patch.
    pub fn control_count(&self) -> usize {
        self.degrees.iter().map(|&degree| degree as usize + 1).product()
    }

    /// Whether the patches are bicubic and have no weights.
    pub fn is_plain_bicubic(&self) -> bool {
        self.degrees == [3, 3] && self.weights.is_empty()
    }
}

/// The four borders of a limit patch: along u at v = 0 and v = 1, along v at u = 0 and u = 1.
pub type Borders<T> = [T; 4];

/// Patches of the limit surface of a subdivision mesh, made of Bezier points: bicubic, or quartic triangles. The
/// interior points of Gregory patches are pairs, blended rationally; see the crate `osd` for the order of points.
/// Varying and facevarying values are numbered by corner, in the order of [`Facets::corners`].
#[derive(Clone, Debug, PartialEq)]
pub struct LimitPatches {
    /// Whether they are triangles.
    pub triangles: bool,
    /// The number of plain bicubic patches, which come first; all others are Gregory patches. No triangle is plain.
    pub plain_count: usize,
    /// The control points of each patch: 16 of a plain one, 20 of another, 18 of a triangle. Points that neighbours
    /// share are bit-identical.
    pub control: ShapeArray<[f32; 3]>,
    /// For each Gregory patch the seams of its borders, counted from 1; 0 where the neighbour is as long.
    pub seams: ShapeArray<Borders<u32>>,
    /// The points of the two curves of each seam, which share one: 7, or 9 of triangles.
    pub seam_points: ShapeArray<[f32; 3]>,
    /// Uniform index of each patch.
    pub face: ShapeArray<u32>,
    /// The part of its face's (u,v) square that each patch covers, u0, v0, u1, v1; u1 < u0 in a turned triangle.
    pub uv_range: ShapeArray<[f32; 4]>,
}

impl LimitPatches {
    /// Returns the number of corners of a patch.
    pub fn corner_count(&self) -> usize {
        if self.triangles { 3 } else { 4 }
    }

    /// Returns the number of control points of a Gregory patch.
    pub fn gregory_count(&self) -> usize {
        if self.triangles { 18 } else { 20 }
    }

    /// Returns the number of points of a seam.
    pub fn seam_count(&self) -> usize {
        if self.triangles { 9 } else { 7 }
    }

    /// Returns the first control point of a patch.
    pub fn first_point(&self, patch: usize) -> usize {
        16 * patch.min(self.plain_count) + self.gregory_count() * patch.saturating_sub(self.plain_count)
    }

    /// Returns the numbers of the corners of a patch at (u,v) = (0,0) (1,0) (0,1) (1,1).
    pub fn corners(&self, patch: usize) -> [u32; 4] {
        let first = (self.corner_count() * patch) as u32;
        [first, first + 1, first + 2, if self.triangles { first + 2 } else { first + 3 }]
    }
}

/// Segments of curves: cubic in the Bezier basis or straight; v runs along the curve, u across it.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSegments {
    /// Control points: four for each segment if cubic, two if linear.
    pub control: ShapeArray<[f32; 3]>,
    /// Positive weights of the control points of each segment, or empty; values of class Vertex are those times them.
    pub weights: ShapeArray<[f32; 4]>,
    /// Whether segments are cubic.
    pub cubic: bool,
    /// Varying indices at the start and end of each segment.
    pub ends: ShapeArray<[u32; 2]>,
    /// Bezier values of the width over each segment, in object space; straight lines where `control` is linear.
    pub widths: ShapeArray<[f32; 4]>,
    /// Ribbon normals at the start and end of each segment, or empty: the ribbon faces the camera.
    pub normals: ShapeArray<[[f32; 3]; 2]>,
    /// The curve (uniform index) that each segment belongs to.
    pub face: ShapeArray<u32>,
    /// The part of the curve's v that each segment covers.
    pub v_range: ShapeArray<[f32; 2]>,
}

/// What is drawn of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointForm {
    /// A disk that faces the camera.
    #[default]
    Disk,
    /// A sphere.
    Sphere,
    /// A square that faces the camera.
    Square,
}

/// Points. Varying, vertex and facevarying index = point; uniform index 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// Centres.
    pub positions: ShapeArray<[f32; 3]>,
    /// Diameter of each, or the side of its square, in object space.
    pub widths: ShapeArray<f32>,
    /// What each of them is.
    pub form: PointForm,
}

/// A shape: one or more primitives of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// One quadric.
    Quadric(Quadric),
    /// Bilinear facets.
    Facets(Facets),
    /// Bezier patches.
    Patches(Patches),
    /// Patches of a subdivision mesh.
    Limit(LimitPatches),
    /// Curve segments.
    Curves(CurveSegments),
    /// Points.
    Points(Points),
    /// Parts of an implicit surface.
    Blobs(Blobs),
}

impl Shape {
    /// Returns the loops that trim it.
    pub fn trim(&self) -> Option<&Arc<TrimLoops>> {
        match self {
            Self::Patches(patches) => patches.trim.as_ref(),
            _ => None,
        }
    }

    /// Returns the number of primitives.
    pub fn primitive_count(&self) -> usize {
        match self {
            Self::Quadric(_) => 1,
            Self::Facets(facets) => facets.corners.len(),
            Self::Patches(patches) => patches.corners.len(),
            Self::Limit(patches) => patches.face.len(),
            Self::Curves(curves) => curves.ends.len(),
            Self::Points(points) => points.positions.len(),
            Self::Blobs(blobs) => blobs.corners.len(),
        }
    }
}

/// Object-space geometry with its primitive variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// The shape at each authored time; all keyframes have the same topology.
    pub shape: Motion<Shape>,
    /// Primitive variables other than P and widths (at the first keyframe). For [`Patches`], [`LimitPatches`] and cubic
    /// [`CurveSegments`], class Vertex is already converted to the Bezier basis: as many values for each primitive as
    /// it has control points, numbered like them and, where those have weights, multiplied by the weights.
    pub primvars: Vec<Primvar>,
    /// The location of its request.
    pub location: SourceLocation,
}

/// A cubic basis with its step (RISpec 5.2, `Basis`): rows multiply (t^3, t^2, t, 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Basis {
    /// The 4x4 matrix, row-major, as RIB writes it.
    pub matrix: [[f32; 4]; 4],
    /// Control points from one segment to the next.
    pub step: u32,
}

//! Control meshes, and what must hold before OpenSubdiv sees one: it trusts its input.

use std::fmt;

/// A subdivision scheme that has a smooth limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Faces of any size.
    CatmullClark,
    /// Triangles only.
    Loop,
}

/// What happens at the boundary of a mesh: `interpolateboundary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// Faces at the boundary are not drawn.
    None = 0,
    /// Edges are sharp, and so are vertices with one face.
    EdgesAndCorners = 1,
    /// Edges are sharp.
    Edges = 2,
}

/// Where face-varying values are linear: `facevaryinginterpolateboundary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceVarying {
    /// Nowhere: smooth also along the boundaries of pieces.
    Smooth = 0,
    /// At corners and where more than two pieces meet.
    Corners = 2,
    /// At those, and at the ends of boundaries that become corners elsewhere.
    PropagatedCorners = 3,
    /// Along boundaries.
    Boundaries = 4,
    /// Everywhere.
    Linear = 5,
}

/// A topology of face-varying values.
#[derive(Clone, Copy, Debug)]
pub struct Channel<'c> {
    /// The number of values.
    pub value_count: u32,
    /// The value of each corner of each face.
    pub values: &'c [i32],
}

/// A control mesh without positions.
#[derive(Clone, Copy, Debug)]
pub struct Cage<'c> {
    /// The scheme.
    pub scheme: Scheme,
    /// The rule of boundaries.
    pub boundary: Boundary,
    /// The rule of face-varying values.
    pub face_varying: FaceVarying,
    /// Whether the sharpness of a crease is averaged along it (Chaikin's rule).
    pub chaikin: bool,
    /// Whether triangles have the smoother rule.
    pub smooth_triangles: bool,
    /// The number of vertices.
    pub vertex_count: u32,
    /// The number of vertices of each face.
    pub face_sizes: &'c [i32],
    /// The vertices of each face.
    pub face_vertices: &'c [i32],
    /// The vertices of sharp edges.
    pub crease_edges: &'c [[i32; 2]],
    /// The sharpness of each: 10 and more is infinite.
    pub crease_sharpness: &'c [f32],
    /// Sharp vertices.
    pub corner_vertices: &'c [i32],
    /// The sharpness of each.
    pub corner_sharpness: &'c [f32],
    /// Faces that are not drawn.
    pub holes: &'c [i32],
    /// Topologies of face-varying values.
    pub channels: &'c [Channel<'c>],
}

/// The most faces that may meet at a vertex, and the most vertices of a face: the points of a patch depend on all of
/// them.
pub const VALENCE_MAX: usize = 1024;

/// Why a mesh cannot be refined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CageError {
    /// The lengths of its lists do not agree.
    Lengths,
    /// An index is not one of a vertex, a face or a value.
    Index,
    /// A face has fewer than 3 vertices, or names one twice, or is no triangle where it must be.
    Face(usize),
    /// A vertex, or a face, has more than [`VALENCE_MAX`] neighbours.
    Valence(usize),
    /// A sharpness is negative or not a number.
    Sharpness,
    /// What OpenSubdiv reports.
    Refused(String),
}

impl fmt::Display for CageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lengths => write!(f, "the lengths of its lists do not agree"),
            Self::Index => write!(f, "an index is too large"),
            Self::Face(face) => write!(f, "face {face} is not valid"),
            Self::Valence(count) => write!(f, "{count} faces or vertices meet, more than {VALENCE_MAX}"),
            Self::Sharpness => write!(f, "a sharpness is negative or not a number"),
            Self::Refused(what) => write!(f, "it cannot be subdivided: {what}"),
        }
    }
}

impl std::error::Error for CageError {}

impl Cage<'_> {
    /// Checks everything that OpenSubdiv trusts.
    pub(crate) fn check(&self) -> Result<(), CageError> {
        let vertex = |index: &i32| (0..i64::from(self.vertex_count)).contains(&i64::from(*index));
        let face = |index: &i32| usize::try_from(*index).is_ok_and(|index| index < self.face_sizes.len());
        let fits = |count: usize| i32::try_from(count).is_ok();
        self.check_faces(&vertex)?;
        let lengths = self.crease_edges.len() == self.crease_sharpness.len()
            && self.corner_vertices.len() == self.corner_sharpness.len()
            && self.channels.iter().all(|channel| channel.values.len() == self.face_vertices.len())
            && [self.face_vertices.len(), self.crease_edges.len(), self.corner_vertices.len(), self.holes.len()]
                .into_iter()
                .all(fits)
            && fits(self.vertex_count as usize);
        if !lengths {
            return Err(CageError::Lengths);
        }
        let channel = |channel: &Channel<'_>| {
            fits(channel.value_count as usize)
                && channel
                    .values
                    .iter()
                    .all(|&value| u32::try_from(value).is_ok_and(|value| value < channel.value_count))
        };
        let indices = self.crease_edges.as_flattened().iter().all(vertex)
            && self.corner_vertices.iter().all(vertex)
            && self.holes.iter().all(face)
            && self.channels.iter().all(channel);
        if !indices {
            return Err(CageError::Index);
        }
        if self
            .crease_sharpness
            .iter()
            .chain(self.corner_sharpness)
            .any(|sharpness| sharpness.is_nan() || *sharpness < 0.0)
        {
            return Err(CageError::Sharpness);
        }
        Ok(())
    }

    fn check_faces(&self, vertex: &dyn Fn(&i32) -> bool) -> Result<(), CageError> {
        let mut valences = vec![0_usize; self.vertex_count as usize];
        let mut rest = self.face_vertices;
        for (face, &size) in self.face_sizes.iter().enumerate() {
            let size = usize::try_from(size).map_err(|_| CageError::Lengths)?;
            let (corners, after) = rest.split_at_checked(size).ok_or(CageError::Lengths)?;
            rest = after;
            if size < 3 || (self.scheme == Scheme::Loop && size != 3) {
                return Err(CageError::Face(face));
            }
            if size > VALENCE_MAX {
                return Err(CageError::Valence(size));
            }
            if !corners.iter().all(vertex) {
                return Err(CageError::Index);
            }
            let mut sorted = corners.to_vec();
            sorted.sort_unstable();
            if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(CageError::Face(face));
            }
            corners.iter().for_each(|&corner| valences[corner as usize] += 1);
        }
        if !rest.is_empty() {
            return Err(CageError::Lengths);
        }
        match valences.into_iter().max() {
            Some(most) if most > VALENCE_MAX => Err(CageError::Valence(most)),
            _ => Ok(()),
        }
    }
}

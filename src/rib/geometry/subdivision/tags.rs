//! The tags of a subdivision mesh: holes, sharp corners and edges, rules of boundaries (RISpec 5.4).

use crate::rib::geometry::primvars::PrimitiveCall;
use osd::{Boundary, FaceVarying};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The tag lists of a request, as they are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct TagLists {
    /// The tags' names.
    pub(crate) names: Vec<Arc<str>>,
    /// How many integers and floats, and in newer files strings, each tag has.
    pub(crate) counts: Vec<i32>,
    /// The integers of all tags.
    pub(crate) ints: Vec<i32>,
    /// The floats of all tags.
    pub(crate) floats: Vec<f32>,
}

/// What the tags ask for.
#[derive(Clone, Debug)]
pub(super) struct SubdivisionRules {
    pub(super) boundary: Boundary,
    pub(super) face_varying: FaceVarying,
    pub(super) chaikin: bool,
    pub(super) smooth_triangles: bool,
    pub(super) holes: Vec<i32>,
    pub(super) crease_edges: Vec<[i32; 2]>,
    pub(super) crease_sharpness: Vec<f32>,
    pub(super) corner_vertices: Vec<i32>,
    pub(super) corner_sharpness: Vec<f32>,
}

/// The integers and floats of one tag.
#[derive(Clone, Copy)]
struct TagArgs<'t> {
    ints: &'t [i32],
    floats: &'t [f32],
}

impl TagLists {
    /// Splits the lists into tags; `None` if their lengths do not agree.
    fn split(&self) -> Option<Vec<(&str, TagArgs<'_>)>> {
        let each = match self.counts.len() {
            count if count == 2 * self.names.len() => 2,
            count if count == 3 * self.names.len() => 3,
            _ => return None,
        };
        let (mut ints, mut floats) = (&self.ints[..], &self.floats[..]);
        let mut tags = Vec::with_capacity(self.names.len());
        for (name, counts) in self.names.iter().zip(self.counts.chunks_exact(each)) {
            let [int_count, float_count] = [counts[0], counts[1]].map(|count| usize::try_from(count).ok());
            let (own_ints, other_ints) = ints.split_at_checked(int_count?)?;
            let (own_floats, other_floats) = floats.split_at_checked(float_count?)?;
            (ints, floats) = (other_ints, other_floats);
            tags.push((&**name, TagArgs { ints: own_ints, floats: own_floats }));
        }
        Some(tags)
    }

    /// Reads the tags of a mesh with `face_count` faces. What is wrong is reported and has no effect.
    pub(super) fn rules(
        &self,
        call: &PrimitiveCall<'_>,
        face_count: usize,
        vertex_count: u64,
    ) -> Option<SubdivisionRules> {
        let Some(tags) = self.split() else {
            call.error("consistency", "the numbers of arguments of its tags do not agree with their lists");
            return None;
        };
        let mut rules = SubdivisionRules {
            boundary: Boundary::None,
            face_varying: FaceVarying::Linear,
            chaikin: false,
            smooth_triangles: false,
            holes: Vec::new(),
            crease_edges: Vec::new(),
            crease_sharpness: Vec::new(),
            corner_vertices: Vec::new(),
            corner_sharpness: Vec::new(),
        };
        let propagates = tags.iter().any(|(name, args)| {
            *name == "facevaryingpropagatecorners" && args.ints.first().is_none_or(|&value| value != 0)
        });
        for (name, args) in tags {
            if let Err(what) = rules.take(name, args, propagates, face_count, vertex_count) {
                call.warning("badtoken", &format!("the tag \"{name}\" is ignored: {what}"));
            }
        }
        Some(rules)
    }
}

impl SubdivisionRules {
    fn take(
        &mut self,
        name: &str,
        args: TagArgs<'_>,
        propagates: bool,
        face_count: usize,
        vertex_count: u64,
    ) -> Result<(), String> {
        let flag = |default: i32| args.ints.first().copied().unwrap_or(default);
        match name {
            "hole" => {
                if let Some(face) = args.ints.iter().find(|&&face| !usize::try_from(face).is_ok_and(|f| f < face_count))
                {
                    return Err(format!("there is no face {face}"));
                }
                self.holes.extend(args.ints);
            }
            "corner" => {
                let sharpness = sharpness(args, args.ints.len())?;
                check_vertices(args.ints, vertex_count)?;
                self.corner_vertices.extend(args.ints);
                self.corner_sharpness.extend(sharpness);
            }
            "crease" => {
                if args.ints.len() < 2 {
                    return Err("a crease has at least two vertices".to_owned());
                }
                let sharpness = sharpness(args, args.ints.len() - 1)?;
                check_vertices(args.ints, vertex_count)?;
                self.crease_edges.extend(args.ints.windows(2).map(|pair| [pair[0], pair[1]]));
                self.crease_sharpness.extend(sharpness);
            }
            "interpolateboundary" => {
                self.boundary = match flag(1) {
                    0 => Boundary::None,
                    1 => Boundary::EdgesAndCorners,
                    2 => Boundary::Edges,
                    other => return Err(format!("its value is {other}, not 0, 1 or 2")),
                };
            }
            "facevaryinginterpolateboundary" => {
                self.face_varying = match flag(1) {
                    0 => FaceVarying::Linear,
                    1 if propagates => FaceVarying::PropagatedCorners,
                    1 => FaceVarying::Corners,
                    2 => FaceVarying::Smooth,
                    3 => FaceVarying::Boundaries,
                    other => return Err(format!("its value is {other}, not 0, 1, 2 or 3")),
                };
            }
            "facevaryingpropagatecorners" => {}
            "creasemethod" => self.chaikin = flag(1) != 0,
            "smoothtriangles" => self.smooth_triangles = flag(1) != 0,
            "faceedit" | "vertexedit" | "edgeedit" => {
                return Err("hierarchical edits are not supported; the mesh is drawn without them".to_owned());
            }
            _ => return Err("it is not known".to_owned()),
        }
        Ok(())
    }

    /// Removes sharp edges that no face has; returns how many.
    pub(super) fn keep_edges(&mut self, edges: &FxHashSet<[i32; 2]>) -> usize {
        let all = self.crease_edges.len();
        let keep: Vec<bool> = self.crease_edges.iter().map(|edge| edges.contains(&ordered(*edge))).collect();
        let mut flags = keep.iter();
        self.crease_edges.retain(|_| flags.next().is_some_and(|keep| *keep));
        let mut flags = keep.iter();
        self.crease_sharpness.retain(|_| flags.next().is_some_and(|keep| *keep));
        all - self.crease_edges.len()
    }
}

/// Returns the vertices of an edge, the lower one first.
pub(super) fn ordered([a, b]: [i32; 2]) -> [i32; 2] {
    [a.min(b), a.max(b)]
}

fn check_vertices(vertices: &[i32], vertex_count: u64) -> Result<(), String> {
    match vertices.iter().find(|&&vertex| !u64::try_from(vertex).is_ok_and(|v| v < vertex_count)) {
        Some(vertex) => Err(format!("there is no vertex {vertex}")),
        None => Ok(()),
    }
}

/// Returns the sharpness of `count` edges or vertices: one for each, or one for all.
fn sharpness(args: TagArgs<'_>, count: usize) -> Result<Vec<f32>, String> {
    if args.floats.iter().any(|sharpness| sharpness.is_nan() || *sharpness < 0.0) {
        return Err("a sharpness is negative or not a number".to_owned());
    }
    match args.floats {
        [one] => Ok(vec![*one; count]),
        each if each.len() == count => Ok(each.to_vec()),
        other => Err(format!("it has {} sharpness values, not 1 or {count}", other.len())),
    }
}

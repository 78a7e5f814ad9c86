//! Subdivision meshes (RISpec 5.4): control meshes to patches of their limit surface.

mod bilinear;
mod channels;
mod control_mesh;
mod limit;
mod seams;
pub(crate) mod tags;

use super::batch::{Batch, BatchShape};
use super::primvars::{ClassCounts, PrimitiveCall};
use control_mesh::ControlMesh;
use osd::Scheme;
use rustc_hash::FxHashSet;
use tags::{SubdivisionRules, TagLists, ordered};

/// The arguments of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubdivisionArgs<'m> {
    /// The scheme's name.
    pub(crate) scheme: &'m str,
    /// The number of vertices of each face.
    pub(crate) sizes: &'m [i32],
    /// The vertices of each face.
    pub(crate) vertices: &'m [i32],
    /// The tags.
    pub(crate) tags: &'m TagLists,
}

/// The schemes by their names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedScheme {
    Smooth(Scheme),
    Bilinear,
}

impl SubdivisionArgs<'_> {
    /// Checks the lists; returns the number of vertices that they name, or what is wrong.
    fn check(&self) -> Result<u64, String> {
        if self.sizes.is_empty() {
            return Err("it has no faces".to_owned());
        }
        if self.sizes.iter().any(|&size| size < 0) {
            return Err("a number of vertices is negative".to_owned());
        }
        let corners: u64 = self.sizes.iter().map(|&size| size as u64).sum();
        if corners != self.vertices.len() as u64 {
            return Err(format!("its faces have {corners} corners, but it lists {}", self.vertices.len()));
        }
        if self.vertices.iter().any(|&vertex| vertex < 0) {
            return Err("a vertex index is negative".to_owned());
        }
        Ok(self.vertices.iter().max().map_or(0, |&largest| largest as u64 + 1))
    }

    fn scheme(&self) -> Option<NamedScheme> {
        Some(match self.scheme {
            "catmull-clark" | "catmark" => NamedScheme::Smooth(Scheme::CatmullClark),
            "loop" => NamedScheme::Smooth(Scheme::Loop),
            "bilinear" => NamedScheme::Bilinear,
            _ => return None,
        })
    }
}

impl PrimitiveCall<'_> {
    /// Reads `SubdivisionMesh` or `HierarchicalSubdivisionMesh`.
    pub(crate) fn subdivision(&self, args: SubdivisionArgs<'_>) -> Option<Batch> {
        let Some(scheme) = args.scheme() else {
            let what = format!("the scheme \"{}\" is not \"catmull-clark\", \"loop\" or \"bilinear\"", args.scheme);
            self.error("badtoken", &what);
            return None;
        };
        let vertex_count = match args.check() {
            Ok(count) => count,
            Err(what) => {
                self.error("consistency", &what);
                return None;
            }
        };
        let positions = self.positions(Some(vertex_count), None)?;
        let mut rules = args.tags.rules(self, args.sizes.len(), vertex_count)?;
        if !rules.crease_edges.is_empty() {
            self.check_creases(args, &mut rules);
        }
        let holes = std::mem::take(&mut rules.holes);
        let mut mesh = self.usable_faces(args, &rules, scheme)?;
        let renumbered = renumber(&holes, &mesh.face_origins);
        let rules = SubdivisionRules { holes: renumbered, ..rules.clone() };
        mesh.rules = &rules;
        let counts = ClassCounts {
            uniform: args.sizes.len() as u64,
            varying: vertex_count,
            vertex: vertex_count,
            face_varying: args.vertices.len() as u64,
        };
        let mut columns = self.columns(&counts, &[], None);
        let form = match scheme {
            NamedScheme::Bilinear => BatchShape::Facets(mesh.bilinear(positions, &mut columns)),
            NamedScheme::Smooth(scheme) => match mesh.limit(scheme, &positions, &mut columns) {
                Ok(patches) => BatchShape::Limit(patches),
                Err(what) => {
                    self.error("consistency", &what);
                    return None;
                }
            },
        };
        Some(Batch { form, columns, location: self.location.clone() })
    }

    /// Leaves out creases along what is no edge.
    fn check_creases(&self, args: SubdivisionArgs<'_>, rules: &mut SubdivisionRules) {
        let mut edges = FxHashSet::default();
        let mut rest = args.vertices;
        for &size in args.sizes {
            let (face, after) = rest.split_at(size as usize);
            rest = after;
            edges.extend((0..face.len()).map(|i| ordered([face[i], face[(i + 1) % face.len()]])));
        }
        let dropped = rules.keep_edges(&edges);
        if dropped > 0 {
            self.note_partial("range", &format!("{dropped} sharp edges are ignored because no face has them"));
        }
    }

    /// Returns the faces without those that cannot be subdivided.
    fn usable_faces<'m>(
        &self,
        args: SubdivisionArgs<'_>,
        rules: &'m SubdivisionRules,
        scheme: NamedScheme,
    ) -> Option<ControlMesh<'m>> {
        let mut mesh = ControlMesh {
            rules,
            sizes: Vec::new(),
            vertices: Vec::new(),
            starts: Vec::new(),
            face_origins: Vec::new(),
            corner_origins: Vec::new(),
        };
        let (mut first, mut broken, mut not_triangles) = (0, 0, 0);
        let mut sorted = Vec::new();
        for (face, &size) in args.sizes.iter().enumerate() {
            let corners = &args.vertices[first..first + size as usize];
            let origins = first as u32..(first + corners.len()) as u32;
            first += corners.len();
            sorted.clear();
            sorted.extend_from_slice(corners);
            sorted.sort_unstable();
            if corners.len() < 3 || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                broken += 1;
                continue;
            }
            not_triangles += usize::from(corners.len() != 3);
            mesh.starts.push(mesh.vertices.len());
            mesh.sizes.push(size);
            mesh.vertices.extend_from_slice(corners);
            mesh.face_origins.push(face as u32);
            mesh.corner_origins.extend(origins);
        }
        let all = args.sizes.len();
        if scheme == NamedScheme::Smooth(Scheme::Loop) && not_triangles > 0 {
            let what = format!("the scheme \"loop\" needs triangles, and {not_triangles} of {all} faces are none");
            self.error("consistency", &what);
            return None;
        }
        if broken == all {
            self.note("range", "no face has three different vertices");
            return None;
        }
        if broken > 0 {
            let what = format!(
                "{broken} of {all} faces are left out because they do not have three different vertices or name one twice"
            );
            self.note_partial("range", &what);
        }
        Some(mesh)
    }
}

/// Returns the numbers that faces of the request have among those that are left.
fn renumber(faces: &[i32], origins: &[u32]) -> Vec<i32> {
    let number = |face: &i32| origins.binary_search(&(*face as u32)).ok().map(|at| at as i32);
    let mut numbers: Vec<i32> = faces.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

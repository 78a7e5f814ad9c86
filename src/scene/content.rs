//! What shapes and primitive variables are made of, as hashes: equal ones have equal hashes wherever they are in
//! memory, and whichever file they came from.

use super::{
    BlobStep, Blobs, CurveSegments, Facets, LimitPatches, Motion, Patches, Points, Primvar, PrimvarData, Quadric,
    QuadricShape, Shape, TrimLoops,
};
use bytemuck::NoUninit;
use std::fmt::Debug;
use twox_hash::xxhash3_128;

/// Hashes values in order. Lists begin with their length, so that it matters where one ends.
pub struct ContentHasher {
    hasher: xxhash3_128::Hasher,
    /// Bytes that are not hashed yet: to hash a few at a time takes several times as long.
    pending: Vec<u8>,
}

/// Bytes that are hashed at once.
const BYTES_AT_ONCE: usize = 1 << 14;

impl Default for ContentHasher {
    fn default() -> Self {
        Self { hasher: xxhash3_128::Hasher::new(), pending: Vec::new() }
    }
}

impl ContentHasher {
    /// Adds a value of a fixed size.
    pub fn value<T: NoUninit>(&mut self, value: &T) {
        self.bytes(bytemuck::bytes_of(value));
    }

    /// Adds a list.
    pub fn list<T: NoUninit>(&mut self, values: &[T]) {
        self.value(&values.len());
        self.bytes(bytemuck::cast_slice(values));
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.list(text.as_bytes());
    }

    /// Adds something small. Floats are written so that they can be read back exactly.
    pub fn debug(&mut self, value: &dyn Debug) {
        self.text(&format!("{value:?}"));
    }

    /// Returns the hash.
    pub fn finish(mut self) -> u128 {
        self.hasher.write(&self.pending);
        self.hasher.finish_128()
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.pending.len() + bytes.len() <= BYTES_AT_ONCE {
            return self.pending.extend_from_slice(bytes);
        }
        self.hasher.write(&self.pending);
        self.hasher.write(bytes);
        self.pending.clear();
    }

    /// Adds a shape at all its times.
    pub fn shape(&mut self, shape: &Motion<Shape>) {
        self.value(&shape.keyframes().len());
        for (time, shape) in shape.keyframes() {
            self.value(time);
            match shape {
                Shape::Quadric(quadric) => self.quadric(quadric),
                Shape::Facets(facets) => self.facets(facets),
                Shape::Patches(patches) => self.patches(patches),
                Shape::Limit(patches) => self.limit_patches(patches),
                Shape::Curves(curves) => self.curves(curves),
                Shape::Points(points) => self.points(points),
                Shape::Blobs(blobs) => self.blobs(blobs),
            }
        }
    }

    /// Adds primitive variables.
    pub fn primvars(&mut self, primvars: &[Primvar]) {
        self.value(&primvars.len());
        for Primvar { name, class, ty, array_len, data } in primvars {
            self.text(name);
            self.value(&[*class as u32, *ty as u32, *array_len]);
            match data {
                PrimvarData::Floats(floats) => self.list(floats),
                PrimvarData::Strings(texts) => {
                    self.text("texts");
                    self.value(&texts.len());
                    texts.iter().for_each(|text| self.text(text));
                }
            }
        }
    }

    fn quadric(&mut self, Quadric { shape, sweep_degrees }: &Quadric) {
        let (kind, sizes): (u32, [f32; 6]) = match *shape {
            QuadricShape::Sphere { radius, zmin, zmax } => (0, [radius, zmin, zmax, 0.0, 0.0, 0.0]),
            QuadricShape::Cone { height, radius } => (1, [height, radius, 0.0, 0.0, 0.0, 0.0]),
            QuadricShape::Cylinder { radius, zmin, zmax } => (2, [radius, zmin, zmax, 0.0, 0.0, 0.0]),
            QuadricShape::Hyperboloid { p1, p2 } => (3, [p1[0], p1[1], p1[2], p2[0], p2[1], p2[2]]),
            QuadricShape::Paraboloid { rmax, zmin, zmax } => (4, [rmax, zmin, zmax, 0.0, 0.0, 0.0]),
            QuadricShape::Disk { height, radius } => (5, [height, radius, 0.0, 0.0, 0.0, 0.0]),
            QuadricShape::Torus { major, minor, phi_min, phi_max } => (6, [major, minor, phi_min, phi_max, 0.0, 0.0]),
        };
        self.text("quadric");
        self.value(&kind);
        self.value(&sizes);
        self.value(sweep_degrees);
    }

    fn facets(&mut self, facets: &Facets) {
        let Facets { positions, corners, face_corners, face, polygon, face_normals, uv_range } = facets;
        self.text("facets");
        self.value(&u8::from(*polygon));
        [positions, face_normals].into_iter().for_each(|list| self.list(list));
        [corners, face_corners].into_iter().for_each(|list| self.list(list));
        self.list(face);
        self.list(uv_range);
    }

    fn patches(&mut self, patches: &Patches) {
        let Patches { degrees, control, weights, corners, face_corners, face, uv_range, trim } = patches;
        self.text("patches");
        self.value(degrees);
        self.list(control);
        self.list(weights);
        [corners, face_corners].into_iter().for_each(|list| self.list(list));
        self.list(face);
        self.list(uv_range);
        self.value(&u8::from(trim.is_some()));
        trim.iter().for_each(|trim| self.trim(trim));
    }

    /// Strips follow from pieces.
    fn trim(&mut self, TrimLoops { pieces, strips: _, draws_outside }: &TrimLoops) {
        self.value(&u8::from(*draws_outside));
        self.value(&pieces.len());
        for piece in pieces.iter() {
            self.value(&piece.ends);
            self.list(&piece.control);
        }
    }

    fn limit_patches(&mut self, patches: &LimitPatches) {
        let LimitPatches { triangles, plain_count, control, seams, seam_points, face, uv_range } = patches;
        self.text("limit");
        self.value(&u8::from(*triangles));
        self.value(plain_count);
        [control, seam_points].into_iter().for_each(|list| self.list(list));
        self.list(seams);
        self.list(face);
        self.list(uv_range);
    }

    fn curves(&mut self, curves: &CurveSegments) {
        let CurveSegments { control, weights, cubic, ends, widths, normals, face, v_range } = curves;
        self.text("curves");
        self.value(&u8::from(*cubic));
        self.list(control);
        [weights, widths].into_iter().for_each(|list| self.list(list));
        self.list(ends);
        self.list(normals);
        self.list(face);
        self.list(v_range);
    }

    fn points(&mut self, Points { positions, widths, form }: &Points) {
        self.text("points");
        self.value(&(*form as u32));
        self.list(positions);
        self.list(widths);
    }

    fn blobs(&mut self, blobs: &Blobs) {
        let Blobs { positions, corners, programs, program, threshold, reach } = blobs;
        self.text("blobs");
        self.value(&[*threshold, *reach]);
        self.list(positions);
        self.list(corners);
        self.list(program);
        self.value(&programs.len());
        for steps in programs.iter() {
            self.value(&steps.len());
            for step in steps {
                match step {
                    BlobStep::Repeller(ground) => {
                        self.text("repeller");
                        self.value(&ground.size);
                        self.list(&ground.depths);
                        self.value(&ground.place);
                        [&ground.z, &ground.shape].into_iter().for_each(|row| self.value(row));
                    }
                    other => self.debug(other),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Class, PointForm, ValueType};

    fn hash(add: impl FnOnce(&mut ContentHasher)) -> u128 {
        let mut hasher = ContentHasher::default();
        add(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn it_matters_where_lists_end() {
        let lists = |a: &[u32], b: &[u32]| hash(|hasher| [a, b].into_iter().for_each(|list| hasher.list(list)));
        assert_ne!(lists(&[1, 2], &[3]), lists(&[1], &[2, 3]));
        assert_eq!(lists(&[1, 2], &[3]), lists(&[1, 2], &[3]));
    }

    #[test]
    fn equal_content_at_other_addresses_is_equal() {
        let points = |x: f32, form| Points { positions: [[x, 0.0, 1.0]].into(), widths: [1.0].into(), form };
        let shape = |points| hash(|hasher| hasher.shape(&Motion::still(Shape::Points(points))));
        let disk = PointForm::Disk;
        assert_eq!(shape(points(1.0, disk)), shape(points(1.0, disk)));
        assert_ne!(shape(points(1.0, disk)), shape(points(2.0, disk)));
        assert_ne!(shape(points(1.0, disk)), shape(points(1.0, PointForm::Sphere)));
        let primvar = |class, value: f32| {
            let data = PrimvarData::Floats([value].into());
            hash(|hasher| {
                hasher.primvars(&[Primvar {
                    name: "a".into(),
                    class,
                    ty: ValueType::Float,
                    array_len: 1,
                    data: data.clone(),
                }]);
            })
        };
        assert_ne!(primvar(Class::Constant, 1.0), primvar(Class::Uniform, 1.0));
        assert_ne!(primvar(Class::Constant, 1.0), primvar(Class::Constant, 2.0));
    }
}

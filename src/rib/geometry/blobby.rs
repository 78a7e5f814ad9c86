//! Implicit surfaces (RISpec 5.6, `Blobby`): their instructions are read into fields.

use super::batch::{Batch, BatchShape, BlobBatch};
use super::blob_mesh::{BlobMesh, Field, FieldLeaf, MeshFault, Node, THRESHOLD, mesh};
use super::column::{Column, PrimvarValues};
use super::primvars::{ClassCounts, PrimitiveCall};
use crate::rib::stream::declare::Declaration;
use crate::rib::stream::fault::RequestFault;
use crate::rib::stream::params::{Param, ParamSlice, check_count};
use crate::scene::{BlobStep, Blobs, Class, Repeller, ValueType};
use crate::texture::DepthPicture;
use glam::{DMat3, DMat4, DVec3};
use std::sync::Arc;

/// The arrays of a request, as it gives them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlobArrays {
    /// The number of leaves that it announces.
    pub(crate) leaves: i32,
    /// Instructions.
    pub(crate) code: Vec<i32>,
    /// What they name by index.
    pub(crate) floats: Vec<f32>,
    /// The pictures of depths that its strings name, where instructions may need them, and where objects are for their
    /// cameras; or why there is none.
    pub(crate) grounds: Vec<Option<Result<DepthPicture, String>>>,
    /// World space from object space.
    pub(crate) world_from_object: DMat4,
}

/// Divisors are kept this far from 0.
const DIVISOR_MIN: f32 = 1e-6;
/// The most instructions that may be nested.
const NESTED_MAX: usize = 256;

impl PrimitiveCall<'_> {
    /// Reads `Blobby`.
    pub(crate) fn blobby(&self, arrays: &BlobArrays) -> Option<Batch> {
        let field = self.blob_field(arrays)?;
        let blob = match mesh(&field) {
            Ok(blob) => blob,
            Err(MeshFault::Empty(what)) => {
                self.note("consistency", what);
                return None;
            }
            Err(MeshFault::Limit(what)) => {
                self.error("limitcheck", &what);
                return None;
            }
        };
        if let Some(what) = &blob.gap {
            let message = format!("Blobby: a part of its surface is left out: {what}");
            (self.report)(RequestFault::error("limitcheck", self.offset, message));
        }
        if blob.coarse {
            self.warning("limitcheck", "it is too large for its smallest leaves, which may be lost");
        }
        let count = field.leaves.len() as u64;
        let counts = ClassCounts { uniform: 1, varying: count, vertex: count, face_varying: count };
        let gather = |class: Class, values: &[f32], width: usize| match class {
            Class::Constant | Class::Uniform => values.to_vec(),
            _ => blob.blended(&field, values, width),
        };
        let columns = self.columns_by(&[], &|param| match param.declaration.ty {
            ValueType::MPoint => self.placed(param, &field, &blob).into_iter().collect(),
            _ => self.column(param, &counts, Some(&gather)),
        });
        let blobs = Blobs {
            positions: blob.positions.iter().map(|p| p.as_vec3().to_array()).collect(),
            corners: blob.corners.clone().into(),
            programs: blob.programs.clone().into(),
            program: blob.program.clone().into(),
            threshold: THRESHOLD as f32,
            reach: blob.cell as f32,
        };
        let form = BatchShape::Blobs(Box::new(BlobBatch { blobs, field, mesh: blob }));
        Some(Batch { form, columns, location: self.location.clone() })
    }

    /// Returns the points that a variable of the type `mpoint` makes of a matrix for each leaf, which its request may
    /// also give as varying.
    fn placed(&self, param: &Param, field: &Field, blob: &BlobMesh) -> Option<Column> {
        let (declaration, _) = self.declared(param)?;
        let ParamSlice::Floats(values) = self.params.values(param) else { return None };
        let is_of_leaves = !matches!(param.declaration.class, Class::Constant | Class::Uniform);
        if !is_of_leaves || param.declaration.array_len != 1 {
            let message = format!("Blobby: \"{}\" must have one mpoint for each leaf", param.declaration.name);
            let fault = RequestFault::error("badtoken", param.offset, message);
            (self.report)(fault.hint("declare it as \"vertex mpoint\"; it is left out"));
            return None;
        }
        let used = check_count(param, values.len(), field.leaves.len() as u64, &mut |fault| (self.report)(fault))?;
        let declaration = Declaration { ty: ValueType::Point, class: Class::Vertex, ..declaration };
        Some(Column { declaration, values: PrimvarValues::Floats(blob.placed(field, &values[..used])) })
    }

    /// Reads the instructions.
    fn blob_field(&self, arrays: &BlobArrays) -> Option<Field> {
        let mut field = Field { leaves: Vec::new(), nodes: Vec::new() };
        let mut code = Code { words: &arrays.code, at: 0 };
        let mut nested: Vec<usize> = Vec::new();
        while code.at < code.words.len() {
            let node = match self.blob_node(&mut code, &mut field, arrays) {
                Ok(node) => node,
                Err((kind, what)) => {
                    let number = field.nodes.len();
                    self.error(kind, &format!("instruction {number}: {what}"));
                    return None;
                }
            };
            let depth = match &node {
                Node::Leaf(_) => 1,
                Node::Operation(_, operands) => 1 + operands.iter().map(|&i| nested[i]).max().unwrap_or(0),
            };
            if depth > NESTED_MAX {
                self.error("limitcheck", &format!("its instructions are nested more than {NESTED_MAX} times"));
                return None;
            }
            nested.push(depth);
            field.nodes.push(node);
        }
        if field.nodes.is_empty() {
            self.error("missingdata", "it has no instructions");
            return None;
        }
        if field.leaves.len() as i64 != i64::from(arrays.leaves) {
            let found = field.leaves.len();
            self.warning("consistency", &format!("it announces {} leaves and has {found}", arrays.leaves));
        }
        Some(field)
    }

    fn blob_node(&self, code: &mut Code<'_>, field: &mut Field, arrays: &BlobArrays) -> Result<Node, Wrong> {
        let made = field.nodes.len();
        let operands = |code: &mut Code<'_>, count: usize| -> Result<Vec<usize>, Wrong> {
            (0..count).map(|_| code.operand(made)).collect()
        };
        let step = match code.word()? {
            0 => BlobStep::Add,
            1 => BlobStep::Multiply,
            2 => BlobStep::Max,
            3 => BlobStep::Min,
            4 => return Ok(Node::Operation(BlobStep::Subtract, operands(code, 2)?)),
            5 => return Ok(Node::Operation(BlobStep::Divide(DIVISOR_MIN), operands(code, 2)?)),
            6 => return Ok(Node::Operation(BlobStep::Negate, operands(code, 1)?)),
            // The identity is a sum of one.
            7 => return Ok(Node::Operation(BlobStep::Add, operands(code, 1)?)),
            opcode @ 1000..=1003 => {
                let leaf = match opcode {
                    1003 => self.repeller(code, arrays, field.leaves.len())?,
                    _ => self.blob_leaf(opcode, code, &arrays.floats, field.leaves.len())?,
                };
                field.leaves.push(leaf);
                return Ok(Node::Leaf(field.leaves.len() - 1));
            }
            1004 => return Err(("unimplement", "fields of plug-ins (opcode 1004) are not supported".into())),
            opcode => return Err(("badargument", format!("there is no opcode {opcode}"))),
        };
        let count = code.word()?;
        match usize::try_from(count) {
            Ok(count @ 1..) => Ok(Node::Operation(step, operands(code, count)?)),
            _ => Err(("range", format!("an operation on {count} operands"))),
        }
    }

    /// Reads a ground that repels; one that cannot be read counts as 0.
    fn repeller(&self, code: &mut Code<'_>, arrays: &BlobArrays, number: usize) -> Result<FieldLeaf, Wrong> {
        let name = code.word()?;
        let values = code.floats(&arrays.floats, 4)?;
        let nothing = |why: &str| {
            self.warning("badfile", &format!("leaf {number}: {why}; it counts as 0"));
            Ok(FieldLeaf::constant(0.0))
        };
        let ground = usize::try_from(name).ok().and_then(|name| arrays.grounds.get(name));
        let Some(Some(ground)) = ground else {
            let have = arrays.grounds.len();
            return Err(("range", format!("its depths are in string {name}, and there are {have}")));
        };
        let picture = match ground {
            Ok(picture) => picture,
            Err(why) => return nothing(why),
        };
        let shape: [f32; 4] = std::array::from_fn(|i| values[i]);
        if shape[0] <= 0.0 || shape[2] <= 0.0 {
            return nothing("the first and the third of a ground's floats must be more than 0");
        }
        let rows = |matrix: &[f32; 16]| {
            let columns = DMat4::from_cols_array(&matrix.map(f64::from)) * arrays.world_from_object;
            let rows = columns.transpose();
            [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis].map(|row| row.as_vec4().to_array())
        };
        let (place, seen) = (rows(&picture.matrices.ndc_from_world), rows(&picture.matrices.camera_from_world));
        let ground = Repeller {
            size: picture.size,
            depths: Arc::clone(&picture.depths),
            place: [place[0], place[1], place[3]],
            z: seen[2],
            shape,
        };
        Ok(FieldLeaf::everywhere(BlobStep::Repeller(Arc::new(ground))))
    }

    fn blob_leaf(&self, opcode: i32, code: &mut Code<'_>, floats: &[f32], number: usize) -> Result<FieldLeaf, Wrong> {
        let nothing = |what: &str| {
            self.warning("range", &format!("leaf {number} {what}; it counts as 0"));
            FieldLeaf::constant(0.0)
        };
        let count = [1, 16, 23][(opcode - 1000) as usize];
        let values = code.floats(floats, count)?;
        if opcode == 1000 {
            return Ok(FieldLeaf::constant(values[0]));
        }
        let matrix: [f64; 16] = std::array::from_fn(|i| f64::from(values[count - 16 + i]));
        let (a, b, radius) = match values {
            [ax, ay, az, bx, by, bz, radius, ..] if opcode == 1002 => {
                let point = |x: &f32, y: &f32, z: &f32| DVec3::new((*x).into(), (*y).into(), (*z).into());
                (point(ax, ay, az), point(bx, by, bz), f64::from(*radius))
            }
            _ => (DVec3::ZERO, DVec3::ZERO, 1.0),
        };
        // RIB's matrices are for row vectors: their array is that of the columns of the same one for column vectors.
        let from_unit = DMat4::from_cols_array(&matrix) * DMat4::from_scale(DVec3::splat(radius));
        let linear = DMat3::from_mat4(from_unit);
        let columns = [linear.x_axis, linear.y_axis, linear.z_axis];
        let size = columns.iter().map(|axis| axis.length()).fold(f64::INFINITY, f64::min);
        let inverse = from_unit.inverse();
        if !(size > 0.0 && inverse.is_finite()) {
            return Ok(nothing("has no size"));
        }
        let rows = inverse.transpose();
        let rows = [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| row.as_vec4().to_array());
        let (start, end) = (a / radius, b / radius);
        let length = (end - start).length();
        let step = if opcode == 1001 || length < 1e-6 {
            if opcode == 1002 && length < 1e-6 && start != DVec3::ZERO {
                return Ok(nothing("is a segment without a length"));
            }
            BlobStep::Ellipsoid(rows)
        } else {
            let axis = ((end - start) / length).as_vec3().to_array();
            BlobStep::Segment { rows, start: start.as_vec3().to_array(), axis, length: length as f32 }
        };
        if !step.is_finite() {
            return Ok(nothing("is too small or too far away"));
        }
        let reach = DVec3::new(
            columns.iter().map(|c| c.x * c.x).sum::<f64>().sqrt(),
            columns.iter().map(|c| c.y * c.y).sum::<f64>().sqrt(),
            columns.iter().map(|c| c.z * c.z).sum::<f64>().sqrt(),
        );
        let (first, last) = (from_unit.transform_point3(start), from_unit.transform_point3(end));
        let bound = [0.5 * (first + last), reach + 0.5 * (last - first).abs()];
        let (object_from_unit, object_from_own) = (from_unit, DMat4::from_cols_array(&matrix));
        Ok(FieldLeaf { step, bound: Some(bound), size, object_from_unit, object_from_own, ends: [start, end] })
    }
}

/// What is wrong with an instruction: a code and a reason.
type Wrong = (&'static str, String);

/// The instructions that are left.
struct Code<'a> {
    words: &'a [i32],
    at: usize,
}

impl Code<'_> {
    /// Returns the floats that the next word names the first of.
    fn floats<'f>(&mut self, floats: &'f [f32], count: usize) -> Result<&'f [f32], Wrong> {
        let first = self.word()?;
        let values = usize::try_from(first).ok().and_then(|first| floats.get(first..first.checked_add(count)?));
        let Some(values) = values else {
            let have = floats.len();
            return Err(("range", format!("its {count} floats begin at {first}, and there are {have}")));
        };
        if !values.iter().all(|value| value.is_finite()) {
            return Err(("math", "a float is not a finite number".into()));
        }
        Ok(values)
    }

    fn word(&mut self) -> Result<i32, Wrong> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word.ok_or_else(|| ("badarray", "the code ends in the middle of it".into()))
    }

    /// Returns the number of an earlier instruction.
    fn operand(&mut self, made: usize) -> Result<usize, Wrong> {
        let operand = self.word()?;
        let earlier = usize::try_from(operand).ok().filter(|operand| *operand < made);
        earlier.ok_or_else(|| ("range", format!("operand {operand} is none of the {made} instructions before it")))
    }
}

//! Programs of implicit surfaces' fields as kernels read them (`glsl/lib/surface_blob.glsl`).

use super::Page;
use crate::pipeline::kernels::constants::{
    BLOB_ADD, BLOB_CONSTANT, BLOB_DIVIDE, BLOB_ELLIPSOID, BLOB_MAX, BLOB_MIN, BLOB_MULTIPLY, BLOB_NEGATE, BLOB_SEGMENT,
    BLOB_SUBTRACT,
};
use crate::scene::BlobStep;

/// Records of a program.
pub(super) fn records(steps: &[BlobStep]) -> usize {
    let of = |step: &BlobStep| match step {
        BlobStep::Ellipsoid(_) => 4,
        BlobStep::Segment { .. } => 6,
        _ => 1,
    };
    steps.iter().map(of).sum()
}

/// Appends the records of a program.
pub(super) fn append(steps: &[BlobStep], page: &mut Page) {
    for step in steps {
        let (operation, value) = match step {
            BlobStep::Constant(value) => (BLOB_CONSTANT, *value),
            BlobStep::Ellipsoid(_) => (BLOB_ELLIPSOID, 0.0),
            BlobStep::Segment { .. } => (BLOB_SEGMENT, 0.0),
            BlobStep::Add => (BLOB_ADD, 0.0),
            BlobStep::Multiply => (BLOB_MULTIPLY, 0.0),
            BlobStep::Max => (BLOB_MAX, 0.0),
            BlobStep::Min => (BLOB_MIN, 0.0),
            BlobStep::Subtract => (BLOB_SUBTRACT, 0.0),
            BlobStep::Divide(least) => (BLOB_DIVIDE, *least),
            BlobStep::Negate => (BLOB_NEGATE, 0.0),
        };
        page.data.push([operation as f32, value, 0.0, 0.0]);
        match step {
            BlobStep::Ellipsoid(rows) => page.data.extend(rows),
            BlobStep::Segment { rows, start: [x, y, z], axis: [dx, dy, dz], length } => {
                page.data.extend(rows);
                page.data.extend([[*x, *y, *z, *length], [*dx, *dy, *dz, 0.0]]);
            }
            _ => {}
        }
    }
}

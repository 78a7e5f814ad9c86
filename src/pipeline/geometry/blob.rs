//! Programs of implicit surfaces' fields as kernels read them (`glsl/lib/surface/blob.glsl`).

use super::Page;
use crate::pipeline::kernels::constants::{
    BLOB_ADD, BLOB_CONSTANT, BLOB_DIVIDE, BLOB_ELLIPSOID, BLOB_MAX, BLOB_MIN, BLOB_MULTIPLY, BLOB_NEGATE,
    BLOB_REPELLER, BLOB_SEGMENT, BLOB_SUBTRACT,
};
use crate::scene::{BlobStep, Blobs, Repeller};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The first record of the depths of each ground in a page.
pub(super) type Grounds = FxHashMap<*const Repeller, u32>;

/// Records of a program.
pub(super) fn records(steps: &[BlobStep]) -> usize {
    let of = |step: &BlobStep| match step {
        BlobStep::Constant(_) | BlobStep::Ellipsoid(_) => 4,
        BlobStep::Segment { .. } => 6,
        BlobStep::Repeller(_) => 7,
        _ => 1,
    };
    steps.iter().map(of).sum()
}

/// Records of the depths of all grounds.
pub(super) fn depth_records(blobs: &Blobs) -> usize {
    blobs.repellers().iter().map(|ground| ground.depths.len().div_ceil(4)).sum()
}

/// Appends the depths of all grounds.
pub(super) fn append_depths(blobs: &Blobs, page: &mut Page) -> Grounds {
    let append = |ground: &Arc<Repeller>| {
        let first = page.data.len() as u32;
        let record = |depths: &[f32]| std::array::from_fn(|i| depths.get(i).copied().unwrap_or(0.0));
        page.data.extend(ground.depths.chunks(4).map(record));
        (Arc::as_ptr(ground), first)
    };
    blobs.repellers().into_iter().map(append).collect()
}

/// The number of a step's operation, and the value beside it.
fn operation(step: &BlobStep) -> (u32, f32) {
    match step {
        BlobStep::Constant(value) => (BLOB_CONSTANT, *value),
        BlobStep::Ellipsoid(_) => (BLOB_ELLIPSOID, 0.0),
        BlobStep::Segment { .. } => (BLOB_SEGMENT, 0.0),
        BlobStep::Repeller(_) => (BLOB_REPELLER, 0.0),
        BlobStep::Add => (BLOB_ADD, 0.0),
        BlobStep::Multiply => (BLOB_MULTIPLY, 0.0),
        BlobStep::Max => (BLOB_MAX, 0.0),
        BlobStep::Min => (BLOB_MIN, 0.0),
        BlobStep::Subtract => (BLOB_SUBTRACT, 0.0),
        BlobStep::Divide(least) => (BLOB_DIVIDE, *least),
        BlobStep::Negate => (BLOB_NEGATE, 0.0),
    }
}

/// Appends the records of a program. Returns how many steps it has: a leaf that is added at once is one.
pub(super) fn append(steps: &[BlobStep], grounds: &Grounds, page: &mut Page) -> u32 {
    let mut count = 0;
    let mut steps = steps.iter().peekable();
    while let Some(step) = steps.next() {
        count += 1;
        let (operation, value) = operation(step);
        let adds = steps.next_if(|next| next.joins(Some(step))).is_some();
        let own = records(std::slice::from_ref(step));
        page.data.push([operation as f32, value, f32::from(u8::from(adds)), own as f32]);
        match step {
            BlobStep::Ellipsoid(rows) => page.data.extend(rows),
            BlobStep::Segment { rows, start: [x, y, z], axis: [dx, dy, dz], length } => {
                page.data.extend(rows);
                page.data.extend([[*x, *y, *z, *length], [*dx, *dy, *dz, 0.0]]);
            }
            BlobStep::Repeller(ground) => {
                let Repeller { size: [width, height], place, z, shape: [a, b, c, d], .. } = &**ground;
                page.data.extend(place);
                let first = grounds.get(&Arc::as_ptr(ground)).copied().unwrap_or_default();
                // Numbers of records are exact as floats.
                page.data.extend([*z, [*a, *b, *d, first as f32]]);
                page.data.push([1.0 / a, 1.0 / c, *width as f32, *height as f32]);
            }
            BlobStep::Constant(_) => page.data.extend([[0.0; 4]; 3]),
            _ => {}
        }
    }
    count
}

//! Points (RISpec 5.5).

use super::batch::{Batch, BatchShape, PointBatch};
use super::primvars::{ClassCounts, PrimitiveCall};
use crate::rib::stream::params::ParamSlice;
use crate::scene::{Class, PointForm};

/// Reads `Points`.
pub(crate) fn points(call: &PrimitiveCall<'_>) -> Option<Batch> {
    let positions = call.positions(None, None)?;
    let count = positions.len();
    if count == 0 {
        call.note("range", "it has no points");
        return None;
    }
    let counts = ClassCounts { uniform: 1, varying: count as u64, vertex: count as u64, face_varying: count as u64 };
    let widths = call.widths(&counts, &|class, values| match class {
        Class::Constant | Class::Uniform => vec![values[0]; count],
        Class::Varying | Class::Vertex | Class::FaceVarying => values.to_vec(),
    })?;
    let form = form(call);
    let columns = call.columns(&counts, &["width", "constantwidth", "type"], None);
    let form = BatchShape::Points(PointBatch { positions, widths, form });
    Some(Batch { form, columns, location: call.location.clone() })
}

/// Returns the extension `type`, which says how points are drawn.
fn form(call: &PrimitiveCall<'_>) -> PointForm {
    let Some(ParamSlice::Strings([name, ..])) = call.params.find("type").map(|param| call.params.values(param)) else {
        return PointForm::Disk;
    };
    match &**name {
        "disk" | "particle" => PointForm::Disk,
        "sphere" => PointForm::Sphere,
        "patch" => PointForm::Square,
        _ => {
            call.warning("unimplement", &format!("points of type \"{name}\" are not supported and are drawn as disks"));
            PointForm::Disk
        }
    }
}

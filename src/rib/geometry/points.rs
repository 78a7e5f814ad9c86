//! Points (RISpec 5.5).

use super::batch::{Batch, BatchShape, PointBatch};
use super::primvars::{ClassCounts, PrimitiveCall, is_width};
use crate::rib::stream::params::ParamSlice;
use crate::scene::{Class, PointForm};

/// Reads `Points`.
pub(crate) fn points(call: &PrimitiveCall<'_>) -> Option<Batch> {
    let mut positions = call.any_positions(None, None)?;
    let count = positions.len();
    if count == 0 {
        call.note("range", "it has no points");
        return None;
    }
    let counts = ClassCounts { uniform: 1, varying: count as u64, vertex: count as u64, face_varying: count as u64 };
    let mut widths = call.widths(&counts, &|class, values| match class {
        Class::Constant | Class::Uniform => vec![values[0]; count],
        Class::Varying | Class::Vertex | Class::FaceVarying => values.to_vec(),
    });
    let is_good = |point: usize| positions[point].iter().all(|value| value.is_finite()) && is_width(widths[point]);
    let all_good = (0..count).all(is_good);
    let kept: Option<Vec<usize>> = (!all_good).then(|| (0..count).filter(|&point| is_good(point)).collect());
    if let Some(kept) = &kept {
        report_left_out(call, kept, count);
        if kept.is_empty() {
            return None;
        }
        (positions, widths) = kept.iter().map(|&point| (positions[point], widths[point])).unzip();
    }
    let form = BatchShape::Points(PointBatch { positions, widths, form: form(call) });
    let mut columns = call.columns(&counts, &["width", "constantwidth", "type"], None);
    if let Some(kept) = &kept {
        columns.iter_mut().filter(|column| !column.is_single(true)).for_each(|column| column.keep(kept));
    }
    Some(Batch { form, columns, location: call.location.clone() })
}

/// Notes that some of the points are left out.
fn report_left_out(call: &PrimitiveCall<'_>, kept: &[usize], count: usize) {
    let first = kept.iter().enumerate().position(|(i, &point)| i != point).unwrap_or(kept.len());
    let wrong = "has a position that is not a finite number, or a width that is negative or not one";
    let what = match count - kept.len() {
        1 => format!("point {first} of {count} is left out: it {wrong}"),
        many => format!("{many} of {count} points are left out: the first of them, point {first}, {wrong}"),
    };
    call.note_partial("math", &what);
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

//! Runs: consecutive primitives of one geometry in one page, with the values they name.

use super::lower::{self, Indices};
use super::{Page, PrimitiveKind};
use crate::scene::{Class, Geometry, PrimvarData, ValueType};
use std::ops::Range;
use std::sync::Arc;

/// A primitive variable of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPrimvar {
    /// Its name.
    pub name: Arc<str>,
    /// Storage class.
    pub class: Class,
    /// Type of one element.
    pub ty: ValueType,
    /// Elements of an array; 1 for plain values.
    pub array_len: u32,
    /// Index of its first float in the page's data; 0 for strings.
    pub first_value: u32,
    /// A string's value (class constant; the first one of other classes).
    pub string: Option<Arc<str>>,
}

/// Consecutive primitives of one geometry in one page.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimitiveRun {
    /// Which page.
    pub page: usize,
    /// The kind of all its primitives.
    pub kind: PrimitiveKind,
    /// The first primitive, page-relative.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// Their primitive variables.
    pub primvars: Arc<[RunPrimvar]>,
    /// Records from their control data at one keyframe of the shape's motion to those at the next.
    pub keyframe_records: u32,
}

/// Appends primitives `range` of a geometry to a page.
pub(super) fn lower_run(geometry: &Geometry, range: Range<usize>, number: usize, page: &mut Page) -> PrimitiveRun {
    let shape = geometry.shape.first();
    let mut indices = Indices::new(shape.primitive_count(), &range);
    let first = page.primitives.len();
    let data = page.data.len();
    lower::append_primitives(shape, range.clone(), &mut indices, page);
    let keyframe_records = page.data.len() - data;
    for (_, shape) in &geometry.shape.keyframes()[1..] {
        // The same primitives, whose control data are elsewhere.
        let primitives = page.primitives.len();
        lower::append_primitives(shape, range.clone(), &mut indices, page);
        page.primitives.truncate(primitives);
    }
    let primvars = geometry.primvars.iter().map(|primvar| {
        let mut first_value = 0;
        let mut string = None;
        match &primvar.data {
            PrimvarData::Floats(values) => {
                let floats = primvar.ty.floats() * primvar.array_len as usize;
                let order = indices.order(primvar.class, shape);
                first_value = append_values(page, values, floats, order);
            }
            PrimvarData::Strings(values) => string = values.first().cloned(),
        }
        RunPrimvar {
            name: Arc::clone(&primvar.name),
            class: primvar.class,
            ty: primvar.ty,
            array_len: primvar.array_len,
            first_value,
            string,
        }
    });
    let primvars: Vec<RunPrimvar> = primvars.collect();
    PrimitiveRun {
        page: number,
        kind: PrimitiveKind::of(shape, range.start).0,
        first: first as u32,
        count: range.len() as u32,
        primvars: primvars.into(),
        keyframe_records: keyframe_records as u32,
    }
}

/// Appends values of `floats` floats each in the given order (`None`: unchanged); returns the index of the first float.
fn append_values(page: &mut Page, values: &[f32], floats: usize, order: Option<Vec<u32>>) -> u32 {
    let first = page.data.len() * 4;
    let gathered: Vec<f32>;
    let flat = match order {
        None => values,
        Some(order) => {
            let value =
                |&index: &u32| values.get(index as usize * floats..(index as usize + 1) * floats).unwrap_or(&[]);
            gathered = order.iter().flat_map(value).copied().collect();
            &gathered
        }
    };
    let mut chunks = flat.chunks_exact(4);
    page.data.extend(chunks.by_ref().map(|c| [c[0], c[1], c[2], c[3]]));
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let mut record = [0.0; 4];
        record[..rest.len()].copy_from_slice(rest);
        page.data.push(record);
    }
    first as u32
}

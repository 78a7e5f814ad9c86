//! `printf`: records that kernels left become lines.

use super::bakes::{BakeCall, baked};
use spirv_gen::abi::print;
use spirv_gen::ir::Const;
use spirv_gen::text::format;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What one call of `printf` printed; texts are tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedRecord {
    format: u32,
    values: Vec<Const>,
}

/// What one call left at one vertex.
#[derive(Clone, Debug, PartialEq)]
pub enum LeftRecord {
    /// Of `printf`.
    Printed(PrintedRecord),
    /// Of `bake3d` or `bake`, with the floats of the point.
    Baked(BakeCall, Vec<f32>),
}

/// Returns the records in words that kernels appended, each with its grid's rank, its vertex, and the number of the
/// call there.
pub fn records(words: &[u32]) -> Vec<([u32; 3], LeftRecord)> {
    let left = |record: print::Printed| {
        if record.is_baked {
            let (call, floats) = baked(&record)?;
            return Some((record.place, LeftRecord::Baked(call, floats)));
        }
        let printed = PrintedRecord { format: record.text, values: record.values };
        Some((record.place, LeftRecord::Printed(printed)))
    };
    print::records(words).into_iter().filter_map(left).collect()
}

/// Returns the lines of calls in order. `texts` are those of the tokens. A line may be printed by several calls at one
/// vertex.
pub fn lines(calls: &BTreeMap<[u32; 3], PrintedRecord>, texts: &[Arc<str>]) -> Vec<String> {
    let (mut lines, mut open): (Vec<String>, Option<[u32; 2]>) = (Vec::new(), None);
    for (&[grid, vertex, _], record) in calls {
        let printed = text(record, texts);
        let (whole, ends) = printed.strip_suffix('\n').map_or((printed.as_str(), false), |whole| (whole, true));
        let mut parts = whole.split('\n');
        if let (Some(line), true) = (lines.last_mut(), open == Some([grid, vertex])) {
            line.push_str(parts.next().unwrap_or(""));
        }
        lines.extend(parts.map(str::to_owned));
        open = (!ends).then_some([grid, vertex]);
    }
    lines
}

fn text(record: &PrintedRecord, texts: &[Arc<str>]) -> String {
    let known = |token: u32| texts.get(token as usize).cloned().unwrap_or_default();
    let value = |value: &Const| match value {
        Const::U32(token) => Const::Str(known(*token)),
        other => other.clone(),
    };
    format(&known(record.format), &record.values.iter().map(value).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_at_a_vertex_may_share_a_line() {
        let texts: Vec<Arc<str>> = ["", "a %f", " b %s\n", "c\nd\n"].map(Arc::from).to_vec();
        let mut calls = BTreeMap::new();
        let mut call = |place, format, values: &[Const]| {
            calls.insert(place, PrintedRecord { format, values: values.to_vec() });
        };
        call([3, 0, 0], 1, &[Const::F32(0.5)]);
        call([3, 0, 1], 2, &[Const::U32(1)]);
        call([3, 1, 0], 1, &[Const::F32(1.0)]);
        call([4, 0, 0], 3, &[]);
        assert_eq!(lines(&calls, &texts), ["a 0.500000 b a %f", "a 1.000000", "c", "d"]);
    }
}

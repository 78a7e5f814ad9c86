//! What instructions need from outside.

use crate::ir::{Body, Inst, Value};
use rustc_hash::FxHashSet;

/// The values that an instruction uses, it or what is below it, less those that are defined below it.
pub(super) fn free_values(body: &Body, inst: Inst, free: &mut FxHashSet<Value>) {
    let mut bound = FxHashSet::default();
    collect(body, inst, &mut bound, free);
    free.retain(|v| !bound.contains(v));
}

fn collect(body: &Body, inst: Inst, bound: &mut FxHashSet<Value>, used: &mut FxHashSet<Value>) {
    let data = body.inst(inst);
    used.extend(&data.args);
    for &region in &data.regions {
        let region = body.region(region);
        bound.extend(&region.params);
        used.extend(&region.results);
        for &inner in &region.insts {
            bound.extend(&body.inst(inner).results);
            collect(body, inner, bound, used);
        }
    }
}

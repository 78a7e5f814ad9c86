//! What instructions need from outside.

use crate::ir::{Body, Inst, Value};
use rustc_hash::FxHashSet;

/// Returns the values that an instruction uses, it or what is below it, less those that are defined below it: in the
/// order of their uses, some several times.
pub(crate) fn free_values(body: &Body, inst: Inst) -> Vec<Value> {
    let (mut used, mut bound): (Vec<Value>, FxHashSet<Value>) = Default::default();
    body.walk_inst(inst, &mut |inner| {
        let data = body.inst(inner);
        used.extend(&data.args);
        if inner != inst {
            bound.extend(&data.results);
        }
        for &region in &data.regions {
            bound.extend(&body.region(region).params);
            used.extend(&body.region(region).results);
        }
    });
    used.retain(|value| !bound.contains(value));
    used
}

//! Loops whose number of trips is known need not count them.

use crate::ir::{Binary, Body, Compare, Const, Inst, Op, Region, Value};
use rustc_hash::FxHashSet;

/// Trips that loops which do not count them may make together in one invocation. With those that count
/// ([`crate::abi::LOOP_TRIPS_MAX`]) this stays below 65,535, after which some drivers end all loops.
const UNCOUNTED_TRIPS_MAX: u64 = 16_384;

/// The largest step and end of a loop that counts in integers whose trips are known: beyond, a counter might wrap.
const COUNTER_MAX: u32 = u16::MAX as u32;

/// Returns the loops that are left by themselves after a known number of trips, few enough together.
pub fn uncounted_loops(body: &Body) -> FxHashSet<Inst> {
    let mut found = FxHashSet::default();
    let mut budget = UNCOUNTED_TRIPS_MAX;
    visit(body, body.root(), Some(1), &mut budget, &mut found);
    found
}

/// `times` is how often the region is run at most, if that is known.
fn visit(body: &Body, region: Region, times: Option<u64>, budget: &mut u64, found: &mut FxHashSet<Inst>) {
    for &inst in &body.region(region).insts {
        let data = body.inst(inst);
        let mut inner = times;
        if data.op == Op::Loop {
            inner = times.zip(trip_count(body, inst)).map(|(a, b)| a.saturating_mul(b));
            match inner {
                Some(trips) if trips.saturating_mul(1 + lookup_trips(body, inst)) <= *budget => {
                    *budget -= trips * (1 + lookup_trips(body, inst));
                    found.insert(inst);
                }
                _ => inner = None,
            }
        } else if matches!(data.op, Op::LightLoop { .. } | Op::Illuminance { .. }) {
            inner = None;
        }
        for &region in &data.regions {
            visit(body, region, inner, budget, found);
        }
    }
}

/// Returns the trips of the lookups in a trip of a loop, those of inner loops once.
fn lookup_trips(body: &Body, inst: Inst) -> u64 {
    let mut trips = 0;
    body.walk_inst(inst, &mut |i| trips += u64::from(body.inst(i).op.lookup_trips()));
    trips
}

/// Returns how many trips a loop makes whose counter starts at a constant, grows by a constant, and is compared with a
/// constant.
pub fn trip_count(body: &Body, inst: Inst) -> Option<u64> {
    let data = body.inst(inst);
    let (condition, inner) = (body.region(data.regions[0]), body.region(data.regions[1]));
    let test = body.def_inst(condition.results[0])?;
    let Op::Compare(compare @ (Compare::Lt | Compare::Le)) = test.op else { return None };
    let counter = condition.params.iter().position(|&p| p == test.args[0])?;
    let step = body.def_inst(inner.results[counter])?;
    if step.op != Op::Binary(Binary::Add) || step.args[0] != test.args[0] {
        return None;
    }
    let constant = |value: Value| body.constant(value);
    let (start, step, end) = (constant(data.args[counter])?, constant(step.args[1])?, constant(test.args[1])?);
    let inside = |x: f64, end: f64| if compare == Compare::Lt { x < end } else { x <= end };
    match (start, step, end) {
        // Counted in the loop's own arithmetic, rounding included.
        (Const::F32(start), Const::F32(step), Const::F32(end)) => {
            let (mut x, mut trips) = (*start, 0);
            while inside(x.into(), (*end).into()) {
                x += step;
                trips += 1;
                if trips > UNCOUNTED_TRIPS_MAX {
                    return None;
                }
            }
            Some(trips)
        }
        (Const::U32(start), Const::U32(step @ 1..=COUNTER_MAX), Const::U32(end @ 0..=COUNTER_MAX)) => {
            let distance = u64::from(end.saturating_sub(*start)) + u64::from(compare == Compare::Le);
            Some(distance.div_ceil(u64::from(*step)))
        }
        _ => None,
    }
}

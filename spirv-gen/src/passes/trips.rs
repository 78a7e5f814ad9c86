//! Loops whose number of trips is known need not count them.

use crate::ir::{Binary, Body, Compare, Const, Inst, MachineType, Op, Region, Value};
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
            let (own, is_rolled) = (trip_count(body, inst), rolled_trips(body, inst).is_some());
            inner = times.zip(own).map(|(a, b)| a.saturating_mul(b));
            let trips =
                inner.map(|trips| trips.saturating_mul(1 + if is_rolled { 0 } else { lookup_trips(body, inst) }));
            match trips {
                Some(trips) if trips <= *budget => {
                    *budget -= trips;
                    found.insert(inst);
                }
                // A loop around it that counts its trips counts these too.
                None if is_rolled => _ = found.insert(inst),
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

/// Returns the trips of a loop that counts in an integer, up to a constant. The compiler has made it of as many groups
/// of instructions ([`super::roll`]), whose lookups count like those outside of loops.
fn rolled_trips(body: &Body, inst: Inst) -> Option<u64> {
    let counts = body.inst(inst).args.first().is_some_and(|&counter| body.ty(counter) == MachineType::U32);
    trip_count(body, inst).filter(|_| counts)
}

/// Returns the trips of the lookups in a trip of a loop, those of inner loops once.
fn lookup_trips(body: &Body, inst: Inst) -> u64 {
    trips_in(body, inst, &|op| op.lookup_trips().into())
}

/// Returns the sum of what the operations in a trip of a loop count as, those of inner loops once: but for rolled
/// loops, whose trips count too.
pub(crate) fn trips_in(body: &Body, inst: Inst, count: &dyn Fn(&Op) -> u64) -> u64 {
    let regions = &body.inst(inst).regions;
    let insts = regions.iter().flat_map(|&region| &body.region(region).insts);
    let each = insts.map(|&inner| {
        let data = body.inst(inner);
        let inside = trips_in(body, inner, count);
        let times = if data.op == Op::Loop { rolled_trips(body, inner) } else { None };
        count(&data.op) + times.map_or(inside, |times| times.saturating_mul(1 + inside))
    });
    each.fold(0, u64::saturating_add)
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

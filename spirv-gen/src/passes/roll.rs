//! Call sites that differ in constants alone become a loop over tables of these constants.
//!
//! Drivers inline a library function wherever it is called: a CPU driver takes 0.2 s for one texture lookup, and more
//! than a minute for 64 that need each other's results. So where calls of one function follow each other in a region
//! in groups of the same form, such as the octaves of a sum of noise, the groups become the trips of one loop
//! ([`Groups`] matches them, [`write`] writes the loop). What a group needs is the same for all groups, or a constant,
//! which is read from a table by the number of the trip, or what the group before it has made, which the loop carries.
//! What is needed afterwards of the last group is carried too, what is needed of the others is put into an array.
//!
//! A rolled loop counts its trips in an integer up to a constant. So all points make the same trips: barriers may stand
//! in it, and it neither counts its trips nor can be suspended ([`super::trips`]). All bits stay what they were.

mod groups;
mod write;

use super::dead::remove_dead;
use crate::ir::{Body, Inst, Op, Region};
use groups::{Groups, Needs, is_long};

/// The fewest groups of which a loop is made. On a CPU driver four lookups compile as fast as one and run as fast as
/// before; noise is so short that a loop pays from some eight calls on.
const GROUPS_MIN: usize = 4;
const NOISE_GROUPS_MIN: usize = 8;

/// The most groups of a loop: more make several.
const GROUPS_MAX: usize = 1024;

/// Calls of the same function in a group.
const STRIDE_MAX: usize = 8;

/// Returns a bound program in which runs of call sites that differ in constants alone are loops. It must be simplified,
/// so that equal values are one, and its derivatives must still be where the shader takes them.
pub fn roll(mut body: Body) -> Body {
    let root = body.root();
    roll_region(&mut body, root, false);
    body
}

/// Rolls what is in a region and below; `repeats` where that is run many times.
fn roll_region(body: &mut Body, region: Region, repeats: bool) {
    while roll_once(body, region, repeats) {
        remove_dead(body);
    }
    for inst in body.region(region).insts.clone() {
        let data = body.inst(inst).clone();
        let (inner, repeats) = match data.op {
            // The condition is kept short.
            Op::Loop => (&data.regions[1..], true),
            _ => (&data.regions[..], repeats),
        };
        for &inner in inner {
            roll_region(body, inner, repeats);
        }
    }
}

fn groups_min(op: &Op) -> usize {
    if matches!(op, Op::Noise { .. }) { NOISE_GROUPS_MIN } else { GROUPS_MIN }
}

/// Makes the first loop that there is to make of a region's own instructions.
fn roll_once(body: &mut Body, region: Region, repeats: bool) -> bool {
    let mut calls: Vec<(&Op, Vec<Inst>)> = Vec::new();
    for &inst in &body.region(region).insts {
        let op = &body.inst(inst).op;
        match calls.iter_mut().find(|(called, _)| *called == op) {
            Some((_, insts)) => insts.push(inst),
            None if is_long(op) => calls.push((op, vec![inst])),
            None => {}
        }
    }
    let calls: Vec<(usize, Vec<Inst>)> = calls.into_iter().map(|(op, insts)| (groups_min(op), insts)).collect();
    calls.iter().any(|(min, insts)| roll_calls(body, region, insts, *min, repeats))
}

/// Makes the first loop that there is to make of calls of one function.
fn roll_calls(body: &mut Body, region: Region, insts: &[Inst], min: usize, repeats: bool) -> bool {
    if insts.len() < min {
        return false;
    }
    let dependence = Needs::of(body, region, insts);
    for stride in 1..=STRIDE_MAX.min(insts.len() / min) {
        for start in 0..insts.len() {
            let anchors: Vec<Inst> = insts[start..].iter().copied().step_by(stride).take(GROUPS_MAX).collect();
            if anchors.len() < min {
                break;
            }
            let Some(groups) = longest(body, &dependence, &anchors, min) else { continue };
            if write::loop_of(body, region, &dependence, &groups, repeats) {
                return true;
            }
        }
    }
    false
}

/// Returns the groups of as many of the calls as are of the form of the first, if these are enough.
fn longest(body: &mut Body, dependence: &Needs, anchors: &[Inst], min: usize) -> Option<Groups> {
    Groups::of(body, dependence, &anchors[..min]).ok()?;
    let mut count = anchors.len();
    while count >= min {
        match Groups::of(body, dependence, &anchors[..count]) {
            Ok(mut groups) => {
                groups.grow(body, dependence);
                return Some(groups);
            }
            Err(different) if (min..count).contains(&different) => count = different,
            Err(_) => count -= count.div_ceil(8),
        }
    }
    None
}

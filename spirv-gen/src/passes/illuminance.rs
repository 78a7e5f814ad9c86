//! Illuminance loops to loops over the light list, and their merging (RenderAnts, Appendix A).
//!
//! The paper merges illuminance loops of equal receiver configuration. Here the cone and the category are first made
//! conditions inside the loop, so that all loops over lights that light the same position are equal, and merge: a light
//! shader is evaluated once for a point however many `diffuse()`, `specular()`, `ambient()` and illuminance statements
//! look at it.

use super::dead::remove_dead;
use super::translate::{Rules, Translator, translate};
use crate::ir::{Binary, Body, Compare, Const, Global, Inst, InstData, MachineType, Op, Region, Shown, Unary, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::f32::consts::{FRAC_PI_2, PI};

/// Turns every `Illuminance` and `Ambient` into a `LightLoop`.
pub fn to_light_loops(body: &Body) -> Body {
    translate(body, &mut ToLightLoops, true)
}

/// Drops the values that are shown to lights, except those that are wanted.
pub(crate) fn keep_shown(body: &mut Body, is_wanted: impl Fn(&str) -> bool) {
    let mut showing = Vec::new();
    body.walk(body.root(), &mut |i| showing.extend((!body.inst(i).op.shown().is_empty()).then_some(i)));
    for inst in showing {
        let InstData { op, args, .. } = body.inst(inst).clone();
        let first = op.fixed_args() - op.shown().len();
        let shown = op.shown().iter().cloned().zip(args[first..].iter().copied());
        let (names, values): (Vec<_>, Vec<_>) = shown.filter(|(name, _)| is_wanted(name)).unzip();
        let data = body.inst_mut(inst);
        data.args = [&args[..first], &values, &args[op.fixed_args()..]].concat();
        data.op = op.showing(names.into());
    }
}

/// Merges light loops that may be merged.
pub fn merge_light_loops(mut body: Body) -> Body {
    while let Some(pair) = find_pair(&body, body.root()) {
        merge(&mut body, pair);
    }
    remove_dead(&mut body);
    body
}

struct ToLightLoops;

impl Rules for ToLightLoops {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let data = t.from.inst(inst);
        match &data.op {
            Op::Illuminance { cone, .. } => Some(t.repeated(&data.regions, |t| self.illuminance(t, data, *cone, args))),
            Op::Ambient(shown) => Some(vec![ambient(t, shown, args)]),
            _ => None,
        }
    }
}

/// Parameters of a light loop's region before the carried values.
struct LightLoopParams {
    l: Value,
    active: Value,
    ambient: Value,
    categories: Value,
    cl: Value,
    ol: Value,
}

fn open_light_loop(t: &mut Translator<'_, '_>, carried: &[MachineType]) -> (LightLoopParams, Vec<Value>) {
    use MachineType::{Bool, U32, Vec3};
    let types = [&[Vec3, Vec3, Vec3, Bool, Bool, U32, U32], carried].concat();
    let params = t.out.open(&types, true);
    let light = LightLoopParams {
        l: params[0],
        cl: params[1],
        ol: params[2],
        active: params[3],
        ambient: params[4],
        categories: params[5],
    };
    (light, params[7..].to_vec())
}

impl ToLightLoops {
    fn illuminance(&mut self, t: &mut Translator<'_, '_>, data: &InstData, cone: bool, args: &[Value]) -> Vec<Value> {
        let (head, init) = args.split_at(data.op.fixed_args());
        let (head, shown) = head.split_at(head.len() - data.op.shown().len());
        let category = *head.last().expect("an illuminance has a category");
        let types = t.types(data);
        let (light, carried) = open_light_loop(t, &types);
        let wanted = t.out.op(Op::CategoryMatches, &[category, light.categories]);
        let mut seen = t.out.op(Op::Binary(Binary::And), &[light.active, wanted]);
        if cone {
            let inside = in_cone(t, light.l, head[1], head[2]);
            seen = t.out.op(Op::Binary(Binary::And), &[seen, inside]);
        }
        t.out.open(&[], false);
        let from = t.from;
        let region = data.regions[0];
        t.bind(&from.region(region).params, &[&[light.l, light.cl, light.ol], &carried[..]].concat());
        let results = t.region(self, region);
        let then = t.out.close(&results);
        t.out.open(&[], false);
        let otherwise = t.out.close(&carried);
        let next = t.out.push(Op::If, vec![seen], vec![then, otherwise], &types);
        let region = t.out.close(&next);
        let args = [&head[..1], shown, init].concat();
        let op = Op::LightLoop { local: true, ambient: false, shown: data.op.shown().into() };
        t.out.push(op, args, vec![region], &types)
    }
}

/// Returns whether the angle between a light's direction and the axis is at most `angle`. The cosine of a right angle
/// counts as 0: the hemispheres of `diffuse()` and its like need no lengths.
fn in_cone(t: &mut Translator<'_, '_>, l: Value, axis: Value, angle: Value) -> Value {
    let [zero, right, pi] = [0.0, FRAC_PI_2, PI].map(|x| t.out.constant(x));
    let mut op = |op, args: &[Value]| t.out.op(op, args);
    let along = op(Op::Binary(Binary::Dot), &[l, axis]);
    let (in_front, is_right) =
        (op(Op::Compare(Compare::Le), &[zero, along]), op(Op::Compare(Compare::Eq), &[angle, right]));
    if angle == right {
        return in_front;
    }
    let (ll, aa) = (op(Op::Binary(Binary::Dot), &[l, l]), op(Op::Binary(Binary::Dot), &[axis, axis]));
    let (ll, aa) = (op(Op::Unary(Unary::Sqrt), &[ll]), op(Op::Unary(Unary::Sqrt), &[aa]));
    let limit = op(Op::Binary(Binary::Max), &[angle, zero]);
    let limit = op(Op::Binary(Binary::Min), &[limit, pi]);
    let limit = op(Op::Unary(Unary::Cos), &[limit]);
    let lengths = op(Op::Binary(Binary::Mul), &[ll, aa]);
    let limit = op(Op::Binary(Binary::Mul), &[limit, lengths]);
    let inside = op(Op::Compare(Compare::Le), &[limit, along]);
    // The whole sphere, whatever rounding makes of the cosine.
    let all = op(Op::Compare(Compare::Le), &[pi, angle]);
    let inside = op(Op::Binary(Binary::Or), &[inside, all]);
    op(Op::Select, &[is_right, in_front, inside])
}

fn ambient(t: &mut Translator<'_, '_>, shown: &Shown, values: &[Value]) -> Value {
    let position = t.out.op(Op::Global(Global::P), &[]);
    let zero = t.out.constant(Const::Vec3([0.0; 3]));
    let (light, sum) = open_light_loop(t, &[MachineType::Vec3]);
    let more = t.out.op(Op::Binary(Binary::Add), &[sum[0], light.cl]);
    let next = t.out.op(Op::Select, &[light.ambient, more, sum[0]]);
    let region = t.out.close(&[next]);
    let op = Op::LightLoop { local: false, ambient: true, shown: shown.clone() };
    t.out.push(op, [&[position], values, &[zero]].concat(), vec![region], &[MachineType::Vec3])[0]
}

/// Two light loops of one region that can become one: their places in it.
struct LoopPair {
    region: Region,
    first: usize,
    second: usize,
}

fn find_pair(body: &Body, region: Region) -> Option<LoopPair> {
    let insts = &body.region(region).insts;
    let is_light_loop = |i: &usize| matches!(body.inst(insts[*i]).op, Op::LightLoop { .. });
    let loops: Vec<usize> = (0..insts.len()).filter(is_light_loop).collect();
    for (n, &second) in loops.iter().enumerate().skip(1) {
        for &first in &loops[..n] {
            let pair = LoopPair { region, first, second };
            if may_merge(body, &pair) {
                return Some(pair);
            }
        }
    }
    insts.iter().flat_map(|&i| &body.inst(i).regions).find_map(|&r| find_pair(body, r))
}

fn may_merge(body: &Body, pair: &LoopPair) -> bool {
    let insts = &body.region(pair.region).insts;
    let (first, second) = (body.inst(insts[pair.first]), body.inst(insts[pair.second]));
    let receiver = |data: &InstData| data.args[..data.op.fixed_args()].to_vec();
    if receiver(first) != receiver(second) || first.op.shown() != second.op.shown() {
        return false;
    }
    let between = &insts[pair.first..=pair.second];
    let effects = between.iter().any(|&i| touches_memory(body, i));
    !effects && !dependents(body, pair).contains(&insts[pair.second])
}

/// Returns whether an instruction, or one below it, reads or writes arrays, prints or bakes.
fn touches_memory(body: &Body, inst: Inst) -> bool {
    let data = body.inst(inst);
    matches!(data.op, Op::SlotLoad(_) | Op::SlotStore(_))
        || data.op.record().is_some()
        || data.regions.iter().flat_map(|&r| &body.region(r).insts).any(|&i| touches_memory(body, i))
}

/// Returns the instructions after the first loop, up to the second, that need its results.
fn dependents(body: &Body, pair: &LoopPair) -> FxHashSet<Inst> {
    let insts = &body.region(pair.region).insts;
    let mut tainted: FxHashSet<Value> = body.inst(insts[pair.first]).results.iter().copied().collect();
    let mut found = FxHashSet::default();
    for &inst in &insts[pair.first + 1..=pair.second] {
        if uses_any(body, inst, &tainted) {
            found.insert(inst);
            tainted.extend(&body.inst(inst).results);
        }
    }
    found
}

fn uses_any(body: &Body, inst: Inst, values: &FxHashSet<Value>) -> bool {
    let data = body.inst(inst);
    data.args.iter().any(|a| values.contains(a))
        || data.regions.iter().any(|&r| {
            let region = body.region(r);
            region.results.iter().any(|v| values.contains(v)) || region.insts.iter().any(|&i| uses_any(body, i, values))
        })
}

/// Puts the second loop's body after the first's, in one loop at the place of the second; what needs the
/// first's results follows it.
fn merge(body: &mut Body, pair: LoopPair) {
    let after = dependents(body, &pair);
    let insts = body.region(pair.region).insts.clone();
    let (a, b) = (body.inst(insts[pair.first]).clone(), body.inst(insts[pair.second]).clone());
    let fixed = a.op.fixed_params();
    let (first, second) = (a.regions[0], b.regions[0]);

    // One region: the first's parameters, then the second's carried ones.
    let (head, carried) = {
        let params = &body.region(second).params;
        (params[..fixed].to_vec(), params[fixed..].to_vec())
    };
    let mut new: FxHashMap<Value, Value> = head.iter().copied().zip(body.region(first).params.clone()).collect();
    for param in carried {
        let ty = body.ty(param);
        new.insert(param, body.add_region_param(first, ty));
    }
    let tail = body.region(second).clone();
    body.region_mut(first).insts.extend(tail.insts);
    body.region_mut(first).results.extend(tail.results);

    let (Op::LightLoop { local, ambient, shown }, Op::LightLoop { local: l, ambient: m, .. }) = (&a.op, &b.op) else {
        unreachable!("a pair is two light loops")
    };
    let op = Op::LightLoop { local: *local || *l, ambient: *ambient || *m, shown: shown.clone() };
    let args = [&a.args[..], &b.args[b.op.fixed_args()..]].concat();
    let results: Vec<Value> = a.results.iter().chain(&b.results).copied().collect();
    let types: Vec<MachineType> = results.iter().map(|&r| body.ty(r)).collect();
    let merged = body.add_inst(op, args, vec![first], &types);
    new.extend(results.into_iter().zip(body.inst(merged).results.clone()));

    let (before, between) = (&insts[..pair.first], &insts[pair.first + 1..pair.second]);
    let order = before.iter().chain(between.iter().filter(|i| !after.contains(i))).copied();
    let order: Vec<Inst> = order.chain([merged]).chain(between.iter().filter(|i| after.contains(i)).copied()).collect();
    body.region_mut(pair.region).insts = [&order, &insts[pair.second + 1..]].concat();
    let root = body.root();
    body.substitute(root, &new);
}

//! Illuminance loops to loops over the light list (RenderAnts, Appendix A).
//!
//! The paper merges illuminance loops of equal receiver configuration. Here the cone and the category are first made
//! conditions inside the loop, so that all loops over lights that light the same position are equal, and merge
//! (`merge_lights`).

use super::translate::{Rules, Translator, translate};
use crate::ir::{Binary, Body, Compare, Const, Global, Inst, InstData, MachineType, Op, Shown, Unary, Value};
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

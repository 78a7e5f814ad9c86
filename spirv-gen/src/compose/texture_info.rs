//! `textureinfo`: answers made of single numbers.

use crate::ir::{Compare, MachineType, Op, RslType, TextureFact, Unary, Value};
use crate::passes::writer::BodyWriter;

/// Names of what [`TextureFact::Type`] says by number.
const TYPES: [&str; 3] = ["texture", "environment", "shadow"];

/// Returns 1 and the values, or 0 and zeros where the texture, or what is asked, is not known.
pub(super) fn texture_info(out: &mut BodyWriter, texture: Value, asked: &str, ty: RslType, count: u32) -> Vec<Value> {
    use TextureFact::{BitsPerChannel, Channels, Exists, ProjectionMatrix, Resolution, Type, ViewingMatrix};
    let fact = TextureFact::from_name(asked);
    let number = |out: &mut BodyWriter, fact, i: u8| out.op(Op::TextureFact(fact, i), &[texture]);
    // Points have neither a size nor what follows.
    let basis = if fact == Some(Exists) { Exists } else { Resolution };
    let (basis, zero) = (number(out, basis, 0), out.zero(MachineType::F32));
    let is_found = out.op(Op::Compare(Compare::Lt), &[zero, basis]);
    let found = out.op(Op::Unary(Unary::FloatFromBool), &[is_found]);
    let values = match (fact, ty.machine(), count) {
        (Some(fact @ (Exists | Channels | BitsPerChannel)), MachineType::F32, 1) => vec![number(out, fact, 0)],
        (Some(Resolution), MachineType::F32, 2) => vec![number(out, Resolution, 0), number(out, Resolution, 1)],
        (Some(Type), MachineType::Str, 1) => {
            let kind = number(out, Type, 0);
            let first = out.constant(TYPES[0]);
            vec![(1..TYPES.len()).fold(first, |name, i| {
                let (number, other) = (out.constant(i as f32), out.constant(TYPES[i]));
                let is_this = out.op(Op::Compare(Compare::Eq), &[kind, number]);
                out.op(Op::Select, &[is_this, other, name])
            })]
        }
        (Some(fact @ (ViewingMatrix | ProjectionMatrix)), MachineType::Mat4, 1) => {
            let parts: Vec<Value> = (0..16).map(|i| number(out, fact, i)).collect();
            let (kind, shadow) = (number(out, Type, 0), out.constant(2.0));
            let is_shadow = out.op(Op::Compare(Compare::Eq), &[kind, shadow]);
            let found = out.op(Op::Unary(Unary::FloatFromBool), &[is_shadow]);
            return vec![found, out.op(Op::Mat4, &parts)];
        }
        _ => {
            let nothing = out.zero(MachineType::F32);
            return std::iter::once(nothing).chain((0..count).map(|_| out.zero(ty.machine()))).collect();
        }
    };
    [vec![found], values].concat()
}

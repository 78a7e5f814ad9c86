//! Lookups as operations of programs.

use super::environment::environment;
use super::filter::{FilterForm, LookupFilter};
use super::info::textureinfo;
use super::occlusion::occlusion;
use super::plain::texture;
use super::points::points;
use super::shadow::shadow;
use super::shadow_area::ShadowSampling;
use super::store::{TextureStore, WantedChannels};
use crate::abi::points::channel_hash;
use crate::interp::noise::hash;
use crate::ir::{Const, Lookup, LookupKind, MachineType, TextureFact};

/// Returns the result of a lookup of arguments as [`LookupKind::arguments`] has them; `seed` is the grid's and the
/// vertex.
pub(crate) fn look(store: &dyn TextureStore, lookup: Lookup, args: &[Const], seed: [u32; 2]) -> Const {
    let float = |i: usize| args[i].as_f32().unwrap_or(0.0);
    let triple = |i: usize| args[i].as_vec3().unwrap_or_default();
    let token = args[0].as_u32().unwrap_or(0);
    let is_triple = lookup.ty == MachineType::Vec3;
    let wanted = WantedChannels { first: float(1), count: if is_triple { 3 } else { 1 } };
    let filter = |from: usize, fill: usize| LookupFilter {
        width: [float(from), float(from + 1)],
        blur: [float(from + 2), float(from + 3)],
        form: FilterForm::of_number(float(from + 4)),
        is_plain: float(from + 4) >= LookupKind::PLAIN.into(),
        fill: float(fill),
        lerp: 1.0,
    };
    let light = args.last().and_then(Const::as_u32).unwrap_or(0);
    let sampling = |from: usize| ShadowSampling {
        width: [float(from), float(from + 1)],
        blur: [float(from + 2), float(from + 3)],
        samples: float(from + 4),
        bias: [float(from + 5), float(from + 6)],
        seed: hash(hash(seed[0], seed[1]), light),
    };
    let found = match lookup.kind {
        LookupKind::Texture => {
            let area = [2, 4, 6].map(|i| [float(i), float(i + 1)]);
            texture(store, token, wanted, area, &LookupFilter { lerp: float(14), ..filter(8, 13) })
        }
        LookupKind::Environment => environment(store, token, wanted, [2, 3, 4].map(triple), &filter(5, 10)),
        LookupKind::Shadow => [shadow(store, token, float(1), [2, 3, 4].map(triple), &sampling(5)); 3],
        LookupKind::Occlusion => [occlusion(store, token, [2, 3, 4, 5].map(triple), &sampling(6)); 3],
    };
    if is_triple { Const::Vec3(found) } else { Const::F32(found[0]) }
}

/// Returns what `texture3d` finds of a channel of a point cloud, of arguments as [`crate::ir::Op::Points`] has them.
pub(crate) fn look_for_points(store: &dyn TextureStore, ty: MachineType, args: &[Const], channel: &str) -> Vec<Const> {
    let float = |i: usize| args[i].as_f32().unwrap_or(0.0);
    let triple = |i: usize| args[i].as_vec3().unwrap_or_default();
    let found = points(
        store,
        args[0].as_u32().unwrap_or(0),
        [triple(1), triple(2)],
        [float(3), float(4)],
        channel_hash(channel),
    );
    let [x, y, z] = found.unwrap_or_default();
    let value = if ty == MachineType::Vec3 { Const::Vec3([x, y, z]) } else { Const::F32(x) };
    vec![Const::F32(if found.is_some() { 1.0 } else { 0.0 }), value]
}

/// Returns a number that is known of a texture.
pub(crate) fn fact(store: &dyn TextureStore, fact: TextureFact, number: u8, texture: &Const) -> Const {
    Const::F32(textureinfo(store, texture.as_u32().unwrap_or(0), fact as u32, number.into()))
}

/// Returns the answer of `textureinfo`, if there is one.
pub(crate) fn info(
    store: &dyn TextureStore,
    asked: &str,
    (ty, count): (MachineType, u32),
    texture: u32,
) -> Option<Vec<Const>> {
    use TextureFact::{BitsPerChannel, Channels, Exists, ProjectionMatrix, Resolution, Type, ViewingMatrix};
    let fact = TextureFact::from_name(asked)?;
    let number = |fact, i| textureinfo(store, texture, fact as u32, i);
    let kind = number(Type, 0) as usize;
    let values = match (fact, ty, count) {
        (Exists | Channels | BitsPerChannel, MachineType::F32, 1) => vec![Const::F32(number(fact, 0))],
        (Resolution, MachineType::F32, 2) => [0, 1].map(|i| Const::F32(number(fact, i))).to_vec(),
        (Type, MachineType::Str, 1) => vec![Const::Str(["texture", "environment", "shadow"][kind].into())],
        (ViewingMatrix | ProjectionMatrix, MachineType::Mat4, 1) if kind == 2 => {
            vec![Const::Mat4(Box::new(std::array::from_fn(|i| number(fact, i))))]
        }
        _ => return None,
    };
    // Points have neither a size nor what follows.
    let basis = if fact == Exists { Exists } else { Resolution };
    (number(basis, 0) > 0.0).then_some(values)
}

//! What scales a light besides its shader: shadows that it casts although its shader asks for none, by what its own
//! maps show, and its share of an area light.

use super::lowerer::Lowerer;
use crate::ir::{
    self, Axis, Compare, Const, Global, Lookup, LookupKind, MachineType, Op, ParamDefault, ParamId, Rate, RslType,
    TransformKind, Unary, Value,
};
use crate::sema::hir::Predefined;

/// The parameter that holds a light's share of an area light.
pub const SHARE_PARAM: &str = "__share";

/// What the colour of a light is scaled by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LightScale {
    /// Shadow maps of its own.
    pub cast: Option<CastShadow>,
    /// Whether it is a part of an area light, by the parameter [`SHARE_PARAM`].
    pub is_share: bool,
    /// The one of its `illuminate` and `solar` that shines ([`light_parts`](super::light_parts)); `None` is the last
    /// that it executes.
    pub part: Option<u32>,
}

/// The maps that a light is scaled by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastShadow {
    /// One, as for a spotlight.
    Once,
    /// Six from one point, along the axes of the world.
    Around,
}

impl CastShadow {
    /// Returns the parameters that name the maps: seen along +x, -x, +y, -y, +z and -z where there are six.
    pub fn map_params(self) -> &'static [&'static str] {
        match self {
            Self::Once => &["__shadowmap"],
            Self::Around => &["__shadowpx", "__shadownx", "__shadowpy", "__shadowny", "__shadowpz", "__shadownz"],
        }
    }
}

impl Lowerer<'_> {
    /// Declares the parameter of a light's share.
    pub(super) fn share_param(&mut self) -> ParamId {
        self.builder.param(ir::Param {
            name: SHARE_PARAM.into(),
            ty: RslType::Float,
            array: None,
            rate: Rate::Uniform,
            output: false,
            default: ParamDefault::Values(vec![Const::F32(1.0)]),
        })
    }

    /// Scales the light's colour by its share.
    pub(super) fn scale_by_share(&mut self, share: ParamId) {
        let share = self.builder.op(Op::Param(share), &[]);
        let before = self.predefined(Predefined::Cl);
        let scaled = self.builder.scale(before, share);
        let colour = self.predefined_cell(Predefined::Cl);
        self.cells.set(colour, scaled);
    }

    /// Declares the parameters that name the maps.
    pub(super) fn shadow_params(&mut self, cast: CastShadow) -> Vec<ParamId> {
        let param = |name: &&str| {
            self.builder.param(ir::Param {
                name: (*name).into(),
                ty: RslType::String,
                array: None,
                rate: Rate::Uniform,
                output: false,
                default: ParamDefault::Values(vec![Const::Str("".into())]),
            })
        };
        cast.map_params().iter().map(param).collect()
    }

    /// Scales the light's colour by the part of a point's surroundings that its maps see.
    pub(super) fn cast_shadow(&mut self, maps: &[ParamId]) {
        let Some((l, active)) = self.light.as_ref().map(|light| (light.l, light.active)) else { return };
        let (Some(l), Some(active)) = (self.cells.get(l), self.cells.get(active)) else { return };
        let colour = self.predefined_cell(Predefined::Cl);
        self.branch(
            active,
            |this| {
                let map = this.facing_map(maps, l);
                let dark = this.own_shadow(map);
                let one = this.builder.f32(1.0);
                let light = this.builder.sub(one, dark);
                let before = this.predefined(Predefined::Cl);
                let scaled = this.builder.scale(before, light);
                this.cells.set(colour, scaled);
            },
            |_| {},
        );
    }

    /// Returns the name of the map that looks along `l`: by the longest of its components in the world.
    fn facing_map(&mut self, maps: &[ParamId], l: Value) -> Value {
        let names: Vec<Value> = maps.iter().map(|&map| self.builder.op(Op::Param(map), &[])).collect();
        let [px, nx, py, ny, pz, nz] = names[..] else { return names[0] };
        let b = &mut self.builder;
        let l = b.transform(TransformKind::Vector, "current", "world", l);
        let zero = b.f32(0.0);
        let [x, y, z] = [0, 1, 2].map(|i| b.comp(l, i));
        let [long_x, long_y, long_z] = [x, y, z].map(|c| b.unary(Unary::Abs, c));
        let mut along = |component, towards, away| {
            let is_towards = b.compare(Compare::Lt, zero, component);
            b.select(is_towards, towards, away)
        };
        let [x, y, z] = [along(x, px, nx), along(y, py, ny), along(z, pz, nz)];
        let beyond_y = b.compare(Compare::Lt, long_y, long_x);
        let beyond_z = b.compare(Compare::Lt, long_z, long_x);
        let y_longer = b.compare(Compare::Lt, long_z, long_y);
        let y_or_z = b.select(y_longer, y, z);
        let x_or_rest = b.select(beyond_z, x, y_or_z);
        b.select(beyond_y, x_or_rest, y_or_z)
    }

    /// `shadow(map, Ps)`.
    fn own_shadow(&mut self, map: Value) -> Value {
        let lit = self.global(Global::Ps);
        let [along_x, along_y] = [Axis::U, Axis::V].map(|axis| self.builder.change(axis, lit));
        let [samples, bias0, bias1] = ["samples", "bias0", "bias1"].map(|name| self.shadow_option(name));
        let b = &mut self.builder;
        let (zero, one, light) = (b.f32(0.0), b.f32(1.0), b.u32(0));
        let arguments = [map, zero, lit, along_x, along_y, one, one, zero, zero, samples, bias0, bias1, zero, light];
        b.op(Op::Lookup(Lookup { kind: LookupKind::Shadow, ty: MachineType::F32 }), &arguments)
    }

    /// `Option "shadow"` of that name; 0 if it is not set.
    pub(super) fn shadow_option(&mut self, name: &str) -> Value {
        let name = format!("shadow:{name}");
        let query = Op::Query { source: ir::QuerySource::Option, name: name.into(), ty: RslType::Float, count: 1 };
        // What is not set is 0.
        self.builder.emit(query, &[])[1]
    }
}

//! `bake3d` and `bake`: points of files.

use super::lowerer::Lowerer;
use crate::bake::{INTERPOLATE, describe, is_parameter};
use crate::ir::{Op, TransformKind, Unary, Value};
use crate::sema::hir::{Expr, ShadeopCall};
use std::f32::consts::FRAC_1_PI;

impl Lowerer<'_> {
    /// `bake3d(file, channels, P, N, ...)`: the point in the coordinate system of the file, with a disk of the area
    /// that it stands for.
    pub(super) fn bake3d(&mut self, call: &ShadeopCall) -> Value {
        let [file, channels, p, n] = [0, 1, 2, 3].map(|at| self.value(&call.arguments[at]));
        let parameter = |this: &Self, wanted: &str| -> Option<Expr> {
            let mut named = call.named.iter().rev();
            named.find(|(name, _)| this.literal(name).as_deref() == Some(wanted)).map(|(_, value)| value.clone())
        };
        let space = parameter(self, "coordsystem");
        let [p, n] = [(TransformKind::Point, p), (TransformKind::Normal, n)].map(|(moved, x)| match &space {
            Some(space) => self.moved_between(moved, space, true, x),
            None => self.builder.transform(moved, "current", "world", x),
        });
        let mut radius = match parameter(self, "radius") {
            Some(radius) => self.value(&radius),
            None => {
                let (area, share) = (self.builder.area(p), self.builder.f32(FRAC_1_PI));
                let squared = self.builder.mul(area, share);
                self.builder.unary(Unary::Sqrt, squared)
            }
        };
        if let Some(scale) = parameter(self, "radiusscale") {
            let scale = self.value(&scale);
            radius = self.builder.mul(radius, scale);
        }
        let literal = |(name, value): &(Expr, Expr)| Some((self.literal(name)?, value.clone()));
        let named: Vec<(String, Expr)> = call.named.iter().filter_map(literal).collect();
        let baked: Vec<_> = named.iter().filter(|(name, _)| !is_parameter(name)).collect();
        let flag = parameter(self, INTERPOLATE);
        let flagged = flag.iter().map(|_| ("flag".to_string(), INTERPOLATE));
        let names = describe(baked.iter().map(|(name, value)| (value.ty.to_string(), name.as_str())).chain(flagged));
        let values = baked.iter().map(|(_, value)| value).chain(&flag).map(|value| self.value(value));
        let values: Vec<Value> = [file, channels, p, n, radius].into_iter().chain(values).collect();
        self.left(names, &values)
    }

    /// `bake(file, s, t, value)`: a point at (s, t, 0).
    pub(super) fn bake(&mut self, call: &ShadeopCall) -> Value {
        let [file, s, t, value] = [0, 1, 2, 3].map(|at| self.value(&call.arguments[at]));
        let [channels, zero] = [self.builder.str(""), self.builder.f32(0.0)];
        let place = self.builder.op(Op::Vec3, &[s, t, zero]);
        let none = self.builder.unary(Unary::Splat, zero);
        let names = describe([(call.arguments[3].ty.to_string(), "value")].into_iter());
        self.left(names, &[file, channels, place, none, zero, value])
    }

    /// Leaves a record, and returns the result of the call.
    fn left(&mut self, names: String, values: &[Value]) -> Value {
        if self.has_effects() {
            self.builder.emit(Op::Bake(names.into()), values);
        }
        self.builder.f32(1.0)
    }
}

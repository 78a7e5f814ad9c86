//! Light: statements of light shaders, and the shadeops that sum what arrives at a surface.

use super::lowerer::Lowerer;
use crate::ir::{Binary, Direction, Global, MachineType, MessageTarget, Op, Receiver, RslType, Unary, Value};
use crate::sema::fold;
use crate::sema::hir::{Constant, Expr, Stmt};

/// `specular` and `specularbrdf` raise the cosine to this over the roughness. RISpec 3.2 (16.3) has 1 and leaves the
/// function to the renderer; BMRT and Aqsis use 8, which comes close to PRMan's pictures, and so do we.
const SPECULAR_EXPONENT: f32 = 8.0;

impl Lowerer<'_> {
    /// `illuminate`: light from a place, inside a cone if there is one.
    pub(super) fn illuminate(&mut self, position: &Expr, cone: Option<&(Expr, Expr)>, body: &[Stmt]) {
        if !self.is_next_shining() {
            return;
        }
        let position = self.value(position);
        let lit = self.global(Global::Ps);
        let l = self.builder.sub(lit, position);
        let inside = cone.map(|(axis, angle)| {
            let (axis, angle, half_turn) =
                (self.value(axis), self.value(angle), self.builder.f32(std::f32::consts::PI));
            let angle = self.builder.binary(Binary::Min, angle, half_turn);
            let (towards, axis) = (self.builder.normalize(l), self.builder.normalize(axis));
            let (cosine, edge) = (self.builder.dot(towards, axis), self.builder.unary(Unary::Cos, angle));
            self.builder.le(edge, cosine)
        });
        match inside {
            None => self.shine(l, body),
            Some(inside) => self.branch(inside, |this| this.shine(l, body), |_| {}),
        }
    }

    /// `solar`: light along an axis, or from a direction of the cone about it that is chosen again at each point.
    /// Without an axis, the cone is the sphere.
    pub(super) fn solar(&mut self, cone: Option<&(Expr, Expr)>, body: &[Stmt]) {
        if !self.is_next_shining() {
            return;
        }
        let l = match cone {
            Some((axis, angle)) => {
                let axis = self.value(axis);
                match fold(angle) {
                    Some(Constant::Float(angle)) if angle <= 0.0 => axis,
                    _ => {
                        let angle = self.value(angle);
                        self.drawn_from_cone(axis, angle)
                    }
                }
            }
            None => {
                let (axis, whole) = (self.builder.constant([0.0, 0.0, 1.0]), self.builder.f32(std::f32::consts::PI));
                self.drawn_from_cone(axis, whole)
            }
        };
        self.shine(l, body);
    }

    /// Returns a direction of the cone about an axis, all of which are equally likely; as long as the axis.
    fn drawn_from_cone(&mut self, axis: Value, angle: Value) -> Value {
        let numbers = self.random(MachineType::Vec3);
        let b = &mut self.builder;
        let (zero, one, pi) = (b.f32(0.0), b.f32(1.0), b.f32(std::f32::consts::PI));
        let (turn, height) = (b.comp(numbers, 0), b.comp(numbers, 1));
        let half = b.clamp(angle, zero, pi);
        let cosine = b.unary(Unary::Cos, half);
        let depth = b.sub(one, cosine);
        let depth = b.mul(depth, height);
        let (along, two) = (b.sub(one, depth), b.f32(2.0));
        // sin^2 = 1 - (1 - d)^2 = d (2 - d)
        let square = b.sub(two, depth);
        let square = b.mul(depth, square);
        let away = b.unary(Unary::Sqrt, square);
        let around = b.f32(2.0 * std::f32::consts::PI);
        let around = b.mul(turn, around);
        let (sine, cosine) = (b.unary(Unary::Sin, around), b.unary(Unary::Cos, around));
        let (length, w) = (b.length(axis), b.normalize(axis));
        // Any direction that is not the axis's own gives two that are square to it.
        let (x, y) = (b.constant([1.0, 0.0, 0.0]), b.constant([0.0, 1.0, 0.0]));
        let (lean, edge) = (b.comp(w, 0), b.f32(0.5));
        let lean = b.unary(Unary::Abs, lean);
        let leans = b.lt(edge, lean);
        let other = b.select(leans, y, x);
        let u = b.cross(w, other);
        let u = b.normalize(u);
        let v = b.cross(w, u);
        let (u, v, w) = (b.scale(u, cosine), b.scale(v, sine), b.scale(w, along));
        let across = b.add(u, v);
        let across = b.scale(across, away);
        let drawn = b.add(w, across);
        let drawn = b.scale(drawn, length);
        let parallel = b.le(angle, zero);
        b.select(parallel, axis, drawn)
    }

    /// Counts one more `illuminate` or `solar`, and returns whether it is of the part of the light that is lowered.
    fn is_next_shining(&mut self) -> bool {
        let number = self.light_statements;
        self.light_statements += 1;
        self.shining.is_none_or(|shining| shining == number)
    }

    /// The body of `illuminate` or `solar` where there is light.
    fn shine(&mut self, l: Value, body: &[Stmt]) {
        let yes = self.builder.bool(true);
        if let Some(light) = &self.light {
            let (cell, active) = (light.l, light.active);
            self.cells.set(cell, l);
            self.cells.set(active, yes);
        }
        self.shines = true;
        self.statements(body);
        self.shines = false;
    }

    /// `diffuse(n)`: light by the cosine of its angle to the normal (RISpec 16.3).
    pub(super) fn diffuse(&mut self, n: Value) -> Value {
        let n = self.builder.normalize(n);
        self.sum_lights(n, "__nondiffuse", |this, l| this.builder.dot(l, n))
    }

    /// `specular(n, v, roughness)` of vectors of any length.
    pub(super) fn specular(&mut self, n: Value, v: Value, roughness: Value) -> Value {
        let (n, v) = (self.builder.normalize(n), self.builder.normalize(v));
        self.sum_lights(n, "__nonspecular", |this, l| this.specularbrdf(l, n, v, roughness))
    }

    /// `specularbrdf(l, n, v, roughness)` of unit vectors: the cosine between the normal and the vector half way
    /// between eye and light, raised to eight over the roughness. The highlight shrinks with the roughness, to nothing
    /// at 0.
    pub(super) fn specularbrdf(&mut self, l: Value, n: Value, v: Value, roughness: Value) -> Value {
        // The sum of two unit vectors needs no care about range: where it is next to nothing, there is no highlight.
        let between = self.builder.add(l, v);
        let square = self.builder.dot(between, between);
        let (inverse, along) = (self.builder.inversesqrt(square), self.builder.dot(n, between));
        let cosine = self.builder.mul(along, inverse);
        let (scale, zero) = (self.builder.f32(SPECULAR_EXPONENT), self.builder.f32(0.0));
        let exponent = self.builder.div(scale, roughness);
        let highlight = self.power_of_cosine(cosine, exponent);
        let is_rough = self.builder.lt(zero, roughness);
        self.builder.select(is_rough, highlight, zero)
    }

    /// Raises a cosine to a power that may be large: rounding must not take it beyond 1. Below 0 it counts as 0.
    fn power_of_cosine(&mut self, cosine: Value, exponent: Value) -> Value {
        let (zero, one) = (self.builder.f32(0.0), self.builder.f32(1.0));
        let cosine = self.builder.clamp(cosine, zero, one);
        self.builder.binary(Binary::Pow, cosine, exponent)
    }

    /// `phong(n, v, size)`: the cosine between the light and the mirrored eye, raised to `size`.
    pub(super) fn phong(&mut self, n: Value, v: Value, size: Value) -> Value {
        let (n, v) = (self.builder.normalize(n), self.builder.normalize(v));
        let towards = self.builder.neg(v);
        let mirrored = self.builder.reflect(towards, n);
        self.sum_lights(n, "__nonspecular", |this, l| {
            let cosine = this.builder.dot(mirrored, l);
            this.power_of_cosine(cosine, size)
        })
    }

    /// Returns the sum over the lights of the hemisphere around `n` of their colours times `weight` of their direction.
    /// A light can withdraw by its parameter `withdraws`.
    fn sum_lights(&mut self, n: Value, withdraws: &str, weight: impl FnOnce(&mut Self, Value) -> Value) -> Value {
        let position = self.global(Global::P);
        let hemisphere = self.builder.f32(std::f32::consts::FRAC_PI_2);
        let category = self.builder.str("");
        let receiver = Receiver { position, cone: Some((n, hemisphere)), category };
        let black = self.builder.constant([0.0; 3]);
        let shown = self.shown();
        let sample = self.builder.begin_illuminance_showing(receiver, &shown, &[black]);
        let l = self.builder.normalize(sample.l);
        let weight = weight(self, l);
        let target = MessageTarget::Light;
        let message = Op::Message { target, name: withdraws.into(), ty: RslType::Float, count: 1 };
        // No answer is 0.
        let withdrawn = self.builder.emit(message, &[])[1];
        let one = self.builder.f32(1.0);
        let share = self.builder.sub(one, withdrawn);
        let weight = self.builder.mul(weight, share);
        let light = self.builder.scale(sample.cl, weight);
        let sum = self.builder.add(sample.carried[0], light);
        self.builder.end_illuminance(&[sum])[0]
    }

    /// Returns the matrix from a space to camera space, or the other way.
    pub(super) fn space_matrix(&mut self, space: &Expr, direction: Direction) -> Option<Value> {
        match self.literal(space) {
            Some(name) if crate::ir::is_current(&name) => None,
            Some(name) => Some(self.builder.space(&name, direction)),
            None => {
                let name = self.value(space);
                Some(self.builder.op(Op::SpaceOf(direction), &[name]))
            }
        }
    }
}

//! Built-in functions that are made of a few operations. They are not operations of their own, so that the passes see
//! through them.

use super::arithmetic::{Binary, Compare, Unary};
use super::body::Value;
use super::build::Builder;
use super::op::{Axis, Direction, Global};
use super::types::MachineType;
use super::unit::is_unit;

/// What `fresnel()` gives.
#[derive(Clone, Copy, Debug)]
pub struct Fresnel {
    /// Fraction reflected.
    pub kr: Value,
    /// Fraction transmitted.
    pub kt: Value,
    /// Reflected direction.
    pub r: Value,
    /// Refracted direction.
    pub t: Value,
}

/// What a transform by name moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransformKind {
    /// `transform`
    Point,
    /// `vtransform`
    Vector,
    /// `ntransform`
    Normal,
}

impl Builder {
    /// `a + b`
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(Binary::Add, a, b)
    }

    /// `a - b`
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.binary(Binary::Sub, a, b)
    }

    /// `a * b`
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(Binary::Mul, a, b)
    }

    /// `a / b`, 0 where b is 0.
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.binary(Binary::Div, a, b)
    }

    /// `-a`
    pub fn neg(&mut self, a: Value) -> Value {
        self.unary(Unary::Neg, a)
    }

    /// `a . b`
    pub fn dot(&mut self, a: Value, b: Value) -> Value {
        self.binary(Binary::Dot, a, b)
    }

    /// `a ^ b`
    pub fn cross(&mut self, a: Value, b: Value) -> Value {
        self.binary(Binary::Cross, a, b)
    }

    /// `a < b`
    pub fn lt(&mut self, a: Value, b: Value) -> Value {
        self.compare(Compare::Lt, a, b)
    }

    /// `a <= b`
    pub fn le(&mut self, a: Value, b: Value) -> Value {
        self.compare(Compare::Le, a, b)
    }

    /// Returns a value of the type of `like`, all of whose components are `x`.
    pub fn same(&mut self, like: Value, x: f32) -> Value {
        match self.ty(like) {
            MachineType::Vec3 => self.constant([x; 3]),
            _ => self.f32(x),
        }
    }

    /// `v * f` for a triple and a float.
    pub fn scale(&mut self, v: Value, f: Value) -> Value {
        let f = self.unary(Unary::Splat, f);
        self.mul(v, f)
    }

    /// Returns a float as a triple where the other operand is one: the spread of RSL's mixed arithmetic.
    pub fn spread(&mut self, x: Value, like: Value) -> Value {
        if self.ty(like) == MachineType::Vec3 && self.ty(x) == MachineType::F32 {
            self.unary(Unary::Splat, x)
        } else {
            x
        }
    }

    /// `clamp(x, low, high)`, componentwise, where `low` is not above `high`.
    pub fn clamp(&mut self, x: Value, low: Value, high: Value) -> Value {
        let x = self.binary(Binary::Max, x, low);
        self.binary(Binary::Min, x, high)
    }

    /// RSL's `clamp(x, low, high)`, componentwise: `low` if `x` is below it, else `high` if `x` is above it. The order
    /// counts where `low` is above `high`: loops of public volume shaders end by it.
    pub fn clamp_in_order(&mut self, x: Value, low: Value, high: Value) -> Value {
        if self.ty(x) == MachineType::Vec3 {
            let [x, y, z] = [0, 1, 2].map(|i| {
                let [x, low, high] = [x, low, high].map(|v| self.comp(v, i));
                self.clamp_in_order(x, low, high)
            });
            return self.vec3(x, y, z);
        }
        let (reached, capped) = (self.le(low, x), self.binary(Binary::Min, x, high));
        self.select(reached, capped, low)
    }

    /// `mix(a, b, t) = a (1 - t) + b t`; `t` is a float or a triple. It is counted from the nearer end, so that it is
    /// exactly `a` at 0, `b` at 1, and both where they are equal, whatever `t`: what is mixed of equals has no
    /// derivative.
    pub fn mix(&mut self, a: Value, b: Value, t: Value) -> Value {
        if self.ty(t) == MachineType::Vec3 {
            let [x, y, z] = [0, 1, 2].map(|i| {
                let [a, b, t] = [a, b, t].map(|v| self.comp(v, i));
                self.mix(a, b, t)
            });
            return self.vec3(x, y, z);
        }
        let (half, one) = (self.f32(0.5), self.f32(1.0));
        let (is_near, back) = (self.lt(t, half), self.sub(t, one));
        let (end, share) = (self.select(is_near, a, b), self.select(is_near, t, back));
        let (way, share) = (self.sub(b, a), self.spread(share, a));
        let along = self.mul(way, share);
        self.add(end, along)
    }

    /// `step(edge, x)`: 0 below the edge, else 1.
    pub fn step(&mut self, edge: Value, x: Value) -> Value {
        let reached = self.le(edge, x);
        self.unary(Unary::FloatFromBool, reached)
    }

    /// `smoothstep(low, high, x)`: 0 below, 1 from `high` on, a cubic between; a step where the edges are equal.
    pub fn smoothstep(&mut self, low: Value, high: Value, x: Value) -> Value {
        let (zero, one) = (self.f32(0.0), self.f32(1.0));
        let (above, range) = (self.sub(x, low), self.sub(high, low));
        let t = self.div(above, range);
        let t = self.clamp(t, zero, one);
        let (two, three) = (self.f32(2.0), self.f32(3.0));
        let slope = self.mul(two, t);
        let slope = self.sub(three, slope);
        let square = self.mul(t, t);
        let cubic = self.mul(square, slope);
        let (below, beyond) = (self.lt(x, low), self.le(high, x));
        let inside = self.select(beyond, one, cubic);
        self.select(below, zero, inside)
    }

    /// `length(v)`
    pub fn length(&mut self, v: Value) -> Value {
        let square = self.dot(v, v);
        self.unary(Unary::Sqrt, square)
    }

    /// `inversesqrt(x)`; 0 for arguments that are not positive.
    pub fn inversesqrt(&mut self, x: Value) -> Value {
        let (root, one) = (self.unary(Unary::Sqrt, x), self.f32(1.0));
        self.div(one, root)
    }

    /// `normalize(v)`: the vector itself where it is known to have unit length, so that it is normalised once however
    /// often shaders and shadeops ask.
    pub fn normalize(&mut self, v: Value) -> Value {
        if is_unit(self.body(), v) { v } else { self.unary(Unary::Normalize, v) }
    }

    /// `faceforward(n, i, reference)`: n, flipped so that it faces against i as the reference does, or as n does where
    /// the reference says nothing: at the pole of a sphere dP/du and with it Ng are zero.
    pub fn faceforward(&mut self, n: Value, i: Value, reference: Value) -> Value {
        let (d, own, zero) = (self.dot(i, reference), self.dot(i, n), self.f32(0.0));
        let says = self.compare(Compare::Ne, d, zero);
        let d = self.select(says, d, own);
        let facing = self.lt(d, zero);
        let flipped = self.neg(n);
        self.select(facing, n, flipped)
    }

    /// `reflect(i, n) = i - 2 (i . n) n` for a unit normal.
    pub fn reflect(&mut self, i: Value, n: Value) -> Value {
        let (d, two) = (self.dot(i, n), self.f32(2.0));
        let d = self.mul(two, d);
        let along = self.scale(n, d);
        self.sub(i, along)
    }

    /// `refract(i, n, eta)` for unit vectors: zero at total reflection.
    pub fn refract(&mut self, i: Value, n: Value, eta: Value) -> Value {
        let (one, zero) = (self.f32(1.0), self.f32(0.0));
        let d = self.dot(i, n);
        let square = self.mul(d, d);
        let sine = self.sub(one, square);
        let eta2 = self.mul(eta, eta);
        let sine = self.mul(eta2, sine);
        let k = self.sub(one, sine);
        let root = self.unary(Unary::Sqrt, k);
        let along = self.mul(eta, d);
        let along = self.add(along, root);
        let (i, n) = (self.scale(i, eta), self.scale(n, along));
        let (bent, none) = (self.sub(i, n), self.constant([0.0; 3]));
        let total = self.lt(k, zero);
        self.select(total, none, bent)
    }

    /// `fresnel(i, n, eta, ...)` for unit vectors: the unpolarised Fresnel equations of a dielectric.
    pub fn fresnel(&mut self, i: Value, n: Value, eta: Value) -> Fresnel {
        let (one, zero, half) = (self.f32(1.0), self.f32(0.0), self.f32(0.5));
        let d = self.dot(i, n);
        let c1 = self.unary(Unary::Abs, d);
        let square = self.mul(d, d);
        let sine = self.sub(one, square);
        let eta2 = self.mul(eta, eta);
        let sine = self.mul(eta2, sine);
        let k = self.sub(one, sine);
        let c2 = self.unary(Unary::Sqrt, k);
        // Amplitudes across and along the plane of incidence; eta is the ratio of incident to transmitting index.
        let (ec1, ec2) = (self.mul(eta, c1), self.mul(eta, c2));
        let across = self.quotient_of_difference(ec1, c2);
        let along = self.quotient_of_difference(c1, ec2);
        let (across, along) = (self.mul(across, across), self.mul(along, along));
        let sum = self.add(across, along);
        let mean = self.mul(sum, half);
        let total = self.lt(k, zero);
        let kr = self.clamp(mean, zero, one);
        let kr = self.select(total, one, kr);
        let kt = self.sub(one, kr);
        Fresnel { kr, kt, r: self.reflect(i, n), t: self.refract(i, n, eta) }
    }

    fn quotient_of_difference(&mut self, a: Value, b: Value) -> Value {
        let (difference, sum) = (self.sub(a, b), self.add(a, b));
        self.div(difference, sum)
    }

    /// `ptlined(p0, p1, q)`: the distance from q to the segment from p0 to p1.
    pub fn ptlined(&mut self, p0: Value, p1: Value, q: Value) -> Value {
        let (zero, one) = (self.f32(0.0), self.f32(1.0));
        let (along, to) = (self.sub(p1, p0), self.sub(q, p0));
        let (d, square) = (self.dot(to, along), self.dot(along, along));
        let t = self.div(d, square);
        let t = self.clamp(t, zero, one);
        let foot = self.scale(along, t);
        let away = self.sub(to, foot);
        self.length(away)
    }

    /// `rotate(q, angle, p0, p1)`: the point q turned by an angle (radians) about the axis from p0 to p1.
    pub fn rotate(&mut self, q: Value, angle: Value, p0: Value, p1: Value) -> Value {
        let axis = self.sub(p1, p0);
        let axis = self.normalize(axis);
        let v = self.sub(q, p0);
        let (s, c, one) = (self.unary(Unary::Sin, angle), self.unary(Unary::Cos, angle), self.f32(1.0));
        let (rest, d) = (self.sub(one, c), self.dot(axis, v));
        let along = self.mul(d, rest);
        let side = self.cross(axis, v);
        let (a, b, e) = (self.scale(v, c), self.scale(side, s), self.scale(axis, along));
        let ab = self.add(a, b);
        let turned = self.add(ab, e);
        self.add(p0, turned)
    }

    /// Returns the change of `x` from vertex to vertex along an axis: `Du(x) * du`.
    pub fn change(&mut self, axis: Axis, x: Value) -> Value {
        let slope = self.derivative(axis, x);
        let width = self.global(match axis {
            Axis::U => Global::Du,
            Axis::V => Global::Dv,
        });
        let width = self.spread(width, slope);
        self.mul(slope, width)
    }

    /// `Deriv(x, y) = Du(x) / Du(y) + Dv(x) / Dv(y)`
    pub fn deriv(&mut self, x: Value, y: Value) -> Value {
        let along = |b: &mut Self, axis| {
            let (dx, dy) = (b.derivative(axis, x), b.derivative(axis, y));
            let dy = b.spread(dy, dx);
            b.div(dx, dy)
        };
        let (u, v) = (along(self, Axis::U), along(self, Axis::V));
        self.add(u, v)
    }

    /// `calculatenormal(p)`
    pub fn calculatenormal(&mut self, p: Value) -> Value {
        let (u, v) = (self.derivative(Axis::U, p), self.derivative(Axis::V, p));
        let n = self.cross(u, v);
        let side = self.global(Global::Orientation);
        self.scale(n, side)
    }

    /// `area(p)`: the area of the micropolygon at p.
    pub fn area(&mut self, p: Value) -> Value {
        let (u, v) = (self.change(Axis::U, p), self.change(Axis::V, p));
        let n = self.cross(u, v);
        self.length(n)
    }

    /// `depth(p)`: 0 at the near clipping plane, 1 at the far one.
    pub fn depth(&mut self, p: Value) -> Value {
        let (z, near, far) = (self.comp(p, 2), self.global(Global::Hither), self.global(Global::Yon));
        let (above, range) = (self.sub(z, near), self.sub(far, near));
        self.div(above, range)
    }

    /// Returns the width over which `filterstep` and its variants smooth: the larger change of `x` between neighbouring
    /// vertices.
    pub fn filter_width(&mut self, x: Value) -> Value {
        let (u, v) = (self.change(Axis::U, x), self.change(Axis::V, x));
        let (u, v) = (self.unary(Unary::Abs, u), self.unary(Unary::Abs, v));
        self.binary(Binary::Max, u, v)
    }

    /// `transform(m, p)`, `vtransform(m, v)`, `ntransform(m, n)`.
    pub fn transform_by(&mut self, moved: TransformKind, m: Value, x: Value) -> Value {
        match moved {
            TransformKind::Point => self.binary(Binary::XformPoint, m, x),
            TransformKind::Vector => self.binary(Binary::XformVector, m, x),
            TransformKind::Normal => {
                let inverse = self.unary(Unary::Inverse, m);
                self.binary(Binary::XformNormal, inverse, x)
            }
        }
    }

    /// `transform(from, to, p)` and its variants with known names; `"current"` and `"camera"` are camera space.
    pub fn transform(&mut self, moved: TransformKind, from: &str, to: &str, x: Value) -> Value {
        let x = if from == to || is_current(from) { x } else { self.transform_one(moved, from, false, x) };
        if from == to || is_current(to) { x } else { self.transform_one(moved, to, true, x) }
    }

    fn transform_one(&mut self, moved: TransformKind, space: &str, into: bool, x: Value) -> Value {
        // Normals are moved by the matrix of the other direction.
        let direction = if into == (moved == TransformKind::Normal) {
            Direction::CameraFromSpace
        } else {
            Direction::SpaceFromCamera
        };
        let m = self.space(space, direction);
        self.binary(moved.op(), m, x)
    }

    /// Returns the same with a name that is not known before (a `str` value): from it to camera space, or from camera
    /// space into it.
    pub fn transform_dynamic(&mut self, moved: TransformKind, space: Value, into: bool, x: Value) -> Value {
        let direction = if into == (moved == TransformKind::Normal) {
            Direction::CameraFromSpace
        } else {
            Direction::SpaceFromCamera
        };
        let m = self.op(super::op::Op::SpaceOf(direction), &[space]);
        self.binary(moved.op(), m, x)
    }
}

impl TransformKind {
    fn op(self) -> Binary {
        match self {
            TransformKind::Point => Binary::XformPoint,
            TransformKind::Vector => Binary::XformVector,
            TransformKind::Normal => Binary::XformNormal,
        }
    }
}

/// Returns whether a space's name means camera space, in which shaders compute.
pub fn is_current(space: &str) -> bool {
    matches!(space, "current" | "camera")
}

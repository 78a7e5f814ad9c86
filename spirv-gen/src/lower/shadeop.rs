//! Shadeops: each is one operation of the IR or a few.

use super::expression::Target;
use super::lowerer::{Lowerer, machine, rsl_type};
use crate::ir::{
    Compare, Fresnel, LookupKind, MachineType, MessageTarget, NoiseKind, Op, QuerySource, StepFilter, Unary, Value,
};
use crate::sema::hir::{self, LValue, ShadeopCall, Shape};
use crate::shadeops::{DEGREES_PER_RADIAN, GeometryOp, LightingOp, MathOp, Opcode, RADIANS_PER_DEGREE};

impl Lowerer<'_> {
    /// Lowers a call of a shadeop whose result has the type `ty`, and returns its value if it has a result.
    pub(super) fn shadeop(&mut self, call: &ShadeopCall, ty: hir::Type) -> Option<Value> {
        let wanted = if ty == hir::Type::Void { MachineType::F32 } else { machine(ty) };
        let result = match call.opcode {
            Opcode::Math(op) => {
                let arguments = self.arguments(call);
                self.math(op, &arguments, wanted, call)
            }
            Opcode::Geometry(op) => {
                let arguments = self.arguments(call);
                self.geometry(op, &arguments)
            }
            Opcode::Lighting(op) => {
                let arguments = self.arguments(call);
                self.lighting(op, &arguments)
            }
            Opcode::Spline => self.spline(call),
            Opcode::Random => self.random(wanted),
            Opcode::UniformRandom => self.uniform_random(wanted),
            Opcode::Transform(kind) => self.transform(kind, call),
            Opcode::TransformMatrix => self.transform_matrix(call),
            Opcode::TransformColor => self.transform_color(call),
            Opcode::Lookup(LookupKind::Occlusion) => self.occlusion(call, wanted),
            Opcode::Lookup(kind) => self.lookup(kind, call, wanted),
            Opcode::Points => self.points(call),
            Opcode::Bump => self.bump(call),
            Opcode::SetComponent(component) => return self.set_component(call, Some(component)),
            Opcode::SetComponentAt => return self.set_component(call, None),
            Opcode::Fresnel => return self.fresnel(call),
            Opcode::Printf => return self.printf(call),
            Opcode::Bake3d => self.bake3d(call),
            Opcode::Bake => self.bake(call),
            Opcode::Format => self.formatted(call),
            Opcode::Concat => self.concat(call),
            Opcode::Match => self.matches(call),
            Opcode::Array(op) => return self.array_op(op, call),
            Opcode::Message(target) => self.message(target, call),
            Opcode::Query(source) => self.query(source, call),
            Opcode::TextureInfo => self.texture_info(call),
            // The checker has warned that these are not supported.
            Opcode::VolumeSide | Opcode::Trace => self.builder.constant(wanted.zero()),
            Opcode::Absent(result) => {
                let number = self.builder.f32(result.into());
                if wanted == MachineType::Vec3 { self.builder.unary(Unary::Splat, number) } else { number }
            }
        };
        Some(result)
    }

    /// Returns the values of the arguments of a call.
    fn arguments(&mut self, call: &ShadeopCall) -> Vec<Value> {
        call.arguments.iter().map(|a| self.value(a)).collect()
    }

    fn math(&mut self, op: MathOp, x: &[Value], wanted: MachineType, call: &ShadeopCall) -> Value {
        let b = &mut self.builder;
        match op {
            MathOp::Unary(op) => b.unary(op, x[0]),
            MathOp::Binary(op) if b.ty(x[0]) == MachineType::Vec3 => {
                let [r, g, blue] = [0, 1, 2].map(|i| {
                    let component = b.comp(x[0], i);
                    b.binary(op, component, x[1])
                });
                b.vec3(r, g, blue)
            }
            MathOp::Binary(op) => b.binary(op, x[0], x[1]),
            MathOp::Reduce(op) => x[1..].iter().fold(x[0], |a, &c| b.binary(op, a, c)),
            MathOp::Radians => {
                let factor = b.f32(RADIANS_PER_DEGREE);
                b.mul(x[0], factor)
            }
            MathOp::Degrees => {
                let factor = b.f32(DEGREES_PER_RADIAN);
                b.mul(x[0], factor)
            }
            MathOp::LogBase => {
                let (log, base) = (b.unary(Unary::Log, x[0]), b.unary(Unary::Log, x[1]));
                b.div(log, base)
            }
            MathOp::Erf => self.error_function(x[0]).erf,
            MathOp::Erfc => self.error_function(x[0]).erfc,
            MathOp::InverseSqrt => b.inversesqrt(x[0]),
            MathOp::Step => b.step(x[0], x[1]),
            MathOp::Smoothstep => b.smoothstep(x[0], x[1], x[2]),
            MathOp::Filterstep => self.filterstep(x, call),
            MathOp::Clamp => b.clamp_in_order(x[0], x[1], x[2]),
            MathOp::Mix => b.mix(x[0], x[1], x[2]),
            MathOp::Derivative(axis) => b.derivative(axis, x[0]),
            MathOp::Deriv => b.deriv(x[0], x[1]),
            MathOp::Noise(kind) => self.noise(kind, x, wanted),
        }
    }

    fn geometry(&mut self, op: GeometryOp, x: &[Value]) -> Value {
        let b = &mut self.builder;
        match op {
            GeometryOp::Component(i) => b.comp(x[0], i),
            GeometryOp::ComponentAt if x.len() == 2 => b.op(Op::CompAt, x),
            GeometryOp::ComponentAt => b.op(Op::MatComp, x),
            GeometryOp::Length => b.length(x[0]),
            GeometryOp::Distance => {
                let d = b.sub(x[0], x[1]);
                b.length(d)
            }
            GeometryOp::PointLineDistance => b.ptlined(x[0], x[1], x[2]),
            GeometryOp::Normalize => b.normalize(x[0]),
            GeometryOp::RotatePoint => b.rotate(x[0], x[1], x[2], x[3]),
            GeometryOp::RotateMatrix => self.rotate_matrix(x[0], x[1], x[2]),
            GeometryOp::Translate => self.translate(x[0], x[1]),
            GeometryOp::Scale => self.scale_matrix(x[0], x[1]),
            GeometryOp::Area => b.area(x[0]),
            GeometryOp::FaceForward => {
                let reference = x.get(2).copied();
                let reference = reference.unwrap_or_else(|| self.global(crate::ir::Global::Ng));
                self.builder.faceforward(x[0], x[1], reference)
            }
            GeometryOp::Reflect => b.reflect(x[0], x[1]),
            GeometryOp::Refract => b.refract(x[0], x[1], x[2]),
            GeometryOp::Depth => b.depth(x[0]),
            GeometryOp::CalculateNormal => self.calculatenormal(x[0]),
        }
    }

    fn lighting(&mut self, op: LightingOp, x: &[Value]) -> Value {
        match op {
            LightingOp::Ambient => {
                let (names, values): (Vec<_>, Vec<_>) = self.shown().into_iter().unzip();
                self.builder.op(Op::Ambient(names.into()), &values)
            }
            LightingOp::Diffuse => self.diffuse(x[0]),
            LightingOp::Specular => self.specular(x[0], x[1], x[2]),
            LightingOp::SpecularBrdf => {
                let l = self.builder.normalize(x[0]);
                let weight = self.specularbrdf(l, x[1], x[2], x[3]);
                self.builder.unary(Unary::Splat, weight)
            }
            LightingOp::Phong => self.phong(x[0], x[1], x[2]),
        }
    }

    /// `calculatenormal(p)`; where p has no tangent plane, as at the pole of a sphere, N.
    fn calculatenormal(&mut self, p: Value) -> Value {
        let (n, otherwise) = (self.builder.calculatenormal(p), self.global(crate::ir::Global::N));
        let (square, zero) = (self.builder.dot(n, n), self.builder.f32(0.0));
        let degenerate = self.builder.compare(Compare::Eq, square, zero);
        self.builder.select(degenerate, otherwise, n)
    }

    /// `filterstep(edge, x [, x2])`: a step over the width by which `x` changes, or between `x` and `x2`, under the
    /// filter that is named, by default under one between box and triangle: a smoothstep.
    fn filterstep(&mut self, x: &[Value], call: &ShadeopCall) -> Value {
        let (mut width, scale) = match x.get(2) {
            Some(&end) => {
                let width = self.builder.sub(end, x[1]);
                (self.builder.unary(Unary::Abs, width), None)
            }
            None => (self.builder.filter_width(x[1]), self.named(call, "width")),
        };
        if let Some(scale) = scale {
            width = self.builder.mul(width, scale);
        }
        let b = &mut self.builder;
        let half = b.f32(0.5);
        let middle = match x.get(2) {
            Some(&end) => {
                let sum = b.add(x[1], end);
                b.mul(sum, half)
            }
            None => x[1],
        };
        let reach = b.mul(width, half);
        let filter = call.named.iter().rev().find(|(n, _)| self.literal(n).as_deref() == Some("filter"));
        let Some((_, filter)) = filter else { return self.builder.filtered_step(None, x[0], middle, reach) };
        if let Some(name) = self.literal(filter) {
            let filter = StepFilter::ALL.into_iter().find(|f| f.name() == name);
            return self.builder.filtered_step(filter, x[0], middle, reach);
        }
        let name = self.value(filter);
        self.by_name(name, &StepFilter::ALL.map(|f| (f.name(), Some(f))), None, |this, filter| {
            this.builder.filtered_step(filter, x[0], middle, reach)
        })
    }

    /// Returns the value of a named parameter.
    fn named(&mut self, call: &ShadeopCall, name: &str) -> Option<Value> {
        let (_, value) = call.named.iter().find(|(n, _)| self.literal(n).as_deref() == Some(name))?;
        Some(self.value(value))
    }

    /// Returns the number of calls of `random` so far, as a value, and counts one more.
    fn next_random(&mut self) -> Value {
        let Some(count) = self.random_count else { return self.builder.u32(0) };
        let now = self.cells.get(count).expect("the counter always has a value");
        let one = self.builder.u32(1);
        let next = self.builder.add(now, one);
        self.cells.set(count, next);
        now
    }

    pub(super) fn random(&mut self, ty: MachineType) -> Value {
        let count = self.next_random();
        self.builder.random(ty, count)
    }

    /// Returns the same number at all points: that of a cell of `cellnoise` which belongs to this call and trip.
    fn uniform_random(&mut self, ty: MachineType) -> Value {
        let count = self.next_random();
        let count = self.builder.unary(Unary::FloatFromU32, count);
        let call = self.builder.f32(self.uniform_random_calls as f32);
        self.uniform_random_calls += 1;
        self.builder.op(Op::Noise { kind: NoiseKind::Cell, dimension: 2, ty }, &[call, count])
    }

    fn noise(&mut self, kind: NoiseKind, x: &[Value], ty: MachineType) -> Value {
        let coordinates = if kind == NoiseKind::Periodic { &x[..x.len() / 2] } else { x };
        let is_point = self.builder.ty(coordinates[0]) == MachineType::Vec3;
        let dimension = coordinates.len() as u8 + if is_point { 2 } else { 0 };
        self.builder.op(Op::Noise { kind, dimension, ty }, x)
    }

    /// `setxcomp(p, x)` with its component, `setcomp(c, i, x)` or `setcomp(m, row, column, x)` without.
    fn set_component(&mut self, call: &ShadeopCall, component: Option<u8>) -> Option<Value> {
        let target = self.target(&call.outputs[0]);
        let mut arguments = vec![self.read_target(target)];
        for argument in &call.arguments {
            let value = self.value(argument);
            arguments.push(value);
        }
        let op = match component {
            Some(component) => Op::SetComp(component),
            None if arguments.len() == 3 => Op::SetCompAt,
            None => Op::SetMatComp,
        };
        let value = self.builder.op(op, &arguments);
        self.assign(target, value);
        None
    }

    fn fresnel(&mut self, call: &ShadeopCall) -> Option<Value> {
        let x = self.arguments(call);
        let targets: Vec<_> = call.outputs.iter().map(|place| self.target(place)).collect();
        let Fresnel { kr, kt, r, t } = self.builder.fresnel(x[0], x[1], x[2]);
        for (target, value) in targets.into_iter().zip([kr, kt, r, t]) {
            self.assign(target, value);
        }
        None
    }

    fn printf(&mut self, call: &ShadeopCall) -> Option<Value> {
        let (format, arguments) = self.format(call);
        if self.has_effects() {
            self.builder.emit(Op::Printf(format.into()), &arguments);
        }
        None
    }

    /// Returns a format whose letters fit its values, and the values.
    fn format(&mut self, call: &ShadeopCall) -> (String, Vec<Value>) {
        let format = self.literal(&call.arguments[0]).unwrap_or_default();
        let types = call.arguments[1..].iter().map(|a| a.ty);
        (fitting_format(&format, types), call.arguments[1..].iter().map(|a| self.value(a)).collect())
    }

    fn formatted(&mut self, call: &ShadeopCall) -> Value {
        if self.literal(&call.arguments[0]).is_none() {
            let arguments = self.arguments(call);
            return self.builder.op(Op::FormatBy, &arguments);
        }
        let (format, arguments) = self.format(call);
        self.builder.op(Op::Format(format.into()), &arguments)
    }

    fn concat(&mut self, call: &ShadeopCall) -> Value {
        let format = "%s".repeat(call.arguments.len());
        let arguments = self.arguments(call);
        self.builder.op(Op::Format(format.into()), &arguments)
    }

    fn matches(&mut self, call: &ShadeopCall) -> Value {
        let (pattern, text) = (self.value(&call.arguments[0]), self.value(&call.arguments[1]));
        self.builder.op(Op::Match, &[pattern, text])
    }

    /// Returns what is requested: the last argument, which the checker has seen to be a literal.
    fn asked_name(&self, call: &ShadeopCall) -> String {
        call.arguments.last().and_then(|name| self.literal(name)).unwrap_or_default()
    }

    /// `surface(name, variable)` and its variants.
    fn message(&mut self, target: MessageTarget, call: &ShadeopCall) -> Value {
        let place = &call.outputs[0];
        let (ty, count) = self.asked_type(place);
        let op = Op::Message { target, name: self.asked_name(call).into(), ty, count };
        let answer = self.builder.emit(op, &[]);
        self.answer(place, &answer)
    }

    /// `attribute(name, variable)` and its variants; `shadername`.
    fn query(&mut self, source: QuerySource, call: &ShadeopCall) -> Value {
        let place = call.outputs.first();
        let (ty, count) = place.map_or((crate::ir::RslType::String, 1), |place| self.asked_type(place));
        let computed = call.arguments.last().filter(|name| self.literal(name).is_none());
        let answer = match computed.map(|name| self.value(name)) {
            Some(name) => self.builder.emit(Op::QueryBy { source, ty, count }, &[name]),
            None => self.builder.emit(Op::Query { source, name: self.asked_name(call).into(), ty, count }, &[]),
        };
        place.map_or(answer[1], |place| self.answer(place, &answer))
    }

    fn texture_info(&mut self, call: &ShadeopCall) -> Value {
        let texture = self.value(&call.arguments[0]);
        let place = &call.outputs[0];
        let (ty, count) = self.asked_type(place);
        let op = Op::TextureInfo { name: self.asked_name(call).into(), ty, count };
        let answer = self.builder.emit(op, &[texture]);
        self.answer(place, &answer)
    }

    fn is_whole_array(&self, place: &LValue) -> bool {
        place.index.is_none() && self.shader.variable(place.variable).shape != Shape::Single
    }

    /// Returns the type and number of the values that an answer must have.
    fn asked_type(&mut self, place: &LValue) -> (crate::ir::RslType, u32) {
        let ty = rsl_type(self.shader.variable(place.variable).ty);
        let count = if self.is_whole_array(place) { self.array(place.variable).length } else { 1 };
        (ty, count)
    }

    /// Puts an answer into the variable that waits for it, and returns whether there is such a variable.
    fn answer(&mut self, place: &LValue, answer: &[Value]) -> Value {
        let (found, values) = (answer[0], &answer[1..]);
        let zero = self.builder.f32(0.0);
        let is_found = self.builder.compare(Compare::Ne, found, zero);
        if !self.is_whole_array(place) {
            let target = self.target(place);
            self.answer_one(target, is_found, values[0]);
            return found;
        }
        let array = self.array(place.variable);
        for (i, &value) in values.iter().enumerate() {
            let index = self.builder.f32(i as f32);
            self.answer_one(Target::Element(array, index), is_found, value);
        }
        found
    }

    fn answer_one(&mut self, target: Target, is_found: Value, value: Value) {
        let before = self.read_target(target);
        let after = self.builder.select(is_found, value, before);
        self.assign(target, after);
    }
}

/// Returns a format with letters that fit the values: `%f` and its variants for floats, `%p`, `%c`, `%m`, `%s` for the
/// others.
fn fitting_format(format: &str, types: impl Iterator<Item = hir::Type>) -> String {
    let mut types = types;
    let (mut result, mut rest) = (String::with_capacity(format.len()), format);
    while let Some(at) = rest.find('%') {
        result.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            result.push('%');
            rest = behind;
            continue;
        }
        let digits = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
        result.push_str(&rest[..digits]);
        rest = &rest[digits..];
        let Some(letter) = rest.chars().next() else { break };
        rest = &rest[letter.len_utf8()..];
        result.push(match types.next() {
            Some(hir::Type::Float) if matches!(letter, 'f' | 'd' | 'i' | 'g' | 'e') => letter,
            Some(hir::Type::Color) => 'c',
            Some(hir::Type::Matrix) => 'm',
            Some(hir::Type::String) => 's',
            Some(ty) if ty.is_pointlike() => 'p',
            _ => 'f',
        });
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_get_letters_that_fit() {
        use hir::Type::{Color, Float, Normal, String};
        for (format, types, expected) in [
            ("a %f b %5.2f%%\n", vec![Float, Float], "a %f b %5.2f%%\n"),
            ("%d %i", vec![Float, Float], "%d %i"),
            ("%f %f %f", vec![Color, Normal, String], "%c %p %s"),
            ("%s", vec![Float], "%f"),
            ("none", vec![], "none"),
        ] {
            assert_eq!(fitting_format(format, types.into_iter()), expected);
        }
    }
}

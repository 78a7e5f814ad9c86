//! Lookups of points, and of textures: what these cover is the change of their coordinates from one vertex of the grid
//! to the next.

use super::lowerer::{Lowerer, machine};
use crate::ir::{Axis, Binary, Global, Lookup, LookupKind, MachineType, Op, TransformKind, Unary, Value};
use crate::sema::hir::{DeclaredKind, Expr, ShadeopCall};

/// Where a lookup looks: the middle of its area, and the change along x and along y.
struct Area {
    middle: Vec<Value>,
    along_x: Vec<Value>,
    along_y: Vec<Value>,
}

impl Lowerer<'_> {
    /// `texture`, `environment`, `shadow`: one place, or the four corners of an area.
    pub(super) fn lookup(&mut self, kind: LookupKind, call: &ShadeopCall, ty: MachineType) -> Value {
        let name = self.value(&call.arguments[0]);
        let given: Vec<_> = call.arguments[1..].iter().map(|a| self.value(a)).collect();
        let dimensions = if kind == LookupKind::Texture { 2 } else { 1 };
        let area = match given.len() {
            0 => {
                let here = vec![self.global(Global::S), self.global(Global::T)];
                self.area_around(here)
            }
            count if count == dimensions => self.area_around(given),
            _ => self.area_between(&given, dimensions),
        };
        self.look(kind, call, ty, name, area)
    }

    /// Returns the area that the change of coordinates covers.
    fn area_around(&mut self, middle: Vec<Value>) -> Area {
        let along_x = middle.iter().map(|&x| self.builder.change(Axis::U, x)).collect();
        let along_y = middle.iter().map(|&x| self.builder.change(Axis::V, x)).collect();
        Area { middle, along_x, along_y }
    }

    /// Returns the area between four corners, which come in the order of texture coordinates: two at the top, two at
    /// the bottom.
    fn area_between(&mut self, corners: &[Value], dimensions: usize) -> Area {
        let mut area = Area { middle: Vec::new(), along_x: Vec::new(), along_y: Vec::new() };
        for i in 0..dimensions {
            let corner = |n: usize| corners[n * dimensions + i];
            let b = &mut self.builder;
            let (quarter, half) = (b.same(corner(0), 0.25), b.same(corner(0), 0.5));
            let (top, bottom) = (b.add(corner(0), corner(1)), b.add(corner(2), corner(3)));
            let (left, right) = (b.add(corner(0), corner(2)), b.add(corner(1), corner(3)));
            let (sum, across, down) = (b.add(top, bottom), b.sub(right, left), b.sub(bottom, top));
            area.middle.push(b.mul(sum, quarter));
            area.along_x.push(b.mul(across, half));
            area.along_y.push(b.mul(down, half));
        }
        area
    }

    fn look(&mut self, kind: LookupKind, call: &ShadeopCall, ty: MachineType, name: Value, area: Area) -> Value {
        let channel = match &call.channel {
            Some(channel) => self.value(channel),
            None => self.builder.f32(0.0),
        };
        let mut arguments = vec![name, channel];
        arguments.extend(area.middle.into_iter().chain(area.along_x).chain(area.along_y));
        let options: &[_] = match kind {
            LookupKind::Texture => &[&["fill"][..], &["lerp"]],
            LookupKind::Environment => &[&["fill"]],
            LookupKind::Shadow | LookupKind::Occlusion => {
                &[&["samples"], &["bias", "bias0"], &["bias", "bias1"], &["gapbias"]]
            }
        };
        self.push_widths(call, &mut arguments);
        if !kind.is_sampled() {
            arguments.push(self.lookup_filter(call));
        }
        for &names in options {
            // `Option "shadow"` says what shadows are where the call does not.
            let of_scene = names.last().filter(|name| matches!(**name, "samples" | "bias0" | "bias1"));
            arguments.push(match (self.given_option(call, names), of_scene) {
                (Some(given), _) => given,
                (None, Some(name)) => self.shadow_option(name),
                (None, None) => self.builder.f32(if names == ["lerp"] { 1.0 } else { 0.0 }),
            });
        }
        if kind.is_sampled() {
            return self.sampled(kind, arguments, ty);
        }
        self.builder.op(Op::Lookup(Lookup { kind, ty }), &arguments)
    }

    /// Width and blur along s and t.
    fn push_widths(&mut self, call: &ShadeopCall, arguments: &mut Vec<Value>) {
        for (names, default) in
            [(["width", "swidth"], 1.0), (["width", "twidth"], 1.0), (["blur", "sblur"], 0.0), (["blur", "tblur"], 0.0)]
        {
            arguments.push(self.lookup_option(call, &names, default));
        }
    }

    /// Returns a lookup of one number, whatever is wanted.
    fn sampled(&mut self, kind: LookupKind, mut arguments: Vec<Value>, ty: MachineType) -> Value {
        arguments.push(self.builder.u32(0));
        let result = self.builder.op(Op::Lookup(Lookup { kind, ty: MachineType::F32 }), &arguments);
        if ty == MachineType::Vec3 { self.builder.unary(Unary::Splat, result) } else { result }
    }

    /// `occlusion(map, P, N, samples, ...)`, as Aqsis has it: the part of the light from all around that the maps of an
    /// occlusion map say does not reach P.
    pub(super) fn occlusion(&mut self, call: &ShadeopCall, ty: MachineType) -> Value {
        let [name, p, n, samples] = [0, 1, 2, 3].map(|i| self.value(&call.arguments[i]));
        let area = self.area_around(vec![p]);
        let mut arguments = vec![name, self.builder.f32(0.0)];
        for (moved, x) in [
            (TransformKind::Point, area.middle[0]),
            (TransformKind::Vector, area.along_x[0]),
            (TransformKind::Vector, area.along_y[0]),
            (TransformKind::Normal, n),
        ] {
            arguments.push(self.builder.transform(moved, "current", "world", x));
        }
        self.push_widths(call, &mut arguments);
        arguments.push(self.given_option(call, &["samples"]).unwrap_or(samples));
        for names in [["bias", "bias0"], ["bias", "bias1"]] {
            arguments.push(match self.given_option(call, &names) {
                Some(given) => given,
                None => self.shadow_option(names[1]),
            });
        }
        self.sampled(LookupKind::Occlusion, arguments, ty)
    }

    /// Returns the last value that was given for one of these parameters, or the default.
    fn lookup_option(&mut self, call: &ShadeopCall, names: &[&str], default: f32) -> Value {
        self.given_option(call, names).unwrap_or_else(|| self.builder.f32(default))
    }

    /// Returns the last value that was given for one of these parameters.
    fn given_option(&mut self, call: &ShadeopCall, names: &[&str]) -> Option<Value> {
        let is_meant = |name: &Expr| self.literal(name).is_some_and(|name| names.contains(&&*name));
        let (_, value) = call.named.iter().rev().find(|(name, _)| is_meant(name))?;
        Some(self.value(value))
    }

    /// Returns the number of the filter.
    fn lookup_filter(&mut self, call: &ShadeopCall) -> Value {
        let given = call.named.iter().rev().find(|(name, _)| self.literal(name).as_deref() == Some("filter"));
        let plain = if self.colours_vertices() { 0 } else { LookupKind::PLAIN };
        let number = |name: &str| LookupKind::filter_number(name).unwrap_or(0);
        match given.map(|(_, filter)| (filter, self.literal(filter))) {
            None => self.builder.f32(plain.into()),
            Some((_, Some(name))) => self.builder.f32((number(&name) + plain).into()),
            Some((filter, None)) => {
                let name = self.value(filter);
                let (number, plain) = (self.builder.op(Op::LookupFilter, &[name]), self.builder.f32(plain.into()));
                self.builder.add(number, plain)
            }
        }
    }

    /// Whether the shader's results are colours of vertices, of which micropolygons show the mean: not where it moves
    /// the vertices, or makes pixels of pixels.
    fn colours_vertices(&self) -> bool {
        self.part.is_none() && !matches!(self.shader.kind, DeclaredKind::Displacement | DeclaredKind::Imager)
    }

    /// `texture3d(file, P, N, ...)`, as PRMan has it: channels of a point cloud about P, each written to a variable.
    /// Returns 1 where a point was found; where none was, variables are 0.
    pub(super) fn points(&mut self, call: &ShadeopCall) -> Value {
        let [file, p, n] = [0, 1, 2].map(|i| self.value(&call.arguments[i]));
        let space = call.named.iter().rev().find(|(name, _)| self.literal(name).as_deref() == Some("coordsystem"));
        let [p, n] = [(TransformKind::Point, p), (TransformKind::Normal, n)].map(|(moved, x)| match space {
            Some((_, space)) => self.moved_between(moved, space, true, x),
            None => self.builder.transform(moved, "current", "world", x),
        });
        let radius = self.lookup_option(call, &["filterradius"], 0.0);
        let scale = self.lookup_option(call, &["filterscale"], 1.0);
        let look = |this: &mut Self, channel: Value, ty: MachineType| {
            let found = this.builder.emit(Op::Points(ty), &[file, p, n, radius, scale, channel]);
            (found[0], found[1])
        };
        let mut found = None;
        for (channel, place) in call.arguments[3..].iter().zip(&call.outputs) {
            let channel = self.value(channel);
            let ty = machine(self.shader.variable(place.variable).ty);
            let (is_found, value) = look(self, channel, ty);
            let target = self.target(place);
            self.assign(target, value);
            found.get_or_insert(is_found);
        }
        found.unwrap_or_else(|| {
            let channel = self.builder.str("");
            look(self, channel, MachineType::F32).0
        })
    }

    /// `bump(name, n, dPds, dPdt [, s, t])` (RI 3.1): the normal of a surface raised by a texture, after Blinn 1978.
    /// Heights are compared over the distance that the lookup covers.
    pub(super) fn bump(&mut self, call: &ShadeopCall) -> Value {
        let name = self.value(&call.arguments[0]);
        let given: Vec<_> = call.arguments[1..].iter().map(|a| self.value(a)).collect();
        let (n, along_s, along_t) = (given[0], given[1], given[2]);
        let area = match &given[3..] {
            [] => {
                let here = vec![self.global(Global::S), self.global(Global::T)];
                self.area_around(here)
            }
            [s, t] => self.area_around(vec![*s, *t]),
            corners => self.area_between(corners, 2),
        };
        let slope_s = self.slope(call, name, &area, 0);
        let slope_t = self.slope(call, name, &area, 1);
        let b = &mut self.builder;
        let (across_t, across_s) = (b.cross(n, along_t), b.cross(along_s, n));
        let (tilt_s, tilt_t) = (b.scale(across_t, slope_s), b.scale(across_s, slope_t));
        let tilt = b.add(tilt_s, tilt_t);
        let (length, one) = (b.length(n), b.f32(1.0));
        let shrink = b.div(one, length);
        let tilt = b.scale(tilt, shrink);
        b.add(n, tilt)
    }

    /// Returns the slope of a texture's first channel along coordinate `i`.
    fn slope(&mut self, call: &ShadeopCall, name: Value, area: &Area, i: usize) -> Value {
        let b = &mut self.builder;
        let (x, y) = (b.unary(Unary::Abs, area.along_x[i]), b.unary(Unary::Abs, area.along_y[i]));
        let (step, half) = (b.binary(Binary::Max, x, y), b.f32(0.5));
        let offset = b.mul(step, half);
        let (before, behind) = (b.sub(area.middle[i], offset), b.add(area.middle[i], offset));
        let [low, high] = [before, behind].map(|place| {
            let mut middle = area.middle.clone();
            middle[i] = place;
            let area = Area { middle, along_x: area.along_x.clone(), along_y: area.along_y.clone() };
            self.look(LookupKind::Texture, call, MachineType::F32, name, area)
        });
        let rise = self.builder.sub(high, low);
        self.builder.div(rise, step)
    }
}

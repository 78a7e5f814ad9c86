//! Random programs and scenes, from a seed: what the passes and the device are compared on.

use rustc_hash::FxHashMap;
use spirv_gen::interp::{Column, Grid, LightInstance, Scene};
use spirv_gen::ir::{
    Axis, Binary, Builder, Compare, Const, Direction, Global, MachineType, NoiseKind, Op, Param, ParamDefault, Rate,
    Receiver, RslType, Shader, ShaderKind, Shown, Slot, Unary, Value,
};
use std::f32::consts::{FRAC_PI_2, PI};

/// A small generator of numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.bits() as usize % n
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn float(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.bits() >> 8) as f32 / (1 << 24) as f32)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of the last few, more often than not, so that long chains of operations come about.
    fn recent<T: Copy>(&mut self, from: &[T]) -> T {
        let last = if self.chance(70) { from.len().saturating_sub(5) } else { 0 };
        from[last + self.below(from.len() - last)]
    }
}

/// What a program may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    pub(crate) derivatives: bool,
    pub(crate) lights: bool,
    pub(crate) loops: bool,
    pub(crate) arrays: bool,
    /// Noise and random numbers.
    pub(crate) noise: bool,
    /// Operations whose results may differ in the last places between the interpreter and a device.
    pub(crate) library: bool,
    /// Runs of calls of noise that differ little.
    pub(crate) repeats: bool,
    /// Most conditions are the same for a whole grid.
    pub(crate) modes: bool,
}

struct Programmer<'r> {
    b: Builder,
    random: &'r mut Random,
    features: Features,
    floats: Vec<Value>,
    triples: Vec<Value>,
    bools: Vec<Value>,
    array: Slot,
    depth: usize,
    in_light: bool,
}

/// A program of about `size` operations.
pub(crate) fn program(random: &mut Random, kind: ShaderKind, size: usize, features: Features) -> Shader {
    let mut b = Builder::new(kind, "generated");
    let float = |value: f32| ParamDefault::Values(vec![Const::F32(value)]);
    let param =
        |name: &str, ty, rate, default| Param { name: name.into(), ty, array: None, rate, output: false, default };
    let k = b.param(param("k", RslType::Float, Rate::Uniform, float(0.75)));
    let tint = Const::Vec3([0.5, 0.25, 1.0]);
    let tint = b.param(param("tint", RslType::Color, Rate::Varying, ParamDefault::Values(vec![tint])));
    let array = b.array(MachineType::F32, 5);
    let mut floats = vec![b.op(Op::Param(k), &[])];
    let mut triples = vec![b.op(Op::Param(tint), &[])];
    for global in [Global::U, Global::V, Global::S, Global::T] {
        floats.push(b.global(global));
    }
    let position = if matches!(kind, ShaderKind::Light | ShaderKind::AmbientLight) { Global::Ps } else { Global::P };
    triples.extend([b.global(position), b.global(Global::N)]);
    let mut p =
        Programmer { b, random, features, floats, triples, bools: Vec::new(), array, depth: 0, in_light: false };
    p.statements(size);
    let color = p.mixture();
    let opacity = p.mixture();
    let zero = p.b.constant([0.0; 3]);
    match kind {
        ShaderKind::Light => {
            let (from, bool) = (p.b.constant([0.3, 2.0, -1.0]), p.b.bool(true));
            let ps = p.b.global(Global::Ps);
            let l = p.b.sub(ps, from);
            let active = p.bools.last().copied().unwrap_or(bool);
            p.b.finish(&[("L", l), ("Cl", color), ("Ol", zero), ("active", active)])
        }
        ShaderKind::AmbientLight => p.b.finish(&[("Cl", color), ("Ol", zero)]),
        ShaderKind::Displacement => p.b.finish(&[("P", color), ("N", opacity)]),
        _ => {
            let extra = p.float();
            p.b.finish(&[("Ci", color), ("Oi", opacity), ("extra", extra)])
        }
    }
}

impl Programmer<'_> {
    fn float(&mut self) -> Value {
        if self.random.chance(20) {
            let x = self.random.float(-3.0, 3.0);
            let x = self.random.pick(&[x, 0.0, 1.0, 2.0, 0.5]);
            return self.b.f32(x);
        }
        self.random.recent(&self.floats)
    }

    fn triple(&mut self) -> Value {
        if self.random.chance(10) {
            let x = [0; 3].map(|_| self.random.float(-2.0, 2.0));
            return self.b.constant(x);
        }
        self.random.recent(&self.triples)
    }

    /// A sum over some of what there is, so that little of it is dead.
    fn mixture(&mut self) -> Value {
        let mut sum = self.triple();
        for _ in 0..4 {
            let (v, x) = (self.triple(), self.float());
            let v = self.b.scale(v, x);
            sum = self.b.add(sum, v);
        }
        sum
    }

    fn bool(&mut self) -> Value {
        if self.features.modes && self.random.chance(70) {
            let (k, limit) = (self.floats[0], self.random.float(-1.0, 2.0));
            let limit = self.b.f32(limit);
            return self.b.lt(k, limit);
        }
        if self.bools.is_empty() || self.random.chance(50) {
            let (a, b) = (self.float(), self.float());
            let op = self.random.pick(&[Compare::Lt, Compare::Le, Compare::Eq, Compare::Ne]);
            let c = self.b.compare(op, a, b);
            self.bools.push(c);
            return c;
        }
        self.random.recent(&self.bools)
    }

    fn statements(&mut self, size: usize) {
        let mut left = size;
        while left > 0 {
            let nest = self.depth < 3 && left > 6;
            if self.features.modes && nest && self.random.chance(25) {
                self.branch(left);
                left -= left / 3;
                continue;
            }
            match self.random.below(12) {
                0 if nest => self.branch(left / 2),
                1 if nest && self.features.loops => self.repeat(left / 3),
                2 if nest && self.features.lights && !self.in_light => self.illuminate(left / 2),
                3 if self.features.arrays => self.array_access(),
                4 if self.features.derivatives => self.derivative(),
                5 if self.features.repeats => self.repeated(),
                _ => {
                    self.operation();
                    left -= 1;
                    continue;
                }
            }
            left -= (left / 3).max(1);
        }
    }

    fn operation(&mut self) {
        match self.random.below(10) {
            0..=3 => {
                let op = self.float_operation();
                self.floats.push(op);
            }
            4..=7 => {
                let op = self.triple_operation();
                self.triples.push(op);
            }
            8 => {
                let (a, b) = (self.bool(), self.bool());
                let op = self.random.pick(&[Binary::And, Binary::Or]);
                let c = self.b.binary(op, a, b);
                self.bools.push(c);
            }
            _ => {
                let (c, x, y) = (self.bool(), self.float(), self.float());
                let z = self.b.select(c, x, y);
                self.floats.push(z);
            }
        }
    }

    fn float_operation(&mut self) -> Value {
        use Unary::*;
        let (a, b, v) = (self.float(), self.float(), self.triple());
        match self.random.below(11) {
            0..=3 => {
                let op = self.random.pick(&[
                    Binary::Add,
                    Binary::Sub,
                    Binary::Mul,
                    Binary::Div,
                    Binary::Min,
                    Binary::Max,
                    Binary::Mod,
                ]);
                self.b.binary(op, a, b)
            }
            4 => {
                let op = self.random.pick(&[Neg, Abs, Sign, Floor, Ceil, Round, Trunc, Sqrt]);
                self.b.unary(op, a)
            }
            5 => self.b.op(Op::CompAt, &[v, a]),
            6 => {
                let i = self.random.below(3) as u8;
                self.b.comp(v, i)
            }
            7 => {
                let w = self.triple();
                self.b.dot(v, w)
            }
            8 => self.b.smoothstep(a, b, a),
            9 if self.features.library => self.library(a),
            _ if self.features.noise => self.noise(a, b, v),
            _ => self.b.mix(a, b, a),
        }
    }

    fn library(&mut self, a: Value) -> Value {
        use Unary::*;
        let op = self.random.pick(&[Sin, Cos, Atan, Exp, Log, Asin]);
        let limit = self.b.f32(4.0);
        let low = self.b.neg(limit);
        let a = self.b.clamp(a, low, limit);
        self.b.unary(op, a)
    }

    fn noise(&mut self, a: Value, b: Value, v: Value) -> Value {
        let kind = self.random.pick(&[NoiseKind::Gradient, NoiseKind::Cell]);
        let noise = |dimension, ty| Op::Noise { kind, dimension, ty };
        match self.random.below(5) {
            0 => self.b.op(noise(3, MachineType::F32), &[v]),
            1 => self.b.op(noise(2, MachineType::F32), &[a, b]),
            2 => self.b.op(noise(1, MachineType::F32), &[a]),
            3 => {
                let v = self.b.op(noise(4, MachineType::Vec3), &[v, a]);
                self.b.comp(v, 1)
            }
            _ => {
                let count = self.b.u32(3);
                self.b.random(MachineType::F32, count)
            }
        }
    }

    /// Groups of operations around a call of noise that differ in constants, or hardly. Each may need what the one
    /// before made.
    fn repeated(&mut self) {
        let (a, v, form) = (self.float(), self.triple(), self.random.below(6));
        let mut sum = self.float();
        let count = 4 + self.random.below(9);
        let noise = |dimension| Op::Noise { kind: NoiseKind::Gradient, dimension, ty: MachineType::F32 };
        for number in 0..count {
            let (weight, scale) = (self.random.float(-2.0, 2.0), self.random.pick(&[1.0, 0.5, 3.0]) + number as f32);
            let (weight, scale) = (self.b.f32(weight), self.b.f32(scale));
            let is_first = number == 0 && self.random.chance(50);
            let at = match form {
                0 | 1 if is_first => v,
                0 | 1 => self.b.scale(v, scale),
                2 => self.b.vec3(sum, scale, a),
                3 => self.b.vec3(a, sum, weight),
                _ => {
                    let x = self.b.mul(sum, weight);
                    let x = self.either(Binary::Add, a, x);
                    if self.features.derivatives && form == 4 {
                        let d = self.b.derivative(Axis::U, x);
                        self.b.vec3(x, d, a)
                    } else {
                        self.b.vec3(x, x, scale)
                    }
                }
            };
            let found = self.b.op(noise(3), &[at]);
            let found = if form == 5 { self.b.op(noise(2), &[found, scale]) } else { found };
            let term = self.either(Binary::Mul, found, weight);
            sum = if is_first { term } else { self.either(Binary::Add, sum, term) };
            if self.random.chance(10) {
                self.floats.push(found);
            }
        }
        self.floats.push(sum);
    }

    /// An operation, its arguments in either order.
    fn either(&mut self, op: Binary, a: Value, b: Value) -> Value {
        let (a, b) = if self.random.chance(50) { (a, b) } else { (b, a) };
        self.b.binary(op, a, b)
    }

    fn triple_operation(&mut self) -> Value {
        let (v, w, a) = (self.triple(), self.triple(), self.float());
        match self.random.below(10) {
            0..=3 => {
                let op =
                    self.random.pick(&[Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max]);
                self.b.binary(op, v, w)
            }
            4 => self.b.scale(v, a),
            5 => self.b.cross(v, w),
            6 => {
                let b = self.float();
                self.b.vec3(a, b, a)
            }
            7 => self.b.op(Op::SetCompAt, &[v, a, a]),
            8 => {
                let direction = self.random.pick(&[Direction::CameraFromSpace, Direction::SpaceFromCamera]);
                let name = self.random.pick(&["shader", "world", "camera"]);
                let m = self.b.space(name, direction);
                let op = self.random.pick(&[Binary::XformPoint, Binary::XformVector, Binary::XformNormal]);
                self.b.binary(op, m, v)
            }
            _ => {
                let c = self.bool();
                self.b.select(c, v, w)
            }
        }
    }

    fn array_access(&mut self) {
        let mut index = || {
            // Known places half of the time, so that stores and loads meet.
            if self.random.chance(50) {
                let i = self.random.below(5) as f32;
                return self.b.f32(i);
            }
            self.random.recent(&self.floats)
        };
        let (i, j) = (index(), index());
        let x = self.float();
        if self.random.chance(50) {
            self.b.emit(Op::SlotStore(self.array), &[i, x]);
        }
        let y = self.b.op(Op::SlotLoad(self.array), &[j]);
        self.floats.push(y);
    }

    fn derivative(&mut self) {
        let axis = self.random.pick(&[Axis::U, Axis::V]);
        if self.random.chance(50) {
            let x = self.float();
            let d = self.b.derivative(axis, x);
            self.floats.push(d);
        } else {
            let x = self.triple();
            let d = self.b.derivative(axis, x);
            self.triples.push(d);
        }
    }

    /// Runs `write` in a region; the pools are what they were afterwards.
    fn nested(&mut self, size: usize) -> [Value; 2] {
        let pools = (self.floats.len(), self.triples.len(), self.bools.len());
        self.depth += 1;
        self.statements(size);
        let results = [self.float(), self.mixture()];
        self.depth -= 1;
        self.floats.truncate(pools.0);
        self.triples.truncate(pools.1);
        self.bools.truncate(pools.2);
        results
    }

    fn branch(&mut self, size: usize) {
        let cond = self.bool();
        self.b.begin_if(cond);
        let yes = self.nested(size / 2);
        self.b.begin_else();
        let no = self.nested(size / 2);
        let results = self.b.end_if(&yes, &no);
        self.floats.push(results[0]);
        self.triples.push(results[1]);
    }

    /// A loop whose number of trips is constant, uniform or varying, and at most 8.
    fn repeat(&mut self, size: usize) {
        let (zero, one) = (self.b.f32(0.0), self.b.f32(1.0));
        let end = if self.random.chance(40) {
            let n = self.random.below(5) as f32;
            self.b.f32(n)
        } else {
            let (x, low, high) = (self.float(), self.b.f32(0.0), self.b.f32(8.0));
            self.b.clamp(x, low, high)
        };
        let init = [zero, self.float(), self.triple()];
        let carried = self.b.begin_loop(&init);
        let more = self.b.lt(carried[0], end);
        self.b.begin_loop_body(more);
        let pools = (self.floats.len(), self.triples.len());
        self.floats.extend(&carried[..2]);
        self.triples.push(carried[2]);
        let results = self.nested(size);
        self.floats.truncate(pools.0);
        self.triples.truncate(pools.1);
        let next = self.b.add(carried[0], one);
        let results = self.b.end_loop(&[next, results[0], results[1]]);
        self.floats.extend(&results[..2]);
        self.triples.push(results[2]);
    }

    fn illuminate(&mut self, size: usize) {
        let position = self.b.global(Global::P);
        let category = self.random.pick(&["", "diffuse", "-specular", "specular,key"]);
        let category = self.b.str(category);
        let cone = self.random.chance(50).then(|| {
            let axis = self.triple();
            let angle = self.random.pick(&[0.7, FRAC_PI_2, PI]);
            (axis, self.b.f32(angle))
        });
        let init = [self.float(), self.triple()];
        let light = self.b.begin_illuminance(Receiver { position, cone, category }, &init);
        let pools = (self.floats.len(), self.triples.len());
        self.floats.push(light.carried[0]);
        self.triples.extend([light.l, light.cl, light.carried[1], light.ol]);
        self.in_light = true;
        let target = spirv_gen::ir::MessageTarget::Light;
        let power = Op::Message { target, name: "k".into(), ty: RslType::Float, count: 1 };
        let message = self.b.emit(power, &[]);
        self.floats.extend(message);
        let results = self.nested(size);
        self.in_light = false;
        self.floats.truncate(pools.0);
        self.triples.truncate(pools.1);
        let results = self.b.end_illuminance(&results);
        self.floats.push(results[0]);
        self.triples.push(results[1]);
        if self.random.chance(40) {
            let ambient = self.b.op(Op::Ambient(Shown::default()), &[]);
            self.triples.push(ambient);
        }
    }
}

/// A grid of random size.
pub(crate) fn grid(random: &mut Random) -> Grid {
    let (nu, nv) = (1 + random.below(15) as u32, 1 + random.below(15) as u32);
    let flags = random.bits() & 31;
    Grid { nu, nv, du: 1.0 / nu as f32, dv: 0.5 / nv as f32, flags, seed: random.bits() }
}

fn smooth_column(random: &mut Random, grid: &Grid, triple: bool) -> Column {
    let mut wave = || {
        let [a, b, c, d] = [0; 4].map(|_| random.float(-2.0, 2.0));
        move |i: f32, j: f32| a + b * i * 0.2 + c * j * 0.15 + d * (i * 0.7 + j).sin()
    };
    let waves = [wave(), wave(), wave()];
    (0..grid.vertices())
        .map(|v| {
            let (i, j) = ((v as u32 % (grid.nu + 1)) as f32, (v as u32 / (grid.nu + 1)) as f32);
            if triple { Const::Vec3([0, 1, 2].map(|k| waves[k](i, j))) } else { Const::F32(waves[0](i, j)) }
        })
        .collect()
}

/// A rigid transform with a scale: both directions.
fn space(random: &mut Random) -> [[f32; 16]; 2] {
    let (s, c) = random.float(-3.0, 3.0).sin_cos();
    let k = random.float(0.5, 2.0);
    let t = [0; 3].map(|_| random.float(-2.0, 2.0));
    let forward = [k * c, k * s, 0.0, 0.0, -k * s, k * c, 0.0, 0.0, 0.0, 0.0, k, 0.0, t[0], t[1], t[2], 1.0];
    let (ic, is) = (c / k, s / k);
    let back = [-(t[0] * ic + t[1] * is), t[0] * is - t[1] * ic, -t[2] / k];
    let inverse = [ic, -is, 0.0, 0.0, is, ic, 0.0, 0.0, 0.0, 0.0, 1.0 / k, 0.0, back[0], back[1], back[2], 1.0];
    [forward, inverse]
}

/// A scene over a grid, with these lights.
pub(crate) fn scene<'a>(random: &mut Random, grid: &Grid, lights: &'a [Shader]) -> Scene<'a> {
    let mut scene = Scene::default();
    for global in [Global::P, Global::N, Global::DPdu, Global::DPdv, Global::Cs, Global::Os] {
        scene.globals.insert(global, smooth_column(random, grid, true));
    }
    for global in [Global::U, Global::V, Global::S, Global::T] {
        scene.globals.insert(global, smooth_column(random, grid, false));
    }
    for name in ["shader", "world"] {
        let [forward, inverse] = space(random);
        scene.spaces.insert((name.into(), Direction::CameraFromSpace), forward);
        scene.spaces.insert((name.into(), Direction::SpaceFromCamera), inverse);
    }
    let tint = smooth_column(random, grid, true);
    scene.params = vec![Some(vec![vec![Const::F32(random.float(-1.0, 2.0))]]), Some(vec![tint])];
    let count = if lights.is_empty() { 0 } else { random.below(5) };
    for _ in 0..count {
        let shader = &lights[random.below(lights.len())];
        let [forward, inverse] = space(random);
        let mut space = FxHashMap::default();
        space.insert(Direction::CameraFromSpace, forward);
        space.insert(Direction::SpaceFromCamera, inverse);
        let value = Const::Vec3([0; 3].map(|_| random.float(0.0, 1.0)));
        let params = vec![Some(vec![vec![Const::F32(random.float(0.0, 2.0))]]), Some(vec![vec![value]])];
        let category = random.pick(&["", "diffuse", "specular", "diffuse,key"]).to_owned();
        scene.lights.push(LightInstance { shader, params, space, category });
    }
    scene
}

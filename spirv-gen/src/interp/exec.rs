//! Running a body over a grid, all vertices in lockstep.

use super::evaluate::{evaluate, index};
use super::grid::Grid;
use super::host::{InterpreterHost, LightRays, Ray, in_cone};
use super::noise::{hash, random};
use super::texture::{fact, look, look_for_points};
use crate::ir::{
    Body, Const, Global, Inst, InstData, LIGHT_SITES, LookupKind, MachineType, MessageTarget, Op, Region,
    SENT_TO_LIGHT, Slot, Value,
};
use crate::text;
use std::sync::Arc;

/// What a run left.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// For each result of the root region, its value at each vertex.
    pub results: Vec<Vec<Const>>,
    /// Vertices that ran out of loop trips, which are 2^26.
    pub exhausted: u32,
    /// Lines of `printf`, in order of execution, then of vertices.
    pub printed: Vec<String>,
}

/// Loop trips of a vertex. Kernels need no limit, because their loops go on in further dispatches; a test that meets an
/// endless loop should fail some day.
const TRIPS_MAX: u32 = 1 << 26;

/// Runs a region of a body (its root, or the default of a parameter) at all vertices of a grid.
pub fn run(body: &Body, region: Region, grid: &Grid, surroundings: &dyn InterpreterHost) -> Outcome {
    let count = grid.vertices();
    let slots = body.slots().iter().map(|s| vec![vec![zero(s.ty); s.len as usize]; count]).collect();
    let mut machine = Machine {
        body,
        grid,
        surroundings,
        values: vec![Vec::new(); body.value_count()],
        slots,
        trips: vec![0; count],
        exhausted: vec![false; count],
        light: None,
        printed: Vec::new(),
    };
    let all = vec![true; count];
    let results = machine.region(region, &all, &all);
    let exhausted = machine.exhausted.iter().filter(|e| **e).count() as u32;
    Outcome { results, exhausted, printed: machine.printed }
}

/// Returns the zero of a type; strings are tokens.
fn zero(ty: MachineType) -> Const {
    match ty.zero() {
        Const::Str(_) => Const::U32(0),
        zero => zero,
    }
}

struct Machine<'a> {
    body: &'a Body,
    grid: &'a Grid,
    surroundings: &'a dyn InterpreterHost,
    /// For each value, what it is at each vertex.
    values: Vec<Vec<Const>>,
    /// For each array and vertex, its elements.
    slots: Vec<Vec<Vec<Const>>>,
    trips: Vec<u32>,
    exhausted: Vec<bool>,
    /// The light of the illuminance that is being run.
    light: Option<LightRays>,
    printed: Vec<String>,
}

type Mask = [bool];

impl Machine<'_> {
    fn count(&self) -> usize {
        self.grid.vertices()
    }

    fn at(&self, value: Value, vertex: usize) -> &Const {
        &self.values[value.0 as usize][vertex]
    }

    fn set(&mut self, values: &[Value], columns: Vec<Vec<Const>>) {
        for (value, column) in values.iter().zip(columns) {
            self.values[value.0 as usize] = column;
        }
    }

    fn columns(&self, values: &[Value]) -> Vec<Vec<Const>> {
        values.iter().map(|v| self.values[v.0 as usize].clone()).collect()
    }

    fn truth(&self, value: Value) -> Vec<bool> {
        self.values[value.0 as usize].iter().map(|c| c.as_bool().expect("a bool")).collect()
    }

    /// Runs a region; the columns that it yields. Values are computed at all vertices; loops run on for those in `run`,
    /// and effects happen for those in `live`. `run` is larger than `live` where a derivative wants its argument
    /// everywhere.
    fn region(&mut self, region: Region, run: &Mask, live: &Mask) -> Vec<Vec<Const>> {
        let body = self.body;
        for &inst in &body.region(region).insts {
            self.inst(inst, run, live);
        }
        self.columns(&body.region(region).results)
    }

    /// Returns whether derivatives are taken in a region, so that it counts as run everywhere.
    fn differentiates(&self, region: Region) -> bool {
        let mut found = false;
        self.body.walk(region, &mut |i| {
            found |= matches!(self.body.inst(i).op, Op::Derivative(_) | Op::Derivatives(_) | Op::Any);
        });
        found
    }

    fn inst(&mut self, inst: Inst, run: &Mask, live: &Mask) {
        let data = self.body.inst(inst);
        let columns = match &data.op {
            Op::If | Op::Switch => self.branch(data, run, live),
            Op::Loop => self.repeat(data, run, live),
            Op::Illuminance { .. } | Op::LightLoop { .. } => self.illuminate(data, run, live),
            Op::Ambient(_) => vec![self.ambient()],
            Op::Derivative(axis) => {
                let column = &self.values[data.args[0].0 as usize];
                vec![(0..self.count()).map(|v| self.grid.derivative(column, v, *axis)).collect()]
            }
            Op::Derivatives(items) => {
                let take = |&(arg, axis): &(u32, _)| {
                    let column = &self.values[data.args[arg as usize].0 as usize];
                    (0..self.count()).map(|v| self.grid.derivative(column, v, axis)).collect()
                };
                items.iter().map(take).collect()
            }
            Op::Any => {
                let any = |&vote: &Value| vec![Const::Bool(self.truth(vote).contains(&true)); self.count()];
                data.args.iter().map(any).collect()
            }
            Op::Const(value) if !matches!(value, Const::Str(_)) => vec![vec![value.clone(); self.count()]],
            Op::SlotStore(slot) => {
                self.store(data, *slot, live);
                return;
            }
            Op::Printf(format) => {
                self.print(format, data, live);
                return;
            }
            // Files are the host's.
            Op::Bake(_) => return,
            Op::Format(_) | Op::FormatBy | Op::Match => vec![(0..self.count()).map(|v| self.text(data, v)).collect()],
            _ => self.pointwise(data),
        };
        self.set(&data.results, columns);
    }

    /// Runs an operation that looks at its own vertex only.
    fn pointwise(&mut self, data: &InstData) -> Vec<Vec<Const>> {
        let mut columns = vec![Vec::with_capacity(self.count()); data.results.len()];
        let mut args = Vec::with_capacity(data.args.len());
        for vertex in 0..self.count() {
            args.clear();
            args.extend(data.args.iter().map(|&a| self.at(a, vertex).clone()));
            for (column, result) in columns.iter_mut().zip(self.point(&data.op, &args, vertex)) {
                column.push(result);
            }
        }
        columns
    }

    /// Returns the arguments at a vertex, with texts in place of tokens.
    fn with_texts(&self, args: &[Value], vertex: usize) -> Vec<Const> {
        let text = |&a: &Value| match (self.body.ty(a), self.at(a, vertex)) {
            (MachineType::Str, Const::U32(token)) => Const::Str(self.surroundings.text(*token).into()),
            (_, value) => value.clone(),
        };
        args.iter().map(text).collect()
    }

    /// Runs an operation on texts.
    fn text(&self, data: &InstData, vertex: usize) -> Const {
        match evaluate(&data.op, &self.with_texts(&data.args, vertex)) {
            Some(Const::Str(text)) => Const::U32(self.surroundings.token(&text)),
            Some(result) => result,
            None => zero(self.body.ty(data.results[0])),
        }
    }

    fn point(&self, op: &Op, args: &[Const], vertex: usize) -> Vec<Const> {
        match op {
            Op::Const(Const::Str(text)) => vec![Const::U32(self.surroundings.token(text))],
            Op::SlotLoad(slot) => {
                let elements = &self.slots[slot.0 as usize][vertex];
                let at = args[0].as_f32().map_or(0, |i| index(i, elements.len()));
                vec![elements[at].clone()]
            }
            Op::Random { site, ty } => {
                let count = args[0].as_u32().expect("a count");
                let (site, count) = match self.surroundings.light_number() {
                    Some(number) => (LIGHT_SITES + site, hash(count, number)),
                    None => (*site, count),
                };
                vec![random(*ty, self.grid.seed, vertex as u32, site, count)]
            }
            Op::Lookup(lookup) => match self.surroundings.textures() {
                Some(store) => {
                    let mut args = args.to_vec();
                    if let (true, Some(number), Some(last)) =
                        (lookup.kind.is_sampled(), self.surroundings.light_number(), args.last_mut())
                    {
                        *last = Const::U32(number);
                    }
                    vec![look(store, *lookup, &args, [self.grid.seed, vertex as u32])]
                }
                None => vec![lookup.missing()],
            },
            Op::LookupFilter => {
                let name = self.surroundings.text(args[0].as_u32().unwrap_or(0));
                vec![Const::F32(LookupKind::filter_number(&name).unwrap_or(0).into())]
            }
            Op::Points(ty) => match self.surroundings.textures() {
                Some(store) => {
                    let channel = self.surroundings.text(args[5].as_u32().unwrap_or(0));
                    look_for_points(store, *ty, args, &channel)
                }
                None => vec![Const::F32(0.0), ty.zero()],
            },
            Op::TextureFact(known, number) => match self.surroundings.textures() {
                Some(store) => vec![fact(store, *known, *number, &args[0])],
                None => vec![Const::F32(0.0)],
            },
            Op::Table(_) => match evaluate(op, args) {
                Some(Const::Str(text)) => vec![Const::U32(self.surroundings.token(&text))],
                element => element.into_iter().collect(),
            },
            Op::CategoryMatches => {
                let text = |c: &Const| self.surroundings.text(c.as_u32().expect("a token"));
                vec![Const::Bool(text::category_matches(&text(&args[0]), &text(&args[1])))]
            }
            Op::Message { target: MessageTarget::Light, name, ty, count } => {
                self.message((name, *count), ty.machine(), vertex)
            }
            _ => evaluate(op, args).map_or_else(|| self.surroundings.read(op, args, vertex), |result| vec![result]),
        }
    }

    /// Asks the light that is being run.
    fn message(&self, (name, count): (&str, u32), ty: MachineType, vertex: usize) -> Vec<Const> {
        let light = self.light.as_ref().expect("messages to lights stand in illuminance");
        let fits = |elements: &[Vec<Const>]| {
            elements.len() == count as usize && elements.iter().all(|column| column[vertex].ty() == zero(ty).ty())
        };
        let found = light.variables.iter().find(|(n, elements)| **n == *name && fits(elements));
        let values = found.map(|(_, elements)| elements.iter().map(|column| column[vertex].clone()).collect());
        let answered = Const::F32(f32::from(u8::from(found.is_some())));
        std::iter::once(answered).chain(values.unwrap_or_else(|| vec![zero(ty); count as usize])).collect()
    }

    fn store(&mut self, data: &InstData, slot: Slot, live: &Mask) {
        for vertex in (0..self.count()).filter(|&v| live[v]) {
            let (i, x) = (self.at(data.args[0], vertex).clone(), self.at(data.args[1], vertex).clone());
            let elements = &mut self.slots[slot.0 as usize][vertex];
            let at = i.as_f32().map_or(0, |i| index(i, elements.len()));
            elements[at] = x;
        }
    }

    fn print(&mut self, format: &str, data: &InstData, live: &Mask) {
        for vertex in (0..self.count()).filter(|&v| live[v]) {
            self.printed.push(text::format(format, &self.with_texts(&data.args, vertex)));
        }
    }

    /// `If` and `Switch`: both are a number that picks a region.
    fn branch(&mut self, data: &InstData, run: &Mask, live: &Mask) -> Vec<Vec<Const>> {
        let count = self.count();
        let last = data.regions.len() - 1;
        let pick = |c: &Const| match c {
            Const::Bool(c) => usize::from(!c),
            c => (c.as_u32().expect("a selector") as usize).min(last),
        };
        let picks: Vec<usize> = (0..count).map(|v| pick(self.at(data.args[0], v))).collect();
        let mut merged: Vec<Vec<Const>> = data.results.iter().map(|&r| vec![zero(self.body.ty(r)); count]).collect();
        for (i, &region) in data.regions.iter().enumerate() {
            let here: Vec<bool> = (0..count).map(|v| picks[v] == i).collect();
            let everywhere = self.differentiates(region);
            let inner_run: Vec<bool> = (0..count).map(|v| run[v] && (everywhere || here[v])).collect();
            let inner_live: Vec<bool> = (0..count).map(|v| live[v] && here[v]).collect();
            if !inner_run.contains(&true) {
                continue;
            }
            let yields = self.region(region, &inner_run, &inner_live);
            for (column, result) in merged.iter_mut().zip(yields) {
                for vertex in (0..count).filter(|&v| here[v]) {
                    column[vertex] = result[vertex].clone();
                }
            }
        }
        merged
    }

    fn repeat(&mut self, data: &InstData, run: &Mask, live: &Mask) -> Vec<Vec<Const>> {
        let count = self.count();
        let (condition, body) = (data.regions[0], data.regions[1]);
        let params = &self.body.region(condition).params;
        let everywhere = self.differentiates(body);
        let mut carried = self.columns(&data.args);
        let mut go = run.to_vec();
        loop {
            self.set(params, carried.clone());
            let test = self.region(condition, &go, live);
            for vertex in 0..count {
                let more = go[vertex] && test[0][vertex].as_bool().expect("a bool");
                let left = self.trips[vertex] < TRIPS_MAX;
                self.exhausted[vertex] |= more && !left && live[vertex];
                go[vertex] = more && left;
                self.trips[vertex] += u32::from(go[vertex]);
            }
            if !go.contains(&true) {
                return carried;
            }
            let inner_live: Vec<bool> = (0..count).map(|v| live[v] && go[v]).collect();
            let next = self.region(body, if everywhere { run } else { &go }, &inner_live);
            for (column, next) in carried.iter_mut().zip(next) {
                for vertex in (0..count).filter(|&v| go[v]) {
                    column[vertex] = next[vertex].clone();
                }
            }
        }
    }

    /// `Illuminance` and `LightLoop`.
    fn illuminate(&mut self, data: &InstData, run: &Mask, live: &Mask) -> Vec<Vec<Const>> {
        let count = self.count();
        let fixed = data.op.fixed_args();
        let mut carried = self.columns(&data.args[fixed..]);
        let positions = self.values[data.args[0].0 as usize].clone();
        let region = data.regions[0];
        let shown = data.op.shown().iter().zip(&data.args[fixed - data.op.shown().len()..fixed]);
        let sent = |(name, value): (&Arc<str>, &Value)| {
            Some((name.strip_prefix(SENT_TO_LIGHT)?.into(), self.values[value.0 as usize].clone()))
        };
        let sent: Vec<_> = shown.filter_map(sent).collect();
        for (number, light) in self.surroundings.lights(self.grid, &positions, &sent).into_iter().enumerate() {
            let Some((head, here)) = self.enter_light(data, &light, number) else { continue };
            self.light = Some(light);
            let params = self.body.region(region).params.clone();
            self.set(&params[..head.len()], head);
            self.set(&params[data.op.fixed_params()..], carried.clone());
            let everywhere = self.differentiates(region);
            let inner_run: Vec<bool> = (0..count).map(|v| run[v] && (everywhere || here[v])).collect();
            let inner_live: Vec<bool> = (0..count).map(|v| live[v] && here[v]).collect();
            let next = self.region(region, &inner_run, &inner_live);
            self.light = None;
            for (column, next) in carried.iter_mut().zip(next) {
                for vertex in (0..count).filter(|&v| here[v]) {
                    column[vertex] = next[vertex].clone();
                }
            }
        }
        carried
    }

    /// Returns the parameters that a light region has of its own, and where the region is run at all.
    fn enter_light(&self, data: &InstData, light: &LightRays, number: usize) -> Option<(Vec<Vec<Const>>, Vec<bool>)> {
        let column = |pick: fn(&Ray) -> [f32; 3]| light.rays.iter().map(|r| Const::Vec3(pick(r))).collect();
        let head: Vec<Vec<Const>> = vec![column(|r| r.l), column(|r| r.cl), column(|r| r.ol)];
        let all = vec![true; self.count()];
        match data.op {
            Op::LightLoop { local, ambient, .. } => {
                let wanted = if light.ambient { ambient } else { local };
                let flags = |ambient: bool| vec![Const::Bool(ambient); self.count()];
                let active = light.rays.iter().map(|r| Const::Bool(r.active && !light.ambient)).collect();
                let rest = [Const::U32(self.surroundings.token(&light.category)), Const::U32(number as u32)];
                let rest = rest.map(|c| vec![c; self.count()]);
                wanted.then(|| ([head, vec![active, flags(light.ambient)], rest.to_vec()].concat(), all))
            }
            _ if light.ambient => None,
            _ => {
                let here = (0..self.count()).map(|v| self.is_seen(data, light, v)).collect();
                Some((head, here))
            }
        }
    }

    /// Returns whether an illuminance sees a light at a vertex: it shines, its category is wanted, it is in the cone.
    fn is_seen(&self, data: &InstData, light: &LightRays, vertex: usize) -> bool {
        let Ray { l, active, .. } = light.rays[vertex];
        let cone = matches!(data.op, Op::Illuminance { cone: true, .. });
        let category = self.at(data.args[if cone { 3 } else { 1 }], vertex).as_u32().expect("a token");
        let pattern = self.surroundings.text(category);
        if !active || !text::category_matches(&pattern, &light.category) {
            return false;
        }
        if !cone {
            return true;
        }
        let axis = self.at(data.args[1], vertex).as_vec3().expect("an axis");
        let angle = self.at(data.args[2], vertex).as_f32().expect("an angle");
        in_cone(l, axis, angle)
    }

    fn ambient(&self) -> Vec<Const> {
        let here = |v| self.surroundings.read(&Op::Global(Global::P), &[], v).swap_remove(0);
        let positions: Vec<_> = (0..self.count()).map(here).collect();
        let mut sum = vec![[0.0f32; 3]; self.count()];
        for light in self.surroundings.lights(self.grid, &positions, &[]).iter().filter(|l| l.ambient) {
            for (sum, ray) in sum.iter_mut().zip(&light.rays) {
                *sum = std::array::from_fn(|i| sum[i] + ray.cl[i]);
            }
        }
        sum.into_iter().map(Const::Vec3).collect()
    }
}

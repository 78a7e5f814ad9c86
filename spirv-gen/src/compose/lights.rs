//! Lights: a light loop becomes a loop for each kind of light, over the lights of that kind, whose body is the light
//! shader followed by a copy of the light loop's. So no light pays for the shader of another (lanes of one subgroup run
//! through all cases of a switch), and a kernel grows with the kinds of lights, not with lights. Where copies of the
//! body were too long, there is one loop over all lights instead, with a switch over their kinds.

use super::bind::{Binder, CurrentLight, OutputValues};
use super::message::{self, Message};
use super::reflection::{Content, Role};
use super::request::PipelineRequest;
use super::table::{BindingTable, Block, word};
use crate::ir::{
    Binary, Body, Builtin, Compare, Const, Inst, MachineType, MessageTarget, Op, Region, Shader, ShaderKind, Unary,
    Value,
};
use crate::passes::simplify;
use crate::passes::translate::{Rules, Translator};
use rustc_hash::FxHashMap;
use std::iter;
use std::ops::Range;

/// Instructions that the copies of a light loop's body may have together.
const COPIED_INSTS_MAX: usize = 1024;

/// Puts the light shaders into the light loops.
pub(super) struct InlineLights<'r> {
    pub(super) request: &'r PipelineRequest<'r>,
    pub(super) table: &'r mut BindingTable,
    /// Answers to messages in the light loop that is being written.
    answers: FxHashMap<Message, Vec<Value>>,
}

/// What a light hands to the body of the loop.
const RAY: [MachineType; 5] =
    [MachineType::Vec3, MachineType::Vec3, MachineType::Vec3, MachineType::Bool, MachineType::Bool];

impl<'r> InlineLights<'r> {
    pub(super) fn new(request: &'r PipelineRequest<'r>, table: &'r mut BindingTable) -> Self {
        Self { request, table, answers: FxHashMap::default() }
    }
}

impl Rules for InlineLights<'_> {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let data = t.from.inst(inst);
        match &data.op {
            Op::LightLoop { local, ambient, .. } => {
                let wanted = WantedLights { local: *local, ambient: *ambient };
                Some(self.light_loop(t, inst, wanted, args))
            }
            op => Message::of(op, MessageTarget::Light).and_then(|message| self.answers.get(&message).cloned()),
        }
    }
}

/// Returns whether anything that a shader computes depends on lights.
pub fn sees_lights(shader: &Shader) -> bool {
    let body = simplify(&shader.body);
    let mut sees = false;
    body.walk(body.root(), &mut |i| sees |= matches!(body.inst(i).op, Op::Illuminance { .. } | Op::Ambient(_)));
    sees
}

/// Returns the distinct messages to lights in a region.
fn messages(body: &Body, region: Region) -> Vec<Message> {
    let mut found = Vec::new();
    body.walk(region, &mut |i| {
        let message = Message::of(&body.inst(i).op, MessageTarget::Light);
        found.extend(message.filter(|message| !found.contains(message)));
    });
    found
}

/// The lights that a light loop runs over.
#[derive(Clone, Copy)]
struct WantedLights {
    local: bool,
    ambient: bool,
}

impl WantedLights {
    /// Returns whether the loop runs over lights whose shader is of this kind.
    fn includes(self, kind: ShaderKind) -> bool {
        if kind == ShaderKind::AmbientLight { self.ambient } else { self.local }
    }
}

/// A light loop that is being written.
struct LightLoop {
    /// The loop in the program that is read.
    inst: Inst,
    wanted: WantedLights,
    position: Value,
    /// What lights see of the surface.
    shown: OutputValues,
    /// Messages to lights in its body.
    asked: Vec<Message>,
    /// Record of the light list.
    list: Value,
}

/// One trip of the loop: the light's entry in the list.
struct LightTrip<'l> {
    looped: &'l LightLoop,
    lit: CurrentLight,
    kind: Value,
    categories: Value,
}

impl InlineLights<'_> {
    fn light_loop(
        &mut self,
        t: &mut Translator<'_, '_>,
        inst: Inst,
        wanted: WantedLights,
        args: &[Value],
    ) -> Vec<Value> {
        let data = t.from.inst(inst);
        let init = &args[data.op.fixed_args()..];
        let groups = self.groups(t.from, inst, wanted);
        if groups.is_empty() {
            return init.to_vec();
        }
        let shown = data.op.shown().iter().cloned().zip(args[1..].iter().copied()).collect();
        let asked = messages(t.from, data.regions[0]);
        let block = t.out.op(Op::Builtin(Builtin::Block), &[]);
        let list = self.table.load(Block::Instance, Content::LightList, MachineType::U32, 1);
        let list = t.out.op(list, &[block]);
        let looped = LightLoop { inst, wanted, position: args[0], shown, asked, list };
        // What a loop stores to arrays is not known to the next.
        groups.into_iter().fold(init.to_vec(), |carried, kinds| {
            t.repeated(&data.regions, |t| self.lights_of(t, &looped, kinds, &carried))
        })
    }

    /// Returns the kinds of lights that have a loop together. Light loops in a light loop would grow with powers of the
    /// kinds.
    fn groups(&self, body: &Body, inst: Inst, wanted: WantedLights) -> Vec<Range<usize>> {
        let kinds = self.request.lights.iter().enumerate();
        let wanted: Vec<usize> = kinds.filter(|(_, l)| wanted.includes(l.shader.kind)).map(|(kind, _)| kind).collect();
        let (mut insts, mut nested) = (0, false);
        body.walk(body.inst(inst).regions[0], &mut |i| {
            insts += 1;
            nested |= matches!(body.inst(i).op, Op::LightLoop { .. });
        });
        match wanted[..] {
            [first, .., last] if nested || insts * wanted.len() > COPIED_INSTS_MAX => {
                iter::once(first..last + 1).collect()
            }
            _ => wanted.into_iter().map(|kind| kind..kind + 1).collect(),
        }
    }

    /// Writes the loop over the lights of some kinds, of which only some are wanted.
    fn lights_of(
        &mut self,
        t: &mut Translator<'_, '_>,
        looped: &LightLoop,
        kinds: Range<usize>,
        init: &[Value],
    ) -> Vec<Value> {
        let data = t.from.inst(looped.inst);
        let types = [&[MachineType::U32], &t.types(data)[..]].concat();
        let bound = |t: &mut Translator<'_, '_>, kind: usize, lane| {
            let record = t.out.constant(Const::U32(kind as u32));
            let record = t.out.op(Op::Binary(Binary::Add), &[looped.list, record]);
            t.out.op(word(lane), &[record])
        };
        let (first, end) = (bound(t, kinds.start, 0), bound(t, kinds.end - 1, 1));
        let params = t.out.open(&types, true);
        let more = t.out.op(Op::Compare(Compare::Lt), &[params[0], end]);
        t.out.open_body();
        let (trip, next) = self.trip(t, looped, params[0]);
        let ray = self.evaluate(t, &trip, kinds);
        let mut answers = &ray[RAY.len()..];
        for message in &looped.asked {
            let (answer, others) = answers.split_at(1 + message.count as usize);
            self.answers.insert(message.clone(), answer.to_vec());
            answers = others;
        }
        let from = t.from;
        let head = [&ray[..RAY.len()], &[trip.categories, params[0]], &params[1..]].concat();
        t.bind(&from.region(data.regions[0]).params, &head);
        let results = t.region(self, data.regions[0]);
        self.answers.clear();
        let body = t.out.close(&[&[next], &results[..]].concat());
        let condition = t.out.close(&[more]);
        let args = [&[first], init].concat();
        t.out.push(Op::Loop, args, vec![condition, body], &types)[1..].to_vec()
    }

    /// Reads entry `number` of the list; the number of the next.
    fn trip<'l>(&self, t: &mut Translator<'_, '_>, looped: &'l LightLoop, number: Value) -> (LightTrip<'l>, Value) {
        let entries = t.out.constant(Const::U32(self.request.lights.len() as u32));
        let entries = t.out.op(Op::Binary(Binary::Add), &[looped.list, entries]);
        let record = t.out.op(Op::Binary(Binary::Add), &[entries, number]);
        let [kind, block, categories] = [0, 1, 2].map(|lane| t.out.op(word(lane), &[record]));
        let one = t.out.constant(Const::U32(1));
        let next = t.out.op(Op::Binary(Binary::Add), &[number, one]);
        let lit = CurrentLight { block, position: looped.position, number, depth: t.out.depth() };
        (LightTrip { looped, lit, kind, categories }, next)
    }

    /// Returns what the light of a trip sends: L, Cl, Ol, active, ambient, then an answer and a value for each message.
    fn evaluate(&mut self, t: &mut Translator<'_, '_>, trip: &LightTrip<'_>, kinds: Range<usize>) -> Vec<Value> {
        if kinds.len() == 1 {
            return self.light(t, kinds.start, trip);
        }
        let answers = trip.looped.asked.iter().flat_map(|message| {
            let values = iter::repeat_n(message.ty.machine(), message.count as usize);
            iter::once(MachineType::F32).chain(values)
        });
        let types: Vec<MachineType> = RAY.into_iter().chain(answers).collect();
        let mut regions = Vec::new();
        for kind in kinds.start..=kinds.end {
            t.out.open(&[], false);
            let seen = kind < kinds.end && trip.looped.wanted.includes(self.request.lights[kind].shader.kind);
            let results =
                if seen { self.light(t, kind, trip) } else { types.iter().map(|&ty| t.out.zero(ty)).collect() };
            regions.push(t.out.close(&results));
        }
        let start = t.out.constant(Const::U32(kinds.start as u32));
        let case = t.out.op(Op::Binary(Binary::Sub), &[trip.kind, start]);
        t.out.push(Op::Switch, vec![case], regions, &types)
    }

    /// Writes a light shader.
    fn light(&mut self, t: &mut Translator<'_, '_>, kind: usize, trip: &LightTrip<'_>) -> Vec<Value> {
        let light = &self.request.lights[kind];
        let shader = light.shader;
        let mut binder = Binder {
            request: self.request,
            table: &mut *self.table,
            shader: Some(light),
            role: Role::Light(kind as u32),
            surface: Some(&trip.looped.shown),
            lit: Some(CurrentLight { depth: t.out.depth(), ..trip.lit }),
            arrays: FxHashMap::default(),
        };
        let places = t.out.inline_places(&shader.body, Role::Light(kind as u32));
        let mut inner = Translator::new(&shader.body, &mut *t.out, places);
        inner.clear_arrays();
        let outputs = inner.region(&mut binder, shader.body.root());
        let mut answers = Vec::new();
        for message in &trip.looped.asked {
            answers.extend(answer(&mut inner, &mut binder, shader, &outputs, message));
        }
        let out = &mut *t.out;
        let output = |name: &str| shader.outputs.iter().position(|o| &*o.name == name).map(|i| outputs[i]);
        let ambient = shader.kind == ShaderKind::AmbientLight;
        // L points from the light in its own shader, towards it in the surface's.
        let l = output("L").map(|l| out.op(Op::Unary(Unary::Neg), &[l]));
        let l = l.unwrap_or_else(|| out.zero(MachineType::Vec3));
        let [cl, ol] = ["Cl", "Ol"].map(|name| output(name).unwrap_or_else(|| out.zero(MachineType::Vec3)));
        let active = output("active").unwrap_or_else(|| out.constant(Const::Bool(false)));
        let ambient = out.constant(Const::Bool(ambient));
        [&[l, cl, ol, active, ambient], &answers[..]].concat()
    }
}

/// Returns a light's answer to a message: an output, or a parameter.
fn answer(
    t: &mut Translator<'_, '_>,
    binder: &mut Binder<'_>,
    shader: &Shader,
    outputs: &[Value],
    message: &Message,
) -> Vec<Value> {
    let ty = message.ty.machine();
    let output = |i: u32| {
        let name = message.element(i);
        shader.outputs.iter().position(|o| o.name == name && o.ty == ty).map(|at| outputs[at])
    };
    let put_out = || (0..message.count).map(output).collect::<Option<Vec<Value>>>();
    let values = match shader.param(&message.name) {
        Some(param) if !message.fits(&shader.params[param.0 as usize]) => None,
        Some(param) => Some(put_out().unwrap_or_else(|| binder.param_elements(t.out, param))),
        None => put_out(),
    };
    message::answer(t.out, message, values)
}

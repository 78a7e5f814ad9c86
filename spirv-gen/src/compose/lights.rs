//! Lights: a light loop becomes one loop over the light list with one switch over the kinds of lights, whose cases are
//! the light shaders, followed by one copy of the body. So a kernel grows with the kinds of lights, not with lights.

use super::bind::{Binder, CurrentLight, OutputValues};
use super::message::{self, Message};
use super::reflection::{Content, Role};
use super::request::PipelineRequest;
use super::table::{BindingTable, Block};
use crate::ir::{
    Binary, Body, Buffer, Builtin, Compare, Const, Inst, MachineType, MessageTarget, Op, ShaderKind, Unary, Value,
};
use crate::passes::translate::{Rules, Translator};
use rustc_hash::FxHashMap;

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
                Some(t.repeated(&data.regions, |t| self.light_loop(t, inst, *local, *ambient, args)))
            }
            op => Message::of(op, MessageTarget::Light).and_then(|message| self.answers.get(&message).cloned()),
        }
    }
}

/// The distinct messages to lights in a region.
fn messages(body: &Body, region: crate::ir::Region) -> Vec<Message> {
    let mut found = Vec::new();
    body.walk(region, &mut |i| {
        let message = Message::of(&body.inst(i).op, MessageTarget::Light);
        found.extend(message.filter(|message| !found.contains(message)));
    });
    found
}

/// One trip of the loop: the light's entry in the list.
struct LightTrip {
    lit: CurrentLight,
    kind: Value,
    categories: Value,
    /// What the light sees of the surface.
    shown: OutputValues,
}

impl InlineLights<'_> {
    fn light_loop(
        &mut self,
        t: &mut Translator<'_, '_>,
        inst: Inst,
        local: bool,
        ambient: bool,
        args: &[Value],
    ) -> Vec<Value> {
        let data = t.from.inst(inst);
        let (position, init) = (args[0], &args[data.op.fixed_args()..]);
        let shown = data.op.shown().iter().cloned().zip(args[1..].iter().copied()).collect();
        let wanted = |kind: ShaderKind| if kind == ShaderKind::AmbientLight { ambient } else { local };
        if !self.request.lights.iter().any(|l| wanted(l.shader.kind)) {
            return init.to_vec();
        }
        let asked = messages(t.from, data.regions[0]);
        let carried = t.types(data);
        let types = [&[MachineType::U32], &carried[..]].concat();

        let block = t.out.op(Op::Builtin(Builtin::Block), &[]);
        let list = self.table.load(Block::Instance, Content::LightList, MachineType::U32, 1);
        let list = t.out.op(list, &[block]);
        let count = t.out.op(entry_word(0), &[list]);
        let first = t.out.constant(Const::U32(0));
        let params = t.out.open(&types, true);
        let more = t.out.op(Op::Compare(Compare::Lt), &[params[0], count]);
        t.out.open_body();
        let (trip, next) = trip(t, list, params[0], position);
        let trip = LightTrip { shown, ..trip };
        let ray = self.evaluate(t, &trip, &wanted, &asked);
        let mut answers = &ray[RAY.len()..];
        for message in asked {
            let (answer, others) = answers.split_at(1 + message.count as usize);
            self.answers.insert(message, answer.to_vec());
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

    /// What the light of a trip sends: L, Cl, Ol, active, ambient, then an answer and a value for each message.
    fn evaluate(
        &mut self,
        t: &mut Translator<'_, '_>,
        trip: &LightTrip,
        wanted: &dyn Fn(ShaderKind) -> bool,
        asked: &[Message],
    ) -> Vec<Value> {
        let kinds = self.request.lights.len();
        if kinds == 1 {
            return self.light(t, 0, trip, asked);
        }
        let answers = asked.iter().flat_map(|message| {
            let values = std::iter::repeat_n(message.ty.machine(), message.count as usize);
            std::iter::once(MachineType::F32).chain(values)
        });
        let types: Vec<MachineType> = RAY.into_iter().chain(answers).collect();
        let mut regions = Vec::new();
        for kind in 0..=kinds {
            t.out.open(&[], false);
            let seen = self.request.lights.get(kind).is_some_and(|l| wanted(l.shader.kind));
            let results =
                if seen { self.light(t, kind, trip, asked) } else { types.iter().map(|&ty| t.out.zero(ty)).collect() };
            regions.push(t.out.close(&results));
        }
        t.out.push(Op::Switch, vec![trip.kind], regions, &types)
    }

    /// Writes a light shader.
    fn light(&mut self, t: &mut Translator<'_, '_>, kind: usize, trip: &LightTrip, asked: &[Message]) -> Vec<Value> {
        let light = &self.request.lights[kind];
        let shader = light.shader;
        let mut binder = Binder {
            request: self.request,
            table: &mut *self.table,
            shader: Some(light),
            role: Role::Light(kind as u32),
            surface: Some(&trip.shown),
            lit: Some(CurrentLight { depth: t.out.depth(), ..trip.lit }),
            arrays: FxHashMap::default(),
        };
        let mut inner = Translator::new(&shader.body, &mut *t.out);
        inner.clear_arrays();
        let outputs = inner.region(&mut binder, shader.body.root());
        let mut answers = Vec::new();
        for message in asked {
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

/// A light's answer to a message: an output, or a parameter.
fn answer(
    t: &mut Translator<'_, '_>,
    binder: &mut Binder<'_>,
    shader: &crate::ir::Shader,
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

/// A word of an entry of the light list.
fn entry_word(lane: u8) -> Op {
    Op::Load { buffer: Buffer::Params, record: 0, lane, ty: MachineType::U32 }
}

/// Reads entry `number` of the list; the number of the next.
fn trip(t: &mut Translator<'_, '_>, list: Value, number: Value, position: Value) -> (LightTrip, Value) {
    let one = t.out.constant(Const::U32(1));
    let next = t.out.op(Op::Binary(Binary::Add), &[number, one]);
    let record = t.out.op(Op::Binary(Binary::Add), &[list, next]);
    let [kind, block, categories] = [0, 1, 2].map(|lane| t.out.op(entry_word(lane), &[record]));
    let lit = CurrentLight { block, position, number, depth: t.out.depth() };
    (LightTrip { lit, kind, categories, shown: OutputValues::default() }, next)
}

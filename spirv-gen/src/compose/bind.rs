//! Binding: what a shader reads by name becomes loads from blocks and channels.

use super::message::{Message, answer};
use super::reflection::{Content, Input, Pattern, Role, Shortfall};
use super::request::{Binding, OutputRequest, PipelineRequest, ShaderUse, Slice};
use super::spline;
use super::table::{BindingTable, Block, element_records, primvar, word};
use super::texture_info::texture_info;
use crate::interp::index;
use crate::ir::{
    Axis, Binary, Builtin, Compare, Const, Direction, Global, Inst, LIGHT_SITES, MachineType, MessageTarget, Op, Param,
    ParamDefault, ParamId, QuerySource, RANDOM_SITES, Region, RslType, Shader, Slot, Unary, Value, sent_name,
};
use crate::passes::translate::{Rules, Translator};
use crate::passes::writer::BodyWriter;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What the shaders of a pipeline leave for those that come after: the values of their outputs by name.
pub(super) type OutputValues = FxHashMap<Arc<str>, Value>;

/// What a light knows of the trip of the light loop in which it is run.
#[derive(Clone, Copy)]
pub(super) struct CurrentLight {
    /// Record of its block.
    pub(super) block: Value,
    /// The point that it lights.
    pub(super) position: Value,
    /// Its number in the light list.
    pub(super) number: Value,
    /// Scopes around the light shader.
    pub(super) depth: usize,
}

/// The elements of an array parameter that the program itself knows.
enum OwnElements {
    Known(Vec<Const>),
    /// The default's region yields them.
    Computed(Region),
}

/// Binds one shader.
pub(super) struct Binder<'r> {
    pub(super) request: &'r PipelineRequest<'r>,
    pub(super) table: &'r mut BindingTable,
    pub(super) shader: Option<&'r ShaderUse<'r>>,
    pub(super) role: Role,
    /// Outputs of the surface: for the atmosphere, and for lights as their loop finds them.
    pub(super) surface: Option<&'r OutputValues>,
    /// For lights.
    pub(super) lit: Option<CurrentLight>,
    /// Array parameters of known elements that are read by a computed index.
    pub(super) arrays: FxHashMap<ParamId, Slot>,
}

impl Rules for Binder<'_> {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let data = t.from.inst(inst);
        match &data.op {
            Op::Global(g) => Some(vec![self.global(t.out, *g)]),
            Op::Param(p) => Some(vec![self.param(t, *p)]),
            Op::ParamElement(p) => Some(vec![self.element(t, *p, args[0])]),
            Op::Space(name, direction) if !crate::ir::is_current(name) => {
                Some(vec![self.space(t.out, name, *direction)])
            }
            Op::SpaceOf(direction) => Some(vec![self.space_of(t.out, *direction, args[0])]),
            Op::Query { source, name, ty, count } => Some(self.query(t.out, *source, name, *ty, *count)),
            Op::QueryBy { source, ty, count } => match t.out.body().constant(args[0]).cloned() {
                Some(Const::Str(name)) => Some(self.query(t.out, *source, &name, *ty, *count)),
                _ => None,
            },
            Op::Message { target, .. } if *target != MessageTarget::Light => {
                let message = Message::of(&data.op, *target)?;
                let values = self.values_of_other(t.out, *target, &message);
                Some(answer(t.out, &message, values))
            }
            // The surface is finished: lights of the atmosphere see its outputs.
            Op::LightLoop { .. } if self.role == Role::Atmosphere => {
                let asked = self.request.shown_to_lights().into_iter();
                let shown = asked.filter_map(|name| self.surface?.get(&name).map(|&value| (name, value))).collect();
                Some(t.showing_more(self, inst, args, shown))
            }
            Op::Random { site, ty } => Some(vec![self.random(t.out, *site, *ty, args[0])]),
            Op::Spline { basis, solve } => Some(vec![spline::lower(t.out, *basis, *solve, args)]),
            Op::CategoryMatches => self.category(t, data.args[0], args),
            Op::Lookup(lookup) if self.request.textures => Some(vec![self.lookup(t.out, *lookup, args)]),
            Op::TextureInfo { name, ty, count } if self.request.textures => {
                Some(texture_info(t.out, args[0], name, *ty, *count))
            }
            Op::Lookup(lookup) => {
                let name = self.pattern(t, data.args[0], args[0]);
                self.fall_short(t.out, Shortfall::Lookup(lookup.kind.name(), name));
                Some(vec![t.out.op(Op::Const(lookup.missing()), &[])])
            }
            Op::Points(ty) => {
                let name = self.pattern(t, data.args[0], args[0]);
                self.points(t.out, name, *ty, args)
            }
            Op::TextureInfo { ty, count, .. } => {
                let name = self.pattern(t, data.args[0], args[0]);
                self.fall_short(t.out, Shortfall::Lookup("textureinfo", name));
                Some(nothing_found(t.out, *ty, *count))
            }
            // What lights print and bake counts once, where the colour is computed.
            Op::Printf(_) | Op::Bake(_) if self.lit.is_some() && self.request.slice == Slice::Position => {
                Some(Vec::new())
            }
            Op::Printf(_) if !self.request.prints => {
                self.fall_short(t.out, Shortfall::Printf);
                Some(Vec::new())
            }
            _ => None,
        }
    }
}

impl<'r> Binder<'r> {
    /// Notes what is done differently from what the shader asks for at the place that is being written.
    pub(super) fn fall_short(&mut self, out: &BodyWriter, shortfall: Shortfall) {
        self.table.fall_short(out.body(), out.body().here(), shortfall);
    }

    /// Returns the block that holds this shader's own values, and its record.
    fn own_block(&self, out: &mut BodyWriter) -> (Block, Value) {
        match (self.role, self.lit) {
            (Role::Light(kind), Some(lit)) => (Block::Light(kind), lit.block),
            _ => (Block::Instance, out.op(Op::Builtin(Builtin::Block), &[])),
        }
    }

    /// Returns whether an attribute or an option exists, and its values.
    fn query(
        &mut self,
        out: &mut BodyWriter,
        source: QuerySource,
        name: &Arc<str>,
        ty: RslType,
        count: u32,
    ) -> Vec<Value> {
        let base = out.op(Op::Builtin(Builtin::Block), &[]);
        let found = Content::QueryFound(source, name.clone(), ty, count);
        let found = self.table.load(Block::Instance, found, MachineType::F32, 1);
        let values = Content::QueryValue(source, name.clone(), ty, count);
        let load = self.table.load(Block::Instance, values, ty.machine(), count);
        let mut results = vec![out.op(found, &[base])];
        results.extend((0..count).map(|i| self.block_element(out, load.clone(), base, i)));
        results
    }

    /// Returns a value of the instance block.
    fn instance(&mut self, out: &mut BodyWriter, content: Content, ty: MachineType) -> Value {
        let base = out.op(Op::Builtin(Builtin::Block), &[]);
        let load = self.table.load(Block::Instance, content, ty, 1);
        out.op(load, &[base])
    }

    pub(super) fn channel(&mut self, out: &mut BodyWriter, input: Input, lane: u8, ty: MachineType) -> Value {
        let op = self.table.channel(input, lane, ty);
        out.op(op, &[])
    }

    // -- globals

    fn global(&mut self, out: &mut BodyWriter, global: Global) -> Value {
        match global {
            Global::Du => out.op(Op::Builtin(Builtin::Du), &[]),
            Global::Dv => out.op(Op::Builtin(Builtin::Dv), &[]),
            Global::Orientation => out.op(Op::Builtin(Builtin::Orientation), &[]),
            Global::E => out.zero(MachineType::Vec3),
            Global::NComps => out.constant(3.0),
            Global::Time => self.instance(out, Content::Time, MachineType::F32),
            Global::DTime => self.instance(out, Content::DTime, MachineType::F32),
            Global::Hither => self.instance(out, Content::Hither, MachineType::F32),
            Global::Yon => self.instance(out, Content::Yon, MachineType::F32),
            _ if self.lit.is_some() => self.global_of_light(out, global),
            Global::S | Global::T if self.request.slice == Slice::Imager => self.place_in_picture(out, global),
            Global::P => self.channel(out, Input::PositionU, 0, MachineType::Vec3),
            Global::U => self.channel(out, Input::PositionU, 3, MachineType::F32),
            Global::N => self.channel(out, Input::NormalV, 0, MachineType::Vec3),
            Global::V => self.channel(out, Input::NormalV, 3, MachineType::F32),
            Global::S => self.channel(out, Input::DpduS, 3, MachineType::F32),
            Global::T => self.channel(out, Input::DpdvT, 3, MachineType::F32),
            Global::DPdtime => self.channel(out, Input::Velocity, 0, MachineType::Vec3),
            Global::DPdu => self.tangent(out, Axis::U, Input::DpduS),
            Global::DPdv => self.tangent(out, Axis::V, Input::DpdvT),
            Global::Ng => {
                let (u, v) = (self.global(out, Global::DPdu), self.global(out, Global::DPdv));
                let n = out.op(Op::Binary(Binary::Cross), &[u, v]);
                let side = self.global(out, Global::Orientation);
                let side = out.op(Op::Unary(Unary::Splat), &[side]);
                let n = out.op(Op::Binary(Binary::Mul), &[n, side]);
                // At the pole of a sphere a tangent vanishes; faceforward() needs a direction there too.
                let (square, zero) = (out.op(Op::Binary(Binary::Dot), &[n, n]), out.constant(0.0));
                let degenerate = out.op(Op::Compare(Compare::Eq), &[square, zero]);
                let normal = self.global(out, Global::N);
                out.op(Op::Select, &[degenerate, normal, n])
            }
            Global::I => self.incident(out),
            Global::Cs => {
                let binding = self.request.colour.clone();
                self.attribute(out, &binding, Content::Color, Input::Color)
            }
            Global::Os => {
                let binding = self.request.opacity.clone();
                self.attribute(out, &binding, Content::Opacity, Input::Opacity)
            }
            Global::Ci | Global::Oi => self.surface_result(out, global),
            Global::Alpha => self.channel(out, Input::CiAlpha, 3, MachineType::F32),
            Global::Ps => self.global(out, Global::P),
            Global::Ns => self.global(out, Global::N),
        }
    }

    /// `s` or `t` of an imager: the raster position over the size of the picture.
    fn place_in_picture(&mut self, out: &mut BodyWriter, global: Global) -> Value {
        let axis = u32::from(global == Global::T);
        let base = out.op(Op::Builtin(Builtin::Block), &[]);
        let format = Content::QueryValue(QuerySource::Option, "Format".into(), RslType::Float, 3);
        let load = self.table.load(Block::Instance, format, MachineType::F32, 3);
        let size = self.block_element(out, load, base, axis);
        let p = self.global(out, Global::P);
        let place = out.op(Op::Comp(axis as u8), &[p]);
        out.op(Op::Binary(Binary::Div), &[place, size])
    }

    fn tangent(&mut self, out: &mut BodyWriter, axis: Axis, input: Input) -> Value {
        if self.request.displaced && self.request.slice == Slice::Colour {
            let p = self.global(out, Global::P);
            return out.op(Op::Derivative(axis), &[p]);
        }
        self.channel(out, input, 0, MachineType::Vec3)
    }

    /// Returns I: from the eye to P, or from the plane of the eye to P when the camera is orthographic.
    fn incident(&mut self, out: &mut BodyWriter) -> Value {
        let p = self.global(out, Global::P);
        let orthographic = self.instance(out, Content::Orthographic, MachineType::F32);
        let (zero, depth) = (out.constant(0.0), out.op(Op::Comp(2), &[p]));
        let straight = out.op(Op::Vec3, &[zero, zero, depth]);
        let parallel = out.op(Op::Compare(Compare::Ne), &[orthographic, zero]);
        out.op(Op::Select, &[parallel, straight, p])
    }

    /// `Cs` or `Os`.
    fn attribute(&mut self, out: &mut BodyWriter, binding: &Binding, content: Content, input: Input) -> Value {
        match binding {
            Binding::Fixed(values) => out.constant(values.first().cloned().unwrap_or(Const::Vec3([1.0; 3]))),
            Binding::VaryingInput => self.channel(out, input, 0, MachineType::Vec3),
            Binding::UniformInput => {
                let base = out.op(Op::Builtin(Builtin::UniformInputs), &[]);
                let load = self.table.uniform(input, MachineType::Vec3);
                out.op(load, &[base])
            }
            Binding::Block | Binding::Default => self.instance(out, content, MachineType::Vec3),
        }
    }

    /// `Ci` and `Oi` as an atmosphere or imager shader finds them.
    fn surface_result(&mut self, out: &mut BodyWriter, global: Global) -> Value {
        if let Some(value) = self.surface.and_then(|s| s.get(global.name())) {
            return *value;
        }
        match (self.request.slice, global) {
            (Slice::Imager, Global::Ci) => self.channel(out, Input::CiAlpha, 0, MachineType::Vec3),
            (Slice::Imager, _) => self.channel(out, Input::Oi, 0, MachineType::Vec3),
            (_, Global::Ci) => self.global(out, Global::Cs),
            _ => self.global(out, Global::Os),
        }
    }

    /// Returns a global in a light, which has no surface: its P is the origin of its space, its N that space's z axis,
    /// and the rest is 0.
    fn global_of_light(&mut self, out: &mut BodyWriter, global: Global) -> Value {
        let lit = self.lit.expect("only lights ask");
        let place = |b: &mut Self, out: &mut BodyWriter, op, v: [f32; 3]| {
            let m = b.space(out, "shader", Direction::CameraFromSpace);
            let v = out.constant(v);
            out.op(Op::Binary(op), &[m, v])
        };
        match global {
            Global::Ps => lit.position,
            Global::Ns => self.channel(out, Input::NormalV, 0, MachineType::Vec3),
            Global::P => place(self, out, Binary::XformPoint, [0.0; 3]),
            Global::N | Global::Ng => place(self, out, Binary::XformVector, [0.0, 0.0, 1.0]),
            _ => out.zero(global.ty()),
        }
    }

    // -- parameters

    fn binding(&self, p: ParamId) -> (&Param, Binding) {
        let shader = self.shader.expect("a shader that has parameters");
        let number = p.0 as usize;
        (&shader.shader.params[number], shader.bindings.get(number).cloned().unwrap_or(Binding::Default))
    }

    /// Returns what the shader that is lit sends instead of a parameter of the light: one value of its type.
    fn sent(&self, out: &BodyWriter, p: ParamId) -> Option<Value> {
        let (surface, (param, _)) = (self.surface.filter(|_| self.lit.is_some())?, self.binding(p));
        let value = *surface.get(&sent_name(&param.name))?;
        (param.array.is_none() && out.ty(value) == param.ty.machine()).then_some(value)
    }

    pub(super) fn param(&mut self, t: &mut Translator<'_, '_>, p: ParamId) -> Value {
        if let Some(sent) = self.sent(t.out, p) {
            return sent;
        }
        let (param, binding) = self.binding(p);
        let (name, ty, len) = (param.name.clone(), param.ty, param.len());
        let default = param.default.clone();
        match (binding, default) {
            (Binding::Default, ParamDefault::Computed(region)) => self.default(t.out, region)[0],
            (Binding::Default, ParamDefault::Values(values)) | (Binding::Fixed(values), _) => {
                t.out.constant(values[0].clone())
            }
            (binding, _) => self.param_from_outside(t.out, &binding, name, ty, len).0,
        }
    }

    /// Writes the default of a parameter: its elements.
    fn default(&mut self, out: &mut BodyWriter, region: Region) -> Vec<Value> {
        let shader = self.shader.expect("a shader that has parameters").shader;
        let places = out.inlined_places(&shader.body, self.role);
        Translator::new(&shader.body, out, places).region(self, region)
    }

    /// Returns a parameter that is bound to a buffer: element 0, and for an array the operation that loads an element,
    /// with its base.
    fn param_from_outside(
        &mut self,
        out: &mut BodyWriter,
        binding: &Binding,
        name: Arc<str>,
        ty: RslType,
        len: u32,
    ) -> (Value, Op, Option<Value>) {
        let machine = ty.machine();
        let input = primvar(self.role, &name, ty, len);
        let (op, base) = match binding {
            Binding::VaryingInput => (self.table.channel(input, 0, machine), None),
            Binding::UniformInput => {
                (self.table.uniform(input, machine), Some(out.op(Op::Builtin(Builtin::UniformInputs), &[])))
            }
            _ => {
                let (block, base) = self.own_block(out);
                let content = Content::Param { shader: self.role, name, ty };
                (self.table.load(block, content, machine, len), Some(base))
            }
        };
        (out.op(op.clone(), base.as_slice()), op, base)
    }

    /// Returns all elements of a parameter.
    pub(super) fn param_elements(&mut self, out: &mut BodyWriter, p: ParamId) -> Vec<Value> {
        if let Some(sent) = self.sent(out, p) {
            return vec![sent];
        }
        let (param, binding) = self.binding(p);
        let (name, ty, len) = (param.name.clone(), param.ty, param.len());
        match (binding, param.default.clone()) {
            (Binding::Default, ParamDefault::Computed(region)) => self.default(out, region),
            (Binding::Default, ParamDefault::Values(values)) | (Binding::Fixed(values), _) => {
                values.into_iter().map(|value| out.constant(value)).collect()
            }
            (binding, _) => {
                let (first, load, base) = self.param_from_outside(out, &binding, name, ty, len);
                let mut elements = vec![first];
                for i in 1..len {
                    let distance = out.constant(Const::U32(i * element_records(ty.machine())));
                    let at = base.map_or(distance, |base| out.op(Op::Binary(Binary::Add), &[base, distance]));
                    elements.push(out.op(load.clone(), &[at]));
                }
                elements
            }
        }
    }

    /// Returns element `i` of what `load` reads.
    fn block_element(&mut self, out: &mut BodyWriter, load: Op, base: Value, i: u32) -> Value {
        let Op::Load { ty, .. } = load else { unreachable!("an operation that loads") };
        let distance = out.constant(Const::U32(i * element_records(ty)));
        let base = out.op(Op::Binary(Binary::Add), &[base, distance]);
        out.op(load, &[base])
    }

    fn element(&mut self, t: &mut Translator<'_, '_>, p: ParamId, index: Value) -> Value {
        let (param, binding) = self.binding(p);
        let (name, ty, len) = (param.name.clone(), param.ty, param.len());
        match (&binding, &param.default) {
            (Binding::Fixed(values), _) | (Binding::Default, ParamDefault::Values(values)) => {
                let elements = OwnElements::Known(values.clone());
                return self.element_of_array(t, p, index, elements);
            }
            (Binding::Default, ParamDefault::Computed(region)) => {
                let elements = OwnElements::Computed(*region);
                return self.element_of_array(t, p, index, elements);
            }
            _ => {}
        }
        let out = &mut *t.out;
        let (_, op, base) = self.param_from_outside(out, &binding, name, ty, len);
        let (zero, last) = (out.constant(0.0), out.constant((len - 1) as f32));
        let index = out.op(Op::Binary(Binary::Max), &[index, zero]);
        let index = out.op(Op::Binary(Binary::Min), &[index, last]);
        let index = out.op(Op::Unary(Unary::U32FromFloat), &[index]);
        let size = out.constant(Const::U32(element_records(ty.machine())));
        let offset = out.op(Op::Binary(Binary::Mul), &[index, size]);
        let offset = match base {
            Some(base) => out.op(Op::Binary(Binary::Add), &[base, offset]),
            None => offset,
        };
        out.op(op, &[offset])
    }

    /// Returns an element of an array whose elements the program itself knows: one of them, or read from a local array
    /// that is filled at the start of the shader.
    fn element_of_array(
        &mut self,
        t: &mut Translator<'_, '_>,
        p: ParamId,
        number: Value,
        elements: OwnElements,
    ) -> Value {
        if let (OwnElements::Known(values), Some(Const::F32(i))) = (&elements, t.out.body().constant(number)) {
            let value = values[index(*i, values.len())].clone();
            return t.out.constant(value);
        }
        let (param, _) = self.binding(p);
        let (ty, len) = (param.ty.machine(), param.len());
        let slot = match self.arrays.get(&p) {
            Some(&slot) => slot,
            None => {
                let slot = t.out.add_slot(ty, len);
                self.arrays.insert(p, slot);
                let inner = t.out.leave(self.lit.map_or(1, |lit| lit.depth));
                let values = match elements {
                    OwnElements::Known(values) => values.into_iter().map(|c| t.out.constant(c)).collect(),
                    OwnElements::Computed(region) => self.default(t.out, region),
                };
                for (i, value) in values.into_iter().enumerate() {
                    let i = t.out.constant(i as f32);
                    t.out.emit(Op::SlotStore(slot), &[i, value], &[]);
                }
                t.out.enter(inner);
                slot
            }
        };
        t.out.emit(Op::SlotLoad(slot), &[number], &[ty])[0]
    }

    // -- spaces

    fn space(&mut self, out: &mut BodyWriter, name: &str, direction: Direction) -> Value {
        let own = matches!(name, "shader" | "object");
        let (block, base) =
            if own { self.own_block(out) } else { (Block::Instance, out.op(Op::Builtin(Builtin::Block), &[])) };
        let shader = if own { self.role } else { Role::Surface };
        let content = Content::Space { space: name.into(), direction, shader };
        let load = self.table.load(block, content, MachineType::Mat4, 1);
        out.op(load, &[base])
    }

    /// Returns a space whose name is computed: from the space table, but for those that differ from shader to shader.
    fn space_of(&mut self, out: &mut BodyWriter, direction: Direction, name: Value) -> Value {
        if let Some(Const::Str(name)) = out.body().constant(name) {
            let name = name.clone();
            return if crate::ir::is_current(&name) {
                out.constant(Const::diagonal(1.0))
            } else {
                self.space(out, &name, direction)
            };
        }
        let table = out.op(Op::Builtin(Builtin::SpaceTable), &[]);
        let token = out.op(Op::Unary(Unary::Token), &[name]);
        let entry = out.op(Op::Binary(Binary::Add), &[table, token]);
        let lane = u8::from(direction == Direction::SpaceFromCamera);
        let params = crate::ir::Buffer::Params;
        let record = out.op(Op::Load { buffer: params, record: 0, lane, ty: MachineType::U32 }, &[entry]);
        let matrix = out.op(Op::Load { buffer: params, record: 0, lane: 0, ty: MachineType::Mat4 }, &[record]);
        let (none, identity) = (out.constant(Const::U32(0)), out.constant(Const::diagonal(1.0)));
        let unknown = out.op(Op::Compare(Compare::Eq), &[record, none]);
        let mut found = out.op(Op::Select, &[unknown, identity, matrix]);
        for own in ["shader", "object"] {
            let (m, literal) = (self.space(out, own, direction), out.constant(own));
            let here = out.op(Op::Compare(Compare::Eq), &[name, literal]);
            found = out.op(Op::Select, &[here, m, found]);
        }
        found
    }

    // -- the rest

    fn random(&mut self, out: &mut BodyWriter, site: u32, ty: MachineType, count: Value) -> Value {
        // Two lights of one kind must not draw the same numbers.
        let count = self.lit.map_or(count, |lit| out.op(Op::Binary(Binary::Hash), &[count, lit.number]));
        let first_site = match self.role {
            Role::Surface => 0,
            Role::Displacement => RANDOM_SITES,
            Role::Atmosphere => 2 * RANDOM_SITES,
            Role::Light(_) => LIGHT_SITES,
        };
        out.op(Op::Random { site: first_site + site, ty }, &[count])
    }

    /// Returns a text that is known when the program is composed or is in a block. `old` and `new` are the same value
    /// before and now.
    pub(super) fn pattern(&self, t: &Translator<'_, '_>, old: Value, new: Value) -> Option<Pattern> {
        match (t.out.body().constant(new), t.from.def_inst(old).map(|d| &d.op)) {
            (Some(Const::Str(text)), _) => Some(Pattern::Literal(text.clone())),
            (_, Some(Op::Param(p))) if self.binding(*p).1 == Binding::Block && self.sent(t.out, *p).is_none() => {
                Some(Pattern::Param(self.role, self.binding(*p).0.name.clone()))
            }
            _ => None,
        }
    }

    /// Returns a condition on the number of a light's categories: it is among those that the pattern takes.
    fn category(&mut self, t: &mut Translator<'_, '_>, old: Value, args: &[Value]) -> Option<Vec<Value>> {
        let pattern = match self.pattern(t, old, args[0]) {
            Some(Pattern::Literal(text)) if text.trim().is_empty() => {
                return Some(vec![t.out.constant(Const::Bool(true))]);
            }
            Some(pattern) => pattern,
            None => {
                self.fall_short(t.out, Shortfall::ComputedCategory);
                return Some(vec![t.out.constant(Const::Bool(true))]);
            }
        };
        let table = self.instance(t.out, Content::LightsTaken(pattern), MachineType::U32);
        let record = t.out.op(Op::Binary(Binary::Add), &[table, args[1]]);
        let (taken, none) = (t.out.op(word(0), &[record]), t.out.constant(Const::U32(0)));
        Some(vec![t.out.op(Op::Compare(Compare::Ne), &[taken, none])])
    }

    /// Returns a variable that an output asks for by name, and that no shader put out: a parameter of the surface, a
    /// predefined one, or a primitive variable.
    pub(super) fn variable(&mut self, out: &mut BodyWriter, wanted: &OutputRequest) -> Option<Value> {
        let name = &*wanted.name;
        let request = self.request;
        let (role, shader) = match request.slice {
            Slice::Position => (Role::Displacement, &request.displacement),
            Slice::Colour | Slice::Imager => (Role::Surface, &request.surface),
        };
        let parameter = shader.as_ref().and_then(|s| Some((s, param_named(s.shader, name)?)));
        if let Some((s, (id, element))) = parameter {
            return self.param_of_other(out, role, s, id).get(element).copied();
        }
        if name == "z" {
            let p = self.global(out, Global::P);
            return Some(out.op(Op::Comp(2), &[p]));
        }
        if let Some(global) = Global::from_name(name) {
            return Some(self.global(out, global));
        }
        let input = primvar(role, &wanted.name, wanted.ty, 1);
        match wanted.primvar {
            Binding::VaryingInput => {
                let load = self.table.channel(input, 0, wanted.ty.machine());
                Some(out.op(load, &[]))
            }
            Binding::UniformInput => {
                let base = out.op(Op::Builtin(Builtin::UniformInputs), &[]);
                let load = self.table.uniform(input, wanted.ty.machine());
                Some(out.op(load, &[base]))
            }
            Binding::Block | Binding::Default | Binding::Fixed(_) => None,
        }
    }
}

/// Returns the parameter, or the element of one, of a name.
fn param_named(shader: &Shader, name: &str) -> Option<(ParamId, usize)> {
    let (name, element) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((name, element)) => (name, element.parse().ok()?),
        None => (name, 0),
    };
    let id = shader.param(name)?;
    let param = &shader.params[id.0 as usize];
    let fits = if param.len() == 1 { element == 0 } else { element < param.len() as usize };
    fits.then_some((id, element))
}

/// Returns the answer where nothing has the name.
fn nothing_found(out: &mut BodyWriter, ty: RslType, count: u32) -> Vec<Value> {
    let mut results = vec![out.zero(MachineType::F32)];
    results.extend((0..count).map(|_| out.zero(ty.machine())));
    results
}

//! Building a shader: instructions are appended at the builder's position, and each is checked at once.

use super::arithmetic::{Binary, Compare, Unary};
use super::body::{Body, Note, Output, Param, ParamDefault, Region, Shader, ShaderKind, Value};
use super::op::{Axis, Direction, Global, Op, ParamId, RANDOM_SITES, Slot};
use super::place::{FunctionId, PlaceId, PlaceTable, VariableId};
use super::signature::result_types;
use super::types::{Const, MachineType};
use crate::span::{SourceMap, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What an illuminance looks at.
#[derive(Clone, Copy, Debug)]
pub struct Receiver {
    /// The point that is lit.
    pub position: Value,
    /// Axis and angle (radians, half the opening) of the cone in which lights are seen.
    pub cone: Option<(Value, Value)>,
    /// Category pattern (`str`), empty for all.
    pub category: Value,
}

/// What an illuminance body knows of a light.
#[derive(Clone, Debug)]
pub struct LightSample {
    /// From the receiver towards the light (for lights at infinity: the direction alone).
    pub l: Value,
    /// Its colour at the receiver.
    pub cl: Value,
    /// Its opacity.
    pub ol: Value,
    /// The carried values on entry of this trip.
    pub carried: Vec<Value>,
}

#[derive(Debug)]
enum OpenOp {
    Default,
    Then { cond: Value },
    Else { cond: Value, then: Region },
    Condition { init: Vec<Value> },
    Body { init: Vec<Value>, condition: Region },
    Carrying { op: Op, args: Vec<Value>, carried: usize },
}

/// Builds a [`Shader`]. Regions are opened and closed in the order of the source (`begin_if`, `begin_else`, `end_if`,
/// ...), so a recursive front end needs no closures; the values that a region yields are given when the last region of
/// the operation is closed, when it is known which variables were assigned.
///
/// A front end may simply carry every variable in scope through a loop: those that never change are dropped by
/// `passes::simplify`.
///
/// # Panics
/// All methods assert the IR's typing rules: a front end that has type-checked its input cannot break them.
#[derive(Debug)]
pub struct Builder {
    name: Arc<str>,
    kind: ShaderKind,
    params: Vec<Param>,
    body: Body,
    at: Region,
    open: Vec<(Region, OpenOp)>,
    random_count: u32,
    /// Places that are in the table.
    places: FxHashMap<(Span, PlaceId), PlaceId>,
    /// The function whose code is being built, and its call.
    call: PlacedCall,
}

/// The code of a function that is put in for a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlacedCall {
    function: FunctionId,
    at: PlaceId,
}

impl Builder {
    /// Starts a shader.
    pub fn new(kind: ShaderKind, name: &str) -> Self {
        let body = Body::default();
        let at = body.root();
        Self {
            name: name.into(),
            kind,
            params: Vec::new(),
            body,
            at,
            open: Vec::new(),
            random_count: 0,
            places: FxHashMap::default(),
            call: PlacedCall::default(),
        }
    }

    // -- places

    /// Says of which texts places are, and where in them the shader's name is.
    pub(crate) fn set_texts(&mut self, texts: &Arc<SourceMap>, span: Span) {
        self.body.set_places(Arc::new(PlaceTable::of_shader(self.name.clone(), span, Arc::clone(texts))));
    }

    /// Makes `span` the place of what is built from now on, and returns the place so far. What has no place of its own
    /// is where the code around it is.
    pub(crate) fn go_to(&mut self, span: Span) -> PlaceId {
        if span == Span::default() {
            return self.body.here();
        }
        let (body, PlacedCall { function, at }) = (&mut self.body, self.call);
        let new = || body.places_mut().add(function, span, at);
        let place = *self.places.entry((span, at)).or_insert_with(new);
        self.body.go_to(place)
    }

    /// Goes back to a place.
    pub(crate) fn return_to(&mut self, place: PlaceId) {
        self.body.go_to(place);
    }

    /// Adds a function of the shader, whose name is at `span`.
    pub(crate) fn place_function(&mut self, name: &Arc<str>, span: Span) -> FunctionId {
        self.body.places_mut().add_function(name.clone(), span)
    }

    /// Adds a variable of the shader, which is declared at `span`.
    pub(crate) fn place_variable(&mut self, name: &Arc<str>, function: FunctionId, span: Span) -> VariableId {
        self.body.places_mut().add_variable(name.clone(), function, span)
    }

    /// Says that what is built from now on is the code of a function that is called here, and returns the call so far.
    pub(crate) fn enter_call(&mut self, function: FunctionId) -> PlacedCall {
        std::mem::replace(&mut self.call, PlacedCall { function, at: self.body.here() })
    }

    /// Ends the code of a function: `outer` is the call of the one around.
    pub(crate) fn leave_call(&mut self, outer: PlacedCall) {
        self.call = outer;
    }

    /// Notes that a variable has a value from here on.
    pub(crate) fn note(&mut self, variable: VariableId, value: Value) {
        self.body.add_note(self.at, Note { variable, value });
    }

    /// Changes what the shader is for: a light turns out to be ambient when no illuminate or solar was found.
    pub fn set_kind(&mut self, kind: ShaderKind) {
        self.kind = kind;
    }

    /// Returns the parameters so far.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Returns the code so far.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Returns the type of a value.
    pub fn ty(&self, value: Value) -> MachineType {
        self.body.ty(value)
    }

    // -- parameters and arrays

    /// Declares a parameter.
    pub fn param(&mut self, param: Param) -> ParamId {
        self.params.push(param);
        ParamId((self.params.len() - 1) as u32)
    }

    /// Starts the code of a default that is not a list of constants.
    pub fn begin_default(&mut self) {
        self.begin(OpenOp::Default);
    }

    /// Ends it: `values` are the elements.
    pub fn end_default(&mut self, values: &[Value]) -> ParamDefault {
        let (region, open) = self.end(values);
        assert!(matches!(open, OpenOp::Default), "end_default closes begin_default");
        ParamDefault::Computed(region)
    }

    /// Declares a local array, all zero at the start.
    pub fn array(&mut self, ty: MachineType, len: u32) -> Slot {
        self.body.add_slot(ty, len)
    }

    // -- instructions

    /// Appends an operation without regions; its results.
    pub fn emit(&mut self, op: Op, args: &[Value]) -> Vec<Value> {
        let types: Vec<_> = args.iter().map(|&a| self.ty(a)).collect();
        let results = match result_types(&op, &types, &self.params, &self.body) {
            Ok(results) => results,
            Err(why) => panic!("{op:?} {why}, but was given {types:?}"),
        };
        let inst = self.body.add_inst(op, args.to_vec(), Vec::new(), &results);
        self.body.region_mut(self.at).insts.push(inst);
        self.body.inst(inst).results.clone()
    }

    /// Appends an operation with one result.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let results = self.emit(op, args);
        assert_eq!(results.len(), 1, "an operation with one result");
        results[0]
    }

    /// Returns a constant.
    pub fn constant(&mut self, c: impl Into<Const>) -> Value {
        self.op(Op::Const(c.into()), &[])
    }

    /// Returns a float constant.
    pub fn f32(&mut self, x: f32) -> Value {
        self.constant(x)
    }

    /// Returns a constant truth value.
    pub fn bool(&mut self, x: bool) -> Value {
        self.constant(Const::Bool(x))
    }

    /// Returns a constant integer.
    pub fn u32(&mut self, x: u32) -> Value {
        self.constant(Const::U32(x))
    }

    /// Returns a string literal.
    pub fn str(&mut self, x: &str) -> Value {
        self.constant(x)
    }

    /// Returns a value from the surroundings.
    pub fn global(&mut self, global: Global) -> Value {
        self.op(Op::Global(global), &[])
    }

    /// Returns the matrix of a space, see [`Op::Space`].
    pub fn space(&mut self, name: &str, direction: Direction) -> Value {
        self.op(Op::Space(name.into(), direction), &[])
    }

    /// Applies a [`Unary`] operation.
    pub fn unary(&mut self, op: Unary, x: Value) -> Value {
        self.op(Op::Unary(op), &[x])
    }

    /// Applies a [`Binary`] operation.
    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        self.op(Op::Binary(op), &[a, b])
    }

    /// Compares two values, see [`Compare`].
    pub fn compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        self.op(Op::Compare(op), &[a, b])
    }

    /// `a` where `cond`, else `b`.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.op(Op::Select, &[cond, a, b])
    }

    /// Returns component `i` of a triple.
    pub fn comp(&mut self, v: Value, i: u8) -> Value {
        self.op(Op::Comp(i), &[v])
    }

    /// Returns a triple of three floats.
    pub fn vec3(&mut self, x: Value, y: Value, z: Value) -> Value {
        self.op(Op::Vec3, &[x, y, z])
    }

    /// Returns the derivative along a parametric direction, see [`Op::Derivative`].
    pub fn derivative(&mut self, axis: Axis, x: Value) -> Value {
        self.op(Op::Derivative(axis), &[x])
    }

    /// Returns a random number or triple; each call has a number of its own. `count` (u32) must differ from trip to
    /// trip in a loop.
    pub fn random(&mut self, ty: MachineType, count: Value) -> Value {
        let site = self.random_count;
        self.random_count += 1;
        self.op(Op::Random { site, ty }, &[count])
    }

    /// Makes calls of `random()` that are built from here on draw what those of the pipeline's displacement do, the
    /// first what the first does.
    pub fn share_random_sites_of_displacement(&mut self) {
        self.random_count = RANDOM_SITES;
    }

    // -- control flow

    fn begin(&mut self, open: OpenOp) -> Region {
        let region = self.body.add_region();
        self.open.push((self.at, open));
        self.at = region;
        region
    }

    fn end(&mut self, results: &[Value]) -> (Region, OpenOp) {
        let (outer, open) = self.open.pop().expect("every end has its begin");
        let region = self.at;
        self.body.region_mut(region).results = results.to_vec();
        self.at = outer;
        (region, open)
    }

    fn types(&self, values: &[Value]) -> Vec<MachineType> {
        values.iter().map(|&v| self.ty(v)).collect()
    }

    fn close(&mut self, op: Op, args: Vec<Value>, regions: Vec<Region>, results: &[MachineType]) -> Vec<Value> {
        let inst = self.body.add_inst(op, args, regions, results);
        self.body.region_mut(self.at).insts.push(inst);
        self.body.inst(inst).results.clone()
    }

    /// Starts the code for a true condition.
    pub fn begin_if(&mut self, cond: Value) {
        assert_eq!(self.ty(cond), MachineType::Bool, "a condition is a bool");
        self.begin(OpenOp::Then { cond });
    }

    /// Starts the code for a false condition.
    pub fn begin_else(&mut self) {
        let (then, open) = self.end(&[]);
        let OpenOp::Then { cond } = open else { panic!("begin_else follows begin_if") };
        self.begin(OpenOp::Else { cond, then });
    }

    /// Ends both: the values to go on with, in pairs.
    pub fn end_if(&mut self, then_values: &[Value], else_values: &[Value]) -> Vec<Value> {
        if matches!(self.open.last(), Some((_, OpenOp::Then { .. }))) {
            self.begin_else();
        }
        let types = self.types(then_values);
        assert_eq!(types, self.types(else_values), "both branches yield the same types");
        let (otherwise, open) = self.end(else_values);
        let OpenOp::Else { cond, then } = open else { panic!("end_if follows begin_if") };
        self.body.region_mut(then).results = then_values.to_vec();
        self.close(Op::If, vec![cond], vec![then, otherwise], &types)
    }

    /// Starts a loop's condition; the carried values as the loop sees them.
    pub fn begin_loop(&mut self, init: &[Value]) -> Vec<Value> {
        let region = self.begin(OpenOp::Condition { init: init.to_vec() });
        let types = self.types(init);
        types.into_iter().map(|ty| self.body.add_region_param(region, ty)).collect()
    }

    /// Ends the condition and starts the body, which sees what the condition defined.
    pub fn begin_loop_body(&mut self, cond: Value) {
        assert_eq!(self.ty(cond), MachineType::Bool, "a condition is a bool");
        let (condition, open) = self.end(&[cond]);
        let OpenOp::Condition { init } = open else { panic!("begin_loop_body follows begin_loop") };
        self.begin(OpenOp::Body { init, condition });
    }

    /// Ends the body: the next carried values. What they are after the loop.
    pub fn end_loop(&mut self, next: &[Value]) -> Vec<Value> {
        let (body, open) = self.end(next);
        let OpenOp::Body { init, condition } = open else { panic!("end_loop follows begin_loop_body") };
        let types = self.types(&init);
        assert_eq!(types, self.types(next), "carried values keep their types");
        self.close(Op::Loop, init, vec![condition, body], &types)
    }

    /// Starts the body of an illuminance, see [`Op::Illuminance`].
    pub fn begin_illuminance(&mut self, receiver: Receiver, init: &[Value]) -> LightSample {
        self.begin_illuminance_showing(receiver, &[], init)
    }

    /// Begins an illuminance that also shows values to the lights.
    pub fn begin_illuminance_showing(
        &mut self,
        receiver: Receiver,
        shown: &[(Arc<str>, Value)],
        init: &[Value],
    ) -> LightSample {
        let names = shown.iter().map(|(name, _)| name.clone()).collect();
        let op = Op::Illuminance { cone: receiver.cone.is_some(), shown: names };
        let mut args = vec![receiver.position];
        if let Some((axis, angle)) = receiver.cone {
            args.extend([axis, angle]);
        }
        args.push(receiver.category);
        args.extend(shown.iter().map(|(_, value)| *value));
        let (head, carried) = self.begin_carrying(op, args, init);
        LightSample { l: head[0], cl: head[1], ol: head[2], carried }
    }

    /// Ends it: the next carried values. What they are after the illuminance.
    pub fn end_illuminance(&mut self, next: &[Value]) -> Vec<Value> {
        self.end_carrying(next)
    }

    /// Starts the region of an operation that runs its region a number of times of its own choice; the region's own
    /// parameters and the carried ones.
    pub(crate) fn begin_carrying(&mut self, op: Op, mut args: Vec<Value>, init: &[Value]) -> (Vec<Value>, Vec<Value>) {
        assert!(self.types(&args).starts_with(super::signature::region_args(&op)), "arguments of {op:?}");
        assert_eq!(args.len(), op.fixed_args(), "arguments of {op:?}");
        let head = super::signature::region_params(&op);
        args.extend(init);
        let region = self.begin(OpenOp::Carrying { op, args, carried: init.len() });
        let head = head.iter().map(|&ty| self.body.add_region_param(region, ty)).collect();
        let types = self.types(init);
        (head, types.into_iter().map(|ty| self.body.add_region_param(region, ty)).collect())
    }

    /// Ends it.
    pub(crate) fn end_carrying(&mut self, next: &[Value]) -> Vec<Value> {
        let (region, open) = self.end(next);
        let OpenOp::Carrying { op, args, carried } = open else { panic!("closes what begin_carrying opened") };
        let types = self.types(&args[args.len() - carried..]);
        assert_eq!(types, self.types(next), "carried values keep their types");
        self.close(op, args, vec![region], &types)
    }

    /// Ends code that is no shader of the language: a bound program that yields `results`.
    pub fn finish_body(mut self, results: &[Value]) -> Body {
        assert!(self.open.is_empty(), "every begin has its end");
        let root = self.body.root();
        self.body.region_mut(root).results = results.to_vec();
        self.body
    }

    /// Ends the shader. `outputs` are the values of [`ShaderKind::outputs`] in their order, then of the output
    /// parameters.
    pub fn finish(mut self, outputs: &[(&str, Value)]) -> Shader {
        assert!(self.open.is_empty(), "every begin has its end");
        let head: Vec<_> = outputs.iter().map(|&(n, v)| (n, self.ty(v))).take(self.kind.outputs().len()).collect();
        assert_eq!(head, self.kind.outputs(), "the predefined outputs come first");
        let root = self.body.root();
        self.body.region_mut(root).results = outputs.iter().map(|o| o.1).collect();
        let outputs = outputs.iter().map(|&(name, v)| Output { name: name.into(), ty: self.body.ty(v) }).collect();
        Shader { name: self.name, kind: self.kind, params: self.params, outputs, body: self.body }
    }
}

//! Resizable arrays (PRMan): which variables they are, for how many elements they have room, and where their length
//! must be known.
//!
//! A local array that is declared without a length is one, or becomes one by the first call that changes its length;
//! so its other uses are judged by what all of the shader does with it.

use super::array_use::{ARRAY_LENGTH_MAX, ArrayUse};
use super::checker::Checker;
use super::constant::{Constant, evaluate};
use super::hir::{Expr, ExprKind, FuncId, LValue, ShadeopCall, Shape, Storage, VarId};
use crate::diagnostic::Report;
use crate::shadeops::{ArrayOp, Opcode};
use crate::span::Span;

/// Elements for which a resizable array has room where nothing says more.
const CAPACITY: u32 = 64;

impl Checker<'_> {
    /// Notes a local array that is declared without a length.
    pub(super) fn note_open_array(&mut self, id: VarId) {
        self.array_uses.insert(id, ArrayUse { loops: self.enclosing.loops, ..ArrayUse::default() });
    }

    /// Returns the shape of a local array of which nothing says the length.
    pub(super) fn empty_array() -> Shape {
        Shape::Resizable(CAPACITY)
    }

    /// Judges what a call of a shadeop does with whole arrays.
    pub(super) fn check_arrays(&mut self, call: &ShadeopCall) {
        if let Opcode::Array(op) = call.opcode {
            return self.check_array_op(op, call);
        }
        let written = call.outputs.iter().filter(|place| place.index.is_none()).map(|place| place.variable);
        let read = call.arguments.iter().filter_map(|argument| match argument.kind {
            ExprKind::Variable(id) => Some(id),
            _ => None,
        });
        for id in written.chain(read) {
            if self.variable(id).shape != Shape::Single {
                self.use_array(id, ArrayUse { fixed: Some(call.span), ..ArrayUse::default() }, call.span);
            }
        }
    }

    fn check_array_op(&mut self, op: ArrayOp, call: &ShadeopCall) {
        let Some(LValue { variable, .. }) = call.outputs.first() else { return };
        let length = match op {
            ArrayOp::Resize | ArrayOp::Reserve => call.arguments.first().and_then(evaluate),
            _ => None,
        };
        let in_loop = self.is_in_loop(*variable);
        let mut used = ArrayUse { capacity: Some(CAPACITY), is_pushed: op == ArrayOp::Push, ..ArrayUse::default() };
        match length {
            Some(Constant::Float(length)) if length > ARRAY_LENGTH_MAX as f32 => {
                let message = format!("an array has at most {ARRAY_LENGTH_MAX} elements, not {length}");
                return self.error(Report::error(call.arguments[0].span, message));
            }
            Some(Constant::Float(length)) => {
                used.capacity = Some(CAPACITY.max(length.max(0.0) as u32));
                used.is_reserved = true;
            }
            _ if op == ArrayOp::Resize || op == ArrayOp::Push && in_loop => used.grows = Some(call.span),
            _ => {}
        }
        self.use_array(*variable, used, call.span);
    }

    /// Returns whether this place may be reached more than once while an array lives.
    fn is_in_loop(&self, array: VarId) -> bool {
        self.enclosing.loops > self.array_uses.get(&array).map_or(0, |used| used.loops)
    }

    /// Judges what a function does with an array that it is given.
    pub(super) fn give_array(&mut self, function: FuncId, argument: usize, array: VarId, span: Span) {
        let formal = self.functions[function.0 as usize].function.arguments[argument];
        let Some(mut used) = self.array_uses.get(&formal).copied() else { return };
        if used.is_pushed && self.is_in_loop(array) {
            used.grows = used.grows.or(Some(span));
        }
        self.use_array(array, used, span);
    }

    /// Makes room for the elements of an array that is assigned as a whole, and returns whether that can be done.
    pub(super) fn makes_room(&mut self, to: VarId, from: &Expr, span: Span) -> bool {
        let (Shape::Array(length) | Shape::Resizable(length)) = from.shape else { return false };
        let is_open = self.array_uses.contains_key(&to) && self.variable(to).shape != Shape::Open;
        if is_open && self.variable(to).shape != from.shape {
            let used = ArrayUse { capacity: Some(length.max(CAPACITY)), ..ArrayUse::default() };
            self.use_array(to, used, span);
        }
        is_open
    }

    /// Notes what is done with an array, and reports what cannot be done.
    fn use_array(&mut self, id: VarId, used: ArrayUse, span: Span) {
        let variable = self.variable(id).clone();
        let is_own = matches!(variable.storage, Storage::Local) && self.array_uses.contains_key(&id);
        if variable.shape != Shape::Open && !is_own {
            if used.capacity.is_some() {
                let report = Report::error(span, format!("the length of `{}` is fixed", variable.name));
                let report = report.also(variable.span, "declared here");
                self.error(report.hint("only a local array that is declared without a length can be resized"));
            }
            return;
        }
        let all = self.array_uses.get(&id).copied().unwrap_or_default().and(used);
        self.array_uses.insert(id, all);
        let capacity = match (variable.shape, all.capacity) {
            (Shape::Array(length) | Shape::Resizable(length), Some(capacity)) => capacity.max(length),
            (Shape::Resizable(length), None) => length,
            _ => return,
        };
        self.variables[id.0 as usize].shape = Shape::Resizable(capacity);
        if let Some(fixed) = all.fixed {
            let report = Report::error(fixed, format!("the length of `{}` is not known here", variable.name));
            let report = report.also(variable.span, "this array is resizable");
            self.warn_once(
                &format!("length of {}", id.0),
                report.hint("copy its elements to an array of fixed length"),
            );
        }
    }

    /// Warns of arrays that may outgrow the room that they have.
    pub(super) fn check_growth(&mut self) {
        let mut grown: Vec<_> =
            self.array_uses.iter().filter_map(|(id, used)| Some((*id, used.grows?, *used))).collect();
        grown.sort_unstable_by_key(|(id, ..)| *id);
        for (id, span, used) in grown {
            let variable = self.variable(id);
            let Shape::Resizable(capacity) = variable.shape else { continue };
            if used.is_reserved {
                continue;
            }
            let message = format!("`{}` has room for {capacity} elements: more are dropped", variable.name);
            let hint = format!("`reserve({}, n)` makes room for up to {ARRAY_LENGTH_MAX}", variable.name);
            self.reports.push(Report::warning(span, message).hint(hint));
        }
    }
}

//! Arrays: their memory, and the number of elements of those that can be resized.

use super::cells::Cell;
use super::lowerer::{Array, ArrayPlace, Lowerer, machine};
use crate::ir::{Binary, Op, Unary, Value};
use crate::sema::hir::{self, ShadeopCall, Shape, Storage, VarId};
use crate::shadeops::ArrayOp;

/// Elements of an array that are handled one by one; longer arrays are handled in a loop.
const UNROLLED_MAX: u32 = 8;

impl Lowerer<'_> {
    /// Returns the memory of a local array: its own for each call of a function.
    pub(super) fn local_array(&mut self, id: VarId) -> Array {
        let variable = self.shader.variable(id);
        if let (Some(array), Storage::Local) = (self.arrays[id.0 as usize], variable.storage) {
            return array;
        }
        let length = if let Shape::Array(length) | Shape::Resizable(length) = variable.shape { length } else { 1 };
        let place = ArrayPlace::Slot(self.builder.array(machine(variable.ty), length));
        let count = matches!(variable.shape, Shape::Resizable(_)).then(|| Cell::from(id));
        let array = Array { place, length, count };
        self.arrays[id.0 as usize] = Some(array);
        array
    }

    /// Does something for the index of every element.
    pub(super) fn for_elements(&mut self, length: u32, mut f: impl FnMut(&mut Self, Value)) {
        if length <= UNROLLED_MAX {
            for i in 0..length {
                let index = self.builder.f32(i as f32);
                f(self, index);
            }
            return;
        }
        let zero = self.builder.f32(0.0);
        let index = self.builder.begin_loop(&[zero])[0];
        let end = self.builder.f32(length as f32);
        let more = self.builder.lt(index, end);
        self.builder.begin_loop_body(more);
        f(self, index);
        let one = self.builder.f32(1.0);
        let next = self.builder.add(index, one);
        self.builder.end_loop(&[next]);
    }

    pub(super) fn copy_array(&mut self, to: Array, from: Array) {
        self.for_elements(to.length.min(from.length), |this, index| {
            let value = this.load(from, index);
            this.store(to, index, value);
        });
        let (count, room) = (self.count(from), self.builder.f32(to.length as f32));
        let count = if to.length < from.length { self.builder.binary(Binary::Min, count, room) } else { count };
        self.set_count(to, count);
    }

    pub(super) fn load(&mut self, array: Array, index: Value) -> Value {
        match array.place {
            ArrayPlace::Slot(slot) => self.builder.op(Op::SlotLoad(slot), &[index]),
            ArrayPlace::Param(param) => self.builder.op(Op::ParamElement(param), &[index]),
        }
    }

    pub(super) fn store(&mut self, array: Array, index: Value, value: Value) {
        match array.place {
            ArrayPlace::Slot(slot) => drop(self.builder.emit(Op::SlotStore(slot), &[index, value])),
            ArrayPlace::Param(_) => panic!("parameters that are assigned are copied first"),
        }
    }

    /// Returns the number of elements that an array has.
    fn count(&mut self, array: Array) -> Value {
        match array.count {
            // One that a function reads before it is declared has none.
            Some(count) => self.cells.get(count).unwrap_or_else(|| self.builder.f32(0.0)),
            None => self.builder.f32(array.length as f32),
        }
    }

    /// Sets the number of elements of an array that can be resized.
    pub(super) fn set_count(&mut self, array: Array, count: Value) {
        if let Some(cell) = array.count {
            self.cells.set(cell, count);
        }
    }

    /// Returns an index that is at most that of the last element. Loads and stores see to the room.
    pub(super) fn inside(&mut self, array: Array, index: Value) -> Value {
        if array.count.is_none() {
            return index;
        }
        let (count, one) = (self.count(array), self.builder.f32(1.0));
        let last = self.builder.sub(count, one);
        self.builder.binary(Binary::Min, index, last)
    }

    /// A call of a shadeop about the length of an array; the value that it returns.
    pub(super) fn array_op(&mut self, op: ArrayOp, call: &ShadeopCall) -> Option<Value> {
        let id = match (call.outputs.first(), call.arguments.first().map(|argument| &argument.kind)) {
            (Some(place), _) => place.variable,
            (None, Some(&hir::ExprKind::Variable(id))) => id,
            _ => panic!("only variables are arrays"),
        };
        let array = self.array(id);
        match op {
            ArrayOp::Length => Some(self.count(array)),
            ArrayOp::Capacity => Some(self.builder.f32(array.length as f32)),
            ArrayOp::Push => {
                let value = self.value(&call.arguments[0]);
                self.push(array, value);
                None
            }
            ArrayOp::Pop => {
                let zero = machine(self.shader.variable(id).ty).zero();
                let zero = self.builder.constant(zero);
                Some(self.pop(array, zero))
            }
            ArrayOp::Resize => {
                let (length, zero) = (self.value(&call.arguments[0]), machine(self.shader.variable(id).ty).zero());
                let zero = self.builder.constant(zero);
                self.resize(array, length, zero);
                None
            }
            // The room is made when the array is.
            ArrayOp::Reserve => {
                self.effect(&call.arguments[0]);
                None
            }
        }
    }

    /// Adds an element, if there is room.
    fn push(&mut self, array: Array, value: Value) {
        let (count, room) = (self.count(array), self.builder.f32(array.length as f32));
        let has_room = self.builder.lt(count, room);
        let add = |this: &mut Self| {
            this.store(array, count, value);
            let one = this.builder.f32(1.0);
            let more = this.builder.add(count, one);
            this.set_count(array, more);
        };
        self.branch(has_room, add, |_| {});
    }

    /// Takes the last element, or gives `zero` if there is none.
    fn pop(&mut self, array: Array, zero: Value) -> Value {
        let (count, one, none) = (self.count(array), self.builder.f32(1.0), self.builder.f32(0.0));
        let less = self.builder.sub(count, one);
        let less = self.builder.binary(Binary::Max, less, none);
        let value = self.load(array, less);
        self.set_count(array, less);
        let is_there = self.builder.lt(none, count);
        self.builder.select(is_there, value, zero)
    }

    /// Gives an array a length, if there is room for it; elements that are new are `zero`.
    fn resize(&mut self, array: Array, length: Value, zero: Value) {
        let (count, none) = (self.count(array), self.builder.f32(0.0));
        let room = self.builder.f32(array.length as f32);
        let length = self.builder.unary(Unary::Floor, length);
        let length = self.builder.clamp(length, none, room);
        let index = self.builder.begin_loop(&[count])[0];
        let more = self.builder.lt(index, length);
        self.builder.begin_loop_body(more);
        self.store(array, index, zero);
        let one = self.builder.f32(1.0);
        let next = self.builder.add(index, one);
        self.builder.end_loop(&[next]);
        self.set_count(array, length);
    }
}

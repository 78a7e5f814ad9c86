//! Expressions.

use super::lowerer::{Array, Lowerer, constant, machine};
use crate::ir::{Binary, Compare, Op, Unary, Value};
use crate::sema::hir::{
    Arithmetic, ChainStep, Comparison, Conversion, Expr, ExprKind, LValue, Link, Storage, Type, VarId,
};
use crate::sema::{fold, visit};

/// What the operators of a chain have come to.
#[derive(Clone, Copy)]
pub(super) enum Partial {
    Value(Value),
    /// Whether something holds.
    Truth(Value),
}

/// A place whose index has been evaluated.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Variable(VarId),
    Element(Array, Value),
}

impl Lowerer<'_> {
    /// Returns the value of an expression that has one.
    pub(super) fn value(&mut self, expr: &Expr) -> Value {
        let outer = self.builder.go_to(expr.span);
        let part = if self.frame.in_placed_default { self.placed_part(expr) } else { None };
        let value = part.unwrap_or_else(|| self.value_here(expr));
        self.builder.return_to(outer);
        value
    }

    fn value_here(&mut self, expr: &Expr) -> Value {
        match &expr.kind {
            ExprKind::Float(value) => self.builder.f32(*value),
            ExprKind::String(text) => self.builder.str(text),
            ExprKind::Variable(id) => self.read(*id),
            ExprKind::Element(id, index) => {
                let index = self.value(index);
                let array = self.array(*id);
                let index = self.inside(array, index);
                self.load(array, index)
            }
            ExprKind::Triple(_) | ExprKind::Matrix(_) => self.tuple(expr),
            ExprKind::Convert(conversion, value) => {
                let value = self.value(value);
                self.convert(*conversion, value)
            }
            ExprKind::FromSpace { space, value } => {
                let x = self.value(value);
                self.spaced(space, x, expr.ty)
            }
            ExprKind::Negate(value) => {
                let value = self.value(value);
                self.builder.neg(value)
            }
            ExprKind::Chain(first, links) => {
                let result = self.chain(first, links);
                self.number(result)
            }
            ExprKind::Not(_) => {
                let holds = self.truth(expr);
                self.builder.unary(Unary::FloatFromBool, holds)
            }
            ExprKind::Conditional(condition, yes, no) => self.choice(condition, yes, no),
            ExprKind::Assign(place, value) => {
                let target = self.target(place);
                let value = self.value(value);
                self.assign(target, value);
                value
            }
            ExprKind::Update(place, operator, value) => {
                let target = self.target(place);
                let value = self.value(value);
                let before = self.read_target(target);
                let after = self.arithmetic(*operator, before, value);
                self.assign(target, after);
                after
            }
            ExprKind::AssignArray(..) => panic!("an array is no value"),
            ExprKind::Call(id, arguments) => self.call(*id, arguments).expect("a call that is used has a result"),
            ExprKind::Shadeop(call) => self.shadeop(call, expr.ty).expect("a call that is used has a result"),
        }
    }

    /// Evaluates for the effects alone.
    pub(super) fn effect(&mut self, expr: &Expr) {
        let outer = self.builder.go_to(expr.span);
        match &expr.kind {
            ExprKind::Call(id, arguments) => drop(self.call(*id, arguments)),
            ExprKind::Shadeop(call) => drop(self.shadeop(call, expr.ty)),
            ExprKind::AssignArray(to, from) => {
                let (to, from) = (self.array(*to), self.array(*from));
                self.copy_array(to, from);
            }
            _ => drop(self.value(expr)),
        }
        self.builder.return_to(outer);
    }

    /// Returns whether a float expression is not 0.
    pub(super) fn truth(&mut self, expr: &Expr) -> Value {
        let outer = self.builder.go_to(expr.span);
        let holds = match &expr.kind {
            ExprKind::Not(value) => {
                let holds = self.truth(value);
                self.builder.unary(Unary::Not, holds)
            }
            ExprKind::Chain(first, links) => {
                let result = self.chain(first, links);
                self.holds(result)
            }
            _ => {
                let value = self.value(expr);
                self.holds(Partial::Value(value))
            }
        };
        self.builder.return_to(outer);
        holds
    }

    /// Returns what operators one after the other come to.
    pub(super) fn chain(&mut self, first: &Expr, links: &[Link]) -> Partial {
        let (mut partial, rest) = match self.placed_start(first, links) {
            Some(start) => start,
            None => {
                let is_logic =
                    links.first().is_some_and(|link| matches!(link.step, ChainStep::And(_) | ChainStep::Or(_)));
                (if is_logic { Partial::Truth(self.truth(first)) } else { Partial::Value(self.value(first)) }, links)
            }
        };
        for link in rest {
            partial = self.step(partial, &link.step);
        }
        partial
    }

    fn step(&mut self, left: Partial, step: &ChainStep) -> Partial {
        match step {
            ChainStep::Arithmetic(operator, right) => {
                let (left, right) = (self.number(left), self.value(right));
                Partial::Value(self.arithmetic(*operator, left, right))
            }
            ChainStep::Compare(comparison, right) => {
                let (left, right) = (self.number(left), self.value(right));
                Partial::Truth(self.compare(*comparison, left, right))
            }
            ChainStep::And(right) => {
                let (left, right) = (self.holds(left), self.truth(right));
                Partial::Truth(self.builder.binary(Binary::And, left, right))
            }
            ChainStep::Or(right) => {
                let (left, right) = (self.holds(left), self.truth(right));
                Partial::Truth(self.builder.binary(Binary::Or, left, right))
            }
            ChainStep::Convert(conversion) => {
                let left = self.number(left);
                Partial::Value(self.convert(*conversion, left))
            }
        }
    }

    /// Returns a partial result as a value: a truth is 0 or 1.
    fn number(&mut self, partial: Partial) -> Value {
        match partial {
            Partial::Value(value) => value,
            Partial::Truth(holds) => self.builder.unary(Unary::FloatFromBool, holds),
        }
    }

    /// Returns whether a partial result is true: not 0.
    fn holds(&mut self, partial: Partial) -> Value {
        match partial {
            Partial::Truth(holds) => holds,
            Partial::Value(value) => {
                let zero = self.builder.f32(0.0);
                self.builder.compare(Compare::Ne, value, zero)
            }
        }
    }

    fn compare(&mut self, comparison: Comparison, left: Value, right: Value) -> Value {
        let (operator, left, right) = match comparison {
            Comparison::Equal => (Compare::Eq, left, right),
            Comparison::NotEqual => (Compare::Ne, left, right),
            Comparison::Less => (Compare::Lt, left, right),
            Comparison::LessEqual => (Compare::Le, left, right),
            Comparison::Greater => (Compare::Lt, right, left),
            Comparison::GreaterEqual => (Compare::Le, right, left),
        };
        self.builder.compare(operator, left, right)
    }

    fn arithmetic(&mut self, operator: Arithmetic, left: Value, right: Value) -> Value {
        let is_matrix = self.builder.ty(left) == crate::ir::MachineType::Mat4;
        match operator {
            Arithmetic::Add => self.builder.add(left, right),
            Arithmetic::Subtract => self.builder.sub(left, right),
            Arithmetic::Multiply => self.builder.mul(left, right),
            Arithmetic::Divide if is_matrix => {
                let inverse = self.builder.unary(Unary::Inverse, right);
                self.builder.mul(left, inverse)
            }
            Arithmetic::Divide => self.builder.div(left, right),
            Arithmetic::Cross => self.builder.cross(left, right),
            Arithmetic::Dot => self.builder.dot(left, right),
        }
    }

    /// Returns a triple or a matrix: a constant if all parts are known.
    fn tuple(&mut self, expr: &Expr) -> Value {
        if let Some(known) = fold(expr) {
            return self.builder.constant(constant(&known));
        }
        match &expr.kind {
            ExprKind::Triple(parts) => {
                let [x, y, z] = &**parts;
                let (x, y, z) = (self.value(x), self.value(y), self.value(z));
                self.builder.vec3(x, y, z)
            }
            ExprKind::Matrix(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.value(part)).collect();
                self.builder.op(Op::Mat4, &parts)
            }
            _ => panic!("a tuple is a triple or a matrix"),
        }
    }

    fn convert(&mut self, conversion: Conversion, x: Value) -> Value {
        match conversion {
            Conversion::Rename => x,
            Conversion::Spread => self.builder.unary(Unary::Splat, x),
            Conversion::Diagonal => {
                let zero = self.builder.f32(0.0);
                let rows: Vec<_> = (0..16).map(|i| if i % 5 == 0 { x } else { zero }).collect();
                self.builder.op(Op::Mat4, &rows)
            }
        }
    }

    /// `condition ? yes : no`: both are computed where that is cheap and changes nothing.
    fn choice(&mut self, condition: &Expr, yes: &Expr, no: &Expr) -> Value {
        let condition = self.truth(condition);
        if is_simple(yes) && is_simple(no) {
            let (yes, no) = (self.value(yes), self.value(no));
            return self.builder.select(condition, yes, no);
        }
        let zero = self.builder.constant(machine(yes.ty).zero());
        let result = self.cells.add(zero);
        let branch = |this: &mut Self, value: &Expr| {
            let value = this.value(value);
            this.cells.set(result, value);
        };
        self.branch(condition, |this| branch(this, yes), |this| branch(this, no));
        self.cells.get(result).expect("just set")
    }

    /// Returns the value of a variable that is no array.
    pub(super) fn read(&mut self, id: VarId) -> Value {
        if let Some(value) = self.cells.get(id.into()) {
            return value;
        }
        let value = self.unassigned(id);
        self.note(id, value);
        value
    }

    /// Returns the value of a variable that was not assigned yet.
    fn unassigned(&mut self, id: VarId) -> Value {
        let variable = self.shader.variable(id);
        match variable.storage {
            Storage::Predefined(predefined) => self.first_value(predefined),
            Storage::Parameter { .. } => {
                // A function that a default calls may look at a parameter that comes later.
                match self.params[id.0 as usize] {
                    Some(param) => self.builder.op(Op::Param(param), &[]),
                    None => self.builder.constant(machine(variable.ty).zero()),
                }
            }
            // A variable of the shader around that a function reads before it is declared there.
            Storage::Local | Storage::Argument { .. } => self.builder.constant(machine(variable.ty).zero()),
        }
    }

    /// Returns where an array is.
    pub(super) fn array(&mut self, id: VarId) -> Array {
        match self.arrays[id.0 as usize] {
            Some(array) => array,
            // As above.
            None => self.local_array(id),
        }
    }

    /// Evaluates the index of a place.
    pub(super) fn target(&mut self, place: &LValue) -> Target {
        match &place.index {
            None => Target::Variable(place.variable),
            Some(index) => {
                let index = self.value(index);
                let array = self.array(place.variable);
                Target::Element(array, self.inside(array, index))
            }
        }
    }

    pub(super) fn read_target(&mut self, target: Target) -> Value {
        match target {
            Target::Variable(id) => self.read(id),
            Target::Element(array, index) => self.load(array, index),
        }
    }

    pub(super) fn assign(&mut self, target: Target, value: Value) {
        match target {
            Target::Variable(id) => self.cells.set(id.into(), value),
            Target::Element(array, index) => self.store(array, index, value),
        }
    }

    /// Returns the text of a string that is known now.
    pub(super) fn literal(&self, expr: &Expr) -> Option<String> {
        match fold(expr)? {
            crate::sema::hir::Constant::String(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Returns what `then` makes of the choice whose name `name` turns out to be when the shader runs, or of
    /// `otherwise`.
    pub(super) fn by_name<T: Copy>(
        &mut self,
        name: Value,
        choices: &[(&str, T)],
        otherwise: T,
        mut then: impl FnMut(&mut Self, T) -> Value,
    ) -> Value {
        let mut found = Vec::with_capacity(choices.len());
        for (text, choice) in choices {
            let text = self.builder.str(text);
            let alike = self.builder.compare(Compare::Eq, name, text);
            self.builder.begin_if(alike);
            found.push(then(self, *choice));
            self.builder.begin_else();
        }
        let last = then(self, otherwise);
        found.into_iter().rev().fold(last, |no, yes| self.builder.end_if(&[yes], &[no])[0])
    }
}

/// Returns whether an expression is cheap and changes nothing.
fn is_simple(expr: &Expr) -> bool {
    let mut simple = true;
    visit::walk(expr, &mut |part| {
        simple &= !matches!(
            part.kind,
            ExprKind::Assign(..) | ExprKind::Update(..) | ExprKind::Call(..) | ExprKind::Shadeop(_)
        );
    });
    simple && matches!(expr.ty, Type::Float | Type::Color | Type::Point | Type::Vector | Type::Normal | Type::String)
}

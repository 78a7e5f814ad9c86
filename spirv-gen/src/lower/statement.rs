//! Statements.

use super::cells::{Cell, Mark};
use super::effects::Escapes;
use super::lowerer::{LoopFlags, Lowerer, machine};
use crate::ir::{Receiver, Unary, Value, sent_name};
use crate::sema::hir::{Expr, Predefined, Shape, Stmt, StmtKind, Storage, VarId};
use std::sync::Arc;

impl Lowerer<'_> {
    /// The code of a shader or function.
    pub(super) fn body(&mut self, statements: &[Stmt]) {
        // A `return` at the end is no jump.
        let jumps = match statements.split_last() {
            Some((Stmt { kind: StmtKind::Return(_), .. }, before)) => self.effects.escapes(before),
            _ => self.effects.escapes(statements),
        };
        if jumps.returns {
            let no = self.builder.bool(false);
            self.frame.returned = Some(self.cells.add(no));
        }
        self.statements(statements);
    }

    /// Statements one after the other. Those after one that may jump are guarded; each guard covers what is up to the
    /// next such one, so that the depth does not grow with their number.
    pub(super) fn statements(&mut self, mut statements: &[Stmt]) {
        let mut jumped = Escapes::default();
        while !statements.is_empty() {
            let next = statements.iter().position(|s| !self.effects.escapes_of(s).is_none());
            let count = next.map_or(statements.len(), |at| at + 1);
            let (group, rest) = statements.split_at(count);
            let guard = self.guard(jumped);
            if let Some(guard) = guard {
                // What is declared in the group is visible after it too.
                group.iter().for_each(|s| self.declare_in_advance(s));
                self.builder.begin_if(guard);
                let mark = self.cells.mark();
                group.iter().for_each(|s| self.statement(s));
                self.join(mark);
            } else {
                group.iter().for_each(|s| self.statement(s));
            }
            let escapes = group.last().map_or_else(Escapes::default, |last| self.effects.escapes_of(last));
            jumped.broken |= escapes.broken;
            jumped.continued |= escapes.continued;
            jumped.returns |= escapes.returns;
            statements = rest;
        }
    }

    /// Returns whether control is still here after code that may have jumped, or `None` if it surely is.
    fn guard(&mut self, jumped: Escapes) -> Option<Value> {
        let mut flags = Vec::new();
        for (level, flag) in self.frame.loops.iter().rev().enumerate() {
            flags.extend(jumped.breaks(level).then_some(flag.broken));
            flags.extend(jumped.continues(level).then_some(flag.continued));
        }
        flags.extend(self.frame.returned.filter(|_| jumped.returns));
        let gone = self.any(&flags)?;
        Some(self.builder.unary(Unary::Not, gone))
    }

    /// Returns whether one of the flags is set, or `None` if there are none.
    fn any(&mut self, flags: &[Cell]) -> Option<Value> {
        let mut result = None;
        for &flag in flags {
            let value = self.cells.get(flag).expect("a flag has a value while its loop or function is lowered");
            result = Some(match result {
                None => value,
                Some(before) => self.builder.binary(crate::ir::Binary::Or, before, value),
            });
        }
        result
    }

    /// Ends the first branch of an `if` without a second.
    fn join(&mut self, mark: Mark) {
        self.note_assigned();
        let changed = self.cells.undo(mark);
        let cells: Vec<_> = changed.keys().copied().collect();
        let then: Vec<_> = changed.into_values().collect();
        let otherwise: Vec<_> = cells.iter().map(|&c| self.current(c)).collect();
        let results = self.builder.end_if(&then, &otherwise);
        for (cell, value) in cells.into_iter().zip(results) {
            self.cells.set(cell, value);
        }
    }

    fn current(&self, cell: Cell) -> Value {
        self.cells.get(cell).expect("only cells with a value are merged and carried")
    }

    /// Runs `yes` or `no`; the cells that one of them changes are merged.
    pub(super) fn branch(&mut self, condition: Value, yes: impl FnOnce(&mut Self), no: impl FnOnce(&mut Self)) {
        self.builder.begin_if(condition);
        let mark = self.cells.mark();
        yes(self);
        self.note_assigned();
        let mut then = self.cells.undo(mark);
        self.builder.begin_else();
        no(self);
        self.note_assigned();
        let mut otherwise = self.cells.undo(mark);
        let mut cells: Vec<_> = then.keys().chain(otherwise.keys()).copied().collect();
        cells.sort_unstable();
        cells.dedup();
        let then: Vec<_> = cells.iter().map(|c| then.remove(c).unwrap_or_else(|| self.current(*c))).collect();
        let otherwise: Vec<_> = cells.iter().map(|c| otherwise.remove(c).unwrap_or_else(|| self.current(*c))).collect();
        let results = self.builder.end_if(&then, &otherwise);
        for (cell, value) in cells.into_iter().zip(results) {
            self.cells.set(cell, value);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        self.note_assigned();
        let outer = self.builder.go_to(statement.span);
        match &statement.kind {
            StmtKind::Expr(value) => self.effect(value),
            StmtKind::Declare(variable, values) => self.declare(*variable, values),
            StmtKind::Block(body) => self.statements(body),
            StmtKind::If { condition, yes, no } => {
                let condition = self.truth(condition);
                self.branch(condition, |this| this.statements(yes), |this| this.statements(no));
            }
            StmtKind::Loop { condition, step, body } => self.repeat(condition.as_ref(), step.as_ref(), body),
            StmtKind::Break(levels) => self.jump(*levels, *levels),
            StmtKind::Continue(levels) => self.jump(*levels, *levels - 1),
            StmtKind::Return(value) => self.give_back(value.as_ref()),
            StmtKind::Illuminance { category, position, cone, sent, body } => {
                self.illuminance(category.as_ref(), position, cone.as_ref(), sent, body);
            }
            StmtKind::Illuminate { position, cone, body } => self.illuminate(position, cone.as_ref(), body),
            StmtKind::Solar { cone, body } => self.solar(cone.as_ref(), body),
        }
        self.note_assigned();
        self.builder.return_to(outer);
    }

    /// Ends the innermost `broken` loops, and the trip of the one that is `levels` out if that is more.
    fn jump(&mut self, levels: u32, broken: u32) {
        let yes = self.builder.bool(true);
        for level in 0..levels as usize {
            let flags = self.frame.loops[self.frame.loops.len() - 1 - level];
            let flag = if level < broken as usize { flags.broken } else { flags.continued };
            self.cells.set(flag, yes);
        }
    }

    fn give_back(&mut self, value: Option<&Expr>) {
        if let (Some(value), Some(result)) = (value, self.frame.result) {
            let value = self.value(value);
            self.cells.set(result, value);
        }
        if let Some(returned) = self.frame.returned {
            let yes = self.builder.bool(true);
            self.cells.set(returned, yes);
        }
    }

    /// Makes a variable known, and zero.
    fn declare_in_advance(&mut self, statement: &Stmt) {
        let StmtKind::Declare(id, _) = statement.kind else { return };
        let variable = self.shader.variable(id);
        if variable.shape == Shape::Single {
            let zero = self.builder.constant(machine(variable.ty).zero());
            self.cells.set(id.into(), zero);
        } else {
            let (array, none) = (self.local_array(id), self.builder.f32(0.0));
            self.set_count(array, none);
        }
    }

    fn declare(&mut self, id: VarId, values: &[Expr]) {
        let variable = self.shader.variable(id);
        if variable.shape == Shape::Single {
            let value = match values {
                [value] => self.value(value),
                _ => self.builder.constant(machine(variable.ty).zero()),
            };
            return self.cells.set(id.into(), value);
        }
        let values: Vec<_> = values.iter().map(|v| self.value(v)).collect();
        let array = self.local_array(id);
        if array.count.is_some() {
            let count = self.builder.f32(values.len() as f32);
            self.set_count(array, count);
        } else if values.is_empty() && self.loop_depth > 0 {
            let zero = self.builder.constant(machine(variable.ty).zero());
            return self.for_elements(array.length, |this, index| this.store(array, index, zero));
        }
        for (i, value) in values.into_iter().enumerate() {
            let index = self.builder.f32(i as f32);
            self.store(array, index, value);
        }
    }

    /// Returns the cells that a loop carries: what its code changes and what has a value before it.
    fn carried(&self, body: &[Stmt], others: &[&Expr], flags: LoopFlags) -> Vec<Cell> {
        let mut changes = self.effects.changes(body);
        for expr in others {
            let more = self.effects.changes_of(expr);
            changes.assigned.extend(more.assigned);
            changes.uses_random |= more.uses_random;
            changes.shines |= more.shines;
        }
        let mut cells: Vec<Cell> = changes.assigned.into_iter().map(|id| self.cells.named(id.into())).collect();
        cells.extend(self.random_count.filter(|_| changes.uses_random));
        let escapes = self.effects.escapes(body);
        cells.extend(escapes.breaks(0).then_some(flags.broken));
        for (level, outer) in self.frame.loops.iter().rev().enumerate() {
            cells.extend(escapes.breaks(level + 1).then_some(outer.broken));
            cells.extend(escapes.continues(level + 1).then_some(outer.continued));
        }
        if escapes.returns {
            cells.extend(self.frame.returned);
            cells.extend(self.frame.result);
        }
        if let Some(light) = self.light.as_ref().filter(|_| changes.shines) {
            cells.extend([light.l, light.active]);
        }
        cells.retain(|&c| self.cells.get(c).is_some());
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Makes the flags of a loop that begins.
    fn loop_flags(&mut self) -> LoopFlags {
        let no = self.builder.bool(false);
        LoopFlags { broken: self.cells.add(no), continued: self.cells.add(no) }
    }

    /// The body of a loop, whose flags are then those of the innermost loop.
    fn trip(&mut self, body: &[Stmt], flags: LoopFlags) {
        let no = self.builder.bool(false);
        self.cells.set(flags.continued, no);
        self.frame.loops.push(flags);
        self.loop_depth += 1;
        self.statements(body);
        self.loop_depth -= 1;
        self.frame.loops.pop();
    }

    /// Returns what ends a loop for good: a `break` of it or of one around it, a `return`.
    fn ended(&mut self, body: &[Stmt], flags: LoopFlags) -> Option<Value> {
        let escapes = self.effects.escapes(body);
        let mut ends = Vec::new();
        // Whatever jumps further than this loop also ends it.
        ends.extend(escapes.breaks(0).then_some(flags.broken));
        ends.extend(self.frame.returned.filter(|_| escapes.returns));
        self.any(&ends)
    }

    fn repeat(&mut self, condition: Option<&Expr>, step: Option<&Expr>, body: &[Stmt]) {
        let flags = self.loop_flags();
        let others: Vec<_> = condition.into_iter().chain(step).collect();
        // Results of a loop are what was carried into its last condition: a condition that changes something is moved
        // to the body.
        let go = condition.filter(|c| !self.effects.changes_of(c).is_none()).map(|_| {
            let yes = self.builder.bool(true);
            self.cells.add(yes)
        });
        let mut carried = self.carried(body, &others, flags);
        carried.extend(go);
        let init: Vec<_> = carried.iter().map(|&c| self.current(c)).collect();
        let values = self.builder.begin_loop(&init);
        let mark = self.cells.mark();
        for (&cell, value) in carried.iter().zip(values) {
            self.cells.set(cell, value);
        }
        self.note_assigned();
        let mut holds = match (go, condition) {
            (Some(go), _) => self.current(go),
            (None, Some(condition)) => self.truth(condition),
            (None, None) => self.builder.bool(true),
        };
        if let Some(ended) = self.ended(body, flags) {
            let goes_on = self.builder.unary(Unary::Not, ended);
            holds = self.builder.binary(crate::ir::Binary::And, holds, goes_on);
        }
        self.builder.begin_loop_body(holds);
        match (go, condition) {
            (Some(go), Some(condition)) => {
                let holds = self.truth(condition);
                self.cells.set(go, holds);
                self.branch(holds, |this| this.trip_and_step(body, step, flags), |_| {});
            }
            _ => self.trip_and_step(body, step, flags),
        }
        let next: Vec<_> = carried.iter().map(|&c| self.current(c)).collect();
        self.note_assigned();
        self.cells.undo(mark);
        let results = self.builder.end_loop(&next);
        for (cell, value) in carried.into_iter().zip(results) {
            self.cells.set(cell, value);
        }
    }

    fn trip_and_step(&mut self, body: &[Stmt], step: Option<&Expr>, flags: LoopFlags) {
        self.trip(body, flags);
        let Some(step) = step else { return };
        match self.ended(body, flags) {
            None => self.effect(step),
            Some(ended) => self.branch(ended, |_| {}, |this| this.effect(step)),
        }
    }

    fn illuminance(
        &mut self,
        category: Option<&Expr>,
        position: &Expr,
        cone: Option<&(Expr, Expr)>,
        sent: &[(Arc<str>, Expr)],
        body: &[Stmt],
    ) {
        let category = match category {
            Some(category) => self.value(category),
            None => self.builder.str(""),
        };
        let position = self.value(position);
        let cone = cone.map(|(axis, angle)| (self.value(axis), self.value(angle)));
        let sent: Vec<_> = sent.iter().map(|(name, value)| (sent_name(name), self.value(value))).collect();
        let flags = self.loop_flags();
        let seen = [Predefined::L, Predefined::Cl, Predefined::Ol].map(|seen| {
            let storage = Storage::Predefined(seen);
            self.shader.variables.iter().position(|v| v.storage == storage).map(|at| Cell::from(VarId(at as u32)))
        });
        let mut carried = self.carried(body, &[], flags);
        // What the body makes of L, Cl and Ol is of this light alone.
        carried.retain(|&cell| !seen.contains(&Some(cell)));
        let init: Vec<_> = carried.iter().map(|&c| self.current(c)).collect();
        let shown = [self.shown(), sent].concat();
        let receiver = Receiver { position, cone, category };
        let sample = self.builder.begin_illuminance_showing(receiver, &shown, &init);
        let mark = self.cells.mark();
        for (&cell, &value) in carried.iter().zip(&sample.carried) {
            self.cells.set(cell, value);
        }
        for (cell, value) in seen.into_iter().zip([sample.l, sample.cl, sample.ol]) {
            if let Some(cell) = cell {
                self.cells.set(cell, value);
            }
        }
        match self.ended(body, flags) {
            None => self.trip(body, flags),
            Some(ended) => self.branch(ended, |_| {}, |this| this.trip(body, flags)),
        }
        let next: Vec<_> = carried.iter().map(|&c| self.current(c)).collect();
        self.note_assigned();
        self.cells.undo(mark);
        let results = self.builder.end_illuminance(&next);
        for (cell, value) in carried.into_iter().zip(results) {
            self.cells.set(cell, value);
        }
    }
}

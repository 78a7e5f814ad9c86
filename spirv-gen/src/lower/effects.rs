//! What parts of a shader change, found before they are lowered: loops must know what they carry.

use crate::sema::hir::{
    Argument, CheckedShader, Expr, ExprKind, LEVELS_MAX, LValue, Predefined, Stmt, StmtKind, Storage, VarId,
};
use crate::sema::visit;
use crate::shadeops::Opcode;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What the shader and its functions change.
pub(super) struct Effects {
    /// All variables that are assigned anywhere.
    pub(super) assigned: FxHashSet<VarId>,
    /// `random()` is called.
    pub(super) uses_random: bool,
    /// The shader describes light from somewhere.
    pub(super) shines: bool,
    /// The predefined variables that are in use.
    predefined: FxHashMap<Predefined, VarId>,
    functions: Vec<FunctionEffects>,
    /// What lists of statements in statements do, by their places in memory: a loop must know it before it is lowered,
    /// and asking for it again in each of many loops around would take time that grows with their number.
    nested: FxHashMap<(usize, usize), Nested>,
}

/// What a list of statements in a statement does.
struct Nested {
    escapes: Escapes,
    /// Only of the body of a loop.
    changes: Changes,
}

fn place(statements: &[Stmt]) -> (usize, usize) {
    (statements.as_ptr().addr(), statements.len())
}

/// What a call of a function changes.
struct FunctionEffects {
    /// Which arguments it may assign.
    outputs: Vec<bool>,
    /// Variables that are not its own.
    assigned: BTreeSet<VarId>,
    uses_random: bool,
    shines: bool,
}

/// What some code changes.
#[derive(Clone, Default)]
pub(super) struct Changes {
    pub(super) assigned: BTreeSet<VarId>,
    /// `random()` is called.
    pub(super) uses_random: bool,
    /// There is an `illuminate` or `solar`.
    pub(super) shines: bool,
}

impl Changes {
    /// Returns whether nothing is changed.
    pub(super) fn is_none(&self) -> bool {
        self.assigned.is_empty() && !self.uses_random && !self.shines
    }
}

/// How control may leave some code other than at its end. Bit n of a mask is the loop n levels out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Escapes {
    /// Loops that may be ended.
    pub(super) broken: u64,
    /// Loops whose trip may be ended.
    pub(super) continued: u64,
    /// The function may be left.
    pub(super) returns: bool,
}

impl Effects {
    pub(super) fn of(shader: &CheckedShader) -> Self {
        let predefined = (0..).map(VarId).zip(&shader.variables).filter_map(|(id, variable)| match variable.storage {
            Storage::Predefined(predefined) => Some((predefined, id)),
            _ => None,
        });
        let mut effects = Self {
            assigned: FxHashSet::default(),
            uses_random: false,
            shines: false,
            predefined: predefined.collect(),
            functions: Vec::new(),
            nested: FxHashMap::default(),
        };
        for function in &shader.functions {
            let changes = effects.find_changes(&function.body);
            effects.assigned.extend(&changes.assigned);
            effects.uses_random |= changes.uses_random;
            let mut own: FxHashSet<_> = function.arguments.iter().copied().collect();
            visit::statements(&function.body, &mut |statement| {
                if let StmtKind::Declare(variable, _) = statement.kind {
                    own.insert(variable);
                }
            });
            let assigned = changes.assigned.into_iter().filter(|v| !own.contains(v)).collect();
            let Changes { uses_random, shines, .. } = changes;
            let is_output = |a: &VarId| shader.variable(*a).storage == Storage::Argument { output: true };
            let outputs = function.arguments.iter().map(is_output).collect();
            effects.functions.push(FunctionEffects { outputs, assigned, uses_random, shines });
        }
        let changes = effects.find_changes(&shader.body);
        effects.assigned.extend(&changes.assigned);
        // Output parameters that are never assigned still are variables of others; light variables are handed out.
        let handed_out = (0..).map(VarId).zip(&shader.variables);
        let handed_out = handed_out.filter(|(_, v)| v.storage == Storage::Parameter { output: true }).map(|(id, _)| id);
        effects.assigned.extend(handed_out);
        effects.uses_random |= changes.uses_random;
        effects.shines = changes.shines;
        effects
    }

    /// Returns whether the shader assigns a predefined variable on any path.
    pub(super) fn assigns(&self, predefined: Predefined) -> bool {
        self.variable(predefined).is_some_and(|id| self.assigned.contains(&id))
    }

    /// Returns the variable that a predefined variable is in this shader, if it is in use.
    pub(super) fn variable(&self, predefined: Predefined) -> Option<VarId> {
        self.predefined.get(&predefined).copied()
    }

    /// Returns what statements change, calls included, and notes what those in them do.
    fn find_changes(&mut self, statements: &[Stmt]) -> Changes {
        let mut changes = Changes::default();
        for statement in statements {
            for expr in visit::own_expressions(statement) {
                visit::walk(expr, &mut |part| self.add(part, &mut changes));
            }
            if let StmtKind::Declare(variable, _) = statement.kind {
                changes.assigned.insert(variable);
            }
            changes.shines |= matches!(statement.kind, StmtKind::Illuminate { .. } | StmtKind::Solar { .. });
            // A direction is drawn.
            changes.uses_random |= matches!(statement.kind, StmtKind::Solar { .. });
            let is_loop = matches!(statement.kind, StmtKind::Loop { .. } | StmtKind::Illuminance { .. });
            for list in visit::lists(statement).into_iter().filter(|list| !list.is_empty()) {
                let inside = self.find_changes(list);
                changes.uses_random |= inside.uses_random;
                changes.shines |= inside.shines;
                let (escapes, changes) = if is_loop {
                    changes.assigned.extend(&inside.assigned);
                    (self.escapes(list), inside)
                } else {
                    changes.assigned.extend(inside.assigned);
                    (self.escapes(list), Changes::default())
                };
                self.nested.insert(place(list), Nested { escapes, changes });
            }
        }
        changes
    }

    /// Returns what the body of a loop changes, calls included.
    pub(super) fn changes(&self, body: &[Stmt]) -> Changes {
        self.nested.get(&place(body)).map_or_else(Changes::default, |nested| nested.changes.clone())
    }

    /// Returns how control may leave statements.
    pub(super) fn escapes(&self, statements: &[Stmt]) -> Escapes {
        match self.nested.get(&place(statements)) {
            Some(nested) => nested.escapes,
            None => statements.iter().map(|s| self.escapes_of(s)).fold(Escapes::default(), Escapes::or),
        }
    }

    /// Returns how control may leave a statement.
    pub(super) fn escapes_of(&self, statement: &Stmt) -> Escapes {
        Escapes::of_one(statement, &|list| self.escapes(list))
    }

    /// Returns what an expression changes, its parts included.
    pub(super) fn changes_of(&self, expr: &Expr) -> Changes {
        let mut changes = Changes::default();
        visit::walk(expr, &mut |part| self.add(part, &mut changes));
        changes
    }

    fn add(&self, expr: &Expr, changes: &mut Changes) {
        match &expr.kind {
            ExprKind::Assign(place, _) | ExprKind::Update(place, ..) => {
                changes.assigned.insert(place.variable);
            }
            ExprKind::AssignArray(to, _) => {
                changes.assigned.insert(*to);
            }
            ExprKind::Call(id, arguments) => {
                let function = &self.functions[id.0 as usize];
                for (argument, &is_output) in arguments.iter().zip(&function.outputs) {
                    match argument {
                        Argument::Output(LValue { variable, .. }) | Argument::Array(variable) if is_output => {
                            changes.assigned.insert(*variable);
                        }
                        _ => {}
                    }
                }
                changes.assigned.extend(&function.assigned);
                changes.uses_random |= function.uses_random;
                changes.shines |= function.shines;
            }
            ExprKind::Shadeop(call) => {
                changes.assigned.extend(call.outputs.iter().map(|place| place.variable));
                changes.uses_random |= matches!(call.opcode, Opcode::Random | Opcode::UniformRandom);
            }
            _ => {}
        }
    }
}

impl Escapes {
    /// Returns how control may leave a statement; `of` says it of those in it.
    fn of_one(statement: &Stmt, of: &impl Fn(&[Stmt]) -> Self) -> Self {
        match &statement.kind {
            StmtKind::Expr(_) | StmtKind::Declare(..) => Self::default(),
            StmtKind::Block(body) | StmtKind::Illuminate { body, .. } | StmtKind::Solar { body, .. } => of(body),
            StmtKind::If { yes, no, .. } => of(yes).or(of(no)),
            StmtKind::Loop { body, .. } | StmtKind::Illuminance { body, .. } => {
                let inside = of(body);
                Self { broken: inside.broken >> 1, continued: inside.continued >> 1, returns: inside.returns }
            }
            StmtKind::Break(levels) => Self { broken: (1 << levels) - 1, ..Self::default() },
            StmtKind::Continue(levels) => {
                Self { broken: (1 << (levels - 1)) - 1, continued: 1 << (levels - 1), returns: false }
            }
            StmtKind::Return(_) => Self { returns: true, ..Self::default() },
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            broken: self.broken | other.broken,
            continued: self.continued | other.continued,
            returns: self.returns || other.returns,
        }
    }

    /// Returns whether the loop `level` levels out may be ended.
    pub(super) fn breaks(self, level: usize) -> bool {
        level < LEVELS_MAX as usize && self.broken >> level & 1 == 1
    }

    /// Returns whether the trip of the loop `level` levels out may be ended.
    pub(super) fn continues(self, level: usize) -> bool {
        level < LEVELS_MAX as usize && self.continued >> level & 1 == 1
    }

    /// Returns whether control leaves at the end only.
    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    fn stmt(kind: StmtKind) -> Stmt {
        Stmt { kind, span: Span::default() }
    }

    fn repeat(body: Vec<Stmt>) -> Stmt {
        stmt(StmtKind::Loop { condition: None, step: None, body })
    }

    #[test]
    fn jumps_leave_the_loops_that_they_count() {
        fn of(list: &[Stmt]) -> Escapes {
            list.iter().map(|s| Escapes::of_one(s, &of)).fold(Escapes::default(), Escapes::or)
        }
        let escapes = |s: Stmt| of(&[s]);
        let broken = |broken| Escapes { broken, ..Escapes::default() };
        assert_eq!(escapes(stmt(StmtKind::Break(1))), broken(0b1));
        assert_eq!(escapes(stmt(StmtKind::Break(3))), broken(0b111));
        assert_eq!(escapes(repeat(vec![stmt(StmtKind::Break(1))])), Escapes::default());
        assert_eq!(escapes(repeat(vec![stmt(StmtKind::Break(2))])), broken(0b1));
        assert_eq!(escapes(stmt(StmtKind::Continue(2))), Escapes { broken: 0b1, continued: 0b10, returns: false });
        assert!(escapes(repeat(vec![repeat(vec![stmt(StmtKind::Return(None))])])).returns);
    }
}

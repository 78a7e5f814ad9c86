//! Light shaders that describe light more than once: the statement that is executed last counts.

use super::hir::{CheckedShader, DeclaredKind, ExprKind, Stmt, StmtKind};
use super::visit;
use crate::diagnostic::{Report, Reports};
use crate::span::Span;

/// Warns of a light statement that may be executed after another.
pub(super) fn check(shader: &CheckedShader, reports: &mut Reports) {
    if shader.kind != DeclaredKind::Light {
        return;
    }
    let mut functions = Vec::with_capacity(shader.functions.len());
    for function in &shader.functions {
        let own = executed(&function.body, &functions);
        functions.push(own);
    }
    let Some((second, first)) = executed(&shader.body, &functions).second else { return };
    let report = Report::warning(second, "only the last `illuminate` or `solar` that a light executes counts");
    let report = if first == second { report } else { report.also(first, "this may have been executed before it") };
    reports.push(report.hint("make a light of each of them, or choose one with `if` and `else`"));
}

/// What code executes of light statements.
#[derive(Clone, Copy, Default)]
struct Executed {
    /// A light statement that may have been executed when control leaves the code at its end.
    any: Option<Span>,
    /// The first that may be executed after another, and the other.
    second: Option<(Span, Span)>,
}

impl Executed {
    /// Adds a light statement at `span`.
    fn shines(&mut self, span: Span) {
        self.second = self.second.or(self.any.map(|first| (span, first)));
        self.any = Some(span);
    }

    /// Adds code that is executed after what there is.
    fn then(&mut self, next: Self) {
        self.second = self.second.or(next.second).or(next.any.zip(self.any));
        self.any = next.any.or(self.any);
    }
}

/// Returns what statements execute; `functions` says it of the functions that they may call.
fn executed(statements: &[Stmt], functions: &[Executed]) -> Executed {
    let mut all = Executed::default();
    for statement in statements {
        for expr in visit::own_expressions(statement) {
            visit::walk(expr, &mut |part| {
                if let ExprKind::Call(id, _) = part.kind {
                    // Seen from here, the call is the statement.
                    let callee = functions[id.0 as usize];
                    all.then(Executed { any: callee.any.map(|_| part.span), ..callee });
                }
            });
        }
        match &statement.kind {
            StmtKind::Illuminate { .. } | StmtKind::Solar { .. } => all.shines(statement.span),
            StmtKind::Block(body) => all.then(executed(body, functions)),
            StmtKind::If { yes, no, .. } => {
                let (yes, no) = (executed(yes, functions), executed(no, functions));
                let second = yes.second.or(no.second).or(yes.any.or(no.any).zip(all.any));
                all = Executed { any: yes.any.or(no.any).or(all.any), second: all.second.or(second) };
            }
            StmtKind::Loop { body, .. } => {
                let trip = executed(body, functions);
                all.then(trip);
                all.then(trip);
            }
            // What follows is executed only where this was not.
            StmtKind::Return(_) => return Executed { any: None, ..all },
            _ => {}
        }
    }
    all
}

//! Light shaders that describe light more than once: what their statements give adds up, but for the trips of a loop.

use super::hir::{CheckedShader, DeclaredKind, ExprKind, Stmt, StmtKind};
use super::visit;
use crate::diagnostic::{Report, Reports};
use crate::span::Span;

/// Returns whether a light may execute several light statements, and warns of those that it may execute again.
pub(super) fn check(shader: &CheckedShader, reports: &mut Reports) -> bool {
    if shader.kind != DeclaredKind::Light {
        return false;
    }
    let mut functions = Vec::with_capacity(shader.functions.len());
    for function in &shader.functions {
        let own = executed(&function.body, &functions);
        functions.push(own);
    }
    let executed = executed(&shader.body, &functions);
    if let Some(span) = executed.repeated {
        let message = "of the trips of a loop, only the last `illuminate` or `solar` counts";
        reports.push(Report::warning(span, message).hint("make a light of each of them"));
    }
    executed.several
}

/// What code executes of light statements.
#[derive(Clone, Copy, Default)]
struct Executed {
    /// A light statement that may have been executed when control leaves the code at its end.
    any: Option<Span>,
    /// Whether one may be executed after another.
    several: bool,
    /// The first that a loop may execute again.
    repeated: Option<Span>,
}

impl Executed {
    /// Adds a light statement at `span`.
    fn shines(&mut self, span: Span) {
        self.several |= self.any.is_some();
        self.any = Some(span);
    }

    /// Adds code that is executed after what there is.
    fn then(&mut self, next: Self) {
        self.several |= next.several || next.any.is_some() && self.any.is_some();
        self.repeated = self.repeated.or(next.repeated);
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
                let either = Executed {
                    any: yes.any.or(no.any),
                    several: yes.several || no.several,
                    repeated: yes.repeated.or(no.repeated),
                };
                all.then(either);
            }
            StmtKind::Loop { body, .. } => {
                let trip = executed(body, functions);
                all.then(trip);
                all.repeated = all.repeated.or(trip.any);
            }
            // What follows is executed only where this was not.
            StmtKind::Return(_) => return Executed { any: None, ..all },
            _ => {}
        }
    }
    all
}

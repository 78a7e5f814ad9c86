//! Walks over the HIR.

use super::hir::{Argument, Expr, ExprKind, LValue, Stmt, StmtKind};

/// Calls `f` for every statement, outer ones before what is in them.
pub(crate) fn statements<'a>(list: &'a [Stmt], f: &mut impl FnMut(&'a Stmt)) {
    for statement in list {
        f(statement);
        for list in lists(statement) {
            statements(list, f);
        }
    }
}

/// Returns the lists of statements in a statement.
pub(crate) fn lists(statement: &Stmt) -> [&[Stmt]; 2] {
    match &statement.kind {
        StmtKind::Block(body)
        | StmtKind::Loop { body, .. }
        | StmtKind::Illuminance { body, .. }
        | StmtKind::Illuminate { body, .. }
        | StmtKind::Solar { body, .. } => [body, &[]],
        StmtKind::If { yes, no, .. } => [yes, no],
        StmtKind::Expr(_)
        | StmtKind::Declare(..)
        | StmtKind::Break(_)
        | StmtKind::Continue(_)
        | StmtKind::Return(_) => [&[], &[]],
    }
}

/// Calls `f` for every expression of every statement, outer ones before their parts.
pub(crate) fn expressions<'a>(list: &'a [Stmt], f: &mut impl FnMut(&'a Expr)) {
    statements(list, &mut |statement| {
        for expr in own_expressions(statement) {
            walk(expr, f);
        }
    });
}

/// Returns the expressions of a statement itself, without those of statements in it.
pub(crate) fn own_expressions(statement: &Stmt) -> Vec<&Expr> {
    match &statement.kind {
        StmtKind::Expr(value) | StmtKind::Return(Some(value)) | StmtKind::If { condition: value, .. } => vec![value],
        StmtKind::Declare(_, values) => values.iter().collect(),
        StmtKind::Loop { condition, step, .. } => condition.iter().chain(step).collect(),
        StmtKind::Illuminance { category, position, cone, sent, .. } => {
            let head = category.iter().chain([position]).chain(cone.iter().flat_map(|(a, b)| [a, b]));
            head.chain(sent.iter().map(|(_, value)| value)).collect()
        }
        StmtKind::Illuminate { position, cone, .. } => {
            std::iter::once(position).chain(cone.iter().flat_map(|(a, b)| [a, b])).collect()
        }
        StmtKind::Solar { cone, .. } => cone.iter().flat_map(|(a, b)| [a, b]).collect(),
        StmtKind::Block(_) | StmtKind::Break(_) | StmtKind::Continue(_) | StmtKind::Return(None) => Vec::new(),
    }
}

/// Calls `f` for an expression and all its parts.
pub(crate) fn walk<'a>(expr: &'a Expr, f: &mut impl FnMut(&'a Expr)) {
    f(expr);
    let mut place = |place: &'a LValue| {
        if let Some(index) = &place.index {
            walk(index, f);
        }
    };
    match &expr.kind {
        ExprKind::Float(_) | ExprKind::String(_) | ExprKind::Variable(_) | ExprKind::AssignArray(..) => {}
        ExprKind::Element(_, a) | ExprKind::Convert(_, a) | ExprKind::Negate(a) | ExprKind::Not(a) => walk(a, f),
        ExprKind::Triple(parts) => parts.iter().for_each(|part| walk(part, f)),
        ExprKind::Matrix(parts) => parts.iter().for_each(|part| walk(part, f)),
        ExprKind::FromSpace { space, value } => [space, value].into_iter().for_each(|part| walk(part, f)),
        ExprKind::Chain(first, links) => {
            walk(first, f);
            links.iter().filter_map(|link| link.step.operand()).for_each(|part| walk(part, f));
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|part| walk(part, f)),
        ExprKind::Assign(target, value) | ExprKind::Update(target, _, value) => {
            place(target);
            walk(value, f);
        }
        ExprKind::Call(_, arguments) => {
            for argument in arguments {
                match argument {
                    Argument::Value(value) => walk(value, f),
                    Argument::Output(LValue { index: Some(index), .. }) => walk(index, f),
                    Argument::Output(_) | Argument::Array(_) => {}
                }
            }
        }
        ExprKind::Shadeop(call) => {
            call.outputs.iter().for_each(&mut place);
            let named = call.named.iter().flat_map(|(name, value)| [name, value]);
            call.arguments.iter().chain(&call.channel).chain(named).for_each(|part| walk(part, f));
        }
    }
}

//! Checks a syntax tree and builds the HIR: resolves names, types expressions, infers what varies.
//!
//! Faults do not cascade: an expression that has one is left out (`None`), and whoever needs its value says nothing
//! more.

mod array_use;
mod arrays;
mod bake;
mod call;
mod checker;
mod class;
mod constant;
mod convert;
mod declare;
mod expression;
mod format;
mod globals;
pub mod hir;
mod info;
mod lights;
mod names;
mod operator;
mod scope;
mod statement;
pub(crate) mod visit;
mod whole;

pub(crate) use constant::evaluate as fold;
pub use info::DeclaredDefault;

use crate::diagnostic::{Report, Reports};
use crate::syntax::ast;
use checker::Checker;
use hir::CheckedShader;
use rustc_hash::FxHashMap;
use scope::Scope;
use std::sync::Arc;

/// Shaders in one file.
const SHADERS_MAX: usize = 64;

/// Checks all shaders of a file; only those without faults come out.
pub(crate) fn check(unit: &ast::Unit, reports: &mut Reports) -> Vec<CheckedShader> {
    let mut functions = Vec::new();
    let (mut shaders, mut count) = (Vec::new(), 0);
    for item in &unit.items {
        match item {
            ast::Item::Function(function) => functions.push(function),
            ast::Item::Shader(shader) if count < SHADERS_MAX => {
                // The first shader's check reports what is wrong with any function.
                let used = if count == 0 { functions.clone() } else { used_functions(&functions, shader) };
                count += 1;
                shaders.extend(check_shader(unit, &used, shader, reports));
            }
            ast::Item::Shader(shader) => {
                reports.push(Report::error(shader.name.span, format!("more than {SHADERS_MAX} shaders in one file")));
                break;
            }
        }
    }
    if count == 0 {
        let mut checker = Checker::new(unit, None, reports);
        for function in functions {
            checker.function(function);
        }
    }
    shaders
}

/// Returns the functions that a shader may call, by their names, in order.
fn used_functions<'a>(functions: &[&'a ast::FunctionDecl], shader: &ast::ShaderDecl) -> Vec<&'a ast::FunctionDecl> {
    let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, function) in functions.iter().enumerate() {
        by_name.entry(&function.name.name).or_default().push(index);
    }
    let (mut used, mut todo) = (Vec::new(), vec![&shader.calls]);
    while let Some(calls) = todo.pop() {
        for name in calls {
            for index in by_name.remove(&**name).unwrap_or_default() {
                used.push(index);
                todo.push(&functions[index].calls);
            }
        }
    }
    used.sort_unstable();
    used.into_iter().map(|index| functions[index]).collect()
}

/// Checks one shader with the functions before it; `None` if it has errors.
fn check_shader(
    unit: &ast::Unit,
    functions: &[&ast::FunctionDecl],
    shader: &ast::ShaderDecl,
    reports: &mut Reports,
) -> Option<CheckedShader> {
    let before = reports.error_count();
    let mut checker = Checker::new(unit, Some(shader.kind), reports);
    // Functions of the file see a shader's parameters as `extern` variables.
    let variables = checker.parameters(&shader.parameters);
    checker.scopes.push(Scope::block());
    for function in functions {
        checker.function(function);
    }
    let parameters = checker.defaults(&shader.parameters, &variables);
    let body = checker.body(&shader.body);
    checker.finish(shader);
    let Checker { variables, functions, reports, .. } = checker;
    let functions = functions.into_iter().map(|f| f.function).collect();
    let mut shader = CheckedShader {
        kind: shader.kind,
        name: shader.name.name.clone(),
        span: shader.name.span,
        texts: Arc::default(),
        parameters,
        variables,
        functions,
        body,
        adds_lights: false,
        notes_assignments: false,
    };
    if reports.error_count() == before {
        class::infer(&mut shader, reports);
        shader.adds_lights = lights::check(&shader, reports);
    }
    (reports.error_count() == before).then_some(shader)
}

#[cfg(test)]
mod tests;

//! Checks a syntax tree and builds the HIR: resolves names, types expressions, infers what varies.
//!
//! Faults do not cascade: an expression that has one is left out (`None`), and whoever needs its value says nothing
//! more.

mod bake;
mod call;
mod class;
mod constant;
mod convert;
mod declare;
mod expression;
mod globals;
pub mod hir;
mod info;
mod operator;
mod scope;
mod statement;
pub(crate) mod visit;

pub(crate) use constant::evaluate as fold;
pub use info::DeclaredDefault;
pub(crate) use statement::LEVELS_MAX;

use crate::diagnostic::{Report, Reports};
use crate::span::Span;
use crate::syntax::ast::{self, AstStmt};
use crate::syntax::token::Name;
use hir::{CheckedShader, DeclaredKind, FuncId, Function, Stmt, Type, VarId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use scope::Scope;

/// Shaders in one file.
const SHADERS_MAX: usize = 64;

/// Statements and expressions of a shader after all functions are put in place of their calls.
const INLINED_NODES_MAX: u64 = 1 << 20;

/// Levels of statements and expressions inside each other after all functions are put in place of their calls. The
/// lowering goes down level by level, on a thread with 2 MiB of stack.
const INLINED_DEPTH_MAX: u32 = 500;

/// Checks all shaders of a file; only those without faults come out.
pub(crate) fn check(unit: &ast::Unit, reports: &mut Reports) -> Vec<CheckedShader> {
    let mut functions = Vec::new();
    let (mut shaders, mut count) = (Vec::new(), 0);
    for item in &unit.items {
        match item {
            ast::Item::Function(function) => functions.push(function),
            ast::Item::Shader(shader) if count < SHADERS_MAX => {
                count += 1;
                shaders.extend(check_shader(unit, &functions, shader, reports));
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
    let mut shader =
        CheckedShader { kind: shader.kind, name: shader.name.name.clone(), parameters, variables, functions, body };
    if reports.error_count() == before {
        class::infer(&mut shader, reports);
    }
    (reports.error_count() == before).then_some(shader)
}

/// What is known while a shader is checked.
struct Checker<'a> {
    reports: &'a mut Reports,
    /// `None` when a file holds functions alone.
    kind: Option<DeclaredKind>,
    variables: Vec<Variable>,
    functions: Vec<CheckedFunction>,
    /// The innermost last: the shader's parameters, the file, bodies and blocks.
    scopes: Vec<Scope>,
    /// Predefined variables that are in use.
    predefined: FxHashMap<&'static str, VarId>,
    /// All functions of the file outside shaders, for hints.
    file_functions: FxHashSet<Name>,
    /// Functions whose declaration has a fault.
    poisoned_functions: FxHashSet<Name>,
    /// What was warned of, where one warning a shader is enough.
    warned: FxHashSet<Name>,
    enclosing: EnclosingCode,
}

/// A function and what is only known of it while its file is checked.
struct CheckedFunction {
    function: Function,
    /// What is wrong with it in this kind of shader: reported if the shader calls it.
    faults: Vec<Report>,
    facts: Facts,
}

/// What a shader's body or a function does.
#[derive(Default)]
struct Facts {
    /// Its calls, and whether they are inside an illuminance.
    calls: Vec<CallSite>,
    /// An `illuminance` or a shadeop like `diffuse()` that is in it.
    lights: Option<Span>,
    /// Where it changes a variable of the shader, or prints.
    changes: Option<Span>,
    /// Number of statements and expressions.
    nodes: u64,
    /// Levels of statements and expressions.
    depth: u32,
}

struct CallSite {
    callee: FuncId,
    span: Span,
    in_illuminance: bool,
    in_default: bool,
    /// Levels of statements and expressions around.
    depth: u32,
}

/// The place in the source that is being checked.
#[derive(Default)]
struct EnclosingCode {
    /// Names of the functions that are being read, the innermost last.
    functions: Vec<Name>,
    /// What `return` gives; `None` in a shader's body.
    result: Option<Type>,
    has_return: bool,
    /// What is being computed is for a uniform variable or result.
    for_uniform: bool,
    /// `return` gives a uniform value.
    returns_uniform: bool,
    /// Loops around, in this function.
    loops: u32,
    in_illuminance: bool,
    in_light_statement: bool,
    /// The parameter of the shader whose default this is.
    in_default: Option<VarId>,
    /// Levels of statements and expressions around.
    depth: u32,
    faults: Vec<Report>,
    facts: Facts,
}

impl<'a> Checker<'a> {
    fn new(unit: &ast::Unit, kind: Option<DeclaredKind>, reports: &'a mut Reports) -> Self {
        let names = unit.items.iter().filter_map(|item| match item {
            ast::Item::Function(function) => Some(function.name.name.clone()),
            ast::Item::Shader(_) => None,
        });
        Self {
            reports,
            kind,
            variables: Vec::new(),
            functions: Vec::new(),
            scopes: vec![Scope::block()],
            predefined: FxHashMap::default(),
            file_functions: names.collect(),
            poisoned_functions: FxHashSet::default(),
            warned: FxHashSet::default(),
            enclosing: EnclosingCode::default(),
        }
    }

    fn error(&mut self, report: Report) {
        self.reports.push(report);
    }

    /// A fault that depends on the kind of shader: in a function it counts only when the shader calls it.
    fn kind_error(&mut self, report: Report) {
        if self.enclosing.functions.is_empty() { self.reports.push(report) } else { self.enclosing.faults.push(report) }
    }

    /// A warning of which one a shader is enough: the first of its `subject`.
    fn warn_once(&mut self, subject: &str, report: Report) {
        if self.warned.insert(subject.into()) {
            self.reports.push(report);
        }
    }

    fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    fn add_variable(&mut self, variable: Variable) -> VarId {
        self.variables.push(variable);
        VarId((self.variables.len() - 1) as u32)
    }

    /// Counts a part of the program, one level below the part around it.
    fn level<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.enclosing.depth += 1;
        self.enclosing.facts.nodes += 1;
        self.enclosing.facts.depth = self.enclosing.facts.depth.max(self.enclosing.depth);
        let result = f(self);
        self.enclosing.depth -= 1;
        result
    }

    /// Checks with `f` what is meant for something of this class.
    fn meant_for<T>(&mut self, class: Option<hir::Class>, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.enclosing.for_uniform, class == Some(hir::Class::Uniform));
        let result = f(self);
        self.enclosing.for_uniform = outer;
        result
    }

    /// The statements of a shader or function in a scope of their own.
    fn body(&mut self, statements: &[AstStmt]) -> Vec<Stmt> {
        self.scopes.push(Scope::block());
        let body = self.statements(statements);
        self.scopes.pop();
        body
    }

    /// What can only be judged when all calls are known: nested illuminance, faults of called functions, size.
    fn finish(&mut self, shader: &ast::ShaderDecl) {
        let facts = std::mem::take(&mut self.enclosing.facts);
        let mut reached = vec![false; self.functions.len()];
        let mut todo: Vec<_> = facts.calls.iter().map(|c| c.callee).collect();
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut reached[id.0 as usize], true) {
                continue;
            }
            let function = &mut self.functions[id.0 as usize];
            for fault in std::mem::take(&mut function.faults) {
                self.reports.push(fault);
            }
            todo.extend(function.facts.calls.iter().map(|c| c.callee));
        }
        self.check_calls(&facts, &reached);
        let (nodes, depth) = self.inlined_size(&facts);
        if depth > INLINED_DEPTH_MAX {
            let message = format!("statements and function calls are nested {depth} levels deep");
            let report = Report::error(shader.name.span, message);
            self.error(report.hint(format!("at most {INLINED_DEPTH_MAX} levels are supported")));
        }
        if nodes > INLINED_NODES_MAX {
            let message = format!(
                "the shader is too large after inlining all function calls: {nodes} statements and expressions"
            );
            let report = Report::error(shader.name.span, message);
            self.error(report.hint("functions that call others several times grow exponentially; use loops"));
        }
    }

    /// Reports calls of functions that loop over the lights, or change something, where that is not possible.
    fn check_calls(&mut self, facts: &Facts, reached: &[bool]) {
        // For each function, where it loops over the lights and where it changes something, if it does.
        let mut effects: Vec<(Option<Span>, Option<Span>)> = Vec::with_capacity(self.functions.len());
        let mut faults = Vec::new();
        let callers = self.functions.iter().enumerate().map(|(i, f)| (&f.facts, reached[i]));
        for (facts, reached) in callers.chain([(facts, true)]) {
            let (mut lights, mut changes) = (facts.lights, facts.changes);
            for call in &facts.calls {
                let (inner_lights, inner_changes) = effects[call.callee.0 as usize];
                if let Some(inner) = inner_lights.filter(|_| reached && (call.in_illuminance || call.in_default)) {
                    faults.push(lights_report(call.span, call.in_default).also(inner, "this loops over the lights"));
                }
                if let Some(inner) = inner_changes.filter(|_| call.in_default) {
                    faults.push(default_report(call.span).also(inner, "this changes something"));
                }
                lights = lights.or(inner_lights);
                changes = changes.or(inner_changes);
            }
            effects.push((lights, changes));
        }
        for fault in faults {
            self.error(fault);
        }
    }

    /// Number of parts and of levels of the shader's body with all calls in place.
    fn inlined_size(&self, facts: &Facts) -> (u64, u32) {
        let mut sizes: Vec<(u64, u32)> = Vec::with_capacity(self.functions.len());
        let size = |facts: &Facts, sizes: &[(u64, u32)]| {
            facts.calls.iter().fold((facts.nodes, facts.depth), |(nodes, depth), call| {
                let (inner_nodes, inner_depth) = sizes[call.callee.0 as usize];
                (nodes.saturating_add(inner_nodes), depth.max(call.depth.saturating_add(inner_depth)))
            })
        };
        for function in &self.functions {
            let own = size(&function.facts, &sizes);
            sizes.push(own);
        }
        size(facts, &sizes)
    }
}

/// An error for a loop over the lights where that is not possible.
fn lights_report(span: Span, in_default: bool) -> Report {
    if in_default {
        Report::error(span, "the default of a parameter cannot use lights")
    } else {
        Report::error(span, "loops over the lights cannot be nested")
    }
}

/// An error for a change where a parameter's default is computed.
fn default_report(span: Span) -> Report {
    Report::error(span, "the default of a parameter cannot have side effects")
}

#[cfg(test)]
mod tests;

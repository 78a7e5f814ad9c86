//! What is known while a shader is checked, and how faults are reported.

use super::array_use::ArrayUse;
use super::hir::{Class, DeclaredKind, FuncId, Function, Stmt, Type, VarId, Variable};
use super::scope::Scope;
use crate::diagnostic::{Report, Reports};
use crate::span::Span;
use crate::syntax::ast::{self, AstStmt};
use crate::syntax::token::Name;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known while a shader is checked.
pub(super) struct Checker<'a> {
    pub(super) reports: &'a mut Reports,
    /// `None` when a file holds functions alone.
    pub(super) kind: Option<DeclaredKind>,
    pub(super) variables: Vec<Variable>,
    pub(super) functions: Vec<CheckedFunction>,
    /// The innermost last: the shader's parameters, the file, bodies and blocks.
    pub(super) scopes: Vec<Scope>,
    /// Predefined variables that are in use.
    pub(super) predefined: FxHashMap<&'static str, VarId>,
    /// All functions of the file outside shaders, for hints.
    pub(super) file_functions: FxHashSet<Name>,
    /// Functions whose declaration has a fault.
    pub(super) poisoned_functions: FxHashSet<Name>,
    /// What is done with arrays of open length: local ones, and arguments of functions.
    pub(super) array_uses: FxHashMap<VarId, ArrayUse>,
    /// What was warned of, where one warning a shader is enough.
    pub(super) warned: FxHashSet<Name>,
    pub(super) enclosing: EnclosingCode,
}

/// A function and what is only known of it while its file is checked.
pub(super) struct CheckedFunction {
    pub(super) function: Function,
    /// What is wrong with it in this kind of shader: reported if the shader calls it.
    pub(super) faults: Vec<Report>,
    pub(super) facts: Facts,
}

/// What a shader's body or a function does.
#[derive(Default)]
pub(super) struct Facts {
    /// Its calls, and whether they are inside an illuminance.
    pub(super) calls: Vec<CallSite>,
    /// An `illuminance` or a shadeop like `diffuse()` that is in it.
    pub(super) lights: Option<Span>,
    /// Where it changes a variable of the shader, or prints.
    pub(super) changes: Option<Span>,
    /// Number of statements and expressions.
    pub(super) nodes: u64,
    /// Levels of statements and expressions.
    pub(super) depth: u32,
}

pub(super) struct CallSite {
    pub(super) callee: FuncId,
    pub(super) span: Span,
    pub(super) in_illuminance: bool,
    pub(super) in_default: bool,
    /// Levels of statements and expressions around.
    pub(super) depth: u32,
}

/// The place in the source that is being checked.
#[derive(Default)]
pub(super) struct EnclosingCode {
    /// Names of the functions that are being read, the innermost last.
    pub(super) functions: Vec<Name>,
    /// What `return` gives; `None` in a shader's body.
    pub(super) result: Option<Type>,
    pub(super) has_return: bool,
    /// What is being computed is for a uniform variable or result.
    pub(super) for_uniform: bool,
    /// `return` gives a uniform value.
    pub(super) returns_uniform: bool,
    /// Loops around, in this function.
    pub(super) loops: u32,
    pub(super) in_illuminance: bool,
    pub(super) in_light_statement: bool,
    /// The parameter of the shader whose default this is.
    pub(super) in_default: Option<VarId>,
    /// Levels of statements and expressions around.
    pub(super) depth: u32,
    pub(super) faults: Vec<Report>,
    pub(super) facts: Facts,
}

impl<'a> Checker<'a> {
    pub(super) fn new(unit: &ast::Unit, kind: Option<DeclaredKind>, reports: &'a mut Reports) -> Self {
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
            array_uses: FxHashMap::default(),
            warned: FxHashSet::default(),
            enclosing: EnclosingCode::default(),
        }
    }

    pub(super) fn error(&mut self, report: Report) {
        self.reports.push(report);
    }

    /// A fault that depends on the kind of shader: in a function it counts only when the shader calls it.
    pub(super) fn kind_error(&mut self, report: Report) {
        if self.enclosing.functions.is_empty() { self.reports.push(report) } else { self.enclosing.faults.push(report) }
    }

    /// A warning of which one a shader is enough: the first of its `subject`.
    pub(super) fn warn_once(&mut self, subject: &str, report: Report) {
        if self.warned.insert(subject.into()) {
            self.reports.push(report);
        }
    }

    pub(super) fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    pub(super) fn add_variable(&mut self, variable: Variable) -> VarId {
        self.variables.push(variable);
        VarId((self.variables.len() - 1) as u32)
    }

    /// Counts a part of the program, one level below the part around it.
    pub(super) fn level<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.enclosing.depth += 1;
        self.enclosing.facts.nodes += 1;
        self.enclosing.facts.depth = self.enclosing.facts.depth.max(self.enclosing.depth);
        let result = f(self);
        self.enclosing.depth -= 1;
        result
    }

    /// Checks with `f` what is meant for something of this class.
    pub(super) fn meant_for<T>(&mut self, class: Option<Class>, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.enclosing.for_uniform, class == Some(Class::Uniform));
        let result = f(self);
        self.enclosing.for_uniform = outer;
        result
    }

    /// Checks the statements of a shader or function in a scope of their own.
    pub(super) fn body(&mut self, statements: &[AstStmt]) -> Vec<Stmt> {
        self.scopes.push(Scope::block());
        let body = self.statements(statements);
        self.scopes.pop();
        body
    }
}

/// Returns an error for a loop over the lights where that is not possible.
pub(super) fn lights_report(span: Span, in_default: bool) -> Report {
    if in_default {
        Report::error(span, "the default of a parameter cannot use lights")
    } else {
        Report::error(span, "loops over the lights cannot be nested")
    }
}

/// Returns an error for a change where a parameter's default is computed.
pub(super) fn default_report(span: Span) -> Report {
    Report::error(span, "the default of a parameter cannot have side effects")
}

//! Declarations: parameters, local variables, functions.

use super::array_use::ARRAY_LENGTH_MAX;
use super::checker::{CheckedFunction, Checker, EnclosingCode, default_report};
use super::constant;
use super::hir::{
    Class, Default, Expr, ExprKind, FuncId, Function, Parameter, ShadeopCall, Shape, Stmt, StmtKind, Storage, Type,
    VarId, Variable,
};
use super::scope::Scope;
use super::visit;
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::ast::{self, ArrayLength, AstExpr, Declaration, Init};

impl Checker<'_> {
    /// Declares a shader's parameters; `None` for those with a fault.
    pub(super) fn parameters(&mut self, declarations: &[Declaration]) -> Vec<Option<VarId>> {
        let mut variables = Vec::new();
        for declaration in declarations {
            if declaration.is_extern {
                self.error(Report::error(declaration.name.span, "a parameter of a shader cannot be `extern`"));
            }
            variables.push(self.variable_of(declaration, Storage::Parameter { output: declaration.output }));
        }
        variables
    }

    /// Returns the defaults of a shader's parameters.
    pub(super) fn defaults(&mut self, declarations: &[Declaration], variables: &[Option<VarId>]) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for (declaration, variable) in declarations.iter().zip(variables) {
            let Some(variable) = *variable else { continue };
            self.enclosing.in_default = Some(variable);
            let Variable { ty, shape, class, .. } = *self.variable(variable);
            let values = match &declaration.init {
                Some(init) => self.meant_for(class, |this| this.initializer(init, ty, shape)),
                None => Some(zeros(ty, shape, declaration.name.span)),
            };
            let Some(values) = values else { continue };
            values.iter().for_each(|value| self.check_default(value));
            let known: Option<Vec<_>> = values.iter().map(constant::evaluate).collect();
            let default = known.map_or(Default::Computed(values), Default::Constant);
            parameters.push(Parameter { variable, default });
        }
        self.enclosing.in_default = None;
        parameters
    }

    /// An error if computing a default changes anything.
    fn check_default(&mut self, value: &Expr) {
        let mut changes = None;
        visit::walk(value, &mut |part| {
            let assigns = matches!(part.kind, ExprKind::Assign(..) | ExprKind::Update(..));
            let writes = |call: &ShadeopCall| call.opcode.has_effect() || !call.outputs.is_empty();
            if assigns || matches!(&part.kind, ExprKind::Shadeop(call) if writes(call)) {
                changes = Some(part.span);
            }
        });
        if let Some(span) = changes {
            self.error(default_report(span));
        }
    }

    /// Returns the variable that a declaration makes in the innermost scope, or `None`, with an error, if it makes
    /// none.
    fn variable_of(&mut self, declaration: &Declaration, storage: Storage) -> Option<VarId> {
        let shape = self.shape_of(declaration, storage);
        self.declare_shaped(declaration, storage, shape)
    }

    /// Returns whether one value or an array is declared, or `None`, with an error, if the length cannot be determined.
    fn shape_of(&mut self, declaration: &Declaration, storage: Storage) -> Option<Shape> {
        match &declaration.array {
            None => Some(Shape::Single),
            Some(ArrayLength::Open(_)) if matches!(storage, Storage::Argument { .. }) => Some(Shape::Open),
            Some(ArrayLength::Open(span)) => {
                let count = if let Some(Init::List(values, _)) = &declaration.init { values.len() } else { 0 };
                match storage {
                    Storage::Local if count == 0 => Some(Self::empty_array()),
                    _ => self.listed_length(count, *span),
                }
            }
            Some(ArrayLength::Fixed(length)) => self.array_length(length),
        }
    }

    fn declare_shaped(&mut self, declaration: &Declaration, storage: Storage, shape: Option<Shape>) -> Option<VarId> {
        let Declaration { name, ty, class, .. } = declaration;
        let Some(shape) = shape else {
            self.bind(&name.name, None, name.span);
            return None;
        };
        if *ty == Type::String && *class == Some(Class::Varying) {
            self.error(Report::error(name.span, "strings are always uniform").hint("omit `varying`"));
        }
        let is_parameter = matches!(storage, Storage::Parameter { .. });
        let class = class.or(is_parameter.then_some(Class::Uniform));
        let inferred = class.unwrap_or(Class::Uniform);
        let (name, span) = (name.name.clone(), name.span);
        Some(self.declare(Variable { name, ty: *ty, shape, class, inferred, storage, span }))
    }

    fn array_length(&mut self, length: &AstExpr) -> Option<Shape> {
        let value = self.value_of(length, Type::Float)?;
        let Some(constant::Constant::Float(number)) = constant::evaluate(&value) else {
            self.error(Report::error(value.span, "the length of an array must be known when the shader is compiled"));
            return None;
        };
        if number < 1.0 || number.fract() != 0.0 || number > ARRAY_LENGTH_MAX as f32 {
            let message = format!("an array has 1 to {ARRAY_LENGTH_MAX} elements, not {number}");
            self.error(Report::error(value.span, message));
            return None;
        }
        Some(Shape::Array(number as u32))
    }

    /// Returns the shape of an array of which all values are given.
    fn listed_length(&mut self, count: usize, span: Span) -> Option<Shape> {
        if count == 0 || count > ARRAY_LENGTH_MAX as usize {
            let message = format!("an array has 1 to {ARRAY_LENGTH_MAX} elements, not {count}");
            self.error(Report::error(span, message));
            return None;
        }
        Some(Shape::Array(count as u32))
    }

    /// Returns the values that a declaration gives: one, or one for each element.
    fn initializer(&mut self, init: &Init, ty: Type, shape: Shape) -> Option<Vec<Expr>> {
        match (init, shape) {
            (Init::Value(value), Shape::Single) => Some(vec![self.value_of(value, ty)?]),
            (Init::List(values, _), Shape::Resizable(_)) if values.is_empty() => Some(Vec::new()),
            (Init::List(values, span), Shape::Array(length)) => {
                let mut values: Vec<_> = values.iter().map(|v| self.value_of(v, ty)).collect();
                let length = length as usize;
                if values.len() > length {
                    let message = format!("{} values for an array of {length}: the last are ignored", values.len());
                    self.reports.push(Report::warning(*span, message));
                    values.truncate(length);
                }
                if values.len() != length {
                    let message = format!("{} values for an array of {length}", values.len());
                    self.error(Report::error(*span, message));
                    return None;
                }
                values.into_iter().collect()
            }
            (Init::Value(value), _) => {
                let value = self.expr(value, Some(ty))?;
                let report = Report::error(value.span, "an array must be initialized with a list of values");
                self.error(report.hint("write `{a, b, ...}` with one value for each element"));
                None
            }
            (Init::List(_, span), _) => {
                self.error(Report::error(*span, "a list of values can only initialize an array"));
                None
            }
        }
    }

    /// Checks the declaration of local variables, or of variables of the shader around that a function uses.
    pub(super) fn local(&mut self, declaration: &Declaration) -> Option<Stmt> {
        let span = declaration.name.span;
        if declaration.is_extern {
            self.extern_variable(declaration);
            return None;
        }
        if declaration.output {
            self.error(Report::error(span, "a local variable cannot be `output`"));
        }
        // The value may use an outer variable of the same name.
        let shape = self.shape_of(declaration, Storage::Local);
        let values = match (&declaration.init, shape) {
            (Some(init), Some(shape)) => {
                self.meant_for(declaration.class, |this| this.initializer(init, declaration.ty, shape))
            }
            _ => Some(Vec::new()),
        };
        let variable = self.declare_shaped(declaration, Storage::Local, shape);
        if let (Some(id), Some(ArrayLength::Open(_))) = (variable, &declaration.array) {
            self.note_open_array(id);
        }
        Some(Stmt { kind: StmtKind::Declare(variable?, values?), span })
    }

    fn extern_variable(&mut self, declaration: &Declaration) {
        let Declaration { name, ty, .. } = declaration;
        if let Some(Init::Value(AstExpr { span, .. }) | Init::List(_, span)) = &declaration.init {
            self.error(Report::error(*span, "an `extern` variable cannot be initialized"));
        }
        let Some(id) = self.resolve_extern(&name.name, name.span) else {
            return self.bind(&name.name, None, name.span);
        };
        let variable = self.variable(id);
        let (actual, declared, is_array) = (variable.ty, variable.span, variable.shape != Shape::Single);
        let alike = actual == *ty || (actual.is_pointlike() && ty.is_pointlike());
        if !alike || is_array != declaration.array.is_some() {
            let array = if is_array { "an array of " } else { "" };
            let message = format!("`{}` is {array}`{actual}` in the shader", name.name);
            let report = Report::error(name.span, message);
            let predefined = declared == Span::default();
            self.kind_error(if predefined { report } else { report.also(declared, "declared here") });
            return self.bind(&name.name, None, name.span);
        }
        self.bind(&name.name, Some(id), name.span);
    }

    /// A function, outside shaders or inside one.
    pub(super) fn function(&mut self, declaration: &ast::FunctionDecl) {
        let name = &declaration.name;
        self.scopes.push(Scope::function());
        let mut functions = self.enclosing.functions.clone();
        functions.push(name.name.clone());
        let inside = EnclosingCode {
            functions,
            result: Some(declaration.result),
            returns_uniform: declaration.class == Some(Class::Uniform),
            ..EnclosingCode::default()
        };
        let outside = std::mem::replace(&mut self.enclosing, inside);
        let arguments: Vec<_> = declaration.parameters.iter().map(|p| self.argument(p)).collect();
        let body = self.body(&declaration.body);
        let inside = std::mem::replace(&mut self.enclosing, outside);
        self.scopes.pop();
        if declaration.result != Type::Void && !inside.has_return {
            let message = format!("`{}` must return a `{}`", name.name, declaration.result);
            self.error(Report::error(name.span, message).hint("end it with `return value;`"));
        }
        let Some(arguments) = arguments.into_iter().collect::<Option<Vec<_>>>() else {
            self.poisoned_functions.insert(name.name.clone());
            return;
        };
        let function =
            Function { name: name.name.clone(), arguments, result: declaration.result, body, span: name.span };
        self.check_defined_once(&function);
        let id = FuncId(self.functions.len() as u32);
        self.functions.push(CheckedFunction { function, faults: inside.faults, facts: inside.facts });
        self.bind_function(&name.name, id);
    }

    fn argument(&mut self, declaration: &Declaration) -> Option<VarId> {
        if let Some(Init::Value(AstExpr { span, .. }) | Init::List(_, span)) = &declaration.init {
            self.error(Report::error(*span, "an argument of a function cannot have a default"));
        }
        if declaration.is_extern {
            self.error(Report::error(declaration.name.span, "an argument of a function cannot be `extern`"));
        }
        self.variable_of(declaration, Storage::Argument { output: declaration.output })
    }

    /// An error if the innermost scope has a function of this name and these arguments.
    fn check_defined_once(&mut self, function: &Function) {
        let types = |f: &Function| -> Vec<_> {
            f.arguments.iter().map(|&a| (self.variable(a).ty, self.variable(a).shape)).collect()
        };
        let new = types(function);
        let before = self.functions_declared_here(&function.name);
        let mut same = before.iter().map(|id| &self.functions[id.0 as usize].function);
        let same = same.find(|f| f.result == function.result && types(f) == new).map(|f| f.span);
        if let Some(span) = same {
            let report = Report::error(function.span, format!("`{}` is defined twice", function.name));
            self.error(
                report.also(span, "previously defined here").hint("overloads differ in their arguments or result"),
            );
        }
    }
}

/// Returns what a parameter without a default is.
fn zeros(ty: Type, shape: Shape, span: Span) -> Vec<Expr> {
    let count = if let Shape::Array(length) = shape { length } else { 1 };
    let float = |value| Expr { kind: ExprKind::Float(value), ty: Type::Float, shape: Shape::Single, span };
    let kind = match ty {
        Type::String => ExprKind::String("".into()),
        Type::Matrix => ExprKind::Matrix((0..16).map(|_| float(0.0)).collect()),
        ty if ty.is_triple() => ExprKind::Triple(Box::new([float(0.0), float(0.0), float(0.0)])),
        _ => ExprKind::Float(0.0),
    };
    vec![Expr { kind, ty, shape: Shape::Single, span }; count as usize]
}

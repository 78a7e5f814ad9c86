//! Expressions.

use super::checker::Checker;
use super::convert;
use super::hir::{Arithmetic, Conversion, Expr, ExprKind, LValue, Shape, Storage, Type, VarId};
use super::operator::{arithmetic_type, single};
use super::{globals, hir};
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::ast::{AstExpr, AstExprKind, BinaryOp};
use crate::syntax::token::Name;

/// Names of color spaces (RISpec table 15.1).
pub(super) const COLOR_SPACES: [&str; 7] = ["rgb", "hsv", "hsl", "YIQ", "XYZ", "CIE", "xyY"];

impl Checker<'_> {
    /// Returns an expression that gives one value. `expected` is the type that the surroundings want; it chooses
    /// between overloads.
    pub(super) fn value(&mut self, expr: &AstExpr, expected: Option<Type>) -> Option<Expr> {
        let value = self.expr(expr, expected)?;
        self.warn_of_light_outside(&value);
        if value.ty == Type::Void {
            self.error(Report::error(value.span, "this call returns no value"));
            return None;
        }
        if value.shape == Shape::Single {
            return Some(value);
        }
        let report = Report::error(value.span, format!("expected one value, found {}", value.describe()));
        self.error(report.hint("use an element: `name[0]`"));
        None
    }

    /// Returns an expression of this type.
    pub(super) fn value_of(&mut self, expr: &AstExpr, ty: Type) -> Option<Expr> {
        let value = self.value(expr, Some(ty))?;
        self.convert(value, ty)
    }

    /// Checks any expression, whole arrays and calls without a value included.
    pub(super) fn expr(&mut self, expr: &AstExpr, expected: Option<Type>) -> Option<Expr> {
        self.level(|this| this.expr_kind(expr, expected))
    }

    fn expr_kind(&mut self, expr: &AstExpr, expected: Option<Type>) -> Option<Expr> {
        let span = expr.span;
        match &expr.kind {
            AstExprKind::Error => None,
            AstExprKind::Number(value) => Some(single(ExprKind::Float(*value), Type::Float, span)),
            AstExprKind::String(text) => Some(single(ExprKind::String(text.clone()), Type::String, span)),
            AstExprKind::Name(name) => self.name(name, span),
            AstExprKind::Index { base, index } => self.index(base, index, span),
            AstExprKind::Call { name, arguments } => self.call(name, arguments, span, expected),
            AstExprKind::Tuple(values) => self.tuple(values, span, expected),
            AstExprKind::Cast { ty, space, value } => self.cast_expr(*ty, space.as_deref(), value, span),
            AstExprKind::Unary { operator, value } => self.unary(*operator, value, span, expected),
            AstExprKind::Chain { first, links } => self.chain(first, links, span, expected),
            AstExprKind::Conditional { condition, yes, no } => self.conditional([condition, yes, no], span, expected),
            AstExprKind::Assign { operator, target, value } => self.assign(*operator, target, value, span),
        }
    }

    fn name(&mut self, name: &Name, span: Span) -> Option<Expr> {
        if &**name == "PI" && !self.is_variable(name) {
            return Some(single(ExprKind::Float(std::f32::consts::PI), Type::Float, span));
        }
        let id = self.resolve(name, span)?;
        let variable = self.variable(id);
        if self.enclosing.in_default.is_some_and(|own| id >= own)
            && matches!(variable.storage, Storage::Parameter { .. })
        {
            let report = Report::error(span, format!("`{name}` has no value yet"));
            self.error(report.hint("a default may only use parameters declared before it"));
            return None;
        }
        let variable = self.variable(id);
        Some(Expr { kind: ExprKind::Variable(id), ty: variable.ty, shape: variable.shape, span })
    }

    /// L, Cl and Ol mean something only where there is a light.
    pub(super) fn warn_of_light_outside(&mut self, value: &Expr) {
        let ExprKind::Variable(id) = value.kind else { return };
        if self.is_of_seen_light(id) && self.enclosing.functions.is_empty() && !self.enclosing.in_illuminance {
            let message = format!("`{}` is zero outside `illuminance`", self.variable(id).name);
            self.reports.push(Report::warning(value.span, message));
        }
    }

    /// Returns whether a variable is what a surface or volume knows of a light.
    fn is_of_seen_light(&self, id: VarId) -> bool {
        use hir::Predefined::{Cl, L, Ol};
        let sees_lights = matches!(self.kind, Some(hir::DeclaredKind::Surface | hir::DeclaredKind::Volume));
        sees_lights && matches!(self.variable(id).storage, Storage::Predefined(L | Cl | Ol))
    }

    fn index(&mut self, base: &AstExpr, index: &AstExpr, span: Span) -> Option<Expr> {
        let array = self.expr(base, None);
        let index = self.value_of(index, Type::Float);
        let array = array?;
        let (ExprKind::Variable(id), Shape::Array(_) | Shape::Resizable(_) | Shape::Open) = (&array.kind, array.shape)
        else {
            let report = Report::error(base.span, format!("{} has no elements", array.describe()));
            let hint = match array.ty {
                Type::String => "a channel follows the name of a texture: `texture(name[0])`",
                Type::Color => "use a component: `comp(c, 0)`",
                Type::Matrix => "use a component: `comp(m, row, column)`",
                ty if ty.is_pointlike() => "use a component: `xcomp(p)`",
                _ => "",
            };
            self.error(if hint.is_empty() { report } else { report.hint(hint) });
            return None;
        };
        let index = index?;
        self.check_index(&index, array.shape);
        Some(single(ExprKind::Element(*id, Box::new(index)), array.ty, span))
    }

    /// An error for an index that is known to be out of range.
    fn check_index(&mut self, index: &Expr, shape: Shape) {
        if let (ExprKind::Float(value), Shape::Array(length)) = (&index.kind, shape)
            && (*value <= -1.0 || *value >= length as f32)
        {
            let report = Report::error(index.span, format!("index {value} is out of range for an array of {length}"));
            self.error(report.hint(format!("valid indices are 0 to {}", length - 1)));
        }
    }

    fn tuple(&mut self, values: &[AstExpr], span: Span, expected: Option<Type>) -> Option<Expr> {
        let parts: Vec<_> = values.iter().map(|v| self.value_of(v, Type::Float)).collect();
        let parts: Vec<_> = parts.into_iter().collect::<Option<_>>()?;
        if parts.len() == 16 {
            return Some(single(ExprKind::Matrix(parts), Type::Matrix, span));
        }
        let parts: Box<[Expr; 3]> = Box::new(parts.try_into().expect("the parser makes tuples of 3 or 16"));
        let ty = expected.filter(|t| t.is_triple()).unwrap_or(Type::Vector);
        Some(single(ExprKind::Triple(parts), ty, span))
    }

    fn cast_expr(&mut self, ty: Type, space: Option<&AstExpr>, value: &AstExpr, span: Span) -> Option<Expr> {
        // `point space (x, y, z)` with a variable `space` was read as a call.
        if let (None, AstExprKind::Call { name, arguments }) = (space, &value.kind)
            && (arguments.len() == 3 || arguments.len() == 16)
            && self.is_variable(&name.name)
            && self.functions_named(&name.name).is_empty()
            && crate::shadeops::overloads(&name.name).is_empty()
        {
            let space = self.name(&name.name, name.span).and_then(|s| self.convert(s, Type::String));
            let value = self.tuple(arguments, value.span, Some(ty)).and_then(|v| self.cast(v, ty));
            return self.value_from_space(ty, space?, value?, span);
        }
        let space = space.map(|space| self.value_of(space, Type::String));
        let value = self.value(value, Some(ty)).and_then(|v| self.cast(v, ty));
        let Some(space) = space else {
            return value.map(|v| Expr { span, ..v });
        };
        self.value_from_space(ty, space?, value?, span)
    }

    fn value_from_space(&mut self, ty: Type, space: Expr, value: Expr, span: Span) -> Option<Expr> {
        if matches!(ty, Type::Float | Type::String) {
            let report = Report::error(space.span, format!("a `{ty}` has no coordinate space"));
            self.error(report);
            return None;
        }
        if ty == Type::Color {
            self.check_color_space(&space);
        }
        Some(single(ExprKind::FromSpace { space: Box::new(space), value: Box::new(value) }, ty, span))
    }

    /// An error for the name of a color space that does not exist.
    pub(super) fn check_color_space(&mut self, space: &Expr) {
        if let ExprKind::String(name) = &space.kind
            && !COLOR_SPACES.contains(&&**name)
        {
            let report = Report::error(space.span, format!("unknown color space `{name}`"));
            self.error(report.hint(format!("known color spaces are {}", COLOR_SPACES.join(", "))));
        }
    }

    /// `target = value` and its variants.
    fn assign(&mut self, operator: Option<BinaryOp>, target: &AstExpr, value: &AstExpr, span: Span) -> Option<Expr> {
        let place = self.expr(target, None);
        let wanted = place.as_ref().map(|p| p.ty);
        let class = place.as_ref().and_then(|p| match p.kind {
            ExprKind::Variable(id) | ExprKind::Element(id, _) => self.variable(id).class,
            _ => None,
        });
        let value = self.meant_for(class, |this| this.expr(value, wanted));
        if let Some(value) = &value {
            self.warn_of_light_outside(value);
        }
        let place = place?;
        if place.shape != Shape::Single {
            return self.assign_array(&place, value?, operator.is_some(), span);
        }
        let (ty, what) = (place.ty, place.describe());
        let place = self.assignable(place)?;
        let value = value?;
        if value.shape != Shape::Single || value.ty == Type::Void {
            self.convert(value, ty);
            return None;
        }
        let Some(operator) = operator else {
            let value = self.convert(value, ty)?;
            return Some(single(ExprKind::Assign(place, Box::new(value)), ty, span));
        };
        let operator = match operator {
            BinaryOp::Add => Arithmetic::Add,
            BinaryOp::Subtract => Arithmetic::Subtract,
            BinaryOp::Multiply => Arithmetic::Multiply,
            _ => Arithmetic::Divide,
        };
        let value = if value.is_open_tuple() && ty.is_triple() { value.renamed(ty) } else { value };
        let fits = arithmetic_type(operator, ty, value.ty)
            .filter(|(result, _)| *result == ty || (result.is_pointlike() && ty.is_pointlike()));
        if fits.is_none() {
            let message = format!("{what} cannot be updated with {}", value.describe());
            self.error(Report::error(span, message));
            return None;
        }
        let value = convert::apply(value, ty);
        Some(single(ExprKind::Update(place, operator, Box::new(value)), ty, span))
    }

    fn assign_array(&mut self, place: &Expr, value: Expr, updates: bool, span: Span) -> Option<Expr> {
        let (ExprKind::Variable(to), ExprKind::Variable(from)) = (&place.kind, &value.kind) else {
            let message = format!("{} cannot be assigned to {}", value.describe(), place.describe());
            self.error(Report::error(span, message).hint("assign the elements one by one"));
            return None;
        };
        let fits = |this: &mut Self| this.makes_room(*to, &value, span) || place.shape == value.shape;
        if updates || place.ty != value.ty || place.shape == Shape::Open || !fits(self) {
            let message = format!("{} cannot be assigned to {}", value.describe(), place.describe());
            self.error(Report::error(span, message).hint("both arrays must have the same type and length"));
            return None;
        }
        self.assignable(place.clone())?;
        Some(Expr { kind: ExprKind::AssignArray(*to, *from), ty: place.ty, shape: place.shape, span })
    }

    /// Returns the variable or element that `target` is, or `None`, with an error, if it cannot be assigned.
    pub(super) fn assignable(&mut self, target: Expr) -> Option<LValue> {
        let (variable, index) = match target.kind {
            ExprKind::Variable(id) => (id, None),
            ExprKind::Element(id, index) => (id, Some(index)),
            ExprKind::Convert(Conversion::Rename, inner) => return self.assignable(*inner),
            _ => {
                self.error(Report::error(target.span, "only variables can be assigned to"));
                return None;
            }
        };
        self.check_writable(variable, target.span).then_some(LValue { variable, index })
    }

    fn check_writable(&mut self, id: VarId, span: Span) -> bool {
        let variable = self.variable(id).clone();
        let (name, declared) = (variable.name.clone(), variable.span);
        let what = match variable.storage {
            Storage::Predefined(_) => {
                let entry = globals::find(&name).expect("predefined variables come from the table");
                let is_own = self.is_of_seen_light(id)
                    && (self.enclosing.in_illuminance || !self.enclosing.functions.is_empty());
                let is_fixed = |k: &_| entry.known.contains(*k) && !entry.writable.contains(*k) && !is_own;
                if let Some(kind) = self.kind.filter(is_fixed) {
                    let message = format!("{kind} shaders cannot change `{name}`");
                    self.kind_error(Report::error(span, message));
                }
                self.enclosing.facts.changes.get_or_insert(span);
                return true;
            }
            Storage::Parameter { output: true } => {
                self.enclosing.facts.changes.get_or_insert(span);
                return true;
            }
            Storage::Local | Storage::Argument { output: true } => return true,
            Storage::Parameter { .. } => {
                self.enclosing.facts.changes.get_or_insert(span);
                "parameter"
            }
            Storage::Argument { .. } => "argument",
        };
        // An array that is handed over is the caller's own.
        if matches!(variable.storage, Storage::Parameter { .. }) || variable.shape == Shape::Single {
            let message = format!("the {what} `{name}` is changed, and it is not `output`");
            let report = Report::warning(span, message).also(declared, "declared here");
            self.warn_once(&format!("{what} {name}"), report.hint("other compilers may reject this: use a local copy"));
            return true;
        }
        let report = Report::error(span, format!("the {what} `{name}` cannot be changed: it is not `output`"));
        self.error(report.also(declared, "declared here").hint("copy it to a local variable and change that"));
        false
    }
}

//! Changes of type: which happen by themselves, which need a cast.

use super::checker::Checker;
use super::hir::{ChainStep, Conversion, Expr, ExprKind, Link, Shape, Type};
use crate::diagnostic::Report;
use crate::span::Span;

/// What a conversion counts for when overloads are compared: the less, the better.
pub(super) const COST_RENAME: u32 = 1;
const COST_SPREAD: u32 = 10;
const COST_DIAGONAL: u32 = 12;
/// Vectors become colors only where nothing else fits, and with a warning.
pub(super) const COST_COLOR: u32 = 100;

impl Expr {
    /// `(a, b, c)` without a type in front takes the type that is wanted.
    pub(super) fn is_open_tuple(&self) -> bool {
        matches!(self.kind, ExprKind::Triple(_)) && self.ty == Type::Vector
    }

    /// Describes an expression for a message.
    pub(super) fn describe(&self) -> String {
        match self.shape {
            Shape::Single => format!("`{}`", self.ty),
            Shape::Array(length) => format!("an array of {length} `{}`", self.ty),
            Shape::Resizable(_) => format!("a resizable array of `{}`", self.ty),
            Shape::Open => format!("an array of `{}`", self.ty),
        }
    }

    /// Returns the value as another type.
    pub(super) fn converted(self, conversion: Conversion, ty: Type) -> Self {
        let span = self.span;
        if let ExprKind::Chain(..) = self.kind {
            return self.then(ChainStep::Convert(conversion), ty, span);
        }
        Self { kind: ExprKind::Convert(conversion, Box::new(self)), ty, shape: Shape::Single, span }
    }

    /// Returns the value after one more step.
    pub(super) fn then(self, step: ChainStep, ty: Type, span: Span) -> Self {
        let (first, mut links) = match self.kind {
            ExprKind::Chain(first, links) => (first, links),
            kind => (Box::new(Self { kind, ..self }), Vec::new()),
        };
        links.push(Link { step, ty });
        Self { kind: ExprKind::Chain(first, links), ty, shape: Shape::Single, span }
    }

    /// Returns a triple that keeps its components under another type's name.
    pub(super) fn renamed(self, ty: Type) -> Self {
        match self.kind {
            _ if self.ty == ty => self,
            ExprKind::Triple(_) => Self { ty, ..self },
            _ => self.converted(Conversion::Rename, ty),
        }
    }
}

/// Returns what it costs to use `expr` where `to` is wanted, or `None` if that needs a cast or is impossible.
pub(super) fn cost(expr: &Expr, to: Type) -> Option<u32> {
    if expr.shape != Shape::Single {
        return None;
    }
    match (expr.ty, to) {
        (from, to) if from == to => Some(0),
        (from, to) if from.is_pointlike() && to.is_pointlike() => Some(COST_RENAME),
        (_, Type::Color) if expr.is_open_tuple() => Some(COST_RENAME),
        (from, Type::Color) if from.is_pointlike() => Some(COST_COLOR),
        (Type::Float, to) if to.is_triple() => Some(COST_SPREAD),
        (Type::Float, Type::Matrix) => Some(COST_DIAGONAL),
        _ => None,
    }
}

/// `expr` as `to`, if [`cost`] allows it.
pub(super) fn apply(expr: Expr, to: Type) -> Expr {
    match (expr.ty, to) {
        (Type::Float, to) if to.is_triple() => expr.converted(Conversion::Spread, to),
        (Type::Float, Type::Matrix) => expr.converted(Conversion::Diagonal, to),
        (from, to) if from.is_triple() && to.is_triple() => expr.renamed(to),
        _ => expr,
    }
}

impl Checker<'_> {
    /// `expr` as `to`, if [`cost`] allows it; a warning where the standard wants a cast.
    pub(super) fn applied(&mut self, expr: Expr, to: Type) -> Expr {
        if to == Type::Color && expr.ty.is_pointlike() && !expr.is_open_tuple() {
            self.warn_of_color(expr.ty, expr.span);
        }
        apply(expr, to)
    }

    /// Warns of a vector in place of a color.
    pub(super) fn warn_of_color(&mut self, from: Type, span: Span) {
        let report = Report::warning(span, format!("a `{from}` becomes a color here without a cast"));
        self.reports.push(report.hint("write `color` in front of it; components of points are `xcomp(p)` and so on"));
    }

    /// `expr` as `to`; `None`, with an error, if that does not happen by itself.
    pub(super) fn convert(&mut self, expr: Expr, to: Type) -> Option<Expr> {
        if cost(&expr, to).is_some() {
            return Some(self.applied(expr, to));
        }
        if expr.ty == Type::Void {
            self.error(Report::error(expr.span, "this call returns no value"));
            return None;
        }
        let message = format!("expected `{to}`, found {}", expr.describe());
        let report = Report::error(expr.span, message);
        let hint = match (expr.ty, to) {
            _ if expr.shape != Shape::Single => "use an element: `name[0]`",
            (Type::Color, Type::Float) => "use a component: `comp(c, 0)`",
            (from, Type::Float) if from.is_pointlike() => "use a component: `xcomp(p)`, or `length(v)`",
            (Type::Color, to) if to.is_pointlike() => "colors become points only with a cast: `point c`",
            (Type::Float, Type::String) => "convert it with `format(\"%f\", x)`",
            _ => "",
        };
        self.error(if hint.is_empty() { report } else { report.hint(hint) });
        None
    }

    /// `expr` as a cast makes it `to`; `None`, with an error, if there is no such cast.
    pub(super) fn cast(&mut self, expr: Expr, to: Type) -> Option<Expr> {
        if expr.shape == Shape::Single && expr.ty.is_triple() && to.is_triple() {
            return Some(expr.renamed(to));
        }
        if cost(&expr, to).is_some() {
            return Some(apply(expr, to));
        }
        let message = format!("{} cannot be cast to `{to}`", expr.describe());
        self.error(Report::error(expr.span, message));
        None
    }

    /// Returns both as one type: that of the one that needs no conversion.
    pub(super) fn unify(&mut self, left: Expr, right: Expr, what: &str) -> Option<(Expr, Expr)> {
        let to_left = cost(&right, left.ty);
        let to_right = cost(&left, right.ty);
        match (to_left, to_right) {
            (Some(a), Some(b)) if b < a => {
                let ty = right.ty;
                Some((self.applied(left, ty), right))
            }
            (Some(_), _) => {
                let ty = left.ty;
                Some((left, self.applied(right, ty)))
            }
            (None, Some(_)) => {
                let ty = right.ty;
                Some((self.applied(left, ty), right))
            }
            (None, None) => {
                let message = format!("{what} have incompatible types, {} and {}", left.describe(), right.describe());
                self.error(Report::error(left.span.to(right.span), message));
                None
            }
        }
    }
}

//! Operators: what types they take and give (RISpec 3.2, 11.5).

use super::checker::Checker;
use super::convert::apply;
use super::hir::{Arithmetic, ChainStep, Comparison, Conversion, Expr, ExprKind, Shape, Type};
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::ast::{AstExpr, AstExprKind, AstLink, BinaryOp, UnaryOp};

/// How an operator sorts with the HIR's.
enum Operator {
    Arithmetic(Arithmetic),
    Comparison(Comparison),
    And,
    Or,
}

fn classify(operator: BinaryOp) -> Operator {
    match operator {
        BinaryOp::Add => Operator::Arithmetic(Arithmetic::Add),
        BinaryOp::Subtract => Operator::Arithmetic(Arithmetic::Subtract),
        BinaryOp::Multiply => Operator::Arithmetic(Arithmetic::Multiply),
        BinaryOp::Divide => Operator::Arithmetic(Arithmetic::Divide),
        BinaryOp::Cross => Operator::Arithmetic(Arithmetic::Cross),
        BinaryOp::Dot => Operator::Arithmetic(Arithmetic::Dot),
        BinaryOp::Equal => Operator::Comparison(Comparison::Equal),
        BinaryOp::NotEqual => Operator::Comparison(Comparison::NotEqual),
        BinaryOp::Less => Operator::Comparison(Comparison::Less),
        BinaryOp::LessEqual => Operator::Comparison(Comparison::LessEqual),
        BinaryOp::Greater => Operator::Comparison(Comparison::Greater),
        BinaryOp::GreaterEqual => Operator::Comparison(Comparison::GreaterEqual),
        BinaryOp::And => Operator::And,
        BinaryOp::Or => Operator::Or,
    }
}

/// Returns the type of `left operator right`, and the type that both operands are brought to first, or `None` if the
/// operator does not take them. Of point, vector and normal the difference of two points is a vector, point and vector
/// give a point, and so on: since these types convert into each other, this matters only to overloads.
pub(super) fn arithmetic_type(operator: Arithmetic, left: Type, right: Type) -> Option<(Type, Type)> {
    use Type::{Color, Float, Matrix, Point, Vector};
    if operator == Arithmetic::Dot {
        let fits = (left.is_pointlike() && right.is_pointlike()) || (left == Color && right == Color);
        return fits.then_some((Float, left));
    }
    if operator == Arithmetic::Cross {
        return (left.is_pointlike() && right.is_pointlike()).then_some((Vector, Vector));
    }
    match (left, right) {
        (Float, Float) => Some((Float, Float)),
        (Float, Matrix) | (Matrix, Float | Matrix) => Some((Matrix, Matrix)),
        (Float, triple) | (triple, Float) if triple.is_triple() => Some((triple, triple)),
        (Color, Color) => Some((Color, Color)),
        (Point, Point) if operator == Arithmetic::Subtract => Some((Vector, Vector)),
        (a, b) if a == b && a.is_pointlike() => Some((a, a)),
        (a, b) if a.is_pointlike() && b.is_pointlike() => {
            let ty = if a == Point || b == Point { Point } else { Vector };
            Some((ty, ty))
        }
        _ => None,
    }
}

/// Returns an operand without a type of its own as the type of the other. A vector that is added to a point stays known
/// as one: a default is moved by what it is.
fn like_other(operand: Expr, ty: Type) -> Expr {
    let is_moved = ty.is_pointlike() && ty != operand.ty;
    if is_moved { operand.converted(Conversion::Rename, ty) } else { operand.renamed(ty) }
}

/// Returns both operands. One without a type of its own, `(1, 0, 0)`, takes that of the other.
fn paired(left: Option<Expr>, right: Option<Expr>) -> (Option<Expr>, Option<Expr>) {
    match (left, right) {
        (Some(a), Some(b)) if a.is_open_tuple() && b.ty.is_triple() => {
            let ty = b.ty;
            (Some(like_other(a, ty)), Some(b))
        }
        (Some(a), Some(b)) if b.is_open_tuple() && a.ty.is_triple() => {
            let ty = a.ty;
            (Some(a), Some(like_other(b, ty)))
        }
        both => both,
    }
}

/// Returns what the operands of an operator should be whose result should be `expected`.
fn operand_type(operator: BinaryOp, expected: Option<Type>) -> Option<Type> {
    match classify(operator) {
        Operator::And | Operator::Or => Some(Type::Float),
        Operator::Comparison(_) | Operator::Arithmetic(Arithmetic::Dot | Arithmetic::Cross) => None,
        Operator::Arithmetic(_) => expected,
    }
}

impl Checker<'_> {
    /// `operator value`
    pub(super) fn unary(
        &mut self,
        operator: UnaryOp,
        value: &AstExpr,
        span: Span,
        expected: Option<Type>,
    ) -> Option<Expr> {
        if operator == UnaryOp::Not {
            let value = self.truth(value)?;
            return Some(single(ExprKind::Not(Box::new(value)), Type::Float, span));
        }
        let value = self.value(value, expected)?;
        if value.ty == Type::String {
            self.error(Report::error(span, "a string cannot be negated"));
            return None;
        }
        // The sign of a literal belongs to it.
        if let ExprKind::Float(number) = value.kind {
            return Some(single(ExprKind::Float(-number), Type::Float, span));
        }
        let ty = value.ty;
        Some(single(ExprKind::Negate(Box::new(value)), ty, span))
    }

    /// `first operator value operator value ...`
    pub(super) fn chain(
        &mut self,
        first: &AstExpr,
        links: &[AstLink],
        whole: Span,
        expected: Option<Type>,
    ) -> Option<Expr> {
        self.enclosing.facts.nodes += links.len() as u64 - 1;
        // What should come of an operator says what its operands should be, all that is before it being one.
        let (mut wanted, mut outer) = (Vec::with_capacity(links.len()), expected);
        for link in links.iter().rev() {
            outer = operand_type(link.operator, outer);
            wanted.push(outer);
        }
        let (mut span, mut left) = (first.span, self.value(first, outer));
        for (i, (AstLink { operator, value }, expected)) in links.iter().zip(wanted.into_iter().rev()).enumerate() {
            span = if i + 1 == links.len() { whole } else { span.to(value.span) };
            left = match classify(*operator) {
                Operator::And => self.logic(ChainStep::And, left, value, span),
                Operator::Or => self.logic(ChainStep::Or, left, value, span),
                Operator::Comparison(comparison) => {
                    let (left, right) = paired(left, self.value(value, expected));
                    left.zip(right).and_then(|operands| self.compare(comparison, *operator, operands, span))
                }
                Operator::Arithmetic(arithmetic) => {
                    let (left, right) = paired(left, self.value(value, expected));
                    left.zip(right).and_then(|operands| self.arithmetic(arithmetic, operands, span))
                }
            };
        }
        left
    }

    /// `left && right`, `left || right`
    fn logic(&mut self, step: fn(Expr) -> ChainStep, left: Option<Expr>, right: &AstExpr, span: Span) -> Option<Expr> {
        let left = left.and_then(|left| self.holds(left));
        let right = self.truth(right);
        Some(left?.then(step(right?), Type::Float, span))
    }

    /// `left operator right` of checked operands.
    fn arithmetic(&mut self, operator: Arithmetic, (left, right): (Expr, Expr), span: Span) -> Option<Expr> {
        let Some((ty, operand)) = arithmetic_type(operator, left.ty, right.ty) else {
            self.bad_operands(operator, &left, &right, span);
            return None;
        };
        let (left, right) = (apply(left, operand), apply(right, operand));
        Some(left.then(ChainStep::Arithmetic(operator, right), ty, span))
    }

    fn bad_operands(&mut self, operator: Arithmetic, left: &Expr, right: &Expr, span: Span) {
        let text = match operator {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Cross => "^",
            Arithmetic::Dot => ".",
        };
        let message = format!("`{text}` cannot be applied to {} and {}", left.describe(), right.describe());
        let report = Report::error(span, message);
        let (strings, color) = (left.ty == Type::String || right.ty == Type::String, left.ty.is_triple());
        let hint = match operator {
            Arithmetic::Add if strings => "join strings with `concat(a, b)`",
            _ if strings => "",
            Arithmetic::Dot | Arithmetic::Cross => "it takes points, vectors and normals",
            _ if color && right.ty.is_triple() => {
                "colors and points can be mixed only with a cast: `color p` or `point c`"
            }
            _ if left.ty == Type::Matrix || right.ty == Type::Matrix => "transform points with `transform(m, p)`",
            _ => "",
        };
        self.error(if hint.is_empty() { report } else { report.hint(hint) });
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        operator: BinaryOp,
        (left, right): (Expr, Expr),
        span: Span,
    ) -> Option<Expr> {
        let (left, right) = self.unify(left, right, "the operands")?;
        if !matches!(comparison, Comparison::Equal | Comparison::NotEqual) && left.ty != Type::Float {
            let message = format!("`{}` compares floats, not {}", operator.text(), left.describe());
            let report = Report::error(span, message);
            let hint = if left.ty.is_triple() { "compare components, or lengths" } else { "" };
            self.error(if hint.is_empty() { report } else { report.hint(hint) });
            return None;
        }
        Some(left.then(ChainStep::Compare(comparison, right), Type::Float, span))
    }

    /// Returns an expression that holds or not: a float.
    pub(super) fn truth(&mut self, expr: &AstExpr) -> Option<Expr> {
        let value = self.value(expr, Some(Type::Float))?;
        self.holds(value)
    }

    /// Returns a value that holds or not.
    fn holds(&mut self, value: Expr) -> Option<Expr> {
        if value.ty == Type::Float {
            return Some(value);
        }
        let message = format!("a condition must be a comparison or a float, not {}", value.describe());
        let hint = if value.ty == Type::String { "compare it: `name != \"\"`" } else { "compare it: `c != 0`" };
        self.error(Report::error(value.span, message).hint(hint));
        None
    }

    /// Returns the condition of a statement.
    pub(super) fn condition(&mut self, expr: &AstExpr) -> Option<Expr> {
        if let AstExprKind::Assign { operator: None, target, .. } = &expr.kind {
            let message = "an assignment is used as a condition";
            let report = Report::warning(expr.span, message).also(target.span, "this variable is assigned");
            self.reports.push(report.hint("write `==` to compare"));
        }
        self.truth(expr)
    }

    /// `condition ? yes : no`
    pub(super) fn conditional(
        &mut self,
        [condition, yes, no]: [&AstExpr; 3],
        span: Span,
        expected: Option<Type>,
    ) -> Option<Expr> {
        let condition = self.condition(condition);
        let (yes, no) = paired(self.value(yes, expected), self.value(no, expected));
        let (yes, no) = self.unify(yes?, no?, "the two values")?;
        let ty = yes.ty;
        Some(single(ExprKind::Conditional(Box::new(condition?), Box::new(yes), Box::new(no)), ty, span))
    }
}

/// Returns an expression that is no array.
pub(super) fn single(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, shape: Shape::Single, span }
}

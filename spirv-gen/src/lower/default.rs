//! Defaults of parameters that the shader computes. Their points are in shader space where they name no other.

use super::expression::Partial;
use super::lowerer::Lowerer;
use super::placed::{is_placed, is_transform};
use super::space::transform_kind;
use crate::ir::{Direction, Value};
use crate::sema::hir::{Conversion, DeclaredKind, Expr, ExprKind, Link, Type};
use crate::sema::visit;

impl Lowerer<'_> {
    /// Returns the value of a default. One that has no place of its own is computed as it is written, in shader space,
    /// and then moved to the space in which shaders compute; so are such parts of others. Imagers have no other space
    /// than that in which they compute.
    pub(super) fn default_value(&mut self, expr: &Expr) -> Value {
        if self.shader.kind == DeclaredKind::Imager {
            return self.value(expr);
        }
        if self.is_placeless(expr) {
            let x = self.value(expr);
            return self.placed_by_shader_space(x, expr.ty);
        }
        self.frame.in_placed_default = true;
        let value = self.value(expr);
        self.frame.in_placed_default = false;
        value
    }

    /// Returns the value of a part of a default that is computed by itself: one without a place, or one that names its
    /// space.
    pub(super) fn placed_part(&mut self, expr: &Expr) -> Option<Value> {
        let is_placeless = self.is_placeless(expr);
        // A vector that is added to a point is renamed, and moved as what it was.
        let is_renamed = expr.last_conversion() == Some(Conversion::Rename);
        if is_renamed || !is_placeless && !names_its_space(expr) {
            return None;
        }
        self.frame.in_placed_default = false;
        let x = self.value(expr);
        self.frame.in_placed_default = true;
        // A number that is spread may be a factor.
        let is_place = is_placeless && expr.last_conversion() != Some(Conversion::Spread);
        Some(if is_place { self.placed_by_shader_space(x, expr.ty) } else { x })
    }

    /// Returns what the links of a chain without a place come to, and the links after them: as long a beginning of the
    /// chain as is computed by itself.
    pub(super) fn placed_start<'l>(&mut self, first: &Expr, links: &'l [Link]) -> Option<(Partial, &'l [Link])> {
        if !self.frame.in_placed_default || !self.is_placeless(first) {
            return None;
        }
        let is_placeless = |link: &&Link| link.step.operand().is_none_or(|operand| self.is_placeless(operand));
        let mut start = &links[..links.iter().take_while(is_placeless).count()];
        // As above.
        while let Some((last, before)) = start.split_last()
            && last.conversion() == Some(Conversion::Rename)
        {
            start = before;
        }
        let last = start.last()?;
        self.frame.in_placed_default = false;
        let partial = self.chain(first, start);
        self.frame.in_placed_default = true;
        let partial = match partial {
            Partial::Value(x) if last.conversion() != Some(Conversion::Spread) => {
                Partial::Value(self.placed_by_shader_space(x, last.ty))
            }
            other => other,
        };
        Some((partial, &links[start.len()..]))
    }

    /// Returns whether nothing in an expression has a place: a variable that is a point or its like, or a space.
    fn is_placeless(&self, expr: &Expr) -> bool {
        let mut is_placeless = true;
        visit::walk(expr, &mut |part| is_placeless &= !is_placed(self.shader, &self.placed_functions, part));
        is_placeless
    }

    fn placed_by_shader_space(&mut self, x: Value, ty: Type) -> Value {
        match transform_kind(ty) {
            Some(moved) => self.builder.transform(moved, "shader", "current", x),
            None if ty == Type::Matrix => {
                let matrix = self.builder.space("shader", Direction::CameraFromSpace);
                self.builder.mul(x, matrix)
            }
            None => x,
        }
    }
}

/// Returns whether an expression says in which space its parts are.
fn names_its_space(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::FromSpace { .. } => true,
        ExprKind::Shadeop(call) => is_transform(call) && call.arguments.len() > 2,
        _ => false,
    }
}

//! What has a place of its own: points and their like that are not as they are written, but where they are in the space
//! in which shaders compute.

use crate::sema::hir::{Argument, CheckedShader, Expr, ExprKind, LValue, ShadeopCall, Storage, Type, VarId};
use crate::sema::visit;
use crate::shadeops::Opcode;

/// Returns for each function of a shader whether something in it, or in those that it calls, has a place.
pub(super) fn placed_functions(shader: &CheckedShader) -> Vec<bool> {
    let mut placed = Vec::new();
    for function in &shader.functions {
        let mut is_any = false;
        visit::expressions(&function.body, &mut |part| is_any |= is_placed(shader, &placed, part));
        placed.push(is_any);
    }
    placed
}

/// Returns whether an expression itself has a place, whatever its parts are. Arguments and locals of functions have
/// what is assigned to them.
pub(super) fn is_placed(shader: &CheckedShader, placed_functions: &[bool], expr: &Expr) -> bool {
    let is_of_shader = |id: &VarId| {
        let variable = shader.variable(*id);
        has_place(variable.ty) && matches!(variable.storage, Storage::Predefined(_) | Storage::Parameter { .. })
    };
    match &expr.kind {
        ExprKind::Variable(id) | ExprKind::Element(id, _) | ExprKind::AssignArray(_, id) => is_of_shader(id),
        ExprKind::FromSpace { .. } => has_place(expr.ty),
        ExprKind::Shadeop(call) => is_transform(call),
        ExprKind::Call(id, arguments) => {
            let is_given = |argument: &Argument| match argument {
                Argument::Value(_) => false,
                Argument::Output(LValue { variable, .. }) | Argument::Array(variable) => is_of_shader(variable),
            };
            placed_functions[id.0 as usize] || arguments.iter().any(is_given)
        }
        _ => false,
    }
}

/// Returns whether values of a type differ from space to space.
fn has_place(ty: Type) -> bool {
    ty.is_pointlike() || ty == Type::Matrix
}

pub(super) fn is_transform(call: &ShadeopCall) -> bool {
    matches!(call.opcode, Opcode::Transform(_) | Opcode::TransformMatrix)
}

//! What places and notes call the functions and variables of a shader.

use crate::ir::{FunctionId, VariableId};
use crate::sema::hir::{CheckedShader, FuncId, StmtKind, VarId};
use crate::sema::visit;

/// The functions and variables of a shader that its places name so far.
pub(super) struct Named {
    /// By the numbers of the shader's functions.
    pub(super) functions: Vec<Option<FunctionId>>,
    /// By the numbers of its variables.
    pub(super) variables: Vec<Option<VariableId>>,
    /// For each variable the function that it is of, if it is of one.
    pub(super) owners: Vec<Option<FuncId>>,
}

impl Named {
    pub(super) fn new(shader: &CheckedShader) -> Self {
        let mut owners = vec![None; shader.variables.len()];
        for (number, function) in (0..).zip(&shader.functions).filter(|_| shader.notes_assignments) {
            let mut own = |variable: VarId| owners[variable.0 as usize] = Some(FuncId(number));
            function.arguments.iter().copied().for_each(&mut own);
            visit::statements(&function.body, &mut |statement| {
                if let StmtKind::Declare(variable, _) = statement.kind {
                    own(variable);
                }
            });
        }
        Self { functions: vec![None; shader.functions.len()], variables: vec![None; shader.variables.len()], owners }
    }
}

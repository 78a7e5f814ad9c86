//! Calls of the user's functions: their code is put in place of the call.

use super::lowerer::{CallFrame, Lowerer, machine};
use crate::ir::Value;
use crate::sema::hir::{Argument, FuncId, LValue, StmtKind, Type};
use crate::sema::visit;

impl Lowerer<'_> {
    /// Writes the code of a function with its arguments, and returns the result if it has one.
    pub(super) fn call(&mut self, id: FuncId, arguments: &[Argument]) -> Option<Value> {
        let function = self.function(id);
        let (mut outputs, mut given, mut aliases) = (Vec::new(), Vec::new(), Vec::new());
        let mut counts = Vec::new();
        for (argument, &formal) in arguments.iter().zip(&function.arguments) {
            match argument {
                Argument::Value(value) => given.push((formal, self.value(value))),
                // The caller's variable itself, whatever other names the function knows it by.
                Argument::Output(LValue { variable, index: None }) => aliases.push((formal, *variable)),
                Argument::Output(place) => {
                    let target = self.target(place);
                    given.push((formal, self.read_target(target)));
                    outputs.push((formal, target));
                }
                // The caller's array itself.
                Argument::Array(array) => {
                    let array = self.array(*array);
                    self.arrays[formal.0 as usize] = Some(array);
                    counts.extend(array.count.map(|count| (formal, count)));
                }
            }
        }
        for (formal, value) in given {
            self.cells.set(formal.into(), value);
        }
        for (formal, count) in counts {
            self.cells.alias(formal.into(), count);
        }
        for (formal, variable) in aliases {
            let value = self.read(variable);
            self.cells.set(variable.into(), value);
            self.cells.alias(formal.into(), variable.into());
        }
        let result = (function.result != Type::Void).then(|| {
            let zero = self.builder.constant(machine(function.result).zero());
            self.cells.add(zero)
        });
        let outer = std::mem::replace(&mut self.frame, CallFrame { result, ..CallFrame::default() });
        let name = self.named_function(id);
        let call = self.builder.enter_call(name);
        self.body(&function.body);
        self.builder.leave_call(call);
        self.frame = outer;
        let outputs: Vec<_> = outputs.into_iter().map(|(formal, target)| (target, self.read(formal))).collect();
        self.leave(id);
        for (target, value) in outputs {
            self.assign(target, value);
        }
        result.and_then(|result| self.cells.get(result))
    }

    /// Forgets the variables of a function: the next call has its own.
    fn leave(&mut self, id: FuncId) {
        let function = self.function(id);
        let mut own = function.arguments.clone();
        visit::statements(&function.body, &mut |statement| {
            if let StmtKind::Declare(variable, _) = statement.kind {
                own.push(variable);
            }
        });
        for variable in own {
            if !self.cells.part(variable.into()) {
                self.cells.clear(variable.into());
            }
            self.arrays[variable.0 as usize] = None;
        }
    }
}

//! What can only be judged when all calls are known: nested loops over lights, faults of called functions, size.

use super::checker::{Checker, Facts, default_report, lights_report};
use crate::diagnostic::Report;
use crate::span::Span;
use crate::syntax::ast;

/// Statements and expressions of a shader after all functions are put in place of their calls.
const INLINED_NODES_MAX: u64 = 1 << 20;

/// Levels of statements and expressions inside each other after all functions are put in place of their calls. The
/// lowering goes down level by level, on a thread with 2 MiB of stack.
const INLINED_DEPTH_MAX: u32 = 500;

impl Checker<'_> {
    /// Judges the shader as a whole; its code has been checked.
    pub(super) fn finish(&mut self, shader: &ast::ShaderDecl) {
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
        self.check_growth();
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

    /// Returns the number of parts and of levels of the shader's body with all calls in place.
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

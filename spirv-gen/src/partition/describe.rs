//! A partition of a program as text.

use super::architecture::Architecture;
use super::dag::NodeId;
use super::outcome::Partition;
use super::pass::Pass;
use super::shader::ShaderDag;
use crate::ir::Body;
use std::fmt::{self, Write};

/// Values that a line names at most.
const VALUES_MAX: usize = 8;

/// Returns what each pass saves, restores and computes that another has computed before, what it uses, and what a
/// vertex keeps between them.
pub fn describe(body: &Body, shader: &ShaderDag, partition: &Partition, architecture: &Architecture) -> String {
    let mut description = Description { body, shader, out: String::new() };
    description.write(partition, architecture).expect("writing to a string does not fail");
    description.out
}

struct Description<'a> {
    body: &'a Body,
    shader: &'a ShaderDag,
    out: String,
}

impl Description<'_> {
    fn write(&mut self, partition: &Partition, architecture: &Architecture) -> fmt::Result {
        let passes = &partition.passes;
        if passes.is_empty() {
            return writeln!(self.out, "0 passes: nothing varies from vertex to vertex");
        }
        let s = if passes.len() == 1 { "" } else { "es" };
        let (bytes, cost) = (4 * words_kept(self.shader, passes), partition.cost(architecture));
        writeln!(self.out, "{} pass{s}, {bytes} bytes kept a vertex, {cost:.0} steps a vertex", passes.len())?;
        let mut computed = vec![false; self.shader.dag.len()];
        for (pass, number) in passes.iter().zip(1..) {
            let used = &pass.resources;
            let [operations, alive] =
                [(used.operations, "operation"), (used.registers, "word")].map(|(n, of)| counted(n, of));
            let (lookups, steps) = (counted(used.fetches, "lookup"), architecture.pass_cost(used));
            writeln!(self.out, "pass {number}: {operations}, {alive} alive, {lookups}, {steps:.0} steps")?;
            self.values("restores", &pass.restores)?;
            self.values("saves", &pass.outputs)?;
            let again: Vec<NodeId> = pass.operations.iter().copied().filter(|node| computed[node.index()]).collect();
            self.values("recomputes", &again)?;
            pass.operations.iter().for_each(|node| computed[node.index()] = true);
        }
        for fault in partition.faults(&self.shader.dag, architecture) {
            writeln!(self.out, "fault: {fault}")?;
        }
        Ok(())
    }

    /// Writes a line with the words of values and the instructions that they come from.
    fn values(&mut self, verb: &str, nodes: &[NodeId]) -> fmt::Result {
        if nodes.is_empty() {
            return Ok(());
        }
        let words: u32 = nodes.iter().map(|&node| self.shader.dag.node(node).words).sum();
        write!(self.out, "  {verb} {}:", counted(words, "word"))?;
        for &node in nodes.iter().take(VALUES_MAX) {
            // The last of several instructions is the one whose results are used.
            if let Some(inst) = self.shader.insts(node).last() {
                let data = self.body.inst(*inst);
                match data.results.first() {
                    Some(value) => write!(self.out, " {value} = {};", data.op)?,
                    None => write!(self.out, " {};", data.op)?,
                }
            }
        }
        match nodes.len().saturating_sub(VALUES_MAX) {
            0 => writeln!(self.out),
            more => writeln!(self.out, " and {more} more"),
        }
    }
}

/// Returns a number of things in words.
fn counted(count: u32, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Returns the most words that a vertex keeps from one pass for later ones: what was saved and is restored later.
fn words_kept(shader: &ShaderDag, passes: &[Pass]) -> u32 {
    let kept_after = |after: usize| {
        let saved = passes[..after].iter().flat_map(|pass| &pass.outputs);
        let is_read = |node: &&NodeId| passes[after..].iter().any(|pass| pass.restores.contains(node));
        saved.filter(is_read).map(|&node| shader.dag.node(node).words).sum()
    };
    (1..passes.len()).map(kept_after).max().unwrap_or(0)
}

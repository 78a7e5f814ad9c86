//! Measures passes: what they compute, restore and use.

use super::architecture::Architecture;
use super::dag::{Dag, Marks, NodeId, NodeKind};
use super::pass::{Pass, Resources};
use std::cmp::Reverse;

/// Measures passes of a graph, with tables that are used again.
pub(super) struct Gauge<'a> {
    dag: &'a Dag,
    /// Words that a restored value counts as, in textures.
    restore_textures: u32,
    /// For each node the number of the measurement that met it last.
    met: Vec<u32>,
    measurement: u32,
    /// For each node that was met as an operation its *Sethi-Ullman number*: the words that it takes to evaluate the
    /// node, were its subregion a tree.
    needs: Vec<u32>,
    /// For each node that was met the operation that uses it last.
    last_uses: Vec<u32>,
    textures: Vec<u32>,
    order: Vec<NodeId>,
    restores: Vec<NodeId>,
    stack: Vec<(NodeId, usize)>,
}

impl<'a> Gauge<'a> {
    /// Returns one for passes of a graph.
    pub(super) fn new(dag: &'a Dag, architecture: &Architecture) -> Self {
        let (met, needs, last_uses) = (vec![0; dag.len()], vec![0; dag.len()], vec![0; dag.len()]);
        let restore_textures = architecture.restore_textures;
        let (order, restores, stack, textures) = Default::default();
        Self { dag, restore_textures, met, measurement: 0, needs, last_uses, textures, order, restores, stack }
    }

    /// Returns what the pass uses that computes these nodes from what is marked.
    pub(super) fn measure(&mut self, roots: &[NodeId], marks: &Marks) -> Resources {
        let mut used = self.walk(roots, marks);
        self.order_by_need(roots, marks);
        used.registers = self.registers();
        used
    }

    /// Returns what the subregion of a node uses.
    pub(super) fn subregion(&mut self, node: NodeId, marks: &Marks) -> Resources {
        self.measure(&[node], marks)
    }

    /// Returns the pass that computes these nodes from what is marked, evaluated in an order that needs few registers.
    pub(super) fn pass(&mut self, roots: &[NodeId], marks: &Marks) -> Pass {
        let resources = self.measure(roots, marks);
        let (operations, restores) = (self.order.clone(), self.restores.clone());
        Pass { outputs: roots.to_vec(), operations, restores, resources }
    }

    /// Returns the same pass with its operations in another order, in which those that are needed come first.
    pub(super) fn reordered(&mut self, pass: Pass, operations: Vec<NodeId>) -> Pass {
        self.order.clone_from(&operations);
        let resources = Resources { registers: self.registers(), ..pass.resources };
        Pass { operations, resources, ..pass }
    }

    /// Returns the operations of the last pass that was measured.
    pub(super) fn operations(&self) -> &[NodeId] {
        &self.order
    }

    /// Finds operations in postorder and restores, and counts all but registers.
    fn walk(&mut self, roots: &[NodeId], marks: &Marks) -> Resources {
        self.begin();
        let mut used = Resources::default();
        for &root in roots {
            used.outputs += self.dag.node(root).words;
            if self.meet(root) {
                self.stack.push((root, 0));
            }
            while let Some((node, next)) = self.stack.pop() {
                match self.dag.node(node).kids.get(next) {
                    Some(&kid) => {
                        self.stack.push((node, next + 1));
                        self.enter(kid, roots, marks, &mut used);
                    }
                    None => self.leave(node, &mut used),
                }
            }
        }
        used.textures += self.textures.len() as u32;
        used
    }

    fn begin(&mut self) {
        self.measurement += 1;
        self.order.clear();
        self.restores.clear();
        self.textures.clear();
    }

    /// Returns whether a node is met for the first time.
    fn meet(&mut self, node: NodeId) -> bool {
        std::mem::replace(&mut self.met[node.index()], self.measurement) != self.measurement
    }

    fn enter(&mut self, kid: NodeId, roots: &[NodeId], marks: &Marks, used: &mut Resources) {
        if !self.meet(kid) {
            return;
        }
        let node = self.dag.node(kid);
        match node.kind {
            NodeKind::Constant => {}
            NodeKind::Interpolant => used.interpolants += 1,
            NodeKind::Arithmetic | NodeKind::Fetch(_) if marks.has(kid) && !roots.contains(&kid) => {
                used.operations += node.words;
                used.restored += node.words;
                used.textures += self.restore_textures * node.words;
                self.needs[kid.index()] = node.words;
                self.restores.push(kid);
            }
            NodeKind::Arithmetic | NodeKind::Fetch(_) => self.stack.push((kid, 0)),
        }
    }

    fn leave(&mut self, id: NodeId, used: &mut Resources) {
        let node = self.dag.node(id);
        used.operations += node.size;
        used.steps += u64::from(node.work);
        if let NodeKind::Fetch(texture) = node.kind {
            used.fetches += 1;
            if !self.textures.contains(&texture) {
                self.textures.push(texture);
            }
        }
        let operands = by_need(self.dag, id, &self.needs);
        self.needs[id.index()] = need(self.dag, &operands, &self.needs).max(node.words);
        self.order.push(id);
    }

    /// Orders the operations that were found: operands with the highest number first, each node once.
    fn order_by_need(&mut self, roots: &[NodeId], marks: &Marks) {
        self.order.clear();
        self.measurement += 1;
        let mut roots_by_need = roots.to_vec();
        roots_by_need.sort_by_key(|root| Reverse(self.needs[root.index()]));
        let mut stack: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
        for &root in &roots_by_need {
            if self.meet(root) {
                stack.push((root, by_need(self.dag, root, &self.needs)));
            }
            while let Some((node, operands)) = stack.last_mut() {
                let Some(kid) = operands.pop() else {
                    self.order.push(*node);
                    stack.pop();
                    continue;
                };
                let is_restored = marks.has(kid) && !roots.contains(&kid);
                if !is_restored && self.meet(kid) {
                    stack.push((kid, by_need(self.dag, kid, &self.needs)));
                }
            }
        }
    }

    /// Returns the most words alive at once when the operations are run in their order. Restored values are alive from
    /// their first use, saved ones until their last; a result may take the place of an operand.
    fn registers(&mut self) -> u32 {
        for (&node, at) in self.order.iter().zip(0..) {
            self.last_uses[node.index()] = at;
            self.dag.operands(node).for_each(|kid| self.last_uses[kid.index()] = at);
        }
        self.measurement += 1;
        let (mut alive, mut most) = (0, 0);
        for at in 0..self.order.len() {
            let id = self.order[at];
            for kid in self.dag.operands(id) {
                if self.meet(kid) {
                    alive += self.dag.node(kid).words;
                }
            }
            most = most.max(alive);
            let is_last = |node: NodeId| self.last_uses[node.index()] == at as u32;
            let ended = self.dag.operands(id).filter(|&kid| is_last(kid));
            alive -= ended.map(|kid| self.dag.node(kid).words).sum::<u32>();
            let words = self.dag.node(id).words;
            most = most.max(alive + words);
            let is_used = !is_last(id);
            self.meet(id);
            alive += if is_used { words } else { 0 };
        }
        most
    }
}

/// Returns the operands of a node by falling Sethi-Ullman number, the first last.
pub(super) fn by_need(dag: &Dag, node: NodeId, needs: &[u32]) -> Vec<NodeId> {
    let mut operands: Vec<NodeId> = dag.operands(node).collect();
    operands.sort_by_key(|&kid| Reverse(i64::from(needs[kid.index()]) - i64::from(dag.node(kid).words)));
    operands.reverse();
    operands
}

/// Returns the Sethi-Ullman number of a node whose operands, the first last, have these.
pub(super) fn need(dag: &Dag, operands: &[NodeId], needs: &[u32]) -> u32 {
    let (mut before, mut most) = (0, 0);
    for &kid in operands.iter().rev() {
        most = most.max(before + needs[kid.index()]);
        before += dag.node(kid).words;
    }
    most
}

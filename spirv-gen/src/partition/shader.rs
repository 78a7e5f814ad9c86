//! The graph of a program: what partitioners cut when they cut a shader.

use super::architecture::CostModel;
use super::dag::{Dag, DagNode, NodeId, NodeKind};
use super::outcome::Partition;
use super::weights::{SharedLoops, Weight, shared_loops, weight};
use crate::ir::{Body, Def, Inst, Op, Value};
use crate::passes::{Call, PassPlan, free_values, varying};
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The graph of a program's root region, and the instructions that its nodes stand for.
///
/// A node is an instruction with all that it owns: branches and loops are run as a whole. All accesses of one local
/// array, with what lies between them, are one node, for arrays are not saved. What is the same at all vertices of a
/// grid is free, and what a vertex is given is an interpolant. The outputs are the instructions whose results the
/// program yields, and those with effects, so that no effect happens twice; each of these has the one before it as its
/// `earlier`.
#[derive(Clone, Debug)]
pub struct ShaderDag {
    /// The graph.
    pub dag: Dag,
    /// For each node its instructions, in order.
    insts: Vec<Vec<Inst>>,
}

impl ShaderDag {
    /// Returns that of a program where lookups cost what the model says.
    pub fn of(body: &Body, costs: &CostModel) -> Self {
        let reader = Reader::new(body);
        let mut shader = Self { dag: Dag::default(), insts: Vec::new() };
        let mut node_of: Vec<Option<NodeId>> = vec![None; reader.insts.len()];
        for mut members in tarjan_scc(&reader.graph()) {
            members.sort_unstable();
            let members: Vec<usize> = members.into_iter().map(NodeIndex::index).collect();
            let node = shader.dag.add(reader.node(&members, &node_of, costs));
            members.iter().for_each(|&member| node_of[member] = Some(node));
            shader.insts.push(members.iter().map(|&member| reader.insts[member]).collect());
        }
        let yielded = reader.yielded.iter().copied();
        let outputs: BTreeSet<usize> = yielded.chain(reader.effects.iter().copied()).collect();
        let nodes = outputs.into_iter().filter_map(|at| node_of[at]);
        let nodes: Vec<NodeId> = nodes.filter(|&node| shader.dag.node(node).is_operation()).collect();
        nodes.into_iter().for_each(|node| shader.dag.add_output(node));
        shader
    }

    /// Returns what each pass of a partition runs.
    pub(super) fn plans(&self, partition: &Partition) -> Vec<PassPlan> {
        partition.passes.iter().map(|pass| self.run(&pass.operations)).collect()
    }

    /// Returns a pass of these nodes.
    pub(super) fn run(&self, nodes: &[NodeId]) -> PassPlan {
        PassPlan::Run(nodes.iter().flat_map(|&node| self.insts(node)).copied().collect())
    }

    /// Returns the instructions of a node, in order.
    pub fn insts(&self, node: NodeId) -> &[Inst] {
        &self.insts[node.index()]
    }
}

/// What is known of the instructions of a root region, by their place in it.
struct Reader<'a> {
    body: &'a Body,
    insts: Vec<Inst>,
    /// For each instruction those whose results it needs, by itself or in what it owns.
    needs: Vec<Vec<usize>>,
    /// Instructions whose results are the same at all vertices.
    is_free: Vec<bool>,
    /// Instructions with effects.
    effects: Vec<usize>,
    /// For each local array the instructions that read or write it.
    accesses: FxHashMap<u32, Vec<usize>>,
    /// For each instruction those that use its results.
    users: Vec<Vec<usize>>,
    /// Instructions whose results the program yields.
    yielded: Vec<usize>,
    shared_loops: SharedLoops,
}

impl<'a> Reader<'a> {
    fn new(body: &'a Body) -> Self {
        let root = body.region(body.root());
        let insts = root.insts.clone();
        let mut owners: FxHashMap<Inst, usize> = FxHashMap::default();
        for (&inst, at) in insts.iter().zip(0..) {
            body.walk_inst(inst, &mut |inner| _ = owners.insert(inner, at));
        }
        // Parameters belong to a region of the instruction that uses them, and are no need.
        let owner = |value: Value| match body.value(value).def {
            Def::Inst(inst, _) => owners.get(&inst).copied(),
            Def::Param(..) => None,
        };
        let varying = varying(body);
        let mut reader = Self {
            body,
            needs: Vec::new(),
            is_free: Vec::new(),
            effects: Vec::new(),
            accesses: FxHashMap::default(),
            users: vec![Vec::new(); insts.len()],
            yielded: root.results.iter().filter_map(|&value| owner(value)).collect(),
            shared_loops: shared_loops(body, body.root()),
            insts,
        };
        for at in 0..reader.insts.len() {
            let is_fixed = reader.note_memory_and_effects(at);
            let results = &body.inst(reader.insts[at]).results;
            let is_same = !is_fixed && results.iter().all(|result| !varying[result.0 as usize]);
            let mut needs = free_values(body, reader.insts[at]).into_iter().filter_map(owner).collect::<Vec<_>>();
            needs.retain(|&need| need != at);
            let mut seen = BTreeSet::new();
            needs.retain(|&need| seen.insert(need));
            // What a vote decides is the same everywhere, and not free.
            reader.is_free.push(is_same && needs.iter().all(|&need| reader.is_free[need]));
            needs.iter().for_each(|&need| reader.users[need].push(at));
            reader.needs.push(needs);
        }
        reader
    }

    /// Notes arrays and effects; returns whether there are any, or invocations vote.
    fn note_memory_and_effects(&mut self, at: usize) -> bool {
        let (mut slots, mut has_effect, mut votes) = (BTreeSet::new(), false, false);
        self.body.walk_inst(self.insts[at], &mut |inner| match &self.body.inst(inner).op {
            Op::SlotLoad(slot) | Op::SlotStore(slot) => _ = slots.insert(slot.0),
            Op::Any => votes = true,
            op => has_effect |= op.record().is_some(),
        });
        if has_effect {
            self.effects.push(at);
        }
        slots.iter().for_each(|&slot| self.accesses.entry(slot).or_default().push(at));
        has_effect || votes || !slots.is_empty()
    }

    /// Returns edges from instructions to what must run before them, and around circles from the first access of an
    /// array to its last.
    fn graph(&self) -> DiGraph<(), ()> {
        let mut graph = DiGraph::new();
        self.insts.iter().for_each(|_| _ = graph.add_node(()));
        let mut add = |from: usize, to: usize| _ = graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
        for (at, needs) in self.needs.iter().enumerate() {
            needs.iter().for_each(|&need| add(at, need));
        }
        self.effects.windows(2).for_each(|pair| add(pair[1], pair[0]));
        for accesses in self.accesses.values() {
            accesses.windows(2).for_each(|pair| add(pair[1], pair[0]));
            add(accesses[0], accesses[accesses.len() - 1]);
        }
        graph
    }

    fn node(&self, members: &[usize], node_of: &[Option<NodeId>], costs: &CostModel) -> DagNode {
        let mut node = DagNode::new(self.kind(members), &[]);
        if !node.is_operation() {
            return node;
        }
        for kid in members.iter().flat_map(|&member| &self.needs[member]).filter_map(|&need| node_of[need]) {
            if !node.kids.contains(&kid) {
                node.kids.push(kid);
            }
        }
        let mut sum = Weight::default();
        let weight = |member: usize| weight(self.body, self.insts[member], &self.shared_loops, costs.fetch as u32);
        members.iter().for_each(|&member| sum += weight(member));
        // A fetch costs what it does by itself.
        let is_fetch = matches!(node.kind, NodeKind::Fetch(_));
        (node.size, node.work) = (sum.size, if is_fetch { 0 } else { sum.steps });
        node.words = self.words(members);
        let first = members.iter().find_map(|member| self.effects.iter().position(|effect| effect == member));
        let before = first.and_then(|first| first.checked_sub(1)).map(|before| self.effects[before]);
        node.earlier = before.and_then(|before| node_of[before]);
        node
    }

    fn kind(&self, members: &[usize]) -> NodeKind {
        let &[member] = members else { return NodeKind::Arithmetic };
        if self.is_free[member] {
            return NodeKind::Constant;
        }
        let given = self.needs[member].iter().all(|&need| self.is_free[need]);
        match self.body.inst(self.insts[member]).op {
            Op::Points(_) => NodeKind::Fetch(member as u32),
            _ if Call::of(self.body, self.insts[member]).is_some() => NodeKind::Fetch(member as u32),
            Op::Channel { .. } | Op::Global(_) | Op::Param(_) | Op::ParamElement(_) if given => NodeKind::Interpolant,
            _ => NodeKind::Arithmetic,
        }
    }

    /// Returns the words of the results that others use, or the program yields.
    fn words(&self, members: &[usize]) -> u32 {
        let outside = |member: &usize| self.users[*member].iter().filter(|user| !members.contains(user));
        let mut used: BTreeSet<Value> = BTreeSet::new();
        for member in members {
            outside(member).for_each(|&user| used.extend(free_values(self.body, self.insts[user])));
        }
        used.extend(&self.body.region(self.body.root()).results);
        let results = members.iter().flat_map(|&member| &self.body.inst(self.insts[member]).results);
        results.filter(|result| used.contains(result)).map(|&result| self.body.ty(result).words()).sum()
    }
}

//! Mio: list scheduling (Riffel, Lefohn, Vidimce, Leone, Owens 2004), in nearly linear time.
//!
//! Two walks of the graph choose an order that keeps few values alive. Operations are scheduled in it as soon as they
//! are ready, and resources are counted as they are. A pass ends when nothing that is ready fits. Nothing is computed
//! twice.

use super::architecture::Architecture;
use super::dag::{Dag, Marks, NodeId, NodeKind};
use super::gauge::{Gauge, by_need, need};
use super::outcome::Partition;
use super::pass::Resources;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Operations that are tried and do not fit before a pass ends.
const FAILURES_MAX: u32 = 32;

/// Operations that a pass goes on after the last point at which all that is needed later could be saved.
const BEYOND_MAX: usize = 256;

/// What Mio made, and how much it took.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The passes.
    pub partition: Partition,
    /// Operations that were tried, or taken out of a pass again.
    pub updates: u64,
}

/// Schedules all operations that the outputs need.
pub fn mio(dag: &Dag, architecture: &Architecture) -> Schedule {
    let mut list = ListSchedule::new(dag, architecture);
    let mut passes: Vec<(Vec<NodeId>, Vec<NodeId>)> = Vec::new();
    while let Some(operations) = list.next_pass() {
        let outputs = operations.iter().copied().filter(|&node| list.is_needed_later(node)).collect();
        passes.push((operations, outputs));
    }
    let saved: Vec<NodeId> = passes.iter().flat_map(|(_, outputs)| outputs.iter().copied()).collect();
    let (marks, mut gauge) = (Marks::of(dag, &saved), Gauge::new(dag, architecture));
    let passes = passes.into_iter().map(|(operations, outputs)| {
        let pass = gauge.pass(&outputs, &marks);
        // Its own order, if that of the numbers takes too many registers.
        if architecture.valid(&pass.resources) { pass } else { gauge.reordered(pass, operations) }
    });
    Schedule { partition: Partition { passes: passes.collect() }, updates: list.updates }
}

/// Operations that are ready, the first of the order on top.
type Ready = BinaryHeap<Reverse<(u32, NodeId)>>;

struct ListSchedule<'a> {
    dag: &'a Dag,
    architecture: &'a Architecture,
    /// For each node its place in the order.
    places: Vec<u32>,
    /// For each node those that use it or come after its effect.
    users: Vec<Vec<NodeId>>,
    /// For each node, how many of those before it are not scheduled.
    waiting: Vec<u32>,
    /// For each node, how many of the operations that use it are not scheduled.
    uses_left: Vec<u32>,
    is_output: Vec<bool>,
    is_scheduled: Vec<bool>,
    ready: Ready,
    pass: OpenPass,
    updates: u64,
}

/// A pass that operations are put into.
#[derive(Default)]
struct OpenPass {
    operations: Vec<NodeId>,
    used: Resources,
    /// Values that are computed here.
    computed: FxHashSet<NodeId>,
    /// Those, and values that are restored.
    present: FxHashSet<NodeId>,
    textures: FxHashSet<u32>,
    interpolants: FxHashSet<NodeId>,
    /// Words of values at hand that are still used.
    alive: u32,
    /// Words of values that were computed here and are needed later.
    unsaved: u32,
}

impl<'a> ListSchedule<'a> {
    fn new(dag: &'a Dag, architecture: &'a Architecture) -> Self {
        let order = order(dag);
        let mut list = Self {
            dag,
            architecture,
            places: vec![0; dag.len()],
            users: vec![Vec::new(); dag.len()],
            waiting: vec![0; dag.len()],
            uses_left: vec![0; dag.len()],
            is_output: vec![false; dag.len()],
            is_scheduled: vec![false; dag.len()],
            ready: Ready::new(),
            pass: OpenPass::default(),
            updates: 0,
        };
        dag.outputs().iter().for_each(|output| list.is_output[output.index()] = true);
        for (&node, place) in order.iter().zip(0..) {
            list.places[node.index()] = place;
            for kid in dag.operands(node) {
                list.uses_left[kid.index()] += 1;
                list.users[kid.index()].push(node);
            }
            list.waiting[node.index()] = dag.operands(node).count() as u32;
            let effect = dag.node(node).earlier.filter(|&effect| dag.operands(node).all(|kid| kid != effect));
            if let Some(effect) = effect {
                list.users[effect.index()].push(node);
                list.waiting[node.index()] += 1;
            }
        }
        let ready: Vec<NodeId> = order.into_iter().filter(|node| list.waiting[node.index()] == 0).collect();
        ready.into_iter().for_each(|node| list.push(node));
        list
    }

    fn push(&mut self, node: NodeId) {
        self.ready.push(Reverse((self.places[node.index()], node)));
    }

    fn is_needed_later(&self, node: NodeId) -> bool {
        self.uses_left[node.index()] > 0 || self.is_output[node.index()]
    }

    /// Schedules a pass and returns its operations; none when nothing is left.
    fn next_pass(&mut self) -> Option<Vec<NodeId>> {
        self.pass = OpenPass::default();
        let (mut set_aside, mut complete) = (Vec::new(), 0);
        let mut failures = 0;
        while let Some(Reverse((_, node))) = self.ready.pop() {
            self.updates += 1;
            // What was taken out of a pass may stand here twice, or wait again.
            if self.is_scheduled[node.index()] || self.waiting[node.index()] > 0 || set_aside.contains(&node) {
                continue;
            }
            let used = self.with(node);
            // An operation that does not fit alone gets a pass of its own.
            if !self.architecture.fits(&used) && !self.pass.operations.is_empty() {
                set_aside.push(node);
                failures += 1;
                if failures == FAILURES_MAX {
                    break;
                }
                continue;
            }
            self.schedule(node, used);
            if self.pass.unsaved <= self.architecture.limits.outputs || complete == 0 {
                complete = self.pass.operations.len();
            } else if self.pass.operations.len() - complete == BEYOND_MAX {
                break;
            }
        }
        while self.pass.operations.len() > complete {
            self.take_back();
        }
        set_aside.into_iter().for_each(|node| self.push(node));
        Some(std::mem::take(&mut self.pass.operations)).filter(|operations| !operations.is_empty())
    }

    /// Returns what the pass would use with one more operation.
    fn with(&self, id: NodeId) -> Resources {
        let (node, pass, mut used) = (self.dag.node(id), &self.pass, self.pass.used);
        let mut alive = pass.alive;
        for kid in self.dag.operands(id).filter(|kid| !pass.present.contains(kid)) {
            let words = self.dag.node(kid).words;
            used.operations += words;
            used.textures += self.architecture.restore_textures * words;
            alive += words;
        }
        let is_new = |at: &usize| {
            let kid = node.kids[*at];
            self.dag.node(kid).kind == NodeKind::Interpolant
                && !pass.interpolants.contains(&kid)
                && !node.kids[..*at].contains(&kid)
        };
        used.interpolants += (0..node.kids.len()).filter(is_new).count() as u32;
        used.operations += node.size;
        if let NodeKind::Fetch(texture) = node.kind {
            used.textures += u32::from(!pass.textures.contains(&texture));
        }
        let ended = self.dag.operands(id).filter(|kid| self.uses_left[kid.index()] == 1);
        let after = alive + node.words - ended.map(|kid| self.dag.node(kid).words).sum::<u32>();
        used.registers = used.registers.max(alive).max(after);
        used
    }

    fn schedule(&mut self, id: NodeId, used: Resources) {
        let node = self.dag.node(id);
        self.pass.used = used;
        for kid in self.dag.operands(id) {
            let words = self.dag.node(kid).words;
            if self.pass.present.insert(kid) {
                self.pass.alive += words;
            }
            self.uses_left[kid.index()] -= 1;
            if self.uses_left[kid.index()] == 0 {
                self.pass.alive -= words;
            }
            if !self.is_needed_later(kid) && self.pass.computed.contains(&kid) {
                self.pass.unsaved -= words;
            }
        }
        let interpolants = node.kids.iter().filter(|kid| self.dag.node(**kid).kind == NodeKind::Interpolant);
        self.pass.interpolants.extend(interpolants);
        if let NodeKind::Fetch(texture) = node.kind {
            self.pass.textures.insert(texture);
        }
        self.is_scheduled[id.index()] = true;
        self.pass.computed.insert(id);
        self.pass.present.insert(id);
        self.pass.operations.push(id);
        self.pass.alive += if self.uses_left[id.index()] > 0 { node.words } else { 0 };
        self.pass.unsaved += if self.is_needed_later(id) { node.words } else { 0 };
        for at in 0..self.users[id.index()].len() {
            let user = self.users[id.index()][at];
            self.waiting[user.index()] -= 1;
            if self.waiting[user.index()] == 0 {
                self.push(user);
            }
        }
    }

    /// Takes the last operation out of a pass that is closed: its resources are counted no more.
    fn take_back(&mut self) {
        let Some(id) = self.pass.operations.pop() else { return };
        self.updates += 1;
        self.is_scheduled[id.index()] = false;
        self.dag.operands(id).for_each(|kid| self.uses_left[kid.index()] += 1);
        for at in 0..self.users[id.index()].len() {
            self.waiting[self.users[id.index()][at].index()] += 1;
        }
        self.push(id);
    }
}

/// Returns the order in which operations are preferred: walk 1 gives each its Sethi-Ullman number, walk 2 visits
/// operands by falling number.
fn order(dag: &Dag) -> Vec<NodeId> {
    let mut needs = vec![0; dag.len()];
    for node in dag.postorder() {
        let operands = by_need(dag, node, &needs);
        needs[node.index()] = need(dag, &operands, &needs).max(dag.node(node).words);
    }
    let (mut order, mut seen) = (Vec::new(), vec![false; dag.len()]);
    let mut outputs = dag.outputs().to_vec();
    outputs.sort_by_key(|output| Reverse(needs[output.index()]));
    for output in outputs {
        if std::mem::replace(&mut seen[output.index()], true) {
            continue;
        }
        let mut stack = vec![(output, by_need(dag, output, &needs))];
        while let Some((node, operands)) = stack.last_mut() {
            let Some(kid) = operands.pop() else {
                order.push(*node);
                stack.pop();
                continue;
            };
            if !std::mem::replace(&mut seen[kid.index()], true) {
                stack.push((kid, by_need(dag, kid, &needs)));
            }
        }
    }
    order
}

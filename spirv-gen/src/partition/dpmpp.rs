//! DPMPP: dynamic programming (Heirich 2005), optimal for expression trees.
//!
//! A machine's state is what its open pass uses. For each node the cheapest ways to come to each state are kept: its
//! *open subregions*. None of them is both dearer than another and uses more of something.

use super::architecture::{Architecture, UNLIMITED};
use super::dag::{Dag, Marks, NodeId, NodeKind};
use super::merging::Merging;
use super::outcome::Partition;
use super::pass::Resources;
use rustc_hash::FxHashSet;

/// Open subregions of all nodes together, where none is forgotten.
const STATES_MAX: usize = 100_000;

/// Open subregions of a node, else: the cheapest.
const NODE_STATES_MAX: usize = 256;

/// Cuts a graph: optimally if it is a tree that has not too many states. Else works on the tree in which each use of a
/// multiply referenced node has its own copy, and saves a node if some copy is saved; and on the trees that are left
/// where all these nodes are saved. Passes that then do not fit are merged again, as in RDS, and the cheaper partition
/// is taken.
pub fn dpmpp(dag: &Dag, architecture: &Architecture) -> Partition {
    let finished = |programming: Programming<'_>| {
        let mut merging = Merging::new(dag, architecture);
        merging.marks = programming.marks();
        merging.settle();
        Partition::of_marks(dag, architecture, &merging.marks)
    };
    let (whole, shared) = (Programming::new(dag, architecture, Vec::new()).solve(), dag.multiply_referenced());
    match whole.map(finished) {
        Some(whole) if shared.is_empty() => whole,
        whole => {
            let cut = finished(Programming::new(dag, architecture, shared).solve_roughly());
            whole.filter(|whole| whole.cost(architecture) <= cut.cost(architecture)).unwrap_or(cut)
        }
    }
}

/// A node's subregion in a pass that is not closed.
#[derive(Clone, Debug)]
struct OpenSubregion {
    /// What it uses of what is limited.
    used: Resources,
    /// What closed passes and its own work cost.
    cost: f64,
    /// For each operand the subregion of it that is part of this one; none where it is saved.
    choices: Vec<Option<usize>>,
    /// The words that it takes to evaluate each operand, and those of its value.
    needs: Vec<(u32, u32)>,
}

struct Programming<'a> {
    dag: &'a Dag,
    architecture: &'a Architecture,
    /// Nodes that are saved in any case. Their passes are counted nowhere.
    saved: Vec<NodeId>,
    /// For each node its open subregions, the cheapest first.
    states: Vec<Vec<OpenSubregion>>,
}

impl<'a> Programming<'a> {
    fn new(dag: &'a Dag, architecture: &'a Architecture, saved: Vec<NodeId>) -> Self {
        Self { dag, architecture, saved, states: vec![Vec::new(); dag.len()] }
    }

    /// Finds the open subregions of all nodes; nothing if there are too many.
    fn solve(mut self) -> Option<Self> {
        let mut count = 0;
        for node in self.dag.postorder() {
            self.states[node.index()] = self.open_subregions(node, STATES_MAX);
            count += self.states[node.index()].len();
            if count > STATES_MAX {
                return None;
            }
        }
        Some(self)
    }

    /// Finds the cheapest open subregions of all nodes.
    fn solve_roughly(mut self) -> Self {
        for node in self.dag.postorder() {
            self.states[node.index()] = self.open_subregions(node, NODE_STATES_MAX);
        }
        self
    }

    /// Returns the open subregions of a node whose operands' are known, so many at most.
    fn open_subregions(&self, node: NodeId, count_max: usize) -> Vec<OpenSubregion> {
        let mut found = vec![self.alone(node)];
        for kid in self.dag.operands(node) {
            let tried = found.iter().flat_map(|state| self.with_operand(state, kid));
            let (fitting, others): (Vec<_>, _) = tried.partition(|state| self.architecture.fits(&state.used));
            found = if fitting.is_empty() { others } else { fitting };
            // Nothing fits: all operands are restored.
            found.retain(|state| self.architecture.fits(&state.used) || state.choices.iter().all(Option::is_none));
            found = cheapest(found, |a, b| a.needs.iter().zip(&b.needs).all(|(a, b)| a.0 <= b.0 && a.1 <= b.1));
            found.truncate(count_max);
        }
        cheapest(found, |_, _| true)
    }

    /// Returns the open subregion of a node without its operands.
    fn alone(&self, id: NodeId) -> OpenSubregion {
        let node = self.dag.node(id);
        let is_interpolant = |kid: &NodeId| self.dag.node(*kid).kind == NodeKind::Interpolant;
        let interpolants: FxHashSet<NodeId> = node.kids.iter().copied().filter(is_interpolant).collect();
        let fetches = u32::from(matches!(node.kind, NodeKind::Fetch(_)));
        let used = Resources {
            operations: node.size,
            registers: node.words,
            textures: fetches,
            interpolants: interpolants.len() as u32,
            ..Resources::default()
        };
        let costs = &self.architecture.costs;
        let cost = costs.step * f64::from(node.work) + costs.fetch * f64::from(fetches);
        self.limited(OpenSubregion { used, cost, choices: Vec::new(), needs: Vec::new() })
    }

    /// Returns what an open subregion becomes with one more operand: restored, or computed in each way that fits.
    fn with_operand(&self, state: &OpenSubregion, kid: NodeId) -> Vec<OpenSubregion> {
        let (costs, words) = (&self.architecture.costs, self.dag.node(kid).words);
        let is_saved = self.saved.contains(&kid) || self.dag.outputs().contains(&kid);
        let open: &[OpenSubregion] = if is_saved { &[] } else { &self.states[kid.index()] };
        let closed = open.first().map_or(0.0, |cheapest| costs.pass + costs.save * f64::from(words) + cheapest.cost);
        let restored = Resources {
            operations: words,
            textures: self.architecture.restore_textures * words,
            registers: words,
            ..Resources::default()
        };
        let restored = self.joined(state, &restored, words, closed + costs.restore * f64::from(words), None);
        let computed = open.iter().enumerate();
        let computed = computed.map(|(at, kid)| self.joined(state, &kid.used, words, kid.cost, Some(at)));
        computed.chain([restored]).collect()
    }

    fn joined(
        &self,
        state: &OpenSubregion,
        operand: &Resources,
        words: u32,
        cost: f64,
        choice: Option<usize>,
    ) -> OpenSubregion {
        let mut joined = state.clone();
        joined.choices.push(choice);
        if self.architecture.limits.registers != UNLIMITED {
            joined.needs.push((operand.registers, words));
        }
        joined.needs.sort_by_key(|&(need, words)| i64::from(words) - i64::from(need));
        joined.cost += cost;
        joined.used.operations += operand.operations;
        joined.used.textures += operand.textures;
        joined.used.interpolants += operand.interpolants;
        let mut before = 0;
        for &(need, words) in &joined.needs {
            joined.used.registers = joined.used.registers.max(before + need);
            before += words;
        }
        self.limited(joined)
    }

    /// Forgets what is not limited: there no state is better than another.
    fn limited(&self, mut state: OpenSubregion) -> OpenSubregion {
        let (limits, used) = (&self.architecture.limits, &mut state.used);
        for (used, limit) in [
            (&mut used.operations, limits.operations),
            (&mut used.registers, limits.registers),
            (&mut used.textures, limits.textures),
            (&mut used.interpolants, limits.interpolants),
        ] {
            *used = if limit == UNLIMITED { 0 } else { *used };
        }
        state
    }

    /// Returns the marks of the cheapest way to compute the outputs.
    fn marks(&self) -> Marks {
        let mut marks = Marks::of(self.dag, &self.saved);
        let mut seen = FxHashSet::default();
        let mut stack: Vec<(NodeId, usize)> =
            self.dag.outputs().iter().chain(&self.saved).map(|&root| (root, 0)).collect();
        self.dag.outputs().iter().for_each(|&output| marks.set(output, true));
        while let Some((node, state)) = stack.pop() {
            if !seen.insert((node, state)) {
                continue;
            }
            for (kid, choice) in self.dag.operands(node).zip(&self.states[node.index()][state].choices) {
                if choice.is_none() {
                    marks.set(kid, true);
                }
                stack.push((kid, choice.unwrap_or(0)));
            }
        }
        marks
    }
}

/// Returns those that no other is at least as good as, also by a further comparison, the cheapest first.
fn cheapest(
    mut states: Vec<OpenSubregion>,
    is_as_good: impl Fn(&OpenSubregion, &OpenSubregion) -> bool,
) -> Vec<OpenSubregion> {
    states.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let mut kept: Vec<OpenSubregion> = Vec::new();
    for state in states {
        let uses = |state: &OpenSubregion| {
            [state.used.operations, state.used.registers, state.used.textures, state.used.interpolants]
        };
        let is_beaten = |other: &OpenSubregion| {
            uses(other).iter().zip(uses(&state)).all(|(a, b)| *a <= b) && is_as_good(other, &state)
        };
        if !kept.iter().any(is_beaten) {
            kept.push(state);
        }
    }
    kept
}

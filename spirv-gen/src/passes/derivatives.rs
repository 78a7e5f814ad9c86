//! Derivative relocation (RenderAnts, Appendix A): differences between vertices need a barrier, and a barrier needs the
//! whole workgroup.
//!
//! 1. Derivatives of what is uniform are 0 ([`drop_uniform_derivatives`]).
//! 2. A derivative and all that its argument needs are moved out of branches and loops as far as the argument's own
//!    inputs allow.
//! 3. Where one cannot leave a branch, the branch is taken by everybody, its effects under a condition, its results
//!    selected; where one cannot leave a loop whose number of trips is not the same for all, the loop goes on while any
//!    point of the workgroup votes for it, and points that would have left keep their values. A loop of a known number
//!    of trips in such a branch is made by all if any point is in the branch.
//! 4. Where the condition of a branch is the same for a whole grid, its derivatives stay in it, and workgroups vote
//!    whether they take it ([`super::votes`]).
//! 5. In each region derivatives are put together into as few exchanges as may be: [`super::exchanges`].

use super::dead::remove_dead;
use super::exchanges::group;
use super::free_values::free_values;
use super::rates::varying;
use super::simplify::simplify;
use super::translate::{Rules, Translator, translate};
use super::trips::uncounted_loops;
use super::votes::{BranchVotes, voted_branches};
use crate::ir::{Binary, Body, Compare, Const, Def, Inst, MachineType, Op, Region, Unary, Value};
use rustc_hash::FxHashSet;

/// Returns a program in which the derivatives of what is uniform are 0.
pub fn drop_uniform_derivatives(body: &Body) -> Body {
    if !contains_derivative(body, body.root()) {
        return body.clone();
    }
    simplify(&translate(body, &mut DropUniform { varying: varying(body) }, true))
}

/// Brings a program into a form in which all its differences are taken by whole workgroups.
pub fn relocate_derivatives(body: &Body) -> Body {
    if !contains_derivative(body, body.root()) {
        return body.clone();
    }
    let mut body = translate(body, &mut Hoist::new(body), true);
    remove_dead(&mut body);
    let uniform = uncounted_loops(&body);
    let votes = BranchVotes::new(voted_branches(&body));
    let mut body = translate(&body, &mut Legalise { guard: None, uniform, votes }, true);
    remove_dead(&mut body);
    let root = body.root();
    group(&mut body, root);
    body
}

fn contains_derivative(body: &Body, region: Region) -> bool {
    let mut found = false;
    body.walk(region, &mut |i| found |= matches!(body.inst(i).op, Op::Derivative(_)));
    found
}

struct DropUniform {
    varying: Vec<bool>,
}

impl Rules for DropUniform {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, _: &[Value]) -> Option<Vec<Value>> {
        let data = t.from.inst(inst);
        let uniform = matches!(data.op, Op::Derivative(_)) && !self.varying[data.args[0].0 as usize];
        uniform.then(|| vec![t.out.zero(t.from.ty(data.args[0]))])
    }
}

/// Returns the derivatives of a program.
fn derivatives(body: &Body) -> Vec<Inst> {
    let mut found = Vec::new();
    body.walk(body.root(), &mut |i| found.extend(matches!(body.inst(i).op, Op::Derivative(_)).then_some(i)));
    found
}

/// Returns some instructions and all that their arguments need.
fn slice(body: &Body, mut work: Vec<Inst>) -> FxHashSet<Inst> {
    let mut found = FxHashSet::default();
    while let Some(inst) = work.pop() {
        if !found.insert(inst) {
            continue;
        }
        work.extend(free_values(body, inst).into_iter().filter_map(|v| match body.value(v).def {
            Def::Inst(inst, _) => Some(inst),
            Def::Param(..) => None,
        }));
    }
    found
}

/// Returns whether an instruction may be executed anywhere its inputs are known.
fn is_movable(body: &Body, inst: Inst) -> bool {
    let data = body.inst(inst);
    let inner = || data.regions.iter().flat_map(|&r| &body.region(r).insts).all(|&i| is_movable(body, i));
    data.op.is_pure() || (data.op.has_regions() && inner())
}

struct Hoist {
    slice: FxHashSet<Inst>,
    /// What decides about votes: it leaves all branches, so that they are taken together.
    conditions: FxHashSet<Inst>,
    /// Branches that derivatives do not leave.
    voted: FxHashSet<Inst>,
    /// Scopes around the innermost of these.
    outermost: usize,
}

impl Hoist {
    fn new(body: &Body) -> Self {
        let voted = voted_branches(body);
        let condition = |&branch: &Inst| match body.value(body.inst(branch).args[0]).def {
            Def::Inst(inst, _) => Some(inst),
            Def::Param(..) => None,
        };
        let conditions = slice(body, voted.iter().filter_map(condition).collect());
        Self { slice: slice(body, derivatives(body)), conditions, voted, outermost: 1 }
    }

    /// Writes a branch that derivatives do not leave.
    fn voted(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Vec<Value> {
        let data = t.from.inst(inst);
        let outer = std::mem::replace(&mut self.outermost, t.out.depth() + 1);
        let regions = data.regions.iter().map(|&region| t.nested(self, region, false).0).collect();
        self.outermost = outer;
        t.out.push(Op::If, args.to_vec(), regions, &t.types(data))
    }
}

impl Rules for Hoist {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let is_voted = self.voted.contains(&inst);
        let is_condition = self.conditions.contains(&inst);
        if !(is_condition || self.slice.contains(&inst)) || !is_movable(t.from, inst) {
            return is_voted.then(|| self.voted(t, inst, args));
        }
        let depth = free_values(t.from, inst).into_iter().map(|v| t.out.depth_of(t.value(v))).max().unwrap_or(1);
        let depth = if is_condition { depth } else { depth.max(self.outermost) };
        let depth = t.out.past_condition(depth);
        if depth >= t.out.depth() {
            return is_voted.then(|| self.voted(t, inst, args));
        }
        let inner = t.out.leave(depth);
        let results = if is_voted { self.voted(t, inst, args) } else { t.default(self, inst, args.to_vec()) };
        t.out.enter(inner);
        Some(results)
    }
}

/// Makes branches and loops around derivatives such that the whole workgroup comes by.
struct Legalise {
    /// Where this is false, effects must not happen.
    guard: Option<Value>,
    /// Loops that all points leave after the same number of trips.
    uniform: FxHashSet<Inst>,
    votes: BranchVotes,
}

impl Rules for Legalise {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let data = t.from.inst(inst);
        if self.guard.is_some() && (matches!(data.op, Op::SlotStore(_)) || data.op.record().is_some()) {
            self.guarded(t, inst, args);
            return Some(Vec::new());
        }
        if !data.regions.iter().any(|&r| contains_derivative(t.from, r)) {
            return None;
        }
        match data.op {
            Op::If => {
                let not = t.out.op(Op::Unary(Unary::Not), args);
                self.votes.take(t, inst, self.guard);
                Some(self.flatten(t, inst, &[args[0], not]))
            }
            Op::Switch => {
                let conditions = case_conditions(t, args[0], data.regions.len());
                Some(self.flatten(t, inst, &conditions))
            }
            Op::Loop if self.uniform.contains(&inst) => self.guard.map(|guard| self.if_any(t, inst, args, guard)),
            Op::Loop => {
                let regions = &t.from.inst(inst).regions;
                Some(t.repeated(regions, |t| self.together(t, inst, args)))
            }
            _ => None,
        }
    }
}

/// Returns for each case of a switch whether it is the one.
fn case_conditions(t: &mut Translator<'_, '_>, selector: Value, count: usize) -> Vec<Value> {
    let mut conditions = Vec::new();
    let mut none = t.out.constant(Const::Bool(true));
    for case in 0..count - 1 {
        let number = t.out.constant(Const::U32(case as u32));
        let here = t.out.op(Op::Compare(Compare::Eq), &[selector, number]);
        let not = t.out.op(Op::Unary(Unary::Not), &[here]);
        none = t.out.op(Op::Binary(Binary::And), &[none, not]);
        conditions.push(here);
    }
    conditions.push(none);
    conditions
}

impl Legalise {
    /// Writes an effect under the guard.
    fn guarded(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) {
        let guard = self.guard.take().expect("there is a guard");
        t.out.open(&[], false);
        t.default(self, inst, args.to_vec());
        let then = t.out.close(&[]);
        t.out.open(&[], false);
        let otherwise = t.out.close(&[]);
        t.out.push(Op::If, vec![guard], vec![then, otherwise], &[]);
        t.forget_array_of(inst);
        self.guard = Some(guard);
    }

    /// Writes all regions of a branch one after the other, effects under their conditions, and selects the results.
    /// Regions on which the workgroup has voted are skipped where no point wants them.
    fn flatten(&mut self, t: &mut Translator<'_, '_>, inst: Inst, conditions: &[Value]) -> Vec<Value> {
        let outer = self.guard;
        let regions = &t.from.inst(inst).regions;
        let mut all = Vec::new();
        for (side, (&region, &condition)) in regions.iter().zip(conditions).enumerate() {
            let guard = outer.map(|g| t.out.op(Op::Binary(Binary::And), &[g, condition]));
            self.guard = Some(guard.unwrap_or(condition));
            all.push(match self.votes.of(inst, side) {
                Some(any) => self.voted(t, inst, region, any),
                None => t.region(self, region),
            });
        }
        // The last region's results are taken unless an earlier condition holds.
        let mut results = all.pop().unwrap_or_default();
        for (yields, &condition) in all.into_iter().zip(conditions).rev() {
            for (result, yielded) in results.iter_mut().zip(yields) {
                *result = t.out.op(Op::Select, &[condition, yielded, *result]);
            }
        }
        self.guard = outer;
        results
    }

    /// Writes a region that is skipped unless any point of the workgroup wants it.
    fn voted(&mut self, t: &mut Translator<'_, '_>, inst: Inst, region: Region, any: Value) -> Vec<Value> {
        let types = t.types(t.from.inst(inst));
        let (then, _) = t.nested(self, region, false);
        t.out.open(&[], false);
        let zeros: Vec<Value> = types.iter().map(|&ty| t.out.zero(ty)).collect();
        let otherwise = t.out.close(&zeros);
        t.out.push(Op::If, vec![any], vec![then, otherwise], &types)
    }

    /// Writes a loop that all points leave after the same number of trips as one that all make if any point of the
    /// workgroup is in the branch around it.
    fn if_any(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value], guard: Value) -> Vec<Value> {
        let any = t.out.op(Op::Any, &[guard]);
        let (types, regions) = (t.types(t.from.inst(inst)), &t.from.inst(inst).regions);
        let then = t.repeated(regions, |t| {
            t.out.open(&[], false);
            let results = t.default(self, inst, args.to_vec());
            t.out.close(&results)
        });
        t.out.open(&[], false);
        let otherwise = t.out.close(args);
        t.out.push(Op::If, vec![any], vec![then, otherwise], &types)
    }

    /// Writes a loop that goes on while any point of the workgroup wants to. Points outside of the branch around it
    /// have no vote, because it may never end for them.
    fn together(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Vec<Value> {
        let data = t.from.inst(inst);
        let from = t.from;
        let (condition, body) = (data.regions[0], data.regions[1]);
        let outer = self.guard;
        let start = t.out.constant(Const::Bool(true));
        let types = [&t.types(data)[..], &[MachineType::Bool]].concat();
        let params = t.out.open(&types, true);
        let (&alive, carried) = params.split_last().expect("a parameter for the vote");
        t.bind(&from.region(condition).params, carried);
        let test = t.region(self, condition)[0];
        let go = t.out.op(Op::Binary(Binary::And), &[test, alive]);
        let guard = outer.map(|g| t.out.op(Op::Binary(Binary::And), &[g, go]));
        let any = t.out.op(Op::Any, &[guard.unwrap_or(go)]);
        t.out.open_body();
        self.guard = Some(guard.unwrap_or(go));
        let next = t.region(self, body);
        let pairs = next.iter().zip(carried);
        let mut next: Vec<Value> = pairs.map(|(&n, &c)| t.out.op(Op::Select, &[go, n, c])).collect();
        next.push(go);
        self.guard = outer;
        let body = t.out.close(&next);
        let condition = t.out.close(&[any]);
        let args = [args, &[start]].concat();
        let mut results = t.out.push(Op::Loop, args, vec![condition, body], &types);
        results.pop();
        results
    }
}

//! Groups of instructions of the same form: what of them differs, and how.

use crate::ir::{Binary, Body, Compare, Const, Def, Inst, MachineType, Op, Region, Value};
use crate::passes::exchanges::is_ordered;
use crate::passes::free_values;
use rustc_hash::{FxHashMap, FxHashSet};

/// Values that are matched before groups count as different: forms that could be matched in many ways are rare.
const TRIES_MAX: usize = 512;

/// Groups back to which a group may look.
const DISTANCE_MAX: usize = 2;

/// A value for each group, the first group's first; none where a group has none, and any will do.
pub(super) type Across = Vec<Option<Value>>;

/// Where the steps of a trip find an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A value from outside, the same in all trips.
    Outside(Value),
    /// Constants of this number, one for each trip.
    Table(usize),
    /// A result of a step in the same trip.
    Step(usize, usize),
    /// What is carried under this number from trip to trip.
    Carried(usize),
}

/// A value that is carried from trip to trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    /// Before the first trip; none where no trip reads it.
    pub(super) first: Option<Value>,
    /// After a trip.
    pub(super) next: Operand,
    pub(super) ty: MachineType,
}

/// What a step is in one of the groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// An instruction, its two arguments exchanged or not.
    Inst(Inst, bool),
    /// Nothing: the group has the value itself, and the step leaves it as it is.
    Same(Value),
    /// There is none, and nobody needs one.
    Free,
}

/// An instruction of each group.
#[derive(Clone, Debug)]
pub(super) struct GroupStep {
    pub(super) op: Op,
    pub(super) args: Vec<Operand>,
    pub(super) entries: Vec<Entry>,
}

/// What of a region depends on calls.
pub(super) struct Needs {
    /// For each value of the region the number of the last of the calls that it needs, counted from 1, or else 0.
    values: FxHashMap<Value, usize>,
    /// The same for instructions; those with effects need what effects before them need.
    insts: FxHashMap<Inst, usize>,
    /// The instructions of the region by their place in it.
    pub(super) places: FxHashMap<Inst, usize>,
    /// The instructions of the region that use a value, they or what they own.
    pub(super) users: FxHashMap<Value, Vec<Inst>>,
    /// What the region yields.
    pub(super) yielded: FxHashSet<Value>,
}

impl Needs {
    pub(super) fn of(body: &Body, region: Region, calls: &[Inst]) -> Self {
        let data = body.region(region);
        let mut found = Self {
            values: FxHashMap::default(),
            insts: FxHashMap::default(),
            places: FxHashMap::default(),
            users: FxHashMap::default(),
            yielded: data.results.iter().copied().collect(),
        };
        let numbers: FxHashMap<Inst, usize> = calls.iter().copied().zip(1..).collect();
        let mut effects = 0;
        for (&inst, place) in data.insts.iter().zip(0..) {
            let mut used = free_values(body, inst);
            used.sort_unstable();
            used.dedup();
            let mut last = used.iter().map(|&value| found.of_value(value)).max().unwrap_or(0);
            last = last.max(numbers.get(&inst).copied().unwrap_or(0));
            if is_ordered(body, inst) {
                last = last.max(effects);
                effects = last;
            }
            found.values.extend(body.inst(inst).results.iter().map(|&result| (result, last)));
            found.insts.insert(inst, last);
            found.places.insert(inst, place);
            used.into_iter().for_each(|value| found.users.entry(value).or_default().push(inst));
        }
        found
    }

    pub(super) fn of_value(&self, value: Value) -> usize {
        self.values.get(&value).copied().unwrap_or(0)
    }

    pub(super) fn of_inst(&self, inst: Inst) -> usize {
        self.insts[&inst]
    }
}

/// Groups of the same form.
#[derive(Clone)]
pub(super) struct Groups {
    /// How many there are.
    pub(super) count: usize,
    /// Values that need later calls than this, counted as in [`Needs`], may be needed by groups.
    pub(super) before: usize,
    /// The instructions of a group.
    pub(super) steps: Vec<GroupStep>,
    pub(super) tables: Vec<Vec<Option<Const>>>,
    pub(super) carried: Vec<Carried>,
    tries: usize,
}

impl Groups {
    /// Matches what the calls need, one call a group, or returns the first group that differs (0 where that is not
    /// known).
    pub(super) fn of(body: &mut Body, dependence: &Needs, calls: &[Inst]) -> Result<Self, usize> {
        let mut groups = Self {
            count: calls.len(),
            before: dependence.of_inst(calls[0]) - 1,
            steps: Vec::new(),
            tables: Vec::new(),
            carried: Vec::new(),
            tries: 0,
        };
        let across = calls.iter().map(|&call| Some(body.inst(call).results[0])).collect();
        groups.step(&mut Matching { body, dependence }, &across, 0, None)?;
        Ok(groups)
    }

    /// Adds what is made of the groups' results in the same form by each.
    pub(super) fn grow(&mut self, body: &mut Body, dependence: &Needs) {
        let mut at = 0;
        let mut tried = FxHashSet::default();
        while at < self.steps.len() {
            for result in 0..body.inst(self.inst_of(at)).results.len() {
                let second = self.values_of(body, (at, result))[1];
                if second.is_none_or(|value| dependence.of_value(value) <= self.before) {
                    continue;
                }
                while self.grow_from(&mut Matching { body, dependence }, (at, result), &mut tried) {}
            }
            at += 1;
        }
    }

    /// Adds one step that uses a result of a step.
    fn grow_from(&mut self, m: &mut Matching<'_>, from: (usize, usize), tried: &mut FxHashSet<Inst>) -> bool {
        let values = self.values_of(m.body, from);
        let members = self.members();
        let users = |value: &Option<Value>| -> Vec<Inst> {
            let all = value.and_then(|value| m.dependence.users.get(&value)).into_iter().flatten().copied();
            all.filter(|user| !members.contains(user)).collect()
        };
        let users: Vec<Vec<Inst>> = values.iter().map(users).collect();
        for &like in &users[1] {
            if !tried.insert(like) {
                continue;
            }
            let Some(mut across) = alike(m.body, &users, like) else { continue };
            // A sum begins with its first two terms: the first is the sum so far.
            let first = (across[0] == across[1]).then_some(values[0]).flatten();
            across[0] = first.or(across[0]);
            if self.attempt(|groups| groups.step(m, &across, 0, first)).is_ok() {
                return true;
            }
        }
        false
    }

    /// Returns what a step gives in each group.
    pub(super) fn values_of(&self, body: &Body, (step, result): (usize, usize)) -> Across {
        let value = |entry: &Entry| match *entry {
            Entry::Inst(inst, _) => Some(body.inst(inst).results[result]),
            Entry::Same(value) => Some(value),
            Entry::Free => None,
        };
        self.steps[step].entries.iter().map(value).collect()
    }

    /// Returns all instructions of all groups.
    pub(super) fn members(&self) -> FxHashSet<Inst> {
        let entries = self.steps.iter().flat_map(|step| &step.entries);
        entries.filter_map(|entry| if let Entry::Inst(inst, _) = entry { Some(*inst) } else { None }).collect()
    }

    /// Returns an instruction of some group.
    pub(super) fn inst_of(&self, step: usize) -> Inst {
        let mut entries = self.steps[step].entries.iter();
        let found = entries.find_map(|entry| if let Entry::Inst(inst, _) = entry { Some(*inst) } else { None });
        found.expect("a step is made of instructions")
    }

    /// Undoes what was matched if it fails.
    fn attempt<T>(&mut self, then: impl FnOnce(&mut Self) -> Result<T, usize>) -> Result<T, usize> {
        let before = self.clone();
        let result = then(self);
        if result.is_err() {
            let tries = self.tries;
            *self = Self { tries, ..before };
        }
        result
    }

    /// Returns where values are found that the groups, `shift` groups later, need in the same place.
    fn source(&mut self, m: &mut Matching<'_>, across: &Across, shift: usize) -> Result<Operand, usize> {
        self.tries += 1;
        if self.tries > TRIES_MAX {
            return Err(0);
        }
        let known = || across.iter().copied().flatten();
        let Some(first) = known().next() else { return Err(0) };
        if known().all(|value| value == first) && self.is_outside(m, first) {
            return Ok(Operand::Outside(first));
        }
        if let Some(step) = self.known_step(m, across) {
            return Ok(step);
        }
        if let Some(table) = self.table(m, across) {
            return Ok(table);
        }
        let init = across[0].filter(|&value| self.is_outside(m, value));
        let later: Across = across[1..].iter().copied().chain([None]).collect();
        if let (Some(init), Some(next)) = (init, self.known_step(m, &later)) {
            return Ok(self.carry(m, init, next));
        }
        let different = match self.attempt(|groups| groups.step(m, across, shift, None)) {
            Ok(step) => return Ok(step),
            Err(different) => different.max(shift + common_start(m, across)),
        };
        let Some(init) = init.filter(|_| shift < DISTANCE_MAX) else { return Err(different) };
        match self.attempt(|groups| groups.source(m, &later, shift + 1)) {
            Ok(next) => Ok(self.carry(m, init, next)),
            Err(other) => Err(different.max(other)),
        }
    }

    /// Returns whether a value is there before the first group.
    fn is_outside(&self, m: &Matching<'_>, value: Value) -> bool {
        m.dependence.of_value(value) <= self.before
    }

    fn carry(&mut self, m: &Matching<'_>, first: Value, next: Operand) -> Operand {
        let same = self.carried.iter().position(|carried| carried.first == Some(first) && carried.next == next);
        Operand::Carried(same.unwrap_or_else(|| {
            self.carried.push(Carried { first: Some(first), next, ty: m.body.ty(first) });
            self.carried.len() - 1
        }))
    }

    fn table(&mut self, m: &Matching<'_>, across: &Across) -> Option<Operand> {
        let mut constants = Vec::new();
        for value in across {
            constants.push(match value {
                Some(value) => Some(m.body.constant(*value)?.clone()),
                None => None,
            });
        }
        let mut types = constants.iter().flatten().map(Const::ty);
        let ty = types.next().filter(|ty| !matches!(ty, MachineType::Bool | MachineType::Mat4))?;
        if types.any(|other| other != ty) {
            return None;
        }
        let number = self.tables.iter().position(|table| *table == constants).unwrap_or_else(|| {
            self.tables.push(constants);
            self.tables.len() - 1
        });
        Some(Operand::Table(number))
    }

    /// Returns the step that gives these values.
    fn known_step(&mut self, m: &Matching<'_>, across: &Across) -> Option<Operand> {
        for step in 0..self.steps.len() {
            for result in 0..m.body.inst(self.inst_of(step)).results.len() {
                let values = self.values_of(m.body, (step, result));
                let mut both = values.iter().zip(across).filter(|(a, b)| a.is_some() && b.is_some()).peekable();
                if both.peek().is_none() || both.any(|(a, b)| a != b) {
                    continue;
                }
                let missing: Vec<usize> =
                    (0..self.count).filter(|&k| values[k].is_none() && across[k].is_some()).collect();
                let extended = self.attempt(|groups| {
                    let mut all = missing.iter().zip(missing.iter().filter_map(|&k| across[k]));
                    if all.all(|(&k, value)| groups.extend(m, (step, result), k, value)) { Ok(()) } else { Err(0) }
                });
                if extended.is_ok() {
                    return Some(Operand::Step(step, result));
                }
            }
        }
        None
    }

    /// Gives a step its instruction in a group, which makes this value.
    fn extend(&mut self, m: &Matching<'_>, (step, result): (usize, usize), group: usize, value: Value) -> bool {
        let like = self.inst_of(step);
        let Some(inst) = m.member(value).filter(|&inst| m.is_like(inst, like, result, value)) else { return false };
        let data = m.body.inst(inst);
        if data.args.len() != self.steps[step].args.len() {
            // The step is being matched.
            return false;
        }
        [false, true].into_iter().any(|swapped| {
            (!swapped || is_commutative(m.body, inst))
                && self
                    .attempt(|groups| {
                        groups.steps[step].entries[group] = Entry::Inst(inst, swapped);
                        let args = swap(&data.args, swapped);
                        let sources = groups.steps[step].args.clone();
                        let agree = sources.into_iter().zip(args).all(|(s, arg)| groups.agrees(m, s, group, arg));
                        if agree { Ok(()) } else { Err(0) }
                    })
                    .is_ok()
        })
    }

    /// Returns whether a source has this value in a group, or can have it.
    fn agrees(&mut self, m: &Matching<'_>, source: Operand, group: usize, value: Value) -> bool {
        match source {
            Operand::Outside(outside) => outside == value,
            Operand::Table(table) => {
                let Some(constant) = m.body.constant(value) else { return false };
                self.tables[table][group].get_or_insert_with(|| constant.clone()) == constant
            }
            Operand::Step(step, result) => match self.steps[step].entries[group] {
                Entry::Inst(inst, _) => m.body.inst(inst).results[result] == value,
                Entry::Same(same) => same == value,
                Entry::Free => self.extend(m, (step, result), group, value),
            },
            Operand::Carried(carried) => match group {
                0 => self.carried[carried].first == Some(value),
                _ => self.agrees(m, self.carried[carried].next, group - 1, value),
            },
        }
    }

    /// Adds a step that gives these values. Where `first` is given, that is what it gives in the first group, by
    /// leaving it as it is.
    fn step(
        &mut self,
        m: &mut Matching<'_>,
        across: &Across,
        shift: usize,
        first: Option<Value>,
    ) -> Result<Operand, usize> {
        let like = across[1].ok_or(0_usize)?;
        let like = m.member(like).ok_or(0_usize)?;
        let data = m.body.inst(like).clone();
        let result = data.results.iter().position(|&r| Some(r) == across[1]).ok_or(0_usize)?;
        let mut neutral = first.and_then(|first| m.neutral(&data.op, &data.args, Some(first)));
        let mut entries = Vec::new();
        for (&value, group) in across.iter().zip(0..) {
            entries.push(match value {
                None => Entry::Free,
                Some(value) if first.is_some() && group == 0 => Entry::Same(value),
                Some(value) => match m.member(value).filter(|&inst| m.is_like(inst, like, result, value)) {
                    Some(inst) => Entry::Inst(inst, m.is_swapped(inst, like, group)),
                    None => {
                        neutral = neutral.or_else(|| m.neutral(&data.op, &data.args, None));
                        neutral.ok_or(group + shift).map(|_| Entry::Same(value))?
                    }
                },
            });
        }
        if neutral.is_none() && entries.iter().any(|entry| matches!(entry, Entry::Same(_))) {
            return Err(0);
        }
        let number = self.steps.len();
        self.steps.push(GroupStep { op: data.op.clone(), args: Vec::new(), entries: entries.clone() });
        let mut args = Vec::new();
        for at in 0..data.args.len() {
            let argument = |entry: &Entry| match *entry {
                Entry::Inst(inst, swapped) => Some(swap(&m.body.inst(inst).args, swapped)[at]),
                Entry::Same(value) => match neutral {
                    Some((place, neutral)) if place == at => Some(neutral),
                    _ => Some(value),
                },
                Entry::Free => None,
            };
            let across: Across = entries.iter().map(argument).collect();
            args.push(self.source(m, &across, shift)?);
        }
        self.steps[number].args = args;
        Ok(Operand::Step(number, result))
    }
}

/// Returns the results of the users in each group that are like one in the second, the first like that, the second or
/// a further one, if each group has one.
fn alike(body: &Body, users: &[Vec<Inst>], like: Inst) -> Option<Across> {
    let data = body.inst(like);
    if !is_member_op(&data.op) || data.results.len() != 1 {
        return None;
    }
    let same =
        |users: &[Inst]| -> Vec<Inst> { users.iter().copied().filter(|&user| body.inst(user).op == data.op).collect() };
    let number = same(&users[1]).iter().position(|&user| user == like)?;
    let each = users.iter().map(|users| Some(body.inst(*same(users).get(number)?).results[0]));
    let across: Across = each.collect();
    across.iter().all(Option::is_some).then_some(across)
}

/// Returns how many of the first values are the same, or all constants, or 0 where not even two are.
fn common_start(m: &Matching<'_>, across: &Across) -> usize {
    let length = |alike: &dyn Fn(&Option<Value>) -> bool| across.iter().take_while(|value| alike(value)).count();
    let same = length(&|value| *value == across[0]);
    let constant = length(&|value| value.is_some_and(|value| m.body.constant(value).is_some()));
    let longest = same.max(constant);
    if longest > 1 { longest } else { 0 }
}

/// A program of which groups are matched.
struct Matching<'a> {
    body: &'a mut Body,
    dependence: &'a Needs,
}

impl Matching<'_> {
    /// Returns the instruction of the region that makes a value, if it may be one of a group.
    fn member(&self, value: Value) -> Option<Inst> {
        let Def::Inst(inst, _) = self.body.value(value).def else { return None };
        let is_here = self.dependence.places.contains_key(&inst);
        (is_here && is_member_op(&self.body.inst(inst).op)).then_some(inst)
    }

    /// Returns whether an instruction does what another does, and the result of this number is the value.
    fn is_like(&self, inst: Inst, like: Inst, result: usize, value: Value) -> bool {
        let (data, like) = (self.body.inst(inst), self.body.inst(like));
        let types = |args: &[Value]| args.iter().map(|&arg| self.body.ty(arg)).collect::<Vec<_>>();
        let same =
            data.op == like.op && types(&data.args) == types(&like.args) && data.results.get(result) == Some(&value);
        // The channel of a point cloud must stay a constant.
        same && (!matches!(data.op, Op::Points(_)) || data.args[5] == like.args[5])
    }

    /// Returns whether the arguments of an instruction resemble those of another, in the second group, more when they
    /// are exchanged.
    fn is_swapped(&self, inst: Inst, like: Inst, group: usize) -> bool {
        if inst == like || !is_commutative(self.body, inst) {
            return false;
        }
        let (args, like) = (&self.body.inst(inst).args, &self.body.inst(like).args);
        let likeness =
            |a: usize, b: usize| self.likeness((args[0], like[a]), group) + self.likeness((args[1], like[b]), group);
        likeness(1, 0) > likeness(0, 1)
    }

    fn likeness(&self, (a, b): (Value, Value), group: usize) -> u32 {
        let op = |value| self.body.def_inst(value).map(|data| &data.op);
        let [constant_a, constant_b] = [a, b].map(|value| self.body.constant(value).is_some());
        let needs = |value| self.dependence.of_value(value);
        let is_needed_like = (needs(a) == 0) == (needs(b) == 0) && (group == 0 || needs(a) + 1 >= needs(b));
        let same_op = !constant_a && !constant_b && op(a).is_some() && op(a) == op(b);
        4 * u32::from(a == b)
            + 2 * u32::from(constant_a && constant_b)
            + 2 * u32::from(same_op)
            + u32::from(is_needed_like)
    }

    /// Returns the place among the arguments of an operation and the constant there that leaves the other argument as
    /// it is: the place of `first`, or else that of a constant.
    fn neutral(&mut self, op: &Op, args: &[Value], first: Option<Value>) -> Option<(usize, Value)> {
        let is_free = |&place: &usize| match first {
            Some(first) => args[place] == first,
            None => self.body.constant(args[place]).is_some(),
        };
        let (places, x): (&[usize], f32) = match op {
            Op::Binary(Binary::Mul) => (&[0, 1], 1.0),
            Op::Binary(Binary::Div) => (&[1], 1.0),
            Op::Binary(Binary::Add) => (&[0, 1], -0.0),
            Op::Binary(Binary::Sub) => (&[1], 0.0),
            _ => return None,
        };
        let place = places.iter().copied().find(is_free)?;
        let constant = match self.body.ty(args[place]) {
            MachineType::F32 => Const::F32(x),
            MachineType::Vec3 => Const::Vec3([x; 3]),
            _ => return None,
        };
        Some((place, self.constant(constant)))
    }

    /// Returns a constant of the program, added at its start if it is new.
    fn constant(&mut self, constant: Const) -> Value {
        let root = self.body.root();
        let op = Op::Const(constant);
        let known = self.body.region(root).insts.iter().find(|&&inst| self.body.inst(inst).op == op);
        let inst = known.copied().unwrap_or_else(|| {
            let Op::Const(constant) = &op else { unreachable!("made above") };
            let ty = constant.ty();
            let inst = self.body.add_inst(op, Vec::new(), Vec::new(), &[ty]);
            self.body.region_mut(root).insts.insert(0, inst);
            inst
        });
        self.body.inst(inst).results[0]
    }
}

/// Returns whether drivers take long to compile a call of the library function.
pub(super) fn is_long(op: &Op) -> bool {
    matches!(op, Op::Lookup(_) | Op::Points(_) | Op::Noise { .. })
}

/// Returns whether an operation may be one of a group: it depends on its arguments alone, and these may change.
fn is_member_op(op: &Op) -> bool {
    let reads = matches!(op, Op::Const(_) | Op::Builtin(_) | Op::Channel { .. } | Op::Load { .. })
        || matches!(op, Op::Global(_) | Op::Param(_) | Op::ParamElement(_));
    op.is_pure() && !reads && !matches!(op, Op::CategoryMatches | Op::Ambient(_))
}

fn is_commutative(body: &Body, inst: Inst) -> bool {
    let data = body.inst(inst);
    match data.op {
        Op::Binary(Binary::Add | Binary::Mul) => body.ty(data.args[0]) != MachineType::Mat4,
        Op::Binary(Binary::Dot | Binary::And | Binary::Or) | Op::Compare(Compare::Eq | Compare::Ne) => true,
        _ => false,
    }
}

fn swap(args: &[Value], swapped: bool) -> Vec<Value> {
    if swapped { args.iter().rev().copied().collect() } else { args.to_vec() }
}

//! Rewriting a body: the framework of most passes.
//!
//! A [`Translator`] walks a body and writes it into a [`BodyWriter`]. On the way operations on constants are folded,
//! equal operations shared, what does not change in a loop is moved before it, and branches whose condition is known
//! disappear. A pass adds [`Rules`], which may replace instructions.

use super::algebra;
use super::trips::trip_count;
use crate::interp::evaluate;
use crate::ir::{Body, Const, Inst, InstData, MachineType, Op, Region, Slot, Value, result_types};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A region that is being written.
struct RegionScope {
    region: Region,
    /// Operations in it, by what they are, so that equal ones are found again.
    known: FxHashMap<(Op, Vec<Value>), Vec<Value>>,
    /// Whether it is run over and over, first of the regions of a loop.
    repeats: bool,
    /// Whether it is the body of a loop, whose condition is the scope around it.
    is_body: bool,
}

/// Scopes that were left for a while.
pub(crate) struct SuspendedScopes(Vec<RegionScope>);

/// A body that is being written.
pub(crate) struct BodyWriter {
    body: Body,
    scopes: Vec<RegionScope>,
    /// For each value, the number of scopes around its definition.
    depths: Vec<usize>,
    /// Whether operations may be shared and moved. Off while a program is put into a form whose order matters.
    optimise: bool,
    /// Elements of local arrays whose value is known at the current position of the output.
    elements: FxHashMap<(Slot, usize), Value>,
}

impl BodyWriter {
    pub(crate) fn new(optimise: bool) -> Self {
        let body = Body::default();
        let root = RegionScope { region: body.root(), known: FxHashMap::default(), repeats: false, is_body: false };
        Self { body, scopes: vec![root], depths: Vec::new(), optimise, elements: FxHashMap::default() }
    }

    pub(crate) fn body(&self) -> &Body {
        &self.body
    }

    /// Ends the body: what its root yields.
    pub(crate) fn finish(mut self, results: &[Value]) -> Body {
        debug_assert_eq!(self.scopes.len(), 1, "every open region is closed");
        let root = self.body.root();
        self.body.region_mut(root).results = results.to_vec();
        self.body
    }

    pub(crate) fn add_slot(&mut self, ty: MachineType, len: u32) -> Slot {
        self.body.add_slot(ty, len)
    }

    fn at(&self) -> Region {
        self.scopes.last().expect("the root's scope is open").region
    }

    /// Number of scopes that are open.
    pub(crate) fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Number of scopes around a value's definition: it is visible while at least that many are open.
    pub(crate) fn depth_of(&self, value: Value) -> usize {
        self.depths[value.0 as usize]
    }

    fn note(&mut self, values: &[Value], depth: usize) {
        for v in values {
            let at = v.0 as usize;
            if self.depths.len() <= at {
                self.depths.resize(at + 1, 0);
            }
            self.depths[at] = depth;
        }
    }

    /// Opens a region with parameters.
    pub(crate) fn open(&mut self, params: &[MachineType], repeats: bool) -> Vec<Value> {
        let region = self.body.add_region();
        self.scopes.push(RegionScope { region, known: FxHashMap::default(), repeats, is_body: false });
        let params: Vec<_> = params.iter().map(|&ty| self.body.add_region_param(region, ty)).collect();
        self.note(&params, self.scopes.len());
        params
    }

    /// Opens the body of a loop, inside its condition, whose values it sees.
    pub(crate) fn open_body(&mut self) {
        self.open(&[], false);
        self.scopes.last_mut().expect("just opened").is_body = true;
    }

    /// `depth`, or one more if that were the condition of a loop whose body is being written: bodies are not moved
    /// into conditions.
    pub(crate) fn past_condition(&self, depth: usize) -> usize {
        depth + usize::from(self.scopes.get(depth).is_some_and(|s| s.is_body))
    }

    /// Closes the innermost region.
    pub(crate) fn close(&mut self, results: &[Value]) -> Region {
        let scope = self.scopes.pop().expect("a region is open");
        debug_assert!(!self.scopes.is_empty(), "the root stays open");
        self.body.region_mut(scope.region).results = results.to_vec();
        scope.region
    }

    /// Goes back to the outermost `depth` scopes: what is written next goes to the end of the last of them. The others
    /// are returned, to be entered again.
    pub(crate) fn leave(&mut self, depth: usize) -> SuspendedScopes {
        SuspendedScopes(self.scopes.split_off(depth))
    }

    /// Enters scopes that were left.
    pub(crate) fn enter(&mut self, inner: SuspendedScopes) {
        self.scopes.extend(inner.0);
    }

    /// Appends an instruction as it is.
    pub(crate) fn push(
        &mut self,
        op: Op,
        args: Vec<Value>,
        regions: Vec<Region>,
        results: &[MachineType],
    ) -> Vec<Value> {
        let inst = self.body.add_inst(op, args, regions, results);
        let at = self.at();
        self.body.region_mut(at).insts.push(inst);
        let results = self.body.inst(inst).results.clone();
        self.note(&results, self.scopes.len());
        results
    }

    /// Appends an operation without regions, or finds what it gives otherwise; `types` of its results.
    pub(crate) fn emit(&mut self, op: Op, args: &[Value], types: &[MachineType]) -> Vec<Value> {
        if !op.is_pure() {
            return self.push(op, args.to_vec(), Vec::new(), types);
        }
        if let Some(value) = algebra::simplify(self, &op, args) {
            return vec![value];
        }
        let constants: Option<Vec<Const>> = args.iter().map(|&a| self.body.constant(a).cloned()).collect();
        if let (Some(constants), false) = (constants, matches!(op, Op::Const(_)))
            && let Some(result) = evaluate(&op, &constants)
        {
            return vec![self.constant(result)];
        }
        let depth = self.place(&op, args);
        self.find_or_push(op, args, types, depth)
    }

    fn find_or_push(&mut self, op: Op, args: &[Value], types: &[MachineType], depth: usize) -> Vec<Value> {
        if !self.optimise && !matches!(op, Op::Const(_)) {
            return self.push(op, args.to_vec(), Vec::new(), types);
        }
        let key = (op, args.to_vec());
        if let Some(found) = self.scopes.iter().find_map(|s| s.known.get(&key)) {
            return found.clone();
        }
        let (op, args) = key.clone();
        let inner = self.leave(depth);
        let results = self.push(op, args, Vec::new(), types);
        self.enter(inner);
        self.scopes[depth - 1].known.insert(key, results.clone());
        results
    }

    /// The depth at which an operation is written: before the outermost loop in which its arguments do not change, if
    /// any.
    fn place(&self, op: &Op, args: &[Value]) -> usize {
        if matches!(op, Op::Const(_)) {
            return 1;
        }
        let visible = args.iter().map(|&a| self.depth_of(a)).max().unwrap_or(1);
        let here = self.scopes.len();
        if !self.optimise {
            return here;
        }
        (visible..here).find(|&depth| self.scopes[depth].repeats).unwrap_or(here)
    }

    // -- shorthands

    /// An operation with one result, whose type follows from its arguments.
    pub(crate) fn op(&mut self, op: Op, args: &[Value]) -> Value {
        let types: Vec<_> = args.iter().map(|&a| self.body.ty(a)).collect();
        let results = match result_types(&op, &types, &[], &self.body) {
            Ok(results) => results,
            Err(why) => panic!("{op} {why}, but was given {types:?}"),
        };
        self.emit(op, args, &results)[0]
    }

    pub(crate) fn constant(&mut self, c: impl Into<Const>) -> Value {
        let c = c.into();
        let ty = c.ty();
        self.find_or_push(Op::Const(c), &[], &[ty], 1)[0]
    }

    pub(crate) fn zero(&mut self, ty: MachineType) -> Value {
        self.constant(ty.zero())
    }

    pub(crate) fn ty(&self, value: Value) -> MachineType {
        self.body.ty(value)
    }
}

/// What a pass replaces.
pub(crate) trait Rules {
    /// The values to go on with instead of an instruction's results, or `None` to have it written as it is. `args` are
    /// the new arguments.
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>>;
}

/// No replacements.
pub(crate) struct NoRules;

impl Rules for NoRules {
    fn replace(&mut self, _: &mut Translator<'_, '_>, _: Inst, _: &[Value]) -> Option<Vec<Value>> {
        None
    }
}

/// Writes one body into another.
pub(crate) struct Translator<'a, 'o> {
    /// What is read.
    pub(crate) from: &'a Body,
    /// What is written.
    pub(crate) out: &'o mut BodyWriter,
    map: Vec<Option<Value>>,
    slots: Vec<Option<Slot>>,
}

impl<'a, 'o> Translator<'a, 'o> {
    pub(crate) fn new(from: &'a Body, out: &'o mut BodyWriter) -> Self {
        Self { from, out, map: vec![None; from.value_count()], slots: vec![None; from.slots().len()] }
    }

    /// The new array of an old one; those that are not used are dropped.
    fn slot(&mut self, old: Slot) -> Slot {
        let data = self.from.slot(old);
        *self.slots[old.0 as usize].get_or_insert_with(|| self.out.add_slot(data.ty, data.len))
    }

    /// Sets all local arrays to 0, as they are at the start of a shader that may be run more than once.
    pub(crate) fn clear_arrays(&mut self) {
        for (slot, data) in (0..).map(Slot).zip(self.from.slots()) {
            let (slot, zero) = (self.slot(slot), self.out.zero(data.ty));
            for i in 0..data.len {
                let i = self.out.constant(i as f32);
                self.out.emit(Op::SlotStore(slot), &[i, zero], &[]);
            }
        }
    }

    /// The new value of an old one.
    pub(crate) fn value(&self, old: Value) -> Value {
        self.map[old.0 as usize].expect("a value is written before it is used")
    }

    pub(crate) fn values(&self, old: &[Value]) -> Vec<Value> {
        old.iter().map(|&v| self.value(v)).collect()
    }

    /// Says what old values are from now on.
    pub(crate) fn bind(&mut self, old: &[Value], new: &[Value]) {
        debug_assert_eq!(old.len(), new.len());
        for (old, &new) in old.iter().zip(new) {
            self.map[old.0 as usize] = Some(new);
        }
    }

    /// Writes the instructions of a region at the current position of the output; the new values of what it yields.
    pub(crate) fn region(&mut self, rules: &mut dyn Rules, region: Region) -> Vec<Value> {
        let from = self.from;
        for &inst in &from.region(region).insts {
            self.inst(rules, inst);
        }
        self.values(&from.region(region).results)
    }

    /// Writes an instruction.
    pub(crate) fn inst(&mut self, rules: &mut dyn Rules, inst: Inst) {
        let data = self.from.inst(inst);
        let args = self.values(&data.args);
        let results = rules.replace(self, inst, &args).unwrap_or_else(|| self.default(rules, inst, args));
        self.bind(&data.results, &results);
    }

    /// Writes an instruction as it is, but simplified.
    pub(crate) fn default(&mut self, rules: &mut dyn Rules, inst: Inst, args: Vec<Value>) -> Vec<Value> {
        let data = self.from.inst(inst);
        match &data.op {
            Op::If => self.branch(rules, data, &args),
            Op::Switch => self.switch(rules, data, args),
            Op::Loop => match trip_count(self.from, inst).filter(|_| self.out.optimise) {
                Some(0) => args,
                Some(1) => {
                    let (condition, body) = (data.regions[0], data.regions[1]);
                    self.bind(&self.from.region(condition).params, &args);
                    self.region(rules, condition);
                    self.region(rules, body)
                }
                _ => self.repeated(&data.regions, |t| t.repeat(rules, data, args)),
            },
            Op::Illuminance { .. } | Op::LightLoop { .. } => self.carrying(rules, data, args),
            Op::SlotLoad(slot) => {
                let slot = self.slot(*slot);
                let known = self.element(slot, args[0]).and_then(|e| self.out.elements.get(&e).copied());
                known.map_or_else(|| self.out.emit(Op::SlotLoad(slot), &args, &self.types(data)), |value| vec![value])
            }
            Op::SlotStore(slot) => {
                let slot = self.slot(*slot);
                match self.element(slot, args[0]) {
                    Some(element) => _ = self.out.elements.insert(element, args[1]),
                    None => self.out.elements.retain(|e, _| e.0 != slot),
                }
                self.out.emit(Op::SlotStore(slot), &args, &[])
            }
            op => self.out.emit(op.clone(), &args, &self.types(data)),
        }
    }

    /// The element of an array that an index means, if that is known.
    fn element(&self, slot: Slot, index: Value) -> Option<(Slot, usize)> {
        let index = self.out.body().constant(index)?.as_f32()?;
        self.out.optimise.then(|| (slot, crate::interp::index(index, self.out.body().slot(slot).len as usize)))
    }

    /// Runs `write`, which writes some regions that may be run any number of times: what they store to arrays is not
    /// known inside, nor afterwards.
    pub(crate) fn repeated<T>(&mut self, regions: &[Region], write: impl FnOnce(&mut Self) -> T) -> T {
        self.forget_stored(regions);
        let known = self.out.elements.clone();
        let result = write(self);
        self.out.elements = known;
        result
    }

    /// Forgets what is known of arrays that are stored to below some regions.
    fn forget_stored(&mut self, regions: &[Region]) {
        let from = self.from;
        for &region in regions {
            from.walk(region, &mut |i| self.forget_array_of(i));
        }
    }

    /// Forgets what is known of the array that an instruction stores to, if it does.
    pub(crate) fn forget_array_of(&mut self, inst: Inst) {
        if let Op::SlotStore(slot) = self.from.inst(inst).op {
            let slot = self.slot(slot);
            self.out.elements.retain(|e, _| e.0 != slot);
        }
    }

    /// Types of an instruction's results.
    pub(crate) fn types(&self, data: &InstData) -> Vec<MachineType> {
        data.results.iter().map(|&r| self.from.ty(r)).collect()
    }

    /// Writes a region of the old body as a region of its own.
    pub(crate) fn nested(&mut self, rules: &mut dyn Rules, region: Region, repeats: bool) -> (Region, Vec<Value>) {
        let from = self.from;
        let old = &from.region(region).params;
        let types: Vec<_> = old.iter().map(|&p| from.ty(p)).collect();
        let mut write = |t: &mut Self| {
            let params = t.out.open(&types, repeats);
            t.bind(old, &params);
            let results = t.region(rules, region);
            (t.out.close(&results), results)
        };
        if repeats {
            return self.repeated(&[region], write);
        }
        let before = self.out.elements.clone();
        let written = write(self);
        self.out.elements = before;
        self.forget_stored(&[region]);
        written
    }

    fn branch(&mut self, rules: &mut dyn Rules, data: &InstData, args: &[Value]) -> Vec<Value> {
        if let (Some(Const::Bool(cond)), true) = (self.out.body().constant(args[0]), self.out.optimise) {
            return self.region(rules, data.regions[usize::from(!cond)]);
        }
        let (then, yes) = self.nested(rules, data.regions[0], false);
        let (otherwise, no) = self.nested(rules, data.regions[1], false);
        if self.out.optimise && self.is_small(then) + self.is_small(otherwise) <= FLAT_MAX {
            for region in [then, otherwise] {
                self.out.splice(region);
            }
            return yes.iter().zip(no).map(|(&a, b)| self.out.op(Op::Select, &[args[0], a, b])).collect();
        }
        self.out.push(Op::If, args.to_vec(), vec![then, otherwise], &self.types(data))
    }

    /// Number of operations in a region that could as well be executed always; above the limit if some could not.
    fn is_small(&self, region: Region) -> usize {
        let body = self.out.body();
        let insts = &body.region(region).insts;
        let plain = insts.iter().all(|&i| body.inst(i).op.is_pure() && !is_dear(&body.inst(i).op));
        if plain { insts.len() } else { FLAT_MAX + 1 }
    }

    fn switch(&mut self, rules: &mut dyn Rules, data: &InstData, args: Vec<Value>) -> Vec<Value> {
        let last = data.regions.len() - 1;
        let known = match self.out.body().constant(args[0]) {
            Some(Const::U32(selector)) => Some((*selector as usize).min(last)),
            _ => (last == 0).then_some(0),
        };
        if let (Some(region), true) = (known, self.out.optimise) {
            return self.region(rules, data.regions[region]);
        }
        let regions = data.regions.iter().map(|&r| self.nested(rules, r, false).0).collect();
        self.out.push(Op::Switch, args, regions, &self.types(data))
    }

    fn repeat(&mut self, rules: &mut dyn Rules, data: &InstData, args: Vec<Value>) -> Vec<Value> {
        let (condition, body) = (data.regions[0], data.regions[1]);
        let from = self.from;
        let old = &from.region(condition).params;
        let types: Vec<_> = old.iter().map(|&p| from.ty(p)).collect();
        let next = &from.region(body).results;
        // Values that are carried but never change are not carried.
        let fixed: Vec<bool> = (0..old.len()).map(|i| self.out.optimise && next[i] == old[i]).collect();
        let moving = |all: &[Value]| -> Vec<Value> {
            all.iter().zip(&fixed).filter(|(_, fixed)| !**fixed).map(|(&v, _)| v).collect()
        };
        let moving_types: Vec<_> = types.iter().zip(&fixed).filter(|(_, f)| !**f).map(|(&t, _)| t).collect();
        let params = self.out.open(&moving_types, true);
        let mut params = params.into_iter();
        for (i, &old) in old.iter().enumerate() {
            let new = if fixed[i] { args[i] } else { params.next().expect("a parameter for each moving value") };
            self.bind(&[old], &[new]);
        }
        let test = self.region(rules, condition);
        // The body sees the condition's scope, so that stays open around it; nothing is moved from the one to the
        // other.
        self.out.open_body();
        let yields = self.region(rules, body);
        let body = self.out.close(&moving(&yields));
        let condition = self.out.close(&test);
        let mut left = self.out.push(Op::Loop, moving(&args), vec![condition, body], &moving_types).into_iter();
        (0..args.len())
            .map(|i| if fixed[i] { args[i] } else { left.next().expect("a result for each moving value") })
            .collect()
    }

    /// Writes a light loop, which shows nothing to lights, as one that shows these values.
    pub(crate) fn showing(
        &mut self,
        rules: &mut dyn Rules,
        inst: Inst,
        args: &[Value],
        shown: Vec<(Arc<str>, Value)>,
    ) -> Vec<Value> {
        let data = self.from.inst(inst);
        let (names, values): (Vec<_>, Vec<_>) = shown.into_iter().unzip();
        let (head, init) = args.split_at(data.op.fixed_args());
        let (region, _) = self.nested(rules, data.regions[0], true);
        let op = data.op.clone().showing(names.into());
        self.out.push(op, [head, &values, init].concat(), vec![region], &self.types(data))
    }

    fn carrying(&mut self, rules: &mut dyn Rules, data: &InstData, args: Vec<Value>) -> Vec<Value> {
        let (region, _) = self.nested(rules, data.regions[0], true);
        self.out.push(data.op.clone(), args, vec![region], &self.types(data))
    }
}

/// Operations in both branches of an `If` up to which it is turned into selects.
const FLAT_MAX: usize = 16;

/// Whether an operation is long: not executed where it need not be.
pub(crate) fn is_dear(op: &Op) -> bool {
    use crate::ir::{Binary, Unary};
    match op {
        Op::Noise { .. } | Op::Spline { .. } | Op::ColorTransform(..) | Op::Random { .. } | Op::Derivative(_) => true,
        Op::Lookup(_) | Op::Points(_) => true,
        Op::Unary(op) => {
            use Unary::*;
            matches!(op, Sin | Cos | Tan | Asin | Acos | Atan | Exp | Log | Inverse | Determinant)
        }
        Op::Binary(op) => matches!(op, Binary::Pow | Binary::Atan2 | Binary::Hash),
        _ => false,
    }
}

impl BodyWriter {
    /// Moves the instructions of a closed region to the current position of the output.
    fn splice(&mut self, region: Region) {
        let insts = std::mem::take(&mut self.body.region_mut(region).insts);
        let depth = self.scopes.len();
        for &inst in &insts {
            let InstData { op, args, results, .. } = self.body.inst(inst).clone();
            self.note(&results, depth);
            self.scopes[depth - 1].known.entry((op, args)).or_insert(results);
        }
        let at = self.at();
        self.body.region_mut(at).insts.extend(insts);
    }
}

/// Rewrites a body under rules.
pub(crate) fn translate(body: &Body, rules: &mut dyn Rules, optimise: bool) -> Body {
    let mut out = BodyWriter::new(optimise);
    let mut translator = Translator::new(body, &mut out);
    let results = translator.region(rules, body.root());
    out.finish(&results)
}

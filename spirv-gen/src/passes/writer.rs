//! Writing a body: operations on constants are folded, equal operations shared, and what does not change in a loop is
//! moved before it.

use super::exact::is_exact;
use crate::interp::evaluate;
use crate::ir::{
    Body, Const, InstData, MachineType, Note, Op, PlaceId, PlaceShift, PlaceTable, Region, Role, Slot, Value,
    result_types,
};
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
    pub(super) optimise: bool,
    /// Elements of local arrays whose value is known at the current position of the output.
    pub(super) elements: FxHashMap<(Slot, usize), Value>,
    /// What the places of shaders became that were put in last, by their tables and roles.
    inlined: FxHashMap<(*const PlaceTable, Role), PlaceShift>,
}

impl BodyWriter {
    pub(crate) fn new(optimise: bool) -> Self {
        let body = Body::default();
        let root = RegionScope { region: body.root(), known: FxHashMap::default(), repeats: false, is_body: false };
        Self {
            body,
            scopes: vec![root],
            depths: Vec::new(),
            optimise,
            elements: FxHashMap::default(),
            inlined: FxHashMap::default(),
        }
    }

    pub(crate) fn body(&self) -> &Body {
        &self.body
    }

    /// Has only operations folded that have the same bits on every device, if the program that is read has.
    pub(super) fn fold_like(&mut self, from: &Body) {
        self.body.set_folds_exactly(from.folds_exactly());
    }

    /// Ends the body: what its root yields.
    pub(crate) fn finish(mut self, results: &[Value]) -> Body {
        debug_assert_eq!(self.scopes.len(), 1, "every open region is closed");
        let root = self.body.root();
        self.body.region_mut(root).results = results.to_vec();
        self.body
    }

    // -- places

    /// Takes over the places of the body that is rewritten.
    pub(crate) fn share_places(&mut self, from: &Body) {
        self.body.set_places(Arc::clone(from.places()));
    }

    /// Adds the places of a shader whose code is put in here.
    pub(crate) fn inline_places(&mut self, from: &Body, role: Role) -> PlaceShift {
        let outer = self.body.here();
        let shift = self.body.places_mut().append(from.places(), role, outer);
        self.inlined.insert((Arc::as_ptr(from.places()), role), shift);
        shift
    }

    /// Returns what the places of a shader became when it was put in last; they are added if it was not.
    pub(crate) fn inlined_places(&mut self, from: &Body, role: Role) -> PlaceShift {
        let known = self.inlined.get(&(Arc::as_ptr(from.places()), role)).copied();
        known.unwrap_or_else(|| self.inline_places(from, role))
    }

    /// Sets the place of what is written from now on, and returns what it was.
    pub(crate) fn go_to(&mut self, place: PlaceId) -> PlaceId {
        self.body.go_to(place)
    }

    /// Makes a note at the current position.
    pub(super) fn add_note(&mut self, note: Note) {
        self.body.add_note(self.at(), note);
    }

    pub(crate) fn add_slot(&mut self, ty: MachineType, len: u32) -> Slot {
        self.body.add_slot(ty, len)
    }

    fn at(&self) -> Region {
        self.scopes.last().expect("the root's scope is open").region
    }

    /// Returns the number of scopes that are open.
    pub(crate) fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Returns the number of scopes around a value's definition: it is visible while at least that many are open.
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
        let folds = !self.body.folds_exactly() || is_exact(&op);
        if let Some(value) = folds.then(|| self.equal_value(&op, args)).flatten() {
            return vec![value];
        }
        let constants: Option<Vec<Const>> = args.iter().map(|&a| self.body.constant(a).cloned()).collect();
        if let (Some(constants), false) = (constants, matches!(op, Op::Const(_)) || !folds)
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

    /// Returns the depth at which an operation is written: before the outermost loop in which its arguments do not
    /// change, if any.
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

    /// Moves the instructions of a closed region to the current position of the output.
    pub(super) fn splice(&mut self, region: Region) {
        let insts = std::mem::take(&mut self.body.region_mut(region).insts);
        let depth = self.scopes.len();
        for &inst in &insts {
            let InstData { op, args, results, .. } = self.body.inst(inst).clone();
            self.note(&results, depth);
            self.scopes[depth - 1].known.entry((op, args)).or_insert(results);
        }
        let at = self.at();
        self.body.move_first_notes(region, at);
        self.body.region_mut(at).insts.extend(insts);
    }

    // -- shorthands

    /// Returns an operation with one result, whose type follows from its arguments.
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

//! Rewriting a body: the framework of most passes.
//!
//! A [`Translator`] walks a body and writes it into a [`BodyWriter`], which simplifies operations; branches whose
//! condition is known disappear. A pass adds [`Rules`], which may replace instructions.

use super::trips::trip_count;
use super::writer::BodyWriter;
use crate::interp::index;
use crate::ir::{
    Binary, Body, Compare, Const, Inst, InstData, MachineType, Note, Op, PlaceShift, Region, Slot, Unary, Value,
};
use std::sync::Arc;

/// What a pass replaces.
pub(crate) trait Rules {
    /// Returns the values to go on with instead of an instruction's results, or `None` to have it written as it is.
    /// `args` are the new arguments.
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
    places: PlaceShift,
}

impl<'a, 'o> Translator<'a, 'o> {
    /// Returns one whose places become those of `places` in `out`.
    pub(crate) fn new(from: &'a Body, out: &'o mut BodyWriter, places: PlaceShift) -> Self {
        Self { from, out, map: vec![None; from.value_count()], slots: vec![None; from.slots().len()], places }
    }

    /// Returns the new array of an old one. Those that are not used are dropped.
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

    /// Returns the new value of an old one.
    pub(crate) fn value(&self, old: Value) -> Value {
        self.map[old.0 as usize].expect("a value is written before it is used")
    }

    /// Returns the new value of an old one, if that is written yet.
    pub(crate) fn written(&self, old: Value) -> Option<Value> {
        self.map[old.0 as usize]
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
        self.note(from.notes_at_start(region));
        for &inst in &from.region(region).insts {
            self.inst(rules, inst);
            self.note(from.notes_after(inst));
        }
        self.values(&from.region(region).results)
    }

    /// Makes notes at the current position of the output.
    fn note(&mut self, notes: &[Note]) {
        for note in notes {
            if let Some(value) = self.written(note.value) {
                self.out.add_note(Note { variable: self.places.of_variable(note.variable), value });
            }
        }
    }

    /// Writes an instruction.
    pub(crate) fn inst(&mut self, rules: &mut dyn Rules, inst: Inst) {
        let data = self.from.inst(inst);
        let args = self.values(&data.args);
        let outer = self.out.go_to(self.places.of(self.from.place(inst)));
        let results = rules.replace(self, inst, &args).unwrap_or_else(|| self.default(rules, inst, args));
        self.out.go_to(outer);
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
                let known = match self.element(slot, args[0]) {
                    Some(element) => self.out.elements.get(&element).copied(),
                    None => self.chosen_text(slot, args[0]),
                };
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

    /// Returns the element of an array that an index means, if that is known.
    fn element(&self, slot: Slot, number: Value) -> Option<(Slot, usize)> {
        let number = self.out.body().constant(number)?.as_f32()?;
        self.out.optimise.then(|| (slot, index(number, self.out.body().slot(slot).len as usize)))
    }

    /// Returns the text that a number chooses of an array whose texts are all known: then it is one of them, and not
    /// only found where the array is.
    fn chosen_text(&mut self, slot: Slot, number: Value) -> Option<Value> {
        let array = self.out.body().slot(slot).clone();
        if !self.out.optimise || array.ty != MachineType::Str || array.len > CHOSEN_TEXTS_MAX {
            return None;
        }
        let texts = (0..array.len as usize).map(|i| self.out.elements.get(&(slot, i)).copied());
        let texts: Vec<Value> = texts.collect::<Option<_>>()?;
        let (&first, rest) = texts.split_first()?;
        let choose = |chosen, (i, &text): (u8, &Value)| {
            let i = self.out.constant(f32::from(i));
            let is_reached = self.out.op(Op::Compare(Compare::Le), &[i, number]);
            self.out.op(Op::Select, &[is_reached, text, chosen])
        };
        Some((1..).zip(rest).fold(first, choose))
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

    /// Returns the types of an instruction's results.
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

    /// Returns the number of operations in a region that could as well be executed always, or more than the limit if
    /// some could not.
    fn is_small(&self, region: Region) -> usize {
        let body = self.out.body();
        let insts = &body.region(region).insts;
        let plain = insts.iter().all(|&i| body.inst(i).op.is_pure() && !is_dear(&body.inst(i).op));
        if plain { insts.iter().map(|&i| length(&body.inst(i).op)).sum() } else { FLAT_MAX + 1 }
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

    /// Writes a light loop as one that shows these values too.
    pub(crate) fn showing_more(
        &mut self,
        rules: &mut dyn Rules,
        inst: Inst,
        args: &[Value],
        shown: Vec<(Arc<str>, Value)>,
    ) -> Vec<Value> {
        let data = self.from.inst(inst);
        let (names, values): (Vec<_>, Vec<_>) = shown.into_iter().unzip();
        let names = [data.op.shown(), &names].concat();
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

/// Texts of an array of which one is chosen by comparisons.
const CHOSEN_TEXTS_MAX: u32 = 32;

/// Operations in both branches of an `If` up to which it is turned into selects.
const FLAT_MAX: usize = 16;

/// Returns the number of operations that an operation counts as.
fn length(op: &Op) -> usize {
    if *op == Op::Unary(Unary::Normalize) { 12 } else { 1 }
}

/// Returns whether an operation is long: not executed where it need not be.
pub(crate) fn is_dear(op: &Op) -> bool {
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

/// Rewrites a body under rules.
pub(crate) fn translate(body: &Body, rules: &mut dyn Rules, optimise: bool) -> Body {
    let mut out = BodyWriter::new(optimise);
    out.fold_like(body);
    out.share_places(body);
    let mut translator = Translator::new(body, &mut out, PlaceShift::NONE);
    let results = translator.region(rules, body.root());
    out.finish(&results)
}

//! Removes what is not used: instructions, results of branches, values that loops carry.

use crate::ir::{Body, Def, Inst, Op, Region, Value};

/// Removes dead code. What is alive is what the root yields, effects, and what those need.
pub fn remove_dead(body: &mut Body) {
    remove_dead_but(body, &|op, _| op.record().is_some());
}

/// Does the same where effects are the instructions that `is_effect` names. Stores to arrays are alive where these are
/// read.
pub(super) fn remove_dead_but(body: &mut Body, is_effect: &dyn Fn(&Op, Inst) -> bool) {
    let mut live = Live::new(body, is_effect);
    for &v in &body.region(body.root()).results {
        live.value(v);
    }
    live.effects(body, body.root(), &mut Vec::new());
    while let Some(value) = live.work.pop() {
        live.follow(body, value);
    }
    let root = body.root();
    sweep(body, &live, root);
}

struct Live<'a> {
    is_effect: &'a dyn Fn(&Op, Inst) -> bool,
    values: Vec<bool>,
    insts: Vec<bool>,
    work: Vec<Value>,
    /// For each region, the instruction that owns it.
    owners: Vec<Option<Inst>>,
    /// For each array that is not known to be read, the stores to it, each after what owns the regions that it is in.
    stores: Vec<Vec<Vec<Inst>>>,
}

impl<'a> Live<'a> {
    fn new(body: &Body, is_effect: &'a dyn Fn(&Op, Inst) -> bool) -> Self {
        let mut owners = vec![None; body.region_count()];
        body.walk(body.root(), &mut |i| {
            for region in &body.inst(i).regions {
                owners[region.0 as usize] = Some(i);
            }
        });
        let (values, insts) = (vec![false; body.value_count()], vec![false; body.inst_count()]);
        let stores = vec![Vec::new(); body.slots().len()];
        Self { is_effect, values, insts, work: Vec::new(), owners, stores }
    }

    fn value(&mut self, value: Value) {
        if !std::mem::replace(&mut self.values[value.0 as usize], true) {
            self.work.push(value);
        }
    }

    /// Marks effects, and what owns the regions that they are in. Stores are marked when their array is read.
    fn effects(&mut self, body: &Body, region: Region, owners: &mut Vec<Inst>) {
        for &inst in &body.region(region).insts {
            let data = body.inst(inst);
            owners.push(inst);
            if let Op::SlotStore(slot) = data.op {
                self.stores[slot.0 as usize].push(owners.clone());
            }
            if (self.is_effect)(&data.op, inst) {
                for &owner in &*owners {
                    self.inst(body, owner);
                }
            }
            for &inner in &data.regions {
                self.effects(body, inner, owners);
            }
            owners.pop();
        }
    }

    /// Marks an instruction, and the arguments that it needs whatever of its results is used.
    fn inst(&mut self, body: &Body, inst: Inst) {
        if std::mem::replace(&mut self.insts[inst.0 as usize], true) {
            return;
        }
        let data = body.inst(inst);
        let fixed = if carries(&data.op) { data.op.fixed_args() } else { data.args.len() };
        for &arg in &data.args[..fixed] {
            self.value(arg);
        }
        if data.op == Op::Loop {
            self.value(body.region(data.regions[0]).results[0]);
        }
        if let Op::SlotLoad(slot) = data.op {
            let stores = std::mem::take(&mut self.stores[slot.0 as usize]);
            stores.into_iter().flatten().for_each(|store| self.inst(body, store));
        }
    }

    /// Marks what a value needs.
    fn follow(&mut self, body: &Body, value: Value) {
        match body.value(value).def {
            Def::Inst(inst, index) => {
                self.inst(body, inst);
                let data = body.inst(inst);
                let index = index as usize;
                if carries(&data.op) {
                    self.carried(body, inst, index);
                } else {
                    for &region in &data.regions {
                        self.value(body.region(region).results[index]);
                    }
                }
            }
            Def::Param(region, index) => {
                let owner = self.owners[region.0 as usize].expect("a region with parameters has an owner");
                self.inst(body, owner);
                if let Some(carried) = (index as usize).checked_sub(body.inst(owner).op.fixed_params()) {
                    self.carried(body, owner, carried);
                }
            }
        }
    }

    fn carried(&mut self, body: &Body, inst: Inst, index: usize) {
        let data = body.inst(inst);
        self.value(data.results[index]);
        self.value(data.args[data.op.fixed_args() + index]);
        self.value(body.region(data.regions[0]).params[data.op.fixed_params() + index]);
        let last = *data.regions.last().expect("what carries values has a region");
        self.value(body.region(last).results[index]);
    }
}

fn carries(op: &Op) -> bool {
    matches!(op, Op::Loop | Op::Illuminance { .. } | Op::LightLoop { .. })
}

fn keep<T: Copy>(list: &[T], skip: usize, kept: &[bool]) -> Vec<T> {
    let tail = list[skip..].iter().zip(kept).filter(|(_, k)| **k).map(|(&x, _)| x);
    list[..skip].iter().copied().chain(tail).collect()
}

/// Drops dead instructions below a region, and dead results and carried values of live ones. Handles stay what they
/// are; a value's place among its instruction's results is counted again.
fn sweep(body: &mut Body, live: &Live<'_>, region: Region) {
    body.retain_insts(region, |inst| live.insts[inst.0 as usize]);
    for inst in body.region(region).insts.clone() {
        let data = body.inst(inst).clone();
        if data.op.has_regions() {
            let kept: Vec<bool> = data.results.iter().map(|r| live.values[r.0 as usize]).collect();
            if carries(&data.op) {
                let args = keep(&data.args, data.op.fixed_args(), &kept);
                body.inst_mut(inst).args = args;
                let params = keep(&body.region(data.regions[0]).params, data.op.fixed_params(), &kept);
                body.set_region_params(data.regions[0], params);
            }
            body.set_results(inst, keep(&data.results, 0, &kept));
            let yielding = if data.op == Op::Loop { &data.regions[1..] } else { &data.regions[..] };
            for &inner in yielding {
                let results = keep(&body.region(inner).results, 0, &kept);
                body.region_mut(inner).results = results;
            }
        }
        for inner in data.regions {
            sweep(body, live, inner);
        }
    }
}

//! Which values may differ from vertex to vertex of a grid.

use crate::ir::{Body, Inst, Op, Rate, Region};

/// Returns for each value whether it is varying; what is not is the same at all vertices of a grid.
pub fn varying(body: &Body) -> Vec<bool> {
    let mut rates = Rates { body, varying: vec![false; body.value_count()], changed: true };
    while std::mem::take(&mut rates.changed) {
        rates.region(body.root());
    }
    rates.varying
}

struct Rates<'a> {
    body: &'a Body,
    varying: Vec<bool>,
    changed: bool,
}

impl Rates<'_> {
    fn is(&self, value: crate::ir::Value) -> bool {
        self.varying[value.0 as usize]
    }

    fn mark(&mut self, value: crate::ir::Value, varying: bool) {
        let known = &mut self.varying[value.0 as usize];
        self.changed |= varying && !*known;
        *known |= varying;
    }

    fn region(&mut self, region: Region) {
        let body = self.body;
        for &inst in &body.region(region).insts {
            self.inst(inst);
        }
    }

    fn inst(&mut self, inst: Inst) {
        let body = self.body;
        let data = body.inst(inst);
        for &region in &data.regions {
            self.region(region);
        }
        let own = match &data.op {
            Op::Global(g) => g.rate() == Rate::Varying,
            Op::Param(_) | Op::ParamElement(_) | Op::Message { .. } | Op::Lookup(_) | Op::Points(_) => true,
            Op::Channel { .. } | Op::Restore { .. } | Op::Random { .. } | Op::SlotLoad(_) | Op::Ambient(_) => true,
            Op::Any => return,
            _ => data.args[..if data.op.has_regions() { data.op.fixed_args() } else { data.args.len() }]
                .iter()
                .any(|&a| self.is(a)),
        };
        match &data.op {
            Op::If | Op::Switch => {
                for (i, &result) in data.results.iter().enumerate() {
                    let differs = data.regions.iter().any(|&r| self.is(body.region(r).results[i]));
                    self.mark(result, own || differs);
                }
            }
            Op::Loop => self.repeat(inst),
            Op::Illuminance { .. } | Op::LightLoop { .. } => {
                // A light sends something else to every point.
                let params = &body.region(data.regions[0]).params;
                for &value in params.iter().chain(&data.results) {
                    self.mark(value, true);
                }
            }
            _ => data.results.iter().for_each(|&r| self.mark(r, own)),
        }
    }

    fn repeat(&mut self, inst: Inst) {
        let body = self.body;
        let data = body.inst(inst);
        let condition = body.region(data.regions[0]);
        let parts = self.is(condition.results[0]);
        for (i, &param) in condition.params.iter().enumerate() {
            let next = body.region(data.regions[1]).results[i];
            // Points that leave at different times keep different values, also for those that are still inside.
            self.mark(param, self.is(data.args[i]) || self.is(next) || parts);
            self.mark(data.results[i], self.is(param));
        }
    }
}

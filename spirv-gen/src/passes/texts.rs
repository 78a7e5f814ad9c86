//! Which string parameters decide about texts: those that reach `format`, `concat` or `match`, the name of a space, of
//! an attribute or an option, or a computed name, of a filter too. They must be known when a pipeline is composed,
//! because a kernel makes no texts.

use crate::ir::{Body, Def, InstData, LookupKind, MachineType, Op, ParamDefault, ParamId, Shader, Value};

/// Returns for each parameter of a shader whether it decides about a text.
pub fn text_params(shader: &Shader) -> Vec<bool> {
    let mut search = Search::new(shader);
    walk(shader, |data| match &data.op {
        Op::Format(_) | Op::FormatBy | Op::Match | Op::SpaceOf(_) | Op::QueryBy { .. } => search.reach(&data.args),
        Op::Points(_) => {
            search.reach(&data.args[5..]);
            search.reach_computed(&data.args[..1]);
        }
        Op::LookupFilter => search.reach_computed(&data.args),
        // A name that is a parameter itself is looked up where the parameter is bound.
        Op::Lookup(_) | Op::TextureInfo { .. } | Op::CategoryMatches | Op::Illuminance { .. } => {
            let end = data.op.fixed_args();
            let shown = end - data.op.shown().len()..end;
            let (before, behind) = (&data.args[..shown.start], &data.args[end..]);
            search.reach_computed(&[before, behind].concat());
        }
        _ => {}
    });
    search.found
}

/// Returns for each parameter of a shader whether `shadow()` looks it up. One that lists several maps decides about
/// texts.
pub fn map_params(shader: &Shader) -> Vec<bool> {
    let mut search = Search::new(shader);
    walk(shader, |data| match &data.op {
        Op::Lookup(lookup) if lookup.kind == LookupKind::Shadow => search.reach(&data.args[..1]),
        _ => {}
    });
    search.found
}

/// Visits the instructions of a shader, and of the defaults of its parameters.
fn walk(shader: &Shader, mut visit: impl FnMut(&InstData)) {
    let body = &shader.body;
    let defaults = shader.params.iter().filter_map(|param| match param.default {
        ParamDefault::Computed(region) => Some(region),
        ParamDefault::Values(_) => None,
    });
    for region in std::iter::once(body.root()).chain(defaults) {
        body.walk(region, &mut |inst| visit(body.inst(inst)));
    }
}

struct Search<'a> {
    body: &'a Body,
    seen: Vec<bool>,
    found: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(shader: &'a Shader) -> Self {
        let body = &shader.body;
        Self { body, seen: vec![false; body.value_count()], found: vec![false; shader.params.len()] }
    }

    fn is_param(&self, value: Value) -> bool {
        matches!(self.body.def_inst(value).map(|data| &data.op), Some(Op::Param(_)))
    }

    /// The same where a parameter itself may stay one.
    fn reach_computed(&mut self, values: &[Value]) {
        let computed: Vec<Value> = values.iter().copied().filter(|&value| !self.is_param(value)).collect();
        self.reach(&computed);
    }

    /// Marks the parameters whose texts these values may be.
    fn reach(&mut self, values: &[Value]) {
        let mut todo = values.to_vec();
        while let Some(value) = todo.pop() {
            let is_text = self.body.ty(value) == MachineType::Str;
            if !is_text || std::mem::replace(&mut self.seen[value.0 as usize], true) {
                continue;
            }
            if let Some(Op::Param(p) | Op::ParamElement(p)) = self.body.def_inst(value).map(|data| &data.op) {
                self.mark(*p);
            }
            let inst = match self.body.value(value).def {
                Def::Inst(inst, _) => Some(inst),
                Def::Param(region, _) => self.owner(region),
            };
            let Some(inst) = inst else { continue };
            let data = self.body.inst(inst);
            todo.extend(&data.args);
            todo.extend(data.regions.iter().flat_map(|&region| &self.body.region(region).results));
        }
    }

    fn owner(&self, region: crate::ir::Region) -> Option<crate::ir::Inst> {
        (0..self.body.inst_count() as u32)
            .map(crate::ir::Inst)
            .find(|&inst| self.body.inst(inst).regions.contains(&region))
    }

    fn mark(&mut self, param: ParamId) {
        self.found[param.0 as usize] = true;
    }
}

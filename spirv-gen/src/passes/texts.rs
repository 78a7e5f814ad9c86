//! Which string parameters decide about code: those that reach the name of a space, of an attribute or an option, a
//! computed category or filter, lists of shadow maps, or `match` together with texts of other shaders. They must be
//! known when a pipeline is composed. Other texts are made for each block ([`super::uniform`]), which also answers
//! `match`.

use crate::ir::{
    Body, Const, Def, Inst, InstData, LookupKind, MachineType, Op, ParamDefault, ParamId, Region, Shader, Value,
};

/// Returns for each parameter of a shader whether it decides about code.
pub fn text_params(shader: &Shader) -> Vec<bool> {
    let mut search = Search::new(shader);
    walk(shader, |data| match &data.op {
        Op::Match if !asks_others(&shader.body, &data.args) => {}
        Op::Match | Op::SpaceOf(_) | Op::QueryBy { .. } => search.reach(&data.args),
        Op::Points(_) => search.reach(&data.args[5..]),
        Op::Lookup(lookup) if lookup.kind == LookupKind::Shadow && may_be_list(&shader.body, data.args[0]) => {
            search.reach_computed(&data.args[..1]);
        }
        Op::LookupFilter => search.reach_computed(&data.args),
        // A name that is a parameter itself is looked up where the parameter is bound.
        Op::CategoryMatches | Op::Illuminance { .. } => {
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

/// Returns whether a shader puts a comma into a text by itself.
fn may_be_list(body: &Body, text: Value) -> bool {
    let mut found = false;
    let mut seen = vec![false; body.value_count()];
    follow_texts(body, &mut seen, vec![text], &mut |data| {
        found |= match &data.op {
            Op::Format(text) | Op::Const(Const::Str(text)) => text.contains(','),
            Op::FormatBy => true,
            _ => false,
        };
    });
    found
}

/// Returns whether some texts may be those of another shader, whose block is another.
fn asks_others(body: &Body, texts: &[Value]) -> bool {
    let mut found = false;
    let mut seen = vec![false; body.value_count()];
    follow_texts(body, &mut seen, texts.to_vec(), &mut |data| found |= matches!(data.op, Op::Message { .. }));
    found
}

/// Visits what computes some texts, and the texts that they are made of. What is `seen` is not visited again.
fn follow_texts(body: &Body, seen: &mut [bool], mut todo: Vec<Value>, visit: &mut dyn FnMut(&InstData)) {
    while let Some(value) = todo.pop() {
        let is_text = body.ty(value) == MachineType::Str;
        if !is_text || std::mem::replace(&mut seen[value.0 as usize], true) {
            continue;
        }
        let inst = match body.value(value).def {
            Def::Inst(inst, _) => Some(inst),
            Def::Param(region, _) => owner(body, region),
        };
        let Some(inst) = inst else { continue };
        let data = body.inst(inst);
        visit(data);
        todo.extend(&data.args);
        todo.extend(data.regions.iter().flat_map(|&region| &body.region(region).results));
    }
}

fn owner(body: &Body, region: Region) -> Option<Inst> {
    (0..body.inst_count() as u32).map(Inst).find(|&inst| body.inst(inst).regions.contains(&region))
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
        let Self { body, seen, found } = self;
        follow_texts(body, seen, values.to_vec(), &mut |data| {
            if let Op::Param(ParamId(number)) | Op::ParamElement(ParamId(number)) = data.op {
                found[number as usize] = true;
            }
        });
    }
}

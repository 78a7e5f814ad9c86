//! Checks a program: what every pass may rely on, and must leave true.

use super::body::{Body, Inst, Param, ParamDefault, Region, Shader, ShaderKind, Value};
use super::op::{MessageTarget, Op};
use super::print::print_region;
use super::signature::{region_args, region_params, result_types};
use super::types::{Const, MachineType};

/// What is wrong with a program: a bug in the code that built it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct VerifyError {
    /// The operation, as text.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

/// Checks a shader.
///
/// # Errors
/// Returns the first broken rule.
pub fn verify(shader: &Shader) -> Result<(), VerifyError> {
    let whole = |message: String| VerifyError { place: format!("shader {}", shader.name), message };
    let root = shader.body.region(shader.body.root());
    if root.results.len() != shader.outputs.len() {
        return Err(whole("outputs and results of the root differ in number".into()));
    }
    for (output, &value) in shader.outputs.iter().zip(&root.results) {
        if shader.body.ty(value) != output.ty {
            return Err(whole(format!("output {} has the wrong type", output.name)));
        }
    }
    let head = shader.kind.outputs();
    if !head.iter().map(|&(n, t)| (n, t)).eq(shader.outputs.iter().take(head.len()).map(|o| (&*o.name, o.ty))) {
        return Err(whole("the predefined outputs do not come first".into()));
    }
    for param in &shader.params {
        verify_default(shader, param).map_err(whole)?;
    }
    let checker = Verifier { body: &shader.body, params: &shader.params, kind: Some(shader.kind) };
    for param in &shader.params {
        if let ParamDefault::Computed(region) = param.default {
            checker.run(region)?;
        }
    }
    checker.run(shader.body.root())
}

/// Checks code that belongs to no shader any more: a composed and bound program.
///
/// # Errors
/// Returns the first broken rule.
pub fn verify_body(body: &Body, params: &[Param]) -> Result<(), VerifyError> {
    Verifier { body, params, kind: None }.run(body.root())
}

fn verify_default(shader: &Shader, param: &Param) -> Result<(), String> {
    let types: Vec<MachineType> = match &param.default {
        ParamDefault::Values(values) => values.iter().map(Const::ty).collect(),
        ParamDefault::Computed(region) => {
            shader.body.region(*region).results.iter().map(|&v| shader.body.ty(v)).collect()
        }
    };
    if types.len() != param.len() as usize || types.iter().any(|&t| t != param.ty.machine()) {
        return Err(format!("the default of parameter {} has the wrong type or length", param.name));
    }
    Ok(())
}

struct Verifier<'a> {
    body: &'a Body,
    params: &'a [Param],
    kind: Option<ShaderKind>,
}

struct VerifyState {
    visible: Vec<bool>,
    placed: Vec<bool>,
    in_illuminance: bool,
}

impl Verifier<'_> {
    fn run(&self, root: Region) -> Result<(), VerifyError> {
        let mut scope = VerifyState {
            visible: vec![false; self.body.value_count()],
            placed: vec![false; self.body.inst_count()],
            in_illuminance: false,
        };
        self.region(root, &mut scope).map(|_| ())
    }

    fn fail<T>(&self, inst: Inst, message: impl Into<String>) -> Result<T, VerifyError> {
        let data = self.body.inst(inst);
        let args: Vec<_> = data.args.iter().map(Value::to_string).collect();
        Err(VerifyError { place: format!("{}({})", data.op, args.join(", ")), message: message.into() })
    }

    /// Checks a region, and leaves what it defines visible; the values that it defined.
    fn region(&self, region: Region, scope: &mut VerifyState) -> Result<Vec<Value>, VerifyError> {
        let data = self.body.region(region);
        let mut defined = data.params.clone();
        for &v in &data.params {
            scope.visible[v.0 as usize] = true;
        }
        for &inst in &data.insts {
            if std::mem::replace(&mut scope.placed[inst.0 as usize], true) {
                return self.fail(inst, "is placed twice");
            }
            self.inst(inst, scope)?;
            for &v in &self.body.inst(inst).results {
                scope.visible[v.0 as usize] = true;
                defined.push(v);
            }
        }
        if let Some(v) = data.results.iter().find(|v| !scope.visible[v.0 as usize]) {
            let place = print_region(self.body, region);
            return Err(VerifyError { place, message: format!("yields {v}, which is not visible there") });
        }
        Ok(defined)
    }

    fn closed_region(&self, region: Region, scope: &mut VerifyState) -> Result<(), VerifyError> {
        for v in self.region(region, scope)? {
            scope.visible[v.0 as usize] = false;
        }
        Ok(())
    }

    fn inst(&self, inst: Inst, scope: &mut VerifyState) -> Result<(), VerifyError> {
        let data = self.body.inst(inst);
        if let Some(v) = data.args.iter().find(|v| !scope.visible[v.0 as usize]) {
            return self.fail(inst, format!("{v} is not visible here"));
        }
        if data.op.has_regions() {
            self.structure(inst)?;
            return self.inner(inst, scope);
        }
        if !data.regions.is_empty() {
            return self.fail(inst, "owns regions");
        }
        if matches!(data.op, Op::Message { target: MessageTarget::Light, .. }) && !scope.in_illuminance {
            return self.fail(inst, "is outside an illuminance");
        }
        let args: Vec<_> = data.args.iter().map(|&a| self.body.ty(a)).collect();
        let results: Vec<_> = data.results.iter().map(|&r| self.body.ty(r)).collect();
        match result_types(&data.op, &args, self.params, self.body) {
            Ok(expected) if expected == results => Ok(()),
            Ok(_) => self.fail(inst, "has results of other types"),
            Err(why) => self.fail(inst, why),
        }
    }

    fn inner(&self, inst: Inst, scope: &mut VerifyState) -> Result<(), VerifyError> {
        let data = self.body.inst(inst);
        if let (Op::Loop, &[condition, body]) = (&data.op, &*data.regions) {
            let defined = self.region(condition, scope)?;
            self.closed_region(body, scope)?;
            for v in defined {
                scope.visible[v.0 as usize] = false;
            }
            return Ok(());
        }
        let lights = matches!(data.op, Op::Illuminance { .. } | Op::LightLoop { .. });
        if lights && scope.in_illuminance {
            return self.fail(inst, "is nested in another");
        }
        let surface = self.kind.is_none_or(|k| matches!(k, ShaderKind::Surface | ShaderKind::Volume));
        if lights && !surface {
            return self.fail(inst, "is in a shader that sees no lights");
        }
        scope.in_illuminance |= lights;
        for &region in &data.regions {
            self.closed_region(region, scope)?;
        }
        scope.in_illuminance &= !lights;
        Ok(())
    }

    /// Checks numbers and types of regions, their parameters and what they yield.
    fn structure(&self, inst: Inst) -> Result<(), VerifyError> {
        let data = self.body.inst(inst);
        let types = |values: &[Value]| values.iter().map(|&v| self.body.ty(v)).collect::<Vec<_>>();
        let (args, results) = (types(&data.args), types(&data.results));
        let fixed = region_args(&data.op);
        if !args.starts_with(fixed) {
            return self.fail(inst, "has arguments of the wrong types");
        }
        let Some(carried) = args.get(data.op.fixed_args()..) else {
            return self.fail(inst, "shows fewer values than names");
        };
        let head = region_params(&data.op);
        let carries = matches!(data.op, Op::Loop | Op::Illuminance { .. } | Op::LightLoop { .. });
        if if carries { carried != results } else { !carried.is_empty() } {
            return self.fail(inst, "carries values of other types than its results");
        }
        let params = [head, carried].concat();
        // Parameters and results that each region must have.
        let shapes: Vec<(&[MachineType], &[MachineType])> = match data.op {
            Op::If => vec![(&[], &results); 2],
            Op::Switch => vec![(&[], &results); data.regions.len().max(1)],
            Op::Loop => vec![(&params, &[MachineType::Bool]), (&[], &results)],
            _ => vec![(&params, &results)],
        };
        if shapes.len() != data.regions.len() {
            return self.fail(inst, format!("owns {} regions", data.regions.len()));
        }
        for (&region, (params, yields)) in data.regions.iter().zip(shapes) {
            let region = self.body.region(region);
            if types(&region.params) != params || types(&region.results) != yields {
                return self.fail(inst, "has a region with the wrong parameters or results");
            }
        }
        Ok(())
    }
}

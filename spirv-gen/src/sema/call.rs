//! Calls: which function or overload is meant, and what it is given.

use super::checker::{CallSite, Checker, lights_report};
use super::convert::{self, COST_COLOR, COST_RENAME};
use super::hir::{Argument, Expr, ExprKind, FuncId, ShadeopCall, Shape, Storage, Type};
use super::operator::single;
use crate::diagnostic::Report;
use crate::ir::{LookupKind, StepFilter};
use crate::shadeops::{self, MathOp, Opcode, Overload, ParameterKind, SignatureParameter};
use crate::span::Span;
use crate::syntax::ast::{AstExpr, AstExprKind, Ident};

/// A checked argument.
struct ActualArgument {
    expr: Expr,
    /// The channel after a texture's name.
    channel: Option<Expr>,
}

/// Something that a call may mean.
#[derive(Clone, Copy)]
enum Candidate {
    Function(FuncId),
    Shadeop(&'static Overload),
}

/// What choosing a candidate costs: mismatch of arguments, then of the result.
type Cost = (u32, u32);

/// Cost of a result that needs a cast that was not written; an error will follow.
const COST_MISFIT: u32 = 1000;

impl Checker<'_> {
    /// `name(arguments)`
    pub(super) fn call(
        &mut self,
        name: &Ident,
        arguments: &[AstExpr],
        span: Span,
        expected: Option<Type>,
    ) -> Option<Expr> {
        let mut candidates: Vec<_> = self.functions_named(&name.name).into_iter().map(Candidate::Function).collect();
        // A function of the shader's own takes the place of one that other renderers have.
        let own = !candidates.is_empty();
        let stands_in = |o: &&Overload| own && matches!(o.opcode, Opcode::Absent(_));
        candidates.extend(shadeops::overloads(&name.name).iter().filter(|o| !stands_in(o)).map(Candidate::Shadeop));
        if candidates.is_empty() {
            if !self.poisoned_functions.contains(&name.name) {
                self.unknown_function(name);
            }
            for argument in arguments {
                self.expr(argument, None);
            }
            return None;
        }
        let actuals = self.actuals(&self.likely(&candidates, expected), arguments)?;
        let mut best: Option<(Cost, Candidate)> = None;
        for &candidate in &candidates {
            let Some(cost) = self.candidate_cost(candidate, &actuals, expected) else { continue };
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, candidate));
            }
        }
        match best {
            Some((_, Candidate::Function(id))) => self.call_function(id, actuals, span),
            Some((_, Candidate::Shadeop(overload))) => self.call_shadeop(name, overload, actuals, span),
            None => {
                self.no_overload(name, &candidates, &actuals, span);
                None
            }
        }
    }

    fn unknown_function(&mut self, name: &Ident) {
        let word = &name.name;
        let report = |message: String| Report::error(name.span, message);
        if self.enclosing.functions.contains(word) {
            return self.error(report(format!("`{word}` calls itself")).hint("RSL has no recursion; use a loop"));
        }
        if self.file_functions.contains(word) {
            let report = report(format!("`{word}` is called before it is defined"));
            return self.error(report.hint("move the function before its first use"));
        }
        if shadeops::is_later_function(word) {
            return self.error(report(format!("`{word}` is not RSL 3.2")));
        }
        let hint = self.function_hint(word);
        let report = report(format!("unknown function `{word}`"));
        self.error(if hint.is_empty() { report } else { report.hint(hint) });
    }

    /// Returns the candidates that say what arguments should be: where a float is wanted, those that give one, if there
    /// are any.
    fn likely(&self, candidates: &[Candidate], expected: Option<Type>) -> Vec<Candidate> {
        let floats = candidates.iter().copied().filter(|&c| self.result(c) == Type::Float);
        let floats: Vec<_> = floats.filter(|_| expected == Some(Type::Float)).collect();
        if floats.is_empty() { candidates.to_vec() } else { floats }
    }

    /// Returns the type of a candidate's result.
    fn result(&self, candidate: Candidate) -> Type {
        match candidate {
            Candidate::Function(id) => self.functions[id.0 as usize].function.result,
            Candidate::Shadeop(overload) => overload.signature.result,
        }
    }

    /// Returns the arguments, checked. Where all candidates want the same type of an argument, that type is what the
    /// argument should be.
    fn actuals(&mut self, candidates: &[Candidate], arguments: &[AstExpr]) -> Option<Vec<ActualArgument>> {
        let count = arguments.len();
        let mut actuals = Vec::with_capacity(count);
        for (i, argument) in arguments.iter().enumerate() {
            let mut wanted = candidates.iter().filter_map(|&c| self.wanted(c, i, count));
            let first = wanted.next();
            let is_texture = first.is_some_and(|p| p.kind == ParameterKind::Texture);
            let ty = |p: SignatureParameter| match p.kind {
                ParameterKind::Value(ty) => Some(ty),
                _ => None,
            };
            let expected = first.and_then(ty).filter(|&t| wanted.all(|p| ty(p) == Some(t)));
            actuals.push(if is_texture {
                self.texture_name(argument)
            } else {
                let expr = self.expr(argument, expected);
                if let Some(expr) = expr.as_ref().filter(|_| !first.is_some_and(|p| p.output)) {
                    self.warn_of_light_outside(expr);
                }
                expr.map(|expr| ActualArgument { expr, channel: None })
            });
        }
        actuals.into_iter().collect()
    }

    /// Returns what a candidate wants as argument `i` of `count`, or `None` if it does not take that many.
    fn wanted(&self, candidate: Candidate, i: usize, count: usize) -> Option<SignatureParameter> {
        match candidate {
            Candidate::Function(id) => {
                let function = &self.functions[id.0 as usize].function;
                let argument = function.arguments.get(i).filter(|_| function.arguments.len() == count)?;
                let variable = self.variable(*argument);
                let kind = if variable.shape == Shape::Single {
                    ParameterKind::Value(variable.ty)
                } else {
                    ParameterKind::Array(variable.ty)
                };
                Some(SignatureParameter {
                    kind,
                    output: matches!(variable.storage, Storage::Argument { output: true }),
                })
            }
            Candidate::Shadeop(overload) => {
                let signature = &overload.signature;
                let fixed = signature.parameters.len();
                let fits = count == fixed || (count > fixed && (signature.rest.is_some() || signature.named));
                signature.parameters.get(i).copied().or(signature.rest).filter(|_| fits)
            }
        }
    }

    /// Returns the name of a texture, which a channel in brackets may follow.
    fn texture_name(&mut self, argument: &AstExpr) -> Option<ActualArgument> {
        let AstExprKind::Index { base, index } = &argument.kind else {
            return Some(ActualArgument { expr: self.expr(argument, Some(Type::String))?, channel: None });
        };
        let is_array = match &base.kind {
            AstExprKind::Name(name) if self.is_variable(name) => {
                self.resolve(name, base.span).is_some_and(|id| self.variable(id).shape != Shape::Single)
            }
            _ => false,
        };
        if is_array {
            return Some(ActualArgument { expr: self.expr(argument, Some(Type::String))?, channel: None });
        }
        let expr = self.value_of(base, Type::String);
        let channel = self.value_of(index, Type::Float);
        Some(ActualArgument { expr: expr?, channel: Some(channel?) })
    }

    /// Returns what it costs to choose a candidate, or `None` if it does not fit.
    fn candidate_cost(&self, candidate: Candidate, actuals: &[ActualArgument], expected: Option<Type>) -> Option<Cost> {
        let mut cost = 0;
        let fixed = match candidate {
            Candidate::Function(id) => {
                let function = &self.functions[id.0 as usize].function;
                if function.arguments.len() != actuals.len() {
                    return None;
                }
                actuals.len()
            }
            Candidate::Shadeop(overload) => {
                let signature = &overload.signature;
                let fixed = if signature.named { signature.parameters.len() } else { actuals.len() };
                let enough = actuals.len() >= signature.parameters.len();
                if !enough || (signature.named && !named_fit(actuals.get(fixed..)?)) {
                    return None;
                }
                fixed
            }
        };
        for (i, actual) in actuals[..fixed].iter().enumerate() {
            cost += self.argument_cost(candidate, i, actual, actuals.len())?;
        }
        Some((cost, result_cost(self.result(candidate), expected)))
    }

    fn argument_cost(&self, candidate: Candidate, i: usize, actual: &ActualArgument, count: usize) -> Option<u32> {
        let wanted = self.wanted(candidate, i, count)?;
        let expr = &actual.expr;
        match wanted.kind {
            ParameterKind::Anything => Some(0),
            ParameterKind::Any => (expr.shape == Shape::Single || wanted.output).then_some(0),
            ParameterKind::Texture => (expr.ty == Type::String && expr.shape == Shape::Single).then_some(0),
            ParameterKind::Array(ty) => {
                let length_fits = match candidate {
                    Candidate::Function(id) => {
                        let argument = self.functions[id.0 as usize].function.arguments[i];
                        let wanted = self.variable(argument).shape;
                        wanted == Shape::Open || wanted == expr.shape
                    }
                    Candidate::Shadeop(_) => true,
                };
                let alike = expr.ty == ty || (expr.ty.is_pointlike() && ty.is_pointlike());
                let exact = if expr.ty == ty { 0 } else { COST_RENAME };
                let is_variable = matches!(expr.kind, ExprKind::Variable(_));
                (expr.shape != Shape::Single && is_variable && alike && length_fits).then_some(exact)
            }
            // A variable that is written must hold what is written.
            ParameterKind::Value(ty) if wanted.output => {
                let renamed = expr.ty.is_pointlike() && ty.is_pointlike();
                let stored = matches!(candidate, Candidate::Shadeop(_)) && ty == Type::Color && expr.ty.is_pointlike();
                let cost = match () {
                    () if expr.ty == ty => Some(0),
                    () if renamed => Some(COST_RENAME),
                    () => stored.then_some(COST_COLOR),
                };
                cost.filter(|_| expr.shape == Shape::Single)
            }
            ParameterKind::Value(ty) => convert::cost(expr, ty),
        }
    }

    fn no_overload(&mut self, name: &Ident, candidates: &[Candidate], actuals: &[ActualArgument], span: Span) {
        let given: Vec<_> = actuals.iter().map(|a| a.expr.describe().replace('`', "")).collect();
        let message = format!("`{}` cannot be called with ({})", name.name, given.join(", "));
        let mut forms: Vec<_> = candidates.iter().map(|&c| self.form(name, c)).collect();
        forms.dedup();
        let more = forms.len().saturating_sub(6);
        forms.truncate(6);
        let mut hint = format!("it is declared as {}", forms.join(", or "));
        if more > 0 {
            hint += &format!(", or {more} more forms");
        }
        self.error(Report::error(span, message).hint(hint));
    }

    /// Returns a candidate as one would write it.
    fn form(&self, name: &Ident, candidate: Candidate) -> String {
        let count = match candidate {
            Candidate::Function(id) => self.functions[id.0 as usize].function.arguments.len(),
            Candidate::Shadeop(overload) => overload.signature.parameters.len(),
        };
        let word = |p: SignatureParameter| {
            let output = if p.output { "output " } else { "" };
            match p.kind {
                ParameterKind::Value(ty) => format!("{output}{ty}"),
                ParameterKind::Array(ty) => format!("{output}{ty}[]"),
                ParameterKind::Texture => "string".to_owned(),
                ParameterKind::Any | ParameterKind::Anything => format!("{output}any"),
            }
        };
        let mut words: Vec<_> = (0..count).filter_map(|i| self.wanted(candidate, i, count)).map(word).collect();
        let result = match candidate {
            Candidate::Function(id) => self.functions[id.0 as usize].function.result,
            Candidate::Shadeop(overload) => {
                if overload.signature.rest.is_some() || overload.signature.named {
                    words.push("...".to_owned());
                }
                overload.signature.result
            }
        };
        format!("`{result} {}({})`", name.name, words.join(", "))
    }

    fn call_function(&mut self, id: FuncId, actuals: Vec<ActualArgument>, span: Span) -> Option<Expr> {
        let in_illuminance = self.enclosing.in_illuminance;
        let (in_default, depth) = (self.enclosing.in_default.is_some(), self.enclosing.depth);
        self.enclosing.facts.calls.push(CallSite { callee: id, span, in_illuminance, in_default, depth });
        let function = &self.functions[id.0 as usize].function;
        let (arguments, result) = (function.arguments.clone(), function.result);
        let mut given = Vec::with_capacity(arguments.len());
        for (i, (argument, ActualArgument { expr, .. })) in arguments.into_iter().zip(actuals).enumerate() {
            let wanted = self.variable(argument);
            let (ty, output) = (wanted.ty, matches!(wanted.storage, Storage::Argument { output: true }));
            given.push(if wanted.shape != Shape::Single {
                let ExprKind::Variable(array) = expr.kind else { panic!("only variables fit array arguments") };
                if output {
                    self.assignable(expr)?;
                }
                self.give_array(id, i, array, span);
                Argument::Array(array)
            } else if output {
                Argument::Output(self.assignable(expr)?)
            } else {
                Argument::Value(self.applied(expr, ty))
            });
        }
        Some(single(ExprKind::Call(id, given), result, span))
    }

    fn call_shadeop(
        &mut self,
        name: &Ident,
        overload: &'static Overload,
        actuals: Vec<ActualArgument>,
        span: Span,
    ) -> Option<Expr> {
        self.check_shadeop_place(name, overload);
        let signature = &overload.signature;
        let fixed = if signature.named { signature.parameters.len() } else { actuals.len() };
        // A random value for a uniform variable is the same at all points.
        let opcode = match overload.opcode {
            Opcode::Random if self.enclosing.for_uniform => Opcode::UniformRandom,
            opcode => opcode,
        };
        let mut call = ShadeopCall {
            opcode,
            name: name.name.clone(),
            span,
            arguments: Vec::new(),
            outputs: Vec::new(),
            channel: None,
            named: Vec::new(),
        };
        let mut actuals = actuals.into_iter();
        for i in 0..fixed {
            let ActualArgument { expr, channel } = actuals.next()?;
            let wanted = signature.parameters.get(i).copied().or(signature.rest)?;
            call.channel = call.channel.or(channel);
            match wanted.kind {
                ParameterKind::Value(Type::Color) if wanted.output && expr.ty.is_pointlike() => {
                    self.warn_of_color(expr.ty, expr.span);
                    call.outputs.push(self.assignable(expr)?);
                }
                _ if wanted.output => call.outputs.push(self.assignable(expr)?),
                ParameterKind::Value(ty) => call.arguments.push(self.applied(expr, ty)),
                ParameterKind::Array(_) | ParameterKind::Texture | ParameterKind::Any | ParameterKind::Anything => {
                    call.arguments.push(expr);
                }
            }
        }
        while let (Some(name), Some(value)) = (actuals.next(), actuals.next()) {
            match call.opcode {
                Opcode::Points => self.points_argument(&mut call, name.expr, value.expr)?,
                _ => call.named.push((name.expr, value.expr)),
            }
        }
        self.check_shadeop(&call);
        Some(single(ExprKind::Shadeop(Box::new(call)), signature.result, span))
    }

    /// Reports a shadeop that is not allowed here.
    fn check_shadeop_place(&mut self, name: &Ident, overload: &Overload) {
        if let Some(kind) = self.kind.filter(|&k| !overload.kinds.contains(k)) {
            let report = Report::error(name.span, format!("`{}` is not allowed in {kind} shaders", name.name));
            self.kind_error(report.hint(format!("it is allowed in {} shaders", overload.kinds.words())));
        }
        if overload.opcode.runs_lights() {
            self.enclosing.facts.lights.get_or_insert(name.span);
            let in_default = self.enclosing.in_default.is_some();
            if self.enclosing.in_illuminance || in_default {
                let report = lights_report(name.span, in_default);
                self.error(report.label(format!("`{}` loops over the lights", name.name)));
            }
        }
        let asks_light = overload.opcode == Opcode::Message(crate::ir::MessageTarget::Light);
        if asks_light && !self.enclosing.in_illuminance && self.enclosing.functions.is_empty() {
            self.error(Report::error(name.span, "`lightsource` can only be used inside `illuminance`"));
        }
    }

    /// What the types do not say.
    fn check_shadeop(&mut self, call: &ShadeopCall) {
        if call.opcode.has_effect() {
            self.enclosing.facts.changes.get_or_insert(call.span);
        }
        match call.opcode {
            Opcode::Printf | Opcode::Format => self.check_format(call),
            Opcode::TransformColor => {
                for space in &call.arguments[..call.arguments.len() - 1] {
                    self.check_color_space(space);
                }
            }
            Opcode::Message(_) | Opcode::TextureInfo | Opcode::VolumeSide => {
                let name = call.arguments.last();
                if let Some(name) = name.filter(|n| !matches!(n.kind, ExprKind::String(_))) {
                    let report = Report::error(name.span, format!("`{}` needs a literal name", call.name));
                    self.error(report.hint("the name must be known when the shader is compiled"));
                }
            }
            Opcode::Spline => self.check_spline(call),
            Opcode::Bake3d => self.check_bake(call),
            _ => {}
        }
        self.check_supported(call);
        self.check_arrays(call);
        if !matches!(call.opcode, Opcode::Points | Opcode::Bake3d) {
            call.named.iter().for_each(|(name, value)| self.check_lookup_parameter(call, name, value));
        }
    }

    /// Warns of shadeops that have no meaning here.
    fn check_supported(&mut self, call: &ShadeopCall) {
        let span = call.span;
        if let Opcode::Absent(result) = call.opcode {
            let what = if result == 1 { "nothing is ever hidden" } else { "nothing is computed" };
            let message = format!("`{}` is not supported: {what}, the result is {result}", call.name);
            let report = Report::warning(span, message);
            let hint = "occlusion(map, P, N, samples) looks up what `MakeOcclusion` made";
            return self.warn_once(&call.name, if &*call.name == "occlusion" { report.hint(hint) } else { report });
        }
        let warning = match call.opcode {
            Opcode::Trace => "ray tracing is not supported: `trace` returns 0",
            Opcode::VolumeSide => "volumes inside and outside of objects are not supported: the result is 0",
            _ => return,
        };
        self.reports.push(Report::warning(span, warning));
    }

    fn check_spline(&mut self, call: &ShadeopCall) {
        let Some(first) = call.arguments.first() else { return };
        if let ExprKind::String(name) = &first.kind
            && shadeops::spline_basis(name).is_none()
        {
            let report = Report::error(first.span, format!("unknown spline basis `{name}`"));
            let names = shadeops::SPLINE_BASES.map(|(name, _)| name).join(", ");
            self.error(report.hint(format!("known bases are {names}, each also with the prefix `solve`")));
        }
        if let Some(Expr { shape: Shape::Array(length), span, .. }) = call.arguments.last()
            && *length < 4
        {
            self.error(Report::error(*span, "a spline needs at least four values"));
        }
    }

    fn check_lookup_parameter(&mut self, call: &ShadeopCall, name: &Expr, value: &Expr) {
        let ExprKind::String(word) = &name.kind else {
            let report = Report::error(name.span, "the name of a parameter must be a literal");
            return self.error(report);
        };
        if !shadeops::is_lookup_parameter(word) {
            let message = format!("`{}` has no parameter `{word}`", call.name);
            return self.reports.push(Report::warning(name.span, message).hint("it is ignored"));
        }
        if &**word == "source" && call.opcode == Opcode::Lookup(LookupKind::Shadow) {
            return self.check_shadow_source(name, value);
        }
        let is_sampled = matches!(call.opcode, Opcode::Lookup(kind) if kind.is_sampled());
        if &**word == "filter" && is_sampled {
            self.check_sampling_filter(call, value);
        }
        let wanted = if matches!(&**word, "filter" | "source" | "label") { Type::String } else { Type::Float };
        if let ("filter", ExprKind::String(filter)) = (&**word, &value.kind) {
            self.check_filter(call, filter, value.span);
        }
        self.check_parameter_type(name, value, wanted);
    }

    /// The corners of an area light, as PRMan has them: a point, a line or a patch.
    fn check_shadow_source(&mut self, name: &Expr, value: &Expr) {
        if !value.ty.is_triple() || !matches!(value.shape, Shape::Single | Shape::Array(1 | 2 | 4)) {
            let message = format!("the parameter `source` is 1, 2 or 4 points, not {}", value.describe());
            return self.error(Report::error(value.span, message));
        }
        let report = Report::warning(name.span, "the size of a light is not used: its shadows are those of one point");
        self.warn_once("shadow source", report.hint("`blur` makes them soft"));
    }

    /// Warns of filters of shadows and occlusions, which have one.
    fn check_sampling_filter(&mut self, call: &ShadeopCall, filter: &Expr) {
        if !matches!(&filter.kind, ExprKind::String(name) if &**name == "box") {
            let message = format!("`{}` has no filter but `box`, which is taken", call.name);
            self.warn_once(&message, Report::warning(filter.span, message.clone()));
        }
    }

    /// Reports a filter that a call does not have.
    fn check_filter(&mut self, call: &ShadeopCall, filter: &str, span: Span) {
        let (names, instead) = match call.opcode {
            Opcode::Math(MathOp::Filterstep) => {
                (StepFilter::ALL.map(StepFilter::name).to_vec(), "the edge is smoothed by a cubic")
            }
            Opcode::Lookup(LookupKind::Texture | LookupKind::Environment) => {
                (LookupKind::FILTERS.to_vec(), "`gaussian` is taken")
            }
            _ => return,
        };
        if !names.contains(&filter) {
            let report = Report::warning(span, format!("`{}` has no filter `{filter}`", call.name));
            self.reports.push(report.hint(format!("its filters are {}; {instead}", names.join(", "))));
        }
    }

    /// Takes a name and a value of `texture3d`: one of its parameters, or a channel and the variable that it is written
    /// to.
    fn points_argument(&mut self, call: &mut ShadeopCall, name: Expr, value: Expr) -> Option<()> {
        let wanted = match &name.kind {
            ExprKind::String(word) => shadeops::points_parameter(word),
            _ => None,
        };
        if let Some(wanted) = wanted {
            self.check_parameter_type(&name, &value, wanted);
            call.named.push((name, value));
            return Some(());
        }
        if !matches!(value.kind, ExprKind::Variable(_) | ExprKind::Element(..)) {
            let word = if let ExprKind::String(word) = &name.kind { format!("`{word}`") } else { name.describe() };
            let message = format!("`texture3d` has no parameter {word}, and a channel needs a variable");
            self.warn_once(&message, Report::warning(name.span, message.clone()).hint("it is ignored"));
            return Some(());
        }
        if value.shape != Shape::Single || !(value.ty == Type::Float || value.ty.is_triple()) {
            let message = format!("a channel is a number or three, not {}", value.describe());
            self.error(Report::error(value.span, message));
            return None;
        }
        call.outputs.push(self.assignable(value)?);
        call.arguments.push(name);
        Some(())
    }

    /// Reports a parameter of another type than is wanted.
    fn check_parameter_type(&mut self, name: &Expr, value: &Expr, wanted: Type) {
        if value.ty != wanted || value.shape != Shape::Single {
            let word = if let ExprKind::String(word) = &name.kind { word } else { "" };
            let message = format!("the parameter `{word}` is a `{wanted}`, not {}", value.describe());
            self.error(Report::error(value.span, message));
        }
    }
}

/// Returns whether these are pairs of names and values.
fn named_fit(rest: &[ActualArgument]) -> bool {
    rest.len().is_multiple_of(2) && rest.iter().step_by(2).all(|a| a.expr.ty == Type::String)
}

/// Returns what it costs to use a result of type `result` where `expected` is wanted.
fn result_cost(result: Type, expected: Option<Type>) -> u32 {
    match expected {
        None => 0,
        Some(wanted) if wanted == result => 0,
        Some(wanted) if wanted.is_pointlike() && result.is_pointlike() => COST_RENAME,
        Some(wanted) if result == Type::Float && (wanted.is_triple() || wanted == Type::Matrix) => 2,
        // A cast takes any triple as any other.
        Some(wanted) if wanted.is_triple() && result.is_triple() => 3,
        Some(_) => COST_MISFIT,
    }
}

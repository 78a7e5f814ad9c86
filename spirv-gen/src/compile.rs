//! From a shading pipeline to its kernels: composes, cuts into passes, then emits.

use crate::abi;
use crate::compose::{Composed, PipelineRequest, Reflection, Slice, carried_channels, compose};
use crate::emit::{EmitError, Library, LineCost, LineCounters, PassKernels, PassRuns, emit};
use crate::ir::Body;
use crate::partition::CutRule;
use crate::passes::{CutProgram, SavedLoops, checked, cut_passes, demand_slice};

/// A compiled pipeline.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its kernels, and how they run: one, unless it was cut into passes.
    pub passes: PassRuns,
    /// Channels in which they save values for each other.
    pub pass_channels: u32,
    /// The kernels for loops of any length, if the program has loops that count their trips.
    pub resumable: Option<Resumable>,
    /// The kernel of its demand slice, which names tiles of textures and writes nothing, if it has one and the library
    /// can.
    pub demand: Option<Vec<u32>>,
    /// What it reads and writes.
    pub reflection: Reflection,
}

/// What kernels do for tools, beside what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForTools {
    /// What they count of their lines, if they do.
    pub cost: Option<LineCost>,
    /// Whether they also have forms for debuggers ([`PassRuns::debug`]).
    pub debug: bool,
}

/// Kernels whose loops stop when their trips are used up, and go on in the next dispatch ([`crate::abi`]).
#[derive(Clone, Debug)]
pub struct Resumable {
    /// The kernels, and how they run.
    pub passes: PassRuns,
    /// Channels in which they save values for each other, and then their loops.
    pub state_channels: u32,
}

/// Compiles a shading pipeline, with functions of the helper library, cut into passes where `rule` says so. Imagers are
/// not cut.
///
/// # Errors
/// Fails when the helper library does not fit the compiler; input cannot make it fail.
pub fn compile(request: &PipelineRequest<'_>, library: &Library, rule: &CutRule) -> Result<Compiled, EmitError> {
    compile_program(compose(request), request, library, rule, ForTools::default())
}

/// Compiles a program of a pipeline that was composed as requested; else like [`compile`]. Its kernels count what their
/// lines cost ([`abi::COUNTERS_PUSH_WORD`]), if `for_tools.cost` says what, and have forms for debuggers if
/// `for_tools.debug`; demand slices do neither.
///
/// # Errors
/// Fails when the helper library does not fit the compiler; input cannot make it fail.
pub fn compile_program(
    program: Composed,
    request: &PipelineRequest<'_>,
    library: &Library,
    rule: &CutRule,
    for_tools: ForTools,
) -> Result<Compiled, EmitError> {
    let Composed { body, reflection } = program;
    let cost = for_tools.cost;
    let counters = cost.map(|cost| LineCounters { cost, binding: abi::counters_binding(reflection.uses_textures) });
    let rule = if request.slice == Slice::Imager { &CutRule::NEVER } else { rule };
    let program = cut_by(rule, &body, &reflection);
    let kernels = PassKernels::new(&program, carried_channels(request.slice), SavedLoops::of);
    let kernels = kernels.counting(counters).for_debuggers(for_tools.debug);
    let passes = kernels.emit(library, request.tokens, false)?;
    let resumable = match reflection.counts_trips {
        true => Some(Resumable {
            passes: kernels.emit(library, request.tokens, true)?,
            state_channels: kernels.state_channels(),
        }),
        false => None,
    };
    let demand = compile_demand(request, library, &body)?;
    Ok(Compiled { passes, pass_channels: kernels.pass_channels(), resumable, demand, reflection })
}

/// Returns the passes of a program: one, unless the rule has it cut.
fn cut_by(rule: &CutRule, body: &Body, reflection: &Reflection) -> CutProgram {
    let outputs: Vec<u32> = reflection.outputs.iter().map(|output| output.channel).collect();
    let cut = rule.cut(body).and_then(|plan| cut_passes(&plan.body, &plan.passes, &outputs));
    cut.unwrap_or_else(|| CutProgram::whole(body.clone(), &outputs))
}

/// Compiles the kernel of a program's demand slice. Imagers have none: they are run once for each pixel.
fn compile_demand(
    request: &PipelineRequest<'_>,
    library: &Library,
    body: &Body,
) -> Result<Option<Vec<u32>>, EmitError> {
    let Some(slice) = demand_slice(body).filter(|_| request.slice != Slice::Imager) else { return Ok(None) };
    let Some(library) = library.naming()? else { return Ok(None) };
    emit(&checked(slice), library, request.tokens).map(Some)
}

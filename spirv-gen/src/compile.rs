//! From a shading pipeline to its kernels: composes, then emits.

use crate::compose::{Composed, PipelineRequest, Reflection, Slice, carried_channels, compose};
use crate::emit::{EmitError, EmitOptions, Library, emit, emit_with};
use crate::ir::Body;
use crate::passes::{SavedLoops, checked, demand_slice};

/// A compiled pipeline.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The kernel.
    pub spirv: Vec<u32>,
    /// The kernel for loops of any length, if the program has loops that count their trips.
    pub resumable: Option<Resumable>,
    /// The kernel of its demand slice, which names tiles of textures and writes nothing, if it has one and the library
    /// can.
    pub demand: Option<Vec<u32>>,
    /// What it reads and writes.
    pub reflection: Reflection,
}

/// A kernel whose loops stop when their trips are used up, and go on in the next dispatch ([`crate::abi`]).
#[derive(Clone, Debug)]
pub struct Resumable {
    /// The kernel.
    pub spirv: Vec<u32>,
    /// Channels in which it saves its loops.
    pub state_channels: u32,
}

/// Compiles a shading pipeline, with functions of the helper library.
///
/// # Errors
/// Fails when the helper library does not fit the compiler; input cannot make it fail.
pub fn compile(request: &PipelineRequest<'_>, library: &Library) -> Result<Compiled, EmitError> {
    let Composed { body, reflection } = compose(request);
    let carried = carried_channels(request.slice);
    let emit_saving = |saved| emit_with(&body, library, request.tokens, &EmitOptions { carried, saved });
    let spirv = emit_saving(SavedLoops::default())?;
    let saved = SavedLoops::of(&body);
    let state_channels = saved.records();
    let resumable = match reflection.counts_trips {
        true => Some(Resumable { spirv: emit_saving(saved)?, state_channels }),
        false => None,
    };
    let demand = compile_demand(request, library, &body)?;
    Ok(Compiled { spirv, resumable, demand, reflection })
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

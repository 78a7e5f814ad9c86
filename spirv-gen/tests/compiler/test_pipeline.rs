//! A shading pipeline with all that belongs to it, composed, packed and run on the device.

use crate::device::{DispatchArguments, device};
use crate::library::{library, validate};
use crate::pack::{DispatchBuffers, PipelineShaders, ShadedGrid, outputs};
use crate::textures::TestTextures;
use spirv_gen::Reflection;
use spirv_gen::abi::textures::{NO_PASS, PASSES};
use spirv_gen::abi::{LOOP_TRIPS_MAX, TRIPS_RESUME};
use spirv_gen::compose::{
    Binding, Composed, Decision, OutputRequest, PipelineRequest, Role, ShaderUse, Slice, bind_pipeline,
    carried_channels, compose,
};
use spirv_gen::emit::{PassKernels, PassRuns};
use spirv_gen::interp::texture::TextureStore;
use spirv_gen::interp::{Column, Memory, run};
use spirv_gen::ir::{RslType, Shader, ShaderKind};
use spirv_gen::partition::{CutRule, ForcedCut};
use spirv_gen::passes::{CutProgram, SavedLoops, Stored, cut_passes};

/// What is asked of the compiler, in short.
#[derive(Clone)]
pub(crate) struct TestPipeline<'a> {
    pub(crate) slice: Slice,
    pub(crate) surface: Option<ShaderUse<'a>>,
    pub(crate) displacement: Option<ShaderUse<'a>>,
    pub(crate) atmosphere: Option<ShaderUse<'a>>,
    pub(crate) lights: &'a [Shader],
    pub(crate) displaced: bool,
    pub(crate) outputs: &'a [(&'a str, RslType)],
    /// Lookups find these.
    pub(crate) textures: Option<&'a TestTextures>,
}

/// How a pipeline is run.
#[derive(Clone, Copy)]
pub(crate) struct RunMode {
    /// Loop trips in a dispatch.
    pub(crate) trips: u32,
    /// Whether loops that stop go on in further dispatches. Those with a known number of trips stop too, where a
    /// dispatch has fewer trips than it may.
    pub(crate) resume: bool,
    /// Whether the interpreter runs it too.
    pub(crate) interpret: bool,
    /// How it is cut into passes, if it is.
    pub(crate) cut: Option<ForcedCut>,
    /// Whether the program is made for what its grids agree on.
    pub(crate) decides: bool,
}

/// What a run left.
pub(crate) struct RunOutput {
    pub(crate) composed: Composed,
    /// For each slot and output, its values.
    pub(crate) on_device: Vec<Vec<Column>>,
    /// The same by the interpreter, on the bound program and the same buffers.
    pub(crate) bound: Vec<Vec<Column>>,
    /// Conditions that were decided.
    pub(crate) decided: usize,
    /// Passes that it was cut into.
    pub(crate) passes: usize,
    /// Invocations that ran out of loop trips.
    pub(crate) exhausted: u32,
    pub(crate) dispatches: u32,
}

impl<'a> TestPipeline<'a> {
    /// The colour slice of a surface.
    pub(crate) fn surface(shader: &'a Shader, lights: &'a [Shader], outputs: &'a [(&'a str, RslType)]) -> Self {
        let surface = Some(ShaderUse::new(shader));
        Self {
            slice: Slice::Colour,
            surface,
            displacement: None,
            atmosphere: None,
            lights,
            displaced: false,
            outputs,
            textures: None,
        }
    }

    /// The slice that runs a shader of any kind, for the outputs that this has.
    pub(crate) fn of_kind(shader: &'a Shader, lights: &'a [Shader], outputs: &'a [(&'a str, RslType)]) -> Self {
        let mut pipeline = Self::surface(shader, lights, outputs);
        match shader.kind {
            ShaderKind::Surface => {}
            ShaderKind::Displacement => {
                (pipeline.surface, pipeline.displacement) = (None, Some(ShaderUse::new(shader)));
                pipeline.slice = Slice::Position;
                pipeline.outputs = &[("P", RslType::Point), ("N", RslType::Normal)];
            }
            ShaderKind::Volume => (pipeline.surface, pipeline.atmosphere) = (None, Some(ShaderUse::new(shader))),
            ShaderKind::Imager => pipeline.slice = Slice::Imager,
            ShaderKind::Light | ShaderKind::AmbientLight => pipeline.surface = None,
        }
        pipeline
    }

    pub(crate) fn request(&self, tokens: &'a dyn Fn(&str) -> u32) -> PipelineRequest<'a> {
        PipelineRequest {
            slice: self.slice,
            surface: self.surface.clone(),
            displacement: self.displacement.clone(),
            atmosphere: self.atmosphere.clone(),
            lights: self.lights.iter().map(ShaderUse::new).collect(),
            colour: Binding::VaryingInput,
            opacity: Binding::VaryingInput,
            outputs: self
                .outputs
                .iter()
                .map(|&(name, ty)| OutputRequest { name: name.into(), ty, primvar: Binding::Default })
                .collect(),
            displaced: self.displaced,
            prints: false,
            textures: self.textures.is_some(),
            roll: true,
            tokens,
        }
    }

    /// Composes it without running it.
    pub(crate) fn compose(&self) -> Composed {
        compose(&self.request(&|_| 1))
    }

    /// Runs it over grids. The strings of the first scene are the table of all.
    pub(crate) fn run(&self, shaded: &[ShadedGrid<'a>]) -> RunOutput {
        self.run_as(
            shaded,
            RunMode { trips: LOOP_TRIPS_MAX, resume: false, interpret: true, cut: None, decides: false },
        )
    }

    fn shaders(&self) -> PipelineShaders<'_> {
        let roles = [
            (Role::Surface, &self.surface),
            (Role::Displacement, &self.displacement),
            (Role::Atmosphere, &self.atmosphere),
        ];
        PipelineShaders {
            shaders: roles.into_iter().filter_map(|(role, s)| Some((role, s.as_ref()?.shader))).collect(),
            lights: self.lights.iter().collect(),
        }
    }

    /// Returns the decisions on which some grids agree.
    fn agreed(&self, reflection: &Reflection, shaded: &[ShadedGrid<'a>]) -> Vec<Option<bool>> {
        let buffers = DispatchBuffers::new(reflection, 0, &self.shaders(), shaded);
        let agreed = |decision: &Decision| {
            let mut all = (0..buffers.slots).map(|slot| buffers.decision(slot, decision));
            let first = all.next()?;
            all.all(|other| other == first).then_some(first)
        };
        reflection.decisions.iter().map(agreed).collect()
    }

    /// Runs it in some way.
    pub(crate) fn run_as(&self, shaded: &[ShadedGrid<'a>], mode: RunMode) -> RunOutput {
        let RunMode { trips, resume, interpret, cut, decides } = mode;
        let tokens = |text: &str| shaded[0].scene.intern(text);
        let request = PipelineRequest { tokens: &tokens, ..self.request(&|_| 0) };
        for other in &shaded[1..] {
            other.scene.strings.replace(shaded[0].scene.strings.borrow().clone());
        }
        let bound = bind_pipeline(&request);
        let decided = if decides { self.agreed(bound.reflection(), shaded) } else { Vec::new() };
        let composed = bound.program(&decided);
        let program = cut_as(&composed, cut);
        let loops_of = if trips < LOOP_TRIPS_MAX { SavedLoops::all } else { SavedLoops::of };
        let kernels = PassKernels::new(&program, carried_channels(self.slice), loops_of);
        let state_channels = if resume { kernels.state_channels() } else { kernels.pass_channels() };
        let kernels = kernels.emit(library(), &tokens, resume).expect("emits");
        kernels.kernels.iter().for_each(|words| validate(words));
        for other in &shaded[1..] {
            other.scene.strings.replace(shaded[0].scene.strings.borrow().clone());
        }
        let dispatch = DispatchBuffers::new(&composed.reflection, state_channels, &self.shaders(), shaded);
        let textures = self.textures.filter(|_| composed.reflection.uses_textures);
        let (buffers, dispatches) = dispatched(&kernels, &dispatch, textures, mode);
        let passes = program.passes.len();
        let (exhausted, on_device, bound) = (buffers[3][0], Vec::new(), Vec::new());
        let decided = decided.iter().flatten().count();
        let mut ran = RunOutput { composed, on_device, bound, decided, passes, exhausted, dispatches };
        for (slot, shaded) in (0..).zip(shaded) {
            ran.on_device.push(outputs(&dispatch, &buffers[1], slot, &shaded.grid, &ran.composed.reflection.outputs));
            if interpret {
                let textures = self.textures.map(|textures| textures as &dyn TextureStore);
                ran.bound.push(interpreted(&program, &ran.composed, &dispatch, slot, &tokens, textures));
            }
        }
        ran
    }
}

/// Cuts a program into passes, if it can be.
fn cut_as(composed: &Composed, cut: Option<ForcedCut>) -> CutProgram {
    let outputs: Vec<u32> = composed.reflection.outputs.iter().map(|output| output.channel).collect();
    match cut.and_then(|cut| CutRule::CPU.forced(Some(cut)).cut(&composed.body)) {
        Some(plan) => cut_passes(&plan.body, &plan.passes, &outputs).expect("the passes can run"),
        None => CutProgram::whole(composed.body.clone(), &outputs),
    }
}

/// Runs the passes of a program in turn, by the interpreter; for each output its values.
fn interpreted(
    program: &CutProgram,
    composed: &Composed,
    dispatch: &DispatchBuffers,
    slot: u32,
    tokens: &dyn Fn(&str) -> u32,
    textures: Option<&dyn TextureStore>,
) -> Vec<Column> {
    let mut buffers = dispatch.clone();
    let mut outputs: Vec<Column> = vec![Vec::new(); composed.reflection.outputs.len()];
    for pass in &program.passes {
        buffers.push.state_base = dispatch.push.state_base + pass.first_channel * dispatch.push.channel_stride;
        let (params, arena, work, push) = (&buffers.params, &buffers.arena, &buffers.work, buffers.push);
        let memory = Memory { params, arena, work, push, slot, textures, tokens };
        let grid = memory.grid();
        let results = run(&pass.body, pass.body.root(), &grid, &memory).results;
        for (stored, column) in pass.stored.iter().zip(results) {
            match *stored {
                Stored::Saved { channel, lane } => buffers.save(slot, &grid, (channel, lane), &column, tokens),
                Stored::Output(channel) => {
                    let number = composed.reflection.outputs.iter().position(|output| output.channel == channel);
                    outputs[number.expect("an output of the program")] = column;
                }
            }
        }
    }
    outputs
}

/// Dispatches the kernels of a program's passes until no loop has stopped and no tile was missed; the buffers, and the
/// number of dispatches.
fn dispatched(
    passes: &PassRuns,
    dispatch: &DispatchBuffers,
    textures: Option<&TestTextures>,
    mode: RunMode,
) -> (Vec<Vec<u32>>, u32) {
    let p = dispatch.push;
    let mut push = [
        p.work_base,
        p.slot_log2,
        p.slot_count,
        p.input_base,
        p.output_base,
        p.channel_stride,
        p.space_table,
        mode.trips,
        p.state_base,
        p.pass,
        p.pass_word,
    ];
    let fresh = || {
        let own = [dispatch.work.clone(), dispatch.arena.clone(), dispatch.params.clone(), vec![0; 4]];
        [own.to_vec(), textures.map(TestTextures::buffers).unwrap_or_default()].concat()
    };
    let mut buffers = fresh();
    let groups = (dispatch.slots << p.slot_log2).div_ceil(256);
    let device = device();
    let kernels: Vec<_> = passes.kernels.iter().map(|words| device.kernel(words, buffers.len())).collect();
    let (mut dispatches, mut first) = (0, 0);
    while dispatches == 0 || mode.resume && buffers[3][0] > 0 {
        buffers[3][0] = 0;
        for (run, pass) in passes.runs.iter().zip(0..).skip(std::mem::take(&mut first)) {
            push[8] = p.state_base + run.first_channel * p.channel_stride;
            push[9] = pass;
            device.run(&kernels[run.kernel], &mut buffers, DispatchArguments { push: &push, groups });
        }
        dispatches += 1;
        if let Some(textures) = textures.filter(|textures| textures.load(&buffers[5])) {
            // What a run that missed tiles wrote is worthless, from the pass on that missed them.
            let missed = buffers[5][(PASSES + p.pass_word) as usize];
            (push[7], dispatches) = (mode.trips, 0);
            // A program of a single pass does not say which it was.
            if mode.resume || missed == NO_PASS {
                buffers = fresh();
            } else {
                buffers.splice(4.., textures.buffers());
                first = missed as usize;
            }
            continue;
        }
        push[7] = mode.trips | TRIPS_RESUME;
        assert!(dispatches < 10_000, "a loop does not get on");
    }
    kernels.iter().for_each(|kernel| device.free(kernel));
    (buffers, dispatches)
}

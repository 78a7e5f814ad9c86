//! A shading pipeline with all that belongs to it, composed, packed and run on the device.

use crate::device::{DispatchArguments, device};
use crate::library::{library, validate};
use crate::pack::{DispatchBuffers, PipelineShaders, ShadedGrid, outputs};
use spirv_gen::compose::{Binding, Composed, OutputRequest, PipelineRequest, Role, ShaderUse, Slice, compose};
use spirv_gen::emit::emit;
use spirv_gen::interp::{Column, Memory, run};
use spirv_gen::ir::{RslType, Shader};

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
}

/// What a run left.
pub(crate) struct RunOutput {
    pub(crate) composed: Composed,
    /// For each slot and output, its values.
    pub(crate) on_device: Vec<Vec<Column>>,
    /// The same by the interpreter, on the bound program and the same buffers.
    pub(crate) bound: Vec<Vec<Column>>,
    /// Invocations that ran out of loop trips.
    pub(crate) exhausted: u32,
}

impl<'a> TestPipeline<'a> {
    /// The colour slice of a surface.
    pub(crate) fn surface(shader: &'a Shader, lights: &'a [Shader], outputs: &'a [(&'a str, RslType)]) -> Self {
        let surface = Some(ShaderUse::new(shader));
        Self { slice: Slice::Colour, surface, displacement: None, atmosphere: None, lights, displaced: false, outputs }
    }

    fn request(&self, tokens: &'a dyn Fn(&str) -> u32) -> PipelineRequest<'a> {
        PipelineRequest {
            library: library(),
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
            tokens,
        }
    }

    /// Composes it without running it.
    pub(crate) fn compose(&self) -> Composed {
        compose(&self.request(&|_| 1))
    }

    /// Runs it over grids. The strings of the first scene are the table of all.
    pub(crate) fn run(&self, shaded: &[ShadedGrid<'a>]) -> RunOutput {
        let tokens = |text: &str| shaded[0].scene.intern(text);
        let request = PipelineRequest { tokens: &tokens, ..self.request(&|_| 0) };
        let composed = compose(&request);
        let words = emit(&composed.body, library(), &tokens).expect("emits");
        validate(&words);
        for other in &shaded[1..] {
            other.scene.strings.replace(shaded[0].scene.strings.borrow().clone());
        }
        let roles = [
            (Role::Surface, &self.surface),
            (Role::Displacement, &self.displacement),
            (Role::Atmosphere, &self.atmosphere),
        ];
        let pipeline = PipelineShaders {
            shaders: roles.into_iter().filter_map(|(role, s)| Some((role, s.as_ref()?.shader))).collect(),
            lights: self.lights.iter().collect(),
        };
        let dispatch = DispatchBuffers::new(&composed.reflection, &pipeline, shaded);
        let p = dispatch.push;
        let push = [
            p.work_base,
            p.slot_log2,
            p.slot_count,
            p.input_base,
            p.output_base,
            p.channel_stride,
            p.space_table,
            p.reserved,
        ];
        let mut buffers = [dispatch.work.clone(), dispatch.arena.clone(), dispatch.params.clone(), vec![0; 4]];
        let groups = (dispatch.slots << p.slot_log2).div_ceil(256);
        let device = device();
        let kernel = device.kernel(&words);
        device.run(&kernel, &mut buffers, DispatchArguments { push: &push, groups });
        device.free(&kernel);
        drop(device);
        let types: Vec<_> = self.outputs.iter().map(|o| o.1.machine()).collect();
        let mut ran = RunOutput { composed, on_device: Vec::new(), bound: Vec::new(), exhausted: buffers[3][0] };
        for (slot, shaded) in (0..).zip(shaded) {
            ran.on_device.push(outputs(&dispatch, &buffers[1], slot, &shaded.grid, &types));
            let memory = Memory {
                params: &dispatch.params,
                arena: &dispatch.arena,
                work: &dispatch.work,
                push: p,
                slot,
                tokens: &tokens,
            };
            let body = &ran.composed.body;
            ran.bound.push(run(body, body.root(), &memory.grid(), &memory).results);
        }
        ran
    }
}

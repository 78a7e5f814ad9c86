//! Compiled programs: one kernel for each combination of shaders and of the ways in which their parameters are bound.

use super::OutputVariable;
use super::decisions::{Decided, kernels_for};
use super::kept::{KeptKernel, KeptProgram, ProgramStore};
use super::lights::LightUse;
use super::line_counters::LineCounters;
use super::tokens::{AskedText, Tokens};
use super::values::ValueWords;
use crate::diagnostic::SourceLocation;
use crate::line_profile::Counter;
use crate::pipeline::look::{self, ResumableKernel, ShadingKernel, ShadingPass};
use crate::pipeline::recording::{Access, Binding as BufferBinding, BindingForm, Kernel, KernelName, KernelWords};
use crate::scene::ValueType;
use rustc_hash::FxHashMap;
use spirv_gen::abi;
use spirv_gen::compose::{
    Binding, Decision, Input, Opacity, OutputRequest, PlacedShortfall, Reflection, ShaderUse, Slice, bind_pipeline,
};
use spirv_gen::emit::{Library as Helpers, LineCost, PassRun, PassRuns};
use spirv_gen::ir::{RslType, Shader};
use spirv_gen::partition::CutRule;
use spirv_gen::{Compiled, ForTools, PipelineRequest, Resumable, compile_program};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

// The records that work.comp writes are those that compiled kernels read.
const _: () = {
    use crate::pipeline::kernels::constants::{
        GROUP_VERTICES, WORK_FLIP_NORMAL, WORK_SNAPPED_U0, WORK_SNAPPED_U1, WORK_SNAPPED_V0, WORK_SNAPPED_V1,
    };
    assert!(WORK_SNAPPED_V0 == abi::work::FLAG_SNAPPED_V0 && WORK_SNAPPED_V1 == abi::work::FLAG_SNAPPED_V1);
    assert!(WORK_SNAPPED_U0 == abi::work::FLAG_SNAPPED_U0 && WORK_SNAPPED_U1 == abi::work::FLAG_SNAPPED_U1);
    assert!(look::LOOP_TRIPS_MAX == abi::LOOP_TRIPS_MAX && abi::TRIPS_RESUME == 1 << 31);
    use crate::pipeline::look::{MISSES_CLAIMS, MISSES_ENTRIES, MISSES_MARKS, MISSES_PASSES, TILE_BUFFERS};
    assert!(MISSES_PASSES == abi::textures::PASSES as u64 && MISSES_CLAIMS == abi::textures::CLAIMS as u64);
    assert!(MISSES_MARKS == abi::textures::MARKS as u64);
    assert!(MISSES_ENTRIES == abi::textures::ENTRIES as u64 && TILE_BUFFERS == abi::textures::TILE_BUFFERS as usize);
    assert!(crate::pipeline::recording::DRIVER_THREADS_ID == abi::DRIVER_THREADS_ID);
    assert!(WORK_FLIP_NORMAL == abi::work::FLAG_FLIP_NORMAL && GROUP_VERTICES == abi::WORKGROUP_SIZE);
};

/// A shader and how its parameters are bound.
#[derive(Clone, Debug)]
pub(super) struct BoundShader {
    pub shader: Arc<Shader>,
    pub bindings: Vec<Binding>,
}

/// A shader that is compared by address, because each is read only once. It is held, so that no other gets its address.
#[derive(Clone, Debug)]
struct SameShader(Arc<Shader>);

impl PartialEq for SameShader {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SameShader {}

impl Hash for SameShader {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

type BoundShaderKey = (SameShader, Vec<Binding>);

impl BoundShader {
    fn key(&self) -> BoundShaderKey {
        (SameShader(Arc::clone(&self.shader)), self.bindings.clone())
    }

    fn as_use(&self) -> ShaderUse<'_> {
        ShaderUse { shader: &self.shader, bindings: self.bindings.clone() }
    }
}

/// The parts of a drawable's program.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub slice: Slice,
    pub surface: Option<BoundShader>,
    pub displacement: Option<BoundShader>,
    pub atmosphere: Option<BoundShader>,
    pub lights: Vec<LightUse>,
    pub colour: Binding,
    pub opacity: Binding,
    /// Whether Oi is stored.
    pub stores_opacity: bool,
    /// For each output variable, the input of the drawable's primitive variable of that name, if it has one.
    pub variables: Vec<Binding>,
}

impl Signature {
    fn key(&self) -> SignatureKey {
        let bound = |shader: &Option<BoundShader>| shader.as_ref().map(BoundShader::key);
        SignatureKey {
            slice: self.slice,
            shaders: [&self.surface, &self.displacement, &self.atmosphere].map(bound),
            lights: self.lights.iter().map(|light| light.bound.key()).collect(),
            colour: self.colour.clone(),
            opacity: self.opacity.clone(),
            stores_opacity: self.stores_opacity,
            // Displacement programs have no variables.
            variables: if self.slice == Slice::Colour { self.variables.clone() } else { Vec::new() },
        }
    }
}

/// What programs are found by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SignatureKey {
    slice: Slice,
    shaders: [Option<BoundShaderKey>; 3],
    lights: Vec<BoundShaderKey>,
    colour: Binding,
    opacity: Binding,
    stores_opacity: bool,
    variables: Vec<Binding>,
}

impl SignatureKey {
    /// Returns the shaders of the program.
    pub(super) fn shaders(&self) -> impl Iterator<Item = &Arc<Shader>> {
        self.shaders.iter().flatten().chain(&self.lights).map(|(shader, _)| &shader.0)
    }
}

/// A program of the world.
#[derive(Clone, Debug)]
pub(super) struct ComposedProgram {
    /// Its number.
    pub program: usize,
    pub reflection: Arc<Reflection>,
}

/// A program for drawables that decide alike about its branches: its number, and what they decide.
type Variant = (usize, Vec<bool>);

/// The kernels of a world.
pub(super) struct CompiledPrograms {
    pub kernels: Arc<[ShadingKernel]>,
    /// For each kernel, what it asked for.
    pub texts: Vec<Arc<[AskedText]>>,
    /// For each variant the number of its kernel.
    pub kernel_of: Vec<usize>,
    /// All strings, those of the kernels too.
    pub tokens: Tokens,
    /// What the kernels count.
    pub counters: Arc<[Counter]>,
    /// The number of the first counter of lookups.
    pub lookup_counters: u32,
    /// For each pipeline, how long the host took to compute what is the same for an instance or a light.
    pub once: BTreeMap<Arc<str>, Duration>,
}

/// How programs are compiled: pictures are the same.
#[derive(Clone, Copy)]
pub(super) struct ProgramForm {
    /// When they are cut into passes.
    pub cuts: CutRule,
    /// Whether call sites that differ in constants alone become loops.
    pub rolls: bool,
    /// Whether kernels are made for what drawables decide about branches.
    pub decides: bool,
    /// What they count of their lines, if they do.
    pub lines: Option<LineCost>,
    /// Whether kernels have forms for captures, which show where they come from.
    pub debug: bool,
}

impl ProgramForm {
    /// Whether programs may be kept for other worlds: what lines cost is counted world by world, and captures show
    /// where programs come from.
    fn may_be_kept(&self) -> bool {
        self.lines.is_none() && !self.debug
    }
}

/// What the programs of all worlds are made with.
#[derive(Clone, Copy)]
pub(super) struct ProgramTools<'a> {
    pub helpers: &'a Helpers,
    pub form: ProgramForm,
    pub store: &'a ProgramStore,
}

/// The programs of a world.
pub(super) struct Programs<'a> {
    tools: ProgramTools<'a>,
    pub variables: &'a [OutputVariable],
    pub tokens: Tokens,
    known: FxHashMap<SignatureKey, ComposedProgram>,
    /// Those whose kernels are compiled once all of their drawables are known.
    open: Vec<Arc<KeptProgram>>,
    variants: Vec<Variant>,
    known_variants: FxHashMap<Variant, usize>,
    shortfalls: BTreeMap<PlacedShortfall, SourceLocation>,
    /// For each pipeline, how long the host took to compute what is the same for an instance or a light.
    pub once: BTreeMap<Arc<str>, Duration>,
}

impl<'a> Programs<'a> {
    /// Begins without programs. Strings that `tokens` has keep their numbers.
    pub(super) fn new(tools: ProgramTools<'a>, variables: &'a [OutputVariable], tokens: Tokens) -> Self {
        Self {
            tools,
            variables,
            tokens,
            known: FxHashMap::default(),
            open: Vec::new(),
            variants: Vec::new(),
            known_variants: FxHashMap::default(),
            shortfalls: BTreeMap::new(),
            once: BTreeMap::new(),
        }
    }

    /// Returns the program of a signature, composed if it is new. `location` is where its first shader was named.
    pub(super) fn get(&mut self, signature: &Signature, location: &SourceLocation) -> ComposedProgram {
        let key = signature.key();
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let program = self.kept_or_composed(&key, signature);
        let reflection = Arc::clone(&program.reflection);
        for shortfall in &reflection.shortfalls {
            self.shortfalls.entry(shortfall.clone()).or_insert_with(|| location.clone());
        }
        self.open.push(program);
        let composition = ComposedProgram { program: self.open.len() - 1, reflection };
        self.known.insert(key, composition.clone());
        composition
    }

    /// Returns the program of a signature that an earlier world left, or a new one.
    fn kept_or_composed(&self, key: &SignatureKey, signature: &Signature) -> Arc<KeptProgram> {
        let ProgramTools { store, form, .. } = self.tools;
        let variables = if signature.slice == Slice::Colour { self.variables } else { &[] };
        let key = (key.clone(), variables.to_vec());
        let known = form.may_be_kept().then(|| store.find(&key, &self.tokens)).flatten();
        known.unwrap_or_else(|| {
            let program = Arc::new(self.compose(signature));
            if form.may_be_kept() {
                store.keep(key, &program);
            }
            program
        })
    }

    /// Returns what a program asked for when it was composed.
    pub(super) fn texts(&self, composition: &ComposedProgram) -> Arc<[AskedText]> {
        self.open[composition.program].texts()
    }

    /// Returns the number of the program's variant for a drawable, of which the results of its block's program are
    /// given.
    pub(super) fn variant(&mut self, composition: &ComposedProgram, computed: &[ValueWords]) -> usize {
        let holds = |decision: &Decision| computed[decision.result as usize].iter().any(|&word| word != 0);
        let decisions = composition.reflection.decisions.iter().filter(|_| self.tools.form.decides);
        let variant = (composition.program, decisions.map(holds).collect());
        if let Some(&known) = self.known_variants.get(&variant) {
            return known;
        }
        let number = self.variants.len();
        self.variants.push(variant.clone());
        self.known_variants.insert(variant, number);
        number
    }

    /// Returns what is known about the opacity that a colour program computes.
    pub(super) fn opacity(&self, signature: &Signature) -> Opacity {
        let find = || bind_pipeline(&self.request(signature, &|_| 0)).reflection().opacity.clone();
        self.tools.store.opacity(&signature.key(), find)
    }

    fn request<'r>(&'r self, signature: &'r Signature, tokens: &'r dyn Fn(&str) -> u32) -> PipelineRequest<'r> {
        PipelineRequest {
            slice: signature.slice,
            surface: signature.surface.as_ref().map(BoundShader::as_use),
            displacement: signature.displacement.as_ref().map(BoundShader::as_use),
            atmosphere: signature.atmosphere.as_ref().map(BoundShader::as_use),
            lights: signature.lights.iter().map(|light| light.bound.as_use()).collect(),
            colour: signature.colour.clone(),
            opacity: signature.opacity.clone(),
            outputs: self.outputs(signature),
            displaced: signature.displacement.is_some(),
            prints: signature.slice != Slice::Imager,
            textures: true,
            roll: self.tools.form.rolls,
            tokens,
        }
    }

    fn compose(&self, signature: &Signature) -> KeptProgram {
        self.tools.store.count(|counts| counts.composed += 1);
        self.tokens.listen();
        let tokens = |text: &str| self.tokens.token(text);
        let pipeline = bind_pipeline(&self.request(signature, &tokens));
        KeptProgram::new(signature.clone(), pipeline, self.tokens.heard())
    }

    /// Returns the kernel of a program for some decisions, compiled if no earlier world left it.
    fn kernel(
        &self,
        label: String,
        program: &KeptProgram,
        decided: &Decided,
        counters: &mut LineCounters,
    ) -> KeptKernel {
        let store = self.tools.store;
        if let Some(known) = program.kernel(decided, &label, &self.tokens) {
            store.count(|counts| counts.kept += 1);
            return known;
        }
        store.count(|counts| counts.compiled += 1);
        self.tokens.listen();
        let kernel = self.compile(label.clone(), program, decided, counters);
        let kernel = KeptKernel { decided: decided.clone(), label, kernel, texts: self.tokens.heard().into() };
        program.keep(kernel.clone());
        kernel
    }

    /// Compiles a kernel of a program for some decisions.
    fn compile(
        &self,
        label: String,
        program: &KeptProgram,
        decided: &Decided,
        counters: &mut LineCounters,
    ) -> ShadingKernel {
        let KeptProgram { signature, pipeline, .. } = program;
        let ProgramTools { helpers, form, .. } = self.tools;
        let tokens = |text: &str| self.tokens.token(text);
        let request = self.request(signature, &tokens);
        let tools = ForTools { cost: form.lines, debug: form.debug };
        let Compiled { passes, pass_channels, resumable, demand, reflection } =
            compile_program(pipeline.program(decided), &request, helpers, &form.cuts, tools)
                .expect("the helper library is the one that was built with the compiler");
        let forms = KernelForms { passes, pass_channels, resumable, demand };
        shading_kernel(label, forms, &reflection, signature, counters)
    }

    fn outputs(&self, signature: &Signature) -> Vec<OutputRequest> {
        let output = |name: &str, ty| OutputRequest { name: name.into(), ty, primvar: Binding::Default };
        if signature.slice == Slice::Position {
            return vec![output("P", RslType::Point), output("N", RslType::Normal)];
        }
        if signature.slice == Slice::Imager {
            return vec![output("Ci", RslType::Color), output("Oi", RslType::Color), output("alpha", RslType::Float)];
        }
        let mut outputs = vec![output("Ci", RslType::Color)];
        if signature.stores_opacity {
            outputs.push(output("Oi", RslType::Color));
        }
        let variables = self.variables.iter().zip(&signature.variables);
        outputs.extend(variables.map(|((name, ty), primvar)| OutputRequest {
            name: name.clone(),
            ty: rsl_type(*ty),
            primvar: primvar.clone(),
        }));
        outputs
    }

    /// Returns how programs differ from their shaders, each with where a shader that has it was named.
    pub(super) fn shortfalls(&self) -> impl Iterator<Item = (&PlacedShortfall, &SourceLocation)> {
        self.shortfalls.iter()
    }

    /// Returns the number of records of the longest block of any light.
    pub(super) fn longest_light_block(&self) -> u32 {
        let lights = self.known.values().flat_map(|known| known.reflection.lights.iter());
        lights.map(|light| light.records).max().unwrap_or(0)
    }

    /// Adds to the time that the host takes to compute what is the same for an instance or a light of a program.
    pub(super) fn note_once(&mut self, program: usize, took: Duration) {
        if let (Some(program), false) = (self.open.get(program), took.is_zero()) {
            *self.once.entry(label(&program.signature).into()).or_default() += took;
        }
    }

    /// Compiles the kernels, now that all variants are known.
    pub(super) fn finish(self) -> CompiledPrograms {
        let mut kernels: Vec<ShadingKernel> = Vec::new();
        let mut texts = Vec::new();
        let mut named = FxHashMap::default();
        let mut counters = LineCounters::new(self.tools.form.lines);
        let mut kernel_of = vec![0; self.variants.len()];
        let mut variants_of: Vec<Vec<usize>> = vec![Vec::new(); self.open.len()];
        self.variants.iter().enumerate().for_each(|(variant, (program, _))| variants_of[*program].push(variant));
        for (program, variants) in self.open.iter().zip(variants_of) {
            let decisions: Vec<_> = variants.iter().map(|&variant| self.variants[variant].1.clone()).collect();
            let mut known: FxHashMap<Decided, usize> = FxHashMap::default();
            let decided = kernels_for(&decisions, &|decided| program.cost(decided));
            for (variant, decided) in variants.into_iter().zip(decided) {
                kernel_of[variant] = *known.entry(decided).or_insert_with_key(|decided| {
                    let label = own_label(&mut named, &program.signature);
                    let made = self.kernel(label, program, decided, &mut counters);
                    kernels.push(made.kernel);
                    texts.push(made.texts);
                    kernels.len() - 1
                });
            }
        }
        let (kernels, tokens) = (kernels.into(), self.tokens);
        let (counters, lookup_counters) = counters.with_lookups(tokens.texts().len());
        CompiledPrograms { kernels, texts, kernel_of, tokens, counters, lookup_counters, once: self.once }
    }
}

/// Returns the RSL type of a display variable.
pub(super) fn rsl_type(ty: ValueType) -> RslType {
    match ty {
        ValueType::Float | ValueType::Int => RslType::Float,
        ValueType::Color => RslType::Color,
        ValueType::Point | ValueType::HPoint | ValueType::MPoint => RslType::Point,
        ValueType::Vector => RslType::Vector,
        ValueType::Normal => RslType::Normal,
        ValueType::Matrix => RslType::Matrix,
        ValueType::String => RslType::String,
    }
}

/// Returns the name of a new kernel, with a number if others of the same shaders have it too: their lights, bindings or
/// decisions differ. `named` has how many kernels have each name.
fn own_label(named: &mut FxHashMap<String, u32>, signature: &Signature) -> String {
    let label = label(signature);
    let count = named.entry(label.clone()).or_default();
    *count += 1;
    if *count == 1 { label } else { format!("{label} #{count}") }
}

/// Returns the kernel's name for captures.
fn label(signature: &Signature) -> String {
    let name = |bound: &Option<BoundShader>| bound.as_ref().map(|b| b.shader.name.to_string());
    let shaders = [name(&signature.surface), name(&signature.displacement), name(&signature.atmosphere)];
    let names: Vec<String> = shaders.into_iter().flatten().collect();
    let slice = match signature.slice {
        Slice::Position => "displace",
        Slice::Colour => "shade",
        Slice::Imager => "imager",
    };
    format!("{slice} {}", names.join(" "))
}

/// Returns what compiled kernels bind (spirv-gen's abi.rs).
fn bindings(uses_textures: bool, counts_lines: bool) -> Vec<BufferBinding> {
    let buffer = |name, stride, access| BufferBinding { name, stride, access, form: BindingForm::Storage };
    let records = |name| BufferBinding { name, stride: 16, access: Access::Read, form: BindingForm::Records };
    let words = |name| BufferBinding { name, stride: 4, access: Access::Read, form: BindingForm::Words };
    let mut bindings = vec![
        records("work"),
        buffer("arena", 16, Access::Write),
        records("params"),
        buffer("status", 4, Access::ReadWrite),
        records("inputs"),
    ];
    if uses_textures {
        bindings.extend([records("textures"), buffer("misses", 4, Access::ReadWrite)]);
        bindings.extend(["tiles0", "tiles1", "tiles2", "tiles3"].map(words));
        bindings.extend(["tiles4", "tiles5", "tiles6", "tiles7"].map(words));
    }
    bindings.extend(counts_lines.then(|| buffer("counters", 4, Access::ReadWrite)));
    bindings
}

/// The words of a kernel in all forms that it is compiled in.
struct KernelForms {
    /// The usual one, in passes.
    passes: PassRuns,
    /// Channels in which passes save values for each other.
    pass_channels: u32,
    /// The one whose long loops go on in further submissions.
    resumable: Option<Resumable>,
    /// The one that only names the texture tiles that it needs.
    demand: Option<Vec<u32>>,
}

fn shading_kernel(
    label: String,
    KernelForms { passes, pass_channels, resumable, demand }: KernelForms,
    reflection: &Reflection,
    signature: &Signature,
    counters: &mut LineCounters,
) -> ShadingKernel {
    let geometry = |input: &Input| match input {
        Input::PositionU | Input::Velocity => 1,
        Input::NormalV => 2,
        Input::DpduS => 4,
        Input::DpdvT => 8,
        _ => 0,
    };
    // A position kernel passes u and v on, in the channels of P and N.
    let carried = if signature.slice == Slice::Position { 3 } else { 0 };
    let colour = signature.slice == Slice::Colour;
    let first_variable = 1 + usize::from(signature.stores_opacity);
    let pipeline: Arc<str> = label.as_str().into();
    let kernel = |label: String, words: KernelWords, counts_lines: bool| {
        let push_bytes = size_of::<abi::Push>() as u32 + if counts_lines { 4 * abi::COUNTING_PUSH_WORDS } else { 0 };
        let bindings = bindings(reflection.uses_textures, counts_lines);
        let name = KernelName::of_program(&pipeline, label);
        Kernel::compiled(name, words, bindings, push_bytes, [abi::WORKGROUP_SIZE, 1, 1])
    };
    let mut all = |label: &str, passes: PassRuns| -> Vec<ShadingPass> {
        let (count, counts_lines) = (passes.kernels.len(), !passes.lines.is_empty());
        let label_of =
            |number| if count > 1 { format!("{label}, kernel {number} of {count}") } else { label.to_string() };
        let forms = passes.kernels.into_iter().zip(passes.debug).map(|(words, debug)| KernelWords { words, debug });
        let kernels: Vec<Arc<Kernel>> =
            forms.zip(1..).map(|(words, number)| kernel(label_of(number), words, counts_lines)).collect();
        let pass = |(number, run): (usize, &PassRun)| {
            let lines = passes.lines.get(number);
            let counters = lines.map(|lines| counters.add(&pipeline, number, lines, &signature.lights));
            ShadingPass { kernel: Arc::clone(&kernels[run.kernel]), first_channel: run.first_channel, counters }
        };
        passes.runs.iter().enumerate().map(pass).collect()
    };
    let resumable = resumable.map(|Resumable { passes, state_channels }| ResumableKernel {
        passes: all(&format!("{label} (long loops)"), passes),
        state_channels,
    });
    ShadingKernel {
        demand: demand.map(|words| kernel(format!("{label} (names tiles)"), words.into(), false)),
        passes: all(&label, passes),
        pass_channels,
        resumable,
        geometry_channels: reflection.inputs.iter().map(|i| geometry(&i.input)).fold(carried, |a, b| a | b),
        velocity_channel: reflection.inputs.iter().find(|i| i.input == Input::Velocity).map(|i| i.channel),
        input_channels: reflection.input_channels,
        uniform_records: reflection.uniform_records,
        output_channels: reflection.output_channels,
        print_words: reflection.print_words,
        bakes: reflection.bakes,
        uses_textures: reflection.uses_textures,
        opacity_channel: (colour && signature.stores_opacity).then_some(1),
        variable_channels: if colour {
            reflection.outputs[first_variable..].iter().map(|output| output.channel).collect()
        } else {
            Vec::new()
        },
    }
}

/// Whether opacity need not be stored: it is 1 wherever the program runs.
pub(super) fn is_opaque(opacity: &Opacity, attribute: [f32; 3], from_block: bool) -> bool {
    let one = |o: [f32; 3]| o.iter().all(|&x| x >= 1.0);
    match opacity {
        Opacity::FromOs => from_block && one(attribute),
        Opacity::KeepsOne => from_block && attribute == [1.0; 3],
        Opacity::Constant(constant) => one(*constant),
        Opacity::Computed => false,
    }
}

/// Whether it is invisible: opacity is 0 wherever the program runs, and so is colour.
pub(super) fn is_invisible(opacity: &Opacity, attribute: [f32; 3], from_block: bool) -> bool {
    matches!(opacity, Opacity::FromOs) && from_block && attribute == [0.0; 3]
}

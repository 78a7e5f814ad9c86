//! Shading pipelines of a world: shaders are found and compiled, parameters become blocks, primitive variables are
//! bound to inputs.
//!
//! ```text
//! attribute state + primvars of a drawable -> which shader, which parameter from where (signature)
//!     -> kernels, one for each signature, compiled once (spirv-gen)
//!     -> blocks of values, one for each drawable, in one parameter buffer
//!     -> a look: everything that the pipeline needs to know about it (pipeline::look)
//! ```
//! This is the only module that uses spirv-gen.

pub mod bakes;
mod bind;
mod block;
mod cast;
mod categories;
mod decisions;
mod depths;
mod facing;
mod imager;
mod inputs;
mod kept;
mod lights;
mod line_counters;
mod look_inputs;
mod params;
pub mod prints;
mod programs;
mod query;
mod shaders;
mod sources;
mod spaces;
pub mod standalone;
pub mod texts;
mod tokens;
mod values;

use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::FileClaims;
use crate::line_profile::Counter;
use crate::pipeline::look::{Look, Program, ShadingKernel};
use crate::scene::{Attributes, Drawable, Primvar, PrimvarData, ValueType, World};
use bind::FoundLook;
use block::BlockSource;
pub use cast::LightShape;
pub use depths::DepthShading;
use facing::report_turned_normals;
use glam::DMat4;
pub use imager::CompiledImager;
pub use kept::ProgramCounts;
use kept::ProgramStore;
pub use look_inputs::ShadingInputs;
use look_inputs::{LookInputs, Surroundings};
use params::ParamBuffer;
use programs::{CompiledPrograms, ProgramForm, ProgramTools, Programs};
use rustc_hash::FxHashMap;
use shaders::Shaders;
use spirv_gen::compose::{PlacedShortfall, Reflection, Shortfall, TextureUse};
use spirv_gen::emit::{Library as Helpers, LibraryError, LineCost};
use spirv_gen::ir::LookupKind;
use spirv_gen::partition::CutRule;
pub use spirv_gen::partition::ForcedCut;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokens::Tokens;
use values::ValueWords;

/// The name and type of an output besides colour and alpha.
pub type OutputVariable = (Arc<str>, ValueType);

/// The strings from which on a library that keeps their numbers begins with new ones: tables of all strings are part of
/// each picture.
const TEXTS_MAX: usize = 4096;

/// The shaders read so far, the helper functions that they are linked with, and the programs made of them; kept between
/// worlds.
pub struct ShaderLibrary {
    helpers: Helpers,
    shaders: Shaders,
    form: ProgramForm,
    programs: ProgramStore,
    /// The strings of the last worlds by number, if these keep their numbers.
    texts: Option<Vec<Arc<str>>>,
}

/// How programs are compiled, for tests: pictures are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAids {
    /// How programs are cut into passes, whatever is good for the devices.
    pub passes: Option<ForcedCut>,
    /// Whether call sites that differ in constants alone become loops.
    pub rolls: bool,
    /// Whether kernels are made for what drawables decide about branches.
    pub decides: bool,
}

impl Default for ProgramAids {
    fn default() -> Self {
        Self { passes: None, rolls: true, decides: true }
    }
}

/// The shading of a world.
pub struct Shading {
    /// The look of each drawable.
    pub looks: Vec<Arc<Look>>,
    /// Compiled kernels; looks refer to them by number.
    pub kernels: Arc<[ShadingKernel]>,
    /// The parameter buffer.
    pub params: Arc<[[f32; 4]]>,
    /// Record of the space table in the parameter buffer.
    pub space_table: u32,
    /// Texts by token, for what is printed and for textures.
    pub textures: NamedTextures,
    /// What kernels count.
    pub counters: Arc<[Counter]>,
    /// The number of the first counter of lookups.
    pub lookup_counters: u32,
    /// For each pipeline, how long the host took to compute what is the same for an instance or a light.
    pub once: BTreeMap<Arc<str>, Duration>,
    /// What programs of each drawable read.
    inputs: Vec<Arc<LookInputs>>,
    /// What is the same for all.
    surroundings: Surroundings,
}

/// The texts of a world's programs, and those that are names of textures.
#[derive(Clone, Debug, Default)]
pub struct NamedTextures {
    /// Texts by token.
    pub texts: Vec<Arc<str>>,
    /// Tokens of names that are known before programs run, each with the place where it is first used.
    pub known: BTreeMap<u32, SourceLocation>,
    /// Those of them that `shadow()` looks up.
    pub as_shadows: BTreeSet<u32>,
    /// Those that `occlusion()` looks up.
    pub as_occlusions: BTreeSet<u32>,
    /// Those that `environment()` looks up.
    pub as_environments: BTreeSet<u32>,
    /// Whether `environment()` looks anything up, of whatever name.
    pub environments: bool,
    /// Those that `texture()` looks up.
    pub as_textures: BTreeSet<u32>,
    /// Those of which a colour is looked up without a value for channels that are missing.
    pub as_colours: BTreeSet<u32>,
    /// Those that `texture3d()` looks up, with the channels that it wants, and whether as three numbers.
    pub as_points: BTreeMap<u32, BTreeSet<(Arc<str>, bool)>>,
    /// Whether other texts may turn out to be names of textures.
    pub computed: bool,
    /// Whether programs look textures up.
    pub used: bool,
}

impl NamedTextures {
    /// Notes the names that a program of a drawable, a light or an imager looks up, and reports its filters that there
    /// are not.
    fn note(
        &mut self,
        reflection: &Reflection,
        source: &BlockSource<'_>,
        computed: &[ValueWords],
        tokens: &Tokens,
        reporter: &Reporter,
    ) {
        let named = |pattern| source.named(pattern, computed, tokens);
        for (filter, location) in reflection.filter_names.iter().filter_map(named) {
            if LookupKind::filter_number(&filter).is_none() {
                let names = LookupKind::FILTERS.join(", ");
                let message =
                    format!("texture lookups have no filter {filter:?}: gaussian is taken; there are {names}");
                reporter.warn("badtoken", &location, message);
            }
        }
        self.used |= reflection.uses_textures;
        for (pattern, found) in &reflection.texture_names {
            self.computed |= pattern.is_none();
            self.environments |= matches!(found, TextureUse::Texels(LookupKind::Environment));
            let text = pattern.as_ref().and_then(named);
            if let Some((name, location)) = text.filter(|(name, _)| !name.is_empty()) {
                let token = tokens.token(&name);
                match found {
                    TextureUse::Texels(LookupKind::Shadow) => drop(self.as_shadows.insert(token)),
                    TextureUse::Texels(LookupKind::Occlusion) => drop(self.as_occlusions.insert(token)),
                    TextureUse::Texels(LookupKind::Environment) => drop(self.as_environments.insert(token)),
                    TextureUse::Texels(LookupKind::Texture) => drop(self.as_textures.insert(token)),
                    TextureUse::Points { channel, is_triple } => {
                        let wanted = self.as_points.entry(token).or_default();
                        wanted.extend((!channel.is_empty()).then(|| (Arc::clone(channel), *is_triple)));
                    }
                    TextureUse::Colour => drop(self.as_colours.insert(token)),
                    TextureUse::Facts => {}
                }
                self.known.entry(token).or_insert(location);
            }
        }
    }
}

impl ShaderLibrary {
    /// Creates an empty library with the built-in helper functions. Sources are claimed in `files`, and compiled with
    /// `macros`: `NAME` or `NAME=VALUE`.
    ///
    /// # Errors
    /// If they are not what the compiler expects, which means a broken build.
    pub fn new(files: Arc<FileClaims>, macros: &[String]) -> Result<Self, LibraryError> {
        let form = ProgramForm { cuts: CutRule::NEVER, rolls: true, decides: true, lines: None, debug: false };
        let (shaders, programs) = (Shaders::new(files, macros.into()), ProgramStore::default());
        Ok(Self { helpers: helpers()?, shaders, form, programs, texts: None })
    }

    /// Has strings keep their numbers from world to world, so that programs can be kept when a world gets or loses one.
    /// Pictures are the same, but their kernels and parameters depend on the worlds before, and so do the caches and
    /// checkpoints that know them by these.
    pub fn keep_texts(&mut self) {
        self.texts.get_or_insert_default();
    }

    /// Forgets what was read of shader sources that have changed since, or are gone, and the programs made of them.
    /// Returns whether there were any.
    pub fn forget_changed_sources(&mut self) -> bool {
        let changed = self.shaders.forget_changed();
        if changed {
            self.programs.forget(&|shader| !self.shaders.knows(shader));
        }
        changed
    }

    /// Has programs cut into passes as is good for devices of which some are CPUs or none, unless tests say otherwise;
    /// before, none are cut.
    pub fn compile_for(&mut self, cpus: bool, aids: ProgramAids) {
        let ProgramAids { passes, rolls, decides } = aids;
        let cuts = if cpus { CutRule::CPU } else { CutRule::GPU }.forced(passes);
        self.form = ProgramForm { cuts, rolls, decides, ..self.form };
        self.programs.clear();
    }

    /// Has programs count what their lines cost: clocks, if all devices that run them have a shader clock.
    pub fn count_lines(&mut self, have_clocks: bool) {
        self.form.lines = Some(if have_clocks { LineCost::Clocks } else { LineCost::Steps });
    }

    /// Has kernels also compiled for captures, which show where they come from.
    pub fn describe_kernels(&mut self) {
        self.form.debug = true;
        self.programs.clear();
        self.shaders.note_assignments();
    }

    /// Compiles the kernels that a world needs, except those that earlier worlds left, and fills its parameter buffer.
    /// `variables` are computed for displays.
    pub fn shade(&mut self, world: &World, variables: &[OutputVariable], reporter: &Reporter) -> Shading {
        let tools = ProgramTools { helpers: &self.helpers, form: self.form, store: &self.programs };
        let programs = Programs::new(tools, variables, tokens(&self.texts));
        let shading = shade(programs, &mut self.shaders, world, reporter);
        if let Some(texts) = &mut self.texts {
            let grown = shading.textures.texts.len() > TEXTS_MAX;
            *texts = if grown { Vec::new() } else { shading.textures.texts.clone() };
        }
        self.shaders.end_world();
        self.programs.end_world();
        shading
    }

    /// Returns how many programs, opacities and sources are kept for later worlds.
    pub fn kept_counts(&self) -> [usize; 3] {
        let [programs, opacities] = self.programs.counts();
        [programs, opacities, self.shaders.count()]
    }

    /// Returns what was made since this was last called.
    pub fn take_counts(&self) -> ProgramCounts {
        self.programs.take_counts()
    }

    /// Returns the same, but neither reports anything nor remembers files; programs and shaders without errors are kept
    /// for [`Self::shade`].
    pub fn shade_silently(&self, world: &World, variables: &[OutputVariable]) -> Shading {
        let tools = ProgramTools { helpers: &self.helpers, form: self.form, store: &self.programs };
        let programs = Programs::new(tools, variables, tokens(&self.texts));
        shade(programs, &mut self.shaders.unread(), world, &Reporter::silent())
    }
}

/// Returns the numbers of strings that a world begins with.
fn tokens(kept: &Option<Vec<Arc<str>>>) -> Tokens {
    kept.as_ref().map_or_else(Tokens::default, |texts| Tokens::continuing(texts))
}

fn shade(programs: Programs<'_>, shaders: &mut Shaders, world: &World, reporter: &Reporter) -> Shading {
    let (params, textures) = (ParamBuffer::new(), NamedTextures::default());
    let mut shader = ShadingBuilder { world, reporter, shaders, programs, params, textures };
    let (looks, inputs) = shader.looks().into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
    shader.programs.shortfalls().for_each(|(shortfall, location)| report_shortfall(reporter, shortfall, location));
    let longest = shader.programs.longest_light_block();
    let CompiledPrograms { kernels, texts, kernel_of, tokens, counters, lookup_counters, once } =
        shader.programs.finish();
    shader.params.fill_space_table(world, &DMat4::IDENTITY, &tokens);
    let (params, space_table) = shader.params.finish(longest);
    let textures = NamedTextures { texts: tokens.texts(), ..shader.textures };
    let looks = with_kernels(&looks, &kernel_of);
    let surroundings = Surroundings::new(world, texts);
    Shading { looks, kernels, params, space_table, textures, counters, lookup_counters, once, inputs, surroundings }
}

/// Returns looks with the kernels of the variants that they name.
fn with_kernels(looks: &[Arc<Look>], kernel_of: &[usize]) -> Vec<Arc<Look>> {
    let program = |program: &Option<Program>| {
        program.as_ref().map(|program| Program { kernel: kernel_of[program.kernel], ..program.clone() })
    };
    let mut known: FxHashMap<*const Look, Arc<Look>> = FxHashMap::default();
    let look = |look: &Arc<Look>| {
        let new = || Look { displace: program(&look.displace), shade: program(&look.shade), ..(**look).clone() };
        Arc::clone(known.entry(Arc::as_ptr(look)).or_insert_with(|| Arc::new(new())))
    };
    looks.iter().map(look).collect()
}

/// Compiles the shaders of one world and collects their parameters.
struct ShadingBuilder<'a> {
    world: &'a World,
    reporter: &'a Reporter,
    shaders: &'a mut Shaders,
    programs: Programs<'a>,
    params: ParamBuffer,
    textures: NamedTextures,
}

/// Drawables with the same look: the same attribute state, and primvars of the same names, classes, types and texts.
/// The transformation matters only where a program uses object space.
type LookKey = (*const Attributes, Vec<PrimvarKey>, bool);
type PrimvarKey = (Arc<str>, crate::scene::Class, ValueType, u32, Option<Arc<str>>);

fn primvar_key(primvar: &Primvar) -> PrimvarKey {
    let text = match &primvar.data {
        PrimvarData::Strings(texts) => texts.first().cloned(),
        PrimvarData::Floats(_) => None,
    };
    (Arc::clone(&primvar.name), primvar.class, primvar.ty, primvar.array_len, text)
}

impl ShadingBuilder<'_> {
    /// Returns the look of each drawable, and what its programs read.
    fn looks(&mut self) -> Vec<(Arc<Look>, Arc<LookInputs>)> {
        let mut known: FxHashMap<LookKey, FoundLook> = FxHashMap::default();
        let world = self.world;
        let look = |drawable: &Drawable| {
            let primvars = drawable.geometry.primvars.iter().map(primvar_key).collect();
            let key = (Arc::as_ptr(&drawable.attributes), primvars, drawable.solid.is_some());
            let found = known.get(&key).cloned().unwrap_or_else(|| self.look(drawable));
            if found.faces_by_winding {
                report_turned_normals(drawable, world.camera.camera_from_world.first(), self.reporter);
            }
            let look = (Arc::clone(&found.look), Arc::clone(&found.inputs));
            if found.is_shared {
                known.entry(key).or_insert(found);
            }
            look
        };
        world.drawables.iter().map(look).collect()
    }
}

/// Loads the built-in helper functions.
fn helpers() -> Result<Helpers, LibraryError> {
    use crate::pipeline::kernels::{RSL_LIBRARY, RSL_NAMING_LIBRARY};
    Ok(Helpers::load(RSL_LIBRARY)?.with_naming(RSL_NAMING_LIBRARY))
}

/// Reports where a kernel differs from its shader, which was named at `named`.
fn report_shortfall(reporter: &Reporter, placed: &PlacedShortfall, named: &SourceLocation) {
    let message = shortfall_text(&placed.shortfall);
    let diagnostic = |location| Diagnostic::new(Severity::Warning, "unimplement", location, message);
    reporter.report(match &placed.position {
        Some(at) => {
            let location = SourceLocation { file: at.file.to_string().into(), line: at.line, column: at.column };
            diagnostic(location).hint(format!("the shader is used at {named}"))
        }
        None => diagnostic(named.clone()),
    });
}

/// Describes how a kernel differs from its shader.
fn shortfall_text(shortfall: &Shortfall) -> String {
    match shortfall {
        Shortfall::Lookup(what, _) => format!("{what}() finds nothing here"),
        Shortfall::Printf => "printf() prints nothing in an imager: this is not supported yet".to_string(),
        Shortfall::ComputedText(what) => format!(
            "{what}: texts that are only known point by point are empty: use parameters, attributes, options, or counters \
             of loops with a constant number of trips"
        ),
        Shortfall::ComputedCategory => {
            "a light category that the shader computes at run time matches all lights: this is not supported yet"
                .to_string()
        }
    }
}

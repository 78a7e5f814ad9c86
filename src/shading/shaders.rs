//! Finding and reading shaders: NAME.sl on the shader path, then the built-in ones. Each shader is read once.

use super::kept::WORLDS_KEPT;
use super::sources::{ClaimingLoader, SourceContents, read_source};
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::{FileClaims, FileRole, spellings};
use crate::scene::ShaderInstance;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use spirv_gen::diagnostic::Severity as RslSeverity;
use spirv_gen::ir::{Shader, ShaderKind};
use spirv_gen::syntax::loader::{IncludeFolders, NoIncludes};
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{CheckedShader, LightScale, MovingSurface};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sources that were compiled for others and are kept, at most.
const OTHERS_MAX: usize = 256;

/// What a shader is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ShaderPurpose {
    Surface,
    Displacement,
    Volume,
    Light,
    Imager,
}

impl ShaderPurpose {
    fn word(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Displacement => "displacement",
            Self::Volume => "volume",
            Self::Light => "light",
            Self::Imager => "imager",
        }
    }

    fn accepts(self, kind: ShaderKind) -> bool {
        match self {
            Self::Surface => kind == ShaderKind::Surface,
            Self::Displacement => kind == ShaderKind::Displacement,
            Self::Volume => kind == ShaderKind::Volume,
            Self::Light => matches!(kind, ShaderKind::Light | ShaderKind::AmbientLight),
            Self::Imager => kind == ShaderKind::Imager,
        }
    }
}

/// The result of fetching a shader.
pub(super) enum FetchedShader {
    /// The requested shader.
    Wanted(Arc<Shader>),
    /// The default surface instead of the requested one.
    StandIn(Arc<Shader>),
}

impl FetchedShader {
    pub(super) fn shader(&self) -> &Arc<Shader> {
        match self {
            Self::Wanted(shader) | Self::StandIn(shader) => shader,
        }
    }
}

/// Shaders by file, and built-in ones by name.
pub(super) struct Shaders {
    /// Sources by file, and whether they have errors.
    read: FxHashMap<PathBuf, ReadSource>,
    /// The sources that have none, by their shaders.
    by_shader: FxHashMap<*const Shader, Arc<CompiledSource>>,
    /// What was compiled, for others that read the same sources.
    compiled: Arc<Mutex<FxHashMap<PathBuf, Arc<CompiledSource>>>>,
    files: Arc<FileClaims>,
    /// What files are compiled with.
    macros: Arc<[String]>,
    /// Whether their programs note what is assigned to variables, for debuggers.
    notes_assignments: bool,
    /// The number of the world that is shaded.
    world: u64,
}

/// A source that was read.
struct ReadSource {
    /// What was compiled of it; `None` of one with errors.
    compiled: Option<Arc<CompiledSource>>,
    /// What was read; `None` for built-in ones.
    contents: Option<SourceContents>,
    /// The last world that used it.
    used: u64,
}

/// What was compiled of a source.
struct CompiledSource {
    shader: Arc<Shader>,
    /// If it is a light: as it was checked, and what became of its parts.
    light: Option<ReadLight>,
    /// If it is a surface that moves P: the displacement and the surface that it becomes.
    moving: Option<[Arc<Shader>; 2]>,
    /// What was read.
    contents: SourceContents,
    /// What the compiler said about it.
    messages: Vec<Diagnostic>,
}

/// A light shader.
struct ReadLight {
    checked: CheckedShader,
    /// The lights whose sum it is.
    parts: u32,
    /// Those with shadow maps or shares.
    scaled: Mutex<FxHashMap<LightScale, Arc<Shader>>>,
}

impl Shaders {
    /// Begins without shaders. Sources are claimed in `files`, and compiled with `macros`.
    pub(super) fn new(files: Arc<FileClaims>, macros: Arc<[String]>) -> Self {
        let (read, by_shader, compiled) = (FxHashMap::default(), FxHashMap::default(), Arc::default());
        Self { read, by_shader, compiled, files, macros, notes_assignments: false, world: 0 }
    }

    /// Has programs note what is assigned to variables, before any is read.
    pub(super) fn note_assignments(&mut self) {
        self.notes_assignments = true;
    }

    /// Returns the same with nothing read yet. What either compiles the other need not compile again.
    pub(super) fn unread(&self) -> Self {
        let Self { compiled, files, macros, notes_assignments, .. } = self;
        let notes_assignments = *notes_assignments;
        let compiled = Arc::clone(compiled);
        Self { notes_assignments, compiled, ..Self::new(Arc::clone(files), Arc::clone(macros)) }
    }

    /// Ends a world: forgets sources that none of the last worlds used.
    pub(super) fn end_world(&mut self) {
        let oldest = (self.world + 1).saturating_sub(WORLDS_KEPT);
        self.retain(|_, source| source.used >= oldest);
        self.world += 1;
    }

    /// Forgets what was read of files that have changed or are gone, so that it is read again. Returns whether there
    /// were any.
    pub(super) fn forget_changed(&mut self) -> bool {
        let (files, before) = (Arc::clone(&self.files), self.read.len());
        self.retain(|file, source| source.contents.as_ref().is_none_or(|contents| contents.are_same(file, &files)));
        self.read.len() < before
    }

    fn retain(&mut self, keep: impl Fn(&Path, &ReadSource) -> bool) {
        let mut compiled = self.compiled.lock();
        self.read.retain(|file, source| {
            let keeps = keep(file, source);
            if !keeps {
                compiled.remove(file);
            }
            keeps
        });
        // What others read is not needed for long.
        if compiled.len() > self.read.len() + OTHERS_MAX {
            compiled.retain(|file, _| self.read.contains_key(file));
        }
        drop(compiled);
        let read = self.read.values().filter_map(|source| source.compiled.as_ref());
        self.by_shader = read.map(|compiled| (Arc::as_ptr(&compiled.shader), Arc::clone(compiled))).collect();
    }

    /// Returns how many sources are kept.
    pub(super) fn count(&self) -> usize {
        self.read.len().max(self.compiled.lock().len())
    }

    /// Whether a shader is one of those that were read, or a part of one.
    pub(super) fn knows(&self, shader: &Arc<Shader>) -> bool {
        self.by_shader.values().any(|source| source.has(shader))
    }

    /// Fetches the shader of an instance. If it is unavailable, a message says why, a surface is replaced by the
    /// default surface, and other shaders are left out.
    pub(super) fn fetch(
        &mut self,
        instance: &ShaderInstance,
        need: ShaderPurpose,
        path: &[String],
        reporter: &Reporter,
    ) -> Option<FetchedShader> {
        let found = self.find(&instance.name, path, reporter);
        let problem = match &found {
            ShaderLookup::Shader(shader) if need.accepts(shader.kind) => {
                return Some(FetchedShader::Wanted(Arc::clone(shader)));
            }
            ShaderLookup::Shader(shader) => Some((
                format!(
                    "{:?} is {} shader, not {} shader",
                    instance.name,
                    with_article(shader.kind.name()),
                    with_article(need.word())
                ),
                String::new(),
            )),
            ShaderLookup::Broken => None, // its errors were reported
            ShaderLookup::NotFound(looked) => Some((
                format!("there is no {} shader {:?}", need.word(), instance.name),
                format!("{looked}; Option \"searchpath\" \"shader\" sets where to look"),
            )),
        };
        if let Some((message, hint)) = problem {
            let error = Diagnostic::new(Severity::Error, "noshader", instance.location.clone(), message);
            reporter.report(error.hint(hint));
        }
        (need == ShaderPurpose::Surface)
            .then(|| self.built_in("defaultsurface", reporter))
            .flatten()
            .map(FetchedShader::StandIn)
    }

    /// Returns the shader of this name, whatever it is for, if it is found and has no errors.
    pub(super) fn named(&mut self, name: &str, path: &[String], reporter: &Reporter) -> Option<Arc<Shader>> {
        match self.find(name, path, reporter) {
            ShaderLookup::Shader(shader) => Some(shader),
            ShaderLookup::Broken | ShaderLookup::NotFound(_) => None,
        }
    }

    fn find(&mut self, name: &str, path: &[String], reporter: &Reporter) -> ShaderLookup {
        let file_name = if name.ends_with(".sl") { name.to_string() } else { format!("{name}.sl") };
        let here = [".".to_string()];
        let folders = if path.is_empty() { &here[..] } else { path };
        // An absolute name, or one with directories, is also used as it is.
        let has_directories = Path::new(&file_name).components().count() > 1;
        let candidates = folders.iter().map(|folder| Path::new(folder).join(&file_name));
        let candidates = has_directories.then(|| PathBuf::from(&file_name)).into_iter().chain(candidates);
        let candidates = candidates.flat_map(spellings);
        let mut refused = None;
        for file in candidates {
            if let Err(outside) = self.files.check_inside(&file) {
                refused = Some(outside.to_string());
                continue;
            }
            if self.read.contains_key(&file) || file.is_file() {
                return self.read_file(file, folders, reporter).map_or(ShaderLookup::Broken, ShaderLookup::Shader);
            }
        }
        match self.built_in(name, reporter) {
            Some(shader) => ShaderLookup::Shader(shader),
            None => {
                let looked = || format!("looked for {name}.sl in {}", folders.join(", "));
                ShaderLookup::NotFound(refused.unwrap_or_else(looked))
            }
        }
    }

    fn read_file(&mut self, file: PathBuf, folders: &[String], reporter: &Reporter) -> Option<Arc<Shader>> {
        if let Some(known) = self.known(&file) {
            return known;
        }
        let (files, name) = (Arc::clone(&self.files), file.display().to_string());
        let claimed = files.claim(&file, FileRole::Shader).map_err(std::io::Error::other);
        let text = match claimed.and_then(|()| read_source(&file)) {
            Ok(text) => text,
            Err(error) => {
                let location = SourceLocation { file: name.as_str().into(), line: 0, column: 0 };
                reporter.error("badfile", &location, format!("cannot read it: {error}"));
                self.note_read(file, None, Some(SourceContents::unreadable()));
                return None;
            }
        };
        let known = self.compiled.lock().get(&file).cloned();
        if let Some(known) = known.filter(|known| known.contents.are_those_of(&text, folders, &files)) {
            known.messages.iter().for_each(|message| reporter.report(message.clone()));
            let contents = Some(known.contents.clone());
            return self.note_read(file, Some(known), contents);
        }
        let loader = ClaimingLoader::new(IncludeFolders::new(folders), &files);
        let defines = &*Arc::clone(&self.macros);
        let (checked, messages) = checked(&Source { name: &name, text: &text, loader: &loader, defines });
        messages.iter().for_each(|message| reporter.report(message.clone()));
        let contents = SourceContents::new(&text, folders, loader.loaded());
        let compiled = checked.map(|checked| self.compile(checked, contents.clone(), messages));
        if let Some(compiled) = &compiled {
            self.compiled.lock().insert(file.clone(), Arc::clone(compiled));
        }
        self.note_read(file, compiled, Some(contents))
    }

    /// Returns what is known of a file; `None` if it was not read.
    fn known(&mut self, file: &Path) -> Option<Option<Arc<Shader>>> {
        let known = self.read.get_mut(file)?;
        known.used = self.world;
        Some(known.compiled.as_ref().map(|compiled| Arc::clone(&compiled.shader)))
    }

    /// Notes what was read of a file, and returns its shader.
    fn note_read(
        &mut self,
        file: PathBuf,
        compiled: Option<Arc<CompiledSource>>,
        contents: Option<SourceContents>,
    ) -> Option<Arc<Shader>> {
        let shader = compiled.as_ref().map(|compiled| Arc::clone(&compiled.shader));
        if let Some(compiled) = &compiled {
            self.by_shader.insert(Arc::as_ptr(&compiled.shader), Arc::clone(compiled));
        }
        self.read.insert(file, ReadSource { compiled, contents, used: self.world });
        shader
    }

    /// Returns the built-in shader of that name, if there is one.
    pub(super) fn built_in(&mut self, name: &str, reporter: &Reporter) -> Option<Arc<Shader>> {
        let key = PathBuf::from(format!("<built in>/{name}"));
        if let Some(known) = self.known(&key) {
            return known;
        }
        let text = spirv_gen::standard::source(name)?;
        let known = self.compiled.lock().get(&key).cloned();
        let compiled = known.or_else(|| {
            let (checked, messages) = checked(&Source { name, text, loader: &NoIncludes, defines: &[] });
            messages.iter().for_each(|message| reporter.report(message.clone()));
            Some(self.compile(checked?, SourceContents::unreadable(), Vec::new()))
        });
        if let Some(compiled) = &compiled {
            self.compiled.lock().insert(key.clone(), Arc::clone(compiled));
        }
        self.note_read(key, compiled, None)
    }

    /// Returns the lights whose sum a light shader is, as [`LightScale::part`] names them.
    pub(super) fn light_parts(&self, shader: &Arc<Shader>) -> Vec<Option<u32>> {
        match self.light(shader) {
            Some(light) if light.parts > 1 => (0..light.parts).map(Some).collect(),
            _ => vec![None],
        }
    }

    fn light(&self, shader: &Arc<Shader>) -> Option<&ReadLight> {
        self.by_shader.get(&Arc::as_ptr(shader))?.light.as_ref()
    }

    /// Returns a light shader that is also scaled by shadow maps of its own or by its share of an area light.
    pub(super) fn scaled(&self, shader: &Arc<Shader>, scale: LightScale) -> Arc<Shader> {
        self.light(shader).map_or_else(
            || Arc::clone(shader),
            |ReadLight { checked, scaled, .. }| {
                let new = || Arc::new(spirv_gen::lower_scaled(checked, scale));
                Arc::clone(scaled.lock().entry(scale).or_insert_with(new))
            },
        )
    }

    /// Returns the displacement and the surface that a surface shader becomes if it moves P.
    pub(super) fn moving(&self, shader: &Arc<Shader>) -> Option<[Arc<Shader>; 2]> {
        self.by_shader.get(&Arc::as_ptr(shader))?.moving.clone()
    }

    /// Compiles a checked source to IR.
    fn compile(
        &self,
        checked: CheckedShader,
        contents: SourceContents,
        messages: Vec<Diagnostic>,
    ) -> Arc<CompiledSource> {
        let checked = CheckedShader { notes_assignments: self.notes_assignments, ..checked };
        let shader = Arc::new(spirv_gen::lower(&checked));
        let is_light = matches!(shader.kind, ShaderKind::Light | ShaderKind::AmbientLight);
        let moving = (!is_light).then(|| spirv_gen::lower_moving(&checked)).flatten();
        let moving = moving.map(|MovingSurface { displacement, surface }| [displacement, surface].map(Arc::new));
        let parts = if is_light { spirv_gen::light_parts(&checked) } else { 0 };
        let light = is_light.then(|| ReadLight { checked, parts, scaled: Mutex::default() });
        Arc::new(CompiledSource { shader, light, moving, contents, messages })
    }
}

impl CompiledSource {
    /// Whether a shader was made of it.
    fn has(&self, shader: &Arc<Shader>) -> bool {
        let is_same = |own: &Arc<Shader>| Arc::ptr_eq(own, shader);
        let is_scaled = |light: &ReadLight| light.scaled.lock().values().any(is_same);
        is_same(&self.shader) || self.moving.iter().flatten().any(is_same) || self.light.as_ref().is_some_and(is_scaled)
    }
}

fn with_article(word: &str) -> String {
    let article = if word.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {word}")
}

enum ShaderLookup {
    Shader(Arc<Shader>),
    Broken,
    NotFound(String),
}

/// Checks a source file, and returns what there is to say about it.
fn checked(source: &Source<'_>) -> (Option<CheckedShader>, Vec<Diagnostic>) {
    let (shader, diagnostics) = spirv_gen::parse_shader(source);
    let message = |diagnostic: spirv_gen::diagnostic::Diagnostic| {
        let severity = match diagnostic.severity {
            RslSeverity::Warning => Severity::Warning,
            RslSeverity::Error => Severity::Error,
        };
        let at = &diagnostic.place;
        let location = SourceLocation { file: at.file.to_string().into(), line: at.line, column: at.column };
        let message = Diagnostic::new(severity, "rsl", location, diagnostic.message);
        Diagnostic { excerpt: diagnostic.excerpt, ..message }
    };
    (shader, diagnostics.into_iter().map(message).collect())
}

//! Finding and reading shaders: NAME.sl on the shader path, then the built-in ones. Each shader is read once.

use super::sources::{ClaimingLoader, read_source};
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::{FileClaims, FileRole, spellings};
use crate::scene::ShaderInstance;
use rustc_hash::FxHashMap;
use spirv_gen::diagnostic::Severity as RslSeverity;
use spirv_gen::ir::{Shader, ShaderKind};
use spirv_gen::syntax::loader::{IncludeFolders, NoIncludes};
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{CheckedShader, LightScale, MovingSurface};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    read: FxHashMap<PathBuf, Option<Arc<Shader>>>,
    /// Lights among them as they were checked, and what became of their parts, with shadow maps or shares.
    lights: Vec<ReadLight>,
    /// Surfaces among them that move P.
    moving: Vec<ReadMovingSurface>,
    files: Arc<FileClaims>,
    /// What files are compiled with.
    macros: Arc<[String]>,
    /// Whether their programs note what is assigned to variables, for debuggers.
    notes_assignments: bool,
}

/// A light shader.
struct ReadLight {
    shader: Arc<Shader>,
    checked: CheckedShader,
    /// The lights whose sum it is.
    parts: u32,
    scaled: FxHashMap<LightScale, Arc<Shader>>,
}

/// A surface shader that moves P, and the two shaders that it becomes.
struct ReadMovingSurface {
    shader: Arc<Shader>,
    displacement: Arc<Shader>,
    surface: Arc<Shader>,
}

impl Shaders {
    /// Begins without shaders. Sources are claimed in `files`, and compiled with `macros`.
    pub(super) fn new(files: Arc<FileClaims>, macros: Arc<[String]>) -> Self {
        let (lights, moving) = (Vec::new(), Vec::new());
        Self { read: FxHashMap::default(), lights, moving, files, macros, notes_assignments: false }
    }

    /// Has programs note what is assigned to variables, before any is read.
    pub(super) fn note_assignments(&mut self) {
        self.notes_assignments = true;
    }

    /// Returns the same with nothing read yet.
    pub(super) fn unread(&self) -> Self {
        let notes_assignments = self.notes_assignments;
        Self { notes_assignments, ..Self::new(Arc::clone(&self.files), Arc::clone(&self.macros)) }
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
        if let Some(known) = self.read.get(&file) {
            return known.clone();
        }
        let name = file.display().to_string();
        let files = Arc::clone(&self.files);
        let loader = ClaimingLoader { folders: IncludeFolders::new(folders), files: &files };
        let claimed = self.files.claim(&file, FileRole::Shader).map_err(std::io::Error::other);
        let shader = match claimed.and_then(|()| read_source(&file)) {
            Ok(text) => {
                let defines = &*Arc::clone(&self.macros);
                self.compile(&Source { name: &name, text: &text, loader: &loader, defines }, reporter)
            }
            Err(error) => {
                let location = SourceLocation { file: name.as_str().into(), line: 0, column: 0 };
                reporter.error("badfile", &location, format!("cannot read it: {error}"));
                None
            }
        };
        self.read.insert(file, shader.clone());
        shader
    }

    /// Returns the built-in shader of that name, if there is one.
    pub(super) fn built_in(&mut self, name: &str, reporter: &Reporter) -> Option<Arc<Shader>> {
        let key = PathBuf::from(format!("<built in>/{name}"));
        if let Some(known) = self.read.get(&key) {
            return known.clone();
        }
        let text = spirv_gen::standard::source(name)?;
        let shader = self.compile(&Source { name, text, loader: &NoIncludes, defines: &[] }, reporter);
        self.read.insert(key, shader.clone());
        shader
    }

    /// Returns the lights whose sum a light shader is, as [`LightScale::part`] names them.
    pub(super) fn light_parts(&self, shader: &Arc<Shader>) -> Vec<Option<u32>> {
        match self.lights.iter().find(|light| Arc::ptr_eq(&light.shader, shader)) {
            Some(light) if light.parts > 1 => (0..light.parts).map(Some).collect(),
            _ => vec![None],
        }
    }

    /// Returns a light shader that is also scaled by shadow maps of its own or by its share of an area light.
    pub(super) fn scaled(&mut self, shader: &Arc<Shader>, scale: LightScale) -> Arc<Shader> {
        let light = self.lights.iter_mut().find(|light| Arc::ptr_eq(&light.shader, shader));
        light.map_or_else(
            || Arc::clone(shader),
            |ReadLight { checked, scaled, .. }| {
                Arc::clone(scaled.entry(scale).or_insert_with(|| Arc::new(spirv_gen::lower_scaled(checked, scale))))
            },
        )
    }

    /// Returns the displacement and the surface that a surface shader becomes if it moves P.
    pub(super) fn moving(&self, shader: &Arc<Shader>) -> Option<[Arc<Shader>; 2]> {
        let found = self.moving.iter().find(|moving| Arc::ptr_eq(&moving.shader, shader))?;
        Some([&found.displacement, &found.surface].map(Arc::clone))
    }

    /// Compiles a source file to IR; its messages go to the reporter.
    fn compile(&mut self, source: &Source<'_>, reporter: &Reporter) -> Option<Arc<Shader>> {
        let checked = CheckedShader { notes_assignments: self.notes_assignments, ..checked(source, reporter)? };
        let shader = Arc::new(spirv_gen::lower(&checked));
        if matches!(shader.kind, ShaderKind::Light | ShaderKind::AmbientLight) {
            let parts = spirv_gen::light_parts(&checked);
            self.lights.push(ReadLight { shader: Arc::clone(&shader), checked, parts, scaled: FxHashMap::default() });
        } else if let Some(MovingSurface { displacement, surface }) = spirv_gen::lower_moving(&checked) {
            let [displacement, surface] = [displacement, surface].map(Arc::new);
            self.moving.push(ReadMovingSurface { shader: Arc::clone(&shader), displacement, surface });
        }
        Some(shader)
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

/// Checks a source file; its messages go to the reporter.
fn checked(source: &Source<'_>, reporter: &Reporter) -> Option<CheckedShader> {
    let (shader, diagnostics) = spirv_gen::parse_shader(source);
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            RslSeverity::Warning => Severity::Warning,
            RslSeverity::Error => Severity::Error,
        };
        let at = &diagnostic.place;
        let location = SourceLocation { file: at.file.to_string().into(), line: at.line, column: at.column };
        let message = Diagnostic::new(severity, "rsl", location, diagnostic.message);
        reporter.report(Diagnostic { excerpt: diagnostic.excerpt, ..message });
    }
    shader
}

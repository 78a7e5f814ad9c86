//! Counts the operations of shaders by how often their results change: before the uniform slice is taken out of a
//! program, and after. It uses no device.
//!
//! `cargo bench -p spirv-gen --bench uniform -- FILE.sl ... [-IFOLDER ...]`; without files, the standard shaders.

use spirv_gen::compose::{Binding, Composed, OutputRequest, PipelineRequest, ShaderUse, Slice, compose};
use spirv_gen::ir::{RslType, Shader, ShaderKind};
use spirv_gen::passes::{OperationCounts, count_operations};
use spirv_gen::syntax::loader::{IncludeFolders, LoadedSource, SourceLoader};
use spirv_gen::syntax::preprocess::Source;
use spirv_gen::{lower, parse_shaders, standard};
use std::path::{Path, PathBuf};

/// Reads whatever is included.
struct Files(IncludeFolders);

impl SourceLoader for Files {
    fn load(&self, path: &str, angled: bool, from: &str) -> Result<LoadedSource, String> {
        let file = self.0.find(path, angled, from, &|_| Ok(()))?;
        Ok(LoadedSource { name: file.display().to_string(), text: text_of(&file)? })
    }
}

/// Returns the text of a file, whatever its encoding.
fn text_of(file: &Path) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn main() {
    // Cargo adds flags of its own.
    let (folders, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).filter(|a| !a.starts_with("--")).partition(|a| a.starts_with("-I"));
    let folders: Vec<PathBuf> = folders.iter().map(|folder| folder[2..].into()).collect();
    let files = if files.is_empty() { standard::names().map(str::to_owned).collect() } else { files };
    let (mut total, mut moved, mut shaders) = (OperationCounts::default(), 0, 0);
    for file in &files {
        for shader in read(file, &folders) {
            let (left, once) = counts(&shader);
            let uniform = [left.instance, left.light, left.trip];
            println!("{file} {}: {once} once, {uniform:?} uniform of {}", shader.name, left.all());
            shaders += 1;
            moved += once;
            total.instance += left.instance;
            total.light += left.light;
            total.trip += left.trip;
            total.vertex += left.vertex;
        }
    }
    let percent = |part: usize, all: usize| 100.0 * part as f64 / all as f64;
    let uniform = total.instance + total.light + total.trip;
    println!("{shaders} shaders, {} operations at every vertex", total.all());
    println!("uniform before: {:.1}%", percent(uniform + moved, total.all() + moved));
    let [instance, light, trip] = [total.instance, total.light, total.trip].map(|part| percent(part, total.all()));
    println!("uniform after: {instance:.1}% for the instance, {light:.1}% for a light, {trip:.1}% in a trip of a loop");
}

/// Returns the shaders of a file, or the standard one of this name.
fn read(file: &str, folders: &[PathBuf]) -> Vec<Shader> {
    let text = match standard::source(file) {
        Some(text) => text.to_owned(),
        None => text_of(file.as_ref()).unwrap_or_else(|error| panic!("{file}: {error}")),
    };
    let loader = Files(IncludeFolders::new(folders));
    let parsed = parse_shaders(&Source { name: file, text: &text, loader: &loader, defines: &[] });
    parsed.shaders.iter().map(lower).collect()
}

/// Returns the operations of the kernel of a shader alone, and how many are run once for a block.
fn counts(shader: &Shader) -> (OperationCounts, usize) {
    let of = |name| read(name, &[]).pop().expect("a standard shader");
    let (matte, lit) = (of("matte"), ["ambientlight", "distantlight"].map(of));
    let (mut slice, mut surface, mut lights) = (Slice::Colour, None, Vec::new());
    let (mut displacement, mut atmosphere) = (None, None);
    match shader.kind {
        ShaderKind::Surface => {
            surface = Some(ShaderUse::new(shader));
            lights = lit.iter().map(ShaderUse::new).collect();
        }
        ShaderKind::Light | ShaderKind::AmbientLight => {
            surface = Some(ShaderUse::new(&matte));
            lights = vec![ShaderUse::new(shader)];
        }
        ShaderKind::Displacement => (slice, displacement) = (Slice::Position, Some(ShaderUse::new(shader))),
        ShaderKind::Volume => atmosphere = Some(ShaderUse::new(shader)),
        ShaderKind::Imager => (slice, surface) = (Slice::Imager, Some(ShaderUse::new(shader))),
    }
    let names: &[(&str, RslType)] = match slice {
        Slice::Position => &[("P", RslType::Point), ("N", RslType::Normal)],
        Slice::Colour | Slice::Imager => &[("Ci", RslType::Color), ("Oi", RslType::Color)],
    };
    let output = |&(name, ty): &(&str, RslType)| OutputRequest { name: name.into(), ty, primvar: Binding::Default };
    let Composed { body, reflection } = compose(&PipelineRequest {
        slice,
        surface,
        displacement,
        atmosphere,
        lights,
        colour: Binding::Block,
        opacity: Binding::Block,
        outputs: names.iter().map(output).collect(),
        displaced: false,
        prints: true,
        textures: true,
        roll: true,
        tokens: &|_| 0,
    });
    let blocks = reflection.lights.iter().chain([&reflection.block]);
    let once = blocks.filter_map(|block| block.program.as_deref()).map(|program| count_operations(program).all());
    (count_operations(&body), once.sum())
}

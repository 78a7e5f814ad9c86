//! Which texts shaders have of their own, before they are bound to a scene.

use super::ShaderLibrary;
use super::shaders::Shaders;
use crate::diagnostic::Reporter;
use crate::scene::ShaderInstance;
use rustc_hash::FxHashMap;
use spirv_gen::ir::{Const, Inst, Op, ParamDefault, Shader};
use std::sync::Arc;

/// The texts that are written in a shader.
#[derive(Debug, Default)]
pub struct ShaderTexts {
    /// Literals, and defaults of parameters.
    pub texts: Vec<Arc<str>>,
    /// Whether it also makes texts of others.
    pub computes: bool,
}

/// Reads shaders for their texts; each is read once, and nothing is reported.
pub struct TextReader {
    shaders: Shaders,
    reporter: Reporter,
    known: FxHashMap<*const Shader, Arc<ShaderTexts>>,
}

impl ShaderLibrary {
    /// Returns a reader that looks for shaders as this library does.
    pub fn text_reader(&self) -> TextReader {
        TextReader { shaders: self.shaders.unread(), reporter: Reporter::silent(), known: FxHashMap::default() }
    }
}

impl TextReader {
    /// Returns the texts of a shader on this path; none of one that cannot be read.
    pub fn read(&mut self, instance: &ShaderInstance, path: &[String]) -> Arc<ShaderTexts> {
        let Some(shader) = self.shaders.named(&instance.name, path, &self.reporter) else { return Arc::default() };
        // The library keeps shaders, so that an address is that of one shader only.
        Arc::clone(self.known.entry(Arc::as_ptr(&shader)).or_insert_with(|| Arc::new(texts_of(&shader))))
    }
}

fn texts_of(shader: &Shader) -> ShaderTexts {
    let mut found = ShaderTexts::default();
    for param in &shader.params {
        if let ParamDefault::Values(values) = &param.default {
            found.texts.extend(values.iter().filter_map(text_of));
        }
    }
    for inst in 0..shader.body.inst_count() as u32 {
        match &shader.body.inst(Inst(inst)).op {
            Op::Const(value) => found.texts.extend(text_of(value)),
            Op::Format(_) | Op::FormatBy => found.computes = true,
            _ => {}
        }
    }
    found
}

fn text_of(value: &Const) -> Option<Arc<str>> {
    match value {
        Const::Str(text) => Some(Arc::clone(text)),
        _ => None,
    }
}

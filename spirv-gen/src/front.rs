//! From source text to checked shaders.

use crate::diagnostic::{Diagnostic, Report, Reports};
use crate::sema::{self, hir::CheckedShader};
use crate::span::{SourceMap, Span};
use crate::syntax::parser;
use crate::syntax::preprocess::{Preprocessed, Source, preprocess};
use std::sync::Arc;

/// What a source file contains.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    /// Its shaders that are free of errors, in order. A file normally holds one.
    pub shaders: Vec<CheckedShader>,
    /// All diagnostics, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads and checks a source file. It never fails: errors are in the diagnostics.
pub fn parse_shaders(source: &Source<'_>) -> ParsedFile {
    let (mut map, mut reports) = (SourceMap::default(), Reports::default());
    let Preprocessed { tokens, is_complete } = preprocess(source, &mut map, &mut reports);
    let unit = parser::parse(&tokens, &mut reports);
    // Without a file that should have been included nearly all names would be unknown.
    let mut shaders = Vec::new();
    if is_complete {
        let is_readable = reports.error_count() == 0;
        shaders = sema::check(&unit, &mut reports);
        // Code that could not be parsed is missing from the tree.
        shaders.retain(|_| is_readable);
    }
    if shaders.is_empty() && reports.error_count() == 0 {
        let end = tokens.last().map_or_else(Span::default, |t| t.span);
        reports.push(Report::error(end, "the file contains no shader"));
    }
    let diagnostics = reports.finish(&map);
    let texts = Arc::new(map);
    shaders.iter_mut().for_each(|shader| shader.texts = Arc::clone(&texts));
    ParsedFile { shaders, diagnostics }
}

/// Returns the first shader of a source file, if it has one without errors.
pub fn parse_shader(source: &Source<'_>) -> (Option<CheckedShader>, Vec<Diagnostic>) {
    let ParsedFile { shaders, diagnostics } = parse_shaders(source);
    (shaders.into_iter().next(), diagnostics)
}

//! The lines of shaders that a program comes from.

use super::body::{Body, Inst};
use super::place::{PlaceId, Role};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A line of a shader.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// What the shader is in its pipeline.
    pub role: Option<Role>,
    /// The shader's name.
    pub shader: Arc<str>,
    /// The file, which the shader may include.
    pub file: Arc<str>,
    /// Number of the line in the file, counted from 1.
    pub line: u32,
}

/// The lines of a program, numbered from 1 in the order of its code; 0 stands for what comes from no line.
#[derive(Clone, Debug, Default)]
pub struct LineTable {
    lines: Vec<SourceLine>,
    numbers: FxHashMap<PlaceId, u32>,
}

impl LineTable {
    /// Returns those of a program.
    pub fn of(body: &Body) -> Self {
        let mut table = Self::default();
        let mut known: FxHashMap<SourceLine, u32> = FxHashMap::default();
        body.walk(body.root(), &mut |inst| {
            let place = body.place(inst);
            let (lines, numbers) = (&mut table.lines, &mut table.numbers);
            numbers.entry(place).or_insert_with(|| match line(body, place) {
                Some(line) => *known.entry(line.clone()).or_insert_with(|| {
                    lines.push(line);
                    lines.len() as u32
                }),
                None => 0,
            });
        });
        table
    }

    /// Returns the number of the line of an instruction of the program.
    pub fn number(&self, body: &Body, inst: Inst) -> u32 {
        self.numbers.get(&body.place(inst)).copied().unwrap_or(0)
    }

    /// Returns the lines, the first of which has number 1.
    pub fn lines(&self) -> &[SourceLine] {
        &self.lines
    }
}

fn line(body: &Body, place: PlaceId) -> Option<SourceLine> {
    let (shader, at) = (body.places().shader(place)?, body.places().position(place)?);
    Some(SourceLine { role: shader.role, shader: shader.name.clone(), file: at.file, line: at.line })
}

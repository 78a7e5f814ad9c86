//! Kernels of `glsl/` with the lines that their instructions come from (build/lines.rs), and with the texts.

use super::spirv_words::{BOUND, HEADER_WORDS, Op, SourceLanguage, Word, inst, insts, is, text};
use crate::pipeline::recording::{KernelLines, SourceText};
use rustc_hash::FxHashMap;

/// GLSL's version, as the sources say.
const GLSL_VERSION: u32 = 460;

/// Returns a kernel with its lines, or `None` where there are none.
pub(super) fn with_lines(words: &[Word], lines: KernelLines) -> Option<Vec<Word>> {
    let all = insts(words)?;
    let code = all.iter().position(|inst| is(inst, Op::Function))?;
    let places = places(lines.lines, all.len() - code)?;
    let mut sources =
        NamedSources { all: lines.sources, next: words[BOUND], ids: FxHashMap::default(), files: Vec::new() };
    let mut functions = Vec::with_capacity(2 * words.len());
    let mut said = None;
    for (at, old) in all[code..].iter().enumerate() {
        let begins = is(old, Op::Label);
        let ends = at > 0 && [Op::SelectionMerge, Op::LoopMerge].iter().any(|&op| is(all[code + at - 1], op));
        if begins {
            said = None;
        }
        // A variable, a phi and what follows a merge must follow what is before them.
        let is_first = [Op::Variable, Op::Phi, Op::Function, Op::FunctionParameter, Op::Label, Op::FunctionEnd]
            .iter()
            .any(|&op| is(old, op));
        if let (Some(place), false) = (places[at].filter(|_| places[at] != said), is_first || ends) {
            let file = sources.id(place.file)?;
            functions.extend(inst(Op::Line, &[file, place.line, 0]));
            said = Some(place);
        }
        functions.extend(*old);
    }
    let mut new = words[..HEADER_WORDS].to_vec();
    // Strings and sources are before names, which all kernels have.
    let names = all.iter().position(|inst| [Op::Source, Op::Name].iter().any(|&op| is(inst, op)))?;
    all[..names].iter().for_each(|inst| new.extend(*inst));
    new.extend(sources.declarations());
    all[names..code].iter().for_each(|inst| new.extend(*inst));
    new.extend(functions);
    new[BOUND] = sources.next;
    Some(new)
}

/// A line of a file, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GlslPlace {
    file: usize,
    line: u32,
}

/// Returns for each of so many instructions of functions where it comes from.
fn places(lines: &[u8], count: usize) -> Option<Vec<Option<GlslPlace>>> {
    let mut bytes = lines.iter().copied();
    let mut number = || -> Option<u32> {
        let (mut number, mut shift) = (0_u32, 0);
        loop {
            let byte = bytes.next()?;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    };
    let (mut places, mut file, mut line, mut at) = (vec![None; count], 0, 0_u32, 0);
    while let Some(head) = number() {
        let next = at + (head / 2) as usize;
        places.get(at..next)?;
        places[at..next].fill(place(file, line));
        at = next;
        if head % 2 == 1 {
            file = number()?;
        }
        let difference = number()?;
        line = line.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg());
    }
    places[at..].fill(place(file, line));
    Some(places)
}

fn place(file: u32, line: u32) -> Option<GlslPlace> {
    Some(GlslPlace { file: (file as usize).checked_sub(1)?, line })
}

/// The sources that a kernel names.
struct NamedSources {
    all: &'static [SourceText],
    next: Word,
    /// Ids by file.
    ids: FxHashMap<usize, Word>,
    /// Files in order of ids.
    files: Vec<usize>,
}

impl NamedSources {
    fn id(&mut self, file: usize) -> Option<Word> {
        self.all.get(file)?;
        Some(*self.ids.entry(file).or_insert_with(|| {
            self.files.push(file);
            self.next += 1;
            self.next - 1
        }))
    }

    /// Returns names and texts.
    fn declarations(&self) -> Vec<Word> {
        let (mut strings, mut sources) = (Vec::new(), Vec::new());
        // RenderDoc 1.24 takes the number of a line's file to be one higher than it is, so that a first one that is not
        // shown puts it right.
        let first = self.files.first().map(|file| self.ids[file]);
        sources.extend(
            first.iter().flat_map(|&id| inst(Op::Source, &[SourceLanguage::GLSL as Word, GLSL_VERSION, id, 32])),
        );
        for file in &self.files {
            let (id, source) = (self.ids[file], self.all[*file]);
            strings.extend(inst(Op::String, &[&[id], &text(source.name)[..]].concat()));
            let head = [SourceLanguage::GLSL as Word, GLSL_VERSION, id];
            sources.extend(inst(Op::Source, &[&head, &text(source.text)[..]].concat()));
        }
        [strings, sources].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::kernels;

    #[test]
    fn kernels_with_lines_are_else_as_without() {
        for kernel in kernels::all() {
            let lines = kernel.lines().expect("the build knows them");
            let with = with_lines(kernel.words(), lines).expect("it has lines");
            let mut without = with[..HEADER_WORDS].to_vec();
            without[BOUND] = kernel.words()[BOUND];
            let mut count = 0;
            for inst in insts(&with).expect("SPIR-V") {
                let is_source = is(inst, Op::Source) && inst.len() > 3;
                if is(inst, Op::Line) {
                    count += 1;
                } else if !is(inst, Op::String) && !is_source {
                    without.extend(inst);
                }
            }
            assert!(without == kernel.words(), "{}", kernel.label());
            assert!(count > 0, "{} has no lines", kernel.label());
        }
    }

    #[test]
    fn lines_say_which_instructions_they_are_of() {
        // After 2 instructions line 300 of the first file, after 3 more line 299, after 200 more no line.
        let lines = [5, 1, 0xd8, 4, 6, 1, 0x91, 3, 0, 0xd5, 4];
        let found = places(&lines, 206).expect("they are whole");
        let place = |line| Some(GlslPlace { file: 0, line });
        assert_eq!((found[1], found[2], found[4], found[5]), (None, place(300), place(300), place(299)));
        assert_eq!((found[204], found[205]), (place(299), None));
        assert!(places(&lines, 3).is_none() && places(&[5, 1], 9).is_none());
    }
}

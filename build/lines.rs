//! Which lines of GLSL the instructions of kernels come from: taken out of the words, and kept beside them.
//!
//! Kernels are compiled with this information, which drivers do not need. Without it, and with ids counted as if it had
//! never been there, the words are those that are made without it. Captures put it back (src/gpu/glsl_lines.rs).

use rspirv::binary::Assemble;
use rspirv::dr::{Function, Instruction, Module, Operand};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Where the instructions of a kernel come from.
///
/// The bytes are numbers of up to 5 bytes, of 7 bits each, the lowest first. For each instruction of a function that
/// comes from another line than the one before: twice the number of instructions since the last such one (or since the
/// first function began), plus 1 if the file changes; then the file's number plus 1, or 0 for none, if it changes; then
/// twice the difference of lines, or -1 less twice that if it is negative.
pub(crate) type LineBytes = Vec<u8>;

/// The files that lines are of, by the numbers that they are given when they are first met.
#[derive(Default)]
pub(crate) struct Files {
    numbers: BTreeMap<String, u32>,
}

impl Files {
    fn number(&mut self, name: &str) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(name.to_owned()).or_insert(next)
    }

    /// Returns their names, in order of numbers.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<(&u32, &str)> = self.numbers.iter().map(|(name, number)| (number, name.as_str())).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name).collect()
    }
}

/// Returns the words of a kernel without lines, and its lines.
pub(crate) fn without_lines(words: &[u32], files: &mut Files) -> Result<(Vec<u32>, LineBytes), String> {
    let mut module = rspirv::dr::load_words(words).map_err(|e| format!("the optimised kernel cannot be read: {e}"))?;
    let mut names = BTreeMap::new();
    for inst in module.debug_string_source.iter().filter(|inst| inst.class.opcode == Op::String) {
        if let (Some(id), [Operand::LiteralString(name)]) = (inst.result_id, inst.operands.as_slice()) {
            names.insert(id, name.clone());
        }
    }
    let mut coder = Coder::default();
    for function in &module.functions {
        coder.function(function, &names, files);
    }
    remove_lines(&mut module);
    let removed: BTreeSet<u32> = names.into_keys().collect();
    count_again(&mut module, &removed);
    Ok((module.assemble(), coder.lines))
}

/// Writes lines down.
#[derive(Default)]
struct Coder {
    lines: LineBytes,
    /// Instructions since the last that was written down.
    since: u32,
    /// What was written down last: the file's number plus 1, and the line.
    last: (u32, u32),
}

impl Coder {
    fn function(&mut self, function: &Function, names: &BTreeMap<u32, String>, files: &mut Files) {
        self.since += (function.def.iter().len() + function.parameters.len()) as u32;
        for block in &function.blocks {
            self.since += 1;
            let mut here = (0, 0);
            for inst in &block.instructions {
                match (inst.class.opcode, inst.operands.as_slice()) {
                    (Op::Line, [Operand::IdRef(file), Operand::LiteralBit32(line), ..]) => {
                        here = names.get(file).map_or((0, 0), |name| (files.number(name) + 1, *line));
                    }
                    (Op::NoLine, _) => here = (0, 0),
                    _ => {
                        if here != self.last {
                            self.write(here);
                        }
                        self.since += 1;
                    }
                }
            }
        }
        self.since += 1;
    }

    fn write(&mut self, (file, line): (u32, u32)) {
        let changes = file != self.last.0;
        self.number(2 * self.since + u32::from(changes));
        if changes {
            self.number(file);
        }
        let difference = line.cast_signed() - self.last.1.cast_signed();
        self.number(((difference << 1) ^ (difference >> 31)).cast_unsigned());
        (self.since, self.last) = (0, (file, line));
    }

    fn number(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.lines.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.lines.push(number as u8);
    }
}

fn remove_lines(module: &mut Module) {
    let is_line = |inst: &Instruction| matches!(inst.class.opcode, Op::Line | Op::NoLine);
    module.types_global_values.retain(|inst| !is_line(inst));
    let blocks = module.functions.iter_mut().flat_map(|function| &mut function.blocks);
    blocks.for_each(|block| block.instructions.retain(|inst| !is_line(inst)));
    // Of the files, one stays, which says what the language is.
    let mut sources = 0;
    module.debug_string_source.retain_mut(|inst| match inst.class.opcode {
        Op::Source => {
            inst.operands.truncate(2);
            sources += 1;
            sources == 1
        }
        opcode => !matches!(opcode, Op::String | Op::SourceContinued),
    });
    module.debug_module_processed.clear();
}

/// Counts all ids as if some had never been there.
fn count_again(module: &mut Module, removed: &BTreeSet<u32>) {
    let bound = module.header.as_ref().map_or(0, |header| header.bound);
    let (mut numbers, mut next) = (Vec::with_capacity(bound as usize + 1), 0);
    for id in 0..=bound {
        numbers.push(next);
        next += u32::from(!removed.contains(&id));
    }
    let renumbered = |id: &mut u32| *id = numbers[*id as usize];
    for inst in module.all_inst_iter_mut() {
        inst.result_id.iter_mut().for_each(renumbered);
        inst.result_type.iter_mut().for_each(renumbered);
        inst.operands.iter_mut().filter_map(Operand::id_ref_any_mut).for_each(renumbered);
    }
    if let Some(header) = &mut module.header {
        renumbered(&mut header.bound);
    }
}

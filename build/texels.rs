//! Turns what a kernel only reads into texel buffers.
//!
//! CPU drivers read storage buffers one invocation after the other, but texels of a buffer in all lanes at once
//! (measured with llvmpipe of Mesa 22: four words of a storage buffer take ten times as long as those of a texel, one
//! word three times; bench/results/2026-11-texels.md). GPUs read both through the same caches. So a storage block of
//! one runtime array that is declared `readonly` becomes a uniform texel buffer: of records of four words where
//! elements are that large, else of words. A block whose uses are other than loads at places that can be computed here
//! stays what it is.

use crate::reflect::BindingForm;
use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Capability, Decoration, Dim, ImageFormat, Op, StorageClass};
use std::collections::{HashMap, HashSet};

/// The module with texel buffers, and the form of each binding that is one.
pub(crate) fn texel_buffers(words: &[u32]) -> Result<(Vec<u32>, HashMap<u32, BindingForm>), String> {
    let module = rspirv::dr::load_words(words).map_err(|e| format!("the compiled kernel cannot be read: {e}"))?;
    let mut rewriter = Rewriter::new(module);
    let buffers = rewriter.buffers();
    let forms = buffers.values().map(|buffer| (buffer.binding, buffer.form)).collect();
    if !buffers.is_empty() {
        rewriter.declare(&buffers);
        rewriter.replace_loads(&buffers);
    }
    Ok((rewriter.module.assemble(), forms))
}

/// A block that becomes a texel buffer.
struct TexelBuffer {
    binding: u32,
    form: BindingForm,
    /// Words from element to element.
    stride: u32,
    element: u32,
}

/// A part of a buffer and its type. Its place is the sum of a number of texels that is computed, of words that are
/// known, and of words that are computed, which only parts of one word have.
#[derive(Clone, Copy)]
struct Part {
    texels: u32,
    known: u32,
    words: Option<u32>,
    kind: u32,
}

struct Rewriter {
    module: Module,
    next_id: u32,
    definitions: HashMap<u32, Instruction>,
    decorations: HashMap<(u32, Decoration), u32>,
    member_decorations: HashMap<(u32, u32, Decoration), u32>,
    /// Types and constants that were made here.
    made: HashMap<Vec<u32>, u32>,
    fresh: Vec<Instruction>,
}

impl Rewriter {
    fn new(module: Module) -> Self {
        let next_id = module.header.as_ref().map_or(0, |header| header.bound);
        let globals = &module.types_global_values;
        let definitions = globals.iter().filter_map(|i| Some((i.result_id?, i.clone()))).collect();
        let made = globals.iter().filter(|i| is_shared(i.class.opcode)).filter_map(|i| Some((key(i), i.result_id?)));
        let (made, mut decorations, mut member_decorations) = (made.collect(), HashMap::new(), HashMap::new());
        for instruction in &module.annotations {
            let value = |operand: Option<&Operand>| operand.and_then(literal).unwrap_or(0);
            match instruction.operands.as_slice() {
                [Operand::IdRef(id), Operand::Decoration(decoration), rest @ ..] => {
                    decorations.insert((*id, *decoration), value(rest.first()));
                }
                [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::Decoration(decoration), rest @ ..] => {
                    member_decorations.insert((*id, *member, *decoration), value(rest.first()));
                }
                _ => {}
            }
        }
        Self { module, next_id, definitions, decorations, member_decorations, made, fresh: Vec::new() }
    }

    /// The blocks that become texel buffers, by their variables.
    fn buffers(&self) -> HashMap<u32, TexelBuffer> {
        let variables = self.module.types_global_values.iter().filter(|i| i.class.opcode == Op::Variable);
        let mut buffers: HashMap<_, _> = variables.filter_map(|i| Some((i.result_id?, self.buffer(i)?))).collect();
        let others = self.used_otherwise(&buffers);
        buffers.retain(|variable, _| !others.contains(variable));
        buffers
    }

    fn buffer(&self, variable: &Instruction) -> Option<TexelBuffer> {
        if variable.operands.first() != Some(&Operand::StorageClass(StorageClass::StorageBuffer)) {
            return None;
        }
        let id = variable.result_id?;
        let block = self.operand(variable.result_type?, 1)?;
        let array = self.operand(block, 0)?;
        let read_only = self.member_decorations.contains_key(&(block, 0, Decoration::NonWritable));
        if !read_only || self.opcode(array) != Some(Op::TypeRuntimeArray) {
            return None;
        }
        let (stride, element) =
            (*self.decorations.get(&(array, Decoration::ArrayStride))? / 4, self.operand(array, 0)?);
        let form = if stride.is_multiple_of(4) { BindingForm::Records } else { BindingForm::Words };
        let binding = *self.decorations.get(&(id, Decoration::Binding))?;
        self.is_readable(element).then_some(TexelBuffer { binding, form, stride, element })
    }

    /// The variables that are used otherwise than by loads that can be replaced.
    fn used_otherwise(&self, buffers: &HashMap<u32, TexelBuffer>) -> HashSet<u32> {
        let mut chains = HashMap::new();
        let mut found = HashSet::new();
        for instruction in self.module.functions.iter().flat_map(rspirv::dr::Function::all_inst_iter) {
            for id in instruction.operands.iter().filter_map(Operand::id_ref_any) {
                match (buffers.get(&id), chain(instruction)) {
                    (Some(buffer), Some(chain)) if self.can_place(instruction, buffer) => {
                        chains.insert(chain, id);
                    }
                    (Some(_), _) => drop(found.insert(id)),
                    (None, _) if instruction.class.opcode != Op::Load => found.extend(chains.get(&id)),
                    (None, _) => {}
                }
            }
        }
        found
    }

    /// Whether the place of an access chain can be computed.
    fn can_place(&self, access: &Instruction, buffer: &TexelBuffer) -> bool {
        let mut kind = buffer.element;
        for operand in &access.operands[3..] {
            let Operand::IdRef(index) = operand else { return false };
            let Some((stride, part)) = self.step(kind, *index) else { return false };
            // Parts of records at a computed place are whole records or single words.
            let whole = buffer.form == BindingForm::Words || stride.is_multiple_of(4);
            if self.constant(*index).is_none() && !whole && !self.is_scalar(part) {
                return false;
            }
            kind = part;
        }
        true
    }

    /// The words from part to part of a type, and the type of the part with this index.
    fn step(&self, kind: u32, index: u32) -> Option<(u32, u32)> {
        match self.opcode(kind)? {
            Op::TypeVector => Some((1, self.operand(kind, 0)?)),
            Op::TypeArray => {
                Some((self.decorations.get(&(kind, Decoration::ArrayStride))? / 4, self.operand(kind, 0)?))
            }
            Op::TypeMatrix => Some((self.column_words(kind), self.operand(kind, 0)?)),
            Op::TypeStruct => Some((0, self.operand(kind, self.constant(index)? as usize)?)),
            _ => None,
        }
    }

    /// Words from column to column: columns of floats are not padded (see [`crate::reflect`]).
    fn column_words(&self, matrix: u32) -> u32 {
        self.operand(matrix, 0).and_then(|column| self.literal_operand(column, 1)).unwrap_or(4)
    }

    /// Whether a type is made of floats of 32 bits and of integers.
    fn is_readable(&self, kind: u32) -> bool {
        match self.opcode(kind) {
            Some(Op::TypeInt) => true,
            Some(Op::TypeFloat) => self.literal_operand(kind, 0) == Some(32),
            Some(Op::TypeVector | Op::TypeMatrix) => {
                self.operand(kind, 0).is_some_and(|part| self.is_readable(part) && !self.is_long(part))
            }
            Some(Op::TypeArray) => self.operand(kind, 0).is_some_and(|part| self.is_readable(part)),
            Some(Op::TypeStruct) => (0..self.definitions[&kind].operands.len())
                .all(|i| self.operand(kind, i).is_some_and(|p| self.is_readable(p))),
            _ => false,
        }
    }

    /// Whether a type is an integer of 64 bits.
    fn is_long(&self, kind: u32) -> bool {
        self.opcode(kind) == Some(Op::TypeInt) && self.literal_operand(kind, 0) == Some(64)
    }

    fn is_scalar(&self, kind: u32) -> bool {
        matches!(self.opcode(kind), Some(Op::TypeInt | Op::TypeFloat))
    }

    fn opcode(&self, id: u32) -> Option<Op> {
        Some(self.definitions.get(&id)?.class.opcode)
    }

    fn operand(&self, id: u32, index: usize) -> Option<u32> {
        match self.definitions.get(&id)?.operands.get(index)? {
            Operand::IdRef(operand) => Some(*operand),
            _ => None,
        }
    }

    fn literal_operand(&self, id: u32, index: usize) -> Option<u32> {
        self.definitions.get(&id)?.operands.get(index).and_then(literal)
    }

    fn constant(&self, id: u32) -> Option<u32> {
        (self.opcode(id)? == Op::Constant).then(|| self.literal_operand(id, 0))?
    }

    /// A type or constant: the one that is there already, or a new one.
    fn global(&mut self, op: Op, kind: Option<u32>, operands: Vec<Operand>) -> u32 {
        let mut instruction = Instruction::new(op, kind, None, operands);
        if let Some(id) = self.made.get(&key(&instruction)) {
            return *id;
        }
        let id = self.id();
        self.made.insert(key(&instruction), id);
        instruction.result_id = Some(id);
        self.definitions.insert(id, instruction.clone());
        self.fresh.push(instruction);
        id
    }

    fn id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    fn int(&mut self, sign: u32) -> u32 {
        self.global(Op::TypeInt, None, vec![Operand::LiteralBit32(32), Operand::LiteralBit32(sign)])
    }

    fn vector(&mut self, of: u32, count: u32) -> u32 {
        self.global(Op::TypeVector, None, vec![Operand::IdRef(of), Operand::LiteralBit32(count)])
    }

    fn number(&mut self, value: u32) -> u32 {
        let kind = self.int(0);
        self.global(Op::Constant, Some(kind), vec![Operand::LiteralBit32(value)])
    }

    /// The image type of a form: `itextureBuffer` is read word by word, `utextureBuffer` in records.
    fn image(&mut self, form: BindingForm) -> (u32, u32) {
        let word = self.int(u32::from(form == BindingForm::Words));
        let [depth, arrayed, multisampled, sampled] = [0, 0, 0, 1].map(Operand::LiteralBit32);
        let (dim, format) = (Operand::Dim(Dim::DimBuffer), Operand::ImageFormat(ImageFormat::Unknown));
        let operands = vec![Operand::IdRef(word), dim, depth, arrayed, multisampled, sampled, format];
        (self.global(Op::TypeImage, None, operands), self.vector(word, 4))
    }

    /// Replaces the declarations of the buffers' variables.
    fn declare(&mut self, buffers: &HashMap<u32, TexelBuffer>) {
        let capability = vec![Operand::Capability(Capability::SampledBuffer)];
        self.module.capabilities.push(Instruction::new(Op::Capability, None, None, capability));
        let is_buffer = |id: Option<u32>| id.is_some_and(|id| buffers.contains_key(&id));
        self.module.types_global_values.retain(|i| !is_buffer(i.result_id));
        self.module.annotations.retain(|i| match i.operands.as_slice() {
            [Operand::IdRef(id), Operand::Decoration(decoration), ..] => {
                !is_buffer(Some(*id)) || matches!(decoration, Decoration::Binding | Decoration::DescriptorSet)
            }
            _ => true,
        });
        let class = Operand::StorageClass(StorageClass::UniformConstant);
        let mut variables: Vec<_> = buffers.iter().collect();
        variables.sort_by_key(|(id, _)| **id);
        for (id, buffer) in variables {
            let (image, _) = self.image(buffer.form);
            let pointer = self.global(Op::TypePointer, None, vec![class.clone(), Operand::IdRef(image)]);
            self.fresh.push(Instruction::new(Op::Variable, Some(pointer), Some(*id), vec![class.clone()]));
        }
    }

    /// Replaces the loads from the buffers by fetches of texels.
    fn replace_loads(&mut self, buffers: &HashMap<u32, TexelBuffer>) {
        let mut functions = std::mem::take(&mut self.module.functions);
        let mut chains: HashMap<u32, Instruction> = HashMap::new();
        for block in functions.iter_mut().flat_map(|function| &mut function.blocks) {
            let mut code = Vec::with_capacity(block.instructions.len());
            for instruction in std::mem::take(&mut block.instructions) {
                let first = match instruction.operands.first() {
                    Some(Operand::IdRef(id)) => *id,
                    _ => 0,
                };
                if let Some(id) = chain(&instruction).filter(|_| buffers.contains_key(&first)) {
                    chains.insert(id, instruction);
                } else if let Some(access) = chains.get(&first).filter(|_| instruction.class.opcode == Op::Load) {
                    self.replace_load(&instruction, access, buffers, &mut code);
                } else {
                    code.push(instruction);
                }
            }
            block.instructions = code;
        }
        self.module.functions = functions;
        self.module.types_global_values.append(&mut self.fresh);
        if let Some(header) = &mut self.module.header {
            header.bound = self.next_id;
        }
    }

    fn replace_load(
        &mut self,
        load: &Instruction,
        access: &Instruction,
        buffers: &HashMap<u32, TexelBuffer>,
        code: &mut Vec<Instruction>,
    ) {
        let ids: Vec<u32> = access.operands.iter().filter_map(Operand::id_ref_any).collect();
        let buffer = &buffers[&ids[0]];
        let (image, texel) = self.image(buffer.form);
        let mut reader = Reader { rewriter: self, code, image: 0, texel, form: buffer.form, fetched: HashMap::new() };
        reader.image = reader.push(Op::Load, image, &[ids[0]]);
        let texels = reader.scaled(ids[2], buffer.stride / reader.texel_words());
        let mut part = Part { texels, known: 0, words: None, kind: buffer.element };
        for index in &ids[3..] {
            part = reader.part(part, *index);
        }
        let value = reader.read(part);
        // The last instruction made the value: it takes the id of the load.
        let id = load.result_id.unwrap_or(0);
        if let Some(last) = code.iter_mut().rev().find(|i| i.result_id == Some(value)) {
            last.result_id = Some(id);
        }
    }
}

/// Writes the code that reads a part of a buffer.
struct Reader<'a> {
    rewriter: &'a mut Rewriter,
    code: &'a mut Vec<Instruction>,
    image: u32,
    texel: u32,
    form: BindingForm,
    /// Texels by the number of the first and their distance from it.
    fetched: HashMap<[u32; 2], u32>,
}

impl Reader<'_> {
    fn push(&mut self, op: Op, kind: u32, ids: &[u32]) -> u32 {
        self.push_with(op, kind, ids, &[])
    }

    fn push_with(&mut self, op: Op, kind: u32, ids: &[u32], literals: &[u32]) -> u32 {
        let id = self.rewriter.id();
        let operands =
            ids.iter().map(|id| Operand::IdRef(*id)).chain(literals.iter().map(|l| Operand::LiteralBit32(*l)));
        self.code.push(Instruction::new(op, Some(kind), Some(id), operands.collect()));
        id
    }

    fn texel_words(&self) -> u32 {
        if self.form == BindingForm::Records { 4 } else { 1 }
    }

    /// An index times a number.
    fn scaled(&mut self, index: u32, factor: u32) -> u32 {
        let (uint, factor) = (self.rewriter.int(0), self.rewriter.number(factor));
        self.push(Op::IMul, uint, &[index, factor])
    }

    fn sum(&mut self, a: u32, b: u32) -> u32 {
        let uint = self.rewriter.int(0);
        self.push(Op::IAdd, uint, &[a, b])
    }

    /// The part of a part with this index.
    fn part(&mut self, whole: Part, index: u32) -> Part {
        let (stride, kind) = self.rewriter.step(whole.kind, index).expect("the place was found to be computable");
        match self.rewriter.constant(index) {
            Some(member) if self.rewriter.opcode(whole.kind) == Some(Op::TypeStruct) => {
                Part { known: whole.known + self.member_offset(whole.kind, member), kind, ..whole }
            }
            Some(number) => Part { known: whole.known + number * stride, kind, ..whole },
            None if stride.is_multiple_of(self.texel_words()) => {
                let step = self.scaled(index, stride / self.texel_words());
                Part { texels: self.sum(whole.texels, step), kind, ..whole }
            }
            None => Part { words: Some(self.scaled(index, stride)), kind, ..whole },
        }
    }

    fn member_offset(&self, kind: u32, member: u32) -> u32 {
        self.rewriter.member_decorations.get(&(kind, member, Decoration::Offset)).map_or(0, |bytes| bytes / 4)
    }

    /// The value of a part; the last instruction that is written makes it.
    fn read(&mut self, part: Part) -> u32 {
        let definition = self.rewriter.definitions[&part.kind].clone();
        let count = definition.operands.get(1).and_then(literal).unwrap_or(1);
        match definition.class.opcode {
            Op::TypeInt if self.rewriter.is_long(part.kind) => self.read_long(part),
            Op::TypeInt | Op::TypeFloat => self.read_word(part),
            Op::TypeVector if self.form == BindingForm::Records => self.read_vector(part, count),
            Op::TypeStruct => {
                let members = (0..definition.operands.len() as u32).map(|member| {
                    let kind = self.rewriter.operand(part.kind, member as usize).unwrap_or(0);
                    Part { known: part.known + self.member_offset(part.kind, member), kind, ..part }
                });
                let members: Vec<Part> = members.collect();
                self.compose(part.kind, &members)
            }
            _ => {
                let length = self.rewriter.operand(part.kind, 1).and_then(|id| self.rewriter.constant(id));
                let index = self.rewriter.number(0);
                let (stride, kind) = self.rewriter.step(part.kind, index).expect("the type was found to be readable");
                let parts = (0..length.unwrap_or(count)).map(|i| Part { known: part.known + i * stride, kind, ..part });
                self.compose(part.kind, &parts.collect::<Vec<_>>())
            }
        }
    }

    fn compose(&mut self, kind: u32, parts: &[Part]) -> u32 {
        let values: Vec<u32> = parts.iter().map(|part| self.read(*part)).collect();
        self.push(Op::CompositeConstruct, kind, &values)
    }

    /// The texel with this number.
    fn fetch(&mut self, texels: u32, further: u32) -> u32 {
        if let Some(texel) = self.fetched.get(&[texels, further]) {
            return *texel;
        }
        let number = self.rewriter.number(further);
        let place = if further == 0 { texels } else { self.sum(texels, number) };
        let texel = self.push(Op::ImageFetch, self.texel, &[self.image, place]);
        self.fetched.insert([texels, further], texel);
        texel
    }

    fn read_word(&mut self, part: Part) -> u32 {
        let word = self.rewriter.int(u32::from(self.form == BindingForm::Words));
        let (further, first) = (part.known / self.texel_words(), part.known % self.texel_words());
        let value = match part.words {
            None => {
                let texel = self.fetch(part.texels, further);
                self.push_with(Op::CompositeExtract, word, &[texel], &[first])
            }
            Some(words) => {
                let [known, two, three] = [part.known, 2, 3].map(|number| self.rewriter.number(number));
                let words = self.sum(words, known);
                let texels = self.push(Op::ShiftRightLogical, word, &[words, two]);
                let texels = self.sum(part.texels, texels);
                let component = self.push(Op::BitwiseAnd, word, &[words, three]);
                let texel = self.fetch(texels, 0);
                self.push(Op::VectorExtractDynamic, word, &[texel, component])
            }
        };
        self.push(if part.kind == word { Op::CopyObject } else { Op::Bitcast }, part.kind, &[value])
    }

    /// An integer of 64 bits: two words, the lower one first.
    fn read_long(&mut self, part: Part) -> u32 {
        let uint = self.rewriter.int(0);
        let pair = self.rewriter.vector(uint, 2);
        let halves = [part.known, part.known + 1].map(|known| Part { known, kind: uint, ..part });
        let words = self.compose(pair, &halves);
        self.push(Op::Bitcast, part.kind, &[words])
    }

    fn read_vector(&mut self, part: Part, count: u32) -> u32 {
        let texel = self.fetch(part.texels, part.known / 4);
        let uint = self.rewriter.int(0);
        let words = self.rewriter.vector(uint, count);
        let first = part.known % 4;
        let lanes: Vec<u32> = (first..first + count).collect();
        let value = if count == 4 { texel } else { self.push_with(Op::VectorShuffle, words, &[texel, texel], &lanes) };
        self.push(if part.kind == words { Op::CopyObject } else { Op::Bitcast }, part.kind, &[value])
    }
}

/// The result of an access chain.
fn chain(instruction: &Instruction) -> Option<u32> {
    let is_chain = matches!(instruction.class.opcode, Op::AccessChain | Op::InBoundsAccessChain);
    if is_chain && instruction.operands.len() >= 3 { instruction.result_id } else { None }
}

/// Whether equal ones are one: types without layout, and constants.
fn is_shared(op: Op) -> bool {
    matches!(op, Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeImage | Op::TypePointer | Op::Constant)
}

/// What an instruction is, but for its result.
fn key(instruction: &Instruction) -> Vec<u32> {
    let mut words = Vec::new();
    Instruction { result_id: None, ..instruction.clone() }.assemble_into(&mut words);
    words
}

fn literal(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    }
}

//! For tests: kernels rewritten so that they round as the compilers and units of GPUs may round.
//!
//! Vulkan permits an error of 2.5 ulp in a division and in a square root, and lets a driver expand Dot, Cross, Length,
//! Normalize and FMix as it likes, also into fused multiply-adds. CPU drivers round all of them correctly, so what
//! relies on that would break on GPUs only. A rewritten kernel computes each in plain operations that every driver
//! rounds alike.

use rspirv::binary::Assemble;
use rspirv::dr::{self, Builder, Instruction, Operand};
use rspirv::spirv::{Decoration, GlslStd450Op, Op, Word};
use rustc_hash::FxHashMap;
use std::fmt;
use std::mem;
use std::str::FromStr;

/// One way in which a GPU may round otherwise than a CPU driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// `a / b` is `a * (1 / b)`.
    Reciprocal,
    /// The same, and the reciprocal is one ulp off, up or down by its last bit.
    ReciprocalUlp,
    /// Square roots are one ulp off, up or down by their last bit.
    SqrtUlp,
    /// Dot, Cross, Length, Normalize and FMix are expanded into fused multiply-adds.
    Fused,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Reciprocal, Self::ReciprocalUlp, Self::SqrtUlp, Self::Fused];

    /// Returns the name by which tests ask for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reciprocal => "reciprocal",
            Self::ReciprocalUlp => "reciprocal-ulp",
            Self::SqrtUlp => "sqrt-ulp",
            Self::Fused => "fused",
        }
    }

    /// Returns the kernel with these words, rewritten. Words that are no SPIR-V stay as they are, for the driver to
    /// refuse.
    pub fn rewrite(self, words: &[u32]) -> Vec<u32> {
        dr::load_words(words).map_or_else(|_| words.to_vec(), |module| Rewriter::new(self, module).rewritten())
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mutant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|mutant| mutant.name() == text).ok_or_else(|| format!("{text} is no mutant"))
    }
}

/// The bits of a float that a product with another such half still holds exactly.
const UPPER_HALF: u32 = 0xffff_f000;

/// How many floats a value has: vectors of more than one.
type Count = u32;

/// A module, and the body of the function that is being rewritten.
struct Rewriter {
    mutant: Mutant,
    builder: Builder,
    /// The GLSL extended instructions.
    library: Word,
    float: Word,
    uint: Word,
    /// Types that are floats or vectors of floats.
    types: FxHashMap<Word, Count>,
    /// Values of such types.
    values: FxHashMap<Word, Count>,
    /// Constants by type and bits.
    constants: FxHashMap<(Word, u32), Word>,
    body: Vec<Instruction>,
}

impl Rewriter {
    fn new(mutant: Mutant, module: dr::Module) -> Self {
        let import = module.ext_inst_imports.first().and_then(|import| import.result_id);
        let mut builder = Builder::new_from_module(module);
        let library = import.unwrap_or_else(|| builder.ext_inst_import("GLSL.std.450"));
        let (float, uint) = (builder.type_float(32, None), builder.type_int(32, 0));
        let (mut types, mut values) = (FxHashMap::from_iter([(float, 1)]), FxHashMap::default());
        for instruction in builder.module_ref().all_inst_iter() {
            let Some(id) = instruction.result_id else { continue };
            if let (Op::TypeVector, [Operand::IdRef(of), Operand::LiteralBit32(count)]) =
                (instruction.class.opcode, instruction.operands.as_slice())
                && *of == float
            {
                types.insert(id, *count);
            }
            if let Some(count) = instruction.result_type.and_then(|of| types.get(&of)) {
                values.insert(id, *count);
            }
        }
        let (constants, body) = (FxHashMap::default(), Vec::new());
        Self { mutant, builder, library, float, uint, types, values, constants, body }
    }

    fn rewritten(mut self) -> Vec<u32> {
        let mut functions = mem::take(&mut self.builder.module_mut().functions);
        for block in functions.iter_mut().flat_map(|function| &mut function.blocks) {
            for instruction in mem::take(&mut block.instructions) {
                if self.replace(&instruction).is_none() {
                    self.body.push(instruction);
                }
            }
            block.instructions = mem::take(&mut self.body);
        }
        self.builder.module_mut().functions = functions;
        self.builder.module().assemble()
    }

    /// Writes what stands for an instruction; `None` if it stays as it is.
    fn replace(&mut self, instruction: &Instruction) -> Option<()> {
        let result = instruction.result_id?;
        let count = *self.types.get(&instruction.result_type?)?;
        let ids: Vec<Word> = instruction.operands.iter().filter_map(Operand::id_ref_any).collect();
        let glsl = match (instruction.class.opcode, instruction.operands.get(1)?) {
            (Op::ExtInst, Operand::LiteralExtInstInteger(number)) => GlslStd450Op::from_u32(*number),
            _ => None,
        };
        // The first id of an extended instruction is its library.
        match (self.mutant, instruction.class.opcode, glsl) {
            (Mutant::Reciprocal | Mutant::ReciprocalUlp, Op::FDiv, _) => self.divide(result, count, ids[0], ids[1]),
            (
                Mutant::SqrtUlp,
                Op::ExtInst,
                Some(GlslStd450Op::Sqrt | GlslStd450Op::InverseSqrt | GlslStd450Op::Length | GlslStd450Op::Normalize),
            ) => {
                let exact = self.value(count, Op::ExtInst, instruction.operands.clone());
                let scale = self.off_by_an_ulp(count, exact);
                self.write(result, count, Op::FMul, refs(&[exact, scale]));
            }
            (Mutant::Fused, Op::Dot, _) => {
                let dot = self.dot(ids[0], ids[1])?;
                self.write(result, count, Op::CopyObject, refs(&[dot]));
            }
            (Mutant::Fused, Op::ExtInst, Some(GlslStd450Op::Length)) => {
                let dot = self.dot(ids[1], ids[1])?;
                let root = self.function(GlslStd450Op::Sqrt, dot);
                self.write(result, count, Op::CopyObject, refs(&[root]));
            }
            (Mutant::Fused, Op::ExtInst, Some(GlslStd450Op::Normalize)) => {
                let dot = self.dot(ids[1], ids[1])?;
                let root = self.function(GlslStd450Op::InverseSqrt, dot);
                let roots = self.value(count, Op::CompositeConstruct, refs(&vec![root; count as usize]));
                self.write(result, count, Op::FMul, refs(&[ids[1], roots]));
            }
            (Mutant::Fused, Op::ExtInst, Some(GlslStd450Op::Cross)) => self.cross(result, ids[1], ids[2])?,
            (Mutant::Fused, Op::ExtInst, Some(GlslStd450Op::FMix)) => {
                let (x, y, t) = (ids[1], ids[2], ids[3]);
                let difference = self.arithmetic(count, Op::FSub, y, x);
                let mixed = self.fused(count, t, difference, x);
                self.write(result, count, Op::CopyObject, refs(&[mixed]));
            }
            _ => return None,
        }
        Some(())
    }

    fn divide(&mut self, result: Word, count: Count, dividend: Word, divisor: Word) {
        let one = self.constant(self.float, count, 1.0f32.to_bits());
        let mut reciprocal = self.arithmetic(count, Op::FDiv, one, divisor);
        if self.mutant == Mutant::ReciprocalUlp {
            let scale = self.off_by_an_ulp(count, reciprocal);
            reciprocal = self.arithmetic(count, Op::FMul, reciprocal, scale);
        }
        self.write(result, count, Op::FMul, refs(&[dividend, reciprocal]));
    }

    fn cross(&mut self, result: Word, a: Word, b: Word) -> Option<()> {
        let (a, b) = (self.components(a)?, self.components(b)?);
        let parts = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| {
            let product = self.arithmetic(1, Op::FMul, a[j], b[i]);
            let zero = self.constant(self.float, 1, 0);
            let negative = self.arithmetic(1, Op::FSub, zero, product);
            self.fused(1, a[i], b[j], negative)
        });
        self.write(result, 3, Op::CompositeConstruct, refs(&parts));
        Some(())
    }

    fn dot(&mut self, a: Word, b: Word) -> Option<Word> {
        let (a, b) = (self.components(a)?, self.components(b)?);
        let mut pairs = a.into_iter().zip(b).rev();
        let (x, y) = pairs.next()?;
        let last = self.arithmetic(1, Op::FMul, x, y);
        Some(pairs.fold(last, |sum, (x, y)| self.fused(1, x, y, sum)))
    }

    fn components(&mut self, vector: Word) -> Option<Vec<Word>> {
        let count = self.values.get(&vector).copied().filter(|count| *count > 1)?;
        let component = |k| vec![Operand::IdRef(vector), Operand::LiteralBit32(k)];
        Some((0..count).map(|k| self.value(1, Op::CompositeExtract, component(k))).collect())
    }

    /// Returns `a * b + c` rounded once (but for rare ties), in operations that are exact or whose error is added: CPU
    /// drivers expand Fma itself into a product and a sum.
    fn fused(&mut self, count: Count, a: Word, b: Word, c: Word) -> Word {
        let mut float = |op, x, y| self.arithmetic(count, op, x, y);
        let product = float(Op::FMul, a, b);
        let sum = float(Op::FAdd, product, c);
        let c_part = float(Op::FSub, sum, product);
        let product_part = float(Op::FSub, sum, c_part);
        let product_rest = float(Op::FSub, product, product_part);
        let c_rest = float(Op::FSub, c, c_part);
        let sum_error = float(Op::FAdd, product_rest, c_rest);
        let [a_high, b_high] = [a, b].map(|x| self.upper_half(count, x));
        let mut float = |op, x, y| self.arithmetic(count, op, x, y);
        let (a_low, b_low) = (float(Op::FSub, a, a_high), float(Op::FSub, b, b_high));
        let high = float(Op::FMul, a_high, b_high);
        let mut error = float(Op::FSub, high, product);
        for (x, y) in [(a_high, b_low), (a_low, b_high), (a_low, b_low)] {
            let part = float(Op::FMul, x, y);
            error = float(Op::FAdd, error, part);
        }
        let error = float(Op::FAdd, error, sum_error);
        float(Op::FAdd, sum, error)
    }

    fn upper_half(&mut self, count: Count, x: Word) -> Word {
        let bits = self.bits(count, x, UPPER_HALF);
        self.value(count, Op::Bitcast, refs(&[bits]))
    }

    /// Returns 1 + 2^-23 or 1 - 2^-23, by the last bit of `x`.
    fn off_by_an_ulp(&mut self, count: Count, x: Word) -> Word {
        let last = self.bits(count, x, 1);
        let last = self.value(count, Op::ConvertUToF, refs(&[last]));
        let two_ulp = self.constant(self.float, count, (2.0 * f32::EPSILON).to_bits());
        let lower = self.constant(self.float, count, (1.0 - f32::EPSILON).to_bits());
        let more = self.arithmetic(count, Op::FMul, last, two_ulp);
        self.arithmetic(count, Op::FAdd, lower, more)
    }

    /// Returns those of the bits of `x` that `mask` has.
    fn bits(&mut self, count: Count, x: Word, mask: u32) -> Word {
        let of = self.vector(self.uint, count);
        let bits = self.instruction(of, Op::Bitcast, refs(&[x]));
        let mask = self.constant(self.uint, count, mask);
        self.instruction(of, Op::BitwiseAnd, refs(&[bits, mask]))
    }

    fn vector(&mut self, scalar: Word, count: Count) -> Word {
        if count == 1 { scalar } else { self.builder.type_vector(scalar, count) }
    }

    /// Returns a constant, each of whose components has these bits.
    fn constant(&mut self, scalar: Word, count: Count, bits: u32) -> Word {
        let of = self.vector(scalar, count);
        if let Some(id) = self.constants.get(&(of, bits)) {
            return *id;
        }
        let id = if count == 1 {
            self.builder.constant_bit32(of, bits)
        } else {
            let part = self.constant(scalar, 1, bits);
            self.builder.constant_composite(of, vec![part; count as usize])
        };
        self.constants.insert((of, bits), id);
        id
    }

    fn function(&mut self, function: GlslStd450Op, x: Word) -> Word {
        let number = Operand::LiteralExtInstInteger(function as u32);
        self.value(1, Op::ExtInst, vec![Operand::IdRef(self.library), number, Operand::IdRef(x)])
    }

    fn arithmetic(&mut self, count: Count, op: Op, x: Word, y: Word) -> Word {
        self.value(count, op, refs(&[x, y]))
    }

    fn value(&mut self, count: Count, op: Op, operands: Vec<Operand>) -> Word {
        let of = self.vector(self.float, count);
        self.instruction(of, op, operands)
    }

    fn instruction(&mut self, of: Word, op: Op, operands: Vec<Operand>) -> Word {
        let id = self.builder.id();
        self.decorate(id, op);
        self.body.push(Instruction::new(op, Some(of), Some(id), operands));
        id
    }

    /// Writes the instruction that has the result of a replaced one.
    fn write(&mut self, id: Word, count: Count, op: Op, operands: Vec<Operand>) {
        let of = self.vector(self.float, count);
        self.body.push(Instruction::new(op, Some(of), Some(id), operands));
    }

    /// No driver may contract what is added; what is replaced is decorated as it was.
    fn decorate(&mut self, id: Word, op: Op) {
        if matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv) {
            self.builder.decorate(id, Decoration::NoContraction, []);
        }
    }
}

fn refs(ids: &[Word]) -> Vec<Operand> {
    ids.iter().copied().map(Operand::IdRef).collect()
}

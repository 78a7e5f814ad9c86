//! A SPIR-V module under construction: types and constants without duplicates, blocks, instructions.
//!
//! rspirv's own builder deduplicates types only and has a method for each opcode; here an instruction is an opcode and
//! ids, and every float operation is decorated NoContraction as it is made.

use super::debug_info::{DebugMark, with_debug_info};
use crate::ir::PlaceTable;
use rspirv::binary::Assemble;
use rspirv::dr::{Block, Function, Instruction, Module, ModuleHeader, Operand};
use rspirv::spirv::{self, Op, Word};
use rustc_hash::FxHashMap;

/// The module.
pub(super) struct Spirv {
    module: Module,
    next_id: Word,
    globals: FxHashMap<Vec<u32>, Word>,
    glsl: Word,
    function: Option<Function>,
    at: Word,
    /// What debuggers are to know, each at its place among the instructions ([`Spirv::mark`]).
    marks: Vec<DebugMark>,
}

/// A finished module.
pub(super) struct Assembled {
    pub(super) words: Vec<u32>,
    /// The words that also say what debuggers are to know, if that was marked.
    pub(super) debug: Option<Vec<u32>>,
}

/// Operations whose result a driver may fold or fuse unless it is forbidden.
fn is_float_arithmetic(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        FAdd | FSub
            | FMul
            | FDiv
            | FRem
            | FMod
            | FNegate
            | VectorTimesScalar
            | MatrixTimesScalar
            | VectorTimesMatrix
            | MatrixTimesVector
            | MatrixTimesMatrix
            | OuterProduct
            | Dot
    )
}

fn ids(ids: &[Word]) -> Vec<Operand> {
    ids.iter().map(|&id| Operand::IdRef(id)).collect()
}

impl Spirv {
    pub(super) fn new() -> Self {
        let mut module = Module::new();
        let mut header = ModuleHeader::new(0);
        header.set_version(1, 5);
        module.header = Some(header);
        let mut this = Self {
            module,
            next_id: 1,
            globals: FxHashMap::default(),
            glsl: 0,
            function: None,
            at: 0,
            marks: Vec::new(),
        };
        this.capability(spirv::Capability::Shader);
        this.glsl = this.id();
        let name = Operand::LiteralString("GLSL.std.450".into());
        this.module.ext_inst_imports.push(Instruction::new(Op::ExtInstImport, None, Some(this.glsl), vec![name]));
        let model = vec![
            Operand::AddressingModel(spirv::AddressingModel::Logical),
            Operand::MemoryModel(spirv::MemoryModel::GLSL450),
        ];
        this.module.memory_model = Some(Instruction::new(Op::MemoryModel, None, None, model));
        this
    }

    pub(super) fn id(&mut self) -> Word {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Returns the id of the extended instruction set GLSL.std.450.
    pub(super) fn glsl(&self) -> Word {
        self.glsl
    }

    pub(super) fn capability(&mut self, capability: spirv::Capability) {
        let inst = Instruction::new(Op::Capability, None, None, vec![Operand::Capability(capability)]);
        if !self.module.capabilities.contains(&inst) {
            self.module.capabilities.push(inst);
        }
    }

    pub(super) fn extension(&mut self, name: &str) {
        let operands = vec![Operand::LiteralString(name.into())];
        self.module.extensions.push(Instruction::new(Op::Extension, None, None, operands));
    }

    pub(super) fn name(&mut self, id: Word, name: &str) {
        let operands = vec![Operand::IdRef(id), Operand::LiteralString(name.into())];
        self.module.debug_names.push(Instruction::new(Op::Name, None, None, operands));
    }

    pub(super) fn decorate(&mut self, id: Word, decoration: spirv::Decoration, values: &[Operand]) {
        let mut operands = vec![Operand::IdRef(id), Operand::Decoration(decoration)];
        operands.extend_from_slice(values);
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    pub(super) fn decorate_member(&mut self, id: Word, member: u32, decoration: spirv::Decoration, values: &[Operand]) {
        let mut operands = vec![Operand::IdRef(id), Operand::LiteralBit32(member), Operand::Decoration(decoration)];
        operands.extend_from_slice(values);
        self.module.annotations.push(Instruction::new(Op::MemberDecorate, None, None, operands));
    }

    /// Decorates as something was that was made elsewhere: a decoration's operands, the first of which is replaced.
    pub(super) fn decorate_as(&mut self, id: Word, operands: &[Operand]) {
        let is_member = matches!(operands.get(1), Some(Operand::LiteralBit32(_)));
        let op = if is_member { Op::MemberDecorate } else { Op::Decorate };
        let operands = std::iter::once(Operand::IdRef(id)).chain(operands.iter().skip(1).cloned()).collect();
        self.module.annotations.push(Instruction::new(op, None, None, operands));
    }

    // -- types, constants, variables

    /// Returns a type or constant: the one that is there already, or a new one.
    pub(super) fn global(&mut self, op: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let mut key = Vec::new();
        Instruction::new(op, ty, None, operands.clone()).assemble_into(&mut key);
        if let Some(&id) = self.globals.get(&key) {
            return id;
        }
        let id = self.fresh_global(op, ty, operands);
        self.globals.insert(key, id);
        id
    }

    /// Returns a type, constant or variable that is not shared with an equal one.
    pub(super) fn fresh_global(&mut self, op: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let id = self.id();
        self.module.types_global_values.push(Instruction::new(op, ty, Some(id), operands));
        id
    }

    pub(super) fn type_void(&mut self) -> Word {
        self.global(Op::TypeVoid, None, vec![])
    }

    pub(super) fn type_bool(&mut self) -> Word {
        self.global(Op::TypeBool, None, vec![])
    }

    pub(super) fn type_u32(&mut self) -> Word {
        self.global(Op::TypeInt, None, vec![Operand::LiteralBit32(32), Operand::LiteralBit32(0)])
    }

    pub(super) fn type_f32(&mut self) -> Word {
        self.global(Op::TypeFloat, None, vec![Operand::LiteralBit32(32)])
    }

    pub(super) fn type_vector(&mut self, of: Word, count: u32) -> Word {
        self.global(Op::TypeVector, None, vec![Operand::IdRef(of), Operand::LiteralBit32(count)])
    }

    /// Returns the type of four columns of four floats.
    pub(super) fn type_matrix(&mut self) -> Word {
        let f32 = self.type_f32();
        let column = self.type_vector(f32, 4);
        self.global(Op::TypeMatrix, None, vec![Operand::IdRef(column), Operand::LiteralBit32(4)])
    }

    pub(super) fn type_pointer(&mut self, class: spirv::StorageClass, to: Word) -> Word {
        self.global(Op::TypePointer, None, vec![Operand::StorageClass(class), Operand::IdRef(to)])
    }

    /// Returns a buffer of texels of such numbers.
    pub(super) fn type_texels(&mut self, of: Word) -> Word {
        let [depth, arrayed, multisampled, sampled] = [0, 0, 0, 1].map(Operand::LiteralBit32);
        let (dim, format) = (Operand::Dim(spirv::Dim::DimBuffer), Operand::ImageFormat(spirv::ImageFormat::Unknown));
        let operands = vec![Operand::IdRef(of), dim, depth, arrayed, multisampled, sampled, format];
        self.global(Op::TypeImage, None, operands)
    }

    pub(super) fn type_function(&mut self, result: Word, params: &[Word]) -> Word {
        let all: Vec<_> = std::iter::once(result).chain(params.iter().copied()).collect();
        self.global(Op::TypeFunction, None, ids(&all))
    }

    /// Returns an array without a stride, for private and shared memory.
    pub(super) fn type_array(&mut self, of: Word, len: u32) -> Word {
        let len = self.u32(len);
        self.global(Op::TypeArray, None, ids(&[of, len]))
    }

    pub(super) fn u32(&mut self, x: u32) -> Word {
        let ty = self.type_u32();
        self.global(Op::Constant, Some(ty), vec![Operand::LiteralBit32(x)])
    }

    pub(super) fn f32(&mut self, x: f32) -> Word {
        let ty = self.type_f32();
        self.global(Op::Constant, Some(ty), vec![Operand::LiteralBit32(x.to_bits())])
    }

    pub(super) fn bool(&mut self, x: bool) -> Word {
        let ty = self.type_bool();
        self.global(if x { Op::ConstantTrue } else { Op::ConstantFalse }, Some(ty), vec![])
    }

    pub(super) fn composite(&mut self, ty: Word, parts: &[Word]) -> Word {
        self.global(Op::ConstantComposite, Some(ty), ids(parts))
    }

    /// Declares a global variable, and returns a pointer to it.
    pub(super) fn variable(&mut self, class: spirv::StorageClass, of: Word) -> Word {
        let ty = self.type_pointer(class, of);
        self.fresh_global(Op::Variable, Some(ty), vec![Operand::StorageClass(class)])
    }

    // -- functions and blocks

    pub(super) fn begin_function(&mut self, result: Word, params: &[Word]) -> Word {
        let ty = self.type_function(result, params);
        let id = self.id();
        let operands = vec![Operand::FunctionControl(spirv::FunctionControl::NONE), Operand::IdRef(ty)];
        let def = Some(Instruction::new(Op::Function, Some(result), Some(id), operands));
        self.function = Some(Function { def, end: None, parameters: Vec::new(), blocks: Vec::new() });
        id
    }

    pub(super) fn end_function(&mut self) {
        let mut function = self.function.take().expect("a function is open");
        function.end = Some(Instruction::new(Op::FunctionEnd, None, None, vec![]));
        self.module.functions.push(function);
    }

    pub(super) fn push_function(&mut self, function: Function) {
        self.module.functions.push(function);
    }

    fn blocks(&mut self) -> &mut Vec<Block> {
        &mut self.function.as_mut().expect("a function is open").blocks
    }

    fn push(&mut self, inst: Instruction) {
        self.blocks().last_mut().expect("a block is open").instructions.push(inst);
    }

    /// Starts the block with this label.
    pub(super) fn block(&mut self, label: Word) {
        let label_inst = Instruction::new(Op::Label, None, Some(label), vec![]);
        self.blocks().push(Block { label: Some(label_inst), instructions: Vec::new() });
        self.at = label;
    }

    /// Returns the label of the block that is being written.
    pub(super) fn at(&self) -> Word {
        self.at
    }

    /// Declares a variable of the function, which must happen in its first block, and returns a pointer to it.
    pub(super) fn local(&mut self, of: Word, init: Option<Word>) -> Word {
        let class = spirv::StorageClass::Function;
        let ty = self.type_pointer(class, of);
        let id = self.id();
        let mut operands = vec![Operand::StorageClass(class)];
        operands.extend(init.map(Operand::IdRef));
        let inst = Instruction::new(Op::Variable, Some(ty), Some(id), operands);
        let first = self.blocks().first_mut().expect("a block is open");
        let at = first.instructions.iter().take_while(|i| i.class.opcode == Op::Variable).count();
        first.instructions.insert(at, inst);
        id
    }

    /// Appends an instruction with a result.
    pub(super) fn inst(&mut self, op: Op, ty: Word, args: &[Word]) -> Word {
        self.inst_with(op, ty, ids(args))
    }

    /// Appends an instruction with operands that are not all ids, and returns its result.
    pub(super) fn inst_with(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let id = self.id();
        self.push(Instruction::new(op, Some(ty), Some(id), operands));
        if is_float_arithmetic(op) {
            self.decorate(id, spirv::Decoration::NoContraction, &[]);
        }
        id
    }

    /// Decorates what must be in a function that was made elsewhere.
    pub(super) fn decorate_imported(&mut self, inst: &Instruction) {
        if let (true, Some(id)) = (is_float_arithmetic(inst.class.opcode), inst.result_id) {
            self.decorate(id, spirv::Decoration::NoContraction, &[]);
        }
    }

    pub(super) fn ext(&mut self, op: spirv::GlslStd450Op, ty: Word, args: &[Word]) -> Word {
        let mut operands = vec![Operand::IdRef(self.glsl), Operand::LiteralExtInstInteger(op as u32)];
        operands.extend(ids(args));
        self.inst_with(Op::ExtInst, ty, operands)
    }

    pub(super) fn extract(&mut self, ty: Word, from: Word, index: u32) -> Word {
        self.inst_with(Op::CompositeExtract, ty, vec![Operand::IdRef(from), Operand::LiteralBit32(index)])
    }

    pub(super) fn insert(&mut self, ty: Word, part: Word, into: Word, index: u32) -> Word {
        let operands = vec![Operand::IdRef(part), Operand::IdRef(into), Operand::LiteralBit32(index)];
        self.inst_with(Op::CompositeInsert, ty, operands)
    }

    pub(super) fn shuffle(&mut self, ty: Word, from: Word, lanes: &[u32]) -> Word {
        let mut operands = vec![Operand::IdRef(from), Operand::IdRef(from)];
        operands.extend(lanes.iter().map(|&l| Operand::LiteralBit32(l)));
        self.inst_with(Op::VectorShuffle, ty, operands)
    }

    pub(super) fn load(&mut self, ty: Word, pointer: Word) -> Word {
        self.inst(Op::Load, ty, &[pointer])
    }

    /// Appends an instruction without a result.
    pub(super) fn effect(&mut self, op: Op, args: &[Word]) {
        self.push(Instruction::new(op, None, None, ids(args)));
    }

    pub(super) fn branch(&mut self, to: Word) {
        self.effect(Op::Branch, &[to]);
    }

    pub(super) fn selection_merge(&mut self, merge: Word) {
        let control = Operand::SelectionControl(spirv::SelectionControl::NONE);
        self.push(Instruction::new(Op::SelectionMerge, None, None, vec![Operand::IdRef(merge), control]));
    }

    pub(super) fn loop_merge(&mut self, merge: Word, next: Word, control: spirv::LoopControl) {
        let operands = vec![Operand::IdRef(merge), Operand::IdRef(next), Operand::LoopControl(control)];
        self.push(Instruction::new(Op::LoopMerge, None, None, operands));
    }

    pub(super) fn switch(&mut self, selector: Word, default: Word, cases: &[Word]) {
        let mut operands = ids(&[selector, default]);
        for (&label, number) in cases.iter().zip(0..) {
            operands.extend([Operand::LiteralBit32(number), Operand::IdRef(label)]);
        }
        self.push(Instruction::new(Op::Switch, None, None, operands));
    }

    /// Writes a phi of values and the blocks that they come from.
    pub(super) fn phi(&mut self, ty: Word, from: &[(Word, Word)]) -> Word {
        let operands: Vec<_> = from.iter().flat_map(|&(value, block)| [value, block]).collect();
        self.inst(Op::Phi, ty, &operands)
    }

    /// Gives a phi one more pair.
    pub(super) fn extend_phi(&mut self, phi: Word, value: Word, block: Word) {
        let insts = self.blocks().iter_mut().flat_map(|b| b.instructions.iter_mut());
        let inst = insts.into_iter().find(|i| i.result_id == Some(phi)).expect("the phi was made in this function");
        inst.operands.extend(ids(&[value, block]));
    }

    pub(super) fn entry_point(&mut self, function: Word, interface: &[Word], local_size: u32) {
        let mut operands = vec![
            Operand::ExecutionModel(spirv::ExecutionModel::GLCompute),
            Operand::IdRef(function),
            Operand::LiteralString("main".into()),
        ];
        operands.extend(ids(interface));
        self.module.entry_points.push(Instruction::new(Op::EntryPoint, None, None, operands));
        let mut operands = vec![Operand::IdRef(function), Operand::ExecutionMode(spirv::ExecutionMode::LocalSize)];
        operands.extend([local_size, 1, 1].map(Operand::LiteralBit32));
        self.module.execution_modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
    }

    /// Says something to debuggers at the end of the block so far. Its place is kept by an instruction that does
    /// nothing, and is not in the finished words.
    pub(super) fn mark(&mut self, mark: DebugMark) {
        let number = Operand::LiteralBit32(self.marks.len() as u32);
        self.marks.push(mark);
        self.push(Instruction::new(Op::Nop, None, None, vec![number]));
    }

    /// Returns the finished words. Marks are of `places`.
    pub(super) fn assemble(mut self, places: &PlaceTable) -> Assembled {
        let mut debug = None;
        if !self.marks.is_empty() {
            debug = Some(with_debug_info(self.module.clone(), self.next_id, &self.marks, places).assemble());
            let blocks = self.module.functions.iter_mut().flat_map(|function| &mut function.blocks);
            blocks.for_each(|block| block.instructions.retain(|inst| inst.class.opcode != Op::Nop));
        }
        if let Some(header) = &mut self.module.header {
            header.bound = self.next_id;
        }
        Assembled { words: self.module.assemble(), debug }
    }
}

//! Debug information of a kernel: the instructions of NonSemantic.Shader.DebugInfo.100.
//!
//! They are added to a finished module under new ids, and drivers ignore them: without them, and without the constants
//! that only they use, the module is what it was. Code of functions, lights and further shaders is inlined into the
//! kernel's only function of its own, that of its first shader.

use crate::ir::{FilePlace, FunctionId, MachineType, PlaceId, PlaceTable, VariableId};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use rspirv::dr::{Function, Instruction, Module, Operand};
use rspirv::spirv::{Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};

/// A mark among the instructions that becomes debug information.
#[derive(Clone, Copy)]
pub(super) enum DebugMark {
    /// What follows comes from here.
    Place(PlaceId),
    /// A variable has a value from here on.
    Value {
        /// The variable.
        variable: VariableId,
        /// The type of the value.
        ty: MachineType,
        /// Its id.
        word: Word,
    },
}

/// Instructions of NonSemantic.Shader.DebugInfo.100.
#[derive(Clone, Copy)]
enum DebugOp {
    CompilationUnit = 1,
    TypeBasic = 2,
    TypeVector = 6,
    TypeFunction = 8,
    Function = 20,
    Scope = 23,
    NoScope = 24,
    InlinedAt = 25,
    LocalVariable = 26,
    Value = 29,
    Expression = 31,
    Source = 35,
    FunctionDefinition = 101,
    SourceContinued = 102,
    Line = 103,
    NoLine = 104,
    TypeMatrix = 108,
}

/// Encodings of numbers in debug information.
const ENCODING_FLOAT: u32 = 3;
const ENCODING_UNSIGNED: u32 = 6;
/// Versions of debug information and of DWARF, and the number of a language that has none.
const DEBUG_VERSION: u32 = 1;
const DWARF_VERSION: u32 = 4;
const LANGUAGE_UNKNOWN: u32 = 0;
/// Flags of what is private to its scope.
const FLAG_LOCAL: u32 = 4;

/// Bytes of a text in one instruction, at most.
const TEXT_BYTES_MAX: usize = 200_000;

/// Returns a module with debug information in place of marks. Ids from `next_id` on are free.
pub(super) fn with_debug_info(mut module: Module, next_id: Word, marks: &[DebugMark], places: &PlaceTable) -> Module {
    let Some(main) = module.functions.pop() else { return module };
    let mut writer = DebugWriter::new(&mut module, next_id, places);
    let root = marks.iter().find_map(|mark| writer.root_of(*mark));
    let main = match root {
        Some(root) => writer.with_marks(main, marks, root),
        None => without_marks(main),
    };
    let DebugWriter { next_id, strings, globals, .. } = writer;
    module.debug_string_source.extend(strings);
    module.types_global_values.extend(globals);
    module.functions.push(main);
    if let Some(header) = &mut module.header {
        header.bound = next_id;
    }
    module
}

fn without_marks(mut main: Function) -> Function {
    main.blocks.iter_mut().for_each(|block| block.instructions.retain(|inst| mark_number(inst).is_none()));
    main
}

/// Returns the number of the mark whose place an instruction keeps, if it does.
fn mark_number(inst: &Instruction) -> Option<usize> {
    match inst.operands.first() {
        Some(&Operand::LiteralBit32(number)) if inst.class.opcode == Op::Nop => Some(number as usize),
        _ => None,
    }
}

struct DebugWriter<'a> {
    places: &'a PlaceTable,
    next_id: Word,
    set: Word,
    void: Word,
    u32: Word,
    bool: Word,
    strings: Vec<Instruction>,
    globals: Vec<Instruction>,
    known_strings: FxHashMap<String, Word>,
    numbers: FxHashMap<u32, Word>,
    /// By the places of names and texts.
    sources: FxHashMap<[*const u8; 2], Word>,
    units: FxHashMap<Word, Word>,
    functions: FxHashMap<FunctionId, Word>,
    inlined: FxHashMap<PlaceId, Word>,
    variables: FxHashMap<(VariableId, MachineType), Word>,
    types: FxHashMap<MachineType, Word>,
    function_type: Option<Word>,
    expression: Option<Word>,
    /// The function whose code is not inlined, and where it is for others that are not called either.
    root: FunctionId,
    root_inlined: Option<Word>,
}

/// What was said last in a block.
#[derive(Default)]
struct Said {
    scope: Option<(FunctionId, PlaceId)>,
    line: Option<(Word, u32)>,
}

impl<'a> DebugWriter<'a> {
    fn new(module: &mut Module, next_id: Word, places: &'a PlaceTable) -> Self {
        let extension = vec![Operand::LiteralString("SPV_KHR_non_semantic_info".into())];
        module.extensions.push(Instruction::new(Op::Extension, None, None, extension));
        let name = vec![Operand::LiteralString("NonSemantic.Shader.DebugInfo.100".into())];
        module.ext_inst_imports.push(Instruction::new(Op::ExtInstImport, None, Some(next_id), name));
        let word = [Operand::LiteralBit32(32), Operand::LiteralBit32(0)];
        let found = |op: Op, operands: &[Operand]| {
            let mut types = module.types_global_values.iter().filter(|inst| inst.class.opcode == op);
            types.find(|inst| inst.operands == operands).and_then(|inst| inst.result_id).unwrap_or(0)
        };
        let [void, u32, bool] = [(Op::TypeVoid, &[][..]), (Op::TypeInt, &word[..]), (Op::TypeBool, &[][..])]
            .map(|(op, operands)| found(op, operands));
        Self {
            places,
            next_id: next_id + 1,
            set: next_id,
            void,
            u32,
            bool,
            strings: Vec::new(),
            globals: Vec::new(),
            known_strings: FxHashMap::default(),
            numbers: FxHashMap::default(),
            sources: FxHashMap::default(),
            units: FxHashMap::default(),
            functions: FxHashMap::default(),
            inlined: FxHashMap::default(),
            variables: FxHashMap::default(),
            types: FxHashMap::default(),
            function_type: None,
            expression: None,
            root: FunctionId::default(),
            root_inlined: None,
        }
    }

    /// Returns the function that the outermost place of a mark is in.
    fn root_of(&self, mark: DebugMark) -> Option<FunctionId> {
        let DebugMark::Place(place) = mark else { return None };
        self.places.stack(place).last().and_then(|place| self.places.function(place))
    }

    fn id(&mut self) -> Word {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Returns an instruction of debug information.
    fn inst(&mut self, op: DebugOp, operands: &[Word]) -> Instruction {
        let head = [Operand::IdRef(self.set), Operand::LiteralExtInstInteger(op as u32)];
        let operands = head.into_iter().chain(operands.iter().map(|&id| Operand::IdRef(id))).collect();
        let id = self.id();
        Instruction::new(Op::ExtInst, Some(self.void), Some(id), operands)
    }

    /// Adds one that is in no function, and returns its id.
    fn global(&mut self, op: DebugOp, operands: &[Word]) -> Word {
        let inst = self.inst(op, operands);
        self.globals.push(inst);
        self.next_id - 1
    }

    fn string(&mut self, text: &str) -> Word {
        if let Some(&known) = self.known_strings.get(text) {
            return known;
        }
        let id = self.id();
        // A text ends with its first byte 0.
        let operands = vec![Operand::LiteralString(text.replace('\0', " "))];
        self.strings.push(Instruction::new(Op::String, None, Some(id), operands));
        self.known_strings.insert(text.to_owned(), id);
        id
    }

    fn number(&mut self, number: u32) -> Word {
        if let Some(&known) = self.numbers.get(&number) {
            return known;
        }
        let id = self.id();
        let operands = vec![Operand::LiteralBit32(number)];
        self.globals.push(Instruction::new(Op::Constant, Some(self.u32), Some(id), operands));
        self.numbers.insert(number, id);
        id
    }

    /// Returns a file of a shader, with its text.
    fn source(&mut self, name: &str, text: &str) -> Word {
        let key = [name, text].map(str::as_ptr);
        if let Some(&known) = self.sources.get(&key) {
            return known;
        }
        let mut parts = parts(text).into_iter().map(|part| self.string(part)).collect::<Vec<_>>().into_iter();
        let name = self.string(name);
        let first = parts.next();
        let operands: Vec<Word> = [name].into_iter().chain(first).collect();
        let source = self.global(DebugOp::Source, &operands);
        parts.for_each(|part| _ = self.global(DebugOp::SourceContinued, &[part]));
        self.sources.insert(key, source);
        source
    }

    fn unit(&mut self, source: Word) -> Word {
        if let Some(&known) = self.units.get(&source) {
            return known;
        }
        let numbers = [DEBUG_VERSION, DWARF_VERSION, LANGUAGE_UNKNOWN].map(|number| self.number(number));
        let unit = self.global(DebugOp::CompilationUnit, &[numbers[0], numbers[1], source, numbers[2]]);
        self.units.insert(source, unit);
        unit
    }

    /// Returns source, line and column.
    fn located(&mut self, at: Option<FilePlace<'_>>) -> [Word; 3] {
        let FilePlace { name, text, line, column } = at.unwrap_or(FilePlace { name: "", text: "", line: 1, column: 1 });
        [self.source(name, text), self.number(line), self.number(column)]
    }

    fn function(&mut self, function: FunctionId) -> Word {
        if let Some(&known) = self.functions.get(&function) {
            return known;
        }
        let (zero, local) = (self.number(0), self.number(FLAG_LOCAL));
        let ty = match self.function_type {
            Some(ty) => ty,
            None => self.global(DebugOp::TypeFunction, &[zero, self.void]),
        };
        self.function_type = Some(ty);
        let name = self.string(&self.places.function_data(function).name);
        let [source, line, column] = self.located(self.places.function_in_file(function));
        let unit = self.unit(source);
        let id = self.global(DebugOp::Function, &[name, ty, source, line, column, unit, name, local, line]);
        self.functions.insert(function, id);
        id
    }

    /// Returns where the code of places in a function is put in, which is `at`, or nothing of a shader.
    fn inlined(&mut self, function: FunctionId, at: PlaceId) -> Option<Word> {
        let Some(caller) = self.places.function(at) else { return self.inlined_into_root(function) };
        if let Some(&known) = self.inlined.get(&at) {
            return Some(known);
        }
        let [_, line, _] = self.located(self.places.in_file(at));
        let scope = self.function(caller);
        let outer = self.inlined(caller, self.places.inlined_at(at));
        let operands: Vec<Word> = [line, scope].into_iter().chain(outer).collect();
        let id = self.global(DebugOp::InlinedAt, &operands);
        self.inlined.insert(at, id);
        Some(id)
    }

    /// Returns where the code of a shader is put in that is not the first one.
    fn inlined_into_root(&mut self, function: FunctionId) -> Option<Word> {
        if function == self.root {
            return None;
        }
        let id = self.root_inlined.unwrap_or_else(|| {
            let [_, line, _] = self.located(self.places.function_in_file(self.root));
            let scope = self.function(self.root);
            self.global(DebugOp::InlinedAt, &[line, scope])
        });
        self.root_inlined = Some(id);
        Some(id)
    }

    fn basic(&mut self, name: &str, encoding: u32) -> Word {
        let name = self.string(name);
        let [bits, encoding, flags] = [32, encoding, 0].map(|number| self.number(number));
        self.global(DebugOp::TypeBasic, &[name, bits, encoding, flags])
    }

    /// Returns a type that variables have; those of truth and whole numbers are none of the language.
    fn ty(&mut self, ty: MachineType) -> Option<Word> {
        if let Some(&known) = self.types.get(&ty) {
            return Some(known);
        }
        let id = match ty {
            MachineType::F32 => self.basic("float", ENCODING_FLOAT),
            MachineType::Str => self.basic("string", ENCODING_UNSIGNED),
            MachineType::Vec3 => {
                let (float, three) = (self.ty(MachineType::F32)?, self.number(3));
                self.global(DebugOp::TypeVector, &[float, three])
            }
            MachineType::Mat4 => {
                let (float, four) = (self.ty(MachineType::F32)?, self.number(4));
                let column = self.global(DebugOp::TypeVector, &[float, four]);
                let by_columns = self.id();
                self.globals.push(Instruction::new(Op::ConstantTrue, Some(self.bool), Some(by_columns), Vec::new()));
                self.global(DebugOp::TypeMatrix, &[column, four, by_columns])
            }
            MachineType::Bool | MachineType::U32 => return None,
        };
        self.types.insert(ty, id);
        Some(id)
    }

    fn variable(&mut self, variable: VariableId, ty: MachineType) -> Option<Word> {
        if let Some(&known) = self.variables.get(&(variable, ty)) {
            return Some(known);
        }
        let debug_type = self.ty(ty)?;
        let data = self.places.variable(variable);
        let name = self.string(&data.name);
        let [source, line, column] = self.located(self.places.variable_in_file(variable));
        let (scope, local) = (self.function(data.function), self.number(FLAG_LOCAL));
        let id = self.global(DebugOp::LocalVariable, &[name, debug_type, source, line, column, scope, local]);
        self.variables.insert((variable, ty), id);
        Some(id)
    }

    /// Returns the kernel's function with what its marks say.
    fn with_marks(&mut self, mut main: Function, marks: &[DebugMark], root: FunctionId) -> Function {
        self.root = root;
        let visible = Visible::of(&main);
        let function = main.def.as_ref().and_then(|def| def.result_id).unwrap_or(0);
        let mut definition = Some([self.function(root), function]);
        let mut place = PlaceId::NOWHERE;
        for (number, block) in (0..).zip(&mut main.blocks) {
            let mut said = Said::default();
            let mut defined = FxHashSet::default();
            for inst in std::mem::take(&mut block.instructions) {
                match mark_number(&inst).map(|number| marks[number]) {
                    Some(DebugMark::Place(next)) => place = next,
                    Some(DebugMark::Value { variable, ty, word }) => {
                        if defined.contains(&word) || visible.sees(word, number) {
                            self.locate(place, &mut said, &mut block.instructions);
                            block.instructions.extend(self.value(variable, ty, word));
                        }
                    }
                    None => {
                        if !matches!(inst.class.opcode, Op::Phi | Op::Variable) {
                            let definition = definition.take();
                            block
                                .instructions
                                .extend(definition.map(|ids| self.inst(DebugOp::FunctionDefinition, &ids)));
                            self.locate(place, &mut said, &mut block.instructions);
                        }
                        defined.extend(inst.result_id);
                        block.instructions.push(inst);
                    }
                }
            }
        }
        main
    }

    /// Says that a variable has a value.
    fn value(&mut self, variable: VariableId, ty: MachineType, word: Word) -> Option<Instruction> {
        let variable = self.variable(variable, ty)?;
        let expression = match self.expression {
            Some(expression) => expression,
            None => self.global(DebugOp::Expression, &[]),
        };
        self.expression = Some(expression);
        Some(self.inst(DebugOp::Value, &[variable, word, expression]))
    }

    /// Says where what follows comes from, unless it was said.
    fn locate(&mut self, place: PlaceId, said: &mut Said, into: &mut Vec<Instruction>) {
        let Some(function) = self.places.function(place) else {
            if said.scope.take().is_some() {
                into.extend([DebugOp::NoScope, DebugOp::NoLine].map(|op| self.inst(op, &[])));
                said.line = None;
            }
            return;
        };
        let scope = (function, self.places.inlined_at(place));
        if said.scope != Some(scope) {
            let outer = self.inlined(function, scope.1);
            let operands: Vec<Word> = [self.function(function)].into_iter().chain(outer).collect();
            into.push(self.inst(DebugOp::Scope, &operands));
            *said = Said { scope: Some(scope), line: None };
        }
        let at = self.places.in_file(place);
        let [source, line, column] = self.located(at);
        let spot = Some((source, at.map_or(1, |at| at.line)));
        if said.line != spot {
            into.push(self.inst(DebugOp::Line, &[source, line, line, column, column]));
            said.line = spot;
        }
    }
}

/// Which values can be seen where.
struct Visible {
    /// For each value of the function the number of its block.
    blocks: FxHashMap<Word, u32>,
    dominators: Dominators<NodeIndex>,
}

impl Visible {
    fn of(main: &Function) -> Self {
        let (mut blocks, mut labels) = (FxHashMap::default(), FxHashMap::default());
        for (number, block) in (0..).zip(&main.blocks) {
            labels.extend(block.label.as_ref().and_then(|label| label.result_id).map(|id| (id, number)));
            blocks.extend(block.instructions.iter().filter_map(|inst| Some((inst.result_id?, number))));
        }
        let mut edges = Vec::new();
        for (number, block) in (0..).zip(&main.blocks) {
            let last = block.instructions.last();
            let targets = last.into_iter().flat_map(|last| last.operands.iter().filter_map(Operand::id_ref_any));
            edges.extend(targets.filter_map(|id| labels.get(&id)).map(|&to: &u32| (number, to)));
        }
        let mut graph: DiGraph<(), ()> = DiGraph::from_edges(edges);
        if graph.node_count() == 0 {
            graph.add_node(());
        }
        Self { blocks, dominators: simple_fast(&graph, NodeIndex::new(0)) }
    }

    /// Returns whether a value of another block can be seen in a block.
    fn sees(&self, value: Word, block: u32) -> bool {
        let Some(&from) = self.blocks.get(&value) else { return true };
        let [from_node, node] = [from, block].map(|number| NodeIndex::new(number as usize));
        let is_above = || self.dominators.dominators(node).is_some_and(|mut above| above.any(|it| it == from_node));
        from != block && is_above()
    }
}

/// Returns a text in parts that are not too long for an instruction.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while rest.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(0);
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

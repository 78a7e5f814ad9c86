//! Kernels without the code that the values of their specialisation constants rule out.
//!
//! Drivers would drop it too, but only once they have read and inlined all of it: a kernel that looks textures up has
//! code for each form of texture, several times each.

use super::spirv_words::{HEADER_WORDS, split};
use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::{Decoration, Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Returns a kernel without the branches that `values` (by the ids of specialisation constants) rule out, and without
/// the functions that are called nowhere else. Words that are not understood stay as they are.
pub fn specialised(words: &[Word], values: impl IntoIterator<Item = (u32, u32)>) -> Cow<'_, [Word]> {
    let values = values.into_iter().collect();
    Module::read(words).and_then(|module| module.specialised(&values)).map_or(Cow::Borrowed(words), Cow::Owned)
}

/// An instruction and its words.
#[derive(Clone, Copy)]
struct Inst<'a> {
    op: Op,
    words: &'a [Word],
}

impl<'a> Inst<'a> {
    /// Splits the words after a header into instructions.
    fn all(words: &'a [Word]) -> Option<Vec<Self>> {
        let inst = |words: &'a [Word]| Some(Self { op: Op::from_u32(words[0] & 0xffff)?, words });
        split(words)?.into_iter().map(inst).collect()
    }

    fn result(&self) -> Option<Word> {
        let place = places_of_results().get(self.op as usize).copied().filter(|&place| place > 0)?;
        self.words.get(usize::from(place)).copied()
    }

    /// Returns a word, or 0 where there is none: no id is 0.
    fn word(&self, at: usize) -> Word {
        self.words.get(at).copied().unwrap_or(0)
    }
}

/// Returns in which word of an instruction its result is, by opcode; 0 where it has none.
fn places_of_results() -> &'static [u8] {
    static PLACES: OnceLock<Vec<u8>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let mut places = Vec::new();
        for inst in INSTRUCTION_TABLE.iter() {
            let found = inst.operands.iter().position(|operand| operand.kind == OperandKind::IdResult);
            let opcode = inst.opcode as usize;
            places.resize(places.len().max(opcode + 1), 0);
            places[opcode] = found.map_or(0, |at| at as u8 + 1);
        }
        places
    })
}

struct Module<'a> {
    header: &'a [Word],
    /// What is before the functions.
    globals: Vec<Inst<'a>>,
    functions: Vec<Function<'a>>,
}

/// A function: what is before its first block, and its blocks, each with its label.
struct Function<'a> {
    id: Word,
    head: Vec<Inst<'a>>,
    blocks: Vec<Vec<Inst<'a>>>,
}

impl<'a> Module<'a> {
    fn read(words: &'a [Word]) -> Option<Self> {
        let (header, rest) = words.split_at_checked(HEADER_WORDS)?;
        let mut insts = Inst::all(rest)?.into_iter().peekable();
        let mut globals = Vec::new();
        while let Some(inst) = insts.next_if(|inst| inst.op != Op::Function) {
            globals.push(inst);
        }
        let mut functions: Vec<Function<'_>> = Vec::new();
        for inst in insts {
            if inst.op == Op::Function {
                functions.push(Function { id: inst.word(2), head: Vec::new(), blocks: Vec::new() });
            }
            let function = functions.last_mut()?;
            match function.blocks.last_mut() {
                _ if inst.op == Op::Label => function.blocks.push(vec![inst]),
                Some(block) => block.push(inst),
                None => function.head.push(inst),
            }
        }
        Some(Self { header, globals, functions })
    }

    fn specialised(&self, values: &FxHashMap<u32, u32>) -> Option<Vec<Word>> {
        let entry = self.globals.iter().find(|inst| inst.op == Op::EntryPoint)?.word(2);
        let mut cutter = Cutter { module: self, known: self.known(values), cut: FxHashMap::default() };
        cutter.cut(entry)?;
        let (mut called, mut kept) = (vec![entry], FxHashSet::default());
        while let Some(id) = called.pop() {
            if kept.insert(id) {
                let calls = cutter.cut[&id].insts.iter().filter(|inst| inst.op == Op::FunctionCall);
                called.extend(calls.map(|inst| inst.word(3)));
            }
        }
        let functions = self.functions.iter().filter(|function| kept.contains(&function.id));
        let insts: Vec<&NewInst<'_>> = functions.flat_map(|function| &cutter.cut[&function.id].insts).collect();
        Some(self.joined(&insts))
    }

    /// Returns the constants whose values are known.
    fn known(&self, values: &FxHashMap<u32, u32>) -> Known {
        let mut known = Known::default();
        let mut given: FxHashMap<Word, u32> = FxHashMap::default();
        for inst in &self.globals {
            match inst.op {
                Op::Decorate if inst.word(2) == Decoration::SpecId as Word => {
                    given.extend(values.get(&inst.word(3)).map(|&value| (inst.word(1), value)));
                }
                Op::SpecConstant => _ = given.get(&inst.word(2)).map(|&value| known.set(inst.word(2), value)),
                Op::Constant if inst.words.len() == 4 => known.set(inst.word(2), inst.word(3)),
                Op::ConstantTrue => known.set(inst.word(2), 1),
                Op::ConstantFalse => known.set(inst.word(2), 0),
                Op::SpecConstantOp => {
                    let value = Op::from_u32(inst.word(3)).and_then(|op| known.evaluated(op, &inst.words[4..]));
                    value.into_iter().for_each(|value| known.set(inst.word(2), value));
                }
                _ => {}
            }
        }
        known
    }

    /// Returns the words of a module with these functions, without names and decorations of what it does not have.
    fn joined(&self, functions: &[&NewInst<'_>]) -> Vec<Word> {
        let bound = self.header[3] as usize;
        let mut defined = vec![false; bound];
        let results = self.globals.iter().filter_map(Inst::result);
        for id in results.chain(functions.iter().filter_map(|inst| inst.result())) {
            defined.get_mut(id as usize).into_iter().for_each(|defined| *defined = true);
        }
        let mut words = self.header.to_vec();
        for inst in &self.globals {
            let describes = matches!(
                inst.op,
                Op::Name | Op::MemberName | Op::Decorate | Op::DecorateId | Op::DecorateString | Op::MemberDecorate
            );
            if !describes || defined.get(inst.word(1) as usize) == Some(&true) {
                words.extend(inst.words);
            }
        }
        functions.iter().for_each(|inst| words.extend(&*inst.words));
        words
    }
}

/// An instruction that may differ from the one that was read.
struct NewInst<'a> {
    op: Op,
    words: Cow<'a, [Word]>,
}

impl<'a> NewInst<'a> {
    fn new(op: Op, operands: &[Word]) -> Self {
        let first = (operands.len() as Word + 1) << 16 | op as Word;
        Self { op, words: Cow::Owned([&[first], operands].concat()) }
    }

    fn word(&self, at: usize) -> Word {
        Inst { op: self.op, words: &self.words }.word(at)
    }

    fn result(&self) -> Option<Word> {
        Inst { op: self.op, words: &self.words }.result()
    }
}

impl<'a> From<Inst<'a>> for NewInst<'a> {
    fn from(inst: Inst<'a>) -> Self {
        Self { op: inst.op, words: Cow::Borrowed(inst.words) }
    }
}

/// Values of 32 bits, and of truth as 0 and 1, by id.
#[derive(Default)]
struct Known(FxHashMap<Word, u32>);

impl Known {
    fn set(&mut self, id: Word, value: u32) {
        self.0.insert(id, value);
    }

    fn get(&self, id: Word) -> Option<u32> {
        self.0.get(&id).copied()
    }

    /// Returns the value of an operation, as far as it decides branches.
    fn evaluated(&self, op: Op, args: &[Word]) -> Option<u32> {
        let arg = |i: usize| args.get(i).and_then(|&id| self.get(id));
        match op {
            Op::LogicalAnd if arg(0) == Some(0) || arg(1) == Some(0) => return Some(0),
            Op::LogicalOr if arg(0) == Some(1) || arg(1) == Some(1) => return Some(1),
            Op::LogicalNot => return Some(1 - arg(0)?),
            Op::Select => return arg(if arg(0)? == 1 { 1 } else { 2 }),
            _ => {}
        }
        let (a, b) = (arg(0)?, arg(1)?);
        Some(match op {
            Op::BitwiseAnd | Op::LogicalAnd => a & b,
            Op::BitwiseOr | Op::LogicalOr => a | b,
            Op::IEqual | Op::LogicalEqual => u32::from(a == b),
            Op::INotEqual | Op::LogicalNotEqual => u32::from(a != b),
            Op::ULessThan => u32::from(a < b),
            Op::ULessThanEqual => u32::from(a <= b),
            Op::UGreaterThan => u32::from(a > b),
            Op::UGreaterThanEqual => u32::from(a >= b),
            _ => return None,
        })
    }

    /// Returns the value of a phi, by the ways on which its block is come to.
    fn joined(&self, phi: Inst<'_>, paths: &Paths) -> Option<u32> {
        let (to, pairs) = (paths.at, phi.words[3..].chunks_exact(2));
        let mut values = pairs.filter(|pair| !paths.is_closed(pair[1], to)).map(|pair| self.get(pair[0]));
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    }
}

/// The ways through a function.
#[derive(Default)]
struct Paths {
    /// The label of the block that is looked at.
    at: Word,
    seen: FxHashSet<Word>,
    open: FxHashSet<(Word, Word)>,
    reached: FxHashSet<Word>,
    /// Blocks where structured code ends, reached or not.
    merges: FxHashSet<Word>,
    continues: FxHashSet<Word>,
    set_once: FxHashSet<Word>,
    /// What is known of each value that is returned.
    returned: Vec<Option<u32>>,
}

impl Paths {
    fn of(function: &Function<'_>) -> Self {
        let reached = function.blocks.iter().take(1).map(|block| block[0].word(1)).collect();
        Self { reached, set_once: function.set_once(), ..Self::default() }
    }

    fn open(&mut self, to: Word) {
        self.open.insert((self.at, to));
        self.reached.insert(to);
    }

    /// Whether a way is known to be gone on never; not known for ways back to the begin of a loop.
    fn is_closed(&self, from: Word, to: Word) -> bool {
        self.seen.contains(&from) && !self.open.contains(&(from, to))
    }
}

/// Cuts functions down.
struct Cutter<'m, 'a> {
    module: &'m Module<'a>,
    known: Known,
    cut: FxHashMap<Word, CutFunction<'a>>,
}

/// A function that was cut down.
#[derive(Default)]
struct CutFunction<'a> {
    insts: Vec<NewInst<'a>>,
    /// What it returns, if that is known.
    returns: Option<u32>,
}

impl<'a> Cutter<'_, 'a> {
    /// Cuts a function and those that it calls down, unless that was done, and returns what it returns, if that is
    /// known. `None` without such a function.
    fn cut(&mut self, id: Word) -> Option<Option<u32>> {
        if let Some(cut) = self.cut.get(&id) {
            return Some(cut.returns);
        }
        let function = self.module.functions.iter().find(|function| function.id == id)?;
        // A function that calls itself, which none may, is not gone through twice.
        self.cut.insert(id, CutFunction::default());
        let mut paths = Paths::of(function);
        let walked: Option<Vec<_>> = function.blocks.iter().map(|block| self.walked(block, &mut paths)).collect();
        let mut returned = paths.returned.iter().copied();
        let first = returned.next().flatten();
        let returns = first.filter(|_| returned.all(|value| value == first));
        let cut = match paths.kept(function, walked?) {
            Some(insts) => CutFunction { insts, returns },
            None => CutFunction { insts: function.all().map(NewInst::from).collect(), returns: None },
        };
        let returns = cut.returns;
        self.cut.insert(id, cut);
        Some(returns)
    }

    /// Follows a block: what is known after it, and where it leads. Returns its instructions, none if it is not come
    /// to; `None` where it calls what there is not.
    fn walked(&mut self, block: &[Inst<'a>], paths: &mut Paths) -> Option<Vec<NewInst<'a>>> {
        paths.at = block[0].word(1);
        paths.seen.insert(paths.at);
        if !paths.reached.contains(&paths.at) {
            return Some(Vec::new());
        }
        let mut kept: Vec<NewInst<'a>> = Vec::with_capacity(block.len());
        for &inst in block {
            match inst.op {
                Op::SelectionMerge => _ = paths.merges.insert(inst.word(1)),
                Op::LoopMerge => {
                    paths.merges.insert(inst.word(1));
                    paths.continues.insert(inst.word(2));
                }
                Op::Branch => paths.open(inst.word(1)),
                Op::BranchConditional => {
                    let merge = kept.last().filter(|last| last.op == Op::SelectionMerge).map(|merge| merge.word(1));
                    if let (Some(value), Some(merge)) = (self.known.get(inst.word(1)), merge) {
                        let to = inst.word(if value == 1 { 2 } else { 3 });
                        paths.open(to);
                        paths.merges.remove(&merge);
                        kept.pop();
                        kept.push(NewInst::new(Op::Branch, &[to]));
                        continue;
                    }
                    inst.words[2..4].iter().for_each(|&to| paths.open(to));
                }
                Op::Switch => {
                    paths.open(inst.word(2));
                    inst.words[3..].chunks_exact(2).for_each(|case| paths.open(case[1]));
                }
                Op::ReturnValue => paths.returned.push(self.known.get(inst.word(1))),
                _ => self.learn(inst, paths)?,
            }
            kept.push(inst.into());
        }
        Some(kept)
    }

    /// Adds what is known of the result of an instruction.
    fn learn(&mut self, inst: Inst<'_>, paths: &Paths) -> Option<()> {
        let value = match inst.op {
            Op::FunctionCall => self.cut(inst.word(3))?,
            Op::Phi => self.known.joined(inst, paths),
            // A variable is what it is once set to.
            Op::Store if paths.set_once.contains(&inst.word(1)) => {
                let value = self.known.get(inst.word(2));
                value.into_iter().for_each(|value| self.known.set(inst.word(1), value));
                None
            }
            Op::Load if paths.set_once.contains(&inst.word(3)) => self.known.get(inst.word(3)),
            op if inst.words.len() > 3 => self.known.evaluated(op, &inst.words[3..]),
            _ => None,
        };
        value.into_iter().for_each(|value| self.known.set(inst.word(2), value));
        Some(())
    }
}

impl<'a> Function<'a> {
    fn all(&self) -> impl Iterator<Item = Inst<'a>> {
        self.head.iter().chain(self.blocks.iter().flatten()).copied()
    }

    /// Returns the variables that are set by one store and otherwise only loaded.
    fn set_once(&self) -> FxHashSet<Word> {
        let variables = self.all().filter(|inst| inst.op == Op::Variable && inst.words.len() == 4);
        let mut sets: FxHashMap<Word, u32> = variables.map(|inst| (inst.word(2), 0)).collect();
        for inst in self.all().filter(|inst| !matches!(inst.op, Op::Variable | Op::Load)) {
            let is_store = inst.op == Op::Store;
            for (at, word) in inst.words.iter().enumerate().skip(1) {
                // A number that is no id only makes a variable seem to be used.
                sets.entry(*word).and_modify(|sets| *sets += if is_store && at == 1 { 1 } else { 2 });
            }
        }
        sets.into_iter().filter(|&(_, sets)| sets == 1).map(|(variable, _)| variable).collect()
    }
}

impl Paths {
    /// Returns the instructions of a function of these blocks, or `None` where a loop would lose its way back.
    fn kept<'a>(&self, function: &Function<'a>, walked: Vec<Vec<NewInst<'a>>>) -> Option<Vec<NewInst<'a>>> {
        let mut kept: Vec<NewInst<'a>> = function.head.iter().copied().map(NewInst::from).collect();
        for (source, insts) in function.blocks.iter().zip(walked) {
            let label = source[0].word(1);
            if !insts.is_empty() {
                kept.extend(insts.into_iter().map(|inst| self.pruned(label, inst)));
            } else if self.reached.contains(&label) || self.continues.contains(&label) {
                return None;
            } else if self.merges.contains(&label) {
                kept.extend([source[0].into(), NewInst::new(Op::Unreachable, &[])]);
            }
        }
        if kept.last().is_some_and(|inst| inst.op != Op::FunctionEnd) {
            kept.push(NewInst::new(Op::FunctionEnd, &[]));
        }
        Some(kept)
    }

    /// Returns an instruction of a block; a phi without the ways on which the block is not come to.
    fn pruned<'a>(&self, block: Word, inst: NewInst<'a>) -> NewInst<'a> {
        if inst.op != Op::Phi {
            return inst;
        }
        let pairs = inst.words[3..].chunks_exact(2).filter(|pair| self.open.contains(&(pair[1], block)));
        let operands: Vec<Word> = inst.words[1..3].iter().copied().chain(pairs.flatten().copied()).collect();
        NewInst::new(Op::Phi, &operands)
    }
}

#[cfg(test)]
mod tests {
    use super::specialised;
    use rspirv::binary::Assemble;
    use rspirv::dr::{Builder, Operand, load_words};
    use rspirv::spirv::{Decoration, ExecutionModel, FunctionControl, Op, SelectionControl, Word};

    /// Begins a function without parameters that returns a number.
    fn begin(builder: &mut Builder, uint: Word) -> Word {
        let ty = builder.type_function(uint, []);
        builder.begin_function(uint, None, FunctionControl::NONE, ty).expect("no function is open")
    }

    /// Returns a kernel that returns what `dear` or `cheap` does, as bit 1 of constant 0 says, and adds nothing.
    fn kernel() -> Vec<u32> {
        let mut builder = Builder::new();
        let (uint, bool) = (builder.type_int(32, 0), builder.type_bool());
        let forms = builder.spec_constant_bit32(uint, 3);
        builder.decorate(forms, Decoration::SpecId, [Operand::LiteralBit32(0)]);
        let [zero, two] = [0, 2].map(|value| builder.constant_bit32(uint, value));
        let functions = [("dear", 7), ("cheap", 8)].map(|(name, value)| {
            let value = builder.constant_bit32(uint, value);
            let id = begin(&mut builder, uint);
            builder.begin_block(None).expect("a function is open");
            builder.ret_value(value).expect("a block is open");
            builder.end_function().expect("a function is open");
            builder.name(id, name);
            id
        });
        let main = begin(&mut builder, uint);
        let [first, dear, cheap, merge] = std::array::from_fn(|_| builder.id());
        builder.begin_block(Some(first)).expect("a function is open");
        let masked = builder.bitwise_and(uint, None, forms, two).expect("a block is open");
        let has = builder.i_not_equal(bool, None, masked, zero).expect("a block is open");
        builder.selection_merge(merge, SelectionControl::NONE).expect("a block is open");
        builder.branch_conditional(has, dear, cheap, []).expect("a block is open");
        let results = [dear, cheap].into_iter().zip(functions).map(|(label, function)| {
            builder.begin_block(Some(label)).expect("a function is open");
            let result = builder.function_call(uint, None, function, []).expect("a block is open");
            builder.branch(merge).expect("a block is open");
            (result, label)
        });
        let results: Vec<_> = results.collect();
        builder.begin_block(Some(merge)).expect("a function is open");
        let joined = builder.phi(uint, None, results).expect("a block is open");
        builder.ret_value(joined).expect("a block is open");
        builder.end_function().expect("a function is open");
        builder.entry_point(ExecutionModel::GLCompute, main, "main", []);
        builder.module().assemble()
    }

    /// Returns the functions that a kernel has names for, and how many blocks and ways to its last phi `main` has.
    fn left(words: &[u32]) -> (Vec<String>, usize, usize) {
        let module = load_words(words).expect("it can be read");
        let names = module.debug_names.iter().map(|name| name.operands[1].unwrap_literal_string().to_owned());
        let main = module.functions.last().expect("a function");
        let phi = main.all_inst_iter().find(|inst| inst.class.opcode == Op::Phi).expect("a phi");
        (names.collect(), main.blocks.len(), phi.operands.len() / 2)
    }

    #[test]
    fn kernels_lose_what_their_constants_rule_out() {
        let kernel = kernel();
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(left(&specialised(&kernel, [(0, 2)])), (names(&["dear"]), 3, 1));
        assert_eq!(left(&specialised(&kernel, [(0, 1)])), (names(&["cheap"]), 3, 1));
        // Other constants say nothing.
        assert_eq!(left(&specialised(&kernel, [(1, 2)])), (names(&["dear", "cheap"]), 4, 2));
    }

    #[test]
    fn what_is_not_understood_stays_as_it_is() {
        let mut kernel = kernel();
        kernel.push(9 << 16 | 1);
        assert_eq!(specialised(&kernel, [(0, 2)]), kernel);
        assert!(specialised(&[], [(0, 2)]).is_empty());
    }
}

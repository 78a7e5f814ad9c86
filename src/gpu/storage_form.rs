//! Kernels that read storage buffers in place of buffers of texels.
//!
//! The build and the shader compiler make buffers of texels of what kernels only read, because CPU drivers read these
//! faster (build/texels.rs). This is the way back, for tools that cannot read them.

use super::spirv_words::{BOUND, Decoration, Dim, HEADER_WORDS, Op, StorageClass, Word, inst, insts, is};
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns a kernel without buffers of texels, and the bindings that are storage buffers in it instead. A buffer that
/// is used otherwise than by fetches stays as it is, and so do words that are not understood.
pub(super) fn with_storage_buffers(words: &[Word]) -> (Vec<Word>, FxHashSet<u32>) {
    let texels = TexelReads::read(words).filter(|texels| !texels.buffers.is_empty());
    let rewritten = texels.map(|texels| texels.rewritten(words));
    rewritten.unwrap_or_else(|| (words.to_vec(), FxHashSet::default()))
}

/// What the elements of a buffer are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FetchedElement {
    /// Four words: the vector's type.
    Record(Word),
    /// One word: its type. A fetch gives a vector of it.
    Word(Word),
}

impl FetchedElement {
    fn ty(self) -> Word {
        match self {
            Self::Record(ty) | Self::Word(ty) => ty,
        }
    }

    fn bytes(self) -> u32 {
        match self {
            Self::Record(_) => 16,
            Self::Word(_) => 4,
        }
    }
}

/// Returns whether an instruction fetches a texel, and says no more of it than how its words are extended, which words
/// of 32 bits are not.
fn is_plain_fetch(inst: &[Word]) -> bool {
    let extends = |operands: &Word| [1 << 12, 1 << 13].contains(operands);
    is(inst, Op::ImageFetch) && (inst.len() == 5 || inst.len() == 6 && inst.last().is_some_and(extends))
}

/// Instructions that may use a variable or an image otherwise than by loads and fetches of it. Nearly all of their
/// operands are ids.
const PASS_ON: [Op; 14] = [
    Op::FunctionCall,
    Op::CopyObject,
    Op::Phi,
    Op::Select,
    Op::Store,
    Op::ReturnValue,
    Op::AccessChain,
    Op::InBoundsAccessChain,
    Op::SampledImage,
    Op::Image,
    Op::ImageFetch,
    Op::ImageRead,
    Op::ImageQuerySize,
    Op::ImageTexelPointer,
];

/// The buffers of texels of a module.
struct TexelReads {
    /// By their variables: elements and bindings.
    buffers: FxHashMap<Word, (FetchedElement, u32)>,
    /// The buffers that images were loaded from.
    loaded: FxHashMap<Word, Word>,
    /// The type of unsigned words.
    u32: Word,
}

/// The ids of a module that are new.
struct FreshIds {
    next: Word,
    zero: Word,
    /// For each kind of element the types of pointers to the block and to an element.
    types: FxHashMap<FetchedElement, [Word; 2]>,
}

impl FreshIds {
    fn next(&mut self) -> Word {
        self.next += 1;
        self.next - 1
    }
}

impl TexelReads {
    fn read(words: &[Word]) -> Option<Self> {
        let all = insts(words)?;
        let mut images: FxHashMap<Word, Word> = FxHashMap::default();
        let (mut pointers, mut vectors): (FxHashMap<Word, Word>, FxHashMap<Word, Word>) = Default::default();
        let (mut signed, mut bindings): (FxHashMap<Word, bool>, FxHashMap<Word, u32>) = Default::default();
        let mut variables = Vec::new();
        for inst in &all {
            match *inst.get(1..).unwrap_or(&[]) {
                [id, 32, sign] if is(inst, Op::TypeInt) => _ = signed.insert(id, sign == 1),
                [id, of, 4] if is(inst, Op::TypeVector) => _ = vectors.insert(of, id),
                [id, of, dim, _, _, _, 1, ..] if is(inst, Op::TypeImage) && dim == Dim::DimBuffer as Word => {
                    images.insert(id, of);
                }
                [id, _, to] if is(inst, Op::TypePointer) => _ = pointers.insert(id, to),
                [ty, id, class] if is(inst, Op::Variable) && class == StorageClass::UniformConstant as Word => {
                    variables.push((id, ty));
                }
                [id, decoration, binding] if is(inst, Op::Decorate) && decoration == Decoration::Binding as Word => {
                    bindings.insert(id, binding);
                }
                _ => {}
            }
        }
        let element = |of: Word| match signed.get(&of)? {
            true => Some(FetchedElement::Word(of)),
            false => vectors.get(&of).map(|&vector| FetchedElement::Record(vector)),
        };
        let buffer = |(id, ty): (Word, Word)| {
            let of = images.get(pointers.get(&ty)?)?;
            Some((id, (element(*of)?, *bindings.get(&id)?)))
        };
        let buffers = variables.into_iter().filter_map(buffer).collect();
        let u32 = signed.iter().find(|(_, signed)| !**signed).map(|(&id, _)| id)?;
        let mut texels = Self { buffers, loaded: FxHashMap::default(), u32 };
        texels.find_loads(&all);
        Some(texels)
    }

    /// Finds the loads of images, and forgets buffers that are used otherwise than by fetches.
    fn find_loads(&mut self, all: &[&[Word]]) {
        let mut others: FxHashSet<Word> = FxHashSet::default();
        for inst in all.iter().skip_while(|inst| !is(inst, Op::Function)) {
            match inst.get(3) {
                Some(from) if is(inst, Op::Load) && self.buffers.contains_key(from) => {
                    self.loaded.insert(inst[2], *from);
                }
                _ if is_plain_fetch(inst) => {}
                _ if PASS_ON.iter().any(|&op| is(inst, op)) => {
                    let used =
                        |id: &Word| self.loaded.get(id).copied().or(self.buffers.contains_key(id).then_some(*id));
                    others.extend(inst.iter().skip(1).filter_map(used));
                }
                _ => {}
            }
        }
        self.buffers.retain(|id, _| !others.contains(id));
        self.loaded.retain(|_, from| !others.contains(from));
    }

    fn rewritten(self, words: &[Word]) -> (Vec<Word>, FxHashSet<u32>) {
        let mut ids = FreshIds { next: words[BOUND], zero: 0, types: FxHashMap::default() };
        let mut new = words[..HEADER_WORDS].to_vec();
        let all = insts(words).unwrap_or_default();
        let annotates = |inst: &&[Word]| {
            let ops = [Op::Decorate, Op::MemberDecorate, Op::DecorateId, Op::DecorateString, Op::MemberDecorateString];
            ops.iter().any(|&op| is(inst, op))
        };
        let types = all.iter().position(annotates).unwrap_or(0);
        let code = all.iter().position(|inst| is(inst, Op::Function)).unwrap_or(all.len());
        let (annotations, globals) = self.declarations(&mut ids);
        for (at, old) in all.iter().enumerate() {
            if at == types {
                new.extend(&annotations);
            }
            if at == code {
                new.extend(&globals);
            }
            self.rewrite(old, &mut ids, &mut new);
        }
        new[BOUND] = ids.next;
        (new, self.buffers.values().map(|&(_, binding)| binding).collect())
    }

    /// Returns the annotations and the declarations of the storage buffers.
    fn declarations(&self, ids: &mut FreshIds) -> (Vec<Word>, Vec<Word>) {
        let (mut annotations, mut globals) = (Vec::new(), Vec::new());
        ids.zero = ids.next();
        globals.extend(inst(Op::Constant, &[self.u32, ids.zero, 0]));
        let mut variables: Vec<_> = self.buffers.iter().collect();
        variables.sort_unstable_by_key(|(id, _)| **id);
        let class = StorageClass::StorageBuffer as Word;
        for (&variable, &(element, _)) in variables {
            let [block, _] = ids.types.get(&element).copied().unwrap_or_else(|| {
                let [array, block, pointer, to_element] = std::array::from_fn(|_| ids.next());
                let stride = Decoration::ArrayStride as Word;
                annotations.extend(inst(Op::Decorate, &[array, stride, element.bytes()]));
                annotations.extend(inst(Op::Decorate, &[block, Decoration::Block as Word]));
                annotations.extend(inst(Op::MemberDecorate, &[block, 0, Decoration::Offset as Word, 0]));
                annotations.extend(inst(Op::MemberDecorate, &[block, 0, Decoration::NonWritable as Word]));
                globals.extend(inst(Op::TypeRuntimeArray, &[array, element.ty()]));
                globals.extend(inst(Op::TypeStruct, &[block, array]));
                globals.extend(inst(Op::TypePointer, &[pointer, class, block]));
                globals.extend(inst(Op::TypePointer, &[to_element, class, element.ty()]));
                ids.types.insert(element, [pointer, to_element]);
                [pointer, to_element]
            });
            globals.extend(inst(Op::Variable, &[block, variable, class]));
        }
        (annotations, globals)
    }

    /// Appends what becomes of an instruction.
    fn rewrite(&self, old: &[Word], ids: &mut FreshIds, new: &mut Vec<Word>) {
        let is_variable = is(old, Op::Variable) && self.buffers.contains_key(&old[2]);
        if is_variable || is(old, Op::Load) && self.loaded.contains_key(&old[2]) {
            return;
        }
        let buffer = old.get(3).and_then(|image| self.loaded.get(image)).filter(|_| is(old, Op::ImageFetch));
        let Some(&variable) = buffer else {
            new.extend(old);
            return;
        };
        let &[_, ty, result, _, place, ..] = old else { return };
        let (element, _) = self.buffers[&variable];
        let [_, to_element] = ids.types[&element];
        let pointer = ids.next();
        new.extend(inst(Op::AccessChain, &[to_element, pointer, variable, ids.zero, place]));
        match element {
            FetchedElement::Record(_) => new.extend(inst(Op::Load, &[ty, result, pointer])),
            FetchedElement::Word(word_type) => {
                let word = ids.next();
                new.extend(inst(Op::Load, &[word_type, word, pointer]));
                new.extend(inst(Op::CompositeConstruct, &[ty, result, word, word, word, word]));
            }
        }
    }
}

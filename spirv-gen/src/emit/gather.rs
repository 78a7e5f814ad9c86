//! Lookups that share a loop ([`crate::passes::lookup_steps`]): written once, over arrays of what they look up.

use super::emitter::Emitter;
use super::error::EmitError;
use crate::ir::Lookup;
use rspirv::spirv::{LoopControl, Op, Word};

/// An argument of lookups.
enum GatheredArgument {
    /// It is the same for all.
    Same(Word),
    /// They are in an array of values of a type.
    Array(Word, Word),
}

impl Emitter<'_> {
    /// Writes lookups as one loop; gives what each finds.
    pub(super) fn lookups(&mut self, lookup: Lookup, all: &[Vec<Word>]) -> Result<Vec<Word>, EmitError> {
        let types: Vec<Word> = lookup.kind.arguments().iter().map(|&ty| self.ty(ty)).collect();
        let mut arguments = Vec::new();
        for (number, &ty) in types.iter().enumerate() {
            let words: Vec<Word> = all.iter().map(|args| args[number]).collect();
            arguments.push(if words.iter().all(|&word| word == words[0]) {
                GatheredArgument::Same(words[0])
            } else {
                GatheredArgument::Array(self.array_of(ty, &words), ty)
            });
        }
        let (u32, bool) = (self.s.type_u32(), self.s.type_bool());
        let (zero, one, count) = (self.s.u32(0), self.s.u32(1), self.s.u32(all.len() as u32));
        let found_type = self.ty(lookup.ty);
        let array = self.s.type_array(found_type, all.len() as u32);
        let found = self.s.local(array, None);
        let entry = self.s.at();
        let [header, work, next, merge] = std::array::from_fn(|_| self.s.id());
        self.s.branch(header);
        self.s.block(header);
        let at = self.s.phi(u32, &[(zero, entry)]);
        self.s.loop_merge(merge, next, LoopControl::DONT_UNROLL);
        self.s.branch(work);
        self.s.block(work);
        let mut args = Vec::new();
        for argument in arguments {
            args.push(match argument {
                GatheredArgument::Same(word) => word,
                GatheredArgument::Array(array, ty) => self.load_element(array, ty, at),
            });
        }
        let result = self.lookup(lookup, &args)?;
        let place = self.element_pointer(found, found_type, at);
        self.s.effect(Op::Store, &[place, result]);
        let following = self.s.inst(Op::IAdd, u32, &[at, one]);
        let again = self.s.inst(Op::ULessThan, bool, &[following, count]);
        self.s.effect(Op::BranchConditional, &[again, next, merge]);
        self.s.block(next);
        self.s.branch(header);
        self.s.extend_phi(at, following, next);
        self.s.block(merge);
        let mut results = Vec::new();
        for number in 0..all.len() as u32 {
            let number = self.s.u32(number);
            results.push(self.load_element(found, found_type, number));
        }
        Ok(results)
    }

    /// Returns a local array of these values.
    fn array_of(&mut self, ty: Word, words: &[Word]) -> Word {
        let array = self.s.type_array(ty, words.len() as u32);
        let array = self.s.local(array, None);
        for (&word, number) in words.iter().zip(0..) {
            let number = self.s.u32(number);
            let place = self.element_pointer(array, ty, number);
            self.s.effect(Op::Store, &[place, word]);
        }
        array
    }

    fn load_element(&mut self, array: Word, ty: Word, index: Word) -> Word {
        let place = self.element_pointer(array, ty, index);
        self.s.load(ty, place)
    }
}

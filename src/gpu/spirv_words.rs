//! SPIR-V as words, for what rewrites whole modules.

pub(super) use rspirv::spirv::{Decoration, Dim, Op, SourceLanguage, StorageClass, Word};

/// Words before the first instruction.
pub(super) const HEADER_WORDS: usize = 5;
/// The header's word from which on ids are free.
pub(super) const BOUND: usize = 3;

/// Returns the instructions of a module, or `None` where words are none.
pub(super) fn insts(words: &[Word]) -> Option<Vec<&[Word]>> {
    split(words.get(HEADER_WORDS..)?)
}

/// Returns the instructions that words without a header are.
pub(super) fn split(mut rest: &[Word]) -> Option<Vec<&[Word]>> {
    let mut all = Vec::with_capacity(rest.len() / 4);
    while let Some(first) = rest.first() {
        let (inst, after) = rest.split_at_checked(*first as usize >> 16).filter(|(inst, _)| !inst.is_empty())?;
        all.push(inst);
        rest = after;
    }
    Some(all)
}

/// Returns whether an instruction is of a kind.
pub(super) fn is(inst: &[Word], op: Op) -> bool {
    inst[0] & 0xffff == op as Word
}

/// Returns an instruction.
pub(super) fn inst(op: Op, operands: &[Word]) -> Vec<Word> {
    [&[(operands.len() as Word + 1) << 16 | op as Word], operands].concat()
}

/// Returns the words of a text as an operand.
pub(super) fn text(text: &str) -> Vec<Word> {
    // At least one byte 0 follows.
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

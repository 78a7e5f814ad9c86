//! What is computed once for a block, instead of at every vertex: programs of the host, whose results are in the block.

use super::reflection::{Content, Shortfall};
use super::table::{BindingTable, Block, BlockPrograms};
use super::texture::note_names;
use crate::ir::{Body, Inst, InstData, Op, Value};
use crate::passes::checked;
use crate::passes::translate::{Rules, Translator, translate};
use crate::passes::uniform::{Blocks, take_uniform};

impl Block {
    fn number(self) -> u32 {
        match self {
            Self::Instance => 0,
            Self::Light(kind) => kind + 1,
        }
    }

    fn numbered(number: u32) -> Self {
        number.checked_sub(1).map_or(Self::Instance, Self::Light)
    }
}

impl Blocks for BindingTable {
    fn block_of(&self, _: &Body, data: &InstData) -> Option<u32> {
        let (block, content) = self.block_entry(&data.op)?;
        // These are addresses, to which vertices add.
        (!matches!(content, Content::LightList | Content::LightsTaken(_) | Content::Tables)).then(|| block.number())
    }
}

/// Takes what can be computed once out of a program; the programs that compute it.
pub(super) fn compute_once(body: &Body, table: &mut BindingTable) -> (Body, BlockPrograms) {
    let slice = take_uniform(body, table);
    let mut left = slice.body;
    for load in slice.loads {
        let content = Content::Computed(load.result);
        left.inst_mut(load.inst).op = table.load(Block::numbered(load.block), content, load.ty, 1);
    }
    let left = translate(&left, &mut DropTexts { table }, false);
    note_names(&left, table);
    let programs = slice.programs.into_iter().map(|(block, program)| (Block::numbered(block), checked(program)));
    (checked(left), programs.collect())
}

/// Texts that a kernel would have to make, which it cannot: they are empty, and nothing is found by them.
struct DropTexts<'a> {
    table: &'a mut BindingTable,
}

impl Rules for DropTexts<'_> {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, _: &[Value]) -> Option<Vec<Value>> {
        let data = t.from.inst(inst);
        let what = match &data.op {
            Op::Format(format) => format!("format {format:?}"),
            Op::FormatBy => "format()".to_owned(),
            Op::Match => "match()".to_owned(),
            Op::QueryBy { source, .. } => format!("{}()", source.name()),
            _ => return None,
        };
        self.table.shortfalls.insert(Shortfall::ComputedText(what.into()));
        Some(t.types(data).into_iter().map(|ty| t.out.zero(ty)).collect())
    }
}

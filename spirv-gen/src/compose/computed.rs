//! What is computed once for a block, instead of at every vertex: programs of the host, whose results are in the block.

use super::reflection::Content;
use super::table::{BindingTable, Block};
use crate::ir::{Body, InstData};
use crate::passes::checked;
use crate::passes::uniform::{Blocks, take_uniform};
use std::collections::BTreeMap;

/// Programs by block.
pub(super) type BlockPrograms = BTreeMap<Block, Body>;

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
        (!matches!(content, Content::LightList | Content::LightsTaken(_))).then(|| block.number())
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
    let programs = slice.programs.into_iter().map(|(block, program)| (Block::numbered(block), checked(program)));
    (checked(left), programs.collect())
}

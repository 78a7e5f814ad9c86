//! How many operations of a finished program give the same for all vertices.

use super::dependence::{Blocks, Dependences, Home, root};
use crate::ir::{Body, Buffer, Builtin, InstData, MachineType, Op, Unary};

/// Operations of a program, each counted once wherever it is: not those that only read or repeat values, and none on
/// addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCounts {
    /// Those that give the same wherever the instance is shaded.
    pub instance: usize,
    /// Those that give the same wherever a light shines.
    pub light: usize,
    /// Those that give the same for an instance or a light in a trip of a loop, but something else in the next.
    pub trip: usize,
    /// All others.
    pub vertex: usize,
}

impl OperationCounts {
    /// Returns the number of all operations.
    pub fn all(self) -> usize {
        self.instance + self.light + self.trip + self.vertex
    }
}

/// Counts the operations of a composed program, or of the program of a block.
pub fn count_operations(body: &Body) -> OperationCounts {
    let known = Dependences::of(body, &PlacedBlocks, u64::MAX);
    let mut counts = OperationCounts::default();
    body.walk(body.root(), &mut |inst| {
        let data = body.inst(inst);
        let reads = matches!(data.op, Op::Const(_) | Op::Load { .. } | Op::Channel { .. } | Op::Builtin(_))
            || data.op == Op::Unary(Unary::Splat);
        match data.results.first() {
            Some(&result) if !reads && !data.op.has_regions() && body.ty(result) != MachineType::U32 => {
                match known.home_in_loops(result) {
                    Home::Anywhere | Home::Block(_) if known.differs_in_loops(result) => counts.trip += 1,
                    Home::Anywhere | Home::Block(0) => counts.instance += 1,
                    Home::Block(_) => counts.light += 1,
                    Home::Nowhere => counts.vertex += 1,
                }
            }
            _ => {}
        }
    });
    counts
}

/// The blocks of a program in which everything has its place. Lights count as of one kind.
struct PlacedBlocks;

impl Blocks for PlacedBlocks {
    fn block_of(&self, body: &Body, data: &InstData) -> Option<u32> {
        let Op::Load { buffer: Buffer::Params, .. } = data.op else { return None };
        let address = body.def_inst(root(body, *data.args.first()?))?;
        match address.op {
            Op::Builtin(Builtin::Block) => Some(0),
            // The address of a light's block is in its entry of the light list.
            Op::Load { buffer: Buffer::Params, record: 0, lane: 1, ty: MachineType::U32 } => {
                let entry = body.def_inst(root(body, address.args[0]))?;
                (!matches!(entry.op, Op::Builtin(_))).then_some(1)
            }
            _ => None,
        }
    }
}

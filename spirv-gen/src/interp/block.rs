//! Running the program of a block: what is computed of its values once, for all kernels that read it.

use super::exec::run;
use super::grid::Grid;
use super::host::{Column, InterpreterHost, LightRays};
use super::memory::value;
use crate::ir::{Body, Builtin, Const, Op, QuerySource, RslType};
use std::sync::Arc;

/// What the program of a block asks its host.
pub trait BlockSurroundings {
    /// Returns the token of a text.
    fn token(&self, text: &str) -> u32;

    /// Returns the text of a token.
    fn text(&self, token: u32) -> String;

    /// Returns the words of the answer to a query, if there is one of this type and number of elements.
    fn query(&self, source: QuerySource, name: &str, ty: RslType, count: u32) -> Option<Vec<u32>>;
}

/// Returns the words of each result of a program that reads the words of a block.
pub fn compute_block(program: &Body, block: &[u32], surroundings: &dyn BlockSurroundings) -> Vec<Vec<u32>> {
    let one = Grid { nu: 0, nv: 0, du: 0.0, dv: 0.0, flags: 0, seed: 0 };
    let outcome = run(program, program.root(), &one, &BlockHost { block, surroundings });
    outcome.results.iter().filter_map(|column| column.first()).map(Const::words).collect()
}

struct BlockHost<'a> {
    block: &'a [u32],
    surroundings: &'a dyn BlockSurroundings,
}

impl BlockHost<'_> {
    /// Returns 1 and the values, or zeros.
    fn query(&self, source: QuerySource, name: &str, ty: RslType, count: u32) -> Vec<Const> {
        let (each, answer) = (ty.machine().words() as usize, self.surroundings.query(source, name, ty, count));
        let found = Const::F32(f32::from(u8::from(answer.is_some())));
        let words = answer.unwrap_or_else(|| vec![0; each * count as usize]);
        let values = words.chunks(each).map(|words| value(words, 0, 0, ty.machine()));
        std::iter::once(found).chain(values).collect()
    }
}

impl InterpreterHost for BlockHost<'_> {
    fn read(&self, op: &Op, args: &[Const], _: usize) -> Vec<Const> {
        match op {
            Op::Load { record, lane, ty, .. } => {
                let at = args.first().and_then(Const::as_u32).unwrap_or(0) + record;
                vec![value(self.block, at, *lane, *ty)]
            }
            Op::Builtin(Builtin::Block) => vec![Const::U32(0)],
            Op::QueryBy { source, ty, count } => {
                let name = self.text(args.first().and_then(Const::as_u32).unwrap_or(0));
                self.query(*source, &name, *ty, *count)
            }
            op => panic!("{op} is not in the program of a block"),
        }
    }

    fn token(&self, text: &str) -> u32 {
        self.surroundings.token(text)
    }

    fn text(&self, token: u32) -> String {
        self.surroundings.text(token)
    }

    fn lights(&self, _: &Grid, _: &[Const], _: &[(Arc<str>, Column)]) -> Vec<LightRays> {
        Vec::new()
    }
}

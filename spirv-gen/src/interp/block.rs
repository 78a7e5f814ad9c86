//! Running the program of a block: what is computed of its values once, for all kernels that read it.

use super::exec::run;
use super::grid::Grid;
use super::host::{InterpreterHost, LightRays};
use super::memory::value;
use crate::ir::{Body, Builtin, Const, Op};

/// The texts of tokens.
pub trait Texts {
    /// Returns the token of a text.
    fn token(&self, text: &str) -> u32;

    /// Returns the text of a token.
    fn text(&self, token: u32) -> String;
}

/// Returns the words of each result of a program that reads the words of a block.
pub fn compute_block(program: &Body, block: &[u32], texts: &dyn Texts) -> Vec<Vec<u32>> {
    let one = Grid { nu: 0, nv: 0, du: 0.0, dv: 0.0, flags: 0, seed: 0 };
    let outcome = run(program, program.root(), &one, &BlockHost { block, texts });
    outcome.results.iter().filter_map(|column| column.first()).map(Const::words).collect()
}

struct BlockHost<'a> {
    block: &'a [u32],
    texts: &'a dyn Texts,
}

impl InterpreterHost for BlockHost<'_> {
    fn read(&self, op: &Op, args: &[Const], _: usize) -> Vec<Const> {
        vec![match op {
            Op::Load { record, lane, ty, .. } => {
                value(self.block, args.first().and_then(Const::as_u32).unwrap_or(0) + record, *lane, *ty)
            }
            Op::Builtin(Builtin::Block) => Const::U32(0),
            op => panic!("{op} is not in the program of a block"),
        }]
    }

    fn token(&self, text: &str) -> u32 {
        self.texts.token(text)
    }

    fn text(&self, token: u32) -> String {
        self.texts.text(token)
    }

    fn lights(&self, _: &Grid, _: &[Const]) -> Vec<LightRays> {
        Vec::new()
    }
}

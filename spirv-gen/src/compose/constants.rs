//! Tables of constants: words of a block that all instances share, so that drivers need not compile them.
//!
//! As arrays of constants they would be copied into the local memory of each invocation, and a CPU driver takes as many
//! seconds for 256 of them as for a texture lookup and a half.

use super::reflection::Content;
use super::table::{BindingTable, Block};
use crate::ir::{Binary, Body, Buffer, Builtin, Const, Inst, MachineType, Op, Value};
use crate::passes::translate::{Rules, Translator, translate};
use rustc_hash::FxHashMap;

/// Where a table is: its element `i` is in lane `lane` of record `first + i * stride` of the tables.
#[derive(Clone, Copy)]
struct TablePlace {
    first: u32,
    stride: u32,
    lane: u8,
}

/// Stores the tables of a program, those with the same index side by side, and makes their elements loads.
pub(super) fn store_tables(body: Body, table: &mut BindingTable, tokens: &dyn Fn(&str) -> u32) -> Body {
    let mut by_index: Vec<(Value, Vec<Inst>)> = Vec::new();
    body.walk(body.root(), &mut |inst| {
        let data = body.inst(inst);
        if let Op::Table(_) = data.op {
            match by_index.iter_mut().find(|(index, _)| *index == data.args[0]) {
                Some((_, insts)) => insts.push(inst),
                None => by_index.push((data.args[0], vec![inst])),
            }
        }
    });
    if by_index.is_empty() {
        return body;
    }
    let mut places = FxHashMap::default();
    for (_, insts) in by_index {
        place_side_by_side(&body, insts, table, tokens, &mut places);
    }
    let base = table.load(Block::Instance, Content::Tables, MachineType::U32, 1);
    translate(&body, &mut LoadElements { base, places }, true)
}

/// Places tables of one index, the elements of one number in as few records as hold them.
fn place_side_by_side(
    body: &Body,
    mut insts: Vec<Inst>,
    table: &mut BindingTable,
    tokens: &dyn Fn(&str) -> u32,
    places: &mut FxHashMap<Inst, TablePlace>,
) {
    let constants = |inst: Inst| match &body.inst(inst).op {
        Op::Table(constants) => &**constants,
        _ => unreachable!("only tables are placed"),
    };
    insts.sort_by_key(|&inst| std::cmp::Reverse(constants(inst)[0].ty().words()));
    let mut used: Vec<u32> = Vec::new();
    let columns: Vec<(usize, u32)> = insts
        .iter()
        .map(|&inst| {
            let words = constants(inst)[0].ty().words();
            let column = used.iter().position(|used| used + words <= 4).unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            used[column] += words;
            (column, used[column] - words)
        })
        .collect();
    let (first, stride) = (table.tables.len(), used.len());
    let rows = insts.iter().map(|&inst| constants(inst).len()).max().unwrap_or(0);
    table.tables.resize(first + rows * stride, [0; 4]);
    for (&inst, (column, lane)) in insts.iter().zip(columns) {
        for (row, constant) in constants(inst).iter().enumerate() {
            let words = words(constant, tokens);
            table.tables[first + row * stride + column][lane as usize..][..words.len()].copy_from_slice(&words);
        }
        let place = TablePlace { first: (first + column) as u32, stride: stride as u32, lane: lane as u8 };
        places.insert(inst, place);
    }
}

fn words(constant: &Const, tokens: &dyn Fn(&str) -> u32) -> Vec<u32> {
    match constant {
        Const::U32(x) => vec![*x],
        Const::F32(x) => vec![x.to_bits()],
        Const::Vec3(x) => x.map(f32::to_bits).to_vec(),
        Const::Str(text) => vec![tokens(text)],
        Const::Bool(_) | Const::Mat4(_) => unreachable!("no tables are made of these"),
    }
}

struct LoadElements {
    /// Loads the record of the tables from the instance block.
    base: Op,
    places: FxHashMap<Inst, TablePlace>,
}

impl Rules for LoadElements {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let &TablePlace { first, stride, lane } = self.places.get(&inst)?;
        let ty = t.from.ty(t.from.inst(inst).results[0]);
        let block = t.out.op(Op::Builtin(Builtin::Block), &[]);
        let base = t.out.op(self.base.clone(), &[block]);
        let mut at = args[0];
        if stride > 1 {
            let stride = t.out.constant(Const::U32(stride));
            at = t.out.op(Op::Binary(Binary::Mul), &[at, stride]);
        }
        let at = t.out.op(Op::Binary(Binary::Add), &[base, at]);
        Some(vec![t.out.op(Op::Load { buffer: Buffer::Params, record: first, lane, ty }, &[at])])
    }
}

//! What is computed once for a block, instead of at every vertex: programs of the host, whose results are in the block.

use super::reflection::{Content, Shortfall};
use super::table::{BindingTable, Block, BlockPrograms};
use super::texture::note_names;
use crate::ir::{Body, Def, Inst, InstData, Op, Region, Slot, Value};
use crate::passes::checked;
use crate::passes::translate::{Rules, Translator, translate};
use crate::passes::uniform::{Blocks, take_uniform};
use rustc_hash::{FxHashMap, FxHashSet};

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
    table.decisions = slice.decisions;
    for load in slice.loads {
        let content = Content::Computed(load.result);
        left.inst_mut(load.inst).op = table.load(Block::numbered(load.block), content, load.ty, 1);
    }
    let waiting = waiting_loops(&left);
    let left = translate(&left, &mut DropTexts { table, waiting }, false);
    note_names(&left, table);
    let programs = slice.programs.into_iter().map(|(block, program)| (Block::numbered(block), checked(program)));
    (checked(left), programs.collect())
}

/// Texts that a kernel would have to make, which it cannot: they are empty, and nothing is found by them. Loops that go
/// on until a text is found would never end: they make no trip.
struct DropTexts<'a> {
    table: &'a mut BindingTable,
    waiting: FxHashSet<Inst>,
}

impl DropTexts<'_> {
    /// Notes that an instruction makes a text, if it does.
    fn note(&mut self, body: &Body, inst: Inst) -> Option<()> {
        let what = made_text(&body.inst(inst).op)?;
        self.table.fall_short(body, body.place(inst), Shortfall::ComputedText(what.into()));
        Some(())
    }
}

impl Rules for DropTexts<'_> {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        if self.waiting.contains(&inst) {
            t.from.walk_inst(inst, &mut |inst| _ = self.note(t.from, inst));
            return Some(args.to_vec());
        }
        let data = t.from.inst(inst);
        self.note(t.from, inst)?;
        Some(t.types(data).into_iter().map(|ty| t.out.zero(ty)).collect())
    }
}

/// Returns how an operation makes a text, or answers a question about one, if it does.
fn made_text(op: &Op) -> Option<String> {
    match op {
        Op::Format(format) => Some(format!("format {format:?}")),
        Op::FormatBy => Some("format()".to_owned()),
        Op::Match => Some("match()".to_owned()),
        Op::QueryBy { source, .. } => Some(format!("{}()", source.name())),
        _ => None,
    }
}

/// Returns the loops whose conditions need texts that would have to be made.
fn waiting_loops(body: &Body) -> FxHashSet<Inst> {
    let (mut loops, mut stored): (FxHashMap<Region, Inst>, FxHashMap<Slot, Vec<Value>>) = Default::default();
    body.walk(body.root(), &mut |inst| {
        let data = body.inst(inst);
        match data.op {
            Op::Loop => _ = loops.insert(data.regions[0], inst),
            Op::SlotStore(slot) => stored.entry(slot).or_default().extend(&data.args),
            _ => {}
        }
    });
    // What a value is made of; `None` for a text that is made.
    let sources = |value: Value| match body.value(value).def {
        Def::Inst(inst, _) => {
            let data = body.inst(inst);
            let yielded = data.regions.iter().flat_map(|&region| &body.region(region).results);
            let elements = if let Op::SlotLoad(slot) = data.op { stored.get(&slot) } else { None };
            let all = data.args.iter().chain(yielded).chain(elements.into_iter().flatten()).copied();
            made_text(&data.op).is_none().then(|| all.collect::<Vec<Value>>())
        }
        Def::Param(region, at) => Some(loops.get(&region).map_or_else(Vec::new, |&inst| {
            let data = body.inst(inst);
            vec![data.args[at as usize], body.region(data.regions[1]).results[at as usize]]
        })),
    };
    let waits = |condition: Region| {
        let (mut seen, mut open) = (FxHashSet::default(), body.region(condition).results.clone());
        while let Some(value) = open.pop() {
            if seen.insert(value) {
                let Some(more) = sources(value) else { return true };
                open.extend(more);
            }
        }
        false
    };
    loops.iter().filter(|&(&condition, _)| waits(condition)).map(|(_, &inst)| inst).collect()
}

//! What a program reads, while it is being composed: everything has a number, and gets its place at the end, when it is
//! known what is read at all.

use super::reflection::{
    BlockLayout, BlockSlot, Content, DisplacementValue, Input, InputChannel, Pattern, PlacedShortfall, Role, Shortfall,
    TextureUse, UniformInput,
};
use crate::abi::{GEOMETRY_CHANNELS, channels};
use crate::ir::{Body, Buffer, Builtin, Const, MachineType, Op, PlaceId, RslType};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Marks a record number as the number of an entry, to be replaced by a place.
const ENTRY: u32 = 0x8000_0000;

/// A block of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Block {
    Instance,
    Light(u32),
}

/// Programs by block.
pub(super) type BlockPrograms = BTreeMap<Block, Body>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BlockEntry {
    block: Block,
    content: Content,
    ty: MachineType,
    len: u32,
}

impl BlockEntry {
    /// Returns the text that it is.
    fn pattern(&self) -> Option<Pattern> {
        match &self.content {
            Content::Param { shader, name, .. } if self.len == 1 => Some(Pattern::Param(*shader, Arc::clone(name))),
            Content::QueryValue(from, name, RslType::String, 1) => Some(Pattern::Query(*from, Arc::clone(name))),
            Content::Computed(number) => {
                let kind = if let Block::Light(kind) = self.block { Some(kind) } else { None };
                Some(Pattern::Computed(kind, *number))
            }
            _ => None,
        }
    }
}

/// Entries by number.
#[derive(Debug, Default)]
pub(super) struct BindingTable {
    entries: Vec<BlockEntry>,
    known: FxHashMap<BlockEntry, u32>,
    inputs: Vec<Input>,
    known_inputs: FxHashMap<Input, u32>,
    pub(super) shortfalls: BTreeSet<PlacedShortfall>,
    pub(super) texture_names: BTreeSet<(Option<Pattern>, TextureUse)>,
    pub(super) filter_names: BTreeSet<Pattern>,
    /// Tables of constants.
    pub(super) tables: Vec<[u32; 4]>,
    /// The results of the instance's program that decide about branches.
    pub(super) decisions: BTreeSet<u32>,
    /// What the position kernel left, in the colour slice.
    pub(super) displacement: Vec<DisplacementValue>,
}

/// Returns the records of an element.
pub(super) fn element_records(ty: MachineType) -> u32 {
    if ty == MachineType::Mat4 { 4 } else { 1 }
}

impl BindingTable {
    /// Notes what is done differently from what the shader asks for at a place of `body`.
    pub(super) fn fall_short(&mut self, body: &Body, place: PlaceId, shortfall: Shortfall) {
        let position = body.places().position(place);
        self.shortfalls.insert(PlacedShortfall { position, shortfall });
    }

    /// Returns the operation that reads a value of a block. Its argument is the block's record (and what is to be added
    /// for an array).
    pub(super) fn load(&mut self, block: Block, content: Content, ty: MachineType, len: u32) -> Op {
        let entry = BlockEntry { block, content, ty, len };
        let next = self.entries.len() as u32;
        let number = *self.known.entry(entry.clone()).or_insert(next);
        if number == next {
            self.entries.push(entry);
        }
        Op::Load { buffer: Buffer::Params, record: ENTRY | number, lane: 0, ty }
    }

    fn input(&mut self, input: Input) -> u32 {
        let next = self.inputs.len() as u32;
        let number = *self.known_inputs.entry(input.clone()).or_insert(next);
        if number == next {
            self.inputs.push(input);
        }
        number
    }

    /// Returns the operation that reads lanes of an input channel.
    pub(super) fn channel(&mut self, input: Input, lane: u8, ty: MachineType) -> Op {
        Op::Channel { channel: self.input(input), lane, ty }
    }

    /// Returns the operation that reads a uniform input. Its argument is [`Builtin::UniformInputs`].
    pub(super) fn uniform(&mut self, input: Input, ty: MachineType) -> Op {
        Op::Load { buffer: Buffer::Arena, record: ENTRY | self.input(input), lane: 0, ty }
    }

    /// Returns what an operation reads from a block.
    pub(super) fn content(&self, op: &Op) -> Option<&Content> {
        self.block_entry(op).map(|(_, content)| content)
    }

    /// Returns the text that an operation gives, if that is known of it.
    pub(super) fn pattern(&self, op: &Op) -> Option<Pattern> {
        match op {
            Op::Const(Const::Str(text)) => Some(Pattern::Literal(text.clone())),
            Op::Load { buffer: Buffer::Params, record, .. } if record & ENTRY != 0 => {
                self.entries[(record & !ENTRY) as usize].pattern()
            }
            _ => None,
        }
    }

    /// Returns the block that an operation reads, and what it reads there.
    pub(super) fn block_entry(&self, op: &Op) -> Option<(Block, &Content)> {
        match op {
            Op::Load { buffer: Buffer::Params, record, .. } if record & ENTRY != 0 => {
                let entry = &self.entries[(record & !ENTRY) as usize];
                Some((entry.block, &entry.content))
            }
            _ => None,
        }
    }

    /// Returns what an operation reads of the inputs.
    pub(super) fn read_input(&self, op: &Op) -> Option<&Input> {
        match op {
            Op::Channel { channel, .. } => self.inputs.get(*channel as usize),
            Op::Load { buffer: Buffer::Arena, record, .. } if record & ENTRY != 0 => {
                self.inputs.get((record & !ENTRY) as usize)
            }
            _ => None,
        }
    }
}

/// Whether an operation reads a table of constants: nothing else is loaded from the parameters at a known place.
pub(super) fn is_table_element(op: &Op) -> bool {
    matches!(op, Op::Load { buffer: Buffer::Params, record, .. } if record & ENTRY == 0)
}

/// The location of everything that a program reads.
#[derive(Debug, Default)]
pub(super) struct Placement {
    pub(super) block: BlockLayout,
    pub(super) lights: Vec<BlockLayout>,
    pub(super) inputs: Vec<InputChannel>,
    pub(super) input_channels: u32,
    pub(super) uniform_inputs: Vec<UniformInput>,
    pub(super) uniform_records: u32,
    pub(super) strings: Vec<Arc<str>>,
    pub(super) reads_space_table: bool,
}

impl Placement {
    fn layout(&mut self, block: Block) -> &mut BlockLayout {
        match block {
            Block::Instance => &mut self.block,
            Block::Light(kind) => &mut self.lights[kind as usize],
        }
    }
}

/// What a program reads, by number.
#[derive(Default)]
struct UsedInputs {
    entries: BTreeSet<u32>,
    channels: BTreeSet<u32>,
    uniforms: BTreeSet<u32>,
    strings: BTreeSet<Arc<str>>,
    space_table: bool,
}

impl UsedInputs {
    fn of(body: &Body) -> Self {
        let mut used = Self::default();
        body.walk(body.root(), &mut |inst| used.note(&body.inst(inst).op));
        used
    }

    fn note(&mut self, op: &Op) {
        match op {
            Op::Load { buffer, record, .. } if record & ENTRY != 0 => {
                let number = record & !ENTRY;
                if *buffer == Buffer::Params {
                    self.entries.insert(number)
                } else {
                    self.uniforms.insert(number)
                };
            }
            Op::Channel { channel, .. } => {
                self.channels.insert(*channel);
            }
            Op::Const(Const::Str(text)) => {
                self.strings.insert(text.clone());
            }
            Op::Builtin(Builtin::SpaceTable) => self.space_table = true,
            _ => {}
        }
    }
}

/// Gives everything that a program and those of its blocks read its place, and writes the places into them.
pub(super) fn place(
    body: &mut Body,
    mut programs: BlockPrograms,
    table: &BindingTable,
    light_kinds: usize,
) -> Placement {
    let used = UsedInputs::of(body);
    let is_read = |block: Block| {
        let computed = |e: &BlockEntry| e.block == block && matches!(e.content, Content::Computed(_));
        used.entries.iter().any(|&number| computed(&table.entries[number as usize]))
    };
    programs.retain(|&block, _| is_read(block));
    let mut places = Placement { lights: vec![BlockLayout::default(); light_kinds], ..Placement::default() };
    // What kernels read is kept together.
    let mut entries = EntryPlaces::default();
    entries.place(&used.entries, table);
    let of_host = programs.values().flat_map(|program| UsedInputs::of(program).entries);
    let of_host = of_host.filter(|number| !used.entries.contains(number)).collect();
    entries.place(&of_host, table);
    entries.describe(table, &mut places);
    let channels = place_channels(&used, table, &mut places);
    let uniforms = place_uniforms(&used, table, &mut places);
    for body in programs.values_mut().chain([body]) {
        let mut all = Vec::new();
        body.walk(body.root(), &mut |inst| all.push(inst));
        for inst in all {
            match &mut body.inst_mut(inst).op {
                Op::Load { buffer: Buffer::Params, record, lane, .. } if *record & ENTRY != 0 => {
                    let (at, first) = entries.at[&(*record & !ENTRY)];
                    (*record, *lane) = (at, first as u8);
                }
                Op::Load { record, .. } if *record & ENTRY != 0 => *record = uniforms[&(*record & !ENTRY)],
                Op::Channel { channel, .. } => *channel = channels[channel],
                _ => {}
            }
        }
    }
    for (block, program) in programs {
        places.layout(block).program = Some(Arc::new(program));
    }
    places.strings = used.strings.into_iter().collect();
    places.reads_space_table = used.space_table;
    places
}

/// The places of the entries of blocks.
#[derive(Default)]
struct EntryPlaces {
    /// The record and the first lane of each.
    at: BTreeMap<u32, (u32, u32)>,
    next: BTreeMap<Block, u32>,
}

impl EntryPlaces {
    /// Places some entries behind those that are placed: arrays, matrices and triples take whole records; single words
    /// then fill what is left of the triples' records, and more records.
    fn place(&mut self, entries: &BTreeSet<u32>, table: &BindingTable) {
        let mut free: BTreeMap<Block, Vec<(u32, u32)>> = BTreeMap::new();
        let is_word = |e: &BlockEntry| e.len == 1 && e.ty.words() == 1;
        let (words, larger): (Vec<u32>, Vec<u32>) = entries.iter().partition(|n| is_word(&table.entries[**n as usize]));
        for number in larger {
            let entry = &table.entries[number as usize];
            let record = self.next.entry(entry.block).or_default();
            self.at.insert(number, (*record, 0));
            if entry.len == 1 && entry.ty == MachineType::Vec3 {
                free.entry(entry.block).or_default().push((*record, 3));
            }
            *record += entry.len * element_records(entry.ty);
        }
        // Taken from the end.
        free.values_mut().for_each(|lanes| lanes.reverse());
        for number in words {
            let block = table.entries[number as usize].block;
            let lanes = free.entry(block).or_default();
            let place = lanes.pop().unwrap_or_else(|| {
                let record = self.next.entry(block).or_default();
                *record += 1;
                lanes.extend([3, 2, 1].map(|lane| (*record - 1, lane)));
                (*record - 1, 0)
            });
            self.at.insert(number, place);
        }
    }

    /// Lists what is in the blocks.
    fn describe(&self, table: &BindingTable, places: &mut Placement) {
        for (&number, &(record, lane)) in &self.at {
            let BlockEntry { block, content, ty, len } = table.entries[number as usize].clone();
            places.layout(block).slots.push(BlockSlot { content, record, lane, ty, len });
        }
        for (&block, &records) in &self.next {
            places.layout(block).records = records;
        }
        for layout in places.lights.iter_mut().chain([&mut places.block]) {
            layout.slots.sort_by_key(|slot| (slot.record, slot.lane));
        }
    }
}

/// Returns the number of channels, or of records, that an input takes.
fn input_count(input: &Input) -> u32 {
    match input {
        Input::Primvar { ty, len, .. } => element_records(ty.machine()) * len,
        Input::Displacement(value) => channels(value.ty.machine()),
        Input::Velocity => 2,
        _ => 1,
    }
}

/// Returns the given inputs in the order of the interface, with their places and sizes.
fn in_order<'t>(numbers: &BTreeSet<u32>, table: &'t BindingTable) -> (Vec<(u32, &'t Input, u32, u32)>, u32) {
    let mut ordered: Vec<(u32, &Input)> = numbers.iter().map(|&n| (n, &table.inputs[n as usize])).collect();
    ordered.sort_by(|a, b| a.1.cmp(b.1));
    let mut next = 0;
    let mut placed = Vec::new();
    for (number, input) in ordered {
        let count = input_count(input);
        placed.push((number, input, next, count));
        next += count;
    }
    (placed, next)
}

/// Returns the channel of a geometry variable, the same in every kernel, or of what the displacement left; primitive
/// variables come after all of them.
fn geometry_channel(input: &Input) -> Option<u32> {
    match input {
        Input::PositionU => Some(0),
        Input::NormalV => Some(1),
        Input::DpduS => Some(2),
        Input::DpdvT => Some(3),
        Input::Displacement(value) => Some(value.channel),
        _ => None,
    }
}

fn place_channels(used: &UsedInputs, table: &BindingTable, places: &mut Placement) -> BTreeMap<u32, u32> {
    let geometry = |n: &u32| geometry_channel(&table.inputs[*n as usize]).map(|channel| (*n, channel));
    let mut placed: Vec<(u32, &Input, u32, u32)> = used
        .channels
        .iter()
        .filter_map(geometry)
        .map(|(n, channel)| (n, &table.inputs[n as usize], channel, input_count(&table.inputs[n as usize])))
        .collect();
    placed.sort_by_key(|place| place.2);
    let others = used.channels.iter().copied().filter(|n| geometry(n).is_none()).collect();
    let (others, count) = in_order(&others, table);
    let last = table.displacement.last();
    let first = last.map_or(GEOMETRY_CHANNELS, |value| value.channel + channels(value.ty.machine()));
    placed.extend(others.into_iter().map(|(n, input, channel, count)| (n, input, channel + first, count)));
    let count = count + first;
    places.input_channels = count;
    let channel =
        |&(_, input, channel, count): &(u32, &Input, u32, u32)| InputChannel { input: input.clone(), channel, count };
    places.inputs = placed.iter().map(channel).collect();
    placed.into_iter().map(|(number, _, channel, _)| (number, channel)).collect()
}

fn place_uniforms(used: &UsedInputs, table: &BindingTable, places: &mut Placement) -> BTreeMap<u32, u32> {
    let (placed, count) = in_order(&used.uniforms, table);
    places.uniform_records = count;
    let uniform =
        |&(_, input, record, count): &(u32, &Input, u32, u32)| UniformInput { input: input.clone(), record, count };
    places.uniform_inputs = placed.iter().map(uniform).collect();
    placed.into_iter().map(|(number, _, record, _)| (number, record)).collect()
}

/// Returns the input that a parameter is bound to.
pub(super) fn primvar(shader: Role, name: &Arc<str>, ty: RslType, len: u32) -> Input {
    Input::Primvar { shader, name: name.clone(), ty, len }
}

/// Returns a word of a record of the light list, or of what belongs to it.
pub(super) fn word(lane: u8) -> Op {
    Op::Load { buffer: Buffer::Params, record: 0, lane, ty: MachineType::U32 }
}

//! The frame of a kernel: buffers, what an invocation is, inputs and outputs ([`crate::abi`]).

use super::spirv::Spirv;
use crate::abi::{self, work};
use crate::ir::{Buffer, Builtin, MachineType};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, Decoration, MemorySemantics, Op, Scope, StorageClass, Word};

/// Members of the push constants, 32 bits each.
const PUSH_WORDS: u32 = (size_of::<abi::Push>() / 4) as u32;

/// A storage buffer: the variable, and the type of a pointer to one of its elements.
#[derive(Clone, Copy)]
pub(super) struct StorageBuffer {
    variable: Word,
    element: Word,
    pointer: Word,
}

/// A buffer of records that are read as texels: the variable, and the types of the image and of a texel.
#[derive(Clone, Copy)]
struct TexelBuffer {
    variable: Word,
    image: Word,
    texel: Word,
}

/// Ids that are made in the first block of the kernel and are visible everywhere.
pub(super) struct KernelIds {
    arena: StorageBuffer,
    params: TexelBuffer,
    status: StorageBuffer,
    /// The arena, for reading.
    inputs: TexelBuffer,
    /// Whether this invocation is a vertex (others compute the last vertex again, and store nothing).
    pub(super) active: Word,
    /// The second record of `Work`.
    tail: Word,
    /// Index of the invocation in its workgroup.
    pub(super) lane: Word,
    /// Vertices of a slot less 1.
    pub(super) slot_mask: Word,
    /// Vertex in the slot, at most the last one.
    pub(super) vertex: Word,
    /// Micropolygons along u and v.
    pub(super) nu: Word,
    /// See `nu`.
    pub(super) nv: Word,
    /// Flags of [`abi::work`].
    pub(super) flags: Word,
    /// Seed of `random()`.
    pub(super) seed: Word,
    block: Word,
    uniforms: Word,
    space_table: Word,
    du: Word,
    dv: Word,
    orientation: Word,
    input: Word,
    output: Word,
    stride: Word,
    /// See [`abi::Push::trips`].
    pub(super) trips: Word,
    /// See [`abi::Push::pass`].
    pub(super) pass: Word,
    /// See [`abi::Push::pass_word`].
    pub(super) pass_word: Word,
    state: Word,
}

/// Variables, before there is a function.
pub(super) struct Interface {
    work: TexelBuffer,
    arena: StorageBuffer,
    params: TexelBuffer,
    status: StorageBuffer,
    inputs: TexelBuffer,
    /// Counters of lines, if there are some.
    counters: Option<StorageBuffer>,
    push: Word,
    local_index: Word,
    workgroup: Word,
    /// Numbers of workgroups.
    groups: Word,
    /// Threads among which the driver divides the workgroups.
    driver_threads: Word,
}

impl Interface {
    /// Declares all variables; `counters` is the binding of counters of lines.
    pub(super) fn new(s: &mut Spirv, counters: Option<u32>) -> Self {
        let u32 = s.type_u32();
        let uvec4 = s.type_vector(u32, 4);
        let work = texels(s, "Work", abi::binding::WORK);
        let arena = storage(s, "Arena", abi::binding::ARENA, uvec4, 16);
        let params = texels(s, "Params", abi::binding::PARAMS);
        let status = storage(s, "Status", abi::binding::STATUS, u32, 4);
        let inputs = texels(s, "Inputs", abi::binding::INPUTS);
        let counters = counters.map(|binding| storage(s, "Counters", binding, u32, 4));
        let push_words = PUSH_WORDS + if counters.is_some() { abi::COUNTING_PUSH_WORDS } else { 0 };
        let block = s.fresh_global(Op::TypeStruct, None, vec![Operand::IdRef(u32); push_words as usize]);
        s.decorate(block, Decoration::Block, &[]);
        for member in 0..push_words {
            s.decorate_member(block, member, Decoration::Offset, &[Operand::LiteralBit32(4 * member)]);
        }
        let push = s.variable(StorageClass::PushConstant, block);
        s.name(push, "Push");
        let mut input = |ty, builtin| {
            let variable = s.variable(StorageClass::Input, ty);
            s.decorate(variable, Decoration::BuiltIn, &[Operand::BuiltIn(builtin)]);
            variable
        };
        let local_index = input(u32, BuiltIn::LocalInvocationIndex);
        let uvec3 = s.type_vector(u32, 3);
        let workgroup = s.variable(StorageClass::Input, uvec3);
        s.decorate(workgroup, Decoration::BuiltIn, &[Operand::BuiltIn(BuiltIn::WorkgroupId)]);
        let groups = s.variable(StorageClass::Input, uvec3);
        s.decorate(groups, Decoration::BuiltIn, &[Operand::BuiltIn(BuiltIn::NumWorkgroups)]);
        let driver_threads = s.fresh_global(Op::SpecConstant, Some(u32), vec![Operand::LiteralBit32(1)]);
        s.decorate(driver_threads, Decoration::SpecId, &[Operand::LiteralBit32(abi::DRIVER_THREADS_ID)]);
        Self { work, arena, params, status, inputs, counters, push, local_index, workgroup, groups, driver_threads }
    }

    /// Returns the counters of lines.
    pub(super) fn counters(&self) -> Option<StorageBuffer> {
        self.counters
    }

    /// Returns all global variables, as the entry point must list them.
    pub(super) fn variables(&self) -> Vec<Word> {
        let texels = [self.work, self.params, self.inputs].map(|b| b.variable);
        let counters: Vec<Word> = self.counters.iter().map(|b| b.variable).collect();
        [
            &texels[..],
            &counters,
            &[self.arena.variable, self.status.variable, self.push, self.local_index, self.workgroup, self.groups],
        ]
        .concat()
    }
}

/// Returns an array of records in descriptor set 0.
fn storage(s: &mut Spirv, name: &str, binding: u32, element: Word, stride: u32) -> StorageBuffer {
    let array = s.fresh_global(Op::TypeRuntimeArray, None, vec![Operand::IdRef(element)]);
    s.decorate(array, Decoration::ArrayStride, &[Operand::LiteralBit32(stride)]);
    let block = s.fresh_global(Op::TypeStruct, None, vec![Operand::IdRef(array)]);
    s.decorate(block, Decoration::Block, &[]);
    s.decorate_member(block, 0, Decoration::Offset, &[Operand::LiteralBit32(0)]);
    let variable = s.variable(StorageClass::StorageBuffer, block);
    s.decorate(variable, Decoration::DescriptorSet, &[Operand::LiteralBit32(0)]);
    s.decorate(variable, Decoration::Binding, &[Operand::LiteralBit32(binding)]);
    s.name(variable, name);
    StorageBuffer { variable, element, pointer: s.type_pointer(StorageClass::StorageBuffer, element) }
}

/// Returns a buffer of records in descriptor set 0 that are read as texels of four words.
fn texels(s: &mut Spirv, name: &str, binding: u32) -> TexelBuffer {
    s.capability(Capability::SampledBuffer);
    let u32 = s.type_u32();
    let image = s.type_texels(u32);
    let variable = s.variable(StorageClass::UniformConstant, image);
    s.decorate(variable, Decoration::DescriptorSet, &[Operand::LiteralBit32(0)]);
    s.decorate(variable, Decoration::Binding, &[Operand::LiteralBit32(binding)]);
    s.name(variable, name);
    TexelBuffer { variable, image, texel: s.type_vector(u32, 4) }
}

impl TexelBuffer {
    fn load(self, s: &mut Spirv, index: Word) -> Word {
        let image = s.load(self.image, self.variable);
        s.inst(Op::ImageFetch, self.texel, &[image, index])
    }
}

impl StorageBuffer {
    pub(super) fn at(self, s: &mut Spirv, index: Word) -> Word {
        let zero = s.u32(0);
        s.inst(Op::AccessChain, self.pointer, &[self.variable, zero, index])
    }

    fn load(self, s: &mut Spirv, index: Word) -> Word {
        let pointer = self.at(s, index);
        s.load(self.element, pointer)
    }
}

/// Which vertex of which slot an invocation is.
struct InvocationIndex {
    /// Slot, at most the last one.
    slot: Word,
    /// Whether the invocation's slot is one of the dispatch.
    in_range: Word,
    /// Place in the slot.
    vertex: Word,
    lane: Word,
    slot_mask: Word,
}

impl InvocationIndex {
    fn new(s: &mut Spirv, interface: &Interface, [slot_log2, slot_count]: [Word; 2]) -> Self {
        let (u32, bool) = (s.type_u32(), s.type_bool());
        let lane = s.load(u32, interface.local_index);
        let (uvec3, one, width) = (s.type_vector(u32, 3), s.u32(1), s.u32(abi::WORKGROUP_SIZE));
        let group = s.load(uvec3, interface.workgroup);
        let group = s.extract(u32, group, 0);
        let group = dealt(s, interface, group);
        let first = s.inst(Op::IMul, u32, &[group, width]);
        let invocation = s.inst(Op::IAdd, u32, &[first, lane]);
        let slot = s.inst(Op::ShiftRightLogical, u32, &[invocation, slot_log2]);
        let in_range = s.inst(Op::ULessThan, bool, &[slot, slot_count]);
        let last_slot = s.inst(Op::ISub, u32, &[slot_count, one]);
        let slot = s.inst(Op::Select, u32, &[in_range, slot, last_slot]);
        let slot_size = s.inst(Op::ShiftLeftLogical, u32, &[one, slot_log2]);
        let slot_mask = s.inst(Op::ISub, u32, &[slot_size, one]);
        let vertex = s.inst(Op::BitwiseAnd, u32, &[lane, slot_mask]);
        Self { slot, in_range, vertex, lane, slot_mask }
    }
}

/// Returns the part of the dispatch that the workgroup with this number does: a CPU driver gives each of its threads
/// one run of workgroups, whose parts are dealt out in turn, as for the other kernels (glsl/lib/invocation.glsl).
fn dealt(s: &mut Spirv, interface: &Interface, group: Word) -> Word {
    let (u32, bool, one, threads) = (s.type_u32(), s.type_bool(), s.u32(1), interface.driver_threads);
    let uvec3 = s.type_vector(u32, 3);
    let groups = s.load(uvec3, interface.groups);
    let groups = s.extract(u32, groups, 0);
    let run = s.inst(Op::UDiv, u32, &[groups, threads]);
    let is_empty = s.inst(Op::ULessThan, bool, &[run, one]);
    let divisor = s.inst(Op::Select, u32, &[is_empty, one, run]);
    let thread = s.inst(Op::UDiv, u32, &[group, divisor]);
    let before = s.inst(Op::IMul, u32, &[thread, run]);
    let turn = s.inst(Op::ISub, u32, &[group, before]);
    let turns = s.inst(Op::IMul, u32, &[turn, threads]);
    let dealt = s.inst(Op::IAdd, u32, &[turns, thread]);
    let all = s.inst(Op::IMul, u32, &[run, threads]);
    let in_runs = s.inst(Op::ULessThan, bool, &[group, all]);
    s.inst(Op::Select, u32, &[in_runs, dealt, group])
}

impl Interface {
    pub(super) fn push_field(&self, s: &mut Spirv, member: u32) -> Word {
        let u32 = s.type_u32();
        let (pointer, index) = (s.type_pointer(StorageClass::PushConstant, u32), s.u32(member));
        let at = s.inst(Op::AccessChain, pointer, &[self.push, index]);
        s.load(u32, at)
    }
}

impl KernelIds {
    /// Writes the head of the kernel into the block that is open.
    pub(super) fn begin(s: &mut Spirv, interface: &Interface) -> Self {
        let (u32, f32, bool) = (s.type_u32(), s.type_f32(), s.type_bool());
        let [
            work_base,
            slot_log2,
            slot_count,
            input_base,
            output_base,
            stride,
            space_table,
            trips,
            state_base,
            pass,
            pass_word,
        ] = std::array::from_fn(|i| interface.push_field(s, i as u32));
        let InvocationIndex { slot, in_range, vertex, lane, slot_mask } =
            InvocationIndex::new(s, interface, [slot_log2, slot_count]);

        let one = s.u32(1);
        let record = s.inst(Op::IAdd, u32, &[work_base, slot]);
        let record = s.inst(Op::ShiftLeftLogical, u32, &[record, one]);
        let next = s.inst(Op::IAdd, u32, &[record, one]);
        let (head, tail) = (interface.work.load(s, record), interface.work.load(s, next));
        let [grid, block, seed, uniforms] = std::array::from_fn(|i| s.extract(u32, head, i as u32));
        let [du, dv] = std::array::from_fn(|i| {
            let bits = s.extract(u32, tail, i as u32);
            s.inst(Op::Bitcast, f32, &[bits])
        });
        let [nu, nv, flags] = grid_head(s, grid);
        // Vertices (nu + 1)(nv + 1); the last one is nu nv + nu + nv.
        let product = s.inst(Op::IMul, u32, &[nu, nv]);
        let sum = s.inst(Op::IAdd, u32, &[nu, nv]);
        let last = s.inst(Op::IAdd, u32, &[product, sum]);
        let in_grid = s.inst(Op::ULessThanEqual, bool, &[vertex, last]);
        let active = s.inst(Op::LogicalAnd, bool, &[in_range, in_grid]);
        let vertex = s.inst(Op::Select, u32, &[in_grid, vertex, last]);
        let place = s.inst(Op::ShiftLeftLogical, u32, &[slot, slot_log2]);
        let place = s.inst(Op::IAdd, u32, &[place, vertex]);
        let input = s.inst(Op::IAdd, u32, &[input_base, place]);
        let output = s.inst(Op::IAdd, u32, &[output_base, place]);
        let state = s.inst(Op::IAdd, u32, &[state_base, place]);
        let flipped = flag(s, flags, work::FLAG_FLIP_NORMAL);
        let (minus, plus) = (s.f32(-1.0), s.f32(1.0));
        let orientation = s.inst(Op::Select, f32, &[flipped, minus, plus]);
        let Interface { arena, params, status, inputs, .. } = *interface;
        Self {
            arena,
            params,
            status,
            inputs,
            active,
            tail,
            lane,
            slot_mask,
            vertex,
            nu,
            nv,
            flags,
            seed,
            block,
            uniforms,
            space_table,
            du,
            dv,
            orientation,
            input,
            output,
            stride,
            trips,
            pass,
            pass_word,
            state,
        }
    }

    /// Returns what the kernel knows.
    pub(super) fn builtin(&self, builtin: Builtin) -> Word {
        match builtin {
            Builtin::Block => self.block,
            Builtin::UniformInputs => self.uniforms,
            Builtin::SpaceTable => self.space_table,
            Builtin::Du => self.du,
            Builtin::Dv => self.dv,
            Builtin::Orientation => self.orientation,
        }
    }

    /// Returns a whole record of a buffer, as four words.
    pub(super) fn record(&self, s: &mut Spirv, buffer: Buffer, base: Word, record: u32) -> Word {
        let index = offset(s, base, record);
        match buffer {
            Buffer::Params => self.params.load(s, index),
            Buffer::Arena => self.inputs.load(s, index),
        }
    }

    /// Returns the record of an input channel of this vertex, `offset` channels further on if given.
    pub(super) fn channel(&self, s: &mut Spirv, channel: u32, further: Option<Word>) -> Word {
        let index = self.channel_index(s, self.input, channel, further);
        self.inputs.load(s, index)
    }

    fn channel_index(&self, s: &mut Spirv, base: Word, channel: u32, further: Option<Word>) -> Word {
        let u32 = s.type_u32();
        let number = s.u32(channel);
        let number = further.map_or(number, |f| s.inst(Op::IAdd, u32, &[f, number]));
        if channel == 0 && further.is_none() {
            return base;
        }
        let distance = s.inst(Op::IMul, u32, &[number, self.stride]);
        s.inst(Op::IAdd, u32, &[base, distance])
    }

    /// Stores a record into an output channel of this vertex.
    pub(super) fn store(&self, s: &mut Spirv, channel: u32, words: Word) {
        let index = self.channel_index(s, self.output, channel, None);
        let pointer = self.arena.at(s, index);
        s.effect(Op::Store, &[pointer, words]);
    }

    /// Returns a record of this vertex's saved loops.
    pub(super) fn load_state(&self, s: &mut Spirv, record: u32) -> Word {
        let index = self.channel_index(s, self.state, record, None);
        self.inputs.load(s, index)
    }

    /// Stores a record of this vertex's saved loops.
    pub(super) fn store_state(&self, s: &mut Spirv, record: u32, words: Word) {
        let index = self.channel_index(s, self.state, record, None);
        let pointer = self.arena.at(s, index);
        s.effect(Op::Store, &[pointer, words]);
    }

    /// Returns the rank of the grid ([`abi::work`]).
    pub(super) fn grid_rank(&self, s: &mut Spirv) -> Word {
        let u32 = s.type_u32();
        s.extract(u32, self.tail, 2)
    }

    /// Returns the word for [`abi::print::vertex_and_columns`].
    pub(super) fn vertex_and_columns(&self, s: &mut Spirv) -> Word {
        let (u32, bits) = (s.type_u32(), s.u32(abi::print::VERTEX_BITS));
        let columns = s.inst(Op::ShiftLeftLogical, u32, &[self.nu, bits]);
        s.inst(Op::BitwiseOr, u32, &[columns, self.vertex])
    }

    /// Appends a record to those of [`abi::print`], if there is room.
    pub(super) fn append_status(&self, s: &mut Spirv, words: &[Word]) {
        let (u32, bool) = (s.type_u32(), s.type_bool());
        let (used, most, first) = (s.u32(abi::print::USED), s.u32(abi::print::MOST), s.u32(abi::print::FIRST));
        let count = s.u32(words.len() as u32);
        let [device, relaxed] = relaxed_on_device(s);
        let pointer = self.status.at(s, used);
        let at = s.inst(Op::AtomicIAdd, u32, &[pointer, device, relaxed, count]);
        let end = s.inst(Op::IAdd, u32, &[at, count]);
        let most = self.status.load(s, most);
        let [within, no_wrap] = [(end, most), (at, most)].map(|(x, y)| s.inst(Op::ULessThanEqual, bool, &[x, y]));
        let fits = s.inst(Op::LogicalAnd, bool, &[within, no_wrap]);
        let (write, past) = (s.id(), s.id());
        s.selection_merge(past);
        s.effect(Op::BranchConditional, &[fits, write, past]);
        s.block(write);
        let place = s.inst(Op::IAdd, u32, &[at, first]);
        for (i, &word) in (0..).zip(words) {
            let index = offset(s, place, i);
            let pointer = self.status.at(s, index);
            s.effect(Op::Store, &[pointer, word]);
        }
        s.branch(past);
        s.block(past);
    }

    /// Counts this invocation in a word of `Status`.
    pub(super) fn count(&self, s: &mut Spirv, word: u32) {
        let (u32, index, one) = (s.type_u32(), s.u32(word), s.u32(1));
        let pointer = self.status.at(s, index);
        let [device, relaxed] = relaxed_on_device(s);
        s.inst(Op::AtomicIAdd, u32, &[pointer, device, relaxed, one]);
    }
}

/// Returns the scope and the memory semantics of an atomic operation that orders nothing else.
pub(super) fn relaxed_on_device(s: &mut Spirv) -> [Word; 2] {
    [s.u32(Scope::Device as u32), s.u32(MemorySemantics::RELAXED.bits())]
}

/// Returns the size and flags of a grid, from the first word of its record.
fn grid_head(s: &mut Spirv, word: Word) -> [Word; 3] {
    let u32 = s.type_u32();
    let [mask, nv_shift, flags_shift] = [work::SIZE_MASK, work::SIZE_BITS, work::FLAGS_SHIFT].map(|x| s.u32(x));
    let nu = s.inst(Op::BitwiseAnd, u32, &[word, mask]);
    let nv = s.inst(Op::ShiftRightLogical, u32, &[word, nv_shift]);
    let nv = s.inst(Op::BitwiseAnd, u32, &[nv, mask]);
    [nu, nv, s.inst(Op::ShiftRightLogical, u32, &[word, flags_shift])]
}

/// Returns whether a flag of [`abi::work`] is set.
pub(super) fn flag(s: &mut Spirv, flags: Word, flag: u32) -> Word {
    let (u32, bool, mask, zero) = (s.type_u32(), s.type_bool(), s.u32(flag), s.u32(0));
    let bits = s.inst(Op::BitwiseAnd, u32, &[flags, mask]);
    s.inst(Op::INotEqual, bool, &[bits, zero])
}

/// `base + number`
fn offset(s: &mut Spirv, base: Word, number: u32) -> Word {
    if number == 0 {
        return base;
    }
    let (u32, number) = (s.type_u32(), s.u32(number));
    s.inst(Op::IAdd, u32, &[base, number])
}

/// Returns the words of a value as a record stores them, from `lane` on: bits of floats, or integers.
pub(super) fn unpack(s: &mut Spirv, record: Word, lane: u8, ty: MachineType) -> Word {
    let (u32, f32) = (s.type_u32(), s.type_f32());
    match ty {
        MachineType::F32 => {
            let word = s.extract(u32, record, lane.into());
            s.inst(Op::Bitcast, f32, &[word])
        }
        MachineType::Vec3 => {
            let (uvec3, vec3) = (s.type_vector(u32, 3), s.type_vector(f32, 3));
            let first = u32::from(lane);
            let words = s.shuffle(uvec3, record, &[first, first + 1, first + 2]);
            s.inst(Op::Bitcast, vec3, &[words])
        }
        _ => s.extract(u32, record, lane.into()),
    }
}

/// Returns a row of a matrix from a record.
pub(super) fn unpack_row(s: &mut Spirv, record: Word) -> Word {
    let f32 = s.type_f32();
    let vec4 = s.type_vector(f32, 4);
    s.inst(Op::Bitcast, vec4, &[record])
}

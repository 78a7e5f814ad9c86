//! A recording as a command buffer.

use super::error::GpuError;
use super::link::Link;
use super::pipeline::Pipeline;
use super::slot::Slot;
use crate::pipeline::recording::{Buffer, BufferRange, Command, Dispatch, Groups, Recording};
use ash::vk;
use rustc_hash::FxHashMap;

/// Where the encoder finds what the recording's handles stand for.
pub(super) struct Sources<'a> {
    pub(super) link: &'a Link,
    /// A pipeline for each dispatch, in order.
    pub(super) pipelines: &'a [Pipeline],
    /// Vulkan's handle of each buffer; the recording was checked, so that all are known.
    pub(super) buffer: &'a dyn Fn(Buffer) -> vk::Buffer,
    /// What empty slices are bound to.
    pub(super) empty: vk::Buffer,
}

/// Bytes of an empty slice's binding: Vulkan has no empty ones.
pub(super) const EMPTY_BYTES: u64 = 16;

/// Fills the slot's command buffer with a recording that was checked.
pub(super) fn encode(sources: &Sources<'_>, slot: &mut Slot, recording: &Recording) -> Result<(), GpuError> {
    let link = sources.link;
    slot.begin(link, recording.label())?;
    let sets = bind(sources, slot, recording)?;
    let stage_count = recording.commands().iter().filter(|c| matches!(c, Command::BeginStage(_))).count() as u32;
    let timed = link.clock.is_some() && stage_count > 0;
    if timed {
        slot.reserve_queries(link, 2 * stage_count)?;
        // SAFETY: the command buffer is being recorded; the pool has so many queries.
        unsafe { link.raw.cmd_reset_query_pool(slot.commands(), slot.queries(), 0, 2 * stage_count) };
    }
    let mut encoder = Encoder { sources, slot, sets: &sets, next_dispatch: 0, order: Order::Passes, timed };
    link.begin_label(encoder.slot.commands(), recording.label());
    recording.commands().iter().for_each(|command| encoder.command(command));
    encoder.show_host();
    link.end_label(encoder.slot.commands());
    // SAFETY: the command buffer is being recorded, and labels were ended as they were begun.
    link.check("ending a command buffer", unsafe { link.raw.end_command_buffer(slot.commands()) })
}

/// The descriptor set of each dispatch; dispatches that bind the same share one.
fn bind(sources: &Sources<'_>, slot: &mut Slot, recording: &Recording) -> Result<Vec<vk::DescriptorSet>, GpuError> {
    let mut numbers: FxHashMap<&[BufferRange], usize> = FxHashMap::default();
    let mut wanted: Vec<(&[BufferRange], vk::DescriptorSetLayout)> = Vec::new();
    let mut set_of_dispatch = Vec::new();
    for (dispatch, pipeline) in recording.dispatches().zip(sources.pipelines) {
        let number = *numbers.entry(&dispatch.bindings).or_insert_with(|| {
            wanted.push((&dispatch.bindings, pipeline.layout.set));
            wanted.len() - 1
        });
        set_of_dispatch.push(number);
    }
    let sets = slot.sets(sources.link, &wanted, |range| describe(sources, range))?;
    Ok(set_of_dispatch.into_iter().map(|number| sets[number]).collect())
}

fn describe(sources: &Sources<'_>, range: BufferRange) -> vk::DescriptorBufferInfo {
    if range.bytes == 0 {
        return vk::DescriptorBufferInfo::default().buffer(sources.empty).offset(0).range(EMPTY_BYTES);
    }
    let buffer = (sources.buffer)(range.buffer);
    vk::DescriptorBufferInfo::default().buffer(buffer).offset(range.offset).range(range.bytes)
}

/// Whether the next command waits for those before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Each command is a pass.
    Passes,
    /// In a group, before its first command.
    GroupBegins,
    /// In a group, after its first command.
    Group,
}

struct Encoder<'a> {
    sources: &'a Sources<'a>,
    slot: &'a mut Slot,
    sets: &'a [vk::DescriptorSet],
    next_dispatch: usize,
    order: Order,
    timed: bool,
}

impl Encoder<'_> {
    fn command(&mut self, command: &Command) {
        let (link, commands) = (self.sources.link, self.slot.commands());
        match command {
            Command::Dispatch(dispatch) => self.dispatch(dispatch),
            Command::Copy { from, to } => self.copy(*from, *to),
            Command::Fill { to, value } => self.fill(*to, *value),
            Command::Write { to, data } => self.write(*to, data),
            Command::BeginConcurrent => self.order = Order::GroupBegins,
            // Validation cannot know that order does not matter, so there the claim is not used.
            Command::BeginUnordered if link.validates => {}
            Command::BeginUnordered => self.order = Order::GroupBegins,
            Command::EndGroup => self.order = Order::Passes,
            Command::BeginLabel(label) => link.begin_label(commands, label),
            Command::EndLabel => link.end_label(commands),
            Command::BeginStage(name) => {
                link.begin_label(commands, name);
                self.slot.stages.push(name);
                self.timestamp(0);
            }
            Command::EndStage => {
                self.timestamp(1);
                link.end_label(commands);
            }
        }
    }

    fn dispatch(&mut self, dispatch: &Dispatch) {
        self.begin_pass();
        let (raw, commands) = (&self.sources.link.raw, self.slot.commands());
        let pipeline = self.sources.pipelines[self.next_dispatch];
        let set = self.sets[self.next_dispatch];
        self.next_dispatch += 1;
        let layout = pipeline.layout.pipeline;
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is being recorded; pipeline, layout and set belong together; push constants, group counts and the
        // indirect place were checked.
        unsafe {
            raw.cmd_bind_pipeline(commands, compute, pipeline.raw);
            raw.cmd_bind_descriptor_sets(commands, compute, layout, 0, &[set], &[]);
            if !dispatch.push.is_empty() {
                raw.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &dispatch.push);
            }
            match dispatch.groups {
                Groups::Direct([x, y, z]) => raw.cmd_dispatch(commands, x, y, z),
                Groups::Indirect(place) => {
                    raw.cmd_dispatch_indirect(commands, (self.sources.buffer)(place.buffer), place.offset);
                }
            }
        }
    }

    fn copy(&mut self, from: BufferRange, to: BufferRange) {
        if from.bytes == 0 {
            return;
        }
        self.begin_pass();
        let region = vk::BufferCopy::default().src_offset(from.offset).dst_offset(to.offset).size(from.bytes);
        let buffer = self.sources.buffer;
        // SAFETY: the command buffer is being recorded; the ranges were checked to lie in living buffers and not to overlap.
        unsafe {
            self.sources.link.raw.cmd_copy_buffer(
                self.slot.commands(),
                buffer(from.buffer),
                buffer(to.buffer),
                &[region],
            );
        }
    }

    fn fill(&mut self, to: BufferRange, value: u32) {
        if to.bytes == 0 {
            return;
        }
        self.begin_pass();
        let buffer = (self.sources.buffer)(to.buffer);
        // SAFETY: as in `copy`; offset and size were checked to be multiples of 4.
        unsafe { self.sources.link.raw.cmd_fill_buffer(self.slot.commands(), buffer, to.offset, to.bytes, value) };
    }

    fn write(&mut self, to: BufferRange, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        self.begin_pass();
        let buffer = (self.sources.buffer)(to.buffer);
        // SAFETY: as in `fill`; the size was checked against Vulkan's limit.
        unsafe { self.sources.link.raw.cmd_update_buffer(self.slot.commands(), buffer, to.offset, data) };
    }

    /// Makes a command wait for those before it, unless it belongs to a group that has begun.
    fn begin_pass(&mut self) {
        if self.order == Order::Group {
            return;
        }
        if self.order == Order::GroupBegins {
            self.order = Order::Group;
        }
        use vk::{AccessFlags, PipelineStageFlags};
        let from = PipelineStageFlags::COMPUTE_SHADER | PipelineStageFlags::TRANSFER;
        let reads = AccessFlags::SHADER_READ | AccessFlags::TRANSFER_READ | AccessFlags::INDIRECT_COMMAND_READ;
        let writes = AccessFlags::SHADER_WRITE | AccessFlags::TRANSFER_WRITE;
        self.barrier(from, writes, from | PipelineStageFlags::DRAW_INDIRECT, reads | writes);
    }

    /// Lets the host read what the commands wrote, once the submission is done.
    fn show_host(&mut self) {
        use vk::{AccessFlags, PipelineStageFlags};
        let from = PipelineStageFlags::COMPUTE_SHADER | PipelineStageFlags::TRANSFER;
        let writes = AccessFlags::SHADER_WRITE | AccessFlags::TRANSFER_WRITE;
        self.barrier(from, writes, PipelineStageFlags::HOST, AccessFlags::HOST_READ);
    }

    fn barrier(
        &self,
        from: vk::PipelineStageFlags,
        writes: vk::AccessFlags,
        to: vk::PipelineStageFlags,
        accesses: vk::AccessFlags,
    ) {
        let memory = [vk::MemoryBarrier::default().src_access_mask(writes).dst_access_mask(accesses)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is being recorded, outside a render pass; the stages are those of a compute queue.
        unsafe {
            self.sources.link.raw.cmd_pipeline_barrier(self.slot.commands(), from, to, none, &memory, &[], &[]);
        }
    }

    /// Writes the begin (0) or end (1) of the stage that was pushed last.
    fn timestamp(&self, end: u32) {
        if self.timed {
            let query = 2 * (self.slot.stages.len() as u32 - 1) + end;
            let when = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            // SAFETY: the command buffer is being recorded; the query was reset at its beginning and is written once.
            unsafe {
                self.sources.link.raw.cmd_write_timestamp(self.slot.commands(), when, self.slot.queries(), query);
            }
        }
    }
}

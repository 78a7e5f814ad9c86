//! Encodes a recording into a command buffer.

use super::command_times::{CommandKind, TimedCommand};
use super::error::GpuError;
use super::pipeline::ComputePipeline;
use super::shared::DeviceShared;
use super::submission_resources::{Bound, SubmissionResources};
use super::trail::{Marks, TrailCommand};
use crate::pipeline::recording::{Buffer, BufferRange, Command, Dispatch, Groups, Items, Recording};
use ash::vk;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The Vulkan objects that the recording's handles refer to.
pub(super) struct EncoderInputs<'a> {
    pub(super) shared: &'a DeviceShared,
    /// The pipeline of each dispatch, in order.
    pub(super) pipelines: &'a [ComputePipeline],
    /// Returns Vulkan's handle of a buffer; all are known because the recording was checked.
    pub(super) buffer: &'a dyn Fn(Buffer) -> vk::Buffer,
    /// The buffer to which empty slices are bound.
    pub(super) empty: vk::Buffer,
    /// Whether each command of a stage is timed, for which they run one after another.
    pub(super) times_commands: bool,
    /// How each command leaves a mark; with breadcrumbs they run one after another.
    pub(super) marks: Option<Marks<'a>>,
    /// For tests: the number of commands after which the device stops.
    pub(super) work_max: Option<usize>,
}

impl EncoderInputs<'_> {
    /// Returns where breadcrumbs are written.
    fn crumbs(&self) -> Option<(vk::Buffer, u64)> {
        self.marks.as_ref().and_then(|marks| Some((marks.crumbs?, marks.submission)))
    }
}

/// Timestamps of a submission, at most: 256 KiB of queries.
const QUERIES_MAX: u32 = 1 << 15;

/// Bytes of the binding of an empty slice: Vulkan has no empty bindings.
pub(super) const EMPTY_BYTES: u64 = 16;

/// Records a checked recording into the command buffer of `resources`.
pub(super) fn encode(
    inputs: &EncoderInputs<'_>,
    resources: &mut SubmissionResources,
    recording: &Recording,
) -> Result<(), GpuError> {
    let shared = inputs.shared;
    resources.begin(shared, recording.label())?;
    let sets = bind(inputs, resources, recording)?;
    let stage_count = recording.commands().iter().filter(|c| matches!(c, Command::BeginStage(_))).count() as u32;
    let timed = shared.clock.is_some() && stage_count > 0;
    resources.times_commands = timed && inputs.times_commands;
    let mut timed_max = 0;
    if timed {
        if resources.times_commands {
            timed_max = (recording.work_count() as u32).min((QUERIES_MAX / 2).saturating_sub(stage_count));
        }
        let count = 2 * (stage_count + timed_max);
        resources.reserve_queries(shared, count)?;
        // SAFETY: `resources.begin` began the command buffer above; `reserve_queries` has just made the pool large
        // enough.
        unsafe { shared.raw.cmd_reset_query_pool(resources.commands(), resources.queries(), 0, count) };
    }
    let mut encoder = Encoder {
        inputs,
        resources,
        sets: &sets,
        next_dispatch: 0,
        order: PassOrder::Passes,
        timed,
        stage: None,
        stage_count,
        timed_max,
        work: 0,
    };
    shared.begin_label(encoder.resources.commands(), recording.label());
    encoder.leave_crumb();
    recording.commands().iter().for_each(|command| encoder.command(command));
    encoder.show_host();
    shared.end_label(encoder.resources.commands());
    // SAFETY: `resources.begin` began the command buffer, no other thread has it, and the label begun above was ended;
    // those of the recording are balanced because `Recording` begins and ends them in one call.
    shared.check("ending a command buffer", unsafe { shared.raw.end_command_buffer(resources.commands()) })
}

/// Returns the descriptor set of each dispatch; dispatches that bind the same share one.
fn bind(
    inputs: &EncoderInputs<'_>,
    resources: &mut SubmissionResources,
    recording: &Recording,
) -> Result<Vec<vk::DescriptorSet>, GpuError> {
    let mut numbers: FxHashMap<Box<[Bound]>, usize> = FxHashMap::default();
    let mut wanted: Vec<(Box<[Bound]>, vk::DescriptorSetLayout)> = Vec::new();
    let mut set_of_dispatch = Vec::new();
    for (dispatch, pipeline) in recording.dispatches().zip(inputs.pipelines) {
        let bound = dispatch.bindings.iter().zip(dispatch.kernel.bindings());
        let bound: Box<[Bound]> = bound.map(|(range, binding)| Bound { range: *range, form: binding.form }).collect();
        let number = *numbers.entry(bound).or_insert_with_key(|bound| {
            wanted.push((bound.clone(), pipeline.layout.set));
            wanted.len() - 1
        });
        set_of_dispatch.push(number);
    }
    let sets = resources.sets(inputs.shared, &wanted, |range| describe(inputs, range))?;
    Ok(set_of_dispatch.into_iter().map(|number| sets[number]).collect())
}

fn describe(inputs: &EncoderInputs<'_>, range: BufferRange) -> vk::DescriptorBufferInfo {
    if range.bytes == 0 {
        return vk::DescriptorBufferInfo::default().buffer(inputs.empty).offset(0).range(EMPTY_BYTES);
    }
    let buffer = (inputs.buffer)(range.buffer);
    vk::DescriptorBufferInfo::default().buffer(buffer).offset(range.offset).range(range.bytes)
}

/// Whether the next command waits for the commands before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PassOrder {
    /// Each command is a pass of its own.
    Passes,
    /// A group has begun, and its first command is next.
    GroupBegins,
    /// A group has begun, and its first command was recorded.
    Group,
}

struct Encoder<'a> {
    inputs: &'a EncoderInputs<'a>,
    resources: &'a mut SubmissionResources,
    sets: &'a [vk::DescriptorSet],
    next_dispatch: usize,
    order: PassOrder,
    timed: bool,
    /// The stage under way.
    stage: Option<&'static str>,
    /// The number of stages of the recording.
    stage_count: u32,
    /// The number of commands that there are queries for.
    timed_max: u32,
    /// The number of commands so far.
    work: usize,
}

impl Encoder<'_> {
    fn command(&mut self, command: &Command) {
        let (shared, commands) = (self.inputs.shared, self.resources.commands());
        match command {
            Command::Dispatch(dispatch) => self.dispatch(dispatch),
            Command::Copy { from, to } => self.copy(*from, *to),
            Command::Fill { to, value } => self.fill(*to, *value),
            Command::Write { to, data } => self.write(*to, data),
            Command::BeginConcurrent | Command::BeginUnordered
                if self.inputs.times_commands || self.inputs.crumbs().is_some() => {}
            Command::BeginConcurrent => self.order = PassOrder::GroupBegins,
            // Validation cannot know that order does not matter, so this is ignored under validation.
            Command::BeginUnordered if shared.validates => {}
            Command::BeginUnordered => self.order = PassOrder::GroupBegins,
            Command::EndGroup => self.order = PassOrder::Passes,
            Command::BeginLabel(label) => shared.begin_label(commands, label),
            Command::EndLabel => shared.end_label(commands),
            Command::BeginStage(name) => {
                shared.begin_label(commands, name);
                self.resources.stages.push(name);
                self.stage = Some(name);
                self.stage_timestamp(0);
            }
            Command::EndStage => {
                self.stage_timestamp(1);
                self.stage = None;
                shared.end_label(commands);
            }
        }
    }

    fn dispatch(&mut self, dispatch: &Dispatch) {
        let (shared, commands) = (self.inputs.shared, self.resources.commands());
        let (pipeline, set) = (self.inputs.pipelines[self.next_dispatch], self.sets[self.next_dispatch]);
        self.next_dispatch += 1;
        if shared.wants_names() {
            shared.begin_label(commands, &dispatch.title());
        }
        let kind = || CommandKind::Kernel(Arc::clone(&dispatch.kernel));
        self.work(kind, dispatch.items, |encoder| encoder.run(dispatch, pipeline, set));
        shared.end_label(commands);
    }

    /// Records the run of a kernel.
    fn run(&self, dispatch: &Dispatch, pipeline: ComputePipeline, set: vk::DescriptorSet) {
        let (raw, commands) = (&self.inputs.shared.raw, self.resources.commands());
        let layout = pipeline.layout.pipeline;
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: `encode` calls this between begin and end of the command buffer. The pipeline was made with this
        // layout, and `bind` allocated the set with its set layout. `check` compared the size of the push constants
        // with the kernel's, and the group counts, or the buffer range that holds them, with the device's limits.
        unsafe {
            raw.cmd_bind_pipeline(commands, compute, pipeline.raw);
            raw.cmd_bind_descriptor_sets(commands, compute, layout, 0, &[set], &[]);
            if !dispatch.push.is_empty() {
                raw.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &dispatch.push);
            }
            match dispatch.groups {
                Groups::Direct([x, y, z]) => raw.cmd_dispatch(commands, x, y, z),
                Groups::Indirect(place) => {
                    raw.cmd_dispatch_indirect(commands, (self.inputs.buffer)(place.buffer), place.offset);
                }
            }
        }
    }

    fn copy(&mut self, from: BufferRange, to: BufferRange) {
        if from.bytes == 0 {
            return;
        }
        let region = vk::BufferCopy::default().src_offset(from.offset).dst_offset(to.offset).size(from.bytes);
        let [source, target] = [from, to].map(|range| (self.inputs.buffer)(range.buffer));
        let (raw, commands) = (&self.inputs.shared.raw, self.resources.commands());
        // SAFETY: `encode` calls this between begin and end of the command buffer; `check_copy` found both ranges
        // inside buffers that are alive, of one size, and disjoint.
        let record = |_: &Self| unsafe { raw.cmd_copy_buffer(commands, source, target, &[region]) };
        self.work(|| CommandKind::Copy, bytes(from.bytes), record);
    }

    fn fill(&mut self, to: BufferRange, value: u32) {
        if to.bytes == 0 {
            return;
        }
        let buffer = (self.inputs.buffer)(to.buffer);
        let (raw, commands) = (&self.inputs.shared.raw, self.resources.commands());
        // SAFETY: `encode` calls this between begin and end of the command buffer; `check_words` found the range inside
        // a buffer that is alive, and its offset and size multiples of 4.
        let record = |_: &Self| unsafe { raw.cmd_fill_buffer(commands, buffer, to.offset, to.bytes, value) };
        self.work(|| CommandKind::Fill, bytes(to.bytes), record);
    }

    fn write(&mut self, to: BufferRange, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let buffer = (self.inputs.buffer)(to.buffer);
        let (raw, commands) = (&self.inputs.shared.raw, self.resources.commands());
        // SAFETY: `encode` calls this between begin and end of the command buffer; `check_words` found the range inside
        // a buffer that is alive, aligned to 4, and at most `WRITE_BYTES_MAX` (65,536) bytes long.
        let record = |_: &Self| unsafe { raw.cmd_update_buffer(commands, buffer, to.offset, data) };
        self.work(|| CommandKind::Write, bytes(to.bytes), record);
    }

    /// Records a command of a pass with `record`, its marks, and its times if it belongs to a stage and there are
    /// queries left.
    fn work(&mut self, kind: impl Fn() -> CommandKind, items: Option<Items>, record: impl FnOnce(&Self)) {
        if self.inputs.marks.is_some() {
            self.resources.trail.push(TrailCommand { kind: kind(), items });
        }
        if self.inputs.work_max.is_some_and(|most| self.work >= most) {
            return;
        }
        self.begin_pass();
        if let Some(marks) = &self.inputs.marks {
            marks.checkpoint(self.resources.commands(), self.work);
        }
        let stage = self.stage.filter(|_| self.resources.times_commands);
        let number = self.resources.timed_commands.len() as u32;
        let timed = stage.filter(|_| number < self.timed_max);
        self.resources.untimed += u64::from(stage.is_some() && timed.is_none());
        let query = 2 * (self.stage_count + number);
        if let Some(stage) = timed {
            self.resources.timed_commands.push(TimedCommand { stage, kind: kind(), items });
            self.timestamp(query);
        }
        record(self);
        if timed.is_some() {
            self.timestamp(query + 1);
        }
        self.work += 1;
        self.leave_crumb();
    }

    /// Has the device write how many commands are done, where it leaves breadcrumbs.
    fn leave_crumb(&mut self) {
        let Some((buffer, submission)) = self.inputs.crumbs() else { return };
        self.begin_pass();
        let words = [submission as u32, self.work as u32].map(u32::to_ne_bytes).concat();
        let (raw, commands) = (&self.inputs.shared.raw, self.resources.commands());
        // SAFETY: `encode` calls this between begin and end of the command buffer; the buffer has these 8 bytes, and
        // lives as long as the device.
        unsafe { raw.cmd_update_buffer(commands, buffer, 0, &words) };
    }

    /// Makes a command wait for those before it, unless it belongs to a group that has begun.
    fn begin_pass(&mut self) {
        if self.order == PassOrder::Group {
            return;
        }
        if self.order == PassOrder::GroupBegins {
            self.order = PassOrder::Group;
        }
        use vk::{AccessFlags, PipelineStageFlags};
        let from = PipelineStageFlags::COMPUTE_SHADER | PipelineStageFlags::TRANSFER;
        let reads = AccessFlags::SHADER_READ | AccessFlags::TRANSFER_READ | AccessFlags::INDIRECT_COMMAND_READ;
        let writes = AccessFlags::SHADER_WRITE | AccessFlags::TRANSFER_WRITE;
        let to = from | PipelineStageFlags::DRAW_INDIRECT;
        if self.inputs.crumbs().is_some() {
            // The host sees breadcrumbs before the next command begins.
            return self.barrier(from, writes, to | PipelineStageFlags::HOST, reads | writes | AccessFlags::HOST_READ);
        }
        self.barrier(from, writes, to, reads | writes);
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
        // SAFETY: `encode` calls this between begin and end of the command buffer, and never begins a render pass;
        // every queue that computes supports the compute, transfer, indirect and host stages used here.
        unsafe {
            self.inputs.shared.raw.cmd_pipeline_barrier(self.resources.commands(), from, to, none, &memory, &[], &[]);
        }
    }

    /// Writes the begin (0) or end (1) of the stage that was pushed last.
    fn stage_timestamp(&self, end: u32) {
        if self.timed {
            self.timestamp(2 * (self.resources.stages.len() as u32 - 1) + end);
        }
    }

    /// Writes the time at which the commands so far are done.
    fn timestamp(&self, query: u32) {
        let (raw, commands) = (&self.inputs.shared.raw, self.resources.commands());
        let when = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // SAFETY: `encode` reset two queries for each stage, and for as many commands as are timed at most, at the
        // start of this command buffer; each writes its two once; both are done only if the queue has timestamps.
        unsafe { raw.cmd_write_timestamp(commands, when, self.resources.queries(), query) };
    }
}

/// A number of bytes that a command goes through.
fn bytes(count: u64) -> Option<Items> {
    Some(Items { count, unit: "bytes" })
}

//! The resources of one submission: a command buffer, descriptor sets, timestamps. They are reused when it is done.

use super::command_times::TimedCommand;
use super::encode::EMPTY_BYTES;
use super::error::GpuError;
use super::memory::created_bytes;
use super::pipeline::descriptor_type;
use super::shared::DeviceShared;
use super::trail::TrailCommand;
use crate::pipeline::recording::{BindingForm, BufferRange, viewed_bytes};
use ash::vk;
use rustc_hash::FxHashMap;
use std::ops::Add;

/// A range and how it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bound {
    pub(super) range: BufferRange,
    pub(super) form: BindingForm,
}

/// The pools of one submission. Descriptor sets are kept for the next submission that uses the same resources, since
/// recordings repeat themselves: creating a set takes 0.3 us on Mesa 22 and 8 us on Mesa 25, which is more than a small
/// dispatch.
pub(super) struct SubmissionResources {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    descriptors: vk::DescriptorPool,
    capacity: DescriptorCount,
    used: DescriptorCount,
    /// The sets in the pool by what they bind.
    sets: FxHashMap<Box<[Bound]>, vk::DescriptorSet>,
    /// The views of texels that the sets bind.
    views: FxHashMap<Bound, vk::BufferView>,
    queries: vk::QueryPool,
    query_capacity: u32,
    /// The stages whose times are measured: stage `i` begins at query `2 i` and ends at `2 i + 1`.
    pub(super) stages: Vec<&'static str>,
    /// The commands whose times are measured: the queries of command `i` follow those of all stages and of the commands
    /// before it.
    pub(super) timed_commands: Vec<TimedCommand>,
    /// Whether commands are timed.
    pub(super) times_commands: bool,
    /// The number of commands of stages that are not timed.
    pub(super) untimed: u64,
    /// The commands, where they leave marks.
    pub(super) trail: Vec<TrailCommand>,
}

impl SubmissionResources {
    /// Resources without descriptors and queries.
    pub(super) fn new(shared: &DeviceShared) -> Result<Self, GpuError> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(shared.family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: `Device::submit` and compile jobs call this while their device is open; it was created with a queue
        // of this family.
        let pool = shared.check("making a command pool", unsafe { shared.raw.create_command_pool(&info, None) })?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool was created above, and no other thread has its handle.
        let buffers = shared.check("making a command buffer", unsafe { shared.raw.allocate_command_buffers(&info) });
        if buffers.is_err() {
            let _removing = shared.removing_commands();
            // SAFETY: the pool was created above, and no command buffer was allocated from it.
            unsafe { shared.raw.destroy_command_pool(pool, None) };
        }
        Ok(Self {
            pool,
            commands: buffers?[0],
            descriptors: vk::DescriptorPool::null(),
            capacity: DescriptorCount::default(),
            used: DescriptorCount::default(),
            sets: FxHashMap::default(),
            views: FxHashMap::default(),
            queries: vk::QueryPool::null(),
            query_capacity: 0,
            stages: Vec::new(),
            timed_commands: Vec::new(),
            times_commands: false,
            untimed: 0,
            trail: Vec::new(),
        })
    }

    /// Returns the command buffer.
    pub(super) fn commands(&self) -> vk::CommandBuffer {
        self.commands
    }

    /// Returns the timestamps.
    pub(super) fn queries(&self) -> vk::QueryPool {
        self.queries
    }

    /// Empties the command buffer and begins it. The submission that used it must be done.
    pub(super) fn begin(&mut self, shared: &DeviceShared, label: &str) -> Result<(), GpuError> {
        self.stages.clear();
        self.timed_commands.clear();
        self.untimed = 0;
        self.trail.clear();
        shared.name(self.commands, label);
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let _recording = shared.recording();
        // SAFETY: callers begin only resources that are new or were returned by a finished submission, so the command
        // buffer is not pending, and `&mut self` keeps other threads from its pool.
        let begun = unsafe {
            shared
                .raw
                .reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
                .and_then(|()| shared.raw.begin_command_buffer(self.commands, &info))
        };
        shared.check("beginning a command buffer", begun)
    }

    /// Returns a descriptor set for each list of ranges, with the given layout. `describe` describes the ranges of new
    /// sets.
    pub(super) fn sets(
        &mut self,
        shared: &DeviceShared,
        wanted: &[(Box<[Bound]>, vk::DescriptorSetLayout)],
        describe: impl Fn(BufferRange) -> vk::DescriptorBufferInfo,
    ) -> Result<Vec<vk::DescriptorSet>, GpuError> {
        let mut fresh: Vec<_> = wanted.iter().filter(|(bound, _)| !self.sets.contains_key(bound)).collect();
        if !(self.used + DescriptorCount::of(&fresh)).fits(self.capacity) {
            self.empty_pool(shared, DescriptorCount::of(&wanted.iter().collect::<Vec<_>>()))?;
            fresh = wanted.iter().collect();
        }
        if !fresh.is_empty() {
            let layouts: Vec<_> = fresh.iter().map(|(_, layout)| *layout).collect();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.descriptors).set_layouts(&layouts);
            // SAFETY: `&mut self` keeps other threads from the pool, `empty_pool` made it large enough if it was not,
            // and the layouts belong to pipelines of this device.
            let made = unsafe { shared.raw.allocate_descriptor_sets(&info) };
            let made = shared.check("making descriptor sets", made)?;
            self.used = self.used + DescriptorCount::of(&fresh);
            for (set, (bound, _)) in made.iter().zip(&fresh) {
                self.fill(shared, *set, bound, &describe)?;
            }
            self.sets.extend(fresh.iter().map(|(bound, _)| bound.clone()).zip(made));
        }
        Ok(wanted.iter().map(|(bound, _)| self.sets[bound]).collect())
    }

    /// Binds ranges to a new set.
    fn fill(
        &mut self,
        shared: &DeviceShared,
        set: vk::DescriptorSet,
        bound: &[Bound],
        describe: impl Fn(BufferRange) -> vk::DescriptorBufferInfo,
    ) -> Result<(), GpuError> {
        let buffers: Vec<_> = bound.iter().map(|bound| [describe(bound.range)]).collect();
        let views = bound.iter().zip(&buffers).map(|(bound, [info])| self.view(shared, *bound, info));
        let views: Vec<[vk::BufferView; 1]> = views.map(|view| view.map(|view| [view])).collect::<Result<_, _>>()?;
        let writes: Vec<vk::WriteDescriptorSet<'_>> = (0..bound.len())
            .map(|i| {
                // Each form takes its own of the two.
                vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(i as u32)
                    .descriptor_type(descriptor_type(bound[i].form))
                    .buffer_info(&buffers[i])
                    .texel_buffer_view(&views[i])
            })
            .collect();
        // SAFETY: the set was allocated just now, so no submission uses it; `check_binding` found each range inside a
        // buffer that is alive, aligned, and within the device's limit; `view` made the views, which live as long as
        // the set; `buffers` and `views`, to which the writes point, outlive the call.
        unsafe { shared.raw.update_descriptor_sets(&writes, &[]) };
        Ok(())
    }

    /// Returns the view of a range of texels; a null handle for other forms.
    fn view(
        &mut self,
        shared: &DeviceShared,
        bound: Bound,
        info: &vk::DescriptorBufferInfo,
    ) -> Result<vk::BufferView, GpuError> {
        let format = match bound.form {
            BindingForm::Storage => return Ok(vk::BufferView::null()),
            BindingForm::Records => vk::Format::R32G32B32A32_UINT,
            BindingForm::Words => vk::Format::R32_SINT,
        };
        if let Some(view) = self.views.get(&bound) {
            return Ok(*view);
        }
        let whole = if bound.range.bytes == 0 { EMPTY_BYTES } else { bound.range.buffer.bytes() };
        let larger = viewed_bytes(info.range);
        let fits = info.offset + larger <= created_bytes(whole);
        let info = vk::BufferViewCreateInfo::default()
            .buffer(info.buffer)
            .format(format)
            .offset(info.offset)
            .range(if fits { larger } else { info.range });
        // SAFETY: `check_binding` found the range inside a buffer that is alive, aligned, of whole texels, and within
        // what `requirements` ask of a device; or it is the buffer of empty slices. The bytes by which it
        // is larger are inside the buffer as created; some buffers end before them.
        let view = shared.check("making a view of texels", unsafe { shared.raw.create_buffer_view(&info, None) })?;
        self.views.insert(bound, view);
        Ok(view)
    }

    /// Destroys the views. The submission that last used them must be done, and the sets that bind them discarded.
    fn destroy_views(&mut self, shared: &DeviceShared) {
        for (_, view) in self.views.drain() {
            // SAFETY: `view` created it, it is taken out of the table here, and callers see to the rest.
            unsafe { shared.raw.destroy_buffer_view(view, None) };
        }
    }

    /// Discards all sets and makes room for at least `needed`.
    fn empty_pool(&mut self, shared: &DeviceShared, needed: DescriptorCount) -> Result<(), GpuError> {
        self.sets.clear();
        self.destroy_views(shared);
        self.used = DescriptorCount::default();
        if needed.fits(self.capacity) {
            // SAFETY: the submission that last used these resources is done (see `begin`), so none of the pool's sets
            // is in use.
            let reset =
                unsafe { shared.raw.reset_descriptor_pool(self.descriptors, vk::DescriptorPoolResetFlags::empty()) };
            return shared.check("resetting a descriptor pool", reset);
        }
        // SAFETY: the submission that last used these resources is done (see `begin`), so none of the pool's sets is in
        // use; destroying a null handle does nothing.
        unsafe { shared.raw.destroy_descriptor_pool(self.descriptors, None) };
        (self.descriptors, self.capacity) = (vk::DescriptorPool::null(), DescriptorCount::default());
        // Four times what is needed now, so that the sets of other recordings also fit.
        let capacity = DescriptorCount { sets: 4 * needed.sets.max(8), buffers: 4 * needed.buffers.max(32) };
        let size =
            |form| vk::DescriptorPoolSize::default().ty(descriptor_type(form)).descriptor_count(capacity.buffers);
        let sizes = [size(BindingForm::Storage), size(BindingForm::Records)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(capacity.sets).pool_sizes(&sizes);
        // SAFETY: callers hold an open device; `sizes`, to which `info` points, outlives the call.
        let made = unsafe { shared.raw.create_descriptor_pool(&info, None) };
        self.descriptors = shared.check("making a descriptor pool", made)?;
        self.capacity = capacity;
        Ok(())
    }

    /// Makes room for `count` timestamps.
    pub(super) fn reserve_queries(&mut self, shared: &DeviceShared, count: u32) -> Result<(), GpuError> {
        if count <= self.query_capacity {
            return Ok(());
        }
        // SAFETY: the submission that last used these resources is done (see `begin`), and this command buffer does not
        // refer to the pool yet; destroying a null handle does nothing.
        unsafe { shared.raw.destroy_query_pool(self.queries, None) };
        self.queries = vk::QueryPool::null();
        self.query_capacity = 0;
        let capacity = count.next_power_of_two();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(capacity);
        // SAFETY: `encode`, the only caller, holds an open device, and calls this only if its queue has timestamps
        // (`shared.clock`).
        let made = unsafe { shared.raw.create_query_pool(&info, None) };
        self.queries = shared.check("making a query pool", made)?;
        self.query_capacity = capacity;
        Ok(())
    }

    /// Destroys the pools. No submission may still use them.
    pub(super) fn destroy(mut self, shared: &DeviceShared) {
        self.destroy_views(shared);
        let _removing = shared.removing_commands();
        // SAFETY: callers destroy resources only after their submission has ended, or when none was made; `self` owns
        // the pools and is consumed; destroying a null handle does nothing.
        unsafe {
            shared.raw.destroy_query_pool(self.queries, None);
            shared.raw.destroy_descriptor_pool(self.descriptors, None);
            shared.raw.destroy_command_pool(self.pool, None);
        }
    }
}

/// A number of descriptor sets, and of buffers in them.
#[derive(Clone, Copy, Default)]
struct DescriptorCount {
    sets: u32,
    buffers: u32,
}

impl DescriptorCount {
    /// Returns the number that sets for these ranges need.
    fn of(wanted: &[&(Box<[Bound]>, vk::DescriptorSetLayout)]) -> Self {
        let buffers = wanted.iter().map(|(bound, _)| bound.len() as u32).sum();
        Self { sets: wanted.len() as u32, buffers }
    }

    fn fits(self, capacity: Self) -> bool {
        self.sets <= capacity.sets && self.buffers <= capacity.buffers
    }
}

impl Add for DescriptorCount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { sets: self.sets + other.sets, buffers: self.buffers + other.buffers }
    }
}

//! The resources of one submission: a command buffer, descriptor sets, timestamps. They are reused when it is done.

use super::error::GpuError;
use super::shared::DeviceShared;
use crate::pipeline::recording::BufferRange;
use ash::vk;
use rustc_hash::FxHashMap;
use std::ops::Add;

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
    sets: FxHashMap<Box<[BufferRange]>, vk::DescriptorSet>,
    queries: vk::QueryPool,
    query_capacity: u32,
    /// The stages whose times are measured: stage `i` begins at query `2 i` and ends at `2 i + 1`.
    pub(super) stages: Vec<&'static str>,
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
            queries: vk::QueryPool::null(),
            query_capacity: 0,
            stages: Vec::new(),
        })
    }

    /// The command buffer.
    pub(super) fn commands(&self) -> vk::CommandBuffer {
        self.commands
    }

    /// The timestamps.
    pub(super) fn queries(&self) -> vk::QueryPool {
        self.queries
    }

    /// Empties the command buffer and begins it. The submission that used it must be done.
    pub(super) fn begin(&mut self, shared: &DeviceShared, label: &str) -> Result<(), GpuError> {
        self.stages.clear();
        shared.name(self.commands, label);
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
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

    /// A descriptor set for each list of ranges, with the given layout. `describe` describes the ranges of new sets.
    pub(super) fn sets(
        &mut self,
        shared: &DeviceShared,
        wanted: &[(&[BufferRange], vk::DescriptorSetLayout)],
        describe: impl Fn(BufferRange) -> vk::DescriptorBufferInfo,
    ) -> Result<Vec<vk::DescriptorSet>, GpuError> {
        let mut fresh: Vec<_> = wanted.iter().filter(|(ranges, _)| !self.sets.contains_key(*ranges)).collect();
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
            fill(shared, &made, &fresh, describe);
            let keys = fresh.iter().map(|(ranges, _)| Box::<[BufferRange]>::from(*ranges));
            self.sets.extend(keys.zip(made));
        }
        Ok(wanted.iter().map(|(ranges, _)| self.sets[*ranges]).collect())
    }

    /// Discards all sets and makes room for at least `needed`.
    fn empty_pool(&mut self, shared: &DeviceShared, needed: DescriptorCount) -> Result<(), GpuError> {
        self.sets.clear();
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
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(capacity.buffers)];
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

    /// Destroys the pools. No submission may use them any more.
    pub(super) fn destroy(self, shared: &DeviceShared) {
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
    /// The number that sets for these ranges need.
    fn of(wanted: &[&(&[BufferRange], vk::DescriptorSetLayout)]) -> Self {
        let buffers = wanted.iter().map(|(ranges, _)| ranges.len() as u32).sum();
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

/// Binds ranges to new sets.
fn fill(
    shared: &DeviceShared,
    sets: &[vk::DescriptorSet],
    wanted: &[&(&[BufferRange], vk::DescriptorSetLayout)],
    describe: impl Fn(BufferRange) -> vk::DescriptorBufferInfo,
) {
    let infos: Vec<Vec<vk::DescriptorBufferInfo>> =
        wanted.iter().map(|(ranges, _)| ranges.iter().map(|range| describe(*range)).collect()).collect();
    let writes: Vec<vk::WriteDescriptorSet<'_>> = sets
        .iter()
        .zip(&infos)
        .filter(|(_, infos)| !infos.is_empty())
        .map(|(set, infos)| {
            // A write of several descriptors continues into the next bindings, which have the same type.
            vk::WriteDescriptorSet::default()
                .dst_set(*set)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(infos)
        })
        .collect();
    // SAFETY: the sets were allocated just now, so no submission uses them; `check_binding` found each range inside a
    // buffer that is alive, aligned, and within the device's limit; `infos`, to which the writes point, outlives the
    // call.
    unsafe { shared.raw.update_descriptor_sets(&writes, &[]) };
}

//! What one submission takes: a command buffer, descriptor sets, timestamps. Used again when the submission is done.

use super::error::GpuError;
use super::link::Link;
use ash::vk;

/// Pools of one submission. A pool a submission needs no bookkeeping of single sets, works on every driver, and is reset whole.
pub(super) struct Slot {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    descriptors: vk::DescriptorPool,
    set_capacity: u32,
    descriptor_capacity: u32,
    queries: vk::QueryPool,
    query_capacity: u32,
    /// The stages whose times are measured: stage `i` begins at query `2 i` and ends at `2 i + 1`.
    pub(super) stages: Vec<&'static str>,
}

impl Slot {
    /// A slot without descriptors and queries.
    pub(super) fn new(link: &Link) -> Result<Self, GpuError> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(link.family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the device is alive while anything of this module runs; the queue family is the device's.
        let pool = link.check("making a command pool", unsafe { link.raw.create_command_pool(&info, None) })?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is this slot's own.
        let buffers = link.check("making a command buffer", unsafe { link.raw.allocate_command_buffers(&info) });
        if buffers.is_err() {
            // SAFETY: as above.
            unsafe { link.raw.destroy_command_pool(pool, None) };
        }
        Ok(Self {
            pool,
            commands: buffers?[0],
            descriptors: vk::DescriptorPool::null(),
            set_capacity: 0,
            descriptor_capacity: 0,
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
    pub(super) fn begin(&mut self, link: &Link, label: &str) -> Result<(), GpuError> {
        self.stages.clear();
        link.name(self.commands, label);
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is this slot's own and no submission uses it.
        let begun = unsafe {
            link.raw
                .reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
                .and_then(|()| link.raw.begin_command_buffer(self.commands, &info))
        };
        link.check("beginning a command buffer", begun)
    }

    /// Descriptor sets of the given layouts, which have `buffer_count` bindings in all. Those given before become invalid.
    pub(super) fn sets(
        &mut self,
        link: &Link,
        layouts: &[vk::DescriptorSetLayout],
        buffer_count: u32,
    ) -> Result<Vec<vk::DescriptorSet>, GpuError> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        self.reserve_sets(link, layouts.len() as u32, buffer_count)?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.descriptors).set_layouts(layouts);
        // SAFETY: the pool is this slot's own, was just emptied, and is large enough.
        let sets = unsafe { link.raw.allocate_descriptor_sets(&info) };
        link.check("making descriptor sets", sets)
    }

    fn reserve_sets(&mut self, link: &Link, set_count: u32, buffer_count: u32) -> Result<(), GpuError> {
        if set_count <= self.set_capacity && buffer_count <= self.descriptor_capacity {
            // SAFETY: no submission uses sets of this pool any more.
            let reset =
                unsafe { link.raw.reset_descriptor_pool(self.descriptors, vk::DescriptorPoolResetFlags::empty()) };
            return link.check("resetting a descriptor pool", reset);
        }
        // SAFETY: as above; destroying null is nothing.
        unsafe { link.raw.destroy_descriptor_pool(self.descriptors, None) };
        self.descriptors = vk::DescriptorPool::null();
        self.set_capacity = set_count.next_power_of_two();
        self.descriptor_capacity = buffer_count.max(1).next_power_of_two();
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(self.descriptor_capacity)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(self.set_capacity).pool_sizes(&sizes);
        // SAFETY: the device is alive.
        let made = unsafe { link.raw.create_descriptor_pool(&info, None) };
        self.descriptors = link.check("making a descriptor pool", made).inspect_err(|_| self.set_capacity = 0)?;
        Ok(())
    }

    /// Room for `count` timestamps.
    pub(super) fn reserve_queries(&mut self, link: &Link, count: u32) -> Result<(), GpuError> {
        if count <= self.query_capacity {
            return Ok(());
        }
        // SAFETY: no submission uses the pool any more; destroying null is nothing.
        unsafe { link.raw.destroy_query_pool(self.queries, None) };
        self.queries = vk::QueryPool::null();
        self.query_capacity = 0;
        let capacity = count.next_power_of_two();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(capacity);
        // SAFETY: the device is alive, and callers ask only where its queue family has timestamps.
        let made = unsafe { link.raw.create_query_pool(&info, None) };
        self.queries = link.check("making a query pool", made)?;
        self.query_capacity = capacity;
        Ok(())
    }

    /// Destroys the pools. No submission may use them any more.
    pub(super) fn destroy(self, link: &Link) {
        // SAFETY: as the caller promises; the objects are this slot's own, and destroying null is nothing.
        unsafe {
            link.raw.destroy_query_pool(self.queries, None);
            link.raw.destroy_descriptor_pool(self.descriptors, None);
            link.raw.destroy_command_pool(self.pool, None);
        }
    }
}

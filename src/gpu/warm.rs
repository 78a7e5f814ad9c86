//! Running a kernel over nothing, so that a driver which compiles at the first dispatch does it before the kernel is needed.

use super::encode::{Sources, encode};
use super::error::GpuError;
use super::link::Link;
use super::pipeline::Pipeline;
use super::slot::Slot;
use crate::pipeline::recording::{Buffer, BufferRange, Dispatch, Groups, Kernel, Recording};
use ash::vk;
use std::sync::Arc;
use std::time::Duration;

/// Dispatches no workgroups of a kernel and waits for the end, at most `timeout`. `empty` is what its bindings are bound to.
pub(super) fn dispatch_nothing(
    link: &Link,
    pipeline: Pipeline,
    kernel: &Arc<Kernel>,
    empty: vk::Buffer,
    timeout: Duration,
) -> Result<(), GpuError> {
    let nothing =
        BufferRange { buffer: Buffer::new("nothing", link.title.number, u32::MAX, 0, 0), offset: 0, bytes: 0 };
    let mut recording = Recording::new(format!("warm {}", kernel.label()));
    recording.dispatch(Dispatch {
        kernel: Arc::clone(kernel),
        constants: Vec::new(),
        groups: Groups::Direct([0, 0, 0]),
        bindings: vec![nothing; kernel.bindings().len()],
        push: vec![0; kernel.push_bytes() as usize],
    });
    let mut slot = Slot::new(link)?;
    let sources = Sources { link, pipelines: &[pipeline], buffer: &|_| empty, empty };
    let done = encode(&sources, &mut slot, &recording).and_then(|()| run(link, &slot, recording.label(), timeout));
    // After a time-out the device may still use them: then they are left to the end of the process.
    if !matches!(done, Err(GpuError::Timeout { .. })) {
        slot.destroy(link);
    }
    done
}

/// Submits what the slot holds and waits for it.
fn run(link: &Link, slot: &Slot, doing: &str, timeout: Duration) -> Result<(), GpuError> {
    let raw = &link.raw;
    // SAFETY: the device is alive until it has waited for the thread that runs this.
    let fence = unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) };
    let fence = link.check("making a fence", fence)?;
    let commands = [slot.commands()];
    let done = link.submit(doing, vk::SubmitInfo::default().command_buffers(&commands), fence).and_then(|()| {
        // SAFETY: the fence is this function's own.
        match unsafe { raw.wait_for_fences(&[fence], true, u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)) } {
            Err(vk::Result::TIMEOUT) => {
                let (device, waited_for) = (link.title.clone(), doing.to_string());
                Err(GpuError::Timeout { device, waited_for, timeout })
            }
            other => link.check(doing, other),
        }
    });
    if !matches!(done, Err(GpuError::Timeout { .. })) {
        // SAFETY: the submission that signals it has ended, or the device is lost.
        unsafe { raw.destroy_fence(fence, None) };
    }
    done
}

//! Dispatches a kernel without workgroups, so that drivers that compile at the first dispatch do so before it is
//! needed.

use super::encode::{EncoderInputs, encode};
use super::error::GpuError;
use super::pipeline::ComputePipeline;
use super::shared::DeviceShared;
use super::submission_resources::SubmissionResources;
use crate::pipeline::recording::{Buffer, BufferRange, Dispatch, Groups, Kernel, Recording};
use ash::vk;
use std::sync::Arc;
use std::time::Duration;

/// Dispatches no workgroups of a kernel and waits at most `timeout` for the end. Its bindings are bound to `empty`.
pub(super) fn dispatch_no_workgroups(
    shared: &DeviceShared,
    pipeline: ComputePipeline,
    kernel: &Arc<Kernel>,
    empty: vk::Buffer,
    timeout: Duration,
) -> Result<(), GpuError> {
    let nothing = BufferRange {
        buffer: Buffer::new("an unused binding", shared.title.number, u32::MAX, 0, 0),
        offset: 0,
        bytes: 0,
    };
    let mut recording = Recording::new(format!("the first dispatch of {}", kernel.label()));
    recording.dispatch(Dispatch {
        kernel: Arc::clone(kernel),
        constants: Vec::new(),
        groups: Groups::Direct([0, 0, 0]),
        items: None,
        bindings: vec![nothing; kernel.bindings().len()],
        push: vec![0; kernel.push_bytes() as usize],
    });
    let mut resources = SubmissionResources::new(shared)?;
    let inputs = EncoderInputs {
        shared,
        pipelines: &[pipeline],
        buffer: &|_| empty,
        empty,
        times_commands: false,
        marks: None,
        work_max: None,
    };
    let done =
        encode(&inputs, &mut resources, &recording).and_then(|()| run(shared, &resources, recording.label(), timeout));
    // After a time-out the device may still use them, so they are leaked.
    if !matches!(done, Err(GpuError::Timeout { .. })) {
        resources.destroy(shared);
    }
    done
}

/// Submits the command buffer of `resources` and waits for it.
fn run(shared: &DeviceShared, resources: &SubmissionResources, label: &str, timeout: Duration) -> Result<(), GpuError> {
    let raw = &shared.raw;
    // SAFETY: this runs in a compile job, and `Kernels::close` waits for those before either device (the one that
    // renders or the one that precompiles) is destroyed.
    let fence = unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) };
    let fence = shared.check("making a fence", fence)?;
    let commands = [resources.commands()];
    let done = shared.submit(label, vk::SubmitInfo::default().command_buffers(&commands), fence).and_then(|()| {
        // SAFETY: the fence was created above and is destroyed only below.
        match unsafe { raw.wait_for_fences(&[fence], true, u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)) } {
            Err(vk::Result::TIMEOUT) => {
                let (device, waited_for) = (shared.title.clone(), label.to_string());
                Err(GpuError::Timeout { device, waited_for, timeout })
            }
            other => shared.check(&format!("running {label}"), other),
        }
    });
    if !matches!(done, Err(GpuError::Timeout { .. })) {
        // SAFETY: either nothing was submitted with the fence, or the wait ended without a time-out, so the submission
        // that signals it has ended or the device is lost.
        unsafe { raw.destroy_fence(fence, None) };
    }
    done
}

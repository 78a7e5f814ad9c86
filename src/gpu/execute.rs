//! Submits recordings to the device's queue; a timeline semaphore counts the submissions.

use super::check::{Rules, check};
use super::device::Device;
use super::encode::{EncoderInputs, encode};
use super::error::GpuError;
use super::fault::{FaultKind, Faults};
use super::pipeline::ComputePipeline;
use super::profile::{Profiles, StageTime};
use super::shared::DeviceShared;
use super::submission_resources::SubmissionResources;
use crate::pipeline::recording::{Buffer, Command, Groups, Kernel, Recording};
use ash::vk;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// A submission of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    device: u32,
    submission: u64,
}

/// A submission that is not known to be done.
struct PendingSubmission {
    submission: u64,
    label: String,
    resources: SubmissionResources,
}

/// A submission, and how many of its commands the device runs at most.
#[derive(Clone, Copy)]
struct SubmittedPart {
    submission: u64,
    work_max: Option<usize>,
}

/// The submissions of a device, which run one after the other.
pub(super) struct Submissions {
    timeline: vk::Semaphore,
    submitted: u64,
    done: u64,
    pending: VecDeque<PendingSubmission>,
    idle: Vec<SubmissionResources>,
    pub(super) profiles: Profiles,
    /// Whether each command of a stage is timed.
    pub(super) times_commands: bool,
    /// Failures to inject (tests).
    faults: Option<Arc<Faults>>,
    /// Whether an injected hang keeps submissions from the queue.
    hangs: bool,
}

impl Submissions {
    pub(super) fn new(shared: &DeviceShared) -> Result<Self, GpuError> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: no device is opened without `timelineSemaphore` (it is `NeededFor::Running`), and `device::create`
        // enables it; `kind`, to which `info` points, outlives the call.
        let timeline = shared.check("making a semaphore", unsafe { shared.raw.create_semaphore(&info, None) })?;
        shared.name(timeline, "submissions");
        Ok(Self {
            timeline,
            submitted: 0,
            done: 0,
            pending: VecDeque::new(),
            idle: Vec::new(),
            profiles: Profiles::default(),
            times_commands: false,
            faults: None,
            hangs: false,
        })
    }

    /// Injects failures from now on.
    pub(super) fn inject(&mut self, faults: Option<Arc<Faults>>) {
        self.faults = faults;
    }

    /// Returns how the next submission fails, if a fault is due.
    fn due_fault(&mut self, shared: &DeviceShared) -> Option<FaultKind> {
        self.faults.as_ref()?.next(shared.title.number)
    }

    /// Returns the last submission that is known to be done.
    pub(super) fn done(&self) -> u64 {
        self.done
    }

    /// Queries the progress of the device, and reclaims the resources of finished submissions.
    pub(super) fn collect(&mut self, shared: &DeviceShared) -> Result<(), GpuError> {
        // SAFETY: only `close` destroys the semaphore, which `Device::drop` calls last.
        let reached = unsafe { shared.raw.get_semaphore_counter_value(self.timeline) };
        self.done = shared.check("querying its progress", reached)?;
        while let Some(entry) = self.pending.pop_front_if(|entry| entry.submission <= self.done) {
            let collected = self.profiles.collect(shared, &entry.resources, entry.submission);
            self.idle.push(entry.resources);
            collected?;
        }
        shared.trail.done(self.done);
        Ok(())
    }

    /// Whether no submission is known to be under way.
    fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    /// Waits until a submission is done.
    fn wait(&mut self, shared: &DeviceShared, submission: u64, timeout: Duration) -> Result<(), GpuError> {
        if submission <= self.done {
            return Ok(());
        }
        let (semaphores, values) = ([self.timeline], [submission]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let label = self.pending.iter().find(|entry| entry.submission == submission).map(|f| f.label.clone());
        let label = label.unwrap_or_default();
        // SAFETY: only `close` destroys the semaphore, after this wait; `semaphores` and `values` have one element each
        // and outlive the call.
        match unsafe { shared.raw.wait_semaphores(&info, timeout_ns) } {
            Err(vk::Result::TIMEOUT) => {
                let waited_for = shared.with_position(label);
                Err(GpuError::Timeout { device: shared.title.clone(), waited_for, timeout })
            }
            other => {
                shared.check(&format!("running {label}"), other)?;
                self.collect(shared)
            }
        }
    }

    /// Waits for all submissions, then destroys their resources. On a time-out nothing is destroyed.
    pub(super) fn close(&mut self, shared: &DeviceShared, timeout: Duration) -> Result<(), GpuError> {
        // A lost device no longer uses anything; only the resources of one that may still be running are kept.
        if let Err(error @ GpuError::Timeout { .. }) = self.wait(shared, self.submitted, timeout) {
            return Err(error);
        }
        let pending = self.pending.drain(..).map(|entry| entry.resources);
        pending.chain(self.idle.drain(..)).for_each(|resources| resources.destroy(shared));
        // SAFETY: the wait above ended without a time-out, so every submission that signals the semaphore has ended or
        // the device is lost; `Device::drop`, the only caller, uses it no more.
        unsafe { shared.raw.destroy_semaphore(self.timeline, None) };
        Ok(())
    }
}

impl Device {
    /// Starts compiling a kernel in the background. A kernel that was not prepared is compiled when it is first
    /// submitted.
    pub fn prepare(&self, kernel: &Arc<Kernel>, constants: &[u32]) {
        match &self.capture_kernels {
            Some(captured) => self.kernels.prepare(&captured.of(kernel), constants),
            None => self.kernels.prepare(kernel, constants),
        }
    }

    /// Whether a prepared kernel can run without waiting.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn is_ready(&self, kernel: &Kernel, constants: &[u32]) -> Result<bool, GpuError> {
        match &self.capture_kernels {
            Some(captured) => self.kernels.is_ready(&captured.of(kernel), constants),
            None => self.kernels.is_ready(kernel, constants),
        }
    }

    /// Submits a recording to run after everything submitted before, and returns at once unless one of its kernels must
    /// be compiled first.
    ///
    /// # Errors
    /// [`GpuError::Recording`] if the device does not permit the recording, [`GpuError::Kernel`], [`GpuError::Timeout`]
    /// if a kernel takes too long to compile, [`GpuError::Lost`].
    pub fn submit(&mut self, recording: &Recording) -> Result<Ticket, GpuError> {
        let doing = || format!("running {}", recording.label());
        match self.submissions.due_fault(&self.shared) {
            Some(FaultKind::OutOfMemory) => self.shared.check(&doing(), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)),
            Some(FaultKind::Lost) => {
                self.submit_part(recording, Some(recording.work_count() / 2))?;
                self.shared.simulate_loss(&doing())
            }
            Some(FaultKind::Hang) => {
                self.submissions.hangs = true;
                self.submit_part(recording, Some(recording.work_count() / 2))
            }
            Some(FaultKind::Unopened | FaultKind::SlowCompile) | None => self.submit_transfer(recording),
        }
    }

    /// Does what [`Self::submit`] does for copies of staged data, which do not count for [`super::Fault`]: how many
    /// there are depends on the device's memory.
    pub(super) fn submit_transfer(&mut self, recording: &Recording) -> Result<Ticket, GpuError> {
        self.submit_part(recording, None)
    }

    /// Submits a recording, of whose commands the device runs `work_max` at most.
    fn submit_part(&mut self, recording: &Recording, work_max: Option<usize>) -> Result<Ticket, GpuError> {
        let captured = self.capture_kernels.as_ref().map(|captured| captured.recording(recording));
        let recording = captured.as_ref().unwrap_or(recording);
        self.collect()?;
        let rules = Rules { limits: &self.limits, is_alive: &|buffer| self.memory.raw(buffer).is_some() };
        check(recording, &rules).map_err(|reason| {
            let (device, recording) = (self.shared.title.clone(), recording.label().to_string());
            GpuError::Recording { device, recording, reason }
        })?;
        recording.dispatches().for_each(|dispatch| self.kernels.prepare(&dispatch.kernel, &dispatch.constants));
        let mut pipelines = Vec::new();
        for dispatch in recording.dispatches() {
            pipelines.push(self.kernels.get(&dispatch.kernel, &dispatch.constants)?);
        }
        let mut resources = self.submissions.idle.pop().map_or_else(|| SubmissionResources::new(&self.shared), Ok)?;
        let submission = self.submissions.submitted + 1;
        let part = SubmittedPart { submission, work_max };
        match self.submit_resources(recording, &pipelines, &mut resources, part) {
            Ok(()) => {
                self.submissions.submitted = submission;
                let label = recording.label().to_string();
                self.submissions.pending.push_back(PendingSubmission { submission, label, resources });
                buffers(recording, |buffer| self.memory.mark_use(buffer, submission));
                Ok(Ticket { device: self.shared.title.number, submission })
            }
            Err(error) => {
                self.submissions.idle.push(resources);
                Err(error)
            }
        }
    }

    fn submit_resources(
        &self,
        recording: &Recording,
        pipelines: &[ComputePipeline],
        resources: &mut SubmissionResources,
        SubmittedPart { submission, work_max }: SubmittedPart,
    ) -> Result<(), GpuError> {
        let buffer = |buffer| self.memory.raw(buffer).expect("the recording was checked: its buffers are alive");
        let times_commands = self.submissions.times_commands;
        let inputs = EncoderInputs {
            shared: &self.shared,
            pipelines,
            buffer: &buffer,
            empty: self.empty_buffer(),
            times_commands,
            marks: self.shared.trail.marks(submission),
            work_max,
        };
        encode(&inputs, resources, recording)?;
        if inputs.marks.is_some() {
            self.shared.trail.begin(submission, recording.label(), std::mem::take(&mut resources.trail));
        }
        if self.submissions.hangs {
            // What comes after the submission that hangs does not reach the queue.
            let Some(_) = work_max else { return Ok(()) };
            let commands = [resources.commands()];
            let info = vk::SubmitInfo::default().command_buffers(&commands);
            return self.shared.submit(recording.label(), info, vk::Fence::null());
        }
        let (commands, signalled, values) = ([resources.commands()], [self.submissions.timeline], [submission]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let info =
            vk::SubmitInfo::default().command_buffers(&commands).signal_semaphores(&signalled).push_next(&mut timeline);
        self.shared.submit(recording.label(), info, vk::Fence::null())
    }

    /// Ends a picture: kernels that none of the last pictures used are dropped, unless the device is still at work.
    pub fn end_picture(&mut self) {
        if !self.hangs && self.collect().is_ok() && self.submissions.is_idle() {
            self.kernels.end_picture();
        }
    }

    /// Reclaims the resources of finished submissions.
    pub(super) fn collect(&mut self) -> Result<(), GpuError> {
        self.shared.check_alive("querying its progress")?;
        self.submissions.collect(&self.shared)?;
        self.memory.release(self.submissions.done());
        Ok(())
    }

    /// Waits until a submission is done.
    ///
    /// # Errors
    /// [`GpuError::Timeout`], which names the recording, and [`GpuError::Lost`].
    ///
    /// # Panics
    /// If the ticket belongs to another device.
    pub fn wait(&mut self, ticket: Ticket, timeout: Duration) -> Result<(), GpuError> {
        self.check_ticket(ticket);
        self.wait_until(ticket.submission, timeout)
    }

    /// Waits until a submission is done; a device that exceeds its own time-out is considered hung.
    fn wait_until(&mut self, submission: u64, timeout: Duration) -> Result<(), GpuError> {
        self.shared.check_alive("waiting")?;
        let mut waited = self.submissions.wait(&self.shared, submission, timeout);
        let is_timeout = |waited: &Result<(), GpuError>| matches!(waited, Err(GpuError::Timeout { .. }));
        while is_timeout(&waited) && timeout >= self.timeout && self.kernels.keep_queue_busy() {
            waited = self.submissions.wait(&self.shared, submission, timeout);
        }
        self.hangs |= is_timeout(&waited) && timeout >= self.timeout;
        waited
    }

    /// Whether a submission is done.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    ///
    /// # Panics
    /// If the ticket belongs to another device.
    pub fn is_done(&mut self, ticket: Ticket) -> Result<bool, GpuError> {
        self.check_ticket(ticket);
        self.collect()?;
        Ok(ticket.submission <= self.submissions.done())
    }

    /// Waits until the last submission that uses a buffer is done.
    pub(super) fn wait_for_use(&mut self, buffer: Buffer) -> Result<(), GpuError> {
        self.wait_until(self.memory.last_use(buffer), self.timeout)
    }

    /// Returns when the stages of a submission ran; empty until it is known to be done, for submissions without stages,
    /// on devices without a clock, and for submissions long ago.
    pub fn stage_times(&self, ticket: Ticket) -> &[StageTime] {
        self.check_ticket(ticket);
        self.submissions.profiles.of(ticket.submission)
    }

    /// Returns the seconds that each stage took on the device, summed over all finished submissions.
    pub fn stage_seconds(&self) -> &BTreeMap<&'static str, f64> {
        self.submissions.profiles.totals()
    }

    /// Returns the seconds of the submission that took longest.
    pub fn submission_max_s(&self) -> f64 {
        self.submissions.profiles.longest_s()
    }

    fn check_ticket(&self, ticket: Ticket) {
        assert_eq!(ticket.device, self.shared.title.number, "a ticket must be used with the device that issued it");
    }
}

/// Every buffer that a recording uses, repeats included.
fn buffers(recording: &Recording, mut visit: impl FnMut(Buffer)) {
    for command in recording.commands() {
        match command {
            Command::Dispatch(dispatch) => {
                dispatch.bindings.iter().for_each(|range| visit(range.buffer));
                if let Groups::Indirect(place) = dispatch.groups {
                    visit(place.buffer);
                }
            }
            Command::Copy { from, to } => {
                visit(from.buffer);
                visit(to.buffer);
            }
            Command::Fill { to, .. } | Command::Write { to, .. } => visit(to.buffer),
            _ => {}
        }
    }
}

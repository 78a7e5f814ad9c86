//! Which command a device is in, or was in when it was lost: by the checkpoints of its driver
//! (VK_NV_device_diagnostic_checkpoints), or by breadcrumbs.

use super::breadcrumbs::CrumbBuffer;
use super::command_times::CommandKind;
use super::device_fault;
use crate::pipeline::recording::{Items, title};
use ash::{ext, nv, vk};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// When devices leave breadcrumbs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Breadcrumbs {
    /// Once a device has failed, those that are opened then. Drivers that have checkpoints note them from the start.
    #[default]
    Auto,
    /// From the start.
    Always,
    /// Never, and no checkpoints are noted.
    Never,
}

impl Breadcrumbs {
    /// Whether a device that is opened now leaves breadcrumbs.
    pub(super) fn are_left(self, has_failed: &AtomicBool) -> bool {
        match self {
            Self::Auto => has_failed.load(Ordering::Relaxed),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// A command of a submission.
#[derive(Clone, Debug)]
pub(super) struct TrailCommand {
    pub(super) kind: CommandKind,
    pub(super) items: Option<Items>,
}

/// A submission that is not known to be done.
struct TrailSubmission {
    number: u64,
    label: String,
    commands: Vec<TrailCommand>,
}

/// A command: the number of its submission, and its place in it.
type TrailPlace = (u64, usize);

/// Bits of a checkpoint's marker that are the place in a submission; those above are the submission's number, which
/// begins with 1, so that no marker is 0.
const PLACE_BITS: u32 = 24;

/// How a submission leaves marks.
#[derive(Clone, Copy)]
pub(super) struct Marks<'a> {
    pub(super) submission: u64,
    checkpoints: Option<&'a nv::device_diagnostic_checkpoints::Device>,
    /// Where breadcrumbs are written.
    pub(super) crumbs: Option<vk::Buffer>,
}

impl Marks<'_> {
    /// Notes in a command buffer that its command at `place` is next.
    pub(super) fn checkpoint(&self, commands: vk::CommandBuffer, place: usize) {
        let marker = usize::try_from(marker((self.submission, place)));
        if let (Some(checkpoints), Ok(marker)) = (self.checkpoints, marker) {
            // SAFETY: the device was created with the extension; `encode` passes the command buffer that it records;
            // the marker is a number, and nobody reads what it would point to.
            unsafe { checkpoints.cmd_set_checkpoint(commands, std::ptr::without_provenance(marker)) };
        }
    }
}

/// The submissions that a device has not finished, and the means to find out where in them it is.
#[derive(Default)]
pub(super) struct Trail {
    checkpoints: Option<nv::device_diagnostic_checkpoints::Device>,
    faults: Option<ext::device_fault::Device>,
    crumbs: Mutex<Option<CrumbBuffer>>,
    submissions: Mutex<VecDeque<TrailSubmission>>,
    /// What was found when the device was lost.
    found: OnceLock<String>,
}

impl Trail {
    /// A trail by what the device was created with: checkpoints, and reports of faults.
    pub(super) fn new(instance: &ash::Instance, device: &ash::Device, [checkpoints, faults]: [bool; 2]) -> Self {
        Self {
            checkpoints: checkpoints.then(|| nv::device_diagnostic_checkpoints::Device::new(instance, device)),
            faults: faults.then(|| ext::device_fault::Device::new(instance, device)),
            ..Self::default()
        }
    }

    /// Has breadcrumbs left from now on, or no longer; returns those that were there.
    pub(super) fn leave_crumbs(&self, crumbs: Option<CrumbBuffer>) -> Option<CrumbBuffer> {
        std::mem::replace(&mut *self.crumbs.lock(), crumbs)
    }

    /// Returns how a submission leaves marks; `None` if it leaves none.
    pub(super) fn marks(&self, submission: u64) -> Option<Marks<'_>> {
        let crumbs = self.crumbs.lock().as_ref().map(|crumbs| crumbs.buffer);
        let checkpoints = self.checkpoints.as_ref();
        (crumbs.is_some() || checkpoints.is_some()).then_some(Marks { submission, checkpoints, crumbs })
    }

    /// Notes what is about to be submitted.
    pub(super) fn begin(&self, number: u64, label: &str, commands: Vec<TrailCommand>) {
        let mut submissions = self.submissions.lock();
        // One of the same number was not accepted.
        submissions.retain(|submission| submission.number != number);
        submissions.push_back(TrailSubmission { number, label: label.to_owned(), commands });
    }

    /// Notes that all submissions up to this one are done.
    pub(super) fn done(&self, number: u64) {
        let mut submissions = self.submissions.lock();
        while submissions.pop_front_if(|submission| submission.number <= number).is_some() {}
    }

    /// Returns the command that the device is in, by its breadcrumbs: `hide: 37 grids of REGION`.
    pub(super) fn position(&self) -> Option<String> {
        let (submission, done) = self.crumbs.lock().as_ref()?.read();
        let submissions = self.submissions.lock();
        let place = next_place(&submissions, submission, done as usize)?;
        describe(&submissions, [place; 2])
    }

    /// Notes that the device is lost, and returns what is known of it, to be appended to a message. The driver of
    /// `queue` is asked, unless the loss is only simulated.
    pub(super) fn lost(&self, queue: Option<vk::Queue>) -> &str {
        self.found.get_or_init(|| {
            let noted = queue.and_then(|queue| self.checkpoint_position(queue));
            let place = noted.or_else(|| self.position());
            let fault = queue.and(self.faults.as_ref()).and_then(device_fault::ask);
            let place = place.map(|place| format!("; it was in {place}")).unwrap_or_default();
            place + &fault.map(|fault| format!("; its driver reports: {fault}")).unwrap_or_default()
        })
    }

    /// Returns the command that a lost device was in, by its checkpoints.
    fn checkpoint_position(&self, queue: vk::Queue) -> Option<String> {
        let checkpoints = self.checkpoints.as_ref()?;
        // SAFETY: the device was created with the extension, and is lost, as callers found.
        let noted = unsafe {
            let mut noted = vec![vk::CheckpointDataNV::default(); checkpoints.get_queue_checkpoint_data_len(queue)];
            checkpoints.get_queue_checkpoint_data(queue, &mut noted);
            noted
        };
        let noted: Vec<_> = noted.iter().map(|noted| (noted.stage, noted.p_checkpoint_marker.addr() as u64)).collect();
        let submissions = self.submissions.lock();
        describe(&submissions, reached(&submissions, &noted)?)
    }
}

/// Returns the marker that is noted before a command.
fn marker((submission, place): TrailPlace) -> u64 {
    submission << PLACE_BITS | (place as u64).min((1 << PLACE_BITS) - 1)
}

fn place_of_marker(marker: u64) -> TrailPlace {
    (marker >> PLACE_BITS, (marker & ((1 << PLACE_BITS) - 1)) as usize)
}

/// Returns the first and the last command that a lost device may have been in, by the last marker that each of its
/// stages has come to: what is before the marker at the end of the pipeline is done.
fn reached(
    submissions: &VecDeque<TrailSubmission>,
    noted: &[(vk::PipelineStageFlags, u64)],
) -> Option<[TrailPlace; 2]> {
    let noted = noted.iter().filter(|(_, marker)| *marker != 0);
    let last = noted.clone().map(|(_, marker)| place_of_marker(*marker)).max()?;
    let ends = noted.filter(|(stage, _)| stage.contains(vk::PipelineStageFlags::BOTTOM_OF_PIPE));
    let first = ends.map(|(_, marker)| place_of_marker(*marker)).max();
    let oldest = || submissions.front().map_or(last, |submission| (submission.number, 0));
    Some([first.unwrap_or_else(oldest), last])
}

/// Returns the command after those that are done by breadcrumbs; `None` if nothing is left to do.
fn next_place(submissions: &VecDeque<TrailSubmission>, number: u32, done: usize) -> Option<TrailPlace> {
    let at = submissions.iter().position(|submission| submission.number as u32 == number);
    let under_way = at.map(|at| &submissions[at]).filter(|submission| done < submission.commands.len());
    let next = || submissions.get(at.map_or(0, |at| at + 1)).map(|submission| (submission.number, 0));
    under_way.map(|submission| (submission.number, done)).or_else(next)
}

/// Returns commands in words, the first and the last.
fn describe(submissions: &VecDeque<TrailSubmission>, [first, last]: [TrailPlace; 2]) -> Option<String> {
    let find = |(number, place): TrailPlace| {
        let submission = submissions.iter().find(|submission| submission.number == number)?;
        let command = submission.commands.get(place).or(submission.commands.last());
        Some((command.map(|command| title(command.kind.name(), command.items)), &submission.label))
    };
    let of = |(title, label): (Option<String>, &String)| match title {
        Some(title) => format!("{title} of {label}"),
        None => label.clone(),
    };
    match (find(first), find(last)) {
        (Some(_), Some(place)) if first == last => Some(of(place)),
        (Some((Some(from), label)), Some((Some(to), other))) if label == other => {
            Some(format!("one of {from} to {to} of {label}"))
        }
        (Some(from), Some(to)) => Some(format!("one of {} to {}", of(from), of(to))),
        (None, Some(place)) | (Some(place), None) => Some(of(place)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::PipelineStageFlags as Stage;

    /// Two submissions, of three commands and of one.
    fn submissions() -> VecDeque<TrailSubmission> {
        let copy = |count| TrailCommand { kind: CommandKind::Copy, items: Some(Items { count, unit: "bytes" }) };
        let fill = TrailCommand { kind: CommandKind::Fill, items: None };
        let label = |name: &str| format!("{name} [0, 8) x [0, 4)");
        let first = TrailSubmission { number: 7, label: label("hide"), commands: vec![copy(1), fill, copy(3000)] };
        VecDeque::from([first, TrailSubmission { number: 8, label: label("shade"), commands: vec![copy(2)] }])
    }

    #[test]
    fn checkpoints_bracket_the_command_that_was_under_way() {
        let all = submissions();
        let said = |noted: &[(Stage, u64)]| reached(&all, noted).and_then(|places| describe(&all, places));
        let [top, bottom] = [Stage::TOP_OF_PIPE, Stage::BOTTOM_OF_PIPE];
        let at = |number, place| marker((number, place));
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[(top, 0), (bottom, 0)]), None, "no marker was reached");
        let copied = "copy: 3,000 bytes of hide [0, 8) x [0, 4)";
        assert_eq!(said(&[(top, at(7, 2)), (bottom, at(7, 2))]).as_deref(), Some(copied));
        let some = said(&[(top, at(7, 2)), (bottom, at(7, 1))]);
        assert_eq!(some.as_deref(), Some("one of fill to copy: 3,000 bytes of hide [0, 8) x [0, 4)"));
        let both = said(&[(bottom, at(7, 2)), (top, at(8, 0)), (Stage::COMPUTE_SHADER, at(7, 2))]);
        let other = "copy: 2 bytes of shade [0, 8) x [0, 4)";
        assert_eq!(both, Some(format!("one of {copied} to {other}")));
        let unended = said(&[(top, at(7, 0))]);
        assert_eq!(unended.as_deref(), Some("copy: 1 bytes of hide [0, 8) x [0, 4)"), "nothing came to the end");
        assert_eq!(said(&[(top, at(9, 0))]), Some("copy: 1 bytes of hide [0, 8) x [0, 4)".into()), "9 is unknown");
        assert_eq!(place_of_marker(at(5, 1 << 30)), (5, (1 << PLACE_BITS) - 1), "a place that is too large");
    }

    #[test]
    fn breadcrumbs_name_the_command_after_the_last_one_done() {
        let all = submissions();
        assert_eq!(next_place(&all, 7, 0), Some((7, 0)));
        assert_eq!(next_place(&all, 7, 2), Some((7, 2)));
        assert_eq!(next_place(&all, 7, 3), Some((8, 0)), "the next submission has not begun");
        assert_eq!(next_place(&all, 6, 5), Some((7, 0)), "the one that was done before");
        assert_eq!(next_place(&all, 8, 1), None, "all is done");
        assert_eq!(next_place(&VecDeque::new(), 8, 0), None);
    }

    #[test]
    fn what_a_trail_knows_is_kept_and_done_submissions_are_forgotten() {
        let trail = Trail::default();
        assert!(trail.marks(1).is_none() && trail.position().is_none());
        (1..4).for_each(|number| trail.begin(number, "hide", Vec::new()));
        trail.begin(3, "shade", Vec::new());
        trail.done(2);
        let labels: Vec<_> = trail.submissions.lock().iter().map(|submission| submission.label.clone()).collect();
        assert_eq!(labels, ["shade"], "what was not accepted is replaced");
        assert_eq!(trail.lost(None), "");
        let has_failed = [false, true].map(AtomicBool::new);
        let left = |when: Breadcrumbs| has_failed.each_ref().map(|has_failed| when.are_left(has_failed));
        assert_eq!(
            [Breadcrumbs::Auto, Breadcrumbs::Always, Breadcrumbs::Never].map(left),
            [[false, true], [true, true], [false, false]]
        );
    }
}

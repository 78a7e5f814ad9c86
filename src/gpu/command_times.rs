//! The times of single commands, by the device's own clock, where they are asked for.

use super::device::Device;
use super::error::GpuError;
use super::profile::StageTime;
use crate::pipeline::recording::{Items, Kernel, Recording};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What a timed command does.
#[derive(Clone, Debug)]
pub enum CommandKind {
    /// Runs a kernel.
    Kernel(Arc<Kernel>),
    /// Copies bytes.
    Copy,
    /// Sets every word of a range.
    Fill,
    /// Writes data of the recording.
    Write,
}

impl CommandKind {
    /// Returns the kernel's label, or the name of the command.
    pub fn name(&self) -> &str {
        match self {
            Self::Kernel(kernel) => kernel.label(),
            Self::Copy => "copy",
            Self::Fill => "fill",
            Self::Write => "write",
        }
    }

    /// Returns what equal commands have in common.
    fn key(&self) -> (u8, u128) {
        match self {
            Self::Kernel(kernel) => (0, kernel.digest()),
            Self::Copy => (1, 0),
            Self::Fill => (2, 0),
            Self::Write => (3, 0),
        }
    }
}

/// A command that is timed, in the order of its queries.
#[derive(Clone, Debug)]
pub(super) struct TimedCommand {
    pub(super) stage: &'static str,
    pub(super) kind: CommandKind,
    pub(super) items: Option<Items>,
}

/// When a command of a submission ran.
#[derive(Clone, Debug)]
pub struct CommandTime {
    /// What it did.
    pub kind: CommandKind,
    /// What it went through, if the host knew.
    pub items: Option<Items>,
    /// Seconds from [`Device::opened_at`] to its begin, by the device's clock.
    pub start_s: f64,
    /// Seconds that it took.
    pub seconds: f64,
}

/// When the stages of a submission and their commands ran.
#[derive(Clone, Debug, Default)]
pub struct SubmissionTimes {
    /// The stages, in order.
    pub stages: Vec<StageTime>,
    /// The commands of all stages, in order.
    pub commands: Vec<CommandTime>,
}

impl SubmissionTimes {
    /// Returns the seconds of its stages in which no command ran.
    fn gaps_s(&self) -> f64 {
        let stages_s: f64 = self.stages.iter().map(|stage| stage.seconds).sum();
        stages_s - self.commands.iter().map(|command| command.seconds).sum::<f64>()
    }
}

/// What equal commands of a stage took together.
#[derive(Clone, Debug)]
pub struct CommandTotal {
    /// The stage.
    pub stage: &'static str,
    /// What they did.
    pub kind: CommandKind,
    /// How many there were.
    pub calls: u64,
    /// What they went through, as far as the host knew.
    pub items: u64,
    /// What that is, in the plural; empty if the host never knew.
    pub unit: &'static str,
    /// Seconds that they took.
    pub seconds: f64,
}

/// What a device's clock has measured.
#[derive(Clone, Debug, Default)]
pub struct DeviceTimes {
    /// Seconds of each stage.
    pub stages_s: BTreeMap<&'static str, f64>,
    /// The commands that were timed; `None` where commands are not timed.
    pub commands: Option<CommandTimes>,
}

/// Times of commands.
#[derive(Clone, Debug, Default)]
pub struct CommandTimes {
    /// Equal commands of a stage, added up.
    pub totals: Vec<CommandTotal>,
    /// The number of commands that were not timed, because their submission had too many.
    pub untimed: u64,
    /// Seconds that timing one command takes.
    pub pair_s: f64,
    /// Seconds between two short commands that are timed: until the first has ended, and to read the clock.
    pub gap_s: f64,
}

/// The commands whose times are kept for [`Device::take_submissions`], at most.
const KEPT_COMMANDS: usize = 1 << 15;

/// Times of commands, added up and one by one.
#[derive(Default)]
pub(super) struct CommandLog {
    totals: BTreeMap<(&'static str, (u8, u128)), CommandTotal>,
    pub(super) untimed: u64,
    submissions: VecDeque<SubmissionTimes>,
    kept: usize,
}

impl CommandLog {
    /// Adds a submission, of whose commands these are the stages.
    pub(super) fn add(&mut self, submission: SubmissionTimes, timed: &[TimedCommand]) {
        for (command, timed) in submission.commands.iter().zip(timed) {
            let TimedCommand { stage, kind, items } = timed;
            let total = self.totals.entry((stage, kind.key())).or_insert_with(|| CommandTotal {
                stage,
                kind: kind.clone(),
                calls: 0,
                items: 0,
                unit: "",
                seconds: 0.0,
            });
            total.calls += 1;
            total.seconds += command.seconds;
            if let Some(Items { count, unit }) = *items {
                (total.items, total.unit) = (total.items + count, unit);
            }
        }
        self.kept += submission.commands.len();
        self.submissions.push_back(submission);
        while self.kept > KEPT_COMMANDS && self.submissions.len() > 1 {
            self.kept -= self.submissions.pop_front().map_or(0, |oldest| oldest.commands.len());
        }
    }

    fn take_submissions(&mut self) -> VecDeque<SubmissionTimes> {
        self.kept = 0;
        std::mem::take(&mut self.submissions)
    }

    /// Returns the totals since this was last called, the longest first.
    pub(super) fn take_totals(&mut self) -> Vec<CommandTotal> {
        let mut totals: Vec<_> = std::mem::take(&mut self.totals).into_values().collect();
        totals.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        totals
    }
}

/// Commands by which the cost of timestamps is measured.
const CALIBRATED_COMMANDS: u32 = 64;
/// How often they are run; the fastest counts.
const CALIBRATIONS: u32 = 3;

impl Device {
    /// Whether commands are timed.
    pub fn times_commands(&self) -> bool {
        self.submissions.times_commands
    }

    /// Times each command of a stage from now on, or no longer. Measures first what that takes.
    pub(super) fn time_commands(&mut self, on: bool) -> Result<(), GpuError> {
        self.submissions.times_commands = false;
        if on && self.shared.clock.is_some() {
            let untimed_s = self.calibrate()?;
            self.submissions.times_commands = true;
            let more_s = (self.calibrate()? - untimed_s).max(0.0);
            self.submissions.profiles.pair_s = more_s / f64::from(CALIBRATED_COMMANDS);
            let gaps_s = self.take_submissions().iter().map(SubmissionTimes::gaps_s).fold(f64::INFINITY, f64::min);
            self.submissions.profiles.gap_s = gaps_s.max(0.0) / f64::from(CALIBRATED_COMMANDS);
        }
        self.submissions.profiles.take();
        self.take_submissions();
        Ok(())
    }

    /// Returns the seconds of a stage of short commands.
    fn calibrate(&mut self) -> Result<f64, GpuError> {
        let word = self.empty.slice::<u32>().part(0..1);
        let mut recording = Recording::new("cost of timestamps");
        recording.stage("open", |recording| (0..CALIBRATED_COMMANDS).for_each(|_| recording.fill(word, 0)));
        let mut least_s = f64::INFINITY;
        for _ in 0..CALIBRATIONS {
            let ticket = self.submit_transfer(&recording)?;
            self.wait(ticket, self.timeout)?;
            least_s = least_s.min(self.stage_times(ticket).iter().map(|time| time.seconds).sum());
        }
        Ok(least_s)
    }

    /// Returns the submissions that were found to be done since this was last called, with the times of their commands;
    /// of very many, the last ones. None where commands are not timed.
    pub fn take_submissions(&mut self) -> VecDeque<SubmissionTimes> {
        self.submissions.profiles.commands.take_submissions()
    }

    /// Returns what the device's clock has measured of finished submissions since this was last called.
    pub fn take_times(&mut self) -> DeviceTimes {
        let timed = self.submissions.times_commands;
        let DeviceTimes { stages_s, commands } = self.submissions.profiles.take();
        DeviceTimes { stages_s, commands: commands.filter(|_| timed) }
    }
}

//! What kernels and other commands took on a device, where each was timed.

use super::{Stage, StageTimes};
use serde::Serialize;

/// What equal commands of a stage took on a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommandStats {
    /// The stage.
    pub stage: &'static str,
    /// The kernel's label; `copy`, `fill` or `write` for other commands.
    pub kernel: String,
    /// The shading pipeline that the kernel belongs to; `None` for kernels of stages.
    pub pipeline: Option<String>,
    /// How often it ran.
    pub calls: u64,
    /// What it went through, as far as the host knew.
    pub items: u64,
    /// What that is, in the plural: `vertices`, `grids`, `invocations`; empty if the host never knew.
    pub unit: &'static str,
    /// The time that it took in seconds, by the device's clock.
    pub device_s: f64,
}

/// The times of a device's commands. With the gaps between commands they add up to the times of its stages.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommandTimeStats {
    /// Commands of each stage, those that took longest first.
    pub commands: Vec<CommandStats>,
    /// The number of commands that were not timed, because their submissions had too many.
    pub untimed: u64,
    /// The time in seconds that timing a command takes, as measured when the device was opened.
    pub timing_s: f64,
    /// The time in seconds between two short commands that are timed, as measured when the device was opened: until the
    /// first has ended, and to read the clock.
    pub gap_s: f64,
}

impl CommandTimeStats {
    /// Adds other commands.
    pub(super) fn merge(&mut self, other: &Self) {
        for command in &other.commands {
            let equal = |known: &&mut CommandStats| {
                (known.stage, &known.kernel, known.unit) == (command.stage, &command.kernel, command.unit)
            };
            match self.commands.iter_mut().find(equal) {
                Some(known) => {
                    known.calls += command.calls;
                    known.items += command.items;
                    known.device_s += command.device_s;
                }
                None => self.commands.push(command.clone()),
            }
        }
        self.commands.sort_by(|a, b| b.device_s.total_cmp(&a.device_s));
        self.untimed += other.untimed;
        self.timing_s = self.timing_s.max(other.timing_s);
        self.gap_s = self.gap_s.max(other.gap_s);
    }

    /// Returns the number of commands that were timed.
    pub fn calls(&self) -> u64 {
        self.commands.iter().map(|command| command.calls).sum()
    }

    /// Returns the seconds of a stage between its commands, in which nothing ran.
    pub fn gaps_s(&self, stage: Stage, stages: &StageTimes) -> f64 {
        let of_stage = self.commands.iter().filter(|command| command.stage == stage.name());
        stages.get(stage).as_secs_f64() - of_stage.map(|command| command.device_s).sum::<f64>()
    }
}

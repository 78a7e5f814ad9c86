//! The times of stages, by the device's own clock.

use super::command_times::{CommandLog, CommandTime, CommandTimes, DeviceTimes, SubmissionTimes, TimedCommand};
use super::error::GpuError;
use super::shared::DeviceShared;
use super::submission_resources::SubmissionResources;
use ash::vk;
use std::collections::BTreeMap;
use std::collections::VecDeque;

/// When a stage of a submission ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageTime {
    /// The stage's name in the recording.
    pub stage: &'static str,
    /// Seconds from [`super::Device::opened_at`] to the begin of the stage, by the device's clock.
    pub start_s: f64,
    /// Seconds that the stage took.
    pub seconds: f64,
}

/// A device's clock, which gives timestamps their meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceClock {
    /// Seconds per tick.
    pub(super) tick_s: f64,
    /// The valid bits of a timestamp.
    pub(super) mask: u64,
}

impl DeviceClock {
    /// Returns the seconds between two timestamps, the later of which may have wrapped around.
    fn between(self, from: u64, to: u64) -> f64 {
        (to.wrapping_sub(from) & self.mask) as f64 * self.tick_s
    }
}

/// Times of submissions that are done.
#[derive(Default)]
pub(super) struct Profiles {
    /// The timestamp of the first stage ever, which runs when the device is opened.
    origin: Option<u64>,
    recent: VecDeque<(u64, Vec<StageTime>)>,
    totals: BTreeMap<&'static str, f64>,
    /// What the totals were when they were last taken.
    taken: BTreeMap<&'static str, f64>,
    pub(super) commands: CommandLog,
    /// Seconds that timing a command takes.
    pub(super) pair_s: f64,
    /// Seconds between two short commands that are timed.
    pub(super) gap_s: f64,
    /// Seconds of the submission that took longest.
    longest_s: f64,
}

/// Number of submissions whose times are kept.
const RECENT_COUNT: usize = 256;

impl Profiles {
    /// Reads the times of a submission that is done.
    pub(super) fn collect(
        &mut self,
        shared: &DeviceShared,
        resources: &SubmissionResources,
        submission: u64,
    ) -> Result<(), GpuError> {
        let Some(clock) = shared.clock.filter(|_| !resources.stages.is_empty()) else { return Ok(()) };
        let ticks = read(shared, resources)?;
        let Some(origin) = self.origin else {
            self.origin = Some(ticks[0]);
            return Ok(());
        };
        let time = |(stage, ticks): (&&'static str, &[u64])| StageTime {
            stage,
            start_s: clock.between(origin, ticks[0]),
            seconds: clock.between(ticks[0], ticks[1]),
        };
        let times: Vec<StageTime> = resources.stages.iter().zip(ticks.chunks_exact(2)).map(time).collect();
        for time in &times {
            *self.totals.entry(time.stage).or_default() += time.seconds;
        }
        if resources.times_commands {
            let command = |(command, ticks): (&TimedCommand, &[u64])| CommandTime {
                kind: command.kind.clone(),
                items: command.items,
                start_s: clock.between(origin, ticks[0]),
                seconds: clock.between(ticks[0], ticks[1]),
            };
            let commands =
                resources.timed_commands.iter().zip(ticks[2 * times.len()..].chunks_exact(2)).map(command).collect();
            self.commands.add(SubmissionTimes { stages: times.clone(), commands }, &resources.timed_commands);
            self.commands.untimed += resources.untimed;
        }
        self.longest_s = self.longest_s.max(times.iter().map(|time| time.seconds).sum());
        self.recent.push_back((submission, times));
        if self.recent.len() > RECENT_COUNT {
            self.recent.pop_front();
        }
        Ok(())
    }

    /// Returns the times of one submission; empty if it is not done, was too long ago, or had no stages.
    pub(super) fn of(&self, submission: u64) -> &[StageTime] {
        self.recent.iter().find(|(number, _)| *number == submission).map_or(&[], |(_, times)| times)
    }

    /// Returns the seconds of the submission that took longest.
    pub(super) fn longest_s(&self) -> f64 {
        self.longest_s
    }

    /// Returns what was measured since this was last called.
    pub(super) fn take(&mut self) -> DeviceTimes {
        let before = |stage: &str| self.taken.get(stage).copied().unwrap_or(0.0);
        let stages_s = self.totals.iter().map(|(stage, seconds)| (*stage, seconds - before(stage)));
        let stages_s = stages_s.filter(|(_, seconds)| *seconds > 0.0).collect();
        self.taken = self.totals.clone();
        let (totals, untimed) = (self.commands.take_totals(), std::mem::take(&mut self.commands.untimed));
        let (pair_s, gap_s) = (self.pair_s, self.gap_s);
        DeviceTimes { stages_s, commands: Some(CommandTimes { totals, untimed, pair_s, gap_s }) }
    }

    /// Returns the seconds by stage since the device was opened.
    pub(super) fn totals(&self) -> &BTreeMap<&'static str, f64> {
        &self.totals
    }
}

/// Returns when each stage of a submission that is done began and ended.
fn read(shared: &DeviceShared, resources: &SubmissionResources) -> Result<Vec<u64>, GpuError> {
    let mut ticks = vec![0_u64; 2 * (resources.stages.len() + resources.timed_commands.len())];
    // SAFETY: `encode` reserved two queries for each of these stages and commands and recorded a timestamp for each
    // query; the submission is done, so all were written.
    let result =
        unsafe { shared.raw.get_query_pool_results(resources.queries(), 0, &mut ticks, vk::QueryResultFlags::TYPE_64) };
    shared.check("reading timestamps", result)?;
    Ok(ticks)
}

#[cfg(test)]
mod tests {
    use super::DeviceClock;

    #[test]
    fn clocks_wrap_around() {
        let clock = DeviceClock { tick_s: 1e-9, mask: (1 << 36) - 1 };
        assert!((clock.between((1 << 36) - 500, 500) - 1e-6).abs() < 1e-15);
        assert!((clock.between(500, 1500) - 1e-6).abs() < 1e-15);
    }
}

//! The time of the program's phases and of the devices' stages.

use super::section::{Section, TableValue};
use crate::stats::{CommandTimeStats, DeviceStats, Stage, Stats};
use std::time::Duration;

/// The phases of the program, on the host's clock.
pub(super) fn host(stats: &Stats) -> Section {
    let columns = [("phase", "phase"), ("seconds", "time"), ("share", "of the program")];
    let note = "By the host's clock, the phases follow one another. Reading goes on beside them; devices wait for kernels \
                while they count and draw.";
    let mut section = Section::new("host", "The program", note, &columns);
    let sum = |of: fn(&crate::stats::WorldStats) -> Duration| stats.worlds.iter().map(of).sum::<Duration>();
    let phases = [
        ("open devices", stats.open),
        ("prepare: compile shaders to SPIR-V, lower geometry", sum(|world| world.prepare)),
        ("count: upload, split primitives into grids", sum(|world| world.count)),
        ("draw: regions on all devices", sum(|world| world.draw)),
        ("write pictures", sum(|world| world.write)),
    ];
    let rest = stats.wall.saturating_sub(phases.iter().map(|(_, time)| *time).sum());
    let beside = [
        ("beside: read the scene", stats.stages.get(Stage::Parse)),
        ("beside: devices wait for kernels, all added up", stats.kernels_wait),
    ];
    let whole = stats.wall.as_secs_f64().max(f64::MIN_POSITIVE);
    for (phase, time) in phases.into_iter().chain([("rest: start, end, and waits for the scene", rest)]).chain(beside) {
        let seconds = time.as_secs_f64();
        section.rows.push(vec![
            TableValue::Text(phase.into()),
            TableValue::Seconds(seconds),
            TableValue::Share(seconds / whole),
        ]);
    }
    section
}

/// The stages of each device, with the gaps between their commands.
pub(super) fn stages(stats: &Stats) -> Section {
    let columns = [
        ("device", "device"),
        ("stage", "stage"),
        ("device_s", "time"),
        ("share", "of the device"),
        ("commands", "commands"),
        ("commands_s", "in commands"),
        ("gaps_s", "in gaps"),
        ("gaps_expected_s", "expected"),
    ];
    let note = "By the devices' clocks. Gaps are the time between two commands of a stage, in which the device waits for \
                the first to end, and reads its clock for this profile. As much is expected as was measured between short \
                commands when the device was opened, for each command.";
    let mut section = Section::new("stages", "Stages of devices", note, &columns);
    for (number, device) in stats.devices.iter().enumerate() {
        let Some(times) = &device.command_times else { continue };
        let whole = device_s(device).max(f64::MIN_POSITIVE);
        let mut rows: Vec<(Stage, f64)> =
            Stage::ALL.iter().map(|&stage| (stage, device.stages.get(stage).as_secs_f64())).collect();
        rows.retain(|(_, seconds)| *seconds > 0.0);
        rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (stage, seconds) in rows {
            let gaps_s = times.gaps_s(stage, &device.stages);
            let of_stage = times.commands.iter().filter(|command| command.stage == stage.name());
            let calls = of_stage.map(|command| command.calls).sum::<u64>();
            section.rows.push(vec![
                TableValue::Count(number as u64),
                TableValue::Text(stage.name().into()),
                TableValue::Seconds(seconds),
                TableValue::Share(seconds / whole),
                TableValue::Count(calls),
                TableValue::Seconds(seconds - gaps_s),
                TableValue::Seconds(gaps_s),
                TableValue::Seconds(calls as f64 * times.gap_s),
            ]);
        }
    }
    section.without_constant("device")
}

/// Returns the seconds of a device's stages.
pub(super) fn device_s(device: &DeviceStats) -> f64 {
    Stage::ALL.iter().map(|&stage| device.stages.get(stage).as_secs_f64()).sum()
}

/// Gaps that are more than so many times what is expected are worth a word.
const GAPS_RATIO: f64 = 1.5;
/// So are those that are more than what is expected by this part of the device's time.
const GAPS_PART: f64 = 0.03;

/// Returns what the gaps of a device are.
fn gaps(device: &DeviceStats, times: &CommandTimeStats) -> String {
    let gaps_s: f64 = Stage::ALL.iter().map(|&stage| times.gaps_s(stage, &device.stages)).sum();
    let (expected_s, whole_s) = (times.calls() as f64 * times.gap_s, device_s(device));
    let more_s = gaps_s - expected_s;
    let waits = gaps_s > GAPS_RATIO * expected_s && more_s > GAPS_PART * whole_s;
    let rest = match waits {
        false => "so they are waits for commands to end, and readings of the clock".to_string(),
        true => format!(
            "so {:.1} ms are other waits: for threads of the driver to wake up, or because other programs had the \
             processor",
            more_s * 1e3
        ),
    };
    let part = 100.0 * gaps_s / whole_s.max(f64::MIN_POSITIVE);
    format!(
        "gaps between commands are {:.1} ms of it ({part:.1}%), and {:.1} ms are expected, {:.1} us each: {rest}",
        gaps_s * 1e3,
        expected_s * 1e3,
        times.gap_s * 1e6
    )
}

/// Returns what measuring took, and which devices could not be measured.
pub(super) fn remarks(stats: &Stats) -> Vec<String> {
    let remark = |(number, device): (usize, &DeviceStats)| {
        let title = format!("device {number} ({})", device.name);
        let Some(times) = &device.command_times else {
            return format!(
                "{title} has no clock for its queue (timestamps of 0 bits), so nothing is known of its kernels"
            );
        };
        let (calls, each_s) = (times.calls(), times.timing_s);
        let untimed = match times.untimed {
            0 => String::new(),
            count => format!("; {count} commands of long submissions were not timed and are among the gaps"),
        };
        format!(
            "{title}: {calls} commands were timed, at {:.1} us each {:.1} ms of its {:.1} ms; commands that could run at \
             once ran one after another{untimed}; {}",
            each_s * 1e6,
            each_s * calls as f64 * 1e3,
            device_s(device) * 1e3,
            gaps(device, times)
        )
    };
    stats.devices.iter().enumerate().map(remark).collect()
}

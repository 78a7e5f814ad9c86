//! After a render: measures which pipeline is the fastest on devices that have drawn for long without one kept for
//! them, and keeps it. That takes no longer than the render did, and no longer than 10 s.

use crate::cli::console::Console;
use crate::cli::file_errors::cannot_write;
use crate::cli::flags::render::RenderFlags;
use crate::cli::flags::values::CalibrateAfter;
use crate::cli::kept_pipelines::{keep_pipelines, kept_message};
use crate::cli::runs::{PipelineRuns, report_differing};
use anthill::gpu::{DeviceInfo, DeviceKind, devices};
use anthill::outcome::{Ending, Outcome};
use anthill::pipeline::plan::{CATALOGUE, NamedPipeline};
use anthill::pipeline_choice::{DrawnTimes, KeptPipelines, model_and_driver};
use anthill::scale::{Challenge, Fastest, Plan};
use anthill::stats::DeviceStats;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// After how much drawing pipelines are measured where the user names no time.
const USUAL_LIMIT: Duration = Duration::from_secs(15 * 60);

/// How long measuring may take at most. Several pairs of runs fit, of about a second each, as most devices need.
const TIME_MAX: Duration = Duration::from_secs(10);

/// In less time nothing can be measured.
const TIME_MIN: Duration = Duration::from_secs(2);

/// What makes the scene large enough for GPUs.
const FOR_GPUS: [&str; 3] = ["--format", "2048", "2048"];

/// Returns after how much drawing pipelines are measured. Unless the user asks for it, only somebody who sees it at a
/// terminal waits for it, and not for builds for debugging, whose times are no guide.
fn limit(flags: &RenderFlags, is_terminal: bool) -> Option<Duration> {
    match flags.calibrate_after {
        Some(CalibrateAfter(limit)) => limit,
        None => (is_terminal && !flags.quiet && !cfg!(debug_assertions)).then_some(USUAL_LIMIT),
    }
}

/// Returns how long may be measured after a render that took this long: nobody waits longer than for the render itself.
/// `None` if it was so short that nothing can be measured; then a longer one is waited for.
fn time_after(render: Duration) -> Option<Duration> {
    Some(render.min(TIME_MAX)).filter(|time| *time >= TIME_MIN)
}

/// Adds what devices drew to what they drew before, and measures those that are due. Whatever fails here changes
/// neither the pictures nor the exit code.
pub(crate) fn after_render(flags: &RenderFlags, outcome: &Outcome, cancelled: &AtomicBool, console: &Console) {
    let Some(limit) = limit(flags, console.err.is_terminal()) else { return };
    // With fewer cores CPU devices are not what they are in other renders.
    if flags.pipeline.is_some() || flags.threads.is_some() || outcome.ending != Ending::Finished {
        return;
    }
    let Some(_lock) = lock() else { return };
    let kept = KeptPipelines::default_file().and_then(|path| KeptPipelines::read(&path).ok()).unwrap_or_default();
    let time = time_after(outcome.stats.wall);
    // After a short render the time goes on adding up.
    let limit = time.map_or(Duration::MAX, |_| limit);
    let due = due(&drawn(&outcome.stats.devices, &kept), limit);
    if due.is_empty() {
        return;
    }
    let Ok(known) = devices(false) else { return };
    let end = Instant::now() + time.unwrap_or_default();
    for model in due {
        let left = end.saturating_duration_since(Instant::now());
        if cancelled.load(Ordering::Relaxed) || left.is_zero() {
            return;
        }
        if let Some(device) = known.iter().find(|device| model_and_driver(device) == model) {
            Calibration { device, known: &known, quiet: flags.quiet, cancelled, console }.run(left);
        }
    }
}

/// Returns what is held while times are added up and pipelines are measured; `None` while another process does so,
/// whose measurement this one would disturb, or where there is no folder for it. What this one drew then does not
/// count.
fn lock() -> Option<File> {
    let path = DrawnTimes::default_file()?.with_file_name("calibration.lock");
    fs::create_dir_all(path.parent()?).ok()?;
    // A pipe would be waited for.
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let file = File::create(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Returns how long each model and driver was busy for which nothing is kept; the longest where several devices are
/// alike.
fn drawn(devices: &[DeviceStats], kept: &KeptPipelines) -> BTreeMap<String, Duration> {
    let mut drawn = BTreeMap::new();
    for device in devices.iter().filter(|device| kept.of_model(&device.model).is_none()) {
        let longest: &mut Duration = drawn.entry(device.model.clone()).or_default();
        *longest = device.busy.max(*longest);
    }
    drawn
}

/// Adds to the file of times, and returns what has reached the limit. Where the file cannot be written, a pipeline
/// could not be kept either: then nothing is due.
fn due(drawn: &BTreeMap<String, Duration>, limit: Duration) -> Vec<String> {
    let Some(path) = DrawnTimes::default_file().filter(|_| !drawn.is_empty()) else { return Vec::new() };
    let mut times = DrawnTimes::read(&path);
    let mut due = Vec::new();
    for (model, time) in drawn {
        if times.add(model, *time, limit) {
            due.push(model.clone());
        }
    }
    if times.write(&path).is_ok() { due } else { Vec::new() }
}

/// The measurement of the pipelines of a device.
struct Calibration<'a> {
    device: &'a DeviceInfo,
    known: &'a [DeviceInfo],
    quiet: bool,
    cancelled: &'a AtomicBool,
    console: &'a Console,
}

impl Calibration<'_> {
    fn say(&self, line: &str) {
        if !self.quiet {
            self.console.err.line(&format!("anthill: {line}"));
        }
    }

    /// Measures the pipelines that the device can have for itself, as many as there is time for, and keeps the fastest.
    fn run(&self, time: Duration) {
        let name = &self.device.name;
        let seconds = time.as_secs_f64().ceil();
        self.say(&format!(
            "measuring which pipeline is the fastest on {name}, for at most {seconds} s; Ctrl-C skips it, and so does \
             --calibrate-after never"
        ));
        match self.fastest(time).and_then(|found| self.keep(found)) {
            Ok(message) => self.say(&message),
            Err(reason) => self.console.err.block(&format!(
                "anthill: warning: no pipeline is kept for {name}, which goes on as before: {reason}\n  help: measure it \
                 with `anthill explore --keep`, or turn this off with --calibrate-after never"
            )),
        }
    }

    /// Returns the fastest pipeline, and whether all were measured; or why there is none.
    fn fastest(&self, time: Duration) -> Result<(&'static NamedPipeline, bool), String> {
        let is_cpu = self.device.kind == DeviceKind::Cpu;
        let usual = NamedPipeline::usual(is_cpu);
        let others = CATALOGUE.iter().filter(|one| one.colours.bucket_px().is_none() && one.name != usual.name);
        let own: Vec<&NamedPipeline> = std::iter::once(usual).chain(others).collect();
        let plan = Plan::new(&[self.device.index.to_string()], self.known).map_err(|error| error.to_string())?;
        let plan = plan.with_pipelines(&own);
        let flags = if is_cpu { &[][..] } else { &FOR_GPUS };
        let runs = PipelineRuns { scene: None, flags: flags.iter().map(ToString::to_string).collect(), repeat: 1 };
        let messages = &self.console.err;
        let found = runs.find_fastest(&plan, time, self.cancelled, messages, &mut |one| self.say(&describe(one)));
        let Fastest { place, is_final, differing } = found.map_err(|error| error.to_string())?;
        report_differing(&differing, messages);
        if differing.is_empty() { Ok((own[place], is_final)) } else { Err("pictures differ".into()) }
    }

    /// Keeps a pipeline, and returns the message about it. The usual one is kept only where all others were measured.
    fn keep(&self, (pipeline, is_final): (&'static NamedPipeline, bool)) -> Result<String, String> {
        let is_usual = pipeline.name == NamedPipeline::usual(self.device.kind == DeviceKind::Cpu).name;
        if is_usual && !is_final {
            let name = &self.device.name;
            return Ok(format!(
                "{name} goes on as before: there was no time to measure all pipelines, which `anthill explore --keep` does"
            ));
        }
        let path = KeptPipelines::default_file().ok_or("there is no folder for it")?;
        keep_pipelines(&[(self.device, pipeline)], &path).map_err(|error| cannot_write(&path, &error))?;
        Ok(kept_message(self.device, pipeline))
    }
}

/// Returns the line about a pipeline that was compared.
fn describe(Challenge { champion, challenger, gain }: Challenge<'_>) -> String {
    let [champion, challenger] = [champion, challenger].map(|one| one.pipeline.unwrap_or_default());
    match gain {
        Some(gain) => format!("{challenger} takes {:.0}% less time than {champion}", gain * 100.0),
        None => format!("{challenger} is not faster than {champion} beyond the noise"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::flags::{CliCommand, Flags};
    use clap::Parser;

    #[test]
    fn measuring_takes_no_longer_than_the_render_and_no_longer_than_some_seconds() {
        let after = |seconds| time_after(Duration::from_secs_f64(seconds)).map(|time| time.as_secs_f64());
        assert_eq!([0.2, 1.9, 2.5, 60.0].map(after), [None, None, Some(2.5), Some(10.0)]);
    }

    #[test]
    fn only_who_asks_for_it_waits_for_it_without_a_terminal() {
        let limit = |more: &[&str], is_terminal| {
            let flags = Flags::try_parse_from([&["anthill", "render", "a.rib"], more].concat()).expect("good flags");
            let CliCommand::Render(flags) = flags.command else { unreachable!("the command is render") };
            limit(&flags, is_terminal)
        };
        let usual = (!cfg!(debug_assertions)).then_some(USUAL_LIMIT);
        assert_eq!([limit(&[], true), limit(&[], false), limit(&["-q"], true)], [usual, None, None]);
        let asked = ["--calibrate-after", "90s"];
        assert_eq!([limit(&asked, true), limit(&asked, false)], [Some(Duration::from_secs(90)); 2]);
        assert_eq!(limit(&["--calibrate-after", "never"], true), None);
    }
}

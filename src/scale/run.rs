//! The runs of a study. Each is a child process of the program itself, so that what is measured is what a user waits
//! for.

use super::cpus::restrict_to_cpus;
use super::plan::{Configuration, Plan};
use super::study::{Differing, Series, StudyRun};
use crate::files::write_bytes;
use crate::stats::{Measured, MeasuredOutput};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// What all runs have in common.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The program to run.
    pub program: PathBuf,
    /// The scene to render.
    pub scene: PathBuf,
    /// Further flags of `anthill render`, the same for each run.
    pub flags: Vec<OsString>,
    /// How often each configuration is run.
    pub repeat: u32,
    /// Whether each run is restricted to as many cores as it has devices.
    pub pin: bool,
    /// Whether the baseline is run for rates too.
    pub rates: bool,
    /// The folder for the picture, and for pictures that differ from it.
    pub folder: PathBuf,
}

/// The flag of `anthill render` that cuts a picture into regions of different sizes, and about how many: enough to fit
/// rates to.
pub(super) const REGIONS_FOR_RATES: [&str; 2] = ["--regions", "40"];

/// The rounds that have a run for rates: the median of three tolerates one that was disturbed, and more would make
/// studies long.
const RATES_ROUNDS: u32 = 3;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The run fills the drivers' caches of compiled kernels.
    Caches,
    /// The run is measured.
    Measure {
        /// Its number among the measured runs, from 1.
        place: usize,
        /// The number of measured runs.
        count: usize,
    },
    /// Rates for predictions are fitted to the run.
    Rates,
}

/// A run that has finished.
#[derive(Clone, Copy, Debug)]
pub struct FinishedRun<'a> {
    /// What it was for.
    pub purpose: Purpose,
    /// What was run.
    pub configuration: &'a Configuration,
    /// Its time from the first submission to the last pixel.
    pub render_s: f64,
    /// The time of the whole process.
    pub process_s: f64,
}

/// Why there is no study.
#[derive(Debug, Error)]
pub enum RunError {
    /// A run failed.
    #[error("the run on --devices {selection} failed{}:\n{messages}", exit(*.code))]
    Failed {
        /// Its devices, as typed.
        selection: String,
        /// Its exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// What it wrote to standard error.
        messages: String,
    },
    /// A file or a process could not be created, read or written.
    #[error("{what}: {reason}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        reason: io::Error,
    },
    /// The user stopped the study.
    #[error("interrupted")]
    Interrupted,
    /// The time for all runs was over.
    #[error("the time for it was over")]
    OutOfTime,
}

fn exit(code: Option<i32>) -> String {
    code.map_or_else(|| " (ended by a signal)".into(), |code| format!(" (exit code {code})"))
}

/// The results of all runs.
#[derive(Debug)]
pub struct Measurements {
    /// The runs of each configuration.
    pub series: Vec<Series>,
    /// Runs of the baseline that rates can be fitted to, or why there are none.
    pub for_rates: Result<Vec<StudyRun>, String>,
    /// Runs whose pictures differ.
    pub differing: Vec<Differing>,
    /// The picture of each world of the first run, for worlds that have one.
    pub pictures: Vec<PathBuf>,
}

/// Runs all configurations of a plan in turn, round by round, after runs that fill the drivers' caches of compiled
/// kernels. In each of the first three rounds the baseline is run once more, for rates. `report` is called after each
/// run.
///
/// # Errors
/// When a run that is measured fails, when its files cannot be read, and when `cancelled` becomes true.
pub fn measure(
    settings: &RunSettings,
    plan: &Plan,
    cancelled: &AtomicBool,
    report: &mut dyn FnMut(FinishedRun<'_>),
) -> Result<Measurements, RunError> {
    let scratch = tempfile::tempdir_in(&settings.folder)
        .map_err(|reason| io_error("cannot make a temporary folder for the runs", reason))?;
    let mut runner = StudyRunner::new(settings, scratch.path(), cancelled, report);
    for place in plan.warm_up(settings.pin) {
        runner.run(&plan.configurations[place], 0, Purpose::Caches)?;
    }
    let one = |configuration: &Configuration| Series { configuration: configuration.clone(), runs: Vec::new() };
    let mut series: Vec<Series> = plan.configurations.iter().map(one).collect();
    let mut for_rates = Ok(Vec::new());
    let count = plan.configurations.len() * settings.repeat as usize;
    let mut places = 1..;
    for round in 1..=settings.repeat {
        for (series, place) in series.iter_mut().zip(&mut places) {
            let purpose = Purpose::Measure { place, count };
            series.runs.push(runner.run(&series.configuration, round, purpose)?);
        }
        if settings.rates && round <= RATES_ROUNDS {
            runner.run_for_rates(&plan.configurations[plan.baseline], round, &mut for_rates)?;
        }
    }
    let PictureComparison { differing, pictures, .. } = runner.comparison;
    Ok(Measurements { series, for_rates, differing, pictures })
}

/// How often a run with a deadline is asked whether it has ended.
const DEADLINE_POLL: Duration = Duration::from_millis(2);

/// Runs the program for one study.
pub(super) struct StudyRunner<'a> {
    settings: &'a RunSettings,
    scratch: &'a Path,
    cancelled: &'a AtomicBool,
    report: &'a mut dyn FnMut(FinishedRun<'_>),
    comparison: PictureComparison<'a>,
    /// When a run that has not ended is killed.
    deadline: Option<Instant>,
}

impl<'a> StudyRunner<'a> {
    /// Returns one whose runs write to `scratch`, and take as long as they take.
    pub(super) fn new(
        settings: &'a RunSettings,
        scratch: &'a Path,
        cancelled: &'a AtomicBool,
        report: &'a mut dyn FnMut(FinishedRun<'_>),
    ) -> Self {
        let comparison = PictureComparison::new(&settings.folder, scratch);
        Self { settings, scratch, cancelled, report, comparison, deadline: None }
    }

    /// Returns one whose runs all end within `time`.
    pub(super) fn within(self, time: Duration) -> Self {
        Self { deadline: Some(Instant::now() + time), ..self }
    }

    /// Returns the runs whose pictures differ.
    pub(super) fn into_differing(self) -> Vec<Differing> {
        self.comparison.differing
    }

    /// Runs a configuration, compares its pictures, and reports the run.
    pub(super) fn run(
        &mut self,
        configuration: &Configuration,
        round: u32,
        purpose: Purpose,
    ) -> Result<StudyRun, RunError> {
        let mut run = self.run_process(configuration, purpose)?;
        self.comparison.compare(configuration, round, purpose, &run.stats.outputs)?;
        if purpose != Purpose::Rates {
            // Only predictions need what the picture contains where; it is the same in each run, and long.
            run.stats.worlds.iter_mut().for_each(|world| world.cost = None);
        }
        let (render_s, process_s) = (run.stats.render_s, run.process_s);
        (self.report)(FinishedRun { purpose, configuration, render_s, process_s });
        Ok(run)
    }

    /// Adds a run to those for rates. If it fails there are no runs for rates, but the study goes on with what was
    /// measured.
    fn run_for_rates(
        &mut self,
        configuration: &Configuration,
        round: u32,
        for_rates: &mut Result<Vec<StudyRun>, String>,
    ) -> Result<(), RunError> {
        let Ok(runs) = for_rates else { return Ok(()) };
        match self.run(configuration, round, Purpose::Rates) {
            Ok(run) => runs.push(run),
            Err(failed @ RunError::Failed { code, .. }) if code != Some(130) => *for_rates = Err(failed.to_string()),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Runs the program once and reads the statistics that it wrote.
    fn run_process(&self, configuration: &Configuration, purpose: Purpose) -> Result<StudyRun, RunError> {
        let stats = self.scratch.join("stats.json");
        let mut command = self.command(configuration, purpose, &stats);
        let begin = Instant::now();
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        let mut start = || command.spawn();
        let child = match self.settings.pin {
            true => restrict_to_cpus(configuration.indices.len(), start),
            false => start(),
        };
        let ended = child.and_then(|child| output_by(child, self.deadline));
        let process_s = begin.elapsed().as_secs_f64();
        let Output { status, stderr, .. } = ended.map_err(|reason| io_error("cannot run this program", reason))?;
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over {
            return Err(RunError::OutOfTime);
        }
        if !status.success() {
            let messages = String::from_utf8_lossy(&stderr).trim_end().to_string();
            return Err(RunError::Failed { selection: configuration.to_string(), code: status.code(), messages });
        }
        let unreadable = |reason| io_error("cannot read the statistics of a run", reason);
        let text = fs::read(&stats).map_err(unreadable)?;
        let stats: Measured = serde_json::from_slice(&text).map_err(|error| unreadable(error.into()))?;
        Ok(StudyRun { process_s, stats })
    }

    /// Returns the command line of a run.
    fn command(&self, configuration: &Configuration, purpose: Purpose, stats: &Path) -> Command {
        let settings = self.settings;
        let mut command = Command::new(&settings.program);
        command.arg("render").arg(&settings.scene).args(&settings.flags);
        command.arg("--devices").arg(&configuration.selection);
        command.args(["--progress", "off", "--stats"]).arg(stats);
        // If there are several worlds, the # becomes the frame's number.
        command.arg("-o").arg(self.scratch.join("picture.#.exr"));
        command.args(configuration.pipeline.iter().flat_map(|name| ["--pipeline", name]));
        if purpose == Purpose::Rates {
            command.args(REGIONS_FOR_RATES);
        }
        // Nothing else is measured meanwhile.
        command.args(["--calibrate-after", "never"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

/// Waits for the end of a run, which is killed at the deadline.
fn output_by(mut child: Child, deadline: Option<Instant>) -> io::Result<Output> {
    let Some(deadline) = deadline else { return child.wait_with_output() };
    let errors = child.stderr.take().map(|mut stderr| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).map(|_| bytes)
        })
    });
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() >= deadline => {
                // It may just have ended by itself.
                let _ = child.kill();
                break child.wait()?;
            }
            None => thread::sleep(DEADLINE_POLL),
        }
    };
    let stderr = errors.and_then(|errors| errors.join().ok()).transpose()?.unwrap_or_default();
    Ok(Output { status, stdout: Vec::new(), stderr })
}

fn io_error(what: &str, reason: io::Error) -> RunError {
    RunError::Io { what: what.into(), reason }
}

/// Compares the files of all runs bit for bit. Files contain no date, host or device, so equal pictures are equal
/// files.
struct PictureComparison<'a> {
    /// The folder for pictures that are kept.
    folder: &'a Path,
    /// The folder that runs write to.
    scratch: &'a Path,
    /// For each set of device models, a hash of each file of the first run.
    first: BTreeMap<Vec<usize>, Vec<u64>>,
    differing: Vec<Differing>,
    pictures: Vec<PathBuf>,
}

impl<'a> PictureComparison<'a> {
    fn new(folder: &'a Path, scratch: &'a Path) -> Self {
        Self { folder, scratch, first: BTreeMap::new(), differing: Vec::new(), pictures: Vec::new() }
    }

    /// Compares the files of a run with those of the first run on devices of the same models; files that differ are
    /// kept.
    fn compare(
        &mut self,
        configuration: &Configuration,
        round: u32,
        purpose: Purpose,
        outputs: &[MeasuredOutput],
    ) -> Result<(), RunError> {
        let hash = |output: &MeasuredOutput| {
            let bytes = fs::read(&output.file);
            bytes.map(hash).map_err(|reason| io_error(&format!("cannot read \"{}\"", output.file), reason))
        };
        // A run may leave out a display (of type `null`), but then every run does.
        let hashes: Vec<u64> = outputs.iter().map(hash).collect::<Result<_, _>>()?;
        if self.first.is_empty() {
            self.keep_first(outputs)?;
        }
        let first = self.first.entry(configuration.models.clone()).or_insert_with(|| hashes.clone());
        for (place, output) in outputs.iter().enumerate().filter(|(place, _)| first.get(*place) != hashes.get(*place)) {
            let mut selection = configuration.to_string();
            if purpose == Purpose::Rates {
                selection += " for rates";
            }
            let safe: String = selection.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            let kept = self.folder.join(format!("differs.{safe}.{round}.{}.exr", place + 1));
            keep(Path::new(&output.file), &kept)?;
            self.differing.push(Differing { selection, round, file: kept.display().to_string() });
        }
        Ok(())
    }

    /// Keeps the pictures of the first run, which are those of all runs if none differs.
    fn keep_first(&mut self, outputs: &[MeasuredOutput]) -> Result<(), RunError> {
        let own = outputs.iter().map(|output| Path::new(&output.file)).filter(|file| file.starts_with(self.scratch));
        for (file, number) in own.zip(1..) {
            let kept = self.folder.join(format!("picture.{number}.exr"));
            keep(file, &kept)?;
            self.pictures.push(kept);
        }
        Ok(())
    }
}

fn keep(file: &Path, kept: &Path) -> Result<(), RunError> {
    let copied = fs::read(file).and_then(|bytes| write_bytes(kept, &bytes));
    copied.map_err(|reason| io_error(&format!("cannot write \"{}\"", kept.display()), reason))
}

fn hash(bytes: Vec<u8>) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    hasher.finish()
}

#[cfg(all(test, unix))]
pub(super) mod tests {
    use super::*;
    use crate::pipeline::plan::CATALOGUE;

    /// Returns a stand-in for the program. It writes statistics and a picture whose bytes are what `picture` prints for
    /// its devices `$4`. That may set the time to draw, `$render_s`.
    pub(in crate::scale) fn program(folder: &Path, picture: &str) -> PathBuf {
        let script = format!(
            "#!/bin/sh\n\
             [ \"$1 $2 $3 $5\" = 'render a.rib --devices --progress' ] || {{ echo \"odd: $*\" >&2; exit 7; }}\n\
             case \"$*\" in *' --calibrate-after never') ;; *) echo \"it may calibrate: $*\" >&2; exit 7;; esac\n\
             picture=\"${{10%.#.exr}}.exr\"\n\
             {{ {picture}; }} > \"$picture\"\n\
             cat > \"$8\" <<END\n\
             {{\"wall_s\": 1, \"render_s\": ${{render_s:-0.5}}, \"open_s\": 0, \"stages_s\": {{\"parse\": 0.25}}, \"micropolygons\": 1, \"sample_points\": 1,\n\
             \"outputs\": [{{\"file\": \"$picture\", \"state\": \"whole\"}}], \"devices\": [], \"worlds\": []}}\n\
             END\n"
        );
        let path = folder.join("program.sh");
        // Another process writes it: a test that forks meanwhile would inherit the open file, and a file that is open
        // for writing cannot be executed.
        let write = ["-c", "printf %s \"$1\" > \"$2\" && chmod +x \"$2\"", "sh", &script];
        let status = Command::new("sh").args(write).arg(&path).status().expect("there is a shell");
        assert!(status.success());
        path
    }

    /// Configurations by their devices, with the models of these.
    pub(in crate::scale) fn plan(selections: &[(&str, &[usize])]) -> Plan {
        let configuration = |(selection, models): &(&str, &[usize])| Configuration {
            selection: selection.to_string(),
            indices: (0..selection.split(',').count()).collect(),
            models: models.to_vec(),
            pipeline: None,
        };
        Plan { configurations: selections.iter().map(configuration).collect(), baseline: 0 }
    }

    /// Runs a plan twice; returns the reported runs and the result.
    fn measured(picture: &str, plan: &Plan, cancelled: bool) -> (Vec<String>, Result<Measurements, RunError>) {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let settings = RunSettings {
            program: program(folder.path(), picture),
            scene: "a.rib".into(),
            flags: vec![],
            repeat: 2,
            pin: false,
            rates: true,
            folder: folder.path().into(),
        };
        let mut reported = Vec::new();
        let mut report = |run: FinishedRun<'_>| {
            let purpose = match run.purpose {
                Purpose::Caches => "caches".into(),
                Purpose::Measure { place, count } => format!("{place}/{count}"),
                Purpose::Rates => "rates".into(),
            };
            reported.push(format!("{purpose}: {}", run.configuration));
        };
        let measured = measure(&settings, plan, &AtomicBool::new(cancelled), &mut report);
        if let Ok(measured) = &measured {
            let kept = measured.pictures.iter().map(PathBuf::from);
            let kept = kept.chain(measured.differing.iter().map(|differing| PathBuf::from(&differing.file)));
            kept.for_each(|file| assert!(file.exists(), "{}", file.display()));
        }
        (reported, measured)
    }

    #[test]
    fn configurations_take_turns() {
        let (reported, measured) = measured("echo same", &plan(&[("0", &[0]), ("0,0", &[0])]), false);
        let measured = measured.expect("all runs succeed");
        let rounds = ["1/4: 0", "2/4: 0,0", "rates: 0", "3/4: 0", "4/4: 0,0", "rates: 0"];
        assert_eq!((&*reported[0], &reported[1..]), ("caches: 0,0", rounds.map(String::from).as_slice()));
        assert_eq!((measured.series[0].runs.len(), measured.pictures.len(), measured.differing.len()), (2, 1, 0));
        let run = &measured.series[1].runs[1];
        assert!(run.process_s > 0.0 && run.stats.render_s == 0.5);
        assert_eq!(measured.for_rates.map(|runs| runs.len()), Ok(2));
    }

    #[test]
    fn each_pipeline_is_warmed_up_and_its_pictures_compared() {
        let pipelines = [&CATALOGUE[0], &CATALOGUE[1]];
        let plan = plan(&[("0", &[0])]).with_pipelines(&pipelines);
        assert_eq!(plan.warm_up(false), [0, 1]);
        let (reported, measured) = measured("echo \"${12}\"", &plan, false);
        let (first, second) = (CATALOGUE[0].name, CATALOGUE[1].name);
        let caches = [format!("caches: 0 --pipeline {first}"), format!("caches: 0 --pipeline {second}")];
        assert_eq!(reported[..2], caches);
        let differing = measured.expect("all runs succeed").differing;
        let named: Vec<&str> = differing.iter().map(|differing| &*differing.selection).collect();
        let second = format!("0 --pipeline {second}");
        assert_eq!(named, [&*second; 3]);
    }

    #[test]
    fn runs_for_rates_may_fail_without_ending_the_study() {
        let picture = "echo \"${11} ${12}\"";
        let (_, measured_odd) = measured(picture, &plan(&[("0", &[0])]), false);
        let differing = measured_odd.expect("all runs succeed").differing;
        let rounds: Vec<_> = differing.iter().map(|differing| (&*differing.selection, differing.round)).collect();
        assert_eq!(rounds, [("0 for rates", 1), ("0 for rates", 2)]);
        let fails = "[ \"${11}\" != --regions ] || { echo \"not ${11} ${12}\" >&2; exit 1; }";
        let (reported, measured) = measured(fails, &plan(&[("0", &[0])]), false);
        let measured = measured.expect("only runs for rates fail");
        assert_eq!((reported.len(), measured.series[0].runs.len()), (3, 2), "it is tried once");
        let why = "the run on --devices 0 failed (exit code 1):\nnot --regions 40";
        assert_eq!(measured.for_rates.map(|runs| runs.len()), Err(why.to_string()));
    }

    #[test]
    fn pictures_that_differ_are_kept_and_reported() {
        let alike = plan(&[("0", &[0]), ("0,0", &[0])]);
        let differing = |plan| -> Vec<(String, u32)> {
            let (_, measured) = measured("echo \"$4\"", plan, false);
            let measured = measured.expect("all runs succeed");
            measured.differing.into_iter().map(|differing| (differing.selection, differing.round)).collect()
        };
        // The first run, which the others are compared with, fills the caches.
        let expected = [("0", 1), ("0 for rates", 1), ("0", 2), ("0 for rates", 2)];
        assert_eq!(differing(&alike), expected.map(|(selection, round)| (selection.to_string(), round)));
        // Devices of other models may draw other bits.
        assert_eq!(differing(&plan(&[("0", &[0]), ("0,1", &[0, 1]), ("1", &[1])])), []);
    }

    #[test]
    fn a_run_that_fails_ends_the_study_with_its_messages() {
        let (reported, failed) = measured("echo no device >&2; exit 1", &plan(&[("0", &[0])]), false);
        let failed = failed.map(|_| ()).expect_err("it exits with 1");
        assert_eq!(failed.to_string(), "the run on --devices 0 failed (exit code 1):\nno device");
        assert!(reported.is_empty());
        let (_, interrupted) = measured("echo same", &plan(&[("0", &[0])]), true);
        assert!(matches!(interrupted, Err(RunError::Interrupted)));
    }
}

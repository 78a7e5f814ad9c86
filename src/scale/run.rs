//! Runs: each a child process of the program itself, so that what is measured is what a user waits for.

use super::cpus::keep_to;
use super::plan::{Configuration, Plan};
use super::study::{Differing, Run, Series};
use crate::stats::{Measured, MeasuredOutput};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use thiserror::Error;

/// What all runs have in common.
#[derive(Clone, Debug)]
pub struct Order {
    /// The program.
    pub program: PathBuf,
    /// The scene.
    pub scene: PathBuf,
    /// Further flags of `anthill render`, the same for each run.
    pub flags: Vec<OsString>,
    /// How often each configuration is run.
    pub repeat: u32,
    /// Whether each run keeps to as many cores as it has devices.
    pub pin: bool,
    /// The folder that the picture goes to, and pictures that differ.
    pub folder: PathBuf,
}

/// The flag of `anthill render` that cuts a picture into regions of different sizes, and about how many: enough to fit rates to.
pub(super) const REGIONS_FOR_RATES: [&str; 2] = ["--regions", "40"];

/// In so many rounds there is a run for rates: medians of three bear one that was disturbed, and more would make studies long.
const RATES_ROUNDS: u32 = 3;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It fills the drivers' caches of compiled kernels.
    Caches,
    /// It is measured.
    Measure {
        /// Its place among all that are, from 1.
        place: usize,
        /// How many are.
        count: usize,
    },
    /// Rates are fitted to it, and predictions are made from these.
    Rates,
}

/// What is told of each run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What it is for.
    pub purpose: Purpose,
    /// Its devices.
    pub selection: &'a str,
    /// Its time from the first submission to the last pixel.
    pub render_s: f64,
    /// Its whole time.
    pub process_s: f64,
}

/// Why there is no study.
#[derive(Debug, Error)]
pub enum RunError {
    /// A run failed; its messages.
    #[error("the run on --devices {selection} failed{}:\n{messages}", exit(*.code))]
    Failed {
        /// Its devices.
        selection: String,
        /// Its exit code.
        code: Option<i32>,
        /// What it said.
        messages: String,
    },
    /// A file or process could not be had.
    #[error("{what}: {reason}")]
    Io {
        /// What was tried.
        what: String,
        /// Why not.
        reason: io::Error,
    },
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
}

fn exit(code: Option<i32>) -> String {
    code.map_or_else(|| " (ended by a signal)".into(), |code| format!(" (exit code {code})"))
}

/// What came of all runs.
#[derive(Debug)]
pub struct Measurements {
    /// The runs of each configuration.
    pub series: Vec<Series>,
    /// Runs of the baseline for rates, or why there are none.
    pub for_rates: Result<Vec<Run>, String>,
    /// Runs with other pictures.
    pub differing: Vec<Differing>,
    /// The picture of each world of the first run, as far as there is one.
    pub pictures: Vec<PathBuf>,
}

/// Runs all configurations of a plan in turn, round by round, after runs that fill the drivers' caches of compiled kernels. In each of the
/// first three rounds the baseline is run once more, for rates.
///
/// # Errors
/// When a run fails that is not for rates, when its files cannot be read, and when `cancelled` becomes true.
pub fn measure(
    order: &Order,
    plan: &Plan,
    cancelled: &AtomicBool,
    notice: &mut dyn FnMut(Progress<'_>),
) -> Result<Measurements, RunError> {
    let scratch =
        tempfile::tempdir_in(&order.folder).map_err(|reason| io_error("cannot make a folder for runs", reason))?;
    let mut runner = Runner { order, scratch: scratch.path(), cancelled, notice, bits: Bits::default() };
    for place in plan.warm_up() {
        runner.run(&plan.configurations[place], 0, Purpose::Caches)?;
    }
    let one = |configuration: &Configuration| Series { configuration: configuration.clone(), runs: Vec::new() };
    let mut series: Vec<Series> = plan.configurations.iter().map(one).collect();
    let mut for_rates = Ok(Vec::new());
    let count = plan.configurations.len() * order.repeat as usize;
    let mut places = 1..;
    for round in 1..=order.repeat {
        for (series, place) in series.iter_mut().zip(&mut places) {
            let purpose = Purpose::Measure { place, count };
            series.runs.push(runner.run(&series.configuration, round, purpose)?);
        }
        if round <= RATES_ROUNDS {
            runner.run_for_rates(&plan.configurations[plan.baseline], round, &mut for_rates)?;
        }
    }
    let Bits { differing, pictures, .. } = runner.bits;
    Ok(Measurements { series, for_rates, differing, pictures })
}

/// Runs the program for one study.
struct Runner<'a> {
    order: &'a Order,
    scratch: &'a Path,
    cancelled: &'a AtomicBool,
    notice: &'a mut dyn FnMut(Progress<'_>),
    bits: Bits,
}

impl Runner<'_> {
    /// Runs a configuration, compares its pictures, tells of it.
    fn run(&mut self, configuration: &Configuration, round: u32, purpose: Purpose) -> Result<Run, RunError> {
        let mut run = run_one(self.order, configuration, purpose, (self.scratch, self.cancelled))?;
        self.bits.compare(self.order, configuration, (self.scratch, round, purpose), &run.stats.outputs)?;
        if purpose != Purpose::Rates {
            // Nobody reads what the picture holds where: it is the same in each run, and long.
            run.stats.worlds.iter_mut().for_each(|world| world.cost = None);
        }
        let (selection, render_s, process_s) = (&*configuration.selection, run.stats.render_s, run.process_s);
        (self.notice)(Progress { purpose, selection, render_s, process_s });
        Ok(run)
    }

    /// Adds a run to those for rates. Should it fail, there are none, and the study goes on: it is of what was measured.
    fn run_for_rates(
        &mut self,
        configuration: &Configuration,
        round: u32,
        for_rates: &mut Result<Vec<Run>, String>,
    ) -> Result<(), RunError> {
        let Ok(runs) = for_rates else { return Ok(()) };
        match self.run(configuration, round, Purpose::Rates) {
            Ok(run) => runs.push(run),
            Err(failed @ RunError::Failed { code, .. }) if code != Some(130) => *for_rates = Err(failed.to_string()),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// The arguments of a run, without those that name its files.
fn arguments(order: &Order, selection: &str) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["render".into(), order.scene.clone().into()];
    arguments.extend(order.flags.iter().cloned());
    arguments.extend(["--devices".into(), selection.into()]);
    arguments
}

fn run_one(
    order: &Order,
    configuration: &Configuration,
    purpose: Purpose,
    (scratch, cancelled): (&Path, &AtomicBool),
) -> Result<Run, RunError> {
    let stats = scratch.join("stats.json");
    let mut command = Command::new(&order.program);
    command.args(arguments(order, &configuration.selection)).args(["--progress", "off", "--stats"]).arg(&stats);
    // The mark becomes the frame's number where there are several worlds.
    command.arg("-o").arg(scratch.join("picture.#.exr"));
    if purpose == Purpose::Rates {
        command.args(REGIONS_FOR_RATES);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let begin = Instant::now();
    let mut start = || command.spawn();
    let child = if order.pin { keep_to(configuration.indices.len(), start) } else { start() };
    let ended = child.and_then(std::process::Child::wait_with_output);
    let process_s = begin.elapsed().as_secs_f64();
    let Output { status, stderr, .. } = ended.map_err(|reason| io_error("cannot run the program again", reason))?;
    if cancelled.load(Ordering::Relaxed) {
        return Err(RunError::Interrupted);
    }
    if !status.success() {
        let messages = String::from_utf8_lossy(&stderr).trim_end().to_string();
        return Err(RunError::Failed { selection: configuration.selection.clone(), code: status.code(), messages });
    }
    let unreadable = |reason| io_error("cannot read the statistics of a run", reason);
    let text = fs::read(&stats).map_err(unreadable)?;
    let stats: Measured = serde_json::from_slice(&text).map_err(|error| unreadable(error.into()))?;
    Ok(Run { process_s, stats })
}

fn io_error(what: &str, reason: io::Error) -> RunError {
    RunError::Io { what: what.into(), reason }
}

/// Compares the files of all runs bit for bit: files hold no date, host or device, so equal pictures are equal files.
#[derive(Default)]
struct Bits {
    /// For each set of device models, a hash of each file of the first run.
    first: BTreeMap<Vec<usize>, Vec<u64>>,
    differing: Vec<Differing>,
    pictures: Vec<PathBuf>,
}

impl Bits {
    fn compare(
        &mut self,
        order: &Order,
        configuration: &Configuration,
        (scratch, round, purpose): (&Path, u32, Purpose),
        outputs: &[MeasuredOutput],
    ) -> Result<(), RunError> {
        let hash = |output: &MeasuredOutput| {
            let bytes = fs::read(&output.file);
            bytes.map(hash).map_err(|reason| io_error(&format!("cannot read \"{}\"", output.file), reason))
        };
        // A run may leave out a display (of type `null`), but then each does.
        let hashes: Vec<u64> = outputs.iter().map(hash).collect::<Result<_, _>>()?;
        if self.first.is_empty() {
            let own = outputs.iter().map(|output| Path::new(&output.file)).filter(|file| file.starts_with(scratch));
            for (file, number) in own.zip(1..) {
                let kept = order.folder.join(format!("picture.{number}.exr"));
                keep(file, &kept)?;
                self.pictures.push(kept);
            }
        }
        let first = self.first.entry(configuration.models.clone()).or_insert_with(|| hashes.clone());
        for (place, output) in outputs.iter().enumerate().filter(|(place, _)| first.get(*place) != hashes.get(*place)) {
            let mut selection = configuration.selection.clone();
            if purpose == Purpose::Rates {
                selection += " for rates";
            }
            let safe: String = selection.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            let kept = order.folder.join(format!("differs.{safe}.{round}.{}.exr", place + 1));
            keep(Path::new(&output.file), &kept)?;
            self.differing.push(Differing { selection, round, file: kept.display().to_string() });
        }
        Ok(())
    }
}

fn keep(file: &Path, kept: &Path) -> Result<(), RunError> {
    fs::copy(file, kept).map(drop).map_err(|reason| io_error(&format!("cannot write \"{}\"", kept.display()), reason))
}

fn hash(bytes: Vec<u8>) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    hasher.finish()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Stands in for the program: writes the statistics and a picture, whose bytes are what `picture` prints for its devices `$4`.
    fn program(folder: &Path, picture: &str) -> PathBuf {
        let script = format!(
            "#!/bin/sh\n\
             [ \"$1 $2 $3 $5\" = 'render a.rib --devices --progress' ] || {{ echo \"odd: $*\" >&2; exit 7; }}\n\
             picture=\"${{10%.#.exr}}.exr\"\n\
             {{ {picture}; }} > \"$picture\"\n\
             cat > \"$8\" <<END\n\
             {{\"wall_s\": 1, \"render_s\": 0.5, \"open_s\": 0, \"stages_s\": {{\"parse\": 0.25}}, \"micropolygons\": 1, \"sample_points\": 1,\n\
             \"outputs\": [{{\"file\": \"$picture\", \"state\": \"whole\"}}], \"devices\": [], \"worlds\": []}}\n\
             END\n"
        );
        let path = folder.join("program.sh");
        // Another process writes it: a test that forks meanwhile would hold it open, and what is open for writing cannot be run.
        let write = ["-c", "printf %s \"$1\" > \"$2\" && chmod +x \"$2\"", "sh", &script];
        let status = Command::new("sh").args(write).arg(&path).status().expect("there is a shell");
        assert!(status.success());
        path
    }

    /// Configurations by their devices, with the models of these.
    fn plan(selections: &[(&str, &[usize])]) -> Plan {
        let configuration = |(selection, models): &(&str, &[usize])| Configuration {
            selection: selection.to_string(),
            indices: (0..selection.split(',').count()).collect(),
            models: models.to_vec(),
        };
        Plan { configurations: selections.iter().map(configuration).collect(), baseline: 0 }
    }

    /// Runs a plan twice; what it told, and what came of it.
    fn measured(picture: &str, plan: &Plan, cancelled: bool) -> (Vec<String>, Result<Measurements, RunError>) {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let order = Order {
            program: program(folder.path(), picture),
            scene: "a.rib".into(),
            flags: vec![],
            repeat: 2,
            pin: false,
            folder: folder.path().into(),
        };
        let mut told = Vec::new();
        let mut notice = |progress: Progress<'_>| {
            let purpose = match progress.purpose {
                Purpose::Caches => "caches".into(),
                Purpose::Measure { place, count } => format!("{place}/{count}"),
                Purpose::Rates => "rates".into(),
            };
            told.push(format!("{purpose}: {}", progress.selection));
        };
        let measured = measure(&order, plan, &AtomicBool::new(cancelled), &mut notice);
        if let Ok(measured) = &measured {
            let kept = measured.pictures.iter().map(PathBuf::from);
            let kept = kept.chain(measured.differing.iter().map(|differing| PathBuf::from(&differing.file)));
            kept.for_each(|file| assert!(file.exists(), "{}", file.display()));
        }
        (told, measured)
    }

    #[test]
    fn configurations_take_turns() {
        let (told, measured) = measured("echo same", &plan(&[("0", &[0]), ("0,0", &[0])]), false);
        let measured = measured.expect("all runs succeed");
        let rounds = ["1/4: 0", "2/4: 0,0", "rates: 0", "3/4: 0", "4/4: 0,0", "rates: 0"];
        assert_eq!((&*told[0], &told[1..]), ("caches: 0,0", rounds.map(String::from).as_slice()));
        assert_eq!((measured.series[0].runs.len(), measured.pictures.len(), measured.differing.len()), (2, 1, 0));
        let run = &measured.series[1].runs[1];
        assert!(run.process_s > 0.0 && run.stats.render_s == 0.5);
        assert_eq!(measured.for_rates.map(|runs| runs.len()), Ok(2));
    }

    #[test]
    fn rates_are_of_runs_of_their_own_and_none_ends_the_study() {
        let odd = "echo \"${11} ${12}\"";
        let (_, odd) = measured(odd, &plan(&[("0", &[0])]), false);
        let differing = odd.expect("all runs succeed").differing;
        let rounds: Vec<_> = differing.iter().map(|differing| (&*differing.selection, differing.round)).collect();
        assert_eq!(rounds, [("0 for rates", 1), ("0 for rates", 2)]);
        let fails = "[ -z \"${11}\" ] || { echo \"not ${11} ${12}\" >&2; exit 1; }";
        let (told, measured) = measured(fails, &plan(&[("0", &[0])]), false);
        let measured = measured.expect("only runs for rates fail");
        assert_eq!((told.len(), measured.series[0].runs.len()), (3, 2), "it is tried once");
        let why = "the run on --devices 0 failed (exit code 1):\nnot --regions 40";
        assert_eq!(measured.for_rates.map(|runs| runs.len()), Err(why.to_string()));
    }

    #[test]
    fn pictures_that_differ_are_kept_and_told() {
        let alike = plan(&[("0", &[0]), ("0,0", &[0])]);
        let told = |plan| -> Vec<(String, u32)> {
            let (_, measured) = measured("echo \"$4\"", plan, false);
            let measured = measured.expect("all runs succeed");
            measured.differing.into_iter().map(|differing| (differing.selection, differing.round)).collect()
        };
        // The first run, with which the others are compared, fills the caches.
        let expected = [("0", 1), ("0 for rates", 1), ("0", 2), ("0 for rates", 2)];
        assert_eq!(told(&alike), expected.map(|(selection, round)| (selection.to_string(), round)));
        // Devices of other models may draw other bits.
        assert_eq!(told(&plan(&[("0", &[0]), ("0,1", &[0, 1]), ("1", &[1])])), []);
    }

    #[test]
    fn a_run_that_fails_ends_the_study_with_its_messages() {
        let (told, failed) = measured("echo no device >&2; exit 1", &plan(&[("0", &[0])]), false);
        let failed = failed.map(|_| ()).expect_err("it exits with 1");
        assert_eq!(failed.to_string(), "the run on --devices 0 failed (exit code 1):\nno device");
        assert!(told.is_empty());
        let (_, interrupted) = measured("echo same", &plan(&[("0", &[0])]), true);
        assert!(matches!(interrupted, Err(RunError::Interrupted)));
    }
}

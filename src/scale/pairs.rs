//! The fastest configuration of a plan, found within a time: each is compared with the fastest so far in pairs of runs,
//! one right after the other, which a busy machine slows alike.

use super::plan::{Configuration, Plan};
use super::run::{PlannedRun, Purpose, RunError, RunSettings, StudyRunner};
use super::spread::Spread;
use super::study::Differing;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Pairs of runs by which a configuration must be faster.
const PAIRS: u32 = 4;

/// The least fraction of the time that a configuration must save.
const GAIN_MIN: f64 = 0.03;

/// A configuration that was compared with the fastest one so far.
#[derive(Clone, Copy, Debug)]
pub struct Challenge<'a> {
    /// The fastest one so far.
    pub champion: &'a Configuration,
    /// The one that was compared with it.
    pub challenger: &'a Configuration,
    /// The fraction of the time that it saves beyond the noise; `None` if it is not faster.
    pub gain: Option<f64>,
}

/// What was found within the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Fastest {
    /// The place of the fastest configuration in the plan.
    pub place: usize,
    /// Whether all were compared.
    pub is_final: bool,
    /// Runs whose pictures differ.
    pub differing: Vec<Differing>,
}

/// Compares all configurations of a plan with its baseline, or with one that was faster beyond the noise. Runs that
/// fill the drivers' caches of compiled kernels come first. `report` is called after each comparison.
///
/// # Errors
/// When a run fails, when its files cannot be read, and when `cancelled` becomes true. That `time` is over is no error.
pub fn find_fastest(
    settings: &RunSettings,
    plan: &Plan,
    time: Duration,
    cancelled: &AtomicBool,
    report: &mut dyn FnMut(Challenge<'_>),
) -> Result<Fastest, RunError> {
    let scratch = tempfile::tempdir_in(&settings.folder)
        .map_err(|reason| RunError::Io { what: "cannot make a temporary folder for the runs".into(), reason })?;
    let ignore = &mut |_: super::FinishedRun<'_>| ();
    let mut runner = StudyRunner::new(settings, scratch.path(), cancelled, ignore).within(time);
    let mut place = plan.baseline;
    let is_final = match challenge_all(&mut runner, plan, &mut place, report) {
        Ok(()) => true,
        Err(RunError::OutOfTime) => false,
        Err(error) => return Err(error),
    };
    let differing = runner.into_found().into_iter().flat_map(|found| found.differing).collect();
    Ok(Fastest { place, is_final, differing })
}

/// Compares all configurations with the one at `place`, which becomes that of the fastest.
fn challenge_all(
    runner: &mut StudyRunner<'_>,
    plan: &Plan,
    place: &mut usize,
    report: &mut dyn FnMut(Challenge<'_>),
) -> Result<(), RunError> {
    let each = &plan.configurations;
    let caches = |configuration| PlannedRun { work: 0, configuration, round: 0, purpose: Purpose::Caches };
    runner.run(caches(&each[plan.baseline]))?;
    for next in (0..each.len()).filter(|next| *next != plan.baseline) {
        let (champion, challenger) = (&each[*place], &each[next]);
        runner.run(caches(challenger))?;
        let gain = gain(&ratios(runner, champion, challenger)?);
        report(Challenge { champion, challenger, gain });
        if gain.is_some() {
            *place = next;
        }
    }
    Ok(())
}

/// Runs pairs, and returns the challenger's time in each as a fraction of the champion's. Ends early once the
/// challenger cannot win any more.
fn ratios(
    runner: &mut StudyRunner<'_>,
    champion: &Configuration,
    challenger: &Configuration,
) -> Result<Vec<f64>, RunError> {
    let mut ratios = Vec::new();
    for pair in 1..=PAIRS {
        let count = 2 * PAIRS as usize;
        let mut seconds = |configuration, place| -> Result<f64, RunError> {
            let purpose = Purpose::Measure { place, count };
            let run = runner.run(PlannedRun { work: 0, configuration, round: pair, purpose })?;
            Ok(run.stats.render_s)
        };
        let places = [2 * pair as usize - 1, 2 * pair as usize];
        // They take turns in being the first one, in case that what ran before matters.
        let [of_champion, of_challenger]: [f64; 2] = if pair % 2 == 1 {
            [seconds(champion, places[0])?, seconds(challenger, places[1])?]
        } else {
            let first = seconds(challenger, places[0])?;
            [seconds(champion, places[1])?, first]
        };
        ratios.push(of_challenger / of_champion);
        if of_challenger >= of_champion {
            break;
        }
    }
    Ok(ratios)
}

/// Returns the fraction of the time that a challenger saves in the middle, if that is more than pairs differ by.
fn gain(ratios: &[f64]) -> Option<f64> {
    let Spread { median, min, max, .. } = Spread::of(ratios.iter().copied());
    let gain = 1.0 - median;
    (ratios.len() == PAIRS as usize && gain > GAIN_MIN.max(max - min)).then_some(gain)
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::run::tests::{plan, program};
    use super::super::work::StudyWork;
    use super::*;
    use crate::pipeline::plan::{CATALOGUE, NamedPipeline};
    use std::time::Instant;

    /// Compares the first pipelines of the catalogue where what draws them prints this; returns what was reported and
    /// what was found.
    fn found(picture: &str, time: Duration) -> (Vec<String>, Fastest) {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let settings = RunSettings {
            program: program(folder.path(), picture),
            works: vec![StudyWork { scene: "a.rib".into(), ..StudyWork::default() }],
            flags: vec![],
            repeat: 1,
            pin: false,
            rates: false,
            keeps_going: false,
            folder: folder.path().into(),
        };
        let pipelines: Vec<&NamedPipeline> = CATALOGUE.iter().take(4).collect();
        let plan = plan(&[("0", &[0])]).with_pipelines(&pipelines);
        let mut reported = Vec::new();
        let mut report = |challenge: Challenge<'_>| {
            let names = [challenge.challenger, challenge.champion].map(|one| one.pipeline.unwrap_or_default());
            reported.push(format!("{} against {}: {:.2}", names[0], names[1], challenge.gain.unwrap_or(0.0)));
        };
        let fastest = find_fastest(&settings, &plan, time, &AtomicBool::new(false), &mut report).expect("all succeed");
        (reported, fastest)
    }

    #[test]
    fn a_gain_counts_beyond_the_noise_only() {
        assert_eq!(gain(&[0.5, 0.5, 0.5, 0.5]), Some(0.5));
        assert_eq!(gain(&[0.90, 0.92, 0.88, 0.90]).map(|gain| (gain * 100.0).round()), Some(10.0));
        // Of a busy machine.
        assert_eq!(gain(&[0.9, 0.6, 0.95, 0.7]), None);
        assert_eq!(gain(&[0.98, 0.98, 0.98, 0.98]), None);
        assert_eq!(gain(&[0.5, 0.5, 0.5]), None);
        assert_eq!(gain(&[]), None);
    }

    #[test]
    fn each_is_compared_with_the_fastest_so_far() {
        let times =
            "case \"$*\" in *batches-expanded*) render_s=0.4;; *batches-binned-fused*) render_s=0.3;; esac; echo same";
        let (reported, fastest) = found(times, Duration::from_secs(60));
        let expected = [
            "batches-expanded against batches: 0.20",
            "batches-binned against batches-expanded: 0.00",
            "batches-binned-fused against batches-expanded: 0.25",
        ];
        assert_eq!(reported, expected);
        assert_eq!(fastest, Fastest { place: 3, is_final: true, differing: vec![] });
    }

    #[test]
    fn what_is_no_faster_replaces_nothing() {
        // One run in two takes longer, whichever it is.
        let noisy = "echo >> runs; [ $(($(wc -l < runs) % 2)) = 0 ] && render_s=0.7; echo same";
        let (reported, fastest) = found(&format!("cd \"${{0%/*}}\"; {noisy}"), Duration::from_secs(60));
        assert_eq!((reported.len(), fastest.place, fastest.is_final), (3, 0, true), "{reported:?}");
    }

    #[test]
    fn the_time_ends_runs_that_go_on() {
        let begin = Instant::now();
        let slow =
            "case \"$*\" in *batches-binned*) exec sleep 30;; *batches-expanded*) render_s=0.4;; esac; echo same";
        let (reported, fastest) = found(slow, Duration::from_secs(3));
        assert!(begin.elapsed() < Duration::from_secs(20));
        assert_eq!((reported.len(), fastest.place, fastest.is_final), (1, 1, false), "{reported:?}");
    }
}

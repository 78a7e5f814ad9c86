use super::*;
use crate::pipeline::plan::CATALOGUE;
use crate::scale::plan::Plan;
use crate::scale::rounds::{AllRuns, Measurements, measure};
use crate::scale::work::Scaling;

/// Returns a stand-in for the program. It writes statistics and a picture whose bytes are what `picture` prints for
/// its devices `$4`. That may set the time to draw, `$render_s`, and use the scene, `$2`, and what `--format` says,
/// `$size`.
pub(in crate::scale) fn program(folder: &Path, picture: &str) -> PathBuf {
    let script = format!(
        "#!/bin/sh\n\
         if [ \"$3\" = --format ]; then size=\"$4x$5\"; scene=\"$2\"; shift 5; set -- render \"$scene\" \"$@\"; fi\n\
         [ \"$1 ${{2#?}} $3 $5\" = 'render .rib --devices --progress' ] || {{ echo \"odd: $*\" >&2; exit 7; }}\n\
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
        on_processor: 0,
        pipeline: None,
    };
    Plan { configurations: selections.iter().map(configuration).collect(), baseline: 0 }
}

fn scene(name: &str) -> StudyWork {
    StudyWork { scene: name.into(), ..StudyWork::default() }
}

/// Runs a plan twice with these works; returns the reported runs and the result.
fn measured_all(picture: &str, plan: &Plan, works: Vec<StudyWork>, cancelled: &AtomicBool) -> (Vec<String>, AllRuns) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let settings = RunSettings {
        program: program(folder.path(), picture),
        works,
        flags: vec![],
        repeat: 2,
        pin: false,
        rates: true,
        keeps_going: true,
        folder: folder.path().into(),
    };
    let mut reported = Vec::new();
    let mut report = |run: FinishedRun<'_>| {
        let purpose = match run.purpose {
            Purpose::Caches => "caches".into(),
            Purpose::Measure { place, count } => format!("{place}/{count}"),
            Purpose::Rates => "rates".into(),
        };
        let work = run.work.map_or_else(String::new, |work| format!("{work} "));
        reported.push(format!("{purpose}: {work}{}", run.configuration));
    };
    let measured = measure(&settings, plan, cancelled, &mut report).expect("a temporary folder");
    for work in &measured.works {
        let differing = work.differing.iter().map(|differing| PathBuf::from(&differing.file));
        work.pictures.iter().cloned().chain(differing).for_each(|file| assert!(file.exists(), "{}", file.display()));
    }
    (reported, measured)
}

/// Runs a plan twice; returns the reported runs and the result, if all were made.
fn measured(picture: &str, plan: &Plan, cancelled: bool) -> (Vec<String>, Result<Measurements, RunError>) {
    let (reported, all) = measured_all(picture, plan, vec![scene("a.rib")], &AtomicBool::new(cancelled));
    (reported, all.into_whole())
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

#[test]
fn works_and_configurations_are_interleaved() {
    let plan = plan(&[("0", &[0]), ("0,0", &[0])]);
    let (reported, all) =
        measured_all("echo \"$2\"", &plan, vec![scene("a.rib"), scene("b.rib")], &AtomicBool::new(false));
    let round = ["a.rib 0", "a.rib 0,0", "b.rib 0", "b.rib 0,0"];
    let expected = ["caches: a.rib 0,0", "caches: b.rib 0,0"].map(String::from).into_iter();
    let expected = expected.chain((1..=4).map(|place| format!("{place}/8: {}", round[place - 1])));
    let expected = expected.chain(["rates: a.rib 0", "rates: b.rib 0"].map(String::from));
    let expected: Vec<String> =
        expected.chain((5..=8).map(|place| format!("{place}/8: {}", round[place - 5]))).collect();
    assert_eq!(reported[..expected.len()], expected);
    let names = |work: usize| all.works[work].pictures[0].file_name().map(|name| name.to_string_lossy().into_owned());
    assert_eq!([names(0), names(1)], [Some("picture.1.1.exr".into()), Some("picture.2.1.exr".into())]);
    assert!(all.works.iter().all(|work| work.differing.is_empty()), "each scene has its own picture");
}

#[test]
fn weak_scaling_draws_more_pixels_on_more_devices() {
    let plan = plan(&[("0", &[0]), ("0,0,0,0", &[0])]);
    let weak = StudyWork { size_px: Some([64, 32]), scaling: Scaling::Weak, ..scene("a.rib") };
    let sized = "case \"$4:$size\" in 0:64x32|0,0,0,0:128x64) ;; *) exit 7;; esac; echo \"$size\"";
    let (_, all) = measured_all(sized, &plan, vec![weak], &AtomicBool::new(false));
    let work = all.into_whole().expect("the sizes are right");
    assert_eq!(work.series.iter().map(|series| series.amount).collect::<Vec<_>>(), [1.0, 4.0]);
    assert!(work.differing.is_empty(), "pictures of one size are compared with one another");
}

#[test]
fn what_was_measured_before_a_failure_is_kept() {
    // The second run of one of two configurations fails.
    let once = "cd \"${0%/*}\"; [ \"$4\" != 1 ] || { [ ! -e ran ] || { [ ! -e again ] || { echo broken >&2; exit 1; }; >again; }; >ran; }; echo same";
    let plan_of_two = plan(&[("0", &[0]), ("1", &[1])]);
    let (_, mut all) = measured_all(once, &plan_of_two, vec![scene("a.rib")], &AtomicBool::new(false));
    let work = all.works.remove(0);
    let runs: Vec<usize> = work.series.iter().map(|series| series.runs.len()).collect();
    assert_eq!((runs, work.failed.len(), all.ended.is_none()), (vec![2, 1], 1, true));
    let failed = &work.failed[0];
    assert_eq!((failed.configuration, failed.round), (1, 2));
    assert_eq!(failed.error.to_string(), "the run on --devices 1 failed (exit code 1):\nbroken");
    // All runs would be wrong usage.
    let (_, all) = measured_all("exit 2", &plan_of_two, vec![scene("a.rib")], &AtomicBool::new(false));
    assert!(matches!(all.ended, Some(RunError::Failed { code: Some(2), .. })) && all.works[0].failed.is_empty());
    // The user stops the study after its third run.
    let stops = "cd \"${0%/*}\"; echo >>count; [ $(wc -l <count) -lt 5 ] || exit 130; echo same";
    let (_, all) = measured_all(stops, &plan_of_two, vec![scene("a.rib")], &AtomicBool::new(false));
    let runs: Vec<usize> = all.works[0].series.iter().map(|series| series.runs.len()).collect();
    assert!(matches!(all.ended, Some(RunError::Failed { code: Some(130), .. })) && runs == [1, 1], "{runs:?}");
}

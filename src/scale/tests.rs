use super::doubts::DoubtKind;
use super::load::LoadAverage;
use super::machine::{Conditions, Machine, StudyDevice};
use super::page::page;
use super::plots::PlotWidth;
use super::predictions::{PredictedConfiguration, PredictedCount, PredictedTimes, Predictions, StudyForecast};
use super::spread::Spread;
use super::study::{Differing, Failing, MeasuredSpan, Series, Study, StudyRun};
use super::study_set::StudySet;
use super::{Configuration, Scaling, StudyWork, figures, latex, report, tables, timeline};
use crate::stats::{
    CostStats, Measured, MeasuredDevice, MeasuredRegion, MeasuredTextureLoss, MeasuredWorld, square_rows,
};
use std::collections::BTreeMap;

fn region(device: usize, px: [i32; 4], begin_s: f64, end_s: f64) -> MeasuredRegion {
    MeasuredRegion { device, px, stolen: device > 0, work: 10, begin_s, end_s, ..MeasuredRegion::default() }
}

/// Returns a run of 16 x 8 pixels that its devices share, with 0.1 s of reading, 0.2 s of preparing, 0.5 s of counting
/// and 0.1 s of writing.
fn run(process_s: f64, draw_s: f64, devices: usize) -> StudyRun {
    let times =
        |list: &[(&str, f64)]| list.iter().map(|(name, time)| (name.to_string(), *time)).collect::<BTreeMap<_, _>>();
    let device = |index| MeasuredDevice {
        index,
        name: "a <fast> \"device\" & more".into(),
        regions: 1,
        stolen: u64::from(index > 0),
        busy_s: draw_s * 0.75,
        idle_s: draw_s * 0.25,
        peak_bytes: 1 << 20,
        stages_s: times(&[("hide", 0.25), ("shade", 0.5), ("composite", 0.0)]),
        ..MeasuredDevice::default()
    };
    let width = 16 / devices as i32;
    let part = |device: usize| {
        let x0 = 4 + device as i32 * width;
        region(device, [x0, 2, x0 + width, 10], 0.5, 0.5 + draw_s)
    };
    let world = MeasuredWorld {
        frame: Some(7),
        crop_px: [4, 2, 20, 10],
        prepare_s: 0.2,
        count_s: 0.5,
        draw_s,
        write_s: 0.1,
        regions: (0..devices).map(part).collect(),
        cost: None,
    };
    let stats = Measured {
        wall_s: process_s - 0.05,
        render_s: 0.5 + draw_s,
        stages_s: times(&[("parse", 0.1)]),
        micropolygons: 1_500_000,
        devices: (0..devices).map(device).collect(),
        worlds: vec![world],
        ..Measured::default()
    };
    StudyRun { process_s, others_share: None, stats }
}

fn series(selection: &str, runs: Vec<StudyRun>) -> Series {
    let indices = (0..selection.split(',').count()).collect();
    let configuration =
        Configuration { selection: selection.into(), indices, models: vec![0], on_processor: 0, pipeline: None };
    Series { configuration, amount: 1.0, runs }
}

/// Returns one and two devices in three rounds; the machine was half as fast in the second.
fn study() -> Study {
    let one = vec![run(6.0, 4.5, 1), run(12.0, 9.5, 1), run(6.0, 4.5, 1)];
    let two = vec![run(4.0, 2.0, 2), run(8.0, 4.5, 2), run(3.0, 1.5, 2)];
    Study {
        name: "a&b".into(),
        work: StudyWork { scene: "a&b.rib".into(), ..StudyWork::default() },
        flags: "--samples 2 2".into(),
        pinned: true,
        series: vec![series("0", one), series("0,1", two)],
        baseline: 0,
        forecast: StudyForecast::Refused { refused: "there were no runs for rates".into() },
        differing: vec![],
        failed: vec![],
    }
}

/// Returns a study of these works.
fn set(studies: Vec<Study>) -> StudySet {
    let device = StudyDevice { index: 0, name: "a <fast> \"device\" & more".into(), driver: "d".into() };
    StudySet {
        version: "1".into(),
        command: "anthill scale 'a&b.rib'".into(),
        machine: Machine { processor: "p".into(), cores: 2, devices: vec![device], ..Machine::default() },
        conditions: Conditions { begun: "2026-11-30T18:00:00Z".into(), ..Conditions::default() },
        stopped: None,
        studies,
    }
}

/// Returns one and two devices in six rounds that hardly differ.
fn quiet() -> Study {
    let times = |base: f64| [0.0, 0.01, 0.02, 0.03, 0.04, 0.05].map(|more| base + more);
    let one = times(4.5).map(|draw_s| run(draw_s + 1.5, draw_s, 1)).into();
    let two = times(2.1).map(|draw_s| run(draw_s + 1.5, draw_s, 2)).into();
    Study { series: vec![series("0", one), series("0,1", two)], ..study() }
}

/// Returns the study with predictions: each further device adds 0.9 to the speed-up of the render, and 0.5 to that of
/// the process.
fn predicted() -> Study {
    let times = |count: usize| {
        let (render_speed_up, process_speed_up) = (1.0 + 0.9 * (count as f64 - 1.0), 1.0 + 0.5 * (count as f64 - 1.0));
        let (render_s, process_s) = (5.0 / render_speed_up, 6.0 / process_speed_up);
        PredictedTimes { render_s, render_speed_up, process_s, process_speed_up }
    };
    let configuration = |(selection, count): (&str, usize)| PredictedConfiguration {
        selection: selection.into(),
        speeds: vec![1.0; count],
        assumed: (1..count).collect(),
        times: times(count),
        render_of_measured: 1.25,
        process_of_measured: 0.5,
    };
    let predictions = Predictions {
        runs: 3,
        worlds: vec![],
        configurations: [("0", 1), ("0,1", 2)].map(configuration).into(),
        counts: [1, 2, 3, 4, 8, 16, 32, 64].map(|count| PredictedCount { count, times: times(count) }).into(),
    };
    Study { forecast: StudyForecast::Predicted(predictions), ..study() }
}

#[test]
fn speed_up_is_round_by_round() {
    let study = study();
    let two = &study.series[1];
    // 5 / 2.5, 10 / 5, 5 / 2.
    assert_eq!(study.speed_up(two, MeasuredSpan::Render), Spread::of([2.0, 2.0, 2.5]));
    assert_eq!(study.efficiency(two, MeasuredSpan::Render).median, 1.0);
    assert_eq!(study.speed_up(two, MeasuredSpan::Process), Spread::of([1.5, 1.5, 2.0]));
    assert_eq!(study.efficiency(two, MeasuredSpan::Process).median, 0.75);
    assert_eq!(study.speed_up(study.one(), MeasuredSpan::Process), Spread::of([1.0, 1.0, 1.0]));
    assert_eq!((two.typical().process_s, study.one().typical().process_s), (4.0, 6.0));
    assert_eq!(
        study.finding(false),
        "2 devices render 2.00 times as fast as one (75.0% interval 2.00 to 2.50), with an efficiency of 100%; the whole process is \
         1.50 times as fast."
    );
}

/// Returns the kinds of doubts about a study, with the devices that they are about.
fn kinds(set: &StudySet) -> Vec<(DoubtKind, String)> {
    set.doubts().into_iter().map(|doubt| (doubt.kind, doubt.devices.unwrap_or_default())).collect()
}

#[test]
fn a_quiet_study_is_believed() {
    let quiet = set(vec![quiet()]);
    assert_eq!(kinds(&quiet), []);
    let finding =
        "2 devices render 1.91 times as fast as one (96.9% interval 1.91 to 1.92), with an efficiency of 96%;";
    assert!(quiet.findings()[0].starts_with(finding), "{}", quiet.findings()[0]);
}

/// What a loaded machine measures is no finding: each rule by itself.
#[test]
fn what_is_in_doubt_is_not_called_a_finding() {
    let doubted = |change: &dyn Fn(&mut StudySet)| {
        let mut set = set(vec![quiet()]);
        change(&mut set);
        let finding = set.findings().remove(0);
        assert!(finding.starts_with("Not a finding, because it is in doubt: 2 devices render "), "{finding}");
        let (page, text) = (page(&set, &[vec![]]), report::markdown(&set));
        let latex = latex::table(&set) + &latex::speed_up(&set);
        for doubt in set.doubts() {
            assert!(page.contains(&doubt.text.replace('"', "&quot;")) && text.contains(&doubt.text), "{page}");
            assert_eq!(latex.matches(&doubt.text).count(), 2, "{latex}");
        }
        kinds(&set)
    };
    let runs = |set: &mut StudySet, place: usize, change: &dyn Fn(&mut StudyRun)| {
        set.studies[0].series[place].runs.iter_mut().for_each(change);
    };
    let two = |kind| vec![(kind, "0,1".to_string())];
    let load = Some(LoadAverage { minute: 1.5, five_minutes: 1.0 });
    assert_eq!(doubted(&|set| set.conditions.load_before = load), [(DoubtKind::Load, String::new())]);
    assert_eq!(doubted(&|set| runs(set, 1, &|run| run.others_share = Some(0.3))), two(DoubtKind::Load));
    assert_eq!(doubted(&|set| set.studies[0].series[1].runs[3].stats.render_s *= 1.3), two(DoubtKind::Spread));
    assert_eq!(doubted(&|set| runs(set, 0, &|run| run.stats.render_s *= 1.81)), two(DoubtKind::Efficiency));
    assert_eq!(
        doubted(&|set| {
            set.studies[0].pinned = false;
            set.studies[0].series[1].configuration.on_processor = 2;
        }),
        two(DoubtKind::SharedCores)
    );
    let once = doubted(&|set| set.studies[0].series.iter_mut().for_each(|series| series.runs.truncate(1)));
    assert_eq!(once, [(DoubtKind::SingleRun, "0".into()), (DoubtKind::SingleRun, "0,1".into())]);
    assert_eq!(
        doubted(&|set| {
            let StudyForecast::Predicted(mut predictions) = predicted().forecast else { panic!("it is predicted") };
            predictions.configurations[1].render_of_measured = 0.7;
            set.studies[0].forecast = StudyForecast::Predicted(predictions);
        }),
        two(DoubtKind::Prediction)
    );
}

#[test]
fn doubts_say_what_was_measured() {
    let mut cold = quiet();
    cold.series[0].runs.iter_mut().for_each(|run| run.stats.render_s *= 2.0);
    let texts: Vec<String> = set(vec![cold]).doubts().into_iter().map(|doubt| doubt.text).collect();
    assert_eq!(
        texts,
        [
            "--devices 0,1: an efficiency of 191% is not possible: something slowed --devices 0 down, such as cold caches or too \
             little memory"
        ]
    );
    let several = set(vec![Study { name: "b".into(), ..study() }, quiet()]);
    let doubts = several.doubts();
    assert!(doubts.iter().all(|doubt| doubt.study.as_deref() == Some("b")) && doubts.len() == 2, "{doubts:?}");
    assert!(doubts[1].text.starts_with("b: --devices 0,1: its times spread by 120% of their median"), "{doubts:?}");
    let findings = several.findings();
    assert!(findings[0].starts_with("b: Not a finding") && findings[1].starts_with("a&b: 2 devices"), "{findings:?}");
}

#[test]
fn weak_scaling_counts_pixels() {
    let work = StudyWork { size_px: Some([64, 32]), scaling: Scaling::Weak, ..quiet().work };
    let mut weak = Study { work, ..quiet() };
    weak.series[1].amount = 2.0;
    weak.series[1].runs = weak.series[0].runs.clone();
    let two = &weak.series[1];
    assert_eq!(weak.speed_up(two, MeasuredSpan::Render).median, 2.0);
    assert_eq!(weak.efficiency(two, MeasuredSpan::Render).median, 1.0);
    let finding = weak.finding(false);
    assert!(
        finding.starts_with("2 devices render a picture of 2.00 times the pixels 2.00 times as fast as"),
        "{finding}"
    );
    assert_eq!(weak.commands()[1], "anthill render 'a&b.rib' --samples 2 2 --format 91 45 --devices 0,1");
    let set = set(vec![weak, quiet()]);
    let times = figures::figures(&set).remove(2);
    assert!(times.wide.contains(">\n4\n</text>") && times.wide.contains(">\n8\n</text>"), "{}", times.wide);
}

#[test]
fn what_is_missing_is_said() {
    let message = "the run on --devices 0,2 failed (exit code 1):\nbroken".into();
    let failing = Failing { selection: "0,2".into(), round: 2, message };
    let mut set = set(vec![Study { failed: vec![failing], ..quiet() }]);
    set.stopped = Some("interrupted".into());
    let expected = [
        "The study ended after 12 measured runs, before its last: interrupted. What was measured is shown.",
        "a&b: --devices 0,2 was not run again: the run on --devices 0,2 failed (exit code 1): broken",
    ];
    assert_eq!(set.missing(), expected);
    let (page, text) = (page(&set, &[]), report::markdown(&set));
    assert!(page.contains(expected[0]) && expected.iter().all(|line| text.contains(line)), "{text}");
}

#[test]
fn phases_add_up_to_the_process() {
    let run = run(6.0, 4.5, 1);
    let phases = run.phases();
    assert!((phases.iter().sum::<f64>() - 6.0).abs() < 1e-9);
    assert_eq!(phases[1..], [0.1, 0.2, 0.5, 4.5, 0.1]);
    assert!((run.fixed_s() - 1.5).abs() < 1e-9);
    assert!((run.stats.busy_share() - 0.75).abs() < 1e-9);
    assert_eq!(Measured::default().busy_share(), 0.0);
}

#[test]
fn tables_show_what_was_computed() {
    let study = study();
    let table = tables::speed_up(&study);
    let second =
        ["0,1", "2", "2.50 (2.00–5.00)", "2.00 (2.00–2.50)", "100%", "4.00 (3.00–8.00)", "1.50 (1.50–2.00)", "75%"];
    assert_eq!(table.rows[1], second);
    let stages = tables::stages(&study);
    assert_eq!(stages.header, ["devices", "hide, s", "shade, s", "sum, s"]);
    assert_eq!(stages.rows, [["0", "0.250", "0.500", "0.750"], ["0,1", "0.500", "1.00", "1.50"]]);
    let mut textured = self::study();
    for run in &mut textured.series[1].runs {
        run.stats.texture_loss = MeasuredTextureLoss { discarded_s: 0.125, naming_s: 0.125, loading_s: 0.0625 };
    }
    let stages = tables::stages(&textured);
    assert_eq!(stages.header.last().map(String::as_str), Some("lost to textures, s"));
    assert_eq!([0, 1].map(|row| stages.rows[row][4].as_str()), ["0.000", "0.312"]);
    let devices = tables::devices(&study.series[1]);
    assert_eq!(devices.rows[1], ["#2: device 1", "1.50", "0.500", "75%", "1", "1", "0", "1.0 MiB"]);
    let phases = tables::phases(&study);
    assert_eq!(phases.rows[0][6..], ["0.100", "6.00", "25%"]);
    let markdown = devices.to_markdown();
    let widths: Vec<usize> = markdown.lines().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]) && widths.len() == 4, "{markdown}");
}

#[test]
fn predictions_are_shown_next_to_measurements() {
    let study = predicted();
    let table = tables::speed_up(&study);
    assert_eq!(
        table.header[4..9],
        ["efficiency", "predicted, s", "predicted speed-up", "predicted / measured", "process, s"]
    );
    assert_eq!(table.rows[1][3..8], ["2.00 (2.00–2.50)", "100%", "2.63", "1.90", "125%"]);
    assert!(table.note.contains("with rates fitted to 3 runs on --devices 0"), "{}", table.note);
    assert!(table.note.ends_with("taken to be as fast as that of --devices 0: device 1."), "{}", table.note);
    assert!(study.finding(false).ends_with(" Predicted: 1.90 and 1.50 times."), "{}", study.finding(false));
    assert_eq!(study.commands()[2], "anthill render 'a&b.rib' --samples 2 2 --devices 0 --regions 40");

    let table = tables::more_devices(&study).expect("there are predictions");
    let counts: Vec<&str> = table.rows.iter().map(|row| &*row[0]).collect();
    assert_eq!(counts, ["1", "2", "4", "8", "16", "32", "64"]);
    assert_eq!(table.rows[2], ["4", "1.35", "3.70", "92%", "2.40", "2.50", "62%"]);

    let values = |study: &Study, name: &str| -> Vec<String> {
        let of = |row: &Vec<(String, String)>| row.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        tables::summary(study).iter().filter_map(of).collect()
    };
    assert_eq!(values(&study, "predicted_render_speed_up"), ["1", "1.9"]);
    assert_eq!(values(&study, "predicted_process_of_measured"), ["0.5", "0.5"]);
    assert_eq!(values(&self::study(), "predicted_render_speed_up"), ["", ""]);
}

#[test]
fn predictions_are_a_curve_of_their_own() {
    let (with, without) = (set(vec![predicted()]), set(vec![study()]));
    let [speed_up, plain] = [&with, &without].map(|set| figures::figures(set).remove(0));
    let count = |svg: &str, what: &str| svg.matches(what).count();
    assert_eq!(count(&speed_up.wide, "<circle"), count(&plain.wide, "<circle") + 2);
    // The line ends at twice the most devices that were measured.
    let four = ">\n4\n</text>";
    assert!(speed_up.wide.contains(four) && !plain.wide.contains(four), "the axis ends there");
    assert!(speed_up.narrow.contains(four) && speed_up.narrow.len() < speed_up.wide.len() * 2);
    let page = page(&with, &[vec![vec![], vec![]]]);
    let xml = as_xml(&page);
    let document = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}"));
    let entry = |node: &roxmltree::Node<'_, '_>| node.text().is_some_and(|text| text.starts_with("render, predicted"));
    let swatch = document.descendants().find(entry).and_then(|entry| entry.prev_sibling_element());
    assert_eq!(swatch.and_then(|swatch| swatch.attribute("class")), Some("dashed"), "{page}");
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("table")).count(), 6);
}

#[test]
fn missing_predictions_are_explained() {
    let study = study();
    let why = "Nothing is predicted: there were no runs for rates.";
    assert!(tables::speed_up(&study).note.ends_with(why) && tables::speed_up(&study).header.len() == 8);
    assert_eq!(tables::more_devices(&study), None);
    let set = set(vec![study]);
    assert!(page(&set, &[vec![]]).contains(why) && report::markdown(&set).contains(why));
}

/// Returns a run on one device for rates: `count` regions of one square, each with 100 micropolygons more than the one
/// before, of 1 ms each.
fn run_for_rates(count: u32) -> StudyRun {
    let (mut begin_s, mut regions) = (0.0, Vec::new());
    for i in 0..count {
        let device_s = 0.1 * f64::from(i + 1);
        let (px, end_s) = ([16 * i, 0, 16 * i + 16, 16].map(u32::cast_signed), begin_s + device_s);
        regions.push(MeasuredRegion { px, begin_s, end_s, device_s, ..MeasuredRegion::default() });
        begin_s = end_s;
    }
    let cost = CostStats {
        samples: [2, 2],
        micropolygons: square_rows((1..=u64::from(count)).map(|i| 100 * i), count as usize),
        grids: std::array::from_fn(|_| square_rows((0..count).map(|_| 1), count as usize)),
        translucent: square_rows((0..count).map(|_| 0), count as usize),
        count_jobs: 1,
        in_flight: 2,
        region_subpixels_max: 1 << 24,
        region_grids_max: 1 << 24,
        ..CostStats::default()
    };
    let crop_px = [0, 0, 16 * count, 16].map(u32::cast_signed);
    let world =
        MeasuredWorld { crop_px, count_s: 0.5, draw_s: begin_s, regions, cost: Some(cost), ..MeasuredWorld::default() };
    let devices = vec![MeasuredDevice::default()];
    let stats = Measured { wall_s: begin_s + 1.0, devices, worlds: vec![world], ..Measured::default() };
    StudyRun { process_s: begin_s + 2.0, others_share: None, stats }
}

#[test]
fn predictions_are_made_from_runs_for_rates() {
    let title = |(index, name): (usize, &str)| StudyDevice { index, name: name.into(), driver: "d".into() };
    let devices = [(0, "slow"), (1, "fast"), (2, "fast"), (3, "unknown")].map(title);
    // The second device renders in half the time.
    let mut all = vec![series("0", vec![run(54.0, 52.8, 1)]), series("1", vec![run(28.0, 26.15, 1)])];
    all[1].configuration.indices = vec![1];
    all.push(series("0,1,2,3", vec![run(14.0, 9.0, 4)]));
    let forecast = StudyForecast::new(&all, 0, &devices, &Ok(vec![run_for_rates(32), run_for_rates(32)]));
    let predictions = forecast.predictions().unwrap_or_else(|| panic!("{forecast:?}"));
    assert_eq!((predictions.runs, predictions.fit().0, predictions.assumed()), (2, 32, vec![3]));
    let [one, fast, all] = &predictions.configurations[..] else { panic!("{predictions:?}") };
    // 52,800 micropolygons, 0.5 s of counting, and 1.5 s before and after the render.
    assert!((one.times.render_s - 53.3).abs() < 0.1 && (one.render_of_measured - 1.0).abs() < 0.01, "{one:?}");
    assert!((one.times.process_s - one.times.render_s - 1.5).abs() < 1e-6, "{one:?}");
    assert!((fast.times.render_speed_up - 2.0).abs() < 0.02, "{fast:?}");
    // The third device is like the second. The fourth is like no other, so it is taken to be as fast as the first.
    let is_twice = |speed: &f64| (speed - 2.0).abs() < 1e-9;
    assert_eq!(all.speeds.iter().map(is_twice).collect::<Vec<_>>(), [false, true, true, false], "{all:?}");
    assert_eq!((all.speeds[0], all.speeds[3], &*all.assumed), (1.0, 1.0, &[3][..]));
    let counts: Vec<usize> = predictions.counts.iter().map(|predicted| predicted.count).collect();
    assert_eq!(counts, [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64]);
    let two = predictions.counts[1].times;
    assert!((1.6..2.0).contains(&two.render_speed_up) && two.render_s < one.times.render_s / 1.6, "{two:?}");
}

#[test]
fn predictions_are_refused_with_reasons() {
    let why = |fitted: Result<Vec<StudyRun>, String>| match StudyForecast::new(&study().series, 0, &[], &fitted) {
        StudyForecast::Refused { refused } => refused,
        StudyForecast::Predicted(predictions) => panic!("{predictions:?}"),
    };
    assert_eq!(why(Err("it failed".into())), "it failed");
    assert_eq!(
        why(Ok(vec![run_for_rates(5)])),
        "world 1: 5 measured regions are too few to fit rates to: at least 8 are needed; use a larger picture, or one that takes longer to render"
    );
    assert!(why(Ok(vec![run(6.0, 4.5, 1)])).contains("no world that was drawn"));
}

#[test]
fn programs_get_a_row_for_each_configuration_and_run() {
    let study = study();
    let rows = tables::summary(&study);
    let value = |row: usize, name: &str| {
        let found = rows[row].iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    assert_eq!((value(0, "devices"), value(1, "devices")), ("0".into(), "0,1".into()));
    assert_eq!((value(1, "render_speed_up"), value(1, "render_speed_up_max")), ("2".into(), "2.5".into()));
    assert_eq!((value(1, "process_efficiency"), value(1, "stolen")), ("0.75".into(), "1".into()));
    let runs = tables::runs(&study);
    assert_eq!((runs.len(), runs[5][2].1.as_str(), runs[5][3].1.as_str()), (6, "3", "3"));
}

#[test]
fn a_study_is_files_in_a_folder() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    report::write(&set(vec![study()]), &[vec![]], folder.path()).expect("writable");
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    let json: serde_json::Value = serde_json::from_str(&text("scale.json")).expect("valid JSON");
    let study_json = &json["studies"][0];
    assert_eq!(study_json["series"][1]["configuration"]["selection"], "0,1");
    assert_eq!(study_json["series"][1]["runs"][2]["stats"]["worlds"][0]["regions"][1]["device"], 1);
    assert_eq!((study_json["baseline"].as_u64(), json["machine"]["cores"].as_u64()), (Some(0), Some(2)));
    assert_eq!((&study_json["scene"], &study_json["scaling"]), (&"a&b.rib".into(), &"strong".into()));
    assert_eq!(
        (&json["doubts"][0]["kind"], &json["results"][1]["speed_up"]["coverage"]),
        (&"spread".into(), &0.75.into())
    );
    let csv = text("scale.csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!((rows.len(), rows[1].get(0), rows[1].get(1)), (2, Some("0,1"), Some("2")));
    assert_eq!(text("runs.csv").lines().count(), 7);
    assert!(text("scale.md").contains("| 0,1     |     2 |"));
    assert!(
        text("table.tex").contains("a\\&b & 2 & 2.50 [2.00, 5.00] & 2.00 [2.00, 2.50] & 100\\% \\\\\n"),
        "{}",
        text("table.tex")
    );
    assert!(text("figure-speed-up.tex").contains("\n1 1.00000 0.00000 0.00000\n2 2.00000 0.50000 0.00000\n}"));
    for number in [1, 2] {
        assert!(folder.path().join(format!("drew.{number}.png")).exists());
    }
    // A later study may replace all of them.
    for path in report::files_in(folder.path()).expect("readable") {
        report::check_replaceable(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    std::fs::write(folder.path().join("figure-1.svg"), "mine").expect("writable");
    let found = report::files_in(folder.path()).expect("readable");
    assert!(found.iter().any(|path| report::check_replaceable(path).is_err()), "it is no file of a study");
    let missing = report::write(&set(vec![study()]), &[], &folder.path().join("none")).expect_err("no such folder");
    assert!(missing.to_string().starts_with("cannot write \""), "{missing}");
}

#[test]
fn figures_stand_alone() {
    let set = set(vec![Study { name: "c & d".into(), ..quiet() }, quiet(), predicted()]);
    let all = figures::figures(&set);
    let names: Vec<&str> = all.iter().map(|figure| figure.name).collect();
    assert_eq!(names, ["speed-up", "efficiency", "time", "breakdown", "phases"]);
    for figure in &all {
        let svg = figure.standalone(2);
        assert!(
            svg.contains(">In doubt: scale.html says why (2 times)<") && !figure.standalone(0).contains("In doubt")
        );
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
        let root = document.root_element();
        let side = |name: &str| root.attribute(name).and_then(|side| side.parse::<f64>().ok()).unwrap_or(0.0);
        assert!(side("width") == 1500.0 && side("height") > 150.0, "{svg}");
        for entry in &figure.legend {
            assert!(document.descendants().any(|node| node.text().is_some_and(|text| text.trim() == entry.name)));
        }
        let white = root.children().find(|node| node.has_tag_name("rect")).and_then(|rect| rect.attribute("fill"));
        assert_eq!(white, Some("#FFFFFF"));
    }
    let bars = figures::breakdown_bars(&set);
    assert_eq!((bars.len(), bars[0].label.as_str()), (3, "c & d"));
    assert!(bars.iter().all(|bar| (bar.parts.iter().sum::<f64>() - 100.0).abs() < 1e-9));
}

/// Returns the page as XML, with void elements closed and without the document type.
fn as_xml(page: &str) -> String {
    let is_open = |part: &str| ["meta ", "img "].iter().any(|name| part.starts_with(name));
    let body = page.trim_start_matches("<!DOCTYPE html>");
    let parts = body.split('<').map(|part| if is_open(part) { part.replacen('>', "/>", 1) } else { part.into() });
    parts.collect::<Vec<_>>().join("<")
}

#[test]
fn the_page_is_well_formed_and_self_contained() {
    let mut study = study();
    let html = page(&set(vec![study.clone()]), &[vec![b"png".to_vec(), vec![]]]);
    let xml = as_xml(&html);
    let document = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}"));
    let count = |name: &str| document.descendants().filter(|node| node.tag_name().name() == name).count();
    // Five figures, that of stages and two timelines, each for wide and narrow pages.
    assert_eq!((count("svg"), count("img"), count("table")), (16, 1, 5));
    for node in document.descendants() {
        for attribute in node.attributes().filter(|attribute| ["src", "href"].contains(&attribute.name())) {
            assert!(attribute.value().starts_with("data:"), "{}", attribute.value());
        }
    }
    let outside = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!outside.contains("http") && !outside.contains("url(") && !outside.contains("@import"));
    assert!(html.contains("<td>2.00 <span class=\"range\">(2.00–2.50)</span></td>"));
    assert!(html.contains("a&amp;b.rib") && html.contains("a &lt;fast&gt;"));
    assert!(html.contains("The pictures of all 6 runs are identical, bit for bit."));
    let differing = Differing { selection: "0,1".into(), round: 2, file: "differs.0-1.2.1.exr".into() };
    study.differing.push(differing);
    let html = page(&set(vec![study]), &[vec![]]);
    assert!(html.contains("1 picture DIFFERS from the first run's: differs.0-1.2.1.exr."));
}

#[test]
fn plots_show_their_data() {
    let one = set(vec![study()]);
    let circles = |svg: &str| svg.matches("<circle").count();
    // Two curves of two points; each point has a mark inside the circle of its error bar.
    let all = figures::figures(&one);
    assert_eq!((circles(&all[0].wide), circles(&all[1].wide)), (8, 4));
    let bars = figures::phase_bars(&one);
    assert_eq!((bars[1].label.as_str(), bars[1].parts[4]), ("0,1", 2.0));
    assert!([&all[4].wide, &all[4].narrow].iter().all(|svg| svg.contains(">\n0,1\n</text>")));
    assert_eq!(figures::stage_bars(&one.studies[0])[1].parts[6], 1.0);
    let many = Study { series: vec![series(&["0"; 16].join(","), vec![run(1.0, 0.5, 1)])], ..study() };
    assert_eq!(figures::phase_bars(&set(vec![many]))[0].label, "0,0,0,0,0,0,… (16)");
    // Plots of no time are valid too.
    let nothing = set(vec![Study { series: vec![series("0", vec![run(0.0, 0.0, 1)])], ..study() }]);
    let timeline = [PlotWidth::Wide, PlotWidth::Narrow].map(|width| timeline::draw(&run(0.0, 0.0, 2).stats, width));
    for svg in figures::figures(&nothing).into_iter().flat_map(|figure| [figure.wide, figure.narrow]).chain(timeline) {
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    }
    assert_eq!(timeline::draw(&Measured::default(), PlotWidth::Wide), "");
}

#[test]
fn regions_in_flight_together_get_separate_lanes() {
    let at = |device, begin, end| region(device, [0, 0, 1, 1], begin, end);
    let regions = [at(0, 2.0, 3.0), at(0, 0.0, 2.0), at(0, 1.0, 2.5), at(1, 0.0, 9.0)];
    let begins = |device| -> Vec<Vec<f64>> {
        let lanes = timeline::lanes(&regions, device);
        lanes.iter().map(|lane| lane.iter().map(|region| region.begin_s).collect()).collect()
    };
    assert_eq!(begins(0), [vec![0.0, 2.0], vec![1.0]]);
    assert_eq!(begins(1), [vec![0.0]]);
    assert!(begins(2).is_empty());
}

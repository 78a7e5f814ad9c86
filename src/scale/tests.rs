use super::machine::{Machine, StudyDevice};
use super::page::page;
use super::predictions::{PredictedConfiguration, PredictedCount, PredictedTimes, Predictions, StudyForecast};
use super::study::{Differing, MeasuredSpan, Series, Spread, Study, StudyRun, quoted};
use super::{Configuration, Plan, PlanError, plots, report, tables, timeline};
use crate::gpu::{DeviceInfo, DeviceKind, DeviceTools};
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
    StudyRun { process_s, stats }
}

fn series(selection: &str, runs: Vec<StudyRun>) -> Series {
    let indices = (0..selection.split(',').count()).collect();
    let configuration = Configuration { selection: selection.into(), indices, models: vec![0], pipeline: None };
    Series { configuration, runs }
}

/// Returns one and two devices in three rounds; the machine was half as fast in the second.
fn study() -> Study {
    let one = vec![run(6.0, 4.5, 1), run(12.0, 9.5, 1), run(6.0, 4.5, 1)];
    let two = vec![run(4.0, 2.0, 2), run(8.0, 4.5, 2), run(3.0, 1.5, 2)];
    let device = StudyDevice { index: 0, name: "a <fast> \"device\" & more".into(), driver: "d".into() };
    Study {
        version: "1".into(),
        scene: "a&b.rib".into(),
        command: "anthill scale 'a&b.rib'".into(),
        flags: "--samples 2 2".into(),
        machine: Machine { processor: "p".into(), cores: 2, devices: vec![device], ..Machine::default() },
        pinned: true,
        series: vec![series("0", one), series("0,1", two)],
        baseline: 0,
        forecast: StudyForecast::Refused { refused: "there were no runs for rates".into() },
        differing: vec![],
    }
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
fn spreads_have_the_median_and_the_range() {
    let spread = |median, min, max| Spread { median, min, max };
    assert_eq!(Spread::of([3.0, 1.0, 2.0]), spread(2.0, 1.0, 3.0));
    assert_eq!(Spread::of([4.0, 1.0]), spread(2.5, 1.0, 4.0));
    assert_eq!(Spread::of([]), Spread::default());
}

#[test]
fn speed_up_is_round_by_round() {
    let study = study();
    let two = &study.series[1];
    // 5 / 2.5, 10 / 5, 5 / 2.
    assert_eq!(study.speed_up(two, MeasuredSpan::Render), Spread { median: 2.0, min: 2.0, max: 2.5 });
    assert_eq!(study.efficiency(two, MeasuredSpan::Render), 1.0);
    assert_eq!(study.speed_up(two, MeasuredSpan::Process), Spread { median: 1.5, min: 1.5, max: 2.0 });
    assert_eq!(study.efficiency(two, MeasuredSpan::Process), 0.75);
    assert_eq!(study.speed_up(study.one(), MeasuredSpan::Process), Spread { median: 1.0, min: 1.0, max: 1.0 });
    assert_eq!((two.typical().process_s, study.one().typical().process_s), (4.0, 6.0));
    assert_eq!(
        study.finding(),
        "2 devices render 2.00 times as fast as one, with an efficiency of 100%; the whole process is 1.50 times as fast."
    );
}

#[test]
fn more_efficiency_than_is_possible_is_doubted() {
    assert!(study().doubts().is_empty());
    let mut cold = study();
    cold.series[0].runs.iter_mut().for_each(|run| run.stats.render_s *= 1.81);
    assert_eq!(
        cold.doubts(),
        [
            "--devices 0,1: an efficiency of 181% is not possible; something slowed --devices 0 down (other programs, cold \
          caches, too little memory), so measure again"
        ]
    );
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
    assert!(study.finding().ends_with(" Predicted: 1.90 and 1.50 times."), "{}", study.finding());
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
    let study = predicted();
    let curves = plots::speed_up_curves(&study);
    let predicted = &curves[2];
    // The line ends at twice the most devices that were measured.
    assert_eq!(predicted.predicted, Some(vec![(1, 1.0), (2, 1.9), (3, 2.8), (4, 3.7)]));
    assert_eq!(predicted.marks[1], (2, Spread { median: 1.9, min: 1.9, max: 1.9 }));
    let (with, without) = (plots::speed_up(&curves), plots::speed_up(&curves[..2]));
    let count = |svg: &str, what: &str| svg.matches(what).count();
    assert_eq!(count(&with, "<circle"), count(&without, "<circle") + 2);
    assert!(with.contains(">\n4\n</text>") && !without.contains(">\n4\n</text>"), "the axis ends there");
    let page = page(&study, &[vec![], vec![]]);
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
    assert_eq!((tables::more_devices(&study), plots::speed_up_curves(&study).len()), (None, 2));
    assert!(page(&study, &[]).contains(why) && report::markdown(&study).contains(why));
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
    StudyRun { process_s: begin_s + 2.0, stats }
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
    report::write(&study(), &[], folder.path()).expect("writable");
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    let json: serde_json::Value = serde_json::from_str(&text("scale.json")).expect("valid JSON");
    assert_eq!(json["series"][1]["configuration"]["selection"], "0,1");
    assert_eq!(json["series"][1]["runs"][2]["stats"]["worlds"][0]["regions"][1]["device"], 1);
    assert_eq!((json["baseline"].as_u64(), json["machine"]["cores"].as_u64()), (Some(0), Some(2)));
    let csv = text("scale.csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!((rows.len(), rows[1].get(0), rows[1].get(1)), (2, Some("0,1"), Some("2")));
    assert_eq!(text("runs.csv").lines().count(), 7);
    assert!(text("scale.md").contains("| 0,1     |     2 |"));
    for number in [1, 2] {
        assert!(folder.path().join(format!("drew.{number}.png")).exists());
    }
    let missing = report::write(&study(), &[], &folder.path().join("none")).expect_err("there is no such folder");
    assert!(missing.to_string().starts_with("cannot write \""), "{missing}");
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
    let html = page(&study, &[b"png".to_vec(), vec![]]);
    let xml = as_xml(&html);
    let document = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}"));
    let count = |name: &str| document.descendants().filter(|node| node.tag_name().name() == name).count();
    assert_eq!((count("svg"), count("img"), count("table")), (5, 1, 5));
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
    let html = page(&study, &[vec![], vec![]]);
    assert!(html.contains("1 picture DIFFERS from the first run's: differs.0-1.2.1.exr."));
}

#[test]
fn plots_show_their_data() {
    let study = study();
    let circles = |svg: &str| svg.matches("<circle").count();
    // Two curves of two points; each point has a mark inside the circle of its error bar.
    assert_eq!(circles(&plots::speed_up(&plots::speed_up_curves(&study))), 8);
    let bars = plots::phase_bars(&study);
    assert_eq!((bars[1].label.as_str(), bars[1].parts[4]), ("0,1", 2.0));
    assert!(plots::phases(&study).contains(">\n0,1\n</text>"));
    assert_eq!(plots::stage_bars(&study)[1].parts[6], 1.0);
    let many = Study { series: vec![series(&["0"; 16].join(","), vec![run(1.0, 0.5, 1)])], ..study.clone() };
    assert_eq!(plots::phase_bars(&many)[0].label, "0,0,0,0,0,0,… (16)");
    // Plots of no data, or of no time, are valid too.
    for svg in [plots::speed_up(&[]), timeline::draw(&run(0.0, 0.0, 2).stats), plots::stages(&study)] {
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    }
    assert_eq!(timeline::draw(&Measured::default()), "");
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

fn device(index: usize, name: &str) -> DeviceInfo {
    DeviceInfo {
        index,
        name: name.into(),
        kind: DeviceKind::Cpu,
        driver: "driver".into(),
        driver_info: String::new(),
        driver_version: 1,
        api_version: "1.3.0".into(),
        vendor_id: 1,
        device_id: 2,
        pci: None,
        uuid: String::new(),
        cache_uuid: String::new(),
        memory_bytes: 1 << 30,
        host_visible: true,
        subgroup_size: 4,
        timestamp_ns: 1.0,
        tools: DeviceTools::default(),
        features: BTreeMap::new(),
        limits: BTreeMap::new(),
        allocation_bytes_max: 1 << 30,
        lacking: vec![],
        usable: true,
    }
}

#[test]
fn plans_need_one_device_to_compare_with() {
    let devices = [device(0, "a"), device(1, "a"), device(2, "b")];
    let plan =
        |selections: &[&str]| Plan::new(&selections.iter().map(ToString::to_string).collect::<Vec<_>>(), &devices);
    let good = plan(&["0,1", "1", "0,2,2"]).expect("a plan");
    assert_eq!((good.baseline, good.devices_max()), (1, 3));
    let models: Vec<_> = good.configurations.iter().map(|one| one.models.clone()).collect();
    assert_eq!(models, [vec![0], vec![0], vec![0, 2]]);
    // The third configuration fills the caches of both models.
    assert_eq!(good.warm_up(false), [2]);
    let cores: Vec<usize> = good.warm_up(true).iter().map(|&place| good.configurations[place].indices.len()).collect();
    assert_eq!(cores, [3, 2, 1], "caches depend on the number of cores that a run has");
    assert_eq!(plan(&["0", "0,1", "2"]).map(|plan| plan.warm_up(false)), Ok(vec![1, 2]));
    assert_eq!(plan(&["0,1"]), Err(PlanError::NoBaseline));
    assert_eq!(plan(&["0", " 0"]), Err(PlanError::Twice("0".into())));
    assert!(matches!(plan(&["0", "7"]), Err(PlanError::Devices(_))));
}

#[test]
fn words_are_quoted_for_shells() {
    let table = [("a.rib", "a.rib"), ("0,1", "0,1"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''")];
    for (word, expected) in table {
        assert_eq!(quoted(word), expected);
    }
}

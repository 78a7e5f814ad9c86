use super::machine::{DeviceTitle, Machine};
use super::page::page;
use super::study::{Clock, Differing, Run, Series, Spread, Study, quoted};
use super::{Configuration, Plan, PlanError, plots, report, tables, timeline};
use crate::gpu::{DeviceInfo, DeviceKind};
use crate::stats::{Measured, MeasuredDevice, MeasuredRegion, MeasuredWorld};
use std::collections::BTreeMap;

fn region(device: usize, px: [u32; 4], (begin_s, end_s): (f64, f64)) -> MeasuredRegion {
    MeasuredRegion { device, px, stolen: device > 0, work: 10, begin_s, end_s, ..MeasuredRegion::default() }
}

/// A run of 16 x 8 pixels, cut between its devices: 0.1 s of reading, 0.2 of preparing, 0.5 of counting, 0.1 of writing.
fn run(process_s: f64, draw_s: f64, devices: usize) -> Run {
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
    let width = 16 / devices as u32;
    let part = |device: usize| {
        let x0 = 4 + device as u32 * width;
        region(device, [x0, 2, x0 + width, 10], (0.5, 0.5 + draw_s))
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
    Run { process_s, stats }
}

fn series(selection: &str, runs: Vec<Run>) -> Series {
    let indices = (0..selection.split(',').count()).collect();
    let configuration = Configuration { selection: selection.into(), indices, models: vec![0] };
    Series { configuration, runs }
}

/// One and two devices in three rounds; the machine was half as fast in the second.
fn study() -> Study {
    let one = vec![run(6.0, 4.5, 1), run(12.0, 9.5, 1), run(6.0, 4.5, 1)];
    let two = vec![run(4.0, 2.0, 2), run(8.0, 4.5, 2), run(3.0, 1.5, 2)];
    let device = DeviceTitle { index: 0, name: "a <fast> \"device\" & more".into(), driver: "d".into() };
    Study {
        version: "1".into(),
        scene: "a&b.rib".into(),
        command: "anthill scale 'a&b.rib'".into(),
        flags: "--samples 2 2".into(),
        machine: Machine { processor: "p".into(), cores: 2, devices: vec![device], ..Machine::default() },
        pinned: true,
        series: vec![series("0", one), series("0,1", two)],
        baseline: 0,
        differing: vec![],
    }
}

#[test]
fn spreads_are_of_the_middle() {
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
    assert_eq!(study.speed_up(two, Clock::Render), Spread { median: 2.0, min: 2.0, max: 2.5 });
    assert_eq!(study.efficiency(two, Clock::Render), 1.0);
    assert_eq!(study.speed_up(two, Clock::Process), Spread { median: 1.5, min: 1.5, max: 2.0 });
    assert_eq!(study.efficiency(two, Clock::Process), 0.75);
    assert_eq!(study.speed_up(study.one(), Clock::Process), Spread { median: 1.0, min: 1.0, max: 1.0 });
    assert_eq!((two.typical().process_s, study.one().typical().process_s), (4.0, 6.0));
    assert_eq!(
        study.finding(),
        "2 devices render 2.00 times as fast as one, with an efficiency of 100%; the whole process is 1.50 times as fast."
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
fn tables_say_what_was_computed() {
    let study = study();
    let table = tables::speed_up(&study);
    let second =
        ["0,1", "2", "2.50 (2.00–5.00)", "2.00 (2.00–2.50)", "100%", "4.00 (3.00–8.00)", "1.50 (1.50–2.00)", "75%"];
    assert_eq!(table.rows[1], second);
    let stages = tables::stages(&study);
    assert_eq!(stages.header, ["devices", "hide, s", "shade, s", "sum, s"]);
    assert_eq!(stages.rows, [["0", "0.250", "0.500", "0.750"], ["0,1", "0.500", "1.00", "1.50"]]);
    let devices = tables::devices(&study.series[1]);
    assert_eq!(devices.rows[1], ["#2: device 1", "1.50", "0.500", "75%", "1", "1", "0", "1.0 MiB"]);
    let phases = tables::phases(&study);
    assert_eq!(phases.rows[0][6..], ["0.100", "6.00", "25%"]);
    let markdown = devices.to_markdown();
    let widths: Vec<usize> = markdown.lines().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]) && widths.len() == 4, "{markdown}");
}

#[test]
fn programs_get_a_line_for_each_configuration_and_run() {
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

/// The page as XML: elements that HTML leaves open are closed, the document type is dropped.
fn as_xml(page: &str) -> String {
    let is_open = |part: &str| ["meta ", "img "].iter().any(|name| part.starts_with(name));
    let body = page.trim_start_matches("<!DOCTYPE html>");
    let parts = body.split('<').map(|part| if is_open(part) { part.replacen('>', "/>", 1) } else { part.into() });
    parts.collect::<Vec<_>>().join("<")
}

#[test]
fn the_page_is_whole_and_refers_to_nothing_outside() {
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
    assert!(html.contains("a&amp;b.rib") && html.contains("a &lt;fast&gt;"));
    assert!(html.contains("The pictures of all 6 runs are the same, bit for bit."));
    let differing = Differing { selection: "0,1".into(), round: 2, file: "differs.0-1.2.1.exr".into() };
    study.differing.push(differing);
    let html = page(&study, &[vec![], vec![]]);
    assert!(html.contains("1 picture DIFFERS from the first run's: differs.0-1.2.1.exr."));
}

#[test]
fn plots_hold_what_they_are_of() {
    let study = study();
    let circles = |svg: &str| svg.matches("<circle").count();
    // Two curves of two points, each with a mark, inside the ring of its range.
    assert_eq!(circles(&plots::speed_up(&plots::speed_up_curves(&study))), 8);
    let bars = plots::phase_bars(&study);
    assert_eq!((bars[1].label.as_str(), bars[1].parts[4]), ("0,1", 2.0));
    assert!(plots::phases(&study).contains(">\n0,1\n</text>"));
    assert_eq!(plots::stage_bars(&study)[1].parts[6], 1.0);
    let many = Study { series: vec![series(&["0"; 16].join(","), vec![run(1.0, 0.5, 1)])], ..study.clone() };
    assert_eq!(plots::phase_bars(&many)[0].label, "0,0,0,0,0,0,… (16)");
    // Plots of nothing, and of no time, are plots.
    for svg in [plots::speed_up(&[]), timeline::draw(&run(0.0, 0.0, 2).stats), plots::stages(&study)] {
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    }
    assert_eq!(timeline::draw(&Measured::default()), "");
}

#[test]
fn regions_in_flight_together_lie_in_lanes() {
    let at = |device, begin, end| region(device, [0, 0, 1, 1], (begin, end));
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
        cache_uuid: String::new(),
        memory_bytes: 1 << 30,
        host_visible: true,
        subgroup_size: 4,
        timestamp_ns: 1.0,
        features: BTreeMap::new(),
        limits: BTreeMap::new(),
        allocation_bytes_max: 1 << 30,
        lacking: vec![],
        usable: true,
    }
}

#[test]
fn plans_have_one_device_to_compare_with() {
    let devices = [device(0, "a"), device(1, "a"), device(2, "b")];
    let plan =
        |selections: &[&str]| Plan::new(&selections.iter().map(ToString::to_string).collect::<Vec<_>>(), &devices);
    let good = plan(&["0,1", "1", "0,2,2"]).expect("a plan");
    assert_eq!((good.baseline, good.devices_max()), (1, 3));
    let models: Vec<_> = good.configurations.iter().map(|one| one.models.clone()).collect();
    assert_eq!(models, [vec![0], vec![0], vec![0, 2]]);
    // The third fills the caches of both models.
    assert_eq!(good.warm_up(), [2]);
    assert_eq!(plan(&["0", "0,1", "2"]).map(|plan| plan.warm_up()), Ok(vec![1, 2]));
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

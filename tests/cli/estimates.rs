//! Compares the estimates of the summed-area table with what regions use, in real scenes.

use super::devices::draws_on_processor;
use super::{directory, run};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;

/// The largest allowed ratio of used to estimated bytes of a region.
const BYTES_OVER_MAX: f64 = 1.1;

/// Renders a scene and returns the statistics of its world, and the names of the decisions in the trace.
fn drawn(directory: &Path, scene: &str, memory: &str, aids: &[(&str, &OsStr)]) -> (Value, Vec<String>) {
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(scene);
    let flags = "--format 160 120 --samples 2 2 --devices 0,0 -o a.exr --stats stats.json --trace trace.json --memory";
    let args = [OsStr::new("render"), scene.as_os_str()].into_iter().chain(flags.split(' ').map(OsStr::new));
    let args: Vec<&OsStr> = args.chain([OsStr::new(memory)]).collect();
    let ran = run(directory, &args, aids, "");
    assert_eq!(ran.code, Some(0), "{memory}: {}", ran.err);
    let json = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(directory.join(name)).expect("written")).expect("JSON")
    };
    let marks = json("trace.json")["traceEvents"].take();
    let marks = marks.as_array().expect("a list").iter().filter(|event| event["ph"] == "i");
    let marks = marks.map(|event| event["name"].as_str().unwrap_or_default().to_string()).collect();
    (json("stats.json")["worlds"][0].take(), marks)
}

#[test]
fn regions_use_what_was_estimated() {
    let directory = directory();
    let perturbed = [("ANTHILL_PERTURB", OsStr::new("3"))];
    let calm: &[(&str, &OsStr)] = &[];
    for (scene, memory, aids) in [
        ("teapot.rib", "24M", calm),
        ("teapot.rib", "1G", &perturbed),
        ("hair.rib", "16M", calm),
        ("hair.rib", "24M", &perturbed),
        ("hair.rib", "256M", &perturbed),
        ("glass.rib", "16M", calm),
        ("glass.rib", "256M", &perturbed),
        ("quadrics.rib", "8M", &perturbed),
    ] {
        let (world, marks) = drawn(directory.path(), scene, memory, aids);
        let (estimates, regions) = (&world["estimates"], world["regions"].as_array().expect("a list"));
        let context = format!("{scene} {memory}: {estimates}");
        let number = |value: &Value, key: &str| value[key].as_u64().unwrap_or_else(|| panic!("{key}: {context}"));
        let sum = |key: &str| regions.iter().map(|region| number(region, key)).sum::<u64>();
        assert_eq!(number(estimates, "regions"), regions.len() as u64, "{context}");
        assert!(number(estimates, "grids_selected") > 0, "{context}");
        for (total, each) in [
            ("grids_estimated", "grids_estimated"),
            ("grids_selected", "grids"),
            ("bytes_estimated", "bytes_estimated"),
            ("bytes_used", "bytes_used"),
        ] {
            assert_eq!(number(estimates, total), sum(each), "{total} {context}");
        }
        let over = estimates["bytes_over_max_ratio"].as_f64().expect("a number");
        assert!((0.5..=BYTES_OVER_MAX).contains(&over), "{context}");
        // Regions that end between squares are charged a share of a square's grids, but all of these may be on their
        // side.
        let grids_over_max = if aids.is_empty() { 1.1 } else { 3.0 };
        let grids_over = estimates["over_max_ratio"].as_f64().expect("a number");
        assert!((0.5..=grids_over_max).contains(&grids_over), "{context}");
        let room = number(&world["cost"], "region_grids_max");
        assert!(regions.iter().all(|region| number(region, "grids") <= room), "more than there is room for: {context}");
        if let [whole] = &regions[..] {
            assert_eq!(number(whole, "grids_estimated"), number(whole, "grids"), "of the whole it is exact: {context}");
        }
        let vain = marks.iter().filter(|mark| mark.ends_with(" is too large")).count() as u64;
        assert_eq!(number(estimates, "too_large"), vain, "{context}");
    }
}

#[test]
fn a_cpu_device_has_one_region_in_flight_and_a_gpu_two() {
    let directory = directory();
    let as_gpu = [("ANTHILL_AS_GPU", OsStr::new("parallel"))];
    let in_flight = |aids: &[(&str, &OsStr)]| {
        let (world, _) = drawn(directory.path(), "quadrics.rib", "256M", aids);
        world["cost"]["in_flight"].as_u64()
    };
    assert_eq!(in_flight(&[]), Some(if draws_on_processor(directory.path()) { 1 } else { 2 }));
    assert_eq!(in_flight(&as_gpu), Some(2));
}

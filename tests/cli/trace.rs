//! The timelines of `--trace`: slices of a row are nested, times do not go back, and counters are what they say.

use super::{anthill, directory};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Two worlds with a texture, a displacement and two lights, in small regions.
const SCENE: &str = "FrameBegin 1\nDisplay \"a.exr\" \"exr\" \"rgba\"\nFormat 96 64 1\nProjection \"perspective\" \"fov\" [30]\n\
                     LightSource \"distantlight\" 1 \"to\" [1 -1 1]\nLightSource \"ambientlight\" 2\nTranslate 0 0 5\n\
                     WorldBegin\nSurface \"glaze\"\nAttribute \"displacementbound\" \"sphere\" [0.1]\n\
                     Displacement \"bumps\"\nSphere 1 -1 1 360\nWorldEnd\nFrameEnd\n";
const GLAZE: &str =
    "surface glaze() { Ci = Cs * diffuse(faceforward(normalize(N), I)) + ambient(); Oi = Os; Ci *= Oi; }\n";
const BUMPS: &str = "displacement bumps() { P += 0.05 * noise(8 * P) * normalize(N); N = calculatenormal(P); }\n";

/// Microseconds by which rounded times may be off.
const ROUNDING_US: f64 = 0.01;

/// The slices of a row in the order in which they were written, with their ends.
type Slices = Vec<(f64, f64, String)>;

/// Checks a trace, and returns the slices of each row by the names of process and row.
fn check(trace: &Value) -> BTreeMap<(String, String), Slices> {
    let events = trace["traceEvents"].as_array().expect("a list");
    let (mut processes, mut rows, mut latest) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut slices: BTreeMap<(u64, u64), Slices> = BTreeMap::new();
    for event in events {
        let number = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{key} of {event}"));
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{event}")).to_owned();
        let (pid, phase) = (number("pid"), text(&event["ph"]));
        let name = text(&event["name"]);
        if phase == "M" {
            match name.as_str() {
                "process_name" => assert_eq!(processes.insert(pid, text(&event["args"]["name"])), None, "{event}"),
                "thread_name" => {
                    assert_eq!(rows.insert((pid, number("tid")), text(&event["args"]["name"])), None, "{event}");
                }
                _ => {}
            }
            continue;
        }
        let row = (pid, number("tid"));
        assert!(processes.contains_key(&pid) && rows.contains_key(&row), "the row of {event} has no name");
        let start = event["ts"].as_f64().expect("a time");
        let before = latest.insert(row, start).unwrap_or(0.0);
        assert!(before <= start + ROUNDING_US, "{event} begins before an event that was written earlier, {before}");
        match phase.as_str() {
            "X" => {
                let end = start + event["dur"].as_f64().filter(|us| *us >= 0.0).expect("a duration");
                slices.entry(row).or_default().push((start, end, name));
            }
            "C" => {
                let values = event["args"].as_object().expect("values");
                assert!(!values.is_empty() && values.values().all(|v| v.as_f64().is_some_and(|v| v >= 0.0)), "{event}");
            }
            other => assert_eq!(other, "i", "{event}"),
        }
    }
    slices.values().for_each(check_nesting);
    slices.into_iter().map(|(row, slices)| ((processes[&row.0].clone(), rows[&row].clone()), slices)).collect()
}

/// A slice ends before the next one begins, or holds all of it.
fn check_nesting(slices: &Slices) {
    let mut open: Vec<&(f64, f64, String)> = Vec::new();
    for slice in slices {
        while open.pop_if(|outer| outer.1 <= slice.0 + ROUNDING_US).is_some() {}
        if let Some(outer) = open.last() {
            assert!(slice.1 <= outer.1 + ROUNDING_US, "{slice:?} overlaps the end of {outer:?}");
        }
        open.push(slice);
    }
}

fn trace_of(directory: &Path, flags: &[&str]) -> Value {
    let second = SCENE.replace("FrameBegin 1", "FrameBegin 2").replace("a.exr", "b.exr");
    fs::write(directory.join("a.rib"), [SCENE, &second].concat()).expect("writable");
    fs::write(directory.join("glaze.sl"), GLAZE).expect("writable");
    fs::write(directory.join("bumps.sl"), BUMPS).expect("writable");
    let ran = anthill(directory, &[&["render", "a.rib", "--trace", "t.json", "--stats", "s.json"], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_slice(&fs::read(directory.join("t.json")).expect("written")).expect("JSON")
}

#[test]
fn slices_are_nested_and_times_do_not_go_back() {
    let directory = directory();
    for flags in [&["--devices", "0"][..], &["--devices", "0,0", "--regions", "6"]] {
        let trace = trace_of(directory.path(), flags);
        let rows = check(&trace);
        let devices = rows.keys().map(|(process, _)| process).filter(|process| process.starts_with("device "));
        let devices: std::collections::BTreeSet<&String> = devices.collect();
        assert_eq!(devices.len(), flags[1].split(',').count(), "{:?}", rows.keys());
        let named = |row: &str, name: &str| {
            let of_row = rows.iter().filter(|((_, one), _)| one == row).flat_map(|(_, slices)| slices);
            of_row.filter(|(_, _, slice)| slice == name).count()
        };
        // Two worlds, whatever devices there are.
        for phase in ["prepare", "count", "draw", "write"] {
            assert_eq!(named("phases", phase), 2, "{phase}");
        }
        assert_eq!((named("phases", "open devices"), named("reading", "read")), (1, 1));
        for kernel in ["shade", "shade glaze bumps", "displace glaze bumps", "hide", "bound_split", "select"] {
            assert!(named("stages and kernels", kernel) > 0, "{kernel}");
        }
    }
}

#[test]
fn counters_show_memory_by_category_tiles_and_regions() {
    let directory = directory();
    let trace = trace_of(directory.path(), &["--devices", "0", "--memory", "64M"]);
    let events = trace["traceEvents"].as_array().expect("a list");
    let values = |name: &str| -> Vec<BTreeMap<String, f64>> {
        let of_name = events.iter().filter(|event| event["ph"] == "C" && event["name"] == name);
        of_name.map(|event| serde_json::from_value(event["args"].clone()).expect("numbers")).collect()
    };
    let memory = values("device memory in bytes");
    let categories =
        ["counting", "frame", "geometry", "grids", "imager", "other", "regions", "staging", "textures", "visibility"];
    assert!(memory.iter().all(|values| values.keys().eq(categories)), "{memory:?}");
    let sums: Vec<f64> = memory.iter().map(|values| values.values().sum()).collect();
    assert!(!sums.is_empty() && sums.iter().all(|sum| *sum > 0.0 && *sum <= f64::from(64 << 20)), "{sums:?}");
    let stats: Value =
        serde_json::from_slice(&fs::read(directory.path().join("s.json")).expect("written")).expect("JSON");
    let peak = stats["devices"][0]["peak_bytes"].as_f64().expect("a number");
    assert!(sums.iter().all(|sum| *sum <= peak), "{sums:?} {peak}");
    let regions: Vec<f64> = values("regions in flight").iter().map(|values| values["regions"]).collect();
    assert!(regions.contains(&1.0) && regions.last() == Some(&0.0), "{regions:?}");
    assert!(values("texture tiles").iter().all(|values| values["tiles"] == 0.0), "there is no texture");
}

//! Small scaling studies, from the command line to the page.

use super::{Ran, directory, run};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Runs a study of a small scene, with one thread for each CPU device.
fn study(directory: &Path, args: &[&str]) -> Ran {
    study_of(directory, &[&["a.rib"], args].concat())
}

/// Runs a study of a sphere in `a.rib` or `b.rib`.
fn study_of(directory: &Path, args: &[&str]) -> Ran {
    let sphere = "Display \"a.exr\" \"exr\" \"rgba\" Format 32 24 1 Projection \"perspective\" Translate 0 0 3 WorldBegin \
                  Sphere 1 -1 1 360 WorldEnd\n";
    for name in ["a.rib", "b.rib"] {
        fs::write(directory.join(name), sphere).expect("writable");
    }
    let threads: &OsStr = "0".as_ref();
    run(directory, &[&["scale"], args].concat(), &[("LP_NUM_THREADS", threads)], "")
}

#[test]
fn a_study_compares_devices_and_writes_a_page() {
    let directory = directory();
    let lists = ["--devices", "0", "--devices", "0,0", "--repeat", "1", "--samples", "2", "2", "-o", "study"];
    let Ran { code, out, err } = study(directory.path(), &lists);
    assert_eq!(code, Some(0), "{err}");
    let rows: Vec<&str> = out.lines().filter(|line| line.starts_with("| 0")).collect();
    assert!(rows.len() == 2 && rows[1].starts_with("| 0,0 ") && out.contains("2 devices render "), "{out}");
    assert!(
        err.contains("anthill: caches filled: --devices 0,0: ") && err.contains("run 2 of 2: --devices 0,0: "),
        "{err}"
    );
    assert!(err.contains("The pictures of all 2 runs are identical, bit for bit."), "{err}");
    // This small picture has too few regions, so the study has no predictions, and says why.
    let why = "are too few to fit rates to: at least 8 are needed";
    assert!(err.contains("anthill: nothing is predicted: world 1: ") && err.contains(why), "{err}");

    let folder = directory.path().join("study");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("made")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "drew.1.png",
        "drew.2.png",
        "figure-breakdown.svg",
        "figure-efficiency.svg",
        "figure-phases.svg",
        "figure-speed-up.svg",
        "figure-speed-up.tex",
        "figure-time.svg",
        "picture.1.exr",
        "runs.csv",
        "scale.csv",
        "scale.html",
        "scale.json",
        "scale.md",
        "table.tex",
    ];
    assert_eq!(names, expected);
    // The scene's own display is not written.
    assert!(!directory.path().join("a.exr").exists());
    let json = fs::read(folder.join("scale.json")).expect("written");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("valid JSON");
    // Two devices of the processor share its cores, and each ran once.
    let doubts = json["doubts"].as_array().expect("a list");
    let kinds: Vec<_> = doubts.iter().filter_map(|doubt| doubt["kind"].as_str()).collect();
    assert!(kinds.contains(&"shared_cores") && kinds.contains(&"single_run"), "{kinds:?}");
    assert!(err.contains("anthill: warning: in doubt: --devices 0,0: 2 of its devices are the processor"), "{err}");
    assert!(out.contains("\nNot a finding, because it is in doubt: 2 devices render "), "{out}");
    let date = json["conditions"]["begun"].as_str().expect("a date");
    assert!(date.ends_with('Z') && json["machine"]["devices"][0]["driver"].is_string(), "{json}");
    let json = &json["studies"][0];
    for (series, devices) in json["series"].as_array().expect("a list").iter().zip([1, 2]) {
        let stats = &series["runs"][0]["stats"];
        assert_eq!(stats["devices"].as_array().map(Vec::len), Some(devices));
        assert_eq!(stats["worlds"][0]["crop_px"], serde_json::json!([0, 0, 32, 24]));
        let regions = stats["worlds"][0]["regions"].as_array().expect("a list");
        let area = |region: &serde_json::Value| {
            let px: Vec<i64> =
                region["px"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_i64).collect();
            (px[2] - px[0]) * (px[3] - px[1])
        };
        assert_eq!(regions.iter().map(area).sum::<i64>(), 32 * 24, "{stats}");
        let [begin, end] = [&regions[0]["begin_s"], &regions[0]["end_s"]].map(|time| time.as_f64().unwrap_or(-1.0));
        assert!(0.0 < begin && begin < end && end <= stats["render_s"].as_f64().unwrap_or(0.0), "{stats}");
    }
    assert_eq!(json["series"][0]["runs"][0]["stats"]["sample_points"], 34 * 26 * 4);
    assert!(json["outlook"]["refused"].as_str().is_some_and(|refused| refused.contains(why)), "{}", json["outlook"]);
    assert!(fs::read_to_string(folder.join("scale.html")).expect("written").contains(why));
}

#[test]
fn a_study_predicts_what_it_measures() {
    let directory = directory();
    let lists = ["--devices", "0", "--devices", "0,0", "--repeat", "1", "--format", "160", "128", "-o", "study"];
    let Ran { code, out, err } = study(directory.path(), &lists);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("anthill: rates for predictions: --devices 0: ") && !err.contains("nothing is predicted"));
    assert!(out.contains("| predicted speed-up |") && out.contains(" Predicted: "), "{out}");
    let text = |name: &str| fs::read_to_string(directory.path().join("study").join(name)).expect("written");
    let json: serde_json::Value = serde_json::from_str(&text("scale.json")).expect("valid JSON");
    let json = &json["studies"][0];
    let outlook = &json["outlook"];
    let number = |value: &serde_json::Value| value.as_f64().filter(|value| *value > 0.0).expect("a positive number");
    for (place, predicted) in outlook["configurations"].as_array().expect("a list").iter().enumerate() {
        assert_eq!(predicted["speeds"], serde_json::json!(vec![1.0; place + 1]));
        let measured = number(&json["series"][place]["runs"][0]["stats"]["render_s"]);
        let ratio = number(&predicted["render_s"]) / measured;
        assert!((number(&predicted["render_of_measured"]) - ratio).abs() < 1e-9, "{predicted}");
    }
    assert_eq!(number(&outlook["configurations"][0]["render_speed_up"]), 1.0);
    let counts = outlook["counts"].as_array().expect("a list");
    let numbers: Vec<_> = counts.iter().filter_map(|predicted| predicted["count"].as_u64()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 8, 16, 32, 64]);
    assert_eq!(counts[1]["render_s"], outlook["configurations"][1]["render_s"], "two devices as fast as the first");
    assert!(number(&outlook["worlds"][0]["fitted"]["regions"]) >= 8.0, "{outlook}");
    // The runs for rates are not among those that were measured.
    assert_eq!((text("runs.csv").lines().count(), json["series"][0]["runs"].as_array().map(Vec::len)), (3, Some(1)));
    assert!(text("scale.csv").lines().next().is_some_and(|names| names.contains(",predicted_render_speed_up,")));
    let page = text("scale.html");
    assert!(page.contains("render, predicted") && page.contains("Predicted for more devices"));
}

#[test]
fn runs_that_fail_end_the_study() {
    let directory = directory();
    let Ran { code, out, err } = study(directory.path(), &["--devices", "0", "--memory", "1M", "-o", "study"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.starts_with("anthill: error: the run on --devices 0 failed (exit code 2):\n"), "{err}");
    assert!(err.contains(" needs 4.0 MiB before anything is drawn"), "{err}");
}

/// Runs are restricted to as many cores as they have devices. If there are fewer, it is wrong usage.
#[cfg(target_os = "linux")]
#[test]
fn runs_need_as_many_cores_as_devices() {
    let directory = directory();
    let many = vec!["0"; 1025].join(",");
    let ran = study(directory.path(), &["--devices", "0", "--devices", &many, "--cpus", "-o", "study"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("--cpus: 1025 devices need as many cores, but only "), "{}", ran.err);
    let ran = study(directory.path(), &["--devices", "0", "--cpus", "--repeat", "1", "-o", "study"]);
    assert!(ran.code == Some(0) && ran.out.contains("Only one device was measured"), "{}{}", ran.out, ran.err);
}

#[test]
fn scenes_and_sizes_are_one_study() {
    let directory = directory();
    let args = [
        "a.rib",
        "b.rib",
        "--devices",
        "0",
        "--devices",
        "0,0",
        "--repeat",
        "1",
        "--scaling",
        "both",
        "--sizes",
        "16x12",
    ];
    let Ran { code, out, err } = study_of(directory.path(), &[&args[..], &["-o", "study"]].concat());
    assert_eq!(code, Some(0), "{err}");
    for row in ["| a, 16x12 ", "| a, 16x12, weak ", "| b, 16x12 ", "| b, 16x12, weak "] {
        assert_eq!(out.lines().filter(|line| line.starts_with(row)).count(), 2, "{out}");
    }
    let folder = directory.path().join("study");
    let json = fs::read(folder.join("scale.json")).expect("written");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("valid JSON");
    let studies = json["studies"].as_array().expect("a list");
    let size = |study: &serde_json::Value| study["series"][1]["runs"][0]["stats"]["worlds"][0]["crop_px"].clone();
    assert_eq!((studies.len(), &studies[0]["scaling"], &studies[1]["scaling"]), (4, &"strong".into(), &"weak".into()));
    let expected = [[0, 0, 16, 12], [0, 0, 23, 17]].map(|px| serde_json::json!(px));
    assert_eq!([size(&studies[0]), size(&studies[1])], expected);
    assert_eq!(fs::read_to_string(folder.join("scale.csv")).expect("written").lines().count(), 9);
    assert!(folder.join("picture.4.1.exr").exists() && folder.join("drew.4.2.png").exists());
}

#[test]
fn studies_refuse_bad_flags() {
    let directory = directory();
    for (args, why) in [
        (&["a.rib", "--scaling", "weak"][..], "--scaling weak needs the size of the picture on one device"),
        (&["a.rib", "a.rib"], "a.rib is given twice"),
        (&["a.rib", "--sizes", "16"], "expected width and height in pixels such as 640x480"),
        (&["a.rib", "--sizes", "0x9"], "expected width and height in pixels such as 640x480"),
        (&["a.rib", "--sizes", "8x8", "--format", "8", "8"], "cannot be used with"),
        (&["a.rib", "-"], "the scene cannot be standard input"),
        (&["a.rib", "none.rib"], "none.rib"),
    ] {
        let Ran { code, err, .. } = study_of(directory.path(), &[args, &["--devices", "0", "-o", "study"]].concat());
        assert!(code == Some(2) && err.contains(why), "{args:?}: {err}");
    }
}

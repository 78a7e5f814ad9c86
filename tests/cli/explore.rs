//! `anthill explore` on a small scene, and what it keeps.

use super::{Ran, directory, run};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Runs the program beside a small scene, with a cache folder of its own.
fn with_cache(directory: &Path, args: &[&str]) -> Ran {
    let sphere = "Display \"a.exr\" \"exr\" \"rgba\" Format 32 24 1 Projection \"perspective\" Translate 0 0 3 WorldBegin \
                  Sphere 1 -1 1 360 WorldEnd\n";
    fs::write(directory.join("a.rib"), sphere).expect("writable");
    fs::write(directory.join("slow.rib"), format!("ReadArchive \"|sleep 2.5\"\n{sphere}")).expect("writable");
    let cache = directory.join("cache");
    run(directory, args, &[("XDG_CACHE_HOME", cache.as_os_str()), ("LP_NUM_THREADS", OsStr::new("0"))], "")
}

/// What is in pipelines.json, and what `anthill devices` says of device 0.
fn kept(directory: &Path) -> (Option<String>, String) {
    let devices = with_cache(directory, &["devices"]).out;
    let of_first = devices.lines().find(|line| line.starts_with("   draws with pipeline "));
    let kept = fs::read_to_string(directory.join("cache/anthill/pipelines.json"));
    (kept.ok(), of_first.unwrap_or_else(|| panic!("{devices}")).trim().into())
}

#[test]
fn without_a_scene_one_of_the_programs_own_is_measured_and_the_fastest_kept() {
    let directory = directory();
    let (nothing, usual) = kept(directory.path());
    assert!(nothing.is_none() && usual.ends_with(" (the usual one)"), "{nothing:?} {usual}");
    let explore = ["explore", "--devices", "0", "--pipelines", "batches,one-batch", "--repeat", "1", "--keep"];
    let small = ["--format", "48", "48", "--samples", "2", "2"];
    let Ran { code, out, err } = with_cache(directory.path(), &[&explore[..], &small].concat());
    assert_eq!(code, Some(0), "{err}");
    assert!(!err.contains("warning") && !err.contains("error"), "{err}");
    let fastest = out
        .lines()
        .find_map(|line| line.strip_prefix("the fastest that device 0 can have for itself: "))
        .expect("it says which");
    let (text, line) = kept(directory.path());
    assert!(text.is_some_and(|text| text.contains(&format!("\"{fastest}\""))), "{out}");
    assert_eq!(line, format!("draws with pipeline {fastest} (measured to be the fastest)"));
}

#[test]
fn long_renders_measure_by_themselves_and_failing_at_that_harms_no_render() {
    let directory = directory();
    let render = |more: &[&str]| with_cache(directory.path(), &[&["render", "a.rib"], more].concat());
    let drawn = || {
        let text = fs::read(directory.path().join("cache/anthill/drawn.json")).ok()?;
        let times: BTreeMap<String, f64> = serde_json::from_slice(&text).expect("JSON");
        Some(times.values().sum::<f64>())
    };
    // Nothing adds up where nothing is to be measured.
    for more in [&["--calibrate-after", "never"][..], &["--calibrate-after", "60m", "--pipeline", "batches"]] {
        assert_eq!(render(more).code, Some(0));
        assert!(drawn().is_none(), "{more:?}");
    }
    assert_eq!(render(&["--calibrate-after", "60m"]).code, Some(0));
    let once = drawn().expect("it is written");
    assert_eq!(render(&["--calibrate-after", "60m"]).code, Some(0));
    assert!(once > 0.0 && drawn().expect("it is written") > once);
    // In the time of a short render nothing can be measured.
    let Ran { err, .. } = render(&["--calibrate-after", "0.001"]);
    assert!(!err.contains("measuring") && drawn() > Some(once), "{err}");
    // There is no folder for the runs.
    let due = ["render", "slow.rib", "--allow-programs", "--calibrate-after", "0.001", "-q"];
    let cache = directory.path().join("cache");
    let nowhere = directory.path().join("nowhere");
    let variables = [("XDG_CACHE_HOME", cache.as_os_str()), ("TMPDIR", nowhere.as_os_str())];
    let Ran { code, err, .. } = run(directory.path(), &due, &variables, "");
    assert!(code == Some(0) && err.starts_with("anthill: warning: no pipeline is kept for "), "{err}");
    assert!(err.contains("cannot begin: ") && err.contains("--calibrate-after never"), "{err}");
    assert_eq!(drawn(), Some(0.0));
    assert!(directory.path().join("a.exr").exists());
}

/// A render of some seconds is not followed by minutes: there is no time here for a build for debugging.
#[test]
fn measuring_after_a_render_says_so_and_ends_in_time() {
    let directory = directory();
    let begin = std::time::Instant::now();
    let args = ["render", "slow.rib", "--allow-programs", "--calibrate-after", "0.001"];
    let Ran { code, err, .. } = with_cache(directory.path(), &args);
    let rendered = err.find("anthill: a.exr: ").expect("the summary comes first");
    let said = err.find("anthill: measuring which pipeline is the fastest on ").expect("it says so");
    assert!(code == Some(0) && rendered < said, "{err}");
    let seconds = err.split(", for at most ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(seconds.is_some_and(|seconds| (3..=10).contains(&seconds)), "{err}");
    let ended = ["there was no time to measure all pipelines", "from now on"].iter().any(|end| err.contains(end));
    assert!(ended && !err.contains("warning"), "{err}");
    assert!(begin.elapsed() < std::time::Duration::from_secs(50), "{:?}", begin.elapsed());
    // Without a terminal only who asks for it waits for it.
    let unasked = with_cache(directory.path(), &["render", "a.rib"]);
    assert!(unasked.code == Some(0) && !unasked.err.contains("measuring"), "{}", unasked.err);
}

#[test]
fn pipelines_are_measured_and_the_fastest_is_kept() {
    let directory = directory();
    let pipelines = "one-batch,batches-expanded,buckets";
    let explore = ["explore", "a.rib", "--devices", "0,0", "--pipelines", pipelines, "--repeat", "1", "--keep"];
    let Ran { code, out, err } = with_cache(directory.path(), &explore);
    assert_eq!(code, Some(0), "{err}");
    let names: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()).collect();
    assert_eq!(names, ["pipeline", "batches-expanded", "one-batch", "buckets"], "{out}");
    assert!(err.contains("run 3 of 3: --devices 0 --pipeline buckets: "), "{err}");
    assert_eq!(
        out.lines().filter(|line| line.starts_with("the fastest that device 0 can have for itself: ")).count(),
        1,
        "{out}"
    );
    let kept = directory.path().join("cache/anthill/pipelines.json");
    let text = fs::read_to_string(&kept).expect("it was kept");
    // Buckets are never kept, and what was not measured cannot be.
    let fastest = ["one-batch", "batches-expanded"].into_iter().find(|name| text.contains(&format!("\"{name}\"")));
    let fastest = fastest.unwrap_or_else(|| panic!("{text}"));
    // A render uses it unless --pipeline names another one; --verbose shows which.
    let told = with_cache(directory.path(), &["render", "a.rib", "--verbose"]).err;
    assert!(told.contains(&format!(", pipeline {fastest}: ")), "{told}");
    let told = with_cache(directory.path(), &["render", "a.rib", "--verbose", "--pipeline", "shade-first"]).err;
    assert!(told.contains(", pipeline shade-first: "), "{told}");
    let quiet = with_cache(directory.path(), &["render", "a.rib", "-q"]);
    assert_eq!((quiet.code, &*quiet.err), (Some(0), ""));
    let picture = fs::read(directory.path().join("a.exr")).expect("drawn");
    // A file that is damaged is named, and the picture is the same.
    fs::write(&kept, "[").expect("writable");
    let warned = with_cache(directory.path(), &["render", "a.rib", "-q"]);
    assert!(
        warned.code == Some(0) && warned.err.contains("every device draws with its usual pipeline"),
        "{}",
        warned.err
    );
    assert!(fs::read(directory.path().join("a.exr")).expect("drawn") == picture);
}

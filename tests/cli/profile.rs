//! `anthill profile`: rows add up, names are those of shaders, and devices without a clock draw all the same.

use super::{anthill, directory, run};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

const SCENE: &str = "Option \"statistics\" \"shaderprofile\" [1]\nDisplay \"a.exr\" \"exr\" \"rgba\"\nFormat 128 96 1\n\
                     LightSource \"distantlight\" 1 \"to\" [1 -1 1]\nTranslate 0 0 5\nWorldBegin\nSurface \"slow\"\n\
                     Sphere 0.6 -0.6 0.6 360\nSurface \"fast\"\nTranslate 0.7 0 0\nSphere 0.6 -0.6 0.6 360\nWorldEnd\n";
const SLOW: &str = "surface slow() { float i; float sum = 0; for (i = 0; i < 60; i += 1) sum += noise(P * i); \
                    Ci = Cs * diffuse(normalize(N)) + sum / 100; Oi = Os; }\n";
const FAST: &str = "surface fast() { Ci = Cs * diffuse(normalize(N)); Oi = Os; }\n";

fn prepare(directory: &Path) {
    for (name, text) in [("a.rib", SCENE), ("slow.sl", SLOW), ("fast.sl", FAST)] {
        fs::write(directory.join(name), text).expect("writable");
    }
}

fn rows<'a>(profile: &'a Value, section: &str) -> &'a Vec<Value> {
    profile[section].as_array().unwrap_or_else(|| panic!("{section} of {profile}"))
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

#[test]
fn kernels_and_gaps_add_up_to_stages_and_the_slow_shader_comes_first() {
    let directory = directory();
    prepare(directory.path());
    let flags = ["profile", "a.rib", "--devices", "0", "--json", "--page", "p.html", "--stats", "s.json", "-q"];
    let ran = anthill(directory.path(), &flags);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("use the command anthill profile"), "{}", ran.err);
    let profile: Value = serde_json::from_str(&ran.out).expect("JSON");
    for stage in rows(&profile, "stages") {
        let kernels = rows(&profile, "kernels").iter().filter(|row| row["stage"] == stage["stage"]);
        let kernels_s: f64 = kernels.map(|row| number(row, "device_s")).sum();
        let [whole, commands, gaps] = ["device_s", "commands_s", "gaps_s"].map(|key| number(stage, key));
        assert!((kernels_s - commands).abs() < 1e-9 && (commands + gaps - whole).abs() < 1e-9, "{stage}");
        assert!(gaps >= -0.03 * whole, "commands take longer than their stage: {stage}");
    }
    let pipelines = rows(&profile, "pipelines");
    let names: Vec<&str> = pipelines.iter().filter_map(|row| row["pipeline"].as_str()).collect();
    assert_eq!(names, ["shade slow", "shade fast"]);
    assert!(pipelines.iter().all(|row| number(row, "vertices") > 1000.0 && number(row, "compile_s") > 0.0));
    assert!(number(&pipelines[0], "device_s_each") > 3.0 * number(&pipelines[1], "device_s_each"), "{pipelines:?}");
    let first = &rows(&profile, "lines")[0];
    assert!(first["place"].as_str().is_some_and(|place| place.ends_with("slow.sl:1")), "{first}");
    let share = |key: &str| -> f64 { rows(&profile, key).iter().map(|row| row["share"].as_f64().unwrap_or(0.0)).sum() };
    assert!((share("parts") - 2.0).abs() < 1e-6 && share("lines") <= 2.0, "shares of two pipelines: {profile}");
    assert!(!rows(&profile, "remarks").is_empty() && !rows(&profile, "memory").is_empty());
    let page = fs::read_to_string(directory.path().join("p.html")).expect("written");
    assert!(page.contains("shade slow") && page.contains("</html>"));
    let stats: Value =
        serde_json::from_slice(&fs::read(directory.path().join("s.json")).expect("written")).expect("JSON");
    let shaded: f64 = pipelines.iter().map(|row| number(row, "vertices")).sum();
    assert_eq!(stats["shaded_vertices"].as_f64(), Some(shaded), "no submission was repeated");
}

#[test]
fn a_profile_draws_the_same_picture_and_prints_tables() {
    let directory = directory();
    prepare(directory.path());
    let picture = |args: &[&str]| {
        let ran = anthill(directory.path(), &[args, &["a.rib", "--devices", "0"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        (ran.out, fs::read(directory.path().join("a.exr")).expect("written"))
    };
    let (plain, profiled) = (picture(&["render"]), picture(&["profile"]));
    assert!(plain.1 == profiled.1, "the pictures differ");
    assert_eq!(plain.0, "");
    let without = picture(&["profile", "--no-lines"]);
    assert!(without.1 == plain.1 && !without.0.contains("Lines of RSL"), "{}", without.0);
    for words in [
        "Shading pipelines",
        "Parts of shading pipelines",
        "Lines of RSL",
        "shade slow",
        "Stages of devices",
        "in gaps",
        "commands were timed, at",
    ] {
        assert!(profiled.0.contains(words), "{words}: {}", profiled.0);
    }
}

#[test]
fn a_device_without_a_clock_draws_and_says_so() {
    let directory = directory();
    prepare(directory.path());
    let args = ["profile", "a.rib", "--devices", "0"];
    let ran = run(directory.path(), &args, &[("ANTHILL_AS_GPU", OsStr::new("clockless"))], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("has no clock for its queue"), "{}", ran.out);
    let lines = ran.out.split("Lines of RSL").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("shares");
    assert!(lines.contains("of the pipeline") && !lines.contains(" ms"), "no time is made up: {}", ran.out);
    assert!(!ran.out.contains("Shading pipelines") && directory.path().join("a.exr").exists(), "{}", ran.out);
}

/// Two devices of one processor, whose kernels have no clock.
#[test]
fn lines_are_estimated_where_kernels_have_no_clock() {
    let directory = directory();
    prepare(directory.path());
    let args = ["profile", "a.rib", "--devices", "0,0", "--regions", "8", "--json", "-q"];
    let ran = run(directory.path(), &args, &[("ANTHILL_AS_GPU", OsStr::new("clockless-kernels"))], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let profile: Value = serde_json::from_str(&ran.out).expect("JSON");
    let lines = rows(&profile, "lines");
    assert!(!lines.is_empty() && lines.iter().all(|row| row["unit"] == "operations, an estimate"), "{profile}");
    assert!(profile["remarks"].to_string().contains("are estimated"), "{profile}");
    let on_devices = rows(&profile, "parts").iter().filter(|row| row["unit"] != "ns on the host");
    let lines_s: f64 = on_devices.map(|row| number(row, "seconds")).sum();
    let pipelines_s: f64 = rows(&profile, "pipelines").iter().map(|row| number(row, "device_s")).sum();
    assert!((lines_s / pipelines_s - 1.0).abs() < 1e-6, "the pipelines of both devices are shared out: {profile}");
}

#[test]
fn the_page_is_a_file_with_a_role() {
    let directory = directory();
    prepare(directory.path());
    for (page, message) in [("a.rib", "(the scene)"), ("no/p.html", "cannot write \"no/p.html\"")] {
        let ran = anthill(directory.path(), &["profile", "a.rib", "--page", page]);
        assert!(ran.code == Some(2) && ran.err.contains(message), "{page}: {}", ran.err);
    }
}

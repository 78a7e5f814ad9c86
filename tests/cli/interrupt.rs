//! Renders that take long show how far they are, and stop soon after a signal, whatever they are doing.

use super::{DEADLINE, Killed, Ran, anthill, directory};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// From a signal to the end of the program. A busy machine needs more than an idle one, but all renders here would take
/// at least ten times as long.
const END_MAX: Duration = Duration::from_secs(8);

const HEAD: &str = "Display \"a.exr\" \"exr\" \"rgba\"\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 6\n";

/// One region of many translucent layers, each with a shader that is slow.
fn layers(directory: &Path) {
    std::fs::write(
        directory.join("slow.sl"),
        "surface slow() { float f = 0; float i; for (i = 1; i < 60; i += 1) f += float noise(P * i) / i; Oi = Os * f; Ci = Oi; }",
    )
    .expect("writable");
    let spheres: String = (1..30).map(|i| format!("Sphere {0} -{0} {0} 360\n", 0.06 * f64::from(i))).collect();
    let scene = format!(
        "Format 320 240 1\nPixelSamples 4 4\n{HEAD}WorldBegin\nSurface \"slow\"\nOpacity [0.05 0.05 0.05]\n{spheres}WorldEnd\n"
    );
    std::fs::write(directory.join("a.rib"), scene).expect("writable");
}

/// Something with as many grids as anthill makes of a picture.
fn fine(directory: &Path) {
    let scene = format!(
        "Format 1024 768 1\n{HEAD}WorldBegin\nAttribute \"identifier\" \"name\" \"ball\"\nShadingRate 1e-9\nSphere 2 -2 2 360\nWorldEnd\n"
    );
    std::fs::write(directory.join("a.rib"), scene).expect("writable");
}

struct Running {
    child: Killed,
    lines: std::io::Lines<BufReader<ChildStderr>>,
}

impl Running {
    fn begin(directory: &Path, command: &[&str]) -> Self {
        let mut words = command.iter();
        let mut command = Command::new(words.next().expect("a program"));
        command.current_dir(directory).args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = Killed(command.spawn().expect("the program runs"));
        let lines = BufReader::new(child.0.stderr.take().expect("piped")).lines();
        Self { child, lines }
    }

    /// The next line for which this holds.
    fn wait_for(&mut self, holds: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let line = self.lines.next().expect("the program ended too early").expect("text");
            assert!(begin.elapsed() < DEADLINE, "it is never said");
            if holds(&line) {
                return line;
            }
        }
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name.to_owned(), self.child.0.id().to_string()]).status();
        assert!(status.expect("there is kill").success());
    }

    /// Interrupts it: what it says must come at once, and the end soon.
    fn interrupt(mut self, name: &str) -> Option<i32> {
        let begin = Instant::now();
        self.signal(name);
        self.wait_for(|line| line.starts_with("anthill: interrupted: writing what is finished"));
        assert!(begin.elapsed() < END_MAX / 4, "reported after {:?}", begin.elapsed());
        for line in self.lines {
            let line = line.expect("text");
            let is_expected = line.contains("no pixel of \"a.exr\" was finished");
            assert!(is_expected || !line.contains("error: ") && !line.contains("warning: "), "{line}");
        }
        let code = self.child.0.wait().expect("a child").code();
        assert!(begin.elapsed() < END_MAX, "ended after {:?}", begin.elapsed());
        code
    }
}

const ANTHILL: &str = env!("CARGO_BIN_EXE_anthill");
const RENDER: [&str; 7] = [ANTHILL, "render", "a.rib", "--devices", "0", "--progress", "percent"];

fn percent(line: &str) -> Option<u32> {
    line.strip_prefix("R90000")?.trim().strip_suffix('%')?.parse().ok()
}

#[test]
fn a_region_shows_progress_and_is_given_up() {
    let directory = directory();
    layers(directory.path());
    let mut running = Running::begin(directory.path(), &RENDER);
    let mut seen = vec![0];
    while seen.len() < 5 {
        let line = running.wait_for(|line| percent(line).is_some());
        seen.push(percent(&line).expect("a percentage"));
    }
    assert!(seen.last() < Some(&60) && seen[1..].is_sorted_by(|a, b| a < b), "{seen:?}");
    assert_eq!(running.interrupt("-INT"), Some(130));
}

#[test]
fn counting_shows_progress_and_is_given_up() {
    let directory = directory();
    fine(directory.path());
    let mut running = Running::begin(directory.path(), &RENDER);
    let warning = running.wait_for(|line| line.contains("warning"));
    let expected = "a.rib:8:1: warning: object \"ball\" has the shading rate 1e-9, which would take 1e9 micropolygons a pixel: \
                    0.001 is used [range]";
    assert_eq!(warning, expected);
    running.wait_for(|line| line.starts_with("anthill: counting: "));
    assert_eq!(running.interrupt("-TERM"), Some(130));
}

/// A loop of a thousand million trips is no hang, says how far it is, and is given up.
#[test]
fn a_loop_without_end_shows_progress_and_is_given_up() {
    let directory = directory();
    std::fs::write(
        directory.path().join("far.sl"),
        "surface far() { float i, k = s; for (i = 0; i < 1e7; i += 1) { float j; for (j = 0; j < 100; j += 1) k = 1 - k; } Ci = k; }",
    )
    .expect("writable");
    let scene = format!("Format 32 24 1\n{HEAD}WorldBegin\nSurface \"far\"\nSphere 2 -2 2 360\nWorldEnd\n");
    std::fs::write(directory.path().join("a.rib"), scene).expect("writable");
    let mut running = Running::begin(directory.path(), &[&RENDER[..], &["--timeout", "3s"]].concat());
    let mut seen = vec![0];
    while seen.len() < 3 {
        let line = running.wait_for(|line| percent(line).is_some_and(|now| now > 0));
        seen.extend(percent(&line));
    }
    assert!(seen.last() < Some(&100) && seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    // Far longer than the time after which a device that does nothing is given up.
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(running.interrupt("-INT"), Some(130));
}

/// Nothing arrives on standard input, and nothing ends it.
#[test]
fn waiting_for_a_scene_can_be_interrupted() {
    let directory = directory();
    let mut running = Running::begin(directory.path(), &["sh", "-c", "sleep 60 | exec \"$0\" render -", ANTHILL]);
    std::thread::sleep(Duration::from_millis(1500));
    // The shell is replaced by neither; the program is its child.
    let out = Command::new("pgrep").args(["-P", &running.child.0.id().to_string(), "anthill"]).output();
    let Ok(out) = out else { return };
    let id = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    let begin = Instant::now();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("there is kill").success());
    running.wait_for(|line| line.starts_with("anthill: interrupted: "));
    let process = format!("/proc/{id}/status");
    while std::fs::read_to_string(&process).is_ok_and(|status| !status.contains("State:\tZ")) {
        assert!(begin.elapsed() < END_MAX, "it waits for its input");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A terminal that is closed stops the render as SIGTERM does, but not one that was started by nohup.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_is_an_interrupt_unless_it_is_ignored() {
    let directory = directory();
    layers(directory.path());
    let drawn = |running: &mut Running| drop(running.wait_for(|line| percent(line) >= Some(1)));
    // The tests themselves may have been begun with nohup.
    let heeding = ["env", "--default-signal=HUP"];
    let mut running = Running::begin(directory.path(), &[&heeding[..], &RENDER[..]].concat());
    drawn(&mut running);
    assert_eq!(running.interrupt("-HUP"), Some(130));
    let ignoring = ["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""];
    let mut running = Running::begin(directory.path(), &[&ignoring[..], &RENDER[..]].concat());
    drawn(&mut running);
    running.signal("-HUP");
    let line = running.wait_for(|line| percent(line) >= Some(3) || line.contains("interrupted"));
    assert!(!line.contains("interrupted"), "{line}");
}

#[test]
fn kernels_are_in_statistics_and_trace() {
    let directory = directory();
    std::fs::write(
        directory.path().join("a.rib"),
        "Format 8 8 1\nDisplay \"a.exr\" \"exr\" \"rgba\"\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n",
    )
    .expect("writable");
    let Ran { code, err, .. } =
        anthill(directory.path(), &["render", "a.rib", "--stats", "s.json", "--trace", "t.json"]);
    assert_eq!(code, Some(0), "{err}");
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(directory.path().join(name)).expect("written")).expect("JSON")
    };
    let stats = json("s.json");
    let kernels = stats["kernels"].as_array().expect("a list");
    assert!(stats["kernels_wait_s"].as_f64().is_some(), "{stats}");
    assert!(kernels.iter().any(|kernel| kernel["kernel"] == "taps_gaussian" && kernel["device"] == 0), "{kernels:?}");
    let seconds: Vec<f64> = kernels.iter().filter_map(|kernel| kernel["compile_s"].as_f64()).collect();
    assert!(seconds.len() == kernels.len() && seconds.is_sorted_by(|a, b| a >= b), "{seconds:?}");
    let trace = json("t.json");
    let events = trace["traceEvents"].as_array().expect("a list");
    assert!(events.iter().any(|event| event["name"] == "taps_gaussian" && event["args"]["from cache"].is_number()));
}

/// A study that the user stops keeps what was measured, and says that it is not all.
#[test]
fn a_study_that_is_stopped_keeps_its_runs() {
    let directory = directory();
    std::fs::write(
        directory.path().join("a.rib"),
        format!("Format 32 24 1\n{HEAD}WorldBegin\nSphere 1 -1 1 360\nWorldEnd\n"),
    )
    .expect("writable");
    let flags = ["scale", "a.rib", "--devices", "0", "--devices", "0,0", "--repeat", "1000", "-o", "study"];
    let mut running = Running::begin(directory.path(), &[&[env!("CARGO_BIN_EXE_anthill")], &flags[..]].concat());
    running.wait_for(|line| line.starts_with("anthill: run 3 of 2000: "));
    running.signal("-INT");
    let said =
        running.wait_for(|line| line.contains(" measured runs, before its last: interrupted. What was measured"));
    assert!(said.starts_with("anthill: error: The study ended after "), "{said}");
    running.wait_for(|line| line.contains("study/scale.html: The pictures of all "));
    let code = running.child.0.wait().expect("it ends").code();
    assert_eq!(code, Some(130));
    let page = std::fs::read_to_string(directory.path().join("study/scale.html")).expect("written");
    assert!(page.contains("before its last: interrupted. What was measured is shown."));
    let runs = std::fs::read_to_string(directory.path().join("study/runs.csv")).expect("written");
    assert!((4..100).contains(&runs.lines().count()), "{runs}");
}

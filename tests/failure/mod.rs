//! Devices that fail, on demand (`ANTHILL_FAULT`): no failure loses a picture. It is the same bytes, each failure is
//! told once and counted, and the program ends.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// It is counted, measured (a displacement without a bound), counted again, drawn, and goes through an imager.
const SCENE: &str = "Display \"a.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\nFormat 96 72 1\nPixelSamples 2 2\n\
    Imager \"background\" \"bgcolor\" [0.1 0.2 0.4]\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 5\nWorldBegin\n\
    LightSource \"distantlight\" 1\nSurface \"matte\"\nAttributeBegin\nDisplacement \"lumps\"\nSphere 1 -1 1 360\nAttributeEnd\n\
    Opacity [0.5 0.5 0.5]\nTranslate 0.6 0.3 -1\nSphere 0.7 -0.7 0.7 360\nWorldEnd\n";

const SHADER: &str = "displacement lumps() { P += 0.1 * float noise(transform(\"shader\", P) * 4) * normalize(N); \
    N = calculatenormal(P); }";

/// Time for a step of a hanging device. What is compiled must not take longer, so the cache is filled first.
const TIMEOUT: &str = "3s";

/// The number of a kernel that only drawing needs.
const DRAWING_KERNEL: u64 = 20;

/// A folder with the scene, and the picture that nothing disturbed.
struct Undisturbed {
    folder: TempDir,
    picture: Vec<u8>,
    /// Submissions that one device makes for it.
    submissions: u64,
}

static UNDISTURBED: LazyLock<Undisturbed> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("a.rib"), SCENE).expect("writable");
    fs::write(folder.path().join("lumps.sl"), SHADER).expect("writable");
    let ran = draw(&folder, &["--devices", "0", "--validate"], &[("ANTHILL_FAULT", "lost:0:100000")]);
    let told = ran.lines("never happened");
    let [message] = &told[..] else { panic!("{}", ran.err) };
    let count = message.split_once("made ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    assert_eq!((ran.code, ran.lines("device 0").len()), (Some(1), 0), "{}", ran.err);
    assert!(message.contains("error: ANTHILL_FAULT: lost:0:100000 never happened"), "{message}");
    let submissions = count.unwrap_or_else(|| panic!("no count: {message}"));
    Undisturbed { picture: ran.picture.expect("a picture"), folder, submissions }
});

/// What a render left behind.
struct Ran {
    code: Option<i32>,
    err: String,
    picture: Option<Vec<u8>>,
    stats: serde_json::Value,
    took: Duration,
}

impl Ran {
    /// The messages with some text in them.
    fn lines(&self, text: &str) -> Vec<&str> {
        self.err.lines().filter(|line| line.contains(text)).collect()
    }

    /// Of all devices.
    fn sum(&self, key: &str) -> u64 {
        let devices = self.stats["devices"].as_array().expect("a list");
        devices.iter().map(|device| device[key].as_u64().expect(key)).sum()
    }

    /// The picture is whole and the same, whatever failed; each failure was told once and counted.
    fn is_whole(&self, failures: &[&str], reopened: u64) {
        assert_eq!(self.code, Some(0), "{}", self.err);
        assert!(self.picture.as_ref() == Some(&UNDISTURBED.picture), "the picture differs: {}", self.err);
        let told = self.lines("warning: ");
        let told: Vec<&&str> = told.iter().filter(|line| !line.contains("without a declared bound")).collect();
        assert_eq!(told.len(), failures.len(), "{}", self.err);
        for failure in failures {
            assert!(told.iter().any(|line| line.contains(failure)), "{failure}: {}", self.err);
        }
        assert_eq!((self.sum("failures"), self.sum("reopened")), (failures.len() as u64, reopened), "{}", self.stats);
    }
}

/// Renders the scene of a folder into a folder of its own.
fn draw(folder: &TempDir, flags: &[&str], aids: &[(&str, &str)]) -> Ran {
    let own = tempfile::tempdir().expect("a temporary directory");
    for name in ["a.rib", "lumps.sl"] {
        fs::copy(folder.path().join(name), own.path().join(name)).expect("readable and writable");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    command.current_dir(own.path()).args(["render", "a.rib", "--stats", "stats.json", "--progress", "off"]);
    let begin = Instant::now();
    let output = command.args(flags).envs(aids.iter().copied()).stdin(Stdio::null()).output().expect("the binary runs");
    let took = begin.elapsed();
    let file = |name: &str| fs::read(own.path().join(name)).ok();
    let stats = file("stats.json").and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!err.contains("[validation]"), "{err}");
    Ran { code: output.status.code(), err, picture: file("a.exr"), stats, took }
}

fn fail(faults: &str, flags: &[&str]) -> Ran {
    draw(&UNDISTURBED.folder, flags, &[("ANTHILL_FAULT", faults)])
}

#[test]
fn a_device_that_is_lost_in_any_phase_is_opened_again() {
    let last = UNDISTURBED.submissions - 1;
    for submission in [0, 3, 10].into_iter().chain((13..last).step_by(3)).chain([last]) {
        let what = match submission {
            0 => "was lost while running seed; it is opened again",
            _ if submission == last => "was lost while running imager; it is opened again",
            _ => "; it is opened again",
        };
        // Every other time, breadcrumbs say what the device was doing.
        let [breadcrumbs, what] = match submission % 2 {
            0 => ["auto", what],
            _ => ["always", "; it was in "],
        };
        let ran = fail(&format!("lost:0:{submission}"), &["--devices", "0", "--breadcrumbs", breadcrumbs]);
        ran.is_whole(&[what], 1);
        assert_eq!(ran.lines("warning: device 0 (").len(), 1, "{}", ran.err);
    }
}

#[test]
fn a_driver_without_memory_is_opened_again() {
    for submission in [0, 3, 10, UNDISTURBED.submissions - 5, UNDISTURBED.submissions - 1] {
        let ran = fail(&format!("oom:0:{submission}"), &["--devices", "0"]);
        ran.is_whole(&["the driver ran out of memory while "], 1);
    }
}

/// While it is counted, measured, drawn, and goes through the imager.
#[test]
fn a_device_that_hangs_is_left_alone_and_opened_again() {
    let last = UNDISTURBED.submissions - 1;
    let flags = ["--devices", "0", "--timeout", TIMEOUT, "--breadcrumbs", "always"];
    let hang = |submission: u64| fail(&format!("hang:0:{submission}"), &flags);
    thread::scope(|scope| {
        let cases = [(1, "did not finish "), (10, "did not finish "), (last - 4, "no progress for "), (last, "imager")];
        let runs = cases.map(|(submission, what)| (scope.spawn(move || hang(submission)), what));
        for (run, what) in runs {
            let ran = run.join().expect("a render");
            ran.is_whole(&[what], 1);
            assert_eq!(ran.lines(", which is in ").len(), 1, "{}", ran.err);
            assert!(ran.took < Duration::from_secs(12), "{:?}: {}", ran.took, ran.err);
        }
    });
}

/// For a kernel that is needed first, and for one that is waited for while the picture is drawn.
#[test]
fn a_device_that_compiles_is_waited_for() {
    thread::scope(|scope| {
        let slow = |kernel: u64| fail(&format!("slow:0:{kernel}"), &["--devices", "0", "--timeout", "1s"]);
        let runs = [0, DRAWING_KERNEL].map(|kernel| scope.spawn(move || slow(kernel)));
        for run in runs {
            let ran = run.join().expect("a render");
            ran.is_whole(&[], 0);
            assert!(ran.took > Duration::from_secs(3), "the kernel is needed: {:?}", ran.took);
        }
    });
}

#[test]
fn of_two_devices_one_may_fail_for_good() {
    let perturbed = ("ANTHILL_PERTURB", "1");
    let anew = "; it is opened again";
    let dropped = "; it is not used again for this picture";
    for (faults, told, reopened) in [
        ("lost:0:0", &[anew][..], 1),
        ("lost:0:3", &[anew], 1),
        ("lost:0:10,oom:1:0", &["was lost while ", "the driver ran out of memory"], 2),
        ("lost:0:3,lost:0:5", &[anew, dropped], 1),
        ("lost:1:1,oom:1:3", &[anew, dropped], 1),
        ("hang:1:1", &["device 1 ("], 1),
    ] {
        let aids = [("ANTHILL_FAULT", faults), perturbed];
        draw(&UNDISTURBED.folder, &["--devices", "0,0", "--timeout", TIMEOUT], &aids).is_whole(told, reopened);
    }
}

#[test]
fn the_only_device_has_one_more_chance() {
    let late = UNDISTURBED.submissions - 4;
    for faults in ["lost:0:0,lost:0:1".to_string(), format!("lost:0:{late},lost:0:{}", late + 2)] {
        let ran = fail(&faults, &["--devices", "0"]);
        assert_eq!((ran.code, ran.picture.is_some()), (Some(1), false), "{}", ran.err);
        assert_eq!((ran.sum("failures"), ran.sum("reopened")), (2, 1), "{}", ran.stats);
        let told = ran.lines("was lost while ");
        let warned = ran.lines("warning: device 0 (");
        let named: Vec<bool> = warned.iter().map(|line| line.contains("; it was in ")).collect();
        assert_eq!(named, [false, true], "after the first loss, breadcrumbs are left: {}", ran.err);
        assert!(told.iter().any(|line| line.ends_with("; it is opened again [system]")), "{}", ran.err);
        assert!(
            told.iter().any(|line| line.ends_with("; it is not used again for this picture [system]")),
            "{}",
            ran.err
        );
        assert!(["no device is left", "every device failed"].iter().any(|text| ran.err.contains(text)), "{}", ran.err);
    }
}

/// The first frame uses up its device and is missing; the second begins with it opened again, and may lose it once
/// more.
#[test]
fn each_frame_has_its_own_chances() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::copy(UNDISTURBED.folder.path().join("lumps.sl"), folder.path().join("lumps.sl")).expect("readable");
    let frame = |number: u32| format!("FrameBegin {number}\n{SCENE}FrameEnd\n");
    let first = frame(1).replace("a.exr", "first.exr");
    fs::write(folder.path().join("a.rib"), [first, frame(2)].concat()).expect("writable");
    let faults = [("ANTHILL_FAULT", "lost:0:0,lost:0:1,lost:0:2")];
    let ran = draw(&folder, &["--devices", "0", "--validate"], &faults);
    assert_eq!((ran.code, ran.sum("failures"), ran.sum("reopened")), (Some(1), 3, 3), "{}", ran.err);
    assert!(ran.picture.as_ref() == Some(&UNDISTURBED.picture), "the picture differs: {}", ran.err);
    assert_eq!(ran.lines("first.exr\" was finished; it is not written").len(), 1, "{}", ran.err);
}

/// Devices that are listed and do not open, once or at all.
#[test]
fn of_two_devices_one_may_not_open() {
    let anew = "opening it failed: Initialization of an object has failed; it is opened again";
    let dropped = "opening it failed: Initialization of an object has failed; it is not used again for this picture";
    for (faults, device, told, reopened) in [
        ("unopened:0:0", 0, &[anew][..], 1),
        ("unopened:1:0", 1, &[anew], 1),
        ("unopened:0:0,unopened:0:1", 0, &[anew, dropped], 1),
        ("unopened:1:0,unopened:1:1", 1, &[anew, dropped], 1),
        ("lost:0:3,unopened:0:1", 0, &["was lost while ", dropped], 1),
    ] {
        let ran = fail(faults, &["--devices", "0,0"]);
        ran.is_whole(told, reopened);
        assert_eq!(ran.lines(&format!("warning: device {device} (")).len(), told.len(), "{}", ran.err);
        let regions = ran.stats["devices"][device]["regions"].as_u64();
        assert!(told.len() == 1 || regions == Some(0), "{faults}: {}", ran.stats);
    }
}

#[test]
fn the_only_device_may_not_open_once() {
    fail("unopened:0:0", &["--devices", "0"]).is_whole(&["; it is opened again"], 1);
    let ran = fail("unopened:0:0,unopened:0:1", &["--devices", "0"]);
    assert_eq!((ran.code, ran.picture.is_some()), (Some(3), false), "{}", ran.err);
    assert_eq!((ran.sum("failures"), ran.sum("reopened")), (2, 1), "{}", ran.stats);
    assert_eq!(ran.lines("error: no device is left to draw on").len(), 1, "{}", ran.err);
    assert_eq!(ran.lines("warning: device 0 (").len(), 2, "{}", ran.err);
}

/// The next frame tries again.
#[test]
fn a_device_that_does_not_open_has_a_chance_in_each_frame() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::copy(UNDISTURBED.folder.path().join("lumps.sl"), folder.path().join("lumps.sl")).expect("readable");
    let frame = |number: u32| format!("FrameBegin {number}\n{SCENE}FrameEnd\n");
    let first = frame(1).replace("a.exr", "first.exr");
    fs::write(folder.path().join("a.rib"), [first, frame(2)].concat()).expect("writable");
    let faults = [("ANTHILL_FAULT", "unopened:0:0,unopened:0:1,unopened:0:2")];
    let ran = draw(&folder, &["--devices", "0"], &faults);
    assert_eq!((ran.code, ran.sum("failures"), ran.sum("reopened")), (Some(1), 3, 3), "{}", ran.err);
    assert!(ran.picture.as_ref() == Some(&UNDISTURBED.picture), "the picture differs: {}", ran.err);
    assert_eq!(ran.lines("first.exr\" was finished; it is not written").len(), 1, "{}", ran.err);
}

#[test]
fn a_failure_that_never_happens_and_one_that_means_nothing_are_told() {
    let ran = fail("lost:0:0,oom:7:1,unopened:0:2", &["--devices", "0"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let told = ran.lines("never happened");
    let expected = [
        "oom:7:1 never happened: the device made 0 submissions",
        "unopened:0:2 never happened: the device was opened 2 times",
    ];
    assert!(told.len() == 2 && expected.iter().zip(&told).all(|(text, line)| line.contains(text)), "{}", ran.err);
    for wrong in ["", "lost", "lost:0", "lost:0:1:2", "gone:0:1", "lost:0:1,", "hang:0:-1"] {
        let ran = fail(wrong, &["--devices", "0"]);
        assert_eq!((ran.code, ran.picture.is_some()), (Some(2), false), "{wrong}: {}", ran.err);
        assert!(ran.err.contains(&format!("ANTHILL_FAULT={wrong}: ")), "{}", ran.err);
    }
}

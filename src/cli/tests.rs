//! Command lines with a stand-in for the renderer: what is typed reaches it, and what it reports reaches the user.

mod known_flags;

use super::console::MessageStream;
use super::watcher::report_interrupt;
use super::{Console, RenderFn, run};
use anthill::diagnostic::{Reporter, SourceLocation};
use anthill::film::{DisplayOutcome, DisplayState};
use anthill::options::{Overrides, RenderOptions};
use anthill::outcome::{Ending, Outcome};
use anthill::progress::{Activity, Event, Interrupt, Observer, Progress};
use anthill::stats::{CostStats, Measured, MeasuredDevice, MeasuredRegion, MeasuredWorld, Stats};
use parking_lot::Mutex;
use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A stream that can be read afterwards.
#[derive(Clone, Default)]
struct Stream(Arc<Mutex<Vec<u8>>>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Stream {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).expect("messages are UTF-8")
    }
}

/// Exit code, standard output, standard error.
type Answer = (u8, String, String);

/// Runs a command line of words separated by blanks. `SCENE` is a file that exists in `directory`, `DIR` is the
/// directory.
fn type_in(directory: &TempDir, line: &str, cancelled: &Arc<AtomicBool>, render: &RenderFn<'_>) -> Answer {
    let scene = directory.path().join("scene.rib");
    std::fs::write(&scene, "WorldBegin WorldEnd\n").expect("writable");
    let place = |word: &str| {
        let word = word.replace("SCENE", &scene.to_string_lossy());
        OsString::from(word.replace("DIR", &directory.path().to_string_lossy()))
    };
    let args = std::iter::once("anthill").chain(line.split_whitespace()).map(place);
    let (out, err) = (Stream::default(), Stream::default());
    let cancelled = cancelled.clone();
    let listen = Box::new(move || cancelled.clone());
    let console = Console { out: Box::new(out.clone()), err: MessageStream::new(err.clone(), false), listen };
    (run(args, render, console), out.text(), err.text())
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn finished(states: &[DisplayState]) -> Outcome {
    let displays = states.iter().map(|&state| DisplayOutcome { path: "a.exr".into(), state }).collect();
    Outcome { ending: Ending::Finished, displays, stats: Stats::default() }
}

/// Returns the options that a command line of `render` results in.
fn options_of(line: &str) -> RenderOptions {
    let seen = Mutex::new(None);
    let render = |options: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| {
        *seen.lock() = Some(options.clone());
        finished(&[])
    };
    let (code, _, err) = type_in(&directory(), &format!("render SCENE {line}"), &Arc::default(), &render);
    assert_eq!(code, 0, "{err}");
    seen.into_inner().expect("the renderer ran")
}

/// Returns the first line of the error for a bad command line, with the directory replaced by DIR. Nothing may be
/// rendered.
fn error_of(line: &str) -> String {
    let render = |_: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| panic!("rendered in spite of a usage error");
    let directory = directory();
    let (code, out, err) = type_in(&directory, line, &Arc::default(), &render);
    assert_eq!((code, out.as_str()), (2, ""), "{line}: {err}");
    err.lines().next().unwrap_or_default().replace(&*directory.path().to_string_lossy(), "DIR")
}

#[test]
fn flags_become_options() {
    let plain = options_of("");
    assert_eq!(plain.devices, "all");
    assert_eq!(plain.overrides, Overrides::default());
    assert!(plain.output.is_none() && plain.frames.is_none() && plain.memory_bytes.is_none());
    let full = options_of(
        "-o DIR/a.#.exr --devices 0,1,0 --memory 512M --texture-memory 64M --host-memory 4G --frames 1-3,7 \
         --format 64 48 --crop -0.25 0.5 0.25 1 --overscan --samples 4 2 --shading-rate 0.5 -D A=1 --define B --regions 40 --check --validate --timeout 2m",
    );
    assert!(full.output.is_some_and(|name| name.for_frame(2).ends_with("/a.0002.exr")));
    assert_eq!(full.devices, "0,1,0");
    assert_eq!((full.memory_bytes, full.host_memory_bytes), (Some(512 << 20), Some(4 << 30)));
    assert_eq!((plain.texture_memory_bytes, full.texture_memory_bytes), (None, Some(64 << 20)));
    assert_eq!(full.frames.map(|frames| frames.0), Some(vec![1..=3, 7..=7]));
    let overrides = Overrides {
        format: Some([64, 48]),
        crop: Some([-0.25, 0.5, 0.25, 1.0]),
        overscan: true,
        samples: Some([4, 2]),
        shading_rate: Some(0.5),
        macros: vec!["A=1".into(), "B".into()],
    };
    assert_eq!(full.overrides, overrides);
    assert_eq!((plain.regions, full.regions.map(NonZeroUsize::get)), (None, Some(40)));
    assert!(full.check && full.validate);
    assert_eq!(full.timeout, Some(Duration::from_secs(120)));
}

#[test]
fn several_scenes_and_standard_input_are_one_stream() {
    let scenes = options_of("- SCENE").scenes;
    assert_eq!(scenes.len(), 3);
    assert_eq!(scenes[1].as_os_str(), "-");
}

#[test]
fn flags_of_checkpoints() {
    let kept = |flags| options_of(flags).checkpoint.map(|kept| (kept.interval.as_secs_f64(), kept.resume));
    assert_eq!(kept(""), None);
    assert_eq!(kept("--checkpoint DIR/a"), Some((30.0, false)));
    assert_eq!(kept("--checkpoint DIR/a --checkpoint-interval 0.25 --resume"), Some((0.25, true)));
    let table = [
        ("render SCENE --resume", "error: the following required arguments were not provided:"),
        ("render SCENE --checkpoint-interval 9", "error: the following required arguments were not provided:"),
        (
            "render SCENE --checkpoint a --check",
            "error: the argument '--checkpoint <FILE>' cannot be used with '--check'",
        ),
        (
            "render SCENE --checkpoint a --checkpoint-interval 0",
            "error: invalid value '0' for '--checkpoint-interval <TIME>': the time must be above 0",
        ),
    ];
    for (line, expected) in table {
        assert_eq!(error_of(line), expected, "{line}");
    }
}

#[test]
fn every_bad_flag_is_explained() {
    let table = [
        ("render", "error: the following required arguments were not provided:"),
        ("render DIR/none.rib", "anthill: error: cannot read \"DIR/none.rib\": No such file or directory (os error 2)"),
        ("render DIR", "anthill: error: cannot read \"DIR\": it is a directory"),
        (
            "render SCENE --texture-memory 1",
            "error: invalid value '1' for '--texture-memory <SIZE>': expected a size such as 512M, 2G or 256MiB",
        ),
        (
            "render SCENE -o a.jpg",
            "error: invalid value 'a.jpg' for '--output <OUT>': \"a.jpg\" must end with .exr, .tif, .tiff or .png",
        ),
        (
            "render SCENE --memory 512",
            "error: invalid value '512' for '--memory <SIZE>': expected a size such as 512M, 2G or 256MiB",
        ),
        (
            "render SCENE --host-memory 0G",
            "error: invalid value '0G' for '--host-memory <SIZE>': the size must be above 0 and below 8 EiB",
        ),
        (
            "render SCENE --memory big",
            "error: invalid value 'big' for '--memory <SIZE>': expected a size such as 512M, 2G or 256MiB",
        ),
        ("render SCENE --frames 5-1", "error: invalid value '5-1' for '--frames <LIST>': 5-1 runs backwards"),
        ("render SCENE --format 0 48", "error: invalid value '0' for '--format <W> <H>': 0 is not in 1..=65000"),
        ("render SCENE --format 64", "error: 2 values required for '--format <W> <H>' but 1 was provided"),
        (
            "render SCENE --regions 0",
            "error: invalid value '0' for '--regions <N>': expected a whole number of at least 1",
        ),
        ("render SCENE --progress loud", "error: invalid value 'loud' for '--progress <HOW>'"),
        (
            "render SCENE --timeout soon",
            "error: invalid value 'soon' for '--timeout <TIME>': expected a time such as 30, 90s or 5m",
        ),
        (
            "render SCENE --stats DIR/no/stats.json",
            "anthill: error: cannot write \"DIR/no/stats.json\": there is no such directory",
        ),
        (
            "render SCENE --trace DIR/no/trace.json",
            "anthill: error: cannot write \"DIR/no/trace.json\": there is no such directory",
        ),
        ("render SCENE --stats DIR", "anthill: error: cannot write \"DIR\": is a directory"),
        ("texture make a --kind cube -o DIR/x.tex", "anthill: error: A cube is made of six pictures, but there are 1"),
        ("paint", "error: unrecognized subcommand 'paint'"),
    ];
    for (line, expected) in table {
        assert_eq!(error_of(line), expected, "{line}");
    }
}

#[test]
fn every_bad_shader_command_is_explained() {
    let table = [
        ("shader compile DIR/a.sl", "anthill: error: cannot read \"DIR/a.sl\": No such file or directory (os error 2)"),
        (
            "shader info plastik",
            "anthill: error: there is no file \"plastik\" and no standard shader of this name; did you mean plastic?",
        ),
        ("shader info", "error: the following required arguments were not provided:"),
        (
            "shader compile matte plastic -o DIR/a.spv",
            "anthill: error: -o DIR/a.spv is one file, but there are several shaders (matte, plastic): give an existing folder, or omit -o",
        ),
        (
            "shader compile matte matte",
            "anthill: error: two shaders are named matte: compile them one at a time, with -o",
        ),
    ];
    for (line, expected) in table {
        assert_eq!(error_of(line), expected, "{line}");
    }
}

#[test]
fn every_bad_study_is_explained() {
    let table = [
        ("scale SCENE", "error: the following required arguments were not provided:"),
        (
            "scale SCENE --devices 0 -o DIR --repeat 0",
            "error: invalid value '0' for '--repeat <N>': 0 is not in 1..=1000",
        ),
        (
            "scale - --devices 0 -o DIR",
            "anthill: error: a study reads a scene once for each run, so the scene cannot be standard input",
        ),
        (
            "scale SCENE --devices 0 -o SCENE",
            "anthill: error: cannot write \"DIR/scene.rib\": File exists (os error 17)",
        ),
    ];
    for (line, expected) in table {
        assert_eq!(error_of(line), expected, "{line}");
    }
}

#[test]
fn help_and_version_are_results() {
    let render = |_: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| panic!("rendered for help");
    let ask = |line| type_in(&directory(), line, &Arc::default(), &render);
    let (code, out, err) = ask("--version");
    assert_eq!((code, out, err.as_str()), (0, format!("anthill {}\n", env!("CARGO_PKG_VERSION")), ""));
    for (line, part) in
        [("--help", "Exit codes:\n  0    every display"), ("render --help", "anthill render shot.rib --frames 1-24")]
    {
        let (code, out, err) = ask(line);
        assert!(code == 0 && out.contains(part) && err.is_empty(), "{line}: {out}");
    }
    let (code, out, err) = ask("");
    assert!(code == 2 && out.is_empty() && err.contains("Usage: anthill <COMMAND>"), "{err}");
}

#[test]
fn messages_summary_and_exit_code_come_from_the_outcome() {
    let render = |_: &RenderOptions, reporter: &Arc<Reporter>, _: &dyn Observer| {
        reporter.error("noshader", &SourceLocation { file: "a.rib".into(), line: 3, column: 1 }, "no shader \"x\"");
        finished(&[DisplayState::Whole])
    };
    let (code, out, err) = type_in(&directory(), "render SCENE", &Arc::default(), &render);
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!((code, out.as_str()), (0, ""));
    assert_eq!(lines[0], "a.rib:3:1: error: no shader \"x\" [noshader]");
    assert!(lines[1].starts_with("anthill: a.exr: 0.") && lines[1].ends_with(" s; 1 error survived"), "{err}");
    assert_eq!(type_in(&directory(), "render SCENE --strict", &Arc::default(), &render).0, 1);

    let partial =
        |_: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| finished(&[DisplayState::Partial { missing: 3 }]);
    let (code, _, err) = type_in(&directory(), "render SCENE", &Arc::default(), &partial);
    assert!(code == 1 && err.contains("a.exr (partial)"), "{err}");
}

/// A message is shown once; the end of the render says how often it occurred, and where.
#[test]
fn repeats_are_listed_at_the_end() {
    let render = |_: &RenderOptions, reporter: &Arc<Reporter>, _: &dyn Observer| {
        for line in 3..9 {
            reporter.warn("x", &SourceLocation { file: "a.rib".into(), line, column: 1 }, "Sphere: no \"\x1b[2J\"");
        }
        finished(&[DisplayState::Whole])
    };
    let (_, _, err) = type_in(&directory(), "render SCENE", &Arc::default(), &render);
    let expected = [
        "a.rib:3:1: warning: Sphere: no \"\\u{1b}[2J\" [x]",
        "anthill: 6 times: Sphere: no \"\\u{1b}[2J\": at a.rib:3:1, 4:1, 5:1, 6:1, 7:1 and elsewhere",
    ];
    assert_eq!(err.lines().take(2).collect::<Vec<_>>(), expected);
    assert!(err.lines().count() == 3 && err.contains("\nanthill: a.exr: "), "{err}");
}

/// Names in the summary and in errors about flags are printed as one line, too.
#[test]
fn names_cannot_forge_lines() {
    let forged = |_: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| {
        let displays = vec![DisplayOutcome { path: "a\nR90000 100%\x1b[2J".into(), state: DisplayState::Whole }];
        Outcome { ending: Ending::Finished, displays, stats: Stats::default() }
    };
    let (_, _, err) = type_in(&directory(), "render SCENE", &Arc::default(), &forged);
    assert!(err.starts_with("anthill: a\\nR90000 100%\\u{1b}[2J: ") && err.lines().count() == 1, "{err}");
    let missing = "anthill: error: cannot read \"DIR/a\\u{7}b\": No such file or directory (os error 2)";
    assert_eq!(error_of("render DIR/a\x07b"), missing);
}

#[test]
fn renders_that_never_began_have_no_summary() {
    for (ending, expected) in [(Ending::WrongUsage, 2), (Ending::NoDevice, 3)] {
        let render = move |_: &RenderOptions, reporter: &Arc<Reporter>, _: &dyn Observer| {
            reporter.error("nodevice", &SourceLocation::default(), "why");
            Outcome { ending, ..finished(&[]) }
        };
        let answer = type_in(&directory(), "render SCENE", &Arc::default(), &render);
        assert_eq!(answer, (expected, String::new(), "anthill: error: why [nodevice]\n".into()));
    }
}

#[test]
fn statistics_and_trace_are_written() {
    let directory = directory();
    let render = |options: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| {
        let now = Instant::now();
        options.trace.track("device 0").slice("region", now, now, &[]);
        finished(&[DisplayState::Whole])
    };
    let line = "render SCENE --stats DIR/stats.json --trace DIR/trace.json";
    assert_eq!(type_in(&directory, line, &Arc::default(), &render).0, 0);
    let json = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(directory.path().join(name)).expect("written");
        serde_json::from_str(&text).expect("valid JSON")
    };
    let stats = json("stats.json");
    assert_eq!(stats["version"], env!("CARGO_PKG_VERSION"));
    assert!(stats["scene"].as_str().is_some_and(|scene| scene.ends_with("/scene.rib")));
    assert_eq!(stats["outputs"][0]["state"], "whole");
    assert!(stats["wall_s"].as_f64().is_some_and(|wall| wall > 0.0));
    assert_eq!(json("trace.json")["traceEvents"][3]["name"], "region");
}

#[test]
fn percent_lines_are_as_farms_read_them() {
    let render = |_: &RenderOptions, reporter: &Arc<Reporter>, observer: &dyn Observer| {
        for frame in [1, 2] {
            let drawn = |drawn| Event::Progress(Progress { activity: Activity::Drawing, drawn });
            observer.notify(Event::WorldBegin { frame: Some(frame) });
            for part in [0.003, 0.006, 0.01, 0.5, 0.5, 0.4, 0.9999] {
                observer.notify(drawn(part));
            }
            reporter.warn("odd", &SourceLocation::default(), format!("frame {frame} is odd"));
            observer.notify(drawn(1.0));
            observer.notify(Event::WorldEnd);
        }
        finished(&[])
    };
    let (_, _, err) = type_in(&directory(), "render SCENE --progress percent", &Arc::default(), &render);
    let world = |frame| {
        let percents = ["R90000    0%", "R90000    1%", "R90000   50%", "R90000   99%"].map(String::from);
        let warning = format!("anthill: warning: frame {frame} is odd [odd]");
        percents.into_iter().chain([warning, "R90000  100%".into()])
    };
    let lines: Vec<String> = err.lines().map(String::from).collect();
    assert_eq!(lines[..12], world(1).chain(world(2)).collect::<Vec<_>>());
    for quiet in ["", "--progress auto", "--progress off", "--progress bar"] {
        let (_, _, err) = type_in(&directory(), &format!("render SCENE {quiet}"), &Arc::default(), &render);
        assert!(!err.contains("R90000") && err.contains("frame 2 is odd"), "{quiet}: {err}");
    }
}

#[test]
fn the_first_interrupt_stops_the_render_and_is_reported_once() {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    let render = move |_: &RenderOptions, _: &Arc<Reporter>, observer: &dyn Observer| {
        let interrupt = observer.interrupt();
        assert!(!interrupt.is_raised());
        flag.store(true, Ordering::Relaxed);
        assert!(interrupt.is_raised());
        Outcome { ending: Ending::Interrupted, ..finished(&[DisplayState::Partial { missing: 1 }]) }
    };
    for (line, says) in [
        ("render SCENE", "(a render with --checkpoint FILE can be continued with --resume)"),
        ("render SCENE --checkpoint DIR/c", "the same command with --resume continues"),
    ] {
        cancelled.store(false, Ordering::Relaxed);
        let (code, _, err) = type_in(&directory(), line, &cancelled, &render);
        assert_eq!(code, 130);
        assert_eq!(err.matches("interrupted: writing what is finished").count(), 1, "{err}");
        assert!(err.contains(says), "{err}");
    }
}

/// An interrupt is reported while the renderer is busy, whatever it does.
#[test]
fn an_interrupt_is_reported_at_once() {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = cancelled.clone();
    let reported = Arc::new(AtomicBool::new(false));
    let heard = reported.clone();
    let console = MessageStream::new(Heard(heard), false);
    let interrupt = Interrupt::from(cancelled);
    let waited = report_interrupt(&interrupt, &console, "interrupted", || {
        flag.store(true, Ordering::Relaxed);
        let begin = Instant::now();
        while !reported.load(Ordering::Relaxed) {
            assert!(begin.elapsed() < Duration::from_secs(20), "the message never comes");
            std::thread::sleep(Duration::from_millis(1));
        }
        begin.elapsed()
    });
    assert!(waited < Duration::from_secs(1), "the message came after {waited:?}");
}

/// A stream that notes whether anything was written.
struct Heard(Arc<AtomicBool>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.store(true, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What takes longer than two seconds is described between percentages, and for how long if it does not change.
#[test]
fn long_activities_are_named_between_percentages() {
    let render = |_: &RenderOptions, _: &Arc<Reporter>, observer: &dyn Observer| {
        let say = |activity: &Activity| {
            observer.notify(Event::Progress(Progress { activity: activity.clone(), drawn: 0.0 }));
        };
        observer.notify(Event::WorldBegin { frame: None });
        let kernel = |waited| Activity::Compiling { kernel: "dice".into(), waited, ready: 3, all: 40 };
        let counting = Activity::Counting { fraction: 0.456, grids: 1200 };
        say(&kernel(Duration::ZERO));
        std::thread::sleep(Duration::from_millis(2050));
        (0..3).for_each(|_| say(&kernel(Duration::from_millis(2050))));
        std::thread::sleep(Duration::from_millis(2050));
        say(&counting);
        std::thread::sleep(Duration::from_millis(2050));
        say(&counting);
        finished(&[])
    };
    let (_, _, err) = type_in(&directory(), "render SCENE --progress percent", &Arc::default(), &render);
    let lines: Vec<&str> = err.lines().take(4).collect();
    let named = "anthill: compiling kernel dice, 2 s (3 of 40 are ready)";
    let counting = "anthill: counting: 45.6%, 1200 grids";
    let still = &*format!("{counting}, for 3 s");
    assert_eq!(lines, ["R90000    0%", named, counting, still]);
}

/// Statistics of a run on one device: `count` regions of 16x16 pixels that take 1 ms for each of their 100
/// micropolygons.
fn statistics_of(count: i32) -> String {
    let region = |i: i32| {
        let (begin_s, device_s) = (f64::from(i) * 0.1, 0.1);
        let px = [16 * i, 0, 16 * i + 16, 16];
        MeasuredRegion { px, begin_s, end_s: begin_s + device_s, device_s, ..MeasuredRegion::default() }
    };
    let row = |value: &str| vec![vec![value; count as usize].join(" ")];
    let cost = CostStats {
        samples: [2, 2],
        micropolygons: row("100"),
        grids: std::array::from_fn(|_| row("1")),
        translucent: row("0"),
        count_jobs: 1,
        in_flight: 2,
        region_subpixels_max: 1 << 24,
        region_grids_max: 1 << 24,
        ..CostStats::default()
    };
    let draw_s = 0.1 * f64::from(count);
    let world = MeasuredWorld {
        crop_px: [0, 0, 16 * count, 16],
        count_s: 0.5,
        draw_s,
        write_s: 0.25,
        regions: (0..count).map(region).collect(),
        cost: Some(cost),
        ..MeasuredWorld::default()
    };
    let devices = vec![MeasuredDevice { name: "one".into(), ..MeasuredDevice::default() }];
    let run = Measured { wall_s: 1.0 + draw_s, open_s: 0.125, devices, worlds: vec![world], ..Measured::default() };
    serde_json::to_string(&run).expect("statistics have string keys")
}

#[test]
fn predictions_are_tables_and_json() {
    let directory = directory();
    for (name, count) in [("few", 3), ("enough", 10)] {
        std::fs::write(directory.path().join(name), statistics_of(count)).expect("writable");
    }
    let render = |_: &RenderOptions, _: &Arc<Reporter>, _: &dyn Observer| panic!("nothing is to be rendered");
    let type_in = |line: &str| type_in(&directory, line, &Arc::default(), &render);
    let (code, out, err) = type_in("predict DIR/enough DIR/enough --devices-max 6");
    assert_eq!((code, &*err), (0, ""));
    let counts: Vec<&str> = out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(counts[counts.len() - 5..], ["devices", "1", "2", "4", "6"], "{out}");
    assert!(out.starts_with("world 1: rates fitted to 10 regions; "), "{out}");
    let (code, out, _) = type_in("predict DIR/enough --speeds 1,4 --json");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let prediction = &json["predictions"][0];
    assert_eq!((code, prediction["devices"].as_array().map(Vec::len)), (0, Some(2)), "{out}");
    assert!(prediction["total_s"].as_f64().is_some_and(|total| total < 2.0), "{out}");
    let (code, out, err) = type_in("predict DIR/few");
    assert_eq!((code, &*out), (1, ""));
    assert!(err.contains("3 measured regions are too few") && err.contains("help: render with --regions 40"), "{err}");
    let (code, _, err) = type_in("predict DIR/few DIR/enough");
    assert!(code == 1 && err.contains("the runs differ"), "{err}");
}

#[test]
fn bad_predictions_are_explained() {
    let cases = [
        ("predict DIR/a.json", "anthill: error: cannot read \"DIR/a.json\": No such file or directory (os error 2)"),
        (
            "predict SCENE",
            "anthill: error: cannot read \"DIR/scene.rib\": it is not a file that `render --stats` wrote: expected value at line 1 column 1",
        ),
        (
            "predict SCENE --speeds 1,0",
            "error: invalid value '1,0' for '--speeds <LIST>': expected speeds such as 1,3 or 1,0.5 (0.001 to 1000000), not \"0\"",
        ),
    ];
    for (line, error) in cases {
        assert_eq!(error_of(line), error, "{line}");
    }
}

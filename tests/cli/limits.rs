//! Limits of the user and of the system: renders end within them, and say why.

use super::textures::write_flat;
use super::{Ran, anthill, directory, run};
use anthill::diagnostic::Reporter;
use anthill::options::{CheckpointOptions, RenderOptions};
use anthill::outcome::Ending;
use anthill::progress::{Event, Interrupt, Observer, ReachedLimit};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Three frames of 64 x 64 pixels, which take 32 KiB each.
fn frames(directory: &Path) {
    let frame = |number: u32| {
        format!(
            "FrameBegin {number}\nDisplay \"{number}.exr\" \"exr\" \"rgba\" \"exrcompression\" [\"none\"]\nFormat 64 64 1\n\
             Projection \"perspective\"\nTranslate 0 0 3\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\nFrameEnd\n"
        )
    };
    fs::write(directory.join("a.rib"), (1..=3).map(frame).collect::<String>()).expect("writable");
}

/// Runs the program in a shell that has set a limit.
fn limited(directory: &Path, limit: &str, args: &[&str]) -> Ran {
    let script = format!("{limit}; exec \"$0\" \"$@\"");
    let output = Command::new("bash")
        .current_dir(directory)
        .args(["-c", &script, env!("CARGO_BIN_EXE_anthill")])
        .args(args)
        .output()
        .expect("there is a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// A loop that would take days ends with the time, and the checkpoint stays.
#[test]
fn the_time_of_a_render_ends_it() {
    let directory = directory();
    let shader = "surface far() { float i, k = s; for (i = 0; i < 1e9; i += 1) k = 1 - k; Ci = k; }";
    fs::write(directory.path().join("far.sl"), shader).expect("writable");
    let scene = "Display \"a.exr\" \"exr\" \"rgba\"\nFormat 32 24 1\nProjection \"perspective\"\nTranslate 0 0 3\n\
                 WorldBegin\nSphere 1 -1 1 360\nWorldEnd\nDisplay \"b.exr\" \"exr\" \"rgba\"\nWorldBegin\nSurface \"far\"\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(directory.path().join("a.rib"), scene).expect("writable");
    let begin = Instant::now();
    let args = ["render", "a.rib", "--devices", "0", "--max-time", "4s", "--checkpoint", "c"];
    let Ran { code, err, .. } = anthill(directory.path(), &args);
    assert_eq!(code, Some(4), "{err}");
    assert_eq!(err.matches("the 4 s of --max-time are over: the render ends").count(), 1, "{err}");
    assert!(err.contains("with --resume continues") && !err.contains("interrupted"), "{err}");
    assert!(begin.elapsed() < Duration::from_secs(14), "{:?}", begin.elapsed());
    assert!(directory.path().join("c").exists());
    // Whoever is in time notices nothing.
    frames(directory.path());
    let Ran { code, err, .. } = anthill(directory.path(), &["render", "a.rib", "--max-time", "10m"]);
    assert!(code == Some(0) && !err.contains("max-time"), "{err}");
}

#[test]
fn the_bytes_of_pictures_end_it() {
    let directory = directory();
    frames(directory.path());
    let args = ["render", "a.rib", "--max-output", "50K", "--checkpoint", "c"];
    let Ran { code, err, .. } = anthill(directory.path(), &args);
    assert_eq!(code, Some(4), "{err}");
    assert!(err.contains("cannot write \"2.exr\": more than --max-output allows"), "{err}");
    assert!(err.contains("the 50.0 KiB of --max-output are used up: the render ends"), "{err}");
    let there = ["1.exr", "2.exr", "3.exr", "c"].map(|name| directory.path().join(name).exists());
    assert_eq!(there, [true, false, false, true]);
    // What was drawn is not drawn again.
    let Ran { code, err, .. } = anthill(directory.path(), &["render", "a.rib", "--checkpoint", "c", "--resume"]);
    let there = ["1.exr", "2.exr", "3.exr", "c"].map(|name| directory.path().join(name).exists());
    assert_eq!((code, there), (Some(0), [true, true, true, false]), "{err}");
    assert!(err.contains("4096 of 4096 pixels of world 2 were drawn by an earlier run"), "{err}");
}

/// What is made besides pictures counts before it replaces anything.
#[test]
fn the_bytes_of_textures_points_and_maps_end_it() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    write_flat(&at("a.png"), 64, png::ColorType::Grayscale);
    fs::write(at("put.sl"), "surface put() { bake3d(\"new\", \"c\", P, N, \"c\", Cs); Ci = Cs; }").expect("writable");
    let world = |begin: &str| {
        format!(
            "Format 16 16 1\nDisplay \"a.exr\" \"exr\" \"rgb\"\nProjection \"orthographic\"\nTranslate 0 0 3\nWorldBegin\n\
             {begin}\nSphere 1 -1 1 360\nWorldEnd\n"
        )
    };
    let light = "Attribute \"autoshadows\" \"string shadowmapname\" [\"new\"]\nLightSource \"distantlight\" 1 \"to\" [0 0 1]\n\
                 Surface \"matte\"";
    let texture = "MakeTexture \"a.png\" \"new\" \"black\" \"black\" \"box\" 1 1\n".to_owned();
    for scene in [texture + &world(""), world("Surface \"put\""), world(light)] {
        fs::write(at("a.rib"), &scene).expect("writable");
        fs::write(at("new"), "an older file").expect("writable");
        let Ran { code, err, .. } = anthill(directory.path(), &["render", "a.rib", "--max-output", "1K"]);
        assert_eq!(code, Some(4), "{scene}{err}");
        assert!(err.contains("the 1.0 KiB of --max-output are used up: the render ends"), "{scene}{err}");
        assert_eq!(fs::read(at("new")).expect("it stays"), b"an older file", "{scene}{err}");
    }
}

/// Where the system limits the size of files (`ulimit -f`, in KiB), the message names the file.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_may_not_grow_is_reported() {
    let directory = directory();
    frames(directory.path());
    let Ran { code, err, .. } = limited(directory.path(), "ulimit -f 16", &["render", "a.rib", "--frames", "1"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("cannot write \"1.exr\": ") && !directory.path().join("1.exr").exists(), "{err}");
}

/// Textures that are not read at the moment are closed for others, and for the picture.
#[cfg(target_os = "linux")]
#[test]
fn few_files_may_be_open() {
    const TEXTURES: u32 = 48;
    let directory = directory();
    let at = |name: String| directory.path().join(name);
    write_flat(&at("t.png".into()), 4, png::ColorType::Rgb);
    assert_eq!(anthill(directory.path(), &["texture", "make", "t.png", "-o", "t0.tex"]).code, Some(0));
    for number in 1..TEXTURES {
        fs::copy(at("t0.tex".into()), at(format!("t{number}.tex"))).expect("writable");
    }
    let lookups: String = (0..TEXTURES).map(|number| format!("Ci += texture(\"t{number}.tex\", s, t);\n")).collect();
    fs::write(at("many.sl".into()), format!("surface many() {{ Ci = 0;\n{lookups} }}")).expect("writable");
    let scene = "Display \"a.exr\" \"exr\" \"rgba\"\nFormat 16 16 1\nWorldBegin\nSurface \"many\"\n\
                 Polygon \"P\" [-1 -1 1 1 -1 1 1 1 1 -1 1 1]\nWorldEnd\n";
    fs::write(at("a.rib".into()), scene).expect("writable");
    let Ran { code, err, .. } = limited(directory.path(), "ulimit -n 32", &["render", "a.rib", "--devices", "0"]);
    assert!(code == Some(0) && !err.contains("error") && !err.contains("warning"), "{err}");
    assert!(at("a.exr".into()).exists());
}

/// Pipes where the program keeps files of its own are not waited for.
#[cfg(target_os = "linux")]
#[test]
fn pipes_in_the_cache_hang_nothing() {
    let directory = directory();
    frames(directory.path());
    let cache = directory.path().join("cache");
    let render = || {
        let args = ["render", "a.rib", "--frames", "1", "--calibrate-after", "60m"];
        run(directory.path(), &args, &[("XDG_CACHE_HOME", cache.as_os_str())], "")
    };
    assert_eq!(render().code, Some(0));
    let picture = fs::read(directory.path().join("1.exr")).expect("drawn");
    let script = "find cache/anthill -type f -exec rm {} \\; -exec mkfifo {} \\; ; mkfifo cache/anthill/pipelines.json";
    let pipes = Command::new("sh").current_dir(directory.path()).args(["-c", script]).status();
    assert!(pipes.expect("there is a shell").success());
    let Ran { code, err, .. } = render();
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.contains("pipelines.json\" cannot be read") && err.contains("is a pipe or a device, not a file"),
        "{err}"
    );
    assert!(fs::read(directory.path().join("1.exr")).expect("drawn") == picture);
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo").success());
    let args = ["render", "a.rib", "--checkpoint", "pipe"];
    let Ran { code, err, .. } = run(directory.path(), &args, &[("XDG_CACHE_HOME", OsStr::new("/nonexistent"))], "");
    assert!(code == Some(2) && err.contains("pipe"), "{err}");
}

/// Twenty million points are counted before any is read.
#[test]
fn files_of_points_obey_the_limit_of_memory() {
    let directory = directory();
    let at = |name: &str| directory.path().join(name);
    let header = "ply\nformat binary_little_endian 1.0\nelement vertex 20000000\nproperty float x\nproperty float y\n\
                  property float z\nend_header\n";
    fs::write(at("sparse.ptc"), header).expect("writable");
    let file = fs::File::options().write(true).open(at("sparse.ptc")).expect("it is there");
    file.set_len(240_000_200).expect("disks have files with holes");
    let shader = "surface t3() { color c = 0; texture3d(\"sparse.ptc\", P, N, \"Cs\", c); Ci = c; }";
    fs::write(at("t3.sl"), shader).expect("writable");
    let scene = "Display \"a.exr\" \"exr\" \"rgba\"\nFormat 16 16 1\nProjection \"perspective\"\nTranslate 0 0 5\nWorldBegin\n\
                 Surface \"t3\"\nSphere 1 -1 1 360\nWorldEnd\n";
    fs::write(at("a.rib"), scene).expect("writable");
    let Ran { err, .. } = anthill(directory.path(), &["render", "a.rib", "--host-memory", "64M"]);
    assert!(
        err.contains("its 20000000 points are too many") && err.contains("64.0 MiB that --host-memory allows"),
        "{err}"
    );
    assert!(at("a.exr").exists());
}

/// Of what was not read in time nothing is known.
#[test]
fn a_render_that_ends_while_it_is_read_does_not_say_what_is_missing() {
    let directory = directory();
    frames(directory.path());
    let frames = fs::read_to_string(directory.path().join("a.rib")).expect("it is there");
    for scene in [format!("{frames}ReadArchive \"|sleep 20\"\n"), "ReadArchive \"|sleep 20\"\n".into()] {
        fs::write(directory.path().join("a.rib"), &scene).expect("writable");
        let args = ["render", "a.rib", "--allow-programs", "--max-time", "1s", "--frames", "50"];
        let Ran { code, err, .. } = anthill(directory.path(), &args);
        assert_eq!(code, Some(4), "{err}");
        assert!(err.contains("the 1 s of --max-time are over") && !err.contains("names no frame"), "{err}");
        assert!(!err.contains("has no world"), "{err}");
    }
}

/// The time is over when a world ends.
#[derive(Default)]
struct TimeOfOneWorld(Interrupt);

impl Observer for TimeOfOneWorld {
    fn notify(&self, event: Event) {
        if event == Event::WorldEnd {
            self.0.raise_at(ReachedLimit::Time);
        }
    }

    fn interrupt(&self) -> Interrupt {
        self.0.clone()
    }
}

#[test]
fn a_render_whose_time_ends_when_nothing_is_left_is_finished() {
    let directory = directory();
    let world = |name: &str| {
        let name = directory.path().join(name);
        format!(
            "Display \"{}\" \"exr\" \"rgb\"\nFormat 8 8 1\nWorldBegin\nSphere 1 -1 1 360\nWorldEnd\n",
            name.display()
        )
    };
    let (scene, path) = (directory.path().join("a.rib"), directory.path().join("c"));
    for (text, ending) in [(world("a.exr"), Ending::Finished), (world("a.exr") + &world("b.exr"), Ending::LimitReached)]
    {
        fs::write(&scene, text).expect("writable");
        let checkpoint = CheckpointOptions { path: path.clone(), interval: Duration::from_secs(30), resume: false };
        let options = RenderOptions {
            scenes: vec![scene.clone()],
            devices: "0".into(),
            checkpoint: Some(checkpoint),
            ..RenderOptions::default()
        };
        let outcome = anthill::render(&options, &Arc::new(Reporter::silent()), &TimeOfOneWorld::default());
        assert_eq!((outcome.ending, path.exists()), (ending, ending != Ending::Finished));
    }
}

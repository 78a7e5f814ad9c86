//! Renders that are killed, interrupted, and resumed: the picture has the bits of a render that was never stopped.

use crate::determinism::{make_texture, modelled};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Two frames: one that is drawn at once, and one with layers of noise that takes a while. The second has two displays.
static SCENE: LazyLock<String> = LazyLock::new(|| BEGIN.to_owned() + &modelled() + "WorldEnd\nFrameEnd\n");

const BEGIN: &str = "PixelSamples 3 3\nProjection \"perspective\" \"fov\" [40]\nTranslate 0 0 6\n\
    FrameBegin 1\nFormat 16 16 1\nDisplay \"first.exr\" \"exr\" \"rgba\"\n\
    WorldBegin\nSphere 1 -1 1 360\nWorldEnd\nFrameEnd\n\
    FrameBegin 2\nFormat 320 240 1\nDisplay \"second.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\n\
    Display \"+n.exr\" \"exr\" \"varying normal N\"\nWorldBegin\nLightSource \"distantlight\" 1\nSurface \"spots\"\n\
    Color [0.9 0.6 0.3]\nOpacity [0.5 0.6 0.7]\nSphere 2 -2 2 360\nRotate 40 1 1 0\nSphere 1.5 -1.5 1.5 360\n\
    Cone 2 1 360\nTorus 1.5 0.6 0 360 360\n";

const SHADER: &str = "surface spots(float size = 4;) { float n = float noise(P * size); Oi = Os * n; \
    Ci = Oi * Cs * (color noise(P * 7) + diffuse(normalize(N))); }";

/// A texture anywhere at each vertex.
const GRAIN: &str = "surface spots(string map = \"\";) { Oi = Os; \
    Ci = Oi * Cs * (color texture(map, float cellnoise(s * 90), float cellnoise(t * 90)) + diffuse(normalize(N))); }";

const PICTURES: [&str; 3] = ["first.exr", "second.exr", "n.exr"];
const CHECKPOINT: &str = "a.ckpt";
/// The folder for temporary files.
const TEMPORARY: &str = "tmp";
/// Nothing that is waited for here takes longer.
const DEADLINE: Duration = Duration::from_secs(60);

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self::with(&SCENE)
    }

    fn with(scene: &str) -> Self {
        let place = Self(tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir(place.path(TEMPORARY)).expect("writable");
        fs::write(place.path("a.rib"), scene).expect("writable");
        fs::write(place.path("spots.sl"), SHADER).expect("writable");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A render on one device. Perturbed, so that a picture is many regions, each late.
    fn command(&self, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
        command.current_dir(self.0.path()).args(["render", "a.rib", "--devices", "0"]).args(flags);
        command
            .env("ANTHILL_PERTURB", "5")
            // Mesa's driver for CPUs then computes on the thread that submits, which takes a third off these renders.
            .env("LP_NUM_THREADS", "0")
            .env("TMPDIR", self.path(TEMPORARY))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    fn render(&self, flags: &[&str]) -> (Option<i32>, String) {
        let Output { status, stderr, .. } = self.command(flags).output().expect("the binary runs");
        let err = String::from_utf8_lossy(&stderr).into_owned();
        assert!(!err.contains("[validation]"), "{err}");
        (status.code(), err)
    }

    fn resume(&self) -> (Option<i32>, String) {
        self.render(&["--checkpoint", CHECKPOINT, "--resume"])
    }

    /// Begins a render and waits until it has written a checkpoint with pixels of the second frame.
    fn begin(&self) -> Running {
        let flags = ["--checkpoint", CHECKPOINT, "--checkpoint-interval", "0.02"];
        let mut running = Running(self.command(&flags).spawn().expect("the binary runs"));
        let begin = Instant::now();
        while !fs::read(self.path(CHECKPOINT)).is_ok_and(|bytes| holds_pixels(&bytes)) {
            assert!(running.0.try_wait().expect("a child").is_none(), "the render ended before its first checkpoint");
            assert!(begin.elapsed() < DEADLINE, "no checkpoint is written");
            sleep(Duration::from_millis(2));
        }
        running
    }

    fn pictures(&self) -> Vec<Vec<u8>> {
        PICTURES.iter().map(|name| fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))).collect()
    }

    fn forget_pictures(&self) {
        PICTURES.iter().for_each(|name| drop(fs::remove_file(self.path(name))));
    }

    /// What is there besides the scene.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
        let given = ["a.rib", "spots.sl", TEMPORARY];
        let mut names: Vec<String> = names.filter(|name| !given.contains(&name.as_str())).collect();
        names.sort();
        names
    }
}

/// A child that does not outlive its test.
struct Running(Child);

impl Running {
    /// Waits for its end, and returns its exit code and what it said.
    fn end(mut self) -> (Option<i32>, String) {
        let mut err = String::new();
        self.0.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        (self.0.wait().expect("a child").code(), err)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // SIGKILL. Both fail when it has ended, which is well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn holds_pixels(checkpoint: &[u8]) -> bool {
    let text = b"\"current\":2";
    checkpoint.windows(text.len()).any(|window| window == text)
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
    names.sort();
    names
}

/// Its second frame begins left of the picture and above it.
#[test]
fn a_killed_render_goes_on_with_the_same_bits() {
    let overscan = "Option \"image\" \"overscan\" 1\nCropWindow -0.1 0.9 -0.05 1\nFormat 320";
    goes_on_with_the_same_bits(&Place::with(&SCENE.replace("Format 320", overscan)), &[0, 150, 400]);
}

/// A light's own maps have other names in each run; those of the killed one are removed by the next.
#[test]
fn a_killed_render_with_shadow_maps_of_its_own_goes_on_with_the_same_bits() {
    let own =
        "Attribute \"light\" \"string shadows\" \"on\"\nAttribute \"autoshadows\" \"int[2] res\" [64 64]\nLightSource";
    let place = Place::with(&SCENE.replace("LightSource", own));
    goes_on_with_the_same_bits(&place, &[0]);
    assert_eq!(fs::read_dir(place.path(TEMPORARY)).expect("a folder").count(), 0, "temporary files are left");
}

/// What was drawn before looked up the same texture.
#[test]
fn a_killed_render_with_textures_goes_on_with_the_same_bits() {
    let place = Place::with(&SCENE.replace("Surface \"spots\"", "Surface \"spots\" \"string map\" [\"tmp/grain.tx\"]"));
    fs::write(place.path("spots.sl"), GRAIN).expect("writable");
    make_texture(&place.path(TEMPORARY), "grain.tx", [320, 256]);
    goes_on_with_the_same_bits(&place, &[0, 150]);
}

/// The second frame's pixels are not saved, because what they baked is not: it is drawn again.
#[test]
fn a_killed_render_bakes_the_same_points() {
    let place = Place::new();
    let baker = SHADER.replace("{ float n", "{ bake3d(\"a.ply\", \"\", P, N, \"c\", Cs); float n");
    fs::write(place.path("spots.sl"), baker).expect("writable");
    let (code, err) = place.render(&[]);
    assert_eq!(code, Some(0), "{err}");
    let bytes = || fs::read(place.path("a.ply")).expect("it is baked");
    let expected = (place.pictures(), bytes());
    place.forget_pictures();
    fs::remove_file(place.path("a.ply")).expect("it is there");
    let flags = ["--checkpoint", CHECKPOINT, "--checkpoint-interval", "0.02"];
    let running = Running(place.command(&flags).spawn().expect("the binary runs"));
    let begin = Instant::now();
    while !place.path("first.exr").exists() {
        assert!(begin.elapsed() < DEADLINE, "the first frame is not written");
        sleep(Duration::from_millis(2));
    }
    sleep(Duration::from_millis(150));
    drop(running);
    assert!(!place.path("a.ply").exists(), "the render was too fast for this test");
    let (code, err) = place.resume();
    assert_eq!(code, Some(0), "{err}");
    assert!((place.pictures(), bytes()) == expected, "other bits");
}

/// Compares a render that is killed so long after its first checkpoint with one that is not.
fn goes_on_with_the_same_bits(place: &Place, later_ms: &[u64]) {
    let (code, err) = place.render(&["--validate"]);
    assert_eq!(code, Some(0), "{err}");
    let expected = place.pictures();
    for &later_ms in later_ms {
        place.forget_pictures();
        let running = place.begin();
        sleep(Duration::from_millis(later_ms));
        drop(running);
        let killed_early = place.path(CHECKPOINT).exists();
        assert!(killed_early || later_ms > 0, "the render was too fast for this test");
        let (code, err) = place.resume();
        assert_eq!(code, Some(0), "{err}");
        if killed_early {
            assert!(err.contains("world 1 was drawn and written by an earlier run"), "{err}");
            assert!(err.contains(" pixels of world 2 were drawn by an earlier run"), "{err}");
        }
        assert!(place.pictures() == expected, "killed after {later_ms} ms: other bits");
        assert_eq!(place.files(), sorted(&PICTURES), "nothing else is left");
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused_and_left_alone() {
    let place = Place::new();
    let running = place.begin();
    let (code, err) = place.resume();
    assert!(code == Some(2) && err.contains("\"a.ckpt\": another render is using it"), "{err}");
    drop(running);
    place.forget_pictures();
    let kept = fs::read(place.path(CHECKPOINT)).expect("a checkpoint");
    let changed = "the scene, its shaders or the flags have changed since it was written";
    let refused = |flags: &[&str], why: &str| {
        let (code, err) = place.render(&[&["--checkpoint", CHECKPOINT, "--resume"], flags].concat());
        assert!(code == Some(2) && err.contains(why), "{flags:?} {code:?}: {err}");
        assert!(fs::read(place.path(CHECKPOINT)).is_ok_and(|now| now == kept), "{flags:?}: the file is another one");
        assert!(PICTURES.iter().all(|name| !place.path(name).exists()), "{flags:?}: something was drawn");
    };
    refused(&["--samples", "2", "3"], changed);
    refused(&["--frames", "2"], changed);
    fs::write(place.path("a.rib"), SCENE.replace("Sphere 1 ", "Sphere 1.01 ")).expect("writable");
    refused(&[], changed);
    fs::write(place.path("a.rib"), &*SCENE).expect("writable");

    let mut torn = kept.clone();
    torn[kept.len() / 2] ^= 1;
    fs::write(place.path(CHECKPOINT), torn).expect("writable");
    let (code, err) = place.resume();
    assert!(code == Some(2) && err.contains("\"a.ckpt\": it is damaged"), "{err}");

    // The first frame's picture is gone: it is drawn again. The second's shader has changed by then.
    fs::write(place.path(CHECKPOINT), kept).expect("writable");
    fs::write(place.path("spots.sl"), SHADER.replace("* 7", "* 8")).expect("writable");
    let (code, err) = place.resume();
    assert!(code == Some(2) && err.contains("(world 2 differs)") && place.path("first.exr").exists(), "{err}");
    fs::write(place.path("spots.sl"), SHADER).expect("writable");
    let (code, err) = place.resume();
    assert!(code == Some(0) && err.contains(" pixels of world 2 were drawn by an earlier run"), "{err}");
}

/// Interrupts the second frame when some of it is finished. What was said after that.
#[cfg(unix)]
fn interrupted(place: &Place, flags: &[&str]) -> String {
    interrupt(place.command(flags), 1, 30)
}

/// Draws until so much of a picture, counted from 0, is finished, and interrupts that. What was said after that.
#[cfg(unix)]
fn interrupt(mut command: Command, picture: usize, least_percent: u32) -> String {
    command.args(["--progress", "percent", "--stats", "stats.json"]);
    let mut running = Running(command.spawn().expect("the binary runs"));
    let mut lines = BufReader::new(running.0.stderr.take().expect("a pipe")).lines().map(|line| line.expect("text"));
    let percent = |line: &str| line.strip_prefix("R90000")?.trim().strip_suffix('%')?.parse::<u32>().ok();
    // Each picture begins with none.
    assert!(lines.by_ref().filter(|line| percent(line) == Some(0)).nth(picture).is_some(), "it is not begun");
    assert!(lines.by_ref().any(|line| percent(&line) >= Some(least_percent)), "nothing of it is finished");
    let interrupt = ["-INT".to_owned(), running.0.id().to_string()];
    assert!(Command::new("kill").args(interrupt).status().expect("there is kill").success());
    let said: Vec<String> = lines.filter(|line| percent(line).is_none()).collect();
    let said = said.join("\n");
    assert_eq!(running.0.wait().expect("a child").code(), Some(130), "{said}");
    assert!(said.contains("interrupted: writing what is finished"), "{said}");
    said
}

/// Colour and alpha of each pixel of a picture.
#[cfg(unix)]
fn pixels(path: &Path) -> Vec<[f32; 4]> {
    let layer = exr::prelude::read_first_flat_layer_from_file(path).expect("a picture").layer_data;
    let channel = |name: &str| {
        let channel = layer.channel_data.list.iter().find(|channel| channel.name.eq(name)).expect("there is one");
        channel.sample_data.values_as_f32().collect::<Vec<f32>>()
    };
    let [red, green, blue, alpha] = ["R", "G", "B", "A"].map(channel);
    (0..red.len()).map(|i| [red[i], green[i], blue[i], alpha[i]]).collect()
}

/// A picture that says it is partial has all pixels that were finished, as they are in the whole one.
#[cfg(unix)]
fn is_partial(place: &Place, said: &str, whole: &[[f32; 4]]) {
    let note = said.split("\"second.exr\" is partial: ").nth(1).unwrap_or_else(|| panic!("it is not told: {said}"));
    let missing: usize = note.split(' ').next().and_then(|count| count.parse().ok()).expect("a count");
    let partial = pixels(&place.path("second.exr"));
    let differ = partial.iter().zip(whole).filter(|(a, b)| a != b);
    assert!(differ.clone().all(|(pixel, _)| *pixel == [0.0; 4]), "a pixel that is there is another one");
    let (lost, there) = (differ.count(), partial.iter().filter(|pixel| **pixel != [0.0; 4]).count());
    assert!((1..=missing).contains(&lost) && there > 0, "{lost} lost, {missing} told, {there} there");
    assert_eq!(partial.len(), whole.len());
    let stats = fs::read(place.path("stats.json")).expect("statistics");
    let stats: serde_json::Value = serde_json::from_slice(&stats).expect("JSON");
    let second = stats["outputs"].as_array().and_then(|list| list.iter().find(|o| o["file"] == "second.exr"));
    let second = second.unwrap_or_else(|| panic!("{}", stats["outputs"]));
    assert_eq!((&second["state"], &second["missing_pixels"]), (&"partial".into(), &missing.into()));
}

/// Ctrl-C writes all that was finished, and keeps it however long the interval is.
#[cfg(unix)]
#[test]
fn an_interrupted_render_writes_what_is_finished_and_can_be_resumed() {
    let place = Place::new();
    let (code, err) = place.render(&[]);
    assert_eq!(code, Some(0), "{err}");
    let (expected, whole) = (place.pictures(), pixels(&place.path("second.exr")));
    place.forget_pictures();
    is_partial(&place, &interrupted(&place, &[]), &whole);
    assert_eq!(place.files(), sorted(&[&PICTURES[..], &["stats.json"]].concat()), "no checkpoint was asked for");

    place.forget_pictures();
    is_partial(&place, &interrupted(&place, &["--checkpoint", CHECKPOINT]), &whole);
    assert!(place.path(CHECKPOINT).exists(), "{:?}", place.files());
    fs::remove_file(place.path("stats.json")).expect("it is there");
    let (code, err) = place.resume();
    assert!(code == Some(0) && err.contains("world 1 was drawn and written by an earlier run"), "{err}");
    assert!(err.contains(" pixels of world 2 were drawn by an earlier run") && !err.contains("note: 0 of"), "{err}");
    assert!(place.pictures() == expected, "other bits");
    assert_eq!(place.files(), sorted(&PICTURES));
}

/// The depths that a light's own map is made of are nobody's picture.
#[cfg(unix)]
#[test]
fn an_interrupted_map_of_a_light_is_not_named() {
    let own = "Attribute \"light\" \"string shadows\" \"on\"\nAttribute \"autoshadows\" \"int[2] res\" [512 512]\nLightSource";
    let place = Place::with(&SCENE.replace("LightSource", own));
    // The first frame has no light, so the second picture is the map.
    let said = interrupt(place.command(&[]), 1, 5);
    assert!(!said.contains("0.z") && !said.contains("casts no shadow"), "{said}");
    assert_eq!(fs::read_dir(place.path(TEMPORARY)).expect("a folder").count(), 0, "temporary files are left");
}

/// A picture that would be one region, of which nothing is finished before its end, is cut for its checkpoint.
#[cfg(unix)]
#[test]
fn an_interrupted_region_keeps_what_its_interval_says() {
    let place = Place::new();
    let plain = |flags: &[&str]| {
        let mut command = place.command(flags);
        command.env_remove("ANTHILL_PERTURB");
        command
    };
    let Output { status, stderr, .. } = plain(&["--stats", "stats.json"]).output().expect("the binary runs");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let stats = fs::read(place.path("stats.json")).expect("statistics");
    let stats: serde_json::Value = serde_json::from_slice(&stats).expect("JSON");
    assert_eq!(stats["worlds"][1]["regions"].as_array().map(Vec::len), Some(1), "without a checkpoint");
    let (expected, whole) = (place.pictures(), pixels(&place.path("second.exr")));
    place.forget_pictures();
    let flags = ["--checkpoint", CHECKPOINT, "--checkpoint-interval", "0.1"];
    is_partial(&place, &interrupt(plain(&flags), 1, 30), &whole);
    let (code, err) = place.resume();
    assert!(code == Some(0) && err.contains(" pixels of world 2 were drawn by an earlier run"), "{err}");
    assert!(!err.contains("note: 0 of"), "{err}");
    assert!(place.pictures() == expected, "other bits");
}

/// What is finished goes beside older whole pictures, until there are new ones.
#[cfg(unix)]
#[test]
fn an_interrupted_render_leaves_older_pictures_alone() {
    let place = Place::new();
    assert_eq!(place.render(&[]).0, Some(0));
    let older = place.pictures();
    let said = interrupted(&place, &[]);
    assert!(said.contains("\"second.exr.partial\" is partial: "), "{said}");
    assert!(place.pictures() == older, "an older picture is lost");
    let beside = ["second.exr.partial", "n.exr.partial", "stats.json"];
    assert_eq!(place.files(), sorted(&[&PICTURES[..], &beside].concat()));
    assert_eq!(place.render(&[]).0, Some(0));
    assert_eq!(place.files(), sorted(&[&PICTURES[..], &["stats.json"]].concat()));
}

#[test]
fn what_cannot_be_a_checkpoint_is_known_before_drawing() {
    let place = Place::new();
    let refused = |name: &str, why: &str| {
        let (code, err) = place.render(&["--checkpoint", name]);
        assert!(code == Some(2) && err.contains(why), "{name} {code:?}: {err}");
    };
    refused("no/such/a.ckpt", "\"no/such/a.ckpt\": cannot write it: there is no such directory");
    refused("a.rib", "\"a.rib\" (the file of --checkpoint) is the same file as \"a.rib\" (the scene)");
    refused("spots.sl", "\"spots.sl\": the file exists and is not a checkpoint");
    refused(".", "is a directory");
    if Path::new("/dev/null").exists() {
        refused("/dev/null", "the file exists and is not a checkpoint");
    }
    assert_eq!(place.files(), [""; 0]);
    let (code, err) = place.render(&["--frames", "1", "--checkpoint", CHECKPOINT, "--resume"]);
    assert!(
        code == Some(0) && err.contains("note: there is no checkpoint \"a.ckpt\": starting from the beginning"),
        "{err}"
    );
    assert_eq!(place.files(), ["first.exr"]);
}

/// As on a full disk: once the render has begun, its checkpoint is removed, and a folder takes the place of the file
/// that would replace it.
#[test]
fn a_checkpoint_that_cannot_be_written_later_is_a_warning() {
    let place = Place::new();
    let running = place.begin();
    let begin = Instant::now();
    while fs::create_dir(place.path("a.ckpt.part")).is_err() {
        assert!(begin.elapsed() < DEADLINE, "the next checkpoint is always being written");
    }
    fs::remove_file(place.path(CHECKPOINT)).expect("it was written");
    let (code, err) = running.end();
    assert!(code == Some(0) && err.matches("warning: cannot write the checkpoint \"a.ckpt\"").count() == 1, "{err}");
    assert_eq!(place.pictures().len(), PICTURES.len());
}

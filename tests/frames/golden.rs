//! Every scene of `scenes/tests` that draws something, compared with the picture that was last approved.

use super::{FramePicture, ReportedMessage, draw};
use std::path::{Path, PathBuf};

/// Set to 1, it writes the goldens instead of comparing with them.
const RENEW: &str = "ANTHILL_RENEW_GOLDENS";
/// Most that a picture may differ in the mean of its values.
const MEAN_MAX: f64 = 0.001;
/// Most that any value may differ, in relation to the golden's value or to 1, whichever is larger: four steps of a half
/// float. CPU drivers (Mesa 22.3.6 and 25.0.7) draw the same bits, and GPUs differ by a step here and there. A sample
/// that sees something else differs by more.
const VALUE_MAX: f64 = 1.0 / 256.0;
/// A golden's size at most.
const BYTES_MAX: u64 = 20 << 10;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Files of a folder with an extension, by name.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a file").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|own| own == extension)).collect();
    paths.sort();
    paths
}

/// Draws scenes and returns the messages. Those that expect none are one stream, each in a frame block that hides its
/// options from the next: one process then compiles each kernel once. The others are drawn alone.
fn draw_all(drawn: &Path, scenes: &[PathBuf]) -> Vec<ReportedMessage> {
    let is_alone = |scene: &PathBuf| {
        let text = std::fs::read(scene).expect("a scene");
        let text = String::from_utf8_lossy(&text);
        ["# error: ", "# warning: ", "# drawn: ", "FrameBegin"].iter().any(|word| text.contains(word))
    };
    let (alone, silent): (Vec<&PathBuf>, Vec<&PathBuf>) = scenes.iter().partition(|scene| is_alone(scene));
    let block = |name: &str, text: &str| {
        let path = drawn.join(name);
        std::fs::write(&path, text).expect("writable");
        path
    };
    let (begin, end) = (block("begin.rib", "FrameBegin 1\n"), block("end.rib", "FrameEnd\n"));
    let stream: Vec<&PathBuf> = silent.iter().flat_map(|scene| [&begin, *scene, &end]).collect();
    let mut said = draw(drawn, &stream);
    said.extend(alone.into_iter().flat_map(|scene| draw(drawn, std::slice::from_ref(scene))));
    said
}

/// Whether a scene says in the comments above the line of a message that it must come (`# error: CODE text`, `#
/// warning: CODE text`; `# drawn: CODE text` for what is found out only by drawing).
fn is_expected(said: &ReportedMessage, scenes: &[PathBuf]) -> bool {
    let mut parts = said.place.rsplitn(3, ':');
    let (_, line, file) = (parts.next(), parts.next(), parts.next());
    let (Some(line), Some(file)) = (line.and_then(|l| l.parse::<usize>().ok()), file) else { return false };
    let Some(scene) = scenes.iter().find(|scene| file.ends_with(&*scene.to_string_lossy())) else { return false };
    let text = std::fs::read_to_string(scene).expect("a scene");
    let above: Vec<&str> = text.lines().take(line.saturating_sub(1)).collect();
    let comments = above.iter().rev().take_while(|line| line.starts_with("# "));
    comments
        .filter_map(|comment| comment.split_once(": ")?.1.split_once(' '))
        .any(|(code, text)| said.code == code && said.message.contains(text))
}

/// How much the values of two pictures differ.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Difference {
    mean: f64,
    /// The largest difference in relation to the golden's value or to 1, whichever is larger.
    largest: f64,
}

/// Compares all values of a picture with those of its golden. Both being infinite is no difference.
fn difference(drawn: &FramePicture, golden: &FramePicture) -> Result<Difference, String> {
    let shape = |p: &FramePicture| {
        let names: Vec<&String> = p.channels.iter().map(|(name, _)| name).collect();
        format!("{}x{} {names:?}", p.width, p.height)
    };
    if shape(drawn) != shape(golden) {
        return Err(format!("{} instead of {}", shape(drawn), shape(golden)));
    }
    let values = |p: &FramePicture| p.channels.iter().flat_map(|(_, values)| values.clone()).collect::<Vec<f32>>();
    let (drawn, golden) = (values(drawn), values(golden));
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for (&value, &wanted) in drawn.iter().zip(&golden).filter(|(value, wanted)| value != wanted) {
        let off = f64::from((value - wanted).abs());
        if !off.is_finite() {
            return Err("a value that is not finite".into());
        }
        sum += off;
        largest = largest.max(off / f64::from(wanted.abs()).max(1.0));
    }
    Ok(Difference { mean: sum / golden.len() as f64, largest })
}

/// Says what is wrong with a picture.
fn fault(drawn: &FramePicture, golden: &FramePicture) -> Option<String> {
    match difference(drawn, golden) {
        Err(message) => Some(message),
        Ok(Difference { mean, largest }) => (mean > MEAN_MAX || largest > VALUE_MAX)
            .then(|| format!("differs by {mean:.5} in the mean, {largest:.4} of a value at most")),
    }
}

fn renew(drawn: &Path, golden: &Path) -> Option<String> {
    let size = std::fs::copy(drawn, golden).expect("writable");
    (size > BYTES_MAX).then(|| format!("{}: {size} bytes are too many", golden.display()))
}

fn compare(drawn: &Path, golden: &Path) -> Option<String> {
    let name = golden.file_name()?.to_string_lossy().into_owned();
    if !golden.is_file() {
        return Some(format!("{name}: there is no golden; {RENEW}=1 writes it"));
    }
    fault(&FramePicture::read(drawn), &FramePicture::read(golden)).map(|message| format!("{name}: {message}"))
}

#[test]
fn scenes_match_their_goldens() {
    let scenes = files(&folder("scenes/tests"), "rib");
    assert!(scenes.len() > 100, "{} scenes", scenes.len());
    let renewing = std::env::var(RENEW).is_ok_and(|value| value == "1");
    let drawn = tempfile::tempdir().expect("a temporary directory");
    let mut faults: Vec<String> = draw_all(drawn.path(), &scenes)
        .iter()
        .filter(|said| !is_expected(said, &scenes))
        .map(|said| format!("{}: {} [{}]", said.place, said.message, said.code))
        .collect();
    let goldens = folder("tests/frames/golden");
    let pictures = files(drawn.path(), "exr");
    for picture in &pictures {
        let golden = goldens.join(picture.file_name().expect("a name"));
        faults.extend(if renewing { renew(picture, &golden) } else { compare(picture, &golden) });
    }
    for golden in files(&goldens, "exr") {
        let name = golden.file_name().expect("a name");
        if !drawn.path().join(name).is_file() {
            faults.push(format!("{}: no scene draws it", name.to_string_lossy()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn differences_are_found() {
    let picture = |values: &[f32]| FramePicture { width: 2, height: 1, channels: vec![("A".into(), values.to_vec())] };
    let a = picture(&[0.0, f32::INFINITY]);
    assert_eq!(difference(&a, &a), Ok(Difference { mean: 0.0, largest: 0.0 }));
    let half_off = Difference { mean: 0.25, largest: 0.5 };
    assert_eq!(difference(&picture(&[1.0, 0.0]), &picture(&[0.5, 0.0])), Ok(half_off));
    assert_eq!(difference(&picture(&[8.5, 1.0]), &picture(&[8.0, 1.0])).map(|d| d.largest), Ok(0.0625));
    assert!(difference(&a, &picture(&[0.0, 1.0])).is_err() && difference(&a, &picture(&[0.0, f32::NAN])).is_err());
    let other = FramePicture { channels: vec![("Z".into(), vec![0.0, f32::INFINITY])], ..a.clone() };
    assert!(difference(&a, &other).is_err_and(|message| message.contains("\"Z\"")));
}

/// The mean of a picture of 64x64 pixels does not show them.
#[test]
fn a_few_wrong_values_fail() {
    const SIDE: usize = 64;
    let grey = |wrong: usize, by: f32| {
        let channel = |name: &str| (name.to_owned(), vec![0.5; SIDE * SIDE]);
        let mut channels: Vec<_> = ["R", "G", "B", "A"].map(channel).into();
        channels[1].1[..wrong].fill(0.5 + by);
        FramePicture { width: SIDE, height: SIDE, channels }
    };
    let golden = grey(0, 0.0);
    assert!(difference(&grey(16, 1.0), &golden).is_ok_and(|d| d.mean <= MEAN_MAX));
    assert!(fault(&grey(16, 1.0), &golden).is_some() && fault(&grey(1, 0.01), &golden).is_some());
    let step_of_a_half = f32::EPSILON * 4096.0;
    assert_eq!(fault(&grey(16, step_of_a_half), &golden), None);
}

//! Every scene of `scenes/tests` that draws something, compared with the picture that was last approved.

use super::{FramePicture, ReportedMessage, draw};
use std::path::{Path, PathBuf};

/// Set to 1, it writes the goldens instead of comparing with them.
const RENEW: &str = "ANTHILL_RENEW_GOLDENS";
/// Most that a picture may differ in the mean of its values.
const MEAN_MAX: f64 = 0.001;
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

/// Mean and greatest difference of all values. Both being infinite is no difference.
fn difference(a: &FramePicture, b: &FramePicture) -> Result<(f64, f64), String> {
    let names = |p: &FramePicture| p.channels.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if (a.width, a.height, names(a)) != (b.width, b.height, names(b)) {
        return Err(format!(
            "{}x{} {:?} instead of {}x{} {:?}",
            a.width,
            a.height,
            names(a),
            b.width,
            b.height,
            names(b)
        ));
    }
    let values = |p: &FramePicture| p.channels.iter().flat_map(|(_, values)| values.clone()).collect::<Vec<f32>>();
    let (a, b) = (values(a), values(b));
    let off = |(x, y): (&f32, &f32)| if x == y { 0.0 } else { f64::from((x - y).abs()) };
    let differences: Vec<f64> = a.iter().zip(&b).map(off).collect();
    if differences.iter().any(|d| !d.is_finite()) {
        return Err("a value that is not finite".into());
    }
    Ok((differences.iter().sum::<f64>() / differences.len() as f64, differences.iter().copied().fold(0.0, f64::max)))
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
    match difference(&FramePicture::read(drawn), &FramePicture::read(golden)) {
        Err(message) => Some(format!("{name}: {message}")),
        Ok((mean, max)) => {
            (mean > MEAN_MAX).then(|| format!("{name}: differs by {mean:.5} in the mean, {max:.3} at most"))
        }
    }
}

#[test]
fn scenes_match_their_goldens() {
    let scenes = files(&folder("scenes/tests"), "rib");
    assert!(scenes.len() > 100, "{} scenes", scenes.len());
    let renewing = std::env::var(RENEW).is_ok_and(|value| value == "1");
    let drawn = tempfile::tempdir().expect("a temporary directory");
    // Each scene alone, because several scenes are one stream.
    let mut faults: Vec<String> = scenes
        .iter()
        .flat_map(|scene| draw(drawn.path(), std::slice::from_ref(scene)))
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
    assert_eq!(difference(&a, &a), Ok((0.0, 0.0)));
    assert_eq!(difference(&picture(&[1.0, 0.0]), &picture(&[0.5, 0.0])), Ok((0.25, 0.5)));
    assert!(difference(&a, &picture(&[0.0, 1.0])).is_err() && difference(&a, &picture(&[0.0, f32::NAN])).is_err());
    let other = FramePicture { channels: vec![("Z".into(), vec![0.0, f32::INFINITY])], ..a.clone() };
    assert!(difference(&a, &other).is_err_and(|message| message.contains("\"Z\"")));
}

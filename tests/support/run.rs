//! Draws the scenes of all rows and judges what came of them.

use super::rows::{Kind, Row, Wanted};
use crate::features::ExrChannels;
use anthill::diagnostic::{Reporter, Severity, SourceLocation};
use anthill::host_memory::HostMemory;
use anthill::options::RenderOptions;
use anthill::rib::{Input, RibEncoding, copy};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Works,
    /// With the message that says what was done instead.
    FallsBack(String),
    Api,
}

/// A message: where it is, how often, and what it says.
struct Said {
    severity: Severity,
    code: &'static str,
    location: SourceLocation,
    text: String,
}

/// Draws all rows and returns what became of each.
pub(super) fn run(rows: &[Row]) -> Vec<Outcome> {
    let folder = tempfile::tempdir().expect("a folder");
    for row in rows {
        for (name, bytes) in &row.files {
            let path = if name.ends_with(".sl") { folder.path().join(name) } else { file(folder.path(), row, name) };
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let text = String::from_utf8(bytes.clone()).map(|text| named(&text, folder.path(), row, ""));
            fs::write(path, text.map_or_else(|_| bytes.clone(), String::into_bytes)).expect("a file");
        }
    }
    let (text, lines) = stream(rows, folder.path());
    let said = draw(folder.path(), "all.rib", &text);
    let judge = |(row, lines): (&Row, Range<u32>)| judge(row, folder.path(), &said, &lines);
    rows.iter().zip(lines).map(judge).collect()
}

fn file(folder: &Path, row: &Row, ending: &str) -> PathBuf {
    folder.join(format!("{}{ending}", row.id))
}

fn named(text: &str, folder: &Path, row: &Row, second: &str) -> String {
    text.replace("$OUT", &format!("{}{second}", folder.join(&row.id).display()))
}

/// The stream of all rows that share one, and the lines of each.
fn stream(rows: &[Row], folder: &Path) -> (String, Vec<Range<u32>>) {
    let (mut text, mut ranges) = (String::new(), Vec::new());
    let mut frame = 0;
    for row in rows {
        let first = text.lines().count() as u32 + 1;
        let shaders = format!("Option \"searchpath\" \"shader\" [\"{}\"]\n", folder.display());
        match row.kind {
            Kind::Raw => {
                let raw = named(&row.scenes[0].join("\n"), folder, row, "");
                let _ = write!(text, "{shaders}PixelFilter \"box\" 1 1\n{raw}\n");
            }
            Kind::World => {
                for (scene, second) in row.scenes.iter().zip(["", "-second"]) {
                    frame += 1;
                    let _ = write!(text, "FrameBegin {frame}\n{shaders}");
                    text += &named(&world(scene), folder, row, second);
                    text += "FrameEnd\n";
                }
            }
            Kind::Alone | Kind::Exit | Kind::Capabilities | Kind::Api => {}
        }
        ranges.push(first..text.lines().count() as u32 + 1);
    }
    (text, ranges)
}

/// A scene in its world.
fn world(scene: &[String]) -> String {
    let (options, body): (Vec<&String>, Vec<&String>) = scene.iter().partition(|line| line.starts_with(": "));
    let options: String = options.iter().map(|line| format!("{}\n", &line[2..])).collect();
    let body: String = body.iter().map(|line| format!("{line}\n")).collect();
    format!(
        "Format 16 16 1\nPixelSamples 2 2\nPixelFilter \"box\" 1 1\nDisplay \"$OUT.exr\" \"exr\" \"rgba\" \"exrpixeltype\" \"float\"\n\
         {options}WorldBegin\nSurface \"constant\"\n{body}WorldEnd\n"
    )
}

/// Draws a text; returns the messages but details.
fn draw(folder: &Path, name: &str, text: &str) -> Vec<Said> {
    let scene = folder.join(name);
    fs::write(&scene, text).expect("a scene is written");
    let reporter = Arc::new(Reporter::silent());
    let options = RenderOptions {
        scenes: vec![scene],
        devices: "0".into(),
        memory_bytes: Some(256 << 20),
        programs: Some(Duration::from_secs(20)),
        validate: true,
        ..RenderOptions::default()
    };
    anthill::render(&options, &reporter, &());
    let all = reporter.all();
    let said = all.into_iter().filter(|(diagnostic, _)| diagnostic.severity >= Severity::Info);
    let plain = |text: String| text.replace(&folder.display().to_string(), "");
    said.map(|(d, _)| Said {
        severity: d.severity,
        code: d.code,
        location: d.location.clone(),
        text: plain(d.message.to_string()),
    })
    .collect()
}

/// Judges a row, whose scenes are these lines of the stream.
fn judge(row: &Row, folder: &Path, all: &[Said], lines: &Range<u32>) -> Outcome {
    let own = format!("/{}", row.id);
    let belongs = |said: &&Said| {
        let file = &*said.location.file;
        file.ends_with("all.rib") && lines.contains(&said.location.line)
            || file.contains(&format!("{own}."))
            || file.contains(&format!("{own}-"))
            || row.files.keys().any(|name| name.ends_with(".sl") && file.ends_with(&format!("/{name}")))
    };
    let alone;
    let mut said: Vec<&Said> = all.iter().filter(belongs).collect();
    match row.kind {
        Kind::Api => return Outcome::Api,
        Kind::Alone => {
            alone = draw(folder, &format!("{}-alone.rib", row.id), &named(&row.scenes[0].join("\n"), folder, row, ""));
            said = alone.iter().collect();
        }
        Kind::Exit => return exit_code(row, folder),
        Kind::Capabilities => return capabilities(folder),
        Kind::World | Kind::Raw => {}
    }
    let is_expected = |said: &Said| row.messages.iter().any(|rule| said.text.contains(&*rule.words));
    let surprise = said.iter().find(|said| said.severity > Severity::Info && !is_expected(said));
    if let Some(message) = surprise {
        return Outcome::FallsBack(message.text.clone());
    }
    for rule in &row.messages {
        let count = said.iter().filter(|said| said.text.contains(&*rule.words)).count();
        if rule.count.map_or(count == 0, |wanted| wanted != count) {
            return Outcome::FallsBack(format!("{count} messages say \"{}\"", rule.words));
        }
    }
    let Err(wrong) = pictures(row, folder) else { return Outcome::Works };
    // What is said once was perhaps said of an earlier row.
    let words = || row.scenes.iter().flatten().filter_map(|line| line.trim_start_matches(": ").split(' ').next());
    let earlier = all.iter().find(|said| {
        let request = said.text.split_once(':').map_or("", |(request, _)| request);
        matches!(said.code, "unimplement" | "incapable") && words().any(|word| word == request)
    });
    Outcome::FallsBack(earlier.map_or_else(|| format!("(no message) {wrong}"), |said| said.text.clone()))
}

/// Compares a row's pictures with what they must be.
fn pictures(row: &Row, folder: &Path) -> Result<(), String> {
    for ending in &row.missing {
        if file(folder, row, ending).exists() {
            return Err(format!("{ending} was written"));
        }
    }
    for wanted in &row.wanted {
        let picture = read(&file(folder, row, &wanted.file))?;
        let [x, y] = wanted.pixel;
        let channels: Vec<&str> = match &wanted.channel {
            Some(channel) => vec![channel],
            None => ["R", "G", "B", "A"][..wanted.values.len()].to_vec(),
        };
        let got: Vec<f32> = channels
            .iter()
            .map(|channel| picture.find(channel, x, y))
            .collect::<Option<_>>()
            .ok_or("a channel is missing")?;
        check(wanted, &got)?;
    }
    for wanted in &row.tiffs {
        check(wanted, &tiff_pixel(&file(folder, row, &wanted.file), wanted.pixel)?)?;
    }
    match row.scenes.len() {
        1 => Ok(()),
        _ => same(row, &read(&file(folder, row, ".exr"))?, &read(&file(folder, row, "-second.exr"))?),
    }
}

fn read(path: &Path) -> Result<ExrChannels, String> {
    if path.exists() { Ok(ExrChannels::read(path)) } else { Err("no picture was written".to_owned()) }
}

fn check(wanted: &Wanted, got: &[f32]) -> Result<(), String> {
    let near = |(a, b): (&f32, &f32)| a == b || (a - b).abs() <= wanted.tolerance * b.abs().max(1.0);
    let right = got.len() == wanted.values.len() && got.iter().zip(&wanted.values).all(near);
    let pixel = wanted.pixel;
    if right { Ok(()) } else { Err(format!("pixel {pixel:?} is {got:?}, not {:?}", wanted.values)) }
}

/// Compares two pictures that must be equal, and not empty.
fn same(row: &Row, first: &ExrChannels, second: &ExrChannels) -> Result<(), String> {
    let mut seen = false;
    for channel in ["R", "G", "B", "A"] {
        for (y, x) in (0..16).flat_map(|y| (0..16 - 2 * row.crop).map(move |x| (y, x))) {
            let (a, b) = (first.at(channel, x, y), second.at(channel, x + row.crop, y));
            seen |= a != 0.0;
            if (a - b).abs() > row.near {
                return Err(format!("{channel} at {x}, {y}: {a} and {b}"));
            }
        }
    }
    if seen { Ok(()) } else { Err("both pictures are empty".to_owned()) }
}

fn tiff_pixel(path: &Path, [x, y]: [usize; 2]) -> Result<Vec<f32>, String> {
    let opened = fs::File::open(path).map_err(|error| error.to_string())?;
    let mut decoder = tiff::decoder::Decoder::new(opened).map_err(|error| error.to_string())?;
    let (width, _) = decoder.dimensions().map_err(|error| error.to_string())?;
    match decoder.read_image().map_err(|error| error.to_string())? {
        tiff::decoder::DecodingResult::U8(samples) => {
            let first = 3 * (y * width as usize + x);
            Ok(samples[first..first + 3].iter().map(|&sample| sample.into()).collect())
        }
        _ => Err("samples are not bytes".to_owned()),
    }
}

/// Compresses with gzip.
pub(super) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory")
}

/// RIB in the binary encoding, as it was copied.
pub(super) fn in_binary(bytes: Vec<u8>) -> Vec<u8> {
    let input = Input::Memory { name: "t.rib".into(), bytes };
    let mut out = Vec::new();
    copy(&[input], RibEncoding::Binary, &HostMemory::of_machine(), &Reporter::silent(), &mut out).expect("memory");
    out
}

/// Runs the program on a scene whose display can be written, and on one whose cannot.
fn exit_code(row: &Row, folder: &Path) -> Outcome {
    let code = |name: &str, path: &str| {
        let text = world(&row.scenes[0]).replace("$OUT", path);
        fs::write(folder.join(name), text).expect("a scene");
        let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
        command.current_dir(folder).args(["render", "--quiet", name]);
        command.output().expect("the program runs").status.code()
    };
    let codes = (code("exit.rib", "written"), code("exit-2.rib", "nowhere/written"));
    if codes == (Some(0), Some(1)) {
        Outcome::Works
    } else {
        Outcome::FallsBack(format!("the exit codes are {codes:?}"))
    }
}

/// Asks the program for its capabilities.
fn capabilities(folder: &Path) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anthill"));
    let ran = command.current_dir(folder).args(["rib", "capabilities"]).output().expect("the program runs");
    let text = String::from_utf8_lossy(&ran.stdout);
    let has = |words: &str| text.lines().any(|line| line.starts_with(words));
    match ran.status.success() && has("##RenderMan Resource-1.0") && has("##RenderManCapabilitiesAvailable") {
        true => Outcome::Works,
        false => Outcome::FallsBack("(no message) there is no such list".to_owned()),
    }
}

//! Writes a study to a folder.

use super::device_map;
use super::page::page;
use super::study::{Series, Study};
use super::tables::{self, StudyTable};
use crate::files::write_bytes;
use crate::film::preview_image;
use crate::stats::MeasuredWorld;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write \"{path}\": {reason}")]
pub struct StudyWriteError {
    path: String,
    reason: io::Error,
}

/// The files that [`write()`] makes, apart from the device maps.
pub const FILES: [&str; 5] = ["scale.html", "scale.md", "scale.json", "scale.csv", "runs.csv"];

/// How the names of other files of a study begin and end.
const NUMBERED: [(&str, &str); 3] = [("drew.", ".png"), ("picture.", ".exr"), ("differs.", ".exr")];

/// How the contents of a study's files begin, by the end of their names.
const BEGINNINGS: [(&str, &[u8]); 6] = [
    (".html", b"<!DOCTYPE html>"),
    (".md", b"# Scaling study: "),
    (".json", b"{\n"),
    (".csv", b"devices,"),
    (".png", b"\x89PNG\r\n"),
    (".exr", b"\x76\x2f\x31\x01"),
];

/// Returns the files that a study in this folder may overwrite, whether they exist or not: the number of pictures is
/// known only later.
///
/// # Errors
/// If the folder cannot be read.
pub fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names: Vec<OsString> = FILES.map(OsString::from).to_vec();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let is_numbered = |(begin, end): &(&str, &str)| {
            name.to_str().is_some_and(|name| name.starts_with(begin) && name.ends_with(end))
        };
        if NUMBERED.iter().any(is_numbered) {
            names.push(name);
        }
    }
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Checks that a file does not exist, is empty, or could be that of an earlier study.
///
/// # Errors
/// If it has other contents, or cannot be read.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let mut begin = Vec::new();
    File::open(path)?.take(32).read_to_end(&mut begin)?;
    let of_study =
        |(end, expected): &(&str, &[u8])| path.to_string_lossy().ends_with(end) && begin.starts_with(expected);
    match begin.is_empty() || BEGINNINGS.iter().any(of_study) {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::AlreadyExists, "it exists and is not a file of a study")),
    }
}

/// Writes the study to its folder: `scale.html` (one self-contained page), `scale.md`, `scale.json` (everything that
/// was measured and predicted), `scale.csv` (a line for each configuration), `runs.csv` (a line for each run), and
/// `drew.N.png` (which device rendered what in configuration N). `pictures` are the files of the rendered worlds, which
/// are in the folder already.
///
/// # Errors
/// When a file cannot be written.
pub fn write(study: &Study, pictures: &[PathBuf], folder: &Path) -> Result<(), StudyWriteError> {
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        write_bytes(&path, bytes).map_err(|reason| StudyWriteError { path: path.display().to_string(), reason })
    };
    let maps: Vec<Vec<u8>> = study.series.iter().map(|series| device_map(series, pictures)).collect();
    for (number, png) in (1..).zip(&maps).filter(|(_, png)| !png.is_empty()) {
        put(&format!("drew.{number}.png"), png)?;
    }
    let [html, markdown_name, json, csv, runs] = FILES;
    put(html, page(study, &maps).as_bytes())?;
    put(markdown_name, markdown(study).as_bytes())?;
    let mut text = serde_json::to_string_pretty(study).expect("studies have string keys and finite numbers");
    text.push('\n');
    put(json, text.as_bytes())?;
    put(csv, &to_csv(&tables::summary(study)))?;
    put(runs, &to_csv(&tables::runs(study)))
}

/// Returns the device map of a configuration's typical run as a PNG; empty if nothing was rendered.
fn device_map(series: &Series, pictures: &[PathBuf]) -> Vec<u8> {
    let stats = &series.typical().stats;
    let has_regions = |(_, world): &(usize, &MeasuredWorld)| !world.regions.is_empty();
    let Some((place, world)) = stats.longest_world().filter(has_regions) else { return Vec::new() };
    // A world may have no picture, or one of another size: then only the regions are shown.
    let picture = pictures.get(place).and_then(|path| preview_image(path, 1.0).ok());
    let picture = picture.filter(|picture| picture.size == world.size_px());
    device_map::draw(picture.as_ref(), world)
}

/// Returns the rows of named values as CSV. All rows have the names of the first.
fn to_csv(rows: &[Vec<(String, String)>]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = rows.first().map(|row| row.iter().map(|(name, _)| name));
    let lines = rows.iter().map(|row| row.iter().map(|(_, value)| value));
    let room = "writing to memory cannot fail";
    if let Some(header) = header {
        writer.write_record(header).expect(room);
    }
    lines.for_each(|line| writer.write_record(line).expect(room));
    writer.into_inner().expect(room)
}

/// Returns the study's tables as Markdown.
pub fn markdown(study: &Study) -> String {
    let mut text = format!("# Scaling study: {}\n\n", study.scene);
    let mut add = |table: &StudyTable, of: &str| {
        text += &format!("## {}{of}\n\n{}\n{}\n\n", table.title, table.to_markdown(), table.note);
    };
    add(&tables::speed_up(study), "");
    if let Some(table) = tables::more_devices(study) {
        add(&table, "");
    }
    add(&tables::phases(study), "");
    add(&tables::stages(study), "");
    for series in &study.series {
        add(&tables::devices(series), &format!(", --devices {}", series.configuration.selection));
    }
    text += &format!("{}\n\n", study.verdict());
    for (name, value) in study.facts() {
        text += &format!("- {name}: {value}\n");
    }
    text
}

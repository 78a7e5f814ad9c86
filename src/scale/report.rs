//! Writes a study to a folder.

use super::device_map;
use super::doubts::Doubt;
use super::figures::figures;
use super::latex;
use super::page::page;
use super::pictures::work_prefix;
use super::spread::Spread;
use super::study::{MeasuredSpan, Series, Study};
use super::study_set::StudySet;
use super::tables::{self, StudyTable};
use crate::files::write_bytes;
use crate::film::preview_image;
use crate::stats::MeasuredWorld;
use serde::Serialize;
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

/// The files that [`write()`] makes, apart from device maps and figures.
pub const FILES: [&str; 7] =
    ["scale.html", "scale.md", "scale.json", "scale.csv", "runs.csv", "table.tex", "figure-speed-up.tex"];

/// How the names of other files of a study begin and end.
const NUMBERED: [(&str, &str); 4] =
    [("drew.", ".png"), ("picture.", ".exr"), ("differs.", ".exr"), ("figure-", ".svg")];

/// How the contents of a study's files begin, by the end of their names.
const BEGINNINGS: [(&str, &[u8]); 8] = [
    (".html", b"<!DOCTYPE html>"),
    (".md", b"# Scaling study: "),
    (".json", b"{\n"),
    (".csv", b"devices,"),
    (".tex", b"% anthill scale: "),
    (".svg", b"<svg "),
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
/// was measured, computed and predicted), `scale.csv` (a line for each configuration), `runs.csv` (a line for each
/// run), `figure-*.svg`, `table.tex` and `figure-speed-up.tex` (for papers), and `drew.N.png` (which device rendered
/// what in configuration N; with several works, `drew.M.N.png` for work M). `pictures` are the files of each work's
/// worlds, which are in the folder already.
///
/// # Errors
/// When a file cannot be written.
pub fn write(set: &StudySet, pictures: &[Vec<PathBuf>], folder: &Path) -> Result<(), StudyWriteError> {
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        write_bytes(&path, bytes).map_err(|reason| StudyWriteError { path: path.display().to_string(), reason })
    };
    let mut maps: Vec<Vec<Vec<u8>>> = Vec::new();
    for (work, study) in set.studies.iter().enumerate() {
        let pictures = pictures.get(work).map(Vec::as_slice).unwrap_or_default();
        let of_work: Vec<Vec<u8>> = study.series.iter().map(|series| device_map(series, pictures)).collect();
        for (number, png) in (1..).zip(&of_work).filter(|(_, png)| !png.is_empty()) {
            put(&format!("drew.{}{number}.png", work_prefix(work, set.studies.len())), png)?;
        }
        maps.push(of_work);
    }
    let doubts = set.doubts().len();
    for figure in figures(set) {
        put(&format!("figure-{}.svg", figure.name), figure.standalone(doubts).as_bytes())?;
    }
    let [html, markdown_name, json, csv, runs, table, plot] = FILES;
    put(html, page(set, &maps).as_bytes())?;
    put(markdown_name, markdown(set).as_bytes())?;
    let mut text =
        serde_json::to_string_pretty(&StudyFile::of(set)).expect("studies have string keys and finite numbers");
    text.push('\n');
    put(json, text.as_bytes())?;
    put(csv, &to_csv(&set.studies.iter().flat_map(tables::summary).collect::<Vec<_>>()))?;
    put(runs, &to_csv(&set.studies.iter().flat_map(tables::runs).collect::<Vec<_>>()))?;
    put(table, latex::table(set).as_bytes())?;
    put(plot, latex::speed_up(set).as_bytes())
}

/// What `scale.json` holds: the study, and what was computed from it.
#[derive(Serialize)]
struct StudyFile<'a> {
    #[serde(flatten)]
    set: &'a StudySet,
    findings: Vec<String>,
    doubts: Vec<Doubt>,
    results: Vec<StudyResult<'a>>,
}

/// What was computed of a configuration.
#[derive(Serialize)]
struct StudyResult<'a> {
    study: &'a str,
    devices: &'a str,
    device_count: usize,
    render_s: Spread,
    speed_up: Spread,
    efficiency: Spread,
    process_s: Spread,
    process_speed_up: Spread,
}

impl<'a> StudyFile<'a> {
    fn of(set: &'a StudySet) -> Self {
        let result = |study: &'a Study, series: &'a Series| StudyResult {
            study: &study.name,
            devices: &series.configuration.selection,
            device_count: series.device_count(),
            render_s: series.render(),
            speed_up: study.speed_up(series, MeasuredSpan::Render),
            efficiency: study.efficiency(series, MeasuredSpan::Render),
            process_s: series.process(),
            process_speed_up: study.speed_up(series, MeasuredSpan::Process),
        };
        let results = set.studies.iter().flat_map(|study| study.series.iter().map(move |series| result(study, series)));
        Self { set, findings: set.findings(), doubts: set.doubts(), results: results.collect() }
    }
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
pub fn markdown(set: &StudySet) -> String {
    let mut text = format!("# {}\n\n", set.title());
    set.findings().iter().chain(&set.missing()).for_each(|line| text += &format!("{line}\n\n"));
    set.doubts().iter().for_each(|doubt| text += &format!("- In doubt: {}\n", doubt.text));
    let several = set.studies.len() > 1;
    if several {
        add_table(&mut text, &tables::overview(set), "");
    }
    for study in &set.studies {
        let of = if several { format!(", {}", study.name) } else { String::new() };
        add_table(&mut text, &tables::speed_up(study), &of);
        if let Some(table) = tables::more_devices(study) {
            add_table(&mut text, &table, &of);
        }
        add_table(&mut text, &tables::phases(study), &of);
        add_table(&mut text, &tables::stages(study), &of);
        for series in &study.series {
            let devices = format!("{of}, --devices {}", series.configuration.selection);
            add_table(&mut text, &tables::devices(series), &devices);
        }
        text += &format!("{}\n\n", study.verdict());
    }
    for (name, value) in set.facts().into_iter().chain(set.studies.iter().flat_map(Study::facts)) {
        text += &format!("- {name}: {value}\n");
    }
    text
}

fn add_table(text: &mut String, table: &StudyTable, of: &str) {
    *text += &format!("\n## {}{of}\n\n{}\n{}\n", table.title, table.to_markdown(), table.note);
}

//! The page of a study: one self-contained HTML file for light and dark screens and for paper.

use super::colours::{self, GREY};
use super::doubts::DOUBT_ADVICE;
use super::figures::{self, LegendEntry, StudyFigure};
use super::report::FILES;
use super::study::{Series, Study};
use super::study_set::StudySet;
use super::tables::{self, StudyTable};
use super::timeline;
use crate::stats::MeasuredDevice;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Returns the page. `device_maps` has a PNG for each configuration of each work; an empty one is left out.
pub(super) fn page(set: &StudySet, device_maps: &[Vec<Vec<u8>>]) -> String {
    let title = set.title();
    let several = set.studies.len() > 1;
    let body = html! {
        h1 { (title) }
        @for finding in set.findings() { p.finding { (finding) } }
        @for missing in set.missing() { p.differ { (missing) } }
        @for study in &set.studies {
            p class=(if study.differing.is_empty() { "same" } else { "differ" }) {
                @if several { (study.name) ": " }
                (study.verdict())
            }
        }
        (doubts(set))
        h2 { "Speed-up and efficiency" }
        @if several { (rows(&tables::overview(set))) }
        @for one in figures::figures(set) { (figure(&one)) }
        @for (study, maps) in set.studies.iter().zip(device_maps) { (work(study, maps, several)) }
        (facts(set))
    };
    shell(&title, &body)
}

/// Returns a whole page.
pub(super) fn shell(title: &str, body: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body { main { (body) } }
        }
    };
    markup.into_string()
}

fn doubts(set: &StudySet) -> Markup {
    let doubts = set.doubts();
    html! {
        @if !doubts.is_empty() {
            section.doubts {
                strong { "Why these figures are in doubt" }
                ul { @for doubt in doubts { li { (doubt.text) } } }
                "To be sure, " (DOUBT_ADVICE) "."
            }
        }
    }
}

/// Returns what is shown of one work.
fn work(study: &Study, maps: &[Vec<u8>], several: bool) -> Markup {
    let speed_up = tables::speed_up(study);
    let [phases, stages] = [tables::phases(study), tables::stages(study)];
    html! {
        @if several { h2 { (study.name) } }
        h3 { (speed_up.title) }
        (rows(&speed_up))
        @if let Some(table) = tables::more_devices(study) {
            h3 { (table.title) }
            (rows(&table))
        }
        h3 { (phases.title) }
        (rows(&phases))
        h3 { (stages.title) }
        (figure(&figures::stages(study)))
        (rows(&stages))
        @for (series, png) in study.series.iter().zip(maps) { (configuration(study, series, png, several)) }
    }
}

fn configuration(study: &Study, series: &Series, png: &[u8], several: bool) -> Markup {
    let selection = &series.configuration.selection;
    let stats = &series.typical().stats;
    let timeline = StudyFigure::new(
        "timeline",
        "Regions that each device had in flight, in its colour; pale ones were stolen. If there are several worlds, the one that took \
         longest is shown.",
        vec![LegendEntry::new("before regions: geometry uploaded, primitives counted", GREY)],
        |width| timeline::draw(stats, width),
    );
    let table = tables::devices(series);
    html! {
        h2 { @if several { (study.name) ", " } "--devices " (selection) }
        @if !png.is_empty() {
            h3 { "Which device rendered what" }
            figure {
                (picture(png, &format!("The picture, coloured by the device that rendered each region, for --devices {selection}")))
                (legend(&device_legend(&stats.devices)))
                figcaption { "Each region of the picture in the colour of the device that rendered it." }
            }
        }
        h3 { "Busy and idle" }
        (figure(&timeline))
        h3 { (table.title) }
        (rows(&table))
    }
}

/// Returns an entry for each device.
pub(super) fn device_legend(devices: &[MeasuredDevice]) -> Vec<LegendEntry> {
    let device = |(place, device): (usize, &MeasuredDevice)| {
        let name = format!("{}, {}", tables::title(place, device), device.name);
        LegendEntry::new(name, colours::device(place))
    };
    devices.iter().enumerate().map(device).collect()
}

/// Returns a picture, in the page itself.
pub(super) fn picture(png: &[u8], description: &str) -> Markup {
    html! { img alt=(description) src=(format!("data:image/png;base64,{}", STANDARD.encode(png))); }
}

fn facts(set: &StudySet) -> Markup {
    html! {
        h2 { "What was measured" }
        (definitions(&set.facts()))
        @for study in &set.studies { (definitions(&study.facts())) }
        p.note {
            "Each run was a separate process, and configurations took turns, after runs that filled the drivers' caches of compiled \
             kernels. The folder of this page also has " (FILES[1..].join(", ")) ", each figure as figure-*.svg, and the pictures."
        }
        h3 { "Commands" }
        pre { @for study in &set.studies { @for command in study.commands() { (command) "\n" } } }
    }
}

/// Returns a list of names and values.
pub(super) fn definitions(facts: &[(&'static str, String)]) -> Markup {
    html! { dl { @for (name, value) in facts { dt { (name) } dd { (value) } } } }
}

/// Returns a figure with its legend and caption.
pub(super) fn figure(figure: &StudyFigure) -> Markup {
    html! {
        figure {
            div.wide { (PreEscaped(&figure.wide)) }
            div.narrow { (PreEscaped(&figure.narrow)) }
            (legend(&figure.legend))
            figcaption { (figure.caption) }
        }
    }
}

/// Returns the legend of a figure.
pub(super) fn legend(entries: &[LegendEntry]) -> Markup {
    let swatch = |entry: &LegendEntry| {
        let colour = colours::css(entry.colour);
        let dashes = format!("repeating-linear-gradient(90deg,{colour} 0 6px,transparent 6px 9px)");
        format!("background:{}", if entry.is_dashed { dashes } else { colour })
    };
    html! {
        ul.legend { @for entry in entries { li { span.dashed[entry.is_dashed] style=(swatch(entry)) {} (entry.name) } } }
    }
}

/// Returns a cell of a table. A number's range goes on a line below it, so that wide tables fit. The first column has
/// names, which have no range.
fn cell(column: usize, text: &str) -> Markup {
    match text.split_once(" (").filter(|_| column > 0) {
        Some((value, range)) => html! { (value) " " span.range { "(" (range) } },
        None => html! { (text) },
    }
}

/// Returns a table with its note.
pub(super) fn rows(table: &StudyTable) -> Markup {
    // A non-breaking space keeps the unit on the line of its name.
    let name = |name: &String| name.replace(", s", ",\u{a0}s");
    html! {
        div.scroll {
            table {
                thead { tr { @for column in &table.header { th scope="col" { (name(column)) } } } }
                tbody { @for row in &table.rows { tr { @for (column, text) in row.iter().enumerate() { td { (cell(column, text)) } } } } }
            }
        }
        p.note { (table.note) }
    }
}

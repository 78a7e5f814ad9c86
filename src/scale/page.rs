//! The page of a study: one self-contained HTML file for light and dark screens and for paper.

use super::colours::{self, FAINT, GREY};
use super::plots;
use super::report::FILES;
use super::study::{PHASES, Series, Study};
use super::tables::{self, DEVICE_STAGES, StudyTable};
use super::timeline;
use crate::stats::MeasuredDevice;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plotters::style::RGBColor;

/// Returns the page. `device_maps` has a PNG for each configuration; an empty one is left out.
pub(super) fn page(study: &Study, device_maps: &[Vec<u8>]) -> String {
    let title = format!("Scaling study: {}", study.scene);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                main {
                    h1 { (title) }
                    p.finding { (study.finding()) }
                    p class=(if study.differing.is_empty() { "same" } else { "differ" }) { (study.verdict()) }
                    @for doubt in study.doubts() { p.differ { (doubt) } }
                    (speed_up(study))
                    (phases(study))
                    (stages(study))
                    @for (series, png) in study.series.iter().zip(device_maps) { (configuration(series, png)) }
                    (facts(study))
                }
            }
        }
    };
    markup.into_string()
}

fn speed_up(study: &Study) -> Markup {
    let table = tables::speed_up(study);
    let curves = plots::speed_up_curves(study);
    let entry = |(place, curve): (usize, &plots::Curve)| {
        let is_dashed = curve.predicted.is_some();
        Entry { name: curve.name.into(), colour: colours::curve(place), is_dashed }
    };
    let mut entries: Vec<Entry> = curves.iter().enumerate().map(entry).collect();
    entries.push(Entry {
        name: "ideal: as many times faster as there are devices".into(),
        colour: FAINT,
        is_dashed: true,
    });
    let mut caption = "Speed-up relative to one device, as in figure 11 of RenderAnts (Zhou et al. 2009): medians, with bars from the \
                       slowest to the fastest round."
        .to_string();
    if study.forecast.predictions().is_some() {
        caption += " Rings are predictions for the measured devices; the dashed curve is for equal devices.";
    }
    html! {
        h2 { (table.title) }
        (figure(&plots::speed_up(&curves), &entries, &caption))
        (rows(&table))
        @if let Some(table) = tables::more_devices(study) {
            h3 { (table.title) }
            (rows(&table))
        }
    }
}

fn phases(study: &Study) -> Markup {
    let table = tables::phases(study);
    let entries: Vec<_> = PHASES.into_iter().zip(colours::PHASES).map(Entry::from).collect();
    html! {
        h2 { (table.title) }
        (figure(&plots::phases(study), &entries, "Where a user's time goes, by the number of devices."))
        (rows(&table))
    }
}

fn stages(study: &Study) -> Markup {
    let table = tables::stages(study);
    let shown = DEVICE_STAGES.into_iter().zip(colours::STAGES).filter(|(stage, _)| tables::takes_time(study, *stage));
    let entries: Vec<_> = shown.map(|(stage, colour)| Entry::from((stage.name(), colour))).collect();
    html! {
        h2 { (table.title) }
        (figure(&plots::stages(study), &entries, "Breakdown of the devices' time, as in figure 10 of RenderAnts (Zhou et al. 2009)."))
        (rows(&table))
    }
}

fn configuration(series: &Series, png: &[u8]) -> Markup {
    let selection = &series.configuration.selection;
    let stats = &series.typical().stats;
    let device = |(place, device): (usize, &MeasuredDevice)| {
        Entry::from((&*format!("{}, {}", tables::title(place, device), device.name), colours::device(place)))
    };
    let entries: Vec<_> = stats.devices.iter().enumerate().map(device).collect();
    let line = [Entry::from(("before regions: geometry uploaded, primitives counted", GREY))];
    let table = tables::devices(series);
    html! {
        h2 { "--devices " (selection) }
        @if !png.is_empty() {
            h3 { "Which device rendered what" }
            figure {
                img alt=(format!("The picture, coloured by the device that rendered each region, for --devices {selection}"))
                    src=(format!("data:image/png;base64,{}", STANDARD.encode(png)));
                (legend(&entries))
                figcaption { "Each region of the picture in the colour of the device that rendered it." }
            }
        }
        h3 { "Busy and idle" }
        (figure(
            &timeline::draw(stats),
            &line,
            "Regions that each device had in flight, in its colour; pale ones were stolen. If there are several worlds, the one that took \
             longest is shown."
        ))
        h3 { (table.title) }
        (rows(&table))
    }
}

fn facts(study: &Study) -> Markup {
    html! {
        h2 { "What was measured" }
        dl { @for (name, value) in study.facts() { dt { (name) } dd { (value) } } }
        p.note {
            "Each run was a separate process, and configurations took turns, after runs that filled the drivers' caches of compiled \
             kernels. The folder of this page also has " (FILES[1..].join(", ")) " and the pictures."
        }
        h3 { "Commands" }
        pre { @for command in study.commands() { (command) "\n" } }
    }
}

/// An entry of a legend.
struct Entry {
    name: String,
    colour: RGBColor,
    is_dashed: bool,
}

impl From<(&str, RGBColor)> for Entry {
    fn from((name, colour): (&str, RGBColor)) -> Self {
        Self { name: name.into(), colour, is_dashed: false }
    }
}

/// Returns a plot with its legend and caption.
fn figure(svg: &str, entries: &[Entry], caption: &str) -> Markup {
    html! {
        figure {
            div.scroll { (PreEscaped(svg)) }
            (legend(entries))
            figcaption { (caption) }
        }
    }
}

fn legend(entries: &[Entry]) -> Markup {
    let swatch = |entry: &Entry| {
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

fn rows(table: &StudyTable) -> Markup {
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

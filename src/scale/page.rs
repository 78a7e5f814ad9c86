//! The page of a study: one HTML file that refers to nothing outside, for light and dark screens and for paper.

use super::colours::{self, FAINT, GREY};
use super::plots;
use super::report::FILES;
use super::study::{PHASES, Series, Study};
use super::tables::{self, DEVICE_STAGES, Table};
use super::timeline;
use crate::stats::MeasuredDevice;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use plotters::style::RGBColor;

/// The page. `drew` are the pictures of who drew what, as PNG, one for each configuration; an empty one is left out.
pub(super) fn page(study: &Study, drew: &[Vec<u8>]) -> String {
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
                    (speed_up(study))
                    (phases(study))
                    (stages(study))
                    @for (series, png) in study.series.iter().zip(drew) { (configuration(series, png)) }
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
    let names = curves.iter().enumerate().map(|(place, curve)| (curve.name.to_string(), colours::curve(place)));
    let entries: Vec<_> = names.chain([("ideal: as many times as devices".to_string(), FAINT)]).collect();
    let caption = "Speed-up against one device, as in figure 11 of RenderAnts (Zhou et al. 2009): medians, with bars from the slowest to \
                   the fastest round.";
    html! {
        h2 { (table.title) }
        (figure(&plots::speed_up(&curves), &entries, caption))
        (rows(&table))
    }
}

fn phases(study: &Study) -> Markup {
    let table = tables::phases(study);
    let entries: Vec<_> = PHASES.map(String::from).into_iter().zip(colours::PHASES).collect();
    html! {
        h2 { (table.title) }
        (figure(&plots::phases(study), &entries, "Where a user's time goes, by the number of devices."))
        (rows(&table))
    }
}

fn stages(study: &Study) -> Markup {
    let table = tables::stages(study);
    let shown = DEVICE_STAGES.into_iter().zip(colours::STAGES).filter(|(stage, _)| tables::takes_time(study, *stage));
    let entries: Vec<_> = shown.map(|(stage, colour)| (stage.name().to_string(), colour)).collect();
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
        (format!("{}, {}", tables::title(place, device), device.name), colours::device(place))
    };
    let entries: Vec<_> = stats.devices.iter().enumerate().map(device).collect();
    let line: Vec<_> = [("before regions: geometry brought over, primitives counted".to_string(), GREY)].into();
    let table = tables::devices(series);
    html! {
        h2 { "--devices " (selection) }
        @if !png.is_empty() {
            h3 { "Who drew what" }
            figure {
                img alt=(format!("The picture, coloured by the device that drew it, for --devices {selection}"))
                    src=(format!("data:image/png;base64,{}", STANDARD.encode(png)));
                (legend(&entries))
                figcaption { "Each region of the picture in the colour of the device that drew it." }
            }
        }
        h3 { "Busy and idle" }
        (figure(
            &timeline::draw(stats),
            &line,
            "Regions that each device had in flight, in its colour: pale ones were stolen. Where there are several worlds, that of the \
             longest."
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
            "Each run was a process of its own, and configurations took turns, after runs that filled the drivers' caches of compiled \
             kernels. Beside this page lie " (FILES[1..].join(", ")) " and the pictures."
        }
        h3 { "Commands" }
        pre { @for command in study.commands() { (command) "\n" } }
    }
}

/// A plot with its legend and caption.
fn figure(svg: &str, entries: &[(String, RGBColor)], caption: &str) -> Markup {
    html! {
        figure {
            div.scroll { (PreEscaped(svg)) }
            (legend(entries))
            figcaption { (caption) }
        }
    }
}

fn legend(entries: &[(String, RGBColor)]) -> Markup {
    html! {
        ul.legend {
            @for (name, colour) in entries { li { span style=(format!("background:{}", colours::css(*colour))) {} (name) } }
        }
    }
}

fn rows(table: &Table) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { @for name in &table.header { th scope="col" { (name) } } } }
                tbody { @for row in &table.rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
        p.note { (table.note) }
    }
}

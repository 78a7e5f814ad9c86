//! Plots of a study as SVG: speed-up (like figure 11 of RenderAnts) and stacked bars (like its figure 10).

use super::colours::{self, FAINT, INK};
use super::predictions::PredictedConfiguration;
use super::study::{MeasuredSpan, Series, Spread, Study};
use super::tables::{DEVICE_STAGES, device_seconds};
use crate::stats::Stage;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width of all plots, in units of about half a pixel on the page.
pub(super) const WIDTH: u32 = 1500;
/// Font size, in the same units.
pub(super) const LETTERS: u32 = 30;

/// An area to draw on.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The result of drawing, which cannot fail when drawing into a string.
pub(super) type DrawResult = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws an SVG picture of this height.
pub(super) fn svg(height: u32, draw: impl FnOnce(&Area<'_>) -> DrawResult) -> String {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
    draw(&area).and_then(|()| area.present()).expect("writing to a string cannot fail, and ranges are finite");
    drop(area);
    text
}

/// Returns the text style of all plots, with this alignment.
pub(super) fn letters(h_pos: HPos, v_pos: VPos) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", LETTERS).into_font()).color(&INK).pos(Pos::new(h_pos, v_pos))
}

/// A curve in the plot of speed-up.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: &'static str,
    /// Number of devices and speed-up of the configurations of the study, which have marks.
    pub marks: Vec<(usize, Spread)>,
    /// Number of devices and predicted speed-up of the points of the line, for a prediction. Its line is dashed and its
    /// marks are hollow. `None` for a measured curve, whose line goes from mark to mark.
    pub predicted: Option<Vec<(usize, f64)>>,
}

impl Curve {
    /// Returns the number of devices and speed-up of the points of the line.
    fn line(&self) -> Vec<(usize, f64)> {
        let marks = || self.marks.iter().map(|(count, spread)| (*count, spread.median)).collect();
        self.predicted.clone().unwrap_or_else(marks)
    }
}

/// Returns the curves of the plot of speed-up, in the order of the legend.
pub fn speed_up_curves(study: &Study) -> Vec<Curve> {
    let in_order = |points: &mut Vec<(usize, Spread)>| points.sort_by_key(|(count, _)| *count);
    let curve = |name, span| {
        let point = |series| (Series::device_count(series), study.speed_up(series, span));
        let mut marks: Vec<(usize, Spread)> = study.series.iter().map(point).collect();
        in_order(&mut marks);
        Curve { name, marks, predicted: None }
    };
    let predicted = study.forecast.predictions().map(|predictions| {
        let point = |(series, predicted): (&Series, &PredictedConfiguration)| {
            (series.device_count(), Spread::of([predicted.times.render_speed_up]))
        };
        let mut marks: Vec<(usize, Spread)> = study.series.iter().zip(&predictions.configurations).map(point).collect();
        in_order(&mut marks);
        // With a longer axis the measured part would shrink into a corner.
        let far = 2 * marks.last().map_or(1, |(count, _)| *count);
        let near = predictions.counts.iter().filter(|predicted| predicted.count <= far);
        let line = near.map(|predicted| (predicted.count, predicted.times.render_speed_up)).collect();
        Curve { name: "render, predicted", marks, predicted: Some(line) }
    });
    let measured = [
        curve("render: first submission to last pixel", MeasuredSpan::Render),
        curve("whole process: start to exit", MeasuredSpan::Process),
    ];
    measured.into_iter().chain(predicted).collect()
}

/// Returns the plot of speed-up by number of devices, with the range of all rounds and the ideal line.
pub fn speed_up(curves: &[Curve]) -> String {
    let counts = curves.iter().flat_map(|curve| curve.line().into_iter().map(|(count, _)| count));
    let count = counts.chain(curves.iter().flat_map(|curve| curve.marks.iter().map(|mark| mark.0))).max().unwrap_or(1);
    let highest =
        curves.iter().flat_map(|curve| &curve.marks).map(|(_, spread)| spread.max).fold(count as f64, f64::max);
    svg(800, |area| {
        let (columns, rows) = (0.5..count as f64 + 0.5, 0.0..highest * 1.08);
        let mut chart = ChartBuilder::on(area)
            .margin(20)
            .x_label_area_size(80)
            .y_label_area_size(110)
            .build_cartesian_2d(columns, rows)?;
        // Plotters labels any round number, but only whole numbers of devices make sense.
        let is_whole = |value: &f64| (value - value.round()).abs() < 1e-6;
        let whole = |value: &f64| if is_whole(value) { format!("{value:.0}") } else { String::new() };
        let times = |value: &f64| format!("{}x", (value * 100.0).round() / 100.0);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT.mix(0.35))
            .axis_style(FAINT)
            .label_style(letters(HPos::Center, VPos::Center))
            .axis_desc_style(letters(HPos::Center, VPos::Center))
            .x_labels(16)
            .x_label_formatter(&whole)
            .y_label_formatter(&times)
            .x_desc("devices")
            .y_desc("times as fast as one device")
            .draw()?;
        let ideal = (1..=count).map(|count| (count as f64, count as f64));
        chart.draw_series(DashedLineSeries::new(ideal, 12, 10, FAINT.stroke_width(3)))?;
        // Curves are shifted sideways, so that their ranges do not hide one another.
        let apart = 0.012 * count as f64;
        for (place, curve) in curves.iter().enumerate() {
            let aside = (place as f64 - (curves.len() as f64 - 1.0) / 2.0) * apart;
            draw_curve(&mut chart, curve, aside, colours::curve(place))?;
        }
        Ok(())
    })
}

/// A chart with numbers on both axes.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws a curve, shifted sideways by `aside`.
fn draw_curve(chart: &mut Chart<'_, '_>, curve: &Curve, aside: f64, colour: RGBColor) -> DrawResult {
    let at = |count: &usize| *count as f64 + aside;
    let line = curve.line().into_iter().map(|(count, speed_up)| (at(&count), speed_up));
    if curve.predicted.is_some() {
        chart.draw_series(DashedLineSeries::new(line, 20, 12, colour.stroke_width(4)))?;
        let ring =
            |(count, spread): &(usize, Spread)| Circle::new((at(count), spread.median), 13, colour.stroke_width(4));
        chart.draw_series(curve.marks.iter().map(ring))?;
        return Ok(());
    }
    chart.draw_series(LineSeries::new(line, colour.stroke_width(5)))?;
    let range = |(count, spread): &(usize, Spread)| {
        ErrorBar::new_vertical(at(count), spread.min, spread.median, spread.max, colour.stroke_width(3), 18)
    };
    chart.draw_series(curve.marks.iter().map(range))?;
    let mark = |(count, spread): &(usize, Spread)| Circle::new((at(count), spread.median), 9, colour.filled());
    chart.draw_series(curve.marks.iter().map(mark))?;
    Ok(())
}

/// A stacked bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// The lengths of its parts, which are coloured by their position.
    pub parts: Vec<f64>,
}

/// Returns the phases of each configuration's typical run, in seconds.
pub fn phase_bars(study: &Study) -> Vec<Bar> {
    let bar = |series: &Series| Bar { label: label(series), parts: series.typical().phases().into() };
    study.series.iter().map(bar).collect()
}

/// Returns the plot of [`phase_bars`].
pub fn phases(study: &Study) -> String {
    stacked(&phase_bars(study), &colours::PHASES, "seconds of the whole process")
}

/// Returns the time of each configuration's devices in each stage, all devices added up, in seconds.
pub fn stage_bars(study: &Study) -> Vec<Bar> {
    let bar = |series: &Series| Bar {
        label: label(series),
        parts: DEVICE_STAGES.iter().map(|&stage: &Stage| device_seconds(series, stage)).collect(),
    };
    study.series.iter().map(bar).collect()
}

/// Returns the plot of [`stage_bars`].
pub fn stages(study: &Study) -> String {
    stacked(&stage_bars(study), &colours::STAGES, "seconds of all devices")
}

/// Height of a bar, and of the gap between two bars.
const BAR: i32 = 46;
const GAP: i32 = 22;

/// Draws horizontal bars, all on one axis.
fn stacked(bars: &[Bar], colours: &[RGBColor], axis: &str) -> String {
    let longest = bars.iter().map(|bar| bar.parts.iter().sum::<f64>()).fold(0.0, f64::max).max(1e-6);
    let labels = bars.iter().map(|bar| bar.label.as_str());
    rows(labels, BAR + GAP, longest * 1.1, axis, |plane| {
        for (place, bar) in bars.iter().enumerate() {
            let top = place as i32 * (BAR + GAP) + GAP / 2;
            let mut begin = 0.0;
            for (part, colour) in bar.parts.iter().zip(colours) {
                plane.rectangle((begin, begin + part), (top, top + BAR), colour.filled())?;
                begin += part;
            }
            let end = (plane.x(begin) + 12, plane.y(top + BAR / 2));
            let sum = super::tables::seconds(begin);
            plane.area.draw(&Text::new(sum, end, letters(HPos::Left, VPos::Center)))?;
        }
        Ok(())
    })
}

/// The plane that rows are drawn on. Time goes to the right, rows go down in units of the plot.
pub(super) struct Plane<'a, 'b> {
    pub(super) area: &'a Area<'b>,
    left: i32,
    top: i32,
    per_second: f64,
}

impl Plane<'_, '_> {
    /// Returns the x coordinate of a time.
    pub(super) fn x(&self, seconds: f64) -> i32 {
        self.left + (seconds * self.per_second).round() as i32
    }

    /// Returns the y coordinate of a distance from the top.
    pub(super) fn y(&self, down: i32) -> i32 {
        self.top + down
    }

    /// Draws a rectangle between two times, unless it would have no width.
    pub(super) fn rectangle(
        &self,
        (begin, end): (f64, f64),
        (top, bottom): (i32, i32),
        style: ShapeStyle,
    ) -> DrawResult {
        let corners = [(self.x(begin), self.y(top)), (self.x(end), self.y(bottom))];
        if corners[0].0 < corners[1].0 { self.area.draw(&Rectangle::new(corners, style)) } else { Ok(()) }
    }
}

/// Returns a plot of named rows of equal height over an axis of seconds.
pub(super) fn rows<'l>(
    labels: impl Iterator<Item = &'l str>,
    height: i32,
    seconds: f64,
    axis: &str,
    draw: impl FnOnce(&Plane<'_, '_>) -> DrawResult,
) -> String {
    const TOP: i32 = 10;
    const AXIS: i32 = 100;
    const RIGHT: i32 = 30;
    let labels: Vec<&str> = labels.collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) as i32;
    // A letter is about 0.46 times as wide as the font size; digits and commas are narrower.
    let left = (longest * LETTERS as i32 * 46 / 100 + 40).max(90);
    let bottom = TOP + height * labels.len() as i32;
    svg((bottom + AXIS) as u32, |area| {
        let frame = area.margin(TOP, 0, left, RIGHT);
        let mut chart = ChartBuilder::on(&frame)
            .x_label_area_size(AXIS - 10)
            .margin_bottom(10)
            .build_cartesian_2d(0.0..seconds, 0.0..1.0)?;
        let label = |value: &f64| format!("{}", (value * 1e4).round() / 1e4);
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .light_line_style(TRANSPARENT)
            .bold_line_style(FAINT.mix(0.35))
            .axis_style(FAINT)
            .label_style(letters(HPos::Center, VPos::Center))
            .axis_desc_style(letters(HPos::Center, VPos::Center))
            .x_labels(10)
            .x_label_formatter(&label)
            .x_desc(axis)
            .draw()?;
        let ends = [0.0, seconds].map(|time| chart.backend_coord(&(time, 1.0)));
        let per_second = f64::from(ends[1].0 - ends[0].0) / seconds;
        let plane = Plane { area, left: ends[0].0, top: ends[0].1, per_second };
        for (place, label) in labels.iter().enumerate() {
            let at = (plane.left - 16, plane.y(place as i32 * height + height / 2));
            area.draw(&Text::new(*label, at, letters(HPos::Right, VPos::Center)))?;
        }
        draw(&plane)
    })
}

/// Returns the name of a configuration's bar. Long lists of devices are cut, and followed by the number of devices.
fn label(series: &Series) -> String {
    const LONGEST: usize = 20;
    const BEGINNING: usize = 12;
    let selection = &series.configuration.selection;
    if selection.chars().count() <= LONGEST {
        return selection.clone();
    }
    let beginning: String = selection.chars().take(BEGINNING).collect();
    format!("{beginning}… ({})", series.device_count())
}

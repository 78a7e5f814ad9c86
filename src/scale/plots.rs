//! Plots as SVG: curves with intervals, and stacked bars. All have letters of one size, so narrow ones suit narrow
//! screens.

use super::colours::{FAINT, INK};
use super::spread::Spread;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width of plots, in units of about half a pixel on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotWidth {
    /// For a page that is read on a desk.
    Wide,
    /// For the screen of a telephone.
    Narrow,
}

impl PlotWidth {
    /// Returns the width.
    pub fn units(self) -> u32 {
        if self == Self::Wide { 1500 } else { 760 }
    }

    /// Returns how many numbers fit below an axis.
    fn labels(self) -> usize {
        if self == Self::Wide { 10 } else { 5 }
    }
}

/// Font size, in the same units.
pub(super) const LETTERS: u32 = 30;

/// The mean width of a letter.
pub(super) const LETTER: u32 = 14;

/// An area to draw on.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The result of drawing, which cannot fail when drawing into a string.
pub(super) type DrawResult = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws an SVG picture of this size.
pub(super) fn svg((width, height): (u32, u32), draw: impl FnOnce(&Area<'_>) -> DrawResult) -> String {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
    draw(&area).and_then(|()| area.present()).expect("writing to a string cannot fail, and ranges are finite");
    drop(area);
    text
}

/// Returns the text style of all plots, with this alignment.
pub(super) fn letters(h_pos: HPos, v_pos: VPos) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", LETTERS).into_font()).color(&INK).pos(Pos::new(h_pos, v_pos))
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotCurve {
    /// Its marks: a position along the horizontal axis and values along the other.
    pub marks: Vec<(f64, Spread)>,
    /// The points of the line of a prediction, which is dashed and has hollow marks. `None` for a measured curve, whose
    /// line goes from mark to mark.
    pub predicted: Option<Vec<(f64, f64)>>,
    /// Its colour.
    pub colour: RGBColor,
}

impl PlotCurve {
    /// Returns the points of its line.
    pub fn line(&self) -> Vec<(f64, f64)> {
        let marks = || self.marks.iter().map(|(at, spread)| (*at, spread.median)).collect();
        self.predicted.clone().unwrap_or_else(marks)
    }
}

/// An axis.
#[derive(Clone, Debug)]
pub struct PlotAxis {
    /// What it measures.
    pub title: &'static str,
    /// Where it begins and ends.
    pub range: (f64, f64),
    /// About how many numbers it has on a wide plot.
    pub labels: usize,
    /// Writes a number; empty for one that has no meaning.
    pub label: fn(f64) -> String,
}

/// A plot of curves.
#[derive(Clone, Debug)]
pub struct LinePlot {
    /// The horizontal axis.
    pub x: PlotAxis,
    /// The vertical axis.
    pub y: PlotAxis,
    /// Dashed lines that curves are compared with.
    pub ideal: Vec<Vec<(f64, f64)>>,
    /// The curves.
    pub curves: Vec<PlotCurve>,
    /// Lines without marks.
    pub plain: Vec<(Vec<(f64, f64)>, RGBColor)>,
}

impl LinePlot {
    /// Returns the plot as SVG.
    pub fn draw(&self, width: PlotWidth) -> String {
        let height = if width == PlotWidth::Wide { 800 } else { 620 };
        svg((width.units(), height), |area| {
            let mut chart = ChartBuilder::on(area)
                .margin(20)
                .x_label_area_size(80)
                .y_label_area_size(120)
                .build_cartesian_2d(self.x.range.0..self.x.range.1, self.y.range.0..self.y.range.1)?;
            chart
                .configure_mesh()
                .disable_x_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(FAINT.mix(0.35))
                .axis_style(FAINT)
                .label_style(letters(HPos::Center, VPos::Center))
                .axis_desc_style(letters(HPos::Center, VPos::Center))
                .x_labels(self.x.labels)
                .y_labels(self.y.labels)
                .x_label_formatter(&|value| (self.x.label)(*value))
                .y_label_formatter(&|value| (self.y.label)(*value))
                .x_desc(self.x.title)
                .y_desc(self.y.title)
                .draw()?;
            for line in &self.ideal {
                chart.draw_series(DashedLineSeries::new(line.iter().copied(), 12, 10, FAINT.stroke_width(3)))?;
            }
            for (place, (line, colour)) in self.plain.iter().enumerate() {
                // Of lines that cover one another, each shows.
                let width = 5 + 4 * (self.plain.len() - 1 - place).min(4) as u32;
                chart.draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(width)))?;
            }
            // Curves are shifted sideways, so that their ranges do not hide one another.
            let apart = 0.012 * (self.x.range.1 - self.x.range.0);
            for (place, curve) in self.curves.iter().enumerate() {
                let aside = (place as f64 - (self.curves.len() as f64 - 1.0) / 2.0) * apart;
                draw_curve(&mut chart, curve, aside)?;
            }
            Ok(())
        })
    }
}

/// A chart with numbers on both axes.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws a curve, shifted sideways by `aside`.
fn draw_curve(chart: &mut Chart<'_, '_>, curve: &PlotCurve, aside: f64) -> DrawResult {
    let colour = curve.colour;
    let line = curve.line().into_iter().map(|(at, value)| (at + aside, value));
    if curve.predicted.is_some() {
        chart.draw_series(DashedLineSeries::new(line, 20, 12, colour.stroke_width(4)))?;
        let ring = |(at, spread): &(f64, Spread)| Circle::new((at + aside, spread.median), 13, colour.stroke_width(4));
        chart.draw_series(curve.marks.iter().map(ring))?;
        return Ok(());
    }
    chart.draw_series(LineSeries::new(line, colour.stroke_width(5)))?;
    let range = |(at, spread): &(f64, Spread)| {
        ErrorBar::new_vertical(at + aside, spread.low, spread.median, spread.high, colour.stroke_width(3), 18)
    };
    chart.draw_series(curve.marks.iter().map(range))?;
    let mark = |(at, spread): &(f64, Spread)| Circle::new((at + aside, spread.median), 9, colour.filled());
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

/// Height of a bar, and of the gap between two bars.
const BAR: i32 = 46;
const GAP: i32 = 22;

/// Returns horizontal bars, all on one axis, each followed by its length as `sum` writes it.
pub fn stacked(width: PlotWidth, bars: &[Bar], colours: &[RGBColor], axis: &str, sum: fn(f64) -> String) -> String {
    let longest = bars.iter().map(|bar| bar.parts.iter().sum::<f64>()).fold(0.0, f64::max).max(1e-6);
    let labels = bars.iter().map(|bar| bar.label.as_str());
    let room = if width == PlotWidth::Wide { 1.1 } else { 1.2 };
    rows(width, labels, BAR + GAP, longest * room, axis, |plane| {
        for (place, bar) in bars.iter().enumerate() {
            let top = plane.row(place) + GAP / 2;
            let mut begin = 0.0;
            for (part, colour) in bar.parts.iter().zip(colours) {
                plane.rectangle((begin, begin + part), (top, top + BAR), colour.filled())?;
                begin += part;
            }
            let end = (plane.x(begin) + 12, plane.y(top + BAR / 2));
            plane.area.draw(&Text::new(sum(begin), end, letters(HPos::Left, VPos::Center)))?;
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
    /// The height of a row, and what of it is above what is drawn: its label, on narrow plots.
    row: i32,
    above: i32,
}

impl Plane<'_, '_> {
    /// Returns the x coordinate of a time.
    pub(super) fn x(&self, seconds: f64) -> i32 {
        self.left + (seconds * self.per_second).round() as i32
    }

    /// Returns the distance of a row from the top.
    pub(super) fn row(&self, place: usize) -> i32 {
        place as i32 * self.row + self.above
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

/// Returns a plot of named rows of equal height over an axis of seconds. Names stand before their rows, and on narrow
/// plots above them.
pub(super) fn rows<'l>(
    width: PlotWidth,
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
    let (left, above) = match width {
        PlotWidth::Wide => ((longest * LETTER as i32 + 40).max(90), 0),
        PlotWidth::Narrow => (40, LETTERS as i32),
    };
    let row = height + above;
    let bottom = TOP + row * labels.len() as i32;
    svg((width.units(), (bottom + AXIS) as u32), |area| {
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
            .x_labels(width.labels())
            .x_label_formatter(&label)
            .x_desc(axis)
            .draw()?;
        let ends = [0.0, seconds].map(|time| chart.backend_coord(&(time, 1.0)));
        let per_second = f64::from(ends[1].0 - ends[0].0) / seconds;
        let plane = Plane { area, left: ends[0].0, top: ends[0].1, per_second, row, above };
        for (place, label) in labels.iter().enumerate() {
            let (at, position) = match width {
                PlotWidth::Wide => ((plane.left - 16, plane.y(plane.row(place) + height / 2)), HPos::Right),
                PlotWidth::Narrow => ((plane.left, plane.y(plane.row(place) - above / 3)), HPos::Left),
            };
            area.draw(&Text::new(*label, at, letters(position, VPos::Center)))?;
        }
        draw(&plane)
    })
}

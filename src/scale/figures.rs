//! The figures of a study: what each shows, its legend and caption, for the page and as a file of its own.

use super::colours::{self, FAINT};
use super::plots::{Bar, LETTER, LETTERS, LinePlot, PlotAxis, PlotCurve, PlotWidth, letters, stacked, svg};
use super::predictions::PredictedConfiguration;
use super::spread::Spread;
use super::study::{MeasuredSpan, PHASES, Series, Study, coverage_of};
use super::study_set::StudySet;
use super::tables::{self, DEVICE_STAGES, device_seconds};
use super::work::Scaling;
use crate::stats::Stage;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyFigure {
    /// Its name, from which its file is named `figure-NAME.svg`.
    pub name: &'static str,
    /// What it shows.
    pub caption: String,
    /// Its legend.
    pub legend: Vec<LegendEntry>,
    /// As SVG without a legend, for wide pages.
    pub wide: String,
    /// The same for narrow pages.
    pub narrow: String,
}

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    /// What it explains.
    pub name: String,
    /// The colour in the figure.
    pub colour: RGBColor,
    /// Whether the colour is that of a dashed line.
    pub is_dashed: bool,
}

impl LegendEntry {
    /// Returns the entry of an area or a line.
    pub fn new(name: impl Into<String>, colour: RGBColor) -> Self {
        Self { name: name.into(), colour, is_dashed: false }
    }

    fn dashed(name: &str, colour: RGBColor) -> Self {
        Self { is_dashed: true, ..Self::new(name, colour) }
    }
}

impl StudyFigure {
    /// Draws a figure for wide and for narrow pages.
    pub fn new(
        name: &'static str,
        caption: impl Into<String>,
        legend: Vec<LegendEntry>,
        draw: impl Fn(PlotWidth) -> String,
    ) -> Self {
        let [wide, narrow] = [PlotWidth::Wide, PlotWidth::Narrow].map(draw);
        Self { name, caption: caption.into(), legend, wide, narrow }
    }

    /// Returns it as a file that stands alone: on white, with its legend below, and whether there are doubts about it.
    pub fn standalone(&self, doubts: usize) -> String {
        const LINE: u32 = 48;
        let (width, height) = (PlotWidth::Wide.units(), self.height());
        let (legend, legend_height) = legend_svg(&self.legend, width);
        let end = height + legend_height;
        let (all, doubt) = match doubts {
            0 => (end, String::new()),
            _ => (end + LINE, format!("In doubt: scale.html says why ({doubts} times)")),
        };
        let caption = self.caption.replace('&', "&amp;").replace('<', "&lt;");
        format!(
            "<svg width=\"{width}\" height=\"{all}\" viewBox=\"0 0 {width} {all}\" xmlns=\"http://www.w3.org/2000/svg\">\n\
             <title>{caption}</title>\n<rect width=\"{width}\" height=\"{all}\" fill=\"#FFFFFF\"/>\n\
             {}<g transform=\"translate(0,{height})\">\n{legend}</g>\n\
             <text x=\"40\" y=\"{}\" font-family=\"sans-serif\" font-size=\"{LETTERS}\" fill=\"#B3261E\">{doubt}</text>\n</svg>\n",
            self.wide,
            end + LINE / 2
        )
    }

    /// Returns the height of the wide form, which its first line has.
    fn height(&self) -> u32 {
        let number = self.wide.split_once(" height=\"").and_then(|(_, rest)| rest.split_once('"'));
        number.and_then(|(number, _)| number.parse().ok()).unwrap_or(0)
    }
}

/// Returns a legend as SVG, in as many lines as it needs, with its height.
fn legend_svg(entries: &[LegendEntry], width: u32) -> (String, u32) {
    const LINE: i32 = 44;
    const SWATCH: i32 = 40;
    let (mut at, mut places) = ((40, LINE / 2), Vec::new());
    for entry in entries {
        let needed = SWATCH + 12 + (entry.name.chars().count() as u32 * LETTER) as i32 + 40;
        if at.0 + needed > width as i32 && at.0 > 40 {
            at = (40, at.1 + LINE);
        }
        places.push(at);
        at.0 += needed;
    }
    let height = (at.1 + LINE / 2 + 10) as u32;
    let text = svg((width, height), |area| {
        for (entry, &(x, y)) in entries.iter().zip(&places) {
            let half = LETTERS as i32 / 3;
            if entry.is_dashed {
                for dash in 0..3 {
                    let begin = x + dash * 15;
                    let corners = [(begin, y - 2), (begin + 10, y + 2)];
                    area.draw(&Rectangle::new(corners, entry.colour.filled()))?;
                }
            } else {
                area.draw(&Rectangle::new([(x, y - half), (x + SWATCH, y + half)], entry.colour.filled()))?;
            }
            let beside = (x + SWATCH + 12, y);
            area.draw(&Text::new(entry.name.as_str(), beside, letters(HPos::Left, VPos::Center)))?;
        }
        Ok(())
    });
    (text, height)
}

/// Returns the figures of a whole study that are files of their own, too, in the order of the page.
pub fn figures(set: &StudySet) -> Vec<StudyFigure> {
    vec![speed_up(set), efficiency(set), times(set), breakdown(set), phases(set)]
}

/// A curve with its entry in the legend.
struct NamedCurve {
    entry: LegendEntry,
    curve: PlotCurve,
}

/// Returns a curve of one value of each configuration, by the number of devices.
fn measured(study: &Study, name: String, colour: RGBColor, value: impl Fn(&Series) -> Spread) -> NamedCurve {
    let mark = |series: &Series| (series.device_count() as f64, value(series));
    let mut marks: Vec<(f64, Spread)> = study.series.iter().map(mark).collect();
    marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    NamedCurve { entry: LegendEntry::new(name, colour), curve: PlotCurve { marks, predicted: None, colour } }
}

/// Returns a curve for each work.
fn each_work(set: &StudySet, value: impl Fn(&Study, &Series) -> Spread) -> Vec<NamedCurve> {
    let curve = |(place, study): (usize, &Study)| {
        let name =
            if set.studies.len() > 1 { study.name.clone() } else { "render: first submission to last pixel".into() };
        measured(study, name, colours::curve(place), |series| value(study, series))
    };
    set.studies.iter().enumerate().map(curve).collect()
}

/// Returns the predicted speed-up of a study, if there is one.
fn predicted(study: &Study, colour: RGBColor) -> Option<NamedCurve> {
    let predictions = study.forecast.predictions()?;
    let mark = |(series, predicted): (&Series, &PredictedConfiguration)| {
        (series.device_count() as f64, Spread::exact(predicted.times.render_speed_up))
    };
    let mut marks: Vec<(f64, Spread)> = study.series.iter().zip(&predictions.configurations).map(mark).collect();
    marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    // With a longer axis the measured part would shrink into a corner.
    let far = 2.0 * marks.last().map_or(1.0, |(count, _)| *count);
    let line = predictions.counts.iter().map(|one| (one.count as f64, one.times.render_speed_up));
    let line = line.filter(|(count, _)| *count <= far).collect();
    let curve = PlotCurve { marks, predicted: Some(line), colour };
    Some(NamedCurve { entry: LegendEntry::dashed("render, predicted", colour), curve })
}

/// Returns the curves of the figure of speed-up: of the only work the render, the process and the prediction, or of
/// each work the render.
fn speed_up_curves(set: &StudySet) -> Vec<NamedCurve> {
    let mut curves = each_work(set, |study, series| study.speed_up(series, MeasuredSpan::Render));
    if let [study] = &set.studies[..] {
        let process = |series: &Series| study.speed_up(series, MeasuredSpan::Process);
        curves.push(measured(study, "whole process: start to exit".into(), colours::curve(1), process));
        curves.extend(predicted(study, colours::curve(2)));
    }
    curves
}

fn speed_up(set: &StudySet) -> StudyFigure {
    let curves = speed_up_curves(set);
    let mut caption = format!(
        "Speed-up relative to one device, as in figure 11 of RenderAnts (Zhou et al. 2009): medians, with bars for their {} intervals.",
        coverage_of(&set.studies[0].one().render())
    );
    if set.studies.iter().any(|study| study.work.scaling == Scaling::Weak) {
        caption += " In weak scaling it counts pixels, of which more devices draw more.";
    }
    if curves.iter().any(|curve| curve.curve.predicted.is_some()) {
        caption += " Rings are predictions for the measured devices; the dashed curve is for equal devices.";
    }
    let count = last_count(&curves);
    let highest = highest(&curves).max(count);
    let plot = LinePlot {
        x: PlotAxis { title: "devices", range: (0.5, count + 0.5), labels: 16, label: whole },
        y: PlotAxis {
            title: "times as fast as one device",
            range: (0.0, highest * 1.08),
            labels: 10,
            label: |value| format!("{}x", (value * 100.0).round() / 100.0),
        },
        ideal: vec![vec![(1.0, 1.0), (count, count)]],
        curves: Vec::new(),
        plain: Vec::new(),
    };
    finish("speed-up", caption, plot, curves, "ideal: as many times faster as there are devices")
}

fn efficiency(set: &StudySet) -> StudyFigure {
    let curves = each_work(set, |study, series| study.efficiency(series, MeasuredSpan::Render));
    let count = last_count(&curves);
    let plot = LinePlot {
        x: PlotAxis { title: "devices", range: (0.5, count + 0.5), labels: 16, label: whole },
        y: PlotAxis {
            title: "efficiency",
            range: (0.0, highest(&curves).max(1.0) * 1.08),
            labels: 8,
            label: |value| format!("{:.0}%", value * 100.0),
        },
        ideal: vec![vec![(1.0, 1.0), (count, 1.0)]],
        curves: Vec::new(),
        plain: Vec::new(),
    };
    let caption = "Efficiency: speed-up divided by the number of devices.";
    finish("efficiency", caption.into(), plot, curves, "ideal: 100%")
}

/// The time of renders on logarithmic axes, where an ideal is a straight line.
fn times(set: &StudySet) -> StudyFigure {
    let log = |spread: Spread| spread.map(|seconds| seconds.max(1e-6).log2());
    let mut curves = each_work(set, |_, series| log(series.render()));
    for (at, _) in curves.iter_mut().flat_map(|curve| &mut curve.curve.marks) {
        *at = at.log2();
    }
    let ideal = |(study, curve): (&Study, &NamedCurve)| -> Vec<(f64, f64)> {
        let (marks, one) = (&curve.curve.marks, study.one().render().median.max(1e-6).log2());
        let slope = if study.work.scaling == Scaling::Weak { 0.0 } else { -1.0 };
        let ends = [marks.first(), marks.last()].into_iter().flatten();
        ends.map(|(at, _)| (*at, one + slope * at)).collect()
    };
    let ideal: Vec<Vec<(f64, f64)>> = set.studies.iter().zip(&curves).map(ideal).collect();
    let all = curves.iter().flat_map(|curve| &curve.curve.marks).flat_map(|(_, spread)| [spread.low, spread.high]);
    let all: Vec<f64> = all.chain(ideal.iter().flatten().map(|(_, value)| *value)).collect();
    let low = all.iter().copied().fold(f64::INFINITY, f64::min).floor();
    let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max).ceil().max(low + 1.0);
    let last = curves.iter().flat_map(|curve| &curve.curve.marks).map(|(at, _)| *at).fold(1.0, f64::max);
    let plot = LinePlot {
        x: PlotAxis { title: "devices", range: (-0.2, last + 0.2), labels: last.ceil() as usize + 2, label: power },
        y: PlotAxis { title: "seconds", range: (low, high), labels: (high - low) as usize + 1, label: power },
        ideal,
        curves: Vec::new(),
        plain: Vec::new(),
    };
    let caption = "Time from the first submission to the last pixel, both axes logarithmic: medians, with bars for their intervals.";
    let name = if set.studies.iter().all(|study| study.work.scaling == Scaling::Weak) {
        "ideal: the same time on any number of devices"
    } else {
        "ideal: half the time on twice the devices (in weak scaling the same time)"
    };
    finish("time", caption.into(), plot, curves, name)
}

/// Adds the curves to a plot, and the legend.
fn finish(name: &'static str, caption: String, plot: LinePlot, curves: Vec<NamedCurve>, ideal: &str) -> StudyFigure {
    let (mut legend, curves): (Vec<_>, Vec<_>) = curves.into_iter().map(|one| (one.entry, one.curve)).unzip();
    legend.push(LegendEntry::dashed(ideal, FAINT));
    let plot = LinePlot { curves, ..plot };
    StudyFigure::new(name, caption, legend, |width| plot.draw(width))
}

fn last_count(curves: &[NamedCurve]) -> f64 {
    let lines = curves.iter().flat_map(|curve| curve.curve.line());
    lines.map(|(count, _)| count).fold(1.0, f64::max)
}

fn highest(curves: &[NamedCurve]) -> f64 {
    curves.iter().flat_map(|curve| &curve.curve.marks).map(|(_, spread)| spread.high).fold(0.0, f64::max)
}

/// Plotters labels any round number, but only whole numbers of devices make sense.
fn whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-6 { format!("{value:.0}") } else { String::new() }
}

/// Returns the power of two at a whole number of a logarithmic axis.
fn power(value: f64) -> String {
    if (value - value.round()).abs() < 1e-6 { format!("{}", value.round().exp2()) } else { String::new() }
}

/// The colour of the scheduling of regions, which is no stage.
const SCHEDULING: RGBColor = RGBColor(0xF0, 0xE4, 0x42);

/// Returns the share of each stage in the time of one device, and that of scheduling, for each work.
pub fn breakdown_bars(set: &StudySet) -> Vec<Bar> {
    let bar = |study: &Study| {
        let series = study.one();
        let mut parts: Vec<f64> = DEVICE_STAGES.iter().map(|&stage| device_seconds(series, stage)).collect();
        parts.push(series.typical().stats.devices.iter().map(|device| device.scheduling_s).sum());
        let sum: f64 = parts.iter().sum::<f64>().max(1e-9);
        Bar { label: study.name.clone(), parts: parts.into_iter().map(|part| 100.0 * part / sum).collect() }
    };
    set.studies.iter().map(bar).collect()
}

fn breakdown(set: &StudySet) -> StudyFigure {
    let bars = breakdown_bars(set);
    let colours: Vec<RGBColor> = colours::STAGES.into_iter().chain([SCHEDULING]).collect();
    let names = DEVICE_STAGES.iter().map(|stage| stage.name()).chain(["scheduling"]);
    let is_shown = |place: usize| bars.iter().any(|bar| bar.parts[place] > 0.0);
    let entries = names.zip(&colours).enumerate().filter(|(place, _)| is_shown(*place));
    let legend = entries.map(|(_, (name, colour))| LegendEntry::new(name, *colour)).collect();
    let caption = "Breakdown of the rendering time on one device, as in figure 10 of RenderAnts (Zhou et al. 2009): the share of each \
                   stage by the device's clock, and of scheduling on the host.";
    let axis = "% of the rendering time on one device";
    StudyFigure::new("breakdown", caption, legend, |width| stacked(width, &bars, &colours, axis, |_| String::new()))
}

/// Returns the phases of each configuration's typical run, in seconds.
pub fn phase_bars(set: &StudySet) -> Vec<Bar> {
    let several = set.studies.len() > 1;
    let bar = |study: &Study, series: &Series| {
        let devices = label(series);
        let label = if several { format!("{}: {devices}", study.name) } else { devices };
        Bar { label, parts: series.typical().phases().into() }
    };
    set.studies.iter().flat_map(|study| study.series.iter().map(move |series| bar(study, series))).collect()
}

fn phases(set: &StudySet) -> StudyFigure {
    let bars = phase_bars(set);
    let legend = PHASES.into_iter().zip(colours::PHASES).map(|(name, colour)| LegendEntry::new(name, colour)).collect();
    let axis = "seconds of the whole process";
    StudyFigure::new("phases", "Where a user's time goes, by the devices that were used.", legend, |width| {
        stacked(width, &bars, &colours::PHASES, axis, tables::seconds)
    })
}

/// Returns the time of each configuration's devices in each stage, all devices added up, in seconds.
pub fn stage_bars(study: &Study) -> Vec<Bar> {
    let bar = |series: &Series| Bar {
        label: label(series),
        parts: DEVICE_STAGES.iter().map(|&stage: &Stage| device_seconds(series, stage)).collect(),
    };
    study.series.iter().map(bar).collect()
}

/// Returns the figure of [`stage_bars`].
pub fn stages(study: &Study) -> StudyFigure {
    let bars = stage_bars(study);
    let shown = DEVICE_STAGES.into_iter().zip(colours::STAGES).filter(|(stage, _)| tables::takes_time(study, *stage));
    let legend = shown.map(|(stage, colour)| LegendEntry::new(stage.name(), colour)).collect();
    StudyFigure::new("stages", "Time of all devices in each stage, by their own clocks.", legend, |width| {
        stacked(width, &bars, &colours::STAGES, "seconds of all devices", tables::seconds)
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

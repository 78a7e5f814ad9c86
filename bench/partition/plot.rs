//! Figure 6 of Chan et al. (2002) as a picture.

use crate::configurations::{COST_MODELS, pc};
use crate::report::Report;
use crate::tables::parts;
use plotters::prelude::*;
use spirv_gen::partition::{Dag, rds};

/// Width and height.
const SIZE: (u32, u32) = (900, 500);

/// The parts of a bar, from below.
const PARTS: [(&str, RGBColor); 4] = [
    ("overhead of passes", RGBColor(70, 110, 170)),
    ("restores", RGBColor(220, 130, 60)),
    ("fetches", RGBColor(110, 170, 100)),
    ("other operations", RGBColor(150, 150, 150)),
];

/// Stores what the cost of a shader's partitions by RDS is made of, by number of passes.
pub(crate) fn figure_6(report: &Report, dag: &Dag) {
    let mut bars: Vec<(usize, [f64; 4])> = (1..=8)
        .map(|number| {
            let partition = rds(dag, &pc(number));
            (partition.passes.len(), parts(&partition, &COST_MODELS[0].1))
        })
        .collect();
    bars.sort_by_key(|(passes, _)| *passes);
    let mut text = String::new();
    draw(&mut text, &bars).expect("writing to a string cannot fail, and ranges are finite");
    report.file("figure6.svg", &text);
}

fn draw(text: &mut String, bars: &[(usize, [f64; 4])]) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let most = bars.iter().map(|(_, parts)| parts.iter().sum::<f64>()).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(&area)
        .margin(15)
        .x_label_area_size(45)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..bars.len() as f64, 0.0..1.3 * most)?;
    let passes = |at: &f64| bars.get(*at as usize).filter(|_| at.fract() == 0.0).map(|(passes, _)| passes.to_string());
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(bars.len() + 1)
        .x_label_formatter(&|at| passes(at).unwrap_or_default())
        .x_desc("passes")
        .y_desc("cost")
        .draw()?;
    for (part, (name, colour)) in PARTS.iter().enumerate() {
        let rectangles = bars.iter().zip(0..).map(|((_, parts), at)| {
            let below: f64 = parts[..part].iter().sum();
            let left = f64::from(at);
            Rectangle::new([(left + 0.1, below), (left + 0.7, below + parts[part])], colour.filled())
        });
        chart
            .draw_series(rectangles)?
            .label(*name)
            .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()));
    }
    chart.configure_series_labels().background_style(WHITE).position(SeriesLabelPosition::UpperLeft).draw()?;
    area.present()
}

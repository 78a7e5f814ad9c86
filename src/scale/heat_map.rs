//! Heat maps of a picture: a colour for the value of each region or square of pixels, and the scale that explains it.

use super::device_map::Zoom;
use super::plots::{LETTERS, letters, svg};
use crate::film::encode_png;
use plotters::prelude::*;
use plotters::style::colors::colormaps::ViridisRGB;
use plotters::style::text_anchor::{HPos, VPos};

/// A map of values.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// What it shows.
    pub title: &'static str,
    /// What a value is, and where it comes from.
    pub about: &'static str,
    /// What the numbers of its scale count.
    pub unit: &'static str,
    /// Its values.
    pub patches: Vec<HeatPatch>,
    /// Whether borders between patches are drawn.
    pub bordered: bool,
}

/// A rectangle of pixels with a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatPatch {
    /// Its pixels: x0, y0, x1, y1, half-open.
    pub px: [i32; 4],
    /// Its value; not below 0.
    pub value: f64,
}

/// What no patch covers, and borders between patches.
const NOTHING: [u8; 3] = [0x80; 3];

impl HeatMap {
    /// Returns the largest value; 0 if there is none.
    pub fn max(&self) -> f64 {
        self.patches.iter().map(|patch| patch.value).filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    /// Returns the map of a picture of these pixels as a PNG.
    pub fn png(&self, crop_px: [i32; 4]) -> Vec<u8> {
        let [left, top, right, bottom] = crop_px;
        let zoom = Zoom::of(right.abs_diff(left));
        let [width, height] = [right.abs_diff(left), bottom.abs_diff(top)].map(|pixels| zoom.size(pixels));
        let mut colours = vec![NOTHING; width as usize * height as usize];
        let max = self.max();
        for patch in &self.patches {
            let [x0, y0, x1, y1] = patch.px;
            let [x0, x1] = [x0, x1].map(|x| zoom.place(x, left).min(width) as usize);
            let [y0, y1] = [y0, y1].map(|y| zoom.place(y, top).min(height) as usize);
            let RGBColor(r, g, b) = heat_colour(patch.value, max);
            for y in y0..y1 {
                let row = y * width as usize;
                colours[row + x0..row + x1].fill([r, g, b]);
                if self.bordered && x0 > 0 && x0 < x1 {
                    colours[row + x0] = NOTHING;
                }
            }
            if self.bordered && y0 > 0 && y0 < y1 {
                colours[y0 * width as usize + x0..y0 * width as usize + x1].fill(NOTHING);
            }
        }
        encode_png([width, height], &colours)
    }

    /// Returns the scale of its colours as SVG, from 0 to the largest value.
    pub fn scale(&self) -> String {
        const WIDTH: u32 = 760;
        const MARGIN: i32 = 70;
        const STEPS: i32 = 124;
        const BAR: i32 = 36;
        let max = self.max();
        svg((WIDTH, 140), |area| {
            let step = (WIDTH as i32 - 2 * MARGIN) / STEPS;
            for place in 0..STEPS {
                let colour = heat_colour(f64::from(place) + 0.5, f64::from(STEPS));
                let left = MARGIN + place * step;
                // Else the edges of neighbours, smoothed, let the page shine through.
                let overlap = i32::from(place + 1 < STEPS);
                area.draw(&Rectangle::new([(left, 8), (left + step + overlap, 8 + BAR)], colour.filled()))?;
            }
            for quarter in [0, 2, 4] {
                let at = (MARGIN + quarter * STEPS * step / 4, 8 + BAR + LETTERS as i32);
                area.draw(&Text::new(short(max * f64::from(quarter) / 4.0), at, letters(HPos::Center, VPos::Center)))?;
            }
            let at = (WIDTH as i32 / 2, 140 - LETTERS as i32 / 2 - 8);
            area.draw(&Text::new(self.unit, at, letters(HPos::Center, VPos::Center)))
        })
    }
}

/// Returns the colour of a value: from dark violet to yellow, evenly for the eye, with any colour vision (viridis).
fn heat_colour(value: f64, max: f64) -> RGBColor {
    let share = if max > 0.0 { (value / max).clamp(0.0, 1.0) } else { 0.0 };
    ViridisRGB::get_color(if share.is_finite() { share } else { 0.0 })
}

/// Returns a number with about three digits: 0.0123, 1.23, 123, 12.3 k, 1.23 M.
pub(super) fn short(value: f64) -> String {
    let (value, unit) = match value.abs() {
        size if size >= 1e9 => (value / 1e9, " G"),
        size if size >= 1e6 => (value / 1e6, " M"),
        size if size >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = match value.abs() {
        0.0 => 0,
        size if size >= 99.5 => 0,
        size if size >= 9.95 => 1,
        size if size >= 0.995 => 2,
        _ => 4,
    };
    format!("{value:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::shown_image;

    #[test]
    fn values_become_colours_that_grow_brighter() {
        let grey = |value: f64| {
            let RGBColor(r, g, b) = heat_colour(value, 8.0);
            2 * u32::from(r) + 7 * u32::from(g) + u32::from(b)
        };
        let steps: Vec<u32> = (0..=8).map(|value| grey(f64::from(value))).collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
        assert_eq!((heat_colour(9.0, 8.0), heat_colour(1.0, 0.0)), (heat_colour(8.0, 8.0), heat_colour(0.0, 8.0)));
        assert_eq!(heat_colour(f64::NAN, 8.0), heat_colour(0.0, 8.0));
    }

    #[test]
    fn numbers_are_short() {
        let table = [(0.0, "0"), (0.0123, "0.0123"), (1.234, "1.23"), (56.78, "56.8"), (1234.0, "1234")];
        for (value, expected) in table.into_iter().chain([(12_345.0, "12.3 k"), (2.5e6, "2.50 M")]) {
            assert_eq!(short(value), expected);
        }
    }

    #[test]
    fn each_pixel_has_the_colour_of_its_patch() {
        let patches = vec![HeatPatch { px: [-2, 0, 0, 2], value: 0.0 }, HeatPatch { px: [0, 0, 2, 1], value: 4.0 }];
        let map = HeatMap { title: "t", about: "a", unit: "u", patches, bordered: false };
        let file = tempfile::NamedTempFile::new().expect("writable");
        std::fs::write(&file, map.png([-2, 0, 2, 2])).expect("writable");
        let decoded = shown_image(file.path()).expect("a PNG");
        // Small pictures are enlarged: a pixel is a square of 16 x 16.
        assert_eq!(decoded.size, [64, 32]);
        let colour = |value: f64| {
            let RGBColor(r, g, b) = heat_colour(value, 4.0);
            [r, g, b]
        };
        let at = |x, y| decoded.colour([x, y]);
        assert_eq!([at(0, 0), at(31, 31), at(32, 15), at(63, 16)], [colour(0.0), colour(0.0), colour(4.0), NOTHING]);
        let scale = map.scale();
        assert!(roxmltree::Document::parse(&scale).is_ok() && scale.contains(">\n4.00\n</text>"), "{scale}");
    }
}

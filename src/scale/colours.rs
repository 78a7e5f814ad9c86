//! Colours of plots: what they mean is the same in all of them.

use plotters::style::{Color as _, HSLColor, RGBColor};

/// Text and axes. The page's style sheet replaces it and [`FAINT`] to suit a light or a dark background.
pub(super) const INK: RGBColor = RGBColor(0x11, 0x22, 0x33);

/// Grid lines and ideal curves.
pub(super) const FAINT: RGBColor = RGBColor(0x77, 0x88, 0x99);

/// Everything that has no colour of its own.
pub(super) const GREY: RGBColor = RGBColor(0x8A, 0x93, 0x9B);

/// Colours that can be distinguished with any colour vision (Okabe and Ito 2008), without black and without those that
/// are faint on white.
const DISTINCT: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0xD5, 0x5E, 0x00),
];

/// Phases of a process, in order. The phase that devices share, drawing regions, stands out.
pub(super) const PHASES: [RGBColor; 6] = [
    GREY,
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0x00, 0x9E, 0x73),
];

/// Stages of the pipeline, in order.
pub(super) const STAGES: [RGBColor; 10] = [
    GREY,
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0xB3, 0xA1, 0x2B),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x8C, 0x56, 0x4B),
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x7A, 0x5F, 0xB8),
];

/// Returns the colour of a device, by its position among the opened ones.
pub(super) fn device(place: usize) -> RGBColor {
    // Steps of the golden angle never come close to an earlier hue.
    let hue = (place as f64 * 0.381_966).fract();
    let (r, g, b) = HSLColor(hue, 0.55, if place.is_multiple_of(2) { 0.45 } else { 0.6 }).rgb();
    DISTINCT.get(place).copied().unwrap_or(RGBColor(r, g, b))
}

/// Returns the colour of a curve, by its position in the legend.
pub(super) fn curve(place: usize) -> RGBColor {
    DISTINCT[place % DISTINCT.len()]
}

/// Returns the colour as `#rrggbb`.
pub(super) fn css(colour: RGBColor) -> String {
    let RGBColor(r, g, b) = colour;
    format!("#{r:02X}{g:02X}{b:02X}")
}

//! Pictures made smaller: filters, and the levels of a texture.

use super::error::TextureError;
use super::header::WrapMode;
use crate::parallel::in_parallel;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

/// Rows of a result that are made together at least, of the same narrowed rows. With wide filters they are more, as
/// neighbours need the same rows at their border.
const BAND_ROWS: usize = 16;

/// The most samples of a picture: 2 GiB as floats.
pub(super) const SAMPLES_MAX: u64 = 1 << 29;

/// By which texels a texel of a smaller level is averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MakeFilter {
    /// All texels alike that it covers.
    #[default]
    Box,
    /// Linearly less with the distance.
    Triangle,
    /// A bell curve.
    Gaussian,
    /// Keys' cubic, which sharpens.
    CatmullRom,
    /// The cubic B-spline, which blurs.
    BSpline,
    /// The cubic of Mitchell and Netravali.
    Mitchell,
    /// The sine cardinal under a cosine window.
    Sinc,
    /// Lanczos' windowed sine cardinal.
    Lanczos,
}

impl MakeFilter {
    /// All filters with their names, and their widths in texels of the smaller level.
    const TABLE: [(Self, &'static str, f32); 8] = [
        (Self::Box, "box", 1.0),
        (Self::Triangle, "triangle", 2.0),
        (Self::Gaussian, "gaussian", 2.0),
        (Self::CatmullRom, "catmull-rom", 4.0),
        (Self::BSpline, "b-spline", 4.0),
        (Self::Mitchell, "mitchell", 4.0),
        (Self::Sinc, "sinc", 4.0),
        (Self::Lanczos, "lanczos", 6.0),
    ];

    /// Returns the names of all filters.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::TABLE.into_iter().map(|(_, name, _)| name)
    }

    /// Returns the filter of a name in requests.
    pub fn named(name: &str) -> Option<Self> {
        Self::TABLE.into_iter().find(|(_, known, _)| *known == name).map(|(filter, ..)| filter)
    }

    fn default_width(self) -> f32 {
        Self::TABLE.into_iter().find(|(filter, ..)| *filter == self).map_or(1.0, |(.., width)| width)
    }

    /// Returns the weight at a distance from the centre, for a filter of this width.
    fn weight(self, x: f64, width: f64) -> f64 {
        let x = x.abs();
        if x > width * 0.5 {
            return 0.0;
        }
        let cubic = |b: f64, c: f64| match x {
            x if x < 1.0 => {
                (12.0 - 9.0 * b - 6.0 * c) * x.powi(3) + (12.0 * b + 6.0 * c - 18.0) * x * x + 6.0 - 2.0 * b
            }
            x if x < 2.0 => {
                (-b - 6.0 * c) * x.powi(3) + (6.0 * b + 30.0 * c) * x * x - (12.0 * b + 48.0 * c) * x
                    + 8.0 * b
                    + 24.0 * c
            }
            _ => 0.0,
        };
        let sinc = |x: f64| if x == 0.0 { 1.0 } else { (std::f64::consts::PI * x).sin() / (std::f64::consts::PI * x) };
        match self {
            Self::Box => 1.0,
            Self::Triangle => 1.0 - x / (width * 0.5),
            Self::Gaussian => (-8.0 * (x / width).powi(2)).exp(),
            Self::CatmullRom => cubic(0.0, 0.5),
            Self::BSpline => cubic(1.0, 0.0),
            Self::Mitchell => cubic(1.0 / 3.0, 1.0 / 3.0),
            Self::Sinc => sinc(x) * (std::f64::consts::PI * x / width).cos(),
            Self::Lanczos => sinc(x) * sinc(2.0 * x / width),
        }
    }
}

/// A filter with its widths along s and t, in texels of the smaller level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelFilter {
    pub(super) filter: MakeFilter,
    pub(super) widths: Option<[f32; 2]>,
    pub(super) wrap: [WrapMode; 2],
    /// Whether values stay from 0 to 1, as those are of which they are made.
    pub(super) is_clamped: bool,
}

impl LevelFilter {
    /// Takes away what negative weights add beyond the range of colours, if that is wanted.
    pub(super) fn clamp(self, row: &mut [f32]) {
        if self.is_clamped {
            row.iter_mut().for_each(|value| *value = value.clamp(0.0, 1.0));
        }
    }
}

/// A picture: channels of a texel next to each other, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Texels {
    pub(super) size: [u32; 2],
    pub(super) channels: u32,
    pub(super) values: Vec<f32>,
}

impl Texels {
    /// Returns the values of a texel, to be changed.
    pub(super) fn at_mut(&mut self, [x, y]: [u32; 2]) -> &mut [f32] {
        let channels = self.channels as usize;
        let begin = (y as usize * self.size[0] as usize + x as usize) * channels;
        &mut self.values[begin..begin + channels]
    }

    /// Returns the picture in another size, or nothing if `show` wants to stop.
    pub(super) fn resized(
        &self,
        size: [u32; 2],
        filter: LevelFilter,
        show: &(dyn Fn() -> ControlFlow<()> + Sync),
    ) -> Option<Self> {
        let [across, down] = [0, 1].map(|axis| taps(self.size[axis], size[axis], filter, axis));
        let channels = self.channels as usize;
        let row_values = size[0] as usize * channels;
        let mut resized = Self::empty(size, self.channels);
        let band_rows = down.first().map_or(0, |taps| 4 * taps.len()).max(BAND_ROWS);
        let bands = resized.values.chunks_mut(band_rows * row_values).zip(down.chunks(band_rows)).collect();
        let made = in_parallel(bands, |(band, down): (&mut [f32], &[Taps])| {
            show()?;
            let mut narrow = BTreeMap::new();
            for (row, taps) in band.chunks_exact_mut(row_values).zip(down) {
                // Zeroes are written, not read: to read new memory first costs a second page fault.
                row.fill(0.0);
                for &(from, weight) in taps {
                    add(row, narrow.entry(from).or_insert_with(|| narrowed(self.row(from), channels, &across)), weight);
                }
                filter.clamp(row);
            }
            ControlFlow::Continue(())
        });
        made.iter().all(ControlFlow::is_continue).then_some(resized)
    }

    /// Returns the values of a row.
    pub(super) fn row(&self, y: u32) -> &[f32] {
        let row_values = self.size[0] as usize * self.channels as usize;
        &self.values[y as usize * row_values..][..row_values]
    }

    /// Creates a black picture.
    pub(super) fn empty(size: [u32; 2], channels: u32) -> Self {
        let values = vec![0.0; size[0] as usize * size[1] as usize * channels as usize];
        Self { size, channels, values }
    }

    /// Fills all rows, several at once.
    pub(super) fn fill_rows(&mut self, fill: impl Fn(u32, &mut [f32]) + Sync) {
        let row_values = self.size[0] as usize * self.channels as usize;
        let rows = self.values.chunks_exact_mut(row_values).zip(0..).collect();
        in_parallel(rows, |(row, y): (&mut [f32], u32)| fill(y, row));
    }
}

/// Refuses a picture before memory is taken for it.
pub(super) fn check_size(path: &Path, width: u64, height: u64, channels: u64) -> Result<(), TextureError> {
    if width.saturating_mul(height).saturating_mul(channels) > SAMPLES_MAX {
        let reason =
            format!("{width} x {height} texels of {channels} channels are too many; {SAMPLES_MAX} samples fit");
        return Err(TextureError::unsupported(path, reason));
    }
    Ok(())
}

/// Returns a row in another width.
pub(super) fn narrowed(row: &[f32], channels: usize, across: &[Taps]) -> Vec<f32> {
    let mut narrow = vec![0.0; across.len() * channels];
    for (out, taps) in narrow.chunks_exact_mut(channels).zip(across) {
        for &(x, weight) in taps {
            add(out, &row[x as usize * channels..][..channels], weight);
        }
    }
    narrow
}

/// Adds weighted values.
pub(super) fn add(out: &mut [f32], values: &[f32], weight: f32) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out += value * weight);
}

/// Texels along one axis of which a texel of another size consists, with their weights.
pub(super) type Taps = Vec<(u32, f32)>;

/// Returns what each texel of the other size consists of.
fn taps(from: u32, to: u32, filter: LevelFilter, axis: usize) -> Vec<Taps> {
    let filter = AxisFilter::new(from, to, filter, axis);
    (0..to).map(|at| filter.taps(at)).collect()
}

/// How texels along one axis are made of those of another size.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisFilter {
    from: u32,
    scale: f64,
    filter: MakeFilter,
    /// In texels of the smaller level.
    width: f64,
    /// Texels of the other size in one of the width.
    unit: f64,
    wrap: WrapMode,
}

impl AxisFilter {
    pub(super) fn new(from: u32, to: u32, filter: LevelFilter, axis: usize) -> Self {
        let scale = f64::from(from) / f64::from(to);
        let width = filter.widths.map_or(filter.filter.default_width(), |widths| widths[axis]);
        // A picture that is made larger is filtered by the size of its own texels.
        let unit = scale.max(1.0);
        let width = f64::from(width).clamp(0.1, 64.0);
        Self { from, scale, filter: filter.filter, width, unit, wrap: filter.wrap[axis] }
    }

    /// Returns what a texel consists of.
    pub(super) fn taps(&self, at: u32) -> Taps {
        let Self { from, filter, width, unit, .. } = *self;
        let center = (f64::from(at) + 0.5) * self.scale;
        let reach = width * 0.5 * unit;
        let (first, last) = ((center - reach).floor() as i64, (center + reach).ceil() as i64);
        let weight = |texel: i64| {
            let place = texel as f64;
            if filter == MakeFilter::Box {
                return ((place + 1.0).min(center + reach) - place.max(center - reach)).max(0.0);
            }
            filter.weight((place + 0.5 - center) / unit, width)
        };
        let mut taps: Vec<(u32, f64)> = Vec::new();
        for texel in first..last {
            let (Some(inside), weight) = (wrapped(texel, from, self.wrap), weight(texel)) else { continue };
            if weight != 0.0 {
                taps.push((inside, weight));
            }
        }
        let sum: f64 = taps.iter().map(|(_, weight)| weight).sum();
        if sum.abs() < 1e-9 {
            // The filter is narrower than a texel.
            return vec![((center as u32).min(from - 1), 1.0)];
        }
        taps.into_iter().map(|(texel, weight)| (texel, (weight / sum) as f32)).collect()
    }
}

/// Returns the texel that is seen at a place outside. Black counts nothing: an edge is not darkened by what is beyond
/// it.
fn wrapped(texel: i64, side: u32, wrap: WrapMode) -> Option<u32> {
    let side = i64::from(side);
    let inside = match wrap {
        WrapMode::Black if !(0..side).contains(&texel) => return None,
        WrapMode::Black | WrapMode::Clamp => texel.clamp(0, side - 1),
        WrapMode::Periodic => texel.rem_euclid(side),
        WrapMode::Mirror => {
            let turn = texel.rem_euclid(2 * side);
            turn.min(2 * side - 1 - turn)
        }
    };
    u32::try_from(inside).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(filter: MakeFilter, wrap: WrapMode) -> LevelFilter {
        LevelFilter { filter, widths: None, wrap: [wrap; 2], is_clamped: false }
    }

    fn resized(texels: &Texels, size: [u32; 2], filter: LevelFilter) -> Texels {
        texels.resized(size, filter, &|| ControlFlow::Continue(())).expect("nobody stops it")
    }

    #[test]
    fn a_box_averages_what_it_covers() {
        let texels = Texels { size: [4, 2], channels: 1, values: vec![1.0, 3.0, 0.0, 8.0, 5.0, 7.0, 0.0, 0.0] };
        let half = resized(&texels, [2, 1], filter(MakeFilter::Box, WrapMode::Black));
        assert_eq!(half.values, [4.0, 2.0]);
        let row = Texels { size: [3, 1], channels: 1, values: vec![3.0, 6.0, 9.0] };
        let one = resized(&row, [1, 1], filter(MakeFilter::Box, WrapMode::Clamp));
        assert!((one.values[0] - 6.0).abs() < 1e-6);
        // Five texels become two: each covers two and a half.
        let row = Texels { size: [5, 1], channels: 1, values: vec![1.0, 1.0, 2.0, 5.0, 5.0] };
        let two = resized(&row, [2, 1], filter(MakeFilter::Box, WrapMode::Clamp));
        assert!((two.values[0] - 1.2).abs() < 1e-6 && (two.values[1] - 4.4).abs() < 1e-6, "{two:?}");
    }

    #[test]
    fn every_filter_keeps_a_constant() {
        let texels = Texels { size: [13, 7], channels: 2, values: [0.25, 4.0].repeat(13 * 7) };
        for name in MakeFilter::names() {
            let named = MakeFilter::named(name).expect("it is in the table");
            for (wrap, size) in WrapMode::ALL.into_iter().zip([[6, 3], [1, 1], [13, 2], [16, 8]]) {
                let resized = resized(&texels, size, filter(named, wrap));
                let is_same = |texel: &[f32]| (texel[0] - 0.25).abs() < 1e-5 && (texel[1] - 4.0).abs() < 1e-4;
                assert!(resized.values.chunks_exact(2).all(is_same), "{name} {size:?}: {resized:?}");
            }
        }
    }

    #[test]
    fn rows_are_the_same_wherever_bands_end() {
        let values = (0..3 * 200).map(|i| (i * i % 251) as f32).collect();
        let texels = Texels { size: [3, 200], channels: 1, values };
        for name in MakeFilter::names() {
            let filter = filter(MakeFilter::named(name).expect("it is in the table"), WrapMode::Mirror);
            let [across, down] = [taps(3, 2, filter, 0), taps(200, 100, filter, 1)];
            let narrow: Vec<Vec<f32>> = (0..200).map(|y| narrowed(texels.row(y), 1, &across)).collect();
            let mut expected = Vec::new();
            for taps in &down {
                let mut row = vec![0.0; 2];
                taps.iter().for_each(|&(from, weight)| add(&mut row, &narrow[from as usize], weight));
                expected.extend(row);
            }
            assert_eq!(resized(&texels, [2, 100], filter).values, expected, "{name}");
        }
    }

    #[test]
    fn texels_beyond_the_edge_depend_on_the_wrap() {
        let row = Texels { size: [4, 1], channels: 1, values: vec![0.0, 0.0, 0.0, 8.0] };
        let wide = |wrap| LevelFilter { widths: Some([2.0, 1.0]), ..filter(MakeFilter::Box, wrap) };
        let first = |wrap| resized(&row, [2, 1], wide(wrap)).values;
        // The first covers texels -1 to 2, the second 1 to 4.
        assert_eq!(first(WrapMode::Periodic), [2.0, 2.0]);
        assert_eq!(first(WrapMode::Clamp), [0.0, 4.0]);
        assert_eq!(first(WrapMode::Mirror), [0.0, 4.0]);
        let black = first(WrapMode::Black);
        assert!(black[0] == 0.0 && (black[1] - 8.0 / 3.0).abs() < 1e-5, "{black:?}");
        assert_eq!([-1, 4, 9].map(|texel| wrapped(texel, 4, WrapMode::Mirror)), [Some(0), Some(3), Some(1)]);
    }
}

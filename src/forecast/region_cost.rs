//! The time that a region takes: a formula over what the region holds, whose rates are fitted to measured regions.
//!
//! ```text
//! t(region) = r + micropolygons * m + subpixels * s + shaded vertices * v + entries * e
//! ```
//! Micropolygons are those that the table counts in the region, plus those of neighbouring grids that extend across its
//! border; subpixels include the filter's apron. No table knows before drawing what will be shaded and composited, so
//! both are taken from where the measured regions had them. docs/cost.md explains each term.
//! The constant term covers everything that does not depend on the region's size, above all testing every grid of the
//! picture, so rates apply to one picture on one kind of device.

use crate::schedule::{Axis, Rates, Region, SquareCounts, SquareGrid, SquareGrids, SummedArea};
use crate::schedule::{square_from, square_of, square_start};
use serde::Serialize;
use std::sync::Arc;
use thiserror::Error;

/// Number of regions below which the rates of the formula cannot be fitted.
pub const FIT_REGIONS_MIN: usize = 8;

/// Number of terms in the formula.
const TERMS: usize = 5;

/// A column whose squared length drops below this fraction once the other columns are projected out is linearly
/// dependent on them.
const PIVOT_MIN: f64 = 1e-4;

/// A picture, with everything that determines the load of its regions.
#[derive(Clone, Debug)]
pub struct PictureCost {
    /// Counts of the picture.
    pub table: Arc<SummedArea>,
    /// Samples per pixel in x and y.
    pub samples: [u32; 2],
    /// Pixels that are sampled beyond each border for the filter.
    pub apron_px: [u32; 2],
    /// Mean width and height of what a grid covers, in pixels.
    pub grid_px: [f64; 2],
    /// Where vertices were shaded and entries composited.
    pub shading: MeasuredShading,
}

/// Where vertices were shaded and entries composited in a measured picture.
#[derive(Clone, Debug)]
pub struct MeasuredShading {
    /// Counts shaded vertices as micropolygons, and entries as translucent micropolygons.
    table: SummedArea,
}

/// The shading work of a measured region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionShading {
    /// The region.
    pub region: Region,
    /// Number of vertices at which colour was computed.
    pub shaded_vertices: u64,
    /// Number of translucent entries.
    pub entries: u64,
}

/// The quantities that the time of a region depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegionLoad {
    /// Number of micropolygons of the grids that the region selects.
    pub micropolygons: f64,
    /// Number of subpixels, apron included.
    pub subpixels: f64,
    /// Number of vertices at which colour is computed.
    pub shaded_vertices: f64,
    /// Number of translucent micropolygons in cells of 32 samples.
    pub entries: f64,
}

impl RegionLoad {
    /// Returns the factors of the formula's terms, in the order of [`CostRates::to_array`].
    fn factors(self) -> [f64; TERMS] {
        [1.0, self.micropolygons, self.subpixels, self.shaded_vertices, self.entries]
    }
}

impl PictureCost {
    /// Creates a picture without measured shading.
    pub fn new(table: Arc<SummedArea>, samples: [u32; 2], apron_px: [u32; 2], grid_px: [f64; 2]) -> Self {
        let picture = table.picture();
        let nothing = vec![SquareCounts::default(); SquareGrid::of(picture).square_count()];
        let shading = MeasuredShading { table: SummedArea::new(picture, &nothing, Rates::default()) };
        Self { table, samples, apron_px, grid_px, shading }
    }

    /// Returns what `region` holds, including neighbouring grids and the apron.
    pub fn load(&self, region: Region) -> RegionLoad {
        let (counts, shading) = (self.table.estimate(region), self.shading.table.estimate(region));
        let across = self.growth(region, Axis::X, 0) * self.growth(region, Axis::Y, 1);
        let along = |axis, i: usize| f64::from(self.samples[i]) * f64::from(region.length(axis) + 2 * self.apron_px[i]);
        RegionLoad {
            micropolygons: counts.micropolygons * across,
            subpixels: along(Axis::X, 0) * along(Axis::Y, 1),
            shaded_vertices: shading.micropolygons * across,
            entries: shading.translucent,
        }
    }

    /// Adds the shading of measured regions. Grids across a border are shaded on both sides, which is corrected for.
    pub fn add_measured_shading(&mut self, regions: &[RegionShading]) {
        let picture = self.table.picture();
        let layout = SquareGrid::of(picture);
        let mut squares = vec![[0.0; 2]; layout.square_count()];
        for measured in regions {
            let across = self.growth(measured.region, Axis::X, 0) * self.growth(measured.region, Axis::Y, 1);
            let totals = [measured.shaded_vertices as f64 / across, measured.entries as f64];
            self.spread(measured.region, totals, &layout, &mut squares);
        }
        let count = |[shaded, entries]: &[f64; 2]| SquareCounts {
            micropolygons: shaded.round() as u64,
            grids: SquareGrids::default(),
            translucent: entries.round() as u64,
        };
        let squares: Vec<SquareCounts> = squares.iter().map(count).collect();
        self.shading = MeasuredShading { table: SummedArea::new(picture, &squares, Rates::default()) };
    }

    /// Distributes the totals of a region over its squares in proportion to their micropolygons, or evenly if there are
    /// none.
    fn spread(&self, region: Region, totals: [f64; 2], layout: &SquareGrid, squares: &mut [[f64; 2]]) {
        let Some(region) = self.table.picture().intersection(region) else { return };
        let whole = self.table.estimate(region);
        let [x0, y0, x1, y1] = region.to_array();
        for y in square_of(y0)..square_from(y1) {
            for x in square_of(x0)..square_from(x1) {
                let square = Region::new([x, y, x + 1, y + 1].map(square_start));
                let Some(part) = square.and_then(|square| square.intersection(region)) else { continue };
                let share = if whole.micropolygons > 0.0 {
                    self.table.estimate(part).micropolygons / whole.micropolygons
                } else {
                    part.pixel_count() as f64 / whole.pixels as f64
                };
                let index = (y - layout.first[1]) as usize * layout.size[0] as usize + (x - layout.first[0]) as usize;
                squares[index].iter_mut().zip(totals).for_each(|(sum, total)| *sum += total * share);
            }
        }
    }

    /// Returns the factor by which the selected grids make the region longer along an axis: on each side that has a
    /// neighbour, the apron and half a grid are added.
    fn growth(&self, region: Region, axis: Axis, i: usize) -> f64 {
        let (outer, inner) = (self.table.picture().span(axis), region.span(axis));
        let sides = u8::from(inner.0 > outer.0) + u8::from(inner.1 < outer.1);
        let each = self.grid_px[i] / 2.0 + f64::from(self.apron_px[i]);
        1.0 + f64::from(sides) * each / f64::from(region.length(axis))
    }
}

/// Cost rates in seconds on a device of speed 1; none is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CostRates {
    /// Seconds of a region whatever it holds: its submissions, and testing every grid of the picture.
    pub region_s: f64,
    /// Seconds of a micropolygon of a selected grid: culled, or diced, displaced, hidden or sampled.
    pub micropolygon_s: f64,
    /// Seconds of a subpixel: cleared, looked up, composited, filtered.
    pub subpixel_s: f64,
    /// Seconds of a shaded vertex: diced again, displaced again, coloured, packed.
    pub shaded_vertex_s: f64,
    /// Seconds of a translucent entry: appended, sorted, composited.
    pub entry_s: f64,
}

impl CostRates {
    /// Returns the seconds that a region with this load takes.
    pub fn seconds(&self, load: RegionLoad) -> f64 {
        self.to_array().iter().zip(load.factors()).map(|(rate, factor)| rate * factor).sum()
    }

    fn to_array(self) -> [f64; TERMS] {
        [self.region_s, self.micropolygon_s, self.subpixel_s, self.shaded_vertex_s, self.entry_s]
    }

    fn from_array([region_s, micropolygon_s, subpixel_s, shaded_vertex_s, entry_s]: [f64; TERMS]) -> Self {
        Self { region_s, micropolygon_s, subpixel_s, shaded_vertex_s, entry_s }
    }
}

/// The load of a measured region and the time that it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedRegion {
    /// What the region held.
    pub load: RegionLoad,
    /// Device time in seconds.
    pub seconds: f64,
}

/// Fitted rates, and how well they fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FittedRates {
    /// The rates.
    pub rates: CostRates,
    /// Number of regions that the rates were fitted to.
    pub regions: usize,
    /// Root mean square of the regions' relative errors.
    pub relative_error: f64,
}

/// Why no rates could be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FitError {
    /// There are too few regions.
    #[error("{found} measured regions are too few to fit rates to: at least {FIT_REGIONS_MIN} are needed")]
    TooFew {
        /// Number of regions that took any time.
        found: usize,
    },
    /// No combination of non-negative rates explains the times.
    #[error("the times of the regions cannot be explained by what the regions hold")]
    Degenerate,
}

/// Fits rates to regions: non-negative least squares of the relative errors, then scaled so that the sum of the times
/// is right.
///
/// Relative errors are used because a region's time varies in proportion to itself. With five rates the best subset of
/// the terms is found by trying all subsets, which is the exact non-negative solution (Lawson and Hanson 1974, chapter
/// 23).
///
/// # Errors
/// If there are too few regions, or they are too similar.
pub fn fit_rates(regions: &[TimedRegion]) -> Result<FittedRates, FitError> {
    let usable = |region: &&TimedRegion| region.seconds.is_finite() && region.seconds > 0.0;
    let regions: Vec<_> = regions.iter().filter(usable).copied().collect();
    if regions.len() < FIT_REGIONS_MIN {
        return Err(FitError::TooFew { found: regions.len() });
    }
    let rows: Vec<[f64; TERMS]> = regions.iter().map(|r| r.load.factors().map(|factor| factor / r.seconds)).collect();
    let candidates =
        (1_u8..1 << TERMS).filter_map(|terms| solve(&rows, terms)).filter(|rates| rates.iter().all(|r| *r >= 0.0));
    let square_error = |rates: &[f64; TERMS]| -> f64 {
        let error = |row: &[f64; TERMS]| row.iter().zip(rates).map(|(a, b)| a * b).sum::<f64>() - 1.0;
        rows.iter().map(|row| error(row).powi(2)).sum()
    };
    let best = candidates.min_by(|a, b| square_error(a).total_cmp(&square_error(b))).ok_or(FitError::Degenerate)?;
    let rates = CostRates::from_array(best);
    let measured: f64 = regions.iter().map(|region| region.seconds).sum();
    let explained: f64 = regions.iter().map(|region| rates.seconds(region.load)).sum();
    let scale = measured / explained;
    if !scale.is_finite() {
        return Err(FitError::Degenerate);
    }
    let scaled = best.map(|rate| rate * scale);
    let relative_error = (square_error(&scaled) / rows.len() as f64).sqrt();
    Ok(FittedRates { rates: CostRates::from_array(scaled), regions: rows.len(), relative_error })
}

/// Returns the rates, of the terms whose bits are set, that bring `rows * rates` closest to ones; `None` if the columns
/// are linearly dependent. Solves the normal equations by Cholesky's method, with each column scaled to length one.
fn solve(rows: &[[f64; TERMS]], terms: u8) -> Option<[f64; TERMS]> {
    let used: Vec<usize> = (0..TERMS).filter(|i| terms & (1 << i) != 0).collect();
    let norms: Vec<f64> = used.iter().map(|&i| rows.iter().map(|row| row[i] * row[i]).sum::<f64>().sqrt()).collect();
    if norms.iter().any(|norm| *norm <= 0.0 || !norm.is_finite()) {
        return None;
    }
    let entry =
        |a: usize, b: usize| rows.iter().map(|row| row[used[a]] * row[used[b]]).sum::<f64>() / (norms[a] * norms[b]);
    let count = used.len();
    let (mut lower, mut solution) = ([[0.0; TERMS]; TERMS], [0.0; TERMS]);
    for i in 0..count {
        for j in 0..=i {
            let left = entry(i, j) - (0..j).map(|k| lower[i][k] * lower[j][k]).sum::<f64>();
            if i == j && left < PIVOT_MIN {
                return None;
            }
            lower[i][j] = if i == j { left.sqrt() } else { left / lower[j][j] };
        }
        let right = rows.iter().map(|row| row[used[i]]).sum::<f64>() / norms[i];
        solution[i] = (right - (0..i).map(|k| lower[i][k] * solution[k]).sum::<f64>()) / lower[i][i];
    }
    let mut rates = [0.0; TERMS];
    for i in (0..count).rev() {
        solution[i] = (solution[i] - (i + 1..count).map(|k| lower[k][i] * solution[k]).sum::<f64>()) / lower[i][i];
        rates[used[i]] = solution[i] / norms[i];
    }
    Some(rates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::perturb::Random;

    const RATES: CostRates =
        CostRates { region_s: 0.01, micropolygon_s: 2e-6, subpixel_s: 3e-8, shaded_vertex_s: 1e-6, entry_s: 5e-6 };

    fn measured(noise: f64, translucent: bool) -> Vec<TimedRegion> {
        let mut random = Random::new(5);
        let mut below = |end: u64| random.below(end) as f64;
        (0..40)
            .map(|_| {
                let micropolygons = below(200_000);
                let entries = if translucent { below(1 + micropolygons as u64) } else { 0.0 };
                let (subpixels, shaded_vertices) = (1000.0 + below(2_000_000), below(300_000));
                let load = RegionLoad { micropolygons, subpixels, shaded_vertices, entries };
                TimedRegion { load, seconds: RATES.seconds(load) * (1.0 + noise * (below(2000) / 1000.0 - 1.0)) }
            })
            .collect()
    }

    #[test]
    fn exact_times_give_exact_rates() {
        for translucent in [true, false] {
            let fitted = fit_rates(&measured(0.0, translucent)).expect("enough regions");
            let wanted = CostRates { entry_s: if translucent { RATES.entry_s } else { 0.0 }, ..RATES };
            for (found, wanted) in fitted.rates.to_array().iter().zip(wanted.to_array()) {
                assert!((found - wanted).abs() <= 1e-6 * wanted, "{fitted:?}");
            }
            assert!(fitted.relative_error < 1e-6);
        }
    }

    #[test]
    fn noise_shows_in_the_error_and_the_sum_is_right() {
        let regions = measured(0.1, true);
        let fitted = fit_rates(&regions).expect("enough regions");
        assert!((0.03..0.08).contains(&fitted.relative_error), "{fitted:?}: uniform in 10% is 5.8%");
        let sum: f64 = regions.iter().map(|r| r.seconds).sum();
        let explained: f64 = regions.iter().map(|r| fitted.rates.seconds(r.load)).sum();
        assert!((sum - explained).abs() < 1e-9 * sum);
    }

    #[test]
    fn no_rate_is_negative() {
        // Regions with more subpixels take less: the best line would go down.
        let regions: Vec<_> = (1..20)
            .map(|i| {
                let load = RegionLoad { micropolygons: 1e5, subpixels: 1e4 * f64::from(i), ..RegionLoad::default() };
                TimedRegion { load, seconds: 1.0 - 0.01 * f64::from(i) }
            })
            .collect();
        let rates = fit_rates(&regions).expect("a constant explains it roughly").rates;
        assert!(rates.to_array().iter().all(|rate| *rate >= 0.0) && rates.subpixel_s == 0.0, "{rates:?}");
    }

    #[test]
    fn degenerate_regions_are_refused() {
        assert_eq!(fit_rates(&measured(0.0, true)[..7]), Err(FitError::TooFew { found: 7 }));
        let idle = TimedRegion { load: RegionLoad::default(), seconds: 0.0 };
        assert_eq!(fit_rates(&[idle; 9]), Err(FitError::TooFew { found: 0 }));
        let alike = TimedRegion { load: RegionLoad::default(), seconds: 2.0 };
        let rate = fit_rates(&[alike; 9]).map_or(0.0, |fitted| fitted.rates.region_s);
        assert!((rate - 2.0).abs() < 1e-12, "only the constant is left");
    }

    /// 160x160 pixels, 100 micropolygons in each square.
    fn picture() -> PictureCost {
        let picture = Region::new([0, 0, 160, 160]).expect("not empty");
        let square = SquareCounts { micropolygons: 100, grids: SquareGrids::inside(1), translucent: 50 };
        let squares = vec![square; SquareGrid::of(picture).square_count()];
        let table = Arc::new(SummedArea::new(picture, &squares, Rates::default()));
        PictureCost::new(table, [4, 2], [1, 3], [10.0, 20.0])
    }

    #[test]
    fn neighbours_add_grids_and_the_picture_s_border_does_not() {
        let costed = picture();
        let whole = costed.load(costed.table.picture());
        let wanted =
            RegionLoad { micropolygons: 10_000.0, subpixels: 162.0 * 4.0 * 166.0 * 2.0, ..RegionLoad::default() };
        assert_eq!(whole, wanted);
        let left = costed.load(Region::new([0, 0, 80, 160]).expect("not empty"));
        assert!((left.micropolygons - 5000.0 * (1.0 + 6.0 / 80.0)).abs() < 1e-9, "one side: {left:?}");
        let middle = costed.load(Region::new([0, 40, 160, 80]).expect("not empty"));
        assert!((middle.micropolygons - 2500.0 * (1.0 + 26.0 / 40.0)).abs() < 1e-9, "two sides: {middle:?}");
    }

    #[test]
    fn shading_is_found_where_it_was_measured() {
        let mut costed = picture();
        let [left, right] = costed.table.picture().cut(Axis::X, 40).expect("inside");
        let measured = |region, shaded_vertices, entries| RegionShading { region, shaded_vertices, entries };
        costed.add_measured_shading(&[measured(left, 11_500, 0), measured(right, 0, 6000)]);
        let [left, right] = [left, right].map(|region| costed.load(region));
        // 40 is inside a square: what the square holds is spread over all of it.
        assert!((left.shaded_vertices / 11_500.0 - 1.0).abs() < 0.11, "{left:?}");
        assert!((right.entries / 6000.0 - 1.0).abs() < 0.05, "{right:?}");
        let whole = costed.load(costed.table.picture());
        assert!((whole.shaded_vertices - 10_000.0).abs() < 10.0, "the border's share is taken out: {whole:?}");
        assert!((whole.entries - 6000.0).abs() < 100.0);
    }
}

//! What a region costs in time: a formula of what the region holds, and its rates, fitted to measured regions.
//!
//! ```text
//! t(region) = region + micropolygons * m + subpixels * s + translucent * e
//! ```
//! `micropolygons` and `translucent` are what the table says of the region, and what its neighbours' grids that lie across its border
//! add; `subpixels` has the filter's apron. What each term stands for is written in ARCHITECTURE.md, "Cost of a region". The term of the
//! region itself holds all that does not depend on its size, above all the look at every grid of the picture, so rates are those of one
//! picture on one kind of device.

use super::region::{Axis, Region};
use super::summed_area::SummedArea;
use glam::{DMat4, DVec4};
use serde::Serialize;
use std::sync::Arc;
use thiserror::Error;

/// Fewer regions say too little about the terms of the formula.
pub const FIT_REGIONS_MIN: usize = 8;

/// Columns whose Gram determinant is smaller, each scaled to length one, do not tell their terms apart.
const DETERMINANT_MIN: f64 = 1e-6;

/// A picture, with what its regions' costs follow from.
#[derive(Clone, Debug)]
pub struct CostedPicture {
    /// Counts of the picture.
    pub table: Arc<SummedArea>,
    /// Samples per pixel in x and y.
    pub samples: [u32; 2],
    /// Pixels that are sampled beyond each border for the filter.
    pub apron_px: [u32; 2],
    /// Mean width and height of what a grid covers, in pixels.
    pub grid_px: [f64; 2],
}

/// What the time of a region depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegionLoad {
    /// Micropolygons of the grids that it selects.
    pub micropolygons: f64,
    /// Subpixels, apron included.
    pub subpixels: f64,
    /// Those of the micropolygons that may be translucent.
    pub translucent: f64,
}

impl RegionLoad {
    /// The factors of the formula's terms, in the order of [`CostRates::to_array`].
    fn factors(self) -> [f64; 4] {
        [1.0, self.micropolygons, self.subpixels, self.translucent]
    }
}

impl CostedPicture {
    /// What `region` holds, its neighbours' grids and the apron included.
    pub fn load(&self, region: Region) -> RegionLoad {
        let estimate = self.table.estimate(region);
        let across = self.longer(region, Axis::X, 0) * self.longer(region, Axis::Y, 1);
        let along = |axis, i: usize| f64::from(self.samples[i]) * f64::from(region.length(axis) + 2 * self.apron_px[i]);
        RegionLoad {
            micropolygons: estimate.micropolygons * across,
            subpixels: along(Axis::X, 0) * along(Axis::Y, 1),
            translucent: estimate.translucent * across,
        }
    }

    /// How many times as long along an axis the region is by what it selects: at each side that has a neighbour by the apron and half
    /// a grid.
    fn longer(&self, region: Region, axis: Axis, i: usize) -> f64 {
        let (outer, inner) = (self.table.picture().span(axis), region.span(axis));
        let sides = u8::from(inner.0 > outer.0) + u8::from(inner.1 < outer.1);
        let each = self.grid_px[i] / 2.0 + f64::from(self.apron_px[i]);
        1.0 + f64::from(sides) * each / f64::from(region.length(axis))
    }
}

/// Seconds that things take on a device of speed 1; none is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CostRates {
    /// A region, whatever it holds: its submissions, and the look at every grid of the picture.
    pub region_s: f64,
    /// A micropolygon: diced, hidden, shaded if it is seen.
    pub micropolygon_s: f64,
    /// A subpixel: cleared, looked up, composited, filtered.
    pub subpixel_s: f64,
    /// A translucent micropolygon, on top: its entries.
    pub translucent_s: f64,
}

impl CostRates {
    /// Seconds of a region.
    pub fn seconds(&self, load: RegionLoad) -> f64 {
        self.to_array().iter().zip(load.factors()).map(|(rate, factor)| rate * factor).sum()
    }

    fn to_array(self) -> [f64; 4] {
        [self.region_s, self.micropolygon_s, self.subpixel_s, self.translucent_s]
    }

    fn from_array([region_s, micropolygon_s, subpixel_s, translucent_s]: [f64; 4]) -> Self {
        Self { region_s, micropolygon_s, subpixel_s, translucent_s }
    }
}

/// A region that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRegion {
    /// What it held.
    pub load: RegionLoad,
    /// What it took of the device's time.
    pub seconds: f64,
}

/// Rates with how well they explain what they were fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FittedRates {
    /// The rates.
    pub rates: CostRates,
    /// Regions that they were fitted to.
    pub regions: usize,
    /// Root of the mean square of the regions' relative errors.
    pub relative_error: f64,
}

/// Why there are no rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FitError {
    /// Too few regions.
    #[error("{found} measured regions are too few to tell rates from: {FIT_REGIONS_MIN} are needed")]
    TooFew {
        /// Those that took any time.
        found: usize,
    },
    /// No rates that are not negative explain the times.
    #[error("the regions' times cannot be told apart by what they hold")]
    Degenerate,
}

/// Fits rates to regions: least squares of the relative errors, where no rate may be negative, then scaled so that the sum of the times
/// is right.
///
/// Relative errors, because a region's time varies in proportion to itself. With four rates the best of all subsets of the terms is
/// found by trying them all, which is the exact solution under the bound (Lawson and Hanson 1974, chapter 23).
///
/// # Errors
/// If the regions are too few or too much alike.
pub fn fit_rates(regions: &[MeasuredRegion]) -> Result<FittedRates, FitError> {
    let usable = |region: &&MeasuredRegion| region.seconds.is_finite() && region.seconds > 0.0;
    let regions: Vec<_> = regions.iter().filter(usable).copied().collect();
    if regions.len() < FIT_REGIONS_MIN {
        return Err(FitError::TooFew { found: regions.len() });
    }
    let rows: Vec<[f64; 4]> = regions.iter().map(|r| r.load.factors().map(|factor| factor / r.seconds)).collect();
    let candidates = (1_u8..16).filter_map(|terms| solve(&rows, terms)).filter(|rates| rates.iter().all(|r| *r >= 0.0));
    let square_error = |rates: &[f64; 4]| -> f64 {
        let error = |row: &[f64; 4]| row.iter().zip(rates).map(|(a, b)| a * b).sum::<f64>() - 1.0;
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

/// The rates that bring `rows * rates` nearest to ones, of the terms whose bits are set; `None` if the rows do not tell them apart.
fn solve(rows: &[[f64; 4]], terms: u8) -> Option<[f64; 4]> {
    let used: [bool; 4] = std::array::from_fn(|i| terms & (1 << i) != 0);
    let norm: [f64; 4] = std::array::from_fn(|i| rows.iter().map(|row| row[i] * row[i]).sum::<f64>().sqrt());
    if (0..4).any(|i| used[i] && (norm[i] <= 0.0 || !norm[i].is_finite())) {
        return None;
    }
    // Unused terms have a one on the diagonal and nothing on the right: their rates are 0.
    let scaled = |row: &[f64; 4], i: usize| if used[i] { row[i] / norm[i] } else { 0.0 };
    let entry = |i: usize, j: usize| {
        let idle = if i == j && !used[i] { 1.0 } else { 0.0 };
        rows.iter().map(|row| scaled(row, i) * scaled(row, j)).sum::<f64>() + idle
    };
    let gram = DMat4::from_cols_array_2d(&std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))));
    let right = DVec4::from_array(std::array::from_fn(|i| rows.iter().map(|row| scaled(row, i)).sum()));
    if gram.determinant().abs() < DETERMINANT_MIN {
        return None;
    }
    let solution = (gram.inverse() * right).to_array();
    Some(std::array::from_fn(|i| if used[i] { solution[i] / norm[i] } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::super::perturb::Random;
    use super::super::summed_area::{Rates, TileCounts, TileGrid};
    use super::*;

    const RATES: CostRates = CostRates { region_s: 0.01, micropolygon_s: 2e-6, subpixel_s: 3e-8, translucent_s: 5e-6 };

    fn measured(noise: f64, translucent: bool) -> Vec<MeasuredRegion> {
        let mut random = Random::new(5);
        let mut below = |end: u64| random.below(end) as f64;
        (0..40)
            .map(|_| {
                let micropolygons = below(200_000);
                let translucent = if translucent { below(1 + micropolygons as u64) } else { 0.0 };
                let load = RegionLoad { micropolygons, subpixels: 1000.0 + below(2_000_000), translucent };
                MeasuredRegion { load, seconds: RATES.seconds(load) * (1.0 + noise * (below(2000) / 1000.0 - 1.0)) }
            })
            .collect()
    }

    #[test]
    fn exact_times_give_exact_rates() {
        for translucent in [true, false] {
            let fitted = fit_rates(&measured(0.0, translucent)).expect("enough regions");
            let wanted = CostRates { translucent_s: if translucent { RATES.translucent_s } else { 0.0 }, ..RATES };
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
                let load = RegionLoad { micropolygons: 1e5, subpixels: 1e4 * f64::from(i), translucent: 0.0 };
                MeasuredRegion { load, seconds: 1.0 - 0.01 * f64::from(i) }
            })
            .collect();
        let rates = fit_rates(&regions).expect("a constant explains it roughly").rates;
        assert!(rates.to_array().iter().all(|rate| *rate >= 0.0) && rates.subpixel_s == 0.0, "{rates:?}");
    }

    #[test]
    fn regions_that_say_nothing_are_refused() {
        assert_eq!(fit_rates(&measured(0.0, true)[..7]), Err(FitError::TooFew { found: 7 }));
        let idle = MeasuredRegion { load: RegionLoad::default(), seconds: 0.0 };
        assert_eq!(fit_rates(&[idle; 9]), Err(FitError::TooFew { found: 0 }));
        let alike = MeasuredRegion { load: RegionLoad::default(), seconds: 2.0 };
        let rate = fit_rates(&[alike; 9]).map_or(0.0, |fitted| fitted.rates.region_s);
        assert!((rate - 2.0).abs() < 1e-12, "only the constant is left");
    }

    #[test]
    fn neighbours_add_grids_and_the_picture_s_border_does_not() {
        let picture = Region::new([0, 0, 160, 160]).expect("not empty");
        let tile = TileCounts { micropolygons: 100, grids: 1, translucent: 50 };
        let tiles = vec![tile; TileGrid::of(picture).tile_count()];
        let table = Arc::new(SummedArea::new(picture, &tiles, Rates::default()));
        let costed = CostedPicture { table, samples: [4, 2], apron_px: [1, 3], grid_px: [10.0, 20.0] };
        let whole = costed.load(picture);
        assert_eq!(
            whole,
            RegionLoad { micropolygons: 10_000.0, subpixels: 162.0 * 4.0 * 166.0 * 2.0, translucent: 5000.0 }
        );
        let left = costed.load(Region::new([0, 0, 80, 160]).expect("not empty"));
        assert!((left.micropolygons - 5000.0 * (1.0 + 6.0 / 80.0)).abs() < 1e-9, "one side: {left:?}");
        let middle = costed.load(Region::new([0, 40, 160, 80]).expect("not empty"));
        assert!((middle.translucent - 1250.0 * (1.0 + 26.0 / 40.0)).abs() < 1e-9, "two sides: {middle:?}");
    }
}

//! How well the summed-area table estimated what regions need.

use super::RegionStats;
use serde::Serialize;

/// The estimates for a world's finished regions, made before they began, next to the actual figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EstimateStats {
    /// The number of finished regions.
    pub regions: u64,
    /// Grids that they were estimated to select, added up.
    pub grids_estimated: u64,
    /// Grids that they selected, added up.
    pub grids_selected: u64,
    /// The largest ratio of selected to estimated grids of any region: (selected + 1) / (estimated + 1).
    pub over_max_ratio: f64,
    /// Bytes of the smallest buffers that were large enough by the estimates, added up.
    pub bytes_estimated: u64,
    /// Bytes of the smallest buffers that were large enough for what they selected and sampled, added up.
    pub bytes_used: u64,
    /// The largest ratio of used to estimated bytes of any region: (used + 1) / (estimated + 1).
    pub bytes_over_max_ratio: f64,
    /// The number of regions that fitted by the estimate but turned out to be too large for their device.
    pub too_large: u64,
}

impl EstimateStats {
    /// Computes the estimates of some finished regions. `too_large` is the number of others that were too large.
    pub fn of(regions: &[RegionStats], too_large: u64) -> Self {
        let start = Self { too_large, ..Self::default() };
        regions.iter().fold(start, |all, row| {
            let ratio = |used: u64, estimated: u64| (used as f64 + 1.0) / (estimated as f64 + 1.0);
            Self {
                regions: all.regions + 1,
                grids_estimated: all.grids_estimated + row.grids_estimated,
                grids_selected: all.grids_selected + row.grids,
                over_max_ratio: all.over_max_ratio.max(ratio(row.grids, row.grids_estimated)),
                bytes_estimated: all.bytes_estimated + row.bytes_estimated,
                bytes_used: all.bytes_used + row.bytes_used,
                bytes_over_max_ratio: all.bytes_over_max_ratio.max(ratio(row.bytes_used, row.bytes_estimated)),
                too_large: all.too_large,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_add_up_and_the_worst_ratio_is_kept() {
        let row = |grids_estimated, grids, bytes_estimated, bytes_used| RegionStats {
            grids_estimated,
            grids,
            bytes_estimated,
            bytes_used,
            ..RegionStats::default()
        };
        let all = EstimateStats::of(&[row(9, 4, 999, 499), row(9, 19, 999, 1999), row(0, 0, 0, 0)], 5);
        let expected = EstimateStats {
            regions: 3,
            grids_estimated: 18,
            grids_selected: 23,
            over_max_ratio: 2.0,
            bytes_estimated: 1998,
            bytes_used: 2498,
            bytes_over_max_ratio: 2.0,
            too_large: 5,
        };
        assert_eq!(all, expected);
        assert_eq!(EstimateStats::of(&[], 0), EstimateStats::default());
    }
}

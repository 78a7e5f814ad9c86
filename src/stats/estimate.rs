//! How well the summed-area table told what regions would need.

use super::RegionStats;
use serde::Serialize;

/// What the table said of a world's finished regions before they were begun, beside what they came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct EstimateStats {
    /// Finished regions.
    pub regions: u64,
    /// Grids that they would select by the estimate, added up.
    pub grids_estimated: u64,
    /// Grids that they selected.
    pub grids_selected: u64,
    /// The most times as many grids as estimated that any of them selected: (selected + 1) / (estimated + 1).
    pub over_max_ratio: f64,
    /// Bytes that buffers just large enough for each by the estimate would have, added up.
    pub bytes_estimated: u64,
    /// The same by what they selected and sampled.
    pub bytes_used: u64,
    /// The most times as many bytes as estimated that any of them used.
    pub bytes_over_max_ratio: f64,
    /// Regions that were begun in vain: they fitted by the estimate, and devices found them too large.
    pub too_large: u64,
}

impl EstimateStats {
    /// Of some finished regions, beside which others were too large.
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
    fn regions_add_up_and_the_worst_shows() {
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

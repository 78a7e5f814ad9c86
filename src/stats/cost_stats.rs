//! The causes of the times of a world's regions, which predictions for other devices need in addition to the times
//! themselves.

use serde::{Deserialize, Serialize};

/// The cost of a world that was rendered: what each part of the picture contains, and the time that was not spent on
/// regions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostStats {
    /// Samples per pixel in x and y.
    pub samples: [u32; 2],
    /// Pixels beyond each border of a region that are sampled for the filter.
    pub apron_px: [u32; 2],
    /// Mean width and height of a grid in pixels.
    pub grid_px: [f64; 2],
    /// Micropolygons of each square of 16x16 pixels, as a string for each row of squares.
    pub micropolygons: Vec<String>,
    /// Grids that overlap each square, then those that also overlap the square to the right, the square below, or both;
    /// as strings like `micropolygons`.
    pub grids: [Vec<String>; 4],
    /// Micropolygons of each square that may be translucent, as strings like `micropolygons`.
    pub translucent: Vec<String>,
    /// Seconds for setting up the world on all devices, one after the other.
    pub devices_s: f64,
    /// The number of jobs that counting is divided into, however many devices there are.
    pub count_jobs: u64,
    /// Seconds between counting and rendering, for making the summed-area table.
    pub table_s: f64,
    /// Seconds in which the film received regions, while others were rendered.
    pub deposit_s: f64,
    /// Seconds from the start of rendering until each device could begin a region.
    pub start_s: Vec<f64>,
    /// The most regions in flight on a device.
    pub in_flight: usize,
    /// The most subpixels of a region.
    pub region_subpixels_max: u64,
    /// The most grids of a region.
    pub region_grids_max: u64,
}

/// Writes a number for each square as a string for each row.
pub fn square_rows(values: impl Iterator<Item = u64>, columns: usize) -> Vec<String> {
    let texts: Vec<String> = values.map(|value| value.to_string()).collect();
    texts.chunks(columns.max(1)).map(|row| row.join(" ")).collect()
}

/// Reads the numbers of [`square_rows`], row by row; `None` if a string contains anything else.
pub fn square_values(rows: &[String]) -> Option<Vec<u64>> {
    rows.iter().flat_map(|row| row.split_ascii_whitespace()).map(|value| value.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_survive_a_round_trip() {
        let rows = square_rows([1, 20, 0, 4, 5, u64::MAX].into_iter(), 3);
        assert_eq!(rows, ["1 20 0", "4 5 18446744073709551615"]);
        assert_eq!(square_values(&rows), Some(vec![1, 20, 0, 4, 5, u64::MAX]));
        assert_eq!(square_values(&["1 -2".into()]), None);
        assert_eq!(square_rows(std::iter::empty(), 0), Vec::<String>::new());
    }
}

//! What the times of a world's regions follow from: what a prediction for other devices needs beside the times themselves.

use serde::{Deserialize, Serialize};

/// The cost of a world that was drawn: what there was where, and what is not drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostStats {
    /// Samples per pixel in x and y.
    pub samples: [u32; 2],
    /// Pixels that are sampled beyond each border of a region for the filter.
    pub apron_px: [u32; 2],
    /// Mean width and height of what a grid covers, in pixels.
    pub grid_px: [f64; 2],
    /// Micropolygons of each tile of 16x16 pixels, a text for each row of tiles.
    pub micropolygons: Vec<String>,
    /// Grids that meet each tile, likewise; then those of them that meet the next tile to the right too, or the one below, or both.
    pub grids: [Vec<String>; 4],
    /// Micropolygons that may be translucent in each tile, likewise.
    pub translucent: Vec<String>,
    /// Setting up the world on all devices, one after the other.
    pub devices_s: f64,
    /// Parts into which counting can be shared, however many devices there are.
    pub count_jobs: u64,
    /// From counting to drawing: the table of what there is where.
    pub table_s: f64,
    /// The film's taking in of all regions, while drawing.
    pub deposit_s: f64,
    /// From the beginning of drawing until each device could begin a region.
    pub start_s: Vec<f64>,
    /// Regions in flight on a device.
    pub in_flight: usize,
    /// Subpixels of a region at most.
    pub region_subpixels_max: u64,
    /// Grids of a region at most.
    pub region_grids_max: u64,
}

/// A number for each tile as a text for each row.
pub fn tile_rows(values: impl Iterator<Item = u64>, columns: usize) -> Vec<String> {
    let texts: Vec<String> = values.map(|value| value.to_string()).collect();
    texts.chunks(columns.max(1)).map(|row| row.join(" ")).collect()
}

/// The numbers of [`tile_rows`], row by row; `None` if the text holds anything else.
pub fn tile_values(rows: &[String]) -> Option<Vec<u64>> {
    rows.iter().flat_map(|row| row.split_ascii_whitespace()).map(|value| value.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_there_and_back() {
        let rows = tile_rows([1, 20, 0, 4, 5, u64::MAX].into_iter(), 3);
        assert_eq!(rows, ["1 20 0", "4 5 18446744073709551615"]);
        assert_eq!(tile_values(&rows), Some(vec![1, 20, 0, 4, 5, u64::MAX]));
        assert_eq!(tile_values(&["1 -2".into()]), None);
        assert_eq!(tile_rows(std::iter::empty(), 0), Vec::<String>::new());
    }
}

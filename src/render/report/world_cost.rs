//! What the statistics keep of a world's cost, for predictions.

use crate::pipeline::frame::filter_apron;
use crate::render::device::picture::Picture;
use crate::render::grids::picture_grids::PictureGrids;
use crate::schedule::{Region, SquareCounts, SquareGrid};
use crate::stats::{CostStats, square_rows};

/// Returns what is known of a picture before it is drawn, times apart.
pub(crate) fn cost_of(picture: &Picture, whole: Region, squares: &[SquareCounts], counted: &PictureGrids) -> CostStats {
    let columns = SquareGrid::of(whole).size[0] as usize;
    let rows = |of: fn(&SquareCounts) -> u64| square_rows(squares.iter().map(of), columns);
    CostStats {
        samples: picture.world.frame.samples,
        apron_px: filter_apron(&picture.widest_filter),
        grid_px: counted.totals.grid_px,
        micropolygons: rows(|square| square.micropolygons),
        grids: [
            rows(|square| square.grids.meet),
            rows(|square| square.grids.right),
            rows(|square| square.grids.below),
            rows(|square| square.grids.both),
        ],
        translucent: rows(|square| square.translucent),
        ..CostStats::default()
    }
}

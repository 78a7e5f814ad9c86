//! What the statistics keep of a world's cost, for predictions.

use crate::pipeline::frame::filter_apron;
use crate::render::device::picture::Picture;
use crate::render::grids::picture_grids::PictureGrids;
use crate::schedule::{Region, TileCounts, TileGrid};
use crate::stats::{CostStats, tile_rows};

/// Returns what is known of a picture before it is drawn, times apart.
pub(crate) fn cost_of(picture: &Picture, whole: Region, tiles: &[TileCounts], counted: &PictureGrids) -> CostStats {
    let columns = TileGrid::of(whole).size[0] as usize;
    let rows = |of: fn(&TileCounts) -> u64| tile_rows(tiles.iter().map(of), columns);
    CostStats {
        samples: picture.world.frame.samples,
        apron_px: filter_apron(&picture.widest_filter),
        grid_px: counted.totals.grid_px,
        micropolygons: rows(|tile| tile.micropolygons),
        grids: [
            rows(|tile| tile.grids.meet),
            rows(|tile| tile.grids.right),
            rows(|tile| tile.grids.below),
            rows(|tile| tile.grids.both),
        ],
        translucent: rows(|tile| tile.translucent),
        ..CostStats::default()
    }
}

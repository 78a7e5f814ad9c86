//! What is known of a picture once its grids are counted.

use crate::pipeline::frame;
use crate::pipeline::kernels::records::GridBound;
use crate::pipeline::pixels::unpacked_range;
use crate::render::grids::list::{GridList, ListError, blocks};
use crate::render::grids::pixel_grids::PixelGrids;
use crate::render::grids::squares::micropolygons;
use crate::scene::Filter;

/// The grids of a picture, counted.
#[derive(Debug, Default)]
pub(crate) struct PictureGrids {
    /// In [the order of pages](crate::render::grids::order).
    pub list: GridList,
    /// What they add up to.
    pub totals: GridTotals,
    /// Subpatches lost at the eye plane, by instance (one example for each chunk of primitives).
    pub lost: Vec<(u32, u32)>,
    /// Displacement bounds, in camera space, of instances that declare none: measured, and used in the count.
    pub bounds_measured: Vec<(u32, f32)>,
}

/// What the grids of a picture add up to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GridTotals {
    /// Micropolygons of all grids.
    pub micropolygons: u64,
    /// The least of the nearest depths of grids; infinite if there are none.
    pub near: f32,
    /// The greatest of their nearest depths; 0 if there are none.
    pub far: f32,
    /// The most grids that the samples of any pixel need.
    pub pixel_grids_max: u64,
    /// Mean width and height of what a grid covers, in pixels.
    pub grid_px: [f64; 2],
}

impl Default for GridTotals {
    fn default() -> Self {
        Self { micropolygons: 0, near: f32::INFINITY, far: 0.0, pixel_grids_max: 0, grid_px: [0.0; 2] }
    }
}

impl GridTotals {
    fn add(&mut self, bound: &GridBound) {
        self.near = self.near.min(bound.zmin);
        self.far = self.far.max(bound.zmin);
        for (sum, packed) in self.grid_px.iter_mut().zip([bound.x, bound.y]) {
            let [low, high] = unpacked_range(packed);
            *sum += f64::from((high - low + 1).max(0));
        }
    }
}

/// Adds up the grids of a picture, list after list in any order: all sums are of whole numbers.
#[derive(Debug)]
pub(crate) struct GridSums {
    /// The sizes of grids are not divided by their number yet.
    totals: GridTotals,
    pixels: PixelGrids,
    grids: usize,
}

impl GridSums {
    /// Begins the sums of a picture that samples `sampled_px` (x0, y0, x1, y1, half-open), without grids so far.
    pub(crate) fn new(sampled_px: [i32; 4], filter: &Filter) -> Self {
        let pixels = PixelGrids::new(sampled_px, frame::filter_apron(filter));
        Self { totals: GridTotals::default(), pixels, grids: 0 }
    }

    /// Adds the grids of a list.
    pub(crate) fn add(&mut self, list: &GridList) -> Result<(), ListError> {
        for block in blocks(0..list.len()) {
            self.totals.micropolygons += list.grids(block.clone())?.iter().map(micropolygons).sum::<u64>();
            for bound in list.bounds(block)?.iter() {
                self.totals.add(bound);
                self.pixels.add(bound);
            }
        }
        self.grids += list.len();
        Ok(())
    }

    /// Returns what all of them add up to.
    pub(crate) fn finish(self) -> GridTotals {
        let grid_px = self.totals.grid_px.map(|sum| sum / self.grids.max(1) as f64);
        GridTotals { pixel_grids_max: self.pixels.most(), grid_px, ..self.totals }
    }
}

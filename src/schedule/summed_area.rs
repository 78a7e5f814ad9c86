//! The summed-area table from which every estimate and every cut is computed, without using a device.
//!
//! The counting pass counts, once per picture, what falls into each square of 16x16 pixels. The table holds the sums
//! over all squares above and to the left of a square's corner (F. Crow, Summed-area tables for texture mapping, 1984),
//! so that the counts of a region of any size follow from four corners. Inside a square the counts are assumed to be
//! evenly spread, which makes the table bilinear there: a region that overlaps part of a square gets the overlapped
//! share of it.

use super::region::{Axis, Region, square_from, square_of, square_start};
use std::ops::AddAssign;

/// The counts of one square, or of any region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SquareCounts {
    /// Number of micropolygons.
    pub micropolygons: u64,
    /// Numbers of grids.
    pub grids: SquareGrids,
    /// Number of micropolygons that may be translucent.
    pub translucent: u64,
}

/// The grids of a square, counted so that the grids of any rectangle of squares can be computed, each once.
///
/// A grid meets a rectangle of squares. The part of it in a region is a rectangle of w x h squares, with (w - 1) h
/// borders between columns, w (h - 1) borders between rows, and (w - 1) (h - 1) points where both kinds cross. The
/// number of squares, less the borders, plus the crossings, is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SquareGrids {
    /// Number of grids that meet the square.
    pub meet: u64,
    /// Number of grids that meet both the square and the next square of its row.
    pub right: u64,
    /// Number of grids that meet both the square and the next square of its column.
    pub below: u64,
    /// Number of grids that meet the square, the next square of its row, and the next square of its column.
    pub both: u64,
}

impl SquareGrids {
    /// Returns `count` grids that meet no other square.
    pub fn inside(count: u64) -> Self {
        Self { meet: count, ..Self::default() }
    }
}

impl AddAssign for SquareCounts {
    /// Adds the counts of other grids in the same square.
    fn add_assign(&mut self, other: Self) {
        self.micropolygons += other.micropolygons;
        self.grids.meet += other.grids.meet;
        self.grids.right += other.grids.right;
        self.grids.below += other.grids.below;
        self.grids.both += other.grids.both;
        self.translucent += other.translucent;
    }
}

/// The table's estimate of what a region holds; fractions come from squares that the region overlaps in part.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Estimate {
    /// Number of micropolygons.
    pub micropolygons: f64,
    /// Number of translucent micropolygons, which `micropolygons` includes.
    pub translucent: f64,
    /// Number of micropolygons, where those behind many others count little: see [`Rates::layers`].
    pub near: f64,
    /// Exact number of pixels.
    pub pixels: u64,
}

/// Costs in units of one opaque micropolygon that is diced, hidden, shaded and sampled.
///
/// Only balance depends on these rates, and stealing evens out their errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Additional cost of a translucent micropolygon: its entries are counted, filled and sorted.
    pub translucent: f64,
    /// Cost of a pixel that nothing covers: clearing, filtering and reading back its subpixels.
    pub pixel: f64,
    /// Number of opaque micropolygons per pixel of a square beyond which the rest are mostly hidden, and culled with
    /// their grids.
    pub layers: f64,
    /// Cost of a micropolygon that is mostly hidden.
    pub hidden: f64,
}

/// The default of [`Rates::layers`]: the time of a region of grass, which has up to 100, hardly depends on their
/// number.
const LAYERS: f64 = 16.0;

/// The default of [`Rates::hidden`]: 0 fits grass best, but a scene with small micropolygons whose grids are not behind
/// one another has nothing to cull.
const HIDDEN: f64 = 0.1;

/// Cost of a subpixel that nothing covers. Regions of grass, hair and polygons on a CPU driver fit best with 0.2 to
/// 0.5; in teapots, whose work is spread evenly, it does not matter. See [`SHARE_PERCENT`](super::SHARE_PERCENT).
const SUBPIXEL: f64 = 0.25;

impl Rates {
    /// Returns the rates at this number of samples per pixel in x and y.
    pub fn at(samples: [u32; 2]) -> Self {
        let subpixels = f64::from(samples[0]) * f64::from(samples[1]);
        Self { translucent: 1.0, pixel: SUBPIXEL * subpixels, layers: LAYERS, hidden: HIDDEN }
    }

    /// Returns the weighted number of micropolygons of a square with this many pixels.
    fn near(&self, square: &SquareCounts, pixels: u64) -> u64 {
        let opaque = square.micropolygons.saturating_sub(square.translucent);
        let before = opaque.min((self.layers * pixels as f64) as u64);
        let behind = (opaque - before) as f64 * self.hidden;
        before.saturating_add(behind as u64).saturating_add(square.translucent)
    }
}

impl Default for Rates {
    /// Returns the rates at 4x4 samples.
    fn default() -> Self {
        Self::at([4, 4])
    }
}

/// The squares that cover a picture: which multiples of 16 pixels the counting pass counts into, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SquareGrid {
    /// Column and row of the first square: square (i, j) covers pixels from (16 i, 16 j), clipped by the picture.
    pub first: [i32; 2],
    /// Columns and rows.
    pub size: [u32; 2],
}

impl SquareGrid {
    /// Returns the squares that `picture` overlaps.
    pub fn of(picture: Region) -> Self {
        let [x0, y0, x1, y1] = picture.to_array();
        let (first, end) = ([x0, y0].map(square_of), [x1, y1].map(square_from));
        Self { first, size: [0, 1].map(|axis| end[axis].abs_diff(first[axis])) }
    }

    /// Counts a grid that meets the squares from the first to the last of some columns and rows, which count from the
    /// first square's.
    pub fn count_grid(&self, squares: &mut [SquareCounts], columns: [usize; 2], rows: [usize; 2]) {
        for y in rows[0]..=rows[1] {
            for x in columns[0]..=columns[1] {
                let (right, below) = (u64::from(x < columns[1]), u64::from(y < rows[1]));
                let grids = &mut squares[y * self.size[0] as usize + x].grids;
                grids.meet += 1;
                grids.right += right;
                grids.below += below;
                grids.both += right * below;
            }
        }
    }

    /// Returns the number of pixels of a square inside the picture.
    fn pixels(&self, picture: Region, column: usize, row: usize) -> u64 {
        let [x, y] = [self.first[0] + column as i32, self.first[1] + row as i32];
        let square = Region::new([x, y, x + 1, y + 1].map(square_start));
        square.and_then(|square| square.intersection(picture)).map_or(0, Region::pixel_count)
    }

    /// Returns the number of squares.
    pub fn square_count(&self) -> usize {
        self.size[0] as usize * self.size[1] as usize
    }
}

/// Squares along an axis, counted from the table's first: from, one past the last.
#[derive(Clone, Copy)]
struct SquareSpan {
    outer: (usize, usize),
    inner: (usize, usize),
    /// Their length inside the picture, in pixels.
    outer_px: u32,
    inner_px: u32,
}

/// Sums of [`SquareCounts`] over a picture, and what they cost.
#[derive(Clone, Debug)]
pub struct SummedArea {
    picture: Region,
    grid: SquareGrid,
    rates: Rates,
    /// (columns + 1) x (rows + 1) sums over the squares left of and above a corner: micropolygons, translucent, near,
    /// and the numbers of [`SquareGrids`].
    sums: Vec<[u64; 7]>,
}

impl SummedArea {
    /// Returns the table of `picture` from its squares in rows, as [`SquareGrid::of`] lays them out. Sums saturate.
    ///
    /// # Panics
    /// If the number of squares is not that of the grid.
    pub fn new(picture: Region, squares: &[SquareCounts], rates: Rates) -> Self {
        let grid = SquareGrid::of(picture);
        assert_eq!(squares.len(), grid.square_count(), "one count for each square of the picture {picture}");
        let columns = grid.size[0] as usize;
        let stride = columns + 1;
        let mut sums = vec![[0_u64; 7]; stride * (grid.size[1] as usize + 1)];
        for (row, counts) in squares.chunks_exact(columns).enumerate() {
            let mut in_row = [0_u64; 7];
            for (column, square) in counts.iter().enumerate() {
                let above = sums[row * stride + column + 1];
                let SquareGrids { meet, right, below, both } = square.grids;
                let near = rates.near(square, grid.pixels(picture, column, row));
                let values = [square.micropolygons, square.translucent, near, meet, right, below, both];
                in_row = std::array::from_fn(|i| in_row[i].saturating_add(values[i]));
                sums[(row + 1) * stride + column + 1] = std::array::from_fn(|i| above[i].saturating_add(in_row[i]));
            }
        }
        Self { picture, grid, rates, sums }
    }

    /// Returns the picture that the table covers.
    pub fn picture(&self) -> Region {
        self.picture
    }

    /// Estimates what `region` holds, in constant time; pixels outside the picture hold nothing.
    pub fn estimate(&self, region: Region) -> Estimate {
        let Some(region) = self.picture.intersection(region) else { return Estimate::default() };
        let [x0, y0, x1, y1] = region.to_array();
        let corners = [self.corner(x0, y0), self.corner(x1, y0), self.corner(x0, y1), self.corner(x1, y1)];
        let [micropolygons, translucent, near] =
            std::array::from_fn(|i| (corners[3][i] - corners[1][i] - (corners[2][i] - corners[0][i])).max(0.0));
        Estimate { micropolygons, translucent, near, pixels: region.pixel_count() }
    }

    /// Returns the number of grids that `region` meets, in constant time. It is exact, up to the grids' rounding to
    /// squares, if the region ends between squares. If the region overlaps squares in part, it is interpolated by area
    /// between the grids of the squares inside the region and the grids of all squares that it meets.
    pub fn grids(&self, region: Region) -> f64 {
        let Some(region) = self.picture.intersection(region) else { return 0.0 };
        let spans = [self.squares_along(region, Axis::X), self.squares_along(region, Axis::Y)];
        let outer = spans.map(|span| span.outer);
        let inner = spans.map(|span| span.inner);
        let area = |lengths: [u32; 2]| f64::from(lengths[0]) * f64::from(lengths[1]);
        let (most, least) = (area(spans.map(|span| span.outer_px)), area(spans.map(|span| span.inner_px)));
        let share = if most > least { (region.pixel_count() as f64 - least) / (most - least) } else { 1.0 };
        let within = if least > 0.0 { self.grids_of_squares(inner) } else { 0.0 };
        within + (self.grids_of_squares(outer) - within) * share
    }

    /// Returns the number of grids that meet any square in these columns and rows: see [`SquareGrids`].
    fn grids_of_squares(&self, [(x0, x1), (y0, y1)]: [(usize, usize); 2]) -> f64 {
        let stride = self.grid.size[0] as usize + 1;
        let sum = |number: usize, columns: usize, rows: usize| {
            let at = |x: usize, y: usize| self.sums[y * stride + x][number];
            let (right, bottom) = (columns.max(x0), rows.max(y0));
            // Sums that saturated can no longer be subtracted, but are large.
            at(right, bottom).saturating_sub(at(right, y0)).saturating_sub(at(x0, bottom).saturating_sub(at(x0, y0)))
                as f64
        };
        sum(3, x1, y1) - sum(4, x1 - 1, y1) - sum(5, x1, y1 - 1) + sum(6, x1 - 1, y1 - 1)
    }

    /// Returns the squares that a region meets along an axis, and those that are entirely inside it.
    fn squares_along(&self, region: Region, axis: Axis) -> SquareSpan {
        let ((from, to), (start, end)) = (region.span(axis), self.picture.span(axis));
        let first = self.grid.first[usize::from(axis == Axis::Y)];
        let edge = |square: i32| square_start(square).clamp(start, end);
        let outer = (square_of(from), square_from(to));
        let inner_start = if edge(outer.0) < from { outer.0 + 1 } else { outer.0 };
        let inner_end = if edge(outer.1) > to { outer.1 - 1 } else { outer.1 };
        let inner = (inner_start.min(inner_end), inner_end);
        let px = |(low, high): (i32, i32)| edge(high).abs_diff(edge(low));
        let places = |(low, high): (i32, i32)| ((low - first) as usize, (high - first) as usize);
        SquareSpan { outer: places(outer), inner: places(inner), outer_px: px(outer), inner_px: px(inner) }
    }

    /// Returns the cost of rendering `region`, in micropolygons, by the table's [`Rates`].
    pub fn work(&self, region: Region) -> u64 {
        self.cost(&self.estimate(region)).round() as u64
    }

    /// Returns the cost of an estimate in micropolygons.
    pub(super) fn cost(&self, estimate: &Estimate) -> f64 {
        estimate.near + estimate.translucent * self.rates.translucent + estimate.pixels as f64 * self.rates.pixel
    }

    /// Returns the first three sums over everything left of and above the corner (x, y) of a pixel: bilinear between
    /// the squares' corners.
    fn corner(&self, x: i32, y: i32) -> [f64; 3] {
        let [x0, y0, x1, y1] = self.picture.to_array();
        let (column, along) = square_and_share(x, self.grid.first[0], self.grid.size[0], x0, x1);
        let (row, down) = square_and_share(y, self.grid.first[1], self.grid.size[1], y0, y1);
        let stride = self.grid.size[0] as usize + 1;
        let base = row * stride + column;
        let (top, bottom) = (&self.sums[base..base + 2], &self.sums[base + stride..base + stride + 2]);
        std::array::from_fn(|i| {
            let mix = |pair: &[[u64; 7]]| pair[0][i] as f64 + (pair[1][i] - pair[0][i]) as f64 * along;
            let (above, below) = (mix(top), mix(bottom));
            above + (below - above) * down
        })
    }
}

/// Returns the square (counted from the grid's first) that holds the coordinate, and the share of its clipped width
/// before it.
fn square_and_share(coordinate: i32, first: i32, count: u32, start: i32, end: i32) -> (usize, f64) {
    let square = square_of(coordinate).min(first + count.cast_signed() - 1);
    let left = square_start(square).max(start);
    let right = square_start(square.saturating_add(1)).min(end);
    ((square - first) as usize, f64::from(coordinate - left) / f64::from(right - left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::perturb::Random;

    fn region(array: [i32; 4]) -> Region {
        Region::new(array).expect("not empty")
    }

    fn only(micropolygons: u64) -> SquareCounts {
        SquareCounts { micropolygons, grids: SquareGrids::inside(micropolygons / 10), translucent: micropolygons / 2 }
    }

    #[test]
    fn squares_of_a_crop() {
        let grid = SquareGrid::of(region([20, 0, 33, 16]));
        assert_eq!(grid, SquareGrid { first: [1, 0], size: [2, 1] });
        assert_eq!(SquareGrid::of(region([0, 0, 1, 1])).square_count(), 1);
        assert_eq!(SquareGrid::of(region([i32::MAX - 1, 0, i32::MAX, 1])).square_count(), 1);
        assert_eq!(SquareGrid::of(region([-17, -16, 1, 1])), SquareGrid { first: [-2, -1], size: [3, 2] });
    }

    #[test]
    fn partial_squares_count_by_area() {
        let picture = region([0, 0, 40, 16]);
        let table = SummedArea::new(picture, &[only(160), only(320), only(80)], Rates::default());
        let at = |array| table.estimate(region(array));
        let all = Estimate { micropolygons: 560.0, translucent: 280.0, near: 560.0, pixels: 640 };
        assert_eq!(at([0, 0, 40, 16]), all);
        assert_eq!(at([0, 0, 8, 16]).micropolygons, 80.0);
        assert_eq!(at([4, 4, 8, 12]).micropolygons, 20.0);
        assert_eq!(at([8, 0, 24, 8]).micropolygons, 120.0);
        // The last square is 8 pixels wide: its half is 4.
        assert_eq!(at([36, 0, 40, 16]).micropolygons, 40.0);
        assert_eq!(at([36, 0, 99, 99]).micropolygons, 40.0, "outside the picture nothing is counted");
        assert_eq!(at([40, 16, 50, 20]), Estimate::default());
    }

    #[test]
    fn crop_clips_first_squares() {
        let table =
            SummedArea::new(region([8, 12, 24, 20]), &[only(8), only(16), only(32), only(64)], Rates::default());
        assert_eq!(table.estimate(region([8, 12, 16, 16])).micropolygons, 8.0);
        assert_eq!(table.estimate(region([8, 12, 12, 16])).micropolygons, 4.0);
        assert_eq!(table.estimate(region([16, 16, 24, 18])).micropolygons, 32.0);
    }

    #[test]
    fn work_weighs_translucent_and_pixels() {
        let rates = Rates { translucent: 2.0, pixel: 0.5, layers: 4.0, hidden: 0.5 };
        let table = SummedArea::new(region([0, 0, 16, 16]), &[only(100)], rates);
        assert_eq!(table.work(region([0, 0, 16, 16])), 100 + 2 * 50 + 128);
        // The second square has 8 x 16 pixels: of 9500 opaque micropolygons four for each pixel count, and half of the
        // others.
        let deep = SquareCounts { micropolygons: 10_000, translucent: 500, ..SquareCounts::default() };
        let table = SummedArea::new(region([0, 0, 24, 16]), &[only(100), deep], rates);
        assert_eq!(table.work(region([16, 0, 24, 16])), 512 + 8988 / 2 + 500 + 2 * 500 + 64);
        assert_eq!(table.estimate(region([16, 0, 24, 16])).micropolygons, 10_000.0);
    }

    #[test]
    fn huge_counts_saturate() {
        let square =
            SquareCounts { micropolygons: u64::MAX, grids: SquareGrids::inside(u64::MAX), translucent: u64::MAX };
        let table = SummedArea::new(region([0, 0, 32, 32]), &[square; 4], Rates::default());
        assert!(table.work(table.picture()) > u64::MAX / 2);
        assert!(table.grids(table.picture()) > u64::MAX as f64 / 2.0);
    }

    /// The table against adding up squares one by one, on random pictures and regions.
    #[test]
    fn table_equals_direct_sum() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let [x0, y0, width, height] = [80, 80, 150, 150].map(|most| random.below(most) as i32);
            let (x0, y0) = (x0 - 40, y0 - 40);
            let picture = region([x0, y0, x0 + 1 + width, y0 + 1 + height]);
            let grid = SquareGrid::of(picture);
            let squares: Vec<_> = (0..grid.square_count()).map(|_| only(random.below(5000))).collect();
            let table = SummedArea::new(picture, &squares, Rates::default());
            for _ in 0..20 {
                let part = random_part(picture, &mut random);
                let direct: f64 =
                    (0..squares.len()).map(|i| squares[i].micropolygons as f64 * share(picture, grid, i, part)).sum();
                let estimate = table.estimate(part).micropolygons;
                assert!(
                    (estimate - direct).abs() < 1e-6 * (1.0 + direct),
                    "seed {seed} {part}: {estimate} != {direct}"
                );
            }
        }
    }

    /// Grids of whole squares against a look at every grid, on random pictures with grids of all sizes.
    #[test]
    fn grids_of_squares_are_counted_once_each() {
        for seed in 0..100 {
            let mut random = Random::new(seed);
            let picture = region([16 * random.below(5) as i32 - 32, 0, 200, 16 + random.below(150) as i32]);
            let layout = SquareGrid::of(picture);
            let mut squares = vec![SquareCounts::default(); layout.square_count()];
            let grids: Vec<_> = (0..random.below(300)).map(|_| random_part(picture, &mut random)).collect();
            for grid in &grids {
                let [x0, y0, x1, y1] = grid.to_array();
                let columns = [x0, x1 - 1].map(|x| square_of(x) - layout.first[0]);
                layout.count_grid(
                    &mut squares,
                    columns.map(|x| x as usize),
                    [y0 / 16, (y1 - 1) / 16].map(|y| y as usize),
                );
            }
            let table = SummedArea::new(picture, &squares, Rates::default());
            for _ in 0..20 {
                let [x0, y0, x1, y1] = random_part(picture, &mut random).to_array();
                let squares = |[x0, y0, x1, y1]: [i32; 4]| {
                    region([square_of(x0), square_of(y0), square_from(x1), square_from(y1)].map(square_start))
                };
                let part = squares([x0, y0, x1, y1]);
                let met = grids.iter().filter(|grid| squares(grid.to_array()).intersection(part).is_some()).count();
                assert_eq!(table.grids(part), met as f64, "seed {seed} {part}");
            }
        }
    }

    #[test]
    fn grids_of_partial_squares_are_interpolated() {
        let picture = region([0, 0, 40, 32]);
        let mut squares = vec![SquareCounts::default(); 6];
        let layout = SquareGrid::of(picture);
        for _ in 0..10 {
            layout.count_grid(&mut squares, [0, 2], [0, 1]);
            layout.count_grid(&mut squares, [1, 1], [0, 0]);
        }
        let table = SummedArea::new(picture, &squares, Rates::default());
        let at = |array| table.grids(region(array));
        assert_eq!((at([0, 0, 16, 16]), at([16, 0, 32, 16]), at([0, 0, 40, 32])), (10.0, 20.0, 20.0));
        assert_eq!(at([0, 0, 8, 8]), 2.5, "a quarter of a square");
        assert_eq!(at([0, 0, 24, 16]), 15.0, "a square and half of the next, which has ten more");
        assert_eq!(at([36, 16, 99, 99]), 5.0, "half of the last, narrow square");
        assert_eq!(at([40, 0, 48, 16]), 0.0);
    }

    fn random_part(picture: Region, random: &mut Random) -> Region {
        let [x0, y0, ..] = picture.to_array();
        let mut along = |length: u32| {
            let before = random.below(length.into());
            [before, before + 1 + random.below(u64::from(length) - before)].map(|at| at as i32)
        };
        let ([left, right], [top, bottom]) = (along(picture.width()), along(picture.height()));
        region([x0 + left, y0 + top, x0 + right, y0 + bottom])
    }

    fn share(picture: Region, grid: SquareGrid, index: usize, part: Region) -> f64 {
        let [column, row] = [index as u32 % grid.size[0], index as u32 / grid.size[0]].map(u32::cast_signed);
        let (x, y) = (column + grid.first[0], row + grid.first[1]);
        let square = region([x, y, x + 1, y + 1].map(square_start));
        let clipped = square.intersection(picture).expect("the grid's squares overlap the picture");
        clipped.intersection(part).map_or(0.0, |both| both.pixel_count() as f64 / clipped.pixel_count() as f64)
    }
}

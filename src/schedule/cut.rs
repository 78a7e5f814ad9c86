//! Where a region is cut: at the place that balances micropolygons, or that gives a device the part that it should get.
//!
//! RenderAnts cuts at the middle of the longer axis (section 4 of the paper) and names the balanced cut as future work
//! (section 8). Here every cut that keeps both sides long enough is rated, on both axes, by the cost of the larger
//! side, or by how far one side is from the wanted work, including the grids that extend across the cut and are diced
//! on both sides.

use super::region::{Axis, Region, SQUARE_PX, square_from, square_start};
use super::summed_area::SummedArea;

/// No side of a cut is thinner than the region's length divided by this, so that a chain of cuts has logarithmic length
/// even if all micropolygons are in one corner.
const THINNEST_SIDE: u32 = 8;

/// Weight of work beyond the wanted work, relative to work below it: a device that ends late keeps all others waiting.
const TOO_MUCH: f64 = 2.0;

/// A region cut in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The axis that the cut crosses.
    pub axis: Axis,
    /// The first pixel of the high side along `axis`.
    pub at: i32,
    /// The side that is rendered first: the cheaper one, or the one that was wanted.
    pub kept: Region,
    /// The other side.
    pub left: Region,
}

/// A possible cut, with the cost by which candidates are compared: less is better.
#[derive(Clone, Copy)]
struct CutCandidate {
    axis: Axis,
    at: i32,
    cost: f64,
}

impl SummedArea {
    /// Returns the cut of `region` whose larger side costs least, counting half of a band as wide as a grid (16 pixels)
    /// along the cut, which both sides dice. Of equal cuts the one across the longer axis is taken, then the one
    /// nearest to the middle.
    ///
    /// No side gets shorter than `side_min_px` pixels, nor than an eighth of the region along the axis. Cuts are at
    /// multiples of 16 pixels; only where the axis has no such place left are other pixels considered. `None` if
    /// neither axis can be cut. The time is that of one table look-up for each candidate: at most a few hundred.
    pub fn balanced_cut(&self, region: Region, side_min_px: u32) -> Option<Cut> {
        let best = self.best_candidate(region, side_min_px, |[low, high]| low.max(high))?;
        self.cut_at(region, best.axis, best.at)
    }

    /// Returns the cut whose kept side holds nearly `wanted` work, rather less than more. The sides have the same
    /// minimum lengths as those of a [balanced cut](Self::balanced_cut); without one, there is no such cut either. The
    /// band along the cut counts as it does there, so that fewer grids of a dense region are diced twice at the price
    /// of a side that is not quite as wanted.
    pub fn cut_off(&self, region: Region, wanted: u64, side_min_px: u32) -> Option<Cut> {
        let wanted = wanted as f64;
        let off = |side: f64| if side > wanted { TOO_MUCH * (side - wanted) } else { wanted - side };
        let CutCandidate { axis, at, .. } =
            self.best_candidate(region, side_min_px, |[low, high]| off(low).min(off(high)))?;
        let [low, high] = region.cut(axis, at)?;
        let nearer = off(self.work(low) as f64) <= off(self.work(high) as f64);
        let (kept, left) = if nearer { (low, high) } else { (high, low) };
        Some(Cut { axis, at, kept, left })
    }

    /// Cuts `region` into about `count` parts of different sizes, to which the rates of a forecast can be fitted: equal
    /// parts would not separate the cost of a region from the cost of its contents. One side of each cut is cut one
    /// level less than the other, so that parts are Fibonacci's numbers in count and differ in work by powers of two.
    /// No side is shorter than a square.
    pub fn uneven_parts(&self, region: Region, count: usize) -> Vec<Region> {
        let (mut depth, mut sizes) = (0_u32, (1_usize, 1_usize));
        while sizes.1 < count {
            (depth, sizes) = (depth + 1, (sizes.1, sizes.0.saturating_add(sizes.1)));
        }
        let (mut parts, mut todo) = (Vec::new(), vec![(region, depth)]);
        while let Some((part, depth)) = todo.pop() {
            let cut = if depth > 0 { self.balanced_cut(part, SQUARE_PX) } else { None };
            match cut {
                Some(cut) => todo.extend([(cut.left, depth - 1), (cut.kept, depth.saturating_sub(2))]),
                None => parts.push(part),
            }
        }
        parts
    }

    /// Returns `region` cut before pixel `at` of `axis`, its sides ordered by work; `None` if a side would be empty.
    pub fn cut_at(&self, region: Region, axis: Axis, at: i32) -> Option<Cut> {
        let [low, high] = region.cut(axis, at)?;
        let (kept, left) = if self.work(high) < self.work(low) { (high, low) } else { (low, high) };
        Some(Cut { axis, at, kept, left })
    }

    /// Returns the candidate with the least `cost`, a function of the work of its sides, plus half of the band along
    /// the cut.
    fn best_candidate(&self, region: Region, side_min_px: u32, cost: impl Fn([f64; 2]) -> f64) -> Option<CutCandidate> {
        let longer = region.longer_axis();
        let shorter = if longer == Axis::X { Axis::Y } else { Axis::X };
        let best = [longer, shorter].into_iter().filter_map(|axis| self.best_along(region, axis, side_min_px, &cost));
        // min_by keeps the first of equals: the longer axis.
        best.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    fn best_along(
        &self,
        region: Region,
        axis: Axis,
        side_min_px: u32,
        cost: &impl Fn([f64; 2]) -> f64,
    ) -> Option<CutCandidate> {
        let (first, last) = cut_range(region, axis, side_min_px)?;
        let aligned = Some(square_start(square_from(first))).filter(|aligned| (first..=last).contains(aligned));
        let (start, step) = aligned.map_or((first, 1), |aligned| (aligned, SQUARE_PX));
        let (near, far) = region.span(axis);
        let whole = self.work_before(region, axis, far);
        let candidate = |at: i32| {
            let before = self.work_before(region, axis, at);
            let band_start = at.saturating_sub_unsigned(SQUARE_PX / 2).max(near);
            let band_end = at.saturating_add_unsigned(SQUARE_PX / 2).min(far);
            let band = self.work_before(region, axis, band_end) - self.work_before(region, axis, band_start);
            CutCandidate { axis, at, cost: cost([before, whole - before]) + band / 2.0 }
        };
        let middle = near.saturating_add_unsigned(region.length(axis) / 2);
        let from_middle = |at: i32| at.abs_diff(middle);
        (start..=last)
            .step_by(step as usize)
            .map(candidate)
            .min_by(|a, b| a.cost.total_cmp(&b.cost).then_with(|| from_middle(a.at).cmp(&from_middle(b.at))))
    }

    /// Returns the work of the part of `region` before `at` along `axis`.
    fn work_before(&self, region: Region, axis: Axis, at: i32) -> f64 {
        let [x0, y0, x1, y1] = region.to_array();
        let part = match axis {
            Axis::X => Region::new([x0, y0, at, y1]),
            Axis::Y => Region::new([x0, y0, x1, at]),
        };
        part.map_or(0.0, |part| self.cost(&self.estimate(part)))
    }
}

/// Returns the first and last position along `axis` at which both sides are long enough.
fn cut_range(region: Region, axis: Axis, side_min_px: u32) -> Option<(i32, i32)> {
    let (start, end) = region.span(axis);
    let side = side_min_px.max(region.length(axis).div_ceil(THINNEST_SIDE)).max(1);
    let (first, last) = (start.checked_add_unsigned(side)?, end.checked_sub_unsigned(side)?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::super::perturb::Random;
    use super::super::summed_area::{Rates, SquareCounts, SquareGrid};
    use super::*;

    fn region(array: [i32; 4]) -> Region {
        Region::new(array).expect("not empty")
    }

    fn table(size: [i32; 2], count: impl Fn(u32, u32) -> u64) -> SummedArea {
        let picture = region([0, 0, size[0], size[1]]);
        let grid = SquareGrid::of(picture);
        let squares: Vec<_> = (0..grid.size[1])
            .flat_map(|row| (0..grid.size[0]).map(move |column| (column, row)))
            .map(|(column, row)| SquareCounts { micropolygons: count(column, row), ..SquareCounts::default() })
            .collect();
        SummedArea::new(picture, &squares, Rates::default())
    }

    #[test]
    fn even_picture_is_cut_in_the_middle_of_the_longer_axis() {
        let even = table([640, 480], |_, _| 256);
        let cut = even.balanced_cut(even.picture(), 16).expect("large enough");
        assert_eq!((cut.axis, cut.at), (Axis::X, 320));
        let empty = table([480, 640], |_, _| 0);
        let cut = empty.balanced_cut(empty.picture(), 16).expect("large enough");
        assert_eq!((cut.axis, cut.at), (Axis::Y, 320));
    }

    #[test]
    fn cut_follows_the_micropolygons() {
        // Nine tenths of the work are in the left quarter.
        let left = table([640, 480], |column, _| if column < 10 { 27_000 } else { 1_000 });
        let cut = left.balanced_cut(left.picture(), 16).expect("large enough");
        let (small, large) = (left.work(cut.kept) as f64, left.work(cut.left) as f64);
        assert!(large < 1.2 * small, "{cut:?}: {small} and {large}");
    }

    #[test]
    fn other_axis_where_it_balances_better() {
        // All work in one column of squares: a vertical cut can only put it on one side or split the grids.
        let column = table([640, 480], |column, _| if column == 20 { 100_000 } else { 0 });
        let cut = column.balanced_cut(column.picture(), 16).expect("large enough");
        assert_eq!((cut.axis, cut.at), (Axis::Y, 240));
    }

    #[test]
    fn dense_place_is_not_cut_through() {
        // At 64 both sides hold 200, at 32 they hold 185 and 215; but around 64 the grids of a dense column would be
        // diced twice.
        let counts = [185, 0, 0, 15, 100, 100];
        let picture = region([0, 0, 96, 16]);
        let squares = counts.map(|micropolygons| SquareCounts { micropolygons, ..SquareCounts::default() });
        let table = SummedArea::new(
            picture,
            &squares,
            Rates { translucent: 0.0, pixel: 0.0, layers: f64::INFINITY, hidden: 0.0 },
        );
        let cut = table.balanced_cut(picture, 16).expect("large enough");
        assert_eq!((cut.axis, cut.at), (Axis::X, 32));
    }

    #[test]
    fn smaller_side_comes_first() {
        let corner = table([640, 480], |column, row| if column + row == 0 { 100_000_000 } else { 1 });
        let cut = corner.balanced_cut(corner.picture(), 16).expect("large enough");
        assert!(corner.work(cut.kept) <= corner.work(cut.left));
        assert_eq!(cut.left.to_array()[..2], [0, 0]);
    }

    #[test]
    fn uneven_parts_cover_the_region_and_differ() {
        let even = table([640, 480], |_, _| 256);
        assert_eq!(even.uneven_parts(even.picture(), 1), [even.picture()]);
        for (count, found) in [(2, 2), (3, 3), (5, 5), (30, 34)] {
            let parts = even.uneven_parts(even.picture(), count);
            assert_eq!(parts.len(), found);
            assert_eq!(parts.iter().map(|part| part.pixel_count()).sum::<u64>(), 640 * 480);
            let works: Vec<u64> = parts.iter().map(|part| even.work(*part)).collect();
            let (least, most) = (works.iter().min().copied().unwrap_or(0), works.iter().max().copied().unwrap_or(0));
            assert!(count < 30 || most > 6 * least, "{works:?}");
        }
        let all = even.uneven_parts(even.picture(), usize::MAX);
        assert!(all.iter().all(|part| part.width() >= 16 && part.height() >= 16) && all.len() <= 1200);
    }

    #[test]
    fn single_pixel_cannot_be_cut() {
        let dot = table([1, 1], |_, _| 9);
        assert_eq!(dot.balanced_cut(dot.picture(), 1), None);
        assert_eq!(dot.balanced_cut(dot.picture(), 0), None);
    }

    #[test]
    fn two_pixels_can_be_cut_once() {
        let dots = table([2, 1], |_, _| 9);
        let cut = dots.balanced_cut(dots.picture(), 1).expect("two pixels");
        assert_eq!((cut.axis, cut.at), (Axis::X, 1));
    }

    #[test]
    fn minimum_side_at_the_limits() {
        let plain = table([300, 255], |_, _| 9);
        assert_eq!(plain.balanced_cut(region([0, 0, 255, 255]), 128), None, "255 has no two sides of 128");
        let cut = plain.balanced_cut(region([0, 0, 256, 255]), 128).expect("exactly two");
        assert_eq!((cut.axis, cut.at), (Axis::X, 128));
        let cut = plain.balanced_cut(region([9, 0, 266, 255]), 128).expect("137 or 138, none a multiple of 16");
        assert_eq!(cut.axis, Axis::X);
        assert!((137..=138).contains(&cut.at));
    }

    #[test]
    fn far_corner_of_the_largest_picture() {
        let end = i32::MAX;
        let picture = region([end - 20, end - 3, end, end]);
        let grid = SquareGrid::of(picture);
        let table = SummedArea::new(picture, &vec![SquareCounts::default(); grid.square_count()], Rates::default());
        assert!(table.balanced_cut(picture, 1).is_some());
    }

    /// Any picture, any region, any minimum: no pixel lost, no side too short, square boundaries wherever one is
    /// allowed, and the larger side no worse than what the middle of the longer axis would give, overlap counted.
    #[test]
    fn cut_never_below_the_minimum() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let size = [1 + random.below(700), 1 + random.below(700)].map(|side| side as i32);
            let noise: Vec<u64> = (0..64).map(|_| random.below(3000) * random.below(2)).collect();
            let table = table(size, |column, row| noise[(column * 7 + row * 13) as usize % 64]);
            let [x0, y0] = size.map(|side| random.below(side as u64) as i32);
            let part = region([x0, y0, size[0], size[1]]);
            let side = random.below(140) as u32;
            let Some(cut) = table.balanced_cut(part, side) else {
                let too_short = |axis| part.length(axis) < 2 * side.max(1);
                assert!(
                    too_short(Axis::X) && too_short(Axis::Y),
                    "seed {seed}: {part} has room for two sides of {side}"
                );
                continue;
            };
            let shortest = side.max(part.length(cut.axis).div_ceil(8)).max(1);
            for half in [cut.kept, cut.left] {
                assert!(half.length(cut.axis) >= shortest, "seed {seed}: {cut:?}");
            }
            assert_eq!(cut.kept.pixel_count() + cut.left.pixel_count(), part.pixel_count(), "seed {seed}");
            assert_eq!(cut.kept.intersection(cut.left), None, "seed {seed}");
            assert!(table.work(cut.kept) <= table.work(cut.left), "seed {seed}");
            let (first, last) = cut_range(part, cut.axis, side).expect("it was cut");
            let room = square_start(square_from(first)) <= last;
            assert!(!room || square_start(square_from(cut.at)) == cut.at, "seed {seed}: {cut:?}");
            let off = table.cut_off(part, random.below(1 << 20), side).expect("it can be cut");
            let shortest = side.max(part.length(off.axis).div_ceil(8)).max(1);
            assert!([off.kept, off.left].iter().all(|half| half.length(off.axis) >= shortest), "seed {seed}: {off:?}");
            assert_eq!(off.kept.pixel_count() + off.left.pixel_count(), part.pixel_count(), "seed {seed}");
            assert_eq!(off.kept.intersection(off.left), None, "seed {seed}");
        }
    }

    #[test]
    fn wanted_part_is_cut_off() {
        let even = table([640, 64], |_, _| 256);
        let square = even.work(region([0, 0, 16, 16]));
        let columns = |wanted: u64| {
            let cut = even.cut_off(even.picture(), wanted * 4 * square, 16).expect("large enough");
            assert_eq!(cut.axis, Axis::X);
            cut.kept.width() / 16
        };
        assert_eq!([10, 20, 30].map(columns), [10, 20, 30], "less than the half or more");
        assert_eq!([0, 1, 39, 50].map(columns), [5, 5, 35, 35], "no side is less than an eighth");
        // A little more than wanted is worse than a little less.
        let cut = even.cut_off(even.picture(), 42 * square, 16).expect("large enough");
        assert_eq!(cut.kept.width(), 160);
    }
}

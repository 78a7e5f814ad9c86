//! Regions: rectangles of pixels, the only unit of work that devices exchange.

use std::fmt;
use std::ops::Range;

/// Side of a square of the [`SummedArea`](super::SummedArea) table in pixels; cuts are at multiples of it where a
/// region is large enough.
pub const SQUARE_PX: u32 = 16;
const SQUARE: i32 = SQUARE_PX.cast_signed();

/// Returns the number of the square along an axis that holds pixel `px`; 0 begins with pixel 0.
pub fn square_of(px: i32) -> i32 {
    px.div_euclid(SQUARE)
}

/// Returns the number of the first square along an axis that begins at or after pixel `px`.
pub fn square_from(px: i32) -> i32 {
    square_of(px) + i32::from(px.rem_euclid(SQUARE) != 0)
}

/// Returns the first pixel of a square along an axis.
pub fn square_start(square: i32) -> i32 {
    square.saturating_mul(SQUARE)
}

/// A half-open rectangle of pixels in raster space: x0 <= x < x1, y0 <= y < y1, never empty. Pixel (0, 0) is the upper
/// left one of the format; those left of it and above it are negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region {
    x0: i32,
    y0: i32,
    x1: i32,
    y1: i32,
}

/// A raster axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Along a row; a cut across x is a vertical line.
    X,
    /// Along a column; a cut across y is a horizontal line.
    Y,
}

impl Region {
    /// Returns the region `[x0, y0, x1, y1]` in pixels; `None` if it holds no pixel.
    pub const fn new([x0, y0, x1, y1]: [i32; 4]) -> Option<Self> {
        if x0 < x1 && y0 < y1 { Some(Self { x0, y0, x1, y1 }) } else { None }
    }

    /// Returns the region as `[x0, y0, x1, y1]` in pixels.
    pub fn to_array(self) -> [i32; 4] {
        [self.x0, self.y0, self.x1, self.y1]
    }

    /// Returns the first pixel and one past the last pixel along `axis`.
    pub fn span(self, axis: Axis) -> (i32, i32) {
        match axis {
            Axis::X => (self.x0, self.x1),
            Axis::Y => (self.y0, self.y1),
        }
    }

    /// Returns the length along `axis` in pixels.
    pub fn length(self, axis: Axis) -> u32 {
        let (start, end) = self.span(axis);
        end.abs_diff(start)
    }

    /// Returns the width in pixels.
    pub fn width(self) -> u32 {
        self.length(Axis::X)
    }

    /// Returns the height in pixels.
    pub fn height(self) -> u32 {
        self.length(Axis::Y)
    }

    /// Returns the width and the height in pixels.
    pub fn size(self) -> [u32; 2] {
        [self.width(), self.height()]
    }

    /// Returns the first column and the first row.
    pub fn corner(self) -> [i32; 2] {
        [self.x0, self.y0]
    }

    /// Returns the columns, from left to right.
    pub fn columns(self) -> Range<i32> {
        self.x0..self.x1
    }

    /// Returns the rows, from top to bottom.
    pub fn rows(self) -> Range<i32> {
        self.y0..self.y1
    }

    /// Returns the number of pixels.
    pub fn pixel_count(self) -> u64 {
        u64::from(self.width()) * u64::from(self.height())
    }

    /// Returns the axis along which the region is longer; X of a square.
    pub fn longer_axis(self) -> Axis {
        if self.height() > self.width() { Axis::Y } else { Axis::X }
    }

    /// Whether every pixel of `other` is in this region.
    pub fn contains(self, other: Self) -> bool {
        self.intersection(other) == Some(other)
    }

    /// Returns the part that is also in `other`, if any.
    pub fn intersection(self, other: Self) -> Option<Self> {
        Self::new([self.x0.max(other.x0), self.y0.max(other.y0), self.x1.min(other.x1), self.y1.min(other.y1)])
    }

    /// Returns the region extended by `x` and `y` pixels beyond its borders.
    pub fn grown(self, [x, y]: [u32; 2]) -> Self {
        let Self { x0, y0, x1, y1 } = self;
        Self {
            x0: x0.saturating_sub_unsigned(x),
            y0: y0.saturating_sub_unsigned(y),
            x1: x1.saturating_add_unsigned(x),
            y1: y1.saturating_add_unsigned(y),
        }
    }

    /// Returns both sides of the cut across the middle of the longer side; `None` for a single pixel.
    pub fn halves(self) -> Option<[Self; 2]> {
        let axis = self.longer_axis();
        let (start, _) = self.span(axis);
        self.cut(axis, start.saturating_add_unsigned(self.length(axis) / 2))
    }

    /// Returns both sides of the cut before pixel `at` of `axis`; `None` if one side would be empty.
    pub fn cut(self, axis: Axis, at: i32) -> Option<[Self; 2]> {
        let (start, end) = self.span(axis);
        if at <= start || at >= end {
            return None;
        }
        let (mut low, mut high) = (self, self);
        match axis {
            Axis::X => (low.x1, high.x0) = (at, at),
            Axis::Y => (low.y1, high.y0) = (at, at),
        }
        Some([low, high])
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}) x [{}, {})", self.x0, self.x1, self.y0, self.y1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(array: [i32; 4]) -> Region {
        Region::new(array).expect("not empty")
    }

    #[test]
    fn empty_is_none() {
        assert_eq!(Region::new([0, 0, 0, 5]), None);
        assert_eq!(Region::new([3, 5, 4, 5]), None);
        assert_eq!(Region::new([4, 0, 3, 5]), None);
    }

    #[test]
    fn cut_halves_share_no_pixel_and_lose_none() {
        let whole = region([3, 7, 20, 9]);
        for (axis, at) in [(Axis::X, 4), (Axis::X, 19), (Axis::Y, 8)] {
            let [low, high] = whole.cut(axis, at).expect("inside");
            assert_eq!(low.intersection(high), None);
            assert_eq!(low.pixel_count() + high.pixel_count(), whole.pixel_count());
            assert_eq!(low.span(axis), (whole.span(axis).0, at));
            assert_eq!(high.span(axis), (at, whole.span(axis).1));
        }
        assert_eq!(whole.cut(Axis::X, 3), None);
        assert_eq!(whole.cut(Axis::X, 20), None);
        assert_eq!(region([0, 0, 1, 1]).cut(Axis::X, 1), None);
    }

    #[test]
    fn halves_are_cut_across_the_longer_side_down_to_single_pixels() {
        assert_eq!(region([3, 7, 8, 12]).halves(), Some([region([3, 7, 5, 12]), region([5, 7, 8, 12])]));
        assert_eq!(region([3, 7, 4, 9]).halves(), Some([region([3, 7, 4, 8]), region([3, 8, 4, 9])]));
        assert_eq!(region([3, 7, 4, 8]).halves(), None);
        assert_eq!(region([-4, 0, 1, 2]).halves(), Some([region([-4, 0, -2, 2]), region([-2, 0, 1, 2])]));
    }

    #[test]
    fn a_region_contains_itself_and_what_is_inside() {
        let whole = region([3, 7, 8, 12]);
        assert!(whole.contains(whole) && whole.contains(region([3, 8, 4, 12])));
        let before = region([-9, -2, 4, 8]);
        assert!(!whole.contains(before) && whole.intersection(before) == Some(region([3, 7, 4, 8])));
        let beyond = [[2, 7, 8, 12], [3, 6, 8, 12], [3, 7, 9, 12], [3, 7, 8, 13], [20, 20, 21, 21]];
        assert!(beyond.into_iter().all(|other| !whole.contains(region(other))));
    }

    #[test]
    fn squares_go_on_before_the_first_pixel() {
        assert_eq!([-17, -16, -1, 0, 15, 16].map(square_of), [-2, -1, -1, 0, 0, 1]);
        assert_eq!([-17, -16, -15, 0, 1, 16].map(square_from), [-1, -1, 0, 0, 1, 1]);
        assert_eq!([-2, 0, 3, i32::MAX].map(square_start), [-32, 0, 48, i32::MAX]);
    }

    #[test]
    fn measures() {
        let largest = region([i32::MIN, i32::MIN, i32::MAX, i32::MAX]);
        assert_eq!(largest.pixel_count(), u64::from(u32::MAX) * u64::from(u32::MAX));
        assert_eq!(region([0, 0, 4, 5]).longer_axis(), Axis::Y);
        assert_eq!(region([0, 0, 5, 5]).longer_axis(), Axis::X);
        let part = region([1, 2, 4, 7]);
        assert_eq!((part.size(), part.corner(), part.columns(), part.rows()), ([3, 5], [1, 2], 1..4, 2..7));
        assert_eq!(region([1, 2, 3, 4]).to_string(), "[1, 3) x [2, 4)");
    }
}

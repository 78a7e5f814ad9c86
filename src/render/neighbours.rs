//! The order of grids in their pages: neighbours in the picture are neighbours in the list, so that a region passes over most of it, page by
//! page and cluster by cluster. Each grid keeps its place in authored order, which is what numbers go by.

use super::count::Counted;
use super::tiles::range;
use crate::pipeline::kernels::records::GridBound;

/// Height of the strips that grids are gone through by, in pixels, as a power of two. A cluster where grids of 8x8 pixels lie side by side
/// is a square of a strip.
const STRIP_LOG2: u32 = 6;
/// Width of what comes next in a strip.
const COLUMN_LOG2: u32 = 4;

impl Counted {
    /// In authored order before, in the order of pages after.
    pub(super) fn arranged(self) -> Self {
        let order = order_of(&self.bounds);
        let grids = order.iter().map(|&place| self.grids[place as usize]).collect();
        let bounds = order.iter().map(|&place| self.bounds[place as usize]).collect();
        Self { grids, bounds, order, ..self }
    }
}

/// The places of grids with such bounds, ordered by strip, column and place.
fn order_of(bounds: &[GridBound]) -> Vec<u32> {
    let key = |(place, bound): (u64, &GridBound)| {
        let [x, y] = [bound.x, bound.y].map(centre);
        u64::from(y >> STRIP_LOG2) << 48 | u64::from(x >> COLUMN_LOG2) << 32 | place
    };
    let mut keys: Vec<u64> = (0..).zip(bounds).map(key).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u32).collect()
}

/// The middle of a range of pixels, counted from the least pixel there can be.
fn centre(packed: u32) -> u32 {
    let [low, high] = range(packed);
    ((low + high) / 2 - i32::from(i16::MIN)).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::super::tiles::packed;
    use super::*;
    use crate::pipeline::kernels::records::Subpatch;

    #[test]
    fn grids_lie_strip_by_strip_and_know_their_places() {
        let at = [[500, 70], [3, 5], [-9, 60], [3, 63], [20, 2], [i32::from(i16::MAX), -1], [2, 5]];
        let bound = |[x, y]: [i32; 2]| GridBound { x: packed([x, x]), y: packed([y, y]), ..GridBound::default() };
        let bounds: Vec<GridBound> = at.into_iter().map(bound).collect();
        let grids: Vec<Subpatch> = (0..7).map(|primitive| Subpatch { primitive, ..Subpatch::default() }).collect();
        let counted = Counted { grids, bounds: bounds.clone(), ..Counted::default() }.arranged();
        assert_eq!(counted.order, [5, 2, 1, 3, 6, 4, 0], "strips from the top, columns of 16 pixels, then places");
        let primitives: Vec<u32> = counted.grids.iter().map(|grid| grid.primitive).collect();
        assert_eq!(primitives, counted.order);
        let moved: Vec<GridBound> = counted.order.iter().map(|&place| bounds[place as usize]).collect();
        assert_eq!(counted.bounds, moved);
    }
}

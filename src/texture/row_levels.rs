//! The levels of a texture, made of its rows as they come.
//!
//! Of each level only the rows are kept, in the width of the next one, that rows of the next one still need. Sums have
//! the order of `Texels::resized`, so that levels have the same bits as in memory.

use super::TILE_TEXELS;
use super::header::TextureHeader;
use super::levels::{AxisFilter, LevelFilter, Taps, Texels, add, narrowed};
use crate::parallel::in_parallel;
use std::collections::BTreeMap;
use std::mem;

/// The rows of a level that are passed on together: those of a row of tiles.
pub(super) const STRIP_ROWS: u32 = TILE_TEXELS;

/// Bytes of a sample.
const FLOAT_BYTES: u64 = 4;

/// All levels of a texture but the first.
pub(super) struct RowLevels {
    levels: Vec<RowLevel>,
}

impl RowLevels {
    pub(super) fn new(header: &TextureHeader, filter: LevelFilter) -> Self {
        let level = |level: u32| {
            RowLevel::new(header.level_size(level - 1), header.level_size(level), header.channels as usize, filter)
        };
        Self { levels: (1..header.levels).map(level).collect() }
    }

    /// Returns the most bytes that they take at once.
    pub(super) fn bytes(&self) -> u64 {
        self.levels.iter().map(RowLevel::bytes).sum()
    }

    /// Hands on the next strip of the first level, and each strip of smaller levels that is whole then, with the number
    /// of its level.
    pub(super) fn pass<E>(
        &mut self,
        strip: &Texels,
        take: &mut impl FnMut(u32, &Texels) -> Result<(), E>,
    ) -> Result<(), E> {
        pass_on(&mut self.levels, 0, strip, take)
    }
}

fn pass_on<E>(
    smaller: &mut [RowLevel],
    level: u32,
    strip: &Texels,
    take: &mut impl FnMut(u32, &Texels) -> Result<(), E>,
) -> Result<(), E> {
    take(level, strip)?;
    let Some((next, smaller)) = smaller.split_first_mut() else { return Ok(()) };
    next.absorb(strip);
    while let Some(made) = next.next_strip() {
        pass_on(smaller, level + 1, &made, take)?;
    }
    Ok(())
}

/// A level that is made of the rows of the one before.
struct RowLevel {
    size: [u32; 2],
    channels: usize,
    filter: LevelFilter,
    across: Vec<Taps>,
    down: AxisFilter,
    rows: RowUse,
    /// Rows of the level before that are needed, in the width of this one.
    narrow: BTreeMap<u32, Vec<f32>>,
    /// How many rows of the level before have come.
    arrived: u32,
    /// How many rows are made.
    made: u32,
    /// The values of the last of them, which are no whole strip yet.
    values: Vec<f32>,
}

impl RowLevel {
    fn new(before: [u32; 2], size: [u32; 2], channels: usize, filter: LevelFilter) -> Self {
        let [across, down] = [0, 1].map(|axis| AxisFilter::new(before[axis], size[axis], filter, axis));
        Self {
            size,
            channels,
            filter,
            across: (0..size[0]).map(|at| across.taps(at)).collect(),
            down,
            rows: RowUse::of(&down, before[1], size[1]),
            narrow: BTreeMap::new(),
            arrived: 0,
            made: 0,
            values: Vec::new(),
        }
    }

    fn row_values(&self) -> usize {
        self.size[0] as usize * self.channels
    }

    /// Returns the most bytes that it takes: rows of the level before, a strip, and tables.
    fn bytes(&self) -> u64 {
        /// Bytes of a list of taps, and of one of them, with what an allocation loses.
        const LIST: u64 = 48;
        const TAP: u64 = 32;
        let rows = u64::from(self.rows.kept_max + 2 * STRIP_ROWS);
        let taps: u64 = self.across.iter().map(|taps| LIST + TAP * taps.len() as u64).sum();
        rows * self.row_values() as u64 * FLOAT_BYTES + taps + self.rows.bytes()
    }

    /// Takes the next rows of the level before.
    fn absorb(&mut self, strip: &Texels) {
        let rows = strip.values.chunks_exact(strip.values.len() / strip.size[1] as usize).zip(self.arrived..);
        let needed = rows.filter(|(_, y)| self.rows.last_use[*y as usize].is_some()).collect();
        let narrow = |(row, y): (&[f32], u32)| (y, narrowed(row, self.channels, &self.across));
        self.narrow.extend(in_parallel(needed, narrow));
        self.arrived += strip.size[1];
    }

    /// Makes what can be made of the rows that have come, and returns a strip once it is whole.
    fn next_strip(&mut self) -> Option<Texels> {
        let first = self.made / STRIP_ROWS * STRIP_ROWS;
        let end = (first + STRIP_ROWS).min(self.size[1]);
        let needs = &self.rows.needs_until[self.made as usize..end as usize];
        let count = needs.iter().take_while(|until| **until <= self.arrived).count();
        self.make_rows(count);
        let is_whole = self.made == end && !self.values.is_empty();
        is_whole.then(|| Texels {
            size: [self.size[0], end - first],
            channels: self.channels as u32,
            values: mem::take(&mut self.values),
        })
    }

    /// Makes the next rows, and forgets what no other needs.
    fn make_rows(&mut self, count: usize) {
        let begin = self.values.len();
        self.values.resize(begin + count * self.row_values(), 0.0);
        let row_values = self.row_values();
        let rows = self.values[begin..].chunks_exact_mut(row_values).zip(self.made..).collect();
        let used = in_parallel(rows, |(row, y): (&mut [f32], u32)| {
            let taps = self.down.taps(y);
            taps.iter().for_each(|(from, weight)| add(row, &self.narrow[from], *weight));
            self.filter.clamp(row);
            taps
        });
        self.made += count as u32;
        for (from, _) in used.into_iter().flatten() {
            if self.rows.last_use[from as usize].is_some_and(|last| last < self.made) {
                self.narrow.remove(&from);
            }
        }
    }
}

/// Which rows of a level are needed for which of the next one.
struct RowUse {
    /// For each row of the level before, the last row that is made of it.
    last_use: Vec<Option<u32>>,
    /// For each row, how many of the level before must have come.
    needs_until: Vec<u32>,
    /// The most rows of the level before that are kept for a row and those after it.
    kept_max: u32,
}

impl RowUse {
    fn of(down: &AxisFilter, before: u32, rows: u32) -> Self {
        let mut last_use = vec![None; before as usize];
        let (mut needs_until, mut until) = (Vec::with_capacity(rows as usize), 0);
        for y in 0..rows {
            for (from, _) in down.taps(y) {
                last_use[from as usize] = Some(y);
                until = until.max(from + 1);
            }
            needs_until.push(until);
        }
        let mut forgotten = vec![0; rows as usize];
        last_use.iter().flatten().for_each(|last| forgotten[*last as usize] += 1);
        let (mut kept, mut kept_max, mut arrived) = (0, 0, 0);
        for (until, forgotten) in needs_until.iter().zip(forgotten) {
            kept += last_use[arrived..*until as usize].iter().flatten().count() as u32;
            kept_max = kept_max.max(kept);
            (kept, arrived) = (kept - forgotten, *until as usize);
        }
        Self { last_use, needs_until, kept_max }
    }

    fn bytes(&self) -> u64 {
        size_of_val(&self.last_use[..]) as u64 + size_of_val(&self.needs_until[..]) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::header::WrapMode;
    use crate::texture::levels::MakeFilter;

    #[test]
    fn no_more_rows_are_kept_than_are_counted() {
        const ROWS: u32 = 500;
        for filter in MakeFilter::names().filter_map(MakeFilter::named) {
            for wrap in WrapMode::ALL {
                for widths in [None, Some([1.0, 9.0]), Some([1.0, 0.1])] {
                    let filter = LevelFilter { filter, widths, wrap: [wrap; 2], is_clamped: false };
                    let mut level = RowLevel::new([3, ROWS], [1, ROWS / 2], 1, filter);
                    let (kept_max, mut rows) = (level.rows.kept_max, 0);
                    for begin in (0..ROWS).step_by(STRIP_ROWS as usize) {
                        level.absorb(&Texels::empty([3, STRIP_ROWS.min(ROWS - begin)], 1));
                        assert!(level.narrow.len() as u32 <= kept_max + STRIP_ROWS, "{filter:?}");
                        while let Some(strip) = level.next_strip() {
                            rows += strip.size[1];
                        }
                    }
                    assert!(rows == ROWS / 2 && level.narrow.is_empty() && level.values.is_empty(), "{filter:?}");
                    let is_all = wrap == WrapMode::Periodic && widths != Some([1.0, 0.1]);
                    assert!(kept_max <= 24 || is_all, "{filter:?}: {kept_max}");
                }
            }
        }
    }
}

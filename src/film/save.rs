//! Saving and restoring the finished pixels of a film, and finding the missing ones, for checkpoints.

use super::plan::OutputFile;
use super::{DisplayOutcome, DisplayState, Film, Pixels, to_write};
use crate::deep::{Knot, Visibility};
use crate::schedule::Region;
use std::convert::Infallible;
use std::io::{self, Write};
use std::ops::Range;

const FLOAT_BYTES: usize = size_of::<f32>();

/// Which pixels of a film were saved: at first none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedPixels(Vec<u64>);

impl Film {
    /// Writes the finished pixels that `saved` lacks, as runs of a row: the place of the first pixel in the crop, the
    /// number of pixels, their floats, and the light at each depth if a display shows it, all little-endian. Returns
    /// `saved` with them. Regions may be deposited meanwhile: each row is written in its current state, and finished
    /// pixels never change.
    pub fn save(&self, saved: &SavedPixels, out: &mut dyn Write) -> io::Result<SavedPixels> {
        let mut bits = saved.0.clone();
        let floats = self.layout.floats();
        let mut row = Vec::new();
        for y in self.crop().rows() {
            row.clear();
            self.pixels.lock().pack_row(y, floats, &mut bits, &mut row);
            out.write_all(&row)?;
        }
        Ok(SavedPixels(bits))
    }

    /// Restores what [`Self::save`] wrote, once or in several parts, for a film of this crop and layout, which must be
    /// empty.
    ///
    /// # Errors
    /// If the data is not from such a film. Then an unknown part of it was restored, and the film is unusable.
    pub fn restore(&self, saved: &[u8]) -> io::Result<()> {
        let floats = self.layout.floats();
        let mut pixels = self.pixels.lock();
        let mut rest = saved;
        while !rest.is_empty() {
            rest = pixels.unpack_run(floats, rest).ok_or(io::ErrorKind::InvalidData)?;
        }
        Ok(())
    }

    /// Returns the missing pixels as disjoint rectangles; initially the whole crop rectangle.
    pub fn missing_regions(&self) -> Vec<Region> {
        let pixels = self.pixels.lock();
        let (mut closed, mut open) = (Vec::new(), Vec::<Region>::new());
        for y in pixels.crop.rows() {
            let runs = pixels.missing_runs(y);
            let above = |run: &Range<i32>| open.iter().find(|region| region.columns() == *run);
            let grown = runs.iter().filter_map(|run| {
                let top = above(run).map_or(y, |region| region.rows().start);
                Region::new([run.start, top, run.end, y + 1])
            });
            let grown: Vec<Region> = grown.collect();
            closed.extend(open.into_iter().filter(|region| !runs.contains(&region.columns())));
            open = grown;
        }
        closed.extend(open);
        closed
    }

    /// Returns the outcomes of a film that was drawn and written by an earlier run, all whole, or `None` if a file is
    /// missing.
    pub fn written_before(&self) -> Option<Vec<DisplayOutcome>> {
        let outputs = || self.outputs.iter().filter_map(to_write);
        if !outputs().all(|output| output.path.exists()) {
            return None;
        }
        let written = |output: &OutputFile| {
            // What is appended next is appended to it.
            let Ok(()) = self.claims.maps().counted(&output.path, output.appends, |_| Ok::<(), Infallible>(()));
            DisplayOutcome { path: output.path.clone(), state: DisplayState::Whole }
        };
        Some(outputs().map(written).collect())
    }
}

fn pack_light(light: &Visibility, out: &mut Vec<u8>) {
    out.push(light.knots().len() as u8);
    out.extend(light.knots().iter().flat_map(|knot| [knot.z, knot.light]).flat_map(f32::to_le_bytes));
}

/// Takes what a pixel saved from the front, and returns it with the rest.
fn unpack_light(saved: &[u8]) -> Option<(Visibility, &[u8])> {
    let (&count, rest) = saved.split_first()?;
    let (bytes, rest) = rest.split_at_checked(2 * FLOAT_BYTES * usize::from(count))?;
    let floats: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let knots = floats.as_chunks().0.iter().map(|&[z, light]| Knot { z, light }).collect();
    Some((Visibility::of_knots(knots)?, rest))
}

impl Pixels {
    /// Writes the runs of a row that `saved` lacks, and adds them to it.
    fn pack_row(&self, y: i32, floats: usize, saved: &mut Vec<u64>, out: &mut Vec<u8>) {
        saved.resize(self.finished.len(), 0);
        let (mut at, end) = (self.row_start(y), self.row_start(y) + self.width());
        while at < end {
            let is_new = |&index: &usize| (self.finished[index / 64] & !saved[index / 64]) >> (index % 64) & 1 != 0;
            let count = (at..end).take_while(is_new).count();
            if count > 0 {
                out.extend((at as u64).to_le_bytes());
                out.extend((count as u32).to_le_bytes());
                let values = &self.values[at * floats..][..count * floats];
                out.extend(values.iter().map(|value| value.to_le_bytes()).collect::<Vec<_>>().as_flattened());
                self.light.iter().skip(at).take(count).for_each(|light| pack_light(light, out));
                (at..at + count).for_each(|index| saved[index / 64] |= 1 << (index % 64));
            }
            at += count.max(1);
        }
    }

    /// Takes a run from the front of what was saved, and returns the rest; `None` if it is none of this film.
    fn unpack_run<'a>(&mut self, floats: usize, saved: &'a [u8]) -> Option<&'a [u8]> {
        let (first, rest) = saved.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let (first, count) = (u64::from_le_bytes(*first), u32::from_le_bytes(*count));
        let is_inside = first.checked_add(u64::from(count)).is_some_and(|end| end <= self.count());
        let (first, count) = (usize::try_from(first).ok().filter(|_| is_inside)?, count as usize);
        let (values, mut rest) = rest.split_at_checked(count * floats * FLOAT_BYTES)?;
        if (first..first + count).any(|index| self.finished[index / 64] >> (index % 64) & 1 != 0) {
            return None;
        }
        let target = &mut self.values[first * floats..][..count * floats];
        for (value, bytes) in target.iter_mut().zip(values.as_chunks::<FLOAT_BYTES>().0) {
            *value = f32::from_le_bytes(*bytes);
        }
        for light in self.light.iter_mut().skip(first).take(count) {
            (*light, rest) = unpack_light(rest)?;
        }
        self.finish_row(first, count);
        Some(rest)
    }

    /// Returns the missing runs of row `y`, from left to right, as raster columns.
    fn missing_runs(&self, y: i32) -> Vec<Range<i32>> {
        let mut runs: Vec<Range<i32>> = Vec::new();
        for (column, x) in self.crop.columns().enumerate() {
            if self.is_finished(column, y) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == x => run.end = x + 1,
                _ => runs.push(x..x + 1),
            }
        }
        runs
    }
}

//! Saving and restoring the finished pixels of a film, and finding the missing ones, for checkpoints.

use super::{DisplayOutcome, DisplayState, Film, Pixels, to_write};
use crate::deep::{Knot, Visibility};
use std::io::{self, Read, Write};

const FLOAT_BYTES: usize = size_of::<f32>();

impl Film {
    /// Writes the finished pixels, row by row: a bit for each pixel of the row (the lowest bit of the first byte is the
    /// leftmost pixel), then the floats of the finished ones, little-endian. Regions may be deposited meanwhile: each
    /// row is written in its current state, and finished pixels never change.
    pub fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        let [_, top, _, bottom] = self.crop();
        let floats = self.layout.floats();
        let mut row = Vec::new();
        for y in top..bottom {
            row.clear();
            self.pixels.lock().pack_row(y, floats, &mut row);
            out.write_all(&row)?;
        }
        Ok(())
    }

    /// Restores what [`Self::save`] wrote for a film of this crop and layout. This film must be empty.
    ///
    /// # Errors
    /// If the data is not from such a film. Then an unknown part of it was restored, and the film is unusable.
    pub fn restore(&self, input: &mut dyn Read) -> io::Result<()> {
        let floats = self.layout.floats();
        let mut pixels = self.pixels.lock();
        let [_, top, _, bottom] = pixels.crop;
        for y in top..bottom {
            pixels.unpack_row(y, floats, input)?;
        }
        match input.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "there is more data than the film holds")),
        }
    }

    /// Returns the missing pixels as disjoint half-open rectangles `[x0, y0, x1, y1]` in raster pixels; initially the
    /// whole crop rectangle.
    pub fn missing_rectangles(&self) -> Vec<[u32; 4]> {
        let pixels = self.pixels.lock();
        let [_, top, _, bottom] = pixels.crop;
        let (mut closed, mut open) = (Vec::new(), Vec::<[u32; 4]>::new());
        for y in top..bottom {
            let runs = pixels.missing_runs(y);
            let above = |run: &[u32; 2]| open.iter().find(|rectangle| [rectangle[0], rectangle[2]] == *run);
            let grown = runs.iter().map(|run| [run[0], above(run).map_or(y, |rectangle| rectangle[1]), run[1], y + 1]);
            let grown: Vec<[u32; 4]> = grown.collect();
            closed.extend(open.into_iter().filter(|rectangle| !runs.contains(&[rectangle[0], rectangle[2]])));
            open = grown;
        }
        closed.extend(open);
        closed
    }

    /// Returns the outcomes of a film that was drawn and written by an earlier run, all whole, or `None` if a file is
    /// missing.
    pub fn written_before(&self) -> Option<Vec<DisplayOutcome>> {
        let paths = || self.outputs.iter().filter_map(to_write).map(|output| &output.path);
        let whole = |path: &std::path::PathBuf| DisplayOutcome { path: path.clone(), state: DisplayState::Whole };
        paths().all(|path| path.exists()).then(|| paths().map(whole).collect())
    }
}

fn pack_light(light: &Visibility, out: &mut Vec<u8>) {
    out.push(light.knots().len() as u8);
    out.extend(light.knots().iter().flat_map(|knot| [knot.z, knot.light]).flat_map(f32::to_le_bytes));
}

fn unpack_light(input: &mut dyn Read) -> io::Result<Visibility> {
    let mut count = [0];
    input.read_exact(&mut count)?;
    let mut bytes = vec![0; 2 * FLOAT_BYTES * usize::from(count[0])];
    input.read_exact(&mut bytes)?;
    let floats: Vec<f32> = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let knots = floats.as_chunks().0.iter().map(|&[z, light]| Knot { z, light }).collect();
    Visibility::of_knots(knots).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its light comes back"))
}

impl Pixels {
    /// Returns the number of bytes of a row's bits.
    fn mask_bytes(&self) -> usize {
        self.width().div_ceil(8)
    }

    fn pack_row(&self, y: u32, floats: usize, out: &mut Vec<u8>) {
        let mut mask = vec![0_u8; self.mask_bytes()];
        let finished = || (0..self.width()).filter(|&column| self.is_finished(column, y));
        finished().for_each(|column| mask[column / 8] |= 1 << (column % 8));
        out.extend(mask);
        let row = self.row(y, floats);
        for column in finished() {
            out.extend(row[column * floats..][..floats].iter().flat_map(|value| value.to_le_bytes()));
            if let Some(light) = self.light.get(self.row_start(y) + column) {
                pack_light(light, out);
            }
        }
    }

    fn unpack_row(&mut self, y: u32, floats: usize, input: &mut dyn Read) -> io::Result<()> {
        let mut mask = vec![0; self.mask_bytes()];
        input.read_exact(&mut mask)?;
        let is_set = |column: usize| mask[column / 8] >> (column % 8) & 1 != 0;
        let mut bytes = vec![0; floats * FLOAT_BYTES];
        let first = self.row_start(y);
        for column in (0..self.width()).filter(|&column| is_set(column)) {
            input.read_exact(&mut bytes)?;
            let target = &mut self.values[(first + column) * floats..][..floats];
            for (value, bytes) in target.iter_mut().zip(bytes.as_chunks::<FLOAT_BYTES>().0) {
                *value = f32::from_le_bytes(*bytes);
            }
            if let Some(light) = self.light.get_mut(first + column) {
                *light = unpack_light(input)?;
            }
            self.finish_row(first + column, 1);
        }
        Ok(())
    }

    /// Returns the missing runs of row `y`, from left to right: the first raster column and one past the last.
    fn missing_runs(&self, y: u32) -> Vec<[u32; 2]> {
        let mut runs: Vec<[u32; 2]> = Vec::new();
        for (column, x) in (self.crop[0]..self.crop[2]).enumerate() {
            if self.is_finished(column, y) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run[1] == x => run[1] = x + 1,
                _ => runs.push([x, x + 1]),
            }
        }
        runs
    }
}

//! Developing deposited pixels for a file, one row at a time: exposure, then imager (RISpec figure 4.2); the encoders
//! quantize. Depth is not changed.

use super::channels::{ChannelGroup, FilmChannel, PixelLayout};
use super::plan::{OutputFile, OutputGroup};
use super::quantize::expose;
use super::{Imager, ImagerPixels, Pixels};
use crate::scene::{Filter, ValueType};
use crate::schedule::Region;
use std::ops::Range;

/// The depth where nothing was rendered or hit (RI_INFINITY).
pub(super) const DEPTH_OF_NOTHING: f32 = 1e38;

/// Returns the group of the opacity that an imager sees as `Oi`.
pub(super) fn imager_opacity() -> ChannelGroup {
    ChannelGroup::Variable { name: "Oi".into(), ty: ValueType::Color, composited: true }
}

/// Whether an imager changes this group.
pub(super) fn is_imaged(group: &ChannelGroup) -> bool {
    matches!(group, ChannelGroup::Colour | ChannelGroup::Alpha) || *group == imager_opacity()
}

/// Returns the first group of a file that an imager changes, if there is any. The others are imaged with its filter and
/// its exposure.
pub(super) fn imaged_group(output: &OutputFile) -> Option<&OutputGroup> {
    output.groups.iter().find(|group| is_imaged(&group.channel.group))
}

/// Returns what an imager reads for a file whose colours have this filter.
pub(super) fn imager_channels(filter: Option<Filter>) -> [FilmChannel; 3] {
    [ChannelGroup::Colour, imager_opacity(), ChannelGroup::Alpha].map(|group| FilmChannel { group, filter })
}

/// The number of rows that an imager shades together, a multiple of the tile rows of [`crate::pipeline::imager`]:
/// enough to keep a device busy.
const BAND_ROWS: i32 = 64;

/// Rows after the imager.
#[derive(Default)]
struct ImagerBand {
    /// The raster rows, half-open.
    rows: Range<i32>,
    ci: Vec<[f32; 3]>,
    oi: Vec<[f32; 3]>,
    alpha: Vec<f32>,
}

/// The finished rows of one output.
pub(super) struct DevelopedRows<'a> {
    pixels: &'a Pixels,
    layout: &'a PixelLayout,
    output: &'a OutputFile,
    imager: Option<&'a dyn Imager>,
    /// The most recent row of the film: interleaved floats.
    row: Vec<f32>,
    /// Its raster y.
    row_y: Option<i32>,
    /// The part of it that is returned.
    part: Range<usize>,
    /// The most recent band of the imager.
    band: ImagerBand,
}

impl<'a> DevelopedRows<'a> {
    /// Creates the rows of `written`, pixels inside the crop rectangle.
    pub(super) fn new(
        pixels: &'a Pixels,
        layout: &'a PixelLayout,
        output: &'a OutputFile,
        written: Region,
        imager: Option<&'a dyn Imager>,
    ) -> Self {
        let before = written.columns().start.abs_diff(pixels.crop.columns().start);
        let float = |column: u32| column as usize * output.floats();
        let part = float(before)..float(before + written.width());
        let band = ImagerBand::default();
        Self { pixels, layout, output, imager, row: Vec::new(), row_y: None, part, band }
    }

    /// Returns the number of floats of a pixel of the output.
    pub(super) fn floats(&self) -> usize {
        self.output.floats()
    }

    /// Returns row `y` of the written pixels (an absolute raster row): interleaved floats of the output's groups.
    pub(super) fn row(&mut self, y: i32) -> &[f32] {
        // Encoders request a row once for each channel.
        if self.row_y != Some(y) {
            self.row_y = Some(y);
            self.develop(y);
        }
        &self.row[self.part.clone()]
    }

    fn develop(&mut self, y: i32) {
        let width = self.pixels.width();
        self.row.clear();
        self.row.resize(width * self.output.floats(), 0.0);
        let mut offset = 0;
        for group in &self.output.groups {
            self.copy_group(group, offset, y);
            offset += group.channel.group.floats();
        }
        if let Some(imager) = self.imager {
            if !self.band.rows.contains(&y) {
                self.run_imager(imager, y);
            }
            self.copy_imaged(y);
        }
    }

    /// Copies one group of the film into the row, exposed.
    fn copy_group(&mut self, output: &OutputGroup, to: usize, y: i32) {
        let from = self.layout.offset(&output.channel).expect("a film holds every group that its outputs ask for");
        let group = &output.channel.group;
        let (film_floats, row_floats, floats) = (self.layout.floats(), self.output.floats(), group.floats());
        let source = self.pixels.row(y, film_floats);
        let exposure = group.is_colour().then_some(output.exposure);
        let pixels = source.chunks_exact(film_floats).zip(self.row.chunks_exact_mut(row_floats));
        for (index, (source, target)) in pixels.enumerate() {
            let target = &mut target[to..to + floats];
            target.copy_from_slice(&source[from..from + floats]);
            if let Some(exposure) = exposure {
                target.iter_mut().for_each(|value| *value = expose(*value, exposure));
            }
            if *group == ChannelGroup::Depth && !self.pixels.is_finished(index, y) {
                target.fill(DEPTH_OF_NOTHING);
            }
        }
    }

    /// Runs the imager on colour, opacity and alpha of the band that contains row `y`.
    fn run_imager(&mut self, imager: &dyn Imager, y: i32) {
        let film_floats = self.layout.floats();
        let imaged = imaged_group(self.output).expect("a file without colours has no imager");
        let offset = |channel| self.layout.offset(&channel).expect("a film with an imager holds what it reads");
        let [ci_at, oi_at, alpha_at] = imager_channels(imaged.channel.filter).map(offset);
        let triple = |pixel: &[f32], at: usize| [pixel[at], pixel[at + 1], pixel[at + 2]];
        let exposure = imaged.exposure;
        let (columns, all_rows) = (self.pixels.crop.columns(), self.pixels.crop.rows());
        let first = y.div_euclid(BAND_ROWS) * BAND_ROWS;
        let rows = first.max(all_rows.start)..(first + BAND_ROWS).min(all_rows.end);
        let source = || rows.clone().flat_map(|y| self.pixels.row(y, film_floats).chunks_exact(film_floats));
        let band = &mut self.band;
        band.ci = source().map(|pixel| triple(pixel, ci_at).map(|value| expose(value, exposure))).collect();
        band.oi = source().map(|pixel| triple(pixel, oi_at)).collect();
        band.alpha = source().map(|pixel| pixel[alpha_at]).collect();
        imager.shade(&mut ImagerPixels {
            corner: [columns.start, rows.start],
            size: [columns.end.abs_diff(columns.start), rows.end.abs_diff(rows.start)],
            ci: &mut band.ci,
            oi: &mut band.oi,
            alpha: &mut band.alpha,
        });
        band.rows = rows;
    }

    /// Copies the imager's result for row `y` into the row. Pixels that were never rendered stay black, because a
    /// background there would hide that the picture is partial.
    fn copy_imaged(&mut self, y: i32) {
        let first = y.abs_diff(self.band.rows.start) as usize * self.pixels.width();
        let mut to = 0;
        for OutputGroup { channel: FilmChannel { group, .. }, .. } in &self.output.groups {
            for (index, pixel) in self.row.chunks_exact_mut(self.output.floats()).enumerate() {
                if !self.pixels.is_finished(index, y) || !is_imaged(group) {
                    continue;
                }
                let from = first + index;
                match group {
                    ChannelGroup::Colour => pixel[to..to + 3].copy_from_slice(&self.band.ci[from]),
                    ChannelGroup::Alpha => pixel[to] = self.band.alpha[from],
                    _ => pixel[to..to + 3].copy_from_slice(&self.band.oi[from]),
                }
            }
            to += group.floats();
        }
    }
}

//! The film of one world: it collects finished regions, each pixel exactly once, and writes the displays.
//!
//! A [`Film`] is created from the world's displays and defines which [groups of floats](ChannelGroup) the renderer must
//! produce. Threads [deposit](Film::deposit) finished regions in any order. [`Film::finish`] develops the film for each
//! display (exposure, imager, quantization; RISpec figure 4.2) and writes the files, each under a temporary name that
//! is renamed when it is complete. A film with missing pixels is written too, and its files are marked as partial.
//! Files contain no date, host or device: equal pictures are equal files, byte for byte.
//!
//! # Drivers
//!
//! - `file`: the name's extension (`.exr`, `.tif`, `.tiff`, `.png`) selects the format; TIFF if there is none of these.
//! - `exr`, `openexr`: OpenEXR, scan lines. Quantize does not apply: half floats for colour and alpha, floats for depth
//!   and variables, or the type that `exrpixeltype` (`half`, `float`) selects. `exrcompression` (or `compression`) is
//!   `zip` (default), `zips`, `none`, `rle`, `piz`, `pxr24`, `b44` or `b44a`. `asrgba` names a variable's channels Y,
//!   RGB or RGBA.
//! - `tiff`: TIFF with 8 or 16 bits, as Quantize's `max` needs, or 32-bit floats if its `one` is 0; alpha is associated
//!   (premultiplied). `compression` is `lzw` (default), `none`, `packbits` or `deflate`. Quantized files of colours
//!   have no depth.
//! - `png`: PNG with 8 or 16 bits, as Quantize needs, or 8 bits if its `one` is 0. There is no gamma that Exposure did
//!   not request. Alpha is not associated (colours are divided by it), as PNG requires.
//! - `zfile`, `shadow`, `shadowmap`: depth for shadow maps, as OpenEXR with the single float channel `Z` whatever the
//!   name's extension: camera-space z, 1e38 where there is nothing; `worldToCamera` and `worldToNDC` describe the view.
//!   With `append` other than 0 the picture becomes another part of the file, beside those that are in it.
//! - `deepshad`, `deepshadow`: a deep shadow map, the light that reaches each depth, whatever the display's mode: an
//!   OpenEXR file of deep tiles with the channels A, Z and ZBack.
//! - `framebuffer`, `x11`, `it`, ...: no window is opened. The file of that name is written, as OpenEXR with `.exr`
//!   added if the name has none of the extensions above.
//! - `null`: nothing is written.
//!
//! In a crop, OpenEXR's data window is the crop rectangle and its display window the whole format; TIFF stores the
//! crop's position in the tags XPosition, YPosition and Pixar's full image size. `origin` shifts both. Overscan, what
//! is drawn outside of the format, is in OpenEXR's data window; other files leave it out.

mod append;
mod channels;
mod copies;
mod deep_shadow;
mod develop;
mod driver;
mod error;
mod exr;
mod metadata;
mod output_name;
mod partial;
mod picture_info;
mod plan;
mod png;
mod preview;
mod quantize;
mod save;
mod side_by_side;
#[cfg(test)]
mod tests;
mod tiff;

pub use channels::{ChannelGroup, FilmChannel, PixelLayout};
pub use driver::{check_driver, display_path};
pub use output_name::{OutputName, OutputNaming, RepeatedFrame, set_driver};
pub use preview::{PreviewError, PreviewImage, encode_png, preview, preview_image, shown_image};
pub use save::SavedPixels;

use crate::deep::Visibility;
use crate::diagnostic::{Diagnostic, Reporter, Severity, SourceLocation};
use crate::files::{FileClaims, FileRole, FileSink, check_writable};
use crate::scene::{Camera, Options, World};
use crate::schedule::Region;
use append::OlderMaps;
use develop::DevelopedRows;
use error::FilmWriteError;
use metadata::CameraMetadata;
use parking_lot::Mutex;
use picture_info::PictureInfo;
use plan::{FileFormat, OutputFile, PlannedDisplay};
use side_by_side::{FILES_AT_ONCE, encode_all};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An imager shader, which changes pixels after exposure and before quantization (RISpec 4.1.4).
pub trait Imager: Sync {
    /// Changes the colours, opacities and alphas of some rows in place.
    fn shade(&self, pixels: &mut ImagerPixels<'_>);

    /// Returns why it could not change the most recent pixels, if it failed; a display that needs them is then not
    /// written.
    fn failure(&self) -> Option<String>;
}

/// Rows of pixels as an imager sees them, row by row.
#[derive(Debug)]
pub struct ImagerPixels<'a> {
    /// Raster position of the first pixel.
    pub corner: [i32; 2],
    /// Width and height.
    pub size: [u32; 2],
    /// `Ci`: premultiplied, exposed.
    pub ci: &'a mut [[f32; 3]],
    /// `Oi`.
    pub oi: &'a mut [[f32; 3]],
    /// `alpha`.
    pub alpha: &'a mut [f32],
}

/// The outcome of one display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayOutcome {
    /// The file, as named.
    pub path: PathBuf,
    /// Whether it was written.
    pub state: DisplayState,
}

/// Whether a display was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayState {
    /// It was written with every pixel.
    Whole,
    /// It was written with pixels missing, and the file is marked as partial.
    Partial {
        /// How many pixels are missing.
        missing: u64,
    },
    /// It was not written; the reason was reported.
    Missing,
}

impl fmt::Display for DisplayState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole => "whole",
            Self::Partial { .. } => "partial",
            Self::Missing => "missing",
        })
    }
}

/// The film of one world.
pub struct Film {
    layout: PixelLayout,
    header: CameraMetadata,
    outputs: Vec<PlannedDisplay>,
    claims: Arc<FileClaims>,
    pixels: Mutex<Pixels>,
    /// All pixels of the picture and its overscan.
    whole: Region,
}

/// The crop rectangle's pixels.
struct Pixels {
    /// The crop rectangle.
    crop: Region,
    /// The values, row-major, interleaved according to the layout.
    values: Vec<f32>,
    /// One bit per pixel, set when it was deposited.
    finished: Vec<u64>,
    finished_count: u64,
    /// The light at each depth of each pixel, row by row; empty if no display shows it.
    light: Vec<Visibility>,
}

impl Pixels {
    /// Creates missing pixels; `None` if they need more than `bytes_max` bytes or cannot be allocated.
    fn new(crop: Region, floats: usize, bytes_max: u64) -> Option<Self> {
        let mut pixels = Self { crop, values: Vec::new(), finished: Vec::new(), finished_count: 0, light: Vec::new() };
        let count = pixels.count();
        let bytes = bytes_of(count, floats);
        let value_count = usize::try_from(count).ok()?.checked_mul(floats)?;
        if bytes > bytes_max || pixels.values.try_reserve_exact(value_count).is_err() {
            return None;
        }
        pixels.values.resize(value_count, 0.0);
        pixels.finished = vec![0; usize::try_from(count.div_ceil(64)).ok()?];
        Some(pixels)
    }

    fn width(&self) -> usize {
        self.crop.width() as usize
    }

    fn count(&self) -> u64 {
        self.crop.pixel_count()
    }

    fn missing(&self) -> u64 {
        self.count() - self.finished_count
    }

    /// Returns the note that marks a partial picture in text fields; `None` for a whole one.
    fn partial_note(&self) -> Option<String> {
        (self.missing() > 0).then(|| format!("partial: {} of {} {}", self.missing(), self.count(), partial::NOTE))
    }

    /// Returns the index of the first pixel of raster row `y`.
    fn row_start(&self, y: i32) -> usize {
        y.abs_diff(self.crop.rows().start) as usize * self.width()
    }

    /// Returns the index of the pixel at raster column `x` of raster row `y`.
    fn index(&self, x: i32, y: i32) -> usize {
        self.row_start(y) + x.abs_diff(self.crop.columns().start) as usize
    }

    /// Returns the values of raster row `y`.
    fn row(&self, y: i32, floats: usize) -> &[f32] {
        &self.values[self.row_start(y) * floats..][..self.width() * floats]
    }

    /// Whether the pixel `column` of raster row `y` was deposited; columns count from the crop's left edge.
    fn is_finished(&self, column: usize, y: i32) -> bool {
        let index = self.row_start(y) + column;
        self.finished[index / 64] >> (index % 64) & 1 != 0
    }

    /// Marks pixels of a row as finished.
    fn finish_row(&mut self, first: usize, count: usize) {
        for index in first..first + count {
            let (word, bit) = (&mut self.finished[index / 64], 1 << (index % 64));
            assert!(*word & bit == 0, "a pixel is deposited once");
            *word |= bit;
        }
        self.finished_count += count as u64;
    }
}

/// Returns the error about a crop window that selects no pixel.
fn no_pixel(world: &World) -> Diagnostic {
    let ([x0, x1, y0, y1], [width, height]) = (world.camera.crop_window, world.camera.resolution);
    let message = format!(
        "the crop window {x0} {x1} {y0} {y1} selects no pixel of {width} by {height}; nothing of this world is drawn"
    );
    let hint = "widen the window of CropWindow or --crop: it goes from the left to the right and from the top to the \
                bottom of the picture, each from 0 to 1";
    Diagnostic::new(Severity::Error, "range", world.location.clone(), message).hint(hint)
}

impl Film {
    /// Creates the film that a world's displays need, with all pixels missing. Mistakes in a display are reported here
    /// and do not affect the other displays. Its files are claimed in `claims`; one that has another role is missing.
    ///
    /// # Errors
    /// If the crop window selects no pixel, or if the film needs more than `bytes_max` bytes or cannot be allocated,
    /// which is reported. Then all displays are missing.
    pub fn new(
        world: &World,
        bytes_max: u64,
        claims: &Arc<FileClaims>,
        reporter: &Reporter,
    ) -> Result<Self, Vec<DisplayOutcome>> {
        let mut outputs = plan::plan(&world.options.displays, reporter);
        plan::claim(&mut outputs, claims, reporter);
        let layout = layout(&outputs, &world.options);
        let Some(crop) = Region::new(world.camera.crop_px()) else {
            reporter.report(no_pixel(world));
            return Err(missing(&outputs, |_| true));
        };
        let wants_light = layout.has_light();
        let Some(mut pixels) = Pixels::new(crop, layout.floats(), bytes_max) else {
            let [width, height] = world.camera.resolution;
            let message = format!(
                "a film of {width} by {height} pixels with {} channels does not fit in memory",
                layout.floats()
            );
            let error = Diagnostic::new(Severity::Severe, "limitcheck", world.location.clone(), message);
            reporter.report(error.hint("use a smaller Format, a CropWindow, or a larger --host-memory"));
            return Err(missing(&outputs, |_| true));
        };
        if wants_light {
            pixels.light = vec![Visibility::default(); pixels.count() as usize];
        }
        let (header, claims) = (CameraMetadata::new(&world.camera), Arc::clone(claims));
        let whole = Region::new(world.camera.whole_px()).expect("a picture has pixels");
        Ok(Self { layout, header, outputs, claims, pixels: Mutex::new(pixels), whole })
    }

    /// Returns which groups the renderer must produce and where each is in a pixel. Without groups there is nothing to
    /// render.
    pub fn layout(&self) -> &PixelLayout {
        &self.layout
    }

    /// Returns the rectangle of pixels that must be deposited.
    pub fn crop(&self) -> Region {
        self.pixels.lock().crop
    }

    /// Returns all pixels of the picture and its overscan, however few must be deposited.
    pub fn whole(&self) -> Region {
        self.whole
    }

    /// Returns the layout of the film of a world with these options.
    pub fn layout_of(options: &Options) -> PixelLayout {
        layout(&plan::plan(&options.displays, &Reporter::silent()), options)
    }

    /// Returns the bytes of host memory that the film of a world with these options needs.
    pub fn bytes_of(options: &Options, camera: &Camera) -> u64 {
        let pixel_count = Region::new(camera.crop_px()).map_or(0, Region::pixel_count);
        bytes_of(pixel_count, Self::layout_of(options).floats())
    }

    /// Whether a display shows the light at each depth.
    pub fn wants_light(&self) -> bool {
        self.layout.has_light()
    }

    /// Keeps the light of a region's pixels, row by row, before [`Self::deposit`] marks them as finished.
    pub fn deposit_light(&self, region: Region, light: Vec<Visibility>) {
        let (mut pixels, [x0, y0]) = (self.pixels.lock(), region.corner());
        let width = region.width() as usize;
        for (i, light) in light.into_iter().enumerate() {
            let first = pixels.index(x0, y0 + (i / width) as i32);
            pixels.light[first + i % width] = light;
        }
    }

    /// Returns how many pixels were deposited, and how many there are.
    pub fn progress(&self) -> (u64, u64) {
        let pixels = self.pixels.lock();
        (pixels.finished_count, pixels.count())
    }

    /// Deposits a finished region inside [`Self::crop`]: its values row by row, interleaved according to
    /// [`Self::layout`].
    ///
    /// # Panics
    /// If a pixel is deposited twice or is outside the crop, or if the number of values is wrong: the scheduler is
    /// broken.
    pub fn deposit(&self, region: Region, values: &[f32]) {
        let floats = self.layout.floats();
        let mut pixels = self.pixels.lock();
        let crop = pixels.crop;
        assert!(crop.contains(region), "region {region} is inside the film {crop}");
        let [width, height] = region.size().map(|side| side as usize);
        assert_eq!(values.len(), width * height * floats, "a region has as many values as its pixels need");
        for (row, y) in region.rows().enumerate() {
            let first = pixels.index(region.columns().start, y);
            pixels.finish_row(first, width);
            let source = &values[row * width * floats..][..width * floats];
            pixels.values[first * floats..][..width * floats].copy_from_slice(source);
        }
    }

    /// Returns the values of all pixels, as [`Self::deposit`] takes those of the whole crop; `None` if some are
    /// missing.
    pub fn values(&self) -> Option<Vec<f32>> {
        let pixels = self.pixels.lock();
        (pixels.missing() == 0).then(|| pixels.values.clone())
    }

    /// Checks before rendering that every output can be written: its directory exists and is writable, and its format
    /// can describe the picture. An output that cannot be written is reported and dropped. Returns how many are left;
    /// without any, rendering is pointless.
    pub fn check_outputs(&mut self, reporter: &Reporter) -> usize {
        let crop = self.crop();
        for planned in &mut self.outputs {
            let PlannedDisplay::Write(output) = planned else { continue };
            match check_output(output, &self.header, crop) {
                Ok(left_out) => left_out.into_iter().for_each(|warning| reporter.report(warning)),
                Err(error) => {
                    report_unwritten(reporter, &output.location, &output.path, &error);
                    *planned = PlannedDisplay::Never(output.path.clone());
                }
            }
        }
        self.outputs.iter().filter_map(to_write).count()
    }

    /// Whether rendering is pointless, because some display cannot be written and there is no other.
    pub fn is_pointless(&self) -> bool {
        let lost = self.outputs.iter().any(|planned| matches!(planned, PlannedDisplay::Never(_)));
        lost && !self.outputs.iter().any(|planned| to_write(planned).is_some())
    }

    /// Returns the outcomes of a film that is not drawn: displays that cannot be written are missing, the others are
    /// left out.
    pub fn undrawn(self) -> Vec<DisplayOutcome> {
        missing(&self.outputs, |planned| matches!(planned, PlannedDisplay::Never(_)))
    }

    /// Returns the outcomes of a film that cannot be drawn: all displays that write something are missing.
    pub fn missing(self) -> Vec<DisplayOutcome> {
        missing(&self.outputs, |_| true)
    }

    /// Writes the file of every display, some side by side if there is no imager, and returns the outcomes in the order
    /// of the displays, without those that write nothing intentionally. `imager` is the world's imager, if it has one.
    /// A film without any finished pixel writes nothing, because an older file is worth more than an empty one; one
    /// with missing pixels is written as `NAME.partial` beside an older whole file, until a whole one is written.
    pub fn finish(self, imager: Option<&dyn Imager>, reporter: &Reporter) -> Vec<DisplayOutcome> {
        let pixels = self.pixels.into_inner();
        let drafts: Vec<_> =
            self.outputs.iter().filter_map(|planned| draft(planned, &pixels, &self.claims, reporter)).collect();
        let encode = |draft: &Draft<'_>| {
            draft.output.map(|output| {
                let imager = imager.filter(|_| develop::imaged_group(output).is_some());
                let appends = output.appends && pixels.missing() == 0;
                self.claims.maps().counted(&draft.path, appends, |own| {
                    let mut picture = PictureInfo::new(output, &self.header, pixels.crop, pixels.partial_note())?;
                    if let Some(own) = own {
                        picture.older = OlderMaps::find(&draft.path, &picture, own)?;
                    }
                    let rows = DevelopedRows::new(&pixels, &self.layout, output, picture.crop, imager);
                    let encode = |sink: &mut dyn FileSink| write(output, sink, &picture, &pixels, rows, imager);
                    self.claims.budget().write_whole(&draft.path, encode)
                })
            })
        };
        let first_of = copies::first_of_equal(&drafts);
        let (first, others): (Vec<_>, Vec<_>) = (0..drafts.len()).partition(|&number| first_of[number] == number);
        let encode = |&number: &usize| (number, encode(&drafts[number]));
        let mut written: BTreeMap<usize, _> = match imager {
            Some(_) => first.iter().map(encode).collect(),
            None => first.chunks(FILES_AT_ONCE).flat_map(|some| encode_all(some, &encode)).collect(),
        };
        for number in others {
            let from = first_of[number];
            let is_written = matches!(written[&from], Some(Ok(())));
            let copied = is_written.then(|| copies::copy(&drafts[from], &drafts[number], &self.claims)).flatten();
            written.insert(number, copied.map_or_else(|| encode(&number).1, Some));
        }
        let outcome = |(draft, written): (Draft<'_>, _)| draft.outcome(written, &pixels, &self.claims, reporter);
        drafts.into_iter().zip(written.into_values()).map(outcome).collect()
    }
}

/// A display about to be written.
struct Draft<'a> {
    path: PathBuf,
    /// `None` for what cannot be written, which was reported.
    output: Option<&'a OutputFile>,
}

/// Returns the draft of a display; `None` for one that writes nothing intentionally.
fn draft<'a>(
    planned: &'a PlannedDisplay,
    pixels: &Pixels,
    claims: &FileClaims,
    reporter: &Reporter,
) -> Option<Draft<'a>> {
    let (path, output) = match planned {
        PlannedDisplay::Nothing => return None,
        PlannedDisplay::Never(path) => (path.clone(), None),
        PlannedDisplay::Write(output) if pixels.finished_count == 0 => {
            let message = format!("no pixel of \"{}\" was finished; it is not written", output.path.display());
            reporter.report(Diagnostic::new(Severity::Severe, "missingdata", output.location.clone(), message));
            (output.path.clone(), None)
        }
        PlannedDisplay::Write(output) => {
            let path = partial::path_for(&output.path, pixels.missing() > 0);
            let output = may_be_written(claims, output, &path, reporter).then_some(output);
            (path, output)
        }
    };
    Some(Draft { path, output })
}

impl Draft<'_> {
    /// Reports how writing ended, and removes an older partial picture beside a whole one. `written` is `None` for what
    /// was not to be written.
    fn outcome(
        self,
        written: Option<Result<(), FilmWriteError>>,
        pixels: &Pixels,
        claims: &FileClaims,
        reporter: &Reporter,
    ) -> DisplayOutcome {
        let state = match (self.output, written) {
            (Some(output), Some(Err(error))) => {
                report_unwritten(reporter, &output.location, &self.path, &error);
                DisplayState::Missing
            }
            (Some(_), Some(Ok(()))) if pixels.missing() == 0 => {
                partial::remove_old(&self.path, claims);
                DisplayState::Whole
            }
            (Some(output), Some(Ok(()))) => {
                let note = pixels.partial_note().unwrap_or_default();
                let message = format!("\"{}\" is {note}", self.path.display());
                reporter.report(Diagnostic::new(Severity::Severe, "missingdata", output.location.clone(), message));
                DisplayState::Partial { missing: pixels.missing() }
            }
            _ => DisplayState::Missing,
        };
        DisplayOutcome { path: self.path, state }
    }
}

/// Returns the bytes of this many pixels and of their bits for finished pixels.
fn bytes_of(pixel_count: u64, floats: usize) -> u64 {
    let values = pixel_count.saturating_mul(floats as u64 * size_of::<f32>() as u64);
    values.saturating_add(pixel_count.div_ceil(64) * 8)
}

/// Returns the layout of a pixel that the displays and the imager need.
fn layout(outputs: &[PlannedDisplay], options: &Options) -> PixelLayout {
    let mut layout = PixelLayout::default();
    for output in outputs.iter().filter_map(to_write) {
        output.groups.iter().for_each(|group| layout.add(&group.channel));
    }
    for output in outputs.iter().filter_map(to_write).filter(|_| options.imager.is_some()) {
        if let Some(imaged) = develop::imaged_group(output) {
            let [colour, opacity, alpha] = develop::imager_channels(imaged.channel.filter);
            [colour, alpha, opacity].iter().for_each(|channel| layout.add(channel));
        }
    }
    layout
}

/// Returns an outcome for each of these displays that says it is missing.
fn missing(outputs: &[PlannedDisplay], which: impl Fn(&PlannedDisplay) -> bool) -> Vec<DisplayOutcome> {
    let path = |planned: &PlannedDisplay| match planned {
        PlannedDisplay::Write(output) => Some(output.path.clone()),
        PlannedDisplay::Never(path) => Some(path.clone()),
        PlannedDisplay::Nothing => None,
    };
    let paths = outputs.iter().filter(|planned| which(planned)).filter_map(path);
    paths.map(|path| DisplayOutcome { path, state: DisplayState::Missing }).collect()
}

fn to_write(planned: &PlannedDisplay) -> Option<&OutputFile> {
    match planned {
        PlannedDisplay::Write(output) => Some(output),
        PlannedDisplay::Never(_) | PlannedDisplay::Nothing => None,
    }
}

/// Whether a picture may be written to `path`; if that is not its own file, it must be free.
fn may_be_written(claims: &FileClaims, output: &OutputFile, path: &Path, reporter: &Reporter) -> bool {
    let checked = match path == output.path {
        true => claims.check_unwanted(path),
        false => claims.claim(path, FileRole::Partial),
    };
    let refused = match checked {
        Err(refused) => refused.to_string(),
        Ok(()) if path == output.path => return true,
        Ok(()) if path.exists() && !partial::is_partial(path) => format!("\"{}\" exists", path.display()),
        Ok(()) => {
            let message = format!("\"{}\" keeps its older picture", output.path.display());
            reporter.report(Diagnostic::new(Severity::Info, "missingdata", output.location.clone(), message));
            return true;
        }
    };
    report_unwritten(reporter, &output.location, path, &refused);
    false
}

/// Checks that an output can be written, whatever the pixels of its film are; returns a warning if it leaves some out.
fn check_output(
    output: &OutputFile,
    header: &CameraMetadata,
    crop: Region,
) -> Result<Option<Diagnostic>, FilmWriteError> {
    check_writable(&output.path)?;
    let picture = PictureInfo::new(output, header, crop, None)?;
    check_format(output, &picture)?;
    Ok(picture.left_out(output, crop))
}

/// Checks what an encoder may refuse of a picture, whatever its pixels are.
fn check_format(output: &OutputFile, picture: &PictureInfo<'_>) -> Result<(), FilmWriteError> {
    match &output.format {
        FileFormat::Exr { compression, channels } => exr::check(picture, *compression, channels),
        FileFormat::Png { bits } => png::check(picture, output.floats(), *bits),
        // Their headers hold whatever a film can be.
        FileFormat::Tiff { .. } | FileFormat::DeepShadow => Ok(()),
    }
}

fn write(
    output: &OutputFile,
    sink: &mut dyn FileSink,
    picture: &PictureInfo<'_>,
    pixels: &Pixels,
    rows: DevelopedRows<'_>,
    imager: Option<&dyn Imager>,
) -> Result<(), FilmWriteError> {
    match &output.format {
        FileFormat::Exr { compression, channels } => exr::write(sink, picture, *compression, channels, rows),
        FileFormat::Tiff { compression, samples } => tiff::write(sink, picture, output, *compression, *samples, rows),
        FileFormat::Png { bits } => png::write(sink, picture, &output.quantize_by_float(), *bits, rows),
        FileFormat::DeepShadow => deep_shadow::write(sink, picture, pixels),
    }?;
    imager.and_then(Imager::failure).map_or(Ok(()), |why| Err(FilmWriteError::Imager(why)))
}

fn report_unwritten(reporter: &Reporter, location: &SourceLocation, path: &Path, error: &dyn fmt::Display) {
    let message = format!("cannot write \"{}\": {error}", path.display());
    reporter.report(Diagnostic::new(Severity::Severe, "badfile", location.clone(), message));
}

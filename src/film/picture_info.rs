//! What an encoder needs of a picture besides the values of its pixels.

use super::FilmWriteError;
use super::append::OlderMaps;
use super::metadata::CameraMetadata;
use super::plan::{FileFormat, OutputFile};
use crate::diagnostic::{Diagnostic, Severity};
use crate::schedule::Region;

/// Everything that an encoder needs besides the values of the pixels.
pub(super) struct PictureInfo<'a> {
    pub(super) header: &'a CameraMetadata,
    /// The pixels of the file: the crop rectangle, or what of it is inside of the format where files hold no more.
    pub(super) crop: Region,
    /// Position of raster pixel (0, 0) on the display.
    pub(super) origin: [i32; 2],
    /// The note that marks a partial picture in text fields.
    pub(super) partial_note: Option<String>,
    /// The maps that are in the file before this one.
    pub(super) older: Option<OlderMaps>,
}

impl<'a> PictureInfo<'a> {
    /// Describes the file of an output, of a film with this crop rectangle.
    ///
    /// # Errors
    /// If the format of the file holds none of the pixels.
    pub(super) fn new(
        output: &OutputFile,
        header: &'a CameraMetadata,
        crop: Region,
        partial_note: Option<String>,
    ) -> Result<Self, FilmWriteError> {
        let has_data_window = matches!(output.format, FileFormat::Exr { .. });
        let held = if has_data_window { Some(crop) } else { crop.intersection(header.format_px()) };
        let crop = held.ok_or(FilmWriteError::Outside)?;
        Ok(Self { header, crop, origin: output.origin, partial_note, older: None })
    }

    /// Returns the file's upper left corner on the display.
    pub(super) fn corner(&self) -> [i32; 2] {
        let corner = self.crop.corner();
        [0, 1].map(|axis| corner[axis].saturating_add(self.origin[axis]))
    }

    /// Returns the warning about pixels of the crop rectangle that the file leaves out; `None` if it holds all.
    pub(super) fn left_out(&self, output: &OutputFile, crop: Region) -> Option<Diagnostic> {
        let message = format!(
            "\"{}\" has only the pixels inside of the picture: files of this format have no place for overscan",
            output.path.display()
        );
        let warning = Diagnostic::new(Severity::Warning, "overscan", output.location.clone(), message);
        (self.crop != crop).then(|| warning.hint("write OpenEXR, whose data window may be larger than the picture"))
    }
}

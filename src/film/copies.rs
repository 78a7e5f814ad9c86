//! Displays whose files are equal, as with `-o` and one in the scene: the first is encoded, the others are copies of
//! it, because compressing takes longest.

use super::plan::{FileFormat, OutputFile, OutputGroup};
use super::{Draft, FilmWriteError};
use crate::files::FileClaims;
use std::fs::File;
use std::io;

/// Returns for each file the number of the first one that is equal, or its own.
pub(super) fn first_of_equal(drafts: &[Draft<'_>]) -> Vec<usize> {
    let first = |number: usize| {
        let output = drafts[number].output;
        (0..number).find(|&other| are_equal(drafts[other].output, output)).unwrap_or(number)
    };
    (0..drafts.len()).map(first).collect()
}

/// Whether equal bytes are written for two outputs of a film. What is appended depends on what is in its file.
fn are_equal(a: Option<&OutputFile>, b: Option<&OutputFile>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    // Files of floats are not quantized.
    let quantizes = matches!(a.format, FileFormat::Tiff { .. } | FileFormat::Png { .. });
    let alike = |(a, b): (&OutputGroup, &OutputGroup)| {
        (&a.channel, a.exposure) == (&b.channel, b.exposure) && (!quantizes || a.quantize == b.quantize)
    };
    let groups = a.groups.len() == b.groups.len() && a.groups.iter().zip(&b.groups).all(alike);
    groups && !a.appends && !b.appends && (a.origin, &a.format) == (b.origin, &b.format)
}

/// Copies the file of one display to that of another. Returns `None` where that is not possible: the second is then
/// encoded too, and says what is wrong.
pub(super) fn copy(from: &Draft<'_>, to: &Draft<'_>, claims: &FileClaims) -> Option<Result<(), FilmWriteError>> {
    // A pipe cannot be read again.
    let mut file = from.path.is_file().then(|| File::open(&from.path).ok()).flatten()?;
    let copied = claims.maps().counted(&to.path, false, |_| {
        claims.budget().write_whole::<io::Error>(&to.path, |sink| io::copy(&mut file, sink).map(drop))
    });
    copied.ok().map(Ok)
}

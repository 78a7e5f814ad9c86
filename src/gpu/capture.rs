//! Captures for RenderDoc of what a device does, which its layer records (docs/captures.md).

use super::instance::capture_layer_version;
use renderdoc::{RenderDoc, V141};
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::ptr;
use thiserror::Error;

/// Why there is no capture.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// RenderDoc's layer is not among those that the Vulkan loader lists.
    #[error("RenderDoc's Vulkan layer is not installed (on Debian and Ubuntu: the package renderdoc)")]
    NoLayer,
    /// The layer is there, but its library does not offer what is needed.
    #[error("RenderDoc's library cannot be used ({0}): version 1.13 or later is needed")]
    Unusable(String),
    /// The tool did not begin to record.
    #[error("RenderDoc did not begin to record")]
    NotBegun,
    /// RenderDoc has no folder to write into.
    #[error("there is no temporary folder for RenderDoc: {0}")]
    NoFolder(io::Error),
    /// Nothing was recorded, or not all of it was written.
    #[error("RenderDoc did not write all of it: {0}")]
    Partial(String),
    /// The file could not be put where it belongs.
    #[error("{0}")]
    Unwritable(#[from] io::Error),
}

/// Returns the version of RenderDoc's layer, 24 for RenderDoc 1.24; `None` if the loader lists no such layer.
#[must_use]
pub fn capture_layer() -> Option<u32> {
    capture_layer_version().ok().flatten()
}

/// A capture that is being recorded: all that devices do which were opened with
/// [`OpenOptions::capture`](super::OpenOptions::capture).
pub struct Capture {
    tool: RenderDoc<V141>,
    /// Captures that the process had before.
    earlier: u32,
    ended: bool,
}

impl Capture {
    /// Begins to record. The file is written into this folder.
    ///
    /// # Errors
    /// If no device was opened for captures, or RenderDoc is too old.
    pub fn begin(folder: &Path) -> Result<Self, CaptureError> {
        let mut tool = RenderDoc::<V141>::new().map_err(|error| CaptureError::Unusable(error.to_string()))?;
        tool.set_capture_file_path_template(folder.join("region"));
        let earlier = tool.get_num_captures();
        tool.start_frame_capture(ptr::null::<c_void>(), ptr::null());
        let begun = tool.is_frame_capturing();
        let capture = Self { tool, earlier, ended: !begun };
        if begun { Ok(capture) } else { Err(CaptureError::NotBegun) }
    }

    /// Ends the recording, and returns its file, which is whole.
    ///
    /// # Errors
    /// If RenderDoc wrote no file or a part of one; it does not say so where the disk is full.
    pub fn end(mut self) -> Result<PathBuf, CaptureError> {
        self.ended = true;
        self.tool.end_frame_capture(ptr::null::<c_void>(), ptr::null());
        let newest = self.tool.get_num_captures().checked_sub(1).filter(|newest| *newest >= self.earlier);
        let (path, _) = newest
            .and_then(|newest| self.tool.get_capture(newest))
            .ok_or_else(|| CaptureError::Partial("there is no file".to_owned()))?;
        match check_whole(&mut File::open(&path)?) {
            Ok(()) => Ok(path),
            Err(error) => Err(CaptureError::Partial(match error.kind() {
                ErrorKind::UnexpectedEof => "its file ends early, so the disk may be full".to_owned(),
                _ => error.to_string(),
            })),
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if !self.ended {
            self.tool.discard_frame_capture(ptr::null::<c_void>(), ptr::null());
        }
    }
}

/// The first bytes of a capture.
const MAGIC: u64 = u64::from_le_bytes(*b"RDOC\0\0\0\0");
/// Bytes of a section's header before its name: kind of text, padding, type, two sizes, version, flags, length of the
/// name.
const SECTION_BYTES: u64 = 40;

/// Checks that a capture has all sections to their ends.
///
/// # Errors
/// [`ErrorKind::UnexpectedEof`] if it is cut off, [`ErrorKind::InvalidData`] if it is something else.
fn check_whole(file: &mut (impl Read + Seek)) -> io::Result<()> {
    let end = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    if number(file, 8)? != MAGIC {
        return Err(io::Error::new(ErrorKind::InvalidData, "its file is no capture"));
    }
    let _version = number(file, 4)?;
    let mut next = number(file, 4)?;
    let mut sections = 0;
    while next < end {
        file.seek(SeekFrom::Start(next))?;
        let _kind = number(file, 4)?;
        let _section = number(file, 4)?;
        let bytes = number(file, 8)?;
        let _uncompressed = number(file, 8)?;
        let _version = number(file, 8)?;
        let _flags = number(file, 4)?;
        let name = number(file, 4)?;
        next = next.saturating_add(SECTION_BYTES + name).saturating_add(bytes);
        sections += 1;
    }
    if sections > 0 && next == end { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// Reads a little-endian number of so many bytes.
fn number(file: &mut impl Read, bytes: usize) -> io::Result<u64> {
    let mut all = [0; 8];
    file.read_exact(&mut all[..bytes])?;
    Ok(u64::from_le_bytes(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A capture with sections of these sizes.
    fn file(sections: &[usize]) -> Vec<u8> {
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend([0x102_u32, 20].map(u32::to_le_bytes).concat());
        bytes.extend([7; 4]);
        for &section in sections {
            bytes.extend([0_u32, 1].map(u32::to_le_bytes).concat());
            bytes.extend([section as u64, 9, 1].map(u64::to_le_bytes).concat());
            bytes.extend([2_u32, 3].map(u32::to_le_bytes).concat());
            bytes.extend(b"abc");
            bytes.extend(vec![5; section]);
        }
        bytes
    }

    #[test]
    fn captures_that_are_cut_off_are_not_whole() {
        for sections in [&[100][..], &[0, 7, 300]] {
            let whole = file(sections);
            assert!(check_whole(&mut Cursor::new(&whole)).is_ok(), "{sections:?}");
            for end in [whole.len() - 1, whole.len() - 50, 20, 9, 0] {
                let error = check_whole(&mut Cursor::new(&whole[..end])).expect_err("it is cut off");
                assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{sections:?} {end}");
            }
        }
        let other = check_whole(&mut Cursor::new(b"v/1\x01 and something else".to_vec())).expect_err("another kind");
        assert_eq!(other.kind(), ErrorKind::InvalidData);
    }
}

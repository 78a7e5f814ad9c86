//! Directories of TIFF files in the only form that the `tiff` crate decodes whole. Of colours it drops all channels but
//! four, of channels in separate planes it cuts the last tiles wrongly, and of tiles packed with LZW it fails to skip
//! what is beyond the picture. So an image of such a file, or a plane of it, is described again, as a picture of
//! channels without a meaning, and of whole tiles.

use super::error::TextureError;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use tiff::decoder::Decoder;
use tiff::tags::{ByteOrder, Tag};

/// A file with another beginning, which describes one image of it.
#[derive(Debug)]
pub(super) struct DescribedTiff<R> {
    head: Vec<u8>,
    file: R,
    at: u64,
}

/// What of an image is described.
#[derive(Debug)]
pub(super) struct TiffPart {
    pub(super) channels: u32,
    /// Width and height.
    pub(super) size: [u32; 2],
    /// Which of the planes that its tiles or strips are divided into.
    pub(super) plane: u32,
    pub(super) planes: u32,
}

impl<R: Read + Seek> DescribedTiff<R> {
    /// Returns the file as it is.
    pub(super) fn plain(file: R) -> Self {
        Self { head: Vec::new(), file, at: 0 }
    }

    /// Creates a part of the image that `decoder` is at.
    pub(super) fn new<S: Read + Seek>(
        path: &Path,
        decoder: &mut Decoder<S>,
        mut file: R,
        part: &TiffPart,
    ) -> Result<Self, TextureError> {
        let of_tiff = |error| TextureError::of_tiff(path, error);
        let mut entries = Vec::new();
        // In the order of their numbers.
        for tag in [
            Tag::ImageWidth,
            Tag::ImageLength,
            Tag::BitsPerSample,
            Tag::Compression,
            Tag::PhotometricInterpretation,
            Tag::StripOffsets,
            Tag::SamplesPerPixel,
            Tag::RowsPerStrip,
            Tag::StripByteCounts,
            Tag::Predictor,
            Tag::TileWidth,
            Tag::TileLength,
            Tag::TileOffsets,
            Tag::TileByteCounts,
            Tag::SampleFormat,
        ] {
            let found = decoder.find_tag_unsigned_vec::<u64>(tag).map_err(of_tiff)?;
            let values = match tag {
                Tag::ImageWidth => Some(vec![part.size[0].into()]),
                Tag::ImageLength => Some(vec![part.size[1].into()]),
                // Black is zero.
                Tag::PhotometricInterpretation => Some(vec![1]),
                Tag::SamplesPerPixel => Some(vec![part.channels.into()]),
                // One for all samples.
                Tag::BitsPerSample | Tag::SampleFormat => found.map(|values| values.into_iter().take(1).collect()),
                Tag::StripOffsets | Tag::StripByteCounts | Tag::TileOffsets | Tag::TileByteCounts => {
                    found.map(|values| {
                        let count = values.len() / part.planes as usize;
                        values.into_iter().skip(count * part.plane as usize).take(count).collect()
                    })
                }
                _ => found,
            };
            entries.extend(values.map(|values| TiffEntry { tag: tag.to_u16(), values }));
        }
        let order = decoder.byte_order();
        let bytes = head(order, &entries).len() as u64;
        let offsets = [Tag::StripOffsets, Tag::TileOffsets].map(|tag| tag.to_u16());
        for entry in entries.iter_mut().filter(|entry| offsets.contains(&entry.tag)) {
            entry.values.iter_mut().for_each(|offset| *offset = offset.saturating_add(bytes));
        }
        file.rewind().map_err(|error| TextureError::of_io(path, error))?;
        Ok(Self { head: head(order, &entries), file, at: 0 })
    }
}

impl<R: Read> Read for DescribedTiff<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match self.head.get(self.at as usize..) {
            Some(mut rest) if !rest.is_empty() => rest.read(buffer)?,
            _ => self.file.read(buffer)?,
        };
        self.at += count as u64;
        Ok(count)
    }
}

impl<R: Seek> Seek for DescribedTiff<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let head = self.head.len() as u64;
        self.at = match to {
            SeekFrom::Start(at) => self.file.seek(SeekFrom::Start(at.saturating_sub(head))).map(|_| at)?,
            SeekFrom::Current(by) => {
                let at = self.at.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
                return self.seek(SeekFrom::Start(at));
            }
            SeekFrom::End(by) => self.file.seek(SeekFrom::End(by))?.saturating_add(head),
        };
        Ok(self.at)
    }
}

/// A tag and its values.
#[derive(Debug)]
struct TiffEntry {
    tag: u16,
    values: Vec<u64>,
}

/// Returns the header of a BigTIFF file and one directory.
fn head(order: ByteOrder, entries: &[TiffEntry]) -> Vec<u8> {
    /// The type of whole numbers of 64 bits.
    const LONG8: u64 = 16;
    let number = |value: u64, bytes: usize| match order {
        ByteOrder::LittleEndian => value.to_le_bytes()[..bytes].to_vec(),
        ByteOrder::BigEndian => value.to_be_bytes()[8 - bytes..].to_vec(),
    };
    let mark = if order == ByteOrder::LittleEndian { b"II" } else { b"MM" };
    let mut head = [mark.to_vec(), number(43, 2), number(8, 2), number(0, 2), number(16, 8)].concat();
    head.extend(number(entries.len() as u64, 8));
    let mut lists = Vec::new();
    let after = head.len() + 20 * entries.len() + 8;
    for TiffEntry { tag, values } in entries {
        head.extend([number((*tag).into(), 2), number(LONG8, 2), number(values.len() as u64, 8)].concat());
        match values[..] {
            [value] => head.extend(number(value, 8)),
            _ => head.extend(number((after + lists.len()) as u64, 8)),
        }
        if values.len() != 1 {
            values.iter().for_each(|&value| lists.extend(number(value, 8)));
        }
    }
    head.extend(number(0, 8));
    head.extend(lists);
    head
}

//! OpenEXR, read by blocks of scan lines or by rows of tiles. The table of offsets is kept, so that the order of blocks
//! in the file does not matter.

use super::{PictureHead, RowBands};
use crate::parallel::in_parallel;
use crate::texture::channel_order::channel_order;
use crate::texture::error::TextureError;
use crate::texture::exr_tiles::{ExrAttributes, check_sampling, interleaved};
use crate::texture::header::{TexelFormat, TextureKind};
use crate::texture::levels::check_size;
use crate::texture::watched_file::WatchedFile;
use crate::texture::window::PictureWindow;
use exr::block::UncompressedBlock;
use exr::block::chunk::Chunk;
use exr::math::Vec2;
use exr::meta::MetaData;
use exr::meta::attribute::SampleType;
use exr::meta::header::Header;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// A part of a file, of its largest level.
pub(super) struct ExrBands<'a> {
    path: &'a Path,
    file: BufReader<WatchedFile<'a>>,
    meta: MetaData,
    part: usize,
    /// Where each block begins in the file, row by row.
    offsets: Vec<u64>,
    /// Width and height of a block, and how many there are in a row.
    block: [usize; 2],
    across: usize,
    /// The file's channel of each channel.
    order: Vec<usize>,
}

impl<'a> ExrBands<'a> {
    /// Reads what stands before the blocks of a part.
    pub(super) fn open(
        path: &'a Path,
        mut file: BufReader<WatchedFile<'a>>,
        part: usize,
    ) -> Result<(PictureHead, Self), TextureError> {
        let of_exr = |error| TextureError::of_exr(path, error);
        let meta = MetaData::read_from_buffered(&mut file, false).map_err(of_exr)?;
        MetaData::validate(&meta.headers, false).map_err(of_exr)?;
        let header = meta.headers.get(part).ok_or_else(|| TextureError::corrupt(path, "it lacks a part"))?;
        let head = head_of(path, header)?;
        let block = header.max_block_pixel_size();
        let block = [block.x(), block.y()].map(|side| side.max(1));
        let size = head.stored.map(|side| side as usize);
        let across = size[0].div_ceil(block[0]);
        let count = across * size[1].div_ceil(block[1]);
        let before: usize = meta.headers[..part].iter().map(|header| header.chunk_count).sum();
        if count > header.chunk_count || (before + count) as u64 > file.get_ref().bytes() / 8 {
            return Err(TextureError::of_io(path, std::io::ErrorKind::UnexpectedEof.into()));
        }
        let mut table = vec![0; count * 8];
        let skipped = i64::try_from(before * 8).unwrap_or(i64::MAX);
        let read = file.seek_relative(skipped).and_then(|()| file.read_exact(&mut table));
        read.map_err(|error| TextureError::of_io(path, error))?;
        let offsets = table.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let order = channel_order(&header.channels.list);
        Ok((head, Self { path, file, part, offsets, block, across, order, meta }))
    }

    fn header(&self) -> &Header {
        &self.meta.headers[self.part]
    }

    fn read_chunk(&mut self, number: usize) -> Result<Chunk, TextureError> {
        let offset = self.offsets[number];
        let chunk = self
            .file
            .stream_position()
            .and_then(|at| match offset.checked_signed_diff(at) {
                // Within what is buffered where blocks follow each other.
                Some(ahead) => self.file.seek_relative(ahead),
                None => self.file.seek(SeekFrom::Start(offset)).map(drop),
            })
            .map_err(|error| TextureError::of_io(self.path, error))
            .and_then(|()| {
                Chunk::read(&mut self.file, &self.meta).map_err(|error| TextureError::of_exr(self.path, error))
            })?;
        let is_of_part = chunk.layer_index == self.part;
        is_of_part.then_some(chunk).ok_or_else(|| TextureError::corrupt(self.path, "a block is of another part"))
    }

    /// Decodes the block of a number: width, height, and texels.
    fn decoded(&self, chunk: Chunk, number: usize) -> Result<([usize; 2], Vec<f32>), TextureError> {
        let block = UncompressedBlock::decompress_chunk(chunk, &self.meta, false)
            .map_err(|error| TextureError::of_exr(self.path, error))?;
        let place = [number % self.across * self.block[0], number / self.across * self.block[1]];
        let at = block.index;
        if at.level != Vec2(0, 0) || [at.pixel_position.x(), at.pixel_position.y()] != place {
            return Err(TextureError::corrupt(self.path, "a block is in another's place"));
        }
        let texels = interleaved(&self.header().channels, &self.order, &block, TexelFormat::F32, false);
        let floats = texels.bytes.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes)).collect();
        Ok(([at.pixel_size.x(), at.pixel_size.y()], floats))
    }
}

impl RowBands for ExrBands<'_> {
    fn band_rows(&self) -> u32 {
        self.block[1].min(self.header().layer_size.y()) as u32
    }

    fn read(&mut self, bands: Range<u32>) -> Result<Vec<f32>, TextureError> {
        let numbers = bands.start as usize * self.across..bands.end as usize * self.across;
        let chunks: Result<Vec<_>, _> =
            numbers.map(|number| self.read_chunk(number).map(|chunk| (number, chunk))).collect();
        let decoded = in_parallel(chunks?, |(number, chunk)| self.decoded(chunk, number));
        let channels = self.order.len();
        let row_values = self.header().layer_size.x() * channels;
        let mut values = Vec::new();
        let mut blocks = decoded.into_iter();
        for _ in bands {
            let begin = values.len();
            let mut column = 0;
            for block in blocks.by_ref().take(self.across) {
                let ([width, height], texels) = block?;
                if self.across == 1 && begin == 0 {
                    values = texels;
                    continue;
                }
                values.resize(begin + height * row_values, 0.0);
                let rows = values[begin..].chunks_exact_mut(row_values);
                for (row, line) in rows.zip(texels.chunks_exact(width * channels)) {
                    row[column..column + line.len()].copy_from_slice(line);
                }
                column += width * channels;
            }
        }
        Ok(values)
    }

    fn decoded_bytes(&self) -> u64 {
        // As it is packed, unpacked, and with its channels next to each other.
        3 * size_of::<f32>() as u64
    }
}

/// Returns what the header of a part says.
fn head_of(path: &Path, header: &Header) -> Result<PictureHead, TextureError> {
    let attributes = ExrAttributes(header);
    if attributes.kind() == TextureKind::Points {
        return Err(TextureError::PointCloud(path.to_owned()));
    }
    let size = [header.layer_size.x(), header.layer_size.y()];
    let list = &header.channels.list;
    check_size(path, size[0] as u64, size[1] as u64, list.len() as u64)?;
    check_sampling(path, header)?;
    let is_half = list.iter().all(|channel| channel.sample_type == SampleType::F16);
    Ok(PictureHead {
        stored: size.map(|side| side as u32),
        window: PictureWindow::of_exr(path, header)?,
        channels: list.len() as u32,
        names: Some(channel_order(list).iter().map(|&index| list[index].name.to_string()).collect()),
        format: if is_half { TexelFormat::F16 } else { TexelFormat::F32 },
        matrices: attributes.matrices(),
        straight_alpha: None,
    })
}

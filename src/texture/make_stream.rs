//! Textures made of the rows of a large picture as they are read, so that it is never in memory as a whole.

use super::TILE_TEXELS;
use super::error::{TextureError, WriteFailure};
use super::file::check;
use super::header::TextureHeader;
use super::levels::{SAMPLES_MAX, Texels};
use super::make::{
    MadeTexture, MakeKind, MakeLimits, MakeProgress, MakeRequest, check_depths, go_on, header_of, report,
};
use super::make_memory::LEVELS_BYTES;
use super::packed_tiles::{PackedTiles, TextureTags, TilePacking};
use super::preparation::Preparation;
use super::row_levels::{RowLevels, STRIP_ROWS};
use super::rows::PictureRows;
use super::tile_spool::TileSpool;
use super::write::write;
use crate::parallel::in_parallel;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most samples of a picture that is decoded whole: 32 MiB with all its levels.
const WHOLE_SAMPLES_MAX: u64 = 1 << 22;

/// Bytes of the decoder, and of the tiles that all threads pack at once.
const WORK_BYTES: u64 = 8 << 20;

/// Makes a texture of rows as they are read. Returns nothing if that is not possible, or if the picture is so small
/// that it is made in memory.
pub(super) fn make(
    request: &MakeRequest,
    limits: MakeLimits<'_>,
    progress: &MakeProgress<'_>,
) -> Result<Option<MadeTexture>, TextureError> {
    let shown = LastShown { progress, fraction: AtomicU32::new(0) };
    let again = |_: f32| shown.again();
    let made = RowStream::open(request, &again).and_then(|stream| {
        let stream = stream.filter(|stream| stream.takes_less(request));
        stream.map(|stream| stream.make(request, limits, &|fraction| shown.show(fraction))).transpose()
    });
    // An interrupted file is an error of the container's own kind.
    if made.is_err() && shown.again().is_break() { Err(TextureError::Stopped) } else { made }
}

/// Returns about how many bytes of host memory it takes, if a texture is made of rows as they are read.
pub(super) fn bytes(request: &MakeRequest) -> Result<Option<u64>, TextureError> {
    let stream = RowStream::open(request, &go_on)?.filter(|stream| stream.takes_less(request));
    Ok(stream.map(|stream| stream.bytes(request)))
}

/// Progress that is shown again whenever more of the file is read: how far that is says nothing, as it may hold much
/// more than others of its size.
struct LastShown<'a> {
    progress: &'a MakeProgress<'a>,
    /// The bits of a float.
    fraction: AtomicU32,
}

impl LastShown<'_> {
    fn show(&self, fraction: f32) -> ControlFlow<()> {
        self.fraction.store(fraction.to_bits(), Ordering::Relaxed);
        (self.progress)(fraction)
    }

    fn again(&self) -> ControlFlow<()> {
        (self.progress)(f32::from_bits(self.fraction.load(Ordering::Relaxed)))
    }
}

/// A picture that is read row by row, and the texture that is made of it.
struct RowStream<'a> {
    rows: PictureRows<'a>,
    header: TextureHeader,
    preparation: Option<Preparation>,
    /// Says whether to go on.
    progress: &'a MakeProgress<'a>,
}

impl<'a> RowStream<'a> {
    /// Begins to read the picture; `None` if no texture can be made of its rows as they come.
    fn open(request: &'a MakeRequest, progress: &'a MakeProgress<'a>) -> Result<Option<Self>, TextureError> {
        let ([path], MakeKind::Plain | MakeKind::LatLong | MakeKind::Shadow) = (&request.inputs[..], request.kind)
        else {
            return Ok(None);
        };
        let Some(rows) = PictureRows::open(path, progress)? else { return Ok(None) };
        let (head, size) = (&rows.head, rows.head.size());
        let mut header = header_of(size, head.channels, request.stored_format(head.format), request);
        if request.kind == MakeKind::Shadow {
            header.matrices = Some(check_depths(path, head.channels, head.matrices, "a shadow map")?);
            header.levels = 1;
        }
        let fits = head.samples() <= SAMPLES_MAX && check(&request.output, &header).is_ok();
        if !fits || request.texture_size(size) != size {
            return Ok(None);
        }
        let preparation = Preparation::of(request, head.format, head.channels, head.straight_alpha);
        Ok(Some(Self { rows, header, preparation, progress }))
    }

    /// Whether it takes less memory than a picture that is decoded whole, and more than is always there.
    fn takes_less(&self, request: &MakeRequest) -> bool {
        let samples = self.rows.head.samples();
        samples > WHOLE_SAMPLES_MAX && self.bytes(request) < samples.saturating_mul(LEVELS_BYTES)
    }

    /// Returns about how many bytes it takes: of each level a row of tiles, as floats, as bytes and packed, what makes
    /// the next level of it, and what reads the first.
    fn bytes(&self, request: &MakeRequest) -> u64 {
        let packed_bytes = 2 * self.header.format.bytes() as u64;
        let strip_samples = u64::from(STRIP_ROWS * self.header.channels) * u64::from(self.header.width);
        // Where the values are not yet known to be from 0 to 1, the filter may be a smaller one.
        let levels = RowLevels::new(&self.header, request.level_filter(true));
        WORK_BYTES + self.rows.bytes(STRIP_ROWS) + strip_samples * packed_bytes + levels.bytes()
    }

    /// Returns whether all values are from 0 to 1, as [`super::picture::SourcePicture::is_from_0_to_1`] does. Floats
    /// are read for that, and then once more.
    fn is_from_0_to_1(&mut self) -> Result<bool, TextureError> {
        if self.rows.head.has_integers() {
            return Ok(true);
        }
        let mut is_within = self.rows.head.channels != 1 || self.rows.head.matrices.is_none();
        while is_within && let Some(strip) = next_strip(&mut self.rows, self.preparation)? {
            report(self.progress, 0.0)?;
            is_within = strip.values.iter().all(|value| (0.0..=1.0).contains(value));
        }
        self.rows.rewind();
        Ok(is_within)
    }

    fn make(
        mut self,
        request: &MakeRequest,
        limits: MakeLimits<'_>,
        progress: &MakeProgress<'_>,
    ) -> Result<MadeTexture, TextureError> {
        let is_from_0_to_1 = request.filter.is_none() && self.header.levels > 1 && self.is_from_0_to_1()?;
        let levels = RowLevels::new(&self.header, request.level_filter(is_from_0_to_1));
        let Self { rows, header, preparation, progress: again } = self;
        let names = rows.head.names.clone();
        let tags = TextureTags { header: &header, names: names.as_deref(), points: None };
        let spool = TileSpool::new(&request.output, header.levels);
        let spool = spool.map_err(|error| WriteFailure::from(error).of(&request.output))?;
        let packing = TilePacking::of(&tags);
        let mut tiles = StreamedTiles { rows, preparation, levels, packing, spool, progress: again };
        write(&request.output, &tags, &mut tiles, limits.output, progress)?;
        Ok(MadeTexture { header, is_new: true })
    }
}

/// Returns the next rows of a picture as the texture has them.
fn next_strip(rows: &mut PictureRows<'_>, preparation: Option<Preparation>) -> Result<Option<Texels>, TextureError> {
    let mut strip = rows.next_rows(STRIP_ROWS)?;
    if let (Some(strip), Some(preparation)) = (&mut strip, preparation) {
        strip.fill_rows(|_, row| preparation.apply(row));
    }
    Ok(strip)
}

/// Tiles of rows as they are read. Those of smaller levels wait in a file, as the first level comes first.
struct StreamedTiles<'a> {
    rows: PictureRows<'a>,
    preparation: Option<Preparation>,
    levels: RowLevels,
    packing: TilePacking,
    spool: TileSpool,
    progress: &'a MakeProgress<'a>,
}

impl PackedTiles for StreamedTiles<'_> {
    fn next(&mut self, level: u32) -> Result<Vec<Vec<u8>>, WriteFailure> {
        if level > 0 {
            return Ok(self.spool.take(level)?);
        }
        let strip = next_strip(&mut self.rows, self.preparation).map_err(WriteFailure::Reading)?;
        let Some(strip) = strip else { return Ok(Vec::new()) };
        let mut first = Vec::new();
        let (packing, spool, progress) = (&self.packing, &mut self.spool, self.progress);
        self.levels.pass(&strip, &mut |level: u32, strip: &Texels| {
            if progress(0.0).is_break() {
                return Err(WriteFailure::Stopped);
            }
            let columns = (0..strip.size[0].div_ceil(TILE_TEXELS)).collect();
            let tiles = in_parallel(columns, |column| packing.packed(strip, [column, 0]));
            match level {
                0 => first = tiles,
                _ => spool.push(level, &tiles)?,
            }
            Ok(())
        })?;
        Ok(first)
    }
}

#[cfg(test)]
mod tests;

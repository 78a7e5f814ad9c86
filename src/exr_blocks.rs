//! Blocks of OpenEXR files: samples as bytes, and ZIP compression, for all that writes such files. The `exr` crate
//! compresses them too, but takes longer. Samples are little-endian; the crate's other compressors expect the machine's
//! order, which is the same wherever anthill runs.

use flate2::{Compress, Compression, FlushCompress, Status};
use half::f16;

/// How hard zlib tries, as in OpenEXR's library.
pub(crate) const ZIP_LEVEL: u32 = 4;

/// Encodes samples, the lowest byte first. Finite values beyond the range of half become its largest value: an infinity
/// would spread in every filter that a compositor applies.
pub(crate) fn encode<'a>(bytes: &mut [u8], samples: impl Iterator<Item = &'a f32>, is_half: bool) {
    if is_half {
        for (bytes, &sample) in bytes.chunks_exact_mut(2).zip(samples) {
            let limit = if sample.is_finite() { f16::MAX.to_f32() } else { f32::INFINITY };
            // NaN passes through clamp.
            bytes.copy_from_slice(&f16::from_f32(sample.clamp(-limit, limit)).to_le_bytes());
        }
    } else {
        bytes.chunks_exact_mut(4).zip(samples).for_each(|(bytes, sample)| bytes.copy_from_slice(&sample.to_le_bytes()));
    }
}

/// A block as readers expect it: compressed, or as it is where that is not longer.
pub(crate) fn packed(bytes: Vec<u8>, level: u32) -> Vec<u8> {
    let packed = zipped(&bytes, level);
    if packed.len() < bytes.len() { packed } else { bytes }
}

/// OpenEXR's ZIP: the bytes of even places before those of odd ones, as differences, then zlib, which tries as hard as
/// `level` says: 0 to 9, where 0 stores them.
pub(crate) fn zipped(bytes: &[u8], level: u32) -> Vec<u8> {
    let mut parted: Vec<u8> = bytes.iter().step_by(2).chain(bytes.iter().skip(1).step_by(2)).copied().collect();
    for at in (1..parted.len()).rev() {
        parted[at] = parted[at].wrapping_sub(parted[at - 1]).wrapping_add(128);
    }
    // What cannot be made shorter grows by some bytes for each block of 2^14, by an eighth at level 1, and by a head
    // and a sum.
    let mut zipped = Vec::with_capacity(bytes.len() + bytes.len() / 8 + 64);
    let status = Compress::new(Compression::new(level), true).compress_vec(&parted, &mut zipped, FlushCompress::Finish);
    assert!(matches!(status, Ok(Status::StreamEnd)), "there is room: {status:?}");
    zipped.shrink_to_fit();
    zipped
}

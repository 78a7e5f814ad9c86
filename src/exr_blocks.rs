//! Blocks of OpenEXR files: samples as bytes, and ZIP compression, for all that writes such files. The `exr` crate
//! compresses them too, but takes longer. Samples are little-endian; the crate's other compressors expect the machine's
//! order, which is the same wherever anthill runs.

use half::f16;
use half::slice::HalfFloatSliceExt;
use libdeflater::{CompressionLvl, Compressor};

/// How hard compression tries, as in OpenEXR's library.
pub(crate) const ZIP_LEVEL: i32 = 4;

/// Samples that become half floats together.
const HALVES_AT_ONCE: usize = 64;

/// Encodes samples, the lowest byte first. Finite values beyond the range of half become its largest value: an infinity
/// would spread in every filter that a compositor applies.
pub(crate) fn encode<'a>(bytes: &mut [u8], samples: impl Iterator<Item = &'a f32>, is_half: bool) {
    if is_half {
        let (mut samples, mut some) = (samples, [0.0; HALVES_AT_ONCE]);
        for bytes in bytes.chunks_mut(2 * HALVES_AT_ONCE) {
            let some = &mut some[..bytes.len() / 2];
            for (place, &sample) in some.iter_mut().zip(&mut samples) {
                let limit = if sample.is_finite() { f16::MAX.to_f32() } else { f32::INFINITY };
                // NaN passes through clamp.
                *place = sample.clamp(-limit, limit);
            }
            let mut halves = [f16::ZERO; HALVES_AT_ONCE];
            halves[..some.len()].convert_from_f32_slice(some);
            bytes.chunks_exact_mut(2).zip(halves).for_each(|(bytes, half)| bytes.copy_from_slice(&half.to_le_bytes()));
        }
    } else {
        bytes.chunks_exact_mut(4).zip(samples).for_each(|(bytes, sample)| bytes.copy_from_slice(&sample.to_le_bytes()));
    }
}

/// Returns a block as readers expect it: compressed, or as it is where that is not longer.
pub(crate) fn packed(bytes: Vec<u8>, level: i32) -> Vec<u8> {
    let packed = zipped(&bytes, level);
    if packed.len() < bytes.len() { packed } else { bytes }
}

/// OpenEXR's ZIP: the bytes of even places before those of odd ones, as differences, in the format of zlib. Compression
/// tries as hard as `level` says: 0 to 12, where 0 stores them.
pub(crate) fn zipped(bytes: &[u8], level: i32) -> Vec<u8> {
    let mut parted = vec![0; bytes.len()];
    let (even, odd) = parted.split_at_mut(bytes.len().div_ceil(2));
    for ((pair, even), odd) in bytes.chunks_exact(2).zip(&mut *even).zip(odd) {
        (*even, *odd) = (pair[0], pair[1]);
    }
    if let ([last], Some(even)) = (bytes.chunks_exact(2).remainder(), even.last_mut()) {
        *even = *last;
    }
    let mut differences = parted.clone();
    for (difference, pair) in differences.iter_mut().skip(1).zip(parted.windows(2)) {
        *difference = pair[1].wrapping_sub(pair[0]).wrapping_add(128);
    }
    deflated(&differences, level)
}

/// Returns compressed bytes in the format of zlib; `level` says how hard to try: 0 to 12.
pub(crate) fn deflated(bytes: &[u8], level: i32) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(level).expect("a level of libdeflate"));
    let mut deflated = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let size = compressor.zlib_compress(bytes, &mut deflated).expect("there is room");
    deflated.truncate(size);
    deflated.shrink_to_fit();
    deflated
}

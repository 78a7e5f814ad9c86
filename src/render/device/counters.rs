//! What programs have counted on a device.

use crate::gpu::Device;
use crate::line_profile::{Counter, LineProfile};
use crate::pipeline::recording::Slice;
use crate::render::resident::picture_textures::PictureTextures;

/// Adds what programs have counted to the profile, and lookups to their textures. What a device counted that has failed
/// is lost.
pub(super) fn read(
    device: &mut Device,
    slice: Slice<u32>,
    counters: &[Counter],
    profile: &LineProfile,
    textures: &PictureTextures,
) {
    let Ok(words) = device.read(slice) else { return };
    let counted = words.chunks_exact(2).map(|words| u64::from(words[1]) << 32 | u64::from(words[0]));
    let counted: Vec<u64> = counted.collect();
    profile.add(counters, &counted);
    for (counter, &count) in counters.iter().zip(&counted) {
        if let (&Counter::Lookups { token }, 1..) = (counter, count)
            && let Some(texture) = textures.find(token)
        {
            textures.store.count_lookups(texture, count);
        }
    }
}

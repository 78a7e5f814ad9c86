//! Finished regions as the film takes them.

use crate::film::{ChannelGroup, PixelLayout};
use crate::render::region::region_result::RegionResult;

/// Returns the values of a region's pixels in the film's layout, interleaved. `records` has the finished record of each
/// channel.
pub(crate) fn interleave(layout: &PixelLayout, records: &[usize], pixels: u64, result: &RegionResult) -> Vec<f32> {
    let count = pixels as usize;
    let mut values = Vec::with_capacity(count * layout.floats());
    for pixel in 0..count {
        for (channel, record) in layout.channels().iter().zip(records) {
            // Where all channels are depths there are no records.
            let record = || result.pixels[record * count + pixel];
            match &channel.group {
                ChannelGroup::Colour => values.extend_from_slice(&record()[..3]),
                ChannelGroup::Alpha => values.push(record()[3]),
                ChannelGroup::Light => {}
                ChannelGroup::Depth => values.push(result.depths[pixel]),
                ChannelGroup::Variable { ty, .. } => {
                    let (record, floats) = (record(), ty.floats());
                    values.extend((0..floats).map(|i| record.get(i).copied().unwrap_or(0.0)));
                }
            }
        }
    }
    values
}

//! Finished regions as the film takes them.

use crate::film::{ChannelGroup, PixelLayout};
use crate::render::region::region_result::RegionResult;

/// The values of a region's pixels in the film's layout, interleaved.
pub(crate) fn interleave(layout: &PixelLayout, pixels: u64, result: &RegionResult) -> Vec<f32> {
    let count = pixels as usize;
    let mut values = Vec::with_capacity(count * layout.floats());
    for pixel in 0..count {
        let colour = result.pixels[pixel];
        let mut variable = 0;
        for group in layout.groups() {
            match group {
                ChannelGroup::Colour => values.extend_from_slice(&colour[..3]),
                ChannelGroup::Alpha => values.push(colour[3]),
                ChannelGroup::Depth => values.push(result.depths[pixel]),
                ChannelGroup::Variable { .. } => {
                    variable += 1;
                    let floats = group.floats();
                    let record = result.pixels[variable * count + pixel];
                    values.extend((0..floats).map(|i| record.get(i).copied().unwrap_or(0.0)));
                }
            }
        }
    }
    values
}

//! Shadow maps.

use super::arithmetic::{bounded_all, reciprocal};
use super::filter::Window;
use super::shadow_area::{ShadowArea, ShadowSampling};
use super::store::{FoundTexture, TextureStore, WantedChannels};
use super::texels::{channels_of_word, word_channels};
use super::views;

/// Returns the light that reaches depth `z` at a texel of a deep shadow map, whose channels are the depths of knots and
/// the light there in turn.
fn deep_light(store: &dyn TextureStore, number: u32, knots: u32, texel: [u32; 2], z: f32) -> f32 {
    let channel = |plane| f32::from_bits(store.word(number, 0, plane, texel));
    let (mut low, mut high) = (0, knots);
    while low < high {
        let middle = (low + high) / 2;
        if channel(2 * middle) < z {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if low == 0 {
        return 1.0;
    }
    let before = channel(2 * low - 1);
    if low == knots || channel(2 * low) >= 1e37 {
        return before;
    }
    let (from, to) = (channel(2 * low - 2), channel(2 * low));
    before + (channel(2 * low + 1) - before) * ((z - from) * reciprocal(to - from))
}

/// `shadow()`: the fraction of the area about `p` that lies behind what the map sees.
pub fn shadow(store: &dyn TextureStore, token: u32, channel: f32, area: [[f32; 3]; 3], how: &ShadowSampling) -> f32 {
    let FoundTexture::Number(number) = store.texture(token) else { return 0.0 };
    let shape = store.shape(number);
    if shape.kind == views::KIND {
        return views::shadow(store, number, area, how);
    }
    let window = Window::whole(&shape, number, WantedChannels { first: channel, count: 1 });
    if window.first >= window.end || !area[0].iter().all(|x| x.is_finite()) {
        return 0.0;
    }
    let (Some(matrices), [x, y]) = (shape.matrices.as_ref(), how.sides([area[1], area[2]])) else { return 0.0 };
    let Some(area) = ShadowArea::new(matrices, [bounded_all(area[0], 1e15), x, y], how.blur, shape.size) else {
        return 0.0;
    };
    let each = channels_of_word(shape.format);
    let plane = window.first / each;
    area.mean(shape.size, &how.bounded(), |texel, z| {
        if shape.kind == 4 {
            return 1.0 - deep_light(store, number, shape.channels / 2, texel, z);
        }
        let word = store.word(number, 0, plane, texel);
        let open = shape.format == 3 && !f32::from_bits(word).is_finite();
        let depth = word_channels(word, shape.format)[(window.first - plane * each) as usize];
        if !open && z > depth { 1.0 } else { 0.0 }
    })
}

//! `textureinfo()`.

use super::points::KIND as POINTS;
use super::store::{FoundTexture, TextureStore};
use super::views::KIND as VIEWS;

/// `textureinfo()`: 0 exists, 1 resolution, 2 channels, 3 type, 4 and 5 matrices, 6 bits of a channel.
pub fn textureinfo(store: &dyn TextureStore, token: u32, what: u32, index: usize) -> f32 {
    let FoundTexture::Number(number) = store.texture(token) else { return 0.0 };
    let shape = store.shape(number);
    match what {
        0 => 1.0,
        _ if matches!(shape.kind, POINTS | VIEWS) => 0.0,
        1 => shape.size[index.min(1)] as f32,
        // Each knot of a deep shadow map is two channels of ours.
        2 => {
            if shape.kind == 4 {
                1.0
            } else {
                shape.channels as f32
            }
        }
        3 => [0.0, 1.0, 1.0, 2.0, 2.0].get(shape.kind as usize).copied().unwrap_or(0.0),
        6 => [8.0, 16.0, 16.0, 32.0].get(shape.format as usize).copied().unwrap_or(0.0),
        4 | 5 if index < 16 => shape.matrices.map_or(0.0, |m| m[what as usize - 4][index / 4][index % 4]),
        _ => 0.0,
    }
}

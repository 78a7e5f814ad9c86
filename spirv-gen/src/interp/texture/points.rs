//! Point clouds.

use super::arithmetic::{SMALLEST, bounded, bounded_all, reciprocal};
use super::store::{FoundTexture, TextureStore};
use super::texels::{column_and_row, tile_and_place};
use crate::abi::textures::TILE_SIZE;

/// The kind of textures that are point clouds.
pub(super) const KIND: u32 = 5;

/// Nodes that a lookup visits before it takes all further ones as they are.
const VISITS_MAX: u32 = 4096;

/// Points count as one where they are this many times smaller than what a lookup averages over.
const MERGE: f32 = 16.0;

/// The words of a cloud.
struct CloudWords<'a> {
    store: &'a dyn TextureStore,
    number: u32,
}

impl CloudWords<'_> {
    fn word(&self, word: u32) -> u32 {
        let (tile, [x, y]) = tile_and_place(word);
        let [column, row] = column_and_row(tile);
        self.store.word(self.number, 0, 0, [column * TILE_SIZE + x, row * TILE_SIZE + y])
    }

    fn float(&self, word: u32) -> f32 {
        f32::from_bits(self.word(word))
    }

    fn triple(&self, word: u32) -> [f32; 3] {
        [0, 1, 2].map(|i| self.float(word + i))
    }

    /// Returns a channel's place in nodes and its floats: none if there is no such channel.
    fn channel(&self, hash: [u32; 2]) -> [u32; 2] {
        let channels = (0..self.word(1)).map(|i| 2 + 4 * i);
        let mut same = channels.filter(|&at| [self.word(at), self.word(at + 1)] == hash);
        same.next_back().map_or([0; 2], |at| [self.word(at + 2), self.word(at + 3)])
    }
}

pub(super) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]
}

/// `texture3d()` of the channel of a hash at `[p, n]`: a weighted mean of the points within the radius `reach[0]` where
/// that is above 0, else within their own radius times `reach[1]`; `None` where there is none.
pub fn points(
    store: &dyn TextureStore,
    token: u32,
    [p, n]: [[f32; 3]; 2],
    reach: [f32; 2],
    channel: [u32; 2],
) -> Option<[f32; 3]> {
    let FoundTexture::Number(number) = store.texture(token) else { return None };
    if store.shape(number).kind != KIND || !p.iter().all(|x| x.is_finite()) {
        return None;
    }
    let cloud = CloudWords { store, number };
    let [place, floats] = cloud.channel(channel);
    let (p, n) = (bounded_all(p, 1e15), bounded_all(n, 1e15));
    let given = bounded(reach[0], 1e15);
    let radius = |own: f32| if given > 0.0 { given } else { (own * bounded(reach[1], 1e9)).min(1e15) };
    let (mut origin, mut sum, mut total) = ([0.0; 3], [0.0; 3], 0.0);
    let (mut node, mut visits) = (cloud.word(0), 0);
    while node != 0 {
        visits += 1;
        // No tree is deep enough for this number of nodes: they follow each other in a circle.
        if visits > 2 * VISITS_MAX {
            break;
        }
        let [skip, below] = [0, 1].map(|i| cloud.word(node + i));
        let at = node;
        node = skip;
        let middle = cloud.triple(at + 3);
        let d = [0, 1, 2].map(|i| p[i] - middle[i]);
        let square = dot(d, d);
        let far = radius(cloud.float(at + 7));
        let limit = far + cloud.float(at + 6);
        if !(far > 0.0 && square < limit * limit) {
            continue;
        }
        let radius = radius(cloud.float(at + 8));
        if !(cloud.float(at + 9) * MERGE <= radius || visits > VISITS_MAX) {
            node = below;
            continue;
        }
        let normal = cloud.triple(at + 10);
        let faces = dot(n, n) < SMALLEST || dot(normal, normal) < SMALLEST || dot(n, normal) > SMALLEST;
        let radius = radius.max(1e-15);
        let keep = 1.0 - square * reciprocal(radius * radius);
        if !(keep > 0.0 && faces) {
            continue;
        }
        let weight = cloud.float(at + 2) * ((keep * keep) * keep);
        let value = match floats {
            0 => [0.0; 3],
            1 => [cloud.float(at + place); 3],
            _ => cloud.triple(at + place),
        };
        if total == 0.0 {
            origin = value;
        }
        sum = [0, 1, 2].map(|i| sum[i] + (value[i] - origin[i]) * weight);
        total += weight;
    }
    (total > 0.0).then(|| [0, 1, 2].map(|i| origin[i] + sum[i] * reciprocal(total)))
}

//! Occlusion maps.

use super::arithmetic::{SMALLEST, bounded, bounded_all, reciprocal, root};
use super::points::dot;
use super::shadow::{Matrix, SAMPLES_MAX, ShadowArea, ShadowSampling};
use super::store::{FoundTexture, TextureStore};
use super::texels::tile_and_place;
use crate::abi::occlusion::{VIEW_WORDS, VIEWS_MAX};
use crate::abi::textures::{SLOT_WORDS, TILE_SIZE};
use crate::interp::noise::hash;

/// The kind of textures that are occlusion maps.
pub(super) const KIND: u32 = 6;

/// The first words of an occlusion map, and the matrices of its maps.
struct Views<'a> {
    store: &'a dyn TextureStore,
    number: u32,
}

impl Views<'_> {
    fn float(&self, word: u32) -> f32 {
        let (tile, [x, y]) = tile_and_place(word);
        f32::from_bits(self.store.word(self.number, 0, 0, [x, tile * TILE_SIZE + y]))
    }

    fn matrix(&self, word: u32) -> Matrix {
        std::array::from_fn(|column| std::array::from_fn(|row| self.float(word + 4 * column as u32 + row as u32)))
    }
}

/// Returns the cosine between a normal of length 1 and the direction from which a view sees.
fn cosine(camera: &Matrix, facing: [f32; 3]) -> f32 {
    let axis = bounded_all([camera[0][2], camera[1][2], camera[2][2]], 1e15);
    let square = dot(axis, axis);
    if square < SMALLEST { 0.0 } else { -dot(facing, axis) * reciprocal(root(square)) }
}

/// `occlusion()` of an area in world space with a normal: the part of the light from all around that does not reach it.
pub fn occlusion(store: &dyn TextureStore, token: u32, [p, dx, dy, n]: [[f32; 3]; 4], how: &ShadowSampling) -> f32 {
    let FoundTexture::Number(number) = store.texture(token) else { return 0.0 };
    let shape = store.shape(number);
    let normal = bounded_all(n, 1e15);
    let square = dot(normal, normal);
    if shape.kind != KIND || shape.format != 3 || !p.iter().all(|x| x.is_finite()) || square < SMALLEST {
        return 0.0;
    }
    let maps = Views { store, number };
    let whole = |word| bounded(maps.float(word), 4_194_304.0) as u32;
    let (views, size) = (whole(0).min(VIEWS_MAX), [whole(1).min(shape.size[0]), whole(2).min(shape.size[1])]);
    if views == 0 || size.contains(&0) {
        return 0.0;
    }
    let shorter = reciprocal(root(square));
    let facing = normal.map(|x| x * shorter);
    let (at, [x, y]) = (bounded_all(p, 1e15), how.sides([dx, dy]));
    let mut sampling = how.bounded();
    let share = 4.0 * sampling.samples * reciprocal(views as f32);
    let (mut dark, mut total) = (0.0, 0.0);
    for i in 0..views {
        let matrices = [VIEW_WORDS * (i + 1), VIEW_WORDS * (i + 1) + 16].map(|word| maps.matrix(word));
        let cosine = cosine(&matrices[0], facing);
        if cosine <= 0.0 || cosine.is_nan() {
            continue;
        }
        total += cosine;
        let Some(area) = ShadowArea::new(&matrices, [at, x, y], how.blur, size) else { continue };
        sampling.samples = ((share * cosine).floor() + 1.0).min(SAMPLES_MAX);
        sampling.seed = hash(how.seed, i);
        // Behind the tiles with the words before the first matrices and those of all maps.
        let tiles = ((views + 1) * VIEW_WORDS).div_ceil(SLOT_WORDS);
        let first = TILE_SIZE * (tiles + i * size[1].div_ceil(TILE_SIZE));
        dark += cosine
            * area.mean(size, &sampling, |[x, y], z| {
                let depth = f32::from_bits(store.word(number, 0, 0, [x, first + y]));
                if depth.is_finite() && z > depth { 1.0 } else { 0.0 }
            });
    }
    if total > 0.0 { dark * reciprocal(total) } else { 0.0 }
}

//! Occlusion maps.

use super::arithmetic::{SMALLEST, bounded_all, reciprocal, root};
use super::points::dot;
use super::shadow_area::{Matrix, SAMPLES_MAX, ShadowArea, ShadowSampling};
use super::store::{FoundTexture, TextureStore};
use super::views::Views;
use crate::interp::noise::hash;

/// Returns the cosine between a normal of length 1 and the direction from which a view sees.
fn cosine(camera: &Matrix, facing: [f32; 3]) -> f32 {
    let axis = bounded_all([camera[0][2], camera[1][2], camera[2][2]], 1e15);
    let square = dot(axis, axis);
    if square < SMALLEST { 0.0 } else { -dot(facing, axis) * reciprocal(root(square)) }
}

/// `occlusion()` of an area in world space with a normal: the part of the light from all around that does not reach it.
pub fn occlusion(store: &dyn TextureStore, token: u32, [p, dx, dy, n]: [[f32; 3]; 4], how: &ShadowSampling) -> f32 {
    let FoundTexture::Number(number) = store.texture(token) else { return 0.0 };
    let normal = bounded_all(n, 1e15);
    let square = dot(normal, normal);
    if !p.iter().all(|x| x.is_finite()) || square < SMALLEST {
        return 0.0;
    }
    let Some(views) = Views::find(store, number) else { return 0.0 };
    let shorter = reciprocal(root(square));
    let facing = normal.map(|x| x * shorter);
    let (at, [x, y]) = (bounded_all(p, 1e15), how.sides([dx, dy]));
    let mut sampling = how.bounded();
    let share = 4.0 * sampling.samples * reciprocal(views.count as f32);
    let (mut dark, mut total) = (0.0, 0.0);
    for i in 0..views.count {
        let matrices = views.matrices(i);
        let cosine = cosine(&matrices[0], facing);
        if cosine <= 0.0 || cosine.is_nan() {
            continue;
        }
        total += cosine;
        let Some(area) = ShadowArea::new(&matrices, [at, x, y], how.blur, views.size) else { continue };
        sampling.samples = ((share * cosine).floor() + 1.0).min(SAMPLES_MAX);
        sampling.seed = hash(how.seed, i);
        let behind = |texel, z| if views.is_behind(i, texel, z) { 1.0 } else { 0.0 };
        dark += cosine * area.mean(views.size, &sampling, behind);
    }
    if total > 0.0 { dark * reciprocal(total) } else { 0.0 }
}

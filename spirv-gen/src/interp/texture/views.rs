//! Shadow maps seen from several places, in one texture: those of occlusion maps, and of depth files with several.

use super::arithmetic::{bounded, bounded_all, reciprocal};
use super::shadow_area::{Matrix, ShadowArea, ShadowSampling, transformed};
use super::store::TextureStore;
use super::texels::tile_and_place;
use crate::abi::occlusion::{VIEW_SAMPLES_MAX, VIEW_WORDS, VIEWS_MAX};
use crate::abi::textures::{SLOT_WORDS, TILE_SIZE};

/// The kind of textures that have several maps.
pub(super) const KIND: u32 = 6;

/// The maps of a texture.
pub(super) struct Views<'a> {
    store: &'a dyn TextureStore,
    number: u32,
    pub(super) count: u32,
    /// Width and height of each.
    pub(super) size: [u32; 2],
}

impl<'a> Views<'a> {
    /// Returns those of a texture, if it has any.
    pub(super) fn find(store: &'a dyn TextureStore, number: u32) -> Option<Self> {
        let shape = store.shape(number);
        if shape.kind != KIND || shape.format != 3 {
            return None;
        }
        let mut views = Self { store, number, count: 0, size: shape.size };
        let whole = |word| bounded(views.float(word), 4_194_304.0) as u32;
        let (count, size) = (whole(0).min(VIEWS_MAX), [whole(1).min(shape.size[0]), whole(2).min(shape.size[1])]);
        (views.count, views.size) = (count, size);
        (count > 0 && !size.contains(&0)).then_some(views)
    }

    fn float(&self, word: u32) -> f32 {
        let (tile, [x, y]) = tile_and_place(word);
        f32::from_bits(self.store.word(self.number, 0, 0, [x, tile * TILE_SIZE + y]))
    }

    fn matrix(&self, word: u32) -> Matrix {
        std::array::from_fn(|column| std::array::from_fn(|row| self.float(word + 4 * column as u32 + row as u32)))
    }

    /// Returns the space of a map's camera, and of its picture, from world space.
    pub(super) fn matrices(&self, view: u32) -> [Matrix; 2] {
        [VIEW_WORDS * (view + 1), VIEW_WORDS * (view + 1) + 16].map(|word| self.matrix(word))
    }

    /// Whether a depth lies behind what a map has at a texel.
    pub(super) fn is_behind(&self, view: u32, [x, y]: [u32; 2], z: f32) -> bool {
        // Behind the tiles with the words before the first matrices and those of all maps.
        let tiles = ((self.count + 1) * VIEW_WORDS).div_ceil(SLOT_WORDS);
        let first = TILE_SIZE * (tiles + view * self.size[1].div_ceil(TILE_SIZE));
        let depth = f32::from_bits(self.store.word(self.number, 0, 0, [x, first + y]));
        depth.is_finite() && z > depth
    }
}

/// `shadow()` of several maps: the fraction of the area that lies behind what any of them sees.
pub(super) fn shadow(store: &dyn TextureStore, number: u32, area: [[f32; 3]; 3], how: &ShadowSampling) -> f32 {
    let Some([world, _]) = store.shape(number).matrices else { return 0.0 };
    if !area[0].iter().all(|x| x.is_finite()) {
        return 0.0;
    }
    let Some(views) = Views::find(store, number) else { return 0.0 };
    let moved = |v, w| {
        let [x, y, z, _] = transformed(&world, v, w);
        bounded_all([x, y, z], 1e15)
    };
    let [x, y] = how.sides([area[1], area[2]]);
    let area = [moved(bounded_all(area[0], 1e15), 1.0), moved(x, 0.0), moved(y, 0.0)];
    let mut sampling = how.bounded();
    sampling.samples = sampling.samples.min((VIEW_SAMPLES_MAX / views.count) as f32);
    let mut dark = vec![false; sampling.samples as usize];
    for view in 0..views.count {
        let Some(seen) = ShadowArea::new(&views.matrices(view), area, how.blur, views.size) else { continue };
        let behind = seen.each_behind(views.size, &sampling, |texel, z| views.is_behind(view, texel, z));
        dark.iter_mut().zip(behind).for_each(|(dark, behind)| *dark |= behind);
    }
    dark.into_iter().filter(|dark| *dark).count() as f32 * reciprocal(sampling.samples)
}

//! What a live session keeps on the host of the pictures of a world that is edited: its geometry in pages, and for each
//! level of refinement the grids of the picture that was drawn last. Each is used again only where all that it was
//! made of is the same.

use crate::film::{Film, PixelLayout};
use crate::pipeline::geometry::{Page, Pages};
use crate::pipeline::look::Look;
use crate::pipeline::world::DrawnWorld;
use crate::render::device::picture::{Keeps, KeptLevel, Picture};
use crate::render::device::renderer::DeviceRenderer;
use crate::render::grids::picture_grids::PictureGrids;
use crate::render::resident::visibility_store::{KeepVisibility, VisibilityKey};
use crate::render::session::counting_pass::{CountedDevice, CountingFailed, CountingPass};
use crate::render::session::devices::DeviceSlot;
use crate::render::session::sameness::{DrawnFrom, TextureNumbers, same_grids, same_pixels, same_visibility};
use crate::scene::{CutGeometries, World};
use crate::schedule::Region;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is kept of a world's pictures.
#[derive(Default)]
pub(super) struct Resident {
    moving: CutGeometries,
    pages: Option<Pages>,
    levels: BTreeMap<KeptLevel, KeptPictures>,
    /// The level of the picture that is drawn; `None` for pictures that only serve others, such as maps of lights.
    pub level: Option<KeptLevel>,
    /// How many pictures have shown something else than the one before.
    views: u128,
    pub repeated: Repeated,
}

/// How often products of pictures were made, since a session has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::render) struct Repeated {
    /// Counting passes.
    pub counted: u64,
    /// Films that were drawn, at least in part.
    pub drawn: u64,
    /// Pages of geometry that were filled.
    pub pages: u64,
}

impl Repeated {
    /// Returns what was made since it was `before`.
    pub(super) fn since(self, before: Self) -> Self {
        let [counted, drawn, pages] =
            [(self.counted, before.counted), (self.drawn, before.drawn), (self.pages, before.pages)]
                .map(|(now, before)| now - before);
        Self { counted, drawn, pages }
    }
}

/// What is kept of the pictures of a level.
#[derive(Default)]
struct KeptPictures {
    /// What samples see in the last one that was built.
    built: Option<KeptOf<VisibilityKey>>,
    /// The grids of the last one that was counted, as each slot's device has counted them.
    counted: Option<KeptOf<Vec<Option<Arc<PictureGrids>>>>>,
    /// The pixels of the last one that was finished.
    finished: Option<KeptOf<FinishedPixels>>,
}

/// What a film holds when it is finished.
struct FinishedPixels {
    layout: PixelLayout,
    crop: Region,
    values: Vec<f32>,
}

/// A product, and the picture that it was made for.
struct KeptOf<T> {
    picture: Arc<Picture>,
    textures: TextureNumbers,
    product: T,
}

impl<T> KeptOf<T> {
    fn new(picture: &Arc<Picture>, product: T) -> Self {
        Self { picture: Arc::clone(picture), textures: TextureNumbers::of(picture), product }
    }

    /// Returns the product if it is also that of another picture: `same` compares what it was made of.
    fn of(&self, picture: &Picture, same: impl Fn(&DrawnFrom<'_>, &DrawnFrom<'_>) -> bool) -> Option<&T> {
        let made_for = DrawnFrom { picture: &self.picture, textures: &self.textures };
        let asked_for = DrawnFrom { picture, textures: &TextureNumbers::of(picture) };
        same(&made_for, &asked_for).then_some(&self.product)
    }
}

impl Resident {
    /// Returns a world as it is while the shutter is open.
    pub(super) fn in_shutter(&mut self, world: World) -> World {
        world.in_shutter_again(&mut self.moving)
    }

    /// Lowers a world, of which some geometry may be in pages already. A page has at most `page_bytes`.
    pub(super) fn lower(&mut self, world: &World, looks: &[Arc<Look>], page_bytes: u64) -> DrawnWorld {
        let kept = self.pages.take().filter(|pages| pages.page_bytes() == page_bytes);
        let pages = self.pages.insert(kept.unwrap_or_else(|| Pages::new(page_bytes)));
        let before = pages.pages();
        let drawn = DrawnWorld::in_pages(world, looks, pages);
        let is_new =
            |(number, page): &(usize, &Arc<Page>)| !before.get(*number).is_some_and(|old| Arc::ptr_eq(old, page));
        self.repeated.pages += drawn.pages.iter().enumerate().filter(is_new).count() as u64;
        drawn
    }

    /// What devices keep of the picture that is drawn.
    pub(super) fn keeps(&self) -> Keeps {
        self.level.map_or(Keeps::Pages, Keeps::Level)
    }

    fn kept(&self) -> Option<&KeptPictures> {
        self.levels.get(&self.level?)
    }

    fn kept_mut(&mut self) -> Option<&mut KeptPictures> {
        Some(self.levels.entry(self.level?).or_default())
    }

    /// Numbers what a picture shows, so that samples see the same in pictures of the same number.
    pub(super) fn number(&mut self, picture: Picture) -> Arc<Picture> {
        let same = |built: &KeptOf<VisibilityKey>| built.of(&picture, same_visibility).copied();
        let last = self.kept().and_then(|kept| kept.built.as_ref()).and_then(same);
        let key = last.unwrap_or_else(|| {
            self.views += 1;
            VisibilityKey(self.views)
        });
        let visibility = self.level.map(|_| KeepVisibility { key, bytes_max: u64::MAX, again: false });
        let picture = Arc::new(Picture { visibility, ..picture });
        if let Some(kept) = self.kept_mut() {
            kept.built = Some(KeptOf::new(&picture, key));
        }
        picture
    }

    /// Counts the grids of a picture, unless they are known from an earlier one that `resident` keeps.
    ///
    /// # Errors
    /// As [`CountingPass::run`].
    pub(super) fn count(
        resident: &mut Option<Self>,
        picture: &Arc<Picture>,
        slots: &[DeviceSlot],
        renderers: Vec<Option<DeviceRenderer>>,
        pass: &CountingPass<'_>,
    ) -> Result<Vec<Option<CountedDevice>>, CountingFailed> {
        let Some(resident) = resident else { return pass.run(renderers) };
        match resident.count_again(picture, slots, renderers) {
            Ok(counted) => Ok(counted),
            Err(renderers) => pass.run(renderers).inspect(|counted| resident.keep_count(picture, counted)),
        }
    }

    /// Hands these renderers the grids of an earlier picture, if this one has the same; else returns them as they are.
    fn count_again(
        &self,
        picture: &Picture,
        slots: &[DeviceSlot],
        renderers: Vec<Option<DeviceRenderer>>,
    ) -> Result<Vec<Option<CountedDevice>>, Vec<Option<DeviceRenderer>>> {
        let kept = self.kept().and_then(|kept| kept.counted.as_ref());
        let Some(kept) = kept.and_then(|kept| kept.of(picture, same_grids)) else {
            return Err(renderers);
        };
        // A device that was opened again counts as others like it.
        let of_like = |slot: usize| {
            let like = (0..slots.len()).filter(|&other| slots[slot].info.is_like(&slots[other].info));
            like.filter_map(|other| kept[other].clone()).next()
        };
        let grids: Vec<_> = (0..slots.len()).map(of_like).collect();
        if renderers.iter().zip(&grids).any(|(renderer, grids)| renderer.is_some() && grids.is_none()) {
            return Err(renderers);
        }
        let counted = |(renderer, grids): (Option<DeviceRenderer>, Option<Arc<PictureGrids>>)| {
            Some(CountedDevice { renderer: renderer?, grids: grids? })
        };
        Ok(renderers.into_iter().zip(grids).map(counted).collect())
    }

    /// Keeps the grids of the picture that is drawn, which were counted for it.
    fn keep_count(&mut self, picture: &Arc<Picture>, counted: &[Option<CountedDevice>]) {
        self.repeated.counted += 1;
        let grids = counted.iter().map(|device| device.as_ref().map(|device| Arc::clone(&device.grids))).collect();
        if let Some(kept) = self.kept_mut() {
            kept.counted = Some(KeptOf::new(picture, grids));
        }
    }

    /// Deposits the pixels of an earlier picture in a film, if this one has the same.
    pub(super) fn develop_again(&self, picture: &Picture, film: &Film) {
        let kept = self.kept().and_then(|kept| kept.finished.as_ref());
        let same = kept.and_then(|kept| kept.of(picture, same_pixels));
        let is_like = |kept: &&FinishedPixels| kept.crop == film.crop() && kept.layout == *film.layout();
        if let Some(kept) = same.filter(is_like) {
            film.deposit(kept.crop, &kept.values);
        }
    }

    /// Keeps the pixels of the picture that was drawn, if it is finished.
    pub(super) fn keep_pixels(&mut self, picture: &Arc<Picture>, film: &Film) {
        self.repeated.drawn += 1;
        let finished =
            film.values().map(|values| FinishedPixels { layout: film.layout().clone(), crop: film.crop(), values });
        if let Some((finished, kept)) = finished.zip(self.kept_mut()) {
            kept.finished = Some(KeptOf::new(picture, finished));
        }
    }
}

#[cfg(test)]
mod tests;

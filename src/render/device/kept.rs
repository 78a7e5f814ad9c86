//! What a device keeps of pictures while a live session waits for the next edit: pages of geometry, tiles of textures,
//! and of each level of refinement the picture that was drawn last. All of it can be freed at any time; what needs it
//! then is made again.

use crate::gpu::{Device, GpuError};
use crate::pipeline::buffers::FrameSlices;
use crate::pipeline::recording::Buffer;
use crate::render::device::memory::{free_bytes, geometry_bytes};
use crate::render::device::picture::{KeptLevel, Picture};
use crate::render::device::renderer::{DividedMemory, RegionMemory};
use crate::render::region::pace::Pace;
use crate::render::resident::geometry_pages::{GeometryPages, PagesBytes};
use crate::render::resident::grid_pages::GridPages;
use crate::render::resident::picture_textures::PictureTextures;
use crate::render::resident::texture_tiles::TextureTiles;
use crate::render::resident::visibility_store::VisibilityStore;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a device keeps between pictures.
#[derive(Default)]
pub(crate) struct KeptOnDevice {
    pub(super) pages: Option<GeometryPages>,
    pub(super) tiles: Option<TextureTiles>,
    pub(super) pictures: BTreeMap<KeptLevel, KeptPicture>,
}

/// A picture whose buffers are still on a device.
pub(super) struct KeptPicture {
    pub frame: KeptFrame,
    pub resting: RestingParts,
}

/// The frame of a picture on a device.
pub(super) struct KeptFrame {
    /// The picture that was uploaded.
    pub picture: Arc<Picture>,
    pub buffer: Buffer,
    pub slices: FrameSlices,
}

/// What a picture has besides its frame, once its memory is divided.
pub(super) struct RestingParts {
    pub grids: GridPages,
    pub visibility: VisibilityStore,
    pub picture_buffers: Vec<Buffer>,
    pub regions: Option<RegionMemory>,
    pub divided: Option<DividedMemory>,
    pub pace: Pace,
}

impl KeptOnDevice {
    /// Frees all of it; returns whether it was anything.
    pub(crate) fn free(&mut self, device: &mut Device) -> bool {
        let Self { pages, tiles, pictures } = std::mem::take(self);
        let was_any = pages.is_some() || tiles.is_some() || !pictures.is_empty();
        if let Some(mut pages) = pages {
            pages.free(device);
        }
        tiles.into_iter().for_each(|tiles| tiles.free(device));
        for KeptPicture { frame, resting } in pictures.into_values() {
            device.free(frame.buffer);
            resting.free(device);
        }
        was_any
    }

    /// Returns the tiles of a picture's textures: those that are kept, if they are its own.
    pub(super) fn tiles_of(
        &mut self,
        device: &mut Device,
        textures: &Arc<PictureTextures>,
        reserve_bytes: u64,
    ) -> Result<TextureTiles, GpuError> {
        if let Some(mut tiles) = self.tiles.take() {
            if tiles.renew(device, textures)? {
                return Ok(tiles);
            }
            tiles.free(device);
        }
        let free = free_bytes(device.memory(), reserve_bytes);
        TextureTiles::new(device, textures, free)
    }

    /// Keeps these tiles in place of others.
    pub(super) fn replace_tiles(&mut self, device: &mut Device, tiles: TextureTiles) {
        self.tiles.replace(tiles).into_iter().for_each(|old| old.free(device));
    }

    /// Returns the pages of a picture: those that are kept, and what is new.
    pub(super) fn pages_of(&mut self, device: &mut Device, picture: &Picture) -> Result<GeometryPages, GpuError> {
        let pages = &picture.world.pages;
        if let Some(mut kept) = self.pages.take() {
            if kept.renew(device, Arc::clone(pages))? {
                return Ok(kept);
            }
            kept.free(device);
        }
        let free = free_bytes(device.memory(), picture.reserve_bytes);
        let bytes = geometry_bytes(PagesBytes::of(pages), free, picture.pages_bytes_max);
        Ok(GeometryPages::new(Arc::clone(pages), bytes))
    }
}

impl RestingParts {
    /// Those of a picture that is new to a device.
    pub(super) fn none(pace: Pace) -> Self {
        Self {
            grids: GridPages::default(),
            visibility: VisibilityStore::default(),
            picture_buffers: Vec::new(),
            regions: None,
            divided: None,
            pace,
        }
    }

    pub(super) fn free(mut self, device: &mut Device) {
        self.visibility.free(device);
        self.picture_buffers.into_iter().for_each(|buffer| device.free(buffer));
    }
}

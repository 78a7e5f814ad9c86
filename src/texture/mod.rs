//! Texture files: tiled pictures with levels, which are read tile by tile, and their maker.
//!
//! A texture is a tiled OpenEXR file of halves or floats, or a tiled TIFF file of 8 or 16 bits or floats, as `maketx`
//! of OpenImageIO and `txmake` write them. [`TextureFile`] reads any tile of it.

mod baked_picture;
mod block;
mod brick_map;
mod channel_order;
mod convert;
mod deep_tiles;
mod depth_map;
mod error;
mod exr_tiles;
mod file;
mod handles;
mod header;
mod levels;
mod make;
mod make_memory;
mod make_stream;
mod occlusion;
mod packed_tiles;
mod patient_file;
mod picture;
mod point_tiles;
mod point_tree;
mod preparation;
mod read_limits;
mod row_levels;
mod rows;
mod source_tags;
mod store;
#[cfg(test)]
mod tests;
mod tiff_directory;
mod tiff_samples;
mod tiff_tiles;
mod tile_spool;
mod tiled;
mod watched_file;
mod window;
mod write;

pub use convert::convert;
pub use depth_map::DepthPicture;
pub use error::TextureError;
pub use file::{FileIdentity, TextureFile};
pub use header::{ShadowMatrices, TexelFormat, TextureHeader, TextureKind, WrapMode};
pub use levels::MakeFilter;
pub use make::{
    AlphaMode, MadeTexture, MakeKind, MakeLimits, MakeProgress, MakeRequest, ResizeMode, go_on, make, make_within,
};
pub use make_memory::make_bytes;
pub use occlusion::{OCCLUSION_VIEW_WORDS, OCCLUSION_VIEWS_MAX};
pub use patient_file::Patience;
pub use read_limits::ReadLimits;
pub use source_tags::is_depth_file;
pub use store::{SoughtFile, StoredTexture, TextureReads, TextureStore, TileKey, TileNeed, TileTexels, candidates};
pub use tiled::{HostMemoryTaken, MemoryTaker, TiledPicture, TilingProgress, TilingWatch, open_or_tile};

/// Width and height of a tile, in texels.
pub const TILE_TEXELS: u32 = 64;

/// The words of a tile, row by row from the top.
pub const TILE_WORDS: usize = (TILE_TEXELS * TILE_TEXELS) as usize;

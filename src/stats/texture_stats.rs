//! What was asked for and read of textures.

use super::{Stats, seconds};
use serde::Serialize;
use std::time::Duration;

/// Statistics of the texture cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextureStats {
    /// Lookups by shaders: times that a shader reads the texture at a point. Those of repeated submissions count again.
    /// `None` unless they were counted.
    pub lookups: Option<u64>,
    /// Tiles that submissions of devices used, each once a submission.
    pub requests: u64,
    /// Tiles that devices lacked.
    pub misses: u64,
    /// Submissions that lacked tiles, those that only named them included, once for each texture.
    pub reruns: u64,
    /// Tiles that devices loaded before any submission lacked them.
    pub prefetched: u64,
    /// Tiles that were read from files.
    pub tiles_read: u64,
    /// Tiles among them that had been read before.
    pub redundant_reads: u64,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Time that reading took, of all threads together.
    #[serde(rename = "read_s", serialize_with = "seconds")]
    pub read: Duration,
}

/// Time lost because devices lacked tiles of textures, all devices added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextureLossStats {
    /// Submissions that missed tiles, and were made again.
    pub submissions: u64,
    /// Passes of shading programs that had run in them, and were run again.
    pub repeated_passes: u64,
    /// The time of those submissions, by the devices' clocks.
    #[serde(rename = "discarded_s", serialize_with = "seconds")]
    pub discarded: Duration,
    /// The time of submissions that only named tiles, by the devices' clocks.
    #[serde(rename = "naming_s", serialize_with = "seconds")]
    pub naming: Duration,
    /// The time in which devices' threads read and uploaded tiles.
    #[serde(rename = "loading_s", serialize_with = "seconds")]
    pub loading: Duration,
}

impl TextureLossStats {
    /// Adds what another world lost.
    pub fn add(&mut self, other: &Self) {
        self.submissions += other.submissions;
        self.repeated_passes += other.repeated_passes;
        self.discarded += other.discarded;
        self.naming += other.naming;
        self.loading += other.loading;
    }
}

/// Statistics of a texture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TextureFileStats {
    /// The file.
    pub file: String,
    /// What was asked for and read of it.
    #[serde(flatten)]
    pub reads: TextureStats,
}

impl Stats {
    /// Adds a texture.
    pub fn add_texture(&mut self, file: String, reads: TextureStats) {
        let sum = &mut self.texture;
        sum.lookups = reads.lookups.map(|lookups| lookups + sum.lookups.unwrap_or(0)).or(sum.lookups);
        sum.requests += reads.requests;
        sum.misses += reads.misses;
        sum.reruns += reads.reruns;
        sum.prefetched += reads.prefetched;
        sum.tiles_read += reads.tiles_read;
        sum.redundant_reads += reads.redundant_reads;
        sum.bytes_read += reads.bytes_read;
        sum.read += reads.read;
        self.textures.push(TextureFileStats { file, reads });
    }
}

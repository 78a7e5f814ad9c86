//! Statistics of a live session: what its edits have repeated.

use super::seconds;
use serde::Serialize;
use std::time::Duration;

/// Rows of pictures that are kept, the latest.
const PICTURES_MAX: usize = 1000;

/// Statistics of a live session. All of it is of the last world of the scene.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveStats {
    /// Edits that came.
    pub edits: u64,
    /// Revisions of the scene that were begun.
    pub revisions: u64,
    /// Pictures that were begun.
    pub pictures_begun: u64,
    /// Those among them that an edit stopped.
    pub pictures_cancelled: u64,
    /// The latest pictures, in order.
    pub pictures: Vec<LivePictureStats>,
}

/// How a picture of a live session ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LivePictureState {
    /// It was finished.
    #[default]
    Whole,
    /// An edit stopped it.
    Cancelled,
    /// Its scene has errors, or no device could draw it.
    Refused,
}

/// A picture of a live session, with all that it has repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LivePictureStats {
    /// The revision that it shows.
    pub revision: u64,
    /// 0 for coarse ones, 1 for those with one sample a pixel, 2 for final ones.
    pub level: u32,
    /// How many times smaller than the format it is on each side.
    pub divider: u32,
    /// The kinds of the edits since the last revision, each once.
    pub edits: Vec<String>,
    /// How it ended.
    pub state: LivePictureState,
    /// Whether the scene was read for it.
    pub read: bool,
    /// Kernels that were compiled or loaded.
    pub kernels: u64,
    /// Pages of geometry that were built.
    pub pages: u64,
    /// Whether its grids were counted.
    pub counted: bool,
    /// Regions of which visibility was computed, and of which it was recalled.
    pub hidden_regions: u64,
    /// Regions of which visibility was recalled.
    pub recalled_regions: u64,
    /// Regions that were shaded.
    pub shaded_regions: u64,
    /// Time from the first edit that it shows, or from its begin if it refines another, to its end.
    #[serde(rename = "latency_s", serialize_with = "seconds")]
    pub latency: Duration,
    /// Time for reading the scene.
    #[serde(rename = "read_s", serialize_with = "seconds")]
    pub read_time: Duration,
    /// Time for compiling shaders and lowering geometry.
    #[serde(rename = "prepare_s", serialize_with = "seconds")]
    pub prepare: Duration,
    /// Time for splitting and counting.
    #[serde(rename = "count_s", serialize_with = "seconds")]
    pub count: Duration,
    /// Time for drawing.
    #[serde(rename = "draw_s", serialize_with = "seconds")]
    pub draw: Duration,
    /// Time from the edit that stopped it until the devices were idle; 0 if none did.
    #[serde(rename = "cancel_s", serialize_with = "seconds")]
    pub cancel: Duration,
}

impl LiveStats {
    /// Adds a picture. Only the latest are kept.
    pub fn add(&mut self, picture: LivePictureStats) {
        self.pictures_begun += 1;
        self.pictures_cancelled += u64::from(picture.state == LivePictureState::Cancelled);
        if self.pictures.len() == PICTURES_MAX {
            self.pictures.remove(0);
        }
        self.pictures.push(picture);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_do_not_grow() {
        let mut stats = LiveStats::default();
        for revision in 0..3000 {
            stats.add(LivePictureStats { revision, state: LivePictureState::Cancelled, ..LivePictureStats::default() });
        }
        assert_eq!((stats.pictures_begun, stats.pictures_cancelled), (3000, 3000));
        assert_eq!((stats.pictures.len(), stats.pictures[PICTURES_MAX - 1].revision), (PICTURES_MAX, 2999));
    }
}

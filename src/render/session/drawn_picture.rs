//! What is kept of a picture for a capture of one of its regions.

use crate::render::device::picture::Picture;
use crate::render::grids::picture_grids::PictureGrids;
use crate::stats::RegionStats;
use std::sync::Arc;

/// A picture whose regions were drawn.
pub(super) struct DrawnPicture {
    pub picture: Arc<Picture>,
    pub grids: Arc<PictureGrids>,
    pub regions: Vec<RegionStats>,
}

/// What became of the capture that a render was asked for.
#[derive(Default)]
pub(super) enum CaptureState {
    /// No picture was drawn yet.
    #[default]
    Waiting,
    /// This picture is captured once it is written.
    Drawn(Box<DrawnPicture>),
    /// It was made, or it was reported why not.
    Over,
}

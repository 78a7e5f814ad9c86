//! What a live session says of itself.

use crate::diagnostic::Diagnostic;
use crate::film::DisplayOutcome;
use crate::progress;
use std::sync::Arc;

/// How fine a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Of a format that is `divider` times smaller on each side, with one sample a pixel.
    Coarse {
        /// At least 2.
        divider: u32,
    },
    /// Of the whole format, with one sample a pixel.
    OneSample,
    /// As the scene says: the picture that a batch render of the edited scene draws.
    Final,
}

impl Level {
    /// Returns its number: 0, 1, or 2 for the final picture.
    pub fn number(self) -> u32 {
        match self {
            Self::Coarse { .. } => 0,
            Self::OneSample => 1,
            Self::Final => 2,
        }
    }

    /// Returns how many times smaller than the format it is on each side.
    pub fn divider(self) -> u32 {
        if let Self::Coarse { divider } = self { divider } else { 1 }
    }
}

/// A finished picture: what a film holds before exposure, imager and quantization.
#[derive(Clone, Debug)]
pub struct LivePicture {
    /// The revision of the scene that it shows.
    pub revision: u64,
    /// How fine it is.
    pub level: Level,
    /// Its pixels in raster space of a format that is smaller by the level's divider: x0, y0, x1, y1, half-open.
    pub rectangle: [i32; 4],
    /// The name of each channel, as in OpenEXR files: R, G, B, A, Z, or those of variables. All are 32-bit floats.
    pub channels: Arc<[String]>,
    /// The values, row by row, interleaved.
    pub pixels: Arc<[f32]>,
}

/// What happens in a live session.
#[derive(Clone, Debug)]
pub enum LiveEvent {
    /// A revision of the scene begins: all edits that waited are applied. The scene as it is read is revision 0.
    Begun {
        /// Its number, that of its last edits.
        revision: u64,
    },
    /// What is being done.
    State {
        /// For which revision.
        revision: u64,
        /// For which picture, if one is drawn.
        level: Option<Level>,
        /// What it is.
        event: progress::Event,
    },
    /// A picture is finished.
    Picture(LivePicture),
    /// The final picture of a revision is finished, and written if displays are written.
    Finished {
        /// Its number.
        revision: u64,
    },
    /// The displays are written.
    Written {
        /// The revision that they show.
        revision: u64,
        /// What came of each display and texture of the scene.
        displays: Vec<DisplayOutcome>,
    },
    /// A revision has errors that the last good picture had not, or no device could draw it. That picture stands.
    Refused {
        /// Its number.
        revision: u64,
    },
    /// A message, once a revision.
    Message {
        /// The revision.
        revision: u64,
        /// The message.
        diagnostic: Diagnostic,
    },
}

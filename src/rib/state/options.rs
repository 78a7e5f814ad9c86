//! The options, which are set outside the world (RISpec 4.1).

use super::displays::{DisplayRequest, PartRequest};
use super::screen::ScreenMove;
use crate::diagnostic::SourceLocation;
use crate::scene::{FORMAT_WINDOW, Options, Projection, Quantize, SearchPaths};
use std::collections::BTreeMap;
use std::sync::Arc;

/// RI_EPSILON: the nearest hither plane.
pub(crate) const EPSILON: f32 = 1e-10;
/// RI_INFINITY.
pub(crate) const INFINITY: f32 = 1e38;

/// The picture's size and shape, as Format sets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PictureFormat {
    /// Width and height in pixels.
    pub(crate) resolution: [u32; 2],
    /// Width over height of a pixel.
    pub(crate) pixel_aspect: f64,
}

/// The format of scenes without a Format request.
pub(crate) const DEFAULT_FORMAT: PictureFormat = PictureFormat { resolution: [640, 480], pixel_aspect: 1.0 };

/// The options, which are set outside the world.
#[derive(Clone, Debug)]
pub(crate) struct OptionState {
    /// FrameBegin's number.
    pub(crate) frame: Option<i32>,
    /// Format: picture size and pixel aspect.
    pub(crate) format: Option<PictureFormat>,
    /// FrameAspectRatio.
    pub(crate) frame_aspect: Option<f64>,
    /// ScreenWindow.
    pub(crate) screen_window: Option<[f64; 4]>,
    /// CropWindow, which may go beyond 0 and 1.
    pub(crate) crop_window: [f64; 4],
    /// Where CropWindow was set.
    pub(crate) crop_location: SourceLocation,
    /// Projection.
    pub(crate) projection: Projection,
    /// What transformations before Projection do to what is projected.
    pub(crate) screen_move: ScreenMove,
    /// Clipping.
    pub(crate) clip: [f32; 2],
    /// ClippingPlane, in camera space.
    pub(crate) clip_planes: Vec<([f32; 3], [f32; 3])>,
    /// DepthOfField.
    pub(crate) depth_of_field: Option<[f32; 3]>,
    /// Shutter.
    pub(crate) shutter: [f32; 2],
    /// RGB of each sample of a colour, as ColorSamples gives it; empty if colours are RGB.
    pub(crate) rgb_from_samples: Arc<[[f32; 3]]>,
    /// Quantize "rgba".
    pub(crate) quantize: Quantize,
    /// Quantize "z".
    pub(crate) quantize_z: Quantize,
    /// DisplayChannel, by name.
    pub(crate) channels: BTreeMap<Arc<str>, PartRequest>,
    /// Display, in the order given; the first is the primary one.
    pub(crate) displays: Vec<DisplayRequest>,
    /// All other options in the scene's form; displays and frame are filled in at WorldBegin.
    pub(crate) options: Options,
    /// The standard search paths.
    pub(crate) standard: SearchPaths,
}

impl OptionState {
    /// Creates the default options (RISpec tables 4.1 to 4.5).
    pub(crate) fn new(standard: &SearchPaths) -> Self {
        let options = Options { search: standard.clone(), ..Options::default() };
        Self {
            frame: None,
            format: None,
            frame_aspect: None,
            screen_window: None,
            crop_window: FORMAT_WINDOW,
            crop_location: SourceLocation::default(),
            projection: Projection::Orthographic,
            screen_move: ScreenMove::NONE,
            clip: [EPSILON, INFINITY],
            clip_planes: Vec::new(),
            depth_of_field: None,
            shutter: [0.0, 0.0],
            rgb_from_samples: Arc::default(),
            quantize: Quantize { one: 255.0, min: 0.0, max: 255.0, dither: 0.5 },
            quantize_z: Quantize { one: 0.0, min: 0.0, max: 0.0, dither: 0.0 },
            channels: BTreeMap::new(),
            displays: Vec::new(),
            options,
            standard: standard.clone(),
        }
    }
}

//! Options: the settings that are global to a picture (RISpec 3.2, section 4).

use super::Motion;
use crate::diagnostic::SourceLocation;
use glam::DMat4;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::attributes::{ParamValue, ShaderInstance};

/// How often a primitive can be split in each direction because it reaches behind the eye.
pub const EYE_SPLITS_MAX: u32 = 16;

/// The largest number of pixels on a side of a picture: what ranges of pixels on devices can name, and some around.
pub const RESOLUTION_MAX: u32 = 65_000;
/// The most pixels left of the format, or above it, that overscan has: what ranges of pixels on devices can name.
pub const OVERSCAN_BEFORE_MAX: u32 = 5_000;
/// The largest filter width in pixels.
pub const FILTER_WIDTH_MAX: f64 = 128.0;

/// How camera space maps to the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// A projection parallel to the z axis.
    Orthographic,
    /// A perspective projection. Its field of view is over the smaller of width and height (screen -1 to 1).
    Perspective {
        /// Full angle in degrees.
        fov_degrees: f64,
    },
}

/// The camera (RISpec table 4.1). Camera space is left-handed: +x right, +y up, +z into the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Camera space from world space.
    pub camera_from_world: Motion<DMat4>,
    /// Kind of projection.
    pub projection: Projection,
    /// Picture size in pixels.
    pub resolution: [u32; 2],
    /// Width over height of one pixel.
    pub pixel_aspect: f64,
    /// left, right, bottom, top of the screen window in screen space, defaults resolved.
    pub screen_window: [f64; 4],
    /// CropWindow xmin, xmax, ymin, ymax in NDC: 0 to 1 is the format.
    pub crop_window: [f64; 4],
    /// What crop windows may select, in the same way: the format, and the overscan around it if it is asked for.
    pub whole_window: [f64; 4],
    /// Hither and yon clipping distances along camera z.
    pub clip: [f32; 2],
    /// Additional clipping planes in camera space: point and outward normal; the normal's side is removed.
    pub clip_planes: Vec<([f32; 3], [f32; 3])>,
    /// f-stop, focal length, focal distance; `None` is a pinhole.
    pub depth_of_field: Option<[f32; 3]>,
    /// Shutter opening and closing time.
    pub shutter: [f32; 2],
}

/// The window of the format, without overscan.
pub const FORMAT_WINDOW: [f64; 4] = [0.0, 1.0, 0.0, 1.0];

impl Camera {
    /// Returns the half-open pixel rectangle `[x0, y0, x1, y1]` that the crop window selects: first = clamp(ceil(res
    /// min)), last = clamp(ceil(res max - 1)) (RISpec 4.1.1). A window that selects no pixel gives an empty rectangle.
    pub fn crop_px(&self) -> [i32; 4] {
        let whole = self.whole_px();
        let axis = |axis: usize| {
            let [first, last] = self.selected(&self.crop_window, axis);
            let clamp = |value: f64| (value as i32).clamp(whole[axis], whole[axis + 2] - 1);
            if first > last { (0, 0) } else { (clamp(first), clamp(last) + 1) }
        };
        let ((x0, x1), (y0, y1)) = (axis(0), axis(1));
        [x0, y0, x1, y1]
    }

    /// Returns the half-open rectangle of all pixels of the format and of the overscan that may be drawn: together at
    /// most [`RESOLUTION_MAX`] on a side, and [`OVERSCAN_BEFORE_MAX`] of them left of the format or above it.
    pub fn whole_px(&self) -> [i32; 4] {
        let axis = |axis: usize| {
            let [first, last] = self.selected(&self.whole_window, axis);
            let side = self.resolution[axis].cast_signed();
            let left = RESOLUTION_MAX.saturating_sub(self.resolution[axis]).min(OVERSCAN_BEFORE_MAX).cast_signed();
            let start = (first as i32).clamp(-left, 0);
            let end = RESOLUTION_MAX.cast_signed() + start;
            (start, (last as i32).saturating_add(1).clamp(side, end.max(side)))
        };
        let ((x0, x1), (y0, y1)) = (axis(0), axis(1));
        [x0, y0, x1, y1]
    }

    /// Returns the first and the last pixel along an axis that a window selects, wherever they are.
    fn selected(&self, window: &[f64; 4], axis: usize) -> [f64; 2] {
        let resolution = f64::from(self.resolution[axis]);
        let [min, max] = [window[2 * axis], window[2 * axis + 1]];
        [(resolution * min).ceil(), (resolution * max - 1.0).ceil()]
    }

    /// Whether a window selects pixels outside of the whole picture.
    pub fn exceeds_whole(&self, window: &[f64; 4]) -> bool {
        let whole = self.whole_px();
        [0, 1].into_iter().any(|axis| {
            let [first, last] = self.selected(window, axis);
            first < f64::from(whole[axis]) || last >= f64::from(whole[axis + 2])
        })
    }
}

/// Pixel filters of the RI (RISpec 4.1.3) and the common extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilterKind {
    /// 1 inside the width.
    Box,
    /// A tent.
    Triangle,
    /// Catmull-Rom spline of the distance in pixels.
    CatmullRom,
    /// Windowed sinc as in the RISpec.
    Sinc,
    /// exp(-2 r^2) in units of half the width.
    Gaussian,
    /// Mitchell and Netravali's filter with B = C = 1/3, scaled to the width; separable.
    Mitchell,
    /// Sinc in pixels, windowed by the middle lobe of a sinc as wide as the filter; separable.
    Lanczos,
    /// The Blackman-Harris window of four terms, scaled to the width; separable.
    BlackmanHarris,
    /// 1 inside the ellipse that the widths describe.
    Disk,
    /// The product of two Catmull-Rom splines in pixels, along x and y.
    SeparableCatmullRom,
}

/// A pixel filter with its full widths in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter {
    /// Which function.
    pub kind: FilterKind,
    /// Full width in x and y, in pixels.
    pub width: [f32; 2],
}

/// Quantize: `value * one` rounded with dither and clamped to `[min, max]`; `one` 0 means floating point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantize {
    /// The integer that 1.0 maps to; 0 keeps floats.
    pub one: f32,
    /// Smallest written value.
    pub min: f32,
    /// Largest written value.
    pub max: f32,
    /// Amplitude of the dither in quantization steps.
    pub dither: f32,
}

/// The content of a display.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DisplayMode {
    /// Any of the channels colour, alpha and depth, in the order rgb, a, z.
    Image {
        /// Has r, g, b.
        rgb: bool,
        /// Has alpha.
        a: bool,
        /// Has camera-space z.
        z: bool,
    },
    /// An arbitrary output variable: a shader's output parameter, a primvar or a predefined variable, with its RSL
    /// type.
    Variable {
        /// The name, without the declaration.
        name: Arc<str>,
        /// Its type.
        ty: super::geometry::ValueType,
        /// Whether values of translucent surfaces are weighted by what shows of them; else the nearest counts.
        composited: bool,
    },
}

/// One part of what a display shows.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayPart {
    /// What it shows.
    pub mode: DisplayMode,
    /// Its quantization.
    pub quantize: Quantize,
    /// gain and gamma of its colours.
    pub exposure: [f32; 2],
    /// Its filter, if that is not the pixel filter.
    pub filter: Option<Filter>,
}

/// One output file or window.
#[derive(Clone, Debug, PartialEq)]
pub struct Display {
    /// The file's name, without a leading `+`.
    pub name: String,
    /// The driver's name as written (`file`, `tiff`, `exr`, ...).
    pub driver: String,
    /// What it shows, in the order of its channels.
    pub parts: Vec<DisplayPart>,
    /// All other parameters, for the driver.
    pub params: BTreeMap<String, ParamValue>,
    /// The location of its request.
    pub location: SourceLocation,
}

/// The shape of the lens (`Hider "aperture"`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aperture {
    /// Sides of the polygon; it is round if there are fewer than three.
    pub sides: u32,
    /// The angle of a corner, from the x axis.
    pub angle_degrees: f32,
    /// How far sides are bent outwards, from 0 to a circle at 1, or inwards, to -1.
    pub roundness: f32,
    /// How much more light comes in at the rim than in the middle, -1 to 1.
    pub density: f32,
}

/// The settings of the hider.
#[derive(Clone, Debug, PartialEq)]
pub struct Hider {
    /// `hidden`, `null` or `paint`.
    pub name: String,
    /// Whether sample points are jittered.
    pub jitter: bool,
    /// The depth that a pixel of a z display shows.
    pub depth_filter: DepthFilter,
    /// Whether samples have times of their own; if not, everything is drawn as it is when the shutter opens.
    pub sample_motion: bool,
    /// The shape of the lens.
    pub aperture: Aperture,
}

impl Hider {
    /// Whether what comes later hides what comes before, whatever their depths (RISpec 4.1.7).
    pub fn paints(&self) -> bool {
        self.name == PAINT
    }
}

/// The name of the hider without depths.
pub const PAINT: &str = "paint";

/// What becomes of the depths of a pixel's samples (RISpec `Hider "depthfilter"`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DepthFilter {
    /// The nearest depth.
    #[default]
    Min,
    /// The farthest depth.
    Max,
    /// The mean of those samples that see anything.
    Average,
    /// The nearest depth halfway between the first two surfaces that a sample sees.
    Midpoint,
}

impl DepthFilter {
    /// Returns the filter of that name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "min" => Self::Min,
            "max" => Self::Max,
            "average" => Self::Average,
            "midpoint" => Self::Midpoint,
            _ => return None,
        })
    }
}

/// Directories in which files are searched, expanded (RISpec `Option "searchpath"`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SearchPaths {
    /// Archives.
    pub archive: Vec<String>,
    /// Shaders.
    pub shader: Vec<String>,
    /// Textures.
    pub texture: Vec<String>,
    /// Procedurals.
    pub procedural: Vec<String>,
    /// Display drivers.
    pub display: Vec<String>,
}

/// Options that are not the camera's.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Frame number of FrameBegin, if any.
    pub frame: Option<i32>,
    /// The crop window that the scene has, whatever the command line says.
    pub scene_crop: [f64; 4],
    /// Samples per pixel in x and y; at least 1 each.
    pub pixel_samples: [u32; 2],
    /// The pixel filter.
    pub filter: Filter,
    /// gain and gamma of Exposure.
    pub exposure: [f32; 2],
    /// The imager shader, if any.
    pub imager: Option<Arc<ShaderInstance>>,
    /// Displays; the first is the primary one.
    pub displays: Vec<Display>,
    /// The hider.
    pub hider: Hider,
    /// `Option "limits" "eyesplits"`; more than [`EYE_SPLITS_MAX`] means as many.
    pub eye_splits: u32,
    /// `Option "limits" "othreshold"`: the opacity beyond which nothing behind is visible.
    pub opacity_threshold: [f32; 3],
    /// `Option "limits" "zthreshold"`: the opacity beyond which a surface has a depth.
    pub z_threshold: [f32; 3],
    /// `Option "limits" "gridsize"`, informational.
    pub grid_size: u32,
    /// `Option "limits" "reserve"`, kilobytes: the constant C of RenderAnts, section 4.
    pub reserve_kib: u32,
    /// `Option "limits" "texturememory"`, kilobytes; 0 if it is not set.
    pub texture_memory_kib: u32,
    /// `Option "shutter" "offset"`.
    pub shutter_offset: f32,
    /// `Option "shutter" "shutteropening"`: until when the shutter opens, and from when it closes, in parts of the time
    /// between its opening and closing.
    pub shutter_opening: [f32; 2],
    /// `Option "image" "overscan"`: whether crop windows may select what is outside of the format.
    pub overscan: bool,
    /// `Option "hair" "minwidth"`, in pixels: narrower curves are drawn as wide, and more transparent; 0 for none.
    pub curve_min_width_px: f32,
    /// RelativeDetail.
    pub relative_detail: f32,
    /// Search paths.
    pub search: SearchPaths,
    /// `Option "user"` and every other option that was set, as `category:name`.
    pub other: BTreeMap<String, ParamValue>,
}

impl Options {
    /// Returns the least width of curves in pixels. Pictures of nothing but depth have none: what is transparent has no
    /// depth.
    pub fn least_width_px(&self) -> f32 {
        let depth = |part: &DisplayPart| part.mode == DisplayMode::Image { rgb: false, a: false, z: true };
        let deep = |display: &Display| display.driver.starts_with("deep");
        let only_depth =
            !self.displays.is_empty() && self.displays.iter().all(|d| !deep(d) && d.parts.iter().all(depth));
        if only_depth { 0.0 } else { self.curve_min_width_px }
    }

    /// Returns the pixel filter, as wide as the widest filter of any display: what reaches from one pixel to others.
    pub fn widest_filter(&self) -> Filter {
        let parts = self.displays.iter().flat_map(|display| &display.parts);
        parts.filter_map(|part| part.filter).fold(self.filter, |widest, filter| Filter {
            width: [0, 1].map(|axis| widest.width[axis].max(filter.width[axis])),
            ..widest
        })
    }
}

impl Default for Options {
    /// Returns the defaults (RISpec tables 4.1 to 4.5).
    fn default() -> Self {
        Self {
            frame: None,
            scene_crop: FORMAT_WINDOW,
            pixel_samples: [2, 2],
            filter: Filter { kind: FilterKind::Gaussian, width: [2.0, 2.0] },
            exposure: [1.0, 1.0],
            imager: None,
            displays: Vec::new(),
            hider: Hider {
                name: "hidden".to_owned(),
                jitter: true,
                depth_filter: DepthFilter::Min,
                sample_motion: true,
                aperture: Aperture::default(),
            },
            eye_splits: EYE_SPLITS_MAX,
            opacity_threshold: [0.996; 3],
            z_threshold: [0.996; 3],
            grid_size: 256,
            reserve_kib: 0,
            texture_memory_kib: 0,
            shutter_offset: 0.0,
            shutter_opening: [0.0, 1.0],
            overscan: false,
            curve_min_width_px: 0.0,
            relative_detail: 1.0,
            search: SearchPaths::default(),
            other: BTreeMap::new(),
        }
    }
}

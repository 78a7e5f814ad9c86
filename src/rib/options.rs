//! Requests that set options (RISpec 4.1), except displays.

use super::displays::{DisplayRequest, PartRequest};
use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::freeze::{DEFAULT_FORMAT, PictureFormat};
use super::lexer::{Lexer, TokenKind};
use super::params::check_count;
use super::reader::Reader;
use super::tokens;
use super::{motion, search};
use crate::scene::{
    Aperture, DepthFilter, Filter, FilterKind, Hider, Options, PAINT, ParamValue, Projection, Quantize, SearchPaths,
};
use glam::{DMat4, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// RI_EPSILON: the nearest hither plane.
const EPSILON: f32 = 1e-10;
/// RI_INFINITY.
const INFINITY: f32 = 1e38;
/// The largest number of pixels on a side.
const RESOLUTION_MAX: f64 = 65_536.0;
/// The largest number of samples per pixel on a side.
const SAMPLES_MAX: f64 = 256.0;
/// The largest filter width in pixels.
pub(super) const FILTER_WIDTH_MAX: f64 = 128.0;
/// Clipping planes, at most: each takes a loop trip at each sample, and an invocation's trips are bounded
/// (docs/pipeline.md).
const CLIP_PLANES_MAX: usize = 256;
/// The largest number of other options that are kept.
const OTHER_MAX: usize = 65_536;

/// The options, which are set outside the world.
#[derive(Clone, Debug)]
pub(super) struct OptionState {
    /// FrameBegin's number.
    pub(super) frame: Option<i32>,
    /// Format: picture size and pixel aspect.
    pub(super) format: Option<PictureFormat>,
    /// FrameAspectRatio.
    pub(super) frame_aspect: Option<f64>,
    /// ScreenWindow.
    pub(super) screen_window: Option<[f64; 4]>,
    /// CropWindow.
    pub(super) crop_window: [f64; 4],
    /// Projection.
    pub(super) projection: Projection,
    /// Clipping.
    pub(super) clip: [f32; 2],
    /// ClippingPlane, in camera space.
    pub(super) clip_planes: Vec<([f32; 3], [f32; 3])>,
    /// DepthOfField.
    pub(super) depth_of_field: Option<[f32; 3]>,
    /// Shutter.
    pub(super) shutter: [f32; 2],
    /// RGB of each sample of a colour, as ColorSamples gives it; empty if colours are RGB.
    pub(super) rgb_from_samples: Arc<[[f32; 3]]>,
    /// Quantize "rgba".
    pub(super) quantize: Quantize,
    /// Quantize "z".
    pub(super) quantize_z: Quantize,
    /// DisplayChannel, by name.
    pub(super) channels: BTreeMap<Arc<str>, PartRequest>,
    /// Display, in the order given; the first is the primary one.
    pub(super) displays: Vec<DisplayRequest>,
    /// All other options in the scene's form; displays and frame are filled in at WorldBegin.
    pub(super) options: Options,
    /// The standard search paths.
    standard: SearchPaths,
}

impl OptionState {
    /// The defaults (RISpec tables 4.1 to 4.5).
    pub(super) fn new(standard: &SearchPaths) -> Self {
        let options = Options { search: standard.clone(), ..Options::default() };
        Self {
            frame: None,
            format: None,
            frame_aspect: None,
            screen_window: None,
            crop_window: [0.0, 1.0, 0.0, 1.0],
            projection: Projection::Orthographic,
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

/// Finds a pixel filter by its name.
pub(super) fn filter_kind(name: &str) -> Option<FilterKind> {
    Some(match name {
        "box" => FilterKind::Box,
        "triangle" => FilterKind::Triangle,
        "catmull-rom" => FilterKind::CatmullRom,
        "sinc" => FilterKind::Sinc,
        "gaussian" => FilterKind::Gaussian,
        "mitchell" => FilterKind::Mitchell,
        "lanczos" => FilterKind::Lanczos,
        "blackman-harris" => FilterKind::BlackmanHarris,
        "disk" => FilterKind::Disk,
        "separable-catmull-rom" => FilterKind::SeparableCatmullRom,
        _ => return None,
    })
}

/// The greatest least width that curves can be given: wider ones would be more fog than hair.
const CURVE_MIN_WIDTH_MAX_PX: f32 = 16.0;

/// Polygons of more sides than this are round.
const APERTURE_SIDES_MAX: f32 = 256.0;

/// The aperture of the hider's parameter: sides, angle, roundness, density; or why it cannot be used.
fn aperture([sides, angle_degrees, roundness, density]: [f32; 4]) -> Result<Aperture, &'static str> {
    if !(sides.is_finite() && angle_degrees.is_finite()) {
        return Err("the sides and the angle of \"aperture\" must be finite; it is ignored");
    }
    if !(-1.0..=1.0).contains(&roundness) || !(-1.0..=1.0).contains(&density) {
        return Err("the roundness and the density of \"aperture\" must be from -1 to 1; it is ignored");
    }
    let sides = if (3.0..=APERTURE_SIDES_MAX).contains(&sides) { sides as u32 } else { 0 };
    Ok(Aperture { sides, angle_degrees, roundness, density })
}

impl Reader<'_> {
    /// Creates an error about the value of an option, which keeps its previous value.
    fn out_of_range(&self, what: &str) -> RequestFault {
        RequestFault::error("range", self.current.offset, format!("{}: {what}; it is ignored", self.current.name))
    }

    pub(super) fn format(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [x, y, aspect] = lexer.finite::<3>()?;
        if x.max(y) > RESOLUTION_MAX {
            let fault = self.out_of_range(&format!("more than {RESOLUTION_MAX} pixels on a side"));
            let [width, height] = self.options.format.unwrap_or(DEFAULT_FORMAT).resolution;
            return Err(fault.hint(format!("the picture stays at {width} by {height} pixels")));
        }
        // Negative values stand for the renderer's default.
        let side = |value: f64, default: u32| if value < 0.5 { default } else { value.round() as u32 };
        let [default_x, default_y] = DEFAULT_FORMAT.resolution;
        for (value, default) in
            [(x, default_x), (y, default_y)].into_iter().filter(|(value, _)| (0.0..0.5).contains(value))
        {
            let message = format!("a picture of {value} pixels is empty; {default} pixels are used");
            self.report_here(RequestFault::warning("range", self.current.offset, message));
        }
        self.options.format = Some(PictureFormat {
            resolution: [side(x, default_x), side(y, default_y)],
            pixel_aspect: if aspect > 0.0 { aspect } else { DEFAULT_FORMAT.pixel_aspect },
        });
        Ok(())
    }

    pub(super) fn frame_aspect_ratio(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [ratio] = lexer.finite::<1>()?;
        if ratio <= 0.0 {
            return Err(self.out_of_range("the ratio must be positive"));
        }
        self.options.frame_aspect = Some(ratio);
        Ok(())
    }

    pub(super) fn screen_window(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let window @ [left, right, bottom, top] = lexer.finite::<4>()?;
        if left == right || bottom == top {
            return Err(self.out_of_range("the window has no area"));
        }
        self.options.screen_window = Some(window);
        Ok(())
    }

    pub(super) fn crop_window(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let window @ [x0, x1, y0, y1] = lexer.finite::<4>()?;
        if x0 > x1 || y0 > y1 {
            return Err(self.out_of_range("its minimum exceeds its maximum"));
        }
        self.options.crop_window = window.map(|value| value.clamp(0.0, 1.0));
        Ok(())
    }

    pub(super) fn projection(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = if lexer.peek() == TokenKind::String { lexer.text()? } else { "null".into() };
        self.read_params_in(lexer, tokens::group("Projection", ""))?;
        let fov = self.params.numbers("fov", 1).map_or(90.0, |values| f64::from(values[0]));
        let projection = match &*name {
            "orthographic" | "null" => Projection::Orthographic,
            "perspective" if fov > 0.0 && fov < 180.0 => Projection::Perspective { fov_degrees: fov },
            "perspective" => return Err(self.out_of_range("\"fov\" must be between 0 and 180")),
            other => {
                let message = format!("the projection \"{other}\" is not supported; a perspective one is used");
                self.report_here(RequestFault::error("incapable", self.current.offset, message));
                Projection::Perspective { fov_degrees: if fov > 0.0 && fov < 180.0 { fov } else { 90.0 } }
            }
        };
        self.apply(RequestEffect::Projection(projection));
        Ok(())
    }

    /// Sets the projection. Later transformations move the camera (RISpec 4.1.1).
    pub(super) fn take_projection(&mut self, projection: Projection) {
        self.options.projection = projection;
        if *self.state.transform != *motion::still(DMat4::IDENTITY) {
            let message = "transformations before Projection, which move the screen, are not supported and are ignored";
            self.warn_once("Projection", "unimplement", message);
            self.state.transform = motion::still(DMat4::IDENTITY);
        }
    }

    pub(super) fn clipping(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [near, far] = lexer.floats::<2>()?.map(|value| value as f32);
        if near.is_nan() || far.is_nan() || near.max(EPSILON) >= far {
            return Err(self.out_of_range("the hither plane must be nearer than the yon plane"));
        }
        // A plane through the eye or behind it would have no effect.
        self.options.clip = [near.max(EPSILON), far.min(INFINITY)];
        Ok(())
    }

    pub(super) fn clipping_plane(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [x, y, z, nx, ny, nz] = lexer.finite::<6>()?;
        let camera_from_current = self.state.transform.first();
        let point = camera_from_current.project_point3(DVec3::new(x, y, z));
        let normal = camera_from_current.inverse().transpose().transform_vector3(DVec3::new(nx, ny, nz));
        let Some(normal) = normal.try_normalize() else { return Err(self.out_of_range("its normal has no length")) };
        if self.options.clip_planes.len() >= CLIP_PLANES_MAX {
            let message = format!("there are {CLIP_PLANES_MAX} clipping planes already, so this one removes nothing");
            return Err(RequestFault::error("limitcheck", self.current.offset, message));
        }
        self.options.clip_planes.push((point.as_vec3().to_array(), normal.as_vec3().to_array()));
        Ok(())
    }

    pub(super) fn depth_of_field(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        match lexer.peek() {
            TokenKind::Dash => lexer.skip_byte(),
            TokenKind::Word | TokenKind::End => {}
            _ => {
                let [stop, length, distance] = lexer.floats::<3>()?.map(|value| value as f32);
                if !(stop > 0.0 && length > 0.0 && distance > 0.0) {
                    return Err(self.out_of_range("f-stop, focal length and distance must be positive"));
                }
                // An infinite f-stop is a pinhole.
                self.options.depth_of_field = (stop < INFINITY).then_some([stop, length, distance]);
                return Ok(());
            }
        }
        self.options.depth_of_field = None;
        Ok(())
    }

    pub(super) fn shutter(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [open, close] = lexer.finite::<2>()?.map(|value| value as f32);
        if open > close {
            return Err(self.out_of_range("it closes before it opens"));
        }
        self.options.shutter = [open, close];
        Ok(())
    }

    pub(super) fn pixel_variance(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [variance] = lexer.finite::<1>()?;
        self.warn_of_number("", variance);
        self.keep_option("Ri:PixelVariance".to_owned(), ParamValue::Floats(vec![variance as f32]));
        Ok(())
    }

    pub(super) fn pixel_samples(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let samples = lexer.finite::<2>()?;
        let clamped = samples.map(|value| value.round().clamp(1.0, SAMPLES_MAX));
        if samples.iter().any(|value| *value < 1.0 || *value > SAMPLES_MAX) {
            let message =
                format!("PixelSamples {} {}: clamped to {} {}", samples[0], samples[1], clamped[0], clamped[1]);
            self.report_here(RequestFault::error("range", self.current.offset, message));
        }
        self.options.options.pixel_samples = clamped.map(|value| value as u32);
        Ok(())
    }

    pub(super) fn pixel_filter(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        let width = lexer.finite::<2>()?;
        let kind = filter_kind(&name).unwrap_or_else(|| {
            let kind = if &*name == "bessel" { FilterKind::Sinc } else { FilterKind::Gaussian };
            let message = format!("the pixel filter \"{name}\" is not supported; {kind:?} is used");
            self.report_here(RequestFault::warning("incapable", self.current.offset, message));
            kind
        });
        if width.iter().any(|value| *value <= 0.0 || *value > FILTER_WIDTH_MAX) {
            return Err(
                self.out_of_range(&format!("a width must be more than 0 and at most {FILTER_WIDTH_MAX} pixels"))
            );
        }
        self.options.options.filter = Filter { kind, width: width.map(|value| value as f32) };
        Ok(())
    }

    pub(super) fn exposure(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let exposure @ [_, gamma] = lexer.finite::<2>()?.map(|value| value as f32);
        if gamma <= 0.0 {
            return Err(self.out_of_range("gamma must be positive"));
        }
        self.options.options.exposure = exposure;
        Ok(())
    }

    pub(super) fn hider(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        let group = tokens::group("Hider", "hidden");
        self.read_params_in(lexer, group)?;
        if !matches!(&*name, "hidden" | "stochastic" | "zbuffer" | "null" | "Null" | "paint" | "painter") {
            let message = format!("the hider \"{name}\" is not supported; \"hidden\" is used");
            self.report_here(RequestFault::warning("incapable", self.current.offset, message));
        }
        // "stochastic" is what other renderers call it, "zbuffer" one whose samples are a regular grid.
        let own_name = match &*name {
            "stochastic" | "zbuffer" => "hidden".to_owned(),
            "paint" | "painter" => PAINT.to_owned(),
            other => other.to_lowercase(),
        };
        let mut hider = Hider { name: own_name, ..self.options.options.hider.clone() };
        hider.jitter &= &*name != "zbuffer";
        if let Some(jitter) = self.params.numbers("jitter", 1) {
            hider.jitter = jitter[0] != 0.0;
        }
        if let Some(motion) = self.params.numbers("samplemotion", 1) {
            hider.sample_motion = motion[0] != 0.0;
        }
        if let Some(values) = self.params.numbers("aperture", 4) {
            match aperture([values[0], values[1], values[2], values[3]]) {
                Ok(aperture) => hider.aperture = aperture,
                Err(rule) => self.report_here(RequestFault::error("range", self.current.offset, rule)),
            }
        }
        if let Some(filter) = self.params.string("depthfilter") {
            if let Some(known) = DepthFilter::named(&filter) {
                hider.depth_filter = known;
            } else {
                let message = format!("there is no depth filter \"{filter}\"");
                self.report_here(RequestFault::error("badargument", self.current.offset, message));
            }
        }
        self.options.options.hider = hider;
        group.into_iter().for_each(|group| self.warn_of_tokens(group));
        self.keep_option_params("hider", &["jitter", "depthfilter", "samplemotion"]);
        Ok(())
    }

    /// Colours have that many samples from now on, and become RGB when they are read.
    pub(super) fn color_samples(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let rgb_from_samples = lexer.float_list()?;
        let samples_from_rgb = lexer.float_list()?;
        let (triples, rest) = rgb_from_samples.as_chunks::<3>();
        if triples.is_empty() || !rest.is_empty() || samples_from_rgb.len() != rgb_from_samples.len() {
            return Err(self.out_of_range("expected two arrays of three numbers for each sample"));
        }
        self.options.rgb_from_samples = triples.into();
        Ok(())
    }

    pub(super) fn relative_detail(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [detail] = lexer.finite::<1>()?;
        if detail < 0.0 {
            return Err(self.out_of_range("it must not be negative"));
        }
        self.options.options.relative_detail = detail as f32;
        Ok(())
    }

    pub(super) fn option(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let category = lexer.text()?;
        if !self.read_category(lexer, "option", &category)? {
            return Ok(());
        }
        match &*category {
            "searchpath" => self.search_paths(),
            "limits" => self.limits(),
            "shutter" => self.shutter_params()?,
            "hair" | "curve" => self.curve_min_width()?,
            _ => {}
        }
        self.keep_option_params(&category, &[]);
        Ok(())
    }

    fn curve_min_width(&mut self) -> Parsed<()> {
        let Some(width) = self.params.numbers("minwidth", 1) else { return Ok(()) };
        if !(0.0..=CURVE_MIN_WIDTH_MAX_PX).contains(&width[0]) {
            return Err(self.out_of_range(&format!(
                "\"minwidth\" must be a width in pixels, 0 to {CURVE_MIN_WIDTH_MAX_PX}; curves keep their own"
            )));
        }
        self.options.options.curve_min_width_px = width[0];
        Ok(())
    }

    fn shutter_params(&mut self) -> Parsed<()> {
        if let Some(offset) = self.params.numbers("offset", 1).filter(|values| values[0].is_finite()) {
            self.options.options.shutter_offset = offset[0];
        }
        if let Some(opening) = self.params.numbers("shutteropening", 2) {
            let [opened, closes] = [opening[0], opening[1]];
            if !(0.0 <= opened && opened <= closes && closes <= 1.0) {
                return Err(self.out_of_range(
                    "\"shutteropening\" must be two parts of the time, 0 to 1, the first not more than the second",
                ));
            }
            self.options.options.shutter_opening = [opened, closes];
        }
        Ok(())
    }

    /// Sets search paths. A relative directory is searched in the working directory first, then next to the scene's
    /// file, so that a scene with its shaders renders from anywhere.
    fn search_paths(&mut self) {
        let directory = self.directory.as_deref().filter(|directory| !directory.as_os_str().is_empty());
        // Absolute, so that directories from `&` are not extended again.
        let beside = directory.and_then(|directory| std::path::absolute(directory).ok());
        let last = &self.settings.search_last;
        let (standard, search) = (&self.options.standard, &mut self.options.options.search);
        let paths = [
            ("archive", &standard.archive, &last.archive, &mut search.archive),
            ("shader", &standard.shader, &last.shader, &mut search.shader),
            ("texture", &standard.texture, &last.texture, &mut search.texture),
            ("procedural", &standard.procedural, &last.procedural, &mut search.procedural),
            ("display", &standard.display, &last.display, &mut search.display),
        ];
        for (name, standard, last, current) in paths {
            if let Some(text) = self.params.string(name) {
                let standard = [standard.as_slice(), last].concat();
                let folders = search::expand(&text, current, &standard, &|name| std::env::var(name).ok());
                *current = search::with_beside(folders, beside.as_deref());
            }
        }
    }

    fn limits(&mut self) {
        let options = &mut self.options.options;
        let count =
            |name: &str| self.params.numbers(name, 1).map(|values| values[0].clamp(0.0, u32::MAX as f32) as u32);
        let color = |name: &str| self.params.numbers(name, 3).map(|values| [values[0], values[1], values[2]]);
        options.eye_splits = count("eyesplits").unwrap_or(options.eye_splits);
        options.grid_size = count("gridsize").unwrap_or(options.grid_size).max(1);
        options.reserve_kib = count("reserve").unwrap_or(options.reserve_kib);
        options.texture_memory_kib = count("texturememory").unwrap_or(options.texture_memory_kib);
        options.opacity_threshold = color("othreshold").unwrap_or(options.opacity_threshold);
        options.z_threshold = color("zthreshold").unwrap_or(options.z_threshold);
    }

    /// Keeps the current parameters as `category:name`, except those in `except`.
    fn keep_option_params(&mut self, category: &str, except: &[&str]) {
        let params = std::mem::take(&mut self.params);
        for param in params.iter().filter(|param| !except.contains(&&*param.declaration.name)) {
            let values = params.values(param);
            let location = &self.current.location;
            let used =
                check_count(param, values.len(), 1, &mut |fault| self.messages.report_at(location.clone(), fault));
            if let Some(count) = used {
                self.keep_option(format!("{category}:{}", param.declaration.name), values.to_param(count));
            }
        }
        self.params = params;
    }

    fn keep_option(&mut self, key: String, value: ParamValue) {
        let other = &mut self.options.options.other;
        if other.len() < OTHER_MAX || other.contains_key(&key) {
            other.insert(key, value);
        }
    }
}

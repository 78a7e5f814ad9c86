//! Requests that set options (RISpec 4.1), except displays.

use super::parameters::{read_category, read_params_in, warn_of_number, warn_of_tokens};
use crate::rib::state::options::{DEFAULT_FORMAT, EPSILON, INFINITY, PictureFormat};
use crate::rib::state::screen::has_area;
use crate::rib::stream::fault::{Parsed, RequestFault};
use crate::rib::stream::lexer::{Lexer, TokenKind};
use crate::rib::stream::params::check_count;
use crate::rib::stream::search;
use crate::rib::stream::tokens;
use crate::rib::world::effect::RequestEffect;
use crate::rib::world::scene::SceneBuilder;
use crate::scene::{
    Aperture, DepthFilter, FILTER_WIDTH_MAX, Filter, FilterKind, Hider, PAINT, ParamValue, Projection, RESOLUTION_MAX,
};
use glam::DVec3;

/// The largest number of samples per pixel on a side.
const SAMPLES_MAX: f64 = 256.0;
/// Clipping planes, at most: each takes a loop trip at each sample, and an invocation's trips are bounded
/// (docs/pipeline/loops.md).
const CLIP_PLANES_MAX: usize = 256;
/// The largest number of other options that are kept.
const OTHER_MAX: usize = 65_536;

/// Finds a pixel filter by its name.
pub(crate) fn filter_kind(name: &str) -> Option<FilterKind> {
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

/// Returns the aperture that the hider's parameter describes by sides, angle, roundness and density. Fails with the
/// reason if it cannot be used.
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

/// Creates an error about the value of an option, which keeps its previous value.
fn out_of_range(scene: &SceneBuilder<'_>, what: &str) -> RequestFault {
    scene.messages.error("range", format!("{}: {what}; it is ignored", scene.messages.current.name))
}

pub(super) fn format(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [x, y, aspect] = lexer.finite::<3>()?;
    if x.max(y) > f64::from(RESOLUTION_MAX) {
        let fault = out_of_range(scene, &format!("more than {RESOLUTION_MAX} pixels on a side"));
        let [width, height] = scene.options.format.unwrap_or(DEFAULT_FORMAT).resolution;
        return Err(fault.hint(format!("the picture stays at {width} by {height} pixels")));
    }
    // Negative values stand for the renderer's default.
    let side = |value: f64, default: u32| if value < 0.5 { default } else { value.round() as u32 };
    let [default_x, default_y] = DEFAULT_FORMAT.resolution;
    for (value, default) in [(x, default_x), (y, default_y)].into_iter().filter(|(value, _)| (0.0..0.5).contains(value))
    {
        let message = format!("a picture of {value} pixels is empty; {default} pixels are used");
        scene.messages.report_warning("range", message);
    }
    scene.options.format = Some(PictureFormat {
        resolution: [side(x, default_x), side(y, default_y)],
        pixel_aspect: if aspect > 0.0 { aspect } else { DEFAULT_FORMAT.pixel_aspect },
    });
    Ok(())
}

pub(super) fn frame_aspect_ratio(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [ratio] = lexer.finite::<1>()?;
    if ratio <= 0.0 {
        return Err(out_of_range(scene, "the ratio must be positive"));
    }
    scene.options.frame_aspect = Some(ratio);
    Ok(())
}

pub(super) fn screen_window(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let window = lexer.finite::<4>()?;
    if !has_area(&window) {
        return Err(out_of_range(scene, "the window has no area"));
    }
    scene.options.screen_window = Some(window);
    Ok(())
}

pub(super) fn crop_window(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let window @ [x0, x1, y0, y1] = lexer.finite::<4>()?;
    if x0 > x1 || y0 > y1 {
        return Err(out_of_range(scene, "its minimum exceeds its maximum"));
    }
    scene.options.crop_window = window;
    scene.options.crop_location = scene.messages.current.location.clone();
    Ok(())
}

pub(super) fn projection(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = if lexer.peek() == TokenKind::String { lexer.text()? } else { "null".into() };
    read_params_in(scene, lexer, tokens::group("Projection", ""))?;
    let fov = scene.params.numbers("fov", 1).map_or(90.0, |values| f64::from(values[0]));
    let projection = match &*name {
        "orthographic" | "null" | "" => Projection::Orthographic,
        "perspective" if fov > 0.0 && fov < 180.0 => Projection::Perspective { fov_degrees: fov },
        "perspective" => return Err(out_of_range(scene, "\"fov\" must be between 0 and 180")),
        other => {
            let message = format!("the projection \"{other}\" is not supported; a perspective one is used");
            scene.messages.report_error("incapable", message);
            Projection::Perspective { fov_degrees: if fov > 0.0 && fov < 180.0 { fov } else { 90.0 } }
        }
    };
    scene.apply(RequestEffect::Projection(projection));
    Ok(())
}

pub(super) fn clipping(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [near, far] = lexer.floats::<2>()?.map(|value| value as f32);
    if near.is_nan() || far.is_nan() || near.max(EPSILON) >= far {
        return Err(out_of_range(scene, "the hither plane must be nearer than the yon plane"));
    }
    // A plane through the eye or behind it would have no effect.
    scene.options.clip = [near.max(EPSILON), far.min(INFINITY)];
    Ok(())
}

pub(super) fn clipping_plane(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [x, y, z, nx, ny, nz] = lexer.finite::<6>()?;
    let camera_from_current = scene.state.transform.first();
    let point = camera_from_current.project_point3(DVec3::new(x, y, z));
    let normal = camera_from_current.inverse().transpose().transform_vector3(DVec3::new(nx, ny, nz));
    let Some(normal) = normal.try_normalize() else { return Err(out_of_range(scene, "its normal has no length")) };
    if scene.options.clip_planes.len() >= CLIP_PLANES_MAX {
        let message = format!("there are {CLIP_PLANES_MAX} clipping planes already, so this one removes nothing");
        return Err(scene.messages.error("limitcheck", message));
    }
    scene.options.clip_planes.push((point.as_vec3().to_array(), normal.as_vec3().to_array()));
    Ok(())
}

pub(super) fn depth_of_field(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    match lexer.peek() {
        TokenKind::Dash => lexer.skip_byte(),
        TokenKind::Word | TokenKind::End => {}
        _ => {
            let [stop, length, distance] = lexer.floats::<3>()?.map(|value| value as f32);
            if !(stop > 0.0 && length > 0.0 && distance > 0.0) {
                return Err(out_of_range(scene, "f-stop, focal length and distance must be positive"));
            }
            // An infinite f-stop is a pinhole.
            scene.options.depth_of_field = (stop < INFINITY).then_some([stop, length, distance]);
            return Ok(());
        }
    }
    scene.options.depth_of_field = None;
    Ok(())
}

pub(super) fn shutter(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [open, close] = lexer.finite::<2>()?.map(|value| value as f32);
    if open > close {
        return Err(out_of_range(scene, "it closes before it opens"));
    }
    scene.options.shutter = [open, close];
    Ok(())
}

pub(super) fn pixel_variance(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [variance] = lexer.finite::<1>()?;
    warn_of_number(scene, "", variance);
    keep_option(scene, "Ri:PixelVariance".to_owned(), ParamValue::Floats(vec![variance as f32]));
    Ok(())
}

pub(super) fn pixel_samples(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let samples = lexer.finite::<2>()?;
    let clamped = samples.map(|value| value.round().clamp(1.0, SAMPLES_MAX));
    if samples.iter().any(|value| *value < 1.0 || *value > SAMPLES_MAX) {
        let message = format!("PixelSamples {} {}: clamped to {} {}", samples[0], samples[1], clamped[0], clamped[1]);
        scene.messages.report_error("range", message);
    }
    scene.options.options.pixel_samples = clamped.map(|value| value as u32);
    Ok(())
}

pub(super) fn pixel_filter(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    let width = lexer.finite::<2>()?;
    let kind = filter_kind(&name).unwrap_or_else(|| {
        let kind = if &*name == "bessel" { FilterKind::Sinc } else { FilterKind::Gaussian };
        let message = format!("the pixel filter \"{name}\" is not supported; {kind:?} is used");
        scene.messages.report_warning("incapable", message);
        kind
    });
    if width.iter().any(|value| *value <= 0.0 || *value > FILTER_WIDTH_MAX) {
        return Err(out_of_range(scene, &format!("a width must be more than 0 and at most {FILTER_WIDTH_MAX} pixels")));
    }
    scene.options.options.filter = Filter { kind, width: width.map(|value| value as f32) };
    Ok(())
}

pub(super) fn exposure(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let exposure @ [_, gamma] = lexer.finite::<2>()?.map(|value| value as f32);
    if gamma <= 0.0 {
        return Err(out_of_range(scene, "gamma must be positive"));
    }
    scene.options.options.exposure = exposure;
    Ok(())
}

pub(super) fn hider(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    let group = tokens::group("Hider", "hidden");
    read_params_in(scene, lexer, group)?;
    if !matches!(&*name, "hidden" | "stochastic" | "zbuffer" | "null" | "Null" | "paint" | "painter") {
        let message = format!("the hider \"{name}\" is not supported; \"hidden\" is used");
        scene.messages.report_warning("incapable", message);
    }
    // "stochastic" is what other renderers call it, "zbuffer" one whose samples are a regular grid.
    let own_name = match &*name {
        "stochastic" | "zbuffer" => "hidden".to_owned(),
        "paint" | "painter" => PAINT.to_owned(),
        other => other.to_lowercase(),
    };
    let mut hider = Hider { name: own_name, ..scene.options.options.hider.clone() };
    hider.jitter &= &*name != "zbuffer";
    if let Some(jitter) = scene.params.numbers("jitter", 1) {
        hider.jitter = jitter[0] != 0.0;
    }
    if let Some(motion) = scene.params.numbers("samplemotion", 1) {
        hider.sample_motion = motion[0] != 0.0;
    }
    if let Some(values) = scene.params.numbers("aperture", 4) {
        match aperture([values[0], values[1], values[2], values[3]]) {
            Ok(aperture) => hider.aperture = aperture,
            Err(rule) => scene.messages.report_error("range", rule),
        }
    }
    if let Some(filter) = scene.params.string("depthfilter") {
        if let Some(known) = DepthFilter::named(&filter) {
            hider.depth_filter = known;
        } else {
            let message = format!("there is no depth filter \"{filter}\"");
            scene.messages.report_error("badargument", message);
        }
    }
    scene.options.options.hider = hider;
    group.into_iter().for_each(|group| warn_of_tokens(scene, group));
    keep_option_params(scene, "hider", &["jitter", "depthfilter", "samplemotion"]);
    Ok(())
}

/// Colours have that many samples from now on, and become RGB when they are read.
pub(super) fn color_samples(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let rgb_from_samples = lexer.float_list()?;
    let samples_from_rgb = lexer.float_list()?;
    let (triples, rest) = rgb_from_samples.as_chunks::<3>();
    if triples.is_empty() || !rest.is_empty() || samples_from_rgb.len() != rgb_from_samples.len() {
        return Err(out_of_range(scene, "expected two arrays of three numbers for each sample"));
    }
    scene.options.rgb_from_samples = triples.into();
    Ok(())
}

pub(super) fn relative_detail(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [detail] = lexer.finite::<1>()?;
    if detail < 0.0 {
        return Err(out_of_range(scene, "it must not be negative"));
    }
    scene.options.options.relative_detail = detail as f32;
    Ok(())
}

pub(super) fn option(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let category = lexer.text()?;
    if !read_category(scene, lexer, "option", &category)? {
        return Ok(());
    }
    match &*category {
        "searchpath" => search_paths(scene),
        "limits" => limits(scene),
        "shutter" => shutter_params(scene)?,
        "hair" | "curve" => curve_min_width(scene)?,
        "image" => image_params(scene),
        _ => {}
    }
    keep_option_params(scene, &category, &[]);
    Ok(())
}

fn image_params(scene: &mut SceneBuilder<'_>) {
    if let Some(overscan) = scene.params.numbers("overscan", 1) {
        scene.options.options.overscan = overscan[0] != 0.0;
    }
}

fn curve_min_width(scene: &mut SceneBuilder<'_>) -> Parsed<()> {
    let Some(width) = scene.params.numbers("minwidth", 1) else { return Ok(()) };
    if !(0.0..=CURVE_MIN_WIDTH_MAX_PX).contains(&width[0]) {
        return Err(out_of_range(
            scene,
            &format!("\"minwidth\" must be a width in pixels, 0 to {CURVE_MIN_WIDTH_MAX_PX}; curves keep their own"),
        ));
    }
    scene.options.options.curve_min_width_px = width[0];
    Ok(())
}

fn shutter_params(scene: &mut SceneBuilder<'_>) -> Parsed<()> {
    if let Some(offset) = scene.params.numbers("offset", 1).filter(|values| values[0].is_finite()) {
        scene.options.options.shutter_offset = offset[0];
    }
    if let Some(opening) = scene.params.numbers("shutteropening", 2) {
        let [opened, closes] = [opening[0], opening[1]];
        if !(0.0 <= opened && opened <= closes && closes <= 1.0) {
            return Err(out_of_range(
                scene,
                "\"shutteropening\" must be two parts of the time, 0 to 1, the first not more than the second",
            ));
        }
        scene.options.options.shutter_opening = [opened, closes];
    }
    Ok(())
}

/// Sets search paths. A relative directory is searched in the working directory first, then next to the scene's
/// file, so that a scene with its shaders renders from anywhere.
fn search_paths(scene: &mut SceneBuilder<'_>) {
    let directory = scene.directory.as_deref().filter(|directory| !directory.as_os_str().is_empty());
    // Absolute, so that directories from `&` are not extended again.
    let beside = directory.and_then(|directory| std::path::absolute(directory).ok());
    let last = &scene.settings.search_last;
    let (standard, search) = (&scene.options.standard, &mut scene.options.options.search);
    let paths = [
        ("archive", &standard.archive, &last.archive, &mut search.archive),
        ("shader", &standard.shader, &last.shader, &mut search.shader),
        ("texture", &standard.texture, &last.texture, &mut search.texture),
        ("procedural", &standard.procedural, &last.procedural, &mut search.procedural),
        ("display", &standard.display, &last.display, &mut search.display),
    ];
    for (name, standard, last, current) in paths {
        if let Some(text) = scene.params.string(name) {
            let standard = [standard.as_slice(), last].concat();
            let folders = search::expand(&text, current, &standard, &|name| std::env::var(name).ok());
            *current = search::with_beside(folders, beside.as_deref());
        }
    }
}

fn limits(scene: &mut SceneBuilder<'_>) {
    let options = &mut scene.options.options;
    let count = |name: &str| scene.params.numbers(name, 1).map(|values| values[0].clamp(0.0, u32::MAX as f32) as u32);
    let color = |name: &str| scene.params.numbers(name, 3).map(|values| [values[0], values[1], values[2]]);
    options.eye_splits = count("eyesplits").unwrap_or(options.eye_splits);
    options.grid_size = count("gridsize").unwrap_or(options.grid_size).max(1);
    options.reserve_kib = count("reserve").unwrap_or(options.reserve_kib);
    options.texture_memory_kib = count("texturememory").unwrap_or(options.texture_memory_kib);
    options.opacity_threshold = color("othreshold").unwrap_or(options.opacity_threshold);
    options.z_threshold = color("zthreshold").unwrap_or(options.z_threshold);
}

/// Keeps the current parameters as `category:name`, except those in `except`.
fn keep_option_params(scene: &mut SceneBuilder<'_>, category: &str, except: &[&str]) {
    let params = std::mem::take(&mut scene.params);
    for param in params.iter().filter(|param| !except.contains(&&*param.declaration.name)) {
        let values = params.values(param);
        let used = check_count(param, values.len(), 1, &mut |fault| scene.messages.report_here(fault));
        if let Some(count) = used {
            keep_option(scene, format!("{category}:{}", param.declaration.name), values.to_param(count));
        }
    }
    scene.params = params;
}

fn keep_option(scene: &mut SceneBuilder<'_>, key: String, value: ParamValue) {
    let other = &mut scene.options.options.other;
    if other.len() < OTHER_MAX || other.contains_key(&key) {
        other.insert(key, value);
    }
}

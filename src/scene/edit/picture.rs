//! Edits of the camera and of options.

use super::objects::change_attributes;
use super::{NamePattern, Touched};
use crate::scene::motion::{inverse, product};
use crate::scene::options::{Camera, Display, Filter, Hider, Options, Projection, SearchPaths};
use crate::scene::{Motion, ParamValue, ShaderInstance, World};
use glam::DMat4;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One edit of the camera or the options. All values are those that hold in the end, with defaults resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum PictureEdit {
    /// Where the camera is, and how it projects.
    View {
        /// Camera space from world space.
        camera_from_world: Motion<DMat4>,
        /// Kind of projection.
        projection: Projection,
        /// left, right, bottom, top in screen space.
        screen_window: [f64; 4],
    },
    /// Clipping distances, and clipping planes in camera space.
    Clipping([f32; 2], Vec<([f32; 3], [f32; 3])>),
    /// f-stop, focal length, focal distance; `None` is a pinhole.
    Lens(Option<[f32; 3]>),
    /// Shutter opening and closing time.
    Shutter([f32; 2]),
    /// How the shutter opens and closes: offset, and the parts of the time between.
    ShutterOpening(f32, [f32; 2]),
    /// Picture size in pixels, and width over height of a pixel.
    Format([u32; 2], f64),
    /// Crop windows.
    Crop {
        /// What is drawn.
        crop_window: [f64; 4],
        /// What may be drawn.
        whole_window: [f64; 4],
        /// The scene's own crop window.
        scene_crop: [f64; 4],
        /// Whether crop windows may select what is outside of the format.
        overscan: bool,
    },
    /// Samples per pixel in x and y.
    Samples([u32; 2]),
    /// The pixel filter.
    Filter(Filter),
    /// gain and gamma.
    Exposure([f32; 2]),
    /// The imager.
    Imager(Option<Arc<ShaderInstance>>),
    /// All displays.
    Displays(Vec<Display>),
    /// The hider.
    Hider(Hider),
    /// Limits on what is drawn.
    Limits(PictureLimits),
    /// The least width of curves in pixels.
    CurveWidth(f32),
    /// RelativeDetail.
    RelativeDetail(f32),
    /// Search paths.
    Search(SearchPaths),
    /// All other options.
    Others(BTreeMap<String, ParamValue>),
}

/// `Option "limits"`.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureLimits {
    /// See [`Options::eye_splits`].
    pub eye_splits: u32,
    /// See [`Options::opacity_threshold`].
    pub opacity_threshold: [f32; 3],
    /// See [`Options::z_threshold`].
    pub z_threshold: [f32; 3],
    /// See [`Options::grid_size`].
    pub grid_size: u32,
    /// See [`Options::reserve_kib`].
    pub reserve_kib: u32,
    /// See [`Options::texture_memory_kib`].
    pub texture_memory_kib: u32,
}

impl PictureEdit {
    /// Returns every edit of these options and this camera, with their values: together they make all of them.
    fn all_of(options: &Options, camera: &Camera) -> Vec<Self> {
        let Options {
            frame: _,
            scene_crop,
            pixel_samples,
            filter,
            exposure,
            imager,
            displays,
            hider,
            eye_splits,
            opacity_threshold,
            z_threshold,
            grid_size,
            reserve_kib,
            texture_memory_kib,
            shutter_offset,
            shutter_opening,
            overscan,
            curve_min_width_px,
            relative_detail,
            search,
            other,
        } = options;
        let Camera {
            camera_from_world,
            projection,
            resolution,
            pixel_aspect,
            screen_window,
            crop_window,
            whole_window,
            clip,
            clip_planes,
            depth_of_field,
            shutter,
        } = camera;
        vec![
            Self::View {
                camera_from_world: camera_from_world.clone(),
                projection: *projection,
                screen_window: *screen_window,
            },
            Self::Clipping(*clip, clip_planes.clone()),
            Self::Lens(*depth_of_field),
            Self::Shutter(*shutter),
            Self::ShutterOpening(*shutter_offset, *shutter_opening),
            Self::Format(*resolution, *pixel_aspect),
            Self::Crop {
                crop_window: *crop_window,
                whole_window: *whole_window,
                scene_crop: *scene_crop,
                overscan: *overscan,
            },
            Self::Samples(*pixel_samples),
            Self::Filter(*filter),
            Self::Exposure(*exposure),
            Self::Imager(imager.clone()),
            Self::Displays(displays.clone()),
            Self::Hider(hider.clone()),
            Self::Limits(PictureLimits {
                eye_splits: *eye_splits,
                opacity_threshold: *opacity_threshold,
                z_threshold: *z_threshold,
                grid_size: *grid_size,
                reserve_kib: *reserve_kib,
                texture_memory_kib: *texture_memory_kib,
            }),
            Self::CurveWidth(*curve_min_width_px),
            Self::RelativeDetail(*relative_detail),
            Self::Search(search.clone()),
            Self::Others(other.clone()),
        ]
    }

    /// Returns the edits that make one picture's options and camera from those of another.
    pub fn between(before: (&Options, &Camera), after: (&Options, &Camera)) -> Vec<Self> {
        let before = Self::all_of(before.0, before.1);
        let after = Self::all_of(after.0, after.1).into_iter().zip(before);
        after.filter(|(after, before)| after != before).map(|(after, _)| after).collect()
    }

    /// Makes the edit.
    pub(super) fn apply(&self, world: &mut World) -> Touched {
        let touched = self.touched(world);
        let World { options, camera, .. } = world;
        match self.clone() {
            Self::View { camera_from_world, projection, screen_window } => {
                (camera.camera_from_world, camera.projection) = (camera_from_world, projection);
                camera.screen_window = screen_window;
            }
            Self::Clipping(clip, planes) => (camera.clip, camera.clip_planes) = (clip, planes),
            Self::Lens(lens) => camera.depth_of_field = lens,
            Self::Shutter(shutter) => camera.shutter = shutter,
            Self::ShutterOpening(offset, opening) => {
                (options.shutter_offset, options.shutter_opening) = (offset, opening);
            }
            Self::Format(resolution, aspect) => (camera.resolution, camera.pixel_aspect) = (resolution, aspect),
            Self::Crop { crop_window, whole_window, scene_crop, overscan } => {
                (camera.crop_window, camera.whole_window) = (crop_window, whole_window);
                (options.scene_crop, options.overscan) = (scene_crop, overscan);
            }
            Self::Samples(samples) => options.pixel_samples = samples,
            Self::Filter(filter) => options.filter = filter,
            Self::Exposure(exposure) => options.exposure = exposure,
            Self::Imager(imager) => options.imager = imager,
            Self::Displays(displays) => options.displays = displays,
            Self::Hider(hider) => options.hider = hider,
            Self::Limits(limits) => {
                options.eye_splits = limits.eye_splits;
                options.opacity_threshold = limits.opacity_threshold;
                options.z_threshold = limits.z_threshold;
                options.grid_size = limits.grid_size;
                options.reserve_kib = limits.reserve_kib;
                options.texture_memory_kib = limits.texture_memory_kib;
            }
            Self::CurveWidth(width) => options.curve_min_width_px = width,
            Self::RelativeDetail(detail) => options.relative_detail = detail,
            Self::Search(search) => options.search = search,
            Self::Others(other) => options.other = other,
        }
        if let Self::View { camera_from_world, .. } = self {
            follow_camera(camera_from_world, world);
        }
        touched
    }

    /// Returns what the edit touches, before it is made.
    fn touched(&self, world: &World) -> Touched {
        let reading = world.notes.reading;
        let again = |depends: bool| Touched::READ_AGAIN.when(depends);
        let camera = Touched::CAMERA | again(reading.depends_on_view);
        match self {
            Self::View { camera_from_world, .. } => {
                let mirrors = |motion: &Motion<DMat4>| motion.first().determinant() < 0.0;
                camera | again(mirrors(camera_from_world) != mirrors(&world.camera.camera_from_world))
            }
            Self::Clipping(..) | Self::Lens(_) => camera,
            Self::Shutter(_) => Touched::CAMERA | Touched::SHUTTER | again(reading.depends_on_shutter),
            Self::ShutterOpening(offset, _) => {
                let moves = *offset != world.options.shutter_offset && reading.depends_on_shutter;
                Touched::CAMERA | Touched::SHUTTER | again(moves)
            }
            Self::Format(..) => Touched::FORMAT | again(reading.depends_on_view),
            Self::Crop { whole_window, .. } => {
                Touched::CROP | again(reading.depends_on_view && *whole_window != world.camera.whole_window)
            }
            Self::Samples(_) => Touched::SAMPLES,
            Self::Filter(_) => Touched::FILTER | again(reading.depends_on_view),
            Self::Exposure(_) | Self::Imager(_) => Touched::EXPOSURE,
            Self::Displays(displays) => touched_displays(&world.options.displays, displays),
            Self::Hider(hider) => {
                let other = &world.options.hider;
                let shutter = Touched::SHUTTER.when(hider.sample_motion != other.sample_motion);
                let lens = Touched::CAMERA.when(hider.aperture != other.aperture);
                Touched::OPTIONS | Touched::SAMPLES | shutter | lens | again(hider.paints() != other.paints())
            }
            Self::Limits(_) | Self::CurveWidth(_) => Touched::OPTIONS,
            Self::RelativeDetail(_) => Touched::OPTIONS | again(reading.depends_on_view),
            Self::Search(_) => Touched::OPTIONS | Touched::FILES | Touched::READ_AGAIN,
            Self::Others(_) => Touched::OPTIONS | again(reading.has_conditions),
        }
    }
}

/// Places the default surface shader, which no request names, in camera space, where it is before the world.
fn follow_camera(camera_from_world: &Motion<DMat4>, world: &mut World) {
    let origin = Motion::still(DMat4::IDENTITY);
    let Some(space) = product(&inverse(camera_from_world), &origin).map(Arc::new) else { return };
    let mut shader: Option<Arc<ShaderInstance>> = None;
    change_attributes(&NamePattern::all(), world, false, |attributes, _| {
        let Some(surface) = attributes.surface.as_ref().filter(|surface| surface.location.line == 0) else {
            return false;
        };
        let moved = || Arc::new(ShaderInstance { world_from_shader: Arc::clone(&space), ..(**surface).clone() });
        let moved = Arc::clone(shader.get_or_insert_with(moved));
        attributes.surface = Some(moved);
        true
    });
}

/// Returns what is different between displays.
fn touched_displays(before: &[Display], after: &[Display]) -> Touched {
    let without_imaging = |displays: &[Display]| -> Vec<Display> {
        let mut displays = displays.to_vec();
        for part in displays.iter_mut().flat_map(|display| &mut display.parts) {
            (part.quantize.one, part.quantize.min, part.quantize.max, part.quantize.dither) = (0.0, 0.0, 0.0, 0.0);
            (part.exposure, part.filter) = ([1.0; 2], None);
        }
        displays
    };
    if without_imaging(before) != without_imaging(after) {
        return Touched::DISPLAYS;
    }
    let filters = |displays: &[Display]| -> Vec<Option<Filter>> {
        displays.iter().flat_map(|display| &display.parts).map(|part| part.filter).collect()
    };
    Touched::EXPOSURE | Touched::FILTER.when(filters(before) != filters(after))
}

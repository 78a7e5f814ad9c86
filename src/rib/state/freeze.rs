//! Freezing the options at WorldBegin: defaults are resolved and the command line is applied.

use super::displays::{DisplayRequest, ImagingRequest, PartRequest};
use super::options::{DEFAULT_FORMAT, OptionState, PictureFormat};
use crate::diagnostic::SourceLocation;
use crate::rib::settings::RibOverrides;
use crate::scene::{Camera, Display, DisplayMode, DisplayPart, FORMAT_WINDOW, Filter, Motion, Options, RESOLUTION_MAX};
use glam::DMat4;
use std::collections::BTreeMap;

/// The frozen options.
pub(crate) struct Frozen {
    pub(crate) options: Options,
    pub(crate) camera: Camera,
    /// Whether transformations before Projection were to leave no area of the screen window. They are ignored.
    pub(crate) lost_window: bool,
    /// The crop window, if it selects pixels that are not drawn: they are outside of the format, and there is no
    /// overscan, or not that much.
    pub(crate) lost_overscan: Option<[f64; 4]>,
}

impl OptionState {
    /// Freezes the options of a world.
    pub(crate) fn freeze(&self, camera_from_world: Motion<DMat4>, overrides: &RibOverrides) -> Frozen {
        let mut displays: Vec<Display> = self.displays.iter().map(|request| self.display_of(request)).collect();
        if displays.is_empty() {
            displays.push(self.display_of(&default_display()));
        }
        let picture = displays.iter().flat_map(|display| &display.parts).any(|part| shows_picture(&part.mode));
        // A depth pass has its own size and sampling, which a flag for the picture must not change.
        let flags = if picture { overrides.clone() } else { RibOverrides::default() };
        let mut options = self.options.clone();
        options.frame = self.frame;
        options.overscan |= flags.overscan;
        let (mut camera, lost_window) = self.camera(camera_from_world, &flags);
        if options.overscan {
            let windows = [camera.crop_window, self.crop_window];
            camera.whole_window = windows.into_iter().fold(FORMAT_WINDOW, around);
        }
        let lost_overscan = Some(camera.crop_window).filter(|window| camera.exceeds_whole(window));
        options.scene_crop = self.crop_window;
        if !options.overscan {
            let inside = |window: [f64; 4]| window.map(|value| value.clamp(0.0, 1.0));
            camera.crop_window = inside(camera.crop_window);
            options.scene_crop = inside(options.scene_crop);
        }
        options.displays = displays;
        options.pixel_samples = flags.pixel_samples.map_or(options.pixel_samples, |samples| samples.map(|n| n.max(1)));
        options.texture_memory_kib = overrides.texture_memory_kib.unwrap_or(options.texture_memory_kib);
        Frozen { options, camera, lost_window, lost_overscan }
    }

    /// Returns the camera, and whether its screen window is not the one that was to be moved.
    fn camera(&self, camera_from_world: Motion<DMat4>, flags: &RibOverrides) -> (Camera, bool) {
        let PictureFormat { resolution, pixel_aspect } = self.format.unwrap_or(DEFAULT_FORMAT);
        let resolution = flags.format.map_or(resolution, |size| size.map(|n| n.clamp(1, RESOLUTION_MAX)));
        let (resolution, frame_aspect) = self.fitted(resolution, pixel_aspect);
        let window = self.screen_window.unwrap_or_else(|| default_window(frame_aspect));
        let moved = self.screen_move.window(window);
        let camera = Camera {
            camera_from_world,
            projection: self.projection,
            resolution,
            pixel_aspect,
            screen_window: moved.unwrap_or(window),
            crop_window: flags.crop.unwrap_or(self.crop_window),
            whole_window: FORMAT_WINDOW,
            clip: self.clip,
            clip_planes: self.clip_planes.clone(),
            depth_of_field: self.depth_of_field,
            shutter: self.shutter,
        };
        (camera, moved.is_none())
    }

    /// Returns the size of the picture and its aspect ratio. If FrameAspectRatio differs from the format's ratio, the
    /// picture is the largest one of that ratio that fits in the format (RISpec 4.1.1).
    fn fitted(&self, format: [u32; 2], pixel_aspect: f64) -> ([u32; 2], f64) {
        let [x, y] = format.map(f64::from);
        let format_aspect = x * pixel_aspect / y;
        let Some(aspect) = self.frame_aspect else { return (format, format_aspect) };
        let side = |value: f64| value.round().max(1.0) as u32;
        let resolution = if aspect >= format_aspect {
            [format[0], side(x * pixel_aspect / aspect)]
        } else {
            [side(y * aspect / pixel_aspect), format[1]]
        };
        (resolution, aspect)
    }

    fn display_of(&self, request: &DisplayRequest) -> Display {
        Display {
            name: request.name.clone(),
            driver: request.driver.clone(),
            parts: request.parts.iter().map(|part| self.part_of(part, request)).collect(),
            params: request.params.clone(),
            location: request.location.clone(),
        }
    }

    /// Returns a part of what a display shows, with what the options say where it and the display say nothing.
    fn part_of(&self, part: &PartRequest, display: &DisplayRequest) -> DisplayPart {
        let imaging = part.imaging.or(&display.imaging);
        let depth = part.mode == (DisplayMode::Image { rgb: false, a: false, z: true });
        let mut quantize = imaging.quantize.unwrap_or(if depth { self.quantize_z } else { self.quantize });
        quantize.dither = imaging.dither.unwrap_or(quantize.dither);
        let pixel_filter = self.options.filter;
        let filter = Filter {
            kind: imaging.filter.unwrap_or(pixel_filter.kind),
            width: imaging.filter_width.unwrap_or(pixel_filter.width),
        };
        DisplayPart {
            mode: part.mode.clone(),
            quantize,
            exposure: imaging.exposure.unwrap_or(self.options.exposure),
            filter: (filter != pixel_filter).then_some(filter),
        }
    }
}

/// Returns the window around two windows.
fn around([x0, x1, y0, y1]: [f64; 4], other: [f64; 4]) -> [f64; 4] {
    [x0.min(other[0]), x1.max(other[1]), y0.min(other[2]), y1.max(other[3])]
}

fn shows_picture(mode: &DisplayMode) -> bool {
    !matches!(mode, DisplayMode::Image { rgb: false, a: false, .. })
}

fn default_display() -> DisplayRequest {
    DisplayRequest {
        name: "ri.exr".to_owned(),
        driver: "file".to_owned(),
        parts: vec![PartRequest {
            mode: DisplayMode::Image { rgb: true, a: true, z: false },
            imaging: ImagingRequest::default(),
        }],
        imaging: ImagingRequest::default(),
        params: BTreeMap::new(),
        location: SourceLocation::default(),
    }
}

/// Returns the default screen window: the smaller side goes from -1 to 1.
fn default_window(aspect: f64) -> [f64; 4] {
    if aspect >= 1.0 { [-aspect, aspect, -1.0, 1.0] } else { [-1.0, 1.0, -1.0 / aspect, 1.0 / aspect] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_aspect() {
        assert_eq!(default_window(2.0), [-2.0, 2.0, -1.0, 1.0]);
        assert_eq!(default_window(0.5), [-1.0, 1.0, -2.0, 2.0]);
    }
}

//! The camera metadata in a picture's file; nothing says when, where and on which device it was rendered.

use crate::scene::{Camera, Projection};
use crate::schedule::Region;
use glam::{DMat4, DVec4};

/// The name and version of the program, as stored in files.
pub(super) const SOFTWARE: &str = concat!("anthill ", env!("CARGO_PKG_VERSION"));

/// Pixels can be so much wider than high, or higher than wide, for OpenEXR.
const PIXEL_ASPECT_MAX: f64 = 1e6;

/// The camera as OpenEXR's standard attributes describe it. Matrices are row-major for row vectors, as RIB's are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CameraMetadata {
    /// Full picture size in pixels.
    pub(super) resolution: [u32; 2],
    /// Width over height of a pixel, as near to it as OpenEXR allows.
    pub(super) pixel_aspect: f32,
    /// Camera space (left-handed, z forward) from world space, at shutter open.
    pub(super) world_to_camera: [f32; 16],
    /// NDC from world space: (0, 0) is the upper left corner of the picture, (1, 1) the lower right; z runs from 0 at
    /// the hither to 1 at the yon plane. The result is divided by w.
    pub(super) world_to_ndc: [f32; 16],
    /// As `world_to_ndc`, but from (-1, -1) at the lower left corner of the picture to (1, 1).
    pub(super) world_to_screen: [f32; 16],
    /// Centre of the screen window at z = 1 in camera space.
    pub(super) screen_window_center: [f32; 2],
    /// Width of the screen window at z = 1 in camera space, positive also where the window mirrors the picture, which
    /// the matrices have.
    pub(super) screen_window_width: f32,
    /// Hither and yon distances.
    pub(super) clip: [f32; 2],
    /// The full angles of view of a perspective camera in degrees.
    pub(super) field_of_view: Option<[f32; 2]>,
}

impl CameraMetadata {
    /// Returns the pixels of the format, without overscan.
    pub(super) fn format_px(&self) -> Region {
        let [width, height] = self.resolution.map(u32::cast_signed);
        Region::new([0, 0, width, height]).expect("a picture has pixels")
    }

    pub(super) fn new(camera: &Camera) -> Self {
        let [left, right, bottom, top] = camera.screen_window;
        // Half of the smaller side of the picture at z = 1 in camera space: the unit of screen space.
        let unit = match camera.projection {
            Projection::Orthographic => 1.0,
            Projection::Perspective { fov_degrees } => (fov_degrees.to_radians() * 0.5).tan(),
        };
        let camera_from_world = *camera.camera_from_world.first();
        let world_to_ndc = ndc_from_screen(camera.screen_window) * screen_from_camera(camera, unit) * camera_from_world;
        let angle = |low: f64, high: f64| ((high * unit).atan() - (low * unit).atan()).to_degrees().abs() as f32;
        let perspective = matches!(camera.projection, Projection::Perspective { .. });
        Self {
            resolution: camera.resolution,
            pixel_aspect: camera.pixel_aspect.clamp(1.0 / PIXEL_ASPECT_MAX, PIXEL_ASPECT_MAX) as f32,
            world_to_camera: camera_from_world.to_cols_array().map(|value| value as f32),
            world_to_ndc: world_to_ndc.to_cols_array().map(|value| value as f32),
            world_to_screen: (screen_from_ndc() * world_to_ndc).to_cols_array().map(|value| value as f32),
            screen_window_center: [((left + right) * 0.5 * unit) as f32, ((bottom + top) * 0.5 * unit) as f32],
            screen_window_width: ((right - left).abs() * unit).min(f32::MAX.into()) as f32,
            clip: camera.clip,
            field_of_view: perspective.then(|| [angle(left, right), angle(bottom, top)]),
        }
    }
}

/// Returns the transformation from camera space to screen space, with z from 0 (hither) to 1 (yon).
fn screen_from_camera(camera: &Camera, unit: f64) -> DMat4 {
    let [near, far] = camera.clip.map(f64::from);
    let depth = far - near;
    let row = DVec4::new;
    let rows = match camera.projection {
        Projection::Orthographic => [
            row(1.0, 0.0, 0.0, 0.0),
            row(0.0, 1.0, 0.0, 0.0),
            row(0.0, 0.0, 1.0 / depth, -near / depth),
            row(0.0, 0.0, 0.0, 1.0),
        ],
        Projection::Perspective { .. } => [
            row(1.0 / unit, 0.0, 0.0, 0.0),
            row(0.0, 1.0 / unit, 0.0, 0.0),
            row(0.0, 0.0, far / depth, -near * far / depth),
            row(0.0, 0.0, 1.0, 0.0),
        ],
    };
    DMat4::from_cols(rows[0], rows[1], rows[2], rows[3]).transpose()
}

/// Returns the transformation of the screen window to the unit square, y down.
fn ndc_from_screen([left, right, bottom, top]: [f64; 4]) -> DMat4 {
    let (width, height) = (right - left, top - bottom);
    DMat4::from_cols(
        DVec4::new(1.0 / width, 0.0, 0.0, 0.0),
        DVec4::new(0.0, -1.0 / height, 0.0, 0.0),
        DVec4::Z,
        DVec4::new(-left / width, top / height, 0.0, 1.0),
    )
}

/// The unit square, y down, mapped to the square from -1 to 1, y up.
fn screen_from_ndc() -> DMat4 {
    DMat4::from_cols(DVec4::X * 2.0, DVec4::Y * -2.0, DVec4::Z, DVec4::new(-1.0, 1.0, 0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::film::tests::camera;
    use crate::scene::Motion;
    use glam::DVec3;

    fn ndc(header: &CameraMetadata, point: [f64; 3]) -> [f64; 3] {
        projected(&header.world_to_ndc, point)
    }

    /// Multiplies a row vector by a row-major matrix, as a reader of the file does.
    fn projected(matrix: &[f32; 16], point: [f64; 3]) -> [f64; 3] {
        let v = [point[0], point[1], point[2], 1.0];
        let m = matrix.map(f64::from);
        let column = |c: usize| (0..4).map(|r| v[r] * m[r * 4 + c]).sum::<f64>();
        [column(0) / column(3), column(1) / column(3), column(2) / column(3)]
    }

    fn assert_near(a: [f64; 3], b: [f64; 3]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5), "{a:?} {b:?}");
    }

    #[test]
    fn world_to_ndc_gives_the_position_in_the_picture() {
        let mut camera = camera([640, 480]);
        camera.projection = Projection::Perspective { fov_degrees: 90.0 };
        camera.screen_window = [-4.0 / 3.0, 4.0 / 3.0, -1.0, 1.0];
        camera.clip = [1.0, 11.0];
        camera.camera_from_world = Motion::still(DMat4::from_translation(DVec3::new(0.0, 0.0, 5.0)));
        let header = CameraMetadata::new(&camera);
        assert_near(ndc(&header, [0.0, 0.0, 0.0]), [0.5, 0.5, 0.88]);
        // Upper left corner at z = 10 of the camera; the smaller side spans 90 degrees.
        assert_near(ndc(&header, [-40.0 / 3.0, 10.0, 5.0]), [0.0, 0.0, 0.99]);
        assert_near(ndc(&header, [4.0 / 3.0, -1.0, -4.0]), [1.0, 1.0, 0.0]);
        assert_near(projected(&header.world_to_screen, [0.0, 0.0, 0.0]), [0.0, 0.0, 0.88]);
        assert_near(projected(&header.world_to_screen, [-40.0 / 3.0, 10.0, 5.0]), [-1.0, 1.0, 0.99]);
        assert_near(projected(&header.world_to_screen, [4.0 / 3.0, -1.0, -4.0]), [1.0, -1.0, 0.0]);
        assert_eq!(header.world_to_camera[12..], [0.0, 0.0, 5.0, 1.0]);
        assert!((header.field_of_view.expect("perspective")[1] - 90.0).abs() < 1e-4);
        assert!((header.screen_window_width - 8.0 / 3.0).abs() < 1e-6);

        camera.screen_window = [1.0, -1.0, 2.0, -2.0];
        let mirrored = CameraMetadata::new(&camera);
        assert_near(ndc(&mirrored, [-5.0, -10.0, 0.0]), [1.0, 0.0, 0.88]);
        assert_eq!((mirrored.screen_window_width, mirrored.screen_window_center), (2.0, [0.0; 2]));
        assert!(mirrored.field_of_view.expect("perspective").iter().all(|angle| *angle > 0.0));

        camera.screen_window = [-4.0 / 3.0, 4.0 / 3.0, -1.0, 1.0];
        camera.projection = Projection::Orthographic;
        camera.clip = [1e-10, 1e38];
        let header = CameraMetadata::new(&camera);
        assert_near(ndc(&header, [4.0 / 3.0, 1.0, 100.0]), [1.0, 0.0, 0.0]);
        assert_eq!(header.field_of_view, None);
        assert!(header.world_to_ndc.iter().all(|value| value.is_finite()));
    }
}

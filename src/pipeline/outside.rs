//! Objects that no pixel can see: they are left out before devices look at each of their primitives.

use super::frame;
use super::kernels::records::Frame;
use super::motion::Path;
use crate::scene::{Camera, Drawable, Geometry, Projection, SpaceBox};
use glam::{DMat4, DVec3};
use std::sync::Arc;

/// Shapes of fewer primitives are left to devices, which look at them about as fast.
const PRIMITIVES_MIN: usize = 32;
/// How far outside of the sampled pixels an object must be at least, for the rounding of vertices, in pixels.
const SLACK_PX: f64 = 2.0;
/// The same along the camera's axis, as a part of the depth.
const SLACK_DEPTH: f64 = 1e-5;

/// Finds objects whose box in camera space is on the far side of a border of the picture, of hither or of yon.
pub(super) struct Outside {
    /// Half-spaces `normal . p > offset` that nothing in the picture is in.
    borders: Vec<(DVec3, f64)>,
}

impl Outside {
    /// Of the picture of a camera. Pictures out of focus have no borders at the sides.
    pub(super) fn new(camera: &Camera, frame: &Frame, widest_px: f64) -> Self {
        let parts = frame::PIXEL_PARTS;
        let [x0, y0, x1, y1] = frame.sampled_px.map(f64::from);
        let slack = SLACK_PX + widest_px;
        let perspective = matches!(camera.projection, Projection::Perspective { .. });
        let [near, far] = [frame.near, frame.far].map(f64::from);
        let mut borders = vec![(DVec3::NEG_Z, -near * (1.0 - SLACK_DEPTH)), (DVec3::Z, far * (1.0 + SLACK_DEPTH))];
        for (axis, low, high) in [(0, x0, x1), (1, y0, y1)] {
            let (scale, offset) = (f64::from(frame.raster_scale[axis]), f64::from(frame.raster_offset[axis]));
            for (sign, border) in [(-1.0, low - slack), (1.0, high + slack)] {
                // sign (x scale / z + offset - border) > 0; in front of the eye that is a plane through it.
                let mut normal = DVec3::ZERO;
                normal[axis] = sign * scale;
                let rest = sign * (offset - border * parts);
                if perspective {
                    normal.z = rest;
                }
                if !frame::has_lens(camera) {
                    borders.push((normal, if perspective { 0.0 } else { -rest }));
                }
            }
        }
        Self { borders }
    }

    /// Whether nothing of a drawable can be in the picture, on its path, and `grown` so far in camera space. `bound`
    /// returns the box of all shapes of a geometry.
    pub(super) fn has(
        &self,
        drawable: &Drawable,
        path: &Path,
        grown: f64,
        bound: impl FnOnce(&Arc<Geometry>) -> SpaceBox,
    ) -> bool {
        let shapes = drawable.geometry.shape.keyframes();
        // What is not seen of a solid still cuts it.
        if drawable.solid.is_some() || shapes[0].1.primitive_count() < PRIMITIVES_MIN || !grown.is_finite() {
            return false;
        }
        let bound = bound(&drawable.geometry);
        let corners: Vec<DVec3> = path.keyframes.iter().flat_map(|(_, matrix)| corners(&bound, matrix)).collect();
        let beyond = |(normal, offset): &(DVec3, f64)| {
            corners.iter().all(|corner| normal.dot(*corner) - grown * normal.length() > *offset)
        };
        self.borders.iter().any(beyond)
    }
}

fn corners(bound: &SpaceBox, matrix: &DMat4) -> impl Iterator<Item = DVec3> {
    let (bound, matrix) = (*bound, *matrix);
    (0..8).map(move |i| {
        let side = |axis: usize| if i >> axis & 1 == 0 { bound.low[axis] } else { bound.high[axis] };
        matrix.transform_point3(DVec3::new(side(0), side(1), side(2)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Reporter;
    use crate::pipeline::geometry::Pages;
    use crate::rib::{Input, Settings, read};
    use crate::scene::World;
    use std::ops::ControlFlow;

    fn world(rib: &str) -> World {
        let input = Input::Memory { name: "test".into(), bytes: rib.as_bytes().to_vec() };
        let mut worlds = Vec::new();
        read(&input, &Settings::default(), &Reporter::silent(), &mut |world: World| {
            worlds.push(world);
            ControlFlow::Continue(())
        });
        worlds.remove(0)
    }

    /// Whether forty points less than 0.1 from (x, y, z) are left out.
    fn is_outside(options: &str, place: &str, grown: f64) -> bool {
        let points: String = (0..40).map(|i| format!("{} 0 0 ", f64::from(i - 20) * 0.005)).collect();
        let world = world(&format!(
            "Format 100 50 1\nPixelFilter \"box\" 1 1\nClipping 1 50\n{options}\nWorldBegin\n{place}\n\
             Points \"P\" [{points}] \"constantwidth\" 0.001\nWorldEnd\n"
        ));
        let frame = frame::frame_record(&world.camera, &world.options);
        let drawable = &world.drawables[0];
        let bound = |geometry: &Arc<Geometry>| Pages::new(1 << 20).bound(geometry);
        Outside::new(&world.camera, &frame, 0.0).has(drawable, &Path::of(&world, drawable), grown, bound)
    }

    #[test]
    fn what_is_beyond_a_border_is_outside_and_what_touches_it_is_not() {
        // 50 pixels are 2 units at depth 1 with 90 degrees, so 2 pixels beyond the borders is 1.08 and 2.08 times
        // the depth away.
        let eye = "Projection \"perspective\" \"fov\" 90";
        for (place, grown, wanted) in [
            ("0 0 9", 0.0, false),
            ("18.6 0 9", 0.0, false),
            ("19 0 9", 0.0, true),
            ("19 0 9", 0.5, false),
            ("-19 0 9", 0.0, true),
            ("0 9.6 9", 0.0, false),
            ("0 9.9 9", 0.0, true),
            ("0 -9.9 9", 0.0, true),
            ("0 0 0.5", 0.0, true),
            ("0 0 -9", 0.0, true),
            ("0 0 51", 0.0, true),
            ("0 0 50", 0.0, false),
            ("19 0 9", f64::INFINITY, false),
        ] {
            assert_eq!(is_outside(eye, &format!("Translate {place}"), grown), wanted, "{place} {grown}");
        }
        for (place, wanted) in [("2.03 0 9", false), ("2.3 0 9", true), ("0 -1.3 40", true), ("0 1.05 40", false)] {
            assert_eq!(is_outside("", &format!("Translate {place}"), 0.0), wanted, "{place}");
        }
    }

    #[test]
    fn what_comes_into_the_picture_or_is_blurred_into_it_stays() {
        let eye = "Projection \"perspective\" \"fov\" 90\nShutter 0 1";
        let way = |to: &str| format!("MotionBegin [0 1]\nTranslate -40 0 9\nTranslate {to}\nMotionEnd");
        assert!(is_outside(eye, &way("-40 30 9"), 0.0) && is_outside(eye, &way("-30 3 9"), 0.0));
        assert!(!is_outside(eye, &way("0 0 9"), 0.0) && !is_outside(eye, &way("40 0 9"), 0.0));
        let lens = format!("{eye}\nDepthOfField 1 1 2");
        assert!(!is_outside(&lens, "Translate 25 0 9", 0.0) && is_outside(&lens, "Translate 0 0 60", 0.0));
        // A few primitives are looked at one by one.
        let small = world("WorldBegin\nTranslate 90 0 9\nPoints \"P\" [0 0 0]\nWorldEnd");
        let frame = frame::frame_record(&small.camera, &small.options);
        let drawable = &small.drawables[0];
        let never = |_: &Arc<Geometry>| unreachable!("its box does not matter");
        assert!(!Outside::new(&small.camera, &frame, 0.0).has(drawable, &Path::of(&small, drawable), 0.0, never));
    }
}

//! Transformations before Projection, which move what is projected (RISpec 4.1.1).

use glam::{DMat3, DMat4, DVec2, DVec3};

/// How far from a right angle the axes of the screen may be, as a part of their lengths.
const ROUNDING: f64 = 1e-9;

/// What is projected is scaled and then moved on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScreenMove {
    scale: DVec2,
    offset: DVec2,
}

impl ScreenMove {
    /// Leaves everything where it is.
    pub(crate) const NONE: Self = Self { scale: DVec2::ONE, offset: DVec2::ZERO };

    /// Returns the screen window whose content is moved to this one; `None` if rounding leaves no area of it.
    pub(crate) fn window(&self, [left, right, bottom, top]: [f64; 4]) -> Option<[f64; 4]> {
        let back = |x: f64, y: f64| (DVec2::new(x, y) - self.offset) / self.scale;
        let (low, high) = (back(left, bottom), back(right, top));
        Some([low.x, high.x, low.y, high.y]).filter(has_area)
    }
}

/// Whether a screen window has an area, which is not infinite.
pub(crate) fn has_area([left, right, bottom, top]: &[f64; 4]) -> bool {
    let is_side = |side: f64| side.is_finite() && side != 0.0;
    is_side(right - left) && is_side(top - bottom)
}

/// Takes apart a transformation of what is projected: into one of the screen, and a rotation of the camera around its
/// axis that comes before it. `None` if there is more in it.
pub(crate) fn apart(transform: &DMat4) -> Option<(ScreenMove, DMat4)> {
    let [x, y, z, w] = [0, 1, 2, 3].map(|row| transform.row(row));
    let is_flat = [x.z, y.z, z.x, z.y, z.w, w.x, w.y, w.z].iter().all(|value| *value == 0.0) && z.z > 0.0 && w.w == 1.0;
    let (right, up) = (DVec2::new(x.x, x.y), DVec2::new(y.x, y.y));
    if !is_flat || right.dot(up).abs() > ROUNDING * right.length() * up.length() {
        return None;
    }
    let axis = right.try_normalize()?;
    let is_mirrored = right.perp_dot(up) < 0.0;
    let axis = if is_mirrored && axis.x < 0.0 { -axis } else { axis };
    let scale = DVec2::new(right.dot(axis), up.dot(axis.perp()));
    let roll = DMat3::from_cols(axis.extend(0.0), axis.perp().extend(0.0), DVec3::Z).transpose();
    Some((ScreenMove { scale, offset: DVec2::new(x.w, y.w) }, DMat4::from_mat3(roll)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_and_offsets_move_the_window_back() {
        let transform =
            DMat4::from_translation(DVec3::new(0.5, -1.0, 0.0)) * DMat4::from_scale(DVec3::new(2.0, -4.0, 1.0));
        let (moved, roll) = apart(&transform).expect("it is flat");
        assert_eq!((moved.window([-1.0, 1.0, -1.0, 1.0]), roll), (Some([-0.75, 0.25, 0.0, -0.5]), DMat4::IDENTITY));
        assert_eq!(apart(&DMat4::IDENTITY), Some((ScreenMove::NONE, DMat4::IDENTITY)));
        let mirror = apart(&DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0)));
        assert_eq!(mirror.map(|(moved, _)| moved.scale), Some(DVec2::new(-1.0, 1.0)));
    }

    #[test]
    fn a_window_that_is_moved_too_far_has_no_area() {
        for transform in [
            DMat4::from_translation(DVec3::new(1e20, 0.0, 0.0)),
            DMat4::from_scale(DVec3::new(1.0, 1e-310, 1.0)),
            DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0)),
            DMat4::from_scale(DVec3::new(1e100, 1.0, 1.0)),
        ] {
            let (moved, _) = apart(&transform).unwrap_or_else(|| panic!("{transform}"));
            assert_eq!(moved.window([1.0 - 1e-10, 1.0, 0.0, 1.0]).is_some(), transform.x_axis.x > 1.0, "{transform}");
        }
    }

    #[test]
    fn a_rotation_is_one_of_the_camera() {
        let turn = DMat4::from_rotation_z(0.5);
        let (moved, roll) = apart(&(DMat4::from_scale(DVec3::new(2.0, 3.0, 1.0)) * turn)).expect("it is flat");
        assert!(roll.abs_diff_eq(turn, 1e-12) && moved.scale.abs_diff_eq(DVec2::new(2.0, 3.0), 1e-12), "{moved:?}");
        // Scaled along axes that are none of the screen's.
        assert_eq!(apart(&(turn * DMat4::from_scale(DVec3::new(2.0, 3.0, 1.0)))), None);
    }

    #[test]
    fn what_moves_depth_is_more_than_a_screen_can() {
        for transform in [
            DMat4::from_translation(DVec3::Z),
            DMat4::from_rotation_x(0.1),
            DMat4::from_scale(DVec3::new(1.0, 1.0, -1.0)),
        ] {
            assert_eq!(apart(&transform), None, "{transform}");
        }
    }
}

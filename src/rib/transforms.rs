//! Transformations and named coordinate systems (RISpec 4.3).

use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::motion::{self, TransformStep};
use super::reader::Reader;
use super::state::AttributeChange;
use crate::scene::{Motion, NamedSpace};
use glam::{DMat4, DVec3};
use std::sync::Arc;

/// The largest number of named coordinate systems.
const SPACES_MAX: usize = 1 << 16;

/// The largest number of scoped coordinate systems of a state; every change copies them.
const SCOPED_SPACES_MAX: usize = 1024;

/// Smaller parts of a matrix that would divide by depth are taken for rounding.
const PERSPECTIVE_LEAST: f64 = 1e-6;

/// Whether points are divided by more than one number.
pub(super) fn divides_by_depth(matrix: &DMat4) -> bool {
    let [x, y, z, w] = matrix.row(3).to_array();
    [x, y, z].iter().any(|value| value.abs() > PERSPECTIVE_LEAST * w.abs())
}

impl Reader<'_> {
    fn step(&mut self, step: TransformStep) -> Parsed<()> {
        self.apply(RequestEffect::Transform(Motion::still(step)));
        Ok(())
    }

    pub(super) fn identity(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.step(TransformStep::Set(DMat4::IDENTITY))
    }

    pub(super) fn transform(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let values = lexer.finite::<16>()?;
        let matrix = self.affine(&values);
        self.step(TransformStep::Set(matrix))
    }

    pub(super) fn concat_transform(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let values = lexer.finite::<16>()?;
        let matrix = self.affine(&values);
        self.step(TransformStep::Concat(matrix))
    }

    /// A matrix of a file, divided by its last element. Inside of a world one that divides by depth is reported.
    fn affine(&mut self, values: &[f64; 16]) -> DMat4 {
        let matrix = DMat4::from_cols_array(values);
        let w = matrix.row(3).w;
        if divides_by_depth(&matrix) {
            if self.world.is_some() {
                let message = "a matrix that divides by depth is not supported inside of a world: geometry is drawn without \
                    the division";
                self.warn_once("projective matrix", "unimplement", message);
            }
            return matrix;
        }
        if w == 0.0 || w == 1.0 { matrix } else { matrix * w.recip() }
    }

    pub(super) fn translate(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let by = lexer.finite::<3>()?;
        self.step(TransformStep::Concat(DMat4::from_translation(DVec3::from(by))))
    }

    pub(super) fn rotate(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [degrees, x, y, z] = lexer.finite::<4>()?;
        // Scaled first, because the squares of very large or small components leave the range of floats.
        let axis = DVec3::new(x, y, z);
        let axis = axis / axis.abs().max_element();
        if !axis.is_finite() {
            return Err(RequestFault::error(
                "range",
                self.current.offset,
                "Rotate: its axis has no length; it is ignored",
            ));
        }
        self.step(TransformStep::Rotate(degrees, axis))
    }

    pub(super) fn scale(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let by = lexer.finite::<3>()?;
        self.step(TransformStep::Concat(DMat4::from_scale(DVec3::from(by))))
    }

    /// A shear along the second axis that turns the first axis by an angle towards it (RISpec 4.3, `Skew`).
    pub(super) fn skew(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [degrees, x1, y1, z1, x2, y2, z2] = lexer.finite::<7>()?;
        let skew = skew_matrix(degrees, DVec3::new(x1, y1, z1), DVec3::new(x2, y2, z2));
        let skew = skew.ok_or_else(|| {
            let message = "Skew: its axes have no length or no angle between them, or the angle reaches the second; it is ignored";
            RequestFault::error("range", self.current.offset, message)
        })?;
        self.step(TransformStep::Concat(skew))
    }

    pub(super) fn perspective(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let [fov] = lexer.finite::<1>()?;
        if !(fov > 0.0 && fov < 180.0) {
            return Err(RequestFault::error(
                "range",
                self.current.offset,
                "Perspective: its angle must be between 0 and 180; it is ignored",
            ));
        }
        if self.world.is_some() {
            let message =
                "Perspective inside of a world is not supported: geometry is drawn without its division by depth";
            self.warn_once("Perspective", "unimplement", message);
        }
        // x' = x / (z tan), y' = y / (z tan), z' = (z - 1) / z: the eye at the origin looks along z.
        let tan = (fov.to_radians() / 2.0).tan();
        let mut perspective = DMat4::ZERO;
        perspective.x_axis.x = 1.0;
        perspective.y_axis.y = 1.0;
        perspective.z_axis.z = tan;
        perspective.z_axis.w = tan;
        perspective.w_axis.z = -tan;
        self.step(TransformStep::Concat(perspective))
    }

    pub(super) fn coordinate_system(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        self.perform(RequestEffect::Space(name));
        Ok(())
    }

    pub(super) fn scoped_coordinate_system(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        self.perform(RequestEffect::Change(AttributeChange::ScopedSpace(name)));
        Ok(())
    }

    /// Gives the current coordinate system a name that is known to the end of the attribute block, where it takes
    /// precedence over the same name elsewhere.
    pub(super) fn make_scoped_space(&mut self, name: &Arc<str>) {
        let known = &self.state.attributes.scoped_spaces;
        let mut spaces: Vec<NamedSpace> = known.iter().filter(|space| space.name != *name).cloned().collect();
        if spaces.len() >= SCOPED_SPACES_MAX {
            let message =
                format!("more than {SCOPED_SPACES_MAX} scoped coordinate systems at once; {name:?} is ignored");
            self.report_here(RequestFault::error("limitcheck", self.current.offset, message));
            return;
        }
        let world_from_space = Arc::clone(&self.state.transform);
        spaces.push(NamedSpace { name: Arc::clone(name), world_from_space });
        Arc::make_mut(&mut self.state.attributes).scoped_spaces = spaces.into();
    }

    /// Gives the current coordinate system a name.
    pub(super) fn make_space(&mut self, name: &Arc<str>) {
        if self.spaces.len() >= SPACES_MAX {
            let message = format!("more than {SPACES_MAX} coordinate systems; the rest are ignored");
            self.report_here(RequestFault::error("limitcheck", self.current.offset, message));
            return;
        }
        let world_from_space = Arc::clone(&self.state.transform);
        self.spaces.push(NamedSpace { name: Arc::clone(name), world_from_space });
    }

    pub(super) fn coord_sys_transform(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let name = lexer.text()?;
        self.perform(RequestEffect::UseSpace(name));
        Ok(())
    }

    /// Makes a named coordinate system the current one. The latest definition of a name counts, and definitions take
    /// precedence over predefined names.
    pub(super) fn use_space(&mut self, name: &Arc<str>) {
        let scoped = self.state.attributes.scoped_spaces.iter();
        let own = self.spaces.iter().chain(scoped).rev().find(|space| space.name == *name);
        let own = own.map(|space| Arc::clone(&space.world_from_space));
        let space = own.or_else(|| match (&**name, &self.world) {
            ("world", Some(_)) | ("camera", None) => Some(motion::still(DMat4::IDENTITY)),
            ("camera", Some(world)) => Some(Arc::new(motion::inverse(&world.camera.camera_from_world))),
            ("current" | "object", _) => Some(Arc::clone(&self.state.transform)),
            ("shader", _) => self.state.attributes.surface.as_ref().map(|shader| Arc::clone(&shader.world_from_shader)),
            _ => None,
        });
        match space {
            Some(space) => self.state.transform = space,
            None => {
                let message = format!("there is no coordinate system \"{name}\"; the current one is kept");
                self.report_here(
                    RequestFault::error("badtoken", self.current.offset, message).hint("CoordinateSystem defines one"),
                );
            }
        }
    }
}

/// A matrix as RIB writes it: sixteen numbers, row-major for row vectors, which is column-major for column vectors.
/// The shear p + k (p . e) b, with e dual to the first axis a (e . a = 1, e . b = 0) and k such that the angle between
/// a + k b and a is `degrees`: by the law of sines k = sin(angle) / sin(angle between a and b - angle).
fn skew_matrix(degrees: f64, first: DVec3, second: DVec3) -> Option<DMat4> {
    let (a, b) = (first.try_normalize()?, second.try_normalize()?);
    let across = a - b * a.dot(b);
    let dual = across / across.length_squared();
    let between = a.angle_between(b);
    let angle = degrees.to_radians();
    let k = angle.sin() / (between - angle).sin();
    let valid = angle.abs() < std::f64::consts::PI && angle < between && angle > between - std::f64::consts::PI;
    if !valid || !dual.is_finite() || !k.is_finite() {
        return None;
    }
    let column = |e: DVec3| (e + b * (k * e.dot(dual))).extend(0.0);
    Some(DMat4::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z), DVec3::ZERO.extend(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skew_turns_the_first_axis_towards_the_second() {
        let skew = skew_matrix(30.0, DVec3::Y, DVec3::X).expect("a shear");
        let moved = skew.transform_vector3(DVec3::Y);
        assert!((moved - DVec3::new(30f64.to_radians().tan(), 1.0, 0.0)).length() < 1e-12);
        assert_eq!(skew.transform_vector3(DVec3::X), DVec3::X);
        assert!((skew.transform_vector3(DVec3::Z) - DVec3::Z).length() < 1e-15);
        // Axes that are not at right angles: the angle is still the one asked for.
        let (a, b) = (DVec3::new(0.2, 1.0, 0.3), DVec3::new(1.0, 0.4, 0.0));
        let moved = skew_matrix(20.0, a, b).expect("a shear").transform_vector3(a);
        assert!((moved.angle_between(a).to_degrees() - 20.0).abs() < 1e-9);
        assert!(moved.angle_between(b) < a.angle_between(b));
    }

    #[test]
    fn impossible_skews_are_refused() {
        for (degrees, a, b) in [(90.0, DVec3::Y, DVec3::X), (10.0, DVec3::ZERO, DVec3::X), (10.0, DVec3::X, DVec3::X)] {
            assert_eq!(skew_matrix(degrees, a, b), None, "{degrees} {a} {b}");
        }
    }
}

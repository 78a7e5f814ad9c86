//! Transformations and named coordinate systems (RISpec 4.3).

use crate::rib::state::attributes::AttributeChange;
use crate::rib::state::motion::{TransformStep, divides_by_depth};
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::world::effect::RequestEffect;
use crate::rib::world::scene::SceneBuilder;
use crate::scene::Motion;
use glam::{DMat4, DVec3};

fn step(scene: &mut SceneBuilder<'_>, step: TransformStep) -> Parsed<()> {
    scene.apply(RequestEffect::Transform(Motion::still(step)));
    Ok(())
}

pub(super) fn identity(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    step(scene, TransformStep::Set(DMat4::IDENTITY))
}

pub(super) fn transform(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let values = lexer.finite::<16>()?;
    let matrix = affine(scene, &values);
    step(scene, TransformStep::Set(matrix))
}

pub(super) fn concat_transform(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let values = lexer.finite::<16>()?;
    let matrix = affine(scene, &values);
    step(scene, TransformStep::Concat(matrix))
}

/// Returns a matrix as RIB writes it, divided by its last element: sixteen numbers, row-major for row vectors, which is
/// column-major for column vectors. One that divides by depth is reported inside of a world.
fn affine(scene: &mut SceneBuilder<'_>, values: &[f64; 16]) -> DMat4 {
    let matrix = DMat4::from_cols_array(values);
    let w = matrix.row(3).w;
    if divides_by_depth(&matrix) {
        if scene.world.is_some() {
            let message = "a matrix that divides by depth is not supported inside of a world: geometry is drawn without \
                the division";
            scene.messages.warn_once("projective matrix", "unimplement", message);
        }
        return matrix;
    }
    if w == 0.0 || w == 1.0 { matrix } else { matrix * w.recip() }
}

pub(super) fn translate(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let by = lexer.finite::<3>()?;
    step(scene, TransformStep::Concat(DMat4::from_translation(DVec3::from(by))))
}

pub(super) fn rotate(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [degrees, x, y, z] = lexer.finite::<4>()?;
    // Scaled first, because the squares of very large or small components leave the range of floats.
    let axis = DVec3::new(x, y, z);
    let axis = axis / axis.abs().max_element();
    if !axis.is_finite() {
        return Err(scene.messages.error("range", "Rotate: its axis has no length; it is ignored"));
    }
    step(scene, TransformStep::Rotate(degrees, axis))
}

pub(super) fn scale(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let by = lexer.finite::<3>()?;
    step(scene, TransformStep::Concat(DMat4::from_scale(DVec3::from(by))))
}

/// Shears along the second axis, which turns the first axis by an angle towards it (RISpec 4.3, `Skew`).
pub(super) fn skew(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [degrees, x1, y1, z1, x2, y2, z2] = lexer.finite::<7>()?;
    let skew = skew_matrix(degrees, DVec3::new(x1, y1, z1), DVec3::new(x2, y2, z2));
    let skew = skew.ok_or_else(|| {
        let message =
            "Skew: its axes have no length or no angle between them, or the angle reaches the second; it is ignored";
        scene.messages.error("range", message)
    })?;
    step(scene, TransformStep::Concat(skew))
}

pub(super) fn perspective(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [fov] = lexer.finite::<1>()?;
    if !(fov > 0.0 && fov < 180.0) {
        return Err(scene.messages.error("range", "Perspective: its angle must be between 0 and 180; it is ignored"));
    }
    if scene.world.is_some() {
        let message = "Perspective inside of a world is not supported: geometry is drawn without its division by depth";
        scene.messages.warn_once("Perspective", "unimplement", message);
    }
    // x' = x / (z tan), y' = y / (z tan), z' = (z - 1) / z: the eye at the origin looks along z.
    let tan = (fov.to_radians() / 2.0).tan();
    let mut perspective = DMat4::ZERO;
    perspective.x_axis.x = 1.0;
    perspective.y_axis.y = 1.0;
    perspective.z_axis.z = tan;
    perspective.z_axis.w = tan;
    perspective.w_axis.z = -tan;
    step(scene, TransformStep::Concat(perspective))
}

pub(super) fn coordinate_system(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    scene.perform(RequestEffect::Space(name));
    Ok(())
}

pub(super) fn scoped_coordinate_system(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    scene.perform(RequestEffect::Change(AttributeChange::ScopedSpace(name)));
    Ok(())
}

pub(super) fn coord_sys_transform(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    scene.perform(RequestEffect::UseSpace(name));
    Ok(())
}

/// Returns the shear p + k (p . e) b, with e dual to the first axis a (e . a = 1, e . b = 0) and k such that the angle
/// between a + k b and a is `degrees`: by the law of sines k = sin(angle) / sin(angle between a and b - angle). There
/// is none if an axis has no length, if there is no angle between them, or if `degrees` reaches the second.
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

//! Requests that set attributes (RISpec 4.2), except shaders.

use super::parameters::{read_category, warn_of_number};
use crate::rib::state::attributes::AttributeChange;
use crate::rib::state::basis;
use crate::rib::state::graphics::Orientation;
use crate::rib::stream::fault::{Parsed, RequestFault};
use crate::rib::stream::lexer::{Lexer, TokenKind};
use crate::rib::stream::params::{ParamSlice, check_count, rgb_of};
use crate::rib::world::effect::RequestEffect;
use crate::rib::world::scene::SceneBuilder;
use crate::scene::{Basis, ParamValue, ShadingInterpolation};
use std::sync::Arc;

fn change(scene: &mut SceneBuilder<'_>, change: AttributeChange) -> Parsed<()> {
    scene.apply(RequestEffect::Change(change));
    Ok(())
}

fn bad_argument(scene: &SceneBuilder<'_>, what: &str) -> RequestFault {
    scene.messages.error("badargument", format!("{}: {what}; it is ignored", scene.messages.current.name))
}

pub(super) fn color(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let color = color_value(scene, lexer)?;
    change(scene, AttributeChange::Color(color))
}

pub(super) fn opacity(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let opacity = color_value(scene, lexer)?;
    change(scene, AttributeChange::Opacity(opacity))
}

fn color_value(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<[f32; 3]> {
    let rgb = Arc::clone(&scene.options.rgb_from_samples);
    if !rgb.is_empty() {
        lexer.peek();
        let start = lexer.position();
        let samples = lexer.float_list()?;
        if samples.len() != rgb.len() || samples.iter().any(|sample| !sample.is_finite()) {
            let message = format!("expected {} finite samples, as ColorSamples says", rgb.len());
            return Err(RequestFault::error("badcolor", start, message));
        }
        return Ok(rgb_of(&samples, &rgb));
    }
    let values = lexer.finite::<3>().map_err(|mut fault| {
        if fault.code == "badarray" {
            fault.code = "badcolor";
        }
        fault
    })?;
    Ok(values.map(|value| value as f32))
}

pub(super) fn texture_coordinates(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let values = lexer.finite::<8>()?.map(|value| value as f32);
    change(scene, AttributeChange::TextureCoordinates(std::array::from_fn(|i| [values[2 * i], values[2 * i + 1]])))
}

pub(super) fn shading_rate(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let [rate] = lexer.floats::<1>()?.map(|value| value as f32);
    if rate.is_nan() || rate < f32::MIN_POSITIVE {
        let message = format!("ShadingRate {rate} is not positive; the current rate is kept");
        // The request was read, so that in a motion block it is one of the keyframes.
        scene.messages.report_error("range", message);
        let rate = scene.state.attributes.shading_rate;
        return change(scene, AttributeChange::ShadingRate(rate));
    }
    let rate = scene.settings.overrides.shading_rate.unwrap_or(rate.min(1e30));
    change(scene, AttributeChange::ShadingRate(rate))
}

pub(super) fn shading_interpolation(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let interpolation = match &*lexer.text()? {
        "constant" => ShadingInterpolation::Constant,
        "smooth" => ShadingInterpolation::Smooth,
        _ => return Err(bad_argument(scene, "expected \"constant\" or \"smooth\"")),
    };
    change(scene, AttributeChange::Interpolation(interpolation))
}

pub(super) fn matte(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let matte = lexer.one_int()? != 0;
    change(scene, AttributeChange::Matte(matte))
}

pub(super) fn sides(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    match lexer.one_int()? {
        sides @ (1 | 2) => change(scene, AttributeChange::TwoSided(sides == 2)),
        _ => Err(scene.messages.error("range", "Sides: expected 1 or 2; it is ignored")),
    }
}

pub(super) fn orientation(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    let orientation = Orientation::named(&name);
    let orientation =
        orientation.ok_or_else(|| bad_argument(scene, "expected \"outside\", \"inside\", \"lh\" or \"rh\""))?;
    change(scene, AttributeChange::Orientation(orientation))
}

pub(super) fn reverse_orientation(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    change(scene, AttributeChange::ReverseOrientation)
}

pub(super) fn basis(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let u = one_basis(lexer)?;
    let v = one_basis(lexer)?;
    change(scene, AttributeChange::Basis([u, v]))
}

/// Reads a basis, by name or as a matrix, and its step.
fn one_basis(lexer: &mut Lexer<'_>) -> Parsed<Basis> {
    let basis = if lexer.peek() == TokenKind::String {
        let start = lexer.position();
        let name = lexer.text()?;
        basis::named(&name)
            .ok_or_else(|| RequestFault::error("badbasis", start, format!("there is no basis \"{name}\"")))?
    } else {
        let values = lexer.finite::<16>()?;
        let matrix = std::array::from_fn(|row| std::array::from_fn(|column| values[4 * row + column] as f32));
        Basis { matrix, step: 0 }
    };
    lexer.peek();
    let start = lexer.position();
    let step = lexer.one_int()?;
    match u32::try_from(step) {
        Ok(step) if step > 0 => Ok(Basis { step, ..basis }),
        _ => Err(RequestFault::error("badbasis", start, "the step of a basis must be positive")),
    }
}

/// Bounds are computed from the primitives themselves; the request is only checked.
pub(super) fn bound(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    scene.mark_inert();
    lexer.floats::<6>().map(drop)
}

pub(super) fn detail(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let bounds = lexer.finite::<6>()?;
    change(scene, AttributeChange::DetailBox(bounds))
}

pub(super) fn detail_range(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let range @ [min, low, up, max] = lexer.floats::<4>()?;
    if !(min <= low && low <= up && up <= max) {
        return Err(scene.messages.error("range", "DetailRange: its values must not decrease; it is ignored"));
    }
    change(scene, AttributeChange::DetailRange(range))
}

pub(super) fn geometric_approximation(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let kind = lexer.text()?;
    let [value] = lexer.floats::<1>()?;
    if !matches!(
        &*kind,
        "flatness" | "motionfactor" | "focusfactor" | "deviation" | "normaldeviation" | "pointdeviation"
    ) {
        return Err(bad_argument(scene, &format!("there is no approximation \"{kind}\"")));
    }
    warn_of_number(scene, &kind, value);
    change(
        scene,
        AttributeChange::Other(format!("GeometricApproximation:{kind}"), ParamValue::Floats(vec![value as f32])),
    )
}

/// Requests of earlier versions that renderers ignore.
pub(super) fn ignored(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    scene.mark_inert();
    lexer.skip_to_request();
    Ok(())
}

pub(super) fn attribute(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let category = lexer.text()?;
    if !read_category(scene, lexer, "attribute", &category)? {
        return Ok(());
    }
    for change in attribute_changes(scene, &category) {
        scene.perform(RequestEffect::Change(change));
    }
    Ok(())
}

/// Returns the changes that the current parameters request.
fn attribute_changes(scene: &SceneBuilder<'_>, category: &str) -> Vec<AttributeChange> {
    let mut changes = Vec::new();
    for param in scene.params.iter() {
        let values = scene.params.values(param);
        let report = &mut |fault| scene.messages.report_here(fault);
        let Some(count) = check_count(param, values.len(), 1, report) else { continue };
        let name = &*param.declaration.name;
        match (category, name, values) {
            ("displacementbound", "sphere", ParamSlice::Floats(&[radius, ..])) => {
                if radius.is_finite() && radius >= 0.0 {
                    changes.push(AttributeChange::DisplacementBound { radius: Some(radius), space: None });
                } else {
                    let message = format!("the displacement bound {radius} is negative or not finite; it is ignored");
                    scene.messages.report_here(RequestFault::error("range", param.offset, message));
                }
            }
            ("displacementbound", "coordinatesystem", ParamSlice::Strings([space, ..])) => {
                changes.push(AttributeChange::DisplacementBound { radius: None, space: Some(Arc::clone(space)) });
            }
            ("identifier", "name", _) if scene.editing.is_some() => {
                let message = "the names of objects cannot be edited, because edits are found by them";
                scene.messages.report_here(RequestFault::error("illstate", param.offset, message));
            }
            ("identifier", "name", ParamSlice::Strings([name, ..])) => {
                changes.push(AttributeChange::Name(Arc::clone(name)));
            }
            ("shade", "relativeshadingrate", ParamSlice::Floats(&[rate, ..])) => {
                if rate.is_finite() && rate > 0.0 {
                    changes.push(AttributeChange::RelativeShadingRate(rate));
                    changes.push(AttributeChange::Other("shade:relativeshadingrate".into(), values.to_param(count)));
                } else {
                    let message = format!("the relative shading rate {rate} is not positive; it is ignored");
                    scene.messages.report_here(RequestFault::error("range", param.offset, message));
                }
            }
            ("visibility", "camera", ParamSlice::Ints(&[visible, ..])) => {
                changes.push(AttributeChange::CameraVisibility(visible != 0));
                changes.push(AttributeChange::Other("visibility:camera".into(), values.to_param(count)));
            }
            ("render", "visibility", ParamSlice::Ints(&[bits, ..])) => {
                // The first bit is for the camera; see `Attributes::casts_shadows` for the others.
                changes.push(AttributeChange::CameraVisibility(bits & 1 != 0));
                changes.push(AttributeChange::Other("render:visibility".into(), values.to_param(count)));
            }
            ("trimcurve", "sense", ParamSlice::Strings([sense, ..])) => {
                if matches!(&**sense, "inside" | "outside") {
                    changes.push(AttributeChange::TrimSense(**sense == *"outside"));
                    changes.push(AttributeChange::Other("trimcurve:sense".into(), values.to_param(count)));
                } else {
                    let message =
                        format!("\"sense\" must be \"inside\" or \"outside\", not \"{sense}\"; it is ignored");
                    scene.messages.report_here(RequestFault::error("badargument", param.offset, message));
                }
            }
            _ => changes.push(AttributeChange::Other(format!("{category}:{name}"), values.to_param(count))),
        }
    }
    changes
}

//! Answers to attribute(), option(), rendererinfo() and shadername() (RISpec 15.8; FN-72 to FN-75).

use super::block::BlockSource;
use super::tokens::Tokens;
use super::values::{self, ValueWords};
use crate::scene::{ParamValue, World};
use glam::DMat4;
use spirv_gen::compose::Role;
use spirv_gen::ir::{QuerySource, RslType};

/// Returns the words of an answer of the requested type and size; `None` if there is none.
pub(super) fn answer(
    from: QuerySource,
    name: &str,
    ty: RslType,
    count: u32,
    source: &BlockSource<'_>,
    tokens: &Tokens,
) -> Option<ValueWords> {
    let value = match from {
        QuerySource::Attribute => attribute(name, source)?,
        QuerySource::Option => option(name, source.world)?,
        QuerySource::Renderer => renderer(name)?,
        QuerySource::ShaderName => shader_name(name, source)?,
    };
    let is_text = matches!(value, ParamValue::Strings(_));
    let words = values::given(&value, ty, &DMat4::IDENTITY, tokens);
    let fits = is_text == (ty == RslType::String) && words.len() == values::words_of(ty) * count as usize;
    fits.then_some(words)
}

/// The interface's number for infinity.
const INFINITY: f32 = 1e38;

fn float(value: f32) -> ParamValue {
    ParamValue::Floats(vec![value])
}

fn text(value: &str) -> ParamValue {
    ParamValue::Strings(vec![value.into()])
}

/// Whether the answer to a query depends on the transformation of the object.
pub(super) fn depends_on_object(from: QuerySource, name: &str) -> bool {
    from == QuerySource::Attribute && name.strip_prefix("Ri:").unwrap_or(name) == "Orientation"
}

fn attribute(name: &str, source: &BlockSource<'_>) -> Option<ParamValue> {
    let attributes = source.attributes?;
    Some(match name.strip_prefix("Ri:").unwrap_or(name) {
        "ShadingRate" => float(attributes.shading_rate),
        // What "lh" and "rh" come to for this object.
        "Orientation" => {
            let mirrored = source.local.camera_from_object.determinant() < 0.0;
            text(if attributes.flip_normal == mirrored { "outside" } else { "inside" })
        }
        "Sides" => float(if attributes.two_sided { 2.0 } else { 1.0 }),
        "Matte" => float(f32::from(u8::from(attributes.matte))),
        "Color" => ParamValue::Floats(attributes.color.to_vec()),
        "Opacity" => ParamValue::Floats(attributes.opacity.to_vec()),
        "TextureCoordinates" => ParamValue::Floats(attributes.texture_coordinates.as_flattened().to_vec()),
        "identifier:name" => text(&attributes.name),
        "displacementbound:sphere" => float(attributes.displacement_bound.as_ref()?.radius),
        "displacementbound:coordinatesystem" => text(&attributes.displacement_bound.as_ref()?.space),
        _ => attributes.other.get(name)?.clone(),
    })
}

fn option(name: &str, world: &World) -> Option<ParamValue> {
    let camera = &world.camera;
    let [width, height] = camera.resolution.map(|n| n as f32);
    let other = |name: &str| world.options.other.get(name).cloned();
    let f32s = |values: &[f64]| ParamValue::Floats(values.iter().map(|&v| v as f32).collect());
    Some(match name.strip_prefix("Ri:").unwrap_or(name) {
        "Format" | "DeviceResolution" => ParamValue::Floats(vec![width, height, camera.pixel_aspect as f32]),
        "FrameAspectRatio" => float(width * camera.pixel_aspect as f32 / height),
        "CropWindow" => f32s(&camera.crop_window),
        // A pinhole: an infinite f-stop.
        "DepthOfField" => ParamValue::Floats(camera.depth_of_field.unwrap_or([INFINITY, 0.0, 0.0]).to_vec()),
        "Shutter" => ParamValue::Floats(camera.shutter.to_vec()),
        "Clipping" => ParamValue::Floats(camera.clip.to_vec()),
        // Outside FrameBegin and FrameEnd there is no number.
        "Frame" => float(world.options.frame.unwrap_or(0) as f32),
        "shadow:bias0" | "shadow:bias1" => other(name).or_else(|| other("shadow:bias"))?,
        "shadow:samples" => other(name).or_else(|| other("shadow:sample"))?,
        _ => other(name)?,
    })
}

fn renderer(name: &str) -> Option<ParamValue> {
    let part = |text: &str| text.parse().unwrap_or(0.0);
    Some(match name {
        "renderer" => text("anthill"),
        "version" => ParamValue::Floats(vec![
            part(env!("CARGO_PKG_VERSION_MAJOR")),
            part(env!("CARGO_PKG_VERSION_MINOR")),
            part(env!("CARGO_PKG_VERSION_PATCH")),
            0.0,
        ]),
        "versionstring" => text(env!("CARGO_PKG_VERSION")),
        _ => return None,
    })
}

fn shader_name(which: &str, source: &BlockSource<'_>) -> Option<ParamValue> {
    let role = match which {
        "" | "surface" => Role::Surface,
        "displacement" => Role::Displacement,
        "atmosphere" => Role::Atmosphere,
        _ => return None,
    };
    let (_, _, instance) = source.shaders.iter().find(|(r, ..)| *r == role)?;
    Some(text(&instance.name))
}

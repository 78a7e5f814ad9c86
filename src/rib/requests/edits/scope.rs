//! Which requests have a meaning in edits.

use crate::rib::stream::fault::Parsed;
use crate::rib::world::editing::EditKind;
use crate::rib::world::scene::SceneBuilder;

/// What has a meaning anywhere in a fragment.
const ANYWHERE: &[&str] = &["Declare", "EditBegin", "IfBegin", "ElseIf", "Else", "IfEnd", "ReadArchive"];
/// What has a meaning outside of blocks.
const OUTSIDE: &[&str] = &["version", "EditWorldBegin", "EditWorldEnd"];
/// What has a meaning in all blocks but those of files.
const BLOCKS: &[&str] = &["EditEnd", "MotionBegin", "MotionEnd"];
/// Transformations.
const TRANSFORMS: &[&str] =
    &["Identity", "Transform", "ConcatTransform", "Translate", "Rotate", "Scale", "Skew", "Perspective"];
/// Attributes of objects, and lights.
const ATTRIBUTES: &[&str] = &[
    "Attribute",
    "Color",
    "Opacity",
    "TextureCoordinates",
    "LightSource",
    "Illuminate",
    "Surface",
    "Displacement",
    "Atmosphere",
    "ShadingRate",
    "ShadingInterpolation",
    "Matte",
    "Orientation",
    "ReverseOrientation",
    "Sides",
];
/// What geometry depends on, besides primitives.
const GEOMETRY: &[&str] = &["Attribute", "Basis", "TrimCurve"];
/// Primitives that need more than an edit knows.
const NO_GEOMETRY: &[&str] = &["ObjectInstance", "Procedural", "Procedural2", "Geometry", "SolidBegin", "Volume"];
/// Options that need more than an edit knows.
const NO_OPTIONS: &[&str] = &["Camera"];

/// What a request of a scene is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestGroup {
    Option,
    Primitive,
    Other,
}

/// Rejects requests that have no meaning where they are in a fragment of edits.
pub(crate) fn check_edit_scope(scene: &SceneBuilder<'_>, name: &str, group: RequestGroup) -> Parsed<()> {
    let Some(editing) = &scene.editing else { return Ok(()) };
    let is_in = |list: &[&str]| list.contains(&name);
    let kind = editing.open.as_ref().map(|open| open.kind);
    let has_meaning = match kind {
        None => is_in(OUTSIDE) || name == "EditEnd",
        Some(EditKind::Files) => name == "EditEnd",
        Some(EditKind::Options) => {
            is_in(BLOCKS)
                || is_in(TRANSFORMS)
                || name == "Imager"
                || group == RequestGroup::Option && !is_in(NO_OPTIONS)
        }
        Some(EditKind::Attributes) => is_in(BLOCKS) || is_in(TRANSFORMS) || is_in(ATTRIBUTES),
        Some(EditKind::Instances) => {
            is_in(BLOCKS)
                || is_in(TRANSFORMS) && name != "Perspective"
                || is_in(GEOMETRY)
                || group == RequestGroup::Primitive && !is_in(NO_GEOMETRY)
        }
    };
    if name == "ReadArchive" && !editing.reads_archives {
        let fault = scene.messages.error("illstate", "edits from here may not read archives");
        return Err(fault.hint("a file given to anthill render --edits may"));
    }
    if has_meaning || is_in(ANYWHERE) {
        return Ok(());
    }
    let place = match kind {
        None => "outside of EditBegin and EditEnd".to_owned(),
        Some(kind) => format!("in EditBegin \"{}\"", kind.name()),
    };
    let fault = scene.messages.error("illstate", format!("{name} has no meaning {place}; it is left out"));
    Err(match home_of(name, group) {
        Some(home) if kind.is_none_or(|kind| kind.name() != home) => {
            fault.hint(format!("it belongs in EditBegin \"{home}\""))
        }
        _ => fault.hint("docs/edits.md lists what edits can change"),
    })
}

/// Returns the kind of block that a request belongs in.
fn home_of(name: &str, group: RequestGroup) -> Option<&'static str> {
    match group {
        _ if ATTRIBUTES.contains(&name) => Some("attribute"),
        RequestGroup::Option if !NO_OPTIONS.contains(&name) => Some("option"),
        RequestGroup::Primitive if !NO_GEOMETRY.contains(&name) => Some("instance"),
        _ if TRANSFORMS.contains(&name) => Some("instance"),
        _ => None,
    }
}

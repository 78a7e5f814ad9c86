//! MakeTexture and its like (RISpec 7.1).

use super::parameters::read_params_in;
use crate::rib::consumer::RequestedTexture;
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::stream::search;
use crate::rib::stream::tokens;
use crate::rib::world::scene::SceneBuilder;
use crate::texture::{MakeFilter, MakeKind, MakeRequest, WrapMode};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Reads MakeTexture and MakeBump.
pub(super) fn make_texture(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (picture, texture) = (lexer.text()?, lexer.text()?);
    let wraps = [lexer.text()?, lexer.text()?];
    let mut make = request(MakeKind::Plain, &[&picture], &texture);
    make.wrap = wraps.map(|name| wrap_mode(scene, &name));
    make_filtered(scene, lexer, make)
}

pub(super) fn make_lat_long_environment(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (picture, texture) = (lexer.text()?, lexer.text()?);
    make_filtered(scene, lexer, request(MakeKind::LatLong, &[&picture], &texture))
}

pub(super) fn make_cube_face_environment(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let mut faces = Vec::new();
    while faces.len() < 6 {
        faces.push(lexer.text()?);
    }
    let texture = lexer.text()?;
    let fov = lexer.one_float()? as f32;
    let faces: Vec<&str> = faces.iter().map(|face| &**face).collect();
    let mut make = request(MakeKind::Cube, &faces, &texture);
    make.fov = Some(fov);
    if !(fov > 0.0 && fov < 180.0) {
        let message = format!("{fov} degrees is not between 0 and 180; 90 is used");
        scene.messages.report_error("range", message);
        make.fov = Some(90.0);
    }
    make_filtered(scene, lexer, make)
}

pub(super) fn make_shadow(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (picture, texture) = (lexer.text()?, lexer.text()?);
    request_texture(scene, lexer, request(MakeKind::Shadow, &[&picture], &texture))
}

/// Reads MakeOcclusion, as Aqsis has it.
pub(super) fn make_occlusion(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let pictures = lexer.texts()?;
    let texture = lexer.text()?;
    let pictures: Vec<&str> = pictures.iter().map(|picture| &**picture).collect();
    request_texture(scene, lexer, request(MakeKind::Occlusion, &pictures, &texture))
}

pub(super) fn make_brick_map(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (clouds, map) = (lexer.texts()?, lexer.text()?);
    let clouds: Vec<&str> = clouds.iter().map(|cloud| &**cloud).collect();
    request_texture(scene, lexer, request(MakeKind::BrickMap, &clouds, &map))
}

/// Takes what the parameters say of the points of a brick map.
fn change_points(scene: &SceneBuilder<'_>, make: &mut MakeRequest) {
    let number = |name| scene.params.numbers(name, 1).map(|values| values[0]);
    make.ignore_normals = number("ignorenormals").is_some_and(|flag| flag != 0.0);
    match number("radiusscale") {
        Some(scale) if scale.is_finite() && scale >= 0.0 => make.radius_scale = scale,
        Some(scale) => {
            let message = format!("\"radiusscale\" is {scale}, which no radius is multiplied with; 1 is used");
            scene.messages.report_error("range", message);
        }
        None => {}
    }
}

fn wrap_mode(scene: &SceneBuilder<'_>, name: &str) -> WrapMode {
    WrapMode::named(name).unwrap_or_else(|| {
        let message = format!("unknown wrap mode \"{name}\"; \"black\" is used");
        let fault = scene.messages.error("badtoken", message);
        scene.messages.report_here(fault.hint("known wrap modes are black, clamp, periodic and mirror"));
        WrapMode::Black
    })
}

/// Reads the filter with its widths, which are the last arguments, and the parameters.
fn make_filtered(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>, mut make: MakeRequest) -> Parsed<()> {
    let name = lexer.text()?;
    let widths = lexer.finite::<2>()?.map(|width| width as f32);
    // PixelFilter's names stand for the nearest filter.
    let known = match &*name {
        "bessel" | "blackman-harris" => Some(MakeFilter::Sinc),
        "disk" => Some(MakeFilter::Box),
        "separable-catmull-rom" => Some(MakeFilter::CatmullRom),
        name => MakeFilter::named(name),
    };
    make.filter = Some(known.unwrap_or_else(|| {
        let message = format!("unknown filter \"{name}\"; \"box\" is used");
        let known: Vec<_> = MakeFilter::names().collect();
        let fault = scene.messages.error("badtoken", message);
        scene.messages.report_here(fault.hint(format!("known filters are {}", known.join(", "))));
        MakeFilter::Box
    }));
    if widths.iter().all(|width| *width > 0.0) {
        make.filter_width = Some(widths);
    } else {
        let message = "the widths of the filter must be above 0; its usual widths are used";
        scene.messages.report_error("range", message);
    }
    request_texture(scene, lexer, make)
}

/// Reads the parameters, and passes the request to the consumer.
fn request_texture(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>, mut make: MakeRequest) -> Parsed<()> {
    let known = tokens::group(scene.messages.current.name, "");
    read_params_in(scene, lexer, known)?;
    let is_known = |name: &String| known.is_some_and(|group| group.tokens.iter().any(|token| token.name() == name));
    let names = scene.params.iter().map(|param| param.declaration.name.to_string());
    for name in names.filter(|name| !is_known(name)).collect::<Vec<_>>() {
        let message = format!("unknown parameter \"{name}\"; it has no effect");
        scene.messages.warn_once(&format!("{} {name}", scene.messages.current.name), "badtoken", &message);
    }
    if make.kind == MakeKind::BrickMap {
        change_points(scene, &mut make);
    }
    let (first, last) = (&scene.settings.search_first, &scene.settings.search_last);
    let texture = RequestedTexture {
        make,
        request: scene.messages.current.name,
        frame: scene.options.frame,
        folders: search::with_others(&scene.options.options.search, first, last).texture,
        location: scene.messages.current.location.clone(),
    };
    scene.summary.textures += 1;
    if let ControlFlow::Break(()) = scene.worlds.make(texture) {
        scene.refused = true;
    }
    Ok(())
}

fn request(kind: MakeKind, pictures: &[&str], texture: &str) -> MakeRequest {
    MakeRequest::new(kind, pictures.iter().map(PathBuf::from).collect(), texture.into())
}

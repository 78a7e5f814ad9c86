//! Primitive requests: their positional arguments; `geometry` does the rest.

use super::parameters::read_params;
use crate::rib::geometry::batch::Batch;
use crate::rib::geometry::blobby::BlobArrays;
use crate::rib::geometry::patches::MeshDirection;
use crate::rib::geometry::points;
use crate::rib::geometry::polygons::{self, Faces};
use crate::rib::geometry::primvars::PrimitiveCall;
use crate::rib::geometry::quadrics::QuadricSizes;
use crate::rib::geometry::spline::NurbsDirection;
use crate::rib::geometry::subdivision::SubdivisionArgs;
use crate::rib::geometry::subdivision::tags::TagLists;
use crate::rib::geometry::trim::TrimArrays;
use crate::rib::state::attributes::AttributeChange;
use crate::rib::stream::fault::{Parsed, RequestFault};
use crate::rib::stream::lexer::{Lexer, TokenKind};
use crate::rib::world::effect::RequestEffect;
use crate::rib::world::scene::SceneBuilder;
use crate::texture::{self, DepthPicture};
use std::sync::Arc;

/// Reads the parameter list and makes primitives with `make`.
fn primitive(
    scene: &mut SceneBuilder<'_>,
    lexer: &mut Lexer<'_>,
    make: impl FnOnce(&PrimitiveCall<'_>) -> Option<Batch>,
) -> Parsed<()> {
    match made(scene, lexer, make)? {
        Some(batch) => scene.apply(RequestEffect::Primitive(Box::new(batch))),
        None => scene.note_left_out(),
    }
    Ok(())
}

/// Reads the parameter list and makes something of the request with `make`.
fn made<T>(
    scene: &mut SceneBuilder<'_>,
    lexer: &mut Lexer<'_>,
    make: impl FnOnce(&PrimitiveCall<'_>) -> Option<T>,
) -> Parsed<Option<T>> {
    read_params(scene, lexer)?;
    let call = PrimitiveCall {
        name: scene.messages.current.name,
        offset: scene.messages.current.offset,
        location: scene.messages.current.location.clone(),
        params: &scene.params,
        report: &|fault| scene.messages.report(lexer, fault),
    };
    Ok(make(&call))
}

pub(super) fn sphere(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let sizes = QuadricSizes::Sphere(lexer.finite()?);
    primitive(scene, lexer, |call| call.quadric(sizes))
}

pub(super) fn cone(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let sizes = QuadricSizes::Cone(lexer.finite()?);
    primitive(scene, lexer, |call| call.quadric(sizes))
}

pub(super) fn cylinder(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let sizes = QuadricSizes::Cylinder(lexer.finite()?);
    primitive(scene, lexer, |call| call.quadric(sizes))
}

pub(super) fn hyperboloid(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let sizes = QuadricSizes::Hyperboloid(lexer.finite()?);
    primitive(scene, lexer, |call| call.quadric(sizes))
}

pub(super) fn paraboloid(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let sizes = QuadricSizes::Paraboloid(lexer.finite()?);
    primitive(scene, lexer, |call| call.quadric(sizes))
}

pub(super) fn disk(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let sizes = QuadricSizes::Disk(lexer.finite()?);
    primitive(scene, lexer, |call| call.quadric(sizes))
}

pub(super) fn torus(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let sizes = QuadricSizes::Torus(lexer.finite()?);
    primitive(scene, lexer, |call| call.quadric(sizes))
}

/// Reads one of two words; returns whether it is `yes`.
fn either(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>, yes: &str, no: &str) -> Parsed<bool> {
    one_of(scene, lexer, [&[yes], &[no]])
}

/// Reads whether a direction is periodic, in the words of RISpec or in those of older files.
fn periodic(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<bool> {
    one_of(scene, lexer, [&["periodic", "wrap"], &["nonperiodic", "nowrap"]])
}

/// Reads a word of one of two lists; returns whether it is of the first. The first of each is what the word should be.
fn one_of(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>, [yes, no]: [&[&str]; 2]) -> Parsed<bool> {
    lexer.peek();
    let start = lexer.position();
    let word = lexer.text()?;
    if yes.contains(&&*word) || no.contains(&&*word) {
        return Ok(yes.contains(&&*word));
    }
    let (name, yes, no) = (scene.messages.current.name, yes[0], no[0]);
    let message = format!("{name}: expected \"{yes}\" or \"{no}\", found \"{word}\"");
    Err(RequestFault::error("badargument", start, message))
}

pub(super) fn patch(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let cubic = either(scene, lexer, "bicubic", "bilinear")?;
    let basis = scene.state.basis;
    primitive(scene, lexer, |call| call.patch(cubic, &basis))
}

pub(super) fn patch_mesh(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let cubic = either(scene, lexer, "bicubic", "bilinear")?;
    let u = direction(scene, lexer)?;
    let v = direction(scene, lexer)?;
    let basis = scene.state.basis;
    primitive(scene, lexer, |call| call.patch_mesh(cubic, [u, v], &basis))
}

fn direction(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<MeshDirection> {
    let count = lexer.one_int()?;
    Ok(MeshDirection { count, periodic: periodic(scene, lexer)? })
}

pub(super) fn nu_patch(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let u = nurbs_direction(lexer)?;
    let v = nurbs_direction(lexer)?;
    let trim = scene.state.trim.clone();
    primitive(scene, lexer, |call| call.nurbs([&u, &v], &trim))
}

pub(super) fn trim_curve(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (curves, orders, knots) = (lexer.ints()?, lexer.ints()?, lexer.float_list()?);
    let [min, max] = [one_or_more(lexer)?, one_or_more(lexer)?];
    let counts = lexer.ints()?;
    let points = [lexer.float_list()?, lexer.float_list()?, lexer.float_list()?];
    let arrays = TrimArrays { curves, orders, knots, min, max, counts, points };
    match made(scene, lexer, |call| call.trim_curves(&arrays))? {
        Some(curves) => {
            let curves = (!arrays.curves.is_empty()).then(|| Arc::new(curves));
            scene.apply(RequestEffect::Change(AttributeChange::TrimCurves(curves)));
        }
        None => scene.mark_inert(),
    }
    Ok(())
}

/// Reads the depths of a ground.
fn ground(scene: &SceneBuilder<'_>, name: &str) -> Result<DepthPicture, String> {
    let folders = &scene.options.options.search.texture;
    let files = &scene.settings.files;
    let path = texture::candidates(name, folders).find(|path| path.is_file());
    let path = path.ok_or_else(|| format!("there is no picture of depths \"{name}\""))?;
    files.check_inside(&path).map_err(|refused| refused.to_string())?;
    DepthPicture::read(&path).map_err(|error| error.to_string())
}

pub(super) fn blobby(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (leaves, code, floats) = (lexer.one_int()?, lexer.ints()?, lexer.float_list()?);
    // Names of depth files and plug-ins; some files leave them out.
    let names = if lexer.peek() == TokenKind::Open { lexer.texts()? } else { Vec::new() };
    let needed = |i: usize| code.windows(2).any(|words| words[0] == 1003 && words[1] == i as i32);
    if (0..names.len()).any(needed) {
        // The world before may be the one that draws it.
        scene.worlds.settle();
    }
    let grounds = names.iter().enumerate().map(|(i, name)| needed(i).then(|| ground(scene, name))).collect();
    let world_from_object = *scene.state.transform.first();
    let arrays = BlobArrays { leaves, code, floats, grounds, world_from_object };
    primitive(scene, lexer, |call| call.blobby(&arrays))
}

pub(super) fn polygon(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    primitive(scene, lexer, polygons::polygon)
}

pub(super) fn general_polygon(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let vertices = lexer.ints()?;
    let loops = i32::try_from(vertices.len()).unwrap_or(i32::MAX);
    primitive(scene, lexer, |call| call.mesh(Faces { loops: Some(&[loops]), vertices: &vertices, indices: None }))
}

pub(super) fn points_polygons(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (vertices, indices) = (lexer.ints()?, lexer.ints()?);
    primitive(scene, lexer, |call| call.mesh(Faces { loops: None, vertices: &vertices, indices: Some(&indices) }))
}

pub(super) fn points_general_polygons(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let (loops, vertices, indices) = (lexer.ints()?, lexer.ints()?, lexer.ints()?);
    let faces = Faces { loops: Some(&loops), vertices: &vertices, indices: Some(&indices) };
    primitive(scene, lexer, |call| call.mesh(faces))
}

pub(super) fn subdivision_mesh(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let scheme = lexer.text()?;
    let (sizes, vertices) = (lexer.ints()?, lexer.ints()?);
    let mut tags = TagLists::default();
    // Meshes without tags may leave out their lists; newer files have a fourth one, of strings.
    if lexer.peek() == TokenKind::Open {
        tags.names = lexer.texts()?;
        (tags.counts, tags.ints, tags.floats) = (lexer.ints()?, lexer.ints()?, lexer.float_list()?);
        if lexer.peek() == TokenKind::Open {
            lexer.texts()?;
        }
    }
    let args = SubdivisionArgs { scheme: &scheme, sizes: &sizes, vertices: &vertices, tags: &tags };
    primitive(scene, lexer, |call| call.subdivision(args))
}

pub(super) fn curves(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let cubic = either(scene, lexer, "cubic", "linear")?;
    let vertices = lexer.ints()?;
    let periodic = periodic(scene, lexer)?;
    let basis = scene.state.basis[1];
    primitive(scene, lexer, |call| call.curves(cubic, &vertices, periodic, &basis))
}

pub(super) fn points(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    primitive(scene, lexer, points::points)
}

/// Reads an array of numbers, or a single one.
fn one_or_more(lexer: &mut Lexer<'_>) -> Parsed<Vec<f32>> {
    match lexer.peek() {
        TokenKind::Number => Ok(vec![lexer.float32()?]),
        _ => lexer.float_list(),
    }
}

fn nurbs_direction(lexer: &mut Lexer<'_>) -> Parsed<NurbsDirection> {
    let (count, order, knots) = (lexer.one_int()?, lexer.one_int()?, lexer.float_list()?);
    let [[low], [high]] = [lexer.finite()?, lexer.finite()?];
    // Limits are floats of the interface, as knots are: what is written alike must be equal.
    let range = [low, high].map(|limit| f64::from(limit as f32));
    Ok(NurbsDirection { count, order, knots, range })
}

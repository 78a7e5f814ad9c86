//! Procedural primitives: geometry that is read, or made by a program, where it is needed (RISpec 5.5).
//!
//! A procedural is read at its place in the stream, inside a block of its own, unless its bound lies outside of the
//! picture. What the second one of the same archive does is recorded as an object, which all later ones are instances
//! of: thousands cost one geometry and a matrix each, and the picture does not depend on when they are read.

use super::archives::read_named_archive;
use super::run_program::run_program;
use crate::rib::reader::Reader;
use crate::rib::stream::fault::{Parsed, RequestFault};
use crate::rib::stream::lexer::Lexer;
use crate::rib::stream::source::Source;
use crate::rib::world::effect::RequestEffect;
use crate::rib::world::scene::SceneBuilder;
use crate::rib::world::world_builder::{ArchiveRequest, ReadBefore};
use std::sync::Arc;

/// The number of archives per world that are remembered.
const REMEMBERED_MAX: usize = 1 << 12;

pub(super) fn procedural(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let kind = lexer.text()?;
    let arguments = lexer.texts()?;
    lexer.peek();
    let start = lexer.position();
    let bound = lexer.floats::<6>()?;
    // Later renderers allow a parameter list here; none of its pairs is known.
    lexer.skip_to_request();
    if (0..3).any(|axis| bound[2 * axis] > bound[2 * axis + 1]) {
        let message = "the bound is not xmin xmax ymin ymax zmin zmax: a side ends before it begins";
        return Err(RequestFault::error("range", start, message));
    }
    reader.scene.notes.depends_on_view = true;
    // What was drawn before is not joined with what comes after it, whether it is read or not.
    reader.scene.flush();
    let around = reader.scene.world.as_mut().map(|world| world.seeds.enter());
    let result = expand(reader, lexer, &kind, &arguments, &bound);
    reader.scene.flush();
    if let (Some(world), Some(around)) = (&mut reader.scene.world, around) {
        world.seeds = around;
    }
    result
}

fn expand(
    reader: &mut Reader<'_>,
    lexer: &Lexer<'_>,
    kind: &str,
    arguments: &[Arc<str>],
    bound: &[f64; 6],
) -> Parsed<()> {
    match (kind, arguments) {
        ("DelayedReadArchive", [name]) => delayed_archive(reader, name, bound, lexer.source()),
        ("RunProgram", [program]) => run_program(reader, program, "", bound),
        ("RunProgram", [program, arguments]) => run_program(reader, program, arguments, bound),
        ("DelayedReadArchive" | "RunProgram", _) => {
            let message = format!("{kind} does not take {} strings", arguments.len());
            let fault = reader.scene.messages.error("badarray", message);
            Err(fault.hint("it takes [\"archive\"], or [\"program\" \"arguments\"]"))
        }
        ("DynamicLoad", _) => {
            reader.scene.note_left_out();
            let message = "Procedural \"DynamicLoad\": plug-ins in C are not supported; it is left out";
            reader.scene.messages.warn_once(message, "unimplement", message);
            Ok(())
        }
        _ => {
            let fault = reader.scene.messages.error("badtoken", format!("there is no procedural \"{kind}\""));
            Err(fault.hint("use DelayedReadArchive or RunProgram"))
        }
    }
}

fn delayed_archive(reader: &mut Reader<'_>, name: &Arc<str>, bound: &[f64; 6], asking: &Source) -> Parsed<()> {
    // In an object, the place is not known yet.
    if reader.scene.recording.is_some() {
        return reader.in_procedural(|reader| read_named_archive(reader, name, asking));
    }
    if !reader.scene.may_be_seen(bound) {
        return Ok(());
    }
    let request = (Arc::clone(name), asking.directory.clone());
    let Some(left_out) = read_before(&reader.scene, &request).map(|before| before.left_out) else {
        return read_once(reader, request, asking);
    };
    let object = match read_before(&reader.scene, &request).and_then(|before| before.object.clone()) {
        Some(object) => object,
        None => {
            let object = reader.recorded(|reader| read_named_archive(reader, name, asking))?;
            if let Some(before) = reader.scene.world.as_mut().and_then(|world| world.read_before.get_mut(&request)) {
                before.object = Some(Arc::clone(&object));
            }
            object
        }
    };
    reader.scene.add_left_out(left_out);
    reader.scene.perform(RequestEffect::Instance(object));
    Ok(())
}

/// Returns the archive as it was read before in this world, if its text would mean the same now.
fn read_before<'s>(scene: &'s SceneBuilder<'_>, request: &ArchiveRequest) -> Option<&'s ReadBefore> {
    let before = scene.world.as_ref()?.read_before.get(request)?;
    (before.definitions == scene.definitions && before.basis == scene.state.basis && before.trim == scene.state.trim)
        .then_some(before)
}

/// Reads an archive and remembers it, if it defines nothing and asks for nothing that may differ the next time.
fn read_once(reader: &mut Reader<'_>, request: ArchiveRequest, asking: &Source) -> Parsed<()> {
    let (scene, left_out) =
        (&reader.scene, |scene: &SceneBuilder<'_>| scene.world.as_ref().map_or(0, |world| world.left_out));
    let (definitions, basis, trim) = (scene.definitions, scene.state.basis, scene.state.trim.clone());
    let left_out_before = left_out(scene);
    reader.in_procedural(|reader| read_named_archive(reader, &request.0, asking))?;
    let scene = &mut reader.scene;
    let left_out = left_out(scene) - left_out_before;
    if let Some(world) = &mut scene.world
        && scene.definitions == definitions
        && world.read_before.len() < REMEMBERED_MAX
    {
        world.read_before.insert(request, ReadBefore { definitions, basis, trim, object: None, left_out });
    }
    Ok(())
}

//! Geometry "teapot": Newell's teapot as 32 bicubic patches, upright along z, on the plane z = 0.

use crate::rib::reader::Reader;
use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::stream::source::{Input, Source};
use crate::rib::world::effect::{Object, RequestEffect};
use std::sync::Arc;

/// The patches, upright along y.
const PATCHES: &str = include_str!("../../../scenes/archives/teapot.rib");

pub(super) fn geometry(reader: &mut Reader<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let name = lexer.text()?;
    // Its parameters are those of implementations.
    lexer.skip_to_request();
    if *name != *"teapot" {
        reader.scene.mark_inert();
        reader.scene.note_left_out();
        let message = format!("Geometry \"{name}\" is not supported and is left out; there is \"teapot\"");
        reader.scene.messages.warn_once(&message, "unimplement", &message);
        return Ok(());
    }
    let object = teapot(reader)?;
    reader.scene.apply(RequestEffect::Instance(object));
    Ok(())
}

/// Returns the teapot as an object, which a world reads once.
fn teapot(reader: &mut Reader<'_>) -> Parsed<Arc<Object>> {
    if let Some(object) = reader.scene.world.as_ref().and_then(|world| world.teapot.clone()) {
        return Ok(object);
    }
    reader.scene.flush();
    // Neither an object nor a motion block around it is its own.
    let around = (reader.scene.moving.take(), reader.scene.recording.take());
    let text = format!("Rotate 90 1 0 0\n{PATCHES}").into_bytes();
    let source = Source::load(&Input::Memory { name: "teapot".into(), bytes: text }, &reader.scene.settings.memory);
    let source = Arc::new(source.expect("memory can be read"));
    let object = reader.recorded(|reader| {
        reader.read_source(&source);
        Ok(())
    });
    (reader.scene.moving, reader.scene.recording) = around;
    let object = object?;
    if let Some(world) = &mut reader.scene.world {
        world.teapot = Some(Arc::clone(&object));
    }
    Ok(object)
}

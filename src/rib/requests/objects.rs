//! Retained objects: ObjectBegin, ObjectEnd, ObjectInstance (RISpec 5.6).

use crate::rib::stream::fault::Parsed;
use crate::rib::stream::lexer::Lexer;
use crate::rib::world::block::BlockKind;
use crate::rib::world::effect::{ObjectRecording, RequestEffect};
use crate::rib::world::scene::SceneBuilder;
use std::sync::Arc;

/// How deeply objects may be nested.
const DEPTH_MAX: u32 = 64;

pub(super) fn object_begin(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let handle = lexer.handle()?;
    // Later renderers allow a parameter list here; none of its pairs is known.
    lexer.skip_to_request();
    if scene.recording.is_some() {
        let message = "an object cannot be defined inside another object";
        return Err(scene.messages.error("nesting", message).hint("define it before, and use ObjectInstance here"));
    }
    scene.open(BlockKind::Object)?;
    scene.recording = Some(ObjectRecording::new(handle));
    Ok(())
}

pub(super) fn object_end(scene: &mut SceneBuilder<'_>, _: &mut Lexer<'_>) -> Parsed<()> {
    scene.close(BlockKind::Object)
}

pub(super) fn object_instance(scene: &mut SceneBuilder<'_>, lexer: &mut Lexer<'_>) -> Parsed<()> {
    let handle = lexer.handle()?;
    let Some(object) = scene.objects.get(&handle) else {
        let message = format!("there is no object {handle}");
        return Err(scene.messages.error("badhandle", message).hint("ObjectBegin defines objects"));
    };
    if scene.recording.is_some() && object.depth >= DEPTH_MAX {
        let message = format!("objects are nested more than {DEPTH_MAX} deep");
        return Err(scene.messages.error("limitcheck", message));
    }
    let object = Arc::clone(object);
    scene.apply(RequestEffect::Instance(object));
    Ok(())
}

//! Retained objects: ObjectBegin, ObjectEnd, ObjectInstance (RISpec 5.6).
//!
//! An object is the list of effects between its begin and end. An instance applies them to the state at the instance,
//! so that settings of the object apply inside it and everything else is inherited. The geometries are made once and
//! shared.

use super::blocks::BlockKind;
use super::effect::RequestEffect;
use super::fault::{Parsed, RequestFault};
use super::lexer::Lexer;
use super::reader::Reader;
use std::sync::Arc;

/// How deeply objects may be nested.
const DEPTH_MAX: u32 = 64;

/// A finished object.
#[derive(Debug)]
pub(super) struct Object {
    items: Vec<RequestEffect>,
    /// One more than the depth of the deepest object in it.
    depth: u32,
    /// Roughly how many bytes an instance of it adds to a scene; nested objects can grow exponentially.
    bytes: u64,
}

/// An object that is being recorded.
pub(super) struct ObjectRecording {
    handle: Arc<str>,
    object: Object,
}

impl ObjectRecording {
    fn new(handle: Arc<str>) -> Self {
        Self { handle, object: Object { items: Vec::new(), depth: 1, bytes: 0 } }
    }

    /// Appends an effect.
    pub(super) fn keep(&mut self, effect: RequestEffect) {
        let (depth, inside) =
            if let RequestEffect::Instance(object) = &effect { (object.depth, object.bytes) } else { (0, 0) };
        self.object.depth = self.object.depth.max(depth + 1);
        self.object.bytes = self.object.bytes.saturating_add(inside).saturating_add(effect.bytes());
        self.object.items.push(effect);
    }
}

impl Reader<'_> {
    pub(super) fn object_begin(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let handle = lexer.handle()?;
        // Later renderers allow a parameter list here; none of its pairs is known.
        lexer.skip_to_request();
        if self.recording.is_some() {
            let message = "an object cannot be defined inside another object";
            return Err(RequestFault::error("nesting", self.current.offset, message)
                .hint("define it before, and use ObjectInstance here"));
        }
        self.open(BlockKind::Object)?;
        self.recording = Some(ObjectRecording::new(handle));
        Ok(())
    }

    pub(super) fn object_end(&mut self, _: &mut Lexer<'_>) -> Parsed<()> {
        self.close(BlockKind::Object)
    }

    /// Finishes the object that is being recorded.
    pub(super) fn finish_object(&mut self) {
        self.flush();
        if let Some(ObjectRecording { handle, object }) = self.recording.take() {
            self.objects.insert(handle, Arc::new(object));
            self.definitions += 1;
        }
    }

    /// Records what `read` does as an object without a handle. The caller makes sure that no object is being recorded.
    pub(super) fn recorded(&mut self, read: impl FnOnce(&mut Self) -> Parsed<()>) -> Parsed<Arc<Object>> {
        self.flush();
        self.recording = Some(ObjectRecording::new("".into()));
        let result = read(self);
        self.flush();
        let object = self.recording.take().map(|recording| Arc::new(recording.object));
        result?;
        let stray = || RequestFault::error("nesting", self.current.offset, "an object ends inside of a procedural");
        object.ok_or_else(stray)
    }

    pub(super) fn object_instance(&mut self, lexer: &mut Lexer<'_>) -> Parsed<()> {
        let handle = lexer.handle()?;
        let Some(object) = self.objects.get(&handle) else {
            let message = format!("there is no object {handle}");
            return Err(
                RequestFault::error("badhandle", self.current.offset, message).hint("ObjectBegin defines objects")
            );
        };
        if self.recording.is_some() && object.depth >= DEPTH_MAX {
            let message = format!("objects are nested more than {DEPTH_MAX} deep");
            return Err(RequestFault::error("limitcheck", self.current.offset, message));
        }
        let object = Arc::clone(object);
        self.apply(RequestEffect::Instance(object));
        Ok(())
    }

    /// Draws an object under the current state, which is unchanged afterwards.
    pub(super) fn draw_object(&mut self, object: &Arc<Object>) {
        if self.world.is_none() {
            return;
        }
        // Instances inside the object are counted with it.
        let counted = self.instance_depth > 0;
        let bytes = if counted { 0 } else { object.bytes };
        if !self.take_memory(bytes) {
            return;
        }
        let state = self.state.clone();
        self.instance_depth += 1;
        self.replay(&object.items);
        self.instance_depth -= 1;
        self.state = state;
    }
}

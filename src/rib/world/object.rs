//! Recording retained objects (RISpec 5.6).
//!
//! An object is the list of effects between its begin and end. An instance applies them to the state at the instance,
//! so that settings of the object apply inside it and everything else is inherited. The geometries are made once and
//! shared.

use super::effect::{Object, ObjectRecording};
use super::scene::SceneBuilder;
use std::sync::Arc;

impl SceneBuilder<'_> {
    /// Finishes the object that is being recorded.
    pub(super) fn finish_object(&mut self) {
        self.flush();
        if let Some(ObjectRecording { handle, object }) = self.recording.take() {
            self.objects.insert(handle, Arc::new(object));
            self.definitions += 1;
        }
    }

    /// Begins to record an object without a handle. The caller makes sure that no object is being recorded.
    pub(crate) fn begin_recording(&mut self) {
        self.flush();
        self.recording = Some(ObjectRecording::new("".into()));
    }

    /// Returns the object that was recorded since [`Self::begin_recording`], unless it was ended.
    pub(crate) fn end_recording(&mut self) -> Option<Arc<Object>> {
        self.flush();
        self.recording.take().map(|recording| Arc::new(recording.object))
    }
}

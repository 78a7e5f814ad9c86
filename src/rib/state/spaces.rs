//! The current transformation and named coordinate systems (RISpec 4.3).

use super::graphics::GraphicsState;
use super::motion::{self, TransformError, TransformStep};
use crate::rib::stream::messages::Messages;
use crate::scene::{Camera, Motion, NamedSpace};
use glam::DMat4;
use std::sync::Arc;

/// The largest number of named coordinate systems.
const SPACES_MAX: usize = 1 << 16;

/// The largest number of scoped coordinate systems of a state; every change copies them.
const SCOPED_SPACES_MAX: usize = 1024;

impl GraphicsState {
    /// Changes the current transformation by one step at each time.
    pub(crate) fn move_by(&mut self, steps: &Motion<TransformStep>, messages: &Messages<'_>) {
        match motion::transformed(&self.transform, steps) {
            Ok(transform) => self.transform = Arc::new(transform),
            Err(TransformError::Singular) => {
                let message = "this transformation cannot be inverted and is ignored";
                messages.report_here(
                    messages.error("math", message).hint("it flattens everything to a plane, a line or a point"),
                );
            }
            Err(TransformError::TooManyKeyframes) => {
                let message =
                    format!("the transformation would have more than {} times and is ignored", motion::KEYFRAMES_MAX);
                messages.report_error("limitcheck", message);
            }
        }
    }

    /// Gives the current coordinate system a name that is known to the end of the attribute block, where it takes
    /// precedence over the same name elsewhere.
    pub(crate) fn name_scoped_space(&mut self, name: &Arc<str>, messages: &Messages<'_>) {
        let known = &self.attributes.scoped_spaces;
        let mut spaces: Vec<NamedSpace> = known.iter().filter(|space| space.name != *name).cloned().collect();
        if spaces.len() >= SCOPED_SPACES_MAX {
            let message =
                format!("more than {SCOPED_SPACES_MAX} scoped coordinate systems at once; {name:?} is ignored");
            messages.report_error("limitcheck", message);
            return;
        }
        let world_from_space = Arc::clone(&self.transform);
        spaces.push(NamedSpace { name: Arc::clone(name), world_from_space });
        Arc::make_mut(&mut self.attributes).scoped_spaces = spaces.into();
    }

    /// Adds the current coordinate system to the named ones.
    pub(crate) fn name_space(&self, name: &Arc<str>, spaces: &mut Vec<NamedSpace>, messages: &Messages<'_>) {
        if spaces.len() >= SPACES_MAX {
            let message = format!("more than {SPACES_MAX} coordinate systems; the rest are ignored");
            messages.report_error("limitcheck", message);
            return;
        }
        let world_from_space = Arc::clone(&self.transform);
        spaces.push(NamedSpace { name: Arc::clone(name), world_from_space });
    }

    /// Makes a named coordinate system the current one. The latest definition of a name counts, and definitions take
    /// precedence over predefined names. `camera` is that of the open world, if there is one.
    pub(crate) fn use_space(
        &mut self,
        name: &Arc<str>,
        spaces: &[NamedSpace],
        camera: Option<&Camera>,
        messages: &Messages<'_>,
    ) {
        let scoped = self.attributes.scoped_spaces.iter();
        let own = spaces.iter().chain(scoped).rev().find(|space| space.name == *name);
        let own = own.map(|space| Arc::clone(&space.world_from_space));
        let space = own.or_else(|| match (&**name, camera) {
            ("world", Some(_)) | ("camera", None) => Some(motion::still(DMat4::IDENTITY)),
            ("camera", Some(camera)) => Some(Arc::new(motion::inverse(&camera.camera_from_world))),
            ("current" | "object", _) => Some(Arc::clone(&self.transform)),
            ("shader", _) => self.attributes.surface.as_ref().map(|shader| Arc::clone(&shader.world_from_shader)),
            _ => None,
        });
        match space {
            Some(space) => self.transform = space,
            None => {
                let message = format!("there is no coordinate system \"{name}\"; the current one is kept");
                messages.report_here(messages.error("badtoken", message).hint("CoordinateSystem defines one"));
            }
        }
    }
}

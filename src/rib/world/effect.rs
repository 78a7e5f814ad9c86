//! Effects of requests, as values: they are applied immediately, collected by a motion block, or kept by an object and
//! applied at each instance.

use crate::diagnostic::SourceLocation;
use crate::rib::geometry::batch::Batch;
use crate::rib::state::attributes::AttributeChange;
use crate::rib::state::motion::TransformStep;
use crate::rib::state::resources::ResourceStep;
use crate::rib::state::shader_call::{ShaderCall, value_bytes};
use crate::scene::{Geometry, Motion, Projection, SolidOperation};
use glam::DMat4;
use std::sync::Arc;

/// The effect of one request.
#[derive(Clone, Debug)]
pub(crate) enum RequestEffect {
    /// Changes the current transformation, by one step at each time.
    Transform(Motion<TransformStep>),
    /// Changes an attribute.
    Change(AttributeChange),
    /// Creates a light with a handle.
    Light(Arc<str>, ShaderCall, LightExtent),
    /// Draws primitives, which may be joined with the next ones.
    Primitive(Box<Batch>),
    /// Draws a finished geometry.
    Geometry(Arc<Geometry>),
    /// Draws an object.
    Instance(Arc<Object>),
    /// Gives the current coordinate system a name.
    Space(Arc<str>),
    /// Makes a named coordinate system the current one.
    UseSpace(Arc<str>),
    /// Saves or restores attributes under a name.
    Resource(ResourceStep),
    /// Sets the projection and makes the current coordinates those of the camera.
    Projection(Projection),
    /// Saves the attributes and the transformation, or the transformation alone.
    Begin(BlockScope),
    /// Begins a part of the current solid, or a solid.
    Solid(SolidOperation, SourceLocation),
    /// Restores what the matching [`RequestEffect::Begin`] saved.
    End,
}

impl RequestEffect {
    /// Whether it draws this object.
    pub(crate) fn is_instance_of(&self, object: &Arc<Object>) -> bool {
        matches!(self, Self::Instance(other) if Arc::ptr_eq(object, other))
    }

    /// Returns roughly how many bytes of new state it creates each time it is applied.
    pub(crate) fn bytes(&self) -> u64 {
        let more = match self {
            Self::Change(AttributeChange::Shader(_, Some(call))) | Self::Light(_, call, _) => call.bytes(),
            Self::Change(AttributeChange::Other(key, value)) => key.len() + value_bytes(value),
            Self::Transform(steps) => steps.keyframes().len() * size_of::<(f32, DMat4)>(),
            _ => 0,
        };
        16 + more as u64
    }
}

/// Where a light shines from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LightExtent {
    /// From where its shader says.
    Own,
    /// From the geometry that follows.
    Area,
}

/// The part of the state that a block saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockScope {
    /// The attributes and the transformation.
    Attributes,
    /// The transformation only.
    Transform,
}

/// A finished object.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) items: Vec<RequestEffect>,
    /// One more than the depth of the deepest object in it.
    pub(crate) depth: u32,
    /// Roughly how many bytes an instance of it adds to a scene; nested objects can grow exponentially.
    pub(crate) bytes: u64,
}

/// An object that is being recorded.
pub(crate) struct ObjectRecording {
    pub(crate) handle: Arc<str>,
    pub(crate) object: Object,
}

impl ObjectRecording {
    /// Begins an object.
    pub(crate) fn new(handle: Arc<str>) -> Self {
        Self { handle, object: Object { items: Vec::new(), depth: 1, bytes: 0 } }
    }

    /// Appends an effect.
    pub(crate) fn keep(&mut self, effect: RequestEffect) {
        let (depth, inside) =
            if let RequestEffect::Instance(object) = &effect { (object.depth, object.bytes) } else { (0, 0) };
        self.object.depth = self.object.depth.max(depth + 1);
        self.object.bytes = self.object.bytes.saturating_add(inside).saturating_add(effect.bytes());
        self.object.items.push(effect);
    }
}

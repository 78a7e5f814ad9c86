//! Effects of requests, as values: they are applied immediately, collected by a motion block, or kept by an object and
//! applied at each instance.

use super::fault::RequestFault;
use super::geometry::Batch;
use super::motion::{self, TransformError, TransformStep};
use super::objects::Object;
use super::reader::Reader;
use super::resource::ResourceStep;
use super::state::{AttributeChange, ShaderCall, ShaderSlot, value_bytes};
use super::worlds::LightSpan;
use crate::diagnostic::{Severity, SourceLocation};
use crate::host_memory::ChargeKind;
use crate::scene::{Attributes, DisplacementBound, Drawable, Geometry, LightId, Motion, Projection, SolidOperation};
use crate::stats::human_bytes;
use glam::DMat4;
use std::sync::Arc;

/// The largest number of other attributes of a state; every change copies them.
const OTHER_MAX: usize = 1024;

/// The bytes of a drawable besides its geometry: its own record and roughly the pipeline's records of one instance
/// (look, run, instance twice while bins are numbered, origin).
const DRAWABLE_BYTES: usize = 640;

/// The effect of one request.
#[derive(Clone, Debug)]
pub(super) enum RequestEffect {
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
    pub(super) fn is_instance_of(&self, object: &Arc<Object>) -> bool {
        matches!(self, Self::Instance(other) if Arc::ptr_eq(object, other))
    }

    /// Returns roughly how many bytes of new state it creates each time it is applied.
    pub(super) fn bytes(&self) -> u64 {
        let more = match self {
            Self::Change(AttributeChange::Shader(_, Some(call))) | Self::Light(_, call, _) => call.bytes(),
            Self::Change(AttributeChange::Other(key, value)) => key.len() + value_bytes(value),
            Self::Transform(steps) => steps.keys().len() * size_of::<(f32, DMat4)>(),
            _ => 0,
        };
        16 + more as u64
    }
}

/// Where a light shines from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LightExtent {
    /// From where its shader says.
    Own,
    /// From the geometry that follows.
    Area,
}

/// The part of the state that a block saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockScope {
    /// The attributes and the transformation.
    Attributes,
    /// The transformation only.
    Transform,
}

impl Reader<'_> {
    /// Applies the effect of a request, or adds it to the open motion block.
    pub(super) fn apply(&mut self, effect: RequestEffect) {
        let fits = match &effect {
            RequestEffect::Primitive(batch) => self.take_memory(batch.bytes()),
            _ => true,
        };
        match &mut self.moving {
            Some(block) if fits => block.collect(effect),
            Some(block) => block.mark_inert(),
            None if fits => self.perform(effect),
            None => {}
        }
    }

    /// Performs an effect and keeps it for the object that is being recorded.
    pub(super) fn perform(&mut self, effect: RequestEffect) {
        match effect {
            RequestEffect::Primitive(batch) => self.join(*batch),
            effect => {
                self.flush();
                self.take(&effect);
                let kept_bytes = effect.bytes() + size_of::<RequestEffect>() as u64;
                let keeps = self.recording.is_some() && self.take_memory(kept_bytes);
                if let Some(recording) = self.recording.as_mut().filter(|_| keeps) {
                    recording.keep(effect);
                }
            }
        }
    }

    /// Appends primitives to the pending ones, if they can form one geometry.
    fn join(&mut self, batch: Batch) {
        let rest = match &mut self.pending {
            Some(pending) => pending.append(batch),
            None => Some(batch),
        };
        if let Some(batch) = rest {
            self.flush();
            self.pending = Some(batch);
        }
    }

    /// Draws the pending primitives as a geometry, before anything changes that they depend on.
    pub(super) fn flush(&mut self) {
        if let Some(batch) = self.pending.take() {
            let geometry = Arc::new(batch.geometry());
            match &mut self.recording {
                Some(recording) => recording.keep(RequestEffect::Geometry(geometry)),
                None => self.draw_geometry(&geometry, true),
            }
        }
    }

    /// Charges host memory for an addition to the scene. The first failure is reported; from then to the end of the
    /// world nothing more is added, so that everything after the first failure is left out.
    pub(super) fn take_memory(&mut self, bytes: u64) -> bool {
        let known = self.charge.refused().is_some();
        let fits = self.charge.take(ChargeKind::Geometry, bytes);
        if !fits && !known {
            self.refuse(&format!("{} of geometry", human_bytes(bytes)), "what follows is left out");
        }
        fits
    }

    /// Reports that host memory is used up, by what, and the `consequence`.
    pub(super) fn refuse(&mut self, asked: &str, consequence: &str) {
        self.summary.incomplete = true;
        let memory = self.charge.memory();
        let (limit, usage) = (human_bytes(memory.limit_bytes()), memory.usage());
        let message = format!(
            "host memory is used up: {usage} are in use out of {limit}, and another {asked} is needed here; {consequence}"
        );
        let hint = "raise --host-memory, split the scene, or render a smaller Format or a crop";
        let mut fault = RequestFault::error("limitcheck", self.current.offset, message).hint(hint);
        fault.severity = Severity::Severe;
        self.report_here(fault);
    }

    /// Changes the state, or draws. The caller handles blocks.
    fn take(&mut self, effect: &RequestEffect) {
        match effect {
            RequestEffect::Transform(steps) => self.take_steps(steps),
            RequestEffect::Change(change) => self.take_change(change),
            RequestEffect::Light(handle, call, extent) => self.make_light(handle, call, *extent),
            RequestEffect::Geometry(geometry) if self.recording.is_none() => self.draw_geometry(geometry, false),
            RequestEffect::Instance(object) if self.recording.is_none() => self.draw_object(object),
            RequestEffect::Space(name) => self.make_space(name),
            RequestEffect::UseSpace(name) => self.use_space(name),
            RequestEffect::Resource(step) => self.take_resource(step),
            RequestEffect::Projection(projection) => self.take_projection(*projection),
            RequestEffect::Solid(operation, location) if self.recording.is_none() => {
                self.enter_solid(*operation, location);
            }
            RequestEffect::Geometry(_)
            | RequestEffect::Solid(..)
            | RequestEffect::Instance(_)
            | RequestEffect::Primitive(_)
            | RequestEffect::Begin(_)
            | RequestEffect::End => {}
        }
    }

    fn take_steps(&mut self, steps: &Motion<TransformStep>) {
        match motion::transformed(&self.state.transform, steps) {
            Ok(transform) => self.state.transform = Arc::new(transform),
            Err(TransformError::Singular) => {
                let message = "this transformation cannot be inverted and is ignored";
                self.report_here(
                    RequestFault::error("math", self.current.offset, message)
                        .hint("it flattens everything to a plane, a line or a point"),
                );
            }
            Err(TransformError::TooManyKeys) => {
                let message =
                    format!("the transformation would have more than {} times and is ignored", motion::KEYS_MAX);
                self.report_here(RequestFault::error("limitcheck", self.current.offset, message));
            }
        }
    }

    /// Applies the effects of an object, whose blocks are balanced.
    pub(super) fn replay(&mut self, items: &[RequestEffect]) {
        let mut saved = Vec::new();
        for item in items {
            match item {
                RequestEffect::Begin(saves) => saved.push((*saves, self.state.clone())),
                RequestEffect::End => match saved.pop() {
                    Some((BlockScope::Attributes, state)) => self.state = state,
                    Some((BlockScope::Transform, state)) => self.state.transform = state.transform,
                    None => {}
                },
                item => self.take(item),
            }
        }
    }

    /// Adds a drawable to the world under the current state. A drawable that `waited` to be joined was read before
    /// memory was used up.
    fn draw_geometry(&mut self, geometry: &Arc<Geometry>, waited: bool) {
        if self.state.detail.is_visible() {
            self.add_emitter(geometry);
        }
        let Some(world) = self.world.as_mut().filter(|_| self.state.detail.is_visible()) else { return };
        if !self.state.camera_visible {
            world.invisible += geometry.shape.first().primitive_count() as u64;
            return;
        }
        let attributes = &self.state.attributes;
        let attributes =
            if self.state.flip_normal(world.mirrored) { world.flipped(attributes) } else { Arc::clone(attributes) };
        let world_from_object = Arc::clone(&self.state.transform);
        let detail = self.state.detail.samples();
        let solid = self.state.solid.map(|solid| world.solids.primitive(solid));
        let last = world.drawables.last();
        let mut bytes = DRAWABLE_BYTES;
        if last.is_none_or(|last| !Arc::ptr_eq(&last.attributes, &attributes)) {
            bytes += size_of::<Attributes>() + 64 * attributes.other.len() + 4 * attributes.lights.len();
            bytes += size_of_val(&*attributes.scoped_spaces);
        }
        if last.is_none_or(|last| !Arc::ptr_eq(&last.world_from_object, &world_from_object)) {
            bytes += size_of_val(world_from_object.keys());
        }
        let drawable = Drawable { geometry: Arc::clone(geometry), world_from_object, attributes, detail, solid };
        let was_read = waited && self.charge.try_take(ChargeKind::Geometry, bytes as u64);
        if (was_read || self.take_memory(bytes as u64))
            && let Some(world) = &mut self.world
        {
            world.outline.note(&drawable);
            world.drawables.push(drawable);
            self.give_outline();
        }
    }

    fn take_change(&mut self, change: &AttributeChange) {
        if let AttributeChange::DetailBox(bounds) = change {
            self.state.detail.size = self.detail_size(bounds);
            return;
        }
        if let AttributeChange::ScopedSpace(name) = change {
            self.make_scoped_space(name);
            return;
        }
        let state = &mut self.state;
        match change {
            AttributeChange::Orientation(orientation) => {
                let mirrored_camera = self.world.as_ref().is_some_and(|world| world.mirrored);
                state.orient(*orientation, mirrored_camera);
            }
            AttributeChange::ReverseOrientation => state.inside = !state.inside,
            AttributeChange::Basis(basis) => state.basis = *basis,
            AttributeChange::TrimCurves(curves) => state.trim.curves.clone_from(curves),
            AttributeChange::TrimSense(draws_outside) => state.trim.draws_outside = *draws_outside,
            AttributeChange::DetailRange(range) => state.detail.range = *range,
            AttributeChange::CameraVisibility(visible) => state.camera_visible = *visible,
            AttributeChange::AreaLight(light) => state.area_light = *light,
            AttributeChange::Shader(slot, call) => {
                let shader = call.as_ref().map(|call| Arc::new(call.instance(&state.transform)));
                let attributes = Arc::make_mut(&mut state.attributes);
                match slot {
                    ShaderSlot::Surface => attributes.surface = shader,
                    ShaderSlot::Displacement => attributes.displacement = shader,
                    ShaderSlot::Atmosphere => attributes.atmosphere = shader,
                }
            }
            change => {
                if let Err(fault) = change_attributes(Arc::make_mut(&mut state.attributes), change, self.current.offset)
                {
                    self.report_here(fault);
                }
            }
        }
    }
}

/// Applies a change that affects only the attributes.
fn change_attributes(attributes: &mut Attributes, change: &AttributeChange, offset: usize) -> Result<(), RequestFault> {
    match change {
        AttributeChange::Color(color) => attributes.color = *color,
        AttributeChange::Opacity(opacity) => attributes.opacity = *opacity,
        AttributeChange::TextureCoordinates(corners) => attributes.texture_coordinates = *corners,
        AttributeChange::Illuminate(span, on) => illuminate(attributes, *span, *on),
        AttributeChange::ShadingRate(rate) => attributes.shading_rate = *rate,
        AttributeChange::RelativeShadingRate(rate) => attributes.relative_shading_rate = *rate,
        AttributeChange::Interpolation(interpolation) => attributes.shading_interpolation = *interpolation,
        AttributeChange::Matte(matte) => attributes.matte = *matte,
        AttributeChange::TwoSided(two_sided) => attributes.two_sided = *two_sided,
        AttributeChange::Name(name) => attributes.name = Arc::clone(name),
        AttributeChange::DisplacementBound { radius, space } => {
            let old = attributes.displacement_bound.take();
            let old = old.unwrap_or_else(|| DisplacementBound { radius: 0.0, space: "object".into() });
            let space = space.clone().unwrap_or(old.space);
            attributes.displacement_bound = Some(DisplacementBound { radius: radius.unwrap_or(old.radius), space });
        }
        AttributeChange::Other(key, value) => {
            if attributes.other.len() >= OTHER_MAX && !attributes.other.contains_key(key) {
                let message = format!("more than {OTHER_MAX} attributes are set at once; {key} is ignored");
                return Err(RequestFault::error("limitcheck", offset, message));
            }
            attributes.other.insert(key.clone(), value.clone());
        }
        // Handled by the reader, because they affect more than the attributes.
        AttributeChange::Orientation(_)
        | AttributeChange::ReverseOrientation
        | AttributeChange::Basis(_)
        | AttributeChange::TrimCurves(_)
        | AttributeChange::TrimSense(_)
        | AttributeChange::DetailRange(_)
        | AttributeChange::DetailBox(_)
        | AttributeChange::ScopedSpace(_)
        | AttributeChange::CameraVisibility(_)
        | AttributeChange::AreaLight(_)
        | AttributeChange::Shader(..) => {}
    }
    Ok(())
}

/// Switches lights; the list stays in the order in which the lights were created.
fn illuminate(attributes: &mut Attributes, span: LightSpan, on: bool) {
    let ids = span.first.0..span.first.0 + span.count;
    let mut lights = attributes.lights.to_vec();
    let from = lights.partition_point(|light| light.0 < ids.start);
    let to = lights.partition_point(|light| light.0 < ids.end);
    lights.splice(from..to, ids.filter(|_| on).map(LightId));
    if *lights != *attributes.lights {
        attributes.lights = lights.into();
    }
}

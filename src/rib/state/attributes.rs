//! Changes of the attributes, as values.

use super::graphics::{GraphicsState, Orientation};
use super::lights::LightSpan;
use super::shader_call::{ShaderCall, mix};
use super::trim::TrimCurves;
use crate::rib::stream::messages::Messages;
use crate::scene::{Attributes, Basis, DisplacementBound, LightId, ParamValue, ShadingInterpolation};
use std::sync::Arc;

/// The largest number of other attributes of a state; every change copies them.
const OTHER_MAX: usize = 1024;

/// One of the shaders of an attribute state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShaderSlot {
    /// Surface.
    Surface,
    /// Displacement.
    Displacement,
    /// Atmosphere.
    Atmosphere,
}

/// One change of the attributes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AttributeChange {
    /// Color.
    Color([f32; 3]),
    /// Opacity.
    Opacity([f32; 3]),
    /// TextureCoordinates.
    TextureCoordinates([[f32; 2]; 4]),
    /// Surface, Displacement or Atmosphere; `None` removes the shader.
    Shader(ShaderSlot, Option<ShaderCall>),
    /// Illuminate, or a new light.
    Illuminate(LightSpan, bool),
    /// AreaLightSource: the first light of what the following primitives shine from; `None` ends it.
    AreaLight(Option<LightId>),
    /// ShadingRate.
    ShadingRate(f32),
    /// ShadingInterpolation.
    Interpolation(ShadingInterpolation),
    /// Matte.
    Matte(bool),
    /// Sides.
    TwoSided(bool),
    /// Orientation.
    Orientation(Orientation),
    /// ReverseOrientation.
    ReverseOrientation,
    /// Basis.
    Basis([Basis; 2]),
    /// TrimCurve; `None` trims nothing.
    TrimCurves(Option<Arc<TrimCurves>>),
    /// Attribute "trimcurve" "sense": whether what is outside of the loops is drawn.
    TrimSense(bool),
    /// DetailRange.
    DetailRange([f64; 4]),
    /// Detail: a box in the current coordinates, xmin xmax ymin ymax zmin zmax.
    DetailBox([f64; 6]),
    /// Attribute "displacementbound".
    DisplacementBound {
        /// Radius, if given.
        radius: Option<f32>,
        /// Coordinate system, if given.
        space: Option<Arc<str>>,
    },
    /// Attribute "visibility" "camera".
    CameraVisibility(bool),
    /// Attribute "shade" "relativeshadingrate".
    RelativeShadingRate(f32),
    /// Attribute "identifier" "name".
    Name(Arc<str>),
    /// ScopedCoordinateSystem.
    ScopedSpace(Arc<str>),
    /// Any other attribute.
    Other(String, ParamValue),
}

impl AttributeChange {
    /// Interpolates between this change and a later one of the same kind: `weight` 0 is this one, 1 the later one.
    /// Values that cannot be blended are kept from this one.
    pub(crate) fn blend(&self, later: &Self, weight: f32) -> Self {
        let mix3 = |a: &[f32; 3], b: &[f32; 3]| std::array::from_fn(|i| mix(a[i], b[i], weight));
        match (self, later) {
            (Self::Color(a), Self::Color(b)) => Self::Color(mix3(a, b)),
            (Self::Opacity(a), Self::Opacity(b)) => Self::Opacity(mix3(a, b)),
            (Self::ShadingRate(a), Self::ShadingRate(b)) => Self::ShadingRate(mix(*a, *b, weight)),
            (Self::TextureCoordinates(a), Self::TextureCoordinates(b)) => {
                Self::TextureCoordinates(std::array::from_fn(|i| {
                    std::array::from_fn(|j| mix(a[i][j], b[i][j], weight))
                }))
            }
            (Self::Shader(slot, Some(a)), Self::Shader(_, Some(b))) => Self::Shader(*slot, Some(a.blend(b, weight))),
            _ => self.clone(),
        }
    }

    /// Whether it changes the same as another change of its kind; where the two are written does not matter.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Shader(slot, Some(a)), Self::Shader(other_slot, Some(b))) => slot == other_slot && a.is_like(b),
            _ => self == other,
        }
    }
}

impl GraphicsState {
    /// Makes a change that depends on nothing but the state.
    pub(crate) fn change(&mut self, change: &AttributeChange, messages: &Messages<'_>) {
        match change {
            AttributeChange::ReverseOrientation => self.inside = !self.inside,
            AttributeChange::Basis(basis) => self.basis = *basis,
            AttributeChange::TrimCurves(curves) => self.trim.curves.clone_from(curves),
            AttributeChange::TrimSense(draws_outside) => self.trim.draws_outside = *draws_outside,
            AttributeChange::DetailRange(range) => self.detail.range = *range,
            AttributeChange::CameraVisibility(visible) => self.camera_visible = *visible,
            AttributeChange::AreaLight(light) => self.area_light = *light,
            AttributeChange::Shader(slot, call) => {
                let shader = call.as_ref().map(|call| Arc::new(call.instance(&self.transform)));
                let attributes = Arc::make_mut(&mut self.attributes);
                match slot {
                    ShaderSlot::Surface => attributes.surface = shader,
                    ShaderSlot::Displacement => attributes.displacement = shader,
                    ShaderSlot::Atmosphere => attributes.atmosphere = shader,
                }
            }
            change => change_attributes(Arc::make_mut(&mut self.attributes), change, messages),
        }
    }
}

/// Applies a change that affects only the attributes.
fn change_attributes(attributes: &mut Attributes, change: &AttributeChange, messages: &Messages<'_>) {
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
                messages.report_error("limitcheck", message);
                return;
            }
            attributes.other.insert(key.clone(), value.clone());
        }
        // They affect more than the attributes.
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

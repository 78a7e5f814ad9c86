//! The graphics state that attribute and transform blocks save: attributes and the current transformation (RISpec 2.2).

use super::geometry::{TrimCurves, TrimState};
use super::motion::still;
use super::worlds::LightSpan;
use crate::scene::{
    Attributes, Basis, DETAIL_STEPS, LightId, Motion, ParamValue, ShaderInstance, ShaderParam, ShadingInterpolation,
    SolidId,
};
use glam::DMat4;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which way surfaces face (RISpec 5.1, `Orientation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Orientation {
    /// As the object's coordinates define it.
    Outside,
    /// The opposite of `Outside`.
    Inside,
    /// By the left-hand rule.
    LeftHanded,
    /// By the right-hand rule.
    RightHanded,
}

impl Orientation {
    /// Returns the orientation with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "outside" => Self::Outside,
            "inside" => Self::Inside,
            "lh" => Self::LeftHanded,
            "rh" => Self::RightHanded,
            _ => return None,
        })
    }
}

/// The range of levels of detail in which geometry is drawn (RISpec 4.2, `Detail` and `DetailRange`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Detail {
    /// Area of the current detail box in pixels; infinite when none was given.
    pub(super) size: f64,
    /// minvisible, lowertransition, uppertransition, maxvisible.
    pub(super) range: [f64; 4],
}

impl Detail {
    /// The samples that see the geometry: those whose number, of [`DETAIL_STEPS`], lies from the first to the second
    /// one, exclusive. Of two levels with the same transition each sample sees exactly one.
    pub(super) fn samples(&self) -> [u32; 2] {
        let [min, low, up, max] = self.range;
        let part = |from: f64, to: f64| match self.size {
            size if size >= to => 1.0,
            size if size <= from => 0.0,
            size => (size - from) / (to - from),
        };
        let is_unbounded = max >= f64::from(f32::MAX) / 4.0;
        let step = |part: f64| (part * f64::from(DETAIL_STEPS)).round() as u32;
        [if is_unbounded { 0 } else { step(part(up, max)) }, step(part(min, low))]
    }

    /// Whether any sample sees the geometry.
    pub(super) fn is_visible(&self) -> bool {
        let [first, end] = self.samples();
        first < end
    }
}

/// The graphics state, which `AttributeBegin` saves.
#[derive(Clone, Debug)]
pub(super) struct GraphicsState {
    /// The attributes, with the orientation that the surface's coordinates define; shared with the drawables so far.
    pub(super) attributes: Arc<Attributes>,
    /// The current transformation, to world space, or before WorldBegin to camera space.
    pub(super) transform: Arc<Motion<DMat4>>,
    /// Whether surfaces face the opposite of what the current coordinate system defines: Orientation "inside", or "lh"
    /// or "rh" where the coordinate system has the other hand, and each ReverseOrientation since.
    pub(super) inside: bool,
    /// The bases in u and v.
    pub(super) basis: [Basis; 2],
    /// TrimCurve and Attribute "trimcurve".
    pub(super) trim: TrimState,
    /// Level of detail.
    pub(super) detail: Detail,
    /// Attribute "visibility" "camera".
    pub(super) camera_visible: bool,
    /// The first light of the area light that primitives shine from.
    pub(super) area_light: Option<LightId>,
    /// The solid that surfaces are parts of.
    pub(super) solid: Option<SolidId>,
}

impl GraphicsState {
    /// Creates the state at the beginning of a file (RISpec tables 4.6 and 4.11).
    pub(super) fn new(shading_rate: f32) -> Self {
        let surface = ShaderInstance {
            name: "defaultsurface".into(),
            params: Vec::new(),
            world_from_shader: still(DMat4::IDENTITY),
            location: crate::diagnostic::SourceLocation::default(),
        };
        let attributes = Attributes {
            color: [1.0; 3],
            opacity: [1.0; 3],
            texture_coordinates: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
            surface: Some(Arc::new(surface)),
            displacement: None,
            atmosphere: None,
            lights: Arc::default(),
            shading_rate,
            relative_shading_rate: 1.0,
            shading_interpolation: ShadingInterpolation::Constant,
            matte: false,
            two_sided: true,
            flip_normal: false,
            displacement_bound: None,
            name: "".into(),
            scoped_spaces: Arc::default(),
            other: BTreeMap::new(),
        };
        Self {
            attributes: Arc::new(attributes),
            transform: still(DMat4::IDENTITY),
            inside: false,
            basis: [super::basis::BEZIER; 2],
            trim: TrimState::default(),
            detail: Detail { size: f64::INFINITY, range: [0.0, 0.0, f64::INFINITY, f64::INFINITY] },
            camera_visible: true,
            area_light: None,
            solid: None,
        }
    }

    /// Sets the orientation. "lh" and "rh" choose between the two sides once; after that the orientation flips with the
    /// coordinate system, as any other does (RISpec 4.2.14).
    pub(super) fn orient(&mut self, orientation: Orientation, mirrored_camera: bool) {
        self.inside = match orientation {
            Orientation::Outside => false,
            Orientation::Inside => true,
            Orientation::LeftHanded => self.mirrored(mirrored_camera),
            Orientation::RightHanded => !self.mirrored(mirrored_camera),
        };
    }

    /// Whether the current coordinate system is right-handed. `mirrored_camera` says whether the transformation from
    /// camera to world changes handedness. Camera space is left-handed.
    fn mirrored(&self, mirrored_camera: bool) -> bool {
        mirrored_camera != (self.transform.first().determinant() < 0.0)
    }

    /// Whether surfaces made now face the opposite of dP/du x dP/dv in camera space.
    ///
    /// "outside" means cross(dP/du, dP/dv) of the object's own coordinates, carried over as a normal; in camera space
    /// that is the opposite of the cross product exactly when the transformation from object to camera mirrors.
    pub(super) fn flip_normal(&self, mirrored_camera: bool) -> bool {
        self.mirrored(mirrored_camera) != self.inside
    }
}

/// A shader as a request names it, before the transformation that it is placed by is known.
#[derive(Clone, Debug)]
pub(super) struct ShaderCall {
    /// Its name.
    pub(super) name: Arc<str>,
    /// Its parameters.
    pub(super) params: Vec<ShaderParam>,
    /// Where it is named.
    pub(super) location: crate::diagnostic::SourceLocation,
}

impl ShaderCall {
    /// Creates the instance under the current transformation `transform`.
    pub(super) fn instance(&self, transform: &Arc<Motion<DMat4>>) -> ShaderInstance {
        ShaderInstance {
            name: Arc::clone(&self.name),
            params: self.params.clone(),
            world_from_shader: Arc::clone(transform),
            location: self.location.clone(),
        }
    }

    /// Returns roughly how many bytes an instance needs.
    pub(super) fn bytes(&self) -> usize {
        let params = self.params.iter().map(|param| size_of::<ShaderParam>() + value_bytes(&param.value));
        size_of::<ShaderInstance>() + params.sum::<usize>()
    }

    /// Interpolates the numbers of two calls of the same shader; returns `self` where they do not match.
    pub(super) fn blend(&self, other: &Self, weight: f32) -> Self {
        let mut result = self.clone();
        if self.name != other.name {
            return result;
        }
        for param in &mut result.params {
            let partner = other.params.iter().find(|p| p.name == param.name && p.ty == param.ty);
            if let (ParamValue::Floats(a), Some(ParamValue::Floats(b))) = (&mut param.value, partner.map(|p| &p.value))
            {
                for (a, b) in a.iter_mut().zip(b) {
                    *a = mix(*a, *b, weight);
                }
            }
        }
        result
    }
}

/// Returns roughly how many bytes a value needs.
pub(super) fn value_bytes(value: &ParamValue) -> usize {
    match value {
        ParamValue::Floats(values) => values.len() * 4,
        ParamValue::Ints(values) => values.len() * 4,
        ParamValue::Strings(values) => values.len() * size_of::<Arc<str>>(),
    }
}

/// One of the shaders of an attribute state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShaderSlot {
    /// Surface.
    Surface,
    /// Displacement.
    Displacement,
    /// Atmosphere.
    Atmosphere,
}

/// One change of the attributes.
#[derive(Clone, Debug)]
pub(super) enum AttributeChange {
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
    pub(super) fn blend(&self, later: &Self, weight: f32) -> Self {
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
}

fn mix(a: f32, b: f32, weight: f32) -> f32 {
    a + (b - a) * weight
}

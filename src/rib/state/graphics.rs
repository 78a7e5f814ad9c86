//! The graphics state that attribute and transform blocks save: attributes and the current transformation (RISpec 2.2).

use super::basis::BEZIER;
use super::motion::still;
use super::trim::TrimState;
use crate::diagnostic::SourceLocation;
use crate::scene::{Attributes, Basis, DETAIL_STEPS, LightId, Motion, ShaderInstance, ShadingInterpolation, SolidId};
use glam::DMat4;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which way surfaces face (RISpec 5.1, `Orientation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orientation {
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
    pub(crate) fn named(name: &str) -> Option<Self> {
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
pub(crate) struct Detail {
    /// Area of the current detail box in pixels; infinite when none was given.
    pub(crate) size: f64,
    /// minvisible, lowertransition, uppertransition, maxvisible.
    pub(crate) range: [f64; 4],
}

impl Detail {
    /// Returns the samples that see the geometry: those whose number, of [`DETAIL_STEPS`], lies from the first to the
    /// second one, exclusive. Of two levels with the same transition each sample sees exactly one.
    pub(crate) fn samples(&self) -> [u32; 2] {
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
    pub(crate) fn is_visible(&self) -> bool {
        let [first, end] = self.samples();
        first < end
    }
}

/// The graphics state, which `AttributeBegin` saves.
#[derive(Clone, Debug)]
pub(crate) struct GraphicsState {
    /// The attributes, with the orientation that the surface's coordinates define; shared with the drawables so far.
    pub(crate) attributes: Arc<Attributes>,
    /// The current transformation, to world space, or before WorldBegin to camera space.
    pub(crate) transform: Arc<Motion<DMat4>>,
    /// Whether surfaces face the opposite of what the current coordinate system defines: Orientation "inside", or "lh"
    /// or "rh" where the coordinate system has the other hand, and each ReverseOrientation since.
    pub(crate) inside: bool,
    /// The bases in u and v.
    pub(crate) basis: [Basis; 2],
    /// TrimCurve and Attribute "trimcurve".
    pub(crate) trim: TrimState,
    /// Level of detail.
    pub(crate) detail: Detail,
    /// Attribute "visibility" "camera".
    pub(crate) camera_visible: bool,
    /// The first light of the area light that primitives shine from.
    pub(crate) area_light: Option<LightId>,
    /// The solid that surfaces are parts of.
    pub(crate) solid: Option<SolidId>,
}

impl GraphicsState {
    /// Creates the state at the beginning of a file (RISpec tables 4.6 and 4.11).
    pub(crate) fn new(shading_rate: f32) -> Self {
        let surface = ShaderInstance {
            name: "defaultsurface".into(),
            params: Vec::new(),
            world_from_shader: still(DMat4::IDENTITY),
            location: SourceLocation::default(),
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
            basis: [BEZIER; 2],
            trim: TrimState::default(),
            detail: Detail { size: f64::INFINITY, range: [0.0, 0.0, f64::INFINITY, f64::INFINITY] },
            camera_visible: true,
            area_light: None,
            solid: None,
        }
    }

    /// Sets the orientation. "lh" and "rh" choose between the two sides once; after that the orientation flips with the
    /// coordinate system, as any other does (RISpec 4.2.14).
    pub(crate) fn orient(&mut self, orientation: Orientation, mirrored_camera: bool) {
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
    pub(crate) fn flip_normal(&self, mirrored_camera: bool) -> bool {
        self.mirrored(mirrored_camera) != self.inside
    }
}

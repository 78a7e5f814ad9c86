//! Attributes: the settings of each primitive (RISpec 3.2, section 4.2).

use super::geometry::ValueType;
use super::{Motion, NamedSpace};
use crate::diagnostic::SourceLocation;
use glam::DMat4;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The value of a parameter: floats for every numeric type (points, colours and matrices are runs of floats), or
/// strings, or integers.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// Numbers: 3 for a color, point, vector or normal, 4 for an hpoint, 16 for a matrix (row-major, as RIB writes it).
    Floats(Vec<f32>),
    /// Integers.
    Ints(Vec<i32>),
    /// Strings.
    Strings(Vec<Arc<str>>),
}

/// One parameter of a shader instance, as given in RIB: not yet checked against the shader.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderParam {
    /// Name without the declaration.
    pub name: Arc<str>,
    /// Declared type; `None` if it has the type of the shader's parameter.
    pub ty: Option<ValueType>,
    /// Its value.
    pub value: ParamValue,
}

/// A shader with the parameters given and the space in which it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderInstance {
    /// The name as written, searched as NAME.sl on the shader path and then among the built-in shaders.
    pub name: Arc<str>,
    /// Parameters in the order given; a later one of the same name wins.
    pub params: Vec<ShaderParam>,
    /// World space from "shader" space: the current transformation where the shader was named.
    pub world_from_shader: Arc<Motion<DMat4>>,
    /// Where it was named.
    pub location: SourceLocation,
}

/// Index into [`super::World::lights`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LightId(pub u32);

/// A light source.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// The light shader.
    pub shader: ShaderInstance,
    /// Its handle, for messages.
    pub handle: Arc<str>,
    /// The scoped coordinate systems where it was made.
    pub scoped_spaces: Arc<[NamedSpace]>,
    /// What it is of an area light.
    pub part: Option<AreaPart>,
    /// The shadow maps that it makes by itself, if it does.
    pub casts: Option<ShadowRequest>,
    /// Its own shadow maps, once they are drawn: one, or six along +x, -x, +y, -y, +z and -z of the world.
    pub maps: Arc<[Arc<str>]>,
}

/// One of the lights that an area light is made of, which are next to each other in the world's list; they share its
/// light equally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaPart {
    /// How many they are.
    pub count: u32,
}

/// Shadow maps that a light makes by itself: `Attribute "light" "shadows"`, `Attribute "autoshadows"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowRequest {
    /// The file that the map is kept in, if the scene names one.
    pub map_name: Option<Arc<str>>,
    /// Width and height of a map.
    pub resolution: [u32; 2],
}

/// How far a displacement shader may move a point.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplacementBound {
    /// Radius in the units of `space`.
    pub radius: f32,
    /// Name of a coordinate system (`object`, `shader`, `world`, `camera`, a named one).
    pub space: Arc<str>,
}

/// How colours vary over a micropolygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShadingInterpolation {
    /// One colour for each micropolygon.
    Constant,
    /// Interpolated between its vertices.
    Smooth,
}

/// The attribute state of a drawable.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    /// Color (RGB).
    pub color: [f32; 3],
    /// Opacity (RGB).
    pub opacity: [f32; 3],
    /// TextureCoordinates s1 t1 ... s4 t4, at (u,v) = (0,0) (1,0) (0,1) (1,1).
    pub texture_coordinates: [[f32; 2]; 4],
    /// Surface shader; `None` is `Surface "null"`, which shows the colour by the opacity and computes nothing.
    pub surface: Option<Arc<ShaderInstance>>,
    /// Displacement shader.
    pub displacement: Option<Arc<ShaderInstance>>,
    /// Atmosphere (volume) shader.
    pub atmosphere: Option<Arc<ShaderInstance>>,
    /// Lights that are on, in the order of their creation.
    pub lights: Arc<[LightId]>,
    /// Desired micropolygon area in pixels; always positive.
    pub shading_rate: f32,
    /// What the area is multiplied by (Attribute "shade" "relativeshadingrate"); always positive.
    pub relative_shading_rate: f32,
    /// ShadingInterpolation.
    pub shading_interpolation: ShadingInterpolation,
    /// Whether the object only hides others.
    pub matte: bool,
    /// Whether back faces are visible (Sides 2).
    pub two_sided: bool,
    /// Whether the surface normal is the opposite of dP/du x dP/dv in camera space, from Orientation,
    /// ReverseOrientation and the handedness of the transformation together.
    pub flip_normal: bool,
    /// Declared displacement bound, if any.
    pub displacement_bound: Option<DisplacementBound>,
    /// `Attribute "identifier" "name"`, or empty.
    pub name: Arc<str>,
    /// Coordinate systems that are known only under this state, each name once: `ScopedCoordinateSystem`.
    pub scoped_spaces: Arc<[NamedSpace]>,
    /// Every other attribute that was set, as `category:name`.
    pub other: BTreeMap<String, ParamValue>,
}

impl Attributes {
    /// Whether shaders also bake what no sample sees: `Attribute "cull" "hidden" 0`, or `"backfacing" 0` where back
    /// faces are not visible.
    pub fn bakes_unseen(&self) -> bool {
        let kept = |name: &str| matches!(self.other.get(name), Some(ParamValue::Ints(cull)) if cull[..] == [0]);
        kept("cull:hidden") || !self.two_sided && kept("cull:backfacing")
    }

    /// Whether the object is in shadow maps that lights make by themselves: not if `Attribute "visibility"
    /// "transmission"` or `"shadow"` or one of their older spellings takes it out.
    pub fn casts_shadows(&self) -> bool {
        let unless = |key: &str| self.other.get(key).is_some_and(is_unseen);
        // A set of bits, of which the third is for shadows.
        let bits = self.other.get("render:visibility");
        let is_out_by_bits = matches!(bits, Some(ParamValue::Ints(bits)) if bits.iter().all(|bits| bits & 4 == 0));
        !(is_out_by_bits
            || unless("visibility:transmission")
            || unless("visibility:shadow")
            || unless("render:casts_shadows"))
    }
}

/// Whether a value says that an object is not seen.
fn is_unseen(value: &ParamValue) -> bool {
    match value {
        ParamValue::Ints(values) => values[..] == [0],
        ParamValue::Floats(values) => values[..] == [0.0],
        ParamValue::Strings(values) => values.iter().any(|value| matches!(&**value, "none" | "transparent")),
    }
}

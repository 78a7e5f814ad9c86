//! The built-in functions of the language ("shadeops"): one table says what each takes and gives, who may call it, and
//! what it is lowered to.

mod table;

use crate::ir::{Axis, Binary, LookupKind, MessageTarget, NoiseKind, QuerySource, TransformKind, Unary};
use crate::syntax::ast::{DeclaredKind, Type};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// What a shadeop is lowered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// A mathematical function of the values of its arguments.
    Math(MathOp),
    /// A geometric function of the values of its arguments.
    Geometry(GeometryOp),
    /// Light at the surface, as a function of the values of its arguments.
    Lighting(LightingOp),
    /// `spline`
    Spline,
    /// `random`
    Random,
    /// `random` for a uniform variable: one number for all points.
    UniformRandom,
    /// `setxcomp`, `setycomp` or `setzcomp`, by the index of the component.
    SetComponent(u8),
    /// `setcomp`, of colors and matrices.
    SetComponentAt,
    /// `fresnel`
    Fresnel,
    /// `transform`, `vtransform` or `ntransform`.
    Transform(TransformKind),
    /// `mtransform`
    TransformMatrix,
    /// `ctransform`
    TransformColor,
    /// `printf`
    Printf,
    /// `bake3d`
    Bake3d,
    /// `bake`
    Bake,
    /// `format`
    Format,
    /// `concat`
    Concat,
    /// `match`
    Match,
    /// `trace`
    Trace,
    /// `texture`, `environment`, `shadow` or `occlusion`.
    Lookup(LookupKind),
    /// `textureinfo`
    TextureInfo,
    /// `texture3d`
    Points,
    /// `bump`
    Bump,
    /// A message to another shader.
    Message(MessageTarget),
    /// A query of the renderer.
    Query(QuerySource),
    /// `incident` or `opposite`: a message to the volume shader on one side of the surface.
    VolumeSide,
    /// A function of other renderers that is not computed: the result is always this number.
    Absent(u8),
}

/// A mathematical function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MathOp {
    /// One operation on one value.
    Unary(Unary),
    /// One operation on two values.
    Binary(Binary),
    /// An operation on two values, applied from left to right to two or more.
    Reduce(Binary),
    /// Degrees to radians.
    Radians,
    /// Radians to degrees.
    Degrees,
    /// Logarithm to a given base.
    LogBase,
    /// The reciprocal of the square root.
    InverseSqrt,
    /// `step`
    Step,
    /// `smoothstep`
    Smoothstep,
    /// A step, smoothed over the change of its argument.
    Filterstep,
    /// `clamp`
    Clamp,
    /// `mix`
    Mix,
    /// `Du` or `Dv`.
    Derivative(Axis),
    /// `Deriv`
    Deriv,
    /// `noise`, `pnoise` or `cellnoise`.
    Noise(NoiseKind),
}

/// A geometric function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometryOp {
    /// `xcomp`, `ycomp` or `zcomp`, by the index of the component.
    Component(u8),
    /// `comp`, of colors and matrices.
    ComponentAt,
    /// `length`
    Length,
    /// `distance`
    Distance,
    /// `ptlined`
    PointLineDistance,
    /// `normalize`
    Normalize,
    /// `rotate`, of points.
    RotatePoint,
    /// `rotate`, of matrices.
    RotateMatrix,
    /// `translate`
    Translate,
    /// `scale`
    Scale,
    /// `area`
    Area,
    /// `faceforward`
    FaceForward,
    /// `reflect`
    Reflect,
    /// `refract`
    Refract,
    /// `depth`
    Depth,
    /// `calculatenormal`
    CalculateNormal,
}

/// A function of the light that arrives at the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightingOp {
    /// `ambient`
    Ambient,
    /// `diffuse`
    Diffuse,
    /// `specular`
    Specular,
    /// `specularbrdf`, which takes the direction of the light as an argument.
    SpecularBrdf,
    /// `phong`
    Phong,
}

impl Opcode {
    /// Whether it compares neighbouring points of the grid.
    pub fn needs_neighbours(self) -> bool {
        matches!(
            self,
            Self::Math(MathOp::Derivative(_) | MathOp::Deriv | MathOp::Filterstep)
                | Self::Geometry(GeometryOp::Area | GeometryOp::CalculateNormal)
                | Self::Lookup(_)
                | Self::Bump
        )
    }

    /// Whether it loops over the lights.
    pub fn runs_lights(self) -> bool {
        matches!(self, Self::Lighting(LightingOp::Diffuse | LightingOp::Specular | LightingOp::Phong))
    }

    /// Whether it does something besides returning a result, so that a call makes sense whose result is not used.
    pub fn has_effect(self) -> bool {
        matches!(self, Self::Printf | Self::Bake3d | Self::Bake)
    }
}

/// A set of shader kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindSet(u8);

impl KindSet {
    /// Every kind.
    pub const ALL: Self = Self(0b11111);
    /// Where there is geometry: all but imagers.
    pub const GEOMETRIC: Self =
        Self::of(&[DeclaredKind::Surface, DeclaredKind::Displacement, DeclaredKind::Volume, DeclaredKind::Light]);
    /// Where lights are seen: surfaces and volumes.
    pub const LIT: Self = Self::of(&[DeclaredKind::Surface, DeclaredKind::Volume]);

    /// The set of these.
    pub const fn of(kinds: &[DeclaredKind]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// Whether `kind` is in it.
    pub const fn contains(self, kind: DeclaredKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// Its members as words: "surface and volume".
    pub fn words(self) -> String {
        use DeclaredKind::{Displacement, Imager, Light, Surface, Volume};
        let all = [Surface, Displacement, Light, Volume, Imager];
        let words: Vec<_> = all.into_iter().filter(|&k| self.contains(k)).map(DeclaredKind::keyword).collect();
        words.join(" and ")
    }
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// One value.
    Value(Type),
    /// An array.
    Array(Type),
    /// The name of a texture, which a channel in brackets may follow.
    Texture,
    /// A value of any type.
    Any,
    /// Whatever stands there, whole arrays too; it is not evaluated.
    Anything,
}

/// A parameter of a shadeop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureParameter {
    /// What it takes.
    pub kind: ParameterKind,
    /// It is written: the argument must be a variable.
    pub output: bool,
}

/// One way to call a shadeop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it gives.
    pub result: Type,
    /// What it takes.
    pub parameters: Vec<SignatureParameter>,
    /// The kind of further arguments, any number of them.
    pub rest: Option<SignatureParameter>,
    /// Pairs of a name and a value may follow.
    pub named: bool,
}

/// A way to call a shadeop, and what it is then made of.
#[derive(Clone, Debug)]
pub struct Overload {
    /// The call's form.
    pub signature: Signature,
    /// What it is made of.
    pub opcode: Opcode,
    /// The kinds of shaders in which it is allowed.
    pub kinds: KindSet,
}

/// The overloads of the shadeop `name`, in order of preference; none if there is no such shadeop.
pub fn overloads(name: &str) -> &'static [Overload] {
    all().get(name).map_or(&[], Vec::as_slice)
}

/// The names of all shadeops.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().keys().copied()
}

/// Names of functions that other versions and renderers have and RSL 3.2 has not.
pub fn is_later_function(name: &str) -> bool {
    table::LATER.contains(&name)
}

/// Names that the parameter lists of texture functions may hold.
pub fn is_lookup_parameter(name: &str) -> bool {
    table::LOOKUP_PARAMETERS.contains(&name)
}

/// The type of a parameter of `texture3d`; `None` for what is the name of a channel.
pub fn points_parameter(name: &str) -> Option<Type> {
    table::POINTS_PARAMETERS.iter().find(|(known, _)| *known == name).map(|(_, ty)| *ty)
}

fn all() -> &'static FxHashMap<&'static str, Vec<Overload>> {
    static ALL: OnceLock<FxHashMap<&'static str, Vec<Overload>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut map: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for row in table::TABLE {
            let overload = |text: &&str| Overload {
                signature: Signature::parse(text).expect("the table's signatures are well formed"),
                opcode: row.opcode,
                kinds: row.kinds,
            };
            map.entry(row.name).or_default().extend(row.signatures.iter().map(overload));
        }
        map
    })
}

impl Signature {
    /// Reads a signature of the table, see [`table::TABLE`].
    fn parse(text: &str) -> Option<Self> {
        let (result, mut rest_text) = text.split_once('=')?;
        let result = match result {
            "0" => Type::Void,
            letter => value_type(letter.chars().next()?)?,
        };
        let mut signature = Self { result, parameters: Vec::new(), rest: None, named: false };
        while let Some(letter) = rest_text.chars().next() {
            rest_text = &rest_text[1..];
            let lower = letter.to_ascii_lowercase();
            let kind = match letter {
                '.' if rest_text == ".." => {
                    signature.named = true;
                    return Some(signature);
                }
                '*' => {
                    signature.rest = signature.parameters.pop();
                    return rest_text.is_empty().then_some(signature);
                }
                '[' => {
                    let element = value_type(rest_text.chars().next()?)?;
                    rest_text = rest_text[1..].strip_prefix(']')?;
                    ParameterKind::Array(element)
                }
                't' => ParameterKind::Texture,
                '?' | '!' => ParameterKind::Any,
                '@' => ParameterKind::Anything,
                _ => ParameterKind::Value(value_type(lower)?),
            };
            signature
                .parameters
                .push(SignatureParameter { kind, output: letter.is_ascii_uppercase() || letter == '!' });
        }
        Some(signature)
    }
}

fn value_type(letter: char) -> Option<Type> {
    Some(match letter {
        'f' => Type::Float,
        'c' => Type::Color,
        'p' => Type::Point,
        'v' => Type::Vector,
        'n' => Type::Normal,
        'm' => Type::Matrix,
        's' => Type::String,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures() {
        let value = |ty| SignatureParameter { kind: ParameterKind::Value(ty), output: false };
        let min = Signature::parse("f=fff*").expect("well formed");
        assert_eq!(min.parameters, [value(Type::Float), value(Type::Float)]);
        assert_eq!((min.rest, min.named), (Some(value(Type::Float)), false));
        let texture = Signature::parse("c=tff...").expect("well formed");
        assert_eq!((texture.result, texture.parameters.len(), texture.named), (Type::Color, 3, true));
        assert_eq!(texture.parameters[0].kind, ParameterKind::Texture);
        let spline = Signature::parse("v=sf[v]").expect("well formed");
        assert_eq!(spline.parameters[2].kind, ParameterKind::Array(Type::Vector));
        let set = Signature::parse("0=Mfff").expect("well formed");
        assert_eq!((set.result, set.parameters[0].output, set.parameters[1].output), (Type::Void, true, false));
        for bad in ["f", "x=f", "f=g", "f=f*f", "f=..", "f=[f"] {
            assert_eq!(Signature::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_function_of_the_standard_is_there() {
        let checklist = "radians degrees sin asin cos acos tan atan exp sqrt inversesqrt abs sign floor ceil round pow mod step log \
             min max clamp mix smoothstep filterstep spline Du Dv Deriv random noise pnoise cellnoise xcomp ycomp zcomp \
             setxcomp setycomp setzcomp length distance ptlined normalize rotate area faceforward reflect refract fresnel \
             transform vtransform ntransform depth calculatenormal determinant translate scale mtransform comp setcomp \
             ctransform printf format concat match ambient diffuse specular specularbrdf phong trace texture environment \
             shadow textureinfo texture3d bump surface displacement lightsource atmosphere incident opposite attribute option \
             rendererinfo shadername bake bake3d occlusion";
        let absent = "indirectdiffuse transmission visibility raylevel raydepth rayinfo \
             isshadowray";
        for name in checklist.split_whitespace().chain(absent.split_whitespace()) {
            assert!(!overloads(name).is_empty(), "{name}");
            assert!(!is_later_function(name), "{name}");
        }
        assert_eq!(names().count(), checklist.split_whitespace().chain(absent.split_whitespace()).count());
    }

    #[test]
    fn kinds_have_words() {
        assert_eq!(KindSet::LIT.words(), "surface and volume");
        assert!(KindSet::ALL.contains(DeclaredKind::Imager));
    }
}

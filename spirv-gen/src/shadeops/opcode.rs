//! What shadeops are lowered to, and in which shaders they may be called.

use crate::ir::{Axis, Binary, LookupKind, MessageTarget, NoiseKind, QuerySource, TransformKind, Unary};
use crate::syntax::ast::DeclaredKind;

/// `radians()` multiplies by this.
pub const RADIANS_PER_DEGREE: f32 = std::f32::consts::PI / 180.0;

/// `degrees()` multiplies by this.
pub const DEGREES_PER_RADIAN: f32 = 180.0 / std::f32::consts::PI;

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
    /// `arraylength` and what changes the length of an array.
    Array(ArrayOp),
    /// A message to another shader.
    Message(MessageTarget),
    /// A query of the renderer.
    Query(QuerySource),
    /// `incident` or `opposite`: a message to the volume shader on one side of the surface.
    VolumeSide,
    /// A function of other renderers that is not computed: the result is always this number.
    Absent(u8),
}

/// What is done with the length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayOp {
    /// `arraylength`
    Length,
    /// `capacity`
    Capacity,
    /// `push`
    Push,
    /// `pop`
    Pop,
    /// `resize`
    Resize,
    /// `reserve`
    Reserve,
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
    /// `erf`
    Erf,
    /// `erfc`
    Erfc,
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
    /// `noise`, `pnoise`, `cellnoise` or `hashnoise`.
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
    /// Returns whether it compares neighbouring points of the grid.
    pub fn needs_neighbours(self) -> bool {
        matches!(
            self,
            Self::Math(MathOp::Derivative(_) | MathOp::Deriv | MathOp::Filterstep)
                | Self::Geometry(GeometryOp::Area | GeometryOp::CalculateNormal)
                | Self::Lookup(_)
                | Self::Bump
        )
    }

    /// Returns whether it loops over the lights.
    pub fn runs_lights(self) -> bool {
        matches!(self, Self::Lighting(LightingOp::Diffuse | LightingOp::Specular | LightingOp::Phong))
    }

    /// Returns whether it does something besides returning a result, so that a call makes sense whose result is not
    /// used.
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

    /// Returns the set of these.
    pub const fn of(kinds: &[DeclaredKind]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// Returns whether `kind` is in it.
    pub const fn contains(self, kind: DeclaredKind) -> bool {
        self.0 >> kind as u8 & 1 == 1
    }

    /// Returns its members as words: "surface and volume".
    pub fn words(self) -> String {
        use DeclaredKind::{Displacement, Imager, Light, Surface, Volume};
        let all = [Surface, Displacement, Light, Volume, Imager];
        let words: Vec<_> = all.into_iter().filter(|&k| self.contains(k)).map(DeclaredKind::keyword).collect();
        words.join(" and ")
    }
}

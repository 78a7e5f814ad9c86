//! The operations of the IR.
//!
//! Every float operation is one IEEE 754 binary32 operation rounded to nearest, or is defined here in terms of such
//! operations. Every operation is total: what mathematics leaves undefined (a division by zero, the root or logarithm
//! of a negative number, an index outside) has a finite result; only sums, products and quotients too large for a float
//! overflow to infinity. So an operation without effects may be evaluated anywhere, whether its result is used or not.

use super::arithmetic::{Binary, Compare, Unary};
use super::lookup::{Lookup, TextureFact};
use super::named::named_enum;
use super::types::{Const, MachineType, Rate, RslType};
use std::sync::Arc;

/// Index of a parameter in [`super::Shader::params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u32);

/// Index of a local array in [`super::Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// Names of values that a surface shows to the lights of a light loop, which ask by `surface(name, variable)`: its
/// outputs, which may change from loop to loop.
pub type Shown = Arc<[Arc<str>]>;

/// The most that a workgroup votes on at once.
pub const VOTES_MAX: usize = 32;

/// Calls of `random()` that one shader of a pipeline may have. [`Op::Random`] numbers those of its own shader; in a
/// composed program the numbers of another shader begin elsewhere, so that no two calls draw the same.
pub const RANDOM_SITES: u32 = 1 << 16;

/// The number of the first call of `random()` in lights, behind those of surface, displacement and atmosphere.
pub const LIGHT_SITES: u32 = 3 * RANDOM_SITES;

named_enum! {
    /// What a shader may read from its surroundings (RISpec tables 12.1 to 12.5). Positions and vectors are in camera
    /// space.
    Global {
        /// Position of the shading point (`vec3`).
        P = "P",
        /// Shading normal, not of unit length.
        N = "N",
        /// Geometric normal: `dPdu ^ dPdv`, flipped by [`Global::Orientation`].
        Ng = "Ng",
        /// Derivative of P along u.
        DPdu = "dPdu",
        /// Derivative of P along v.
        DPdv = "dPdv",
        /// Surface parameter (`f32`).
        U = "u",
        /// Surface parameter.
        V = "v",
        /// Change of u from vertex to vertex; uniform.
        Du = "du",
        /// Change of v from vertex to vertex; uniform.
        Dv = "dv",
        /// Texture coordinate.
        S = "s",
        /// Texture coordinate.
        T = "t",
        /// From the eye to P, not of unit length; (0, 0, z) of P when the camera is orthographic.
        I = "I",
        /// Position of the eye: the origin.
        E = "E",
        /// Surface colour.
        Cs = "Cs",
        /// Surface opacity.
        Os = "Os",
        /// Light colour that a volume or imager shader finds.
        Ci = "Ci",
        /// Opacity that a volume or imager shader finds.
        Oi = "Oi",
        /// Coverage that an imager shader finds.
        Alpha = "alpha",
        /// Number of colour components: 3.
        NComps = "ncomps",
        /// Shutter time of the samples.
        Time = "time",
        /// Length of the shutter interval.
        DTime = "dtime",
        /// Motion over the shutter interval.
        DPdtime = "dPdtime",
        /// In light shaders: the point that is lit.
        Ps = "Ps",
        /// In light shaders: the normal of the surface that is lit.
        Ns = "Ns",
        /// 1, or -1 where the surface normal is the opposite of `dPdu ^ dPdv`; uniform. `calculatenormal(p)` is
        /// `cross(Du(p), Dv(p)) * Orientation`.
        Orientation = "orientation",
        /// Distance of the near clipping plane (for `depth()`).
        Hither = "hither",
        /// Distance of the far clipping plane.
        Yon = "yon",
    }
}

impl Global {
    /// Returns its machine type.
    pub fn ty(self) -> MachineType {
        use Global::*;
        match self {
            U | V | Du | Dv | S | T | Alpha | NComps | Time | DTime | Orientation | Hither | Yon => MachineType::F32,
            _ => MachineType::Vec3,
        }
    }

    /// Returns how often it may change at most.
    pub fn rate(self) -> Rate {
        use Global::*;
        match self {
            NComps | E => Rate::Constant,
            Du | Dv | Time | DTime | Orientation | Hither | Yon => Rate::Uniform,
            _ => Rate::Varying,
        }
    }
}

named_enum! {
    /// Which way a space's matrix goes. "Camera" is the space in which all shading is done (`"current"`).
    Direction {
        /// Camera space to the named space: what `transform("name", P)` multiplies by.
        SpaceFromCamera = "space_from_camera",
        /// The named space to camera space.
        CameraFromSpace = "camera_from_space",
    }
}

named_enum! {
    /// The noise family.
    NoiseKind {
        /// `noise`: gradient noise, 0..1, mean 1/2, 1/2 at lattice points.
        Gradient = "gradient",
        /// `pnoise`: the same, periodic; the periods (rounded to integers, at least 1) follow the coordinates.
        Periodic = "periodic",
        /// `cellnoise`: constant in each integer cell, 0..1.
        Cell = "cell",
        /// `hashnoise`: another number for every other value, 0..1.
        Hash = "hash",
    }
}

named_enum! {
    /// Bases of `spline`.
    Basis {
        /// Interpolates all but the first and last value.
        CatmullRom = "catmull-rom",
        /// Segments of four values that share their ends.
        Bezier = "bezier",
        /// Smooth, does not interpolate.
        BSpline = "bspline",
        /// Value, tangent, value, tangent.
        Hermite = "hermite",
        /// Interpolates all but the first and last value, linearly.
        Linear = "linear",
        /// Coefficients of powers.
        Power = "power",
    }
}

named_enum! {
    /// Colour spaces of `ctransform`.
    ColorSpace {
        /// The space of all colours between operations.
        Rgb = "rgb",
        /// Hue, saturation, value.
        Hsv = "hsv",
        /// Hue, saturation, lightness.
        Hsl = "hsl",
        /// NTSC luma and chroma.
        Yiq = "YIQ",
        /// CIE XYZ (Rec. 709 primaries, D65 white).
        Xyz = "XYZ",
        /// CIE chromaticity and luminance, in the order x, y, Y.
        XyY = "xyY",
    }
}

named_enum! {
    /// Who answers a question of the shader about its surroundings.
    QuerySource {
        /// `attribute(name, out)`
        Attribute = "attribute",
        /// `option(name, out)`
        Option = "option",
        /// `rendererinfo(name, out)`
        Renderer = "rendererinfo",
        /// `shadername()` (name "") and `shadername("surface")`; one string.
        ShaderName = "shadername",
    }
}

named_enum! {
    /// Whose variable a message asks for.
    MessageTarget {
        /// `lightsource(name, out)`: only in the body of an illuminance.
        Light = "lightsource",
        /// `surface(name, out)`
        Surface = "surface",
        /// `displacement(name, out)`
        Displacement = "displacement",
        /// `atmosphere(name, out)`
        Atmosphere = "atmosphere",
    }
}

named_enum! {
    /// Buffers that a bound program reads.
    Buffer {
        /// Instance blocks, light lists, spaces ([`crate::abi::binding::PARAMS`]).
        Params = "params",
        /// Channels and uniform inputs ([`crate::abi::binding::ARENA`]).
        Arena = "arena",
    }
}

named_enum! {
    /// What the kernel knows about the invocation, in bound programs.
    Builtin {
        /// Record of `Params` at which the instance's block begins (`u32`).
        Block = "block",
        /// Record of `Arena` at which the uniform inputs begin (`u32`).
        UniformInputs = "uniform_inputs",
        /// Record of the space table in `Params` (`u32`).
        SpaceTable = "space_table",
        /// Parametric distance of vertices along u (`f32`).
        Du = "du",
        /// The same along v.
        Dv = "dv",
        /// See [`Global::Orientation`].
        Orientation = "orientation",
    }
}

impl Builtin {
    /// Returns its machine type.
    pub fn ty(self) -> MachineType {
        match self {
            Builtin::Block | Builtin::UniformInputs | Builtin::SpaceTable => MachineType::U32,
            Builtin::Du | Builtin::Dv | Builtin::Orientation => MachineType::F32,
        }
    }
}

named_enum! {
    /// A parametric direction.
    Axis {
        /// Along u, from vertex (i, j) to (i + 1, j).
        U = "u",
        /// Along v.
        V = "v",
    }
}

/// An operation. Arguments, results and regions are in [`super::InstData`].
///
/// The second group appears only in programs that have been composed into a pipeline and bound to buffers
/// (`passes::compose`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // -- leaves
    /// A constant.
    Const(Const),
    /// A value from the surroundings.
    Global(Global),
    /// The value of a parameter that is not an array.
    Param(ParamId),
    /// `f32 -> element`: element of an array parameter; the index is cut to an integer and clamped to the array.
    ParamElement(ParamId),
    /// `-> mat4`: the matrix of a space known by name. `"shader"` and `"object"` are those of the shader that asks; an
    /// unknown name is the identity (and the host's to report).
    Space(Arc<str>, Direction),
    /// `str -> mat4`: the same for a name that is not known before.
    SpaceOf(Direction),
    /// `-> f32, ty * count`: 1 and the values, or 0 and zeros when there is no such thing. Uniform.
    Query {
        /// Who answers.
        source: QuerySource,
        /// What is requested.
        name: Arc<str>,
        /// Type of an element.
        ty: RslType,
        /// Number of elements: 1 for a plain variable.
        count: u32,
    },
    /// `str name -> f32, ty * count`: the same for a name that is not known before.
    QueryBy {
        /// Who is asked.
        source: QuerySource,
        /// The type of each value.
        ty: RslType,
        /// How many values.
        count: u32,
    },
    /// `str texture -> f32, ty * count`: what `textureinfo` says of a texture; 0 and zeros when there is no answer.
    TextureInfo {
        /// What is requested.
        name: Arc<str>,
        /// Type of an element.
        ty: RslType,
        /// Number of elements: 1 for a plain variable.
        count: u32,
    },
    /// `str -> f32`: the number of a filter of [`crate::ir::LookupKind::FILTERS`], 0 for other names.
    LookupFilter,
    /// `-> f32, ty * count`: 1 and the values of another shader's parameter or output, or 0 and zeros.
    Message {
        /// Whose.
        target: MessageTarget,
        /// Name of the variable.
        name: Arc<str>,
        /// Its type; a variable of another machine type does not answer.
        ty: RslType,
        /// Number of elements, 1 for a plain variable; an array of another length does not answer.
        count: u32,
    },

    // -- arithmetic
    /// See [`Unary`].
    Unary(Unary),
    /// See [`Binary`].
    Binary(Binary),
    /// See [`Compare`].
    Compare(Compare),
    /// `bool, X, X -> X`: the second argument where the first is true, else the third.
    Select,
    /// `f32, f32, f32 -> vec3`
    Vec3,
    /// `vec3 -> f32`: component 0, 1 or 2.
    Comp(u8),
    /// `vec3, f32 -> f32`: the index is cut to an integer and clamped.
    CompAt,
    /// `vec3, f32 -> vec3`: with component 0, 1 or 2 replaced.
    SetComp(u8),
    /// `vec3, f32 index, f32 -> vec3`
    SetCompAt,
    /// `16 * f32 -> mat4`, row by row.
    Mat4,
    /// `mat4, f32 row, f32 column -> f32`; indices are cut and clamped.
    MatComp,
    /// `mat4, f32 row, f32 column, f32 -> mat4`
    SetMatComp,

    // -- library
    /// `coordinates... -> result`. Coordinates of dimension 1: f32; 2: f32, f32; 3: vec3; 4: vec3, f32. Periodic noise
    /// is followed by the periods in the same shape.
    Noise {
        /// Which member of the family.
        kind: NoiseKind,
        /// 1 to 4.
        dimension: u8,
        /// `f32` or `vec3`.
        ty: MachineType,
    },
    /// `u32 count -> f32 or vec3`: 0..1, a hash of the grid's seed, the vertex, `site` and `count`. `site` is the
    /// number of the call in its shader ([`super::Builder::random`] gives it); `count` must differ from trip to trip in
    /// a loop.
    Random {
        /// The call's number.
        site: u32,
        /// `f32` or `vec3`.
        ty: MachineType,
    },
    /// `f32, T * n -> T`, n >= 4: a spline through values; the parameter is clamped to 0..1. With `solve`, values are
    /// f32 and the result is the parameter at which the spline has the given value (for monotonic values).
    Spline {
        /// Its basis.
        basis: Basis,
        /// Solve for the parameter.
        solve: bool,
    },
    /// `any... -> str`: a text, made as `printf` makes it (RSL `format`, `concat`). The host knows texts, a device only
    /// their tokens: the arguments must be constants when a program is compiled, or depend on one block alone.
    Format(Arc<str>),
    /// `str format, any... -> str`: the same with a format that is not known before.
    FormatBy,
    /// `str pattern, str -> f32`: 1 where the regular expression matches a part of the text (RSL `match`), else 0. As
    /// for [`Op::Format`], the arguments must be constants when a program is compiled.
    Match,
    /// `vec3 -> vec3`
    ColorTransform(ColorSpace, ColorSpace),
    /// `T -> T`: the derivative along a parametric direction, by differences between grid vertices. The argument is
    /// evaluated at every point of the grid, also where control flow does not come by: branches around the derivative
    /// are as if taken everywhere, and points that have left a loop keep their last values.
    Derivative(Axis),
    /// See [`Lookup`]; the arguments are those of [`super::LookupKind::arguments`].
    Lookup(Lookup),
    /// `str file, vec3 P, vec3 N, f32 radius, f32 scale, str channel -> f32, ty`: 1 and the value of a channel of a
    /// point cloud about P, or 0 and 0. `ty` is `f32` or `vec3`. P and N are in the cloud's space; points weigh within
    /// `radius` where it is above 0, else within their own times `scale`. The channel must be a constant when a program
    /// is compiled.
    Points(MachineType),

    // -- memory and effects
    /// `f32 -> element` of a local array; the index is cut to an integer and clamped. Elements never stored are zero.
    SlotLoad(Slot),
    /// `f32, element ->`
    SlotStore(Slot),
    /// `any... ->`: formatted output (RSL `printf`).
    Printf(Arc<str>),
    /// `str file, str channels, vec3 position, vec3 normal, f32 radius, values... ->`: a point of a file (RSL `bake3d`,
    /// `bake`). The text names the values: see [`crate::bake`].
    Bake(Arc<str>),

    // -- control flow
    /// `bool -> results`; regions: then, else, without parameters; each yields the results.
    If,
    /// `carried... -> carried...`; regions: condition (parameters: the carried values; yields one bool), body (no
    /// parameters; sees what the condition region defines; yields the next carried values). The results are the carried
    /// values for which the condition was false.
    Loop,
    /// `vec3 position, [vec3 axis, f32 angle,] str category, shown..., carried... -> carried...`: for each light that
    /// illuminates the position. Region: parameters L (towards the light), Cl, Ol, carried; yields the next carried
    /// values. Axis and angle (half the cone's opening, radians) are there when `cone` is. An empty category means all
    /// lights.
    Illuminance {
        /// Axis and angle are given.
        cone: bool,
        /// What the lights may see of the surface.
        shown: Shown,
    },
    /// `shown... -> vec3`: the sum of the ambient lights' colours.
    Ambient(Shown),

    // -- bound programs only
    /// `u32 base -> ty`: the words from lane `lane` of record `base + record` on (a mat4: four records).
    Load {
        /// Which buffer.
        buffer: Buffer,
        /// Record relative to the base.
        record: u32,
        /// 0 to 3; 0 for matrices.
        lane: u8,
        /// Type of the result.
        ty: MachineType,
    },
    /// `[u32 offset] -> ty`: lanes of an input channel of this vertex; the offset counts channels.
    Channel {
        /// First channel.
        channel: u32,
        /// 0 to 3; 0 for matrices, which take four channels.
        lane: u8,
        /// Type of the result.
        ty: MachineType,
    },
    /// `-> ty`: lanes of a channel in which an earlier pass of the program has saved a value of this vertex.
    Restore {
        /// First channel of those that passes save values in.
        channel: u32,
        /// 0 to 3; 0 for matrices, which take four channels.
        lane: u8,
        /// Type of the result.
        ty: MachineType,
    },
    /// `str texture -> f32`: number `.1` of what is known of a texture; 0 when there is no answer.
    TextureFact(TextureFact, u8),
    /// What the kernel knows.
    Builtin(Builtin),
    /// `u32 index -> element` of a table of constants of one type, at least one; the last for an index beyond it.
    /// Kernels read what they hold from a buffer (`compose::constants`).
    Table(Arc<[Const]>),
    /// `u32 selector, -> results`; one region for each case in order, then the default; no parameters, each yields the
    /// results.
    Switch,
    /// `str pattern, u32 categories -> bool`: whether a category pattern takes a light, whose categories
    /// [`Op::LightLoop`] gave.
    CategoryMatches,
    /// `vec3 position, shown..., carried... -> carried...`: for each light of the list, in order. Region: parameters L
    /// (towards the light), Cl, Ol, active (bool; lights with a position or direction only), ambient (bool), categories
    /// (u32), light number (u32), carried.
    LightLoop {
        /// Lights with a position or direction are wanted.
        local: bool,
        /// Ambient lights are wanted.
        ambient: bool,
        /// What the lights may see of the surface.
        shown: Shown,
    },
    /// `T... -> T...`: derivatives that share one exchange between the points of the workgroup. Result i is the
    /// derivative of argument `items[i].0` along `items[i].1`. Must be reached by the whole workgroup together.
    Derivatives(Vec<(u32, Axis)>),
    /// `bool... -> bool...`: each is true where it is true for any point of the workgroup; at most [`VOTES_MAX`]. Must
    /// be reached by the whole workgroup together.
    Any,
}

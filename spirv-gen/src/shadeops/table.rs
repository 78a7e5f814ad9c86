//! The table of shadeops.

use super::opcode::{ArrayOp, GeometryOp, KindSet, LightingOp, MathOp, Opcode};
use crate::ir::{Axis, Basis, Binary, LookupKind, MessageTarget, NoiseKind, QuerySource, TransformKind, Unary};
use crate::syntax::ast::Type;

/// A shadeop, or some of its overloads.
pub(super) struct ShadeopRow {
    pub(super) name: &'static str,
    pub(super) opcode: Opcode,
    pub(super) signatures: &'static [&'static str],
    pub(super) kinds: KindSet,
}

const fn row(name: &'static str, opcode: Opcode, signatures: &'static [&'static str]) -> ShadeopRow {
    ShadeopRow { name, opcode, signatures, kinds: KindSet::ALL }
}

const fn math(name: &'static str, op: MathOp, signatures: &'static [&'static str]) -> ShadeopRow {
    row(name, Opcode::Math(op), signatures)
}

const fn array(name: &'static str, op: ArrayOp, signatures: &'static [&'static str]) -> ShadeopRow {
    row(name, Opcode::Array(op), signatures)
}

const fn geometry(name: &'static str, op: GeometryOp, signatures: &'static [&'static str]) -> ShadeopRow {
    row(name, Opcode::Geometry(op), signatures)
}

const fn lit(name: &'static str, opcode: Opcode, signatures: &'static [&'static str]) -> ShadeopRow {
    ShadeopRow { name, opcode, signatures, kinds: KindSet::LIT }
}

const fn geometric(name: &'static str, opcode: Opcode, signatures: &'static [&'static str]) -> ShadeopRow {
    ShadeopRow { name, opcode, signatures, kinds: KindSet::GEOMETRIC }
}

/// All shadeops (RISpec 3.2, sections 15 and 16).
///
/// A signature is `result=parameters`, one letter each: `f`loat `c`olor `p`oint `v`ector `n`ormal `m`atrix `s`tring;
/// `0` no result; a capital is written by the call; `[f]` an array, `[F]` one that is written; `t` a texture's name,
/// with a channel in brackets if wanted; `?` anything, `!` anything that is written, `@` anything that is not even
/// evaluated; `x*` any number of x; `...` pairs of names and values. Where several overloads fit a call equally, the
/// type that is wanted chooses, then the order here.
pub(super) const TABLE: &[ShadeopRow] = &[
    // -- mathematics
    math("radians", MathOp::Radians, &["f=f"]),
    math("degrees", MathOp::Degrees, &["f=f"]),
    math("sin", MathOp::Unary(Unary::Sin), &["f=f"]),
    math("asin", MathOp::Unary(Unary::Asin), &["f=f"]),
    math("cos", MathOp::Unary(Unary::Cos), &["f=f"]),
    math("acos", MathOp::Unary(Unary::Acos), &["f=f"]),
    math("tan", MathOp::Unary(Unary::Tan), &["f=f"]),
    math("atan", MathOp::Unary(Unary::Atan), &["f=f"]),
    math("atan", MathOp::Binary(Binary::Atan2), &["f=ff"]),
    math("pow", MathOp::Binary(Binary::Pow), &["f=ff", "c=cf"]),
    math("exp", MathOp::Unary(Unary::Exp), &["f=f"]),
    math("sqrt", MathOp::Unary(Unary::Sqrt), &["f=f"]),
    math("inversesqrt", MathOp::InverseSqrt, &["f=f"]),
    math("log", MathOp::Unary(Unary::Log), &["f=f"]),
    math("log", MathOp::LogBase, &["f=ff"]),
    math("erf", MathOp::Erf, &["f=f"]),
    math("erfc", MathOp::Erfc, &["f=f"]),
    math("mod", MathOp::Binary(Binary::Mod), &["f=ff"]),
    math("abs", MathOp::Unary(Unary::Abs), &["f=f"]),
    math("sign", MathOp::Unary(Unary::Sign), &["f=f"]),
    math("floor", MathOp::Unary(Unary::Floor), &["f=f"]),
    math("ceil", MathOp::Unary(Unary::Ceil), &["f=f"]),
    math("round", MathOp::Unary(Unary::Round), &["f=f"]),
    math("min", MathOp::Reduce(Binary::Min), &["f=fff*", "c=ccc*", "p=ppp*", "v=vvv*", "n=nnn*"]),
    math("max", MathOp::Reduce(Binary::Max), &["f=fff*", "c=ccc*", "p=ppp*", "v=vvv*", "n=nnn*"]),
    math("clamp", MathOp::Clamp, &["f=fff", "c=ccc", "p=ppp", "v=vvv", "n=nnn"]),
    math("mix", MathOp::Mix, &["f=fff", "c=ccf", "p=ppf", "v=vvf", "n=nnf", "c=ccc", "p=ppc", "v=vvc", "n=nnc"]),
    math("step", MathOp::Step, &["f=ff"]),
    math("smoothstep", MathOp::Smoothstep, &["f=fff"]),
    math("filterstep", MathOp::Filterstep, &["f=ff...", "f=fff..."]),
    row("spline", Opcode::Spline, &["f=ffffff*", "c=fccccc*", "p=fppppp*", "v=fvvvvv*"]),
    row("spline", Opcode::Spline, &["f=sffffff*", "c=sfccccc*", "p=sfppppp*", "v=sfvvvvv*"]),
    row("spline", Opcode::Spline, &["f=f[f]", "c=f[c]", "p=f[p]", "v=f[v]"]),
    row("spline", Opcode::Spline, &["f=sf[f]", "c=sf[c]", "p=sf[p]", "v=sf[v]"]),
    math("Du", MathOp::Derivative(Axis::U), &["f=f", "c=c", "v=p", "v=v", "v=n"]),
    math("Dv", MathOp::Derivative(Axis::V), &["f=f", "c=c", "v=p", "v=v", "v=n"]),
    math("Deriv", MathOp::Deriv, &["f=ff", "c=cf", "v=pf", "v=vf", "v=nf"]),
    row("random", Opcode::Random, &["f=", "c=", "p=", "v=", "n="]),
    row("urandom", Opcode::UniformRandom, &["f=", "c=", "p=", "v=", "n="]),
    math("noise", MathOp::Noise(NoiseKind::Gradient), &["f=f", "f=ff", "f=p", "f=pf"]),
    math("noise", MathOp::Noise(NoiseKind::Gradient), &["c=f", "c=ff", "c=p", "c=pf", "p=f", "p=ff", "p=p", "p=pf"]),
    math("noise", MathOp::Noise(NoiseKind::Gradient), &["v=f", "v=ff", "v=p", "v=pf", "n=f", "n=ff", "n=p", "n=pf"]),
    math("pnoise", MathOp::Noise(NoiseKind::Periodic), &["f=ff", "f=ffff", "f=pp", "f=pfpf"]),
    math("pnoise", MathOp::Noise(NoiseKind::Periodic), &["c=ff", "c=ffff", "c=pp", "c=pfpf"]),
    math("pnoise", MathOp::Noise(NoiseKind::Periodic), &["p=ff", "p=ffff", "p=pp", "p=pfpf"]),
    math("pnoise", MathOp::Noise(NoiseKind::Periodic), &["v=ff", "v=ffff", "v=pp", "v=pfpf"]),
    math("pnoise", MathOp::Noise(NoiseKind::Periodic), &["n=ff", "n=ffff", "n=pp", "n=pfpf"]),
    math("cellnoise", MathOp::Noise(NoiseKind::Cell), &["f=f", "f=ff", "f=p", "f=pf"]),
    math("cellnoise", MathOp::Noise(NoiseKind::Cell), &["c=f", "c=ff", "c=p", "c=pf", "p=f", "p=ff", "p=p", "p=pf"]),
    math("cellnoise", MathOp::Noise(NoiseKind::Cell), &["v=f", "v=ff", "v=p", "v=pf", "n=f", "n=ff", "n=p", "n=pf"]),
    math("hashnoise", MathOp::Noise(NoiseKind::Hash), &["f=f", "f=ff", "f=p", "f=pf"]),
    math("hashnoise", MathOp::Noise(NoiseKind::Hash), &["c=f", "c=ff", "c=p", "c=pf", "p=f", "p=ff", "p=p", "p=pf"]),
    math("hashnoise", MathOp::Noise(NoiseKind::Hash), &["v=f", "v=ff", "v=p", "v=pf", "n=f", "n=ff", "n=p", "n=pf"]),
    // -- geometry
    geometry("xcomp", GeometryOp::Component(0), &["f=p", "f=v", "f=n"]),
    geometry("ycomp", GeometryOp::Component(1), &["f=p", "f=v", "f=n"]),
    geometry("zcomp", GeometryOp::Component(2), &["f=p", "f=v", "f=n"]),
    row("setxcomp", Opcode::SetComponent(0), &["0=Pf", "0=Vf", "0=Nf"]),
    row("setycomp", Opcode::SetComponent(1), &["0=Pf", "0=Vf", "0=Nf"]),
    row("setzcomp", Opcode::SetComponent(2), &["0=Pf", "0=Vf", "0=Nf"]),
    geometry("length", GeometryOp::Length, &["f=v"]),
    geometry("distance", GeometryOp::Distance, &["f=pp"]),
    geometry("ptlined", GeometryOp::PointLineDistance, &["f=ppp"]),
    geometry("normalize", GeometryOp::Normalize, &["v=v", "n=n"]),
    geometry("rotate", GeometryOp::RotatePoint, &["p=pfpp"]),
    geometry("rotate", GeometryOp::RotateMatrix, &["m=mfv"]),
    geometry("area", GeometryOp::Area, &["f=p", "f=ps"]),
    geometry("faceforward", GeometryOp::FaceForward, &["n=nv", "n=nvn"]),
    geometry("reflect", GeometryOp::Reflect, &["v=vn"]),
    geometry("refract", GeometryOp::Refract, &["v=vnf"]),
    row("fresnel", Opcode::Fresnel, &["0=vnfFF", "0=vnfFFVV"]),
    row("transform", Opcode::Transform(TransformKind::Point), &["p=sp", "p=ssp", "p=mp", "p=smp"]),
    row("vtransform", Opcode::Transform(TransformKind::Vector), &["v=sv", "v=ssv", "v=mv", "v=smv"]),
    row("ntransform", Opcode::Transform(TransformKind::Normal), &["n=sn", "n=ssn", "n=mn", "n=smn"]),
    geometry("depth", GeometryOp::Depth, &["f=p"]),
    geometry("calculatenormal", GeometryOp::CalculateNormal, &["n=p"]),
    math("determinant", MathOp::Unary(Unary::Determinant), &["f=m"]),
    geometry("translate", GeometryOp::Translate, &["m=mv"]),
    geometry("scale", GeometryOp::Scale, &["m=mp"]),
    row("mtransform", Opcode::TransformMatrix, &["m=sm", "m=ssm"]),
    // -- colors, components, strings
    geometry("comp", GeometryOp::ComponentAt, &["f=cf", "f=mff"]),
    row("setcomp", Opcode::SetComponentAt, &["0=Cff", "0=Mfff"]),
    row("ctransform", Opcode::TransformColor, &["c=sc", "c=ssc"]),
    row("printf", Opcode::Printf, &["0=s?*"]),
    row("format", Opcode::Format, &["s=s?*"]),
    row("concat", Opcode::Concat, &["s=sss*"]),
    row("match", Opcode::Match, &["f=ss"]),
    array("arraylength", ArrayOp::Length, &["f=[f]", "f=[c]", "f=[p]", "f=[v]", "f=[n]", "f=[m]", "f=[s]"]),
    // -- resizable arrays (PRMan)
    array("capacity", ArrayOp::Capacity, &["f=[f]", "f=[c]", "f=[p]", "f=[v]", "f=[n]", "f=[m]", "f=[s]"]),
    array("push", ArrayOp::Push, &["0=[F]f", "0=[C]c", "0=[P]p", "0=[V]v", "0=[N]n", "0=[M]m", "0=[S]s"]),
    array("pop", ArrayOp::Pop, &["f=[F]", "c=[C]", "p=[P]", "v=[V]", "n=[N]", "m=[M]", "s=[S]"]),
    array("resize", ArrayOp::Resize, &["0=[F]f", "0=[C]f", "0=[P]f", "0=[V]f", "0=[N]f", "0=[M]f", "0=[S]f"]),
    array("reserve", ArrayOp::Reserve, &["0=[F]f", "0=[C]f", "0=[P]f", "0=[V]f", "0=[N]f", "0=[M]f", "0=[S]f"]),
    // -- files of points (PRMan)
    geometric("bake3d", Opcode::Bake3d, &["f=sspn..."]),
    geometric("bake", Opcode::Bake, &["f=sfff", "f=sffc"]),
    // -- light
    lit("ambient", Opcode::Lighting(LightingOp::Ambient), &["c="]),
    lit("diffuse", Opcode::Lighting(LightingOp::Diffuse), &["c=n"]),
    lit("specular", Opcode::Lighting(LightingOp::Specular), &["c=nvf"]),
    row("specularbrdf", Opcode::Lighting(LightingOp::SpecularBrdf), &["c=vnvf"]),
    lit("phong", Opcode::Lighting(LightingOp::Phong), &["c=nvf"]),
    row("trace", Opcode::Trace, &["c=pv", "f=pv"]),
    // -- textures
    row("texture", Opcode::Lookup(LookupKind::Texture), &["f=t...", "f=tff...", "f=tffffffff..."]),
    row("texture", Opcode::Lookup(LookupKind::Texture), &["c=t...", "c=tff...", "c=tffffffff..."]),
    row("environment", Opcode::Lookup(LookupKind::Environment), &["f=tv...", "f=tvvvv...", "c=tv...", "c=tvvvv..."]),
    row("shadow", Opcode::Lookup(LookupKind::Shadow), &["f=tp...", "f=tpppp...", "c=tp...", "c=tpppp..."]),
    row("occlusion", Opcode::Lookup(LookupKind::Occlusion), &["f=spnf...", "c=spnf..."]),
    row("textureinfo", Opcode::TextureInfo, &["f=ss!"]),
    row("texture3d", Opcode::Points, &["f=spn..."]),
    row("bump", Opcode::Bump, &["n=tnvv...", "n=tnvvff...", "n=tnvvffffffff..."]),
    // -- messages and information
    row("surface", Opcode::Message(MessageTarget::Surface), &["f=s!"]),
    row("displacement", Opcode::Message(MessageTarget::Displacement), &["f=s!"]),
    lit("lightsource", Opcode::Message(MessageTarget::Light), &["f=s!"]),
    row("atmosphere", Opcode::Message(MessageTarget::Atmosphere), &["f=s!"]),
    row("incident", Opcode::VolumeSide, &["f=s!"]),
    row("opposite", Opcode::VolumeSide, &["f=s!"]),
    row("attribute", Opcode::Query(QuerySource::Attribute), &["f=s!"]),
    row("option", Opcode::Query(QuerySource::Option), &["f=s!"]),
    row("rendererinfo", Opcode::Query(QuerySource::Renderer), &["f=s!"]),
    row("shadername", Opcode::Query(QuerySource::ShaderName), &["s=", "s=s"]),
    // -- functions of other renderers that need rays, or write point clouds
    row("occlusion", Opcode::Absent(0), &["f=@*", "c=@*"]),
    row("indirectdiffuse", Opcode::Absent(0), &["c=@*", "f=@*"]),
    row("caustic", Opcode::Absent(0), &["c=@*", "f=@*"]),
    row("photonmap", Opcode::Absent(0), &["c=@*", "f=@*"]),
    row("transmission", Opcode::Absent(1), &["c=@*", "f=@*"]),
    row("visibility", Opcode::Absent(1), &["c=@*", "f=@*"]),
    row("raylevel", Opcode::Absent(0), &["f=@*"]),
    row("raydepth", Opcode::Absent(0), &["f=@*"]),
    row("rayinfo", Opcode::Absent(0), &["f=@*"]),
    row("isshadowray", Opcode::Absent(0), &["f=@*"]),
];

/// Functions of later versions and of other renderers.
pub(super) const LATER: &[&str] = &[
    "raylabel",
    "subsurface",
    "irradiance",
    "wnoise",
    "ptexture",
    "evalparam",
    "getlights",
    "getshader",
    "getshaders",
    "getvar",
    "clearlighting",
    "gridpattern",
    "readdata",
    "writedata",
    "areashadow",
];

/// Parameters of texture, environment, shadow and bump (RISpec 15.7; samples and biases of shadow; lerp of PRMan).
pub(super) const LOOKUP_PARAMETERS: &[&str] = &[
    "blur", "sblur", "tblur", "width", "swidth", "twidth", "filter", "fill", "samples", "bias", "bias0", "bias1",
    "gapbias", "lerp", "source", "label", "expand",
];

/// Parameters of texture3d (PRMan); all other names are channels.
pub(super) const POINTS_PARAMETERS: &[(&str, Type)] = &[
    ("coordsystem", Type::String),
    ("filterradius", Type::Float),
    ("filterscale", Type::Float),
    ("maxdepth", Type::Float),
    ("interpolate", Type::Float),
    ("lerp", Type::Float),
];

/// Names of the bases of `spline`: those of the IR, and how the interface also writes one. Each may have the prefix
/// `solve`.
pub const SPLINE_BASES: [(&str, Basis); 7] = [
    ("catmull-rom", Basis::CatmullRom),
    ("bezier", Basis::Bezier),
    ("bspline", Basis::BSpline),
    ("b-spline", Basis::BSpline),
    ("hermite", Basis::Hermite),
    ("linear", Basis::Linear),
    ("power", Basis::Power),
];

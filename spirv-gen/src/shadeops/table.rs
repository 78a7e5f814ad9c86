//! The table of shadeops.

use super::{KindSet, Opcode};
use crate::ir::{Axis, Binary, LookupKind, MessageTarget, NoiseKind, QuerySource, TransformKind, Unary};

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

const fn lit(name: &'static str, opcode: Opcode, signatures: &'static [&'static str]) -> ShadeopRow {
    ShadeopRow { name, opcode, signatures, kinds: KindSet::LIT }
}

/// All shadeops (RISpec 3.2, sections 15 and 16).
///
/// A signature is `result=parameters`, one letter each: `f`loat `c`olor `p`oint `v`ector `n`ormal `m`atrix `s`tring; `0` no result;
/// a capital is written by the call; `[f]` an array; `t` a texture's name, with a channel in brackets if wanted; `?` anything, `!`
/// anything that is written; `x*` any number of x; `...` pairs of names and values. Where several overloads fit a call equally, the
/// type that is wanted chooses, then the order here.
pub(super) const TABLE: &[ShadeopRow] = &[
    // -- mathematics
    row("radians", Opcode::Radians, &["f=f"]),
    row("degrees", Opcode::Degrees, &["f=f"]),
    row("sin", Opcode::Unary(Unary::Sin), &["f=f"]),
    row("asin", Opcode::Unary(Unary::Asin), &["f=f"]),
    row("cos", Opcode::Unary(Unary::Cos), &["f=f"]),
    row("acos", Opcode::Unary(Unary::Acos), &["f=f"]),
    row("tan", Opcode::Unary(Unary::Tan), &["f=f"]),
    row("atan", Opcode::Unary(Unary::Atan), &["f=f"]),
    row("atan", Opcode::Binary(Binary::Atan2), &["f=ff"]),
    row("pow", Opcode::Binary(Binary::Pow), &["f=ff"]),
    row("exp", Opcode::Unary(Unary::Exp), &["f=f"]),
    row("sqrt", Opcode::Unary(Unary::Sqrt), &["f=f"]),
    row("inversesqrt", Opcode::InverseSqrt, &["f=f"]),
    row("log", Opcode::Unary(Unary::Log), &["f=f"]),
    row("log", Opcode::LogBase, &["f=ff"]),
    row("mod", Opcode::Binary(Binary::Mod), &["f=ff"]),
    row("abs", Opcode::Unary(Unary::Abs), &["f=f"]),
    row("sign", Opcode::Unary(Unary::Sign), &["f=f"]),
    row("floor", Opcode::Unary(Unary::Floor), &["f=f"]),
    row("ceil", Opcode::Unary(Unary::Ceil), &["f=f"]),
    row("round", Opcode::Unary(Unary::Round), &["f=f"]),
    row("min", Opcode::Reduce(Binary::Min), &["f=fff*", "c=ccc*", "p=ppp*", "v=vvv*", "n=nnn*"]),
    row("max", Opcode::Reduce(Binary::Max), &["f=fff*", "c=ccc*", "p=ppp*", "v=vvv*", "n=nnn*"]),
    row("clamp", Opcode::Clamp, &["f=fff", "c=ccc", "p=ppp", "v=vvv", "n=nnn"]),
    row("mix", Opcode::Mix, &["f=fff", "c=ccf", "p=ppf", "v=vvf", "n=nnf", "c=ccc", "p=ppc", "v=vvc", "n=nnc"]),
    row("step", Opcode::Step, &["f=ff"]),
    row("smoothstep", Opcode::Smoothstep, &["f=fff"]),
    row("filterstep", Opcode::Filterstep, &["f=ff...", "f=fff..."]),
    row("spline", Opcode::Spline, &["f=ffffff*", "c=fccccc*", "p=fppppp*", "v=fvvvvv*"]),
    row("spline", Opcode::Spline, &["f=sffffff*", "c=sfccccc*", "p=sfppppp*", "v=sfvvvvv*"]),
    row("spline", Opcode::Spline, &["f=f[f]", "c=f[c]", "p=f[p]", "v=f[v]"]),
    row("spline", Opcode::Spline, &["f=sf[f]", "c=sf[c]", "p=sf[p]", "v=sf[v]"]),
    row("Du", Opcode::Derivative(Axis::U), &["f=f", "c=c", "v=p", "v=v", "v=n"]),
    row("Dv", Opcode::Derivative(Axis::V), &["f=f", "c=c", "v=p", "v=v", "v=n"]),
    row("Deriv", Opcode::Deriv, &["f=ff", "c=cf", "v=pf", "v=vf", "v=nf"]),
    row("random", Opcode::Random, &["f=", "c=", "p=", "v=", "n="]),
    row("noise", Opcode::Noise(NoiseKind::Gradient), &["f=f", "f=ff", "f=p", "f=pf"]),
    row("noise", Opcode::Noise(NoiseKind::Gradient), &["c=f", "c=ff", "c=p", "c=pf", "p=f", "p=ff", "p=p", "p=pf"]),
    row("noise", Opcode::Noise(NoiseKind::Gradient), &["v=f", "v=ff", "v=p", "v=pf", "n=f", "n=ff", "n=p", "n=pf"]),
    row("pnoise", Opcode::Noise(NoiseKind::Periodic), &["f=ff", "f=ffff", "f=pp", "f=pfpf"]),
    row("pnoise", Opcode::Noise(NoiseKind::Periodic), &["c=ff", "c=ffff", "c=pp", "c=pfpf"]),
    row("pnoise", Opcode::Noise(NoiseKind::Periodic), &["p=ff", "p=ffff", "p=pp", "p=pfpf"]),
    row("pnoise", Opcode::Noise(NoiseKind::Periodic), &["v=ff", "v=ffff", "v=pp", "v=pfpf"]),
    row("pnoise", Opcode::Noise(NoiseKind::Periodic), &["n=ff", "n=ffff", "n=pp", "n=pfpf"]),
    row("cellnoise", Opcode::Noise(NoiseKind::Cell), &["f=f", "f=ff", "f=p", "f=pf"]),
    row("cellnoise", Opcode::Noise(NoiseKind::Cell), &["c=f", "c=ff", "c=p", "c=pf", "p=f", "p=ff", "p=p", "p=pf"]),
    row("cellnoise", Opcode::Noise(NoiseKind::Cell), &["v=f", "v=ff", "v=p", "v=pf", "n=f", "n=ff", "n=p", "n=pf"]),
    // -- geometry
    row("xcomp", Opcode::Component(0), &["f=p", "f=v", "f=n"]),
    row("ycomp", Opcode::Component(1), &["f=p", "f=v", "f=n"]),
    row("zcomp", Opcode::Component(2), &["f=p", "f=v", "f=n"]),
    row("setxcomp", Opcode::SetComponent(0), &["0=Pf", "0=Vf", "0=Nf"]),
    row("setycomp", Opcode::SetComponent(1), &["0=Pf", "0=Vf", "0=Nf"]),
    row("setzcomp", Opcode::SetComponent(2), &["0=Pf", "0=Vf", "0=Nf"]),
    row("length", Opcode::Length, &["f=v"]),
    row("distance", Opcode::Distance, &["f=pp"]),
    row("ptlined", Opcode::PointLineDistance, &["f=ppp"]),
    row("normalize", Opcode::Normalize, &["v=v", "n=n"]),
    row("rotate", Opcode::RotatePoint, &["p=pfpp"]),
    row("rotate", Opcode::RotateMatrix, &["m=mfv"]),
    row("area", Opcode::Area, &["f=p", "f=ps"]),
    row("faceforward", Opcode::FaceForward, &["n=nv", "n=nvn"]),
    row("reflect", Opcode::Reflect, &["v=vn"]),
    row("refract", Opcode::Refract, &["v=vnf"]),
    row("fresnel", Opcode::Fresnel, &["0=vnfFF", "0=vnfFFVV"]),
    row("transform", Opcode::Transform(TransformKind::Point), &["p=sp", "p=ssp", "p=mp", "p=smp"]),
    row("vtransform", Opcode::Transform(TransformKind::Vector), &["v=sv", "v=ssv", "v=mv", "v=smv"]),
    row("ntransform", Opcode::Transform(TransformKind::Normal), &["n=sn", "n=ssn", "n=mn", "n=smn"]),
    row("depth", Opcode::Depth, &["f=p"]),
    row("calculatenormal", Opcode::CalculateNormal, &["n=p"]),
    row("determinant", Opcode::Unary(Unary::Determinant), &["f=m"]),
    row("translate", Opcode::Translate, &["m=mv"]),
    row("scale", Opcode::Scale, &["m=mp"]),
    row("mtransform", Opcode::TransformMatrix, &["m=sm", "m=ssm"]),
    // -- colors, components, strings
    row("comp", Opcode::ComponentAt, &["f=cf", "f=mff"]),
    row("setcomp", Opcode::SetComponentAt, &["0=Cff", "0=Mfff"]),
    row("ctransform", Opcode::TransformColor, &["c=sc", "c=ssc"]),
    row("printf", Opcode::Printf, &["0=s?*"]),
    row("format", Opcode::Format, &["s=s?*"]),
    row("concat", Opcode::Concat, &["s=sss*"]),
    row("match", Opcode::Match, &["f=ss"]),
    // -- light
    lit("ambient", Opcode::Ambient, &["c="]),
    lit("diffuse", Opcode::Diffuse, &["c=n"]),
    lit("specular", Opcode::Specular, &["c=nvf"]),
    row("specularbrdf", Opcode::SpecularBrdf, &["c=vnvf"]),
    lit("phong", Opcode::Phong, &["c=nvf"]),
    row("trace", Opcode::Trace, &["c=pv", "f=pv"]),
    // -- textures
    row("texture", Opcode::Lookup(LookupKind::Texture), &["f=t...", "f=tff...", "f=tffffffff..."]),
    row("texture", Opcode::Lookup(LookupKind::Texture), &["c=t...", "c=tff...", "c=tffffffff..."]),
    row("environment", Opcode::Lookup(LookupKind::Environment), &["f=tv...", "f=tvvvv...", "c=tv...", "c=tvvvv..."]),
    row("shadow", Opcode::Lookup(LookupKind::Shadow), &["f=tp...", "f=tpppp...", "c=tp...", "c=tpppp..."]),
    row("textureinfo", Opcode::TextureInfo, &["f=ss!"]),
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
];

/// Functions of later versions and of other renderers.
pub(super) const LATER: &[&str] = &[
    "occlusion",
    "indirectdiffuse",
    "transmission",
    "visibility",
    "bake3d",
    "texture3d",
    "bake",
    "rayinfo",
    "raydepth",
    "raylabel",
    "photonmap",
    "caustic",
    "subsurface",
    "irradiance",
    "hashnoise",
    "wnoise",
    "ptexture",
    "isshadowray",
    "evalparam",
    "getlights",
    "getshader",
    "getshaders",
    "getvar",
    "arraylength",
    "push",
    "pop",
    "reserve",
    "resize",
    "urandom",
    "clearlighting",
    "gridpattern",
    "erf",
    "erfc",
    "readdata",
    "writedata",
    "areashadow",
    "gather",
];

/// Parameters of texture, environment, shadow and bump (RISpec 15.7; bias and samples of shadow; lerp of PRMan).
pub(super) const LOOKUP_PARAMETERS: &[&str] = &[
    "blur", "sblur", "tblur", "width", "swidth", "twidth", "filter", "fill", "samples", "bias", "lerp", "source",
    "label", "expand",
];

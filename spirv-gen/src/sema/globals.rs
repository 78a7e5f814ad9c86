//! The predefined variables of each kind of shader (RISpec 3.2, tables 12.1 to 12.5).

use super::hir::{Class, Predefined, ShaderKind, Type};
use crate::ir::Global;
use crate::shadeops::Kinds;

/// A predefined variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) variable: Predefined,
    pub(crate) ty: Type,
    pub(crate) class: Class,
    /// Shaders that know it.
    pub(crate) known: Kinds,
    /// Shaders that may assign it.
    pub(crate) writable: Kinds,
}

const SURFACE: ShaderKind = ShaderKind::Surface;
const DISPLACEMENT: ShaderKind = ShaderKind::Displacement;
const LIGHT: ShaderKind = ShaderKind::Light;
const VOLUME: ShaderKind = ShaderKind::Volume;
const IMAGER: ShaderKind = ShaderKind::Imager;

/// Where a point of a surface is shaded.
const GEOMETRY: Kinds = Kinds::of(&[SURFACE, DISPLACEMENT, LIGHT, VOLUME]);
const NONE: Kinds = Kinds::of(&[]);

const fn entry(name: &'static str, variable: Predefined, ty: Type, known: Kinds, writable: Kinds) -> Entry {
    Entry { name, variable, ty, class: Class::Varying, known, writable }
}

const fn varying(name: &'static str, global: Global, ty: Type, known: Kinds, writable: &[ShaderKind]) -> Entry {
    entry(name, Predefined::Global(global), ty, known, Kinds::of(writable))
}

const fn uniform(name: &'static str, global: Global, ty: Type, known: Kinds) -> Entry {
    Entry { name, variable: Predefined::Global(global), ty, class: Class::Uniform, known, writable: NONE }
}

use Type::{Color, Float, Normal, Point, Vector};

/// All of them. A volume shader sees the geometry of the surface behind it, as shaders in practice expect.
const TABLE: &[Entry] = &[
    varying("Cs", Global::Cs, Color, Kinds::of(&[SURFACE, DISPLACEMENT]), &[SURFACE]),
    varying("Os", Global::Os, Color, Kinds::of(&[SURFACE, DISPLACEMENT]), &[SURFACE]),
    varying("P", Global::P, Point, Kinds::ALL, &[SURFACE, DISPLACEMENT]),
    varying("N", Global::N, Normal, GEOMETRY, &[SURFACE, DISPLACEMENT, LIGHT]),
    varying("Ng", Global::Ng, Normal, GEOMETRY, &[]),
    varying("dPdu", Global::DPdu, Vector, GEOMETRY, &[]),
    varying("dPdv", Global::DPdv, Vector, GEOMETRY, &[]),
    varying("u", Global::U, Float, GEOMETRY, &[]),
    varying("v", Global::V, Float, GEOMETRY, &[]),
    uniform("du", Global::Du, Float, GEOMETRY),
    uniform("dv", Global::Dv, Float, GEOMETRY),
    varying("s", Global::S, Float, GEOMETRY, &[SURFACE, DISPLACEMENT, LIGHT]),
    varying("t", Global::T, Float, GEOMETRY, &[SURFACE, DISPLACEMENT, LIGHT]),
    varying("I", Global::I, Vector, GEOMETRY, &[]),
    uniform("E", Global::E, Point, GEOMETRY),
    varying("Ci", Global::Ci, Color, Kinds::of(&[SURFACE, VOLUME, IMAGER]), &[SURFACE, VOLUME, IMAGER]),
    varying("Oi", Global::Oi, Color, Kinds::of(&[SURFACE, VOLUME, IMAGER]), &[SURFACE, VOLUME, IMAGER]),
    varying("alpha", Global::Alpha, Float, Kinds::of(&[IMAGER]), &[IMAGER]),
    uniform("ncomps", Global::NComps, Float, Kinds::ALL),
    uniform("time", Global::Time, Float, Kinds::ALL),
    uniform("dtime", Global::DTime, Float, Kinds::ALL),
    varying("dPdtime", Global::DPdtime, Vector, GEOMETRY, &[]),
    varying("Ps", Global::Ps, Point, Kinds::of(&[LIGHT]), &[]),
    entry("L", Predefined::L, Vector, Kinds::of(&[SURFACE, VOLUME, LIGHT]), Kinds::of(&[LIGHT])),
    entry("Cl", Predefined::Cl, Color, Kinds::of(&[SURFACE, VOLUME, LIGHT]), Kinds::of(&[LIGHT])),
    entry("Ol", Predefined::Ol, Color, Kinds::of(&[SURFACE, VOLUME, LIGHT]), Kinds::of(&[LIGHT])),
];

/// The predefined variable `name`, whether shaders of every kind know it or not.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|e| e.name == name)
}

/// Names of the variables that a kind of shader knows.
pub(crate) fn names(kind: ShaderKind) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |e| e.known.contains(kind)).map(|e| e.name)
}

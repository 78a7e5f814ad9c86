//! The predefined variables of each kind of shader (RISpec 3.2, tables 12.1 to 12.5).

use super::hir::{Class, DeclaredKind, Predefined, Type};
use crate::ir::Global;
use crate::shadeops::KindSet;

/// A predefined variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PredefinedEntry {
    pub(crate) name: &'static str,
    pub(crate) variable: Predefined,
    pub(crate) ty: Type,
    pub(crate) class: Class,
    /// Shaders that know it.
    pub(crate) known: KindSet,
    /// Shaders that may assign it.
    pub(crate) writable: KindSet,
    /// Shaders in which other compilers know it too: its use is reported.
    pub(crate) tolerated: KindSet,
}

const SURFACE: DeclaredKind = DeclaredKind::Surface;
const DISPLACEMENT: DeclaredKind = DeclaredKind::Displacement;
const LIGHT: DeclaredKind = DeclaredKind::Light;
const VOLUME: DeclaredKind = DeclaredKind::Volume;
const IMAGER: DeclaredKind = DeclaredKind::Imager;

/// Where a point of a surface is shaded.
const GEOMETRY: KindSet = KindSet::of(&[SURFACE, DISPLACEMENT, LIGHT, VOLUME]);
const NONE: KindSet = KindSet::of(&[]);

const fn entry(
    name: &'static str,
    variable: Predefined,
    ty: Type,
    known: KindSet,
    writable: KindSet,
) -> PredefinedEntry {
    PredefinedEntry { name, variable, ty, class: Class::Varying, known, writable, tolerated: NONE }
}

const fn varying(
    name: &'static str,
    global: Global,
    ty: Type,
    known: KindSet,
    writable: &[DeclaredKind],
) -> PredefinedEntry {
    entry(name, Predefined::Global(global), ty, known, KindSet::of(writable))
}

const fn uniform(name: &'static str, global: Global, ty: Type, known: KindSet) -> PredefinedEntry {
    let variable = Predefined::Global(global);
    PredefinedEntry { name, variable, ty, class: Class::Uniform, known, writable: NONE, tolerated: NONE }
}

impl PredefinedEntry {
    const fn tolerated_in(self, kinds: &[DeclaredKind]) -> Self {
        Self { tolerated: KindSet::of(kinds), ..self }
    }
}

use Type::{Color, Float, Normal, Point, Vector};

/// All of them. A volume shader sees the geometry of the surface behind it, as shaders in practice expect.
const TABLE: &[PredefinedEntry] = &[
    varying("Cs", Global::Cs, Color, KindSet::of(&[SURFACE, DISPLACEMENT]), &[SURFACE]),
    varying("Os", Global::Os, Color, KindSet::of(&[SURFACE, DISPLACEMENT]), &[SURFACE]),
    varying("P", Global::P, Point, KindSet::ALL, &[SURFACE, DISPLACEMENT]),
    varying("N", Global::N, Normal, GEOMETRY, &[SURFACE, DISPLACEMENT, LIGHT]),
    varying("Ng", Global::Ng, Normal, GEOMETRY, &[]),
    varying("dPdu", Global::DPdu, Vector, GEOMETRY, &[]),
    varying("dPdv", Global::DPdv, Vector, GEOMETRY, &[]),
    varying("u", Global::U, Float, GEOMETRY, &[]),
    varying("v", Global::V, Float, GEOMETRY, &[]),
    uniform("du", Global::Du, Float, GEOMETRY),
    uniform("dv", Global::Dv, Float, GEOMETRY),
    varying("s", Global::S, Float, GEOMETRY, &[SURFACE, DISPLACEMENT, LIGHT]).tolerated_in(&[IMAGER]),
    varying("t", Global::T, Float, GEOMETRY, &[SURFACE, DISPLACEMENT, LIGHT]).tolerated_in(&[IMAGER]),
    varying("I", Global::I, Vector, GEOMETRY, &[]),
    uniform("E", Global::E, Point, GEOMETRY),
    varying("Ci", Global::Ci, Color, KindSet::of(&[SURFACE, VOLUME, IMAGER]), &[SURFACE, VOLUME, IMAGER]),
    varying("Oi", Global::Oi, Color, KindSet::of(&[SURFACE, VOLUME, IMAGER]), &[SURFACE, VOLUME, IMAGER]),
    varying("alpha", Global::Alpha, Float, KindSet::of(&[IMAGER]), &[IMAGER]),
    uniform("ncomps", Global::NComps, Float, KindSet::ALL),
    uniform("time", Global::Time, Float, KindSet::ALL),
    uniform("dtime", Global::DTime, Float, KindSet::ALL),
    varying("dPdtime", Global::DPdtime, Vector, GEOMETRY, &[]),
    varying("Ps", Global::Ps, Point, KindSet::of(&[LIGHT]), &[]).tolerated_in(&[SURFACE, DISPLACEMENT, VOLUME]),
    varying("Ns", Global::Ns, Normal, KindSet::of(&[LIGHT]), &[]).tolerated_in(&[SURFACE, DISPLACEMENT, VOLUME]),
    entry("L", Predefined::L, Vector, KindSet::of(&[SURFACE, VOLUME, LIGHT]), KindSet::of(&[LIGHT])),
    entry("Cl", Predefined::Cl, Color, KindSet::of(&[SURFACE, VOLUME, LIGHT]), KindSet::of(&[LIGHT])),
    entry("Ol", Predefined::Ol, Color, KindSet::of(&[SURFACE, VOLUME, LIGHT]), KindSet::of(&[LIGHT])),
];

/// Returns the predefined variable `name`, whether shaders of every kind know it or not.
pub(crate) fn find(name: &str) -> Option<&'static PredefinedEntry> {
    TABLE.iter().find(|e| e.name == name)
}

/// Returns the names of the variables that a kind of shader knows.
pub(crate) fn names(kind: DeclaredKind) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |e| e.known.contains(kind)).map(|e| e.name)
}

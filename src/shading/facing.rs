//! Normals of polygons that point against their winding: `faceforward(N, I)` then turns the front of the surface away
//! from the eye, and its lights shine on the back.

use crate::diagnostic::{Diagnostic, Reporter, Severity};
use crate::scene::{Class, Drawable, Facets, Primvar, PrimvarData, Shape};
use glam::{DMat4, Vec3};
use spirv_gen::ir::{Global, Op, Shader};

/// Facets that are looked at, spread over the object.
const FACETS_MAX: usize = 64;

/// Returns whether a shader turns N by the winding, as `faceforward(N, I)` does: it reads both N and Ng.
pub(super) fn faces_by_winding(shader: &Shader) -> bool {
    let (mut reads_n, mut reads_ng) = (false, false);
    shader.body.walk(shader.body.root(), &mut |inst| {
        reads_n |= shader.body.inst(inst).op == Op::Global(Global::N);
        reads_ng |= shader.body.inst(inst).op == Op::Global(Global::Ng);
    });
    reads_n && reads_ng
}

/// Reports a mesh of polygons whose given normals are against its winding.
pub(super) fn report_turned_normals(drawable: &Drawable, camera_from_world: &DMat4, reporter: &Reporter) {
    let Shape::Facets(facets) = drawable.geometry.shape.first() else { return };
    let normals = drawable.geometry.primvars.iter().find(|primvar| &*primvar.name == "N");
    let Some(normals) = normals.filter(|_| facets.polygon) else { return };
    let mirrored = (*camera_from_world * *drawable.world_from_object.first()).determinant() < 0.0;
    if sides(facets, normals) == Some(drawable.attributes.flip_normal != mirrored) {
        let message =
            "the normals \"N\" point against the winding: to faceforward() the front is the back, without light";
        let said = Diagnostic::new(Severity::Warning, "badparamlist", drawable.geometry.location.clone(), message);
        reporter.report(said.hint("ReverseOrientation before the object turns its winding"));
    }
}

/// Returns whether the normals of the facets that are looked at are on the side to which these wind, or on the other;
/// `None` where they differ.
fn sides(facets: &Facets, normals: &Primvar) -> Option<bool> {
    let count = facets.corners.len();
    let step = count.div_ceil(FACETS_MAX).max(1);
    let along = |facet: usize| {
        let winding = Vec3::from(*facets.face_normals.get(facets.face[facet] as usize)?);
        Some(winding.dot(normal_of(facets, normals, facet)?))
    };
    let mut along = (0..count).step_by(step).map(along);
    let first = along.next()?? > 0.0;
    along.all(|along| along.is_some_and(|along| along != 0.0 && (along > 0.0) == first)).then_some(first)
}

/// Returns the normal at the first corner of a facet.
fn normal_of(facets: &Facets, normals: &Primvar, facet: usize) -> Option<Vec3> {
    let number = match normals.class {
        Class::Constant => 0,
        Class::Uniform => facets.face[facet],
        Class::Varying | Class::Vertex => facets.corners[facet][0],
        Class::FaceVarying => facets.face_corners[facet][0],
    };
    let PrimvarData::Floats(floats) = &normals.data else { return None };
    let first = normals.ty.floats() * normals.array_len as usize * number as usize;
    Some(Vec3::from_slice(floats.get(first..first + 3)?))
}

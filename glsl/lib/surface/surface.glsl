// The parametric surface of one primitive kind, in camera space. Chosen by the macro KIND; needs the buffers
//   data[] (vec4, control data of the page) and frame.
//
//   surface_load(instance, primitive)   fetches control data into globals
//   surface_row(v)                      fixes v: what follows is on that row (rows share most of the work)
//   surface_position(u)                 position in camera space
//   surface_object_position(u)          the same in object space, of KIND_RATIONAL and KIND_BLOB, which loop for it
//   surface_vertex(along_u, along_v, u, v) the same where (u, v) may be on a border (see lib/surface/seam.glsl)
//   surface_tangents(u, du, dv)         dP/du and dP/dv in camera space, per unit of the primitive's own (u,v)
//   surface_normal(u, v)                in the direction of dP/du x dP/dv, never zero where the surface has a normal
//   surface_pad(hu, hv, v0, v1)         how far the surface may be outside the box of its points at u, v = 0, 1/2, 1
//
// Every expression is symmetric under reversal of u or v (terms pair up as (0,3) and (1,2)) and has exact weights at
// the ends, so that two primitives with the same boundary control points compute the same bits along it, whichever way
// each runs.

#ifndef SURFACE_GLSL
#define SURFACE_GLSL

#include "lib/grid/between.glsl"
#include "lib/grid/edge.glsl"
#include "lib/records.glsl"

Instance surface_instance;

// Second differences of a sampled function bound its distance from the bilinear interpolant of its samples: a cell of
// size h has error <= (hu^2 |f_uu| + hv^2 |f_vv|) / 8, and the cells between 0, 1/2 and 1 of a subpatch have half its
// size.
const float PAD_FACTOR = 1.0 / 32.0;

vec4 bernstein(Param p) {
    float s2 = p.s * p.s, t2 = p.t * p.t;
    return vec4(s2 * p.s, (3.0 * s2) * p.t, (3.0 * t2) * p.s, t2 * p.t);
}

vec3 cubic(vec4 w, vec3 a, vec3 b, vec3 c, vec3 d) { return (w.x * a + w.w * d) + (w.y * b + w.z * c); }

vec3 cubic_derivative(Param p, vec3 a, vec3 b, vec3 c, vec3 d) {
    float s2 = 3.0 * (p.s * p.s), st = 6.0 * (p.s * p.t), t2 = 3.0 * (p.t * p.t);
    return (s2 * (b - a) + t2 * (d - c)) + st * (c - b);
}

// Too small a cross product to be a direction.
bool degenerate(vec3 n, vec3 du, vec3 dv) { return dot(n, n) <= 1e-10 * (dot(du, du) * dot(du, du) + dot(dv, dv) * dot(dv, dv)); }

// cases: KIND_*
#if KIND == KIND_QUADRIC
#include "lib/surface/quadric.glsl"
#elif KIND == KIND_FACET
#include "lib/surface/facet.glsl"
#elif KIND == KIND_PATCH
#include "lib/surface/patch.glsl"
#elif KIND == KIND_CURVE
#include "lib/surface/curve.glsl"
#elif KIND == KIND_POINT
#include "lib/surface/point.glsl"
#elif KIND == KIND_RATIONAL
#include "lib/surface/rational.glsl"
#elif KIND == KIND_GREGORY
#include "lib/surface/gregory.glsl"
#elif KIND == KIND_TRIANGLE
#include "lib/surface/triangle.glsl"
#elif KIND == KIND_BLOB
#include "lib/surface/blob.glsl"
#else
#error "no surface for this primitive kind"
#endif

#if KIND == KIND_RATIONAL || KIND == KIND_BLOB
vec3 surface_position(Param u) { return camera_from_object(surface_instance, surface_object_position(u)); }
#endif

#ifndef SURFACE_SEAMS
vec3 surface_vertex(ParamPoint along_u, ParamPoint along_v, Param u, Param v) { return surface_position(u); }
#endif

#endif

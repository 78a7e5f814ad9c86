// One micropolygon as the hider sees it: four vertices projected and rounded once, exact integer coverage with a
// top-left rule, depth by one expression.
//
// Needs frame and arena[] (uvec4), or MICROPOLYGON_VERTEX(v), the place of a vertex.

#ifndef MICROPOLYGON_GLSL
#define MICROPOLYGON_GLSL

#include "lib/sampling/key.glsl"
#include "lib/math/quotient.glsl"
#include "lib/grid/slot.glsl"

#ifndef MICROPOLYGON_VERTEX
#include "lib/grid/arena.glsl"
#define MICROPOLYGON_VERTEX(v) arena_position(v)
#endif

struct Micropolygon {
    ivec2 a; // (i, j); all four in 1/1024 pixel
    ivec2 b; // (i + 1, j)
    ivec2 c; // (i, j + 1)
    ivec2 d; // (i + 1, j + 1)
    ivec2 low;
    ivec2 high;
    // Depth at a sample: f(x, y) = f0 + fx (x - x0) + fy (y - y0) with x0, y0 = low, where f is 1/z (perspective) or z;
    // the best plane through the four vertices. Clamped to [zmin, zmax].
    float f0;
    float fx;
    float fy;
    float zmin;
    float zmax;
};

// The plane of depth: through the centre, normal to both diagonals.
void micropolygon_depth(inout Micropolygon m, vec4 z) {
    if (frame_paints(frame)) z = vec4(PAINT_Z);
    m.zmin = min(min(z.x, z.y), min(z.z, z.w));
    m.zmax = max(max(z.x, z.y), max(z.z, z.w));
    vec4 f = frame_perspective(frame) ? reciprocal(z) : z;
    vec2 e1 = vec2(m.d - m.a), e2 = vec2(m.c - m.b);
    float d1 = f.w - f.x, d2 = f.z - f.y;
    float area = e1.x * e2.y - e1.y * e2.x; // twice the quadrilateral's
    float centre = 0.25 * ((f.x + f.w) + (f.y + f.z));
    bool flat_on = abs(area) >= 1.0;
    vec2 slope = quotient(vec2(d1 * e2.y - d2 * e1.y, d2 * e1.x - d1 * e2.x), area);
    m.fx = flat_on ? slope.x : 0.0;
    m.fy = flat_on ? slope.y : 0.0;
    vec2 middle = 0.25 * vec2((m.a - m.low) + (m.b - m.low) + (m.c - m.low) + (m.d - m.low));
    m.f0 = centre - (m.fx * middle.x + m.fy * middle.y);
}

float micropolygon_z(Micropolygon m, ivec2 at) {
    vec2 d = vec2(at - m.low);
    float f = m.f0 + (m.fx * d.x + m.fy * d.y);
    float z = frame_perspective(frame) ? reciprocal(f) : f;
    // !(z > zmin) also catches NaN and a plane that tips behind the eye
    return !(z > m.zmin) ? m.zmin : min(z, m.zmax);
}

// Whether all of a micropolygon is removed by hither and yon. One on both sides of a plane is clipped sample by sample,
// by its depth there, unless it is painted; what is clipped of a solid still bounds it.
bool clipped_whole(Slot slot, vec4 z) {
    bvec4 before = lessThan(z, vec4(frame.near)), beyond = greaterThan(z, vec4(frame.far));
    bool clips = frame_paints(frame) ? any(before) || any(beyond) : all(before) || all(beyond);
    return clips && !slot_solid(slot);
}

// Loads micropolygon `local` of a slot; false when there is none, or none of it can be seen.
bool micropolygon_load(uint first_vertex, Slot slot, uint local, out Micropolygon m) {
    uint nu = slot_nu(slot), nv = slot_nv(slot);
    if (local >= nu * nv) return false;
    uint j = uint((float(local) + 0.5) / float(nu)), i = local - j * nu;
    uint v = first_vertex + j * (nu + 1u) + i;
    vec3 pa = MICROPOLYGON_VERTEX(v), pb = MICROPOLYGON_VERTEX(v + 1u);
    vec3 pc = MICROPOLYGON_VERTEX(v + nu + 1u), pd = MICROPOLYGON_VERTEX(v + nu + 2u);
    vec4 z = vec4(pa.z, pb.z, pc.z, pd.z);
    // Also false for NaN: it is dropped.
    if (!(all(greaterThanEqual(z, vec4(frame.eye_z))) && all(lessThanEqual(z, vec4(DEPTH_MAX))))) return false;
    if (clipped_whole(slot, z)) return false;
    m.a = raster_fixed(frame, pa);
    m.b = raster_fixed(frame, pb);
    m.c = raster_fixed(frame, pc);
    m.d = raster_fixed(frame, pd);
    m.low = min(min(m.a, m.b), min(m.c, m.d));
    m.high = max(max(m.a, m.b), max(m.c, m.d));
    micropolygon_depth(m, z);
    if (slot_one_sided(slot)) {
        // Facing the eye: positive area in raster space, whose y runs down (camera space is left-handed).
        vec2 e1 = vec2(m.d - m.a), e2 = vec2(m.c - m.b);
        if ((e1.x * e2.y - e1.y * e2.x > 0.0) == (slot_flip(slot) != frame_mirrors(frame))) return false;
    }
    return true;
}

// A triangle as three edge functions A x + B y + C, positive inside, relative to an origin.
struct Triangle {
    ivec3 a;
    ivec3 b;
    ivec3 c;
};

// Whether the edges along d are left or top ones.
bvec3 owns_edges(ivec3 dx, ivec3 dy) {
    return bvec3(dy.x < 0 || (dy.x == 0 && dx.x > 0), dy.y < 0 || (dy.y == 0 && dx.y > 0), dy.z < 0 || (dy.z == 0 && dx.z > 0));
}

// Points on an edge belong to the triangle for which the edge is a left or top one: C is lowered by one for the others,
// whole numbers, so that no point belongs to both or neither of two triangles that share it.
Triangle triangle_setup(ivec2 p, ivec2 q, ivec2 r) {
    ivec3 dx = ivec3(q.x - p.x, r.x - q.x, p.x - r.x), dy = ivec3(q.y - p.y, r.y - q.y, p.y - r.y);
    ivec3 x = ivec3(p.x, q.x, r.x), y = ivec3(p.y, q.y, r.y);
    int area = dx.x * (r.y - p.y) - dy.x * (r.x - p.x);
    int turn = area < 0 ? -1 : 1;
    dx *= turn;
    dy *= turn;
    Triangle t = Triangle(-dy, dx, dy * x - dx * y - ivec3(not(owns_edges(dx, dy))));
    if (area == 0) t = Triangle(ivec3(0), ivec3(0), ivec3(-1));
    return t;
}

bool triangle_covers(Triangle t, ivec2 at) {
    ivec3 e = t.a * at.x + t.b * at.y + t.c;
    return (e.x | e.y | e.z) >= 0;
}

#endif

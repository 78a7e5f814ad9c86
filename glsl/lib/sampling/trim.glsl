// Trim loops (RISpec 5.2 TrimCurve): whether a sample of a micropolygon is cut away. (u, v) is linear between the
// corners of its two triangles, in perspective too, so it goes on from one micropolygon to the next; whether that point
// is inside the loops is found from the curves themselves, to the last bit by the same steps for every sample
// (Schollmeyer and Froehlich 2009, "Direct trimming of NURBS surfaces on the GPU").
//
// The loops are cut into pieces along which u and v only rise or only fall (src/pipeline/geometry/trim.rs). Their
// records in data[], from the one that the record before a patch's control points names:
//   strips of v, parts that an invocation may do, 1 if what is outside of the loops is drawn, 0
//   one record a strip: the first record of its list and the number of pieces in it
//   the lists: four pieces a record, by their first record; negative for curves
//   the pieces: u, v of both ends; and for curves the degree and the control points (w u, w v, w)
// Records are counted from the first of all.
//
// Needs arena[], grids[], primitives[] and data[].

#ifndef TRIM_GLSL
#define TRIM_GLSL

#include "lib/grid/edge.glsl"
#include "lib/grid/grid_param.glsl"
#include "lib/sampling/micropolygon.glsl"
#include "lib/records.glsl"

// Steps of the search for a sample's place along a curve, which begins as a piece hardly bent: then its chord is as
// good as the curve.
const uint TRIM_STEPS = 8u;
// Curves that are searched for a sample; few are near it. Others count as their chords.
const uint TRIM_SEARCHES = 2u;

#if TRIMMED

// A point of the surface, and its weight: 1/z in perspective.
struct TrimCorner {
    vec2 uv;
    float weight;
};

uint trim_base;
TrimCorner trim_corners[4];

uint trim_index(float number) { return uint(number); }

TrimCorner trim_corner(Subpatch grid, vec4 range, uint i, uint j, uint nu, uint nv, float z) {
    Param u, v;
    grid_param(grid, i, j, nu, nv, u, v);
    vec2 uv = vec2(u.s * range.x + u.t * range.z, v.s * range.y + v.t * range.w);
    return TrimCorner(uv, frame_perspective(frame) ? 1.0 / z : 1.0);
}

// Loads micropolygon `local` of a slot; returns the parts that an invocation may do.
uint trim_load(uint first_vertex, Slot slot, uint local) {
    Subpatch grid = grids[slot.rank];
    Primitive primitive = primitives[grid.primitive];
    trim_base = trim_index(data[primitive.data - 1u].x);
    uint nu = slot_nu(slot), nv = slot_nv(slot), j = uint((float(local) + 0.5) / float(nu)), i = local - j * nu;
    for (uint k = 0u; k < 4u; k++) {
        uint x = i + (k & 1u), y = j + (k >> 1);
        trim_corners[k] = trim_corner(grid, primitive.uv_range, x, y, nu, nv, arena_position(first_vertex + y * (nu + 1u) + x).z);
    }
    return trim_index(data[trim_base].y);
}

vec3 trim_curve_at(uint control, uint degree, float t) {
    float s = 1.0 - t, power = 1.0;
    uint binomial = 1u;
    vec3 p = data[control].xyz;
    for (uint i = 1u; i <= degree; i++) {
        power *= t;
        binomial = binomial * (degree + 1u - i) / i;
        p = s * p + (power * float(binomial)) * data[control + i].xyz;
    }
    return p;
}

// Whether a point that is beside a piece, between the v of its ends, sees it towards larger u.
bool trim_sees(vec2 at, vec4 ends, uint piece, inout uint searches) {
    if (at.x < min(ends.x, ends.z)) return true;
    if (at.x >= max(ends.x, ends.z)) return false;
    vec2 low = ends.y < ends.w ? ends.xy : ends.zw, high = ends.y < ends.w ? ends.zw : ends.xy;
    if (piece != 0u && searches < TRIM_SEARCHES) {
        searches++;
        uint degree = trim_index(data[piece].x);
        bool rises = ends.y < ends.w;
        float first = rises ? 0.0 : 1.0, last = 1.0 - first;
        for (uint step = 0u; step < TRIM_STEPS; step++) {
            float middle = 0.5 * (first + last);
            vec3 p = trim_curve_at(piece + 1u, degree, middle);
            bool above = p.y > at.y * p.z;
            vec2 q = p.xy * (1.0 / p.z);
            first = above ? first : middle;
            last = above ? middle : last;
            low = above ? low : q;
            high = above ? q : high;
            if (at.x < min(low.x, high.x)) return true;
            if (at.x >= max(low.x, high.x)) return false;
        }
    }
    return (at.x - low.x) * (high.y - low.y) < (high.x - low.x) * (at.y - low.y);
}

bool trim_crosses(vec2 at, float piece, inout uint searches) {
    uint record = trim_base + trim_index(abs(piece));
    vec4 ends = data[record];
    if ((ends.y <= at.y) == (ends.w <= at.y)) return false;
    return trim_sees(at, ends, piece < 0.0 ? record + 1u : 0u, searches);
}

// Whether the loops cut away a point of the surface.
bool trim_removes(vec2 at) {
    vec4 head = data[trim_base];
    uint strips = trim_index(head.x);
    uint strip = min(uint(clamp(at.y, 0.0, 1.0) * head.x), strips - 1u);
    vec4 list = data[trim_base + 1u + strip];
    uint first = trim_base + trim_index(list.x), count = trim_index(list.y), searches = 0u;
    bool inside = false;
    for (uint k = 0u; k < count; k++) {
        if (trim_crosses(at, data[first + (k >> 2)][k & 3u], searches)) inside = !inside;
    }
    return inside == (head.z != 0.0);
}

// (u, v) at a sample that a micropolygon covers, from the triangle that covers it.
vec2 trim_place(Micropolygon m, ivec2 at) {
    // Of two triangles (a, b, d) and (a, d, c), by the side of the diagonal.
    vec2 p = vec2(at - m.a), diagonal = vec2(m.d - m.a), b = vec2(m.b - m.a), c = vec2(m.c - m.a);
    float side = diagonal.x * p.y - diagonal.y * p.x, turn = diagonal.x * b.y - diagonal.y * b.x;
    float other_turn = diagonal.x * c.y - diagonal.y * c.x;
    bool first = turn != 0.0 && (side == 0.0 || (side < 0.0) == (turn < 0.0) || other_turn == 0.0);
    vec2 third = first ? b : c;
    TrimCorner corner_a = trim_corners[0], corner_d = trim_corners[3], corner_t = trim_corners[2];
    if (first) corner_t = trim_corners[1];
    float area = diagonal.x * third.y - diagonal.y * third.x;
    float inverse = area != 0.0 ? 1.0 / area : 0.0;
    float t = clamp(side * inverse, 0.0, 1.0);
    float d = clamp((p.x * third.y - p.y * third.x) * inverse, 0.0, 1.0 - t);
    float wa = (1.0 - t - d) * corner_a.weight, wt = t * corner_t.weight, wd = d * corner_d.weight;
    return (wa * corner_a.uv + wt * corner_t.uv + wd * corner_d.uv) * (1.0 / (wa + wt + wd));
}

#endif

// Whether a sample of the loaded micropolygon is trimmed away. For kernels that are compiled without TRIMMED: never.
bool trimmed(Micropolygon m, ivec2 at) {
#if TRIMMED
    return trim_removes(trim_place(m, at));
#else
    return false;
#endif
}

#endif

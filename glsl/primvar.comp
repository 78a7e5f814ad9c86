// axes: KIND=KIND_*
//
// Primvar: one invocation = one vertex of a slot of one kind; spreads the primitive variables that a shading program
// reads over the grid (RISpec 5, classes constant, uniform, varying, vertex, facevarying). Reads the instance's list of
// primvars, the page's values, the primitive's indices; writes channels (varying inputs) and, for vertex 0, the slot's
// uniform inputs. Vertex class spreads like P: bilinear on facets and quadrics, Bezier on patches and curves, with
// weights on rational patches.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/between.glsl"
#include "lib/grid/edge.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"
#include "lib/surface/gregory_blend.glsl"

layout(local_size_x = GROUP_VERTICES) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 1) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 2) readonly buffer Values { float values[]; };
layout(std430, set = 0, binding = 3) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 4) readonly buffer Slots { Slot slots[]; };

// Bits of PrimvarBinding.class_type above the class.
const int BINDING_TYPE_SHIFT = 8;
const int BINDING_TAKEN_SHIFT = 12;
const int BINDING_STRIDE_SHIFT = 17;
const int BINDING_UNIFORM_SHIFT = 31;

// One primvar of an instance and where it goes. A list ends with class CLASS_END.
struct PrimvarBinding {
    uint class_type;  // CLASS_* (8 bits) | TYPE_* (4) | floats taken (5) | floats of a value (14) | uniform input (1)
    uint first_value; // index of its first float in the page
    uint channel;     // input channel, or number of the uniform input
    uint component;   // first component in the channel's record
};

layout(std430, set = 0, binding = 5) readonly buffer PrimvarBindings { PrimvarBinding primvar_bindings[]; };
layout(std430, set = 0, binding = 6) buffer Arena { vec4 arena[]; };
layout(std430, set = 0, binding = 7) readonly buffer Pieces { Piece pieces[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;
    uint channel_stride;
    uint uniform_base;
    uint uniform_count;
    uint displace; // 1: the displacement program's inputs, 0: the shading program's
};

// cases: CLASS_*
const uint CLASS_CONSTANT = 0u;
const uint CLASS_UNIFORM = 1u;
const uint CLASS_VARYING = 2u;
const uint CLASS_FACEVARYING = 3u;
const uint CLASS_VERTEX = 4u;
const uint CLASS_END = 0xffu;

// cases: TYPE_*
const uint TYPE_PLAIN = 0u; // floats and colours
const uint TYPE_POINT = 1u;
const uint TYPE_VECTOR = 2u;
const uint TYPE_NORMAL = 3u;

#include "lib/grid/grid_param.glsl"

vec4 cubic_weights(Param p) {
    float s2 = p.s * p.s, t2 = p.t * p.t;
    return vec4(s2 * p.s, (3.0 * s2) * p.t, (3.0 * t2) * p.s, t2 * p.t);
}

float value(PrimvarBinding b, uint index, uint c) { return values[b.first_value + index * ((b.class_type >> BINDING_STRIDE_SHIFT) & 0x3fffu) + c]; }

float corners(PrimvarBinding b, uvec4 index, Param u, Param v, uint c) {
    float low = between(u, value(b, index.x, c), value(b, index.y, c));
    float high = between(u, value(b, index.z, c), value(b, index.w, c));
    return between(v, low, high);
}

vec4 four_values(PrimvarBinding b, uint at, uint c) {
    return vec4(value(b, at, c), value(b, at + 1u, c), value(b, at + 2u, c), value(b, at + 3u, c));
}

// A sum with weights that add up to 1, of equal values exactly their value.
float weighted(vec4 w, vec4 x) {
    return x == vec4(x.x) ? x.x : ((w.x * x.x + w.y * x.y) + w.z * x.z) + w.w * x.w;
}

// Up to four components of a vertex value, times the weight, and the weight.
struct Weighted {
    vec4 values;
    float weight;
};

// A polynomial in Bernstein form, by Horner's rule: begin with the first value, then step through the others. What is
// the same in all of them is exactly that in the end.
struct Polynomial {
    Weighted sum;
    float power;   // t^i
    uint binomial; // n over i
    Weighted first;
    bvec4 even_values; // those are the same so far
    bool even_weight;
};

Polynomial polynomial(Weighted first) { return Polynomial(first, 1.0, 1u, first, bvec4(true), true); }

Weighted polynomial_end(Polynomial b) {
    return Weighted(mix(b.sum.values, b.first.values, b.even_values), b.even_weight ? b.first.weight : b.sum.weight);
}

void polynomial_step(inout Polynomial b, Param p, uint n, uint i, Weighted next) {
    b.even_values = mix(bvec4(false), equal(next.values, b.first.values), b.even_values);
    b.even_weight = b.even_weight && next.weight == b.first.weight;
    b.power *= p.t;
    b.binomial = b.binomial * (n + 1u - i) / i;
    float factor = b.power * float(b.binomial);
    b.sum.values = p.s * b.sum.values + factor * next.values;
    b.sum.weight = p.s * b.sum.weight + factor * next.weight;
}

// The values at control point i; weights stand beside the control points.
Weighted weighted_value(PrimvarBinding b, Primitive primitive, uint i, uint first, uint count) {
    uint at = primitive.extra + i;
    vec4 x = vec4(value(b, at, first), 0.0, 0.0, 0.0);
    if (count > 1u) x.y = value(b, at, first + 1u);
    if (count > 2u) x.z = value(b, at, first + 2u);
    if (count > 3u) x.w = value(b, at, first + 3u);
    return Weighted(x, values[4u * (primitive.data + i) + 3u]);
}

vec4 rational_values(PrimvarBinding b, Primitive primitive, Param u, Param v, uint first, uint count) {
    uint nu = degree_u(primitive), nv = degree_v(primitive);
    Polynomial whole = polynomial(Weighted(vec4(0.0), 1.0));
    for (uint j = 0u; j <= nv; j++) {
        uint start = j * (nu + 1u);
        Polynomial row = polynomial(weighted_value(b, primitive, start, first, count));
        for (uint i = 1u; i <= nu; i++) polynomial_step(row, u, nu, i, weighted_value(b, primitive, start + i, first, count));
        if (j == 0u) whole = polynomial(polynomial_end(row));
        else polynomial_step(whole, v, nv, j, polynomial_end(row));
    }
    Weighted end = polynomial_end(whole);
    return end.values * rsl_reciprocal(end.weight);
}

// Values at the 20 points of a Gregory patch, whose interior ones are blended from pairs.
float gregory_value(PrimvarBinding b, uint first, Param u, Param v, uint c) {
    Blend blends[4];
    blend_quad(u, v, blends);
    vec4 wu = cubic_weights(u), wv = cubic_weights(v);
    float start = value(b, first, c), sum = 0.0;
    bool even = true; // all points have one value
    for (uint i = 0u; i < 16u; i++) {
        float x = value(b, first + i, c);
        sum += (wu[i & 3u] * wv[i >> 2]) * x;
        even = even && x == start;
    }
    for (uint i = 0u; i < 4u; i++) {
        uint point = pair_of_quad(i);
        float step = value(b, first + 16u + i, c) - value(b, first + point, c);
        sum += (wu[point & 3u] * wv[point >> 2]) * ((1.0 - blends[i].part) * step);
        even = even && step == 0.0;
    }
    return even ? start : sum;
}

// And at the 18 of a Gregory triangle.
float triangle_value(PrimvarBinding b, uint first, Param u, Param v, uint c) {
    vec3 at = triangle_at(u, v);
    Blend blends[3];
    blend_triangle(at.x, at.y, at.z, blends);
    float weights[15], start = value(b, first, c), sum = 0.0;
    quartic_weights(at.x, at.y, at.z, weights);
    bool even = true;
    for (uint i = 0u; i < 15u; i++) {
        float x = value(b, first + i, c);
        sum += weights[i] * x;
        even = even && x == start;
    }
    for (uint i = 0u; i < 3u; i++) {
        float step = value(b, first + 15u + i, c) - value(b, first + pair_of_triangle(i), c);
        sum += weights[pair_of_triangle(i)] * ((1.0 - blends[i].part) * step);
        even = even && step == 0.0;
    }
    return even ? start : sum;
}

bool is_limit() { return KIND == KIND_GREGORY || KIND == KIND_TRIANGLE; }

// Vertex values of KIND_PATCH are those of 16 control points, of a cubic KIND_CURVE those of 4; of KIND_RATIONAL
// see rational_values, of KIND_GREGORY and KIND_TRIANGLE above. A linear curve, KIND_QUADRIC, KIND_FACET, KIND_POINT
// and KIND_BLOB have theirs at the corners.
// Where a cubic curve's control points have weights its values are those times them, and are divided by their sum.
// Along a curve, or at a point, only two corners (one) exist: the host repeats them in `corners`. A cubic segment's
// first control value is numbered in face_corners.w.
float vertex_value(PrimvarBinding b, Primitive primitive, Param u, Param v, uint c) {
    if (KIND == KIND_GREGORY) return gregory_value(b, primitive.extra, u, v, c);
    if (KIND == KIND_TRIANGLE) return triangle_value(b, primitive.extra, u, v, c);
    bool straight = KIND == KIND_CURVE && (primitive.kind_flags & PRIMITIVE_LINEAR) != 0u;
    if (KIND != KIND_PATCH && (KIND != KIND_CURVE || straight)) return corners(b, primitive.corners, u, v, c);
    vec4 wu = cubic_weights(u), wv = cubic_weights(v);
    uint first = KIND == KIND_PATCH ? primitive.extra : primitive.face_corners.w;
    vec4 rows;
    for (uint j = 0u; j < 4u; j++) {
        uint at = first + 4u * j;
        if (KIND == KIND_CURVE) rows[j] = value(b, first + j, c);
        else rows[j] = weighted(wu, four_values(b, at, c));
    }
    float sum = weighted(wv, rows);
    if (KIND == KIND_CURVE && (primitive.kind_flags & PRIMITIVE_WEIGHTED) != 0u) {
        uint at = 4u * (primitive.data + 4u);
        sum *= rsl_reciprocal(weighted(wv, vec4(values[at], values[at + 1u], values[at + 2u], values[at + 3u])));
    }
    return sum;
}

float spread(PrimvarBinding b, Primitive primitive, Param u, Param v, uint c) {
    uint storage = b.class_type & 0xffu;
    if (storage == CLASS_CONSTANT) return value(b, 0u, c);
    if (storage == CLASS_UNIFORM) return value(b, primitive.face, c);
    if (storage == CLASS_VARYING) return corners(b, primitive.corners, u, v, c);
    if (storage == CLASS_FACEVARYING) {
        // Curves have no facevarying values of their own; those of limit patches are numbered like varying ones.
        return corners(b, KIND == KIND_CURVE || is_limit() ? primitive.corners : primitive.face_corners, u, v, c);
    }
    return vertex_value(b, primitive, u, v, c); // CLASS_VERTEX
}

vec3 to_camera(Instance instance, uint type, vec3 x) {
    if (type == TYPE_POINT) return camera_from_object(instance, x);
    if (type == TYPE_VECTOR) return camera_from_object_vector(instance, x);
    if (type != TYPE_NORMAL) return x;
    vec3 a = instance.row0.xyz, b = instance.row1.xyz, c = instance.row2.xyz;
    float determinant = dot(a, cross(b, c));
    vec3 n = camera_from_object_normal(instance, x);
    return determinant != 0.0 ? n / determinant : n;
}

void write_value(uint at, uint component, uint floats, vec4 x) {
    if (floats >= 3u) arena[at].xyz = x.xyz;
    if (floats == 4u) arena[at].w = x.w;
    if (floats <= 2u) arena[at][component] = x.x;
    if (floats == 2u) arena[at][component + 1u] = x.y;
}

void main() {
    uint id = invocation(), index = id >> pieces[piece].slot_log2;
    if (index >= pieces[piece].count) return;
    Slot slot = slots[slot_base + index];
    uint local = id & ((1u << pieces[piece].slot_log2) - 1u), nu = slot_nu(slot), nv = slot_nv(slot);
    if (local >= (nu + 1u) * (nv + 1u)) return;
    Subpatch grid = grids[slot.rank];
    Primitive primitive = primitives[grid.primitive];
    Instance instance = instances[grid.instance];
    uint j = uint((float(local) + 0.5) / float(nu + 1u)), i = local - j * (nu + 1u);
    Param u, v;
    grid_param(grid, i, j, nu, nv, u, v);
    uint entry = displace == 1u ? instance.displace_primvars : instance.shade_primvars;
    uint vertex = vertex_base + (index << pieces[piece].slot_log2) + local;
    for (uint n = entry; entry != PRIMVARS_NONE && (primvar_bindings[n].class_type & 0xffu) != CLASS_END; n++) {
        PrimvarBinding b = primvar_bindings[n];
        bool uniform_input = (b.class_type >> BINDING_UNIFORM_SHIFT) != 0u;
        if (uniform_input && local != 0u) continue;
        uint floats = (b.class_type >> BINDING_TAKEN_SHIFT) & 0x1fu, type = (b.class_type >> BINDING_TYPE_SHIFT) & 0xfu;
        uint at = uniform_input ? uniform_base + index * uniform_count + b.channel : vertex + b.channel * channel_stride;
        for (uint first = 0u; first < floats; first += 4u) { // a matrix takes four records
            vec4 x = vec4(0.0);
            uint count = min(4u, floats - first);
            if (KIND == KIND_RATIONAL && (b.class_type & 0xffu) == CLASS_VERTEX) x = rational_values(b, primitive, u, v, first, count);
            else for (uint c = 0u; c < count; c++) x[c] = spread(b, primitive, u, v, first + c);
            if (type != TYPE_PLAIN) x.xyz = to_camera(instance, type, x.xyz);
            write_value(at, b.component, count, x);
            at += uniform_input ? 1u : channel_stride;
        }
    }
}

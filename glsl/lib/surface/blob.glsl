// Part of an implicit surface (RISpec 5.6 Blobby): points of a bilinear facet of a coarse mesh, moved along the
// gradient of the field to where the field has its threshold. A point depends on nothing but the point that it starts
// from, so facets that share an edge share what becomes of it.
//
// Control data: four records, the corners with, in w, the first record of the program, its steps, how far a point may
// move, and the threshold; and the programs. A step is a record with its operation, a value, 1 if a leaf is added to
// what is uppermost instead of being pushed above it, and how many records the step has; then what it needs:
//   BLOB_CONSTANT: the value; three records of zeros; BLOB_DIVIDE: the value is how far from 0 divisors are kept
//   BLOB_ELLIPSOID: three records, the rows that take a point to where the ellipsoid is the unit sphere
//   BLOB_SEGMENT: likewise, to where its radius is 1; then its start and length; and its direction
//   BLOB_REPELLER: three records, the rows that take a point to its place in a picture of depths, times w, and to w; a
//     row that takes it to its depth; A, B, D and the first record of the depths, four in each; 1 / A, 1 / C, width,
//     height
// Leaves push a value on a stack; operations take one or two from it. Grounds need a variant with FULL: others are
// faster.

#include "lib/rsl/reciprocal.glsl"

// cases: BLOB_*
const uint BLOB_CONSTANT = 0u;
const uint BLOB_ELLIPSOID = 1u;
const uint BLOB_SEGMENT = 2u;
const uint BLOB_REPELLER = 3u;
const uint BLOB_ADD = 4u;
const uint BLOB_MULTIPLY = 5u;
const uint BLOB_MAX = 6u;
const uint BLOB_MIN = 7u;
const uint BLOB_SUBTRACT = 8u;
const uint BLOB_DIVIDE = 9u;
const uint BLOB_NEGATE = 10u;

// Heights above a ground are at least this.
const float BLOB_HEIGHT_MIN = 1e-6;

const uint BLOB_STACK = 12u;
// Newton's method: four steps take an error of a tenth to the last bits.
const uint BLOB_MOVES = 4u;

vec3 corner[4];
vec3 row[2];
vec3 row_derivative[2];
uint program;
uint steps;
float blob_reach;
float threshold;

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    for (uint i = 0u; i < 4u; i++) corner[i] = data[primitive.data + i].xyz;
    program = uint(data[primitive.data].w);
    steps = uint(data[primitive.data + 1u].w);
    blob_reach = data[primitive.data + 2u].w;
    threshold = data[primitive.data + 3u].w;
}

// (1 - r^2)^3 within the unit sphere, after its gradient.
vec4 blob_ellipsoid(vec3 q) {
    float k = 1.0 - ((q.x * q.x + q.y * q.y) + q.z * q.z);
    if (!(k > 0.0)) return vec4(0.0);
    return vec4((-6.0 * (k * k)) * q, (k * k) * k);
}

// The same bump, moved along the segment and summed up, so that segments which follow each other add up to a longer
// one; 1 in the middle of a long one.
vec4 blob_segment(vec4 start, vec3 axis, vec3 point) {
    vec3 q = point - start.xyz;
    float s = (axis.x * q.x + axis.y * q.y) + axis.z * q.z;
    vec3 away = q - s * axis;
    float k = 1.0 - ((away.x * away.x + away.y * away.y) + away.z * away.z);
    if (!(k > 0.0)) return vec4(0.0);
    float r = k * rsl_inverse_root(k), scale = 35.0 / 32.0;
    vec2 x = clamp(vec2(-s, start.w - s), vec2(-r), vec2(r)), x2 = x * x, rest = vec2(k) - x2;
    vec2 cubes = x * (k * k * k - x2 * (k * k - x2 * (0.6 * k - x2 * (1.0 / 7.0))));
    vec2 squares = x * (k * k - x2 * ((2.0 / 3.0) * k - x2 * 0.2));
    vec2 ends = rest * rest * rest;
    vec3 g = (-6.0 * (squares.y - squares.x)) * away + (ends.x - ends.y) * axis;
    return vec4(scale * g, scale * (cubes.y - cubes.x));
}

#if FULL
float blob_depth(uint first, uint i) { return data[first + (i >> 2)][i & 3u]; }

// The height of a point above a ground, along its camera's z, and the height's gradient.
vec4 blob_height(uint rows, vec3 p, float w, uint first, vec2 size) {
    float inverse = rsl_reciprocal(w);
    vec4 a = data[rows], b = data[rows + 1u], c = data[rows + 2u], away = data[rows + 3u];
    vec2 place = vec2(((a.x * p.x + a.y * p.y) + a.z * p.z) + a.w, ((b.x * p.x + b.y * p.y) + b.z * p.z) + b.w) * inverse;
    // Between the middles of texels; beside the picture its border goes on.
    vec2 texel = place * size - 0.5, at = clamp(texel, vec2(0.0), size - 1.0);
    vec2 low = min(floor(at), max(size - 2.0, vec2(0.0))), part = at - low, high = min(low + 1.0, size - 1.0);
    uvec4 index = uvec4(low.y * size.x + low.x, low.y * size.x + high.x, high.y * size.x + low.x, high.y * size.x + high.x);
    float d00 = blob_depth(first, index.x), d10 = blob_depth(first, index.y), d01 = blob_depth(first, index.z), d11 = blob_depth(first, index.w);
    float top = (1.0 - part.x) * d00 + part.x * d10, bottom = (1.0 - part.x) * d01 + part.x * d11;
    vec2 slope = vec2((1.0 - part.y) * (d10 - d00) + part.y * (d11 - d01), bottom - top) * (size * inverse);
    slope *= vec2(equal(texel, at));
    vec3 g = slope.x * (a.xyz - place.x * c.xyz) + slope.y * (b.xyz - place.y * c.xyz);
    float z = ((away.x * p.x + away.y * p.y) + away.z * p.z) + away.w;
    return vec4(g - away.xyz, ((1.0 - part.y) * top + part.y * bottom) - z);
}

// (D bump(z / C) - B / z) (1 - ease(z / A)) of the height z, 0 from A on.
vec4 blob_repeller(uint rows, vec3 p) {
    vec4 c = data[rows + 2u], shape = data[rows + 4u], rest = data[rows + 5u];
    float w = ((c.x * p.x + c.y * p.y) + c.z * p.z) + c.w;
    if (!(w > 0.0)) return vec4(0.0);
    vec4 height = blob_height(rows, p, w, uint(shape.w), rest.zw);
    if (!(height.w < shape.x)) return vec4(0.0);
    float z = max(height.w, BLOB_HEIGHT_MIN), r = z * rest.y, s = min(z * rest.x, 1.0), over = rsl_reciprocal(z);
    float bump = (((6.0 - r) * r - 12.0) * r + 8.0) * ((r * r) * r), rises = 6.0 * (r * r) * (((5.0 - r) * r - 8.0) * r + 4.0);
    bool bulges = r > 0.0 && r < 2.0;
    float force = (bulges ? shape.z * bump : 0.0) - shape.y * over;
    float slope = (bulges ? (shape.z * rest.y) * rises : 0.0) + (shape.y * over) * over;
    float fade = 1.0 - (s * s) * (3.0 - 2.0 * s), fades = (-6.0 * rest.x) * (s * (1.0 - s));
    return vec4((slope * fade + force * fades) * height.xyz, force * fade);
}
#endif

// What a leaf is at a point, after its gradient: its own space's is taken back by the rows that lead there.
vec4 blob_leaf(uint operation, float value, uint rows, vec3 p) {
    vec4 a = data[rows], b = data[rows + 1u], c = data[rows + 2u];
    vec3 q = vec3(((a.x * p.x + a.y * p.y) + a.z * p.z) + a.w, ((b.x * p.x + b.y * p.y) + b.z * p.z) + b.w,
                  ((c.x * p.x + c.y * p.y) + c.z * p.z) + c.w);
    vec4 leaf = vec4(vec3(0.0), value);
    if (operation == BLOB_ELLIPSOID) leaf = blob_ellipsoid(q);
    if (operation == BLOB_SEGMENT) leaf = blob_segment(data[rows + 3u], data[rows + 4u].xyz, q);
    return vec4((leaf.x * a.xyz + leaf.y * b.xyz) + leaf.z * c.xyz, leaf.w);
}

// What an operation makes of two values.
vec4 blob_operation(uint operation, float least, vec4 a, vec4 b) {
    vec4 result = a;
    if (operation == BLOB_ADD) result = a + b;
    if (operation == BLOB_SUBTRACT) result = a - b;
    if (operation == BLOB_MAX) result = a.w >= b.w ? a : b;
    if (operation == BLOB_MIN) result = a.w <= b.w ? a : b;
    if (operation == BLOB_MULTIPLY) result = vec4(a.xyz * b.w + b.xyz * a.w, a.w * b.w);
    if (operation == BLOB_DIVIDE) {
        float divisor = abs(b.w) >= least ? b.w : b.w < 0.0 ? -least : least;
        float inverse = rsl_reciprocal(divisor), quotient = a.w * inverse;
        result = vec4((a.xyz - quotient * b.xyz) * inverse, quotient);
    }
    return result;
}

// The gradient of the field at a point, and its value.
vec4 blob_field(vec3 p) {
    vec4 stack[BLOB_STACK], top = vec4(0.0);
    uint below = 0u, at = program;
    for (uint i = 0u; i < steps; i++) {
        vec4 head = data[at];
        uint operation = uint(head.x), rows = at + 1u;
        at += uint(head.w);
        if (operation <= BLOB_REPELLER) {
            vec4 leaf = blob_leaf(operation, head.y, rows, p);
#if FULL
            if (operation == BLOB_REPELLER) leaf = blob_repeller(rows, p);
#endif
            bool adds = head.z != 0.0;
            if (!adds) stack[min(below, BLOB_STACK - 1u)] = top;
            below += adds ? 0u : 1u;
            top = adds ? top + leaf : leaf;
        } else if (operation == BLOB_NEGATE) {
            top = -top;
        } else {
            below = max(below, 1u) - 1u;
            top = blob_operation(operation, head.y, stack[below], top);
        }
    }
    return top;
}

// Where a point of the facet ends.
vec3 blob_point(vec3 start) {
    vec3 p = start;
    for (uint i = 0u; i < BLOB_MOVES; i++) {
        vec4 f = blob_field(p);
        float slope = (f.x * f.x + f.y * f.y) + f.z * f.z;
        if (!(slope > 0.0)) break;
        p = clamp(p + ((threshold - f.w) * rsl_reciprocal(slope)) * f.xyz, start - vec3(blob_reach), start + vec3(blob_reach));
    }
    return p;
}

void surface_row(Param v) {
    row[0] = between(v, corner[0], corner[2]);
    row[1] = between(v, corner[1], corner[3]);
    row_derivative[0] = corner[2] - corner[0];
    row_derivative[1] = corner[3] - corner[1];
}

// Where the facet's own point is, before it moves.
vec3 surface_start(Param u) { return camera_from_object(surface_instance, between(u, row[0], row[1])); }

vec3 surface_object_position(Param u) { return blob_point(between(u, row[0], row[1])); }

// Away from where the field is large.
vec3 blob_normal(Param u) { return -blob_field(blob_point(between(u, row[0], row[1]))).xyz; }

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    vec3 n = blob_normal(u), facet_du = row[1] - row[0], facet_dv = between(u, row_derivative[0], row_derivative[1]);
    float length2 = dot(n, n), inverse = length2 > 0.0 ? rsl_reciprocal(length2) : 0.0;
    du = camera_from_object_vector(surface_instance, facet_du - (inverse * dot(n, facet_du)) * n);
    dv = camera_from_object_vector(surface_instance, facet_dv - (inverse * dot(n, facet_dv)) * n);
}

vec3 surface_normal(Param u, Param v) {
    vec3 n = blob_normal(u);
    if (dot(n, n) == 0.0) n = cross(corner[3] - corner[0], corner[2] - corner[1]);
    return camera_from_object_normal(surface_instance, n);
}

// The points that were looked at are a quarter of the subpatch from any other at most; moved, they may be a few times
// as far from each other, and no farther than they may move.
const float BLOB_STRETCH = 3.0;
vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    float eu = max(distance(corner[0], corner[1]), distance(corner[2], corner[3]));
    float ev = max(distance(corner[0], corner[2]), distance(corner[1], corner[3]));
    float apart = 0.25 * (hu * eu + hv * ev);
    return camera_from_object_extent(surface_instance, vec3(min(BLOB_STRETCH * apart, apart + 2.0 * blob_reach)));
}

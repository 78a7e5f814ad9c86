// Rational Bezier patch of any degree up to 23: control points (w x, w y, w z, w) in object space, u fastest, with
// positive weights; then six records of bounds (src/pipeline/geometry/curvature.rs).

#include "lib/rsl/reciprocal.glsl"

const uint ORDER_MAX = 24u;

uvec2 degree; // along u and v
uint control = ~0u; // first record
vec4 row[ORDER_MAX];            // the row's control points
vec4 row_derivative[ORDER_MAX]; // d/dv of them
float weight[ORDER_MAX];      // Bernstein polynomials of some degree n
float step_weight[ORDER_MAX]; // n times those of degree n - 1
vec2 pad_along; // what splitting across u and v can take off the last pad
float weight_seen; // the least weight of all positions since these control points were loaded

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    degree = uvec2(degree_u(primitive), degree_v(primitive));
    if (control != primitive.data) weight_seen = 3.4e38;
    control = primitive.data;
}

// The least level at which four chords follow a polynomial of this degree: a quarter of its interval for each three.
uint level_least(uint n) { return n <= 3u ? 0u : n <= 6u ? 1u : n <= 12u ? 2u : 3u; }

// Powers multiply up from 1 and binomials are exact, so that reversing p reverses the weights, bit for bit.
void weigh(uint n, Param p) {
    float s_power[ORDER_MAX], t_power[ORDER_MAX];
    s_power[0] = 1.0;
    t_power[0] = 1.0;
    for (uint i = 1u; i <= n; i++) {
        s_power[i] = s_power[i - 1u] * p.s;
        t_power[i] = t_power[i - 1u] * p.t;
    }
    uint binomial = 1u;
    for (uint i = 0u; i <= n; i++) {
        weight[i] = float(binomial) * (s_power[n - i] * t_power[i]);
        // n times (n - 1 over i) is (n - i) times (n over i).
        if (i < n) step_weight[i] = float(binomial * (n - i)) * (s_power[n - 1u - i] * t_power[i]);
        binomial = binomial * (n - i) / (i + 1u);
    }
}

// Adds what points i and n - i, of a curve of degree n, contribute to its position and to its derivative; first,
// second, and last, before_last are points i, i + 1, n - i, n - 1 - i.
void add_pair(uint n, uint i, vec4 first, vec4 second, vec4 before_last, vec4 last, inout vec4 p, inout vec4 d) {
    if (2u * i == n) {
        p += weight[i] * first;
        return;
    }
    p += weight[i] * first + weight[n - i] * last;
    if (2u * i + 1u == n) d += step_weight[i] * (last - first);
    else d += step_weight[i] * (second - first) + step_weight[n - 1u - i] * (last - before_last);
}

void surface_row(Param v) {
    uint n = degree.y, stride = degree.x + 1u;
    weigh(n, v);
    for (uint i = 0u; i <= degree.x; i++) {
        vec4 p = vec4(0.0), d = vec4(0.0);
        uint first = control + i, last = first + n * stride;
        for (uint j = 0u; 2u * j <= n; j++) {
            add_pair(n, j, data[first], data[first + stride], data[last - stride], data[last], p, d);
            first += stride;
            last -= stride;
        }
        row[i] = p;
        row_derivative[i] = d;
    }
}

// The row's point at u and its derivatives by u and v, times the weight.
void row_point(Param u, out vec4 p, out vec4 du, out vec4 dv) {
    uint n = degree.x;
    weigh(n, u);
    p = vec4(0.0);
    du = vec4(0.0);
    dv = vec4(0.0);
    for (uint i = 0u; 2u * i <= n; i++) {
        uint k = n - i;
        add_pair(n, i, row[i], row[min(i + 1u, n)], row[k == 0u ? 0u : k - 1u], row[k], p, du);
        dv += 2u * i == n ? weight[i] * row_derivative[i] : weight[i] * row_derivative[i] + weight[k] * row_derivative[k];
    }
}

// Reciprocals, because neighbours must agree on every device: they take the same weight, and GPUs do not divide
// exactly.
vec3 surface_object_position(Param u) {
    vec4 p, du, dv;
    row_point(u, p, du, dv);
    weight_seen = min(weight_seen, p.w);
    return p.xyz * rsl_reciprocal(p.w);
}

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    vec4 p, by_u, by_v;
    row_point(u, p, by_u, by_v);
    float inverse = rsl_reciprocal(p.w);
    vec3 at = p.xyz * inverse;
    du = camera_from_object_vector(surface_instance, (by_u.xyz - by_u.w * at) * inverse);
    dv = camera_from_object_vector(surface_instance, (by_v.xyz - by_v.w * at) * inverse);
}

#include "lib/surface/patch_normal.glsl"

// The most that S_uu can be where S is at most s, from S_u = (A_u - S w_u) / w, S_uu = (A_uu - 2 S_u w_u - S w_uu) / w;
// inverse is 1 / w.
vec3 second_derivative(vec4 first, vec4 second, vec3 s, float inverse) {
    vec3 s_u = (first.xyz + s * first.w) * inverse;
    return (second.xyz + (2.0 * first.w) * s_u + s * second.w) * inverse;
}

// A weight is a polynomial, which is not far below the least that was seen of it: as far as the pad of any function.
// Where weights differ much they do so in a small part of the patch, of which other parts need not know.
vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    uint bounds = control + (degree.x + 1u) * (degree.y + 1u);
    vec4 reach = data[bounds], most = data[bounds + 1u];
    vec4 by_u = data[bounds + 2u], by_uu = data[bounds + 3u], by_v = data[bounds + 4u], by_vv = data[bounds + 5u];
    float u = hu * hu, v = hv * hv;
    float least = max(reach.w, 0.999999 * weight_seen - PAD_FACTOR * (u * by_uu.w + v * by_vv.w));
    float inverse = 1.000001 / least;
    vec3 s = min(reach.xyz, most.xyz * inverse);
    vec3 pad_u = u * second_derivative(by_u, by_uu, s, inverse), pad_v = v * second_derivative(by_v, by_vv, s, inverse);
    pad_along = vec2(max(pad_u.x, max(pad_u.y, pad_u.z)), max(pad_v.x, max(pad_v.y, pad_v.z)));
    return camera_from_object_extent(surface_instance, PAD_FACTOR * (pad_u + pad_v));
}

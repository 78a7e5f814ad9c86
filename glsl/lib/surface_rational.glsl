// Rational Bezier patch of any degree up to 23: control points (w x, w y, w z, w) in object space, u fastest, with
// positive weights; two more records hold the most that the second derivatives by u and by v can be.

#include "lib/rsl/reciprocal.glsl"

const uint ORDER_MAX = 24u;

uvec2 degree; // along u and v
uint control; // first record
vec4 row[ORDER_MAX];            // the row's control points
vec4 row_derivative[ORDER_MAX]; // d/dv of them
float weight[ORDER_MAX];      // Bernstein polynomials of some degree n
float step_weight[ORDER_MAX]; // n times those of degree n - 1

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    degree = uvec2(degree_u(primitive), degree_v(primitive));
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
vec3 surface_position(Param u) {
    vec4 p, du, dv;
    row_point(u, p, du, dv);
    return camera_from_object(surface_instance, p.xyz * rsl_reciprocal(p.w));
}

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    vec4 p, by_u, by_v;
    row_point(u, p, by_u, by_v);
    float inverse = rsl_reciprocal(p.w);
    vec3 at = p.xyz * inverse;
    du = camera_from_object_vector(surface_instance, (by_u.xyz - by_u.w * at) * inverse);
    dv = camera_from_object_vector(surface_instance, (by_v.xyz - by_v.w * at) * inverse);
}

vec3 surface_normal(Param u, Param v) {
    vec3 du, dv;
    surface_tangents(u, du, dv);
    vec3 n = cross(du, dv);
    // A collapsed edge has no dP/du there: take the normal a little inside, towards the middle of the patch.
    if (degenerate(n, du, dv)) {
        float tu = u.t + (0.5 - u.t) * 0.015625, tv = v.t + (0.5 - v.t) * 0.015625;
        surface_row(Param(1.0 - tv, tv));
        surface_tangents(Param(1.0 - tu, tu), du, dv);
        n = cross(du, dv);
        surface_row(v);
    }
    return n;
}

vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    uint bounds = control + (degree.x + 1u) * (degree.y + 1u);
    return camera_from_object_extent(surface_instance,
                                     PAD_FACTOR * ((hu * hu) * data[bounds].xyz + (hv * hv) * data[bounds + 1u].xyz));
}

// Curve segment: a ribbon about a cubic Bezier or straight centre line; u across, v along.
//
// Control data: 4 (cubic) or 2 (linear) points, each with the width in w; then, if cubic points have weights
// (PRIMITIVE_WEIGHTED), a record of those, which are positive. Without normals the ribbon faces the camera; with
// normals (PRIMITIVE_RIBBON) it is perpendicular to them. Widths are lengths across the curve in object space, are
// transformed as what lies there is, and are interpolated without weights. A ribbon that is narrower than
// frame.least_width is as wide as that, and covers only the part of it that it would have covered.

#include "lib/rsl/reciprocal.glsl"

// Variants with FULL are for pictures with curves that have weights, or with a least width; others are faster.
#if FULL
bool full_curves() { return true; }
#else
bool full_curves() { return false; }
#endif

vec3 control[4]; // times the weights
vec4 weight;
bool weighted;
vec4 width; // Bezier values, times the instance's scale
mat3 metric;
bool ribbon;
vec3 ribbon_normal[2]; // object space
vec3 row_centre;
vec3 row_tangent;
vec3 row_across; // across the ribbon: a unit vector of object space, divided by the instance's scale
float row_width;
float row_coverage; // the part of row_width that the curve's own width is

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    bool linear = (primitive.kind_flags & PRIMITIVE_LINEAR) != 0u;
    vec4 first = data[primitive.data], last = data[primitive.data + (linear ? 1u : 3u)];
    metric = width_metric(instance);
    control[0] = camera_from_object(instance, first.xyz);
    control[3] = camera_from_object(instance, last.xyz);
    if (linear) {
        control[1] = (2.0 * control[0] + control[3]) / 3.0;
        control[2] = (control[0] + 2.0 * control[3]) / 3.0;
        width = vec4(first.w, (2.0 * first.w + last.w) / 3.0, (first.w + 2.0 * last.w) / 3.0, last.w);
    } else {
        vec4 second = data[primitive.data + 1u], third = data[primitive.data + 2u];
        control[1] = camera_from_object(instance, second.xyz);
        control[2] = camera_from_object(instance, third.xyz);
        width = vec4(first.w, second.w, third.w, last.w);
    }
    width *= instance.scale;
    weighted = full_curves() && (primitive.kind_flags & PRIMITIVE_WEIGHTED) != 0u;
    weight = weighted ? data[primitive.data + 4u] : vec4(1.0);
    for (uint i = 0u; i < 4u; i++) control[i] = weighted ? weight[i] * control[i] : control[i];
    ribbon = (primitive.kind_flags & PRIMITIVE_RIBBON) != 0u;
    for (uint i = 0u; i < 2u; i++) {
        ribbon_normal[i] = ribbon ? data[primitive.extra + i].xyz : vec3(0.0);
    }
}

float mixed(vec4 w, vec4 x) { return (w.x * x.x + w.w * x.w) + (w.y * x.y + w.z * x.z); }

// The point at v, and its derivative: of a quotient where points have weights.
void curve_point(Param v, out vec3 p, out vec3 d) {
    vec4 b = bernstein(v);
    p = cubic(b, control[0], control[1], control[2], control[3]);
    d = cubic_derivative(v, control[0], control[1], control[2], control[3]);
    if (weighted) {
        float inverse = rsl_reciprocal(mixed(b, weight));
        p *= inverse;
        d = inverse * (d - cubic_derivative(v, vec3(weight.x), vec3(weight.y), vec3(weight.z), vec3(weight.w)).x * p);
    }
    // Coincident control points at an end: the chord still has the direction.
    if (!(dot(d, d) > 0.0)) d = weighted ? weight.x * control[3] - weight.w * control[0] : control[3] - control[0];
}

// The ribbon lies between its normal and its tangent in object space.
vec3 ribbon_across(vec3 normal, vec3 tangent) {
    vec3 a = surface_instance.row0.xyz, b = surface_instance.row1.xyz, c = surface_instance.row2.xyz;
    vec3 bc = cross(b, c), ca = cross(c, a), ab = cross(a, b);
    // The inverse is the adjugate over the determinant, of which only the sign matters.
    vec3 along = ((bc * tangent.x + ca * tangent.y) + ab * tangent.z) * (dot(a, bc) < 0.0 ? -1.0 : 1.0);
    vec3 across = cross(along, normal);
    float l = dot(across, across);
    return l > 0.0 ? camera_from_object_vector(surface_instance, across / sqrt(l)) / surface_instance.scale : vec3(0.0);
}

vec3 curve_across(Param v, vec3 centre, vec3 tangent) {
    vec3 across;
    if (ribbon) {
        across = ribbon_across(v.s * ribbon_normal[0] + v.t * ribbon_normal[1], tangent);
    } else {
        vec3 toward = frame_perspective(frame) ? centre : vec3(0.0, 0.0, 1.0);
        across = width_direction(metric, cross(toward, tangent));
    }
    // Seen end on: any direction will do.
    return across == vec3(0.0) ? width_direction(metric, vec3(1.0, 0.0, 0.0)) : across;
}

float curve_width(Param v) { return mixed(bernstein(v), width); }

// The least width in camera space of what is at a depth.
float least_width(float z) {
    return frame_perspective(frame) ? frame.least_width * max(z, frame.eye_z) : frame.least_width;
}

void surface_row(Param v) {
    curve_point(v, row_centre, row_tangent);
    row_across = curve_across(v, row_centre, row_tangent);
    row_width = curve_width(v);
    row_coverage = 1.0;
    float least = least_width(row_centre.z);
    if (full_curves() && abs(row_width) < least) {
        row_coverage = min(abs(row_width) * rsl_reciprocal(least), 1.0);
        row_width = least;
    }
}

vec3 surface_position(Param u) { return row_centre + (0.5 * (u.t - u.s) * row_width) * row_across; }

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    du = row_width * row_across;
    dv = row_tangent;
}

vec3 surface_normal(Param u, Param v) { return cross(row_across, row_tangent); }

float surface_coverage() { return row_coverage; }

// The largest second difference of neighbours, and the largest difference.
vec3 second_differences(vec3 a, vec3 b, vec3 c, vec3 d) { return max(abs((a + c) - 2.0 * b), abs((b + d) - 2.0 * c)); }
vec3 differences(vec3 a, vec3 b, vec3 c, vec3 d) { return max(max(abs(b - a), abs(c - b)), abs(d - c)); }

// A sixth of a bound on the second derivative. With c = N / D that is (N'' - 2 c' D' - c D'') / D, and c' is
// (N' - c D') / D; all of it seen from the first point, from which c is no farther than the others.
vec3 curve_bend() {
    if (!weighted) return second_differences(control[0], control[1], control[2], control[3]);
    vec3 first = control[0] * rsl_reciprocal(weight.x), n[4], reach = vec3(0.0);
    for (uint i = 0u; i < 4u; i++) {
        n[i] = control[i] - weight[i] * first;
        reach = max(reach, abs(n[i]) * rsl_reciprocal(weight[i]));
    }
    float least = min(min(weight.x, weight.y), min(weight.z, weight.w)), inverse = rsl_reciprocal(least);
    float step = differences(vec3(weight.x), vec3(weight.y), vec3(weight.z), vec3(weight.w)).x;
    float bend = second_differences(vec3(weight.x), vec3(weight.y), vec3(weight.z), vec3(weight.w)).x;
    vec3 slope = (3.0 * inverse) * (differences(n[0], n[1], n[2], n[3]) + step * reach);
    return inverse * ((second_differences(n[0], n[1], n[2], n[3]) + step * slope) + bend * reach);
}

// How far the ribbon's edges are from its centre line at most, whichever way they turn about it, from v0 to v1.
float curve_reach(float hv, Param v0, Param v1) {
    // Between its ends a width is at most as far above the larger one as it is curved.
    float bend = max(abs((width.x + width.z) - 2.0 * width.y), abs((width.y + width.w) - 2.0 * width.z));
    float w = max(curve_width(v0), curve_width(v1)) + (0.75 * hv * hv) * bend;
    if (full_curves()) {
        float far = 0.0;
        for (uint i = 0u; i < 4u; i++) far = max(far, control[i].z * rsl_reciprocal(weight[i]));
        w = max(w, least_width(far));
    }
    return 0.5 * w;
}

// The same anywhere.
float curve_reach_most() { return curve_reach(1.0, Param(1.0, 0.0), Param(0.0, 1.0)); }

// Of the centre line.
vec3 surface_pad(float hu, float hv, Param v0, Param v1) { return (6.0 * PAD_FACTOR * hv * hv) * curve_bend(); }

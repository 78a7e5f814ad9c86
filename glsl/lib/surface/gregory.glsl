// Gregory patch: the 16 points of a bicubic Bezier patch in object space, u fastest, then the second points of its four
// interior pairs.

#include "lib/surface/gregory_blend.glsl"
#include "lib/surface/seam.glsl"

vec3 control[20];
Param row_v;

// Bounds the second derivatives of a pair's weight times its blend, which are at most 16.5.
const float QUAD_PAIR_BEND = 17.0;

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    for (uint i = 0u; i < 20u; i++) control[i] = data[primitive.data + i].xyz;
    seam_load(primitive);
}

void surface_row(Param v) { row_v = v; }

// The Bezier points for one (u, v).
void blended(Blend blends[4], out vec3 points[16]) {
    for (uint i = 0u; i < 16u; i++) points[i] = control[i];
    for (uint i = 0u; i < 4u; i++) {
        vec3 second = control[16u + i];
        points[pair_of_quad(i)] = second + blends[i].part * (control[pair_of_quad(i)] - second);
    }
}

vec3 surface_position(Param u) {
    Blend blends[4];
    blend_quad(u, row_v, blends);
    vec3 points[16], row[4];
    blended(blends, points);
    vec4 w = bernstein(row_v);
    for (uint i = 0u; i < 4u; i++) row[i] = cubic(w, points[i], points[i + 4u], points[i + 8u], points[i + 12u]);
    return camera_from_object(surface_instance, cubic(bernstein(u), row[0], row[1], row[2], row[3]));
}

vec3 surface_vertex(ParamPoint along_u, ParamPoint along_v, Param u, Param v) {
    uint border = seam_at(u, v);
    if (border == 4u) return surface_position(u);
    SeamPoint point = seam_point(border < 2u ? along_u : along_v);
    uint first = seam[border] + 3u * point.second;
    vec3 p = cubic(bernstein(param_at(point.at)), data[first].xyz, data[first + 1u].xyz, data[first + 2u].xyz, data[first + 3u].xyz);
    return camera_from_object(surface_instance, p);
}

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    Blend blends[4];
    blend_quad(u, row_v, blends);
    vec3 points[16], row[4], row_derivative[4];
    blended(blends, points);
    vec4 wu = bernstein(u), wv = bernstein(row_v);
    for (uint i = 0u; i < 4u; i++) {
        row[i] = cubic(wv, points[i], points[i + 4u], points[i + 8u], points[i + 12u]);
        row_derivative[i] = cubic_derivative(row_v, points[i], points[i + 4u], points[i + 8u], points[i + 12u]);
    }
    vec3 along_u = cubic_derivative(u, row[0], row[1], row[2], row[3]);
    vec3 along_v = cubic(wu, row_derivative[0], row_derivative[1], row_derivative[2], row_derivative[3]);
    // Blends change with u and v, too: a and b of the pairs are (u, v), (v, 1-u), (1-u, 1-v), (1-v, u).
    for (uint i = 0u; i < 4u; i++) {
        uint point = pair_of_quad(i);
        vec3 pair = (wu[point & 3u] * wv[point >> 2]) * (control[point] - control[16u + i]);
        float by_u = i == 0u ? blends[i].da : i == 1u ? -blends[i].db : i == 2u ? -blends[i].da : blends[i].db;
        float by_v = i == 0u ? blends[i].db : i == 1u ? blends[i].da : i == 2u ? -blends[i].db : -blends[i].da;
        along_u += by_u * pair;
        along_v += by_v * pair;
    }
    du = camera_from_object_vector(surface_instance, along_u);
    dv = camera_from_object_vector(surface_instance, along_v);
}

#include "lib/surface/patch_normal.glsl"

vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    vec3 uu = vec3(0.0), vv = vec3(0.0), pairs = vec3(0.0);
    for (uint j = 0u; j < 4u; j++) {
        for (uint k = 0u; k < 2u; k++) {
            uu = max(uu, abs((control[4u * j + k] + control[4u * j + k + 2u]) - 2.0 * control[4u * j + k + 1u]));
            vv = max(vv, abs((control[4u * k + j] + control[4u * k + 8u + j]) - 2.0 * control[4u * k + 4u + j]));
        }
        pairs += abs(control[pair_of_quad(j)] - control[16u + j]);
    }
    seam_bend(3u, uu, vv);
    uu = 6.0 * uu + QUAD_PAIR_BEND * pairs;
    vv = 6.0 * vv + QUAD_PAIR_BEND * pairs;
    return camera_from_object_extent(surface_instance, PAD_FACTOR * ((hu * hu) * uu + (hv * hv) * vv));
}

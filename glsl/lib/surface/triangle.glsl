// Gregory triangle: the 15 points of a quartic Bezier triangle in object space, rows of falling length, then the second
// points of its three interior pairs. A square of (u, v) covers it, whose border v = 1 is the third corner; derivatives
// are by barycentric coordinates, s and t, which are the (u, v) that shaders see.

#include "lib/surface/gregory_blend.glsl"
#include "lib/surface/seam.glsl"

vec3 control[18];
Param row_v;

// Bounds the second derivatives of a pair's weight times its blend, which are at most 46.4.
const float TRIANGLE_PAIR_BEND = 48.0;

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    for (uint i = 0u; i < 18u; i++) control[i] = data[primitive.data + i].xyz;
    seam_load(primitive);
}

void surface_row(Param v) { row_v = v; }

// The Bezier points for one (s, t).
void blended(Blend blends[3], out vec3 points[15]) {
    for (uint i = 0u; i < 15u; i++) points[i] = control[i];
    for (uint i = 0u; i < 3u; i++) {
        vec3 second = control[15u + i];
        points[pair_of_triangle(i)] = second + blends[i].part * (control[pair_of_triangle(i)] - second);
    }
}

// On borders only their own five points count, in the same order as for the neighbour.
vec3 surface_position(Param u) {
    vec3 p = vec3(0.0);
    if (row_v.t == 0.0) p = quartic(u, control[0], control[1], control[2], control[3], control[4]);
    else if (u.t == 0.0) p = quartic(row_v, control[0], control[5], control[9], control[12], control[14]);
    else if (u.s == 0.0) p = quartic(row_v, control[4], control[8], control[11], control[13], control[14]);
    else if (row_v.s == 0.0) p = control[14];
    else {
        vec3 at = triangle_at(u, row_v);
        Blend blends[3];
        blend_triangle(at.x, at.y, at.z, blends);
        vec3 points[15];
        blended(blends, points);
        float weights[15];
        quartic_weights(at.x, at.y, at.z, weights);
        for (uint i = 0u; i < 15u; i++) p += weights[i] * points[i];
    }
    return camera_from_object(surface_instance, p);
}

vec3 surface_vertex(ParamPoint along_u, ParamPoint along_v, Param u, Param v) {
    uint border = v.s == 0.0 ? 4u : seam_at(u, v);
    if (border == 4u) return surface_position(u);
    SeamPoint point = seam_point(border < 2u ? along_u : along_v);
    uint first = seam[border] + 4u * point.second;
    vec3 p = quartic(param_at(point.at), data[first].xyz, data[first + 1u].xyz, data[first + 2u].xyz, data[first + 3u].xyz,
                     data[first + 4u].xyz);
    return camera_from_object(surface_instance, p);
}

// By s and t.
void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    vec3 at = triangle_at(u, row_v);
    float s = at.x, t = at.y, w = at.z;
    Blend blends[3];
    blend_triangle(s, t, w, blends);
    vec3 points[15];
    blended(blends, points);
    float s2 = s * s, t2 = t * t, w2 = w * w;
    // Cubic weights of the ten triangles of points, rows of falling length.
    float weights[10] = float[10](w2 * w, 3.0 * (w2 * s), 3.0 * (s2 * w), s2 * s, 3.0 * (w2 * t), 6.0 * (s * t) * w, 3.0 * (s2 * t),
                                  3.0 * (t2 * w), 3.0 * (t2 * s), t2 * t);
    vec3 by_s = vec3(0.0), by_t = vec3(0.0);
    uint corner = 0u, k = 0u;
    // Row j has 4 - j triangles from point `corner` on; the next row of points begins 5 - j later.
    for (uint j = 0u; j < 4u; j++) {
        for (uint i = 0u; i + j < 4u; i++) {
            by_s += (4.0 * weights[k]) * (points[corner + i + 1u] - points[corner + i]);
            by_t += (4.0 * weights[k]) * (points[corner + i + 5u - j] - points[corner + i]);
            k++;
        }
        corner += 5u - j;
    }
    // Blends change, too: a and b of the pairs are (s, t), (t, w), (w, s), with w = 1 - s - t.
    float weight[15];
    quartic_weights(s, t, w, weight);
    for (uint i = 0u; i < 3u; i++) {
        uint point = pair_of_triangle(i);
        vec3 pair = weight[point] * (control[point] - control[15u + i]);
        float da = blends[i].da, db = blends[i].db;
        by_s += (i == 0u ? da : i == 1u ? -db : db - da) * pair;
        by_t += (i == 0u ? db : i == 1u ? da - db : -da) * pair;
    }
    du = camera_from_object_vector(surface_instance, by_s);
    dv = camera_from_object_vector(surface_instance, by_t);
}

#include "lib/surface/patch_normal.glsl"

// Along u a line runs in direction s, scaled by at most 1; along v between the directions of the borders u = 0 and u =
// 1, so that its second derivative is a mean of theirs and of the mixed one.
vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    vec3 uu = vec3(0.0), vv = vec3(0.0), pairs = vec3(0.0);
    uint first = 0u;
    for (uint j = 0u; j < 3u; j++) {
        uint second = first + 5u - j, third = second + 4u - j;
        for (uint i = 0u; i + j < 3u; i++) {
            vec3 a = control[first + i], b = control[second + i], c = control[third + i], d = control[second + i + 1u],
                 e = control[first + i + 1u], f = control[first + i + 2u];
            uu = max(uu, abs((a + f) - 2.0 * e));
            vv = max(vv, max(abs((a + c) - 2.0 * b), max(abs((f + c) - 2.0 * d), abs((c + e) - (b + d)))));
        }
        first = second;
        pairs += abs(control[pair_of_triangle(j)] - control[15u + j]);
    }
    seam_bend(4u, uu, vv);
    uu = 12.0 * uu + TRIANGLE_PAIR_BEND * pairs;
    vv = 12.0 * vv + TRIANGLE_PAIR_BEND * pairs;
    return camera_from_object_extent(surface_instance, PAD_FACTOR * ((hu * hu) * uu + (hv * hv) * vv));
}

// Bicubic Bezier patch: 16 control points in object space, u fastest.

vec3 control[16];
vec3 row[4];            // the row's control points
vec3 row_derivative[4]; // d/dv of them

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    for (uint i = 0u; i < 16u; i++) control[i] = data[primitive.data + i].xyz;
}

void surface_row(Param v) {
    vec4 w = bernstein(v);
    for (uint i = 0u; i < 4u; i++) {
        row[i] = cubic(w, control[i], control[i + 4u], control[i + 8u], control[i + 12u]);
        row_derivative[i] = cubic_derivative(v, control[i], control[i + 4u], control[i + 8u], control[i + 12u]);
    }
}

vec3 surface_position(Param u) { return camera_from_object(surface_instance, cubic(bernstein(u), row[0], row[1], row[2], row[3])); }

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    du = camera_from_object_vector(surface_instance, cubic_derivative(u, row[0], row[1], row[2], row[3]));
    dv = camera_from_object_vector(surface_instance,
                                   cubic(bernstein(u), row_derivative[0], row_derivative[1], row_derivative[2], row_derivative[3]));
}

#include "lib/surface/patch_normal.glsl"

vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    vec3 uu = vec3(0.0), vv = vec3(0.0);
    for (uint j = 0u; j < 4u; j++) {
        for (uint k = 0u; k < 2u; k++) {
            uu = max(uu, abs((control[4u * j + k] + control[4u * j + k + 2u]) - 2.0 * control[4u * j + k + 1u]));
            vv = max(vv, abs((control[4u * k + j] + control[4u * k + 8u + j]) - 2.0 * control[4u * k + 4u + j]));
        }
    }
    return camera_from_object_extent(surface_instance, (6.0 * PAD_FACTOR) * ((hu * hu) * uu + (hv * hv) * vv));
}

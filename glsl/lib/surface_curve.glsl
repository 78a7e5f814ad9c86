// Curve segment: a ribbon about a cubic Bezier or straight centre line; u across, v along.
//
// Control data: 4 (cubic) or 2 (linear) points; the first point's w is the width at v = 0, the last one's that at v =
// 1. Without normals the ribbon faces the camera; with normals (PRIMITIVE_RIBBON) it is perpendicular to them.

vec3 control[4];
vec2 width; // camera space
bool ribbon;
vec3 ribbon_normal[2]; // camera space
vec3 row_centre;
vec3 row_tangent;
vec3 row_across; // unit vector across the ribbon
float row_width;

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    bool linear = (primitive.kind_flags & PRIMITIVE_LINEAR) != 0u;
    vec4 first = data[primitive.data], last = data[primitive.data + (linear ? 1u : 3u)];
    control[0] = camera_from_object(instance, first.xyz);
    control[3] = camera_from_object(instance, last.xyz);
    if (linear) {
        control[1] = (2.0 * control[0] + control[3]) / 3.0;
        control[2] = (control[0] + 2.0 * control[3]) / 3.0;
    } else {
        control[1] = camera_from_object(instance, data[primitive.data + 1u].xyz);
        control[2] = camera_from_object(instance, data[primitive.data + 2u].xyz);
    }
    width = vec2(first.w, last.w) * instance.scale;
    ribbon = (primitive.kind_flags & PRIMITIVE_RIBBON) != 0u;
    for (uint i = 0u; i < 2u; i++) {
        ribbon_normal[i] = ribbon ? camera_from_object_normal(instance, data[primitive.extra + i].xyz) : vec3(0.0);
    }
}

vec3 curve_tangent(Param v) {
    vec3 d = cubic_derivative(v, control[0], control[1], control[2], control[3]);
    // Coincident control points at an end: the chord still has the direction.
    return dot(d, d) > 0.0 ? d : control[3] - control[0];
}

vec3 curve_across(Param v, vec3 centre, vec3 tangent) {
    vec3 toward = ribbon ? -(v.s * ribbon_normal[0] + v.t * ribbon_normal[1]) : (frame_perspective(frame) ? centre : vec3(0.0, 0.0, 1.0));
    vec3 a = cross(toward, tangent);
    float l = dot(a, a);
    return l > 0.0 ? a / sqrt(l) : vec3(1.0, 0.0, 0.0); // seen end on: any direction will do
}

void surface_row(Param v) {
    row_centre = cubic(bernstein(v), control[0], control[1], control[2], control[3]);
    row_tangent = curve_tangent(v);
    row_across = curve_across(v, row_centre, row_tangent);
    row_width = v.s * width.x + v.t * width.y;
}

vec3 surface_position(Param u) { return row_centre + (0.5 * (u.t - u.s) * row_width) * row_across; }

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    du = row_width * row_across;
    dv = row_tangent;
}

vec3 surface_normal(Param u, Param v) { return cross(row_across, row_tangent); }

vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    vec3 vv = max(abs((control[0] + control[2]) - 2.0 * control[1]), abs((control[1] + control[3]) - 2.0 * control[2]));
    float w = max(abs(v0.s * width.x + v0.t * width.y), abs(v1.s * width.x + v1.t * width.y));
    // The centre line's curvature, and the ribbon's edges, which may turn about it.
    return (6.0 * PAD_FACTOR * hv * hv) * vv + vec3(0.5 * w);
}

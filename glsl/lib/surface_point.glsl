// Point: a disk that faces the eye in object space, so that it is perpendicular to the line of sight unless the
// transformation is uneven; u around, v from the centre (0) to the rim (1). Control data: record (x, y, z, width).

#include "lib/turns.glsl"

// A point's rim is never coarser than this, however small, so that it looks round.
const uint POINT_RIM_RATE = 8u;

vec3 centre;
float radius;
vec3 right;
vec3 up;
float row_radius;

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    vec4 p = data[primitive.data];
    centre = camera_from_object(instance, p.xyz);
    radius = 0.5 * p.w * instance.scale;
    vec3 toward = frame_perspective(frame) ? centre / sqrt(max(dot(centre, centre), 1e-30)) : vec3(0.0, 0.0, 1.0);
    // Any two unit vectors perpendicular to the line of sight: first across the axis it is farthest from.
    vec3 axis = abs(toward.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
    mat3 metric = width_metric(instance);
    right = width_direction(metric, cross(axis, toward));
    up = width_direction(metric, cross(toward, right));
}

void surface_row(Param v) { row_radius = radius * v.t; }

vec3 surface_position(Param u) {
    vec2 cs = cos_sin_turns(u.t);
    return centre + row_radius * (cs.x * right + cs.y * up);
}

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    vec2 cs = cos_sin_turns(u.t);
    du = (TWO_PI * row_radius) * (cs.x * up - cs.y * right);
    dv = radius * (cs.x * right + cs.y * up);
}

// Towards the eye, and along dP/du x dP/dv.
vec3 surface_normal(Param u, Param v) { return cross(up, right); }

vec3 surface_pad(float hu, float hv, Param v0, Param v1) { return vec3(1.1 * abs(radius)); }

// A rim of n chords has less area than its circle: grow it so that the polygon has the circle's. The parts of a point
// that was split must agree on how far, whatever each has for chords: as many as its rim is long.
void point_rim(uint shape, uint nu) {
    float chords = float(nu);
    if (shape_u_level(shape) + shape_v_level(shape) > 0u) {
        float scale = max(abs(frame.raster_scale.x), abs(frame.raster_scale.y)) * surface_instance.dice_scale;
        float px = (TWO_PI * abs(radius)) * (frame_perspective(frame) ? scale / max(centre.z, frame.eye_z) : scale);
        chords = clamp(px, float(POINT_RIM_RATE), 4096.0);
    }
    float turn = 1.0 / chords;
    radius *= sqrt(3.14159265 * turn / (0.5 * cos_sin_turns(turn).y));
}

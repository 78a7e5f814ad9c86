// Point: a disk that faces the eye in object space, so that it is perpendicular to the line of sight unless the
// transformation is uneven; u around, v from the centre (0) to the rim (1). Or a square that faces it likewise; or a
// sphere of object space, u around its z axis, v along that. Control data: record (x, y, z, width).
//
// A small disk is an octagon of four micropolygons: a grid of 3x3 vertices, the middle one at the centre and the others
// on the rim. A grid from the centre to the rim would have eight triangles, and the centre nine times.

#include "lib/math/turns.glsl"

// A point's rim is never coarser than this, however small, so that it looks round.
const uint POINT_RIM_RATE = 8u;

// The eighths of a turn at which the vertices of an octagon are, row by row, four bits each. Its rows run downwards.
const uint OCTAGON_SIDE = 2u;
const uint OCTAGON_EIGHTHS_LOW = 0x65004123u; // of the last vertex 7
const uint OCTAGON_CENTRE = 4u;

vec3 centre;
float radius; // times the largest scale of the instance
float object_radius;
vec3 right;
vec3 up;
float row_radius;
float row_height; // of a sphere: along its axis; of a square: upward
uint form; // PRIMITIVE_SPHERE, PRIMITIVE_SQUARE; 0 for a disk

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    form = primitive.kind_flags & (PRIMITIVE_SPHERE | PRIMITIVE_SQUARE);
    vec4 p = data[primitive.data];
    centre = camera_from_object(instance, p.xyz);
    object_radius = 0.5 * p.w;
    radius = 0.5 * p.w * instance.scale;
    vec3 toward = frame_perspective(frame) ? centre / sqrt(max(dot(centre, centre), 1e-30)) : vec3(0.0, 0.0, 1.0);
    // Any two unit vectors perpendicular to the line of sight: first across the axis it is farthest from.
    vec3 axis = abs(toward.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
    mat3 metric = width_metric(instance);
    right = width_direction(metric, cross(axis, toward));
    up = width_direction(metric, cross(toward, right));
}

// The sense in which a sphere's object space turns.
float sphere_sense() { return dot(surface_instance.row0.xyz, cross(surface_instance.row1.xyz, surface_instance.row2.xyz)) < 0.0 ? -1.0 : 1.0; }

void surface_row(Param v) {
    row_radius = radius * v.t;
    row_height = radius * (v.s - v.t);
    if (form == PRIMITIVE_SPHERE) {
        vec2 cs = cos_sin_turns(0.5 * v.t - 0.25);
        row_radius = object_radius * cs.x;
        row_height = object_radius * cs.y;
    }
}

// A direction on a sphere from its centre, in object space.
vec3 sphere_offset(vec2 cs) { return vec3(row_radius * cs.x, row_radius * sphere_sense() * cs.y, row_height); }

vec3 surface_position(Param u) {
    if (form == PRIMITIVE_SQUARE) return centre + ((radius * (u.t - u.s)) * right + row_height * up);
    vec2 cs = cos_sin_turns(u.t);
    if (form == PRIMITIVE_SPHERE) return centre + camera_from_object_vector(surface_instance, sphere_offset(cs));
    return centre + row_radius * (cs.x * right + cs.y * up);
}

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    vec2 cs = cos_sin_turns(u.t);
    if (form == PRIMITIVE_SQUARE) {
        du = (2.0 * radius) * right;
        dv = (-2.0 * radius) * up;
        return;
    }
    if (form == PRIMITIVE_SPHERE) {
        float sense = sphere_sense();
        du = camera_from_object_vector(surface_instance, vec3(-cs.y, sense * cs.x, 0.0) * (TWO_PI * row_radius));
        dv = camera_from_object_vector(surface_instance, vec3(-row_height * cs.x, -row_height * sense * cs.y, row_radius) * (0.5 * TWO_PI));
        return;
    }
    du = (TWO_PI * row_radius) * (cs.x * up - cs.y * right);
    dv = radius * (cs.x * right + cs.y * up);
}

// Towards the eye, or out of a sphere, and along dP/du x dP/dv.
vec3 surface_normal(Param u, Param v) {
    if (form == PRIMITIVE_SPHERE) return sphere_sense() * camera_from_object_normal(surface_instance, sphere_offset(cos_sin_turns(u.t)));
    return cross(up, right);
}

// A rim of n chords has less area than its circle: it is grown so that the polygon has the circle's.
float rim_growth(float chords) {
    float turn = 1.0 / chords;
    return sqrt(3.14159265 * turn / (0.5 * cos_sin_turns(turn).y));
}

// Whether a disk that would have a number of micropolygons around and from the centre to the rim is an octagon.
bool becomes_octagon(uint u_level, uint v_level, uint nu, uint nv) {
    return form == 0u && u_level + v_level == 0u && nu == POINT_RIM_RATE && nv == 1u;
}

void make_octagon(out uvec4 edges, out uint nu, out uint nv) {
    nu = OCTAGON_SIDE;
    nv = OCTAGON_SIDE;
    edges = uvec4(edge_pack(0u, OCTAGON_SIDE, 0u, OCTAGON_SIDE));
}

// Whether a grid is one: no other disk that was not split has so few micropolygons around.
bool is_octagon(uint shape) {
    return form == 0u && shape_u_level(shape) + shape_v_level(shape) == 0u && shape_nu(shape) == OCTAGON_SIDE && shape_nv(shape) == OCTAGON_SIDE;
}

// (u, v) of vertex (i, j) of an octagon.
void octagon_param(uint i, uint j, out Param u, out Param v) {
    uint vertex = j * (OCTAGON_SIDE + 1u) + i, eighths = vertex < 8u ? OCTAGON_EIGHTHS_LOW >> (4u * vertex) & 15u : 7u;
    u = Param(1.0 - 0.125 * float(eighths), 0.125 * float(eighths));
    v = vertex == OCTAGON_CENTRE ? Param(1.0, 0.0) : Param(0.0, 1.0);
}

// The parts of a point that was split must agree on how far, whatever each has for chords: as many as its rim is long.
float long_rim() {
    float scale = max(abs(frame.raster_scale.x), abs(frame.raster_scale.y)) * surface_instance.dice_scale;
    float px = (TWO_PI * abs(radius)) * (frame_perspective(frame) ? scale / max(centre.z, frame.eye_z) : scale);
    return clamp(px, float(POINT_RIM_RATE), 4096.0);
}

void point_rim(uint shape, uint nu) {
    if (form != 0u) return;
    float chords = is_octagon(shape) ? float(POINT_RIM_RATE) : float(nu);
    radius *= rim_growth(shape_u_level(shape) + shape_v_level(shape) > 0u ? long_rim() : chords);
}

// Parts of an axis by which arcs are beyond the box of their points: those that a quarter of all u is apart, and of v;
// and anything on a sphere. Each with some slack for rounding.
const float POINT_ARC_PAD = 0.31;
const float SPHERE_PAD_U = 1.24;
const float SPHERE_PAD_V = 0.08;
const float SPHERE_PAD_MOST = 1.1;

// Squares have no curved parts. A disk reaches along each axis as its plane does: it is flat, however near to the eye.
vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    if (form == PRIMITIVE_SQUARE) return vec3(0.0);
    if (form == PRIMITIVE_SPHERE) {
        vec4 a = surface_instance.row0, b = surface_instance.row1, c = surface_instance.row2;
        float part = min(SPHERE_PAD_U * (hu * hu) + SPHERE_PAD_V * (hv * hv), SPHERE_PAD_MOST);
        return (part * abs(object_radius)) * vec3(length(a.xyz), length(b.xyz), length(c.xyz));
    }
    float growth = rim_growth(hu * hv < 1.0 ? long_rim() : float(POINT_RIM_RATE));
    float part = growth * (1.0 + POINT_ARC_PAD * (hu * hu)) - 1.0;
    return (part * abs(radius)) * sqrt(right * right + up * up);
}

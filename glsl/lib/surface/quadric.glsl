// Quadrics: a profile curve in v, rotated about z by the sweep angle times u.
//
// Control data: record 0 = (type, sweep in turns, a, b), record 1 = (c, d, e, f):
//   sphere      a radius, b and c first and last profile angle in turns
//   cone        a height, b radius              cylinder  a radius, b zmin, c zmax
//   hyperboloid a b c = p1, d e f = p2          paraboloid a rmax, b zmin, c zmax
//   disk        a height, b radius              torus     a major, b minor radius, c, d first and last angle

#include "lib/math/turns.glsl"

// cases: QUADRIC_*
const uint QUADRIC_SPHERE = 0u;
const uint QUADRIC_CONE = 1u;
const uint QUADRIC_CYLINDER = 2u;
const uint QUADRIC_HYPERBOLOID = 3u;
const uint QUADRIC_PARABOLOID = 4u;
const uint QUADRIC_DISK = 5u;
const uint QUADRIC_TORUS = 6u;

uint quadric;
float sweep;
vec4 size0; // a b c d
vec2 size1; // e f
vec3 row;            // the profile's point
vec3 row_derivative; // and its derivative by v

void surface_load(Instance instance, Primitive primitive) {
    surface_instance = instance;
    vec4 r0 = data[primitive.data], r1 = data[primitive.data + 1u];
    quadric = uint(r0.x);
    sweep = r0.y;
    size0 = vec4(r0.zw, r1.xy);
    size1 = r1.zw;
}

// Profile point at v, with its derivative.
void profile(Param v, out vec3 p, out vec3 dp) {
    p = vec3(0.0);
    dp = vec3(0.0);
    if (quadric == QUADRIC_SPHERE || quadric == QUADRIC_TORUS) {
        float phi0 = quadric == QUADRIC_SPHERE ? size0.y : size0.z, phi1 = quadric == QUADRIC_SPHERE ? size0.z : size0.w;
        float major = quadric == QUADRIC_SPHERE ? 0.0 : size0.x, r = quadric == QUADRIC_SPHERE ? size0.x : size0.y;
        vec2 cs = cos_sin_turns(v.s * phi0 + v.t * phi1);
        p = vec3(major + r * cs.x, 0.0, r * cs.y);
        dp = (TWO_PI * (phi1 - phi0) * r) * vec3(-cs.y, 0.0, cs.x);
    } else if (quadric == QUADRIC_CONE) {
        p = vec3(size0.y * v.s, 0.0, size0.x * v.t);
        dp = vec3(-size0.y, 0.0, size0.x);
    } else if (quadric == QUADRIC_CYLINDER) {
        p = vec3(size0.x, 0.0, v.s * size0.y + v.t * size0.z);
        dp = vec3(0.0, 0.0, size0.z - size0.y);
    } else if (quadric == QUADRIC_HYPERBOLOID) {
        vec3 p1 = size0.xyz, p2 = vec3(size0.w, size1);
        p = v.s * p1 + v.t * p2;
        dp = p2 - p1;
    } else if (quadric == QUADRIC_PARABOLOID) {
        float z = v.s * size0.y + v.t * size0.z;
        float r = size0.x * sqrt(max(z / size0.z, 0.0));
        p = vec3(r, 0.0, z);
        // dr/dz = rmax^2 / (2 zmax r): infinite at the tip, where the tangent is horizontal
        float slope = (size0.x * size0.x) / (2.0 * size0.z * max(abs(r), 1e-4 * abs(size0.x)));
        dp = (size0.z - size0.y) * vec3(slope, 0.0, 1.0);
    } else { // QUADRIC_DISK
        p = vec3(size0.y * v.s, 0.0, size0.x);
        dp = vec3(-size0.y, 0.0, 0.0);
    }
}

vec3 rotated(vec2 cs, vec3 p) { return vec3(p.x * cs.x - p.y * cs.y, p.x * cs.y + p.y * cs.x, p.z); }

void surface_row(Param v) { profile(v, row, row_derivative); }

vec3 surface_position(Param u) { return camera_from_object(surface_instance, rotated(cos_sin_turns(u.t * sweep), row)); }

void surface_tangents(Param u, out vec3 du, out vec3 dv) {
    vec2 cs = cos_sin_turns(u.t * sweep);
    du = camera_from_object_vector(surface_instance, (TWO_PI * sweep) * rotated(cs, vec3(-row.y, row.x, 0.0)));
    dv = camera_from_object_vector(surface_instance, rotated(cs, row_derivative));
}

vec3 surface_normal(Param u, Param v) {
    // On the axis dP/du vanishes but its direction does not: use a radius that does not either.
    float least = 1e-3 * max(abs(row.x), abs(row_derivative.x) + abs(row_derivative.z));
    bool negative = row.x < 0.0 || (quadric == QUADRIC_SPHERE && size0.x < 0.0);
    float r = abs(row.x) > least || quadric == QUADRIC_HYPERBOLOID ? row.x : (negative ? -least : least);
    vec2 cs = cos_sin_turns(u.t * sweep);
    vec3 n = cross((TWO_PI * sweep) * rotated(cs, vec3(-row.y, r, 0.0)), rotated(cs, row_derivative));
    return camera_from_object_normal(surface_instance, n);
}

vec3 surface_pad(float hu, float hv, Param v0, Param v1) {
    vec3 p0, p1, d;
    profile(v0, p0, d);
    profile(v1, p1, d);
    float radius = max(length(p0.xy), length(p1.xy));
    float vv = 0.0; // bound of the profile's second derivative times hv^2
    if (quadric == QUADRIC_SPHERE || quadric == QUADRIC_TORUS) {
        float r = abs(quadric == QUADRIC_SPHERE ? size0.x : size0.y);
        float angle = TWO_PI * (quadric == QUADRIC_SPHERE ? size0.z - size0.y : size0.w - size0.z) * hv;
        radius = quadric == QUADRIC_SPHERE ? r : abs(size0.x) + r;
        vv = r * angle * angle;
    } else if (quadric == QUADRIC_PARABOLOID) {
        // sqrt is concave: between z0 and z1 its chord is never farther off than a quarter of the radius difference
        vv = abs(abs(p1.x) - abs(p0.x)) / (4.0 * PAD_FACTOR);
    }
    float angle = TWO_PI * sweep * hu;
    float pad = PAD_FACTOR * (radius * angle * angle + vv);
    return camera_from_object_extent(surface_instance, vec3(pad, pad, quadric == QUADRIC_SPHERE || quadric == QUADRIC_TORUS ? pad : 0.0));
}

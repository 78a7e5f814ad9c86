// Records of the scene and of the work lists. Their layout is defined here; the build generates the Rust side from it.

#ifndef RECORDS_GLSL
#define RECORDS_GLSL

// ---- primitives ----

// Kinds of primitives. Macros, because kernels are compiled for one kind each and the preprocessor chooses its code.

#define KIND_QUADRIC 0 // Sphere, cone, cylinder, hyperboloid, paraboloid, disk, torus.
#define KIND_FACET 1 // Bilinear facet.
#define KIND_PATCH 2 // Bicubic Bezier patch without weights.
#define KIND_CURVE 3 // Curve segment.
#define KIND_POINT 4 // Point.
#define KIND_RATIONAL 5 // Any other Bezier patch.
#define KIND_GREGORY 6 // Bicubic Gregory patch.
#define KIND_TRIANGLE 7 // Quartic Gregory triangle.
#define KIND_BLOB 8 // Part of an implicit surface.

const uint PRIMITIVE_KIND_MASK = 0xffu;
const uint PRIMITIVE_POLYGON = 0x100u; // facet of a polygon: flat face normal, u v s t are object x y
const uint PRIMITIVE_LINEAR = 0x100u; // curve segment with two control points
const uint PRIMITIVE_RIBBON = 0x200u; // curve segment with normals
const uint PRIMITIVE_WEIGHTED = 0x400u; // curve segment whose control points have weights
const uint PRIMITIVE_SPHERE = 0x100u; // point that is a sphere instead of a disk
const uint PRIMITIVE_SQUARE = 0x200u; // point that is a square

// Degrees of a rational patch in u and v, in its kind_flags.
const int PRIMITIVE_DEGREE_U = 16;
const int PRIMITIVE_DEGREE_V = 24;
const uint PRIMITIVE_DEGREE_MASK = 0xffu;

struct Primitive {
    uint kind_flags;   // KIND_*, flags, degrees
    uint data;         // first record of its control data in the page: positions, control points, quadric sizes
    uint face;         // uniform index
    uint extra;        // facet: record of the face normals; ribbon: of its two normals; patches: first vertex value
    uvec4 corners;     // varying indices at (u,v) = (0,0) (1,0) (0,1) (1,1); facets: vertex indices too
    uvec4 face_corners; // facevarying indices; limit patches: records of their seams (lib/surface/seam.glsl)
    vec4 uv_range;     // u0, v0, u1, v1 of the surface's (u,v) that the primitive covers
};

uint degree_u(Primitive primitive) { return (primitive.kind_flags >> PRIMITIVE_DEGREE_U) & PRIMITIVE_DEGREE_MASK; }
uint degree_v(Primitive primitive) { return (primitive.kind_flags >> PRIMITIVE_DEGREE_V) & PRIMITIVE_DEGREE_MASK; }

// ---- instances ----

const uint INSTANCE_FLIP_NORMAL = 1u;
const uint INSTANCE_ONE_SIDED = 2u;
const uint INSTANCE_MATTE = 4u;
const uint INSTANCE_TRANSLUCENT = 8u;
const uint INSTANCE_SMOOTH = 16u; // ShadingInterpolation "smooth"
const uint INSTANCE_SOLID = 32u; // bounds a primitive solid
const uint INSTANCE_OPAQUE = 64u; // its opacity is 1, although it leaves entries
const uint INSTANCE_BAKES_UNSEEN = 128u; // what no sample sees of it is shaded too, because that bakes points

// An instance whose program reads no primvars.
const uint PRIMVARS_NONE = 0xffffffffu;

struct Instance {
    vec4 row0; // camera space from object space
    vec4 row1;
    vec4 row2;
    vec4 texture_st0; // s, t at (u,v) = (0,0) and (1,0)
    vec4 texture_st1; // at (0,1) and (1,1)
    uint flags;
    float dice_scale;         // micropolygon edges per 1/1024 pixel: 1 / (1024 sqrt(shading rate))
    float displacement_bound; // radius in camera space
    float scale;              // largest length of a unit vector in camera space, for widths
    uint displace_block;      // records in Params
    uint shade_block;
    uint displace_primvars;   // first entry in the primvar table, PRIMVARS_NONE for none
    uint shade_primvars;
    uint hide_sublist;  // of opacity, page, kind, displacement pipeline
    uint shade_sublist; // of page, kind, displacement and shading pipeline
    uint solid; // number of the primitive solid that it bounds
    uint detail; // the samples that see it (lib/sampling/sampling.glsl)
    uint keyframes; // times at which its motion is known; 1 when it stands still
    uint motion;    // the first of its keyframes, one for each of them; no matter when it stands still
    float motion_factor; // how much faster than blur the area of micropolygons grows, 0 for not at all
    float focus_factor;
    uint seed; // what tells its random numbers from those of others
    uint first_primitive; // the number of its drawable's first primitive, if all were in its page
    uint spare1;
    uint spare2;
};

// A moving instance at one time. Between two of them every point of it moves on a straight line.
struct Keyframe {
    vec4 row0; // camera space from object space
    vec4 row1;
    vec4 row2;
    vec4 carry0; // this camera space from that of shutter open, for directions: takes displacements along
    vec4 carry1;
    vec4 carry2;
    float time;         // 0 when the shutter opens, 1 when it closes
    float inverse_span; // 1 / time until the next keyframe
    float scale;        // as in Instance
    float carry_scale;  // the most that carrying lengthens a displacement
    uint data;          // records from the control data at shutter open to those of this time
    float per_time;     // 1 / time until the next keyframe, in the scene's units of time
    uint spare1;
    uint spare2;
};

vec3 camera_from_object(Instance instance, vec3 p) {
    vec4 r0 = instance.row0, r1 = instance.row1, r2 = instance.row2;
    return vec3(((r0.x * p.x + r0.y * p.y) + r0.z * p.z) + r0.w,
                ((r1.x * p.x + r1.y * p.y) + r1.z * p.z) + r1.w,
                ((r2.x * p.x + r2.y * p.y) + r2.z * p.z) + r2.w);
}

vec3 camera_from_object_vector(Instance instance, vec3 d) {
    return vec3((instance.row0.x * d.x + instance.row0.y * d.y) + instance.row0.z * d.z,
                (instance.row1.x * d.x + instance.row1.y * d.y) + instance.row1.z * d.z,
                (instance.row2.x * d.x + instance.row2.y * d.y) + instance.row2.z * d.z);
}

// The cofactor matrix takes a x b to (M a) x (M b): normals of object space to camera space, mirrored with the space.
vec3 camera_from_object_normal(Instance instance, vec3 n) {
    vec3 a = instance.row0.xyz, b = instance.row1.xyz, c = instance.row2.xyz;
    return vec3(dot(cross(b, c), n), dot(cross(c, a), n), dot(cross(a, b), n));
}

// Widths are lengths in object space. A direction across the line of sight that is perpendicular to that line and to a
// second one in object space is M^T c there, with c perpendicular to both in camera space; in camera space again it is
// M M^T c. This is M M^T, in units of the largest scale, which keeps everything in range.
mat3 width_metric(Instance instance) {
    float unit = 1.0 / instance.scale;
    vec3 a = unit * instance.row0.xyz, b = unit * instance.row1.xyz, c = unit * instance.row2.xyz;
    float ab = dot(a, b), ac = dot(a, c), bc = dot(b, c);
    return mat3(vec3(dot(a, a), ab, ac), vec3(ab, dot(b, b), bc), vec3(ac, bc, dot(c, c)));
}

// The image of a unit vector of object space, in units of the largest scale, that lies in the direction of M^T c;
// zero if c is too short to be a direction.
vec3 width_direction(mat3 metric, vec3 c) {
    vec3 d = (metric[0] * c.x + metric[1] * c.y) + metric[2] * c.z;
    float l = dot(c, d);
    return l > 0.0 ? d / sqrt(l) : vec3(0.0);
}

// Half sizes of the box that holds the image of a box with half sizes d.
vec3 camera_from_object_extent(Instance instance, vec3 d) {
    return vec3(dot(abs(instance.row0.xyz), d), dot(abs(instance.row1.xyz), d), dot(abs(instance.row2.xyz), d));
}

// ---- subpatches and grids ----

// A dyadic (u,v) rectangle of a primitive and the canonical points on its four edges (see lib/grid/edge.glsl).
struct Subpatch {
    uint instance;
    uint primitive;
    uint start; // u0 | v0 << 16, in 1/65536
    uint shape; // u level (5 bits) | v level (5) | nu (4) | nv (4); nu and nv are 0 until the subpatch is a grid
    uvec4 edges; // along u at v0, along u at v1, along v at u0, along v at u1
};

const int SHAPE_V_LEVEL = 5;
const int SHAPE_NU = 10;
const int SHAPE_NV = 14;
const uint SHAPE_LEVEL_MASK = 31u;
const uint SHAPE_RATE_MASK = 15u;

uint shape_u_level(uint shape) { return shape & SHAPE_LEVEL_MASK; }
uint shape_v_level(uint shape) { return (shape >> SHAPE_V_LEVEL) & SHAPE_LEVEL_MASK; }
uint shape_nu(uint shape) { return (shape >> SHAPE_NU) & SHAPE_RATE_MASK; }
uint shape_nv(uint shape) { return (shape >> SHAPE_NV) & SHAPE_RATE_MASK; }

// Ranges of pixels have 16 bits for each end. They name single pixels from so many left of the format, or above it, on:
// enough for the widest filter. Pixels before those, which only overscan has, are named by steps of them.
const int PIXELS_BEFORE = 128;
const int STEP_LOG2 = 4;
const int STEPS_BEFORE = 340;
// The first and the last pixel that they can name.
const int PIXEL_FIRST = -PIXELS_BEFORE - (STEPS_BEFORE << STEP_LOG2);
const int PIXEL_LAST = 65535 - PIXELS_BEFORE - STEPS_BEFORE;

// Where a grid may be hit: pixels [x0, x1] x [y0, y1] inclusive, and camera z.
struct GridBound {
    uint x; // a range: x0 | x1 << 16
    uint y;
    float zmin;
    float zmax;
};

// A step is named by its first pixel where a range begins, and by its last one where a range ends.
ivec2 unpack_range(uint packed) {
    ivec2 names = ivec2(packed & 0xffffu, packed >> 16) - STEPS_BEFORE;
    return names + min(names + ivec2(0, 1), 0) * ((1 << STEP_LOG2) - 1) - PIXELS_BEFORE;
}
// Whether two ranges, packed in x and y, meet half-open pixels: x0, y0, x1, y1.
bool ranges_meet(uint x, uint y, ivec4 pixels) {
    ivec2 along_x = unpack_range(x), along_y = unpack_range(y);
    return along_x.x < pixels.z && along_x.y >= pixels.x && along_y.x < pixels.w && along_y.y >= pixels.y;
}
uint pack_range(ivec2 range) {
    ivec2 places = clamp(range, ivec2(PIXEL_FIRST), ivec2(PIXEL_LAST)) + PIXELS_BEFORE;
    uvec2 names = uvec2(mix(places, places >> STEP_LOG2, lessThan(places, ivec2(0))) + STEPS_BEFORE);
    return names.x | names.y << 16;
}

// Grids of a cluster: they follow each other in a page.
const uint CLUSTER_GRIDS = 64u;

// The pixels that the bounds of a cluster's grids meet: ranges as in GridBound.
struct Cluster {
    uint x;
    uint y;
};

// Bits of a micropolygon's number that give its place in its grid; the others give the grid's rank. Ties in depth go to
// the lower number.
const int NUMBER_MP_BITS = 8;

#endif

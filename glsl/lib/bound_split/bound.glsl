// Boxes of points in camera space, and the pixels and depths that they may touch: what bound/split finds of a subpatch
// (see bound_split.comp).
//
// Needs frame and data[].

#ifndef BOUND_GLSL
#define BOUND_GLSL

#include "lib/records.glsl"
#include "lib/surface/surface.glsl"

// Running bound of all points seen.
struct Box {
    vec3 low;
    vec3 high;
};

Box empty_box() { return Box(vec3(3.4e38), vec3(-3.4e38)); }

// Whether clipping by depth drops nothing: what is clipped of a solid still bounds it.
bool bounds_solid() { return (surface_instance.flags & INSTANCE_SOLID) != 0u; }

// Whether clipping by depth drops all of a box, or none of it can be projected.
bool beyond_clipping(Box box) {
    if (bounds_solid()) return box.high.z < frame.eye_z;
    return box.high.z < max(frame.near, frame.eye_z) || box.low.z > frame.far;
}

// How far the lens displaces a point of depth z at most, in 1/1024 pixel.
vec2 lens_reach(float z) { return abs(frame.lens_far - frame.lens_near / z); }

// Nothing nearer than hither or farther than yon is ever hit: samples compare their depth with these bounds.
float depth_floor(Box box) {
    if (frame_paints(frame)) return PAINT_Z;
    return bounds_solid() ? box.low.z : max(box.low.z, frame.near);
}

float depth_ceiling(Box box) {
    if (frame_paints(frame)) return PAINT_Z;
    return bounds_solid() ? box.high.z : min(box.high.z, frame.far);
}

// The pixels and depths that a camera-space box may touch; false when it misses the picture altogether.
bool bound_box(Box box, out GridBound bound) {
    float zmin = box.low.z, zmax = box.high.z;
    vec2 a = box.low.xy, b = box.low.xy, c = box.high.xy, d = box.high.xy;
    if (frame_perspective(frame)) {
        float z = max(zmin, frame.eye_z);
        a /= z;
        b /= zmax;
        c /= z;
        d /= zmax;
    }
    vec2 low = min(min(a, b), min(c, d)), high = max(max(a, b), max(c, d));
    vec2 r0 = low * frame.raster_scale + frame.raster_offset, r1 = high * frame.raster_scale + frame.raster_offset;
    if ((frame.flags & FRAME_LENS) != 0u) {
        vec2 reach = max(lens_reach(max(zmin, frame.eye_z)), lens_reach(zmax));
        vec2 low_rim = min(r0, r1) - reach;
        r1 = max(r0, r1) + reach;
        r0 = low_rim;
    }
    // One unit of slack each way for the rounding of vertices.
    vec2 first = (min(r0, r1) - 1.5) / float(FIXED), last = (max(r0, r1) + 1.5) / float(FIXED);
    const vec2 least = vec2(PIXEL_FIRST), most = vec2(PIXEL_LAST);
    ivec2 p0 = ivec2(floor(clamp(first, least, most))), p1 = ivec2(floor(clamp(last, least, most)));
    zmin = depth_floor(box);
    zmax = depth_ceiling(box);
    bound = GridBound(pack_range(ivec2(p0.x, p1.x)), pack_range(ivec2(p0.y, p1.y)), zmin, zmax);
    return p1.x >= frame.sampled_px.x && p1.y >= frame.sampled_px.y && p0.x < frame.sampled_px.z && p0.y < frame.sampled_px.w
        && zmin <= zmax;
}

// Whether all of a box behind hither is on the far side of one border of a rectangle of pixels. For boxes that cannot
// be projected.
bool beside(Box box, ivec4 px) {
    vec2 a = box.low.xy * frame.raster_scale, b = box.high.xy * frame.raster_scale;
    float z0 = max(box.low.z, frame.near), z1 = box.high.z;
    // Where x s / z + offset is the border: x s + (offset - border) z is zero. Two units of slack for the rounding of
    // vertices.
    vec2 first = frame.raster_offset - vec2(px.xy) * float(FIXED) + 2.0;
    vec2 last = frame.raster_offset - vec2(px.zw) * float(FIXED) - 2.0;
    // The lens displaces by lens_far - lens_near / z, times z.
    vec2 reach = max(abs(frame.lens_far * z0 - frame.lens_near), abs(frame.lens_far * z1 - frame.lens_near));
    if ((frame.flags & FRAME_LENS) == 0u) reach = vec2(0.0);
    bvec2 before = lessThan(max(a, b) + max(first * z0, first * z1) + reach, vec2(0.0));
    bvec2 beyond = greaterThan(min(a, b) + min(last * z0, last * z1) - reach, vec2(0.0));
    return any(before) || any(beyond);
}

bool beside_picture(Box box) { return beside(box, frame.sampled_px); }

// The pixels and depths of both bounds.
GridBound both_bounds(GridBound a, GridBound b) {
    ivec2 ax = unpack_range(a.x), ay = unpack_range(a.y), bx = unpack_range(b.x), by = unpack_range(b.y);
    return GridBound(pack_range(ivec2(min(ax.x, bx.x), max(ax.y, bx.y))), pack_range(ivec2(min(ay.x, by.x), max(ay.y, by.y))),
                     min(a.zmin, b.zmin), max(a.zmax, b.zmax));
}

#endif

// A micropolygon that moves or is out of focus: where it is at a sample's time, seen through the sample's point of the
// lens. Its vertices are in the arena at each keyframe of its motion, and move on straight lines in between.
//
// Needs frame, arena[] (uvec4) and motion[].

#ifndef BLURRED_GLSL
#define BLURRED_GLSL

#include "lib/sampling/blur.glsl"
#include "lib/sampling/micropolygon.glsl"
#include "lib/motion/keyframed.glsl"

// The four corners (i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1) at a time.
struct Corners {
    vec3 a;
    vec3 b;
    vec3 c;
    vec3 d;
};

Corners corners_of_keyframe(Vertices v, uint keyframe) {
    uint a = v.first + keyframe * v.stride;
    return Corners(arena_position(a), arena_position(a + 1u), arena_position(a + v.pitch), arena_position(a + v.pitch + 1u));
}

#if MOTION == 0

void load_corners(Vertices v) {}
Corners corners_before(Vertices v, uint keyframe) { return corners_of_keyframe(v, keyframe); }
Corners corners_after(Vertices v, uint keyframe) { return corners_of_keyframe(v, min(keyframe + 1u, v.keyframes - 1u)); }

#else

// With one keyframe or two (MOTION 1, 2 and 3) there is one interval of keyframes, whose corners are loaded once.
Corners corners_from;
Corners corners_to;

void load_corners(Vertices v) {
    corners_from = corners_of_keyframe(v, 0u);
    corners_to = corners_of_keyframe(v, v.keyframes - 1u);
}
Corners corners_before(Vertices v, uint keyframe) { return corners_from; }
Corners corners_after(Vertices v, uint keyframe) { return corners_to; }

#endif

#if MOTION == 1

Corners corners_at(Vertices v, KeyframeTime at) { return corners_from; }

#else

Corners corners_at(Vertices v, KeyframeTime at) {
    Corners from = corners_before(v, at.keyframe), to = corners_after(v, at.keyframe);
    return Corners(between(from.a, to.a, at.fraction), between(from.b, to.b, at.fraction), between(from.c, to.c, at.fraction), between(from.d, to.d, at.fraction));
}

#endif

vec4 corner_depths(Corners p) { return vec4(p.a.z, p.b.z, p.c.z, p.d.z); }

// Also false for NaN.
bool can_be_projected(vec4 z) { return all(greaterThanEqual(z, vec4(frame.eye_z))) && all(lessThanEqual(z, vec4(DEPTH_MAX))); }

// The micropolygon at a sample, without its plane of depth; false when none of it can be seen then. Without branches:
// what they assign is dear on a CPU driver.
bool micropolygon_at(Slot slot, Corners p, vec2 lens, out Micropolygon m) {
    vec4 z = corner_depths(p);
    m.a = raster_through_lens(p.a, lens);
    m.b = raster_through_lens(p.b, lens);
    m.c = raster_through_lens(p.c, lens);
    m.d = raster_through_lens(p.d, lens);
    m.low = min(min(m.a, m.b), min(m.c, m.d));
    m.high = max(max(m.a, m.b), max(m.c, m.d));
    vec2 e1 = vec2(m.d - m.a), e2 = vec2(m.c - m.b);
    bool turned = (e1.x * e2.y - e1.y * e2.x > 0.0) == (slot_flip(slot) != frame_mirrors(frame));
    return can_be_projected(z) && !clipped_whole(slot, z) && !(slot_one_sided(slot) && turned);
}

#endif

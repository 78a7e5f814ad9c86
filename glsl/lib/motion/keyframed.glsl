// Vertices whose positions are known at the keyframes of a motion, between which they move on straight lines: at a
// time, and seen through a point of the lens. The axis MOTION says what is known of all vertices: 0 nothing, 1 that
// they stand still, 2 that each moves on one straight line, 3 that it does so and there is no lens.
//
// Needs frame and motion[].

#ifndef KEYFRAMED_GLSL
#define KEYFRAMED_GLSL

struct Vertices {
    uint first;     // vertex (i, j) at the first keyframe
    uint pitch;     // from it to (i, j + 1)
    uint stride;    // from a keyframe to the next
    uint keyframes; // 1 for what stands still
    uint motion;    // the first keyframe
};

// A time among keyframes: in which interval, and where in it.
struct KeyframeTime {
    uint keyframe;
    float fraction; // 0 to 1
};

#if MOTION == 1

KeyframeTime keyframe_time(Vertices v, uint keyframe, float time) { return KeyframeTime(0u, 0.0); }

#else

// Looks from the interval `keyframe` on.
KeyframeTime keyframe_time(Vertices v, uint keyframe, float time) {
#if MOTION == 0
    while (keyframe + 2u < v.keyframes && time >= motion[v.motion + keyframe + 1u].time) keyframe++;
#endif
    float from = v.keyframes > 1u ? motion[v.motion + keyframe].time : 0.0, inverse = v.keyframes > 1u ? motion[v.motion + keyframe].inverse_span : 0.0;
    return KeyframeTime(keyframe, clamp((time - from) * inverse, 0.0, 1.0));
}

#endif

vec3 between(vec3 from, vec3 to, float fraction) { return (1.0 - fraction) * from + fraction * to; }

// The one rounding to 1/1024 pixel that vertices go through here, by the device's own division, because every candidate
// takes four: another device may round another way, but all micropolygons of a picture agree.
ivec2 raster_through_lens(vec3 p, vec2 lens) {
    float inverse = 1.0 / p.z;
    vec2 r = (frame_perspective(frame) ? p.xy * inverse : p.xy) * frame.raster_scale + frame.raster_offset;
#if MOTION != 3
    if ((frame.flags & FRAME_LENS) != 0u) r += lens * (frame.lens_far - frame.lens_near * inverse);
#endif
    return ivec2(floor(clamp(r, vec2(-RASTER_MAX), vec2(RASTER_MAX)) + vec2(0.5)));
}

#endif

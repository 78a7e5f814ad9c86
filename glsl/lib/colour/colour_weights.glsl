// What a sample sees of a place of the colour store (lib/colour/colour.glsl).
//
// Needs frame, colours[], and with SMOOTH 2 motion[] and blur_samples[].

#ifndef COLOUR_WEIGHTS_GLSL
#define COLOUR_WEIGHTS_GLSL

#include "lib/colour/colour.glsl"
#if SMOOTH == 2
#include "lib/sampling/blur_sample.glsl"
#include "lib/motion/keyframed.glsl"
#endif

// Where a sample is, in 1/1024 pixel, and with SMOOTH 2 when it is taken, and through which point of the lens.
struct ColourSample {
    ivec2 at;
    float time;
    vec2 lens;
};

#if SMOOTH == 2

// The sample in subpixel k of a pixel, which is number `region_pixel` of the region.
ColourSample colour_sample(uint region_pixel, ivec2 pixel, uvec2 k, ivec2 at) {
    uvec2 part = part_of_subpixel(k, pixel);
    uvec4 blur = blur_samples[blur_sample_index(region_pixel, part.y * frame.samples.x + part.x)];
    return ColourSample(at, blur_time(blur), blur_lens(blur));
}

#else

ColourSample colour_sample(uint region_pixel, ivec2 pixel, uvec2 k, ivec2 at) { return ColourSample(at, 0.0, vec2(0.0)); }

#endif

#if SMOOTH != 0

float cross2(vec2 a, vec2 b) { return a.x * b.y - a.y * b.x; }

// Weights of the corners p = 0, q and r of a triangle at a point; all very small when the triangle has no area.
vec3 triangle_weights(vec2 q, vec2 r, vec2 at) {
    float area = cross2(q, r);
    if (area == 0.0) return vec3(-1e30);
    float wq = cross2(at, r) / area, wr = cross2(q, at) / area;
    return vec3(1.0 - wq - wr, wq, wr);
}

float least(vec3 w) { return min(w.x, min(w.y, w.z)); }

// Weights of the vertices at a point, linear in each of the two triangles in which a micropolygon covers samples (a, b,
// d) and (a, d, c): along an edge they depend on its two ends alone, so that neighbours agree. Not outside their
// triangle.
vec4 vertex_weights(vec4 ab, vec4 cd, vec2 at) {
    vec2 b = ab.zw - ab.xy, c = cd.xy - ab.xy, d = cd.zw - ab.xy, p = at - ab.xy;
    vec3 abd = triangle_weights(b, d, p), adc = triangle_weights(d, c, p);
    bool first = least(abd) >= least(adc);
    vec3 w = max(first ? abd : adc, vec3(0.0));
    float sum = w.x + w.y + w.z;
    if (sum == 0.0) return vec4(1.0, 0.0, 0.0, 0.0);
    w /= sum;
    return first ? vec4(w.x, w.y, 0.0, w.z) : vec4(w.x, 0.0, w.z, w.y);
}

#endif

#if SMOOTH == 0

vec4 colour_weights(uint place, uint value_records, ColourSample s) { return vec4(0.0); }
vec4 colour_value(uint place, uint value_records, uint record, vec4 weights) { return colours[place + record]; }

#else

#if SMOOTH == 1

vec4 colour_weights(uint place, uint value_records, ColourSample s) {
    uint positions = place + 4u * value_records;
    return vertex_weights(colours[positions], colours[positions + 1u], vec2(s.at));
}

#else

vec4 stored_between(uint at, uint next, float fraction) { return (1.0 - fraction) * colours[at] + fraction * colours[next]; }

// Rounded as hiding does: what stands still, and is seen through no lens, is hidden as in any picture.
vec2 raster_then(vec4 x, vec4 y, vec4 z, uint vertex, uint keyframes, vec2 lens) {
    vec3 p = vec3(x[vertex], y[vertex], z[vertex]);
    bool still = keyframes == 1u && (frame.flags & FRAME_LENS) == 0u;
    return vec2(still ? raster_fixed(frame, p) : raster_through_lens(p, lens));
}

vec4 colour_weights(uint place, uint value_records, ColourSample s) {
    uint head = place + 4u * value_records;
    uvec3 known = uvec3(colours[head].xyz);
    if (known.x == 0u) return vec4(1.0, 0.0, 0.0, 0.0);
    Vertices v = Vertices(head + POSITION_HEAD_RECORDS, 0u, KEYFRAME_POSITION_RECORDS, known.x, known.z << 16 | known.y);
    KeyframeTime when = keyframe_time(v, 0u, s.time);
    uint at = v.first + when.keyframe * v.stride, next = v.first + min(when.keyframe + 1u, v.keyframes - 1u) * v.stride;
    vec4 x = stored_between(at, next, when.fraction);
    vec4 y = stored_between(at + 1u, next + 1u, when.fraction);
    vec4 z = stored_between(at + 2u, next + 2u, when.fraction);
    vec4 ab = vec4(raster_then(x, y, z, 0u, v.keyframes, s.lens), raster_then(x, y, z, 1u, v.keyframes, s.lens));
    vec4 cd = vec4(raster_then(x, y, z, 2u, v.keyframes, s.lens), raster_then(x, y, z, 3u, v.keyframes, s.lens));
    return vertex_weights(ab, cd, vec2(s.at));
}

#endif

vec4 colour_value(uint place, uint value_records, uint record, vec4 weights) {
    uint at = place + record;
    vec4 value = weights.x * colours[at];
    value += weights.y * colours[at + value_records];
    value += weights.z * colours[at + 2u * value_records];
    return value + weights.w * colours[at + 3u * value_records];
}

#endif

#endif

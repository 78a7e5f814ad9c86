// Depth: one invocation = one pixel of the region's inside; the depth that its own samples show, by the hider's depth
// filter: nearest, farthest or mean, or the nearest of what lies halfway between the first two surfaces of each sample
// (Woo 1992). Samples that see nothing count as infinitely far (nearest, farthest) or are left out (mean); so do, for
// the halfway point, those that see one surface only. A translucent surface that passes the z threshold counts like an
// opaque one. Reads keys, resolved, behind; writes depths (1e38 where nothing is seen).
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/sampling/key.glsl"

// cases: DEPTH_FILTER_*
const uint DEPTH_FILTER_NEAREST = 0u;
const uint DEPTH_FILTER_FARTHEST = 1u;
const uint DEPTH_FILTER_MEAN = 2u;
const uint DEPTH_FILTER_MIDPOINT = 3u;

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Depths { float depths[]; };
layout(std430, set = 0, binding = 2) readonly buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 3) readonly buffer Behind { uint behind[]; };
layout(push_constant) uniform Push {
    uint region_width;
    uint inside_x;
    uint inside_y;
    uint inside_width;
    uint pixel_samples;
    uint depth_filter;
    uint first_pixel;
    uint resolved_records;
    uint translucent; // 1 when resolved samples have depths of translucent surfaces
    uint first; // pixels of the inside [first, last) are this dispatch's
    uint last;
};

float depth_of(uint bits) { return bits == KEY_EMPTY ? DEPTH_MAX : uintBitsToFloat(bits); }

float sample_depth(uint subpixel) {
    float z = depth_of(uint(keys[subpixel] >> 32));
    if (translucent != 0u) {
        float before = abs(resolved[subpixel * resolved_records + 1u].w);
        if (before != 0.0) z = min(z, before);
    }
    if (depth_filter != DEPTH_FILTER_MIDPOINT) return z;
    float next = depth_of(behind[subpixel]);
    return next >= DEPTH_MAX ? DEPTH_MAX : 0.5 * (z + next);
}

void main() {
    uint index = first + invocation();
    if (index >= last) return;
    uint pixel = (inside_y + index / inside_width) * region_width + inside_x + index % inside_width;
    float nearest = DEPTH_MAX, farthest = 0.0, sum = 0.0, seen = 0.0;
    for (uint s = 0u; s < pixel_samples; s++) {
        float z = sample_depth(pixel * pixel_samples + s);
        nearest = min(nearest, z);
        farthest = max(farthest, z);
    }
    // From the nearest on, so that equal depths have that depth as their mean, and near ones lose no bits.
    for (uint s = 0u; s < pixel_samples && depth_filter == DEPTH_FILTER_MEAN; s++) {
        float z = sample_depth(pixel * pixel_samples + s);
        sum += z >= DEPTH_MAX ? 0.0 : z - nearest;
        seen += z >= DEPTH_MAX ? 0.0 : 1.0;
    }
    float mean = seen > 0.0 ? nearest + sum / seen : DEPTH_MAX;
    // DEPTH_FILTER_NEAREST and DEPTH_FILTER_MIDPOINT: the nearest
    depths[first_pixel + index] = depth_filter == DEPTH_FILTER_MEAN ? mean : depth_filter == DEPTH_FILTER_FARTHEST ? farthest : nearest;
}

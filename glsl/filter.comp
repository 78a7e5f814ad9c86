// axes: SINGLE=taps|single KIND=FILTER_*
// rules: SINGLE=taps ignores KIND
//
// Filter: one invocation = one pixel of the region's inside. The weighted mean of one record of the resolved samples
// within the filter's width, each with the weight of its tap (glsl/taps.comp); where pixels have one sample (the
// `single` variants, one for each kind), with the weight of its place. Normalised per pixel, summed in subpixel order
// (RISpec 4.1.3). A filter over more samples than an invocation may visit continues in further dispatches, from the
// sums that the one before left. Reads resolved and taps; reads and writes pixels (vec4 each) and, where there are
// further dispatches, totals (sums of weights).
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/filter/filter.glsl"
#include "lib/filter/taps.glsl"
#include "lib/math/quotient.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 2) buffer Pixels { vec4 pixels[]; };
layout(std430, set = 0, binding = 3) buffer Totals { float totals[]; };
layout(std430, set = 0, binding = 4) readonly buffer Taps { uvec2 taps[]; };
layout(push_constant) uniform Push {
    int region_x; // the sampled rectangle
    int region_y;
    uint region_width;
    uint inside_x; // the region's inside, relative to it
    uint inside_y;
    uint inside_width;
    uint resolved_records;
    uint record;
    uint keeps_totals; // 1: this record leaves the totals for further dispatches of its filter
    float half_width_x; // in pixels
    float half_width_y;
    uint first_pixel; // where the region's pixels begin
    uint first_tap; // taps [first_tap, last_tap) are visited; with one sample a pixel, pixels of the window
    uint last_tap;
    uint first; // pixels of the inside [first, last) are this dispatch's
    uint last;
};

void main() {
    frame = frame_record;
    uint index = first + invocation();
    if (index >= last) return;
    vec2 half_width = vec2(half_width_x, half_width_y), inverse = 1.0 / half_width;
    ivec2 at = ivec2(inside_x + index % inside_width, inside_y + index / inside_width), apron = tap_apron(half_width);
    ivec2 centre = (ivec2(region_x, region_y) + at) * FIXED + FIXED / 2, corner = at - apron;
    uint side = uint(2 * apron.x + 1), corner_pixel = uint(corner.y) * region_width + uint(corner.x);
    uint count = SINGLE != 0 ? side * uint(2 * apron.y + 1) : tap_count(tap_window(half_width));
    if (first_tap >= count) return;
    bool begins = first_tap == 0u, ends = last_tap >= count;
    vec4 sum = begins ? vec4(0.0) : pixels[first_pixel + index];
    float total = begins ? 0.0 : totals[index];
    for (uint t = first_tap; t < min(last_tap, count); t++) {
        uint s = 0u;
        float w = 0.0;
        if (SINGLE != 0) {
            uvec2 offset = uvec2(t % side, t / side);
            s = corner_pixel + offset.y * region_width + offset.x;
            ivec2 place = sample_position(frame, ivec2(region_x, region_y) + corner + ivec2(offset), uvec2(0u));
            w = filter_weight(KIND, vec2(place - centre) * (1.0 / float(FIXED)), half_width, inverse);
        } else {
            uvec2 tap = taps[t - first_tap];
            s = corner_pixel * frame.samples.x * frame.samples.y + tap.x;
            w = uintBitsToFloat(tap.y);
        }
        if (w == 0.0) continue;
        sum += w * resolved[s * resolved_records + record];
        total += w;
    }
    // The weights are those of every record of the filter.
    if (!ends && keeps_totals != 0u) totals[index] = total;
    pixels[first_pixel + index] = !ends ? sum : total != 0.0 ? quotient(sum, total) : vec4(0.0);
}

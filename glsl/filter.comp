// variants: filter_box KIND=FILTER_BOX; filter_triangle KIND=FILTER_TRIANGLE
// variants: filter_gaussian KIND=FILTER_GAUSSIAN; filter_catmull_rom KIND=FILTER_CATMULL_ROM
// variants: filter_sinc KIND=FILTER_SINC; filter_mitchell KIND=FILTER_MITCHELL
// variants: filter_lanczos KIND=FILTER_LANCZOS; filter_blackman_harris KIND=FILTER_BLACKMAN_HARRIS
// variants: filter_disk KIND=FILTER_DISK; filter_separable_catmull_rom KIND=FILTER_SEPARABLE_CATMULL_ROM
//
// Filter: one invocation = one pixel of the region's inside. The weighted mean of one record of the resolved samples
// within the filter's width, each with the weight of the middle of the part of its subpixel that is within the width,
// times the size of that part; where pixels have one sample, with the weight of its place. Normalised per pixel, summed
// in subpixel order (RISpec 4.1.3). A filter over more samples than an invocation may visit continues in further
// dispatches, from the sums that the one before left. Reads resolved; reads and writes pixels (vec4 each) and, where
// there are further dispatches, totals (sums of weights).
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/sampling.glsl"
#include "lib/filter.glsl"
#include "lib/quotient.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 2) buffer Pixels { vec4 pixels[]; };
layout(std430, set = 0, binding = 3) buffer Totals { float totals[]; };
layout(push_constant) uniform Push {
    int region_x; // the sampled rectangle
    int region_y;
    uint region_width;
    uint region_height;
    uint inside_x; // the region's inside, relative to it
    uint inside_y;
    uint inside_width;
    uint resolved_records;
    uint record;
    uint keeps_totals; // 1: this record leaves the totals for further dispatches of its filter
    float half_width_x; // in pixels
    float half_width_y;
    uint first_pixel; // where the region's pixels begin
    uint window_first; // pixels of the window that are visited, counted row by row
    uint window_last;
    uint first; // pixels of the inside [first, last) are this dispatch's
    uint last;
};

// Less of a pixel is not within the width, but what floats are off by.
const float ROUNDING = 1e-6;

// Weight of the sample of a subpixel whose corner is so many pixels from the centre.
float subpixel_weight(vec2 corner, vec2 cell, vec2 half_width, vec2 inverse) {
    // The part of the subpixel that is within the width.
    vec2 low = max(corner, -half_width), high = min(corner + cell, half_width), inside = high - low;
    if (min(inside.x, inside.y) < ROUNDING) return 0.0;
    return filter_weight(KIND, 0.5 * (low + high), half_width, inverse) * (inside.x * inside.y);
}

void main() {
    frame = frame_record;
    uint index = first + invocation();
    if (index >= last) return;
    ivec2 at = ivec2(inside_x + index % inside_width, inside_y + index / inside_width);
    vec2 half_width = vec2(half_width_x, half_width_y), inverse = 1.0 / half_width;
    ivec2 centre = (ivec2(region_x, region_y) + at) * FIXED + FIXED / 2;
    vec2 cell = vec2(frame.samples.yx) * frame.stratum;
    // The square of positions whose weight may not be zero, in 1/1024 pixel from the sampled rectangle's corner.
    ivec2 reach = ivec2(ceil(half_width * float(FIXED)));
    ivec2 low_rim = at * FIXED + FIXED / 2 - reach, high_rim = at * FIXED + FIXED / 2 + reach;
    // The window of pixels that are visited.
    ivec2 apron = ivec2(ceil(half_width - 0.5));
    uint side = uint(2 * apron.x + 1), window = side * uint(2 * apron.y + 1), pixel_samples = frame.samples.x * frame.samples.y;
    bool begins = window_first == 0u, ends = window_last >= window;
    vec4 sum = begins ? vec4(0.0) : pixels[first_pixel + index];
    float total = begins ? 0.0 : totals[index];
    for (uint t = window_first; t < min(window_last, window); t++) {
        ivec2 pixel = at - apron + ivec2(t % side, t / side);
        if (any(lessThan(pixel, ivec2(0))) || any(greaterThanEqual(pixel, ivec2(region_width, region_height)))) continue;
        uvec2 low = first_subpixel(low_rim, pixel * FIXED), high = last_subpixel(high_rim, pixel * FIXED);
        for (uint ky = low.y; ky <= high.y; ky++) {
            uint s = (uint(pixel.y) * region_width + uint(pixel.x)) * pixel_samples + ky * frame.samples.x;
            for (uint kx = low.x; kx <= high.x; kx++) {
                float w = 0.0;
                if (pixel_samples == 1u) {
                    ivec2 place = sample_position(frame, ivec2(region_x, region_y) + pixel, uvec2(0u));
                    w = filter_weight(KIND, vec2(place - centre) * (1.0 / float(FIXED)), half_width, inverse);
                } else {
                    w = subpixel_weight(vec2(uvec2(kx, ky)) * cell + vec2(pixel - at) - 0.5, cell, half_width, inverse);
                }
                if (w == 0.0) continue;
                sum += w * resolved[(s + kx) * resolved_records + record];
                total += w;
            }
        }
    }
    // The weights are those of every record of the filter.
    if (!ends && keeps_totals != 0u) totals[index] = total;
    pixels[first_pixel + index] = !ends ? sum : total != 0.0 ? quotient(sum, total) : vec4(0.0);
}

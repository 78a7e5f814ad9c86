// Filter: one invocation = one pixel of the region's inside. The weighted mean of one record of the resolved samples within the filter's
// width, weights at the jittered positions, normalised per pixel, summed in subpixel order (RISpec 4.1.3; DESIGN 3.1).
// Reads resolved; writes pixels (vec4 each).
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/sampling.glsl"
#include "lib/filter.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Pixels { vec4 pixels[]; };
layout(push_constant) uniform Push {
    int region_x; // the sampled rectangle
    int region_y;
    uint region_width;
    uint region_height;
    uint inside_x; // the region's inside, relative to it
    uint inside_y;
    uint inside_width;
    uint inside_height;
    uint resolved_records;
    uint record;
    uint kind; // FILTER_*
    float half_width_x; // in pixels
    float half_width_y;
    uint first_pixel; // where the region's pixels begin
};

void main() {
    frame = frame_record;
    uint index = invocation();
    if (index >= inside_width * inside_height) return;
    ivec2 at = ivec2(inside_x + index % inside_width, inside_y + index / inside_width);
    vec2 half_width = vec2(half_width_x, half_width_y), inverse = 1.0 / half_width;
    ivec2 origin = ivec2(region_x, region_y);
    ivec2 centre = (origin + at) * FIXED + FIXED / 2;
    // The square of positions whose weight may not be zero, in 1/1024 pixel from the sampled rectangle's corner.
    ivec2 reach = ivec2(ceil(half_width * float(FIXED)));
    ivec2 first = max(at * FIXED + FIXED / 2 - reach, ivec2(0));
    ivec2 last = min(at * FIXED + FIXED / 2 + reach, ivec2(region_width, region_height) * FIXED - 1);
    // A sample on the far rim may lie on the near border of a pixel outside the apron, which not every region samples: none does.
    last = min(last, (at + ivec2(ceil(half_width - 0.5)) + 1) * FIXED - 1);
    uint pixel_samples = frame.samples.x * frame.samples.y;
    vec4 sum = vec4(0.0);
    float total = 0.0;
    for (int y = first.y >> FIXED_LOG2; y <= last.y >> FIXED_LOG2; y++) {
        for (int x = first.x >> FIXED_LOG2; x <= last.x >> FIXED_LOG2; x++) {
            ivec2 pixel = ivec2(x, y);
            uvec2 low = first_subpixel(first, pixel * FIXED), high = last_subpixel(last, pixel * FIXED);
            for (uint ky = low.y; ky <= high.y; ky++) {
                uint s = (uint(y) * region_width + uint(x)) * pixel_samples + ky * frame.samples.x;
                for (uint kx = low.x; kx <= high.x; kx++) {
                    vec2 d = vec2(sample_position(frame, origin + pixel, uvec2(kx, ky)) - centre) * (1.0 / float(FIXED));
                    float w = filter_weight(kind, d, half_width, inverse);
                    if (w == 0.0) continue;
                    sum += w * resolved[(s + kx) * resolved_records + record];
                    total += w;
                }
            }
        }
    }
    pixels[first_pixel + index] = total != 0.0 ? sum / total : vec4(0.0);
}

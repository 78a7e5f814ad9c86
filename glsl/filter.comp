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
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame; };
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
    float width_x; // half widths in pixels
    float width_y;
    uint first_pixel; // where the region's pixels begin
};

void main() {
    uint index = invocation();
    if (index >= inside_width * inside_height) return;
    ivec2 at = ivec2(inside_x + index % inside_width, inside_y + index / inside_width);
    ivec2 reach = ivec2(ceil(vec2(width_x, width_y) - 0.5));
    ivec2 low = max(at - reach, ivec2(0)), high = min(at + reach, ivec2(region_width, region_height) - 1);
    ivec2 origin = ivec2(region_x, region_y);
    ivec2 centre = (origin + at) * FIXED + FIXED / 2;
    uint pixel_samples = frame.samples.x * frame.samples.y;
    vec4 sum = vec4(0.0);
    float total = 0.0;
    for (int y = low.y; y <= high.y; y++) {
        for (int x = low.x; x <= high.x; x++) {
            uint s = (uint(y) * region_width + uint(x)) * pixel_samples;
            for (uint ky = 0u; ky < frame.samples.y; ky++) {
                for (uint kx = 0u; kx < frame.samples.x; kx++, s++) {
                    vec2 d = vec2(sample_position(frame, origin + ivec2(x, y), uvec2(kx, ky)) - centre) / float(FIXED);
                    float w = filter_weight(kind, d, vec2(width_x, width_y));
                    if (w == 0.0) continue;
                    sum += w * resolved[s * resolved_records + record];
                    total += w;
                }
            }
        }
    }
    pixels[first_pixel + index] = total != 0.0 ? sum / total : vec4(0.0);
}

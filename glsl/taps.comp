// axes: KIND=FILTER_*
//
// Taps: one invocation = one tap of a filter, for pixels with more than one sample. Which sample it is, from the first
// one of the window's corner on, and its weight: that of the middle of the part of its subpixel that is within the
// width, times the size of that part. Pixel by pixel of the window, then subpixel by subpixel. Writes taps.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/filter/filter.glsl"
#include "lib/filter/taps.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) writeonly buffer Taps { uvec2 taps[]; };
layout(push_constant) uniform Push {
    uint region_width; // of the sampled rectangle
    float half_width_x; // in pixels
    float half_width_y;
    uint first_tap; // taps [first_tap, last_tap) are this dispatch's
    uint last_tap;
};

// Less of a pixel is not within the width, but what floats are off by.
const float ROUNDING = 1e-6;

// Weight of the sample of a subpixel, by the distance of its corner from the centre in pixels.
float subpixel_weight(vec2 corner, vec2 cell, vec2 half_width) {
    // The part of the subpixel that is within the width.
    vec2 low = max(corner, -half_width), high = min(corner + cell, half_width), inside = high - low;
    if (min(inside.x, inside.y) < ROUNDING) return 0.0;
    return filter_weight(KIND, 0.5 * (low + high), half_width, 1.0 / half_width) * (inside.x * inside.y);
}

void main() {
    frame = frame_record;
    vec2 half_width = vec2(half_width_x, half_width_y);
    TapWindow window = tap_window(half_width);
    uint t = first_tap + invocation();
    if (t >= min(last_tap, tap_count(window))) return;
    // The row of pixels, and the rows of taps in it.
    uvec2 pixel;
    pixel.y = (t / window.size.x + window.first.y) / frame.samples.y;
    uint top = max(pixel.y * frame.samples.y, window.first.y);
    uint rows = min((pixel.y + 1u) * frame.samples.y, window.first.y + window.size.y) - top;
    t -= (top - window.first.y) * window.size.x;
    pixel.x = (t / rows + window.first.x) / frame.samples.x;
    uint left = max(pixel.x * frame.samples.x, window.first.x);
    uint columns = min((pixel.x + 1u) * frame.samples.x, window.first.x + window.size.x) - left;
    t -= (left - window.first.x) * rows;
    uvec2 k = uvec2(left + t % columns, top + t / columns) - pixel * frame.samples;
    vec2 cell = vec2(frame.samples.yx) * frame.stratum;
    vec2 corner = vec2(k) * cell + vec2(ivec2(pixel) - tap_apron(half_width)) - 0.5;
    uint window_pixel = pixel.y * region_width + pixel.x;
    uint s = (window_pixel * frame.samples.y + k.y) * frame.samples.x + k.x;
    taps[invocation()] = uvec2(s, floatBitsToUint(subpixel_weight(corner, cell, half_width)));
}

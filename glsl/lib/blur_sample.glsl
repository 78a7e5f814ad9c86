// A sample's own time and point of the lens (lib/blur.glsl). Needs frame and lens_cells[].

#ifndef BLUR_SAMPLE_GLSL
#define BLUR_SAMPLE_GLSL

#include "lib/blur.glsl"
#include "lib/turns.glsl"

// Where and when: the time, 0 to 1, and the point of the lens, in the unit disk.
struct Blur {
    float time;
    vec2 lens;
};

// The lens's unit square, mapped to the disk so that equal areas stay equal and squares nearly square (Shirley and Chiu
// 1997).
vec2 lens_disk(vec2 square) {
    vec2 a = 2.0 * square - vec2(1.0);
    bool by_x = abs(a.x) > abs(a.y);
    float r = by_x ? a.x : a.y;
    if (r == 0.0) return vec2(0.0);
    vec2 cs = cos_sin_turns(0.125 * ((by_x ? a.y : a.x) / r));
    return r * (by_x ? cs : cs.yx);
}

// Bits of a hash that say where in its part of the shutter and in its cell of the lens a sample is.
const int TIME_BITS = 12;
const int LENS_BITS = 10;

vec2 lens_point(uvec2 cell, uint h) {
    vec2 jitter = (vec2(uvec2(h >> TIME_BITS, h >> (TIME_BITS + LENS_BITS)) & ((1u << LENS_BITS) - 1u)) + 0.5) * (1.0 / float(1 << LENS_BITS));
    LensCell rim = lens_cells[cell.y * frame.samples.x + cell.x];
    return clamp(lens_disk((vec2(cell) + jitter) / vec2(frame.samples)), rim.low, rim.high);
}

// When and where the sample of subpixel k of a pixel is taken, which has the given part of the shutter.
Blur blur_of(ivec2 pixel, uvec2 k, uvec2 part) {
    uint h = hash_word(hash_subpixel(uint(pixel.x) * frame.samples.x + k.x, uint(pixel.y) * frame.samples.y + k.y));
    if ((frame.flags & FRAME_JITTER) == 0u) h = 1u << (TIME_BITS - 1) | 1u << (TIME_BITS + LENS_BITS - 1) | 1u << (TIME_BITS + 2 * LENS_BITS - 1);
    float jitter = (float(h & ((1u << TIME_BITS) - 1u)) + 0.5) * (1.0 / float(1 << TIME_BITS));
    Blur blur;
    blur.time = shutter_time((float(part.y * frame.samples.x + part.x) + jitter) * frame.stratum);
    blur.lens = vec2(0.0);
    if ((frame.flags & FRAME_LENS) != 0u) blur.lens = lens_point(cell_of_part(part, pixel_class(pixel)), h);
    return blur;
}

#endif

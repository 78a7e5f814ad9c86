// A sample's own time and point of the lens (lib/blur.glsl). Needs frame and lens_cells[].

#ifndef BLUR_SAMPLE_GLSL
#define BLUR_SAMPLE_GLSL

#include "lib/blur.glsl"

// Where and when: the time, 0 to 1, and the point of the lens, in the unit disk.
struct Blur {
    float time;
    vec2 lens;
};

// How far from the middle what is at a radius of an even lens is, where light grows from 1 - density in the middle to
// 1 + density at the rim.
float lens_radius(float even) {
    if (frame.lens_density_scale == 0.0) return even;
    float rest = 1.0 - frame.lens_density;
    float area = (root(rest * rest + 4.0 * frame.lens_density * (even * even)) - rest) * frame.lens_density_scale;
    return root(max(area, 0.0));
}

// The lens's unit square, mapped to the unit disk so that equal areas stay equal and squares nearly square (Shirley and
// Chiu 1997), and its sectors to the wedges of the aperture, which have equal areas too. They follow the cells.
vec2 lens_aperture(vec2 square) {
    vec2 a = 2.0 * square - vec2(1.0);
    bool by_x = abs(a.x) > abs(a.y);
    float r = by_x ? a.x : a.y;
    if (r == 0.0) return vec2(0.0);
    float eighth = 0.125 * ((by_x ? a.y : a.x) / r);
    float turns = (by_x ? eighth : 0.25 - eighth) + (r < 0.0 ? 0.5 : 0.0);
    float place = (turns < 0.0 ? turns + 1.0 : turns) * float(frame.lens_wedges);
    uint wedge = min(uint(place), frame.lens_wedges - 1u);
    LensCell rim = lens_cells[frame.samples.x * frame.samples.y + wedge];
    float t = place - float(wedge), radius = lens_radius(abs(r));
    return radius * ((1.0 - t) * rim.low + t * rim.high);
}

// Bits of a hash that say where in its part of the shutter and in its cell of the lens a sample is.
const int TIME_BITS = 12;
const int LENS_BITS = 10;

vec2 lens_point(uvec2 cell, uint h) {
    vec2 jitter = (vec2(uvec2(h >> TIME_BITS, h >> (TIME_BITS + LENS_BITS)) & ((1u << LENS_BITS) - 1u)) + 0.5) * (1.0 / float(1 << LENS_BITS));
    LensCell rim = lens_cells[cell.y * frame.samples.x + cell.x];
    vec2 cell_size = vec2(frame.samples.yx) * frame.stratum;
    return clamp(lens_aperture((vec2(cell) + jitter) * cell_size), rim.low, rim.high);
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

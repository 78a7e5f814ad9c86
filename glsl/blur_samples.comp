// Blur samples: one invocation = one part of the shutter in one pixel of a region; finds the sample that has it: where
// it is, when, and through which point of the lens it sees (lib/sampling/blur.glsl), so that hiding and sampling need
// not work it out for each micropolygon (lib/hide/strata.glsl). Reads lens_cells; writes blur_samples
// (lib/sampling/blur_sample.glsl).
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/sampling/blur.glsl"

layout(local_size_x = 256) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer LensCells { LensCell lens_cells[]; };
layout(std430, set = 0, binding = 2) writeonly buffer BlurSamples { uvec4 blur_samples[]; };
layout(push_constant) uniform Push {
    int region_x;
    int region_y;
    uint region_width;
    uint first; // pixels [first, last) are this dispatch's
    uint last;
};

#include "lib/sampling/blur_sample.glsl"

// Bits of a hash that say where in its part of the shutter and in its cell of the lens a sample is.
const int TIME_BITS = 12;
const int LENS_BITS = 10;

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

// Inside a cell, too, samples of a column of cells are in different parts along x, and those of a row along y, as in
// lib/sampling/sampling.glsl.
const uint LENS_TURNS = 0x9b05688cu;

vec2 lens_point(uvec2 cell, uint h, ivec2 pixel) {
    uvec2 n = frame.samples;
    uint salt = pixel_salt(pixel) ^ LENS_TURNS;
    uvec2 nth = uvec2(turned(halves(cell.y, n.y), hash_below(salt, 0u, n.y), n.y), turned(halves(cell.x, n.x), hash_below(salt, 1u, n.x), n.x));
    vec2 jitter = (vec2(uvec2(h >> TIME_BITS, h >> (TIME_BITS + LENS_BITS)) & ((1u << LENS_BITS) - 1u)) + 0.5) * (1.0 / float(1 << LENS_BITS));
    jitter = (frame.flags & FRAME_JITTER) != 0u ? (vec2(nth) + jitter) * (vec2(n) * frame.stratum) : vec2(0.5);
    LensCell rim = lens_cells[cell.y * n.x + cell.x];
    vec2 cell_size = vec2(n.yx) * frame.stratum;
    return clamp(lens_aperture((vec2(cell) + jitter) * cell_size), rim.low, rim.high);
}

// The sample of a pixel that has a part of the shutter.
uvec4 blur_sample(ivec2 pixel, uvec2 part) {
    uvec2 k = subpixel_of_part(part, pixel);
    uint h = hash_word(hash_subpixel(uint(pixel.x) * frame.samples.x + k.x, uint(pixel.y) * frame.samples.y + k.y));
    if ((frame.flags & FRAME_JITTER) == 0u) h = 1u << (TIME_BITS - 1) | 1u << (TIME_BITS + LENS_BITS - 1) | 1u << (TIME_BITS + 2 * LENS_BITS - 1);
    uvec2 place = uvec2(sample_position(frame, pixel, k) - pixel * FIXED);
    uint when = h & ((1u << TIME_BITS) - 1u);
    if (in_quarters()) when = when >> 2 | part_quarter(pixel) << (TIME_BITS - 2);
    vec2 lens = vec2(0.0);
    if ((frame.flags & FRAME_LENS) != 0u) lens = lens_point(cell_of_part(part, pixel_class(pixel)), h, pixel);
    float jitter = (float(when) + 0.5) * (1.0 / float(1 << TIME_BITS));
    float time = shutter_time((float(part.y * frame.samples.x + part.x) + jitter) * frame.stratum);
    return blur_pack(place, k.y * frame.samples.x + k.x, time, lens);
}

void main() {
    frame = frame_record;
    uint count = frame.samples.x * frame.samples.y, index = first * count + invocation();
    if (index < count && (frame.flags & FRAME_LENS) != 0u) {
        blur_samples[index] = floatBitsToUint(vec4(lens_cells[index].low, lens_cells[index].high));
    }
    uint pixel = divide_large(index, count), y = divide_large(pixel, region_width);
    if (pixel >= last) return;
    uint n = index - pixel * count;
    blur_samples[blur_sample_index(pixel, n)] = blur_sample(ivec2(region_x, region_y) + ivec2(pixel - y * region_width, y), place_of(n));
}

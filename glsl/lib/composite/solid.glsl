// Entries of solids: each is a crossing of the boundary of a primitive solid. Which of them bound the solid that the
// primitives make is decided on lists of (depth, number) at each sample, before anything is coloured.
//
// Needs frame, entries[], grids[], instances[], and the push constants region_x, region_y, region_width and cells.

#ifndef SOLID_GLSL
#define SOLID_GLSL

#include "lib/composite/entry.glsl"
#include "lib/records.glsl"

// Not the entry of a solid.
const uint SOLID_NONE = 0xffffffffu;
// The most primitives of one tree.
const uint SOLID_PRIMITIVES_MAX = 256u;

// Steps of a tree: they work on a stack of words with a bit for each sample.
const uint SOLID_PRIMITIVE = 0u; // pushes the state of the next primitive
const uint SOLID_UNION = 1u;
const uint SOLID_INTERSECTION = 2u;
const uint SOLID_DIFFERENCE = 3u;
const uint SOLID_DIFFERENCE_REVERSED = 4u; // the last minus the one before
// Words of that stack: the logarithm of SOLID_PRIMITIVES_MAX, and one.
const uint SOLID_STACK = 9u;

// Where the samples of an entry are, relative to the pixel's corner, and how deep it lies there.
ivec2 sample_at[CELL_SAMPLES];
float sample_z[CELL_SAMPLES];

// The first sample of the entry's cell, its number in the pixel, and that pixel.
uint solid_first_sample(Entry e) { return CELL_SAMPLES * (e.cell % cells); }
ivec2 solid_pixel(Entry e) {
    uint pixel = e.cell / cells;
    return ivec2(region_x + int(pixel % region_width), region_y + int(pixel / region_width));
}

// Notes where the entry's samples are, relative to the pixel's corner, and its depths there.
void note_samples(Entry e) {
    ivec2 pixel = solid_pixel(e);
    uint first_sample = solid_first_sample(e);
    for (uint left = e.mask; left != 0u; left &= left - 1u) {
        uint bit = uint(findLSB(left)), s = first_sample + bit, y = uint((float(s) + 0.5) / float(frame.samples.x));
        sample_at[bit] = sample_position(frame, pixel, uvec2(s - y * frame.samples.x, y)) - pixel * FIXED;
        sample_z[bit] = entry_z(frame, e, sample_at[bit]);
    }
}

// Order along the line of sight: depths in front of the eye's plane count as zero, as nothing there is seen.
uint depth_bits(float z) { return floatBitsToUint(max(z, 0.0)); }

// Which of the samples `bits` of an entry, whose samples are noted, see another one before it.
uint sees_before(Entry e, Entry other, uint bits) {
    if (entry_is_state(other) || depth_bits(other.zmax) < depth_bits(e.zmin)) return bits;
    if (depth_bits(other.zmin) > depth_bits(e.zmax)) return 0u;
    uint before = 0u;
    for (uint left = bits; left != 0u; left &= left - 1u) {
        uint bit = uint(findLSB(left));
        uint own = depth_bits(sample_z[bit]), z = depth_bits(entry_z(frame, other, sample_at[bit]));
        if (z < own || (z == own && other.number < e.number)) before |= 1u << bit;
    }
    return before;
}

uint solid_instance(Entry e) { return grids[e.number >> NUMBER_MP_BITS].instance; }

#endif

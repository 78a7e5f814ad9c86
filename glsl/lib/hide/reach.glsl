// The samples that an opaque micropolygon may cover, in parts, and those of them that it reaches: what it does there is
// `lower`, of the including file. Needs what the included files need; where KNOWS_BLOCKS is defined, the buffer
// blocks[] too.

#ifndef REACH_GLSL
#define REACH_GLSL

#include "lib/hide/block.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/math/divide.glsl"
#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/sampling/trim.glsl"

// Sample `at` of a region, of a pixel counted from the region's first one, is reached at a depth.
void lower(RegionRect region, uvec2 pixel, uint at, uint depth, uint number);

// The candidate samples of a micropolygon: a rectangle of subpixels, counted from the region's first one, in parts.
struct Parts {
    uvec2 first;
    uvec2 size;
    uvec2 part_size; // subpixels of a part
    uvec2 per_axis;  // parts along x and y
    uint count;
};

// A part: one bit of a word for each sample, and at most PART_WIDTH of them along a row.
const uint PART_SAMPLES = 32u;
const uint PART_WIDTH = 8u;

// Parts of 32 samples that one invocation visits: loop trips are bounded (docs/pipeline/loops.md). A region of 2^24
// samples has fewer than 4096 parts.
const uint HIDE_PARTS_MAX = 256u;
// As many of each micropolygon of a row, which the same invocation diced before: both together make fewer than 42,000
// trips, of blobs.
const uint FUSED_PARTS_MAX = 4u;

// One bit for each covered sample of the subpixels [first, first + size), row by row.
uint part_mask(Micropolygon m, Coverage cover, RegionRect region, uvec2 first, uvec2 size) {
    uint mask = 0u;
    uvec2 start = divide(first, frame.samples), k = first - start * frame.samples;
    ivec2 pixel = ivec2(region.x, region.y) + ivec2(start);
    vec2 pixels = 1.0 / vec2(frame.samples); // by which whole pixels are as exact as by divide()
    // Loops that assign little: CPU drivers blend and store what they do. What a row has in common, they find once.
    for (uint y = 0u; y < size.y; y++) {
        uint down = uint((float(k.y + y) + 0.5) * pixels.y);
        for (uint x = 0u; x < size.x; x++) {
            uint right = uint((float(k.x + x) + 0.5) * pixels.x);
            uvec2 at = k + uvec2(x, y) - uvec2(right, down) * frame.samples;
            if (covers(m, cover, sample_position(frame, pixel + ivec2(right, down), at))) mask |= 1u << (y * size.x + x);
        }
    }
    return mask;
}

// Lowers a covered sample, unless it is removed or its depth lies outside of the grid's bound.
void reach(Micropolygon m, Slot slot, RegionRect region, uvec2 subpixel, uint number) {
    uvec2 pixel = divide(subpixel, frame.samples), k = subpixel - pixel * frame.samples;
    ivec2 place = ivec2(region.x, region.y) + ivec2(pixel), position = sample_position(frame, place, k);
    if (!sees_detail(slot.detail, place, k.y * frame.samples.x + k.x)) return;
    float z = micropolygon_z(m, position);
    if (!(z >= slot.zmin && z <= slot.zmax)) return; // outside the declared bound: never hit, in any region
    if (clipped(position, z) || trimmed(m, position)) return;
    uint at = (pixel.y * region.width + pixel.x) * (frame.samples.x * frame.samples.y) + k.y * frame.samples.x + k.x;
    lower(region, pixel, at, floatBitsToUint(z), number);
}

#ifdef KNOWS_BLOCKS

// Whether a micropolygon lies behind all that the samples of the blocks that it may touch see, as far as is known: four
// blocks at most are looked at.
bool behind_blocks(Micropolygon m, ivec4 px, RegionRect region) {
    ivec2 origin = ivec2(region.x, region.y);
    uvec2 low = uvec2(px.xy - origin) >> BLOCK_LOG2, high = uvec2(px.zw - origin) >> BLOCK_LOG2;
    if (any(greaterThan(high, low + 1u))) return false;
    uint pitch = (region.width + (BLOCK_PX - 1u)) >> BLOCK_LOG2, top = low.y * pitch, bottom = high.y * pitch;
    uint far = max(max(blocks[top + low.x], blocks[top + high.x]), max(blocks[bottom + low.x], blocks[bottom + high.x]));
    return floatBitsToUint(max(0.0, m.zmin)) > far;
}

#endif

Parts parts_of(Micropolygon m, ivec4 px, RegionRect region) {
    Parts parts;
    ivec2 origin = ivec2(region.x, region.y);
    parts.first = uvec2(px.xy - origin) * frame.samples + first_subpixel(m.low, px.xy * FIXED);
    uvec2 last = uvec2(px.zw - origin) * frame.samples + last_subpixel(m.high, px.zw * FIXED);
    parts.size = last - parts.first + 1u;
    // Nearly all micropolygons need one part.
    parts.part_size = uvec2(min(parts.size.x, PART_WIDTH), 0u);
    parts.part_size.y = divide(uvec2(PART_SAMPLES), parts.part_size.xx).x;
    parts.per_axis = divide(parts.size + parts.part_size - 1u, parts.part_size);
    parts.count = parts.per_axis.x * parts.per_axis.y;
    return parts;
}

void visit_rows(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, uvec2 first, uvec2 size) {
    uint mask = part_mask(m, cover, region, first, size);
    while (mask != 0u) {
        uint bit = uint(findLSB(mask));
        mask &= mask - 1u;
        uint y = divide(uvec2(bit), size).x;
        reach(m, slot, region, first + uvec2(bit - y * size.x, y), number);
    }
}

// Where a part begins, from the first subpixel of a micropolygon.
uvec2 part_start(Parts parts, uint part) {
    uint row = divide(uvec2(part), parts.per_axis).x;
    return uvec2(part - row * parts.per_axis.x, row) * parts.part_size;
}

void visit(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint part) {
    uvec2 at = part_start(parts, part);
    visit_rows(m, cover, slot, number, region, parts.first + at, min(parts.part_size, parts.size - at));
}

#endif

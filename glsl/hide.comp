// variants: hide_first REST=0 CLIPPED=0 BEHIND=0 TRIMMED=0; hide_rest REST=1 CLIPPED=0 BEHIND=0 TRIMMED=0
// variants: hide_first_trimmed REST=0 CLIPPED=0 BEHIND=0 TRIMMED=1
// variants: hide_rest_trimmed REST=1 CLIPPED=0 BEHIND=0 TRIMMED=1
// variants: hide_first_clipped REST=0 CLIPPED=1 BEHIND=0 TRIMMED=0
// variants: hide_rest_clipped REST=1 CLIPPED=1 BEHIND=0 TRIMMED=0
// variants: hide_first_clipped_trimmed REST=0 CLIPPED=1 BEHIND=0 TRIMMED=1
// variants: hide_rest_clipped_trimmed REST=1 CLIPPED=1 BEHIND=0 TRIMMED=1
// variants: hide_behind_first REST=0 CLIPPED=0 BEHIND=1 TRIMMED=0; hide_behind_rest REST=1 CLIPPED=0 BEHIND=1 TRIMMED=0
// variants: hide_behind_first_trimmed REST=0 CLIPPED=0 BEHIND=1 TRIMMED=1
// variants: hide_behind_rest_trimmed REST=1 CLIPPED=0 BEHIND=1 TRIMMED=1
// variants: hide_behind_first_clipped REST=0 CLIPPED=1 BEHIND=1 TRIMMED=0
// variants: hide_behind_rest_clipped REST=1 CLIPPED=1 BEHIND=1 TRIMMED=0
// variants: hide_behind_first_clipped_trimmed REST=0 CLIPPED=1 BEHIND=1 TRIMMED=1
// variants: hide_behind_rest_clipped_trimmed REST=1 CLIPPED=1 BEHIND=1 TRIMMED=1
// variants: hide_expanded REST=0 CLIPPED=0 BEHIND=0 TRIMMED=0 EXPANDED=1
// variants: hide_expanded_clipped REST=0 CLIPPED=1 BEHIND=0 TRIMMED=0 EXPANDED=1
// variants: hide_expanded_behind REST=0 CLIPPED=0 BEHIND=1 TRIMMED=0 EXPANDED=1
// variants: hide_expanded_behind_clipped REST=0 CLIPPED=1 BEHIND=1 TRIMMED=0 EXPANDED=1
//
// Hide: one invocation = one micropolygon of an opaque grid. Reads diced (and displaced) vertices; lowers the depth
// keys of the samples it covers; marks the 4x4-pixel blocks it changed. A key is (camera z as float bits) << 32 |
// number, a minimum is commutative, so neither batches nor order show in the picture. Overflows nothing: a micropolygon
// of more than HIDE_TILES_MAX tiles is finished, and one wider than 16 pixels done, by hide_rest, whose indirect
// dispatch this kernel arms.
//
// The BEHIND variants run when the keys are final: they leave them as they are, and lower the depth of the nearest
// surface behind the one that a sample sees.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require

#include "lib/block.glsl"
#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/edge.glsl"
#include "lib/sampling.glsl"
#include "lib/slot.glsl"
#include "lib/piece.glsl"

layout(local_size_x = GROUP_MICROPOLYGONS) in;
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 2) readonly buffer Arena { vec4 arena[]; };
layout(std430, set = 0, binding = 3) buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 4) buffer Dirty { uint dirty[]; };
layout(std430, set = 0, binding = 5) buffer Rest { uint rest_groups_x; uint rest_groups_y; uint rest_groups_z; uint rest_lost; };
layout(std430, set = 0, binding = 6) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 7) readonly buffer ClipPlanes { vec4 clip_planes[]; };
layout(std430, set = 0, binding = 8) buffer Behind { uint behind[]; };
layout(std430, set = 0, binding = 9) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 10) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 11) readonly buffer Data { vec4 data[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
};

#include "lib/micropolygon.glsl"
#include "lib/coverage.glsl"
#include "lib/clip.glsl"
#include "lib/trim.glsl"

// The candidate samples of a micropolygon: a rectangle of subpixels, counted from the region's first one, in tiles.
struct Parts {
    uvec2 first;
    uvec2 size;
    uvec2 tile;  // subpixels of a tile
    uvec2 tiles; // along x and y
    uint count;
};

#include "lib/walk.glsl"

// A tile: one bit of a word for each sample, and at most TILE_WIDTH of them along a row.
const uint TILE_SAMPLES = 32u;
const uint TILE_WIDTH = 8u;

// Tiles of 32 samples that one invocation visits: loop trips are bounded (docs/pipeline.md). A region of 2^24 samples
// has fewer than 4096 parts.
const uint HIDE_TILES_MAX = 256u;

// x / n for integers, exact below 2^20 also where a quotient is 2.5 ulp off, as Vulkan permits.
uvec2 divide(uvec2 x, uvec2 n) { return uvec2((vec2(x) + 0.5) / vec2(n)); }

// One bit for each covered sample of the subpixels [first, first + size), row by row.
uint tile_mask(Micropolygon m, Coverage cover, RegionRect region, uvec2 first, uvec2 size) {
    uint mask = 0u, bit = 1u;
    uvec2 start = divide(first, frame.samples), k = first - start * frame.samples;
    uint k_left = k.x;
    ivec2 pixel = ivec2(region.x, region.y) + ivec2(start);
    int left = pixel.x;
    for (uint y = 0u; y < size.y; y++) {
        pixel.x = left;
        k.x = k_left;
        for (uint x = 0u; x < size.x; x++) {
            if (covers(m, cover, sample_position(frame, pixel, k))) mask |= bit;
            bit <<= 1;
            k.x++;
            if (k.x == frame.samples.x) {
                k.x = 0u;
                pixel.x++;
            }
        }
        k.y++;
        if (k.y == frame.samples.y) {
            k.y = 0u;
            pixel.y++;
        }
    }
    return mask;
}

void lower_key(Micropolygon m, Slot slot, RegionRect region, uvec2 subpixel, uint number) {
    uvec2 pixel = divide(subpixel, frame.samples), k = subpixel - pixel * frame.samples;
    ivec2 place = ivec2(region.x, region.y) + ivec2(pixel), position = sample_position(frame, place, k);
    if (!sees_detail(slot.detail, place, k.y * frame.samples.x + k.x)) return;
    float z = micropolygon_z(m, position);
    if (!(z >= slot.zmin && z <= slot.zmax)) return; // outside the declared bound: never hit, in any region
    if (clipped(position, z) || trimmed(m, position)) return;
    uint depth = floatBitsToUint(z);
    uint at = (pixel.y * region.width + pixel.x) * (frame.samples.x * frame.samples.y) + k.y * frame.samples.x + k.x;
    uint block = (pixel.y >> BLOCK_LOG2) * ((region.width + (BLOCK_PX - 1u)) >> BLOCK_LOG2) + (pixel.x >> BLOCK_LOG2);
    uint64_t key = (uint64_t(depth) << 32) | uint64_t(number);
#if BEHIND
    if (key > keys[at] && depth < behind[at]) {
        atomicMin(behind[at], depth);
        dirty[block] = 1u;
    }
#else
    // The two halves of a key may be read at different times, so only one is compared: ties go to the atomic.
    if (depth <= uint(keys[at] >> 32)) {
        atomicMin(keys[at], key);
        dirty[block] = 1u;
    }
#endif
}

Parts parts_of(Micropolygon m, ivec4 px, RegionRect region) {
    Parts parts;
    ivec2 origin = ivec2(region.x, region.y);
    parts.first = uvec2(px.xy - origin) * frame.samples + first_subpixel(m.low, px.xy * FIXED);
    uvec2 last = uvec2(px.zw - origin) * frame.samples + last_subpixel(m.high, px.zw * FIXED);
    parts.size = last - parts.first + 1u;
    // Nearly all micropolygons need one tile.
    parts.tile = uvec2(min(parts.size.x, TILE_WIDTH), 0u);
    parts.tile.y = TILE_SAMPLES / parts.tile.x;
    parts.tiles = divide(parts.size + parts.tile - 1u, parts.tile);
    parts.count = parts.tiles.x * parts.tiles.y;
    return parts;
}

void visit_rows(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, uvec2 first, uvec2 size) {
    uint mask = tile_mask(m, cover, region, first, size);
    while (mask != 0u) {
        uint bit = uint(findLSB(mask));
        mask &= mask - 1u;
        uint y = divide(uvec2(bit), size).x;
        lower_key(m, slot, region, first + uvec2(bit - y * size.x, y), number);
    }
}

// Where a part begins, from the first subpixel of a micropolygon.
uvec2 part_start(Parts parts, uint part) {
    uint row = divide(uvec2(part), parts.tiles).x;
    return uvec2(part - row * parts.tiles.x, row) * parts.tile;
}

void visit(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint part) {
    uvec2 at = part_start(parts, part);
    visit_rows(m, cover, slot, number, region, parts.first + at, min(parts.tile, parts.size - at));
}

#ifdef EXPANDED

// A strip: a row of a tile. A single tile has only rows that are there.
uint strips_of(Parts parts, uint count) { return count == 1u ? parts.size.y : count * parts.tile.y; }

void visit_strip(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint strip) {
    uint part = parts.count == 1u ? 0u : divide(uvec2(strip), parts.tile).y;
    uvec2 at = part_start(parts, part) + uvec2(0u, strip - part * parts.tile.y);
    if (at.y >= parts.size.y) return;
    visit_rows(m, cover, slot, number, region, parts.first + at, uvec2(min(parts.tile.x, parts.size.x - at.x), 1u));
}

#endif

void main() {
    frame = frame_record;
    walk(HIDE_TILES_MAX, HIDE_TILES_MAX);
}

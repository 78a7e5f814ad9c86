// axes: BLOCKS=keys|blocks
//
// Hide, binned: one workgroup = one bin of pixels, one invocation = some of its micropolygons, then some of its
// samples. Reads what bin.comp listed for the bin; lowers the depth keys of the bin's samples, which it keeps in
// shared memory meanwhile: first their depths, then the least number at that depth, because not all devices have
// atomics of 64 bits there. Marks the 4x4-pixel blocks that it changed; hide_binned_blocks does the work of block.comp
// for those of its bin instead, which has whole blocks. Overflows nothing: micropolygons that are not in a list are
// hidden by bin.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/hide/block.glsl"
#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"
#include "lib/hide/bin.glsl"

layout(local_size_x = GROUP_MICROPOLYGONS) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 2) readonly buffer Arena { uvec4 arena[]; };
layout(std430, set = 0, binding = 3) buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 4) buffer Dirty { uint dirty[]; };
layout(std430, set = 0, binding = 5) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 6) readonly buffer BinOffsets { uint bin_offsets[]; };
layout(std430, set = 0, binding = 7) readonly buffer Total { uint total; };
layout(std430, set = 0, binding = 8) readonly buffer Listed { uint listed[]; };
layout(std430, set = 0, binding = 9) writeonly buffer Blocks { uint blocks[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
    uint bin_log2;
    uint bins_x;  // bins of a row
    uint bins;    // all bins
    uint capacity; // of the lists
};

shared uint near_depth[BIN_SAMPLES_MAX];
shared uint near_number[BIN_SAMPLES_MAX];
// Whether depths are known, and numbers are looked for.
bool numbers = false;

#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/trim.glsl"
#include "lib/hide/reach.glsl"

void lower(RegionRect region, uvec2 pixel, uint at, uint depth, uint number) {
    if (!numbers) atomicMin(near_depth[at], depth);
    else if (near_depth[at] == depth) atomicMin(near_number[at], number);
}

LISTED_FUNCTION

// Hides one listed micropolygon in the bin.
void hide(uint id, RegionRect bin) {
    Assigned which;
    if (!assigned(pieces[piece].mps, id, which)) return;
    Slot slot = slots[slot_base + which.slot];
    Micropolygon m;
    if (!micropolygon_load(vertex_base + (which.slot << pieces[piece].slot_log2), slot, which.local, m)) return;
    ivec4 px = covered_pixels(m, slot, bin);
    if (px.x > px.z || px.y > px.w) return;
    Parts parts = parts_of(m, px, bin);
    Coverage cover = coverage_setup(m);
    uint number = (slot.rank << NUMBER_MP_BITS) | which.local;
    for (uint part = 0u; part < parts.count; part++) visit(m, cover, slot, number, bin, parts, part);
}

// The pixel of a bin's sample, counted from the region's first one.
uvec2 sample_pixel(RegionRect bin, uint at) {
    uint pixel = divide(uvec2(at), uvec2(frame.samples.x * frame.samples.y)).x, y = divide(uvec2(pixel), uvec2(bin.width)).x;
    return uvec2(ivec2(bin.x - region_x, bin.y - region_y)) + uvec2(pixel - y * bin.width, y);
}

// Place of a bin's sample among those of the region.
uint key_place(RegionRect bin, uint at) {
    uint samples = frame.samples.x * frame.samples.y;
    uvec2 pixel = sample_pixel(bin, at);
    return (pixel.y * region_width + pixel.x) * samples + (at - divide(uvec2(at), uvec2(samples)).x * samples);
}

// Place of a block of the region.
uint block_place(uvec2 block) {
    return block.y * ((region_width + (BLOCK_PX - 1u)) >> BLOCK_LOG2) + block.x;
}

void keep(RegionRect bin, uint at) {
    uint place = key_place(bin, at);
    uint64_t key = (uint64_t(near_depth[at]) << 32) | uint64_t(near_number[at]);
    if (key >= keys[place]) return;
    keys[place] = key;
#if !BLOCKS
    dirty[block_place(sample_pixel(bin, at) >> BLOCK_LOG2)] = 1u;
#endif
}

#if BLOCKS
// Finds the farthest depth that a block of the bin shows. What lowered keys of the block before this bin did is in
// them, so nothing is left to do for the block.
void renew_block(RegionRect bin, uvec2 block) {
    uint samples = frame.samples.x * frame.samples.y, farthest = 0u;
    uvec2 low = block << BLOCK_LOG2, high = min(low + BLOCK_PX, uvec2(bin.width, bin.height));
    for (uint y = low.y; y < high.y && farthest != KEY_EMPTY; y++) {
        uint first = (y * bin.width + low.x) * samples, last = (y * bin.width + high.x) * samples;
        for (uint at = first; at < last && farthest != KEY_EMPTY; at++) farthest = max(farthest, near_depth[at]);
    }
    uint place = block_place((uvec2(ivec2(bin.x - region_x, bin.y - region_y)) >> BLOCK_LOG2) + block);
    blocks[place] = farthest;
    dirty[place] = 0u;
}
#endif

void main() {
    frame = frame_record;
    uint bin_at = workgroup(), lane = gl_LocalInvocationID.x;
    if (bin_at >= bins) return;
    uint first = bin_offsets[bin_at], end = min(first + listed_for(bin_at), capacity);
    if (first >= end) return;
    uvec2 corner = uvec2(bin_at % bins_x, bin_at / bins_x) << bin_log2;
    uvec2 size = min(uvec2(1u << bin_log2), uvec2(region_width, region_height) - corner);
    RegionRect bin = RegionRect(region_x + int(corner.x), region_y + int(corner.y), size.x, size.y);
    uint samples = size.x * size.y * (frame.samples.x * frame.samples.y);
    for (uint at = lane; at < samples; at += GROUP_MICROPOLYGONS) {
        near_depth[at] = uint(keys[key_place(bin, at)] >> 32);
        near_number[at] = KEY_EMPTY;
    }
    barrier();
    for (uint at = first + lane; at < end; at += GROUP_MICROPOLYGONS) hide(listed[at], bin);
    barrier();
    // Where nothing came nearer, the number that was there competes.
    for (uint at = lane; at < samples; at += GROUP_MICROPOLYGONS) {
        uint64_t key = keys[key_place(bin, at)];
        if (near_depth[at] == uint(key >> 32)) near_number[at] = uint(key);
    }
    numbers = true;
    barrier();
    for (uint at = first + lane; at < end; at += GROUP_MICROPOLYGONS) hide(listed[at], bin);
    barrier();
    for (uint at = lane; at < samples; at += GROUP_MICROPOLYGONS) keep(bin, at);
#if BLOCKS
    uvec2 in_blocks = (size + (BLOCK_PX - 1u)) >> BLOCK_LOG2;
    for (uint at = lane; at < in_blocks.x * in_blocks.y; at += GROUP_MICROPOLYGONS) {
        renew_block(bin, uvec2(at % in_blocks.x, at / in_blocks.x));
    }
#endif
}

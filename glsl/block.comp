// axes: BEHIND=nearest|behind
//
// Block: one invocation = one 4x4-pixel block of the region that hiding has changed; finds the farthest depth that its
// samples show, or for midpoints the farthest of the depths behind. Reads keys or behind, dirty; writes blocks (float
// bits; all ones while a sample is empty), clears dirty.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/hide/block.glsl"
#include "lib/sampling/key.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 1) buffer Dirty { uint dirty[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Blocks { uint blocks[]; };
layout(std430, set = 0, binding = 3) readonly buffer Behind { uint behind[]; };
layout(push_constant) uniform Push {
    uint region_width;
    uint region_height;
    uint pixel_samples; // samples of a pixel
};

void main() {
    uint pitch = (region_width + (BLOCK_PX - 1u)) >> BLOCK_LOG2, block = invocation();
    if (block >= pitch * ((region_height + (BLOCK_PX - 1u)) >> BLOCK_LOG2) || dirty[block] == 0u) return;
    dirty[block] = 0u;
    uvec2 low = uvec2(block % pitch, block / pitch) << BLOCK_LOG2, high = min(low + BLOCK_PX, uvec2(region_width, region_height));
    uint farthest = 0u;
    for (uint y = low.y; y < high.y && farthest != KEY_EMPTY; y++) {
        uint first = (y * region_width + low.x) * pixel_samples, last = (y * region_width + high.x) * pixel_samples;
        for (uint i = first; i < last && farthest != KEY_EMPTY; i++) farthest = max(farthest, BEHIND == 1 ? behind[i] : uint(keys[i] >> 32));
    }
    blocks[block] = farthest;
}

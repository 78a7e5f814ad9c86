// A micropolygon lowers the depth key of a sample that it reaches, in the memory of all. Needs the buffers keys[] and
// dirty[], and behind[] where BEHIND is 1: the nearest depth of all keys that did not win.

#ifndef LOWER_GLSL
#define LOWER_GLSL

#include "lib/hide/block.glsl"
#include "lib/sampling/key.glsl"

void lower(RegionRect region, uvec2 pixel, uint at, uint depth, uint number) {
    uint block = (pixel.y >> BLOCK_LOG2) * ((region.width + (BLOCK_PX - 1u)) >> BLOCK_LOG2) + (pixel.x >> BLOCK_LOG2);
    uint64_t key = (uint64_t(depth) << 32) | uint64_t(number);
#if BEHIND
    // Every key but the least one loses once: when it comes, or when a lesser one takes its place. The last empty one
    // has no depth.
    if (depth <= behind[at]) {
        uint64_t other = atomicMin(keys[at], key);
        if (other != key) atomicMin(behind[at], uint(max(other, key) >> 32));
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

#endif

// Needed: one invocation = one selected grid; the number of its visible micropolygons. Reads visible; writes needed and
// visible_before (all of a grid's 225 micropolygons fit a byte; the pipelines that mark more than exist ask for no
// places there).
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/colour/visible.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Needed { uint needed[]; };
layout(std430, set = 0, binding = 3) writeonly buffer VisibleBefore { uint visible_before[]; };
layout(std430, set = 0, binding = 2) readonly buffer Total { uint total; }; // selected grids
layout(push_constant) uniform Push { uint capacity; };

void main() {
    uint rank = invocation();
    if (rank >= capacity) return;
    uint count = 0u, before[2] = uint[](0u, 0u);
    for (uint i = 0u; rank < total && i < VISIBLE_WORDS; i++) {
        before[i >> 2] |= count << (8u * (i & 3u));
        count += uint(bitCount(visible[rank * VISIBLE_WORDS + i]));
    }
    needed[rank] = count;
    visible_before[2u * rank] = before[0];
    visible_before[2u * rank + 1u] = before[1];
}

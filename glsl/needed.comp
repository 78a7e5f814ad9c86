// Needed: one invocation = one selected grid; the number of its visible micropolygons. Reads visible; writes needed.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/visible.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Needed { uint needed[]; };
layout(std430, set = 0, binding = 2) readonly buffer Total { uint total; }; // selected grids
layout(push_constant) uniform Push { uint capacity; };

void main() {
    uint rank = invocation();
    if (rank >= capacity) return;
    uint count = 0u;
    for (uint i = 0u; rank < total && i < VISIBLE_WORDS; i++) count += uint(bitCount(visible[rank * VISIBLE_WORDS + i]));
    needed[rank] = count;
}

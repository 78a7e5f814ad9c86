// Needed: one invocation = one selected grid; the number of its visible micropolygons. Reads visible; writes needed.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/records.glsl"
#include "lib/visible.glsl"

layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Needed { uint needed[]; };
layout(push_constant) uniform Push { uint selected_count; };

void main() {
    uint rank = gl_GlobalInvocationID.x;
    if (rank >= selected_count) return;
    uint count = 0u;
    for (uint i = 0u; i < VISIBLE_WORDS; i++) count += uint(bitCount(visible[rank * VISIBLE_WORDS + i]));
    needed[rank] = count;
}

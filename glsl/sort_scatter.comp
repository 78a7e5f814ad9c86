// Counting sort, second pass: one invocation = one selected grid; its rank goes to its place. Reads sort_keys, places,
// offsets (the scan of counts); writes sorted.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/lists/selection.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer SortKeys { uint sort_keys[]; };
layout(std430, set = 0, binding = 1) readonly buffer Places { uint places[]; };
layout(std430, set = 0, binding = 2) readonly buffer Offsets { uint offsets[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Sorted { uint sorted[]; };
layout(std430, set = 0, binding = 4) readonly buffer Total { uint total; }; // selected grids
layout(push_constant) uniform Push { uint capacity; };

void main() {
    uint rank = invocation();
    if (rank >= min(total, capacity) || sort_keys[rank] == SORT_KEY_NONE) return;
    sorted[offsets[sort_keys[rank]] + places[rank]] = rank;
}

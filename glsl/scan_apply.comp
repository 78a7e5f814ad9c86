// axes: SERIAL=parallel|serial BITS
//
// Scan, third pass: exclusive prefix sums of the values. One invocation (serial) or one workgroup (parallel) = one
// tile.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/lists/scan.glsl"

#if SERIAL
layout(local_size_x = 8) in;
#else
layout(local_size_x = SCAN_GROUP) in;
shared uint partial[SCAN_GROUP];
#endif
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Values { uint values[]; };
layout(std430, set = 0, binding = 1) readonly buffer Sums { uint sums[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Offsets { uint offsets[]; };
layout(push_constant) uniform Push {
    uint count;
    uint mask;
};

void main() {
#if SERIAL
    uint tile = invocation(), first = tile * SCAN_TILE;
    if (first >= count) return;
    uint running = sums[tile];
    for (uint i = first; i < min(first + SCAN_TILE, count); i++) {
        offsets[i] = running;
        running += VALUE(values[i]);
    }
#else
    const uint each = SCAN_TILE / SCAN_GROUP;
    uint tile = workgroup(), thread = gl_LocalInvocationID.x, first = tile * SCAN_TILE + thread * each, own = 0u;
    for (uint k = 0u; k < each; k++) {
        if (first + k < count) own += VALUE(values[first + k]);
    }
    partial[thread] = own;
    for (uint step = 1u; step < SCAN_GROUP; step <<= 1) {
        barrier();
        uint before = thread >= step ? partial[thread - step] : 0u;
        barrier();
        partial[thread] += before;
    }
    uint running = sums[tile] + partial[thread] - own;
    for (uint k = 0u; k < each; k++) {
        if (first + k >= count) return;
        offsets[first + k] = running;
        running += VALUE(values[first + k]);
    }
#endif
}

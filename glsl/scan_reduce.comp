// axes: SERIAL=parallel|serial BITS
//
// Scan, first pass: sums of tiles of 1024 values (each `& mask`, or the number of bits set in each). One invocation
// (serial) or one workgroup (parallel) = one tile.
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
layout(std430, set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };
layout(push_constant) uniform Push {
    uint count;
    uint mask;
};

void main() {
#if SERIAL
    uint tile = invocation(), first = tile * SCAN_TILE;
    if (first >= count) return;
    uint sum = 0u;
    for (uint i = first; i < min(first + SCAN_TILE, count); i++) sum += VALUE(values[i]);
    sums[tile] = sum;
#else
    uint tile = workgroup(), thread = gl_LocalInvocationID.x, sum = 0u;
    for (uint k = 0u; k < SCAN_TILE / SCAN_GROUP; k++) {
        uint i = tile * SCAN_TILE + k * SCAN_GROUP + thread;
        if (i < count) sum += VALUE(values[i]);
    }
    partial[thread] = sum;
    for (uint step = 128u; step > 0u; step >>= 1) {
        barrier();
        if (thread < step) partial[thread] += partial[thread + step];
    }
    if (thread == 0u) sums[tile] = partial[0];
#endif
}

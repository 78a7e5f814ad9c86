// axes: SERIAL=parallel|serial BITS
//
// Scan, first pass: sums of blocks of 1024 values (each `& mask`, or the number of bits set in each). One invocation
// (serial) or one workgroup (parallel) = one block.
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
    uint block = invocation(), first = block * SCAN_BLOCK;
    if (first >= count) return;
    uint sum = 0u;
    for (uint i = first; i < min(first + SCAN_BLOCK, count); i++) sum += VALUE(values[i]);
    sums[block] = sum;
#else
    uint block = workgroup(), thread = gl_LocalInvocationID.x, sum = 0u;
    for (uint k = 0u; k < SCAN_BLOCK / SCAN_GROUP; k++) {
        uint i = block * SCAN_BLOCK + k * SCAN_GROUP + thread;
        if (i < count) sum += VALUE(values[i]);
    }
    partial[thread] = sum;
    for (uint step = 128u; step > 0u; step >>= 1) {
        barrier();
        if (thread < step) partial[thread] += partial[thread + step];
    }
    if (thread == 0u) sums[block] = partial[0];
#endif
}

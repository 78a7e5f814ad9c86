// axes: SERIAL=parallel|serial BITS
//
// Scan, third pass: exclusive prefix sums of the values. One invocation (serial) or one workgroup (parallel) = one
// block.
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
    uint block = invocation(), first = block * SCAN_BLOCK;
    if (first >= count) return;
    uint running = sums[block];
    for (uint i = first; i < min(first + SCAN_BLOCK, count); i++) {
        offsets[i] = running;
        running += VALUE(values[i]);
    }
#else
    const uint each = SCAN_BLOCK / SCAN_GROUP;
    uint block = workgroup(), thread = gl_LocalInvocationID.x, first = block * SCAN_BLOCK + thread * each, own = 0u;
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
    uint running = sums[block] + partial[thread] - own;
    for (uint k = 0u; k < each; k++) {
        if (first + k >= count) return;
        offsets[first + k] = running;
        running += VALUE(values[first + k]);
    }
#endif
}

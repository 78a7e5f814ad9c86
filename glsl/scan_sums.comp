// axes: SERIAL=parallel|serial
//
// Scan, second pass: the sums of blocks become the blocks' first offsets; the grand total is written. One invocation or
// one workgroup.
#version 460

#if SERIAL
layout(local_size_x = 1) in;
#else
layout(local_size_x = 256) in;
shared uint partial[256];
#endif
layout(std430, set = 0, binding = 0) buffer Sums { uint sums[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Total { uint total; };
layout(push_constant) uniform Push { uint blocks; };

void main() {
    uint running = 0u;
#if SERIAL
    for (uint block = 0u; block < blocks; block++) {
        uint sum = sums[block];
        sums[block] = running;
        running += sum;
    }
    total = running;
#else
    uint thread = gl_LocalInvocationID.x;
    for (uint base = 0u; base < blocks; base += 256u) {
        uint block = base + thread, own = block < blocks ? sums[block] : 0u;
        partial[thread] = own;
        for (uint step = 1u; step < 256u; step <<= 1) {
            barrier();
            uint before = thread >= step ? partial[thread - step] : 0u;
            barrier();
            partial[thread] += before;
        }
        barrier();
        if (block < blocks) sums[block] = running + partial[thread] - own;
        running += partial[255];
        barrier();
    }
    if (thread == 0u) total = running;
#endif
}

// axes: SERIAL=parallel|serial
//
// Scan, second pass: the sums of tiles become the tiles' first offsets; the grand total is written. One invocation or
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
layout(push_constant) uniform Push { uint tiles; };

void main() {
    uint running = 0u;
#if SERIAL
    for (uint tile = 0u; tile < tiles; tile++) {
        uint sum = sums[tile];
        sums[tile] = running;
        running += sum;
    }
    total = running;
#else
    uint thread = gl_LocalInvocationID.x;
    for (uint base = 0u; base < tiles; base += 256u) {
        uint tile = base + thread, own = tile < tiles ? sums[tile] : 0u;
        partial[thread] = own;
        for (uint step = 1u; step < 256u; step <<= 1) {
            barrier();
            uint before = thread >= step ? partial[thread - step] : 0u;
            barrier();
            partial[thread] += before;
        }
        barrier();
        if (tile < tiles) sums[tile] = running + partial[thread] - own;
        running += partial[255];
        barrier();
    }
    if (thread == 0u) total = running;
#endif
}

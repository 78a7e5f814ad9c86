// Exclusive prefix sums of blocks, one workgroup a block of 256 words, and each block's sum. Test of barriers and of
// two variants of one interface: `scan_group` shares memory and waits at barriers, `scan_thread` walks the block with
// one invocation.
//
// axes: GROUP=thread|group
#version 460

const uint BLOCK = 256;

#if GROUP
layout(local_size_x = 256) in;
#else
layout(local_size_x = 1) in;
#endif

layout(std430, set = 0, binding = 0) buffer Values { uint values[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };

layout(push_constant) uniform Push { uint count; };

#if GROUP
shared uint partial[BLOCK];

void main() {
    uint l = gl_LocalInvocationID.x;
    uint i = gl_WorkGroupID.x * BLOCK + l;
    uint own = i < count ? values[i] : 0;
    partial[l] = own;
    barrier();
    for (uint step = 1; step < BLOCK; step *= 2) {
        uint below = l >= step ? partial[l - step] : 0;
        barrier();
        partial[l] += below;
        barrier();
    }
    if (i < count) values[i] = partial[l] - own;
    if (l == BLOCK - 1) sums[gl_WorkGroupID.x] = partial[l];
}
#else
void main() {
    uint sum = 0;
    for (uint l = 0; l < BLOCK; l++) {
        uint i = gl_WorkGroupID.x * BLOCK + l;
        if (i >= count) break;
        uint own = values[i];
        values[i] = sum;
        sum += own;
    }
    sums[gl_WorkGroupID.x] = sum;
}
#endif

// The invocations of a workgroup, one a micropolygon, share out what micropolygons are made of, their strips: a prefix
// sum in shared memory lists them, and each lane takes every GROUP_MICROPOLYGONS-th of them, whosever they are.

#ifndef STRIPS_GLSL
#define STRIPS_GLSL

// Where the strips of each lane's micropolygon end.
shared uint listed_ends[GROUP_MICROPOLYGONS];

// Lists the lane's strips, as many as said; the number of all. All invocations call it, once.
uint list_strips(uint own) {
    uint lane = gl_LocalInvocationID.x;
    listed_ends[lane] = own;
    for (uint step = 1u; step < GROUP_MICROPOLYGONS; step <<= 1) {
        barrier();
        uint before = lane >= step ? listed_ends[lane - step] : 0u;
        barrier();
        listed_ends[lane] += before;
    }
    barrier();
    return listed_ends[GROUP_MICROPOLYGONS - 1u];
}

// Strips of the lanes before this one.
uint strips_before(uint lane) { return lane > 0u ? listed_ends[lane - 1u] : 0u; }

uint strip_step(uint owner, uint half_size, uint strip) {
    return listed_ends[owner + half_size - 1u] <= strip ? owner + half_size : owner;
}

// Whose strip it is: the first lane whose strips end behind it. Without a loop, because its trips would count
// (docs/pipeline/loops.md).
uint strip_owner(uint strip) {
    uint owner = strip_step(0u, GROUP_MICROPOLYGONS / 2u, strip);
    owner = strip_step(owner, GROUP_MICROPOLYGONS / 4u, strip);
    owner = strip_step(owner, GROUP_MICROPOLYGONS / 8u, strip);
    owner = strip_step(owner, GROUP_MICROPOLYGONS / 16u, strip);
    owner = strip_step(owner, GROUP_MICROPOLYGONS / 32u, strip);
    owner = strip_step(owner, GROUP_MICROPOLYGONS / 64u, strip);
    owner = strip_step(owner, GROUP_MICROPOLYGONS / 128u, strip);
    return strip_step(owner, GROUP_MICROPOLYGONS / 256u, strip);
}

#endif

// Which part of a dispatch an invocation does. Workgroups go on along y when more are needed than fit along x
// (recording.rs, Groups::covering).
//
// A CPU driver gives each of its threads one run of neighbouring workgroups, and neighbours cost alike, so a thread may
// wait for another for half of a dispatch. There workgroups are dealt out to the threads in turn.

#ifndef INVOCATION_GLSL
#define INVOCATION_GLSL

#include "lib/math/divide.glsl"

// The device gives every kernel this constant (DRIVER_THREADS_ID in src/pipeline/recording/kernel.rs).
layout(constant_id = 31) const uint DRIVER_THREADS = 1u;

// What the workgroup with number `at` of `count` does.
uint dealt(uint at, uint count, uint threads) {
    if (threads == 1u) return at;
    uint run = count / threads, thread = divide_large(at, max(run, 1u));
    return at < run * threads ? (at - thread * run) * threads + thread : at;
}

uint workgroup() {
    uint along_x = gl_NumWorkGroups.x;
    return dealt(gl_WorkGroupID.y * along_x + gl_WorkGroupID.x, along_x * gl_NumWorkGroups.y, DRIVER_THREADS);
}

// For dispatches whose workgroups go on along z with further parts of the same: workgroup and part.
uvec2 workgroup_and_part() {
    if (DRIVER_THREADS == 1u) return gl_WorkGroupID.xz;
    uint along_x = gl_NumWorkGroups.x;
    uint at = dealt(gl_WorkGroupID.z * along_x + gl_WorkGroupID.x, along_x * gl_NumWorkGroups.z, DRIVER_THREADS);
    return uvec2(at % along_x, at / along_x);
}

uint invocation() { return workgroup() * gl_WorkGroupSize.x + gl_LocalInvocationID.x; }

#endif

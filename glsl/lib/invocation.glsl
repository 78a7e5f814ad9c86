// The number of an invocation when more workgroups are needed than fit along x: they go on along y (recording.rs,
// Groups::covering).

#ifndef INVOCATION_GLSL
#define INVOCATION_GLSL

uint invocation() { return gl_GlobalInvocationID.y * (gl_NumWorkGroups.x * gl_WorkGroupSize.x) + gl_GlobalInvocationID.x; }

#endif

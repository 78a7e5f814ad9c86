// One invocation = one workgroup of an imagined dispatch: what it would do. Test of lib/invocation.glsl.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) writeonly buffer Parts { uint parts[]; };
layout(push_constant) uniform Push { uint count; uint threads; };

void main() {
    uint at = invocation();
    if (at < count) parts[at] = dealt(at, count, threads);
}

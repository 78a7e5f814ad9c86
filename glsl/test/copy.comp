// One invocation copies one word. Test of bindings and push constants.
#version 460

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Target { uint target[]; };

layout(push_constant) uniform Push { uint count; uint added; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) target[i] = source[i] + added;
}

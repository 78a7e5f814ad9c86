// Composite clear: one invocation = one subpixel; nothing is gathered yet and everything shines through. Writes
// resolved.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) writeonly buffer Resolved { vec4 resolved[]; };
layout(push_constant) uniform Push {
    uint first; // subpixels [first, last) are this dispatch's
    uint last;
    uint resolved_records;
};

void main() {
    uint subpixel = first + invocation();
    if (subpixel >= last) return;
    for (uint i = 0u; i < resolved_records; i++) {
        resolved[subpixel * resolved_records + i] = i == 1u ? vec4(1.0, 1.0, 1.0, 0.0) : vec4(0.0);
    }
}

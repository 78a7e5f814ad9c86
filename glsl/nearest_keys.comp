// Nearest keys: one invocation = one cell; the depth of the nearest opaque surface that its samples see: whatever is
// nearer is seen by all of them. Reads keys; writes nearest, bits of floats.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Nearest { uint nearest[]; };
layout(push_constant) uniform Push {
    uint cell_count; // of the region
    uint cells;      // of a pixel
    uint pixel_samples;
};

void main() {
    uint cell = invocation();
    if (cell >= cell_count) return;
    uint pixel = cell / cells, first = CELL_SAMPLES * (cell - pixel * cells);
    uint last = min(first + CELL_SAMPLES, pixel_samples), depth = 0xffffffffu;
    for (uint s = first; s < last; s++) depth = min(depth, uint(keys[pixel * pixel_samples + s] >> 32));
    nearest[cell] = depth;
}

// Mark: one invocation = one sampled pixel of the region; sets the bits of the micropolygons that its samples see.
// Reads keys; writes visible (256 bits a selected grid).
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/records.glsl"
#include "lib/colour/visible.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 1) buffer Visible { uint visible[]; };
layout(push_constant) uniform Push {
    uint first; // pixels [first, last) are this dispatch's
    uint last;
    uint pixel_samples;
};

void main() {
    uint pixel = first + invocation();
    if (pixel >= last) return;
    uint before = KEY_EMPTY;
    for (uint i = 0u; i < pixel_samples; i++) {
        uint number = uint(keys[pixel * pixel_samples + i]);
        if (number == KEY_EMPTY || number == before) continue;
        before = number;
        uint word = visible_word(number), bit = visible_bit(number);
        if ((visible[word] & bit) == 0u) atomicOr(visible[word], bit);
    }
}

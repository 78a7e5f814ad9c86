// Round: one invocation. Closes a round of bound/split: the number of children becomes the next list's length, or says
// how much room was needed. Reads total; writes round.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/bound_split/round.glsl"

layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) readonly buffer Total { uint total; };
layout(std430, set = 0, binding = 1) buffer Round { ROUND_MEMBERS };
layout(push_constant) uniform Push { uint capacity; };

void main() {
    round_last_splits = round_splits;
    round_splits = 0u;
    round_needed = max(round_needed, total);
    round_count = min(total, capacity);
    round_open = round_next_open;
    round_next_open = 0u;
}

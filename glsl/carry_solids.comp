// Carry solids: one invocation = one state that the slab before has left: the samples of a cell that lie inside of a
// primitive solid where the slab begins. It becomes an entry in front of all others. Reads carried; writes entries,
// cell_counts. Overflows nothing: a slab leaves at most as many states as it has entries.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/sampling/key.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) writeonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 1) buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 2) readonly buffer Carried { uvec4 carried[]; };
layout(push_constant) uniform Push {
    uint first; // of the states
    uint count;
};

void main() {
    uint index = invocation();
    if (index >= count) return;
    uvec4 state = carried[first + index];
    entries[index] = Entry(state.x, STATE_Z, state.y, state.z, 0.0, 0.0, 0.0, STATE_Z);
    atomicAdd(cell_counts[state.z], 1u);
}

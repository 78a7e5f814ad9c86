// Scatter entries: one invocation = one entry; puts its index into its cell's list. sort_entries then puts each cell in
// order. Reads entries, cell_offsets; writes order and counts what each cell has got so far.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 1) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 2) buffer CellFilled { uint cell_filled[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Order { uint order[]; };
layout(push_constant) uniform Push {
    uint first; // entries [first, last) are this dispatch's
    uint last;
};

void main() {
    uint index = first + invocation();
    if (index >= last) return;
    uint cell = entries[index].cell;
    order[cell_offsets[cell] + atomicAdd(cell_filled[cell], 1u)] = index;
}

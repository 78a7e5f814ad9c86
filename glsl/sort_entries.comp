// Sort entries: one invocation = one cell; sorts its list by (nearest depth, number). Reads entries, cell_offsets,
// cell_counts; writes order. The longest list of more than REPORTED_MIN entries is reported; those of more than
// cell_max are left as they are.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 1) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 2) readonly buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 3) buffer Order { uint order[]; };
layout(std430, set = 0, binding = 4) buffer Appended { uint appended; uint longest_cell; };
layout(push_constant) uniform Push {
    uint cell_max;
    uint first; // cells [first, last) are this dispatch's
    uint last;
};

// Lists that are not longer fit everywhere.
const uint REPORTED_MIN = 24u;

// An entry with what it is sorted by.
struct Listed {
    uint entry;
    float zmin;
    uint number;
};
#define Item Listed
Listed item(uint at) {
    uint entry = order[at];
    return Listed(entry, entries[entry].zmin, entries[entry].number);
}
void put(uint at, Listed listed) { order[at] = listed.entry; }
bool after(Listed a, Listed b) { return a.zmin != b.zmin ? a.zmin > b.zmin : a.number > b.number; }
#include "lib/lists/sort.glsl"

void main() {
    uint cell = first + invocation();
    if (cell >= last) return;
    uint count = cell_counts[cell], base = cell_offsets[cell];
    if (count > REPORTED_MIN) atomicMax(longest_cell, count);
    if (count <= cell_max) sort_list(base, count);
}

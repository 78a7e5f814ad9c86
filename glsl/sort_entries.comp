// Sort entries: one invocation = one cell; drops from its list what cutting solids left nothing of, and sorts the rest
// by (nearest depth, number). Reads entries, cell_offsets; writes order and cell_counts. The longest list of more than
// REPORTED_MIN entries is reported. Those that are too long for a slab are left as they are: of them it reports the
// nearest depth in front of which one of them has what a slab may hold (list_cut).
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 1) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 2) buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 3) buffer Order { uint order[]; };
layout(std430, set = 0, binding = 4) buffer Appended { uint appended; uint longest_cell; uint list_cut; };
layout(push_constant) uniform Push {
    uint list_max;  // longer lists are for a thinner slab
    uint solid_max; // so are those that are longer before solids are cut; 0: there are no solids
    uint first; // cells [first, last) are this dispatch's
    uint last;
};

// Lists that are not longer fit everywhere.
const uint REPORTED_MIN = 24u;

// Of longer lists only this many entries, evenly spread, are looked at to find where to cut them.
const uint LOOKED_AT_MAX = 1024u;
// Bisections that find it, and the part of what a slab may hold that shall be in front of it, so that some more may lie
// there that were not looked at.
const uint BISECTIONS = 14u;
const uint FILLED = 3u;
const uint FILLED_OF = 4u;

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

// The bits of the greatest depth, as far as bisection finds it, in front of which a list has room in a slab; 0 if there
// is none. States of solids lie in front of everything.
uint cut_of_list(uint base, uint count, uint fitting) {
    uint step = (count + LOOKED_AT_MAX - 1u) / LOOKED_AT_MAX;
    uint low = 0xffffffffu, high = 0u;
    for (uint i = 0u; i < count; i += step) {
        uint z = floatBitsToUint(max(item(base + i).zmin, 0.0));
        if (z > 0u) low = min(low, z);
        high = max(high, z);
    }
    if (low >= high) return 0u;
    for (uint n = 0u; n < BISECTIONS && high - low > 1u; n++) {
        uint middle = low + (high - low) / 2u, in_front = 0u;
        for (uint i = 0u; i < count; i += step) in_front += item(base + i).zmin < uintBitsToFloat(middle) ? step : 0u;
        if (in_front * FILLED_OF > fitting * FILLED) high = middle;
        else low = middle;
    }
    return low;
}

// Drops from a list what cutting solids left nothing of; returns how many entries are left.
uint without_cut(uint base, uint count) {
    uint left = 0u;
    for (uint i = 0u; i < count; i++) {
        uint entry = order[base + i];
        if (entries[entry].mask != 0u) order[base + left++] = entry;
    }
    return left;
}

void main() {
    uint cell = first + invocation();
    if (cell >= last) return;
    uint count = cell_counts[cell], base = cell_offsets[cell], fitting = list_max;
    if (count > 0u && count <= solid_max) {
        count = without_cut(base, count);
        cell_counts[cell] = count;
    } else if (solid_max > 0u) {
        fitting = solid_max;
    }
    if (count > REPORTED_MIN) atomicMax(longest_cell, count);
    if (count <= fitting) {
        sort_list(base, count);
        return;
    }
    uint cut = cut_of_list(base, count, fitting);
    if (cut > 0u) atomicMin(list_cut, cut);
}

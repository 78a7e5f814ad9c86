// Sort entries: one invocation = one cell; sorts its list by (nearest depth, number): a heap sort, so that no list is
// slow. Reads entries, cell_offsets, cell_counts; writes order. The longest list of more than 24 entries is reported;
// those of more than cell_max are left as they are.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/entry.glsl"

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

bool after(uint a, uint b) {
    float za = entries[a].zmin, zb = entries[b].zmin;
    return za != zb ? za > zb : entries[a].number > entries[b].number;
}

void sift(uint base, uint root, uint end) {
    uint moving = order[base + root];
    for (uint child = 2u * root + 1u; child < end; child = 2u * root + 1u) {
        if (child + 1u < end && after(order[base + child + 1u], order[base + child])) child++;
        if (!after(order[base + child], moving)) break;
        order[base + root] = order[base + child];
        root = child;
    }
    order[base + root] = moving;
}

void insertion_sort(uint base, uint count) {
    for (uint i = 1u; i < count; i++) {
        uint moving = order[base + i], j = i;
        while (j > 0u && after(order[base + j - 1u], moving)) {
            order[base + j] = order[base + j - 1u];
            j--;
        }
        order[base + j] = moving;
    }
}

void main() {
    uint cell = first + invocation();
    if (cell >= last) return;
    uint count = cell_counts[cell], base = cell_offsets[cell];
    if (count <= 24u) {
        insertion_sort(base, count);
        return;
    }
    atomicMax(longest_cell, count);
    if (count > cell_max) return;
    for (uint root = count / 2u; root > 0u; root--) sift(base, root - 1u, count);
    for (uint end = count - 1u; end > 0u; end--) {
        uint top = order[base];
        order[base] = order[base + end];
        order[base + end] = top;
        sift(base, 0u, end);
    }
}

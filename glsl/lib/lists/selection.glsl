// How a region's selection is sorted: by depth into batches, inside a batch by sublist, inside a sublist by the size of
// grid slots.

#ifndef SELECTION_GLSL
#define SELECTION_GLSL

#include "lib/records.glsl"

// Buckets of the depth histogram.
const uint DEPTH_BUCKETS = 1024u;
// Depth batches of a region at most.
const uint BATCHES = 32u;
// log2 of the vertices of the smallest and of the largest slot.
const uint SLOT_LOG2_MIN = 2u;
const uint SLOT_LOG2_MAX = 8u;
// Sizes of slots.
const uint SIZE_CLASSES = SLOT_LOG2_MAX - SLOT_LOG2_MIN + 1u;
// Sort key of a grid that takes no part.
const uint SORT_KEY_NONE = 0xffffffffu;

// log2 of the slot of a grid, SLOT_LOG2_MIN to SLOT_LOG2_MAX.
uint slot_log2_of(uint shape) {
    uint vertices = (shape_nu(shape) + 1u) * (shape_nv(shape) + 1u);
    return uint(max(findMSB(vertices - 1u) + 1, int(SLOT_LOG2_MIN)));
}

uint size_class(uint shape) { return slot_log2_of(shape) - SLOT_LOG2_MIN; }

// Logarithmic depth buckets: float bits of positive numbers grow with the numbers.
uint depth_bucket(float z, uint base, uint shift) {
    uint bits = floatBitsToUint(max(z, 0.0));
    return bits <= base ? 0u : min((bits - base) >> shift, DEPTH_BUCKETS - 1u);
}

#endif

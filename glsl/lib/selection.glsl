// How a region's selection is sorted: by depth into batches, inside a batch by bin, inside a bin by the size of grid slots.

#ifndef SELECTION_GLSL
#define SELECTION_GLSL

#define DEPTH_BUCKETS 1024u
#define BATCHES 32u
#define SIZE_CLASSES 10u // slots of 16, 32, 64, 128, 256 vertices, each with at most half as many micropolygons, or more

// log2 of the slot of a grid, 4 to 8.
uint slot_log2_of(uint shape) {
    uint vertices = (shape_nu(shape) + 1u) * (shape_nv(shape) + 1u);
    return uint(max(findMSB(vertices - 1u) + 1, 4));
}

uint size_class(uint shape) {
    uint slot_log2 = slot_log2_of(shape), micropolygons = shape_nu(shape) * shape_nv(shape);
    return 2u * (slot_log2 - 4u) + (micropolygons > (1u << (slot_log2 - 1u)) ? 1u : 0u);
}

// Logarithmic depth buckets: float bits of positive numbers grow with the numbers.
uint depth_bucket(float z, uint base, uint shift) {
    uint bits = floatBitsToUint(max(z, 0.0));
    return bits <= base ? 0u : min((bits - base) >> shift, DEPTH_BUCKETS - 1u);
}

#endif

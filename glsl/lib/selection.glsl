// How a region's selection is sorted: by depth into batches, inside a batch by bin, inside a bin by the size of grid slots.

#ifndef SELECTION_GLSL
#define SELECTION_GLSL

#define DEPTH_BUCKETS 1024u
#define SIZE_CLASSES 5u // slots of 16, 32, 64, 128, 256 vertices

// Size class of a grid: log2 of its slot, less 4.
uint size_class(uint shape) {
    uint vertices = (shape_nu(shape) + 1u) * (shape_nv(shape) + 1u);
    return uint(max(findMSB(vertices - 1u) - 3, 0));
}

// Logarithmic depth buckets: float bits of positive numbers grow with the numbers.
uint depth_bucket(float z, uint base, uint shift) {
    uint bits = floatBitsToUint(max(z, 0.0));
    return bits <= base ? 0u : min((bits - base) >> shift, DEPTH_BUCKETS - 1u);
}

#endif

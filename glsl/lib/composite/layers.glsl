// Layers: what samples see in a slab, for deep shadow maps. A sample has room for as many layers as its cell has
// entries, and an opaque one behind them; rooms of a cell's samples follow each other, then those of the next cell. So
// where a layer is follows from the lists of cells. Needs cell_offsets[] and cell_counts[].

#ifndef LAYERS_GLSL
#define LAYERS_GLSL

// A surface that some samples of a pixel see.
struct Layer {
    uint depth; // float bits
    uint lost_low; // of all light in front of the slab, up to behind this surface, see whole_light
    uint lost_high;
};

Layer layer_of(uint depth, uint64_t lost) { return Layer(depth, uint(lost), uint(lost >> 32)); }
uint64_t lost_at(Layer layer) { return (uint64_t(layer.lost_high) << 32) | uint64_t(layer.lost_low); }

// Rooms of the cells from first_cell up to a cell, which have `cell_samples` samples each.
uint rooms_before(uint first_cell, uint cell, uint cell_samples) {
    return (cell_offsets[cell] - cell_offsets[first_cell] + cell - first_cell) * cell_samples;
}

// The first room of a sample of a cell.
uint layers_begin(uint first_cell, uint cell, uint cell_samples, uint in_cell) {
    return rooms_before(first_cell, cell, cell_samples) + in_cell * (cell_counts[cell] + 1u);
}

// Light from 0 to 1 as a whole number of 2^-40, rounded down, so that sums do not depend on their order. The products
// are exact.
uint64_t whole_light(float light) {
    float scaled = clamp(light, 0.0, 1.0) * 1048576.0, high = floor(scaled);
    return (uint64_t(uint(high)) << 20) | uint64_t(uint((scaled - high) * 1048576.0));
}

// Of the three channels together.
uint64_t whole_light(vec3 light) { return whole_light(light.x) + whole_light(light.y) + whole_light(light.z); }

#endif

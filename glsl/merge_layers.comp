// Merge layers: one invocation = one room of a layer. Adds up what is left of the light of all samples of its pixel
// behind its depth, and puts the sum where it belongs in the order of the pixel's depths. Reads what layers.comp
// writes, and in resolved what is left in front of the slab; writes merged. A dispatch goes through the samples
// [sample_first, sample_last) of pixels: where they are not all, the sum so far is kept in merging, with the place
// instead of the depth.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/entry.glsl"
#include "lib/resolved.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 1) readonly buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 2) readonly buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 3) readonly buffer LayerKeys { uint64_t layer_keys[]; };
layout(std430, set = 0, binding = 4) readonly buffer LayerLight { uint64_t layer_light[]; };
layout(std430, set = 0, binding = 5) readonly buffer LayerCounts { uint layer_counts[]; };
#include "lib/layers.glsl"
layout(std430, set = 0, binding = 6) buffer Merging { MergedLayer merging[]; };
layout(std430, set = 0, binding = 7) writeonly buffer Merged { MergedLayer merged[]; };
layout(push_constant) uniform Push {
    uint cells;
    uint pixel_samples;
    uint resolved_records;
    uint first_cell; // cells [first_cell, last_cell) have the rooms
    uint last_cell;
    uint rooms;
    uint sample_first;
    uint sample_last;
};

uint cell_samples() { return min(pixel_samples, CELL_SAMPLES); }

// The cell that a room belongs to.
uint cell_of(uint room) {
    uint low = first_cell, high = last_cell;
    while (high - low > 1u) {
        uint middle = low + (high - low) / 2u;
        if (rooms_before(first_cell, middle, cell_samples()) <= room) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

uint depth_at(uint room) { return uint(layer_keys[room] >> 32); }

// How many of a sample's layers are not behind a depth.
uint layers_to(uint begin, uint count, uint depth) {
    uint low = 0u, high = count;
    while (low < high) {
        uint middle = (low + high) / 2u;
        if (depth_at(begin + middle) <= depth) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// What is left of the light of a subpixel in front of the slab.
uint64_t light_before(uint subpixel) {
    vec4 through = resolved[subpixel * resolved_records + 1u];
    return stopped(through) ? 0ul : whole_light(through.xyz);
}

void main() {
    uint room = invocation();
    if (room >= rooms) return;
    uint cell = cell_of(room), pixel = cell / cells, each = cell_counts[cell] + 1u;
    uint local = room - rooms_before(first_cell, cell, cell_samples()), in_cell = local / each, layer = local - in_cell * each;
    uint own = ((cell - pixel * cells) << CELL_LOG2) + in_cell;
    if (own >= pixel_samples || layer >= layer_counts[pixel * pixel_samples + own]) return;
    uint depth = depth_at(room), place = 0u;
    uint64_t light = 0ul;
    if (sample_first > 0u) {
        place = merging[room].depth;
        light = (uint64_t(merging[room].light_high) << 32) | uint64_t(merging[room].light_low);
    }
    for (uint s = sample_first; s < sample_last; s++) {
        uint subpixel = pixel * pixel_samples + s, count = layer_counts[subpixel];
        uint begin = layers_begin(first_cell, pixel * cells + (s >> CELL_LOG2), cell_samples(), s & (CELL_SAMPLES - 1u));
        uint to = layers_to(begin, count, depth);
        light += to > 0u ? layer_light[begin + to - 1u] : light_before(subpixel);
        // Of one depth, the layers of earlier samples come first.
        if (s > own) to = depth > 0u ? layers_to(begin, to, depth - 1u) : 0u;
        place += s == own ? layer : to;
    }
    if (sample_last < pixel_samples) {
        merging[room] = MergedLayer(place, uint(light), uint(light >> 32));
        return;
    }
    merged[rooms_before(first_cell, pixel * cells, cell_samples()) + place] = MergedLayer(depth, uint(light), uint(light >> 32));
}

// Merge layers: one invocation = one sample. A run is the layers of `run` neighbouring samples of a pixel, a power of
// two, in the order of (depth, sample, number), with what these samples together lose of their light up to behind each.
// Merges each run with the one after it: the samples of both share their layers out, and each layer finds its place
// among those of the other run, and what is lost there. Reads runs from layers and their lengths, at their first
// samples, from layer_counts; writes those of twice as many samples to merged and merged_counts.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 1) readonly buffer CellCounts { uint cell_counts[]; };
#include "lib/composite/layers.glsl"
layout(std430, set = 0, binding = 2) readonly buffer Layers { Layer layers[]; };
layout(std430, set = 0, binding = 3) readonly buffer LayerCounts { uint layer_counts[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Merged { Layer merged[]; };
layout(std430, set = 0, binding = 5) writeonly buffer MergedCounts { uint merged_counts[]; };
layout(push_constant) uniform Push {
    uint cells;
    uint pixel_samples;
    uint first_cell; // the first that has rooms
    uint run; // samples of a run
    uint first; // subpixels [first, last) are this dispatch's
    uint last;
};

struct Run {
    uint begin;
    uint count;
};

// The run from a sample of a pixel on; an empty one behind the last sample.
Run run_of(uint pixel, uint s) {
    if (s >= pixel_samples) return Run(0u, 0u);
    uint cell = pixel * cells + (s >> CELL_LOG2), in_cell = s & (CELL_SAMPLES - 1u);
    uint begin = layers_begin(first_cell, cell, min(pixel_samples, CELL_SAMPLES), in_cell);
    return Run(begin, layer_counts[pixel * pixel_samples + s]);
}

// How many layers of a run are in front of a depth, or at it where those of its samples come first.
uint layers_before(Run other, uint depth, bool comes_first) {
    uint low = 0u, high = other.count;
    while (low < high) {
        uint middle = (low + high) / 2u, found = layers[other.begin + middle].depth;
        if (found < depth || comes_first && found == depth) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

void main() {
    uint subpixel = first + invocation();
    if (subpixel >= last) return;
    uint pixel = subpixel / pixel_samples, s = subpixel - pixel * pixel_samples;
    uint from = s & ~(2u * run - 1u), samples = min(2u * run, pixel_samples - from);
    Run near = run_of(pixel, from), far = run_of(pixel, from + run);
    if (s == from) merged_counts[subpixel] = near.count + far.count;
    for (uint i = s - from; i < near.count + far.count; i += samples) {
        bool is_far = i >= near.count;
        uint own = is_far ? i - near.count : i;
        Layer layer = layers[(is_far ? far.begin : near.begin) + own];
        Run other = near;
        if (!is_far) other = far;
        uint before = layers_before(other, layer.depth, is_far);
        uint64_t lost = lost_at(layer);
        if (before > 0u) lost += lost_at(layers[other.begin + before - 1u]);
        merged[near.begin + own + before] = layer_of(layer.depth, lost);
    }
}

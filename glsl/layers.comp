// variants: layers_constant SMOOTH=0; layers_smooth SMOOTH=1
//
// Layers: one invocation = one sample of a cell. Lists the translucent surfaces that it sees in the slab: subpixel,
// depth, number and opacity of each, for deep shadow maps. Where they come in the list does not matter: the host sorts
// them by these. Reads entries, order, colours; appends to layers. The host dispatches no more cells at once than the
// list has room for.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/sampling.glsl"
#include "lib/entry.glsl"
#include "lib/colour.glsl"

// A translucent surface at a sample.
struct ListedLayer {
    uint subpixel;
    uint depth; // float bits
    uint number;
    float red; // of the opacity
    float green;
    float blue;
};

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 2) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 3) readonly buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 4) readonly buffer Order { uint order[]; };
layout(std430, set = 0, binding = 5) readonly buffer Colours { vec4 colours[]; };
layout(std430, set = 0, binding = 6) writeonly buffer Layers { ListedLayer layers[]; };
layout(std430, set = 0, binding = 7) buffer Listed { uint listed; };
layout(push_constant) uniform Push {
    int region_x;
    int region_y;
    uint region_width;
    uint cells;
    uint value_records; // of the colour store
    uint capacity;      // of the list
    uint first;         // samples of cells [first, last) are this dispatch's, CELL_SAMPLES a cell
    uint last;
};

COLOUR_FUNCTION

void main() {
    frame = frame_record;
    uint index = first + invocation();
    if (index >= last) return;
    uint cell = index >> CELL_LOG2, pixel = cell / cells, pixel_samples = frame.samples.x * frame.samples.y;
    uint s = CELL_SAMPLES * (cell - pixel * cells) + (index & (CELL_SAMPLES - 1u)), bit = 1u << (index & (CELL_SAMPLES - 1u));
    uint base = cell_offsets[cell], count = s < pixel_samples ? cell_counts[cell] : 0u, seen = 0u;
    for (uint i = 0u; i < count; i++) seen += (entries[order[base + i]].mask & bit) != 0u ? 1u : 0u;
    if (seen == 0u) return;
    uint to = atomicAdd(listed, seen);
    if (to + seen > capacity) return;
    ivec2 corner = ivec2(region_x + int(pixel % region_width), region_y + int(pixel / region_width));
    ivec2 at = sample_position(frame, corner, uvec2(s % frame.samples.x, s / frame.samples.x)) - corner * FIXED;
    for (uint i = 0u; i < count; i++) {
        uint index = order[base + i];
        if ((entries[index].mask & bit) == 0u) continue;
        Entry e = entries[index];
        uint place = e.cell * colour_records(value_records);
        vec4 weights = colour_weights(place, value_records, corner * FIXED + at);
        vec3 opacity = clamp(colour_value(place, value_records, 1u, weights).xyz, 0.0, 1.0);
        uint depth = floatBitsToUint(entry_z(frame, e, at));
        layers[to] = ListedLayer(pixel * pixel_samples + s, depth, e.number, opacity.x, opacity.y, opacity.z);
        to++;
    }
}

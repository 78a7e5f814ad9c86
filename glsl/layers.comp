// axes: SMOOTH=constant|smooth|blurred
//
// Layers: one invocation = one sample of a cell. Lists the surfaces that it sees in the slab in the order of (depth,
// number), and how much of the light in front of the slab is lost up to behind each, for deep shadow maps:
// multiplied as composite_slab does it, up to where that stops, or up to an opaque surface. Reads entries, order,
// colours, keys, and in resolved what is left in front of the slab; writes layers and layer_counts, adds to
// pixel_layers. The host dispatches no more pixels at once than there is room for.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/composite/entry.glsl"
#include "lib/composite/resolved.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 2) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 3) readonly buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 4) readonly buffer Order { uint order[]; };
layout(std430, set = 0, binding = 5) readonly buffer Colours { vec4 colours[]; };
layout(std430, set = 0, binding = 6) readonly buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 7) readonly buffer Keys { uint64_t keys[]; };
#include "lib/composite/layers.glsl"
layout(std430, set = 0, binding = 8) buffer Layers { Layer layers[]; };
layout(std430, set = 0, binding = 9) writeonly buffer LayerCounts { uint layer_counts[]; }; // of each subpixel
layout(std430, set = 0, binding = 10) buffer PixelLayers { uint pixel_layers[]; }; // of each pixel
layout(std430, set = 0, binding = 11) readonly buffer BlurSamples { uvec4 blur_samples[]; };
layout(std430, set = 0, binding = 12) readonly buffer Motion { Keyframe motion[]; };
#include "lib/colour/colour_weights.glsl"
layout(push_constant) uniform Push {
    int region_x;
    int region_y;
    uint region_width;
    uint cells;
    uint value_records; // of the colour store
    uint position_records;
    uint resolved_records;
    uint slab_low_z;
    uint slab_low_number;
    uint slab_high_z;
    uint slab_high_number;
    uint first; // samples of cells [first, last) are this dispatch's, CELL_SAMPLES a cell
    uint last;
};

// What a room holds before light is multiplied.
struct Seen {
    uint depth; // float bits
    uint number;
    uint entry;
};
#define Item Seen
Seen item(uint at) { return Seen(layers[at].depth, layers[at].lost_low, layers[at].lost_high); }
void put(uint at, Seen seen) { layers[at] = Layer(seen.depth, seen.number, seen.entry); }
uint64_t key_of(Seen seen) { return (uint64_t(seen.depth) << 32) | uint64_t(seen.number); }
bool after(Seen a, Seen b) { return key_of(a) > key_of(b); }
#include "lib/lists/sort.glsl"

// Lists the entries of a cell that its sample `bit` at `at` sees, from room `begin` on, sorted; returns how many.
uint list_entries(uint cell, uint bit, ivec2 at, uint begin) {
    uint base = cell_offsets[cell], listed = 0u;
    for (uint i = 0u; i < cell_counts[cell]; i++) {
        uint index = order[base + i];
        if ((entries[index].mask & bit) == 0u) continue;
        Entry e = entries[index];
        put(begin + listed, Seen(floatBitsToUint(entry_z(frame, e, at)), e.number, index));
        listed++;
    }
    sort_list(begin, listed);
    return listed;
}

// Finds what is lost of the light `through` up to behind each of the layers in front of `opaque`; returns how many
// there are before nothing is left.
uint multiply(inout vec3 through, uint begin, uint listed, uint64_t opaque, ColourSample taken) {
    uint64_t light = whole_light(through);
    uint i = 0u;
    for (; i < listed && through != vec3(0.0); i++) {
        Seen seen = item(begin + i);
        if (key_of(seen) >= opaque) break;
        uint place = entries[seen.entry].cell * colour_records(value_records, position_records);
        vec4 weights = colour_weights(place, value_records, taken);
        through *= 1.0 - clamp(colour_value(place, value_records, 1u, weights).xyz, 0.0, 1.0);
        if (all(lessThanEqual(through, vec3(1.0 - frame.opacity_threshold)))) through = vec3(0.0);
        layers[begin + i] = layer_of(seen.depth, light - whole_light(through));
    }
    return i;
}

void main() {
    frame = frame_record;
    uint index = first + invocation();
    if (index >= last) return;
    uint cell = index >> CELL_LOG2, pixel = cell / cells, pixel_samples = frame.samples.x * frame.samples.y;
    uint in_cell = index & (CELL_SAMPLES - 1u), s = CELL_SAMPLES * (cell - pixel * cells) + in_cell;
    if (s >= pixel_samples) return;
    uint subpixel = pixel * pixel_samples + s, count = 0u;
    vec4 resolved_through = resolved[subpixel * resolved_records + 1u];
    if (!stopped(resolved_through)) {
        ivec2 corner = ivec2(region_x + int(pixel % region_width), region_y + int(pixel / region_width));
        uvec2 k = uvec2(s % frame.samples.x, s / frame.samples.x);
        ivec2 raster = sample_position(frame, corner, k);
        uint begin = layers_begin(first >> CELL_LOG2, cell, min(pixel_samples, CELL_SAMPLES), in_cell);
        uint listed = list_entries(cell, 1u << in_cell, raster - corner * FIXED, begin);
        vec3 through = resolved_through.xyz;
        uint64_t light = whole_light(through);
        uint64_t opaque = keys[subpixel];
        count = multiply(through, begin, listed, opaque, colour_sample(pixel, corner, k, raster));
        uint64_t low = (uint64_t(slab_low_z) << 32) | uint64_t(slab_low_number);
        uint64_t high = (uint64_t(slab_high_z) << 32) | uint64_t(slab_high_number);
        if (through != vec3(0.0) && opaque >= low && opaque < high) {
            layers[begin + count] = layer_of(uint(opaque >> 32), light);
            count++;
        }
    }
    layer_counts[subpixel] = count;
    if (count > 0u) atomicAdd(pixel_layers[pixel], count);
}

// Composite, translucent: one invocation = one subpixel. Goes through the entries of its cell front to back, by (depth at the sample,
// number), and adds their colours to what the subpixel has gathered in nearer slabs: C += T Ci, T *= 1 - Oi. A subpixel whose opacity
// passes the threshold stops and hides what is behind it like an opaque surface. Reads entries, order, colours; writes resolved and
// lowers keys. Loop trips are bounded: a subpixel with more to do notes how far it came and asks to be called again (unfinished).
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/sampling.glsl"
#include "lib/visible.glsl"
#include "lib/entry.glsl"
#include "lib/resolved.glsl"

#define TRIPS_MAX 24000u

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 2) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 3) readonly buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 4) readonly buffer Order { uint order[]; };
layout(std430, set = 0, binding = 5) readonly buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 6) readonly buffer ColourBase { uint colour_base[]; };
layout(std430, set = 0, binding = 7) readonly buffer Colours { vec4 colours[]; };
layout(std430, set = 0, binding = 8) buffer Resolved { vec4 resolved[]; };
layout(std430, set = 0, binding = 9) buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 10) buffer Resume { uint64_t resume[]; }; // key of the last entry composited in this slab
layout(std430, set = 0, binding = 11) buffer Unfinished { uint unfinished; };
layout(std430, set = 0, binding = 12) readonly buffer VisibleBefore { uint visible_before[]; };
layout(push_constant) uniform Push {
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
    uint cells;
    uint colour_records;
    uint resolved_records;
    uint variables;
};

COLOUR_PLACE_FUNCTION

// The nearest entry behind (z, number), or NOTHING. Entries are sorted by their nearest depth: when that of the next one is beyond the
// best so far, none can be better.
uint next_entry(uint base, uint count, inout uint start, uint bit, ivec2 at, uint64_t behind, inout uint trips, out uint64_t best) {
    uint found = NOTHING;
    best = ~0ul;
    bool leading = true;
    for (uint i = start; i < count; i++) {
        trips++;
        Entry e = entries[order[base + i]];
        if (found != NOTHING && floatBitsToUint(e.zmin) > uint(best >> 32)) break;
        bool usable = (e.mask & bit) != 0u && (uint64_t(floatBitsToUint(e.zmax)) << 32 | 0xfffffffful) > behind;
        if (usable) {
            uint64_t key = (uint64_t(floatBitsToUint(entry_z(frame, e, at))) << 32) | uint64_t(e.number);
            if (key > behind && key < best) {
                best = key;
                found = i;
            }
            leading = false;
        } else if (leading) {
            start = i + 1u; // nothing before it will be asked for again
        }
    }
    return found == NOTHING ? NOTHING : order[base + found];
}

void main() {
    frame = frame_record;
    uint pixel_samples = frame.samples.x * frame.samples.y;
    uint subpixel = invocation();
    if (subpixel >= region_width * region_height * pixel_samples) return;
    uint pixel = subpixel / pixel_samples, s = subpixel - pixel * pixel_samples, cell = pixel * cells + (s >> 5);
    uint count = cell_counts[cell];
    if (count == 0u) return;
    uint record = subpixel * resolved_records;
    vec4 gathered = resolved[record], through = resolved[record + 1u];
    if (through.w != 0.0) return;
    ivec2 corner = ivec2(region_x + int(pixel % region_width), region_y + int(pixel / region_width));
    ivec2 at = sample_position(frame, corner, uvec2(s % frame.samples.x, s / frame.samples.x)) - corner * FIXED;
    uint64_t behind = resume[subpixel], key;
    uint trips = 0u, start = 0u, base = cell_offsets[cell];
    bool finished = behind == ~0ul;
    while (!finished && trips < TRIPS_MAX) {
        uint index = next_entry(base, count, start, 1u << (s & 31u), at, behind, trips, key);
        if (index == NOTHING) {
            finished = true;
            break;
        }
        uint place = colour_place(entries[index].number) * colour_records;
        vec3 opacity = clamp(colours[place + 1u].xyz, 0.0, 1.0);
        gathered.xyz += through.xyz * colours[place].xyz;
        for (uint k = 0u; k < variables; k++) {
            resolved[record + 2u + k] += vec4(through.xyz * opacity, mean3(through.xyz * opacity)) * colours[place + 2u + k];
        }
        gathered.w += mean3(through.xyz) * colours[place].w;
        through.xyz *= 1.0 - opacity;
        if (all(lessThanEqual(through.xyz, vec3(1.0 - frame.opacity_threshold)))) {
            through.w = 1.0;
            keys[subpixel] = min(keys[subpixel], key);
            finished = true;
        }
        behind = key;
    }
    if (!finished) atomicAdd(unfinished, 1u);
    resume[subpixel] = finished ? ~0ul : behind;
    resolved[record] = gathered;
    resolved[record + 1u] = through;
}

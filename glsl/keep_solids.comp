// Keep solids: one invocation = one entry of a solid that was cut. Drops the samples at which an opaque solid lies in
// front of it; if any are left, its micropolygon is visible. Reads cut, order, grids, instances; writes the entry's
// mask and visible. Overflows nothing.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "lib/frame.glsl"
#include "lib/sampling/key.glsl"
#include "lib/records.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/composite/entry.glsl"
#include "lib/colour/visible.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 2) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 3) readonly buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 4) readonly buffer Order { uint order[]; };
layout(std430, set = 0, binding = 5) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 6) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 7) readonly buffer Cut { uint cut[]; };
layout(std430, set = 0, binding = 8) buffer Visible { uint visible[]; };
layout(push_constant) uniform Push {
    uint first; // entries [first, last) are this dispatch's
    uint last;
    int region_x;
    int region_y;
    uint region_width;
    uint cells;
    uint cell_max; // longer lists are for a thinner slab
};

#include "lib/composite/solid.glsl"

uint flags_of(Entry e) { return entry_is_state(e) ? INSTANCE_SOLID : instances[solid_instance(e)].flags; }

void main() {
    frame = frame_record;
    uint index = first + invocation();
    if (index >= last) return;
    Entry e = entries[index];
    uint base = cell_offsets[e.cell], count = cell_counts[e.cell];
    if ((flags_of(e) & INSTANCE_SOLID) == 0u || count > cell_max) return;
    e.mask = cut[index];
    note_samples(e);
    for (uint i = 0u; i < count && e.mask != 0u; i++) {
        uint at = order[base + i];
        Entry other = entries[at];
        const uint opaque = INSTANCE_SOLID | INSTANCE_OPAQUE;
        if (at != index && (flags_of(other) & opaque) == opaque) e.mask &= ~sees_before(e, other, e.mask & cut[at]);
    }
    entries[index].mask = e.mask;
    if (e.mask != 0u) atomicOr(visible[visible_word(e.number)], visible_bit(e.number));
}

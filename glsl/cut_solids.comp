// axes: CLIPPED=whole|clipped
//
// Cut solids: one invocation = one entry. At each of its samples, all crossings before it toggle the state of their
// primitives, inside or outside; it bounds the solid if the state of the tree changes with that of its own primitive.
// What clipping removes still toggles. Reads entries, order, the tables of solids; writes cut: the entry's samples that
// are left. The one invocation of a primitive in a cell passes its state behind the slab on to the next one (carried),
// and after the last one notes whether it is open: whether whole cells that nothing hides end inside of it. Overflows
// nothing.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/sampling/key.glsl"
#include "lib/records.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = 64) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Entries { Entry entries[]; };
layout(std430, set = 0, binding = 2) readonly buffer CellOffsets { uint cell_offsets[]; };
layout(std430, set = 0, binding = 3) readonly buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 4) readonly buffer Order { uint order[]; };
layout(std430, set = 0, binding = 5) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 6) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 7) readonly buffer SolidPrimitives { uvec4 solid_primitives[]; };
layout(std430, set = 0, binding = 8) readonly buffer SolidSteps { uint solid_steps[]; };
layout(std430, set = 0, binding = 9) writeonly buffer Cut { uint cut[]; };
layout(std430, set = 0, binding = 10) writeonly buffer Carried { uvec4 carried[]; };
layout(std430, set = 0, binding = 11) buffer CarriedCounts { uint carried_counts[]; };
layout(std430, set = 0, binding = 12) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 13) buffer Noted { uint noted[]; };
layout(std430, set = 0, binding = 14) readonly buffer ClipPlanes { vec4 clip_planes[]; };
layout(push_constant) uniform Push {
    uint first; // entries [first, last) are this dispatch's
    uint last;
    int region_x;
    int region_y;
    uint region_width;
    uint cells;
    uint cell_max;      // longer lists are for a thinner slab
    uint carried_list;  // which of the two lists of states is written
    uint carried_first; // where it begins
    uint ends;          // 1: nothing lies behind the slab
    uint noted_word;    // samples that end inside of primitives, then the complement of the least primitive
};

#include "lib/composite/solid.glsl"
#include "lib/sampling/clip.glsl"

// The number of the entry's primitive, SOLID_NONE if it is none of a solid.
uint primitive_of(Entry e) {
    if (entry_is_state(e)) return e.number;
    Instance instance = instances[solid_instance(e)];
    return (instance.flags & INSTANCE_SOLID) != 0u ? instance.solid : SOLID_NONE;
}

// For each primitive of the tree, the samples that lie inside of it.
uint inside[SOLID_PRIMITIVES_MAX];

// The samples that lie inside of the tree.
uint evaluate(uvec4 tree) {
    uint stack[SOLID_STACK];
    uint depth = 0u, next = 0u;
    for (uint i = 0u; i < tree.w; i++) {
        uint step = solid_steps[tree.z + i];
        if (step == SOLID_PRIMITIVE) {
            stack[depth++] = inside[next++];
            continue;
        }
        uint b = stack[--depth], a = stack[depth - 1u];
        stack[depth - 1u] = step == SOLID_UNION ? a | b : step == SOLID_INTERSECTION ? a & b : step == SOLID_DIFFERENCE ? a & ~b : b & ~a;
    }
    return stack[0];
}

// The samples of `bits` at which clipping does not remove the entry.
uint unclipped(Entry e, uint bits) {
    ivec2 corner = solid_pixel(e) * FIXED;
    uint kept = 0u;
    for (uint left = bits; left != 0u; left &= left - 1u) {
        uint bit = uint(findLSB(left));
        float z = sample_z[bit];
        if (z >= frame.near && z <= frame.far && !clipped(corner + sample_at[bit], z)) kept |= 1u << bit;
    }
    return kept;
}

// Passes the state of a primitive behind the slab on, or notes that it is open.
void pass_on(Entry e, uint primitive, uint state) {
    if (state == 0u) return;
    if (ends == 0u) {
        carried[carried_first + atomicAdd(carried_counts[carried_list], 1u)] = uvec4(primitive, state, e.cell, 0u);
        return;
    }
    uint samples = frame.samples.x * frame.samples.y, first_sample = solid_first_sample(e);
    uint count = min(samples - first_sample, CELL_SAMPLES);
    if (bitCount(state) != int(count)) return;
    uint base = (e.cell / cells) * samples + first_sample;
    for (uint i = 0u; i < count; i++) {
        if (uint(keys[base + i] >> 32) != KEY_EMPTY) return;
    }
    atomicAdd(noted[noted_word], count);
    atomicMax(noted[noted_word + 1u], ~primitive);
}

void main() {
    frame = frame_record;
    uint index = first + invocation();
    if (index >= last) return;
    Entry e = entries[index];
    uint primitive = primitive_of(e), base = cell_offsets[e.cell], count = cell_counts[e.cell];
    if (primitive == SOLID_NONE || count > cell_max) return;
    uvec4 tree = solid_primitives[primitive];
    for (uint i = 0u; i < tree.y; i++) inside[i] = 0u;
    note_samples(e);
    uint state = 0u; // of the primitive behind all entries
    bool passes_on = true;
    for (uint i = 0u; i < count; i++) {
        uint at = order[base + i];
        Entry other = entries[at];
        uint other_primitive = primitive_of(other);
        if (other_primitive - tree.x >= tree.y) continue; // also SOLID_NONE
        if (other_primitive == primitive) {
            state ^= other.mask;
            passes_on = passes_on && at <= index;
        }
        if (at != index) inside[other_primitive - tree.x] ^= sees_before(e, other, e.mask & other.mask);
    }
    if (passes_on) pass_on(e, primitive, state);
    if (entry_is_state(e)) {
        cut[index] = 0u;
        return;
    }
    uint before = evaluate(tree);
    inside[primitive - tree.x] ^= e.mask;
    uint behind = evaluate(tree);
    uint left = (before ^ behind) & e.mask;
    // A solid's back is where it is left.
    if ((instances[solid_instance(e)].flags & INSTANCE_ONE_SIDED) != 0u) left &= ~before;
    cut[index] = unclipped(e, left);
}

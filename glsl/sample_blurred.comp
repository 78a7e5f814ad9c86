// axes: EXPANDED REST=first|rest CLIPPED TRIMMED MOTION=(keyframed)|still|straight|focused
// rules: REST ignores EXPANDED MOTION; TRIMMED ignores MOTION
//
// Sample, where something moves or is out of focus: one invocation = one micropolygon of a translucent grid. As
// sample.comp, but each sample has its own time and point of the lens (lib/sampling/blur.glsl), so an entry is for one
// sample and has its depth. Reads slots, the vertices at all keyframes of the motion, motion, blur_samples, keys;
// writes entries, cell_counts, visible. An append beyond the capacity is counted, not written: the host then does the
// slab again with a smaller depth range.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/sampling/blur.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"
#include "lib/colour/visible.glsl"
#include "lib/composite/entry.glsl"

layout(local_size_x = GROUP_MICROPOLYGONS) in;
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 2) readonly buffer Arena { uvec4 arena[]; };
layout(std430, set = 0, binding = 3) readonly buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Entries { u64vec4 entries[]; }; // an Entry each
layout(std430, set = 0, binding = 5) buffer CellCounts { uint cell_counts[]; };
layout(std430, set = 0, binding = 6) buffer Visible { uint visible[]; };
layout(std430, set = 0, binding = 7) buffer Appended { uint appended; uint longest_cell; uint list_cut; };
layout(std430, set = 0, binding = 8) buffer Rest { uint rest_groups_x; uint rest_groups_y; uint rest_groups_z; uint rest_lost; };
layout(std430, set = 0, binding = 9) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 10) readonly buffer ClipPlanes { vec4 clip_planes[]; };
layout(std430, set = 0, binding = 11) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 12) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 13) readonly buffer Data { vec4 data[]; };
layout(std430, set = 0, binding = 14) readonly buffer Motion { Keyframe motion[]; };
layout(std430, set = 0, binding = 15) readonly buffer BlurSamples { uvec4 blur_samples[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base; // of the first keyframe
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
    uint keyframe_count;   // keyframes of the piece's motion, 1 for what stands still
    uint keyframe_stride;  // records from a keyframe's vertices to those of the next
    uint capacity;     // entries
    uint cells;        // of a pixel
    uint slab_low_z;   // the slab: keys (depth bits, number) from low, inclusive, to high, exclusive
    uint slab_low_number;
    uint slab_high_z;
    uint slab_high_number;
};

#include "lib/sampling/blur_sample.glsl"
#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/trim.glsl"
#include "lib/motion/blurred.glsl"
#include "lib/hide/strata.glsl"
#include "lib/composite/entry_append.glsl"

void hit(Walk w, Micropolygon m, ivec2 pixel, uint s, ivec2 at) {
    float z = micropolygon_z(m, at);
    uint pixel_index = region_pixel(w.region, pixel);
    float f = frame_perspective(frame) ? reciprocal(z) : z;
    // entry_z takes it for z itself, whatever 1 / f is.
    Entry entry = Entry(w.number, z, 1u << (s & (CELL_SAMPLES - 1u)), pixel_index * cells + (s >> CELL_LOG2), f, 0.0, 0.0, z);
    bool seen = entry_seen(entry, w.slot, z, pixel_index * (frame.samples.x * frame.samples.y) + s);
    // What is clipped of a solid still bounds it.
    bool solid = slot_solid(w.slot);
    if (seen && (solid || !clipped(at, z)) && !trimmed(m, at)) append(entry, solid);
}

void main() {
    frame = frame_record;
    walk_strata();
}

// axes: EXPANDED BEHIND REST=first|rest CLIPPED TRIMMED FUSED
// rules: REST ignores EXPANDED; FUSED requires REST; FUSED excludes BEHIND CLIPPED TRIMMED
//
// Hide: one invocation = one micropolygon of an opaque grid. Reads diced (and displaced) vertices, and the farthest
// depths of blocks: what lies behind all of those that it touches is passed over. Lowers the depth keys of the samples
// it covers; marks the 4x4-pixel blocks it changed. A key is (camera z as float bits) << 32 | number, a minimum is
// commutative, so neither batches nor order show in the picture. Overflows nothing: a micropolygon of more than
// HIDE_PARTS_MAX parts is finished, and one wider than 16 pixels done, by hide_rest, whose indirect dispatch this
// kernel arms.
//
// FUSED goes on where dice_hide.comp ended. The BEHIND variants also lower the depth of the nearest surface behind the
// one that a sample sees.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require

#include "lib/hide/block.glsl"
#include "lib/frame.glsl"
#include "lib/records.glsl"
#include "lib/grid/edge.glsl"
#include "lib/sampling/sampling.glsl"
#include "lib/grid/slot.glsl"
#include "lib/grid/piece.glsl"

layout(local_size_x = GROUP_MICROPOLYGONS) in;
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 2) readonly buffer Arena { uvec4 arena[]; };
layout(std430, set = 0, binding = 3) buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 4) buffer Dirty { uint dirty[]; };
layout(std430, set = 0, binding = 5) buffer Rest { uint rest_groups_x; uint rest_groups_y; uint rest_groups_z; uint rest_lost; };
layout(std430, set = 0, binding = 6) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 7) readonly buffer ClipPlanes { vec4 clip_planes[]; };
layout(std430, set = 0, binding = 8) buffer Behind { uint behind[]; };
layout(std430, set = 0, binding = 9) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 10) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 11) readonly buffer Data { vec4 data[]; };
layout(std430, set = 0, binding = 12) readonly buffer Blocks { uint blocks[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base;
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
};

#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/trim.glsl"
#define KNOWS_BLOCKS
#include "lib/hide/reach.glsl"
#include "lib/hide/lower.glsl"
#include "lib/hide/walk.glsl"

#if EXPANDED

// A strip: a row of a part. A single part has only rows that are there.
uint strips_of(Parts parts, uint count) { return count == 1u ? parts.size.y : count * parts.part_size.y; }

void visit_strip(Micropolygon m, Coverage cover, Slot slot, uint number, RegionRect region, Parts parts, uint strip) {
    uint part = parts.count == 1u ? 0u : divide(uvec2(strip), parts.part_size).y;
    uvec2 at = part_start(parts, part) + uvec2(0u, strip - part * parts.part_size.y);
    if (at.y >= parts.size.y) return;
    visit_rows(m, cover, slot, number, region, parts.first + at, uvec2(min(parts.part_size.x, parts.size.x - at.x), 1u));
}

#endif

void main() {
    frame = frame_record;
#if FUSED
    walk(FUSED_PARTS_MAX, HIDE_PARTS_MAX);
#else
    walk(HIDE_PARTS_MAX, HIDE_PARTS_MAX);
#endif
}

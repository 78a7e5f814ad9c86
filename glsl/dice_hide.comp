// axes: KIND=KIND_* FULL
// rules: FULL requires KIND=curve|blob
//
// Dice and hide at once: one invocation = one row of vertices of a grid, then one row of its micropolygons. What
// dice.comp and hide.comp do for grids that are neither displaced nor moving, out of focus, clipped or trimmed, where
// depths are no midpoints. Vertices stay in shared memory. They are written too, for hide_rest_fused, which finishes
// micropolygons of more than FUSED_PARTS_MAX parts, and does those that are wider than 16 pixels. Overflows nothing.
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

layout(local_size_x = GROUP_ROWS) in;
#include "lib/invocation.glsl"
layout(std430, set = 0, binding = 0) readonly buffer FrameBuffer { Frame frame_record; };
layout(std430, set = 0, binding = 1) readonly buffer Instances { Instance instances[]; };
layout(std430, set = 0, binding = 2) readonly buffer Primitives { Primitive primitives[]; };
layout(std430, set = 0, binding = 3) readonly buffer Data { vec4 data[]; };
layout(std430, set = 0, binding = 4) readonly buffer Grids { Subpatch grids[]; };
layout(std430, set = 0, binding = 5) readonly buffer Slots { Slot slots[]; };
layout(std430, set = 0, binding = 6) writeonly buffer Arena { vec4 arena[]; };
layout(std430, set = 0, binding = 7) readonly buffer Pieces { Piece pieces[]; };
layout(std430, set = 0, binding = 8) buffer Keys { uint64_t keys[]; };
layout(std430, set = 0, binding = 9) buffer Dirty { uint dirty[]; };
layout(std430, set = 0, binding = 10) buffer Rest { uint rest_groups_x; uint rest_groups_y; uint rest_groups_z; uint rest_lost; };
layout(std430, set = 0, binding = 11) readonly buffer Blocks { uint blocks[]; };
layout(push_constant) uniform Push {
    uint slot_base;
    uint piece;
    uint vertex_base; // record of the first slot's first vertex
    int region_x;
    int region_y;
    uint region_width;
    uint region_height;
};

#include "lib/surface/surface.glsl"
#include "lib/grid/grid_param.glsl"
#include "lib/grid/grid_row.glsl"

// The vertices of the workgroup's grids, each grid from its first row's place on.
shared float fused_x[GROUP_ROWS << GRID_ROWS_LOG2];
shared float fused_y[GROUP_ROWS << GRID_ROWS_LOG2];
shared float fused_z[GROUP_ROWS << GRID_ROWS_LOG2];

#define MICROPOLYGON_VERTEX(v) vec3(fused_x[v], fused_y[v], fused_z[v])

#include "lib/sampling/micropolygon.glsl"
#include "lib/sampling/coverage.glsl"
#include "lib/sampling/clip.glsl"
#include "lib/sampling/trim.glsl"
#define KNOWS_BLOCKS
#include "lib/hide/reach.glsl"
#include "lib/hide/lower.glsl"
#include "lib/hide/rest.glsl"

// Dices row j of a slot: into shared memory from `first` on, and into the arena.
void dice_row(Slot slot, uint j, uint first, uint at) {
    uint nu = slot_nu(slot), nv = slot_nv(slot);
    Subpatch grid = grids[slot.rank];
    surface_load(instances[grid.instance], primitives[grid.primitive]);
#if KIND == KIND_POINT
    point_rim(grid.shape, nu);
#endif
    float row_v = -1.0;
    for (uint i = 0u; i <= nu; i++) {
        vec3 p = row_vertex_position(row_vertex(grid, i, j, nu, nv, row_v));
        uint vertex = j * (nu + 1u) + i;
        fused_x[first + vertex] = p.x;
        fused_y[first + vertex] = p.y;
        fused_z[first + vertex] = p.z;
        arena[at + vertex] = vec4(p, 0.0);
    }
}

// Hides row j of a slot's micropolygons.
void hide_row(Slot slot, uint j, uint first) {
    RegionRect region = RegionRect(region_x, region_y, region_width, region_height);
    for (uint i = 0u; i < slot_nu(slot); i++) {
        uint local = j * slot_nu(slot) + i;
        Micropolygon m;
        if (!micropolygon_load(first, slot, local, m)) continue;
        ivec4 px = covered_pixels(m, slot, region);
        if (px.x > px.z || px.y > px.w || behind_blocks(m, px, region)) continue;
        Parts parts = parts_of(m, px, region);
        bool wide = micropolygon_wide(m);
        if (parts.count > FUSED_PARTS_MAX || wide) arm_rest(pieces[piece].mp_groups[0], parts.count, HIDE_PARTS_MAX);
        if (wide) continue;
        uint number = (slot.rank << NUMBER_MP_BITS) | local;
        Coverage cover = coverage_setup(m);
        uint end = min(parts.count, FUSED_PARTS_MAX);
        for (uint part = 0u; part < end; part++) visit(m, cover, slot, number, region, parts, part);
    }
}

void main() {
    frame = frame_record;
    uint rows_log2 = slot_rows_log2(pieces[piece].slot_log2), rows = 1u << rows_log2;
    uint id = invocation(), index = id >> rows_log2, j = id & (rows - 1u);
    bool is_there = index < pieces[piece].count;
    Slot slot = slots[slot_base + (is_there ? index : 0u)];
    uint nu = is_there ? slot_nu(slot) : 0u, nv = slot_nv(slot);
    uint first = (gl_LocalInvocationID.x & ~(rows - 1u)) << GRID_ROWS_LOG2;
    if (nu != 0u && j <= nv) dice_row(slot, j, first, vertex_base + (index << pieces[piece].slot_log2));
    barrier();
    if (nu != 0u && j < nv) hide_row(slot, j, first);
}
